//! Counts and sizes of a store.

use std::cmp::Reverse;
use std::time::SystemTime;

use crate::clock;
use crate::error::{Holder, Result};
use crate::storage::{Snapshot, holder};
use crate::store::handle::Store;

/// Counts and sizes of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// The number of documents.
    pub documents: u64,
    /// The number of distinct texts that at least one document names.
    pub contents: u64,
    /// The number of distinct texts that no document names any more, and whose space is not freed yet.
    pub removed: u64,
    /// The approximate number of bytes that these texts take. A compaction frees them, and unused pages of the index; see
    /// [`Store::reclaimable_bytes`].
    pub removed_bytes: u64,
    /// The number of distinct texts that [passages](crate::Store::passages) are not looked for in, because the store got
    /// fingerprints without having the texts.
    pub unfingerprinted: u64,
    /// Whether a run is open, which means not published yet; see [`Writer::begin_run`](crate::Writer::begin_run).
    pub has_open_run: bool,
    /// The files in the store's folder, each with the bytes that it takes.
    pub files: Vec<(String, u64)>,
    /// The number of the last commit. Each commit, of any process, gets the next one.
    pub commit: u64,
    /// When that was, to the second; of a store without a commit, when it was created.
    pub committed: SystemTime,
    /// The number of the generation, which a rebuild raises.
    pub generation: u64,
    /// The number of the file format.
    pub format: u64,
}

/// A bucket: the contents with one band hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bucket {
    /// The band, from 0.
    pub band: u32,
    /// The band hash.
    pub hash: u32,
    /// The number of contents in the bucket.
    pub contents: u64,
}

impl Stats {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a number is neither negative nor larger"
    )]
    pub(crate) fn of(snapshot: &Snapshot) -> Result<Stats> {
        let (removed, files) = (snapshot.removed()?, snapshot.files()?);
        let bytes: u64 = files.iter().map(|(_, bytes)| bytes).sum();
        let share = removed as f64 / f64::from(snapshot.len.max(1));
        let meta = &snapshot.tables.meta;
        Ok(Stats {
            documents: snapshot.documents()?,
            contents: u64::from(snapshot.len) - removed,
            removed,
            removed_bytes: (bytes as f64 * share) as u64,
            unfingerprinted: unfingerprinted(snapshot)?,
            has_open_run: meta.runs.open != 0,
            files,
            commit: meta.commit,
            committed: clock::at_seconds(meta.committed.cast_signed()),
            generation: meta.generation,
            format: meta.format,
        })
    }
}

/// The contents without fingerprints that a document names.
fn unfingerprinted(snapshot: &Snapshot) -> Result<u64> {
    let mut lacking = snapshot.tables.meta.unfingerprinted;
    if lacking > 0 {
        // Removed contents count until a compaction drops them.
        for content in snapshot.removed_contents()? {
            let lacks = snapshot.content(content)?.shingle_count > 0
                && snapshot.fingerprints(content)?.is_empty();
            lacking = lacking.saturating_sub(lacks.into());
        }
    }
    Ok(lacking)
}

impl Store {
    /// Returns counts and sizes, as of the last commit. It reads no contents but removed ones without fingerprints, so it
    /// takes no longer for a large store.
    ///
    /// # Errors
    ///
    /// Those of reading the store.
    pub fn stats(&self) -> Result<Stats> {
        Stats::of(&*self.published()?)
    }

    /// Returns the process that has the right to write to the store now, if one has it and that is known.
    ///
    /// ```
    /// # use dedupdb::{Schema, Store};
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("store"), &Schema::default())?;
    /// assert_eq!(store.holder()?, None);
    /// let mut writer = store.writer()?;
    /// writer.add("one", "a text")?;
    /// assert_eq!(store.holder()?.unwrap().process, std::process::id());
    /// writer.commit()?;
    /// assert_eq!(store.holder()?, None);
    /// assert_eq!(store.stats()?.commit, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OtherProcess`](crate::Error::OtherProcess).
    pub fn holder(&self) -> Result<Option<Holder>> {
        self.shared.process.check()?;
        Ok(holder(&self.shared.place))
    }

    /// Returns the approximate number of bytes that a compaction would free: those of removed contents and of unused
    /// pages of the index.
    ///
    /// Reads all pages of the index: less than a second for each ten million contents.
    ///
    /// # Errors
    ///
    /// Those of reading the store.
    pub fn reclaimable_bytes(&self) -> Result<u64> {
        self.published()?.reclaimable()
    }

    /// Returns when the oldest and the newest document were added, which is [`Document::added`](crate::Document::added);
    /// `None` without documents.
    ///
    /// Reads all documents.
    ///
    /// # Errors
    ///
    /// Those of reading the store.
    pub fn oldest_and_newest(&self) -> Result<Option<[SystemTime; 2]>> {
        let mut ends = None;
        for document in self.documents()? {
            let added = document?.added;
            let [oldest, newest] = ends.unwrap_or([added; 2]);
            ends = Some([oldest.min(added), newest.max(added)]);
        }
        Ok(ends)
    }

    /// Returns the largest buckets in descending order; ties are sorted by band and hash. Buckets of one content are
    /// left out.
    ///
    /// Reads all postings: about a second for each ten million contents.
    ///
    /// # Errors
    ///
    /// Those of reading the store.
    pub fn largest_buckets(&self, limit: usize) -> Result<Vec<Bucket>> {
        let snapshot = self.published()?;
        let removed = snapshot.removed_contents()?;
        let bands: Vec<u32> = (0..snapshot.schema.bands().bands()).collect();
        self.progress.begin(bands.len() as u64);
        let found = self.shared.pool.map(bands, |band| {
            let mut largest = LargestBuckets::new(limit);
            snapshot.for_each_bucket(band + 1, &removed, |hash, contents| {
                largest.offer(Bucket {
                    band,
                    hash,
                    contents,
                });
            })?;
            self.progress.step(1)?;
            Ok(largest)
        });
        let mut largest = LargestBuckets::new(limit);
        for band in found {
            band?.buckets.into_iter().for_each(|b| largest.offer(b));
        }
        Ok(largest.finish())
    }
}

/// Keeps the largest buckets that it is offered.
struct LargestBuckets {
    limit: usize,
    buckets: Vec<Bucket>,
}

impl LargestBuckets {
    fn new(limit: usize) -> LargestBuckets {
        LargestBuckets {
            limit,
            buckets: Vec::new(),
        }
    }

    fn offer(&mut self, bucket: Bucket) {
        if bucket.contents >= 2 {
            self.buckets.push(bucket);
            if self.buckets.len() >= self.limit.saturating_mul(2).max(64) {
                self.cut();
            }
        }
    }

    fn cut(&mut self) {
        self.buckets
            .sort_unstable_by_key(|b| (Reverse(b.contents), b.band, b.hash));
        self.buckets.truncate(self.limit);
    }

    fn finish(mut self) -> Vec<Bucket> {
        self.cut();
        self.buckets
    }
}

#[cfg(test)]
mod tests {
    use crate::{Schema, Store, clock};

    #[test]
    fn the_oldest_and_the_newest_document_are_those_in_the_store() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path().join("store"), &Schema::default()).unwrap();
        assert_eq!(store.oldest_and_newest().unwrap(), None);
        let check = |oldest, newest| {
            let times = [oldest, newest].map(clock::at_seconds);
            assert_eq!(store.oldest_and_newest().unwrap(), Some(times));
        };
        for (key, time) in [("a", 300), ("b", 100), ("c", 200)] {
            clock::set(time);
            let mut writer = store.writer().unwrap();
            writer.add(key, format!("the night tram to {key}")).unwrap();
            writer.commit().unwrap();
        }
        check(100, 300);
        store.remove("b").unwrap();
        check(200, 300);
    }
}
