//! The class `Store`.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use dedupdb::upkeep::Rebuild;
use dedupdb::{Error, Progress, Query, Schema};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::arguments::{self, usual_text};
use crate::documents::Iterating;
use crate::errors::raised;
use crate::groups;
use crate::opening::{OpenSettings, open};
use crate::passages::{self, PassageOptions};
use crate::query::{self, QueryOptions};
use crate::results;
use crate::row_adder::{ErrorPolicy, RowAdder, RowReport as Documents};
use crate::rows::{ColumnNames, KeyColumn, RowSource, is_one};
use crate::schema;
use crate::slot::StoreSlot;
use crate::stream::Batches;
use crate::table::Table;
use crate::upkeep::rebuilt;
use crate::warning::{EXHAUSTIVE, REINDEX, warn_of_threshold};
use crate::watch::{ProgressCallback, lock, waited, watched};

/// The approximate number of bytes that a merge takes between two commits.
const MERGE_BYTES: u64 = 64 << 20;

/// A near-duplicate store in a folder, from `dedupdb.open`.
///
/// Threads share it. Any number of processes have a store open, and write by turns.
///
/// In the examples, the store is a new one with two texts:
///
/// ```python
/// >>> store = dedupdb.open("seen", passage=5)
/// >>> store.add(["tram", "trams"], ["The night tram runs again from Friday on.", "The night tram runs again from Friday on!"]).added
/// 2
/// ```
#[pyclass(frozen, module = "dedupdb", name = "Store")]
pub(crate) struct PyStore {
    slot: Arc<StoreSlot>,
    /// Threads in a call that writes. An iterable that such a call reads must not write too.
    writing: Mutex<Vec<ThreadId>>,
}

/// A call that writes, of one thread.
pub(crate) struct WriteCall<'a>(&'a Mutex<Vec<ThreadId>>);

impl Drop for WriteCall<'_> {
    fn drop(&mut self) {
        let own = thread::current().id();
        lock(self.0).retain(|thread| *thread != own);
    }
}

impl PyStore {
    /// The open store.
    pub(crate) fn opened(&self) -> PyResult<dedupdb::Store> {
        self.slot.opened()
    }

    fn settings(&self) -> &OpenSettings {
        self.slot.settings()
    }

    /// The open store, for a call that writes.
    pub(crate) fn entered(&self, py: Python<'_>) -> PyResult<(dedupdb::Store, WriteCall<'_>)> {
        let store = self.opened()?;
        let own = thread::current().id();
        let mut writing = lock(&self.writing);
        if writing.contains(&own) {
            return Err(raised(py, &Error::WriterHeld));
        }
        writing.push(own);
        Ok((store, WriteCall(&self.writing)))
    }
}

#[pymethods]
impl PyStore {
    #[new]
    #[pyo3(signature = (path, *, read_only=false, create=true, wait=5.0, threads=0, false_candidates=None, containment=None, parameters=None, expect=None))]
    #[expect(clippy::too_many_arguments, reason = "they have names")]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = arguments::path)] path: PathBuf,
        read_only: bool,
        create: bool,
        #[pyo3(from_py_with = arguments::wait)] wait: f64,
        #[pyo3(from_py_with = arguments::threads)] threads: usize,
        #[pyo3(from_py_with = arguments::false_candidates)] false_candidates: Option<usize>,
        #[pyo3(from_py_with = arguments::containment)] containment: Option<f64>,
        parameters: Option<&Bound<'_, PyDict>>,
        expect: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyStore> {
        let wait = Duration::try_from_secs_f64(wait)
            .map_err(|error| PyValueError::new_err(format!("wait: {error}")))?;
        let how = OpenSettings {
            path: arguments::whole(&path)?,
            read_only,
            wait,
            threads,
            false_candidates,
            containment,
            expected: schema::changed(Schema::builder(), expect)?,
        };
        let new = schema::built(py, parameters)?;
        let make = (create && !read_only).then_some(&new);
        let store = open(py, &how, make)?;
        Ok(PyStore {
            slot: Arc::new(StoreSlot::new(store, how)),
            writing: Mutex::default(),
        })
    }

    /// The store's folder, absolute.
    #[getter]
    fn path(&self) -> PathBuf {
        self.settings().path.clone()
    }

    /// Whether it was opened for reading only.
    #[getter]
    fn read_only(&self) -> bool {
        self.settings().read_only
    }

    /// Whether it was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.slot.is_closed()
    }

    /// The parameters of the store, as the arguments of `open`.
    #[getter]
    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        schema::as_arguments(py, &self.opened()?.schema())
    }

    /// Minimum Jaccard similarity of near-duplicates.
    #[getter]
    fn threshold(&self) -> PyResult<f64> {
        Ok(self.opened()?.schema().threshold())
    }

    /// The share of the pairs at this similarity that queries find, 0 to 1: the S-curve of the store.
    ///
    /// ```python
    /// >>> round(store.recall(0.8), 2)
    /// 0.98
    /// ```
    fn recall(&self, #[pyo3(from_py_with = arguments::jaccard)] jaccard: f64) -> PyResult<f64> {
        if !(0.0..=1.0).contains(&jaccard) {
            let message = format!("jaccard: {jaccard}; a similarity is 0 to 1");
            return Err(PyValueError::new_err(message));
        }
        Ok(self.opened()?.schema().recall(jaccard))
    }

    /// Number of searches that ended before every candidate was compared.
    #[getter]
    fn searches_cut_short(&self) -> PyResult<u64> {
        Ok(self.opened()?.searches_cut_short())
    }

    /// Stores documents, each under its key, and replaces the text that a key had before this call.
    ///
    /// `data` is a table or a data set with the columns `key` and `text`, an iterable of record batches, dicts or pairs,
    /// or, with `texts`, the keys. Integers, dates and UUIDs are keys as text, and come out as text.
    /// If `key` names no column, the key is in the column `id`, or in `key` if there is no `id`. If `text` is a list, the
    /// texts of these columns or fields are joined by line breaks; null, empty and missing ones add nothing. Commits about every
    /// five seconds, when `memory`, about the number of bytes to use (by default 512 MiB), requires it, and at the end. With
    /// `unique`, near-duplicates are kept out. Returns an
    /// `Added`. A row that is null or not a string, or whose key came before in this call with another text, raises a
    /// `ValueError` or `TypeError` that names it, and leaves the last commit; with `errors="skip"`, it is listed instead.
    ///
    /// ```python
    /// >>> store.add([{"id": "crane", "text": "Who painted the crane in the harbour?"}])
    /// Added(added=1, updated=0, unchanged=0, near_duplicates=0, exact_copies=0, ...)
    /// ```
    #[pyo3(signature = (data, texts=None, /, *, key=None, text=None, unique=false, errors="raise", progress=None, memory=None))]
    #[expect(clippy::too_many_arguments, reason = "they have names")]
    fn add<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        texts: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = arguments::key)] key: Option<String>,
        #[pyo3(from_py_with = arguments::given_text)] text: Option<Vec<String>>,
        #[pyo3(from_py_with = arguments::unique)] unique: bool,
        #[pyo3(from_py_with = arguments::errors)] errors: &str,
        progress: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = arguments::memory)] memory: Option<u64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (store, _entered) = self.entered(py)?;
        let adding = RowAdder {
            store,
            unique,
            memory,
            errors: ErrorPolicy::of(errors)?,
            told: ProgressCallback::new(progress, "documents")?,
        };
        let rows = RowSource::documents(data, texts, &names(key, text))?;
        let mut tally = results::OutcomeTally::default();
        let skipped = adding.run(py, rows, &mut |outcome| match outcome {
            Documents::Outcome(outcome) => tally.count(&outcome),
            Documents::Skipped => {}
        })?;
        tally.added(py, skipped)
    }

    /// Stores each document unless it is a copy or a near-duplicate of a stored one.
    ///
    /// Takes what `add` takes. Returns a table with a row for each document: its number `row`, `verdict` (`added`,
    /// `updated`, `unchanged`, `near_duplicate`, `exact_copy`, `skipped`), the key of the `earlier` document and the
    /// `jaccard` of both (its estimate, if the store keeps no shingles). One key and one text give a `Verdict`, durable
    /// when this returns; concurrent threads share a commit.
    ///
    /// If the key is stored and the new text resembles another document, the key keeps its old text. To get rid of the
    /// old text, remove the key, or `replace` it. If a later row replaces the text that kept a row out, a warning says so:
    /// give the rows again.
    ///
    /// ```python
    /// >>> store.insert("again", "the night tram runs again from friday on").verdict
    /// 'near_duplicate'
    /// >>> store.insert(["again", "crane"], ["The night tram runs again from Friday on.", "Who painted the crane?"])["verdict"]
    /// ['exact_copy', 'added']
    /// ```
    #[pyo3(signature = (data, texts=None, /, *, key=None, text=None, errors="raise", progress=None))]
    #[expect(clippy::too_many_arguments, reason = "they have names")]
    fn insert<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        texts: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = arguments::key)] key: Option<String>,
        #[pyo3(from_py_with = arguments::given_text)] text: Option<Vec<String>>,
        #[pyo3(from_py_with = arguments::errors)] errors: &str,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(text) = texts.filter(|_| is_one(data)) {
            return self.insert_one(py, &arguments::key_of(data)?, arguments::text_of(text)?);
        }
        let (store, _entered) = self.entered(py)?;
        let adding = RowAdder {
            store,
            unique: true,
            memory: None,
            errors: ErrorPolicy::of(errors)?,
            told: ProgressCallback::new(progress, "documents")?,
        };
        let rows = RowSource::documents(data, texts, &names(key, text))?;
        let mut verdicts = query::OutcomeColumns::default();
        adding.run(py, rows, &mut |outcome| verdicts.push(outcome))?;
        Ok(Bound::new(py, verdicts.table()?)?.into_any())
    }

    /// Documents similar to a text, or to each of many, the most similar first.
    ///
    /// One text gives a list of `Match`. A table, an array or an iterable of texts gives a table from one commit, with
    /// a row for each match: the number of the text (`row`), `key`, `jaccard`, `estimate`, `error`, `containment`,
    /// `containment_of_match`, `bands`, `exact_copy`. `threshold` is above 0 and at most 1, the store's by default; with a
    /// lower one than that, a warning says how many matches are missed. `limit` is the maximum number of matches per text. Raises
    /// `errors.InvalidQuery`, a `ValueError`.
    /// With `containment`, documents are found of which at least this share of the shingles is in the text, or that have
    /// this share of its shingles, the largest share first; contained texts of fewer than `shortest` tokens are left out.
    /// The store must find passages, as one does by default.
    /// `ignore` takes texts of which nothing counts, on either side: a template, a licence. All documents are then compared.
    /// `nearest` asks for this number of the most similar documents, without a threshold, of those that share a bucket or a
    /// fingerprint with the text; `exhaustive` compares with all documents, and misses none.
    ///
    /// ```python
    /// >>> [(match.key, match.jaccard) for match in store.query("the night tram runs again from friday on")]
    /// [('tram', 1.0), ('trams', 1.0)]
    /// >>> store.query(["the night tram runs again from friday on", "a crane"])["row"]
    /// [0, 0]
    /// ```
    #[pyo3(signature = (texts, /, *, text=None, threshold=None, limit=None, progress=None, containment=None, shortest=20, ignore=None, nearest=None, exhaustive=false))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn query<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = arguments::given_text)] text: Option<Vec<String>>,
        #[pyo3(from_py_with = arguments::threshold)] threshold: Option<f64>,
        #[pyo3(from_py_with = arguments::limit)] limit: Option<usize>,
        progress: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = arguments::containment)] containment: Option<f64>,
        #[pyo3(from_py_with = arguments::shortest)] shortest: usize,
        ignore: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = arguments::nearest)] nearest: Option<usize>,
        #[pyo3(from_py_with = arguments::exhaustive)] exhaustive: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        check_limit(limit, nearest)?;
        let store = self.opened()?;
        let asked = QueryOptions {
            threshold,
            limit,
            containment,
            shortest,
            ignored: passages::ignored(py, &store, ignore)?,
            nearest,
            exhaustive,
        };
        let found = if let Ok(one) = texts.cast::<PyString>() {
            query::one_text(py, &store, arguments::given("text", one)?, asked)?
        } else {
            let told = ProgressCallback::new(progress, "texts")?;
            let rows = RowSource::texts("texts", texts, text.unwrap_or_else(usual_text))?;
            let found = query::many(py, &store, rows, asked, told)?;
            Bound::new(py, found)?.into_any()
        };
        if ignore.is_none() && nearest.is_none() && !exhaustive {
            warn_of_threshold(py, &store, threshold, REINDEX)?;
        }
        Ok(found)
    }

    /// The passages that texts share with stored documents, word for word, as a table: for each text the longest first.
    ///
    /// The columns are the number of the text (`row`), `key`, the number of `words`, the number of its `first` word in the
    /// text, the `line` in which it begins, its bytes in UTF-8 (`byte_start`, `byte_end`), the number of its first word in
    /// the document (`place`, None if it is not known), and the number of `documents` that have all of it. Words are counted
    /// from 0, lines from 1. Of a passage that is `common`, as of a licence, only a few of the documents are listed, and at
    /// least `documents` share some of it; `all` compares them all. Every passage of at least the store's `passage` words is
    /// found; `at_least` asks for longer or, by chance, shorter ones, and `gap` joins passages between which the text has
    /// at most as many other words. Raises `errors.InvalidQuery` if the store finds none.
    /// Passages have nothing of the texts in `ignore`.
    ///
    /// ```python
    /// >>> found = store.passages(["They say that the night tram runs again soon."])
    /// >>> found["key"], found["words"]
    /// (['tram', 'trams'], [5, 5])
    /// ```
    #[pyo3(signature = (texts, /, *, text=None, at_least=None, gap=0, limit=None, all=false, progress=None, ignore=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn passages<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = arguments::given_text)] text: Option<Vec<String>>,
        at_least: Option<u32>,
        gap: u32,
        #[pyo3(from_py_with = arguments::limit)] limit: Option<usize>,
        all: bool,
        progress: Option<&Bound<'py, PyAny>>,
        ignore: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Table> {
        let store = self.opened()?;
        let asked = PassageOptions {
            at_least,
            gap,
            limit,
            all,
            ignored: passages::ignored(py, &store, ignore)?,
        };
        let told = ProgressCallback::new(progress, "texts")?;
        let rows = RowSource::texts("texts", texts, text.unwrap_or_else(usual_text))?;
        passages::many(py, &store, rows, asked, told)
    }

    /// The passages that most documents have, as a table: the number of `documents`, the number of `words`, the `text`, and
    /// the `keys` of at most three documents.
    ///
    /// A passage has at least `at_least` words, the store's `passage` by default. The store keeps no texts: they are looked
    /// up in `texts`, an iterable or a table, or in the files that the store names; of those that are not found, the
    /// passages are missing. What fewer than `min_documents` have is left out.
    ///
    /// ```python
    /// >>> texts = ["The night tram runs again from Friday on.", "The night tram runs again from Friday on!"]
    /// >>> store.common(texts=texts, min_documents=2)[0]["keys"]
    /// ['tram', 'trams']
    /// ```
    #[pyo3(signature = (*, limit=20, at_least=None, min_documents=5, texts=None))]
    fn common(
        &self,
        py: Python<'_>,
        limit: usize,
        at_least: Option<u32>,
        min_documents: u64,
        texts: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Table> {
        arguments::at_least_one("limit", Some(limit))?;
        let asked = (limit, at_least, min_documents);
        passages::common(py, &self.opened()?, asked, texts)
    }

    /// Documents similar to a stored one, without that document, the most similar first. The options are those of `query`.
    ///
    /// ```python
    /// >>> [match.key for match in store.like("tram")]
    /// ['trams']
    /// ```
    #[pyo3(signature = (key, /, *, threshold=None, limit=None, containment=None, shortest=20, ignore=None, nearest=None, exhaustive=false))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn like<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = arguments::key_of)] key: String,
        #[pyo3(from_py_with = arguments::threshold)] threshold: Option<f64>,
        #[pyo3(from_py_with = arguments::limit)] limit: Option<usize>,
        #[pyo3(from_py_with = arguments::containment)] containment: Option<f64>,
        #[pyo3(from_py_with = arguments::shortest)] shortest: usize,
        ignore: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = arguments::nearest)] nearest: Option<usize>,
        #[pyo3(from_py_with = arguments::exhaustive)] exhaustive: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        check_limit(limit, nearest)?;
        let store = self.opened()?;
        let asked = QueryOptions {
            threshold,
            limit,
            containment,
            shortest,
            ignored: passages::ignored(py, &store, ignore)?,
            nearest,
            exhaustive,
        };
        let found = query::one(py, &store, &asked.of(Query::key(&key)))?;
        if ignore.is_none() && nearest.is_none() && !exhaustive {
            warn_of_threshold(py, &store, threshold, REINDEX)?;
        }
        Ok(found)
    }

    /// The document of a key, or None.
    ///
    /// ```python
    /// >>> store.get("tram").shingles
    /// 4
    /// >>> store.get("nobody") is None
    /// True
    /// ```
    fn get<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = arguments::key_of)] key: String,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.document(py, &key)
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = arguments::key_of)] key: String,
    ) -> PyResult<Bound<'py, PyAny>> {
        let found = self.document(py, &key)?;
        found.ok_or_else(|| raised(py, &Error::NoSuchDocument { key }))
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(key) = arguments::key_of(key) else {
            return Ok(false);
        };
        let store = self.opened()?;
        let found = py.detach(|| store.get(&key));
        Ok(found.map_err(|error| raised(py, &error))?.is_some())
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let store = self.opened()?;
        let stats = py.detach(|| store.stats());
        let stats = stats.map_err(|error| raised(py, &error))?;
        Ok(usize::try_from(stats.documents)?)
    }

    /// A store is true even if it is empty.
    #[expect(clippy::unused_self, reason = "Python calls it on an object")]
    fn __bool__(&self) -> bool {
        true
    }

    fn __delitem__(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arguments::key_of)] key: String,
    ) -> PyResult<()> {
        if self.removed(py, vec![key.clone()])? == 1 {
            return Ok(());
        }
        Err(raised(py, &Error::NoSuchDocument { key }))
    }

    /// Removes documents, one key or an iterable of keys, with one commit; returns how many of them were stored.
    ///
    /// Concurrent threads that remove one key each share a commit.
    ///
    /// ```python
    /// >>> store.remove(["tram", "nobody"])
    /// 1
    /// ```
    fn remove(&self, py: Python<'_>, keys: &Bound<'_, PyAny>) -> PyResult<u64> {
        self.removed(py, arguments::keys(keys)?)
    }

    /// Notes that a document was met again today, unchanged: moves its `last_seen`. Returns whether it is stored.
    /// Concurrent threads share a commit, and nothing is written if it was met today.
    ///
    /// ```python
    /// >>> store.touch("tram"), store.touch("nobody")
    /// (True, False)
    /// ```
    #[pyo3(signature = (key, /))]
    fn touch(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arguments::key_of)] key: String,
    ) -> PyResult<bool> {
        self.shared(py, |store| store.touch(&key))
    }

    /// Stores a text under a key, in place of the key's earlier text and whatever it resembles. Returns a `Verdict`:
    /// `added`, `updated` or `unchanged`. It is durable when this returns; concurrent threads share a commit.
    ///
    /// ```python
    /// >>> store.replace("tram", "The night tram has stopped.").verdict
    /// 'updated'
    /// ```
    #[pyo3(signature = (key, text, /))]
    fn replace<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = arguments::key_of)] key: String,
        #[pyo3(from_py_with = arguments::text_of)] text: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let outcome = self.shared(py, |store| store.replace(key, text))?;
        results::judged(py, &outcome)
    }

    /// Gives the document `old` the key `new`; returns whether it was stored. An earlier document `new` is replaced. It
    /// is durable when this returns; concurrent threads share a commit.
    ///
    /// ```python
    /// >>> store.rename("tram", "2026/tram"), sorted(store)
    /// (True, ['2026/tram', 'trams'])
    /// ```
    #[pyo3(signature = (old, new, /))]
    fn rename(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arguments::key_of)] old: String,
        #[pyo3(from_py_with = arguments::key_of)] new: String,
    ) -> PyResult<bool> {
        self.shared(py, |store| store.rename(&old, &new))
    }

    /// The keys of all documents, in the order of their UTF-8 bytes.
    fn __iter__(&self, py: Python<'_>) -> PyResult<Iterating> {
        Iterating::begin(py, &self.opened()?, "", true)
    }

    /// All documents whose keys begin with `prefix`, in the order of their keys.
    ///
    /// ```python
    /// >>> [document.key for document in store.documents(prefix="trams")]
    /// ['trams']
    /// ```
    #[pyo3(signature = (prefix=""))]
    fn documents(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arguments::prefix)] prefix: &str,
    ) -> PyResult<Iterating> {
        Iterating::begin(py, &self.opened()?, prefix, false)
    }

    /// The number of the process that has the right to write now, if one has it and that is known.
    ///
    /// ```python
    /// >>> store.holder() is None
    /// True
    /// ```
    fn holder(&self, py: Python<'_>) -> PyResult<Option<u32>> {
        let holder = self.opened()?.holder();
        let holder = holder.map_err(|error| raised(py, &error))?;
        Ok(holder.map(|holder| holder.process))
    }

    /// Counts and sizes.
    ///
    /// ```python
    /// >>> store.stats().documents
    /// 2
    /// ```
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let store = self.opened()?;
        let stats = py.detach(|| store.stats());
        results::stats(py, &stats.map_err(|error| raised(py, &error))?)
    }

    /// Every pair of similar documents, as a stream: `key_a`, `key_b`, `jaccard`, `estimate`, `error`, `exact_copy`.
    /// `between` takes two prefixes: one key of each pair begins with the first, the other key with the second.
    /// With a `threshold` below the store's, a warning says how many pairs are missed; `exhaustive` misses none. With
    /// `containment`, the first text of a pair has at least this share of its shingles in the second, which is the last
    /// column; texts of fewer than `shortest` tokens are left out.
    /// Texts are compared without what those in `ignore` have; no pair is then missed, either. `memory` is the number of
    /// bytes for `exhaustive` and `containment`, besides 30 a text, 1 GiB by default; less takes longer.
    ///
    /// ```python
    /// >>> [(pair["key_a"], pair["key_b"], pair["jaccard"]) for pair in store.pairs()]
    /// [('tram', 'trams', 1.0)]
    /// ```
    #[pyo3(signature = (*, threshold=None, between=None, fold_copies=false, exhaustive=false, containment=None, shortest=20, ignore=None, memory=None))]
    #[expect(clippy::too_many_arguments, reason = "they are named in Python")]
    fn pairs(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arguments::threshold)] threshold: Option<f64>,
        #[pyo3(from_py_with = arguments::between)] between: Option<(String, String)>,
        #[pyo3(from_py_with = arguments::fold_copies)] fold_copies: bool,
        #[pyo3(from_py_with = arguments::exhaustive)] exhaustive: bool,
        #[pyo3(from_py_with = arguments::containment)] containment: Option<f64>,
        #[pyo3(from_py_with = arguments::shortest)] shortest: usize,
        ignore: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = arguments::memory)] memory: Option<u64>,
    ) -> PyResult<Batches> {
        let mut query = dedupdb::groups::PairQuery::new()
            .fold_copies(fold_copies)
            .exhaustive(exhaustive)
            .shortest(shortest);
        if let Some(least) = containment {
            query = query.containment(least);
        }
        if let Some(threshold) = threshold {
            query = query.threshold(threshold);
        }
        if let Some((a, b)) = between {
            query = query.between(a, b);
        }
        if let Some(bytes) = memory {
            query = query.memory(bytes);
        }
        let store = self.opened()?;
        let ignored = passages::ignored(py, &store, ignore)?;
        if let Some(ignored) = &ignored {
            query = query.ignore(ignored);
        }
        let pairs = groups::pairs(py, store.clone(), query, containment.is_some())?;
        if !exhaustive && ignored.is_none() {
            warn_of_threshold(py, &store, threshold, EXHAUSTIVE)?;
        }
        Ok(pairs)
    }

    /// Groups of similar documents, as a stream with a row for each member: the number of the `cluster`, from 1, its
    /// `size`, `representative`, `key`, and how similar it is to the representative. `linkage` is `connected` or
    /// `representative`. With `exhaustive`, every pair that reaches the threshold is a link. With `containment`, each text
    /// is below the largest one that contains it, and the last column is the share of its shingles that the
    /// representative has; `memory` is the number of bytes for either, as in `pairs`.
    ///
    /// ```python
    /// >>> [(member["cluster"], member["key"]) for member in store.clusters()]
    /// [(1, 'tram'), (1, 'trams')]
    /// ```
    #[pyo3(signature = (*, threshold=None, linkage="connected", min_size=2, exhaustive=false, containment=None, shortest=20, memory=None))]
    #[expect(clippy::too_many_arguments, reason = "they are named in Python")]
    fn clusters(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arguments::threshold)] threshold: Option<f64>,
        #[pyo3(from_py_with = arguments::linkage)] linkage: &str,
        #[pyo3(from_py_with = arguments::min_size)] min_size: usize,
        #[pyo3(from_py_with = arguments::exhaustive)] exhaustive: bool,
        #[pyo3(from_py_with = arguments::containment)] containment: Option<f64>,
        #[pyo3(from_py_with = arguments::shortest)] shortest: usize,
        #[pyo3(from_py_with = arguments::memory)] memory: Option<u64>,
    ) -> PyResult<Batches> {
        let store = self.opened()?;
        let mut query = groups::query(linkage)?
            .min_size(min_size)
            .exhaustive(exhaustive)
            .shortest(shortest);
        if let Some(threshold) = threshold {
            query = query.threshold(threshold);
        }
        if let Some(least) = containment {
            query = query.containment(least);
        }
        if let Some(bytes) = memory {
            query = query.memory(bytes);
        }
        let clusters = groups::clusters(py, store.clone(), query, containment.is_some())?;
        if !exhaustive {
            warn_of_threshold(py, &store, threshold, EXHAUSTIVE)?;
        }
        Ok(clusters)
    }

    /// Moves the store to the last commit of all processes; returns whether there was a newer one.
    ///
    /// ```python
    /// >>> store.refresh()
    /// False
    /// ```
    fn refresh(&self, py: Python<'_>) -> PyResult<bool> {
        let store = self.opened()?;
        py.detach(|| store.refresh())
            .map_err(|error| raised(py, &error))
    }

    /// Changes the parameters, while the store is in use; returns whether there was anything to change.
    ///
    /// ```python
    /// >>> store.reindex(permutations=256), store.schema["permutations"]
    /// (True, 256)
    /// ```
    #[pyo3(signature = (*, progress=None, **parameters))]
    fn reindex(
        &self,
        py: Python<'_>,
        progress: Option<&Bound<'_, PyAny>>,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<bool> {
        let (store, _entered) = self.entered(py)?;
        let schema = schema::reindexed(py, &store.schema(), parameters)?;
        rebuilt(py, store, move || Rebuild::reindex(schema), progress)
    }

    /// Discards an unfinished `reindex` or `compact`; returns whether there was one.
    ///
    /// ```python
    /// >>> store.cancel_rebuild()
    /// False
    /// ```
    fn cancel_rebuild(&self, py: Python<'_>) -> PyResult<bool> {
        let (store, _entered) = self.entered(py)?;
        py.detach(|| store.cancel_rebuild())
            .map_err(|error| raised(py, &error))
    }

    /// Frees the space of removed documents.
    ///
    /// ```python
    /// >>> store.compact()
    /// True
    /// ```
    #[pyo3(signature = (*, progress=None))]
    fn compact(&self, py: Python<'_>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        let (store, _entered) = self.entered(py)?;
        rebuilt(py, store, Rebuild::compact, progress)
    }

    /// Adds all documents of another store with the same parameters, as if their texts were added; returns how many it
    /// has.
    ///
    /// ```python
    /// >>> other = dedupdb.open("other", **store.schema)
    /// >>> other.add(["crane"], ["Who painted the crane in the harbour?"]).added
    /// 1
    /// >>> store.merge(other), len(store)
    /// (1, 3)
    /// ```
    fn merge(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<u64> {
        let Ok(other) = other.cast::<PyStore>() else {
            let class = other.get_type().name()?;
            let message = format!("other: a Store, not {class}");
            return Err(PyTypeError::new_err(message));
        };
        let (store, _entered) = self.entered(py)?;
        let other = other.get().opened()?;
        let work = move |progress: &Progress| store.watched(progress).merge(&other, MERGE_BYTES);
        let merged = waited(py, work)?.map_err(|error| raised(py, &error))?;
        Ok(merged.documents())
    }

    /// Copies the store into a folder, as of its last commit; returns the copy's `Stats`.
    ///
    /// ```python
    /// >>> store.backup("copy").documents
    /// 2
    /// ```
    #[pyo3(signature = (path, *, progress=None))]
    fn backup<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = arguments::path)] path: PathBuf,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let store = self.opened()?;
        let mut told = ProgressCallback::new(progress, "steps")?;
        let work = move |progress: &Progress| store.watched(progress).backup(&path);
        let copied = watched(py, &mut told, work)?;
        told.end(py)?;
        results::stats(py, &copied.map_err(|error| raised(py, &error))?)
    }

    /// Checks every byte that holds data, as of the last commit, and returns a `Report`. The store may be in use.
    ///
    /// ```python
    /// >>> store.check().problems
    /// []
    /// ```
    #[pyo3(signature = (*, progress=None))]
    fn check<'py>(
        &self,
        py: Python<'py>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut told = ProgressCallback::new(progress, "steps")?;
        let (_open, _entered) = self.entered(py)?;
        let slot = self.slot.clone();
        let work = move |progress: &Progress| {
            let options = slot.settings().options().progress(progress);
            options.check(&slot.settings().path)
        };
        let checked = watched(py, &mut told, work)?;
        told.end(py)?;
        results::report(py, &checked.map_err(|error| raised(py, &error))?)
    }

    /// Closes the store. Streams from it keep it open until they end.
    ///
    /// ```python
    /// >>> store.close()
    /// >>> store.closed
    /// True
    /// ```
    fn close(&self, py: Python<'_>) {
        self.slot.close(py);
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyResult<PyRef<'_, Self>> {
        this.opened()?;
        Ok(this)
    }

    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, py: Python<'_>, _raised: &Bound<'_, PyTuple>) {
        self.close(py);
    }

    /// Supports pickling of handles that are open for reading.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if !self.settings().read_only {
            return Err(PyTypeError::new_err(
                "a store that is open for writing belongs to one process and cannot be pickled; \
                 open it with read_only=True",
            ));
        }
        let again = py.import("dedupdb")?.getattr("_opened_again")?;
        let arguments = (self.path(), self.schema(py)?);
        (again, arguments).into_pyobject(py).map(Bound::into_any)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let path = self.settings().path.display();
        let mode = if self.settings().read_only {
            " (read-only)"
        } else {
            ""
        };
        match self.opened() {
            Err(_) if self.closed() => format!("<dedupdb.Store {:?} (closed)>", path.to_string()),
            Err(_) => format!("<dedupdb.Store {:?} (being checked)>", path.to_string()),
            Ok(store) => {
                let documents = py.detach(|| store.stats()).map(|stats| stats.documents);
                let documents = documents
                    .map_or_else(|error| error.to_string(), |all| format!("{all} documents"));
                let schema = store.schema();
                format!(
                    "<dedupdb.Store {:?}{mode}: {documents}, threshold {}, {} permutations>",
                    path.to_string(),
                    schema.threshold(),
                    schema.permutations()
                )
            }
        }
    }
}

impl PyStore {
    fn document<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let store = self.opened()?;
        let found = py.detach(|| store.get(key));
        let found = found.map_err(|error| raised(py, &error))?;
        found.map(|found| results::document(py, &found)).transpose()
    }

    fn insert_one<'py>(
        &self,
        py: Python<'py>,
        key: &str,
        text: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let outcome = self.shared(py, |store| store.insert_unless_duplicate(key, text))?;
        results::judged(py, &outcome)
    }

    /// Changes the store by a call that shares commits with those of other threads.
    fn shared<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&dedupdb::Store) -> dedupdb::Result<T> + Send,
    ) -> PyResult<T> {
        let (store, _entered) = self.entered(py)?;
        py.detach(|| call(&store))
            .map_err(|error| raised(py, &error))
    }

    fn removed(&self, py: Python<'_>, keys: Vec<String>) -> PyResult<u64> {
        if let [key] = &keys[..] {
            return self.shared(py, |store| store.remove(key)).map(u64::from);
        }
        let (store, _entered) = self.entered(py)?;
        let work = move |_: &Progress| -> dedupdb::Result<u64> {
            let mut writer = store.writer()?;
            let mut removed = 0;
            for key in &keys {
                removed += u64::from(writer.remove(key)?);
            }
            writer.commit()?;
            Ok(removed)
        };
        waited(py, work)?.map_err(|error| raised(py, &error))
    }
}

/// Refuses two numbers of documents.
fn check_limit(limit: Option<usize>, nearest: Option<usize>) -> PyResult<()> {
    if nearest.is_some() && limit.is_some() {
        return Err(PyValueError::new_err(
            "limit: nearest is the number of documents; leave one of them out",
        ));
    }
    Ok(())
}

fn names(key: Option<String>, text: Option<Vec<String>>) -> ColumnNames {
    ColumnNames {
        key: Some(key.map_or(KeyColumn::Usual, KeyColumn::Named)),
        texts: text.unwrap_or_else(usual_text),
        are_nested: true,
        ranked: Vec::new(),
    }
}
