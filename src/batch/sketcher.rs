//! Makes sketches of texts.

use super::keys::KeyWidth;
use crate::error::Result;
use crate::lsh::copies_key;
use crate::parallel;
use crate::schema::Schema;
use crate::sketch::Signer;
use crate::text::{Fingerprints, ShingleSet, Shingler};

/// Makes the sketches of texts for a schema.
///
/// A sketch depends only on its text and the schema, so texts may be divided among threads and machines in any way.
///
/// ```
/// use dedupdb::Schema;
/// use dedupdb::batch::{KeyWidth, Sketcher};
///
/// let schema = Schema::default();
/// let sketcher = Sketcher::new(&schema, KeyWidth::Bits64)?;
/// let sketch = sketcher.sketch("the night tram runs again from Friday on")?;
/// assert_eq!((sketch.size, sketch.keys.len()), (4, schema.bands().bands() as usize));
/// # Ok::<(), dedupdb::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sketcher {
    schema: Schema,
    shingler: Shingler,
    signer: Signer,
    key_width: KeyWidth,
}

/// What an engine keeps of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextSketch {
    /// The BLAKE3 hash of the text. Texts with the same hash are copies.
    pub hash: [u8; 32],
    /// The number of distinct shingles.
    pub size: u32,
    /// The key of each band. Those of a text without shingles come from its hash, so it shares buckets only with its copies.
    pub keys: Vec<u64>,
    /// The packed shingles ([`ShingleSet::to_packed`]).
    pub packed: Vec<u8>,
    /// The fingerprints, 4 little-endian bytes each ([`Schema::fingerprint_step`]). Empty if the schema's passage is 0.
    pub fingerprints: Vec<u8>,
}

impl Sketcher {
    /// Makes a sketcher for a schema, with keys of this width. The schema's threshold has no effect.
    ///
    /// # Errors
    ///
    /// None: the schema was checked when it was built.
    pub fn new(schema: &Schema, key_width: KeyWidth) -> Result<Sketcher> {
        Ok(Sketcher {
            shingler: schema.shingler()?,
            signer: schema.signer()?,
            schema: schema.clone(),
            key_width,
        })
    }

    /// Returns the parameters.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the shingles of a text.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidText`](crate::Error::InvalidText) if the schema's shingling cannot read the
    /// text; only [`Shingling::Ids`](crate::sketching::Shingling::Ids) restricts it.
    pub fn shingles(&self, text: &str) -> Result<ShingleSet> {
        self.shingler.shingles(text)
    }

    /// Returns the key of each band of a shingle set. Empty for a set without shingles, which shares no bucket.
    pub fn keys(&self, shingles: &ShingleSet) -> Vec<u64> {
        let mut keys = Vec::new();
        if !shingles.is_empty() {
            let signature = self.signer.sign(shingles.as_slice());
            self.append_keys(signature.as_bytes(), &mut keys);
        }
        keys
    }

    /// Makes the sketch of a text.
    ///
    /// # Errors
    ///
    /// Those of [`Sketcher::shingles`].
    pub fn sketch(&self, text: &str) -> Result<TextSketch> {
        let hash = *blake3::hash(text.as_bytes()).as_bytes();
        let shingles = self.shingles(text)?;
        let mut keys = self.keys(&shingles);
        if shingles.is_empty() {
            let bands = 0..self.schema.bands().bands();
            keys.extend(bands.map(|band| self.key_width.cut(copies_key(band, &hash))));
        }
        let fingerprints = shingles.fingerprints().map(Fingerprints::to_bytes);
        Ok(TextSketch {
            hash,
            // It fits: there are at most 2^32 distinct 32-bit hashes, and the text is shorter than that.
            size: u32::try_from(shingles.len()).unwrap_or(u32::MAX),
            keys,
            packed: shingles.to_packed(),
            fingerprints: fingerprints.unwrap_or_default(),
        })
    }

    /// Makes the sketches of texts, in their order, on the threads of the current rayon pool.
    pub fn sketch_all<T: AsRef<str> + Sync>(&self, texts: &[T]) -> Vec<Result<TextSketch>> {
        parallel::map(texts.iter().collect(), |text| self.sketch(text.as_ref()))
    }

    fn append_keys(&self, signature: &[u8], keys: &mut Vec<u64>) {
        let (bands, width) = (self.schema.bands(), self.schema.slot_width());
        let found = bands.keys(signature, width, keys);
        debug_assert!(
            found.is_some(),
            "the signer makes signatures that are long enough"
        );
        for key in keys {
            *key = self.key_width.cut(*key);
        }
    }
}
