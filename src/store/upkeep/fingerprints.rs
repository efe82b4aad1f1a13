//! Fingerprints of texts that are at hand again.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::error::Result;
use crate::parallel::lock;
use crate::schema::Schema;
use crate::storage::Snapshot;
use crate::store::handle::Store;
use crate::text::{Fingerprints, Shingler};

/// The fingerprints of stored texts, for a store that is to find passages, or passages of another length.
///
/// A store keeps no texts and no order of their shingles, so the texts are read once more, in any order and from any
/// place. Texts that the store does not have are ignored. A text takes about 90 bytes of memory and 4 for each
/// fingerprint.
///
/// ```
/// use dedupdb::overlap::PassageQuery;
/// use dedupdb::upkeep::Rebuild;
/// use dedupdb::{Schema, Store};
///
/// # let folder = tempfile::tempdir()?;
/// let store = Store::create(folder.path().join("store"), &Schema::builder().passage(0).build()?)?;
/// let text = "it was the first of many long and cold nights in the old lighthouse";
/// store.insert_unless_duplicate("log", text)?;
///
/// let schema = store.schema().to_builder().passage(8).build()?;
/// let texts = store.text_fingerprints(&schema)?;
/// texts.add(text)?;
/// store.rebuild(Rebuild::reindex(schema).fingerprints(texts))?;
/// assert_eq!(store.stats()?.unfingerprinted, 0);
/// let found = store.passages(&PassageQuery::text("of many long and cold nights in the old lighthouse"))?;
/// assert_eq!(found.passages[0].key, "log");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TextFingerprints {
    snapshot: Snapshot,
    shingler: Shingler,
    by_hash: Mutex<HashMap<[u8; 32], Vec<u32>>>,
}

impl Store {
    /// Begins to collect fingerprints of the texts that the store has now, as a store of `schema` keeps them.
    ///
    /// # Errors
    ///
    /// Those of reading the store.
    pub fn text_fingerprints(&self, schema: &Schema) -> Result<TextFingerprints> {
        Ok(TextFingerprints {
            snapshot: (*self.published()?).clone(),
            shingler: schema.shingler()?,
            by_hash: Mutex::default(),
        })
    }
}

impl TextFingerprints {
    /// Takes a text, on any thread. Returns whether the store has it.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidText`](crate::Error::InvalidText), or those of reading the store.
    pub fn add(&self, text: &str) -> Result<bool> {
        let hash = *blake3::hash(text.as_bytes()).as_bytes();
        let mut copies = Vec::new();
        self.snapshot.copies(&hash, &mut copies)?;
        if copies.is_empty() {
            return Ok(false);
        }
        let set = self.shingler.shingles(text)?;
        let fingerprints = set.fingerprints().map_or(&[][..], Fingerprints::as_slice);
        lock(&self.by_hash).insert(hash, fingerprints.to_vec());
        Ok(true)
    }

    /// Returns the number of stored texts that were taken.
    pub fn len(&self) -> usize {
        lock(&self.by_hash).len()
    }

    /// Returns whether no stored text was taken.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The fingerprints of the text with a hash in stored form, empty if it was not taken.
    pub(crate) fn of(&self, hash: &[u8; 32]) -> Vec<u8> {
        let by_hash = lock(&self.by_hash);
        let fingerprints = by_hash.get(hash).into_iter().flatten();
        fingerprints.copied().flat_map(u32::to_le_bytes).collect()
    }
}
