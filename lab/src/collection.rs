//! A small collection of texts in memory.

use dedupdb::Schema;
use dedupdb::sketching::ShingleSet;
use dedupdb::sketching::{Estimate, Signer, agreeing};
use dedupdb::{Error, Result};
use rayon::prelude::*;

/// The number of documents that one task signs.
const CHUNK: usize = 64;

/// A small collection of texts in memory, with their shingles, signatures and buckets.
///
/// It is for experiments, and for collections that are looked at once. A [`Store`](dedupdb::Store) keeps documents.
///
/// Documents are numbered from 0 in the order in which they were given. Methods return `None` for a number that no
/// document has. The schema says how texts become shingles and signatures, and which documents share a bucket; its
/// threshold is not used.
///
/// ```
/// use dedupdb::Schema;
/// use dedupdb_lab::Collection;
/// use dedupdb::sketching::Shingling;
///
/// let schema = Schema::builder().shingling(Shingling::Word(1)).threshold(0.5).build()?;
/// let documents = [
///     ("tram", "the night tram runs again"),
///     ("bus", "the night bus runs again"),
///     ("crane", "who painted the harbour crane"),
/// ];
/// let collection = Collection::new(&schema, documents)?;
/// assert_eq!((collection.len(), collection.distinct_shingles()), (3, 10));
/// assert_eq!(collection.jaccard(0, 1), Some(4.0 / 6.0));
/// assert_eq!(collection.near_duplicates(0, 0.5), Some(vec![(1, 4.0 / 6.0)]));
/// # Ok::<(), dedupdb::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Collection {
    schema: Schema,
    names: Vec<String>,
    sets: Vec<ShingleSet>,
    /// The signatures, one after the other.
    matrix: Vec<u8>,
    /// For each band, the hashes in ascending order, each with the document that has it. Documents without shingles
    /// have none.
    buckets: Vec<Vec<(u32, usize)>>,
}

impl Collection {
    /// Adds documents, each a name and a text.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidText`] if the shingling cannot read a text; the reason begins with the document's name.
    pub fn new<N: Into<String>, T: AsRef<str> + Sync>(
        schema: &Schema,
        documents: impl IntoIterator<Item = (N, T)>,
    ) -> Result<Collection> {
        let shingler = schema.shingler()?;
        let (names, texts): (Vec<String>, Vec<T>) = documents
            .into_iter()
            .map(|(name, text)| (name.into(), text))
            .unzip();
        let shingles = |(name, text): (&String, &T)| {
            shingler
                .shingles(text.as_ref())
                .map_err(|error| match error {
                    Error::InvalidText { reason } => Error::InvalidText {
                        reason: format!("{name}: {reason}"),
                    },
                    error => error,
                })
        };
        let documents: Vec<(&String, &T)> = names.iter().zip(&texts).collect();
        // The error is that of the first document that has one, whatever order the threads work in.
        let sets = documents.into_par_iter().map(shingles).collect::<Vec<_>>();
        let sets: Vec<ShingleSet> = sets.into_iter().collect::<Result<_>>()?;
        let matrix = sign_all(schema, &sets)?;
        let buckets = buckets(schema, &sets, &matrix);
        Ok(Collection {
            schema: schema.clone(),
            names,
            sets,
            matrix,
            buckets,
        })
    }

    /// Returns the parameters.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the number of documents.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns the documents' names in their order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the shingles of a document.
    pub fn shingles(&self, document: usize) -> Option<&ShingleSet> {
        self.sets.get(document)
    }

    /// Returns the number of distinct shingles of all documents.
    ///
    /// For term shingles, this is the number of terms, except that terms with the same 32-bit hash count once (one pair
    /// in 4.3 billion).
    pub fn distinct_shingles(&self) -> usize {
        let all = self.sets.iter().flat_map(ShingleSet::as_slice);
        ShingleSet::from_hashes(all.copied().collect()).len()
    }

    /// Returns the signature of a document: its little-endian slots.
    pub fn signature(&self, document: usize) -> Option<&[u8]> {
        let length = self.schema.signature_bytes();
        let from = document.checked_mul(length)?;
        self.matrix.get(from..from.checked_add(length)?)
    }

    /// Returns the signature matrix: a row of [`Schema::permutations`] little-endian slots for each
    /// document, one after the other.
    pub fn signatures(&self) -> &[u8] {
        &self.matrix
    }

    /// Returns the exact Jaccard similarity of two documents, 0 to 1; 0 if both have no shingles.
    pub fn jaccard(&self, a: usize, b: usize) -> Option<f64> {
        Some(self.sets.get(a)?.jaccard(self.sets.get(b)?))
    }

    /// Returns the number of slots in which two documents agree; 0 if one of them has no shingles.
    pub fn agreeing(&self, a: usize, b: usize) -> Option<u32> {
        let (row_a, row_b) = (self.signature(a)?, self.signature(b)?);
        if self.sets.get(a)?.is_empty() || self.sets.get(b)?.is_empty() {
            return Some(0);
        }
        Some(agreeing(row_a, row_b, self.schema.slot_width()))
    }

    /// Returns the Jaccard similarity of two documents, estimated from their signatures.
    pub fn estimate(&self, a: usize, b: usize) -> Option<Estimate> {
        let agreeing = self.agreeing(a, b)?;
        let (permutations, width) = (self.schema.permutations(), self.schema.slot_width());
        Some(Estimate::new(agreeing, permutations, width))
    }

    /// Returns the other documents whose exact similarity to this one is at least `threshold`, each with its
    /// similarity.
    ///
    /// The most similar ones come first; equally similar ones are in the order of their numbers. Only documents that
    /// share a bucket with this one are compared: of those with similarity J, the share [`Schema::recall`] of J is
    /// found.
    pub fn near_duplicates(&self, document: usize, threshold: f64) -> Option<Vec<(usize, f64)>> {
        let set = self.sets.get(document)?;
        let mut hashes = Vec::new();
        let signature = self.signature(document)?;
        if !set.is_empty() {
            let (bands, width) = (self.schema.bands(), self.schema.slot_width());
            bands.hashes(signature, width, &mut hashes);
        }
        let mut candidates: Vec<usize> = Vec::new();
        for (bucket, hash) in self.buckets.iter().zip(hashes) {
            let from = bucket.partition_point(|&(other, _)| other < hash);
            let postings = bucket[from..].iter();
            let same = postings.take_while(|(other, _)| *other == hash);
            candidates.extend(same.map(|(_, candidate)| candidate));
        }
        candidates.sort_unstable();
        candidates.dedup();
        let others = candidates.into_iter().filter(|&other| other != document);
        let compared = others.map(|other| (other, set.jaccard(&self.sets[other])));
        let mut found: Vec<(usize, f64)> = compared.filter(|(_, j)| *j >= threshold).collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        Some(found)
    }
}

fn sign_all(schema: &Schema, sets: &[ShingleSet]) -> Result<Vec<u8>> {
    let (permutations, width) = (schema.permutations(), schema.slot_width());
    let signer = Signer::new(schema.family(), schema.seed(), permutations, width)?;
    let signed = sets
        .par_chunks(CHUNK)
        .map(|sets: &[ShingleSet]| {
            let mut scratch = Vec::new();
            let mut rows = Vec::with_capacity(sets.len() * signer.signature_bytes());
            for set in sets {
                signer.sign_into(set.as_slice(), &mut scratch, &mut rows);
            }
            rows
        })
        .collect::<Vec<_>>();
    Ok(signed.concat())
}

fn buckets(schema: &Schema, sets: &[ShingleSet], matrix: &[u8]) -> Vec<Vec<(u32, usize)>> {
    let rows = || matrix.chunks_exact(schema.signature_bytes()).enumerate();
    let bucket = |band: u32| {
        let hashed = rows().filter_map(|(document, row)| {
            let hash = schema.bands().hash(row, schema.slot_width(), band);
            let hash = hash.filter(|_| !sets[document].is_empty());
            hash.map(|hash| (hash, document))
        });
        let mut bucket: Vec<(u32, usize)> = hashed.collect();
        bucket.sort_unstable();
        bucket
    };
    (0..schema.bands().bands())
        .into_par_iter()
        .map(bucket)
        .collect::<Vec<_>>()
}
