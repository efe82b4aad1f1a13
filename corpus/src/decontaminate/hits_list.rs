//! The lines of the list of hits.

use serde::Serialize;

use super::hit::Hit;
use crate::dedup::line_list::ListedLine;
use crate::number::four_decimals;

/// A hit in the list.
#[derive(Serialize)]
pub(super) struct HitLine<'a> {
    document: &'a str,
    benchmark: String,
    item: &'a str,
    field: Option<&'a str>,
    words: u32,
    longest: u32,
    coverage: f64,
    share: f64,
    start: usize,
    end: usize,
    item_first: u32,
    item_last: u32,
    text: &'a str,
}

impl ListedLine for HitLine<'_> {
    const NAMES: &'static [&'static str] = &[
        "document",
        "benchmark",
        "item",
        "field",
        "words",
        "longest",
        "coverage",
        "share",
        "start",
        "end",
        "item_first",
        "item_last",
        "text",
    ];

    fn cells(&self) -> Vec<String> {
        vec![
            self.document.to_owned(),
            self.benchmark.clone(),
            self.item.to_owned(),
            self.field.unwrap_or_default().to_owned(),
            self.words.to_string(),
            self.longest.to_string(),
            four_decimals(self.coverage),
            four_decimals(self.share),
            self.start.to_string(),
            self.end.to_string(),
            self.item_first.to_string(),
            self.item_last.to_string(),
            self.text.to_owned(),
        ]
    }
}

impl<'a> HitLine<'a> {
    /// The line of a hit.
    pub(super) fn of(hit: &Hit<'a>) -> HitLine<'a> {
        let Hit {
            document,
            item,
            overlap,
        } = hit;
        HitLine {
            document: &document.key,
            benchmark: item.benchmark.display().to_string(),
            item: &item.key,
            field: item.field.as_deref(),
            words: item.words,
            longest: overlap.longest,
            coverage: overlap.coverage,
            share: overlap.share,
            start: overlap.bytes.start,
            end: overlap.bytes.end,
            item_first: overlap.item_words.start + 1,
            item_last: overlap.item_words.end,
            text: &overlap.text,
        }
    }
}
