//! An index of token sets in memory, for `dedupdb.datasketch`.

use std::collections::HashMap;
use std::sync::Arc;

use dedupdb::Schema;
use dedupdb::sketching::{Bands, Shingling, SlotWidth};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::errors::raised;
use crate::tokens::{TokenSet, bytes_of, jaccard, sorted, words};

/// Ends the chain of a bucket.
const NONE: u32 = u32::MAX;

/// How many sets may be removed, beside as many as there are, before the buckets are made again.
const REMOVED: usize = 64;

/// The bands and rows that a store chooses, or the bands that find most if there are too few permutations.
#[pyfunction]
pub(crate) fn bands_of_recall(
    py: Python<'_>,
    permutations: u32,
    threshold: f64,
) -> PyResult<(u32, u32)> {
    let builder = Schema::builder()
        .shingling(Shingling::Ids)
        .permutations(permutations)
        .threshold(threshold);
    let schema = match builder.clone().build() {
        Err(dedupdb::Error::InvalidSchema {
            parameter: "recall",
            ..
        }) => builder.bands(permutations, 1).build(),
        built => built,
    };
    let bands = schema.map_err(|error| raised(py, &error))?.bands();
    Ok((bands.bands(), bands.rows()))
}

/// Token sets by number, found through the buckets in which a store has them.
#[pyclass(module = "dedupdb._native")]
pub(crate) struct SetIndex {
    bands: Bands,
    threshold: f64,
    /// The seed of the sets, if there are any.
    seed: u64,
    entries: Vec<Entry>,
    /// For each band, the newest entry of each bucket.
    buckets: Vec<HashMap<u32, u32>>,
    /// Numbers of removed entries that are still in their buckets.
    removed: Vec<u32>,
    /// Numbers that can be given again.
    free: Vec<u32>,
    query: u64,
}

struct Entry {
    /// None of a removed entry.
    tokens: Option<Arc<Vec<u64>>>,
    links: Box<[BucketLink]>,
    /// The last query that met it.
    last_query: u64,
}

/// An entry in the bucket of a band.
#[derive(Clone, Copy)]
struct BucketLink {
    hash: u32,
    /// The entry before it in the bucket.
    next: u32,
}

// Nothing calls into Python while an index is borrowed, so no other borrow meets it.
#[pymethods]
impl SetIndex {
    #[new]
    fn new(py: Python<'_>, bands: (u32, u32), threshold: f64) -> PyResult<SetIndex> {
        let (bands, rows) = bands;
        let bands = Bands::new(bands, rows, bands.saturating_mul(rows));
        let bands = bands.map_err(|error| raised(py, &error))?;
        Ok(SetIndex {
            bands,
            threshold,
            seed: 0,
            entries: Vec::new(),
            buckets: vec![HashMap::new(); bands.bands() as usize],
            removed: Vec::new(),
            free: Vec::new(),
            query: 0,
        })
    }

    #[getter]
    fn bands(&self) -> (u32, u32) {
        (self.bands.bands(), self.bands.rows())
    }

    /// The share of the pairs of this similarity that are found.
    fn recall(&self, jaccard: f64) -> f64 {
        self.bands.probability(jaccard, SlotWidth::default())
    }

    fn __len__(&self) -> usize {
        self.entries.len() - self.removed.len() - self.free.len()
    }

    /// Adds a set, and returns its number.
    fn insert(&mut self, set: &Bound<'_, TokenSet>) -> PyResult<u32> {
        self.check_seed(set)?;
        self.seed = set.borrow().seed();
        let hashes = self.hashes(set);
        Ok(self.push(sorted(set), &hashes))
    }

    /// Adds a set of another index, and returns its number here.
    fn take(slf: &Bound<'_, Self>, other: &Bound<'_, Self>, number: u32) -> PyResult<u32> {
        let (seed, tokens, hashes) = {
            let other = other.borrow();
            let entry = other.entry(number)?;
            let hashes: Vec<u32> = entry.links.iter().map(|link| link.hash).collect();
            (other.seed, entry.tokens.clone(), hashes)
        };
        let mut index = slf.borrow_mut();
        index.check(seed)?;
        index.seed = seed;
        Ok(index.push(tokens.unwrap_or_default(), &hashes))
    }

    /// The numbers of the sets that reach the threshold, the most similar first.
    fn query(&mut self, set: &Bound<'_, TokenSet>) -> PyResult<Vec<u32>> {
        self.check_seed(set)?;
        self.query += 1;
        let (tokens, hashes) = (sorted(set), self.hashes(set));
        let mut found: Vec<(f64, u32)> = Vec::new();
        for ((band, bucket), hash) in self.buckets.iter().enumerate().zip(hashes) {
            let mut number = bucket.get(&hash).copied().unwrap_or(NONE);
            while let Some(entry) = self.entries.get_mut(number as usize) {
                let own = std::mem::replace(&mut number, entry.links[band].next);
                let is_new = std::mem::replace(&mut entry.last_query, self.query) != self.query;
                if is_new && let Some(other) = &entry.tokens {
                    let jaccard = jaccard(&tokens, other);
                    if jaccard >= self.threshold {
                        found.push((jaccard, own));
                    }
                }
            }
        }
        found.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        Ok(found.into_iter().map(|(_, number)| number).collect())
    }

    fn remove(&mut self, number: u32) -> PyResult<()> {
        self.entry(number)?;
        self.entries[number as usize].tokens = None;
        self.removed.push(number);
        if self.removed.len() > self.__len__() + REMOVED {
            self.rebuild();
        }
        Ok(())
    }

    /// For each band, its buckets with the number of sets in each: of these sets, or of all.
    #[pyo3(signature = (numbers=None))]
    fn counts<'py>(
        &self,
        py: Python<'py>,
        numbers: Option<Vec<u32>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let entries: Vec<&Entry> = match numbers {
            None => self
                .entries
                .iter()
                .filter(|entry| entry.tokens.is_some())
                .collect(),
            Some(numbers) => {
                let entries = numbers.into_iter().map(|number| self.entry(number));
                entries.collect::<PyResult<_>>()?
            }
        };
        let list = PyList::empty(py);
        for band in 0..self.buckets.len() {
            let mut hashes: Vec<u32> = entries.iter().map(|entry| entry.links[band].hash).collect();
            hashes.sort_unstable();
            let dict = PyDict::new(py);
            for bucket in hashes.chunk_by(|a, b| a == b) {
                dict.set_item(bucket[0], bucket.len())?;
            }
            list.append(dict)?;
        }
        Ok(list)
    }

    fn __getnewargs__(&self) -> ((u32, u32), f64) {
        (self.bands(), self.threshold)
    }

    /// The seed; of each set its number, its tokens' number and its hashes; the tokens of all.
    fn __getstate__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(u64, Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let (mut sets, mut all) = (Vec::new(), Vec::new());
        for (number, entry) in self.entries.iter().enumerate() {
            if let Some(tokens) = &entry.tokens {
                sets.extend([number as u64, tokens.len() as u64]);
                sets.extend(entry.links.iter().map(|link| u64::from(link.hash)));
                all.extend_from_slice(tokens);
            }
        }
        let bytes = |words: Vec<u64>| bytes_of(py, words.into_iter().map(u64::to_le_bytes));
        Ok((self.seed, bytes(sets)?, bytes(all)?))
    }

    fn __setstate__(
        &mut self,
        state: (u64, Bound<'_, PyBytes>, Bound<'_, PyBytes>),
    ) -> PyResult<()> {
        let wrong = || PyValueError::new_err("this is not the state of a SetIndex");
        let (sets, tokens) = (words(state.1.as_bytes())?, words(state.2.as_bytes())?);
        self.seed = state.0;
        let mut tokens = tokens.as_slice();
        let sets = sets.chunks_exact(2 + self.buckets.len());
        for bucket in &mut self.buckets {
            bucket.reserve(sets.len());
        }
        for set in sets {
            let place = usize::try_from(set[0])?;
            let (own, others) = tokens
                .split_at_checked(usize::try_from(set[1])?)
                .ok_or_else(wrong)?;
            tokens = others;
            if place < self.entries.len() {
                return Err(wrong());
            }
            let vacant = self.entries.len()..place;
            self.free
                .extend((0..).skip(vacant.start).take(vacant.len()));
            self.entries.resize_with(place + 1, Entry::removed);
            let hashes = set[2..].iter().map(|hash| u32::try_from(*hash));
            let hashes: Vec<u32> = hashes.collect::<Result<_, _>>()?;
            self.put(u32::try_from(place)?, Arc::new(own.to_vec()), &hashes);
        }
        Ok(())
    }
}

impl SetIndex {
    fn check_seed(&self, set: &Bound<'_, TokenSet>) -> PyResult<()> {
        self.check(set.borrow().seed())
    }

    fn check(&self, seed: u64) -> PyResult<()> {
        if self.__len__() == 0 || seed == self.seed {
            return Ok(());
        }
        Err(PyValueError::new_err(format!(
            "Expecting minhash with seed {}, as those in the index have, got {seed}",
            self.seed
        )))
    }

    fn entry(&self, number: u32) -> PyResult<&Entry> {
        let entry = self.entries.get(number as usize);
        let entry = entry.filter(|entry| entry.tokens.is_some());
        entry.ok_or_else(|| PyValueError::new_err(format!("there is no set {number}")))
    }

    /// The hash of each band of a set.
    fn hashes(&self, set: &Bound<'_, TokenSet>) -> Vec<u32> {
        let signature = set.borrow().signature();
        let mut hashes = Vec::with_capacity(self.buckets.len());
        // A set with fewer permutations than the bands take is in no bucket.
        let _ = self
            .bands
            .hashes(signature.as_bytes(), signature.width(), &mut hashes);
        hashes
    }

    fn push(&mut self, tokens: Arc<Vec<u64>>, hashes: &[u32]) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.entries.push(Entry::removed());
            u32::try_from(self.entries.len() - 1).unwrap_or(NONE)
        });
        self.put(number, tokens, hashes);
        number
    }

    /// Puts a set into the place of a removed one that is in no bucket.
    fn put(&mut self, number: u32, tokens: Arc<Vec<u64>>, hashes: &[u32]) {
        let buckets = self.buckets.iter_mut().zip(hashes);
        let links = buckets.map(|(bucket, &hash)| BucketLink {
            hash,
            next: bucket.insert(hash, number).unwrap_or(NONE),
        });
        self.entries[number as usize] = Entry {
            links: links.collect(),
            tokens: Some(tokens),
            last_query: 0,
        };
    }

    /// Makes the buckets again, without the removed entries.
    fn rebuild(&mut self) {
        self.buckets.fill(HashMap::new());
        for number in self.removed.drain(..) {
            self.entries[number as usize] = Entry::removed();
            self.free.push(number);
        }
        for (number, entry) in (0..).zip(&mut self.entries) {
            for (bucket, link) in self.buckets.iter_mut().zip(&mut entry.links) {
                link.next = bucket.insert(link.hash, number).unwrap_or(NONE);
            }
        }
    }
}

impl Entry {
    /// One that is in no bucket.
    fn removed() -> Entry {
        Entry {
            tokens: None,
            links: Box::default(),
            last_query: 0,
        }
    }
}
