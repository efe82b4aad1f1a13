//! The fields of records, besides keys and texts, as columns.

mod array;
mod kind;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::Field;
use dedupdb_corpus::{FieldTypes, RecordFields, WantedFields};

use array::{CELLS, Misfit, array};
use kind::{Conflict, Kind};

use crate::rows::ATTACHMENTS;

/// The names of the columns that all readings have.
const OWN: [&str; 5] = ["key", "text", "source", "record", ATTACHMENTS];

/// Those of them that get another name if a field has theirs. The others are what documents are compared by.
const YIELDING: [&str; 2] = ["source", "record"];

/// How to go on if values do not fit a column.
const REMEDY: &str = "name the columns without it, or give its values one type";

/// Columns of the fields of records. The first batch decides which there are, and their types.
pub(crate) struct FieldColumns {
    wanted: WantedFields,
    columns: Vec<FieldColumn>,
    places: HashMap<String, usize>,
    is_complete: bool,
    file: Option<Arc<FileFields>>,
    rows: Vec<FieldRow>,
    /// The bytes of the values of the rows.
    bytes: usize,
    /// What is left out, with the reasons.
    warnings: Vec<String>,
    warned: HashSet<String>,
    /// A field, of a record or of an object in it, that has no column.
    late: Option<String>,
    has_warned_of_late: bool,
}

struct FieldColumn {
    name: String,
    kind: Kind,
    /// Where its type comes from: a file or record. None if it has been in no record yet.
    origin: Option<String>,
}

/// The fields that all records of a file have.
struct FileFields {
    name: String,
    types: Option<FieldTypes>,
    kinds: Vec<(String, Kind)>,
    /// The names and values of folders.
    partitions: Vec<(String, String)>,
}

/// The fields of a document.
struct FieldRow {
    place: String,
    values: Vec<(String, String)>,
    file: Arc<FileFields>,
}

impl FieldColumns {
    pub(crate) fn new(wanted: WantedFields) -> FieldColumns {
        let names = match &wanted {
            WantedFields::Named(names) => names.clone(),
            _ => Vec::new(),
        };
        FieldColumns {
            wanted,
            columns: names.iter().map(|name| FieldColumn::new(name)).collect(),
            places: names.into_iter().zip(0..).collect(),
            is_complete: false,
            file: None,
            rows: Vec::new(),
            bytes: 0,
            warnings: Vec::new(),
            warned: HashSet::new(),
            late: None,
            has_warned_of_late: false,
        }
    }

    /// Adds the row of a document. Returns the bytes of its values.
    pub(crate) fn push(
        &mut self,
        (source, place): (&Path, String),
        fields: Option<Box<RecordFields>>,
    ) -> usize {
        let RecordFields { values, types, .. } = fields.map(|fields| *fields).unwrap_or_default();
        let name = source.to_string_lossy();
        let is_same = |file: &&Arc<FileFields>| file.name == name && file.types == types;
        let file = match self.file.as_ref().filter(is_same) {
            Some(file) => file.clone(),
            None => self.file_of(&name, types),
        };
        self.file = Some(file.clone());
        let bytes = values.iter().map(|(_, json)| json.len()).sum();
        self.bytes += bytes;
        self.rows.push(FieldRow {
            place,
            values,
            file,
        });
        bytes
    }

    fn file_of(&self, name: &str, types: Option<FieldTypes>) -> Arc<FileFields> {
        let is_wanted = |name: &String| match &self.wanted {
            WantedFields::Named(names) => names.contains(name),
            _ => true,
        };
        let mut partitions = partitions(name);
        partitions.retain(|(name, _)| is_wanted(name));
        let typed = types.iter().flat_map(|types| types.iter());
        let of_types = typed.map(|(name, column)| (name.clone(), Kind::of_column(column)));
        let mut kinds: Vec<(String, Kind)> = of_types.collect();
        for (name, json) in &partitions {
            kinds.retain(|(typed, _)| typed != name);
            kinds.push((name.clone(), Kind::of_json(json).unwrap_or(Kind::Unknown)));
        }
        Arc::new(FileFields {
            name: name.to_owned(),
            types,
            kinds,
            partitions,
        })
    }

    /// Returns the name that a column of `read` itself gets, because a field has its name.
    pub(crate) fn name_beside(&self, own: &str) -> Option<String> {
        let yields = YIELDING.contains(&own) && self.places.contains_key(own);
        yields.then(|| other_name(own))
    }

    /// The columns as they are declared.
    pub(crate) fn fields(&self) -> impl Iterator<Item = Field> {
        let columns = self.columns.iter();
        columns.map(|column| {
            let name = column_name(&column.name);
            Field::new(name, column.kind.data_type(), true)
        })
    }

    /// Returns the columns of the rows since the last call.
    ///
    /// # Errors
    ///
    /// A message about a value that does not fit its column.
    pub(crate) fn finish(&mut self) -> Result<Vec<ArrayRef>, String> {
        let rows = std::mem::take(&mut self.rows);
        if i32::try_from(std::mem::take(&mut self.bytes)).is_err() {
            return Err("columns: a record has 2 GiB and more".to_owned());
        }
        self.meet_all(&rows)?;
        self.is_complete = true;
        let count = self.columns.len();
        if rows.len().saturating_mul(count) > CELLS {
            return Err(format!(
                "columns: the records have {count} different fields, and too many rows of them; name those that you want"
            ));
        }
        let mut cells = vec![vec![None; rows.len()]; self.columns.len()];
        for (at, row) in rows.iter().enumerate() {
            for (name, json) in row.values.iter().chain(&row.file.partitions) {
                if let Some(column) = self.places.get(name).and_then(|&it| cells.get_mut(it)) {
                    column[at] = Some(json.as_str()).filter(|json| *json != "null");
                }
            }
        }
        let (columns, late) = (self.columns.iter().zip(&cells), &mut self.late);
        let arrays = columns.map(|(column, cells)| {
            let made = array(&column.kind, cells, late);
            made.map_err(|misfit| column.explain(&misfit, &rows))
        });
        let arrays = arrays.collect::<Result<Vec<ArrayRef>, String>>()?;
        self.warn_of_late(&rows);
        Ok(arrays)
    }

    /// Takes over the columns of these rows, and their types, until the columns are complete. Then, others are left out, and
    /// files with other types refused.
    fn meet_all(&mut self, rows: &[FieldRow]) -> Result<(), String> {
        let mut last: Option<&Arc<FileFields>> = None;
        for FieldRow {
            place,
            values,
            file,
        } in rows
        {
            if last.is_none_or(|last| !Arc::ptr_eq(last, file)) {
                for (name, kind) in &file.kinds {
                    self.meet(name, &file.name, || Ok(kind.clone()))?;
                }
            }
            last = Some(file);
            for (name, json) in values {
                if !self.has_met(name) && file.kinds.iter().all(|(typed, _)| typed != name) {
                    self.meet(name, place, || Kind::of_json(json))?;
                }
            }
        }
        Ok(())
    }

    /// Whether the columns are complete, and a record had this one.
    fn has_met(&self, name: &str) -> bool {
        let column = self.places.get(name).and_then(|&at| self.columns.get(at));
        self.is_complete && column.is_some_and(|column| column.origin.is_some())
    }

    /// Takes over a field, with the type that it has at a place.
    fn meet(
        &mut self,
        name: &str,
        place: &str,
        kind: impl FnOnce() -> Result<Kind, Conflict>,
    ) -> Result<(), String> {
        if OWN.contains(&name) && self.warned.insert(name.to_owned()) {
            let whose = if YIELDING.contains(&name) {
                "the column of `read`"
            } else {
                "that of the field"
            };
            self.warnings.push(format!(
                "{place}: a field has the name of the column {name:?} of `read`; {whose} is {:?} now",
                other_name(name)
            ));
        }
        if self.is_complete && !self.places.contains_key(name) {
            self.late.get_or_insert_with(|| name.to_owned());
            return Ok(());
        }
        let at = *self
            .places
            .entry(name.to_owned())
            .or_insert(self.columns.len());
        if at == self.columns.len() {
            self.columns.push(FieldColumn::new(name));
        }
        let column = &mut self.columns[at];
        let both = kind().and_then(|kind| column.kind.clone().wider(kind));
        let wider = both.map_err(|conflict| {
            let (path, [one, other]) = (conflict.path, conflict.kinds);
            let origin = column.origin.as_deref().unwrap_or(place);
            format!(
                "{place}: the field \"{name}{path}\" has {other}, and {one} in {origin}; {REMEDY}"
            )
        })?;
        if column.origin.is_none() || column.kind == Kind::Unknown {
            column.origin = Some(place.to_owned());
        }
        if !self.is_complete {
            column.kind = wider;
        }
        Ok(())
    }

    /// Warns of the first field that no column is there for.
    fn warn_of_late(&mut self, rows: &[FieldRow]) {
        if let Some(name) = self.late.take()
            && !self.has_warned_of_late
        {
            self.has_warned_of_late = true;
            let place = rows.first().map_or("", |row| &row.place);
            self.warnings.push(format!(
                "the field {name:?} comes only after the first records, which give the columns and their fields, at or behind \
                 {place}; such fields are left out; a field of a record has a column if columns names it"
            ));
        }
    }

    /// Returns the warnings since the last call.
    pub(crate) fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Returns the name of a column that is in no record.
    pub(crate) fn missing(&self) -> Option<&str> {
        let mut columns = self.columns.iter();
        let missing = columns.find(|column| column.origin.is_none());
        missing.map(|column| &*column.name)
    }
}

impl FieldColumn {
    fn new(name: &str) -> FieldColumn {
        FieldColumn {
            name: name.to_owned(),
            kind: Kind::Unknown,
            origin: None,
        }
    }

    /// Explains a value that does not fit.
    fn explain(&self, misfit: &Misfit, rows: &[FieldRow]) -> String {
        let place = rows.get(misfit.row).map_or("", |row| &row.place);
        let origin = self.origin.as_deref().unwrap_or("the first records");
        let kind = misfit.kind.clone().unwrap_or(self.kind.data_type());
        let (name, path, found) = (&self.name, &misfit.path, &misfit.found);
        format!(
            "{place}: the field \"{name}{path}\" is {found}, which does not fit {kind}, its type since {origin}; {REMEDY}"
        )
    }
}

/// Returns the name of the column of a field.
fn column_name(field: &str) -> Cow<'_, str> {
    if OWN.contains(&field) && !YIELDING.contains(&field) {
        Cow::Owned(other_name(field))
    } else {
        Cow::Borrowed(field)
    }
}

/// Returns the name of the one of two columns that cannot have this one.
fn other_name(name: &str) -> String {
    format!("{name}_1")
}

/// Returns the names of the folders `NAME=VALUE` in which a file is, and their values as JSON.
fn partitions(file: &str) -> Vec<(String, String)> {
    let path = match file.split_once("://") {
        Some((_, address)) => address.split('?').next().unwrap_or(address),
        None => file,
    };
    let mut parts: Vec<&str> = path.split(std::path::is_separator).collect();
    parts.pop();
    let named = parts.into_iter().filter_map(|part| part.split_once('='));
    let named = named.filter(|(name, _)| !name.is_empty());
    let json = |value: &str| match value {
        "__HIVE_DEFAULT_PARTITION__" => "null".to_owned(),
        value => serde_json::Value::from(unescaped(value)).to_string(),
    };
    named
        .map(|(name, value)| (unescaped(name), json(value)))
        .collect()
}

/// Replaces `%2F` and the like, in which names of folders have characters that they cannot have.
fn unescaped(name: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), name.as_bytes());
    while let [first, behind @ ..] = rest {
        let digits = behind
            .get(..2)
            .and_then(|digits| str::from_utf8(digits).ok());
        let digits =
            digits.filter(|it| *first == b'%' && it.bytes().all(|it| it.is_ascii_hexdigit()));
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
