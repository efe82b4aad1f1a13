//! Makes sketches of texts.

use super::keys::KeyWidth;
use super::sketches::Sketches;
use crate::error::Result;
use crate::lsh::copies_key;
use crate::parallel;
use crate::schema::Schema;
use crate::sketch::Signer;
use crate::text::{ShingleSet, Shingler};

/// Texts per task.
const CHUNK: usize = 64;

/// Makes the sketches of texts for a schema: hash, shingles, signature, band keys, and fingerprints if it has a
/// passage.
///
/// A sketch depends only on its text and the schema, so texts may be divided among threads and machines in any way.
///
/// ```
/// use dedupdb::Schema;
/// use dedupdb::batch::{KeyWidth, Sketcher};
///
/// let schema = Schema::default();
/// let sketcher = Sketcher::new(&schema, KeyWidth::Bits64)?;
/// let sketches = sketcher.sketch_all(&["the night tram runs again from Friday on", ""]);
/// assert_eq!((sketches.len(), sketches.sizes()), (2, &[4, 0][..]));
/// assert_eq!(sketches.signatures().len(), 2 * schema.signature_bytes());
/// assert_eq!(sketches.keys().bands(), schema.bands().bands() as usize);
/// # Ok::<(), dedupdb::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sketcher {
    schema: Schema,
    shingler: Shingler,
    signer: Signer,
    key_width: KeyWidth,
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

    /// Makes the sketches of texts, on the threads of the current rayon pool.
    ///
    /// A text that the schema's shingling cannot read has no shingles and is listed in [`Sketches::failed`]; the
    /// others have their sketches. The keys of a text without shingles come from its hash, so it shares buckets only
    /// with its copies.
    pub fn sketch_all<T: AsRef<str> + Sync>(&self, texts: &[T]) -> Sketches {
        let parts = texts.chunks(CHUNK).collect();
        let parts = parallel::map(parts, |texts| self.sketch_some(texts));
        let mut sketches = Sketches::new(&self.schema);
        for part in parts {
            sketches.append(part);
        }
        sketches
    }

    fn sketch_some<T: AsRef<str>>(&self, texts: &[T]) -> Sketches {
        let mut sketches = Sketches::new(&self.schema);
        let (mut scratch, mut signature, mut keys) = (Vec::new(), Vec::new(), Vec::new());
        for text in texts {
            let text = text.as_ref();
            let hash = *blake3::hash(text.as_bytes()).as_bytes();
            let shingles = self.shingles(text);
            let failure = shingles.as_ref().err().cloned();
            let shingles = shingles.unwrap_or_default();
            signature.clear();
            self.signer
                .sign_into(shingles.as_slice(), &mut scratch, &mut signature);
            keys.clear();
            if shingles.is_empty() {
                self.append_keys_of_copies(&hash, &mut keys);
            } else {
                self.append_keys(&signature, &mut keys);
            }
            sketches.push(&hash, &shingles, &signature, &keys);
            sketches.fail(failure);
        }
        sketches
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

    /// Appends the keys of a text without shingles.
    fn append_keys_of_copies(&self, hash: &[u8; 32], keys: &mut Vec<u64>) {
        let bands = 0..self.schema.bands().bands();
        keys.extend(bands.map(|band| self.key_width.cut(copies_key(band, hash))));
    }
}
