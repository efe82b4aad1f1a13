//! The places of documents, in few bytes.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use crate::skipped::Nth;

/// A document's file, and the number of its record. Numbers that do not fit are not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordPlace {
    file: u32,
    /// 0 for a file that is one document.
    number: u32,
}

/// The files that places refer to.
#[derive(Debug, Default)]
pub(crate) struct PlaceTable {
    /// Each file, and whether its records are lines.
    files: Vec<(Arc<Path>, bool)>,
    numbers: HashMap<Arc<Path>, u32>,
}

impl PlaceTable {
    /// Returns the place of a document.
    pub(crate) fn place(&mut self, source: &Path, line: Option<Nth>) -> RecordPlace {
        let number = line.map_or(0, Nth::number);
        RecordPlace {
            file: self.file(source, matches!(line, Some(Nth::Line(_)))),
            number: u32::try_from(number).unwrap_or(u32::MAX),
        }
    }

    fn file(&mut self, source: &Path, has_lines: bool) -> u32 {
        if let Some(&file) = self.numbers.get(source) {
            return file;
        }
        let file = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        let source: Arc<Path> = source.into();
        self.files.push((source.clone(), has_lines));
        self.numbers.insert(source, file);
        file
    }

    /// Returns the file and the record of a place, as far as they are known.
    pub(crate) fn of(&self, place: RecordPlace) -> (Option<&Path>, Option<Nth>) {
        let Some((file, has_lines)) = self.files.get(place.file as usize) else {
            return (None, None);
        };
        let nth = if *has_lines { Nth::Line } else { Nth::Record };
        let is_known = place.number > 0 && place.number < u32::MAX;
        (Some(file), is_known.then(|| nth(place.number.into())))
    }
}

/// Returns the first 64 bits of the BLAKE3 hash of a key.
pub(crate) fn short_hash(key: &str) -> u64 {
    prefix(blake3::hash(key.as_bytes()).as_bytes())
}

/// Returns the first 64 bits of a BLAKE3 hash.
pub(crate) fn prefix(hash: &[u8; 32]) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|at| hash[at]))
}

#[cfg(test)]
mod tests {
    use super::{Nth, Path, PlaceTable};

    #[test]
    fn a_place_leads_back_to_its_record() {
        let mut places = PlaceTable::default();
        let given = [
            ("a.jsonl", Some(Nth::Line(1))),
            ("b.parquet", Some(Nth::Record(7))),
            ("c.txt", None),
            ("a.jsonl", Some(Nth::Line(2))),
        ];
        let kept = given.map(|(file, line)| places.place(Path::new(file), line));
        for ((file, line), place) in given.into_iter().zip(kept) {
            assert_eq!(places.of(place), (Some(Path::new(file)), line));
        }
        assert_eq!(places.files.len(), 3);
        let far = places.place(Path::new("a.jsonl"), Some(Nth::Line(1 << 40)));
        assert_eq!(places.of(far), (Some(Path::new("a.jsonl")), None));
    }
}
