//! Arguments of `init`.

use dedupdb::sketching::{Bands, Family, Shingling, SlotWidth};
use dedupdb::write::IdScope;
use dedupdb_corpus::Preset;

use crate::parse;

/// Create a store with parameters of your choice
///
/// Without this, `add` creates a store with the defaults. `reindex` changes all parameters later,
/// except those of the shingles.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb init  The defaults: shingles of five words, similarity 0.8
  dedupdb init --threshold 70% --recall 99%  Find more, at a higher cost for each query
  dedupdb init --shingling char:4 --threshold 0.7  For titles, names and short messages
  dedupdb init --preset fineweb --threshold 0.8  FineWeb's parameters with another threshold
  dedupdb init --no-shingles  About 520 bytes a text, however long; similarities are estimates

Prints the chosen bands, the probability that a pair of each similarity is found, and the space that
a document takes.

Each preset has a kind of shingle, bands and rows, and a threshold. The share is that of the pairs
at the threshold that its bands find:
  fineweb word:5 14x8 0.75 77.2%  FineWeb (arXiv:2406.17557), the defaults of datatrove
  nemo char:24 20x13 0.8 67.7%  NeMo Curator's fuzzy deduplication, its defaults
  refinedweb word:5 450x20 0.8 99.5%  RefinedWeb (arXiv:2306.01116), appendix G.3.1
  text-dedup word:5 25x10 0.7 51.1%  text-dedup's MinHash script, its defaults

A preset sets the length of shingles, permutations, bands and threshold. dedupdb still cuts,
normalizes and hashes words in its own way; RefinedWeb uses the tokens of a language model. dedupdb
also compares what the bands find and drops pairs below the threshold; these tools keep them.

Exit codes: 0 done, 2 error, 75 another process is writing to the store.")]
pub(crate) struct InitArgs {
    #[command(flatten)]
    pub(crate) sketching: SketchingArgs,

    /// Length in words of the passages that `passages` always finds, from the length of a shingle; 0 for
    /// none [default: 20, or 100 for shingles of characters or bytes]
    #[arg(long, value_name = "WORDS", allow_negative_numbers = true)]
    pub(crate) passage: Option<u32>,

    /// Keep no shingles: takes less space, but similarities are estimates
    #[arg(long)]
    pub(crate) no_shingles: bool,

    /// Where ids of records are unique, which `add` then need not say
    #[arg(long, value_name = "WHERE", value_parser = parse::id_scope())]
    pub(crate) id_scope: Option<IdScope>,
}

/// How texts are sketched, and when they are similar.
#[derive(Debug, clap::Args)]
pub(crate) struct SketchingArgs {
    /// Start with the parameters of another tool; other options override them
    #[arg(long, value_name = "NAME", value_parser = parse::preset())]
    pub(crate) preset: Option<Preset>,

    /// Minimum Jaccard similarity of near-duplicates, 0.8 or 80% [default: 0.8]
    #[arg(long, value_name = "SHARE", value_parser = parse::share)]
    pub(crate) threshold: Option<f64>,

    /// Share of the pairs at the threshold to find, 0.98 or 98% [default: 0.98]
    #[arg(
        long,
        value_name = "SHARE",
        value_parser = parse::recall,
        conflicts_with = "bands"
    )]
    pub(crate) recall: Option<f64>,

    /// Kind of shingle: word:K, code:K, char:K, char-nospace:K, byte:K, term or ids
    /// [default: word:5]
    #[arg(long, value_name = "KIND", value_parser = parse::parameter::<Shingling>)]
    pub(crate) shingling: Option<Shingling>,

    /// Distinguish uppercase from lowercase letters
    #[arg(long)]
    pub(crate) no_lowercase: bool,

    /// Distinguish characters that Unicode NFKC treats as equal
    #[arg(long)]
    pub(crate) no_nfkc: bool,

    /// Treat words as equal that differ in marks only: the vowel signs and the tatweel of Arabic, the
    /// points of Hebrew, the diacritics of Latin letters
    #[arg(long, value_name = "WHAT", value_parser = ["marks"])]
    pub(crate) fold: Option<String>,

    /// Number of slots of a signature, up to 16384: more slots find more and take more space
    /// [default: 128]
    #[arg(long, alias = "num-perm", value_name = "N")]
    pub(crate) permutations: Option<u32>,

    /// Bits of a slot: 8, 16 or 32
    #[arg(long, value_name = "BITS", value_parser = parse::parameter::<SlotWidth>, default_value_t = SlotWidth::default())]
    pub(crate) slot_bits: SlotWidth,

    /// Number of bands and rows, such as 18x7, instead of --recall
    #[arg(long, value_name = "BxR", value_parser = parse::parameter::<Bands>)]
    pub(crate) bands: Option<Bands>,

    /// Family of the permutations. The default is the fastest; all of them reach the stated recall
    #[arg(long, value_name = "NAME", value_parser = parse::family(), default_value_t = Family::default())]
    pub(crate) family: Family,

    /// Seed of the permutations, or random; the same seed gives the same signatures in every
    /// store
    #[arg(long, value_name = "N|random", value_parser = parse::seed, default_value = "1")]
    pub(crate) seed: u64,
}
