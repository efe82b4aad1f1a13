//! Rows of texts in memory, without their near-duplicates.

use std::path::Path;
use std::time::Duration;

use rayon::prelude::*;
use tempfile::TempDir;

use crate::dedup::error::{Error, Result};
use crate::dedup::settings::Keep;
use crate::temporary::fleeting;
use crate::temporary::temporary_folder;
use crate::{KeepRank, ShingleCounter, rank_of_text};
use dedupdb::write::{Intake, Outcome, Pipeline, Relation};
use dedupdb::{Input, Match, Options, Query, Schema, Store};

/// Deduplicates rows of texts in memory, as [`Dedup`](crate::dedup::Dedup) does with [`Keep::First`].
///
/// A row is dropped if it resembles an earlier row that is kept, and never if it has no tokens. Of several such rows, the
/// one with its text is named, or else the most similar one; on a tie, the first. To keep other rows, push them in the order of
/// [`RowDedup::order`].
///
/// A temporary store holds the shingles and signatures of the texts. It is deleted when the rows are dropped.
///
/// ```
/// use std::time::Duration;
/// use dedupdb::{Options, Schema};
/// use dedupdb_corpus::dedup::RowDedup;
///
/// let tram = "The night tram runs again from Friday on, every half hour until four";
/// let crane = "Nobody knows who painted the harbour crane in the colours of a parrot";
/// let mut rows = RowDedup::begin(&Options::new(), &Schema::default(), std::env::temp_dir())?;
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
pub struct RowDedup {
    /// Dropped before the folder of its store.
    pipeline: Pipeline,
    store: Store,
    _folder: TempDir,
    next: u64,
}

/// Why a row is dropped.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct DroppedRow {
    /// The number, from 0, of the kept row that it resembles.
    pub earlier: u64,
    /// The exact Jaccard similarity of the two rows, from 0 to 1. `None` if the schema keeps no shingles.
    pub jaccard: Option<f64>,
    /// The estimate of this similarity from the signatures, from 0 to 1.
    pub estimate: f64,
    /// The share of the row's shingles that the kept row has, from 0 to 1. `None` if the schema keeps no shingles.
    pub containment: Option<f64>,
    /// Whether the texts are the same.
    pub exact_copy: bool,
    /// Whether it is dropped only because the kept row contains it: their similarity is below the threshold.
    pub is_contained: bool,
}

impl DroppedRow {
    /// Returns that a row is dropped because it resembles the row `earlier`, which was found so.
    pub fn like(earlier: u64, found: &Match) -> DroppedRow {
        DroppedRow {
            earlier,
            jaccard: found.jaccard,
            estimate: found.estimate.jaccard,
            containment: found.containment,
            exact_copy: found.exact_copy,
            is_contained: false,
        }
    }
}

impl RowDedup {
    /// Starts without rows. The temporary store is created with these options, in a new folder in `within`.
    ///
    /// # Errors
    ///
    /// [`Error::Temporary`] if the folder cannot be created; those of creating a store.
    pub fn begin(options: &Options, schema: &Schema, within: impl AsRef<Path>) -> Result<RowDedup> {
        let within = within.as_ref();
        let folder = temporary_folder(within);
        let folder = folder.map_err(|error| Error::temporary(within, error))?;
        let store = fleeting(options, folder.path().join("store"), schema)?;
        Ok(RowDedup {
            pipeline: store.pipeline(Intake::new().unique(true))?,
            store,
            _folder: folder,
            next: 0,
        })
    }

    /// Returns the order in which to push rows, given their texts.
    ///
    /// In this order, the row that `keep` selects among several similar ones is the one that is kept. The newest row is
    /// the last one. The numbers of a [`DroppedRow`] then count in this order. For [`Keep::Few`] and [`Keep::None`],
    /// the order is that of the input, and the caller counts.
    ///
    /// ```
    /// use dedupdb_corpus::dedup::{Keep, RowDedup};
    ///
    /// # use dedupdb::Schema;
    /// let rows = ["a b", "a b, c", "A B, C"].map(str::to_owned);
    /// let schema = Schema::builder().shingling("word:2".parse()?).build()?;
    /// assert_eq!(RowDedup::order(Keep::First, &rows, &schema)?, [0, 1, 2]);
    /// assert_eq!(RowDedup::order(Keep::Longest, &rows, &schema)?, [1, 2, 0]);
    /// assert_eq!(RowDedup::order(Keep::Newest, &rows, &schema)?, [2, 1, 0]);
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Schema::shingler`].
    pub fn order(keep: Keep, texts: &[String], schema: &Schema) -> dedupdb::Result<Vec<usize>> {
        let mut rows: Vec<usize> = (0..texts.len()).collect();
        match keep {
            Keep::First | Keep::Few(_) | Keep::None => {}
            Keep::Longest => {
                let counter = ShingleCounter::of(schema)?;
                let ranks = texts.par_iter();
                let ranks = ranks.map(|text| rank_of_text(text, counter.count(text), None));
                let ranks: Vec<KeepRank> = ranks.collect();
                rows.sort_by_key(|&row| ranks[row]);
            }
            Keep::Newest => rows.reverse(),
        }
        Ok(rows)
    }

    /// Pushes the next rows, without waiting; see [`Pipeline::push`].
    pub fn push(&mut self, texts: Vec<String>) {
        let inputs = texts.into_iter().map(|text| {
            let row = self.next;
            self.next += 1;
            // Keys sort in the order of the rows, which decides between two that are equally similar.
            Input::new(format!("{row:020}"), text)
        });
        let inputs = inputs.collect();
        self.pipeline.push(inputs);
    }

    /// Returns whether to wait before pushing; see [`Pipeline::is_full`].
    pub fn is_full(&self) -> bool {
        self.pipeline.is_full()
    }

    /// Returns the number of batches that were pushed and not yet returned; see [`Pipeline::under_way`].
    pub fn under_way(&self) -> usize {
        self.pipeline.under_way()
    }

    /// Declares that no more rows follow.
    pub fn close(&mut self) {
        self.pipeline.close();
    }

    /// Returns how often a search skipped candidates; see [`Options::false_candidates`].
    pub fn searches_cut_short(&self) -> u64 {
        self.store.searches_cut_short()
    }

    /// For each of these texts, returns the kept rows that resemble it, the most similar first. A text without tokens
    /// resembles none.
    ///
    /// With the texts of dropped rows, once all rows are judged, these are the rows that [`Keep::None`] drops as well.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use dedupdb::{Options, Schema};
    /// # use dedupdb_corpus::dedup::RowDedup;
    /// # let mut rows = RowDedup::begin(&Options::new(), &Schema::default(), std::env::temp_dir())?;
    /// let tram = "The night tram runs again from Friday on, every half hour until four";
    /// rows.push(vec!["Another text".to_owned(), tram.to_owned(), tram.to_uppercase()]);
    /// rows.close();
    /// while rows.under_way() > 0 {
    ///     rows.wait(Duration::from_millis(50))?;
    /// }
    /// let kept = rows.resembled(&[tram.to_uppercase()])?.remove(0)?;
    /// assert_eq!(kept[0].earlier, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Store::query_all`].
    pub fn resembled(&self, texts: &[String]) -> Result<Vec<dedupdb::Result<Vec<DroppedRow>>>> {
        let queries: Vec<_> = texts.iter().map(|text| Query::text(text)).collect();
        let answers = self.store.query_all(&queries)?.into_iter();
        let rows = |found: Vec<Match>| {
            let rows = found.iter().filter(|found| found.bands > 0);
            rows.filter_map(|found| Some(DroppedRow::like(found.key.parse().ok()?, found)))
                .collect()
        };
        Ok(answers.map(|answer| answer.map(rows)).collect())
    }

    /// Waits for the next batch. For each of its rows, returns why it is dropped, or `None` if it is kept. Returns
    /// `None` if no batch is ready after this time. A text that cannot be read has an error in its place.
    ///
    /// # Errors
    ///
    /// Those of [`Pipeline::wait`].
    pub fn wait(
        &mut self,
        time: Duration,
    ) -> Result<Option<Vec<dedupdb::Result<Option<DroppedRow>>>>> {
        let outcomes = self.pipeline.wait(time)?;
        let rows = |outcomes: Vec<dedupdb::Result<Outcome>>| {
            let outcomes = outcomes.into_iter();
            outcomes.map(|outcome| {
                let outcome = outcome?;
                Ok(dropped(&outcome).filter(|_| !is_wordless(&outcome)))
            })
        };
        Ok(outcomes.map(|outcomes| rows(outcomes).collect()))
    }
}

/// Returns why a row is dropped, given the outcome of offering it, or `None` if it is kept.
pub(super) fn dropped(outcome: &Outcome) -> Option<DroppedRow> {
    let earlier = outcome.duplicate_of()?;
    Some(DroppedRow {
        exact_copy: outcome.relation == Relation::ExactCopy,
        is_contained: outcome.relation == Relation::Contained,
        ..DroppedRow::like(earlier.key.parse().ok()?, earlier)
    })
}

/// Whether a copy has no shingles: it shares no bucket, not even with its copies.
fn is_wordless(outcome: &Outcome) -> bool {
    let earlier = outcome.duplicate_of();
    outcome.relation == Relation::ExactCopy && earlier.is_some_and(|it| it.bands == 0)
}
