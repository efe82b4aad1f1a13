//! `move`: moves near-duplicates aside, and back.

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use dedupdb_corpus::dedup::{DedupSummary, Error, MoveEvent, MoveSummary, Undo};
use dedupdb_corpus::publish;

use super::judging::{
    DedupReporter, exclusion_note, explained, judged, nothing_note, short_note, store_options,
    tell_compared, words_note,
};
use crate::args::{self, Args, JudgingArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::inputs::{STDIN, check_not_read};
use crate::interrupt;
use crate::json;
use crate::number::{bytes, counted, four_decimals};
use crate::output::{Output, copy_column, escape, is_broken_pipe, shell_word};
use crate::read_counts::ReadCountsText as Counts;

/// The name of the list of moved files.
const MANIFEST: &str = ".dedupdb-moved";

/// The time between two attempts while another process moves files.
const PAUSE: Duration = Duration::from_millis(50);

/// Runs `move`.
pub(crate) fn run(
    args: &Args,
    asked: &args::MoveArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    match (&asked.undo, &asked.folder, &asked.aside) {
        (Some(aside), ..) => undo(args, asked, aside, console, output),
        (None, Some(folder), Some(aside)) => move_to(args, asked, folder, aside, console, output),
        // The parser asks for both.
        _ => bail!("name the folder and where to: `dedupdb move FOLDER ASIDE`"),
    }
}

/// Moves what would be dropped from a folder.
fn move_to(
    args: &Args,
    asked: &args::MoveArgs,
    folder: &Path,
    target: &Path,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    let (judging, paths) = (&asked.judging, [folder.to_owned()]);
    check(args, judging, &paths, target, console)?;
    let options = store_options(args, judging, console)?;
    let progress = interrupt::catch()?;
    let (no_store, inputs, telling) = (Path::new(""), &judging.inputs, &judging.telling);
    let mut told = DedupReporter::new(no_store, &paths, inputs, telling, console, &progress)?;
    told.are_records_left = true;
    told.against.clone_from(&judging.against);
    let mut list = MoveList::new(console, output);
    // A choice of what goes is meant for files that differ, too.
    let is_threshold_given = judging.parameters.threshold.is_some();
    let are_differing_moved =
        is_threshold_given || judging.keep.is_some() || judging.keys_from.is_some();
    let moved = patiently(args.wait, || {
        let judging = judged(args, &paths, judging, options.clone())?;
        let moving = judging.progress(&progress).move_to(target);
        let moving = moving.differing(are_differing_moved).pretend(asked.dry_run);
        let moved = moving.run(|event| {
            if let MoveEvent::Judging(event) = event {
                told.observe(*event);
            } else {
                told.bar.finish();
                list.event(event);
            }
        });
        Ok((moved, progress.is_stopped()))
    })?;
    told.bar.finish();
    if let Some(error) = told.failed {
        return Err(error);
    }
    let again = |aside: &Path| format!("dedupdb move --undo {}", shell_path(aside));
    let moved = match moved {
        Err(Error::Stopped) => {
            console.error(&if target.join(MANIFEST).exists() {
                format!("stopped; undo it with: {}", again(target))
            } else {
                "stopped; nothing is moved".to_owned()
            });
            return Ok(Exit::Interrupted);
        }
        Err(Error::Output(publish::Error::Foreign { .. })) if target.join(MANIFEST).is_file() => {
            let undo = again(target);
            bail!(
                "{} is not empty. Choose another folder, or undo the earlier move: {undo}",
                target.display()
            )
        }
        moved => moved.map_err(explained)?,
    };
    list.sum(&moved, asked.dry_run, "moved");
    note_moved(&moved, judging, console);
    if let Some(done) = &moved.done {
        notes(done, judging, are_differing_moved, console);
        if let Some(note) = short_note(done, args, judging)? {
            console.note(&note);
        }
    }
    if moved.manifest.is_some() {
        console.note(&format!("undo it with: {}", again(target)));
    }
    list.end()?;
    let compared = moved.done.and_then(|done| done.compared);
    let has_failures = compared.is_some_and(|it| it.reading.has_failures());
    Ok(Exit::failed(
        has_failures || moved.failed + told.failures + told.unread > 0,
    ))
}

/// Says by which rule files were moved, and which of them differ from what stays although their texts are the same.
fn note_moved(moved: &MoveSummary, judging: &JudgingArgs, console: &Console) {
    if moved.files > 0 && judging.keep.is_none() && judging.against.is_none() {
        console.note(
            "of similar files, the one that says more stays; of equal ones, one that is not named like a copy (--keep chooses \
             another)",
        );
    }
    if moved.differing > 0 {
        let files = counted(moved.differing, "file resembles", "files resemble");
        let stay = if moved.differing == 1 {
            "stays"
        } else {
            "stay"
        };
        console.note(&format!(
            "{files} one with other lines or named like a copy, and {stay}; `dedupdb report` shows them side by side, and \
             --threshold 0.8 moves them, too"
        ));
    }
    if moved.other_bytes > 0 {
        let files = counted(moved.other_bytes, "file has", "files have");
        console.note(&format!(
            "{files} the text of another one, but other bytes: pages differ in scripts, comments or forms, messages in headers such \
             as the subject, converted files in pictures; look at them before you delete them"
        ));
    }
}

/// Checks the arguments of a move before anything is read.
fn check(
    args: &Args,
    judging: &JudgingArgs,
    paths: &[PathBuf],
    target: &Path,
    console: &Console,
) -> Result<()> {
    if args.store_given {
        bail!(
            "move compares the files of one folder; leave --store out, or name the store after --against"
        );
    }
    if judging.against.as_deref() == Some(Path::new(STDIN)) {
        bail!("--against needs the name of a file, a folder or a store");
    }
    judging.telling.check(paths, &[target])?;
    let read = judging.keys_from.iter().chain(&judging.ignored.ignore);
    check_not_read(&[target], read)?;
    judging
        .inputs
        .check(&judging.inputs.options(), paths, console)
}

/// Prints the notes on what was read.
fn notes(done: &DedupSummary, judging: &JudgingArgs, are_differing_moved: bool, console: &Console) {
    let notes = [
        done.reading.left_out_note(judging.inputs.pre.is_some()),
        exclusion_note(done, judging),
        nothing_note(done),
        are_differing_moved
            .then(|| words_note(done, judging))
            .flatten(),
    ];
    for note in notes.into_iter().flatten() {
        console.note(&note);
    }
    tell_compared(done, console);
}

/// Moves files back. `aside` is the folder, or the list in it.
fn undo(
    args: &Args,
    asked: &args::MoveArgs,
    aside: &Path,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    let progress = interrupt::catch()?;
    let mut list = MoveList::new(console, output);
    // The manifest has whole paths. Those below the current folder are shown as the move showed them.
    list.here = env::current_dir().ok();
    let undo = Undo::new(aside).pretend(asked.dry_run).progress(&progress);
    let undone = patiently(args.wait, || {
        let undone = undo.clone().run(|event| list.event(event));
        Ok((undone, progress.is_stopped()))
    })?;
    let undone = match undone {
        Err(Error::Stopped) => {
            console.error("stopped; the same command continues");
            return Ok(Exit::Interrupted);
        }
        Err(Error::NotFound { path }) if path != *aside => bail!(
            "{}: there is no such file or folder; files go back to where they were, so put this back first",
            path.display()
        ),
        undone => undone.map_err(explained)?,
    };
    list.sum(&undone, asked.dry_run, "moved back");
    if undone.files + undone.left + undone.failed == 0 {
        console.note("there is nothing to move back: each file is where it was before the move");
    }
    list.end()?;
    Ok(Exit::failed(undone.failed > 0))
}

/// Repeats a run for this long while another process moves files of the folder, unless a signal came.
fn patiently<T>(
    wait: Duration,
    mut run: impl FnMut() -> Result<(Result<T, Error>, bool)>,
) -> Result<Result<T, Error>> {
    let started = Instant::now();
    loop {
        match run()? {
            (Err(Error::Held { .. }), true) => return Ok(Err(Error::Stopped)),
            (Err(Error::Held { .. }), false) if started.elapsed() < wait => thread::sleep(PAUSE),
            (done, _) => return Ok(done),
        }
    }
}

/// A path as a shell word that no command takes for an option.
fn shell_path(path: &Path) -> String {
    let path = path.to_string_lossy();
    let here = if path.starts_with('-') { "./" } else { "" };
    shell_word(&format!("{here}{path}"))
}

/// The list of what is moved, on standard output.
///
/// All files are moved even if the list cannot be written, or its reader stops reading, so that no move is left half
/// done.
struct MoveList<'a> {
    console: &'a Console,
    output: &'a mut Output,
    /// Paths below this folder are shown relative to it.
    here: Option<PathBuf>,
    /// Why the list ended early.
    failed: Option<anyhow::Error>,
}

impl<'a> MoveList<'a> {
    fn new(console: &'a Console, output: &'a mut Output) -> MoveList<'a> {
        MoveList {
            console,
            output,
            here: None,
            failed: None,
        }
    }

    /// Lists a moved file, or reports why a file was not moved.
    fn event(&mut self, event: MoveEvent<'_>) {
        match event {
            MoveEvent::Moved {
                from,
                to,
                like,
                similarity,
                exact_copy,
            } => {
                let [from, to] = [from, to].map(|path| self.shown(path).to_string_lossy());
                self.write(|output| {
                    if output.is_json() {
                        return output.object(&json::MovedFileJson {
                            from,
                            to,
                            earlier: like,
                            similarity,
                            exact_copy,
                        });
                    }
                    let [from, to, like] = [&*from, &*to, like].map(escape);
                    let copy = match copy_column(exact_copy, Some(similarity)) {
                        "" => "\tother words",
                        copy => copy,
                    };
                    let similarity = four_decimals(similarity);
                    output.line(format!("{from}\t{to}\t{like}\t{similarity}{copy}"))
                });
            }
            MoveEvent::Left {
                file,
                why,
                is_failure,
            } => {
                let line = format!("{}: {why}", self.shown(file).display());
                if is_failure {
                    self.console.error(&line);
                } else {
                    self.console.note(&line);
                }
            }
            _ => {}
        }
    }

    /// The form in which a path is shown.
    fn shown<'p>(&self, path: &'p Path) -> &'p Path {
        let here = self.here.as_deref().unwrap_or(Path::new("."));
        path.strip_prefix(here).unwrap_or(path)
    }

    /// Reports what was done.
    fn sum(&mut self, moved: &MoveSummary, dry_run: bool, done: &str) {
        self.write(|output| {
            if output.is_json() {
                output.object(&json::MoveJson::new(moved, dry_run))?;
            }
            output.flush()
        });
        if self.output.is_json() && self.failed.is_none() {
            return;
        }
        let files = counted(moved.files, "file", "files");
        let size = bytes(moved.bytes);
        let would = if dry_run { "would be " } else { "" };
        self.console
            .text(&format!("{files} {would}{done}, {size}\n"));
        if moved.records > 0 {
            let records = counted(moved.records, "record", "records");
            self.console.note(&format!(
                "{records} would be dropped but stay, because files of records are not moved; write them with \
                 `dedup` instead"
            ));
        }
    }

    fn write(&mut self, write: impl FnOnce(&mut Output) -> io::Result<()>) {
        if self.failed.is_none() {
            self.failed = write(self.output).err().map(anyhow::Error::from);
        }
    }

    /// Returns the error that ended the list early, unless its reader wanted no more.
    fn end(self) -> Result<()> {
        match self.failed {
            Some(error) if !is_broken_pipe(&error) => {
                Err(error.context("all is done, but not all of it could be listed"))
            }
            _ => Ok(()),
        }
    }
}
