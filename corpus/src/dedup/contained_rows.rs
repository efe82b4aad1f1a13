//! Rows of texts in memory, without those that others contain.

use std::path::Path;

use tempfile::TempDir;

use crate::dedup::contained::{self, ContainmentSearch, ContainmentVerdict, check_search, key};
use crate::dedup::error::{Error, Result};
use crate::dedup::rows::{DroppedRow, dropped};
use crate::temporary::{fleeting, temporary_folder};
use crate::{BATCH_BYTES, MEMORY};
use dedupdb::write::Uncommitted;
use dedupdb::{Input, Options, Progress, Schema, Store};

/// Deduplicates rows of texts in memory by containment, as [`Dedup::containment`](crate::dedup::Dedup::containment)
/// does.
///
/// A temporary store holds the shingles and signatures of the texts. It is deleted with this value.
///
/// ```
/// use dedupdb::{Options, Progress, Schema};
/// use dedupdb_corpus::dedup::{ContainedRows, Keep, RowDedup};
///
/// let notice = "The night tram runs again from Friday on, every half hour until four";
/// let rows = [notice.to_owned(), format!("News of the week from the harbour. {notice}")];
/// let order = RowDedup::order(Keep::Longest, &rows, &Schema::default())?;
/// let texts: Vec<String> = order.into_iter().map(|row| rows[row].clone()).collect();
/// let (options, schema) = (Options::new(), Schema::default());
/// let search = ContainedRows::begin(&options, &schema, std::env::temp_dir(), 0.8)?;
/// let rows = search.shortest(10).judge(&texts, &Progress::new())?;
/// assert!(matches!(rows[0], Ok(None)));
/// let dropped = rows[1].clone()?.unwrap();
/// assert_eq!((dropped.earlier, dropped.containment, dropped.is_contained), (0, Some(1.0), true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is judged before it is asked"]
pub struct ContainedRows {
    /// Of the kept rows, if short ones are compared with them. Dropped before its folder.
    store: Store,
    folder: TempDir,
    options: Options,
    least: f64,
    shortest: usize,
}

/// Why each row is dropped, or `None` if it is kept. A text that cannot be read has an error in its place.
pub type RowVerdicts = Vec<dedupdb::Result<Option<DroppedRow>>>;

impl ContainedRows {
    /// Starts with temporary stores in a new folder in `within`. A row is dropped if a kept one has at least the share
    /// `least` of its shingles, above 0 and at most 1.
    ///
    /// # Errors
    ///
    /// [`Error::Containment`] for a share out of range or a schema without shingles; [`Error::Temporary`]
    /// if the folder cannot be created; those of creating a store.
    pub fn begin(
        options: &Options,
        schema: &Schema,
        within: impl AsRef<Path>,
        least: f64,
    ) -> Result<ContainedRows> {
        check_search(least, schema)?;
        let within = within.as_ref();
        let folder = temporary_folder(within);
        let folder = folder.map_err(|error| Error::temporary(within, error))?;
        Ok(ContainedRows {
            store: fleeting(options, folder.path().join("store"), schema)?,
            folder,
            options: options.clone(),
            least,
            shortest: 20,
        })
    }

    /// Sets how many words or other tokens the shortest texts have that are dropped by containment, 20 by default.
    pub fn shortest(self, tokens: usize) -> ContainedRows {
        ContainedRows {
            shortest: tokens,
            ..self
        }
    }

    /// Judges texts, which come in the [order](crate::dedup::RowDedup::order) of [`Keep::Longest`](crate::dedup::Keep::Longest). A
    /// text that was read is a step of `progress`.
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`]; those of the store.
    pub fn judge(&self, texts: &[String], progress: &Progress) -> Result<RowVerdicts> {
        let schema = self.store.schema();
        let folder = self.folder.path().join("contained");
        let mut search = ContainmentSearch::begin(&self.options, &schema, &folder, MEMORY)?;
        let all: Vec<usize> = (0..texts.len()).collect();
        for batch in batches(texts, &all) {
            search.push(batch.iter().map(|&row| texts[row].clone()).collect())?;
            progress.step(batch.len() as u64)?;
        }
        // First by containment, among all texts.
        let found = search.find(self.least, self.shortest, &mut || Ok(progress.go_on()?))?;
        let [settled, short] = contained::order(&found);
        let within = |verdict: ContainmentVerdict| {
            let (first, member) = verdict.within?;
            let earlier = member.represented_by(key(first));
            dropped(&contained::outcome(Some(earlier), schema.threshold()))
        };
        let mut rows: RowVerdicts = found.into_iter().map(|it| Ok(within(it))).collect();
        // Short texts are compared by similarity. The store takes the kept long ones first, and then judges the short
        // ones.
        if short.is_empty() {
            return Ok(rows);
        }
        let (mut writer, mut uncommitted) = (self.store.writer()?, Uncommitted::new(MEMORY));
        for (numbers, is_settled) in [(settled, true), (short, false)] {
            for batch in batches(texts, &numbers) {
                let input = |&row: &usize| Input::new(key(row as u64), texts[row].clone());
                let sketched = self.store.sketch_all(batch.iter().map(input).collect());
                let outcomes = if is_settled {
                    writer.admit_distinct(sketched)?
                } else {
                    writer.admit_batch(sketched)?
                };
                for (&row, outcome) in batch.iter().zip(outcomes) {
                    rows[row] = outcome.map(|outcome| dropped(&outcome));
                }
                if uncommitted.is_due(&writer) {
                    writer.commit()?;
                    uncommitted.committed();
                }
                progress.go_on()?;
            }
        }
        Ok(rows)
    }

    /// Returns how often a search skipped candidates; see [`Options::false_candidates`].
    pub fn searches_cut_short(&self) -> u64 {
        self.store.searches_cut_short()
    }
}

/// Divides the texts with these numbers into batches.
fn batches<'a>(texts: &'a [String], numbers: &'a [usize]) -> impl Iterator<Item = &'a [usize]> {
    let mut bytes = 0;
    numbers.chunk_by(move |&row, _| {
        bytes += texts[row].len() as u64;
        if bytes < BATCH_BYTES {
            return true;
        }
        bytes = 0;
        false
    })
}
