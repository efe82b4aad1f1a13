//! The settings of a run.

use std::fmt;
use std::io::Write;
use std::num::NonZeroU32;
use std::path::PathBuf;

use crate::{Format, Glob, MEMORY, Source};
use dedupdb::{Options, Progress, Schema, Store};

use crate::dedup::contained::ContainmentRule;
use crate::dedup::keep_by::KeepBy;
use crate::dedup::mark::MarkColumns;
use crate::dedup::passages::EVERY_COPY;
use crate::dedup::units::{Unit, UnitRule};

/// The ends of the names of columns that [`Dedup::mark`] adds.
pub(crate) const DEDUP_MARKS: [&str; 4] = ["keep", "cluster", "representative", "similarity"];

/// Which of several similar documents is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Keep {
    /// The first in the input.
    #[default]
    First,
    /// The one with more distinct shingles; of equal ones, the one with more shingles, then one with fewer names, of the file
    /// and its folders, that tell a copy, then the longer text, the shorter name, the shorter path, and then the first. Words
    /// that were decoded wrongly do not count.
    Longest,
    /// The one whose file was modified last; within one file, the last record.
    Newest,
    /// The first in the input and the first ones that resemble it, up to this number in all.
    Few(NonZeroU32),
    /// None of them, to filter out contamination. A store nevertheless receives the first ones.
    None,
}

/// The terminator of each path in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathTerminator {
    /// A line feed. Control characters and backslashes in the path are escaped.
    Line,
    /// A NUL byte. The path is not escaped.
    Nul,
}

/// Writes a corpus without its near-duplicates.
#[must_use = "nothing is done before it is run"]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Dedup {
    pub(crate) sources: Vec<Source>,
    pub(crate) options: crate::Options,
    pub(crate) to: Destination,
    pub(crate) list: Option<PathTerminator>,
    pub(crate) keep: Option<Keep>,
    pub(crate) keep_by: Vec<KeepBy>,
    pub(crate) containment: ContainmentRule,
    pub(crate) units: UnitRule,
    /// The number of words of the shortest passages that are cut, if any are.
    pub(crate) passage: Option<usize>,
    /// The number of places from which on a passage is cut.
    pub(crate) min_count: u32,
    pub(crate) mark: Option<MarkColumns>,
    pub(crate) against: Option<Against>,
    pub(crate) protected: Vec<Glob>,
    /// The keys that may be dropped. `None` if all may be dropped.
    pub(crate) droppable: Option<Vec<String>>,
    pub(crate) removed: Option<PathBuf>,
    pub(crate) removed_is_json: bool,
    pub(crate) lineage: bool,
    /// The resolved folder, if files are moved from it.
    pub(crate) moved_from: Option<PathBuf>,
    pub(crate) replace: bool,
    pub(crate) progress: Progress,
    pub(crate) memory: u64,
    pub(crate) skips_unreadable: bool,
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

/// What documents are compared with instead of each other.
pub(crate) enum Against {
    Store(Store),
    Corpus(Vec<Source>),
}

impl Against {
    /// Returns the paths that are read for comparison.
    #[cfg(unix)]
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        match self {
            Against::Store(_) => Vec::new(),
            Against::Corpus(sources) => {
                let named = sources.iter().filter_map(Source::named);
                named.map(PathBuf::from).collect()
            }
        }
    }

    /// Returns the names of the streams that are read for comparison.
    #[cfg(unix)]
    pub(crate) fn streams(&self) -> Vec<PathBuf> {
        match self {
            Against::Store(_) => Vec::new(),
            Against::Corpus(sources) => {
                let streams = sources.iter().filter(|source| source.is_stream());
                streams.map(|source| source.name().to_owned()).collect()
            }
        }
    }
}

/// The destination of the output.
pub(crate) enum Destination {
    /// Nowhere: the observer only learns what is dropped.
    Nowhere,
    Path(PathBuf),
    Stream(Box<dyn Write + Send>),
}

impl Dedup {
    /// Returns which of several similar documents is kept.
    pub(crate) fn kept(&self) -> Keep {
        let default = if self.containment.least.is_some() {
            Keep::Longest
        } else {
            Keep::default()
        };
        self.keep.unwrap_or(default)
    }

    /// Reads files, folders, patterns and streams, in this order, as
    /// [`Corpus::open`](crate::Corpus::open) does.
    pub fn new<S: Into<Source>>(sources: impl IntoIterator<Item = S>) -> Dedup {
        Dedup {
            sources: sources.into_iter().map(Into::into).collect(),
            options: crate::Options::new(),
            to: Destination::Nowhere,
            list: None,
            keep: None,
            keep_by: Vec::new(),
            containment: ContainmentRule::default(),
            units: UnitRule::default(),
            passage: None,
            min_count: EVERY_COPY,
            mark: None,
            against: None,
            protected: Vec::new(),
            droppable: None,
            removed: None,
            removed_is_json: false,
            lineage: false,
            moved_from: None,
            replace: false,
            progress: Progress::new(),
            memory: MEMORY,
            skips_unreadable: false,
            temporary_limit: None,
            schema: Schema::default(),
            store_options: Options::new(),
            store: None,
            store_folder: None,
        }
    }

    /// Sets how files and streams are read. Two of the options have no effect: records are read verbatim, and a
    /// record whose id came before with another text is reported and kept.
    pub fn reading(self, options: crate::Options) -> Dedup {
        Dedup { options, ..self }
    }

    /// Returns the format of a source that is a file or a stream.
    pub(crate) fn format(&self, source: &Source) -> Format {
        let given = source.format.or(self.options.format);
        match source.named() {
            Some(path) => given.unwrap_or_else(|| self.options.format_at(path)),
            None => given.unwrap_or_else(|| Format::of(source.name())),
        }
    }

    /// Writes the kept documents to `path`, a file of records or a folder.
    ///
    /// It is a file of records if the input is one file of records or a stream, or if its name ends in `.jsonl`,
    /// `.json` (an array), `.csv`, `.tsv`, `.warc` or `.parquet`. Then all inputs must have that format, and tables the same header or
    /// columns, which are written once. Otherwise, or if the path ends in a separator, it is a folder, in which
    /// files keep their paths (below the one folder that is read, or as given). Files whose names end in `.gz`, `.zst`,
    /// `.xz` or `.bz2` are compressed. Rows of Parquet files keep all their columns; in a `.jsonl` file they become lines,
    /// as [`crate::Options::verbatim`] describes.
    pub fn output(self, path: impl Into<PathBuf>) -> Dedup {
        Dedup {
            to: Destination::Path(path.into()),
            ..self
        }
    }

    /// Writes the kept records to a stream as they come. Rows of Parquet files become lines of JSON.
    pub fn output_to(self, stream: impl Write + Send + 'static) -> Dedup {
        Dedup {
            to: Destination::Stream(Box::new(stream)),
            ..self
        }
    }

    /// Writes the paths of the kept files instead of the files. If one of them changed after it was read, the run fails
    /// with [`Error::Changed`](crate::dedup::Error::Changed).
    pub fn list(self, ending: PathTerminator) -> Dedup {
        Dedup {
            list: Some(ending),
            ..self
        }
    }

    /// Sets which of several similar documents is kept. The default is [`Keep::First`] and, where files are
    /// [moved](Dedup::move_to), [`Keep::Longest`]. For the longest, the newest and
    /// none, texts and records are stored in temporary files until all are read.
    pub fn keep(self, keep: Keep) -> Dedup {
        Dedup {
            keep: Some(keep),
            ..self
        }
    }

    /// Keeps, of several similar documents, the first in these orders by the values of their fields. The first order decides, and
    /// the next one between equal documents; [`Dedup::keep`] decides between those that are equal in all of them.
    ///
    /// The documents are records of JSON, CSV, TSV or Parquet; files that are one document have no fields, and come last.
    /// [`DedupSummary::without_field`](crate::dedup::DedupSummary::without_field) counts them. Texts and records are stored in
    /// temporary files until all are read, and each document takes about 30 bytes of memory more. This does not go together with
    /// [`Dedup::against`], [`Dedup::containment`], [`Dedup::unit`], [`Dedup::cut_passages`] or moving files.
    ///
    /// ```
    /// use dedupdb_corpus::dedup::{Dedup, KeepBy};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let (pages, clean) = (folder.path().join("pages.jsonl"), folder.path().join("clean.jsonl"));
    /// let page = |score: &str| {
    ///     let notice = "The night tram runs again from Friday on, every half hour until four.";
    ///     format!("{{\"score\": {score}, \"text\": \"{notice}\"}}\n")
    /// };
    /// std::fs::write(&pages, page("9.5") + &page("10") + &page("null"))?;
    /// let done = Dedup::new([&pages]).keep_by([KeepBy::largest("score")]).output(&clean).run(|_| {})?;
    /// assert_eq!(done.without_field["score"], 1);
    /// assert_eq!(std::fs::read_to_string(&clean)?, page("10"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn keep_by(mut self, orders: impl IntoIterator<Item = KeepBy>) -> Dedup {
        self.keep_by.extend(orders);
        self
    }

    /// Also drops a document if one that is kept contains it: has at least this share of its distinct shingles, above 0
    /// and at most 1, and at least as many in all (Broder, "On the Resemblance and Containment of Documents", 1997). Of
    /// documents with the same number of shingles, the one that [`Keep::Longest`] prefers contains the other one.
    ///
    /// The documents with most shingles are judged first, so the longer one of two is kept, and no document that is kept
    /// contains another one, unless that is [too short](Dedup::shortest). Near-duplicates at the threshold are dropped
    /// as well. A pair is missed by neither measure.
    ///
    /// All texts are in temporary files until the end, and their shingles in a temporary store. This does not go
    /// together with a store, [`Dedup::against`], [`Dedup::protect`], [`Dedup::drop_only`], a [`Keep`] other than
    /// the longest, or moving files.
    ///
    /// ```
    /// use dedupdb_corpus::dedup::Dedup;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let notes = folder.path().join("notes");
    /// std::fs::create_dir(&notes)?;
    /// let notice = "The night tram runs again from Friday on, every half hour until four.";
    /// std::fs::write(notes.join("a.txt"), notice)?;
    /// std::fs::write(notes.join("b.txt"), format!("News of the week from the harbour. {notice}"))?;
    /// let done = Dedup::new([&notes]).containment(0.8).shortest(10);
    /// let done = done.run(|_| {})?;
    /// assert_eq!((done.kept, done.of_input.contained), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn containment(mut self, least: f64) -> Dedup {
        self.containment.least = Some(least);
        self
    }

    /// Judges paragraphs or lines as documents are, instead of whole documents. The first copy of a unit stays, and later ones are
    /// cut from their texts, with the white space behind them.
    ///
    /// A later copy is one that is the same or [similar](Dedup::schema), in another document or in the same one. With a
    /// [store](Dedup::store), units that are stored are copies, too, and the others are stored under the keys of their
    /// documents with `@` and the number of the unit, from 1. [Dropped](crate::dedup::DedupEvent::Dropped) is a unit then, and
    /// the summary has [counts of units](crate::dedup::DedupSummary::units). Other texts are written as by
    /// [`Decontaminate::cut`](crate::decontaminate::Decontaminate::cut), and where that writes none, neither does this.
    ///
    /// This goes together with [`Keep::First`] only, and not with [`Dedup::against`], [`Dedup::containment`],
    /// [`Dedup::list`], [`Dedup::mark`], [`Dedup::protect`] or [`Dedup::drop_only`].
    ///
    /// ```
    /// use dedupdb_corpus::dedup::{Dedup, Unit};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let (pages, clean) = (folder.path().join("pages.jsonl"), folder.path().join("clean.jsonl"));
    /// let notice = "The night tram runs again from Friday on, every half hour until four, said the company.";
    /// let page = |text: &str| format!("{{\"text\":\"{text}\\n\\n{notice}\\n\"}}\n");
    /// std::fs::write(&pages, page("One.") + &page("A page with the same notice as another one."))?;
    /// let run = Dedup::new([&pages]).unit(Unit::Paragraph).output(&clean);
    /// let done = run.run(|_| {})?;
    /// let units = done.units.unwrap();
    /// assert_eq!((units.kept, done.of_input.exact_copies, units.changed), (1, 1, 1));
    /// let second = "{\"text\":\"A page with the same notice as another one.\\n\"}\n";
    /// assert_eq!(std::fs::read_to_string(&clean)?, page("One.") + second);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn unit(mut self, unit: Unit) -> Dedup {
        self.units.unit = Some(unit);
        self
    }

    /// Sets the number of words of the shortest [units](Dedup::unit) that are judged, 13 by default. Shorter ones stay. A
    /// character of a script without spaces is a word.
    pub fn min_words(mut self, words: usize) -> Dedup {
        self.units.fewest_words = words;
        self
    }

    /// Cuts each run of at least this number of words, 8 or more, that stands before, word for word, in another document or in
    /// the same one and apart from it. The first copy stays. Case and punctuation do not count, and a character of a script
    /// without spaces is a word.
    ///
    /// What stands before is what is kept, the parts of documents between cuts, each by itself. So no run of this length is left
    /// twice. Where a cut brings two parts together, a run across them may be in another document.
    /// A passage goes with the punctuation that touches it and the spaces behind that. Other texts are written as by
    /// [`Decontaminate::cut`](crate::decontaminate::Decontaminate::cut), and a document that loses too much
    /// [is dropped](Dedup::drop_above).
    ///
    /// The words, four bytes each, are on disk meanwhile. Memory is taken for an index of every 25th word, if passages have 50: 8 to 22
    /// bytes each, which is about 7% of the size of an English text; a run that needs more than [`Dedup::memory`] ends with [`PassageMemory`](crate::dedup::Error::PassageMemory). This does not go
    /// together with a [store](Dedup::store), or what [units](Dedup::unit) do not go with.
    ///
    /// ```
    /// use dedupdb_corpus::dedup::Dedup;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let (pages, clean) = (folder.path().join("pages.jsonl"), folder.path().join("clean.jsonl"));
    /// let notice = "The night tram runs again from Friday on, every half hour until four.";
    /// let page = |before: &str| format!("{{\"text\":\"{before} {notice} And now the weather of the week.\"}}\n");
    /// std::fs::write(&pages, page("One.") + &page("The company says in a letter of this morning:"))?;
    /// let run = Dedup::new([&pages]).cut_passages(10).output(&clean);
    /// let done = run.run(|_| {})?.passages.unwrap();
    /// assert_eq!((done.passages, done.words, done.changed), (1, 20, 1));
    /// let second = "{\"text\":\"The company says in a letter of this morning: \"}\n";
    /// assert_eq!(std::fs::read_to_string(&clean)?, page("One.") + second);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cut_passages(mut self, words: usize) -> Dedup {
        self.passage = Some(words);
        self
    }

    /// Sets the number of places, 2 or more, at which a run of as many words as the shortest [passage](Dedup::cut_passages)
    /// stands in all texts of the run if it is cut; by default 2, so that each later copy is cut. The first copy, which stays,
    /// counts, and so do copies that overlap. Of a longer passage, only the parts are cut all of whose runs are so frequent.
    ///
    /// With more than 2, texts and records are stored in temporary files until all are read, and hashes of 8 bytes for each word,
    /// which count the runs. Each different run that is so frequent takes 8 bytes of memory more.
    ///
    /// ```
    /// use dedupdb_corpus::dedup::Dedup;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let (pages, clean) = (folder.path().join("pages.jsonl"), folder.path().join("clean.jsonl"));
    /// let notice = "The night tram runs again from Friday on, every half hour until four.";
    /// std::fs::write(&pages, format!("{{\"text\":\"{notice}\"}}\n").repeat(3))?;
    /// let run = |places| Dedup::new([&pages]).cut_passages(10).min_count(places);
    /// assert_eq!(run(3).output(&clean).run(|_| {})?.kept, 1);
    /// assert_eq!(run(4).output(folder.path().join("all.jsonl")).run(|_| {})?.kept, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn min_count(mut self, places: u32) -> Dedup {
        self.min_count = places;
        self
    }

    /// Sets the share of its characters that a document may lose, above 0 and at most 1, 0.8 by default. A document
    /// that loses more is dropped, and so is one without a word left. With [units](Dedup::unit), the share is that of
    /// the characters of all units; with [passages](Dedup::cut_passages), that of all characters except white space.
    /// The remaining units of a dropped document are removed from the store, so that later copies of them stay.
    pub fn drop_above(mut self, share: f64) -> Dedup {
        self.units.most_lost = share;
        self
    }

    /// Sets the minimum length, in words or other tokens, of documents that [containment](Dedup::containment) drops,
    /// 20 by default. [`PairQuery::shortest`](dedupdb::groups::PairQuery::shortest) states the rule. Shorter documents
    /// are dropped only as near-duplicates.
    pub fn shortest(mut self, tokens: usize) -> Dedup {
        self.containment.shortest = tokens;
        self
    }

    /// Writes all documents, each with four more columns or fields.
    ///
    /// These are `NAME_keep`, whether the document would be kept; `NAME_representative`, the key of the document that
    /// it resembles, or its own; `NAME_cluster`, a number that follows from that key; and `NAME_similarity`, the Jaccard
    /// similarity, from 0 to 1, exact if the store keeps shingles. This works for JSONL, CSV, Parquet, and TSV with a header.
    pub fn mark(self, name: &str) -> Dedup {
        Dedup {
            mark: Some(MarkColumns::new(name, DEDUP_MARKS)),
            ..self
        }
    }

    /// Drops only documents that resemble one of `store`. Documents of the input are not compared with each other, and
    /// nothing is stored. The parameters are those of the store, whatever [`Dedup::schema`] says.
    pub fn against(self, store: &Store) -> Dedup {
        Dedup {
            against: Some(Against::Store(store.clone())),
            ..self
        }
    }

    /// Like [`Dedup::against`], but compares with documents that are read from `sources`, like the input.
    pub fn against_corpus<S: Into<Source>>(self, sources: impl IntoIterator<Item = S>) -> Dedup {
        Dedup {
            against: Some(Against::Corpus(
                sources.into_iter().map(Into::into).collect(),
            )),
            ..self
        }
    }

    /// Never drops documents of files that have a name that matches one of `globs`, below the folder that is read.
    ///
    /// The name may be a hard link or a symbolic link. These documents are judged before all others, so that their
    /// duplicates are dropped instead. All texts and records are stored in temporary files until the end.
    pub fn protect(self, globs: impl IntoIterator<Item = Glob>) -> Dedup {
        Dedup {
            protected: globs.into_iter().collect(),
            ..self
        }
    }

    /// Drops only documents with these keys, and only those that resemble a document that is kept.
    ///
    /// All other documents are judged first. A file is also found if its key is another path to it. Texts and records
    /// are stored in temporary files, as for [`Dedup::protect`].
    ///
    /// ```
    /// use dedupdb_corpus::dedup::{Dedup, DedupEvent, SpareReason};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let notes = folder.path().join("notes");
    /// std::fs::create_dir(&notes)?;
    /// std::fs::write(notes.join("a.txt"), "The night tram runs again from Friday on.")?;
    /// std::fs::write(notes.join("b.txt"), "The night tram runs again from Friday on!")?;
    /// std::fs::write(notes.join("c.txt"), "Nobody knows who painted the harbour crane.")?;
    /// let keys = ["a.txt", "c.txt"].map(|name| notes.join(name).display().to_string());
    /// let mut alone = Vec::new();
    /// let done = Dedup::new([&notes]).drop_only(keys.clone()).run(|event| {
    ///     if let DedupEvent::Spared { key, why: SpareReason::Alone } = event {
    ///         alone.push(key.to_owned());
    ///     }
    /// })?;
    /// assert_eq!((done.dropped(), done.kept), (1, 2));
    /// assert_eq!(alone, keys[1..]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn drop_only<K: Into<String>>(self, keys: impl IntoIterator<Item = K>) -> Dedup {
        Dedup {
            droppable: Some(keys.into_iter().map(Into::into).collect()),
            ..self
        }
    }

    /// Writes a line for each dropped document to the file `path`, in the order of judgement. Implies
    /// [`Dedup::lineage`].
    ///
    /// A line has these columns, separated by tabs: the key, the key of the document that it resembles, their
    /// similarity, the file and number of its record, and the file and number of the other record. If it resembles
    /// several kept ones, the line names the one that [`RowDedup`](crate::dedup::RowDedup) describes. Lines about exact
    /// copies end in `exact copy`, and those about documents that another one only contains in `contained SHARE`. Lines
    /// are JSON if the name of the file ends in `.jsonl`. If a file that was dropped, or was only read for comparison with
    /// one, changed after it was read, the run fails with [`Error::Changed`](crate::dedup::Error::Changed).
    ///
    /// Where [passages](Dedup::cut_passages) are cut, a line is about one of these. Its columns are the key; the key of the document where
    /// the longest part of the passage stood before; the number of its words, and the first and the last of them, from 1; the bytes
    /// of the text from which and before which it is cut; the first and the last word of that part in the other document;
    /// whether the document is dropped as a whole; the files and records as above; and what is cut.
    pub fn removed(self, path: impl Into<PathBuf>) -> Dedup {
        Dedup {
            removed: Some(path.into()),
            lineage: true,
            ..self
        }
    }

    /// Sets whether the lines of [`Dedup::removed`] are JSON, whatever the name of the file.
    pub fn removed_as_json(self, is_json: bool) -> Dedup {
        Dedup {
            removed_is_json: is_json,
            ..self
        }
    }

    /// Sets whether [`DroppedDocument`](crate::dedup::DroppedDocument) names the file and record of the document that a dropped one
    /// resembles. This takes about 40 bytes of memory for each kept document, and about 80 if it is a file.
    pub fn lineage(self, lineage: bool) -> Dedup {
        Dedup { lineage, ..self }
    }

    /// Sets whether the output and the list of dropped documents may replace a file. A folder that is not empty is not
    /// deleted: it gets another name ([`DedupSummary::aside`](crate::dedup::DedupSummary::aside)). Links and stores stay.
    pub fn replace(self, replace: bool) -> Dedup {
        Dedup { replace, ..self }
    }

    /// Sets where the run counts its progress, and what stops it: documents that were judged, or read if all are read
    /// first, and the bytes that were read for them. If it is stopped, nothing is written, and the same run later gives
    /// the same output.
    pub fn progress(self, progress: &Progress) -> Dedup {
        Dedup {
            progress: progress.clone(),
            ..self
        }
    }

    /// Sets the approximate memory in bytes, 512 MiB by default. More memory means fewer and larger commits.
    pub fn memory(self, bytes: u64) -> Dedup {
        Dedup {
            memory: bytes,
            ..self
        }
    }

    /// Whether to go on without inputs that were named and exist but cannot be read. They are counted. Otherwise, the run ends with
    /// [`Error::Unreadable`](crate::dedup::Error::Unreadable), and nothing is written. What cannot be read in a folder is only counted.
    pub fn skip_unreadable(self, skip: bool) -> Dedup {
        Dedup {
            skips_unreadable: skip,
            ..self
        }
    }

    /// Sets how many bytes temporary texts and records may take on disk; by default, nine tenths of the free space.
    pub fn temporary_limit(self, bytes: u64) -> Dedup {
        Dedup {
            temporary_limit: Some(bytes),
            ..self
        }
    }

    /// Sets the parameters of the comparison. They have no effect if a store is given, which has its own.
    pub fn schema(self, schema: Schema) -> Dedup {
        Dedup { schema, ..self }
    }

    /// Sets the options of the temporary store, which is used if no other store is given.
    pub fn store_options(self, options: Options) -> Dedup {
        Dedup {
            store_options: options,
            ..self
        }
    }

    /// Also compares with the documents of a store, and stores the kept documents in it.
    ///
    /// A document that resembles a stored one is dropped, even if both have the same key. The documents that are stored
    /// belong to a run (see [`Writer::begin_run`](dedupdb::Writer::begin_run)). If this run is interrupted, the next one
    /// removes them first, and so gives the same output.
    pub fn store(self, store: &Store) -> Dedup {
        Dedup {
            store: Some(store.clone()),
            ..self
        }
    }

    /// Names the folder of a store that is created or opened after [`Dedup::begin`], so that no output is placed in or
    /// around it.
    pub fn store_folder(self, folder: impl Into<PathBuf>) -> Dedup {
        Dedup {
            store_folder: Some(folder.into()),
            ..self
        }
    }
}
