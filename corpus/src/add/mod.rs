//! Adding a corpus to a store, commit by commit.

mod add_run;
mod event;
mod load;
mod missing_files;
mod summary;

pub use event::AddEvent;
pub use load::Load;
pub use summary::{AddSummary, EndReason};

use crate::error::Error;
use crate::options::{MEMORY, Options};
use crate::source::Source;
use dedupdb::Store;

/// Adds a corpus to a store: new and changed documents, in the order of the input.
///
/// Reading, sketching and adding happen at the same time, with commits in between. A stopped run keeps what it has
/// committed; the same run continues from there. A file that is one document is not read again if its size and
/// modification time are as stored.
///
/// ```
/// use dedupdb_corpus::{Add, AddEvent};
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
///         AddEvent::Like { key, earlier, .. } => alike.push(format!("{key} is like {}", earlier.key)),
///         AddEvent::Skipped(skipped) => println!("left out: {skipped}"),
///         _ => {}
///     }
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
    /// Adds the documents of these sources.
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

    /// Sets how the corpus is read.
    pub fn reading(self, options: Options) -> Add {
        Add { options, ..self }
    }

    /// Whether to keep out near-duplicates and copies of stored documents. The documents of an interrupted
    /// [`Dedup`](crate::dedup::Dedup) are removed first, because they were never published.
    pub fn unique(self, unique: bool) -> Add {
        Add { unique, ..self }
    }

    /// Whether [`AddEvent::Like`] reports the most similar earlier document of each document that has one.
    pub fn evidence(self, evidence: bool) -> Add {
        Add { evidence, ..self }
    }

    /// Whether to read files even if their size and modification time are as stored.
    pub fn reread(self, reread: bool) -> Add {
        Add { reread, ..self }
    }

    /// The approximate number of bytes of memory to use, instead of 512 MiB. More memory means fewer and larger
    /// commits, which is faster. Less than 384 MiB is not possible.
    pub fn memory(self, bytes: u64) -> Add {
        Add {
            memory: bytes,
            ..self
        }
    }

    /// Whether to commit nothing. The store does not change. New documents are kept in memory, up to half of
    /// [`Add::memory`]; beyond that, the rest of the input is not read ([`EndReason::Full`]).
    pub fn pretend(self, pretend: bool) -> Add {
        Add { pretend, ..self }
    }

    /// Adds the corpus and reports to the observer. The [progress](Store::watched) of the handle counts documents, and
    /// bytes of their sources, read or not. If it is stopped, the current batch is still added and reported, everything
    /// added is committed, and the summary says [`EndReason::Stopped`].
    ///
    /// # Errors
    ///
    /// Errors of the store; errors of reading if it is strict or the system refuses a thread. Earlier commits stay.
    pub fn run(
        self,
        store: &Store,
        mut observe: impl FnMut(AddEvent<'_>),
    ) -> Result<AddSummary, Error> {
        add_run::run(self, store, &mut observe)
    }
}
