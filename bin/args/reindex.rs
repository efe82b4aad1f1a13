//! Arguments of `reindex`.

use dedupdb::sketching::{Bands, Family, Shingling, SlotWidth};

use crate::inputs::Inputs;
use crate::parse::{self, Seed};

/// Give the store other parameters, while it is in use
///
/// What is not given stays as it is. If the threshold or the number of permutations changes, bands
/// are chosen anew, unless they are given. Everything is computed from the stored shingles; no file
/// is read.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb reindex --permutations 256
  dedupdb reindex --threshold 70% --recall 99%
  dedupdb reindex --bands 20x6                    other bands, on the signatures as they are
  dedupdb reindex --tuned                         the bands that `tune` finds best
  dedupdb reindex --status                        how far is one that was stopped?
  dedupdb reindex                                 go on with it
  dedupdb reindex --cancel                        forget it

The next generation of the store is made beside the one in use, and takes its place at the end, in
one step. Until then queries are answered from the old one. It is safe to stop a reindex at any
time, by Ctrl-C or worse: the same command goes on from where it was, with the seed that it drew if
it is random. A command that asks for something else forgets what was begun, says so, and begins anew.

Signatures that become shorter are cut; those that become longer get the new slots only; if only
bands change, they are not written at all. How texts become shingles cannot be changed: that needs
the texts, so make another store (`init --shingling`) and add them to it. A store without shingles (`init --no-shingles`) needs the files of its documents for new
slots, and reads those again whose keys are paths of files that hold one document each; a file
whose text is another now, or that is gone, is an error unless --drop-missing is given.

Exit codes: 0 done, 1 nothing to do, 2 error, 130 interrupted.")]
#[expect(clippy::struct_excessive_bools, reason = "flags are what was typed")]
pub(crate) struct Reindex {
    /// Number of slots of a signature
    #[arg(long, value_name = "N")]
    pub(crate) permutations: Option<u32>,

    /// Least Jaccard similarity of near-duplicates: 0.8 or 80%
    #[arg(long, value_name = "SHARE", value_parser = parse::share)]
    pub(crate) threshold: Option<f64>,

    /// Choose bands that find this share of the pairs at the threshold: 0.98 or 98%
    #[arg(long, value_name = "SHARE", value_parser = parse::share, conflicts_with = "bands")]
    pub(crate) recall: Option<f64>,

    /// Bands and rows by hand, such as 18x7
    #[arg(long, value_name = "BxR", conflicts_with = "tuned")]
    pub(crate) bands: Option<Bands>,

    /// Choose the bands that make least work, measured on a sample of the store, as `tune` does
    #[arg(long)]
    pub(crate) tuned: bool,

    /// Contents that the store will have grown to, for --tuned; twice what it has by default
    #[arg(long, value_name = "N", requires = "tuned")]
    pub(crate) contents: Option<u64>,

    /// Number that the permutations are drawn with, or random
    #[arg(long, value_name = "N|random")]
    pub(crate) seed: Option<Seed>,

    /// Family of the permutations: affine32, linear-prime, modular, jenkins or murmur
    #[arg(long, value_name = "NAME")]
    pub(crate) family: Option<Family>,

    /// Bits that a slot keeps: 8, 16 or 32
    #[arg(long, value_name = "BITS")]
    pub(crate) slot_bits: Option<SlotWidth>,

    /// Refused, with what to do instead
    #[arg(long, value_name = "KIND", hide = true)]
    pub(crate) shingling: Option<Shingling>,

    /// Tell how far a reindex is that was begun and not finished
    #[arg(long, exclusive = true)]
    pub(crate) status: bool,

    /// Forget a reindex that was begun and not finished
    #[arg(long, exclusive = true)]
    pub(crate) cancel: bool,

    /// Remove documents whose text is needed and gone, instead of failing
    #[arg(long)]
    pub(crate) drop_missing: bool,

    /// Memory to take for sorting, 384MiB at least; all the rest takes about as much
    #[arg(long, value_name = "SIZE", value_parser = parse::memory, default_value = "512MiB")]
    pub(crate) memory: u64,

    #[command(flatten)]
    pub(crate) inputs: Inputs,
}

impl Reindex {
    /// Whether it names no parameter, so that it is about one that was begun before.
    pub(crate) fn is_bare(&self) -> bool {
        let numbers = self.permutations.is_none() && self.seed.is_none();
        let shares = self.threshold.is_none() && self.recall.is_none();
        let others = self.family.is_none() && self.slot_bits.is_none();
        numbers && shares && others && self.bands.is_none() && !self.tuned
    }
}
