//! Signatures of stored contents for another schema.

use std::collections::BTreeSet;
use std::sync::Mutex;

use super::fingerprints::TextFingerprints;
use crate::codec::words;
use crate::error::Result;
use crate::parallel::lock;
use crate::pool::Pool;
use crate::schema::Schema;
use crate::sketch::Signer;
use crate::storage::{RowMaker, Snapshot};
use crate::store::offer::Body;
use crate::text::{ShingleSet, Shingler};

/// The number of contents that a thread signs at a time.
const CHUNK: usize = 64;

/// Returns the present text, or the shingles, of a key, if they can be read.
pub(crate) type BodySource<'a> = dyn Fn(&str) -> Option<Body> + Send + Sync + 'a;

/// Computes signatures of stored contents for another schema. Slots that both schemas share are copied.
pub(crate) struct Resigner<'a> {
    pool: &'a Pool,
    shingler: Shingler,
    signer: Signer,
    /// The number of first slots that are copied from the stored signatures.
    kept: u32,
    keeps_shingles: bool,
    source: Option<&'a BodySource<'a>>,
    /// If the stored fingerprints serve: one in this number of them is kept.
    fingerprint_factor: Option<usize>,
    texts: Option<&'a TextFingerprints>,
    /// The documents whose text was needed but unavailable.
    missing: Mutex<BTreeSet<String>>,
    /// The documents that have fingerprints which do not serve, and whose text was not given.
    unfingerprinted: Mutex<BTreeSet<String>>,
}

impl<'a> Resigner<'a> {
    pub(crate) fn new(
        pool: &'a Pool,
        stored: &Schema,
        target: &Schema,
        source: Option<&'a BodySource<'a>>,
        texts: Option<&'a TextFingerprints>,
    ) -> Result<Resigner<'a>> {
        // Slot `i` does not depend on the number of slots, so the first ones of either signature are the same.
        let of = |schema: &Schema| (schema.family(), schema.seed(), schema.slot_width());
        let kept = if of(stored) == of(target) {
            stored.permutations().min(target.permutations())
        } else {
            0
        };
        Ok(Resigner {
            pool,
            shingler: stored.shingler()?,
            signer: target.signer()?,
            kept,
            keeps_shingles: stored.keeps_shingles(),
            source,
            fingerprint_factor: stored.fingerprint_factor(target),
            texts,
            missing: Mutex::default(),
            unfingerprinted: Mutex::default(),
        })
    }

    /// Whether texts are needed: some slots are new, and the store keeps no shingles.
    pub(crate) fn needs_sources(&self) -> bool {
        self.kept < self.signer.permutations() && !self.keeps_shingles
    }

    /// The documents whose text was needed but unavailable, in order.
    pub(crate) fn missing(&self) -> Vec<String> {
        lock(&self.missing).iter().cloned().collect()
    }

    /// The documents that have fingerprints which do not serve, and whose text was not given, in order.
    pub(crate) fn unfingerprinted(&self) -> Vec<String> {
        lock(&self.unfingerprinted).iter().cloned().collect()
    }

    /// Replaces `shingles` with those of a content's text, read from one of the documents that name it.
    ///
    /// If none of them has the text any more, `shingles` is empty, and the documents become `missing`.
    fn read(&self, snapshot: &Snapshot, content: u32, shingles: &mut ShingleSet) -> Result<()> {
        *shingles = ShingleSet::default();
        let row = snapshot.content(content)?;
        let names: Vec<String> = snapshot.names(content)?.collect::<Result<_>>()?;
        let source = |key: &String| self.source.and_then(|source| source(key));
        let is_same = |body: &Body| body.borrowed().hash() == row.hash;
        // Any document with the text will do. A text that has changed is of no use.
        if let Some(body) = names.iter().filter_map(source).find(is_same) {
            *shingles = body.borrowed().shingles(&self.shingler)?;
        } else {
            lock(&self.missing).extend(names);
        }
        Ok(())
    }
}

impl RowMaker for Resigner<'_> {
    fn signatures(&self, snapshot: &Snapshot, contents: &[u32]) -> Result<Vec<u8>> {
        let chunks: Vec<&[u32]> = contents.chunks(CHUNK).collect();
        let signed = self.pool.map(chunks, |chunk| {
            let mut signatures = Vec::with_capacity(chunk.len() * self.signer.signature_bytes());
            let (mut shingles, mut scratch) = (ShingleSet::default(), Vec::new());
            for &content in chunk {
                let row = snapshot.content(content)?;
                if !snapshot.schema.keeps_signature(row.shingle_count) {
                    continue;
                }
                let stored = snapshot.signature(content)?;
                let kept = self.kept as usize * self.signer.width().bytes();
                signatures.extend_from_slice(&stored[..kept]);
                if self.kept == self.signer.permutations() {
                    continue;
                }
                if self.keeps_shingles {
                    snapshot.shingles(content, &mut shingles)?;
                } else {
                    self.read(snapshot, content, &mut shingles)?;
                }
                let hashes = shingles.as_slice();
                self.signer
                    .extend(self.kept, hashes, &mut scratch, &mut signatures);
            }
            Ok(signatures)
        });
        let signed: Vec<Vec<u8>> = signed.into_iter().collect::<Result<_>>()?;
        Ok(signed.concat())
    }

    fn fingerprints(&self, snapshot: &Snapshot, content: u32) -> Result<Vec<u8>> {
        let stored = snapshot.fingerprints(content)?;
        match (self.fingerprint_factor, self.texts) {
            // With a larger distance, the fingerprints are some of the stored ones.
            (Some(factor), _) if !stored.is_empty() => {
                let words = words(stored).step_by(factor);
                Ok(words.flat_map(u32::to_le_bytes).collect())
            }
            (_, Some(texts)) => {
                // A content without fingerprints gets them if its text is given. One that has some must not lose them.
                let made = texts.of(&snapshot.content(content)?.hash);
                if made.is_empty() && !stored.is_empty() {
                    let names: Vec<String> = snapshot.names(content)?.collect::<Result<_>>()?;
                    lock(&self.unfingerprinted).extend(names);
                }
                Ok(made)
            }
            _ => Ok(Vec::new()),
        }
    }
}
