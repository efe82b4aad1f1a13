//! The list of dropped documents, with reasons.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::dedup::error::Result;
use crate::dedup::event::DroppedDocument;
use crate::dedup::spool::FileSpool;
use crate::number::four_decimals;
use crate::publish::error::WithPath;
use crate::publish::{csv_field, escape};
use crate::{Key, Nth, REPLACED};
use dedupdb::Match;

/// The lines so far, in a file under another name.
#[derive(Debug)]
pub(crate) struct DroppedListWriter {
    partial: PathBuf,
    writer: BufWriter<File>,
    form: ListFormat,
    /// What the lines name.
    files: FileSpool,
    /// The files of records among them.
    of_records: HashSet<PathBuf>,
}

/// The form of the lines of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListFormat {
    /// Fields that are escaped and separated by tabs.
    Tabs,
    Csv,
    Json,
}

impl ListFormat {
    /// The form that the name of the file says, or else JSON if that is wanted.
    pub(crate) fn of(name: &Path, is_json: bool) -> ListFormat {
        match name.extension().and_then(OsStr::to_str) {
            Some("jsonl") => ListFormat::Json,
            Some("csv") => ListFormat::Csv,
            _ if is_json => ListFormat::Json,
            _ => ListFormat::Tabs,
        }
    }
}

impl DroppedListWriter {
    /// Starts the lines in `partial`, which is to become the file `name`.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn begin(partial: PathBuf, name: &Path, is_json: bool) -> Result<DroppedListWriter> {
        let mut writer = BufWriter::new(File::create_new(&partial).of(&partial)?);
        let form = ListFormat::of(name, is_json);
        if form == ListFormat::Csv {
            writeln!(writer, "{}", DroppedLine::NAMES.join(",")).of(&partial)?;
        }
        Ok(DroppedListWriter {
            files: FileSpool::begin(partial.parent().unwrap_or(Path::new(".")))?,
            of_records: HashSet::new(),
            partial,
            writer,
            form,
        })
    }

    /// Adds a document that resembles an earlier one.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn add(&mut self, dropped: &DroppedDocument<'_>) -> Result<()> {
        self.name(dropped)?;
        let line = match self.form {
            ListFormat::Json => {
                serde_json::to_string(&DroppedLine::of(dropped)).map_err(io::Error::from)
            }
            ListFormat::Csv => Ok(DroppedLine::of(dropped).to_csv()),
            ListFormat::Tabs => Ok(fields(dropped)),
        };
        let line = line.of(&self.partial)?;
        Ok(writeln!(self.writer, "{line}").of(&self.partial)?)
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
    pub(crate) fn finish(mut self, wait: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let finished: io::Result<()> = self.writer.flush();
        let finished = finished.and_then(|()| self.writer.get_ref().sync_all());
        finished.of(&self.partial)?;
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
}

impl<'a> DroppedLine<'a> {
    /// The names of the fields.
    const NAMES: [&'static str; 13] = [
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

    fn of(dropped: &DroppedDocument<'a>) -> DroppedLine<'a> {
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
        }
    }

    /// The fields separated by commas. A field that is null is empty.
    fn to_csv(&self) -> String {
        let number = |number: Option<u64>| number.map_or_else(String::new, |it| it.to_string());
        let share = |share: Option<f64>| share.map_or_else(String::new, |it| it.to_string());
        let fields: [Cow<'_, str>; 13] = [
            self.key.into(),
            self.earlier.into(),
            share(self.jaccard).into(),
            self.estimate.to_string().into(),
            self.error.to_string().into(),
            self.exact_copy.to_string().into(),
            self.stored_before.to_string().into(),
            (&*self.file).into(),
            number(self.record).into(),
            self.earlier_file.as_deref().unwrap_or_default().into(),
            number(self.earlier_record).into(),
            share(self.containment).into(),
            self.measure.into(),
        ];
        fields.map(|field| csv_field(&field).into_owned()).join(",")
    }
}

fn fields(dropped: &DroppedDocument<'_>) -> String {
    let name = |file: &Path| escape(&name(file)).into_owned();
    let number =
        |record: Option<Nth>| record.map_or_else(String::new, |nth| nth.number().to_string());
    let mut fields = vec![
        escape(dropped.key).into_owned(),
        escape(&dropped.earlier.key).into_owned(),
        similarity(dropped.earlier),
        name(dropped.source),
        number(dropped.record),
        dropped.earlier_source.map_or_else(String::new, name),
        number(dropped.earlier_record),
    ];
    if dropped.earlier.exact_copy {
        fields.push("exact copy".to_owned());
    } else if dropped.earlier.has_same_shingles() {
        fields.push("same words".to_owned());
    } else if let (true, Some(share)) = (dropped.is_contained, dropped.earlier.containment) {
        fields.push(format!("contained {}", four_decimals(share)));
    }
    fields.join("\t")
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
