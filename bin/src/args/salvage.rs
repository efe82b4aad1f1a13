//! Arguments of `salvage`.

use std::path::PathBuf;

use clap::ValueHint;

/// Save the intact parts of a damaged store into a new one
///
/// The damaged store is only read. No texts are needed.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb check || dedupdb salvage .dedupdb saved
  dedupdb salvage .dedupdb saved --like backups/monday
  dedupdb salvage --json .dedupdb saved > casualties.jsonl

Prints a line for each document that is not intact, with columns separated by tabs: `lost` or
`doubtful`, the key, and the reason. Doubtful documents are in the new store: they lie in a damaged
part of a file, but agree with what can still be compared, which is little for texts of up to 64
shingles: to be sure, remove them and add their texts again. A content whose keys are lost is kept
under the BLAKE3 hash of its text, which `b3sum` prints for a file; contents that were removed may
come back in this way. Add the texts of lost documents again.

If the index is damaged, the parameters may be, too. The last line says which ones the new store
has.

What the disk cannot read counts as damaged, in pages of 4 KiB; the last lines say how much of each
file that was. Reading such pages is slow and wears a failing disk: first copy its files with a tool
such as ddrescue, then salvage the copy.

TARGET must be absent or empty. It appears complete or not at all.

Exit codes: 0 all documents are intact, 1 the index is damaged, or a document is lost, doubtful or
without its key, 2 error; then there is no TARGET, unless only the results could not be written.")]
pub(crate) struct SalvageArgs {
    /// Folder of the damaged store
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) source: PathBuf,

    /// Folder of the new store, which is created
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) target: PathBuf,

    /// A store with the same parameters, in case the damaged one has lost its own; refused if it still
    /// has different ones [default: those of init]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) like: Option<PathBuf>,
}
