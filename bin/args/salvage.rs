//! Arguments of `salvage`.

use std::path::PathBuf;

use clap::ValueHint;

/// Make a new store of what is whole of a damaged one
///
/// The damaged store is only read. No text is needed.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb check || dedupdb salvage .dedupdb saved
  dedupdb salvage .dedupdb saved --like backups/monday
  dedupdb salvage --json .dedupdb saved > casualties.jsonl

Prints a line for each document that is not what it was, with tabs in between: lost or doubtful, its
key, and why. Doubtful ones are in the new store: they lie in a damaged part of a file, and fit all
that can still be compared. Contents whose keys are lost are kept under the BLAKE3 hash of their
text, which b3sum prints of a file; removed ones may be among them. Add the texts of what is lost
again.

Where the index is damaged, the parameters may be, too: the last line says which they are now.

What the disk cannot read is taken for damaged, page by page of 4 KiB; how much of each file that is
is told last. Each such page may take long, and costs a dying disk of its life: copy the files of one
first, with a tool made for that, like ddrescue, and salvage the copy.

TARGET must not be there yet, or be empty. It appears whole or not at all.

Exit codes: 0 done, and all is as it was, 1 the index is damaged, or a document is lost, doubtful or
without its key, 2 error; then there is no TARGET, unless it was the results that could not be
written.")]
pub(crate) struct Salvage {
    /// Folder of the damaged store
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) source: PathBuf,

    /// Folder of the new store, to be made
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) target: PathBuf,

    /// A store with the same parameters, if the damaged one does not tell them any more; refused if
    /// it tells others [default: those of init]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) like: Option<PathBuf>,
}
