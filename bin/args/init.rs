//! Arguments of `init`.

use dedupdb::{Bands, Family, Shingling, SlotWidth};

use crate::parse;

/// Make a store with parameters of your own
///
/// Without this, add makes a store with the defaults. The parameters cannot be changed later.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dedupdb init                                     the defaults: five words, similarity 0.8
  dedupdb init --threshold 70% --recall 99%        find more, at more work a query
  dedupdb init --no-shingles                       half the space; similarities are estimates

Prints the bands that were chosen, how likely pairs of each similarity are to be found, and what
a document costs on disk.

Exit codes: 0 done, 2 error.")]
pub(crate) struct Init {
    /// Least Jaccard similarity of near-duplicates: 0.8 or 80%
    #[arg(long, value_name = "SHARE", value_parser = parse::share, default_value = "0.8")]
    pub(crate) threshold: f64,

    /// Share of the pairs at the threshold that are to be found: 0.98 or 98%
    #[arg(
        long,
        value_name = "SHARE",
        value_parser = parse::share,
        default_value = "0.98",
        conflicts_with = "bands"
    )]
    pub(crate) recall: f64,

    /// Pieces of text that are compared: word:K, char:K, char-nospace:K, byte:K, term or ids
    #[arg(long, value_name = "KIND", default_value_t = Shingling::default())]
    pub(crate) shingling: Shingling,

    /// Tell capital letters from small ones
    #[arg(long)]
    pub(crate) no_lowercase: bool,

    /// Tell apart characters that Unicode NFKC makes the same
    #[arg(long)]
    pub(crate) no_nfkc: bool,

    /// Number of slots of a signature
    #[arg(long, value_name = "N", default_value_t = 128)]
    pub(crate) permutations: u32,

    /// Bits that a slot keeps: 8, 16 or 32
    #[arg(long, value_name = "BITS", default_value_t = SlotWidth::default())]
    pub(crate) slot_bits: SlotWidth,

    /// Bands and rows by hand, such as 18x7, instead of by --recall
    #[arg(long, value_name = "BxR")]
    pub(crate) bands: Option<Bands>,

    /// Family of the permutations
    #[arg(long, value_name = "NAME", default_value_t = Family::default())]
    pub(crate) family: Family,

    /// Number that the permutations are drawn with, or random
    #[arg(long, value_name = "N|random", value_parser = parse::seed, default_value = "1")]
    pub(crate) seed: u64,

    /// Keep no shingles: less space, but similarities are estimates
    #[arg(long)]
    pub(crate) no_shingles: bool,
}
