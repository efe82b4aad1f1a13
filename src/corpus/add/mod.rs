//! A corpus into a store, commit by commit.

mod added;
mod event;
mod load;
mod run;

pub use added::{Added, Ended};
pub use event::AddEvent;
pub use load::Load;

use std::ops::ControlFlow;

use crate::Store;
use crate::corpus::error::Error;
use crate::corpus::options::Options;
use crate::corpus::source::Source;

/// Bytes of memory that an add takes, about, unless it is told otherwise.
const MEMORY: u64 = 512 << 20;

/// Adds a corpus to a store: new and changed documents, in the order of the input.
///
/// Texts are read, sketched and added at the same time, and committed now and then, so that a run that is stopped
/// keeps what it has and the same run goes on from there. Files that are one document and have the size and the
/// time of change that they were stored with are not read again.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use dedupdb::corpus::{Add, AddEvent};
/// use dedupdb::{Schema, Store};
///
/// # let folder = tempfile::tempdir()?;
/// # let lines = folder.path().join("crawl.jsonl");
/// let tram = "The night tram runs again from Friday on, every half hour until four";
/// let line = |id, text: &str| format!("{{\"id\": \"{id}\", \"text\": \"{text}\"}}\n");
/// std::fs::write(&lines, [line("a", tram), line("b", &tram.to_uppercase())].concat())?;
///
/// let store = Store::open_or_create(folder.path().join("store"), &Schema::default())?;
/// let mut alike = Vec::new();
/// let added = Add::new([&lines]).evidence(true).run(&store, |event| {
///     match event {
///         AddEvent::Like { key, earlier } => alike.push(format!("{key} is like {}", earlier.key)),
///         AddEvent::Skipped(skipped) => println!("left out: {skipped}"),
///         _ => {}
///     }
///     ControlFlow::Continue(())
/// })?;
/// assert_eq!((added.added, added.near_duplicates), (2, 1));
/// assert_eq!(alike, ["b is like a"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is added before it is run"]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Add {
    sources: Vec<Source>,
    options: Options,
    memory: u64,
    unique: bool,
    evidence: bool,
    reread: bool,
    pretend: bool,
}

impl Add {
    /// Adds what is read from these sources.
    pub fn new<S: Into<Source>>(sources: impl IntoIterator<Item = S>) -> Add {
        Add {
            sources: sources.into_iter().map(Into::into).collect(),
            options: Options::new(),
            memory: MEMORY,
            unique: false,
            evidence: false,
            reread: false,
            pretend: false,
        }
    }

    /// How the corpus is read.
    pub fn reading(self, options: Options) -> Add {
        Add { options, ..self }
    }

    /// Whether near-duplicates and copies of what is stored are kept out. What an interrupted
    /// [`Dedup`](crate::dedup::Dedup) stored is forgotten first, so that none is kept out for the sake of a document
    /// that was never published.
    pub fn unique(self, unique: bool) -> Add {
        Add { unique, ..self }
    }

    /// Whether [`AddEvent::Like`] tells the most similar earlier document of each document that has one.
    pub fn evidence(self, evidence: bool) -> Add {
        Add { evidence, ..self }
    }

    /// Whether files are read although their size and time of change are as stored.
    pub fn reread(self, reread: bool) -> Add {
        Add { reread, ..self }
    }

    /// Bytes of memory to take, about, instead of 512 MiB: more means fewer and larger commits, which is faster.
    /// Less than 384 MiB cannot be kept.
    pub fn memory(self, bytes: u64) -> Add {
        Add {
            memory: bytes,
            ..self
        }
    }

    /// Whether nothing is committed: the store stays as it is, and what is met is kept in memory, up to half of
    /// [`Add::memory`]. What does not fit is not looked at ([`Ended::Full`]).
    pub fn pretend(self, pretend: bool) -> Add {
        Add { pretend, ..self }
    }

    /// Adds, and tells the observer, who may stop it: what was added so far is committed then.
    ///
    /// # Errors
    ///
    /// Those of the store, and of reading if it is strict or the system refuses a thread. What was committed
    /// before stays.
    pub fn run(
        self,
        store: &Store,
        mut observe: impl FnMut(AddEvent<'_>) -> ControlFlow<()>,
    ) -> Result<Added, Error> {
        run::run(self, store, &mut observe)
    }
}
