//! Texts in memory, one after another, without their near-duplicates.

use std::cmp::Reverse;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;

use crate::dedup::error::{Error, Result};
use crate::dedup::settings::Keep;
use crate::write::{Intake, Outcome, Pipeline, Relation};
use crate::{Input, Options, Schema};

/// Texts that are rows of something, deduplicated as [`Dedup`](crate::dedup::Dedup) does it with
/// [`Keep::First`]: a row is dropped for the sake of an earlier one that is kept. [`Rows::order`] tells in which
/// order rows are to come so that others are kept.
///
/// A temporary store takes the texts' shingles and signatures; it is gone with the rows.
///
/// ```
/// use std::time::Duration;
/// use dedupdb::{Schema, dedup::Rows};
///
/// let tram = "The night tram runs again from Friday on, every half hour until four";
/// let crane = "Nobody knows who painted the harbour crane in the colours of a parrot";
/// let mut rows = Rows::begin(&Schema::default(), std::env::temp_dir())?;
/// rows.push(vec![tram.to_owned(), crane.to_owned(), tram.to_uppercase()]);
/// rows.close();
/// let mut earlier = Vec::new();
/// while rows.under_way() > 0 {
///     for row in rows.wait(Duration::from_millis(50))?.unwrap_or_default() {
///         earlier.push(row?.map(|dropped| dropped.earlier));
///     }
/// }
/// assert_eq!(earlier, [None, None, Some(0)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Rows {
    /// Dropped before the folder of its store.
    pipeline: Pipeline,
    _folder: TempDir,
    next: u64,
}

/// Why a row is dropped.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct DroppedRow {
    /// The number, from 0, of the row that is kept instead.
    pub earlier: u64,
    /// Exact Jaccard similarity of both; none where the schema keeps no shingles.
    pub jaccard: Option<f64>,
    /// Estimate of it.
    pub estimate: f64,
    /// Whether the texts are the same.
    pub exact_copy: bool,
}

impl Rows {
    /// Begins with the first row. The temporary store is made in a folder of its own in `within`.
    ///
    /// # Errors
    ///
    /// [`Error::Temporary`] if no folder can be made, and those of making a store.
    pub fn begin(schema: &Schema, within: impl AsRef<Path>) -> Result<Rows> {
        let within = within.as_ref();
        let folder = tempfile::tempdir_in(within).map_err(|source| Error::Temporary {
            folder: within.to_owned(),
            source: Arc::new(source),
        })?;
        let store = Options::new().create(folder.path().join("store"), schema)?;
        let pipeline = store.pipeline(Intake::new().unique(true))?;
        Ok(Rows {
            pipeline,
            _folder: folder,
            next: 0,
        })
    }

    /// The numbers of rows in the order in which they are to be pushed, so that of rows that are alike the one
    /// that is asked for is kept, by the bytes of their texts. The newest row is the last one, as the newest
    /// record of a file is. A [`DroppedRow`] then counts in this order. For a few or none it is that of the first,
    /// and the caller counts.
    ///
    /// ```
    /// use dedupdb::dedup::{Keep, Rows};
    ///
    /// assert_eq!(Rows::order(Keep::First, &[3, 5, 5]), [0, 1, 2]);
    /// assert_eq!(Rows::order(Keep::Longest, &[3, 5, 5]), [1, 2, 0]);
    /// assert_eq!(Rows::order(Keep::Newest, &[3, 5, 5]), [2, 1, 0]);
    /// ```
    pub fn order(keep: Keep, bytes: &[usize]) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..bytes.len()).collect();
        match keep {
            Keep::First | Keep::Few(_) | Keep::None => {}
            Keep::Longest => rows.sort_by_key(|&row| Reverse(bytes[row])),
            Keep::Newest => rows.reverse(),
        }
        rows
    }

    /// Takes the next rows, without waiting; see [`Pipeline::push`].
    pub fn push(&mut self, texts: Vec<String>) {
        let inputs = texts.into_iter().map(|text| {
            let row = self.next;
            self.next += 1;
            // In the order of the rows, which decides between two that are as alike.
            Input::new(format!("{row:020}"), text)
        });
        let inputs = inputs.collect();
        self.pipeline.push(inputs);
    }

    /// Whether to wait first; see [`Pipeline::is_full`].
    pub fn is_full(&self) -> bool {
        self.pipeline.is_full()
    }

    /// What was pushed and not taken; see [`Pipeline::under_way`].
    pub fn under_way(&self) -> usize {
        self.pipeline.under_way()
    }

    /// Says that no row is left.
    pub fn close(&mut self) {
        self.pipeline.close();
    }

    /// Why each row of the next batch is dropped, none where it is kept; or none as yet after this time. A
    /// text that cannot be read has an error of its own.
    ///
    /// # Errors
    ///
    /// Those of [`Pipeline::wait`].
    pub fn wait(
        &mut self,
        time: Duration,
    ) -> Result<Option<Vec<crate::Result<Option<DroppedRow>>>>> {
        let outcomes = self.pipeline.wait(time)?;
        let rows = |outcomes: Vec<crate::Result<Outcome>>| {
            let outcomes = outcomes.into_iter();
            outcomes.map(|outcome| outcome.map(|outcome| dropped(&outcome)))
        };
        Ok(outcomes.map(|outcomes| rows(outcomes).collect()))
    }
}

fn dropped(outcome: &Outcome) -> Option<DroppedRow> {
    let earlier = outcome.duplicate_of()?;
    Some(DroppedRow {
        earlier: earlier.key.parse().ok()?,
        jaccard: earlier.jaccard,
        estimate: earlier.estimate.jaccard,
        exact_copy: outcome.relation == Relation::ExactCopy,
    })
}
