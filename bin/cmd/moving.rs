//! `dedup --move-to` and `--undo`: moves files aside, and back.

use std::path::Path;

use anyhow::{Result, bail};
use dedupdb::dedup::{Error, MoveEvent, Moved, Undo};
use dedupdb::publish;

use super::dedup::{Told, explained, judged};
use crate::args::{self, Args};
use crate::console::Console;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::json;
use crate::number::{bytes, counted};
use crate::output::{Output, escape};
use crate::reading::Told as Counts;

/// The name of the list of moved files.
const MANIFEST: &str = ".dedupdb-moved";

/// Runs `dedup --move-to`.
pub(super) fn move_to(
    args: &Args,
    dedup: &args::Dedup,
    target: &Path,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    if args.store_given {
        bail!("--move-to compares the files of one folder; leave --store (or DEDUPDB_STORE) out");
    }
    if dedup.paths.len() > 1 {
        bail!(
            "--move-to takes one folder with all that is to be compared, and a DIR outside it: to look through the \
             current folder, `dedupdb dedup . --move-to ../moved`"
        );
    }
    let asked = judged(args, dedup)?;
    let asked = asked.move_to(target).pretend(dedup.dry_run);
    let interrupt = Interrupt::catch()?;
    let mut told = Told::new(Path::new(""), dedup, console, interrupt)?;
    let mut failed = None;
    let moved = asked.run(|event| {
        if let MoveEvent::Judging(event) = event {
            return told.observe(*event);
        }
        told.progress.finish();
        let listed = list(event, console, output);
        told.interrupt.flow_after(listed, &mut failed)
    });
    told.progress.finish();
    if let Some(error) = told.failed.or(failed) {
        return Err(error);
    }
    let again = |manifest: &Path| format!("dedupdb dedup --undo {}", shell_word(manifest));
    let moved = match moved {
        Err(Error::Stopped) => {
            let manifest = target.join(MANIFEST);
            console.error(&if manifest.exists() {
                format!("stopped; undo it with: {}", again(&manifest))
            } else {
                "stopped; nothing is moved".to_owned()
            });
            return Ok(Exit::Interrupted);
        }
        Err(Error::Output(error @ publish::Error::Foreign { .. }))
            if target.join(MANIFEST).is_file() =>
        {
            let undo = again(&target.join(MANIFEST));
            bail!("{error}; undo the move that it is from with: {undo}")
        }
        moved => moved.map_err(explained)?,
    };
    tell(&moved, dedup.dry_run, "moved", console, output)?;
    let reading = moved.done.as_ref().map(|done| &done.reading);
    if let Some(note) = reading.and_then(Counts::left_out_note) {
        console.note(&note);
    }
    if let Some(manifest) = &moved.manifest {
        console.note(&format!("undo it with: {}", again(manifest)));
    }
    let done = moved.done.as_ref();
    let has_failures = done.is_some_and(|done| done.reading.has_failures());
    Ok(Exit::failed(
        has_failures || moved.failed > 0 || told.unknown > 0,
    ))
}

/// Runs `dedup --undo`.
pub(super) fn undo(
    dedup: &args::Dedup,
    manifest: &Path,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    let interrupt = Interrupt::catch()?;
    let mut failed = None;
    let undo = Undo::new(manifest).pretend(dedup.dry_run);
    let undone = undo.run(|event| {
        let listed = list(event, console, output);
        interrupt.flow_after(listed, &mut failed)
    });
    if let Some(error) = failed {
        return Err(error);
    }
    let undone = match undone {
        Err(Error::Stopped) => {
            console.error("stopped; the same command continues");
            return Ok(Exit::Interrupted);
        }
        undone => undone.map_err(explained)?,
    };
    tell(&undone, dedup.dry_run, "moved back", console, output)?;
    Ok(Exit::failed(undone.failed > 0))
}

/// A path as a word for a shell.
fn shell_word(path: &Path) -> String {
    let path = path.to_string_lossy();
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+,:@%=".contains(letter);
    if path.chars().all(is_plain) {
        return path.into_owned();
    }
    format!("'{}'", path.replace('\'', "'\\''"))
}

/// Tells a file that was moved, or was not.
fn list(event: MoveEvent<'_>, console: &Console, output: &mut Output) -> Result<()> {
    match event {
        MoveEvent::Moved {
            from,
            to,
            like,
            similarity,
        } => {
            let [from, to] = [from, to].map(Path::to_string_lossy);
            if output.is_json() {
                output.object(&json::MovedFile {
                    from,
                    to,
                    earlier: like,
                    similarity,
                })?;
            } else {
                let [from, to, like] = [&*from, &*to, like].map(escape);
                output.line(format!("{from}\t{to}\t{like}\t{similarity:.4}"))?;
            }
        }
        MoveEvent::Left {
            file,
            why,
            is_failure,
        } => {
            let line = format!("{}: {why}", file.display());
            if is_failure {
                console.error(&line);
            } else {
                console.note(&line);
            }
        }
        _ => {}
    }
    Ok(())
}

/// Says what was done.
fn tell(
    moved: &Moved,
    dry_run: bool,
    done: &str,
    console: &Console,
    output: &mut Output,
) -> Result<()> {
    if output.is_json() {
        return Ok(output.object(&json::Moved::new(moved, dry_run))?);
    }
    output.flush()?;
    let files = counted(moved.files, "file", "files");
    let size = bytes(moved.bytes);
    let would = if dry_run { "would be " } else { "" };
    console.text(&format!("{files} {would}{done}, {size}\n"));
    if moved.records > 0 {
        let records = counted(moved.records, "record", "records");
        console.note(&format!(
            "{records} would be dropped but stay, because files of records are not moved; write them with -o instead"
        ));
    }
    Ok(())
}
