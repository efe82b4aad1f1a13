//! What is to be written, and where.

use std::fs;
use std::path::{Path, PathBuf};

use crate::corpus::{Format, is_pipe};
use crate::dedup::error::{Error, Result};
use crate::dedup::settings::{Dedup, Ending, To};
use crate::publish::apart::{bare, check_apart, check_outputs};

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Nothing.
    Nothing,
    /// Records, one after the other.
    Records,
    /// Files with their paths.
    Folder,
    /// Paths of files.
    List(Ending),
}

/// Where it is written.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) form: Form,
    /// None is a stream, or nowhere.
    pub(crate) path: Option<PathBuf>,
}

impl Target {
    /// What is asked for.
    ///
    /// # Errors
    ///
    /// It contradicts itself, or would write over what is to be read.
    pub(crate) fn of(dedup: &Dedup) -> Result<Target> {
        let output = match &dedup.to {
            To::Path(path) => Some(path),
            To::Stream(_) | To::Nowhere => None,
        };
        let form = match (&dedup.to, dedup.list) {
            (To::Nowhere, _) => Form::Nothing,
            (_, Some(ending)) => Form::List(ending),
            (To::Path(path), None) if !is_of_records(dedup, path) => Form::Folder,
            (To::Path(_) | To::Stream(_), None) => Form::Records,
        };
        check_inputs(dedup, form)?;
        let inputs = dedup.paths.iter().filter(|path| !is_stdin(path));
        let inputs: Vec<PathBuf> = inputs.cloned().collect();
        for path in dedup.removed.iter().chain(output) {
            check_apart(path, &inputs)?;
        }
        if let (Some(removed), Some(output)) = (&dedup.removed, output) {
            check_outputs(removed, output)?;
        }
        Ok(Target {
            form,
            path: output.map(|path| bare(path)),
        })
    }
}

/// Whether a path stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Whether records are asked for: by the name of the output, or because there is but one file of them.
fn is_of_records(dedup: &Dedup, output: &Path) -> bool {
    let format = |path: &Path| dedup.options.format.unwrap_or_else(|| Format::of(path));
    let is_file_of_records =
        |path: &Path| is_stdin(path) || !path.is_dir() && !format(path).is_document();
    let is_one = matches!(&*dedup.paths, [path] if is_file_of_records(path));
    is_one || !Format::of(output).is_document() && !output.is_dir()
}

fn check_inputs(dedup: &Dedup, form: Form) -> Result<()> {
    if dedup.paths.iter().filter(|path| is_stdin(path)).count() > 1 {
        return Err(Error::StdinTwice);
    }
    let is_stream = |path: &&PathBuf| is_stdin(path) || is_pipe(path);
    let is_document = |path: &PathBuf| {
        let format = dedup.options.format.unwrap_or_else(|| Format::of(path));
        format.is_document()
    };
    let mut streams = dedup.paths.iter().filter(is_stream);
    if let Some(path) = streams.find(|path| is_document(path))
        && form != Form::Nothing
    {
        let name = if is_stdin(path) {
            "standard input".to_owned()
        } else {
            path.display().to_string()
        };
        return Err(Error::StreamOfText { name });
    }
    let mut files = dedup.paths.iter().filter(|path| !is_stdin(path));
    match files.find(|path| fs::metadata(path).is_err()) {
        Some(path) => Err(Error::NotFound { path: path.clone() }),
        None => Ok(()),
    }
}
