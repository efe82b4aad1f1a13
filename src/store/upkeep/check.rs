//! A full check of a store: every byte that holds data, and whether the parts agree.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::codec::words;
use crate::error::{Error, Result};
use crate::pool::Pool;
use crate::progress::Progress;
use crate::storage::{
    BucketList, BucketLists, ByAge, ColumnKind, DocumentRow, Filter, LevelAge, Posting, RunRecord,
    Snapshot, SoundCommit,
};
use crate::store::compare::StoreSketcher;
use crate::store::handle::{Options, Store};
use crate::text::ShingleSet;

/// The number of contents that one thread checks at a time.
const CHUNK: u32 = 4096;

/// At most this number of problems of one kind is listed for a file.
const LISTED: usize = 10;

/// The results of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckReport {
    /// Documents checked.
    pub documents: u64,
    /// Contents checked, including those that no document names any more.
    pub contents: u64,
    /// Postings checked, in all bucket tables together.
    pub postings: u64,
    /// The youngest contents, which have no postings in tables yet. Opening a store computes these postings from
    /// the signatures, which are checked.
    pub recent: u64,
    /// The problems, in the order in which they were found.
    pub problems: Vec<Problem>,
}

impl CheckReport {
    /// Returns whether no problem was found.
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }
}

/// A problem with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The file.
    pub file: PathBuf,
    /// The problem.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file.display(), self.what)
    }
}

impl Store {
    /// Checks the last commit of the store in `folder`. Other processes may have it open; they wait to write while the
    /// check compares the checksums of the index.
    ///
    /// Compares every checksum, computes every signature again from its shingles and every posting from its
    /// signature, and compares documents with the contents that they name. It changes nothing, except that it first
    /// repairs an index that was not closed cleanly; if the store may only be read, or shares files with a copy that was
    /// made with hard links, it does so in memory.
    ///
    /// # Errors
    ///
    /// Those of [`Store::open`], if the store is too damaged to be opened.
    pub fn check(folder: impl AsRef<Path>) -> Result<CheckReport> {
        Options::new().check(folder)
    }
}

impl Options {
    /// Checks the store in `folder`; see [`Store::check`].
    ///
    /// # Errors
    ///
    /// Those of [`Store::check`].
    pub fn check(&self, folder: impl AsRef<Path>) -> Result<CheckReport> {
        let folder = folder.as_ref();
        let sound = self.patiently(folder, || SoundCommit::open(folder, &self.wait))?;
        let snapshot = sound.snapshot.clone();
        let mut check = StoreCheck {
            sketcher: StoreSketcher::new(&snapshot.schema, &Arc::default())?,
            pool: Pool::new(self.threads),
            snapshot,
            progress: self.progress.clone(),
            report: CheckReport::default(),
        };
        check.progress.begin(check.steps());
        // First all checksums, because the other checks read what they protect.
        check.columns()?;
        let recent = check.snapshot.len - check.snapshot.recent.base();
        check.report.recent = recent.into();
        // The other checks would only repeat many times what a wrong checksum says.
        if check.report.is_clean() {
            let removed = check.catalog()?;
            check.contents()?;
            check.buckets(&removed)?;
        }
        self.progress.reach(self.progress.total());
        Ok(check.report)
    }
}

struct StoreCheck {
    snapshot: Snapshot,
    sketcher: StoreSketcher,
    pool: Pool,
    progress: Progress,
    report: CheckReport,
}

impl StoreCheck {
    /// One step for each content whose signature is computed, and one for a fixed number of postings.
    fn steps(&self) -> u64 {
        u64::from(self.snapshot.len) + self.lists() * self.list_steps()
    }

    fn lists(&self) -> u64 {
        BucketLists::of(&self.snapshot.schema).count().into()
    }

    fn list_steps(&self) -> u64 {
        /// Postings that are checked in about the time of one content.
        const POSTINGS: u64 = 20;
        1 + u64::from(self.snapshot.len) / POSTINGS
    }

    fn problem(&mut self, file: &Path, what: impl Into<String>) {
        self.report.problems.push(Problem {
            file: file.to_owned(),
            what: what.into(),
        });
    }

    /// Adds the first problems of a kind, and the number of further ones.
    fn problems(&mut self, file: &Path, found: Vec<String>) {
        let more = found.len().saturating_sub(LISTED);
        for what in found.into_iter().take(LISTED) {
            self.problem(file, what);
        }
        if more > 0 {
            self.problem(file, format!("and {more} more of this kind"));
        }
    }

    /// Compares the checksums of the columns' blocks.
    fn columns(&mut self) -> Result<()> {
        let snapshot = self.snapshot.clone();
        for kind in ColumnKind::ALL {
            let wrong = snapshot.wrong_blocks(kind)?;
            let path = snapshot.column(kind).path().to_owned();
            let found = wrong.into_iter().map(|bytes| {
                let Range { start, end } = bytes;
                format!("the checksum of its bytes {start} to {end} is wrong")
            });
            self.problems(&path, found.collect());
        }
        Ok(())
    }

    /// Compares documents, names and removed contents with each other; returns the removed ones.
    fn catalog(&mut self) -> Result<Vec<u32>> {
        let snapshot = self.snapshot.clone();
        let mut found = Vec::new();
        // Both directions: each name must lead to a document that has it, and there are as many documents as names.
        let mut named = vec![false; snapshot.len as usize];
        let mut names = 0_u64;
        let mut sources = BTreeSet::new();
        let runs = snapshot.tables.meta.runs;
        for name in snapshot.all_names()? {
            let (content, key) = name?;
            names += 1;
            match named.get_mut(content as usize) {
                Some(named) => *named = true,
                None => found.push(format!(
                    "{key:?} names content {content}, which is not there"
                )),
            }
            let row = snapshot.document(&key)?;
            found.extend(row.and_then(|row| wrong_run(runs, &key, row)));
            if let Some(row) = row.filter(|row| sources.insert(row.source))
                && row.source != 0
                && snapshot.source(row.source)?.is_none()
            {
                found.push(format!("the file that {key:?} came from has no name"));
            }
            if row.is_none_or(|row| row.content != content) {
                found.push(format!(
                    "{key:?} is not the document that names content {content}"
                ));
            }
        }
        self.report.documents = snapshot.documents()?;
        if names != self.report.documents {
            let documents = self.report.documents;
            found.push(format!(
                "{documents} documents and {names} names of contents"
            ));
        }
        let removed = snapshot.removed_contents()?;
        // A content has a name or was removed, and not both.
        for (content, named) in (0_u32..).zip(&named) {
            if *named == removed.binary_search(&content).is_ok() {
                let what = if *named {
                    "removed and named"
                } else {
                    "neither removed nor named"
                };
                found.push(format!("content {content} is {what}"));
            }
        }
        self.problems(snapshot.tables.path(), found);
        Ok(removed)
    }

    /// Computes the signature of every content again from its shingles.
    fn contents(&mut self) -> Result<()> {
        let snapshot = &self.snapshot;
        let len = snapshot.len;
        let chunks: Vec<Range<u32>> = (0..len.div_ceil(CHUNK))
            .map(|chunk| chunk * CHUNK..len.min((chunk + 1).saturating_mul(CHUNK)))
            .collect();
        let checked = self.pool.map(chunks, |chunk| {
            let mut found = Vec::new();
            self.progress.step(chunk.len() as u64)?;
            for content in chunk {
                found.extend(check_content(snapshot, &self.sketcher, content)?);
            }
            Ok(found)
        });
        let mut found = Vec::new();
        for chunk in checked {
            found.extend(chunk?);
        }
        self.report.contents = len.into();
        let path = self
            .snapshot
            .column(ColumnKind::Signatures)
            .path()
            .to_owned();
        self.problems(&path, found);
        Ok(())
    }

    /// Computes every posting again.
    fn buckets(&mut self, removed: &[u32]) -> Result<()> {
        let snapshot = &self.snapshot;
        let lists: Vec<u32> = (0..BucketLists::of(&snapshot.schema).count()).collect();
        let checked = self.pool.map(lists, |list| {
            let checked = check_list(snapshot, list, removed);
            self.progress.step(self.list_steps())?;
            checked
        });
        let (mut found, mut lacking) = (Vec::new(), ByAge::default());
        for list in checked {
            let list = list?;
            self.report.postings += list.postings;
            found.extend(list.found);
            for age in LevelAge::ALL {
                *lacking.of_mut(age) += list.lacking.of(age);
            }
        }
        let path = self.snapshot.tables.path().to_owned();
        self.problems(&path, found);
        let filters = self.snapshot.filters.clone();
        for (age, filter) in filters.all() {
            self.filter(filter, *lacking.of(age));
        }
        Ok(())
    }

    /// Reports a filter if it is damaged or lacks postings; `lacking` is their number.
    fn filter(&mut self, filter: &Filter, lacking: u64) {
        let damaged = filter.damaged();
        let what = match (lacking, damaged) {
            (0, 0) => return,
            (0, 1) => "a word of it is damaged, which only takes time".to_owned(),
            (0, _) => format!("{damaged} of its words are damaged, which only takes time"),
            (1, _) => {
                "it lacks a posting, so some documents similar to its text are not found".to_owned()
            }
            _ => format!(
                "it lacks {lacking} postings, so some documents similar to their texts are not found"
            ),
        };
        let remedy =
            "delete this file while nobody uses the store, and the next merge makes it again";
        self.problem(filter.path(), format!("{what}; {remedy}"));
    }
}

/// The problem with the run of a document, if there is one.
fn wrong_run(runs: RunRecord, key: &str, row: DocumentRow) -> Option<String> {
    let DocumentRow { run, content, .. } = row;
    if run > runs.last {
        let last = runs.last;
        return Some(format!(
            "{key:?} is of run {run}, and the last one was {last}"
        ));
    }
    (runs.is_open(run) && u64::from(content) < runs.first).then(|| {
        format!("{key:?} is of the open run, and its content {content} is older than that")
    })
}

/// The problem with the rows of a content, if there is one.
fn check_content(
    snapshot: &Snapshot,
    sketcher: &StoreSketcher,
    content: u32,
) -> Result<Option<String>> {
    let wrong = |what: &str| Ok(Some(format!("content {content}: {what}")));
    let signature = snapshot.kept_signature(content)?;
    if !snapshot.schema.keeps_shingles() {
        return Ok(None);
    }
    let mut shingles = ShingleSet::default();
    match snapshot.shingles(content, &mut shingles) {
        Ok(()) => {}
        // Damage to shingles is a problem to list, and any other error ends the check.
        Err(Error::Damaged { reason, .. }) => return wrong(&reason),
        Err(error) => return Err(error),
    }
    if !shingles.is_ordered() {
        return wrong("its shingles are not in order");
    }
    let is_own = |signature| sketcher.signature(shingles.as_slice()) == signature;
    if !signature.is_none_or(is_own) {
        return wrong("its signature is not that of its shingles");
    }
    // Their order is that of the text, which a store cannot check.
    let fingerprints = snapshot.fingerprints(content)?;
    let is_shingle = |hash: u32| shingles.as_slice().binary_search(&hash).is_ok();
    if !fingerprints.len().is_multiple_of(size_of::<u32>()) || !words(fingerprints).all(is_shingle)
    {
        return wrong("its fingerprints are not among its shingles");
    }
    Ok(None)
}

/// The results for a list of buckets.
struct CheckedList {
    postings: u64,
    /// The problems with the postings.
    found: Vec<String>,
    /// Postings that the filters lack.
    lacking: ByAge<u64>,
}

/// The number of postings that the tables of a list should have, by the rows.
fn expected_postings(snapshot: &Snapshot, list: BucketList, removed: &[u32]) -> Result<u64> {
    let (mut hashes, mut expected) = (Vec::new(), 0);
    let named = |content: &u32| removed.binary_search(content).is_err();
    for content in (0..snapshot.recent.base()).filter(named) {
        hashes.clear();
        snapshot.for_each_hash(content, list, |hash| hashes.push(hash))?;
        hashes.sort_unstable();
        hashes.dedup();
        expected += hashes.len() as u64;
    }
    Ok(expected)
}

/// Counts the postings of a list of buckets and collects its problems.
fn check_list(snapshot: &Snapshot, list: u32, removed: &[u32]) -> Result<CheckedList> {
    let kind = BucketLists::of(&snapshot.schema).get(list);
    let name = match kind {
        BucketList::Copies => "the copies".to_owned(),
        BucketList::Band(band) => format!("band {band}"),
        BucketList::Fingerprints { .. } => "the fingerprints".to_owned(),
    };
    let banded = snapshot.recent.base();
    // What the rows say, which decides: the tables are made of them.
    let expected = expected_postings(snapshot, kind, removed)?;
    let old_end = LevelAge::Old.end(&snapshot.tables.meta);
    let mut lacking = ByAge::default();
    let (mut count, mut dead, mut found, mut failed) = (0, 0, Vec::new(), None);
    let mut previous: Option<Posting> = None;
    let mut look = |posting: Posting| {
        let content = posting.id();
        let mut has_it = false;
        // A posting must follow from the row of its content.
        if content < banded {
            let look = |hash| has_it |= hash == posting.hash();
            failed = snapshot
                .for_each_hash(content, kind, look)
                .err()
                .or(failed.take());
        }
        if !has_it {
            found.push(format!("{name}: content {content} is in a wrong bucket"));
        }
        let is_removed = removed.binary_search(&content).is_ok();
        // Postings of removed contents may stay until a merge, but no more of them than the index says.
        *(if is_removed { &mut dead } else { &mut count }) += 1;
        // The filter must let the posting pass. Which filter it is depends on the age of its level.
        let holders = snapshot.filters.holders(list, posting.hash());
        let is_old = u64::from(content) < old_end;
        let age = if is_old {
            LevelAge::Old
        } else {
            LevelAge::Young
        };
        *lacking.of_mut(age) += u64::from(!holders.of(age));
        // Postings are unique, so equal ones are as wrong as descending ones.
        if previous.is_some_and(|previous| previous >= posting) {
            found.push(format!("{name}: its postings are not in order"));
        }
        previous = Some(posting);
    };
    snapshot.for_each_in_list(list, |postings| {
        postings.iter().copied().for_each(&mut look);
    })?;
    if let Some(error) = failed {
        return Err(error);
    }
    let posted = snapshot.tables.meta.posted();
    if list == 0 && count != posted {
        found.push(format!("{name}: {count} postings and a count of {posted}"));
    }
    if count != expected {
        found.push(format!(
            "{name}: {count} postings, and {expected} of the contents"
        ));
    }
    let most = snapshot.tables.meta.removed();
    if dead > most && !matches!(kind, BucketList::Fingerprints { .. }) {
        found.push(format!(
            "{name}: {dead} postings of removed contents, of which at most {most} have any"
        ));
    }
    Ok(CheckedList {
        postings: count + dead,
        found,
        lacking,
    })
}
