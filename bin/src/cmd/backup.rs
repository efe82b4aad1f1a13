//! `backup`: copies the store.

use anyhow::{Result, anyhow};
use dedupdb::Error;

use crate::args::{Args, BackupArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::json;
use crate::number::{bytes, counted};
use crate::output::{Output, printable};
use crate::watch::{ProgressWatch, StepUnit};

/// Runs `backup`.
pub(crate) fn run(
    args: &Args,
    backup: &BackupArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    let store = crate::store::open_to_read(args)?;
    let watch = ProgressWatch::new(console, "copied", StepUnit::Byte, store.progress());
    let stats = store.backup(&backup.folder).map_err(existing)?;
    drop(watch);
    let size: u64 = stats.files.iter().map(|(_, bytes)| bytes).sum();
    let folder = backup.folder.display().to_string();
    if output.is_json() {
        output.object(&json::BackupJson {
            store: &folder,
            documents: stats.documents,
            contents: stats.contents,
            bytes: size,
        })?;
    } else if !args.quiet {
        output.line(format!(
            "copied {} to {}, {}",
            counted(stats.documents, "document", "documents"),
            printable(&folder),
            bytes(size)
        ))?;
    }
    Ok(Exit::Found)
}

/// Explains that a backup needs a place of its own.
fn existing(error: Error) -> anyhow::Error {
    match error {
        Error::NotEmpty { path, holds } => anyhow!(
            "{}: this folder holds {holds:?}, and a backup goes into a new folder; name one, such as {}",
            path.display(),
            path.join("backup").display()
        ),
        Error::Occupied { path } => anyhow!(
            "{}: this is a file, and a backup goes into a new folder; name another one",
            path.display()
        ),
        Error::AlreadyAStore { path } => anyhow!(
            "{}: there is a dedupdb store here already, and a backup goes into a new folder; name another one",
            path.display()
        ),
        error => error.into(),
    }
}
