//! Reads the items of a benchmark.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use super::rule::{K, Rule};
use super::search::{ItemSearch, ShingledItem};
use crate::dedup::against::check_read;
use crate::dedup::event::{DedupEvent, Observer};
use crate::dedup::{Dedup, Error, Result};
use crate::{
    EachEvent, ForEach, Hint, Origin, ReadCounts, Reason, Repeats, Skipped, Source, SourcedText,
};

/// A text of a benchmark, such as a question.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BenchmarkItem {
    /// Its file.
    pub benchmark: PathBuf,
    /// The key of its record.
    pub key: String,
    /// The field that has it, such as `question`, or `choices[0]` of a list of strings. `None` of a text if no fields were
    /// named, or its file is one document.
    pub field: Option<String>,
    /// The number of its words.
    pub words: u32,
}

/// The fields whose texts are items.
#[derive(Debug, Default)]
pub(super) struct BenchmarkFields {
    /// Those of the files and folders that have none of their own.
    pub(super) of_all: Vec<String>,
    pub(super) of_path: BTreeMap<PathBuf, Vec<String>>,
}

impl BenchmarkFields {
    /// The fields of a file or folder; `None` is that of the options. None comes twice.
    fn of(&self, path: &Path) -> Vec<Option<&String>> {
        let fields = self.of_path.get(path).unwrap_or(&self.of_all);
        if fields.is_empty() {
            return vec![None];
        }
        let mut distinct = Vec::new();
        for field in fields {
            if !distinct.contains(&Some(field)) {
                distinct.push(Some(field));
            }
        }
        distinct
    }

    /// The rounds in which these are read: a field, whether it is the first one of the files and folders, and these.
    fn rounds<'a>(&'a self, paths: &[PathBuf]) -> Vec<(Option<&'a String>, bool, Vec<PathBuf>)> {
        let mut rounds: Vec<(Option<&String>, bool, Vec<PathBuf>)> = Vec::new();
        for path in paths {
            for (number, field) in self.of(path).into_iter().enumerate() {
                let is_first = number == 0;
                let known = rounds
                    .iter_mut()
                    .find(|(other, first, _)| (*other, *first) == (field, is_first));
                match known {
                    Some((_, _, paths)) => paths.push(path.clone()),
                    None => rounds.push((field, is_first, vec![path.clone()])),
                }
            }
        }
        rounds
    }
}

/// The items of a benchmark.
#[derive(Debug)]
pub(super) struct Benchmark {
    pub(super) items: Vec<BenchmarkItem>,
    pub(super) search: ItemSearch,
    /// The number of items that have too few words, by file.
    pub(super) unchecked: HashMap<PathBuf, u64>,
    pub(super) reading: ReadCounts,
}

impl Benchmark {
    /// Reads all files once for each field, because what one document is depends on the field.
    ///
    /// # Errors
    ///
    /// Those of reading and of the observer; a file cannot be read, or no item can be checked.
    pub(super) fn read(
        paths: &[PathBuf],
        fields: &BenchmarkFields,
        rule: &Rule,
        dedup: &Dedup,
        observer: &mut Observer<'_>,
    ) -> Result<Benchmark> {
        let mut reader = ItemReader {
            rule,
            items: Vec::new(),
            shingled: Vec::new(),
            unchecked: HashMap::new(),
            reading: ReadCounts::default(),
        };
        for (field, is_first, paths) in fields.rounds(paths) {
            reader.read(&paths, field, is_first, dedup, observer)?;
        }
        let ItemReader {
            items,
            shingled,
            unchecked,
            reading,
            ..
        } = reader;
        if items.is_empty() {
            let reason = if unchecked.is_empty() {
                "it has no item".to_owned()
            } else {
                format!("none of its items has {K} words that count")
            };
            return Err(Error::Benchmark { reason });
        }
        Ok(Benchmark {
            search: ItemSearch::of(shingled, rule)?,
            items,
            unchecked,
            reading,
        })
    }
}

struct ItemReader<'a> {
    rule: &'a Rule,
    items: Vec<BenchmarkItem>,
    shingled: Vec<ShingledItem>,
    unchecked: HashMap<PathBuf, u64>,
    reading: ReadCounts,
}

impl ItemReader<'_> {
    /// Reads the items in a field. Files that are one document are items only if they are `wanted`.
    fn read(
        &mut self,
        paths: &[PathBuf],
        field: Option<&String>,
        are_documents_wanted: bool,
        dedup: &Dedup,
        observer: &mut Observer<'_>,
    ) -> Result<()> {
        let mut options = dedup.options.clone().repeats(Repeats::Tell);
        if let Some(field) = field {
            options = options.text_field(field);
        }
        let each = ForEach::new(paths.iter().map(Source::path)).reading(options);
        let mut failed = None;
        let progress = observer.progress.part();
        let each = each.progress(&progress);
        let mut has_failures = false;
        let rule = self.rule;
        let usual = dedup.options.text_names()[0];
        let name = field.map_or(usual, String::as_str);
        let worked = each.run(
            |document| shingled(document, rule),
            |event| {
                let taken = match event {
                    EachEvent::Document(origin, items) => {
                        // A file that is one document has no fields, so it is an item in the first round only.
                        if origin.record.is_some() || are_documents_wanted {
                            self.take_all(&origin, (field, name), items, observer)
                        } else {
                            Ok(())
                        }
                    }
                    EachEvent::Skipped(skipped) => {
                        has_failures |= skipped.is_failure();
                        let skipped_field = of_field(skipped, field);
                        check_fields(skipped, field, dedup)
                            .and_then(|()| check_read(skipped, dedup))
                            .and_then(|()| observer.tell(DedupEvent::Skipped(&skipped_field)))
                    }
                };
                progress.stop_on(taken, &mut failed);
            },
        )?;
        if let Some(error) = failed {
            return Err(error);
        }
        observer.go_on()?;
        if dedup.options.strict && has_failures {
            return Err(Error::FirstFailure);
        }
        self.reading.add_skipped(&worked.reading);
        Ok(())
    }

    /// Takes the item of a document, or those of its list.
    fn take_all(
        &mut self,
        origin: &Origin,
        (field, name): (Option<&String>, &str),
        items: Vec<ShingledItem>,
        observer: &mut Observer<'_>,
    ) -> Result<()> {
        for (number, item) in items.into_iter().enumerate() {
            let field = match &origin.strings {
                Some(_) => Some(format!("{name}[{number}]")),
                None => field.filter(|_| origin.record.is_some()).cloned(),
            };
            self.take(origin, field, item, observer)?;
        }
        Ok(())
    }

    fn take(
        &mut self,
        origin: &Origin,
        field: Option<String>,
        item: ShingledItem,
        observer: &mut Observer<'_>,
    ) -> Result<()> {
        let words = item.words();
        if !item.is_checked {
            let field = field.map(|field| format!(", field {field:?}"));
            let place = origin.place() + &field.unwrap_or_default();
            let detail = if words < Rule::FEWEST_WORDS {
                format!("an item has {K} words at least, and this has {words}")
            } else {
                format!("without what is ignored, it has fewer than {K} words")
            };
            *self.unchecked.entry(origin.source.clone()).or_default() += 1;
            let skipped = Skipped::new(Reason::TooShort, place, detail);
            return observer.tell(DedupEvent::Skipped(&skipped));
        }
        self.items.push(BenchmarkItem {
            benchmark: origin.source.clone(),
            key: origin.key.clone(),
            field,
            words: u32::try_from(words).unwrap_or(u32::MAX),
        });
        self.shingled.push(item);
        Ok(())
    }
}

/// The item of a document, or those of its list.
fn shingled(
    document: &SourcedText,
    rule: &Rule,
) -> std::result::Result<Vec<ShingledItem>, dedupdb::Error> {
    let text = document.text();
    let Some(strings) = &document.strings else {
        return Ok(vec![ShingledItem::new(text, rule)?]);
    };
    let strings = strings.iter();
    strings
        .map(|place| ShingledItem::new(&text[place.clone()], rule))
        .collect()
}

/// Refuses a file of records if none has a text in the field: it would look as if no document had its items.
fn check_fields(skipped: &Skipped, field: Option<&String>, dedup: &Dedup) -> Result<()> {
    if skipped.reason != Reason::AllBad || !skipped.named || dedup.skips_unreadable {
        return Ok(());
    }
    Err(Error::LacksField {
        path: PathBuf::from(&skipped.place),
        field: field.cloned(),
    })
}

/// A skipped record of the benchmark, with the field in its place. What is said of the input's field does not help.
fn of_field(skipped: &Skipped, field: Option<&String>) -> Skipped {
    let mut skipped = skipped.clone();
    if skipped.hint == Some(Hint::TextField) {
        // The detail names the field.
        skipped.hint = Some(Hint::ItemField);
    } else if let Some(field) = field {
        skipped.place = format!("{}, field {field:?}", skipped.place);
    }
    skipped
}
