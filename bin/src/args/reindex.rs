//! Arguments of `reindex`.

use std::path::PathBuf;

use clap::Arg;
use dedupdb::sketching::{Bands, Family, Shingling, SlotWidth};

use crate::inputs::InputArgs;
use crate::left_out::LeftOutArgs;
use crate::parse::{self, Seed};

/// Give the store other parameters, while it is in use
///
/// Parameters that are not given stay the same. If the threshold or the number of permutations
/// changes, new bands are chosen, unless --bands is given. Everything is computed from the stored
/// shingles; no file is read, except for --passage.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb reindex --permutations 256
  dedupdb reindex --threshold 70% --recall 99%
  dedupdb reindex --bands 20x6  Other bands, with the same signatures
  dedupdb reindex --tuned  The bands that `tune` finds best
  dedupdb reindex --passage 20 --from articles/  Find passages of 20 words from now on
  dedupdb reindex --status  Show how far an unfinished reindex has come
  dedupdb reindex  Continue it
  dedupdb reindex --cancel  Discard it

Builds the next generation of the store next to the current one, and switches in one step at the
end. Until then, queries are answered from the current one. You may stop a reindex at any time, even
with `kill -9`: the same command continues, with the same seed if it is random. A command with other
parameters discards the unfinished reindex, says so, and starts again.

Shorter signatures are prefixes of longer ones. Longer ones need only the new slots. If only the
bands change, signatures are not written at all. The way texts become shingles cannot be changed:
create another store (`init --shingling`) and add the texts to it.

--passage needs the order of the words, which a store does not keep: --from names the files and
folders that have the texts, in any order, wherever they are now. A text that is not among them stays
stored, and `passages` does not find it; the same command with more files fills the gap. No files are
needed if N - K + 1 is a multiple of its present value, K being the length of a shingle, or if N is 0.

A store without shingles (`init --no-shingles`) needs its files for new slots. It reads documents
whose keys are paths of files with one document each. If such a file is gone or has another text, or
a document is a record, that is an error; --drop-missing removes such documents instead.

Exit codes: 0 done, 1 nothing to do, 2 error, 75 another process is writing to the store or rebuilding it,
130 interrupted.

Details in the documentation: reference/reading.md")]
#[command(mut_args(of_files))]
#[expect(clippy::struct_excessive_bools, reason = "flags are what was typed")]
pub(crate) struct ReindexArgs {
    /// Number of slots of a signature
    #[arg(long, alias = "num-perm", value_name = "N")]
    pub(crate) permutations: Option<u32>,

    /// Minimum Jaccard similarity of near-duplicates: 0.8 or 80%
    #[arg(long, value_name = "SHARE", value_parser = parse::share)]
    pub(crate) threshold: Option<f64>,

    /// Choose bands that find this share of the pairs at the threshold: 0.98 or 98%
    #[arg(long, value_name = "SHARE", value_parser = parse::recall, conflicts_with = "bands")]
    pub(crate) recall: Option<f64>,

    /// Number of bands and rows, such as 18x7
    #[arg(long, value_name = "BxR", value_parser = parse::parameter::<Bands>, conflicts_with = "tuned")]
    pub(crate) bands: Option<Bands>,

    /// Choose the bands with the least work, measured on a sample of the store, as `tune` does
    #[arg(long)]
    pub(crate) tuned: bool,

    /// Number of contents that the store will reach, for --tuned; by default, the present number
    #[arg(long, value_name = "N", requires = "tuned")]
    pub(crate) contents: Option<u64>,

    /// Seed of the permutations, or random
    #[arg(long, value_name = "N|random")]
    pub(crate) seed: Option<Seed>,

    /// Family of the permutations
    #[arg(long, value_name = "NAME", value_parser = parse::family())]
    pub(crate) family: Option<Family>,

    /// Bits of a slot: 8, 16 or 32
    #[arg(long, value_name = "BITS", value_parser = parse::parameter::<SlotWidth>)]
    pub(crate) slot_bits: Option<SlotWidth>,

    /// Length in words of the passages that `passages` always finds; 0 for none
    #[arg(long, value_name = "WORDS", allow_negative_numbers = true)]
    pub(crate) passage: Option<u32>,

    /// With --passage, files and folders with the stored texts, or - for standard input
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "passage", value_parser = parse::path())]
    pub(crate) from: Vec<PathBuf>,

    /// Refused, with what to do instead
    #[arg(long, value_name = "KIND", value_parser = parse::parameter::<Shingling>, hide = true)]
    pub(crate) shingling: Option<Shingling>,

    /// Show how far an unfinished reindex has come
    #[arg(long, conflicts_with_all = OF_WORK, conflicts_with = "cancel")]
    pub(crate) status: bool,

    /// Discard an unfinished reindex
    #[arg(long, conflicts_with_all = OF_WORK)]
    pub(crate) cancel: bool,

    /// Remove documents whose text is needed but gone, instead of failing
    #[arg(long, help_heading = "Inputs")]
    pub(crate) drop_missing: bool,

    /// Memory for sorting, at least 384MiB; everything else takes about as much again
    #[arg(long, value_name = "SIZE", value_parser = parse::memory, default_value = "512MiB")]
    pub(crate) memory: u64,

    #[command(flatten)]
    pub(crate) inputs: InputArgs,

    #[command(flatten)]
    pub(crate) telling: LeftOutArgs,
}

/// The options about what to compute and how.
const OF_WORK: [&str; 14] = [
    "permutations",
    "threshold",
    "recall",
    "bands",
    "tuned",
    "contents",
    "seed",
    "family",
    "slot_bits",
    "passage",
    "from",
    "shingling",
    "drop_missing",
    "memory",
];

/// Moves an option about reading files below a heading that says when files are read.
fn of_files(arg: Arg) -> Arg {
    if arg.get_help_heading() == Some("Inputs") {
        arg.help_heading("Reading files, for --from and --no-shingles stores")
    } else {
        arg
    }
}

impl ReindexArgs {
    /// Whether no parameter is given: the command then continues an unfinished reindex.
    pub(crate) fn is_bare(&self) -> bool {
        let numbers = self.permutations.is_none() && self.seed.is_none();
        let shares = self.threshold.is_none() && self.recall.is_none();
        let others = self.family.is_none() && self.slot_bits.is_none() && self.passage.is_none();
        numbers && shares && others && self.bands.is_none() && !self.tuned
    }
}
