//! What is to be done with a corpus.

use std::fmt;
use std::io::Write;
use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::path::PathBuf;

use crate::corpus::{self, Format, Source};
use crate::{Options, Schema, Store};

use crate::dedup::begun::Begun;
use crate::dedup::done::Done;
use crate::dedup::error::Error;
use crate::dedup::event::Event;
use crate::dedup::mark::Columns;

/// Bytes of memory to take, about, unless another number is asked for.
const MEMORY: u64 = 512 << 20;

/// Which document of those that are alike is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Keep {
    /// The first in the input.
    #[default]
    First,
    /// The one with the most bytes of text; of the same length the first.
    Longest,
    /// The one whose file changed last; in a file, the last record.
    Newest,
    /// The first in the input, and the first of those that are like it, so many together.
    Few(NonZeroU32),
    /// None: what is like any other document of the input is dropped, as filters against contamination want
    /// it. The first ones are stored nevertheless.
    None,
}

/// What ends each path of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// A line end. Control characters and backslashes of the path are spelled out.
    Line,
    /// A NUL byte. The path is as it is.
    Nul,
}

/// A corpus that is to be rid of its near-duplicates.
#[must_use = "nothing is done before it is run"]
pub struct Dedup {
    pub(crate) sources: Vec<Source>,
    pub(crate) options: corpus::Options,
    pub(crate) to: To,
    pub(crate) list: Option<Ending>,
    pub(crate) keep: Keep,
    pub(crate) mark: Option<Columns>,
    pub(crate) against: Option<Against>,
    pub(crate) removed: Option<PathBuf>,
    pub(crate) removed_is_json: bool,
    pub(crate) lineage: bool,
    pub(crate) replace: bool,
    pub(crate) memory: u64,
    pub(crate) temporary_limit: Option<u64>,
    pub(crate) schema: Schema,
    pub(crate) store_options: Options,
    pub(crate) store: Option<Store>,
    pub(crate) store_folder: Option<PathBuf>,
}

impl fmt::Debug for Dedup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dedup")
            .field("sources", &self.sources)
            .field("keep", &self.keep)
            .field("removed", &self.removed)
            .finish_non_exhaustive()
    }
}

/// What alone documents are compared with.
pub(crate) enum Against {
    Store(Store),
    Corpus(Vec<Source>),
}

/// Where the output goes.
pub(crate) enum To {
    /// Nowhere: the observer is told what is dropped.
    Nowhere,
    Path(PathBuf),
    Stream(Box<dyn Write + Send>),
}

impl Dedup {
    /// Reads files, folders, patterns and streams, in this order, as
    /// [`Corpus::open`](crate::corpus::Corpus::open) does.
    pub fn new<S: Into<Source>>(sources: impl IntoIterator<Item = S>) -> Dedup {
        Dedup {
            sources: sources.into_iter().map(Into::into).collect(),
            options: corpus::Options::new(),
            to: To::Nowhere,
            list: None,
            keep: Keep::First,
            mark: None,
            against: None,
            removed: None,
            removed_is_json: false,
            lineage: false,
            replace: false,
            memory: MEMORY,
            temporary_limit: None,
            schema: Schema::default(),
            store_options: Options::new(),
            store: None,
            store_folder: None,
        }
    }

    /// How files and streams are read. Records are read as they are in their files, and those whose id came
    /// before with another text are reported and kept, whatever the options say of that.
    pub fn reading(self, options: corpus::Options) -> Dedup {
        Dedup { options, ..self }
    }

    /// The format of a source that is a file or a stream.
    pub(crate) fn format(&self, source: &Source) -> Format {
        let given = source.format.or(self.options.format);
        given.unwrap_or_else(|| Format::of(source.name()))
    }

    /// Writes what is kept to `path`, a file of records or a folder.
    ///
    /// It is a file of records for one file of records or a stream, or if it is called `.jsonl`, `.csv`,
    /// `.tsv`, `.warc` or `.parquet`: then all inputs are of that format, and tables have the same header or
    /// columns, which are written once. Else, or if it ends in a separator, it is a folder, in which files keep
    /// their paths (below the one folder that is read, or as given). What is called `.gz` or `.zst` is
    /// compressed. Rows of Parquet files keep all their columns; in a file that is called `.jsonl` they become
    /// lines, as [`corpus::Options::verbatim`] says.
    pub fn output(self, path: impl Into<PathBuf>) -> Dedup {
        Dedup {
            to: To::Path(path.into()),
            ..self
        }
    }

    /// Writes records that are kept to a stream, as they come; rows of Parquet files as lines of JSON.
    pub fn output_to(self, stream: impl Write + Send + 'static) -> Dedup {
        Dedup {
            to: To::Stream(Box::new(stream)),
            ..self
        }
    }

    /// Writes the paths of the files that are kept, instead of the files.
    pub fn list(self, ending: Ending) -> Dedup {
        Dedup {
            list: Some(ending),
            ..self
        }
    }

    /// Which document of those that are alike is kept. For the longest, the newest and none, texts and records
    /// are kept on disk until all are read.
    pub fn keep(self, keep: Keep) -> Dedup {
        Dedup { keep, ..self }
    }

    /// Writes all documents instead of those that are kept, each with four further columns or fields, whose
    /// names begin with `name`: `NAME_keep`, whether it would be kept; `NAME_cluster`, a number that follows
    /// from the key of the representative; `NAME_representative`, that key, which is its own unless it is like
    /// another one; `NAME_similarity`, exact if the store keeps shingles. Records are JSONL, CSV, Parquet or TSV with a
    /// header.
    pub fn mark(self, name: &str) -> Dedup {
        Dedup {
            mark: Some(Columns::new(name)),
            ..self
        }
    }

    /// Drops what resembles a document of `store` and nothing else: documents of the input are not compared with
    /// each other, and nothing is stored.
    pub fn against(self, store: &Store) -> Dedup {
        Dedup {
            against: Some(Against::Store(store.clone())),
            ..self
        }
    }

    /// As [`Dedup::against`], with what is read from `sources` as the input is.
    pub fn against_corpus<S: Into<Source>>(self, sources: impl IntoIterator<Item = S>) -> Dedup {
        Dedup {
            against: Some(Against::Corpus(
                sources.into_iter().map(Into::into).collect(),
            )),
            ..self
        }
    }

    /// Writes a line for each document that is dropped to the file `path`, in the order in which they
    /// were judged; with [`Dedup::lineage`].
    ///
    /// A line has, with tabs between them, the key, the key of the other document, the similarity, the
    /// file and the number of the record, and both of the other one. It is JSON if the file is called
    /// `.jsonl`.
    pub fn removed(self, path: impl Into<PathBuf>) -> Dedup {
        Dedup {
            removed: Some(path.into()),
            lineage: true,
            ..self
        }
    }

    /// Whether the lines of [`Dedup::removed`] are JSON under any name.
    pub fn removed_as_json(self, is_json: bool) -> Dedup {
        Dedup {
            removed_is_json: is_json,
            ..self
        }
    }

    /// Whether the observer learns the file and the record of the document in whose favour another one is
    /// dropped. This takes about 40 bytes of memory for each document that is kept.
    pub fn lineage(self, lineage: bool) -> Dedup {
        Dedup { lineage, ..self }
    }

    /// Whether the output and the list of what is dropped replace a file, or a folder that dedupdb wrote and
    /// nobody changed. Links and stores are never replaced.
    pub fn replace(self, replace: bool) -> Dedup {
        Dedup { replace, ..self }
    }

    /// Takes about this number of bytes of memory, 512 MiB by default: more means fewer and larger commits.
    pub fn memory(self, bytes: u64) -> Dedup {
        Dedup {
            memory: bytes,
            ..self
        }
    }

    /// Lets texts and records that are kept on disk take this number of bytes, instead of nine tenths of what is
    /// free.
    pub fn temporary_limit(self, bytes: u64) -> Dedup {
        Dedup {
            temporary_limit: Some(bytes),
            ..self
        }
    }

    /// The parameters of the comparison, where there is no store that has them.
    pub fn schema(self, schema: Schema) -> Dedup {
        Dedup { schema, ..self }
    }

    /// How the temporary store works, which is made where no other is given.
    pub fn store_options(self, options: Options) -> Dedup {
        Dedup {
            store_options: options,
            ..self
        }
    }

    /// Judges against the documents of a store as well, and stores what is kept there.
    ///
    /// Documents like one that is stored are dropped, under whatever key. What the run stores is that of a
    /// run (see [`Writer::begin_run`](crate::Writer::begin_run)): the next one forgets it if this one does
    /// not end, and so gives the same output.
    pub fn store(self, store: &Store) -> Dedup {
        Dedup {
            store: Some(store.clone()),
            ..self
        }
    }

    /// The folder of a store that is made or opened after [`Dedup::begin`], which the output is to be apart
    /// from.
    pub fn store_folder(self, folder: impl Into<PathBuf>) -> Dedup {
        Dedup {
            store_folder: Some(folder.into()),
            ..self
        }
    }

    /// Takes the places of what is to be written, so that nobody else writes there.
    ///
    /// # Errors
    ///
    /// An input is not there, an output would lie over, in or around an input, a store or another output,
    /// something stands there that must not be replaced, or another process writes there.
    pub fn begin(self) -> Result<Begun, Error> {
        Begun::of(self)
    }

    /// Reads, judges and writes, and tells the observer, who may stop it: then nothing is written, and the
    /// same run gives the same output later.
    ///
    /// # Errors
    ///
    /// Those of [`Dedup::begin`] and [`Begun::run`].
    pub fn run(self, observe: impl FnMut(Event<'_>) -> ControlFlow<()>) -> Result<Done, Error> {
        self.begin()?.run(observe)
    }
}
