//! The lines of the list of passages that are cut.

use std::borrow::Cow;
use std::ops::Range;

use serde::Serialize;

use super::origins::KeptWord;
use super::scan::FoundPassage;
use crate::dedup::dropped_list::name;
use crate::dedup::line_list::ListedLine;
use crate::{Nth, SourcedText};

/// A passage in the list.
#[derive(Serialize)]
pub(super) struct PassageLine<'a> {
    key: &'a str,
    earlier: &'a str,
    words: usize,
    first: usize,
    last: usize,
    start: usize,
    end: usize,
    earlier_first: usize,
    earlier_last: usize,
    dropped: bool,
    file: Cow<'a, str>,
    record: Option<u64>,
    earlier_file: Option<Cow<'a, str>>,
    earlier_record: Option<u64>,
    text: &'a str,
}

impl<'a> PassageLine<'a> {
    /// The line of a passage that is cut from a document, in these `bytes` of its text. `earlier` is the first word of its
    /// longest part, where that stood before.
    pub(super) fn of(
        document: &'a SourcedText,
        passage: &FoundPassage,
        bytes: &Range<usize>,
        earlier: &'a KeptWord,
        is_dropped: bool,
    ) -> PassageLine<'a> {
        PassageLine {
            key: &document.key,
            earlier: &earlier.key,
            words: passage.words.len(),
            first: passage.words.start + 1,
            last: passage.words.end,
            start: bytes.start,
            end: bytes.end,
            earlier_first: earlier.word + 1,
            earlier_last: earlier.word + passage.longest.len(),
            dropped: is_dropped,
            file: name(&document.source),
            record: document.record.map(Nth::number),
            earlier_file: earlier.source.as_deref().map(name),
            earlier_record: earlier.record.map(Nth::number),
            text: &document.text()[bytes.clone()],
        }
    }
}

impl ListedLine for PassageLine<'_> {
    const NAMES: &'static [&'static str] = &[
        "key",
        "earlier",
        "words",
        "first",
        "last",
        "start",
        "end",
        "earlier_first",
        "earlier_last",
        "dropped",
        "file",
        "record",
        "earlier_file",
        "earlier_record",
        "text",
    ];

    fn cells(&self) -> Vec<String> {
        let number = |number: Option<u64>| number.map_or_else(String::new, |it| it.to_string());
        vec![
            self.key.to_owned(),
            self.earlier.to_owned(),
            self.words.to_string(),
            self.first.to_string(),
            self.last.to_string(),
            self.start.to_string(),
            self.end.to_string(),
            self.earlier_first.to_string(),
            self.earlier_last.to_string(),
            self.dropped.to_string(),
            self.file.clone().into_owned(),
            number(self.record),
            self.earlier_file.as_deref().unwrap_or_default().to_owned(),
            number(self.earlier_record),
            self.text.to_owned(),
        ]
    }
}
