//! A corpus in, a corpus without its near-duplicates out, and who was dropped for whose sake.
//!
//! Of documents that are alike one is kept: the [first](Keep::First), the [longest](Keep::Longest) or the
//! [newest](Keep::Newest); or the first [few](Keep::Few), or [none](Keep::None). What is kept is written byte for
//! byte and in the order of the input, into a file of records, a folder of files with their paths, a
//! [list](Dedup::list) of paths, or a [stream](Dedup::output_to).
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use dedupdb::dedup::{Dedup, Event};
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
//!     if let Event::Dropped(one) = event {
//!         dropped.push(format!("{} is like {}", one.key, one.earlier.key));
//!     }
//!     ControlFlow::Continue(())
//! })?;
//! println!("{} of {} kept", done.kept, done.documents);
//! assert_eq!((done.kept, done.documents), (2, 3));
//! assert_eq!(dropped, ["c is like a"]);
//! assert_eq!(std::fs::read_to_string(&clean)?, all[..2].concat());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is promised
//!
//! - The output appears whole, once all of it is durable, or not at all. What stood in its place is there until
//!   then. A folder beside it, `.NAME.dedup`, has what is temporary.
//! - A run that is stopped, fails or is killed leaves no output, and the same run gives the same output later:
//!   what it had stored is forgotten when the next one begins. The one exception is a crash in the moment
//!   between the output and the end of the run in the store: the output is there then, and is written again.
//! - Rows of Parquet files are written with all their columns, from their files as they were when they were
//!   read. If one changed, or a column of it is damaged, nothing is written.
//! - What is dropped was compared exactly, and is like a document that is kept or was stored before.
//! - The output depends on the input and the parameters, and not on the number of threads, as long as no
//!   search is [cut short](Done::searches_cut_short).
//!
//! # With a store
//!
//! With [`Dedup::store`], documents like one that is stored are dropped as well, under whatever key, and what is
//! kept is stored. So each day's crawl is written without what was written before. Without one, a temporary
//! store is made beside the output.
//!
//! With [`Dedup::against`] nothing is stored, and documents of the input are not compared with each other.
//!
//! # Choosing what may be dropped
//!
//! [`Dedup::protect`] keeps the documents of some files in any case, such as those of a folder of originals.
//! [`Dedup::drop_only`] drops only documents that were chosen before, such as those that somebody marked in a
//! [report](crate::report). Either way a dropped document resembles one that is kept.
//!
//! # Memory and disk
//!
//! About [`Dedup::memory`] bytes are taken, and 40 bytes for each id and, with [`Dedup::lineage`], for each
//! kept document. Where the first or the first few are kept, the input is read once and written at once; else, and
//! where some documents are protected, its texts and records are on disk meanwhile, and [marks](Dedup::mark) take
//! about 100 bytes for each document.

// What is read is judged by the store's writer, in the order of the input or, where it is kept in a spool
// first, in another one. What is kept goes into a sink, which is published at the end.

mod against;
mod begun;
mod done;
mod encoder;
mod error;
mod event;
mod fates;
mod fit;
mod groups;
mod judge;
mod lineage;
#[cfg(unix)]
mod link;
mod mark;
mod modes;
#[cfg(unix)]
mod moving;
mod names;
mod order;
mod outputs;
mod protection;
mod ranked;
mod removed;
mod rows;
mod run;
mod settings;
mod sink;
mod spool;
mod stream;
mod tables;
mod target;
mod tree;

pub use begun::Begun;
pub use done::{Done, Dropping};
pub use error::{Error, Unfit};
pub use event::{Dropped, Event, Spared};
#[cfg(unix)]
pub use link::{How, Link, LinkEvent, Linked};
#[cfg(unix)]
pub use moving::{Move, MoveEvent, Moved, Undo};
pub use rows::{DroppedRow, Rows};
pub use settings::{Dedup, Ending, Keep};
