//! Writes a corpus without its near-duplicates, and reports each dropped document with the one that it resembles.
//!
//! Of documents that resemble each other, one is kept: the [first](Keep::First), the [longest](Keep::Longest) or the
//! [newest](Keep::Newest). Alternatively, the first [few](Keep::Few) or [none](Keep::None) are kept. Kept documents are
//! written byte for byte and in the order of the input, into a file of records, a folder of files with their paths, a
//! [list](Dedup::list) of paths, or a [stream](Dedup::output_to).
//!
//! ```
//! use dedupdb_corpus::dedup::{Dedup, DedupEvent};
//!
//! # let folder = tempfile::tempdir()?;
//! # let (lines, clean) = (folder.path().join("lines.jsonl"), folder.path().join("clean.jsonl"));
//! let tram = "The night tram runs again from Friday on, every half hour until four";
//! let crane = "Nobody knows who painted the harbour crane in the colours of a parrot";
//! let line = |id, text: &str| format!("{{\"id\": \"{id}\", \"text\": \"{text}\"}}\n");
//! let all = [line("a", tram), line("b", crane), line("c", &tram.to_uppercase())];
//! std::fs::write(&lines, all.concat())?;
//!
//! let mut dropped = Vec::new();
//! let done = Dedup::new([&lines]).output(&clean).run(|event| {
//!     if let DedupEvent::Dropped(one) = event {
//!         dropped.push(format!("{} is like {}", one.key, one.earlier.key));
//!     }
//! })?;
//! println!("{} of {} kept", done.kept, done.documents);
//! assert_eq!((done.kept, done.documents), (2, 3));
//! assert_eq!(dropped, ["c is like a"]);
//! assert_eq!(std::fs::read_to_string(&clean)?, all[..2].concat());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Guarantees
//!
//! - The output appears as a whole, once all of it is durable, or not at all. An existing output stays in its place
//!   until then; a folder then gets another name ([`DedupSummary::aside`]). Temporary data is in a
//!   folder beside it, `.NAME.dedup`.
//! - A run that is stopped, fails or is killed leaves no output, and the same run later gives the same output: the next
//!   run first removes what it had stored. The one exception is a crash in the moment between publishing the output and
//!   ending the run in the store: then the output exists, and is written again.
//! - If a file that a [list](Dedup::list) or the [lines of dropped documents](Dedup::removed) name changed or vanished
//!   after it was read, nothing is written. A list that goes to a stream is written, and the run fails.
//! - Rows of Parquet files are written with all their columns, from the files as they were when they were read. If a
//!   file changed, or one of its columns is damaged, nothing is written.
//! - Dropped documents were compared exactly. Each resembles a document that is kept or was stored before.
//! - The output depends on the input and the parameters, and not on the number of threads, as long as no search is
//!   [cut short](DedupSummary::searches_cut_short).
//!
//! # With a store
//!
//! With [`Dedup::store`], documents that resemble a stored one under any key are dropped as well, and kept documents
//! are stored. So each day's crawl is written without what was written before. Otherwise, a temporary store is created
//! beside the output.
//!
//! With [`Dedup::containment`], a document is also dropped if a longer one that is kept contains it, and the longest
//! are kept. All documents of the input are compared with each other by their shingles, so no such pair is missed.
//!
//! With [`Dedup::against`], nothing is stored, and documents of the input are not compared with each other.
//!
//! # Choosing what may be dropped
//!
//! [`Dedup::protect`] always keeps the documents of some files, such as those in a folder of originals.
//! [`Dedup::drop_only`] drops only documents that were chosen before, such as those marked in a
//! [report](crate::report). Either way, a dropped document resembles one that is kept.
//!
//! # Memory and disk
//!
//! A run takes about [`Dedup::memory`] bytes, plus 40 bytes for each id and, with [`Dedup::lineage`], 40 for each kept
//! record and 120 for each kept file. If the first or the first few are kept, the input is read once and written at once.
//! Otherwise, or if some documents are protected, its texts and records are on disk meanwhile, and
//! [marks](Dedup::mark) take about 100 bytes per document.

// The store's writer judges the documents, in the order of the input or, if they are spooled first, in another order.
// Kept documents go into a sink, which is published at the end.

pub(crate) mod against;
mod attachments;
mod by_rank;
#[cfg(unix)]
mod claim;
mod contained;
mod contained_rows;
mod cut_row;
pub(crate) mod dedup_run;
pub(crate) mod dropped_list;
mod duplicate_groups;
pub(crate) mod encoder;
mod error;
pub(crate) mod event;
mod files_below;
pub(crate) mod fit_check;
pub(crate) mod judge;
mod keep_by;
pub(crate) mod line_list;
mod lineage;
pub(crate) mod mark;
mod modes;
#[cfg(unix)]
mod moving;
mod order;
pub(crate) mod outputs;
mod passages;
pub(crate) mod prepared_run;
mod protection;
mod rank_key;
mod record_writer;
mod rows;
pub(crate) mod settings;
pub(crate) mod sink;
mod spool;
mod summary;
mod surviving_copy;
mod table_copier;
pub(crate) mod target;
mod tree;
mod units;
mod verdicts;

pub use attachments::Attachments;
pub use contained::contained_one;
pub use contained_rows::{ContainedRows, RowVerdicts};
pub use cut_row::{CutRow, RowCut, UnitCopy};
pub(crate) use error::Result;
pub use error::{ContainmentConflict, Error, Unfit};
pub use event::{DedupEvent, DroppedDocument, SpareReason};
pub use keep_by::{FieldRanks, KeepBy};
#[cfg(unix)]
pub use moving::{Move, MoveEvent, MoveSummary, Undo};
pub use passages::RowPassages;
pub use prepared_run::PreparedRun;
pub use rows::{DroppedRow, RowDedup};
pub use settings::{Dedup, Keep, PathTerminator};
pub use summary::{DedupSummary, DropCounts, PassageCounts, ReferenceCounts, UnitCounts};
pub use units::{RowUnits, Unit};
