//! The form and the place of the output.

use std::path::{Path, PathBuf};

use crate::dedup::error::{Error, Result};
use crate::dedup::settings::{Against, Dedup, Destination, PathTerminator};
use crate::publish::apart::{bare, check_apart, check_outputs};
use crate::{Format, Source, format_of_output};

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputForm {
    /// Nothing.
    Nothing,
    /// Records, one after another.
    Records,
    /// Files with their paths.
    Folder,
    /// Paths of files.
    List(PathTerminator),
}

/// The form and the place of the output.
#[derive(Clone, Debug)]
pub(crate) struct OutputTarget {
    pub(crate) form: OutputForm,
    /// Whether rows of tables are written as rows rather than lines.
    pub(crate) is_of_tables: bool,
    /// `None` for a stream, or for no output.
    pub(crate) path: Option<PathBuf>,
}

impl OutputTarget {
    /// Returns the target that a run requests.
    ///
    /// # Errors
    ///
    /// The settings contradict each other, or the output would overwrite an input.
    pub(crate) fn of(dedup: &Dedup) -> Result<OutputTarget> {
        let output = match &dedup.to {
            Destination::Path(path) => Some(path),
            Destination::Stream(_) | Destination::Nowhere => None,
        };
        let form = match (&dedup.to, dedup.list) {
            (Destination::Nowhere, _) => OutputForm::Nothing,
            (_, Some(ending)) => OutputForm::List(ending),
            (Destination::Path(path), None) if !is_of_records(dedup, path) => OutputForm::Folder,
            (Destination::Path(_) | Destination::Stream(_), None) => OutputForm::Records,
        };
        if form != OutputForm::Nothing {
            check_streams(dedup)?;
        }
        let inputs = dedup.sources.iter().filter_map(Source::named);
        let mut inputs: Vec<PathBuf> = inputs.map(Path::to_owned).collect();
        let others = match &dedup.against {
            Some(Against::Corpus(sources)) => &**sources,
            Some(Against::Store(store)) => {
                inputs.push(store.folder().to_owned());
                &[]
            }
            None => &[],
        };
        // What is only read for comparison must not be overwritten either.
        inputs.extend(others.iter().filter_map(Source::named).map(Path::to_owned));
        if let Some(source) = dedup
            .sources
            .iter()
            .chain(others)
            .find(|source| source.is_missing())
        {
            let path = source.name().to_owned();
            return Err(Error::NotFound { path });
        }
        for path in dedup.removed.iter().chain(output) {
            check_apart(path, &inputs)?;
        }
        if let (Some(removed), Some(output)) = (&dedup.removed, output) {
            check_outputs(removed, output)?;
        }
        let is_of_tables = match (form, output) {
            (OutputForm::Records, Some(path)) => is_table(dedup, path),
            (OutputForm::Records, None) => false,
            (OutputForm::Nothing | OutputForm::Folder | OutputForm::List(_), _) => true,
        };
        Ok(OutputTarget {
            form,
            is_of_tables,
            path: output.map(|path| bare(path)),
        })
    }
}

/// Whether a Parquet file is requested, by the name of the output or because it is the only input.
fn is_table(dedup: &Dedup, output: &Path) -> bool {
    match (format_of_output(output), &*dedup.sources) {
        (Format::Parquet, _) => true,
        (named, [source]) if named.is_document() => dedup.format(source) == Format::Parquet,
        _ => false,
    }
}

/// Whether records are requested, by the name of the output, or because the only input is a file of records and the
/// output is not named like a folder.
fn is_of_records(dedup: &Dedup, output: &Path) -> bool {
    let name = output.as_os_str().as_encoded_bytes();
    if output.is_dir()
        || name
            .last()
            .is_some_and(|&end| std::path::is_separator(end.into()))
    {
        return false;
    }
    let is_of_records = |source: &Source| match source.named() {
        Some(path) => !path.is_dir() && !dedup.format(source).is_document(),
        None => true,
    };
    let is_one = matches!(&*dedup.sources, [source] if is_of_records(source));
    is_one || !format_of_output(output).is_document()
}

/// Refuses a stream that is one document, and so has no file to keep.
fn check_streams(dedup: &Dedup) -> Result<()> {
    let mut streams = dedup.sources.iter().filter(|source| source.is_stream());
    match streams.find(|source| dedup.format(source).is_document()) {
        Some(source) => Err(Error::StreamOfText {
            name: source.name().display().to_string(),
        }),
        None => Ok(()),
    }
}
