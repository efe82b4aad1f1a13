//! From candidates to verified matches.

use std::borrow::Cow;
use std::rc::Rc;

use crate::error::Result;
use crate::schema::Schema;
use crate::sketch::{Estimate, agreeing};
use crate::storage::{PackedShingles, Snapshot};
use crate::store::compare::sets::DecodedSets;
use crate::text::{ShingleSet, is_less, share, sizes_fit};

/// The exact comparison is skipped if the estimate is this many standard errors below the threshold. A pair at the
/// threshold falls that far with a probability below one in three million.
const CERTAIN_ERRORS: f64 = 5.0;

/// In a store without shingles, a candidate still counts if its estimate is this many standard errors below the
/// threshold: an estimate alone does not decide at the threshold.
const TOLERATED_ERRORS: f64 = 2.0;

/// How similar a text and a stored content are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Likeness {
    pub(crate) exact_copy: bool,
    /// The exact similarity, if shingles are kept.
    pub(crate) jaccard: Option<f64>,
    pub(crate) estimate: Estimate,
    /// The share of the text's shingles that the content has, and the reverse.
    pub(crate) containment: Option<f64>,
    pub(crate) containment_of_stored: Option<f64>,
}

impl Likeness {
    /// The figure that matches are ordered by.
    pub(crate) fn similarity(&self) -> f64 {
        self.jaccard.unwrap_or(self.estimate.jaccard)
    }

    /// The larger one of the containments, which is that of the set with fewer shingles.
    pub(crate) fn larger_containment(&self) -> Option<f64> {
        Some(self.containment?.max(self.containment_of_stored?))
    }
}

/// A content whose similarity to a text reaches the threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct VerifiedContent {
    pub(crate) content: u32,
    /// The number of bands whose slots all agree.
    pub(crate) bands: u32,
    pub(crate) likeness: Likeness,
}

/// The side of a comparison that stays the same, such as the text of a query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe<'a> {
    pub(crate) hash: &'a [u8; 32],
    pub(crate) shingles: &'a ShingleSet,
    pub(crate) signature: &'a [u8],
    pub(crate) band_hashes: &'a [u32],
    /// The bands to search, ascending; `None` for all. The buckets of the other bands have nothing to find.
    pub(crate) bands: Option<&'a [u32]>,
}

impl<'a> Probe<'a> {
    /// The same probe, to be looked up in these bands only.
    pub(crate) fn in_bands(self, bands: &'a [u32]) -> Probe<'a> {
        let bands = Some(bands);
        Probe { bands, ..self }
    }
}

/// A stored content that others are compared with.
#[derive(Clone, Debug)]
pub(crate) struct StoredContent<'a> {
    hash: [u8; 32],
    /// Empty if no shingles are kept.
    shingles: Rc<ShingleSet>,
    signature: Cow<'a, [u8]>,
}

impl<'a> StoredContent<'a> {
    pub(crate) fn read(snapshot: &'a Snapshot, content: u32) -> Result<StoredContent<'a>> {
        StoredContent::read_in(snapshot, content, &mut DecodedSets::default())
    }

    /// Like [`StoredContent::read`], but decodes the shingles only if `sets` does not have them.
    pub(crate) fn read_in(
        snapshot: &'a Snapshot,
        content: u32,
        sets: &mut DecodedSets,
    ) -> Result<StoredContent<'a>> {
        let (row, packed) = snapshot.content_and_shingles(content)?;
        let shingles = if snapshot.schema.keeps_shingles() {
            sets.of(content, |set| packed.unpack(set))?
        } else {
            Rc::default()
        };
        Ok(StoredContent {
            hash: row.hash,
            shingles,
            signature: snapshot.signature(content)?,
        })
    }

    /// The content as a probe that looks nothing up.
    pub(crate) fn probe(&self) -> Probe<'_> {
        Probe {
            hash: &self.hash,
            shingles: &self.shingles,
            signature: &self.signature,
            band_hashes: &[],
            bands: None,
        }
    }
}

/// What is known of a comparison before shingles are decoded.
enum EarlyVerdict<'a> {
    Known(Reached<'a>),
    /// With the stored signature, if it was read.
    Open(PackedShingles<'a>, Option<Cow<'a, [u8]>>),
}

/// The likeness of a content that reaches the threshold, with its signature.
type Reached<'a> = Option<(Likeness, Cow<'a, [u8]>)>;

/// Compares a probe with stored contents.
#[derive(Debug)]
pub(crate) struct Matcher<'a> {
    snapshot: &'a Snapshot,
    probe: Probe<'a>,
    threshold: f64,
    stored: ShingleSet,
    /// Shingles that do not count. The probe is without them.
    ignored: Option<&'a ShingleSet>,
}

impl<'a> Matcher<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, probe: Probe<'a>, threshold: f64) -> Matcher<'a> {
        Matcher {
            snapshot,
            probe,
            threshold,
            stored: ShingleSet::default(),
            ignored: None,
        }
    }

    /// Compares contents without these shingles. The probe has none of them.
    pub(crate) fn ignoring(mut self, shingles: &'a ShingleSet) -> Matcher<'a> {
        self.ignored = Some(shingles);
        self
    }

    /// The match with a content, if it reaches the threshold.
    pub(crate) fn verify(&mut self, content: u32) -> Result<Option<VerifiedContent>> {
        let Some((likeness, signature)) = self.reached(content)? else {
            return Ok(None);
        };
        // Texts without shingles share no bucket.
        let bands = if self.snapshot.content(content)?.shingle_count > 0 {
            let schema = &self.snapshot.schema;
            let shape = schema.bands();
            let shared = shape.shared(self.probe.signature, &signature, schema.slot_width());
            shared.unwrap_or_default()
        } else {
            0
        };
        Ok(Some(VerifiedContent {
            content,
            bands,
            likeness,
        }))
    }

    /// The matches among `contents`, in their order.
    pub(crate) fn verify_all(&mut self, contents: &[u32]) -> Result<Vec<VerifiedContent>> {
        let mut verified = Vec::new();
        for &content in contents {
            verified.extend(self.verify(content)?);
        }
        Ok(verified)
    }

    /// Whether a content reaches the threshold.
    pub(crate) fn reaches(&mut self, content: u32) -> Result<bool> {
        Ok(self.compare(content)?.is_some())
    }

    /// The likeness of a content, if it reaches the threshold.
    pub(crate) fn compare(&mut self, content: u32) -> Result<Option<Likeness>> {
        Ok(self.reached(content)?.map(|(likeness, _)| likeness))
    }

    fn reached(&mut self, content: u32) -> Result<Reached<'a>> {
        if let Some(ignored) = self.ignored {
            return self.reached_without(content, ignored);
        }
        let (packed, signature) = match self.without_shingles(content)? {
            EarlyVerdict::Known(reached) => return Ok(reached),
            EarlyVerdict::Open(packed, signature) => (packed, signature),
        };
        packed.unpack(&mut self.stored)?;
        self.exact(content, &self.stored, signature)
    }

    /// The shingles that count of the content that was compared last, if some are ignored.
    pub(crate) fn last_without(&self) -> &ShingleSet {
        &self.stored
    }

    fn reached_without(&mut self, content: u32, ignored: &ShingleSet) -> Result<Reached<'a>> {
        let (row, packed) = self.snapshot.content_and_shingles(content)?;
        packed.unpack(&mut self.stored)?;
        self.stored.remove(ignored);
        let mut reached = self.exact(content, &self.stored, None)?;
        if let Some((likeness, _)) = &mut reached {
            likeness.exact_copy = row.hash == *self.probe.hash;
        }
        Ok(reached)
    }

    /// Like [`Matcher::compare`], but decodes shingles only if `sets` does not have them.
    pub(crate) fn compare_in(
        &self,
        content: u32,
        sets: &mut DecodedSets,
    ) -> Result<Option<Likeness>> {
        let reached = match self.without_shingles(content)? {
            EarlyVerdict::Known(reached) => reached,
            EarlyVerdict::Open(packed, signature) => {
                let stored = sets.of(content, |set| packed.unpack(set))?;
                self.exact(content, &stored, signature)?
            }
        };
        Ok(reached.map(|(likeness, _)| likeness))
    }

    /// Compares a content as far as possible without decoding shingles.
    fn without_shingles(&self, content: u32) -> Result<EarlyVerdict<'a>> {
        let (row, shingles) = self.snapshot.content_and_shingles(content)?;
        let has_shingles = self.snapshot.schema.keeps_shingles();
        let exact_copy = row.hash == *self.probe.hash;
        // Without shingles there is only the estimate, and a copy needs no comparison.
        if exact_copy || !has_shingles {
            // A copy has the same shingles, so its signature need not be made.
            let signature = if exact_copy {
                Cow::Borrowed(self.probe.signature)
            } else {
                self.snapshot.signature(content)?
            };
            let estimate = self.estimate(&signature);
            let same = (exact_copy && has_shingles).then_some(1.0);
            let likeness = Likeness {
                exact_copy,
                jaccard: same,
                estimate,
                containment: same,
                containment_of_stored: same,
            };
            let reaches = exact_copy || highest_similarity(estimate) >= self.threshold;
            let reached = reaches.then_some((likeness, signature));
            return Ok(EarlyVerdict::Known(reached));
        }
        // Sizes that differ too much exclude a match, and are in the row that was just read.
        let (probe, stored) = (self.probe.shingles.len(), row.shingle_count as usize);
        let (small, large) = (probe.min(stored), probe.max(stored));
        if !sizes_fit(small, large, self.threshold) {
            return Ok(EarlyVerdict::Known(None));
        }
        // Reading and comparing tails takes less time than reading a signature or decoding shingles. To make a
        // signature takes more.
        let mut signature = None;
        let is_kept = self.snapshot.schema.keeps_signature(row.shingle_count);
        let is_below = if large > ShingleSet::SMALL && is_kept {
            let kept = signature.insert(self.snapshot.signature(content)?);
            self.is_far_below(self.estimate(kept))
        } else if let Some(tails) = shingles.tails()? {
            let common = self.probe.shingles.most_in_common(tails);
            is_less(common, probe + stored - common, self.threshold)
        } else {
            false
        };
        Ok(if is_below {
            EarlyVerdict::Known(None)
        } else {
            EarlyVerdict::Open(shingles, signature)
        })
    }

    fn estimate(&self, signature: &[u8]) -> Estimate {
        let schema = &self.snapshot.schema;
        let width = schema.slot_width();
        let agreeing = agreeing(self.probe.signature, signature, width);
        Estimate::new(agreeing, schema.permutations(), width)
    }

    fn is_far_below(&self, estimate: Estimate) -> bool {
        let permutations = f64::from(self.snapshot.schema.permutations());
        // The error of a pair at the threshold.
        let error = (self.threshold * (1.0 - self.threshold) / permutations).sqrt();
        // A slot that agrees by chance only raises the estimate.
        estimate.jaccard < self.threshold - CERTAIN_ERRORS * error.max(estimate.error)
    }

    /// The likeness of a content by its shingles, if it reaches the threshold. A missing signature is made of them.
    fn exact(
        &self,
        content: u32,
        stored: &ShingleSet,
        signature: Option<Cow<'a, [u8]>>,
    ) -> Result<Reached<'a>> {
        let common = self.probe.shingles.intersection_len(stored);
        let (probe, in_stored) = (self.probe.shingles.len(), stored.len());
        let jaccard = share(common, probe + in_stored - common);
        if jaccard < self.threshold {
            return Ok(None);
        }
        let signature = match signature {
            Some(signature) => signature,
            None if self.ignored.is_some() => self.snapshot.signature(content)?, // of the whole text
            None => self.snapshot.signature_of(content, stored)?,
        };
        let likeness = Likeness {
            exact_copy: false,
            jaccard: Some(jaccard),
            estimate: self.estimate(&signature),
            containment: Some(share(common, probe)),
            containment_of_stored: Some(share(common, in_stored)),
        };
        Ok(Some((likeness, signature)))
    }
}

/// The highest similarity that an estimate allows.
pub(crate) fn highest_similarity(estimate: Estimate) -> f64 {
    estimate.jaccard + TOLERATED_ERRORS * estimate.error
}

/// The least number of slots that agree in a match, in a store that keeps no shingles.
pub(crate) fn least_agreeing(schema: &Schema, threshold: f64) -> u32 {
    let (permutations, width) = (schema.permutations(), schema.slot_width());
    (0..permutations)
        .find(|&agreeing| {
            highest_similarity(Estimate::new(agreeing, permutations, width)) >= threshold
        })
        .unwrap_or(permutations)
}
