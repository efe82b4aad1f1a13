//! Merging another store.

use super::judge::Policy;
use super::writer::Writer;
use crate::clock;
use crate::codec::words;
use crate::error::{Error, Result};
use crate::storage::{DocumentRow, IdScope, NewContent, Snapshot};
use crate::store::compare::PublishedCommit;
use crate::store::handle::Store;
use crate::store::offer::{Change, Input, PreparedInput, Relation};

/// The number of documents that are looked up at a time.
const BATCH: usize = 1 << 12;

/// The result of merging another store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MergeSummary {
    /// The number of documents with a new key.
    pub added: u64,
    /// The number of documents that replaced another text of the same key.
    pub updated: u64,
    /// The keys of the first of these documents, at most [`MergeSummary::MOST_KEYS`].
    pub updated_keys: Vec<String>,
    /// The number of documents that already existed with the same text.
    pub unchanged: u64,
    /// The number of added and updated documents whose text was already stored.
    pub copies: u64,
    /// The number of documents of an unpublished run of the other store, which were skipped.
    pub unpublished: u64,
}

impl MergeSummary {
    /// The maximum number of keys that are named.
    pub const MOST_KEYS: usize = 1000;

    /// Returns the number of documents of the other store.
    pub fn documents(&self) -> u64 {
        self.added + self.updated + self.unchanged + self.unpublished
    }
}

/// A document of another store, with what is needed of its content.
struct ForeignDocument {
    content: u32,
    row: DocumentRow,
    prepared: Box<PreparedInput>,
}

impl Store {
    /// Adds all documents of another store, whose contents this one [takes](crate::Schema::check_takes), with their
    /// times. Of a document that both have, the later [`Document::last_seen`](crate::Document::last_seen) stays.
    ///
    /// The result is that of adding their texts in the order in which the other store got them. Documents of an
    /// unpublished run of the other store are skipped. A store without documents takes over the other one's
    /// [scope of ids](Store::id_scope). Shingles and signatures are copied as they are. Documents are
    /// committed whenever they take `memory` bytes. A document is a step of the [progress](Store::watched); if that is
    /// stopped, the merge fails with [`Error::Stopped`] after a commit, and another one completes it. At the end, the
    /// index is [packed](Store::pack_if_loose) if much was added; stopping that is not an error.
    ///
    /// ```
    /// use dedupdb::{Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path();
    /// let monday = Store::create(path.join("monday"), &Schema::default())?;
    /// monday.insert_unless_duplicate("1", "cold nights in the old lighthouse")?;
    /// let week = Store::create(path.join("week"), &Schema::default())?;
    /// let merged = week.merge(&monday, 64 << 20)?;
    /// assert_eq!(merged.added, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::SchemaMismatch`] with the first parameter that differs, or those of reading the other store and writing
    /// this one.
    pub fn merge(&self, other: &Store, memory: u64) -> Result<MergeSummary> {
        let source = other.published()?;
        let mut writer = self.writer()?;
        let used = writer.files.enter()?;
        let is_empty = writer.committed.snapshot.documents()? == 0;
        if is_empty && writer.id_scope() == IdScope::Unset {
            writer.set_id_scope(source.id_scope());
        }
        // Stores are merged as they are, and what is replaced is counted.
        writer.refuses = false;
        let schema = &writer.committed.snapshot.schema;
        schema.check_takes(&source.schema)?;
        self.progress.begin(source.documents()?);
        let mut names = source.all_names()?;
        let mut merged = MergeSummary::default();
        // Names are ordered by content, so the documents come in the order in which their texts were added.
        loop {
            let batch = names.by_ref().take(BATCH);
            let batch: Vec<(u32, String)> = batch.collect::<Result<_>>()?;
            if batch.is_empty() {
                break;
            }
            writer.merge_batch(&source, batch, &mut merged)?;
            self.progress.reach(merged.documents());
            let going_on = self.progress.go_on();
            if going_on.is_err() || writer.uncommitted_bytes() >= memory {
                writer.commit()?;
            }
            going_on?;
        }
        writer.commit()?;
        drop(used);
        drop(writer);
        self.watched(&self.progress.part()).pack_if_loose()?;
        Ok(merged)
    }
}

impl PublishedCommit {
    /// Looks up a document of another store in this one.
    fn look_up(&self, source: &Snapshot, content: u32, key: String) -> Result<ForeignDocument> {
        let Some(row) = source.document(&key)? else {
            let reason = format!("{key:?} names a content but has no document entry");
            return Err(Error::damaged(source.tables.path(), reason));
        };
        let mut input = Input::new(key, "").size(row.size);
        if let Some(nanoseconds) = row.modified {
            input = input.modified(clock::at_nanoseconds(nanoseconds));
        }
        let input = input.of_file(source.source(row.source)?);
        let prepared = self.locate(input, source.content(content)?.hash)?;
        Ok(ForeignDocument {
            content,
            row,
            prepared,
        })
    }
}

impl Writer {
    fn merge_batch(
        &mut self,
        source: &Snapshot,
        names: Vec<(u32, String)>,
        merged: &mut MergeSummary,
    ) -> Result<()> {
        let _used = self.begin()?;
        let committed = &self.committed;
        // Another process may have changed it since the last batch.
        let schema = &committed.snapshot.schema;
        schema.check_takes(&source.schema)?;
        let look_up = |(content, key)| committed.look_up(source, content, key);
        let found = self.store.shared.pool.map(names, look_up);
        let (now, today) = (self.added, self.today);
        let runs = source.tables.meta.runs;
        for stored in found {
            let stored = stored?;
            if runs.is_open(stored.row.run) {
                merged.unpublished += 1;
                continue;
            }
            // A document keeps its times, which the writer gives to what it settles.
            (self.added, self.today) = (stored.row.added, stored.row.last_seen);
            let placed = self.place_stored(source, stored, merged);
            (self.added, self.today) = (now, today);
            self.failed |= placed.is_err();
            placed?;
        }
        Ok(())
    }

    fn place_stored(
        &mut self,
        source: &Snapshot,
        stored: ForeignDocument,
        merged: &mut MergeSummary,
    ) -> Result<()> {
        let ForeignDocument {
            content,
            mut prepared,
            ..
        } = stored;
        // The text is unknown here, so a content that is new to this store is taken from the other one as it is.
        let append =
            |writer: &mut Writer, _: &mut PreparedInput| writer.append_stored(source, content);
        let key = prepared.input.key.clone();
        let settled = self.settle(&mut prepared, Policy::Add, append)?;
        let outcome = settled.outcome;
        merged.copies += u64::from(outcome.relation == Relation::ExactCopy);
        match outcome.change {
            Change::Added => merged.added += 1,
            Change::Updated => {
                merged.updated += 1;
                if merged.updated_keys.len() < MergeSummary::MOST_KEYS {
                    merged.updated_keys.push(key);
                }
            }
            Change::Unchanged | Change::KeptOut | Change::Refused => merged.unchanged += 1,
        }
        Ok(())
    }

    /// Appends a content of another store, which this one takes.
    fn append_stored(&mut self, source: &Snapshot, content: u32) -> Result<u32> {
        let row = source.content(content)?;
        let signature = source.signature(content)?;
        let mut band_hashes = Vec::new();
        let shingles = row.shingle_count as usize;
        let schema = &source.schema;
        schema.band_hashes(shingles, &signature, &mut band_hashes);
        let factor = schema.fingerprint_factor(&self.committed.snapshot.schema);
        let stored = words(source.fingerprints(content)?);
        let fingerprints: Vec<u32> = match factor {
            Some(factor) => stored.step_by(factor).collect(),
            None => Vec::new(),
        };
        self.append(&NewContent {
            hash: &row.hash,
            shingle_count: row.shingle_count,
            packed_shingles: source.packed_shingles(content)?,
            signature: &signature,
            band_hashes: &band_hashes,
            fingerprints: &fingerprints,
        })
    }
}
