//! Finds documents that have items of a benchmark, and writes a corpus without them.
//!
//! A model that was trained on the questions of a benchmark is not measured by it. An **item** is a text of the benchmark,
//! such as a question or its answer. A document **has an item** if both have 13 words in a row, or if a stretch of the
//! document that is twice as long as the item has 40% of the item's shingles (runs of five words), in 70% of its words, and in
//! ten of them or all of an item with fewer. So an item is found whole, with other white space, case and
//! punctuation, and with some words replaced; a part of it is found if it is 13 words long. Case and punctuation do not
//! count, and a character of a script without spaces is a word, as [`Shingling::Word`](dedupdb::sketching::Shingling::Word)
//! says.
//!
//! ```
//! use dedupdb_corpus::decontaminate::Decontaminate;
//! use dedupdb_corpus::dedup::DedupEvent;
//!
//! # let folder = tempfile::tempdir()?;
//! # let [train, bench, clean] = ["train.jsonl", "bench.jsonl", "clean.jsonl"].map(|name| folder.path().join(name));
//! let item = "{\"id\": \"q7\", \"question\": \"Who painted the harbour crane in the colours of a parrot?\"}\n";
//! let quoting = "{\"id\": \"a\", \"text\": \"Quiz. Who painted the\\nharbour crane in the colours of a parrot? Nobody knows.\"}\n";
//! let other = "{\"id\": \"b\", \"text\": \"The night tram runs again from Friday on, every half hour until four.\"}\n";
//! std::fs::write(&bench, item)?;
//! std::fs::write(&train, [quoting, other].concat())?;
//!
//! let mut found = Vec::new();
//! let run = Decontaminate::new([&train], [&bench]).fields(["question"]).output(&clean);
//! let done = run.run(|event| {
//!     if let DedupEvent::Hit(hit) = event {
//!         found.push((hit.document.key.clone(), hit.item.key.clone(), hit.overlap.text.clone()));
//!     }
//! })?;
//! assert_eq!((done.documents, done.hit), (2, 1));
//! let text = "Who painted the\nharbour crane in the colours of a parrot";
//! assert_eq!(found, [("a".to_owned(), "q7".to_owned(), text.to_owned())]);
//! assert_eq!(std::fs::read_to_string(&clean)?, other);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is exact
//!
//! Every document that has an item is found, with all items that it has. Shingles are hashes of 32 bits; those of a hit are
//! compared word by word, by hashes of another function. Items of fewer than five words cannot be checked: each is an event, with the reason [`TooShort`](crate::Reason::TooShort).
//!
//! # Memory
//!
//! The items take about 40 bytes for each of their words; equal items are searched as one. Documents are read one batch
//! after another, as by [`dedup`](crate::dedup), whose [guarantees](crate::dedup#guarantees) for the output hold here, too.

// The benchmark is read first (`benchmark`) and indexed by its shingles (`index`). Then the documents are read in batches,
// compared on all threads, and written as `dedup` writes them.

mod benchmark;
mod cut;
mod hit;
mod hits_list;
mod index;
mod rule;
mod search;
mod summary;

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;

use benchmark::{Benchmark, BenchmarkFields};
use hits_list::HitLine;

use dedupdb::Progress;
use rayon::prelude::*;

use crate::dedup::against::check_apart;
use crate::dedup::dedup_run::taken;
use crate::dedup::event::{DedupEvent, Observer};
use crate::dedup::fit_check::FitCheck;
use crate::dedup::judge::{BatchReceiver, DocumentVerdict, JudgeReporter};
use crate::dedup::line_list::LineList;
use crate::dedup::mark::{DocumentMark, MarkColumns};
use crate::dedup::outputs::Outputs;
use crate::dedup::prepared_run::publish;
use crate::dedup::settings::Destination;
use crate::dedup::sink::OutputSink;
use crate::dedup::target::OutputTarget;
use crate::dedup::{Dedup, DedupSummary, Error, Result};
use crate::{
    Item, ItemBatch, Options, Origin, Repeats, Source, SourcedText, count_items, expanded,
    for_each_batch,
};

pub use benchmark::BenchmarkItem;
pub use hit::{Hit, Overlap};
pub use rule::Rule;
pub use search::ItemSearch;
pub use summary::{BenchmarkCounts, DecontaminateSummary};

/// The settings of a run; see the [module](self).
#[must_use = "nothing is done before it is run"]
pub struct Decontaminate {
    /// How documents are read and written.
    dedup: Dedup,
    benchmark: Vec<PathBuf>,
    fields: BenchmarkFields,
    rule: Rule,
    /// The number of words around an item that are cut with it, if items are cut.
    margin: Option<usize>,
    common: u64,
    hits_are_json: bool,
    hits_to: Option<Box<dyn Write + Send>>,
}

impl fmt::Debug for Decontaminate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decontaminate")
            .field("dedup", &self.dedup)
            .field("benchmark", &self.benchmark)
            .field("fields", &self.fields)
            .field("rule", &self.rule)
            .finish_non_exhaustive()
    }
}

impl Decontaminate {
    /// Looks in the documents of `sources`, which are read as [`Dedup::new`] does, for the items in the files and folders
    /// of `benchmark`.
    pub fn new<S: Into<Source>, P: Into<PathBuf>>(
        sources: impl IntoIterator<Item = S>,
        benchmark: impl IntoIterator<Item = P>,
    ) -> Decontaminate {
        let benchmark: Vec<PathBuf> = benchmark.into_iter().map(Into::into).collect();
        Decontaminate {
            dedup: Dedup::new(sources).against_corpus(benchmark.iter().map(Source::path)),
            benchmark,
            fields: BenchmarkFields::default(),
            rule: Rule::default(),
            margin: None,
            common: 1000,
            hits_are_json: false,
            hits_to: None,
        }
    }

    /// Sets how the documents and the benchmark are read. Records are read verbatim, and a record whose id came before
    /// with another text is reported and compared.
    pub fn reading(self, options: Options) -> Decontaminate {
        Decontaminate {
            dedup: self.dedup.reading(options),
            ..self
        }
    }

    /// Names the fields or columns of the benchmark that are items, each of its own. By default, an item is a text as
    /// [`Options::text_fields`] says. Of a list, in JSON and Parquet, each string is an item.
    pub fn fields<F: Into<String>>(mut self, names: impl IntoIterator<Item = F>) -> Decontaminate {
        self.fields.of_all = names.into_iter().map(Into::into).collect();
        self
    }

    /// Names a field or column of one file or folder of the benchmark, as it was given to [`Decontaminate::new`]. With several
    /// calls, it has several. Those of [`Decontaminate::fields`] are not read from it then.
    pub fn field_of(
        mut self,
        benchmark: impl Into<PathBuf>,
        name: impl Into<String>,
    ) -> Decontaminate {
        let own = self.fields.of_path.entry(benchmark.into()).or_default();
        own.push(name.into());
        self
    }

    /// Sets when a document has an item.
    pub fn rule(self, rule: Rule) -> Decontaminate {
        Decontaminate { rule, ..self }
    }

    /// Sets the number of documents above which an item is among the
    /// [common ones](DecontaminateSummary::common), 1000 by default. This changes no verdict.
    pub fn common(self, documents: u64) -> Decontaminate {
        Decontaminate {
            common: documents,
            ..self
        }
    }

    /// Writes the documents without items to `path`; see [`Dedup::output`].
    pub fn output(self, path: impl Into<PathBuf>) -> Decontaminate {
        Decontaminate {
            dedup: self.dedup.output(path),
            ..self
        }
    }

    /// Writes the records without items to a stream as they come. Rows of Parquet files become lines of JSON.
    pub fn output_to(self, stream: impl Write + Send + 'static) -> Decontaminate {
        Decontaminate {
            dedup: self.dedup.output_to(stream),
            ..self
        }
    }

    /// Writes all documents, each with four more columns or fields.
    ///
    /// These are `NAME_keep`, whether it has no item; `NAME_items`, the number of items that it has; `NAME_item`, the key of
    /// the one of which it covers the largest share (the first of several), or an empty text; and `NAME_coverage`, this share, from
    /// 0 to 1. This works for the formats of [`Dedup::mark`].
    pub fn mark(mut self, name: &str) -> Decontaminate {
        let ends = ["keep", "items", "item", "coverage"];
        self.dedup.mark = Some(MarkColumns::new(name, ends));
        self
    }

    /// Cuts the items from the documents that have them, instead of leaving out these documents, and with each item this many
    /// words before and behind it, to the ends of the sentences or lines, or of words if none ends within 50 words.
    ///
    /// What remains has no item. A document of which more than ten parts would have to be cut, or no word would remain, is
    /// left out. The cut text is written in the encoding of its record or file, or in UTF-8 if that is UTF-16 or UTF-32. It can
    /// be written to records of JSON, CSV, TSV and Parquet and to files of plain text, and other documents are an
    /// [error](Error::Unfit). This does not go with [marks](Decontaminate::mark).
    pub fn cut(self, margin: usize) -> Decontaminate {
        Decontaminate {
            margin: Some(margin),
            ..self
        }
    }

    /// Writes a line for each document and item that it has to the file `path`, in the order of the documents and then of
    /// the benchmark.
    ///
    /// A line has these columns: the key of the document; the file, the key and the field of the item, and the number of
    /// its words; the length in words of the longest passage that both have; the share of the item's words and that of the
    /// document's words in the overlap; the bytes from which and before which that is in the text of the document; the
    /// first and the last of the item's words that it has, from 1; and its text. They are separated by tabs and escaped, or
    /// are CSV with a header or JSON if the name ends in `.csv` or `.jsonl`.
    pub fn hits(self, path: impl Into<PathBuf>) -> Decontaminate {
        Decontaminate {
            dedup: self.dedup.removed(path),
            ..self
        }
    }

    /// Writes the lines of [`Decontaminate::hits`] to a stream as they come, unless that names a file.
    pub fn hits_to(self, stream: impl Write + Send + 'static) -> Decontaminate {
        Decontaminate {
            hits_to: Some(Box::new(stream)),
            ..self
        }
    }

    /// Sets whether the lines of [`Decontaminate::hits`] are JSON, whatever the name of the file.
    pub fn hits_as_json(self, is_json: bool) -> Decontaminate {
        Decontaminate {
            hits_are_json: is_json,
            ..self
        }
    }

    /// Sets whether the output and the list of hits may replace a file; see [`Dedup::replace`].
    pub fn replace(self, replace: bool) -> Decontaminate {
        Decontaminate {
            dedup: self.dedup.replace(replace),
            ..self
        }
    }

    /// Whether to go on without inputs that were named and cannot be read; see [`Dedup::skip_unreadable`]. A file of the
    /// benchmark that cannot be read is then left out, too.
    pub fn skip_unreadable(self, skip: bool) -> Decontaminate {
        Decontaminate {
            dedup: self.dedup.skip_unreadable(skip),
            ..self
        }
    }

    /// Sets where the run counts its progress, and what stops it; see [`Dedup::progress`].
    pub fn progress(self, progress: &Progress) -> Decontaminate {
        Decontaminate {
            dedup: self.dedup.progress(progress),
            ..self
        }
    }

    /// Reads, compares and writes the documents. The observer receives each event.
    ///
    /// # Errors
    ///
    /// [`Error::Benchmark`] for a number out of its range, or if no item can be checked; [`Error::LacksField`]; [`Error::OwnCounterpart`] if a file
    /// of the benchmark is among the documents; [`Error::Stopped`]; [`Error::FirstFailure`] if the corpus is read
    /// strictly; [`Error::Output`] and [`Error::Unfit`] as for [`Dedup::run`]; errors of reading and of the system.
    pub fn run(
        self,
        mut observe: impl FnMut(DedupEvent<'_>),
    ) -> Result<DecontaminateSummary, Error> {
        self.rule.check()?;
        let mut dedup = self.dedup;
        if dedup.mark.is_some() && self.margin.is_some() {
            let reason = "either all documents are marked, or items are cut".to_owned();
            return Err(Error::Benchmark { reason });
        }
        dedup.sources = expanded(dedup.sources);
        check_apart(&mut dedup)?;
        let target = OutputTarget::of(&dedup)?;
        // The places of the outputs are reserved before anything is read.
        let outputs = Outputs::begin(&dedup, &target)?;
        let (options, _ending) = std::mem::take(&mut dedup.options).begin();
        dedup.options = options;
        let mut reporter = JudgeReporter {
            summary: DedupSummary::default(),
            known: 0,
            observer: Observer::new(&mut observe, &dedup.progress),
            fit: FitCheck::new(&dedup, &target),
        };
        reporter.fit.changes_texts = self.margin.is_some();
        let observer = &mut reporter.observer;
        let benchmark =
            Benchmark::read(&self.benchmark, &self.fields, &self.rule, &dedup, observer)?;
        let list = outputs.removed().zip(dedup.removed.as_deref());
        let is_json = self.hits_are_json;
        let list =
            list.map(|(partial, name)| LineList::begin::<HitLine<'_>>(partial, name, is_json));
        let stream = self.hits_to.map(|stream| LineList::stream(stream, is_json));
        let list = list.transpose()?.or(stream);
        let to = std::mem::replace(&mut dedup.to, Destination::Nowhere);
        let inputs = dedup.sources.iter().map(|source| source.name().to_owned());
        let inputs: Vec<PathBuf> = inputs.collect();
        let mark = dedup.mark.as_ref();
        let sink = OutputSink::new(&target, to, &outputs.work().output(), &inputs, mark)?;
        let mut run = DecontaminateRun {
            documents: vec![0; benchmark.items.len()],
            files: self
                .benchmark
                .into_iter()
                .filter(|path| path.is_file())
                .collect(),
            of_file: HashMap::new(),
            is_marking: dedup.mark.is_some(),
            margin: self.margin,
            cut: 0,
            benchmark,
            list,
            sink,
            reporter,
        };
        let batches = batches(&mut dedup, &target)?;
        run.compare_all(&batches)?;
        if dedup.options.strict && run.reporter.summary.reading.has_failures() {
            return Err(Error::FirstFailure);
        }
        run.finish(&outputs, self.common)
    }
}

/// Begins to read the documents.
fn batches(dedup: &mut Dedup, target: &OutputTarget) -> Result<BatchReceiver> {
    let options = std::mem::take(&mut dedup.options);
    let options = options.verbatim(true).repeats(Repeats::Tell);
    let options = options.tables_apart(target.is_of_tables);
    dedup.options = options.memory(dedup.memory);
    let sources = std::mem::take(&mut dedup.sources);
    Ok(dedup.options.clone().batches(sources)?)
}

struct DecontaminateRun<'a> {
    benchmark: Benchmark,
    /// The files of the benchmark that were named.
    files: Vec<PathBuf>,
    /// The number of documents with each item.
    documents: Vec<u64>,
    /// The number of documents with an item of each file.
    of_file: HashMap<PathBuf, u64>,
    /// Whether each document gets a mark.
    is_marking: bool,
    /// The number of words around an item that are cut with it, if items are cut.
    margin: Option<usize>,
    /// The number of documents from which items are cut.
    cut: u64,
    list: Option<LineList>,
    sink: OutputSink,
    reporter: JudgeReporter<'a>,
}

impl DecontaminateRun<'_> {
    fn compare_all(&mut self, batches: &BatchReceiver) -> Result<()> {
        let never: Option<Infallible> = for_each_batch(batches, |batch| -> Result<_> {
            match batch {
                Some(batch) => self.compare(batch)?,
                None => self.reporter.observer.go_on()?,
            }
            Ok(ControlFlow::Continue(()))
        })?;
        match never {
            None => Ok(()),
        }
    }

    /// Compares the documents of a batch on all threads, and writes those without items.
    fn compare(&mut self, batch: ItemBatch) -> Result<()> {
        for item in &batch.items {
            self.reporter.item(item)?;
        }
        let (items, bytes) = (count_items(&batch.items), batch.bytes);
        let documents = batch.items.iter().filter_map(Item::document);
        // Comparing and cutting take all threads. Afterwards, the documents are written one by one.
        let texts: Vec<&str> = documents.map(SourcedText::text).collect();
        let found = self.benchmark.search.find_all(&texts)?;
        let mut cut = self.cut_all(&texts, &found)?.into_iter();
        let mut found = found.into_iter();
        for item in batch.items {
            let judged = match item {
                Item::Document(document) => {
                    let what = "a document was not compared";
                    let hits = found.next().ok_or(Error::Defect { what })?;
                    let origin = document.into_origin();
                    let text = cut.next().flatten();
                    let is_kept = hits.is_empty() || text.is_some();
                    self.reporter.summary.kept += u64::from(is_kept);
                    self.cut += u64::from(text.is_some());
                    self.take_hits(&origin, &hits, is_kept)?;
                    let verdict = DocumentVerdict {
                        is_kept,
                        stored: None,
                        mark: self.is_marking.then(|| self.mark(&hits)),
                        text,
                    };
                    Item::Document((origin, verdict))
                }
                Item::Opened(opened) => Item::Opened(opened),
                Item::Skipped(skipped) => Item::Skipped(skipped),
                Item::Unchanged(key) => Item::Unchanged(key),
            };
            taken(&mut self.sink, &judged)?;
        }
        self.reporter.observer.advance(items, bytes)
    }

    /// Cuts what these texts have of items, if that is wanted. `None` for a text without items, or that is left out.
    fn cut_all(
        &self,
        texts: &[&str],
        found: &[Vec<(u32, Overlap)>],
    ) -> Result<Vec<Option<String>>> {
        let Some(margin) = self.margin else {
            return Ok(Vec::new());
        };
        let search = &self.benchmark.search;
        let cut = texts
            .par_iter()
            .zip(found)
            .map(|(text, hits)| match &hits[..] {
                [] => Ok(None),
                hits => search.cut(text, hits, margin),
            });
        cut.collect()
    }

    /// Counts and reports the items that a document has.
    fn take_hits(
        &mut self,
        document: &Origin,
        hits: &[(u32, Overlap)],
        is_kept: bool,
    ) -> Result<()> {
        // It counts as dropped, so that an output without documents is one of a corpus that was read.
        self.reporter.summary.of_history.contained += u64::from(!is_kept);
        let mut files: Vec<&PathBuf> = Vec::new();
        for (number, overlap) in hits {
            self.documents[*number as usize] += 1;
            let item = &self.benchmark.items[*number as usize];
            if !files.contains(&&item.benchmark) {
                files.push(&item.benchmark);
            }
            let hit = Hit {
                document,
                item,
                overlap,
            };
            if let Some(list) = &mut self.list {
                list.add(&HitLine::of(&hit))?;
            }
            self.reporter.observer.tell(DedupEvent::Hit(&hit))?;
        }
        for file in files {
            *self.of_file.entry(file.clone()).or_default() += 1;
        }
        Ok(())
    }

    /// The mark of a document with these items.
    fn mark(&self, hits: &[(u32, Overlap)]) -> DocumentMark {
        let first_largest = |best: Option<(u32, f64)>, (number, overlap): &(u32, Overlap)| {
            let is_larger = best.is_none_or(|(_, coverage)| overlap.coverage > coverage);
            let found = Some((*number, overlap.coverage));
            if is_larger { found } else { best }
        };
        let best = hits.iter().fold(None, first_largest);
        let item = best.map(|(number, _)| &self.benchmark.items[number as usize]);
        DocumentMark {
            is_kept: hits.is_empty(),
            number: hits.len() as u64,
            key: item.map_or_else(String::new, |item| item.key.clone()),
            share: best.map_or(0.0, |(_, coverage)| coverage),
        }
    }

    /// Finishes and publishes the outputs.
    fn finish(self, outputs: &Outputs, common: u64) -> Result<DecontaminateSummary> {
        let mut reporter = self.reporter;
        reporter.summary.reading.grew(self.sink.grown());
        reporter.summary.unmarked = self.sink.unmarked();
        // No list of paths was asked for.
        self.sink.finish(&mut || reporter.observer.go_on())?;
        if let Some(list) = self.list {
            list.finish()?;
        }
        // With marks, every document is written.
        let is_empty = reporter.summary.kept == 0 && !self.is_marking;
        publish(outputs, &mut reporter, is_empty, None)?;
        let done = reporter.summary;
        if !done.is_written {
            // It says why the output would have no document.
            outputs.publish_list()?;
        }
        let mut benchmarks = self.benchmark.counts(&self.files, &self.documents);
        for counts in &mut benchmarks {
            counts.documents = self.of_file.get(&counts.benchmark).copied().unwrap_or(0);
        }
        let mut frequent: Vec<(BenchmarkItem, u64)> = Vec::new();
        for (item, documents) in self.benchmark.items.into_iter().zip(self.documents) {
            if documents > common {
                frequent.push((item, documents));
            }
        }
        frequent.sort_by_key(|(_, documents)| std::cmp::Reverse(*documents));
        Ok(DecontaminateSummary {
            documents: done.kept + done.dropped() + done.reading.all_skipped(),
            kept: done.kept,
            hit: done.dropped() + self.cut,
            cut: self.cut,
            benchmarks,
            common: frequent,
            reading: done.reading,
            benchmark_reading: self.benchmark.reading,
            unmarked: done.unmarked,
            is_written: done.is_written,
            aside: done.aside,
        })
    }
}

impl Benchmark {
    /// The counts of each file: of those that were named, and then in the order in which the others were read.
    fn counts(&self, named: &[PathBuf], documents: &[u64]) -> Vec<BenchmarkCounts> {
        let mut all: Vec<BenchmarkCounts> = Vec::new();
        let mut numbers = HashMap::new();
        let mut of_file = |file: &PathBuf, all: &mut Vec<BenchmarkCounts>| {
            *numbers.entry(file.clone()).or_insert_with(|| {
                all.push(BenchmarkCounts {
                    benchmark: file.clone(),
                    items: 0,
                    hit: 0,
                    unchecked: 0,
                    documents: 0,
                });
                all.len() - 1
            })
        };
        // Files that were named are listed even without items.
        for file in named {
            of_file(file, &mut all);
        }
        for (item, documents) in self.items.iter().zip(documents) {
            let number = of_file(&item.benchmark, &mut all);
            all[number].items += 1;
            all[number].hit += u64::from(*documents > 0);
        }
        let mut unchecked: Vec<(&PathBuf, &u64)> = self.unchecked.iter().collect();
        unchecked.sort();
        for (file, &items) in unchecked {
            let number = of_file(file, &mut all);
            all[number].items += items;
            all[number].unchecked += items;
        }
        all
    }
}
