//! From a text to everything that the store needs of it.

use std::sync::Arc;

use super::matching::Probe;
use crate::clock::{Meters, stands_for};
use crate::error::Result;
use crate::schema::Schema;
use crate::sketch::Signer;
use crate::storage::{ContentRow, NewContent, Snapshot};
use crate::text::{Fingerprints, ShingleSet, Shingler};

/// A text, or the shingles that stand for one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BodyRef<'a> {
    Text(&'a str),
    Shingles(&'a ShingleSet),
}

impl BodyRef<'_> {
    /// The hash of its content.
    pub(crate) fn hash(self) -> [u8; 32] {
        match self {
            BodyRef::Text(text) => *blake3::hash(text.as_bytes()).as_bytes(),
            BodyRef::Shingles(shingles) => shingles.content_hash(),
        }
    }

    /// The size in bytes.
    fn bytes(self) -> usize {
        match self {
            BodyRef::Text(text) => text.len(),
            BodyRef::Shingles(shingles) => size_of_val(shingles.as_slice()),
        }
    }

    /// Its shingles.
    pub(crate) fn shingles(self, shingler: &Shingler) -> Result<ShingleSet> {
        match self {
            BodyRef::Text(text) => shingler.shingles(text),
            BodyRef::Shingles(shingles) => Ok(shingles.clone()),
        }
    }
}

/// The shingles, the signature and the band hashes of a text.
#[derive(Clone, Debug)]
pub(crate) struct Sketch {
    pub(crate) shingles: ShingleSet,
    /// The shingles as they are stored; empty if the store keeps none, or if the sketch is only for a question.
    pub(crate) packed_shingles: Vec<u8>,
    pub(crate) signature: Vec<u8>,
    /// One hash a band; empty if there are no shingles.
    pub(crate) band_hashes: Vec<u32>,
}

impl Sketch {
    /// The number of shingles. It fits, because shingles are distinct 32-bit hashes and a text has fewer than all of
    /// them.
    pub(crate) fn shingle_count(&self) -> u32 {
        u32::try_from(self.shingles.len()).unwrap_or(u32::MAX)
    }

    /// The sketch as a new content. `hash` is the hash of the text.
    pub(crate) fn content<'a>(&'a self, hash: &'a [u8; 32]) -> NewContent<'a> {
        NewContent {
            hash,
            shingle_count: self.shingle_count(),
            packed_shingles: &self.packed_shingles,
            signature: &self.signature,
            band_hashes: &self.band_hashes,
            fingerprints: self
                .shingles
                .fingerprints()
                .map_or(&[], Fingerprints::as_slice),
        }
    }

    /// The sketch as a probe. `hash` is the hash of the text.
    pub(crate) fn probe<'a>(&'a self, hash: &'a [u8; 32]) -> Probe<'a> {
        Probe {
            hash,
            shingles: &self.shingles,
            signature: &self.signature,
            band_hashes: &self.band_hashes,
            bands: None,
        }
    }
}

/// Makes the sketches that a schema asks for.
#[derive(Debug)]
pub(crate) struct StoreSketcher {
    shingler: Shingler,
    signer: Signer,
    schema: Schema,
    meters: Arc<Meters>,
}

impl StoreSketcher {
    pub(crate) fn new(schema: &Schema, meters: &Arc<Meters>) -> Result<StoreSketcher> {
        Ok(StoreSketcher {
            shingler: schema.shingler()?,
            signer: schema.signer()?,
            schema: schema.clone(),
            meters: meters.clone(),
        })
    }

    /// The same, without these shingles of texts.
    pub(crate) fn ignoring(mut self, shingles: Option<&Arc<ShingleSet>>) -> StoreSketcher {
        if let Some(shingles) = shingles {
            self.shingler = self.shingler.ignoring(shingles);
        }
        self
    }

    /// Refuses shingles that are not of the schema's kind.
    pub(crate) fn check(&self, body: BodyRef<'_>) -> Result<()> {
        match body {
            BodyRef::Text(_) => Ok(()),
            BodyRef::Shingles(shingles) => self.schema.check_shingles(shingles),
        }
    }

    /// The sketch of a text, or of shingles, that is to be stored.
    pub(crate) fn sketch_to_store(&self, body: BodyRef<'_>) -> Result<Sketch> {
        let mut sketch = self.sketch(body)?;
        if self.schema.keeps_shingles() {
            let texts = stands_for(body.bytes());
            sketch.packed_shingles = self
                .meters
                .shingling
                .time_of(texts, || sketch.shingles.to_packed());
        }
        Ok(sketch)
    }

    /// The sketch of a text, or of shingles.
    pub(crate) fn sketch(&self, body: BodyRef<'_>) -> Result<Sketch> {
        let texts = stands_for(body.bytes());
        let shingles = self
            .meters
            .shingling
            .time_of(texts, || self.shingles(body))?;
        let (signature, band_hashes) = self.meters.signing.time_of(texts, || {
            let signature = self.signature(shingles.as_slice());
            let band_hashes = self.band_hashes(&shingles, &signature);
            (signature, band_hashes)
        });
        Ok(Sketch {
            shingles,
            packed_shingles: Vec::new(),
            signature,
            band_hashes,
        })
    }

    fn shingles(&self, body: BodyRef<'_>) -> Result<ShingleSet> {
        let mut shingles = body.shingles(&self.shingler)?;
        shingles.thin_fingerprints(self.schema.fingerprint_step());
        Ok(shingles)
    }

    fn band_hashes(&self, shingles: &ShingleSet, signature: &[u8]) -> Vec<u32> {
        let mut hashes = Vec::with_capacity(self.schema.bands().bands() as usize);
        self.schema
            .band_hashes(shingles.len(), signature, &mut hashes);
        hashes
    }

    /// The bytes of the signature of a shingle set.
    pub(crate) fn signature(&self, shingles: &[u32]) -> Vec<u8> {
        self.signer.first_slots(u32::MAX, shingles)
    }
}

/// A stored content and its sketch, from the columns.
pub(crate) fn content_sketch(snapshot: &Snapshot, content: u32) -> Result<(ContentRow, Sketch)> {
    let row = snapshot.content(content)?;
    let signature = snapshot.signature(content)?.into_owned();
    let mut band_hashes = Vec::new();
    let shingles = row.shingle_count as usize;
    let schema = &snapshot.schema;
    schema.band_hashes(shingles, &signature, &mut band_hashes);
    let mut shingles = ShingleSet::default();
    if snapshot.schema.keeps_shingles() {
        snapshot.shingles(content, &mut shingles)?;
    }
    let sketch = Sketch {
        shingles,
        packed_shingles: Vec::new(),
        signature,
        band_hashes,
    };
    Ok((row, sketch))
}
