//! Arguments of `dedup` and `move` that say how documents are judged.

use std::path::PathBuf;

use dedupdb::sketching::Shingling;
use dedupdb_corpus::Glob;
use dedupdb_corpus::dedup::Keep;

use crate::args::escaped::EscapedArgs;
use crate::ignored::IgnoreArgs;
use crate::inputs::InputArgs;
use crate::left_out::LeftOutArgs;
use crate::parse;

/// Which documents are read, how they are compared, and which of several similar ones is kept.
#[derive(Debug, clap::Args)]
pub(crate) struct JudgingArgs {
    /// Which of several similar documents to keep; 3 keeps the first three [default: first]
    #[arg(long, value_name = "WHICH", value_parser = parse::keep_which())]
    pub(crate) keep: Option<Keep>,

    /// Never drop documents of files whose names match GLOB, as in .gitignore; may be repeated
    #[arg(long, value_name = "GLOB", value_parser = parse::glob)]
    pub(crate) protect: Vec<Glob>,

    /// Drop only documents whose keys are in FILE, separated by NUL bytes; if FILE has none, one key per line;
    /// - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "keep")]
    pub(crate) keys_from: Option<PathBuf>,

    /// Drop documents that resemble one in this store, file or folder; do not compare the input with itself
    #[arg(long, value_name = "STORE|PATH", conflicts_with = "keep")]
    pub(crate) against: Option<PathBuf>,

    /// Go on without named files that exist but cannot be read, and count them
    #[arg(long)]
    pub(crate) skip_unreadable: bool,

    /// Approximate memory to use, at least 384MiB: more makes commits fewer and larger, which is faster
    #[arg(long, value_name = "SIZE", value_parser = parse::memory, default_value = "512MiB")]
    pub(crate) memory: u64,

    /// Disk space for texts and records that are stored until the end, as with --keep longest and
    /// --keep-by [default: nine tenths of the free space]
    #[arg(long, value_name = "SIZE", value_parser = parse::size)]
    pub(crate) temp_limit: Option<u64>,

    #[command(flatten)]
    pub(crate) ignored: IgnoreArgs,

    #[command(flatten)]
    pub(crate) escaped: EscapedArgs,

    #[command(flatten)]
    pub(crate) parameters: ComparisonArgs,

    #[command(flatten)]
    pub(crate) inputs: InputArgs,

    #[command(flatten)]
    pub(crate) telling: LeftOutArgs,
}

/// Parameters of the comparison; an existing store has its own.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Parameters, unless a store has them")]
pub(crate) struct ComparisonArgs {
    /// Minimum Jaccard similarity of near-duplicates, 0.8 or 80% [default: 0.8]
    #[arg(long, value_name = "SHARE", value_parser = parse::share)]
    pub(crate) threshold: Option<f64>,

    /// Kind of shingle: word:K, code:K, char:K, char-nospace:K, byte:K, term or ids [default: word:5]
    #[arg(long, value_name = "KIND", value_parser = parse::parameter::<Shingling>)]
    pub(crate) shingling: Option<Shingling>,

    /// Number of slots of a signature [default: 128]
    #[arg(long, alias = "num-perm", value_name = "N")]
    pub(crate) permutations: Option<u32>,
}
