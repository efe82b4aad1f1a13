//! Pairs that share a bucket and must be compared.

use rayon::slice::ParallelSliceMut;

use super::keys::BandKeys;
use crate::error::{Error, Result};
use crate::parallel;
use crate::schema::check_threshold;
use crate::text::sizes_fit;

/// By default, a row is paired with at most this number of rows of a bucket.
const MOST: usize = 4000;

/// Finds the pairs of texts that share a bucket and whose sizes allow them to match.
///
/// A bucket holds the texts with the same key in the same band. Each pair is returned once, in the first band whose
/// key both have. The rows of one bucket are enough to decide that, so buckets may be spread over machines. A bucket
/// of n texts has n (n - 1) / 2 pairs, so the work on a bucket is bounded ([`most`](CandidateQuery::most)), and
/// skipped pairs are counted.
///
/// ```
/// use dedupdb::batch::{CandidateQuery, KeyWidth, Sketcher};
/// use dedupdb::{Schema, sketching::Shingling};
///
/// let schema = Schema::builder().shingling(Shingling::Word(1)).threshold(0.5).build()?;
/// let texts = ["the night tram runs again", "who painted the crane", "the night bus runs again"];
/// let sketches = Sketcher::new(&schema, KeyWidth::Bits64)?.sketch_all(&texts);
/// let query = CandidateQuery::new(sketches.keys(), sketches.sizes(), schema.threshold())?;
/// let found = query.all();
/// assert_eq!((found.pairs.as_slice(), found.passed_over), (&[(0, 2)][..], 0));
/// assert_eq!(sketches.sets().jaccards(&found.pairs)?, [4.0 / 6.0]);
/// # Ok::<(), dedupdb::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CandidateQuery<'a> {
    keys: BandKeys<'a>,
    sizes: &'a [u32],
    threshold: f64,
    most: usize,
}

/// Pairs to compare.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Candidates {
    /// The rows of two texts, the lower one first. Ascending, each pair once.
    pub pairs: Vec<(usize, usize)>,
    /// Pairs of matching sizes that were skipped because their bucket is large. A pair that is in several large buckets
    /// counts in each that skips it, even if an earlier bucket has returned it.
    pub passed_over: u64,
}

impl<'a> CandidateQuery<'a> {
    /// Finds pairs of texts with these band keys and numbers of shingles: a row and a number for each text. Pairs
    /// whose sizes differ too much to reach the threshold are omitted: J(A, B) <= |A| / |B|.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidColumn`] if there are more or fewer rows than sizes, and
    /// [`Error::InvalidQuery`] if the threshold is not above 0 and at most 1.
    pub fn new(keys: BandKeys<'a>, sizes: &'a [u32], threshold: f64) -> Result<CandidateQuery<'a>> {
        check_threshold(threshold)?;
        if keys.len() != sizes.len() {
            return Err(Error::InvalidColumn {
                column: "sizes",
                row: keys.len().min(sizes.len()),
                reason: format!(
                    "there are {} sizes and {} rows of keys",
                    sizes.len(),
                    keys.len()
                ),
            });
        }
        Ok(CandidateQuery {
            keys,
            sizes,
            threshold,
            most: MOST,
        })
    }

    /// Pairs a row of a bucket with at most this number of others: with the next ones by size and, for equal sizes,
    /// by row. 4,000 by default; [`usize::MAX`] for all.
    ///
    /// A pair that its first bucket skips is not returned by another one.
    #[must_use]
    pub fn most(mut self, rows: usize) -> CandidateQuery<'a> {
        self.most = rows;
        self
    }

    /// Finds the pairs of all buckets.
    ///
    /// Sorts the keys band by band. Takes 16 bytes of memory for each text and 32 bytes for each pair. Uses the
    /// threads of the current rayon pool; the pairs do not depend on their number.
    pub fn all(&self) -> Candidates {
        let mut found = Candidates::default();
        for band in 0..self.keys.bands() {
            found.append(self.in_band(band));
        }
        found.pairs.par_sort_unstable();
        found
    }

    /// Finds the pairs of one band that share no bucket of an earlier band. There are no pairs if the band does not
    /// exist. Together, the bands have the pairs of [`CandidateQuery::all`].
    pub fn band(&self, band: usize) -> Candidates {
        let mut found = Candidates::default();
        if band < self.keys.bands() {
            found.append(self.in_band(band));
            found.pairs.par_sort_unstable();
        }
        found
    }

    /// Finds the pairs of one bucket, from rows with the key `key`, in any order and with any repetitions.
    ///
    /// This is for engines that collect the rows of a bucket. If the first common key of a pair is a different one, the
    /// pair is left to that bucket. A row without the key is in no pair.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidColumn`] if a row does not exist.
    ///
    /// ```
    /// use dedupdb::batch::{CandidateQuery, BandKeys};
    ///
    /// // Rows 0 and 1 meet in the bucket 7 first, and row 2 joins them in the bucket 9.
    /// let keys = [7, 9, 7, 9, 8, 9];
    /// let query = CandidateQuery::new(BandKeys::new(&keys, 2)?, &[5, 5, 5], 0.8)?;
    /// assert_eq!(query.bucket(7, &[0, 1])?.pairs, [(0, 1)]);
    /// assert_eq!(query.bucket(9, &[0, 1, 2])?.pairs, [(0, 2), (1, 2)]);
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    pub fn bucket(&self, key: u64, rows: &[usize]) -> Result<Candidates> {
        if let Some(&row) = rows.iter().find(|&&row| row >= self.keys.len()) {
            return Err(Error::InvalidColumn {
                column: "keys",
                row,
                reason: format!("there are {} rows", self.keys.len()),
            });
        }
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        rows.dedup();
        let is_first = |a, b| {
            let band = self.keys.first_shared(a, b);
            let shared = band.and_then(|band| self.keys.row(a)?.get(band));
            shared == Some(&key)
        };
        let mut found = self.among(rows, is_first);
        found.pairs.sort_unstable();
        Ok(found)
    }

    /// The pairs of an existing band, in any order.
    fn in_band(&self, band: usize) -> Candidates {
        let keys = self.keys.as_slice().iter().skip(band);
        let keys = keys.step_by(self.keys.bands()).copied();
        let mut postings: Vec<(u64, usize)> = keys.zip(0..).collect();
        // Equal keys stand side by side, and their rows ascend, whatever the number of threads.
        postings.par_sort_unstable();
        let buckets = postings.chunk_by(|a, b| a.0 == b.0);
        let shared = buckets.filter(|bucket| bucket.len() > 1);
        let in_bucket = |bucket: &[(u64, usize)]| {
            let rows = bucket.iter().map(|&(_, row)| row).collect();
            self.among(rows, |a, b| self.keys.first_shared(a, b) == Some(band))
        };
        let mut found = Candidates::default();
        for part in parallel::map(shared.collect(), in_bucket) {
            found.append(part);
        }
        found
    }

    /// The pairs of distinct rows that fit by size and for which `is_here` is true.
    fn among(&self, mut rows: Vec<usize>, is_here: impl Fn(usize, usize) -> bool) -> Candidates {
        let size = |row: usize| self.sizes.get(row).copied().unwrap_or_default() as usize;
        // By size: the rows that fit to a row are the next ones.
        rows.sort_unstable_by_key(|&row| (size(row), row));
        let mut found = Candidates::default();
        for (at, &row) in rows.iter().enumerate() {
            let larger = &rows[at + 1..];
            let fits = |&other: &usize| sizes_fit(size(row), size(other), self.threshold);
            let fitting = larger.partition_point(fits);
            let given = fitting.min(self.most);
            found.passed_over += (fitting - given) as u64;
            let others = larger[..given].iter().copied();
            let others = others.filter(|&other| is_here(row, other));
            let pairs = others.map(|other| (row.min(other), row.max(other)));
            found.pairs.extend(pairs);
        }
        found
    }
}

impl Candidates {
    fn append(&mut self, other: Candidates) {
        self.pairs.extend(other.pairs);
        self.passed_over += other.passed_over;
    }
}
