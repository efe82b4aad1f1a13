//! Rows of texts in memory, without passages that stood before.

use std::fmt;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::cutter::{CutPassages, HashedWords, PassageCutter};
use super::frequent::PassageCounter;
use super::{EVERY_COPY, check_count, check_length};
use crate::dedup::cut_row::{CutRow, RowCut};
use crate::dedup::error::{Error, Result};
use crate::dedup::units::{UnitRule, check_lost};
use dedupdb::sketching::Shingler;

/// Cuts passages from rows of texts in memory, as [`Dedup::cut_passages`](crate::dedup::Dedup::cut_passages) does from
/// documents.
///
/// The words of the rows are in a temporary file, four bytes each. It is deleted when the value is dropped.
///
/// ```
/// use dedupdb_corpus::dedup::RowPassages;
///
/// let licence = "may be copied by anybody who names its author and the year";
/// let texts = [format!("This text {licence}."), format!("So that is all. My letter {licence}!")];
/// let mut rows = RowPassages::begin(std::env::temp_dir(), 10)?;
/// let cut = rows.cut(&texts)?;
/// assert_eq!(cut[1].text.as_deref(), Some("So that is all. My letter "));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RowPassages {
    cutter: PassageCutter,
    /// Counts all rows first, if only frequent passages are cut.
    counter: Option<PassageCounter>,
    within: PathBuf,
}

impl fmt::Debug for RowPassages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowPassages").finish_non_exhaustive()
    }
}

impl RowPassages {
    /// Starts without rows, with a temporary file in `within`. Passages of at least this number of words are cut.
    ///
    /// # Errors
    ///
    /// [`Error::Temporary`] if the file cannot be created, [`Error::Units`] for fewer than 8 words.
    pub fn begin(within: impl AsRef<Path>, words: usize) -> Result<RowPassages> {
        check_length(words)?;
        let within = within.as_ref();
        let file = tempfile::tempfile_in(within);
        let file = file.map_err(|error| Error::temporary(within, error))?;
        let most_lost = UnitRule::default().most_lost;
        let most = (u64::MAX, u64::MAX);
        let cutter = PassageCutter::new(file, within.to_owned(), words, most_lost, most)?;
        Ok(RowPassages {
            cutter,
            counter: None,
            within: within.to_owned(),
        })
    }

    /// Sets the number of places from which on a passage is cut; see [`Dedup::min_count`](crate::dedup::Dedup::min_count). With
    /// more than 2, all rows are [counted](RowPassages::count) before the first ones are cut.
    ///
    /// # Errors
    ///
    /// [`Error::Units`] for fewer than 2; [`Error::Temporary`] if a temporary file cannot be created.
    pub fn min_count(mut self, places: u32) -> Result<RowPassages> {
        check_count(places)?;
        let frequent = (places > EVERY_COPY).then(|| tempfile::tempfile_in(&self.within));
        let file = frequent.transpose();
        let file = file.map_err(|error| Error::temporary(&self.within, error))?;
        self.counter = file.map(|file| self.cutter.counter(file, places));
        Ok(self)
    }

    /// Counts the passages of the next rows. It does nothing unless only frequent ones are cut.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn count<T: AsRef<str> + Sync>(&mut self, texts: &[T]) -> Result<()> {
        let Some(counter) = &mut self.counter else {
            return Ok(());
        };
        for words in hashed(texts, self.cutter.words())? {
            let counted = counter.push(&words.0);
            counted.map_err(|error| Error::temporary(&self.within, error))?;
        }
        Ok(())
    }

    /// Sets the share of its characters that a row may lose before it is dropped; see
    /// [`Dedup::drop_above`](crate::dedup::Dedup::drop_above).
    ///
    /// # Errors
    ///
    /// [`Error::Units`] if it is out of its range.
    pub fn drop_above(mut self, share: f64) -> Result<RowPassages> {
        check_lost(share)?;
        self.cutter.most_lost = share;
        Ok(self)
    }

    /// Cuts passages from the next rows.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn cut<T: AsRef<str> + Sync>(&mut self, texts: &[T]) -> Result<Vec<CutRow>> {
        if let Some(counter) = self.counter.take() {
            self.cutter.cut_frequent(counter, 0, &mut || Ok(()))?;
        }
        let words = hashed(texts, self.cutter.words())?;
        let rows = texts.iter().zip(&words);
        rows.map(|(text, words)| Ok(cut_row(self.cutter.cut(text.as_ref(), words, None)?)))
            .collect()
    }
}

/// Hashes the words of texts, on all threads.
fn hashed<T: AsRef<str> + Sync>(
    texts: &[T],
    words: &Shingler,
) -> dedupdb::Result<Vec<HashedWords>> {
    let hashed = texts
        .par_iter()
        .map(|text| HashedWords::of(text.as_ref(), words));
    hashed.collect()
}

fn cut_row(cut: CutPassages) -> CutRow {
    let cuts = cut.parts.into_iter();
    let cuts = cuts.map(|bytes| RowCut { bytes, copy: None });
    CutRow {
        cuts: cuts.collect(),
        text: cut.text,
        is_dropped: cut.is_dropped,
    }
}
