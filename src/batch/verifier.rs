//! The texts of a bucket, represented by their shingles alone.

use super::keys::{KeyWidth, first_shared};
use crate::error::{Error, Result};
use crate::lsh::Bands;
use crate::schema::Schema;
use crate::sketch::{Signer, SlotWidth};
use crate::text::{ShingleSet, sizes_fit};

/// Compares the texts in buckets of one band by their shingles alone.
///
/// An engine may send packed shingles to buckets instead of keys. This moves more bytes, but saves a step. The keys of
/// the band and of earlier bands are then computed again from the shingles, with only the slots that these bands need.
///
/// ```
/// use dedupdb::batch::{KeyWidth, Sketcher, Verifier};
/// use dedupdb::{Schema, sketching::Shingling};
///
/// let schema = Schema::builder().shingling(Shingling::Word(1)).threshold(0.5).build()?;
/// let sketcher = Sketcher::new(&schema, KeyWidth::Bits64)?;
/// let set = |text| sketcher.shingles(text);
/// let verifier = Verifier::new(&schema, KeyWidth::Bits64, 0)?;
/// let a = verifier.member(set("night tram")?);
/// let b = verifier.member(set("tram, night")?);
/// assert_eq!(a.key(), sketcher.keys(a.shingles())[0]);
/// assert_eq!(verifier.verify(&a, &b), Some(1.0));
/// # Ok::<(), dedupdb::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Verifier {
    /// Signs only the slots of the band and of earlier bands.
    signer: Signer,
    bands: Bands,
    slot_width: SlotWidth,
    band: u32,
    key_width: KeyWidth,
    threshold: f64,
}

/// A text of a bucket.
#[derive(Clone, Debug)]
pub struct BucketMember {
    shingles: ShingleSet,
    /// The keys of the bands up to the bucket's.
    keys: Vec<u64>,
}

impl Verifier {
    /// Makes a verifier for the buckets of this band, from 0.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidQuery`] if the schema does not have the band.
    pub fn new(schema: &Schema, key_width: KeyWidth, band: u32) -> Result<Verifier> {
        let bands = schema.bands();
        if band >= bands.bands() {
            return Err(Error::InvalidQuery {
                parameter: "band",
                reason: format!("there are {} bands, from 0 on, not {band}", bands.bands()),
            });
        }
        let (width, slots) = (schema.slot_width(), (band + 1) * bands.rows());
        Ok(Verifier {
            signer: Signer::new(schema.family(), schema.seed(), slots, width)?,
            bands,
            slot_width: width,
            band,
            key_width,
            threshold: schema.threshold(),
        })
    }

    /// Returns the band.
    pub fn band(&self) -> u32 {
        self.band
    }

    /// Returns whether sets with these numbers of shingles, the smaller number first, can reach the schema's threshold:
    /// J(A, B) <= |A| / |B|.
    pub fn can_match(&self, smaller: usize, larger: usize) -> bool {
        sizes_fit(smaller, larger, self.threshold)
    }

    /// Computes the keys of a text with these shingles.
    ///
    /// The text belongs to the bucket of its [`key`](BucketMember::key), whatever bucket it came from.
    pub fn member(&self, shingles: ShingleSet) -> BucketMember {
        let signature = self.signer.sign(shingles.as_slice());
        let key = |band| {
            let key = self.bands.key(signature.as_bytes(), self.slot_width, band);
            self.key_width.cut(key.unwrap_or_default())
        };
        BucketMember {
            keys: (0..=self.band).map(key).collect(),
            shingles,
        }
    }

    /// Returns the exact Jaccard similarity of two texts of a bucket, if it reaches the schema's threshold and this
    /// is the first band whose key they share.
    ///
    /// So comparing all texts within each bucket gives each pair once.
    pub fn verify(&self, a: &BucketMember, b: &BucketMember) -> Option<f64> {
        if first_shared(&a.keys, &b.keys) != Some(self.band as usize) {
            return None;
        }
        let jaccard = a.shingles.jaccard(&b.shingles);
        (jaccard >= self.threshold).then_some(jaccard)
    }
}

impl BucketMember {
    /// Returns the key of the band.
    pub fn key(&self) -> u64 {
        self.keys.last().copied().unwrap_or_default()
    }

    /// Returns the shingles.
    pub fn shingles(&self) -> &ShingleSet {
        &self.shingles
    }
}
