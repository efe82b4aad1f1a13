//! Cuts what a text has of a benchmark.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::hit::Overlap;
use super::rule::Rule;
use super::search::ItemSearch;
use crate::dedup::Result;
use crate::ranges::{merged, without};

/// The number of parts that are cut at most. A text with more is not worth keeping.
const MOST: usize = 10;

/// The number of words behind the margin in which the end of a sentence or line is looked for.
const SENTENCE: usize = 50;

impl ItemSearch {
    /// Returns a text without what it has of items, given what [`find`](ItemSearch::find) has found in it, and without this number
    /// of words on each side: to the ends of the sentences or lines, or of words if none ends within 50 words. What that
    /// brings together is cut, too, so that the text has no item. `None` if more than ten parts would have to be cut, or if no
    /// word would be left.
    ///
    /// ```
    /// use dedupdb_corpus::decontaminate::{ItemSearch, Rule};
    ///
    /// let search = ItemSearch::new(&["Who painted the harbour crane in the colours of a parrot?"], &Rule::new())?;
    /// let text = "A quiz. Who painted the harbour crane in the colours of a parrot? Nobody knows.";
    /// let hits = search.find(text)?;
    /// assert_eq!(search.cut(text, &hits, 0)?.as_deref(), Some("A quiz. Nobody knows."));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`ItemSearch::find`].
    pub fn cut(
        &self,
        text: &str,
        hits: &[(u32, Overlap)],
        margin: usize,
    ) -> Result<Option<String>> {
        let mut cuts = 0;
        let mut text = text.to_owned();
        let mut hits = hits.to_vec();
        // A cut may bring together what is an item again, so the rest is searched until it has none.
        while !hits.is_empty() {
            let words = Rule::shingler()?.places(&text);
            let places = hits
                .iter()
                .map(|(_, overlap)| place(&text, &words, &overlap.bytes, margin));
            let places = merged(places.collect());
            cuts += places.len();
            if cuts > MOST {
                return Ok(None);
            }
            text = without(&text, &places);
            hits = self.find(&text)?;
        }
        Ok(text.contains(char::is_alphanumeric).then_some(text))
    }
}

/// Returns the part of a text with these words that is cut for the overlap at `bytes`: with the margin, to the nearest
/// ends of sentences or lines, or of words if there are none nearby.
fn place(text: &str, words: &[Range<usize>], bytes: &Range<usize>, margin: usize) -> Range<usize> {
    // The margin before the overlap, and how far before that the start of a sentence is looked for; then the same
    // behind it.
    let first = words.partition_point(|word| word.end <= bytes.start);
    let first = first.saturating_sub(margin);
    let earliest = first.saturating_sub(SENTENCE);
    let from = match earliest {
        0 => 0,
        earliest => words[earliest].start,
    };
    let start = words.get(first).map_or(bytes.start, |word| word.start);
    let ends = words.partition_point(|word| word.start < bytes.end);
    let ends = ends.saturating_add(margin).min(words.len());
    let last = words.get(ends.saturating_sub(1));
    let end = last.map_or(bytes.end, |word| word.end.max(bytes.end));
    let latest = words.get(ends + SENTENCE);
    let to = latest.map_or(text.len(), |word| word.start);
    // Whether a sentence ends at a place depends on what follows.
    let begins = sentences(text, from..end)
        .filter(|begin| *begin <= start)
        .last();
    let begins = begins.or((from == 0).then_some(0)).unwrap_or(start);
    let ends = sentences(text, start..to).find(|begin| *begin >= end);
    let mut ends = ends.or((to == text.len()).then_some(to)).unwrap_or(end);
    let before = &text[..begins];
    let is_line = before.is_empty() || before.ends_with(['\n', '\r']);
    if !is_line {
        // What stands before it keeps the end of its line.
        let cut = text[begins..ends].trim_end_matches(['\n', '\r']);
        ends = begins + cut.len();
    }
    begins..ends
}

/// Returns the places in a part of a text at which sentences or lines begin, except for the start of that part.
fn sentences(text: &str, part: Range<usize>) -> impl Iterator<Item = usize> {
    let start = part.start;
    let bounds = text[part].split_sentence_bound_indices();
    bounds.skip(1).map(move |(at, _)| start + at)
}

#[cfg(test)]
mod tests {
    use crate::decontaminate::{ItemSearch, Rule};

    const ITEM: &str = "Who painted the harbour crane in the colours of a parrot";

    fn cut(text: &str, margin: usize) -> Option<String> {
        let search = ItemSearch::new(&[ITEM], &Rule::new()).unwrap();
        let hits = search.find(text).unwrap();
        assert!(!hits.is_empty(), "{text}");
        let cut = search.cut(text, &hits, margin).unwrap();
        if let Some(cut) = &cut {
            assert!(search.find(cut).unwrap().is_empty(), "{cut}");
        }
        cut
    }

    #[test]
    fn whole_sentences_and_lines_go() {
        for (before, behind, left) in [
            ("It rains. ", "? It stopped.", "It rains. It stopped."),
            (
                "It rains. Quiz: ",
                " today? It stopped.",
                "It rains. It stopped.",
            ),
            ("It rains.\n", "\nIt stopped.\n", "It rains.\nIt stopped.\n"),
            ("It rains. ", "?\nIt stopped.", "It rains. \nIt stopped."),
            (
                "It rains. ",
                "?\r\n\r\nIt stopped.",
                "It rains. \r\n\r\nIt stopped.",
            ),
            ("雨が降る。", "。晴れた。", "雨が降る。晴れた。"),
        ] {
            assert_eq!(
                cut(&format!("{before}{ITEM}{behind}"), 0).as_deref(),
                Some(left)
            );
        }
    }

    #[test]
    fn a_margin_goes_as_well() {
        let text = format!("One. Two three. Four. {ITEM}. Five. Six seven. Eight.");
        for (margin, left) in [
            (0, "One. Two three. Four. Five. Six seven. Eight."),
            (1, "One. Two three. Six seven. Eight."),
            (2, "One. Eight."),
        ] {
            assert_eq!(cut(&text, margin).as_deref(), Some(left), "{margin}");
        }
        assert_eq!(cut(&text, 4), None);
        assert_eq!(cut(&text, usize::MAX), None);
    }

    #[test]
    fn without_a_sentence_words_go() {
        let words = "words without an end ".repeat(40);
        let left = cut(&format!("{words}{ITEM} {words}"), 0).unwrap();
        assert_eq!(left, format!("{words} {words}"));
    }

    #[test]
    fn what_comes_together_goes_too() {
        let (first, second) = ITEM.split_at("Who painted the harbour".len());
        let text = format!("A.\n{first}\n{ITEM}\n{second}\nB.");
        assert_eq!(cut(&text, 0).as_deref(), Some("A.\nB."));
        let often = format!("{ITEM}.\n\nAnd this stays.\n\n");
        assert_eq!(
            cut(&often.repeat(10), 0),
            Some("\nAnd this stays.\n\n".repeat(10))
        );
        assert_eq!(cut(&often.repeat(11), 0), None);
        assert_eq!(cut(ITEM, 0), None);
    }
}
