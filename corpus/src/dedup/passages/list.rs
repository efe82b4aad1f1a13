//! The lines of the list of passages that are cut.

use std::borrow::Cow;
use std::ops::Range;

use serde::Serialize;

use super::origins::KeptWord;
use crate::dedup::dropped_list::name;
use crate::dedup::line_list::ListedLine;
use crate::{Nth, Origin};

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

/// A passage that is cut from a document.
pub(super) struct CutPassage<'a> {
    pub(super) document: &'a Origin,
    /// Its words, as numbers in the document from 0.
    pub(super) words: Range<usize>,
    /// Its place in the text, in bytes.
    pub(super) bytes: Range<usize>,
    /// What is cut.
    pub(super) text: &'a str,
    /// The first word of the longest part of it, where that stood before.
    pub(super) earlier: &'a KeptWord,
    /// The number of words of that part.
    pub(super) longest: usize,
    /// Whether the document goes as a whole.
    pub(super) is_dropped: bool,
}

impl<'a> PassageLine<'a> {
    pub(super) fn of(cut: &CutPassage<'a>) -> PassageLine<'a> {
        let (document, earlier) = (cut.document, cut.earlier);
        PassageLine {
            key: &document.key,
            earlier: &earlier.key,
            words: cut.words.len(),
            first: cut.words.start + 1,
            last: cut.words.end,
            start: cut.bytes.start,
            end: cut.bytes.end,
            earlier_first: earlier.word + 1,
            earlier_last: earlier.word + cut.longest,
            dropped: cut.is_dropped,
            file: name(&document.source),
            record: document.record.map(Nth::number),
            earlier_file: earlier.source.as_deref().map(name),
            earlier_record: earlier.record.map(Nth::number),
            text: cut.text,
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
