//! Rows of texts in memory, without passages that stood before.

use std::fmt;
use std::path::Path;

use rayon::prelude::*;

use super::check_length;
use super::cutter::{CutPassages, HashedWords, PassageCutter};
use crate::dedup::cut_row::{CutRow, RowCut};
use crate::dedup::error::{Error, Result};
use crate::dedup::units::{UnitRule, check_lost};

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
        Ok(RowPassages { cutter })
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
        let words = self.cutter.words();
        let hashed = texts
            .par_iter()
            .map(|text| HashedWords::of(text.as_ref(), words));
        let hashed: Vec<HashedWords> = hashed.collect::<dedupdb::Result<_>>()?;
        let rows = texts.iter().zip(&hashed);
        rows.map(|(text, words)| Ok(cut_row(self.cutter.cut(text.as_ref(), words, None)?)))
            .collect()
    }
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
