//! Arguments of `init`.

use dedupdb::sketching::{Bands, Family, Preset, Shingling, SlotWidth};

use crate::parse;

/// Make a store with parameters of your own
///
/// Without this, add makes a store with the defaults. `reindex` changes
/// them later, but for those of shingles.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb init                                     the defaults: five words, similarity 0.8
  dedupdb init --threshold 70% --recall 99%        find more, at more work a query
  dedupdb init --preset fineweb --threshold 0.8    as FineWeb, but nothing below 0.8
  dedupdb init --no-shingles                       half the space; similarities are estimates

Prints the bands that were chosen, how likely pairs of each similarity are to be found, and what
a document costs on disk.

The presets, and the share of the pairs at their threshold that their bands find:

  fineweb      word:5   14x8    0.75  77.2%  FineWeb (arXiv:2406.17557), datatrove's defaults
  nemo         char:24  20x13   0.8   67.7%  NeMo Curator's fuzzy deduplication, its defaults
  refinedweb   word:5   450x20  0.8   99.5%  RefinedWeb (arXiv:2306.01116), appendix G.3.1
  text-dedup   word:5   25x10   0.7   51.1%  text-dedup's MinHash script, its defaults

They take over shingle lengths, permutations, bands and threshold. Words are cut and folded, and
hashed, as dedupdb does it; RefinedWeb takes the tokens of a language model. And dedupdb compares
what the bands find: what is less alike than the threshold is no match, where these tools take it
for one.

Exit codes: 0 done, 2 error.")]
pub(crate) struct Init {
    #[command(flatten)]
    pub(crate) sketching: Sketching,

    /// Keep no shingles: less space, but similarities are estimates
    #[arg(long)]
    pub(crate) no_shingles: bool,
}

/// What texts become before they are compared, and when they are alike.
#[derive(Debug, clap::Args)]
pub(crate) struct Sketching {
    /// Begin with the parameters of another tool, which the other options change
    #[arg(long, value_name = "NAME", value_parser = parse::preset())]
    pub(crate) preset: Option<Preset>,

    /// Least Jaccard similarity of near-duplicates, 0.8 or 80% [default: 0.8]
    #[arg(long, value_name = "SHARE", value_parser = parse::share)]
    pub(crate) threshold: Option<f64>,

    /// Share of the pairs at the threshold that are to be found, 0.98 or 98% [default: 0.98]
    #[arg(
        long,
        value_name = "SHARE",
        value_parser = parse::share,
        conflicts_with = "bands"
    )]
    pub(crate) recall: Option<f64>,

    /// Pieces of text that are compared: word:K, char:K, char-nospace:K, byte:K, term or ids
    /// [default: word:5]
    #[arg(long, value_name = "KIND")]
    pub(crate) shingling: Option<Shingling>,

    /// Tell capital letters from small ones
    #[arg(long)]
    pub(crate) no_lowercase: bool,

    /// Tell apart characters that Unicode NFKC makes the same
    #[arg(long)]
    pub(crate) no_nfkc: bool,

    /// Slots of a signature, up to 16384: with more, more is found, at as many more bytes
    /// [default: 128]
    #[arg(long, value_name = "N")]
    pub(crate) permutations: Option<u32>,

    /// Bits that a slot keeps: 8, 16 or 32
    #[arg(long, value_name = "BITS", default_value_t = SlotWidth::default())]
    pub(crate) slot_bits: SlotWidth,

    /// Bands and rows by hand, such as 18x7, instead of by --recall
    #[arg(long, value_name = "BxR")]
    pub(crate) bands: Option<Bands>,

    /// Family of the permutations: affine32, linear-prime, modular, jenkins or murmur. The default
    /// is the fastest; all keep the recall that is stated
    #[arg(long, value_name = "NAME", default_value_t = Family::default())]
    pub(crate) family: Family,

    /// Number that the permutations are drawn with, or random; the same number gives the same
    /// signatures in every store
    #[arg(long, value_name = "N|random", value_parser = parse::seed, default_value = "1")]
    pub(crate) seed: u64,
}
