//! The order in which documents are judged, if it is not that of the input.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use crate::dedup::error::{Error, Result};
use crate::dedup::keep_by::{FieldKey, FieldRanks};
use crate::dedup::settings::{Dedup, Keep};
use crate::number::times;
use crate::{Compound, FieldPlaces, Item, KeepRank, Origin, ShingleCounter, SourcedText, rank_of};

/// The rank of a document, and the place of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DocumentRank {
    newest: Reverse<i64>,
    /// Whether it comes after all files, because it is a record, which cannot be moved.
    is_after_files: bool,
    by_content: KeepRank,
    /// Its position in the input.
    pub(crate) ordinal: u64,
    /// Its offset in the spool.
    pub(crate) offset: u64,
    /// Whether it is judged before all unprotected documents, and never dropped.
    pub(crate) is_protected: bool,
}

/// Ranks documents.
#[derive(Debug)]
pub(crate) struct Ranking {
    keep: Keep,
    /// Whether records come after all files.
    files_first: bool,
    counter: ShingleCounter,
    ranks: Vec<DocumentRank>,
    /// The ranks by fields, which decide first.
    fields: FieldRanks,
    /// Where the records that are being read have these fields.
    places: Arc<FieldPlaces>,
    /// The fields of the first record.
    names: Vec<String>,
    /// Whether rows of tables are written from these again.
    tables_apart: bool,
    /// Whether the records that are being read are rows of such a table.
    is_table: bool,
    /// The last file whose modification time was read, and that time.
    file: Option<(PathBuf, i64)>,
}

impl Ranking {
    /// Returns a ranking without documents.
    pub(crate) fn new(dedup: &Dedup, tables_apart: bool, counter: ShingleCounter) -> Ranking {
        Ranking {
            keep: dedup.kept(),
            files_first: dedup.moved_from.is_some() && dedup.kept() == Keep::Longest,
            counter,
            ranks: Vec::new(),
            fields: FieldRanks::new(dedup.keep_by.iter().cloned()),
            places: Arc::default(),
            names: Vec::new(),
            tables_apart,
            is_table: false,
            file: None,
        }
    }

    /// Returns how each document of the next items ranks by what it says, if that decides.
    pub(crate) fn by_content(&self, items: &[Item]) -> Vec<KeepRank> {
        if self.keep != Keep::Longest {
            return Vec::new();
        }
        let documents: Vec<&SourcedText> = items.iter().filter_map(Item::document).collect();
        let ranks = documents
            .par_iter()
            .map(|it| rank_of(it, self.counter.count(it.text())));
        ranks.collect()
    }

    /// Ranks the documents of the next items by their fields, if these decide. Rows that are written from their tables are
    /// left without these.
    ///
    /// # Errors
    ///
    /// [`Error::KeepBy`] for a field that is a list or an object, or a name that several columns have.
    pub(crate) fn by_fields(&mut self, items: &mut [Item]) -> Result<()> {
        if !self.fields.is_empty() {
            self.push_fields(items)?;
        }
        for item in items {
            match item {
                Item::Opened(opened) => self.is_table = opened.table.is_some(),
                Item::Document(document) if self.is_table && self.tables_apart => {
                    document.origin.verbatim = Vec::new();
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn push_fields(&mut self, items: &[Item]) -> Result<()> {
        // The places of fields follow the order of the input. The values are then read on all threads.
        let mut documents = Vec::new();
        for item in items {
            match item {
                Item::Opened(opened) => {
                    let places = FieldPlaces::of(opened, self.fields.fields());
                    let place = opened.source.display();
                    self.places = Arc::new(places.map_err(|name| {
                        keep_by(format!("{place}: several columns are called {name:?}"))
                    })?);
                }
                Item::Document(document) if document.record.is_some() => {
                    if self.names.is_empty() {
                        self.names = self.places.names(&document.verbatim);
                    }
                    documents.push((document, self.places.clone()));
                }
                Item::Document(document) => documents.push((document, Arc::default())),
                Item::Skipped(_) | Item::Unchanged(_) => {}
            }
        }
        let fields = &self.fields;
        let keys = documents.par_iter().map(|(document, places)| {
            let values = places.values(&document.verbatim);
            let values = values.map_err(|fault| compound(document, fault, fields))?;
            Ok(fields.key(&values))
        });
        let keys: Vec<Result<FieldKey>> = keys.collect();
        for key in keys {
            self.fields.push_key(&key?);
        }
        Ok(())
    }

    /// Checks that documents have the fields, and counts those without.
    ///
    /// # Errors
    ///
    /// [`Error::KeepBy`].
    pub(crate) fn without_field(&self) -> Result<BTreeMap<String, u64>> {
        self.fields.check(&self.names)?;
        let without = self.fields.without();
        Ok(without
            .map(|(field, without)| (field.to_owned(), without))
            .collect())
    }

    /// Ranks the next document of the input, whose text is at `offset` in the spool.
    pub(crate) fn push(
        &mut self,
        document: &SourcedText,
        by_content: KeepRank,
        offset: u64,
        is_protected: bool,
    ) {
        let mut newest = Reverse(0);
        match self.keep {
            Keep::First | Keep::Few(_) | Keep::None | Keep::Longest => {}
            Keep::Newest => {
                let modified = document.modified.and_then(times::nanoseconds);
                newest = Reverse(modified.unwrap_or_else(|| self.time_of(&document.source)));
            }
        }
        self.ranks.push(DocumentRank {
            newest,
            is_after_files: self.files_first && document.record.is_some(),
            by_content,
            ordinal: self.ranks.len() as u64,
            offset,
            is_protected,
        });
    }

    /// Returns the modification time of a file of records. Standard input is newer than any file.
    fn time_of(&mut self, source: &Path) -> i64 {
        if let Some((path, time)) = &self.file
            && path == source
        {
            return *time;
        }
        let metadata = fs::metadata(source).ok();
        let time = metadata.and_then(|metadata| crate::number::times::modified(&metadata));
        let time = time.and_then(times::nanoseconds).unwrap_or(i64::MAX);
        self.file = Some((source.to_owned(), time));
        time
    }

    /// Returns the ranks of the protected documents and those of all others, each in the order in which they are
    /// judged.
    pub(crate) fn sorted(mut self) -> [Vec<DocumentRank>; 2] {
        // Protected first, then by fields, then by the kept one of equal documents. Of equally new ones, the last is
        // first.
        let is_newest = self.keep == Keep::Newest;
        let fields = &self.fields;
        self.ranks.sort_unstable_by(|one, other| {
            let [first, second] = [one, other].map(|rank| {
                let late = is_newest.then_some(Reverse(rank.ordinal));
                let first = Reverse(rank.is_protected);
                let key = fields.of(usize::try_from(rank.ordinal).unwrap_or(usize::MAX));
                let content = (rank.is_after_files, rank.by_content);
                (first, key, rank.newest, content, late, rank.ordinal)
            });
            first.cmp(&second)
        });
        let protected = self.ranks.partition_point(|rank| rank.is_protected);
        let others = self.ranks.split_off(protected);
        [self.ranks, others]
    }
}

fn keep_by(reason: String) -> Error {
    Error::KeepBy { reason }
}

/// Returns the error for a record with a field that is a list or an object.
fn compound(document: &Origin, (field, kind): (usize, Compound), fields: &FieldRanks) -> Error {
    let name = fields.fields().nth(field).unwrap_or_default();
    let place = document.place();
    keep_by(match kind {
        Compound::List => {
            format!("{place}: {name:?} is a list, which has no rank; choose a field with one value")
        }
        Compound::Object => {
            format!("{place}: {name:?} has nested fields; choose one of them, such as {name}.NAME")
        }
    })
}

/// Refuses what does not go together with an order by fields.
///
/// # Errors
///
/// [`Error::KeepBy`].
pub(super) fn check(dedup: &Dedup) -> Result<()> {
    let what = if dedup.keep_by.is_empty() {
        return Ok(());
    } else if dedup.against.is_some() {
        "documents are compared with another corpus, and all of them dropped that resemble it"
    } else if dedup.containment.least.is_some() {
        "of two texts of which one contains the other, the longer one is always kept"
    } else if dedup.units.unit.is_some() || dedup.passage.is_some() {
        "the first copy of what is cut stays"
    } else if dedup.moved_from.is_some() {
        "files that are moved have no fields"
    } else {
        return Ok(());
    };
    Err(keep_by(format!("no order by fields: {what}")))
}
