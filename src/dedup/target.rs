//! What is to be written, and where.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::args::Dedup;
use dedupdb::corpus::{Format, STDIN, is_pipe};
use dedupdb::publish::apart::{bare, check_apart, check_outputs};

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Records, one after the other.
    Records,
    /// Files with their paths.
    Folder,
    /// Paths of files, each on a line, or as it is with a NUL byte after it.
    List { is_nul: bool },
}

/// Where it is written.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) form: Form,
    /// None is standard output.
    pub(crate) path: Option<PathBuf>,
}

impl Target {
    /// What the arguments mean.
    ///
    /// # Errors
    ///
    /// They contradict each other, or would write over what is to be read.
    pub(crate) fn of(dedup: &Dedup) -> Result<Target> {
        let is_stdout = dedup.output == Path::new(STDIN);
        let form = if dedup.list {
            Form::List {
                is_nul: dedup.print0,
            }
        } else if is_stdout || is_of_records(dedup) {
            Form::Records
        } else {
            Form::Folder
        };
        check_inputs(dedup)?;
        let removed = dedup.removed.as_deref();
        if removed == Some(Path::new(STDIN)) {
            bail!("--removed names a file; standard output is for OUTPUT");
        }
        let written = removed
            .into_iter()
            .chain((!is_stdout).then_some(&*dedup.output));
        for path in written {
            check_apart(path, &dedup.paths)?;
        }
        if let Some(removed) = removed.filter(|_| !is_stdout) {
            check_outputs(removed, &dedup.output)?;
        }
        Ok(Target {
            form,
            path: (!is_stdout).then(|| bare(&dedup.output)),
        })
    }
}

/// Whether records are asked for: by the name of OUTPUT, or because there is but one file of them.
fn is_of_records(dedup: &Dedup) -> bool {
    let format = |path: &Path| dedup.inputs.format.unwrap_or_else(|| Format::of(path));
    let is_file_of_records =
        |path: &Path| path == Path::new(STDIN) || !path.is_dir() && !format(path).is_document();
    let is_one = matches!(&*dedup.paths, [path] if is_file_of_records(path));
    is_one || !Format::of(&dedup.output).is_document() && !dedup.output.is_dir()
}

fn check_inputs(dedup: &Dedup) -> Result<()> {
    let stdin = dedup.paths.iter().filter(|path| *path == Path::new(STDIN));
    if stdin.count() > 1 {
        bail!("standard input (-) is named more than once");
    }
    let streams = dedup.paths.iter();
    let mut streams = streams.filter(|path| *path == Path::new(STDIN) || is_pipe(path));
    if let Some(path) = streams.find(|path| dedup.inputs.is_one_document(path)) {
        let name = if path == Path::new(STDIN) {
            "standard input".to_owned()
        } else {
            path.display().to_string()
        };
        bail!("{name}: a stream of text is one document; say with --format what records it has")
    }
    for path in &dedup.paths {
        if path != Path::new(STDIN) && fs::metadata(path).is_err() {
            bail!("{}: there is no such file or folder", path.display());
        }
    }
    Ok(())
}
