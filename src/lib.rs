//! An embedded, persistent store for near-duplicate text.
//!
//! A [`Store`] is a folder that remembers every text added to it. It answers one question: *have I seen something
//! like this before, what was it, and how similar are they?* `MinHash` signatures in buckets find candidates, and the
//! shingles of both texts decide, so every answer carries its exact Jaccard similarity.
//!
//! # Example
//!
//! ```
//! use dedupdb::{Input, Query, Schema, Store, write::Relation};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("store");
//! let store = Store::open_or_create(&path, &Schema::default())?;
//!
//! // One writer at a time adds documents: a key and a text. They exist after the commit.
//! let mut writer = store.writer()?;
//! let outcomes = writer.add_all(vec![
//!     Input::new("gazette/1", "The night tram runs again from Friday on, every half hour until four."),
//!     Input::new("gazette/2", "The night tram runs again from Friday on, every half hour until four!"),
//!     Input::new("gazette/3", "Nobody knows who painted the harbour crane in the colours of a parrot."),
//! ])?;
//! let relations: Vec<Relation> = outcomes
//!     .into_iter()
//!     .map(|outcome| outcome.map(|outcome| outcome.relation))
//!     .collect::<Result<_, _>>()?;
//! assert_eq!(relations, [Relation::Novel, Relation::NearDuplicate, Relation::Novel]);
//! writer.commit()?;
//! drop(writer);
//!
//! // Any number of threads query at the same time. A match carries its evidence.
//! let text = "The night tram runs again from Friday on, every half hour until four o'clock.";
//! let matches = store.query(&Query::text(text).threshold(0.5))?;
//! assert_eq!(matches[0].key, "gazette/1");
//! assert_eq!(matches[0].jaccard, Some(9.0 / 11.0));
//!
//! // A crawler checks and inserts in one step.
//! let outcome = store.insert_unless_duplicate("gazette/4", "THE NIGHT TRAM RUNS AGAIN FROM FRIDAY ON, EVERY HALF HOUR UNTIL FOUR")?;
//! assert_eq!(outcome.duplicate_of().unwrap().key, "gazette/1");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where things are
//!
//! | what | for |
//! |---|---|
//! | [`Store`], [`Writer`], [`Input`], [`Query`], [`Match`] | adding and querying |
//! | [`Schema`], [`sketching`] | from a text to its buckets: shingles, signatures, bands |
//! | [`write`](mod@write) | outcomes of adding documents |
//! | [`find`] | documents, and why two of them match |
//! | [`groups`] | pairs and clusters of all documents |
//! | [`overlap`] | passages that texts share, and the most common ones |
//! | [`upkeep`] | figures, checks, tuning, rebuilds, copies, salvage |
//! | [`batch`] | the same steps on plain slices, for engines that hold the data |
//! | [`async_programs`] | which calls block, and where to run them |
//!
//! Crates on top of this one: `dedupdb-corpus` reads files, tables and streams as documents and writes corpora without
//! their near-duplicates; `dedupdb-lab` has experiments and figures; `dedupdb-cli` is the command line.
//!
//! # What is promised
//!
//! - After [`Writer::commit`] or a call such as [`Store::insert_unless_duplicate`] or [`Store::remove`] returns, its
//!   changes survive `kill -9` and power loss. If the call did not return, they are complete or absent.
//! - A match is never below the threshold: similarities are [exact](find#how-exact). (In a store that keeps no
//!   shingles they are estimates, and come with their standard error.)
//! - [`Schema::recall`] gives the share of the pairs at a similarity that queries find.
//! - Adding in one batch or in many, with any number of threads, gives the same answers in the same order.
//!   (The batches matter only if a text has thousands of candidates that do not match and a search skips some
//!   of them, see [`Options::false_candidates`].)
//! - A damaged column is an error that names the file, never a wrong answer: a block is compared with its
//!   checksum when a process first reads it. A damaged index may give an error or a wrong answer, until
//!   [`Store::check`] finds the damage. It finds every flipped bit of the columns and of the pages of the index
//!   that are in use. Run it before a backup or a rebuild copies the index.
//!
//! # Limits
//!
//! - Memory does not grow with the store. Each distinct text takes [about 570 bytes of disk and 4.2 a
//!   shingle](mod@write#what-it-costs).
//! - No other program may shorten the files of an open store: on Unix, reading a mapped page that is gone
//!   ends the process with SIGBUS.
//! - On a file system without file locks, two processes can write at the same time, which damages the
//!   store. Without locks on ranges of a file, no process can read while another one writes.
//! - Panics must unwind. A build with `panic = "abort"` fails, because a damaged page of an index can make
//!   redb panic, and the crate turns that panic into an error.
//! - It needs a target of 64 bits, and is tested on Linux on x86-64.

#[cfg(not(target_pointer_width = "64"))]
compile_error!("dedupdb maps whole columns into memory, which needs a target of 64 bits");

pub mod batch;
mod clock;
mod codec;
mod error;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod lsh;
mod parallel;
mod pool;
mod progress;
mod schema;
mod sketch;
mod storage;
mod store;
mod text;

pub use error::{Error, Result};
pub use progress::Progress;
pub use schema::Schema;
pub use store::{Document, Input, Match, Options, Query, Store, Writer};

/// From a text to its buckets: shingles, signatures and bands, with their parameters.
///
/// Each step is a pure function from one noun to the next; only the store does input and output.
///
/// | noun | what it is | here |
/// |---|---|---|
/// | document | a key naming a text, with size and times | [`Input`], [`Document`] |
/// | content | a distinct text; documents with the same text share one | [`Document::content`] |
/// | shingle | a run of tokens, as a 32-bit hash; of few, with 32 bits more | [`Shingling`](sketching::Shingling), [`Shingler`](sketching::Shingler), [`ShingleSet`](sketching::ShingleSet) |
/// | signature | the minima of the shingle set under k permutations | [`Signer`](sketching::Signer), [`Signature`](sketching::Signature) |
/// | band | r consecutive slots of a signature; equal ones share a bucket | [`Bands`](sketching::Bands) |
/// | candidate | a content that shares a bucket with the one in question | |
/// | match | a candidate whose exact Jaccard similarity reaches the threshold | [`Match`] |
///
/// The [`Schema`] of a store holds all parameters of these steps. It is stored, and never reinterpreted.
///
/// A text without tokens (an empty file, a line of dashes) matches only its exact copies. A text with fewer
/// tokens than a shingle has one shingle, so two such texts have a similarity of 1 or 0.
pub mod sketching {
    pub use crate::lsh::Bands;
    pub use crate::schema::SchemaBuilder;
    pub use crate::sketch::{Estimate, Family, Signature, Signer, SlotWidth, agreeing};
    pub use crate::text::{ShingleSet, Shingler, Shingling, seen_characters};
}

/// Changing a store: outcomes of documents, batches and pipelines.
///
/// # What it costs
///
/// With the default schema, a content takes 256 bytes of signature, 48 bytes of its row, about 94 bytes of postings, 70
/// to 160 bytes of filters, and 3.3 bytes a shingle (8 to 16 in a text of few shingles). A sixteenth of the shingles are
/// fingerprints, which take 12 to 14 bytes each with their postings. A document takes about 60 bytes beside its key,
/// which is stored twice; so does an exact copy. An index that grew by many commits also has free pages, which
/// [`Rebuild::compact`](crate::upkeep::Rebuild::compact) drops. Memory does not grow with the store: signatures,
/// shingles and the filters that avoid most look-ups are mapped, and buckets are read through a cache of 32 MiB. The
/// postings of the youngest contents (a sixteenth of the store, at most 32,768) are held in memory and merged into the
/// tables together, which is far cheaper than one by one.
pub mod write {
    pub use crate::store::{
        Batch, Body, Change, IdScope, Intake, MAX_KEY_BYTES, MergeSummary, Outcome, Pipeline,
        Relation, SourceFile, Uncommitted,
    };
}

/// Listing documents, and explaining why two of them match.
///
/// # How exact
///
/// Similarities are computed from sets of hashes, which collide by chance:
///
/// - Two sets of at most 16 shingles are compared by 64 bits a shingle. Two texts of m and n shingles have a chance of
///   m n / 2^64 that a shingle counts as common and is not: at most 2^-56.
/// - A larger set is compared by 32 bits a shingle, also with a small one. The chance is m n / 2^32 (one in 48,000 for
///   300 shingles each) that a shingle counts as common and is not. This raises the similarity by at most 2 divided by
///   the number of shingles of either: 0.12 for 17 of them, 0.005 for 400.
/// - In a text of n shingles, two become one with a chance of n (n - 1) / 2^33.
/// - A store without shingles estimates from 32-bit shingles. Two texts of one shingle each that collide count as
///   equal, once in 2^32 pairs.
///
/// With a [`Query::threshold`] below the schema's, a smaller share of the pairs is found, because the bands were
/// chosen for the schema's threshold. [`Schema::recall`] gives the share.
pub mod find {
    pub use crate::store::{Common, Documents, Explanation, Subject};
}

/// Pairs and clusters of all documents.
pub mod groups {
    pub use crate::store::{
        Cluster, ClusterQuery, ClusterSizes, Clusters, Linkage, Member, Pair, PairQuery, Pairs,
    };
}

/// Passages: what a text shares with stored documents, word for word.
///
/// A store whose schema has a [`passage`](crate::Schema::passage) of t tokens keeps fingerprints of each text: one for
/// each t - K + 1 shingles of K tokens. Every run of t tokens that a text has in common with a stored one is found by
/// one of them, and verified by the stored set.
pub mod overlap {
    pub use crate::store::{
        CommonPassage, Passage, PassageQuery, Passages, PassagesOfDocument, SampledText,
    };
}

/// Maintaining a store: figures, checks, tuning, rebuilds, copies and salvage.
pub mod upkeep {
    pub use crate::clock::Timings;
    pub use crate::error::Holder;
    pub use crate::store::{
        Bucket, Casualty, CheckReport, ComparedShape, Expected, Near, Nearness, Problem, Rebuild,
        RebuildProgress, Reindex, SalvageSummary, Sample, Shape, Stats, TextFingerprints, Tuning,
        Unfinished, Unreadable,
    };
}

#[cfg(any(doc, doctest))]
#[doc = include_str!("../docs/async.md")]
pub mod async_programs {}

/// Compiles the examples of the README and of the book.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
#[doc = include_str!("../docs/guide/crawler-rust.md")]
struct ReadmeExamples;
