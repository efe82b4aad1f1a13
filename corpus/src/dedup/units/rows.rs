//! Rows of texts in memory, without repeated paragraphs or lines.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::judge::{JudgedDocument, UnitJudge};
use super::split::{SplitDocument, UnitBatch};
use super::{Unit, UnitRule, check_lost};
use crate::dedup::cut_row::{CutRow, RowCut, UnitCopy};
use crate::dedup::error::{Error, Result};
use crate::temporary::{fleeting, temporary_folder};
use crate::{Item, ItemBatch, Origin, SourcedText};
use dedupdb::write::Uncommitted;
use dedupdb::{Options, Schema, Store, Writer};

/// Bytes of changes that are not yet committed.
const MEMORY: u64 = 256 << 20;

/// Cuts units from rows of texts in memory, as [`Dedup::unit`](crate::dedup::Dedup::unit) does from documents.
///
/// A temporary store holds the shingles and signatures of the units. It is deleted when the value is dropped.
///
/// ```
/// use dedupdb::{Options, Schema};
/// use dedupdb_corpus::dedup::{RowUnits, Unit};
///
/// let notice = "Letters to the editor are printed with the name and the town of their author.";
/// let texts = [
///     format!("The night tram runs again from Friday on.\n\n{notice}"),
///     format!("The harbour crane was painted like a parrot.\n\n{notice}"),
/// ];
/// let mut rows = RowUnits::begin(&Options::new(), &Schema::default(), std::env::temp_dir(), Unit::Paragraph)?;
/// let mut cut = rows.cut(texts.to_vec())?;
/// let second = cut.remove(1)?;
/// assert_eq!(second.text.as_deref(), Some("The harbour crane was painted like a parrot."));
/// assert_eq!(second.cuts[0].copy.unwrap().earlier, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RowUnits {
    /// Dropped before the folder of its store.
    writer: Writer,
    store: Store,
    _folder: TempDir,
    uncommitted: Uncommitted,
    rule: UnitRule,
    next: u64,
}

impl RowUnits {
    /// Starts without rows. The temporary store is created with these options, in a new folder in `within`.
    ///
    /// # Errors
    ///
    /// [`Error::Temporary`] if the folder cannot be created; those of creating a store.
    pub fn begin(
        options: &Options,
        schema: &Schema,
        within: impl AsRef<Path>,
        unit: Unit,
    ) -> Result<RowUnits> {
        let within = within.as_ref();
        let folder = temporary_folder(within);
        let folder = folder.map_err(|error| Error::temporary(within, error))?;
        let store = fleeting(options, folder.path().join("store"), schema)?;
        Ok(RowUnits {
            writer: store.writer()?,
            store,
            _folder: folder,
            uncommitted: Uncommitted::new(MEMORY),
            rule: UnitRule {
                unit: Some(unit),
                ..UnitRule::default()
            },
            next: 0,
        })
    }

    /// Sets the number of words of the shortest units that are judged; see
    /// [`Dedup::min_words`](crate::dedup::Dedup::min_words).
    #[must_use]
    pub fn min_words(mut self, words: usize) -> RowUnits {
        self.rule.fewest_words = words;
        self
    }

    /// Sets the share of its characters that a row may lose before it is dropped; see
    /// [`Dedup::drop_above`](crate::dedup::Dedup::drop_above).
    ///
    /// # Errors
    ///
    /// [`Error::Units`] if it is out of its range.
    pub fn drop_above(mut self, share: f64) -> Result<RowUnits> {
        check_lost(share)?;
        self.rule.most_lost = share;
        Ok(self)
    }

    /// Cuts units from the next rows. A row with a unit that cannot be read has an error in its place, and is not kept.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn cut(&mut self, texts: Vec<String>) -> Result<Vec<dedupdb::Result<CutRow>>> {
        let rows = (self.next..).zip(texts);
        let items: Vec<Item<SourcedText>> = rows
            .map(|(row, text)| Item::Document(numbered(row, text)))
            .collect();
        self.next += items.len() as u64;
        let mut cut = Vec::with_capacity(items.len());
        let batch = ItemBatch {
            items,
            ..ItemBatch::default()
        };
        for batch in UnitBatch::all_of(batch, self.rule, &self.store)? {
            let outcomes = self.writer.admit_batch(batch.sketches)?;
            let mut judge = UnitJudge::new(self.rule, outcomes);
            let mut documents = batch.items.iter().filter_map(Item::document);
            while let Some(document) = documents.next() {
                let judged = judge.next(&mut self.writer, document, documents.clone())?;
                cut.push(judged.map(|judged| cut_row(document, judged)));
            }
            if self.uncommitted.is_due(&self.writer) {
                self.writer.commit()?;
                self.uncommitted.committed();
            }
        }
        Ok(cut)
    }

    /// Returns how often a search skipped candidates; see [`Options::false_candidates`].
    pub fn searches_cut_short(&self) -> u64 {
        self.store.searches_cut_short()
    }
}

/// Makes a document of a row. Keys sort in the order of the rows, which decides between two that are equally similar.
fn numbered(row: u64, text: String) -> SourcedText {
    SourcedText::new(text, Origin::new(format!("{row:020}"), PathBuf::new()))
}

fn cut_row(document: &SplitDocument, judged: JudgedDocument) -> CutRow {
    let units = document.judged.iter().zip(&judged.outcomes);
    let cuts = units.filter_map(|(&unit, outcome)| {
        let copy = UnitCopy::of(unit, outcome)?;
        let end = document.units[unit].end;
        Some(RowCut {
            bytes: end - document.text(unit).len()..end,
            copy: Some(copy),
        })
    });
    CutRow {
        cuts: cuts.collect(),
        text: judged.text,
        is_dropped: judged.is_dropped,
    }
}
