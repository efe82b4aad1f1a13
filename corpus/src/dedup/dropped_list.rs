//! The list of dropped documents, with reasons.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::dedup::error::Result;
use crate::dedup::event::DroppedDocument;
use crate::dedup::line_list::{LineList, ListedLine};
use crate::dedup::spool::FileSpool;
use crate::number::four_decimals;
use crate::{Key, Nth, REPLACED};
use dedupdb::Match;

/// The lines so far, and the files that they name.
pub(crate) struct DroppedListWriter {
    list: LineList,
    /// What the lines name.
    files: FileSpool,
    /// The files of records among them.
    of_records: HashSet<PathBuf>,
}

impl DroppedListWriter {
    /// Starts the lines in `partial`, which is to become the file `name`.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn begin(partial: PathBuf, name: &Path, is_json: bool) -> Result<DroppedListWriter> {
        Ok(DroppedListWriter {
            files: FileSpool::begin(partial.parent().unwrap_or(Path::new(".")))?,
            of_records: HashSet::new(),
            list: LineList::begin::<DroppedLine<'_>>(partial, name, is_json)?,
        })
    }

    /// Adds a document that resembles an earlier one.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn add(&mut self, dropped: &DroppedDocument<'_>) -> Result<()> {
        self.name(dropped)?;
        self.list.add(&DroppedLine::of(dropped))
    }

    /// Adds the files of a document and of the one that it resembles to those that must not change before the list is in
    /// its place.
    fn name(&mut self, dropped: &DroppedDocument<'_>) -> Result<()> {
        let [own, earlier] = dropped.files;
        let places = [
            (Some(dropped.source), dropped.record, own),
            (dropped.earlier_source, dropped.earlier_record, earlier),
        ];
        for (path, record, file) in places {
            let (Some(path), Some(file)) = (path, file) else {
                continue;
            };
            // A file of many records is named once.
            if record.is_none() || self.of_records.insert(path.to_owned()) {
                self.files.add(path, &file)?;
            }
        }
        Ok(())
    }

    /// Finishes the lines durably. Calls `wait` from time to time while that takes long.
    ///
    /// # Errors
    ///
    /// Those of the system and of `wait`; a file that the lines name has changed since it was read.
    pub(crate) fn finish(self, wait: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        self.list.finish()?;
        self.files.check(wait)
    }
}

/// A dropped document in JSON and CSV, with the fields in this order.
#[derive(Serialize)]
struct DroppedLine<'a> {
    key: &'a str,
    earlier: &'a str,
    jaccard: Option<f64>,
    estimate: f64,
    error: f64,
    exact_copy: bool,
    stored_before: bool,
    file: Cow<'a, str>,
    record: Option<u64>,
    earlier_file: Option<Cow<'a, str>>,
    earlier_record: Option<u64>,
    containment: Option<f64>,
    measure: &'static str,
    #[serde(skip)]
    dropped: &'a DroppedDocument<'a>,
}

impl<'a> DroppedLine<'a> {
    fn of(dropped: &'a DroppedDocument<'a>) -> DroppedLine<'a> {
        let earlier = dropped.earlier;
        DroppedLine {
            key: dropped.key,
            earlier: &earlier.key,
            jaccard: earlier.jaccard,
            estimate: earlier.estimate.jaccard,
            error: earlier.estimate.error,
            exact_copy: earlier.exact_copy,
            stored_before: dropped.stored_before,
            file: name(dropped.source),
            record: dropped.record.map(Nth::number),
            earlier_file: dropped.earlier_source.map(name),
            earlier_record: dropped.earlier_record.map(Nth::number),
            containment: earlier.containment,
            measure: if dropped.is_contained {
                "containment"
            } else {
                "jaccard"
            },
            dropped,
        }
    }
}

impl ListedLine for DroppedLine<'_> {
    const NAMES: &'static [&'static str] = &[
        "key",
        "earlier",
        "jaccard",
        "estimate",
        "error",
        "exact_copy",
        "stored_before",
        "file",
        "record",
        "earlier_file",
        "earlier_record",
        "containment",
        "measure",
    ];

    /// A field that is null is empty.
    fn cells(&self) -> Vec<String> {
        let number = |number: Option<u64>| number.map_or_else(String::new, |it| it.to_string());
        let share = |share: Option<f64>| share.map_or_else(String::new, |it| it.to_string());
        vec![
            self.key.to_owned(),
            self.earlier.to_owned(),
            share(self.jaccard),
            self.estimate.to_string(),
            self.error.to_string(),
            self.exact_copy.to_string(),
            self.stored_before.to_string(),
            self.file.clone().into_owned(),
            number(self.record),
            self.earlier_file.as_deref().unwrap_or_default().to_owned(),
            number(self.earlier_record),
            share(self.containment),
            self.measure.to_owned(),
        ]
    }

    /// The similarity as it is shown elsewhere, and what marks a copy in a last column.
    fn shown_cells(&self) -> Vec<String> {
        let number = |number: Option<u64>| number.map_or_else(String::new, |it| it.to_string());
        let earlier = self.dropped.earlier;
        let mut cells = vec![
            self.key.to_owned(),
            self.earlier.to_owned(),
            similarity(earlier),
            self.file.clone().into_owned(),
            number(self.record),
            self.earlier_file.as_deref().unwrap_or_default().to_owned(),
            number(self.earlier_record),
        ];
        if self.exact_copy {
            cells.push("exact copy".to_owned());
        } else if earlier.has_same_shingles() {
            cells.push("same words".to_owned());
        } else if let (true, Some(share)) = (self.dropped.is_contained, self.containment) {
            cells.push(format!("contained {}", four_decimals(share)));
        }
        cells
    }
}

/// Returns the path of a file. If it is not UTF-8, its bytes are spelled in digits as in its key, because it could
/// otherwise be the path of another file.
pub(super) fn name(file: &Path) -> Cow<'_, str> {
    match file.to_str().filter(|name| !name.contains(REPLACED)) {
        Some(name) => Cow::Borrowed(name),
        None => Cow::Owned(Key::of(file).text),
    }
}

/// Formats a similarity with four decimals. An estimate is marked, with its standard error.
fn similarity(earlier: &Match) -> String {
    let estimate = earlier.estimate;
    match earlier.jaccard {
        Some(jaccard) => four_decimals(jaccard),
        None => format!("~{:.4}±{:.4}", estimate.jaccard, estimate.error),
    }
}
