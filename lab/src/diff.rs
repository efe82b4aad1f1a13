//! Two texts, word by word.
//!
//! ```
//! use dedupdb_lab::diff::{Comparison, Piece};
//!
//! let comparison = Comparison::of("the night tram runs again", "the night train runs  again");
//! let [Piece::Same(first), Piece::Changed(tram, train), Piece::Same(last)] = comparison.pieces[..] else {
//!     panic!("one word of five differs");
//! };
//! assert_eq!((first.text, first.words), ("the night", 2));
//! assert_eq!((tram.text, train.text), ("tram", "train"));
//! assert_eq!(last.words, 2);
//! ```

use std::collections::HashMap;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

/// The largest number of words of each text that are compared.
///
/// The work is nearly linear in it, but quadratic if both texts repeat the same few words.
pub const MOST_WORDS: usize = 50_000;

/// The common and the different passages of two texts, in order.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Comparison<'t> {
    /// All pieces, in order. Together they make up both texts, as far as these were compared.
    pub pieces: Vec<Piece<'t>>,
    /// Whether a text has more words than were compared.
    pub is_cut: bool,
}

/// A piece of both texts, which is either the same or different. There is no third kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Piece<'t> {
    /// The same words in both; white space may differ.
    Same(WordRun<'t>),
    /// Words of A, and the words of B in their place. One of them may be empty.
    Changed(WordRun<'t>, WordRun<'t>),
}

/// Consecutive words of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct WordRun<'t> {
    /// Number of words.
    pub words: usize,
    /// The text from the first word to the end of the last one.
    pub text: &'t str,
}

/// A place where two texts differ.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Difference<'t> {
    /// The words before it that both texts have; `None` at the beginning.
    pub before: Option<WordRun<'t>>,
    /// The words of A alone; possibly none.
    pub a: WordRun<'t>,
    /// The words of B alone in their place; possibly none.
    pub b: WordRun<'t>,
    /// The words after it that both texts have; `None` at the end.
    pub after: Option<WordRun<'t>>,
}

/// The longest run of words that two texts have in common, wherever it is in them.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LongestRun<'t> {
    /// The run, as A has it.
    pub passage: WordRun<'t>,
    /// The number of its first word in A and in B, from 0.
    pub places: [usize; 2],
}

/// A text and the places of its words.
struct WordSpans<'t> {
    text: &'t str,
    places: Vec<Range<usize>>,
    is_cut: bool,
}

impl<'t> Comparison<'t> {
    /// Compares two texts by their first [`MOST_WORDS`] words.
    pub fn of(a: &'t str, b: &'t str) -> Comparison<'t> {
        let (a, b) = (WordSpans::of(a), WordSpans::of(b));
        let mut input = InternedInput::default();
        input.update_before(a.iter());
        input.update_after(b.iter());
        let diff = Diff::compute(Algorithm::Histogram, &input);
        let mut pieces = Vec::new();
        let mut at = 0;
        for hunk in diff.hunks() {
            let (before, after) = (usize_range(&hunk.before), usize_range(&hunk.after));
            if before.start > at {
                pieces.push(Piece::Same(a.passage(at..before.start)));
            }
            at = before.end;
            pieces.push(Piece::Changed(a.passage(before), b.passage(after)));
        }
        if at < a.places.len() {
            pieces.push(Piece::Same(a.passage(at..a.places.len())));
        }
        Comparison {
            pieces,
            is_cut: a.is_cut || b.is_cut,
        }
    }

    /// Returns the passages that both texts have, the longest first; equally long ones are in order. Punctuation alone is
    /// none.
    pub fn shared(&self) -> Vec<WordRun<'t>> {
        let shared = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Same(passage) if passage.text.contains(char::is_alphanumeric) => Some(*passage),
            Piece::Same(_) | Piece::Changed(..) => None,
        });
        let mut shared: Vec<WordRun> = shared.collect();
        shared.sort_by_key(|passage| std::cmp::Reverse(passage.words));
        shared
    }
}

impl<'t> Comparison<'t> {
    /// Returns the differences in order, each with the passages around it.
    ///
    /// ```
    /// use dedupdb_lab::diff::Comparison;
    ///
    /// let comparison = Comparison::of("the night tram runs again", "the night train runs");
    /// let differences = comparison.differences();
    /// let shown = differences.iter().map(|it| format!("[-{}-]{{+{}+}}", it.a.text, it.b.text));
    /// assert_eq!(shown.collect::<Vec<_>>(), ["[-tram-]{+train+}", "[-again-]{++}"]);
    /// assert_eq!(differences[0].before.map(|before| before.text), Some("the night"));
    /// ```
    pub fn differences(&self) -> Vec<Difference<'t>> {
        let same = |at: Option<usize>| match at.and_then(|at| self.pieces.get(at)) {
            Some(Piece::Same(passage)) => Some(*passage),
            Some(Piece::Changed(..)) | None => None,
        };
        let differs = |(at, piece): (usize, &Piece<'t>)| match piece {
            Piece::Same(_) => None,
            Piece::Changed(a, b) => Some(Difference {
                before: same(at.checked_sub(1)),
                a: *a,
                b: *b,
                after: same(at.checked_add(1)),
            }),
        };
        self.pieces.iter().enumerate().filter_map(differs).collect()
    }
}

impl<'t> LongestRun<'t> {
    /// Finds the longest run among the first [`MOST_WORDS`] words of each text. Of several, it is the first one in A, in
    /// its first place in B. `None` if they have no word in common.
    ///
    /// Unlike the passages of a [`Comparison`], it may be in another order among the other passages. The time is nearly
    /// linear in the number of words, whatever these are.
    ///
    /// ```
    /// use dedupdb_lab::diff::LongestRun;
    ///
    /// let (a, b) = ("news: the night tram runs", "the night  tram stops; no news");
    /// let run = LongestRun::of(a, b).expect("they have words in common");
    /// assert_eq!((run.passage.text, run.passage.words, run.places), ("the night tram", 3, [2, 0]));
    /// ```
    pub fn of(a: &'t str, b: &'t str) -> Option<LongestRun<'t>> {
        let (a, b) = (WordSpans::of(a), WordSpans::of(b));
        let mut numbers = HashMap::new();
        let mut windows = [&a, &b].map(|text| numbered(text.iter(), &mut numbers));
        // The windows of 1, 2, 4 words and so on, while the texts have one in common.
        let mut powers: Vec<[Vec<usize>; 2]> = Vec::new();
        while first_in_common(&windows).is_some() {
            let doubled = joined(&windows, &windows, 1 << powers.len());
            powers.push(std::mem::replace(&mut windows, doubled));
        }
        let mut longest = powers.pop()?;
        let mut words = 1 << powers.len();
        while let Some(power) = powers.pop() {
            let longer = joined(&longest, &power, words);
            if first_in_common(&longer).is_some() {
                words += 1 << powers.len();
                longest = longer;
            }
        }
        let places = first_in_common(&longest)?;
        let passage = a.passage(places[0]..places[0] + words);
        Some(LongestRun { passage, places })
    }
}

/// Numbers items, equal ones alike.
fn numbered<T: Eq + std::hash::Hash>(
    items: impl Iterator<Item = T>,
    numbers: &mut HashMap<T, usize>,
) -> Vec<usize> {
    let number = |item| {
        let next = numbers.len();
        *numbers.entry(item).or_insert(next)
    };
    items.map(number).collect()
}

/// The numbers of the windows that consist of one of `first`, with this number of words, and the one of `second` after it.
fn joined(first: &[Vec<usize>; 2], second: &[Vec<usize>; 2], words: usize) -> [Vec<usize>; 2] {
    let mut numbers = HashMap::new();
    [0, 1].map(|text| {
        let after = second[text].iter().skip(words);
        numbered(first[text].iter().zip(after), &mut numbers)
    })
}

/// The first window of A that B has, and its first place in B.
fn first_in_common([a, b]: &[Vec<usize>; 2]) -> Option<[usize; 2]> {
    let mut places = HashMap::new();
    for (place, window) in b.iter().enumerate() {
        places.entry(window).or_insert(place);
    }
    let mut a = a.iter().enumerate();
    a.find_map(|(place, window)| Some([place, *places.get(window)?]))
}

/// Returns the words of a text that are compared, at most [`MOST_WORDS`].
///
/// A word is a run of letters and digits up to a space or a punctuation mark. Each punctuation mark, and each character
/// of a script without spaces, is a word of its own.
pub fn words(text: &str) -> Vec<&str> {
    WordSpans::of(text).iter().collect()
}

/// Returns whether a text has more than [`MOST_WORDS`] words.
pub fn is_long(text: &str) -> bool {
    WordSpans::of(text).is_cut
}

impl<'t> WordSpans<'t> {
    fn of(text: &'t str) -> WordSpans<'t> {
        let mut places = Vec::new();
        let mut at = 0;
        loop {
            at += text[at..].len() - text[at..].trim_start().len();
            let Some(length) = first_word(&text[at..]) else {
                break;
            };
            if places.len() == MOST_WORDS {
                return WordSpans {
                    text,
                    places,
                    is_cut: true,
                };
            }
            places.push(at..at + length);
            at += length;
        }
        WordSpans {
            text,
            places,
            is_cut: false,
        }
    }

    fn iter(&self) -> impl Iterator<Item = &'t str> {
        let text = self.text;
        self.places.iter().map(|place| &text[place.clone()])
    }

    fn passage(&self, words: Range<usize>) -> WordRun<'t> {
        let text = match (self.places.get(words.start), words.is_empty()) {
            (Some(first), false) => &self.text[first.start..self.places[words.end - 1].end],
            _ => "",
        };
        WordRun {
            words: words.len(),
            text,
        }
    }
}

/// The length in bytes of the word that a text begins with: a run of letters and digits up to a space or a mark, or one
/// character that stands alone.
fn first_word(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    if stands_alone(first) {
        return Some(first.len_utf8());
    }
    let end = text.find(|c: char| c.is_whitespace() || stands_alone(c));
    Some(end.unwrap_or(text.len()))
}

/// Whether a character is a word of its own: a punctuation mark, or a letter of a script without spaces.
fn stands_alone(c: char) -> bool {
    c.is_ascii_punctuation()
        || matches!(c,
            '\u{2010}'..='\u{205e}' // general punctuation
            | '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' // Thai, Lao, Burmese, Khmer
            | '\u{2e80}'..='\u{a4cf}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ff64}' // Chinese, Japanese
            | '\u{20000}'..='\u{3ffff}')
}

fn usize_range(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The pieces, with each side's words joined by spaces.
    fn pieces(a: &str, b: &str) -> Vec<(String, String)> {
        let joined = |passage: &WordRun| {
            let words = WordSpans::of(passage.text);
            assert_eq!(words.places.len(), passage.words);
            words.iter().collect::<Vec<_>>().join(" ")
        };
        let comparison = Comparison::of(a, b);
        let pieces = comparison.pieces.iter().map(|piece| match piece {
            Piece::Same(same) => (joined(same), joined(same)),
            Piece::Changed(a, b) => (joined(a), joined(b)),
        });
        pieces.collect()
    }

    #[test]
    fn words_are_cut_at_spaces_and_marks() {
        assert_eq!(
            words(" It's  5 o'clock,\n"),
            ["It", "'", "s", "5", "o", "'", "clock", ","]
        );
        assert_eq!(words("naïve 日本語 x"), ["naïve", "日", "本", "語", "x"]);
        assert_eq!(words(" \t\n"), Vec::<&str>::new());
    }

    #[test]
    fn pieces_make_up_both_texts() {
        for (a, b) in [
            ("", ""),
            ("", "one two"),
            ("one two", ""),
            ("one two three", "one two three"),
            ("one two three four", "one 2 three four five"),
            ("a b c d e f g", "g f e d c b a"),
            ("x x x y x x", "x y y x x x x"),
        ] {
            let (left, right): (Vec<_>, Vec<_>) = pieces(a, b).into_iter().unzip();
            let together = |side: Vec<String>| words(&side.join(" ")).join(" ");
            assert_eq!(
                (together(left), together(right)),
                (a.to_owned(), b.to_owned())
            );
        }
    }

    #[test]
    fn one_word_of_many_is_told() {
        let same = |text: &str| (text.to_owned(), text.to_owned());
        assert_eq!(
            pieces("the night tram runs again", "the night  train runs\nagain"),
            [
                same("the night"),
                ("tram".to_owned(), "train".to_owned()),
                same("runs again")
            ]
        );
    }

    #[test]
    fn a_comma_alone_is_no_passage() {
        let shared = Comparison::of("one, two", "1, two").shared();
        let texts: Vec<&str> = shared.iter().map(|passage| passage.text).collect();
        assert_eq!(texts, [", two"]);
        assert!(Comparison::of("one, two", "1, 2").shared().is_empty());
    }

    #[test]
    fn differences_have_what_is_around_them() {
        let comparison = Comparison::of("x one two", "one 2 y");
        let around = |passage: Option<WordRun<'static>>| passage.map(|passage| passage.text);
        let differences = comparison.differences().into_iter();
        let shown =
            differences.map(|it| (around(it.before), it.a.text, it.b.text, around(it.after)));
        let expected = [
            (None, "x", "", Some("one")),
            (Some("one"), "two", "2 y", None),
        ];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
        assert!(Comparison::of("one", "one").differences().is_empty());
    }

    /// The longest run by comparing all places with all: its words and its places.
    fn longest(a: &[&str], b: &[&str]) -> Option<(usize, [usize; 2])> {
        let mut best = None;
        for at in 0..a.len() {
            for place in 0..b.len() {
                let pairs = a[at..].iter().zip(&b[place..]);
                let words = pairs.take_while(|(a, b)| a == b).count();
                if words > best.map_or(0, |(most, _)| most) {
                    best = Some((words, [at, place]));
                }
            }
        }
        best
    }

    proptest! {
        #[test]
        fn the_longest_run_is_what_comparing_all_places_finds(
            a in prop::collection::vec(prop::sample::select(vec!["x", "y", "z"]), 0..40),
            b in prop::collection::vec(prop::sample::select(vec!["x", "y", "w"]), 0..40),
        ) {
            let (left, right) = (a.join(" "), b.join("\n"));
            let run = LongestRun::of(&left, &right);
            prop_assert_eq!(run.map(|run| (run.passage.words, run.places)), longest(&a, &b));
            if let Some(LongestRun { passage, places: [at, _] }) = run {
                prop_assert_eq!(passage.text, a[at..at + passage.words].join(" "));
            }
        }
    }

    #[test]
    fn only_so_many_words_are_compared() {
        let long = "word ".repeat(MOST_WORDS);
        assert!(!Comparison::of(&long, &long).is_cut);
        let longer = format!("{long} more");
        let cut = Comparison::of(&long, &longer);
        assert!(cut.is_cut);
        assert_eq!(cut.shared()[0].words, MOST_WORDS);
    }
}
