//! Texts as paragraphs or lines.

use std::mem::take;
use std::ops::Range;

use rayon::prelude::*;

use super::{Unit, UnitRule};
use crate::{Item, ItemBatch, Origin, SourcedText};
use dedupdb::sketching::{Shingler, Shingling};
use dedupdb::{Input, Store};

/// A document, and the places of its units in its text.
#[derive(Debug)]
pub(super) struct SplitDocument {
    pub(super) document: SourcedText,
    pub(super) units: Vec<Range<usize>>,
    /// Which of them have enough words to be judged, in order.
    pub(super) judged: Vec<usize>,
}

/// A few documents, with the sketches of those of their units that are judged.
#[derive(Debug)]
pub(super) struct UnitBatch {
    pub(super) items: Vec<Item<SplitDocument>>,
    pub(super) sketches: dedupdb::write::Batch,
    pub(super) bytes: u64,
}

impl AsRef<Origin> for SplitDocument {
    fn as_ref(&self) -> &Origin {
        self.document.as_ref()
    }
}

/// The number of units from which on a batch ends. Some are judged again if a document before them is dropped.
const UNITS: usize = 1 << 10;

impl UnitBatch {
    /// Splits the documents of a batch, and sketches their units.
    ///
    /// # Errors
    ///
    /// Those of the shingler.
    pub(super) fn all_of(
        batch: ItemBatch,
        rule: UnitRule,
        store: &Store,
    ) -> dedupdb::Result<Vec<UnitBatch>> {
        let words = Shingler::new(Shingling::Word(1), true, true)?;
        let split = |item| match item {
            Item::Document(document) => {
                let split = SplitDocument::of(document, rule, &words);
                let inputs = split.judged.iter().map(|&unit| split.input(unit));
                (inputs.collect(), Item::Document(split))
            }
            Item::Unchanged(key) => (Vec::new(), Item::Unchanged(key)),
            Item::Skipped(skipped) => (Vec::new(), Item::Skipped(skipped)),
            Item::Opened(opened) => (Vec::new(), Item::Opened(opened)),
        };
        let split = batch.items.into_par_iter().map(split);
        let mut batches = Vec::new();
        let (mut items, mut units) = (Vec::new(), Vec::new());
        let mut end = |items: &mut Vec<_>, units: &mut Vec<Input>, bytes| {
            batches.push(UnitBatch {
                items: take(items),
                sketches: store.sketch_all(take(units)),
                bytes,
            });
        };
        for (inputs, item) in split.collect::<Vec<(Vec<Input>, _)>>() {
            items.push(item);
            units.extend(inputs);
            if units.len() >= UNITS {
                end(&mut items, &mut units, 0);
            }
        }
        // The bytes of the whole batch count with its last part.
        end(&mut items, &mut units, batch.bytes);
        Ok(batches)
    }
}

impl SplitDocument {
    fn of(document: SourcedText, rule: UnitRule, words: &Shingler) -> SplitDocument {
        let units = rule
            .unit
            .map_or_else(Vec::new, |unit| unit.places(document.text()));
        let has_enough = |&number: &usize| {
            let text = &document.text()[units[number].clone()];
            has_words(text, rule.fewest_words, words)
        };
        SplitDocument {
            judged: (0..units.len()).filter(has_enough).collect(),
            units,
            document,
        }
    }

    /// Returns the text of a unit.
    pub(super) fn text(&self, unit: usize) -> &str {
        self.indented(unit).trim_start()
    }

    /// Returns the text of a unit with the indentation of its first line.
    fn indented(&self, unit: usize) -> &str {
        &self.document.text()[self.units[unit].clone()]
    }

    /// Returns the key of a unit: that of the document with the number of the unit, from 1.
    pub(super) fn key(&self, unit: usize) -> String {
        format!("{}@{}", self.document.key, unit + 1)
    }

    /// Returns a unit for the store.
    pub(super) fn input(&self, unit: usize) -> Input {
        let input = Input::new(self.key(unit), self.text(unit).to_owned());
        match &self.document.file {
            Some(file) => input.source(file.clone()),
            None => input,
        }
    }

    /// Returns the origin of a unit.
    pub(super) fn origin(&self, unit: usize) -> Origin {
        let document = self.as_ref();
        Origin {
            record: document.record,
            read: document.read,
            file: document.file.clone(),
            ..Origin::new(self.key(unit), document.source.clone())
        }
    }

    /// Returns the share of the characters of all units that these have.
    pub(super) fn share(&self, units: &[usize]) -> f64 {
        let characters = |unit: usize| self.text(unit).chars().count();
        let all: usize = (0..self.units.len()).map(characters).sum();
        let these: usize = units.iter().map(|&unit| characters(unit)).sum();
        these as f64 / all.max(1) as f64
    }

    /// Returns the text without these units, which are in order. The white space behind a unit goes with it, but the
    /// indentation of the next one, and what is at the end of the text, stays.
    pub(super) fn without(&self, cut: &[usize]) -> String {
        let text = self.document.text();
        let is_kept = |unit: &usize| cut.binary_search(unit).is_err();
        let kept: Vec<usize> = (0..self.units.len()).filter(is_kept).collect();
        let (Some(first), Some(&last)) = (self.units.first(), kept.last()) else {
            return String::new();
        };
        let mut whole = text[..first.start].to_owned();
        for unit in kept {
            whole += self.indented(unit);
            let end = self.units[unit].end;
            // Behind the last unit that is kept comes what the text ends with.
            let next = self.units.get(unit + 1).filter(|_| unit != last);
            whole += match next {
                Some(next) => &text[end..next.start],
                None => &text[self.units[self.units.len() - 1].end..],
            };
        }
        whole
    }
}

/// Whether a text has at least this number of words.
fn has_words(text: &str, fewest: usize, words: &Shingler) -> bool {
    // Bounds that are cheap to count: a part between white space has a word if it has a letter or digit, and no two words
    // begin in one run of these or at one other character.
    let (mut at_least, mut at_most) = (0, 0);
    let (mut is_counted, mut is_within) = (false, false);
    for byte in text.bytes() {
        let is_letter = byte.is_ascii_alphanumeric();
        at_most += usize::from(byte >= 0xc0 || is_letter && !is_within);
        is_within = is_letter;
        if byte.is_ascii_whitespace() {
            is_counted = false;
        } else if is_letter && !is_counted {
            is_counted = true;
            at_least += 1;
            if at_least >= fewest {
                return true;
            }
        }
    }
    let are_enough = |words: Vec<u32>| words.len() >= fewest;
    at_most >= fewest && words.in_order(text).is_ok_and(are_enough)
}

impl Unit {
    /// Returns the places of the units of a text, with the indentation of their first lines.
    fn places(self, text: &str) -> Vec<Range<usize>> {
        let mut places: Vec<Range<usize>> = Vec::new();
        let (mut start, mut is_open) = (0, false);
        for line in text.split_inclusive('\n') {
            let end = start + line.trim_end().len();
            if end == start {
                is_open = false;
            } else {
                match places.last_mut() {
                    Some(last) if is_open && self == Unit::Paragraph => last.end = end,
                    _ => places.push(start..end),
                }
                is_open = true;
            }
            start += line.len();
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn split(text: &str, unit: Unit) -> SplitDocument {
        let rule = UnitRule {
            unit: Some(unit),
            fewest_words: 2,
            ..UnitRule::default()
        };
        let words = Shingler::new(Shingling::Word(1), true, true).unwrap();
        let origin = Origin::new("a".to_owned(), PathBuf::new());
        SplitDocument::of(SourcedText::new(text.to_owned(), origin), rule, &words)
    }

    #[test]
    fn blank_lines_are_between_paragraphs() {
        let text = " \n  One two\nthree.\r\n \t\r\nFour\n\n\nfive six \n";
        let paragraphs = split(text, Unit::Paragraph);
        let texts = |split: &SplitDocument| -> Vec<String> {
            (0..split.units.len())
                .map(|unit| split.text(unit).to_owned())
                .collect()
        };
        assert_eq!(texts(&paragraphs), ["One two\nthree.", "Four", "five six"]);
        assert_eq!(paragraphs.judged, [0, 2]);
        assert_eq!(paragraphs.key(2), "a@3");
        let lines = split(text, Unit::Line);
        assert_eq!(texts(&lines), ["One two", "three.", "Four", "five six"]);
        for empty in ["", " \n\t\n"] {
            assert!(split(empty, Unit::Paragraph).units.is_empty());
        }
    }

    #[test]
    fn what_stays_is_as_it_was() {
        let text = "\n A b\r\n\r\nC d\n\n\nE f \n";
        let paragraphs = split(text, Unit::Paragraph);
        for (cut, left) in [
            (&[][..], text),
            (&[0], "\nC d\n\n\nE f \n"),
            (&[1], "\n A b\r\n\r\nE f \n"),
            (&[2], "\n A b\r\n\r\nC d \n"),
            (&[1, 2], "\n A b \n"),
            (&[0, 1, 2], ""),
        ] {
            assert_eq!(paragraphs.without(cut), left, "{cut:?}");
        }
        assert!((paragraphs.share(&[1]) - 1.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn words_are_counted_as_they_are_compared() {
        let words = Shingler::new(Shingling::Word(1), true, true).unwrap();
        for text in [
            "a b c",
            "a-b, c's 3.5 e.g. x_y",
            "\u{96e8}\u{304c}\u{964d}\u{308b}",
            "\u{2014} a \u{2014} na\u{ef}ve\u{301} b\u{a0}c",
            "\u{e01}\u{e32}\u{e23}  ...",
            "",
        ] {
            let count = words.places(text).len();
            for fewest in 0..=count + 2 {
                assert_eq!(
                    has_words(text, fewest, &words),
                    fewest <= count,
                    "{text} {fewest}"
                );
            }
        }
    }
}
