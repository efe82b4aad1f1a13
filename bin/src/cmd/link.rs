//! `link`: lets identical files share their bytes.

use std::borrow::Cow;
use std::path::Path;

use anyhow::Result;
use dedupdb_corpus::Key;
use dedupdb_corpus::dedup::{Error, How, LinkEvent, Linked};

use crate::args::{Args, Link};
use crate::console::Console;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::json;
use crate::number::{bytes, counted};
use crate::output::{Output, escape};

/// Runs `link`.
pub(crate) fn run(
    args: &Args,
    link: &Link,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    let interrupt = Interrupt::catch()?;
    let options = link.names.choose(dedupdb_corpus::Options::new());
    let options = options.store(&args.store);
    link.names
        .check(&options, std::slice::from_ref(&link.folder))?;
    let how = if link.reflink {
        How::Reflink
    } else {
        How::HardLink
    };
    let asked = dedupdb_corpus::dedup::Link::new(&link.folder)
        .reading(options)
        .how(how)
        .pretend(link.dry_run);
    let mut failed = None;
    let linked = asked.run(|event| {
        let told = match event {
            LinkEvent::Linked {
                copy,
                original,
                bytes,
            } => list(output, copy, original, bytes),
            LinkEvent::Left {
                copy,
                original,
                why,
                is_failure,
            } => {
                let line = format!(
                    "{} (the same as {}): {why}",
                    copy.display(),
                    original.display()
                );
                if is_failure {
                    console.error(&line);
                } else {
                    console.note(&format!("{line}; left as it is"));
                }
                Ok(())
            }
            LinkEvent::Skipped(skipped) if skipped.is_failure() => {
                console.error(&skipped.to_string());
                Ok(())
            }
            _ => Ok(()),
        };
        interrupt.flow_after(told, &mut failed)
    });
    output.flush()?;
    if let Some(error) = failed {
        return Err(error);
    }
    match linked {
        Ok(linked) => {
            tell(&linked, link.dry_run, console, output)?;
            Ok(Exit::failed(linked.failed > 0))
        }
        Err(Error::Stopped) => {
            console.error("stopped; what was linked stays so, and the same command continues");
            Ok(Exit::Interrupted)
        }
        Err(error) => Err(error.into()),
    }
}

/// Writes a copy that was linked.
fn list(output: &mut Output, copy: &Path, original: &Path, bytes: u64) -> Result<()> {
    let (copy, original) = (name(copy), name(original));
    if output.is_json() {
        return Ok(output.object(&json::LinkedFile {
            copy: &copy,
            original: &original,
            bytes,
        })?);
    }
    Ok(output.line(format!("{}\t{}\t{bytes}", escape(&copy), escape(&original)))?)
}

/// The path of a file. If it is not UTF-8, its bytes are spelled in digits as in its key, because it could otherwise be
/// the path of another file.
fn name(file: &Path) -> Cow<'_, str> {
    match file.to_str() {
        Some(name) => name.into(),
        None => Key::of(file).text.into(),
    }
}

fn tell(linked: &Linked, dry_run: bool, console: &Console, output: &mut Output) -> Result<()> {
    if output.is_json() {
        return Ok(output.object(&json::Linked::new(linked, dry_run))?);
    }
    let files = counted(linked.files, "file", "files");
    let copies = counted(linked.copies, "copy", "copies");
    let freed = bytes(linked.freed);
    console.text(&if linked.copies + linked.left + linked.failed == 0 {
        format!("{files}, nothing to link\n")
    } else if dry_run {
        format!("{files}, {copies} would be linked, which frees {freed}; this was a dry run\n")
    } else {
        format!("{files}, {copies} linked, which frees {freed}\n")
    });
    Ok(())
}
