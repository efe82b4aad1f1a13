//! What two texts share and where they differ, for people and programs.

use std::borrow::Cow;
use std::fmt::Write as _;

use dedupdb_lab::diff::{Comparison, Difference, LongestRun, MOST_WORDS, WordRun};

use crate::json::{self, LongestRunJson, WordDiffJson};
use crate::number::{counted, grouped};
use crate::output::printable;

/// The number of passages and differences that are shown, unless all are.
const SHARED: usize = 3;
const DIFFERENCES: usize = 20;

/// The number of characters that are shown of a passage, unless all are, and around a difference.
const PASSAGE: usize = 160;
const AROUND: usize = 24;

const RED: &str = "\u{1b}[31m";
const GREEN: &str = "\u{1b}[32m";
const PLAIN: &str = "\u{1b}[0m";

/// A comparison to be shown. `None` if a text is not available.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarkedDiff<'a> {
    pub(crate) comparison: Option<&'a Comparison<'a>>,
    /// `None` also if the texts have no word in common.
    pub(crate) longest: Option<LongestRun<'a>>,
    /// Whether everything is shown in full.
    pub(crate) full: bool,
    pub(crate) colours: bool,
}

impl MarkedDiff<'_> {
    /// The shared passages and the differences.
    pub(crate) fn lines(&self) -> Vec<String> {
        let Some(comparison) = self.comparison else {
            return Vec::new();
        };
        let mut lines = Vec::new();
        let shared = comparison.shared();
        let words = shared.iter().map(|passage| passage.words as u64).sum();
        lines.push(format!(
            "shared        {} in {}",
            counted_words(words),
            counted(
                shared.len() as u64,
                "passage",
                "passages, the longest first"
            ),
        ));
        let most = self.most(SHARED);
        for passage in shared.iter().take(most) {
            let words = grouped(passage.words as u64);
            lines.push(format!("  {words:>6}  {}", self.text(passage)));
        }
        lines.extend(rest(shared.len().saturating_sub(most)));
        lines.extend(self.longest_run());
        let differences = comparison.differences();
        let most = self.most(DIFFERENCES);
        let in_a: u64 = differences.iter().map(|here| here.a.words as u64).sum();
        let in_b: u64 = differences.iter().map(|here| here.b.words as u64).sum();
        lines.push(if differences.is_empty() {
            "differences   none".to_owned()
        } else {
            format!(
                "differences   {}: {} of A alone, {} of B alone",
                grouped(differences.len() as u64),
                counted_words(in_a),
                grouped(in_b),
            )
        });
        let shown = differences.iter().take(most);
        lines.extend(shown.map(|difference| self.difference(difference)));
        lines.extend(rest(differences.len().saturating_sub(most)));
        if comparison.is_cut {
            let words = grouped(MOST_WORDS as u64);
            lines.push(format!(
                "limit         only the first {words} words of each text were compared"
            ));
        }
        lines
    }

    /// The same as a JSON object.
    pub(crate) fn object(&self) -> Option<WordDiffJson<'_>> {
        let comparison = self.comparison?;
        let shared = comparison.shared();
        let differences = comparison.differences();
        let (some, most) = (self.most(SHARED), self.most(DIFFERENCES));
        let changed = differences.iter().take(most);
        Some(WordDiffJson {
            shared_words: shared.iter().map(|passage| passage.words).sum(),
            passages: shared.len(),
            shared: shared.iter().take(some).map(Into::into).collect(),
            longest: self.longest.as_ref().map(LongestRunJson::new),
            changes: differences.len(),
            differences: changed
                .map(|here| json::DifferenceJson {
                    a: here.a.text,
                    b: here.b.text,
                })
                .collect(),
            words_compared: comparison.is_cut.then_some(MOST_WORDS),
        })
    }

    /// The longest run of words that both texts have, with its places.
    fn longest_run(&self) -> Vec<String> {
        let Some(LongestRun {
            passage,
            places: [in_a, in_b],
            ..
        }) = self.longest
        else {
            return vec!["longest run   none".to_owned()];
        };
        let words = counted_words(passage.words as u64);
        let [in_a, in_b] = [in_a, in_b].map(|place| grouped(place as u64 + 1));
        let line = format!("longest run   {words}: from number {in_a} of A and number {in_b} of B");
        vec![line, format!("          {}", self.text(&passage))]
    }

    fn most(&self, most: usize) -> usize {
        if self.full { usize::MAX } else { most }
    }

    /// A difference with the text around it.
    fn difference(&self, difference: &Difference) -> String {
        let (red, green, plain) = if self.colours {
            (RED, GREEN, PLAIN)
        } else {
            ("", "", "")
        };
        let around = |passage: Option<WordRun>| {
            let passage = passage.map(|passage| one_line(passage.text));
            passage.unwrap_or_default()
        };
        let Difference { a, b, .. } = difference;
        let mut line = String::from("  ");
        let before = around(difference.before);
        line.push_str(&printable(&last(&before, AROUND)));
        if !a.text.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(line, " {red}[-{}-]{plain}", self.text(a));
        }
        if !b.text.is_empty() {
            let _ = write!(line, " {green}{{+{}+}}{plain}", self.text(b));
        }
        let after = around(difference.after);
        if !after.is_empty() {
            let _ = write!(line, " {}", printable(&first(&after, AROUND)));
        }
        line
    }

    /// A passage on one line. A long one loses its middle.
    fn text(&self, passage: &WordRun) -> String {
        let line = one_line(passage.text);
        let characters = line.chars().count();
        if self.full || characters <= PASSAGE {
            return printable(&line).into_owned();
        }
        let (head, tail) = (first(&line, PASSAGE / 2), last(&line, PASSAGE / 2));
        format!("{} {}", printable(&head), printable(&tail))
    }
}

/// The number of words of a diff, of which each punctuation mark is one.
fn counted_words(words: u64) -> String {
    counted(words, "word or sign", "words and signs")
}

fn rest(left: usize) -> Option<String> {
    let left = (left > 0).then(|| grouped(left as u64))?;
    Some(format!("          and {left} more; --full shows all"))
}

/// The text with each run of white space replaced by one space.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first characters of a text, and an ellipsis if more follow.
fn first(text: &str, characters: usize) -> Cow<'_, str> {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// The last characters of a text, after an ellipsis if more come before them.
fn last(text: &str, characters: usize) -> Cow<'_, str> {
    match text.char_indices().nth_back(characters) {
        Some((before, c)) => format!("…{}", &text[before + c.len_utf8()..]).into(),
        None => text.into(),
    }
}
