//! Text to terms: single words under a stop rule.

use super::fold::Fold;
use super::hash;
use super::sink::ShingleSink;
use super::unicode::ascii;
use super::windows::Windows;

/// Characters dropped from a text, so that `don't` is `dont`.
const DROPPED: [char; 5] = ['.', ',', ':', ';', '\''];

/// The least number of characters in a term.
const SHORTEST: usize = 3;

/// The word of [`SHORTEST`] characters that is not a term.
const STOP: &str = "the";

/// Rolls the windows over the terms of a text, using the memory of `term`.
pub(super) fn read(
    fold: Fold,
    text: &str,
    term: &mut String,
    windows: &mut Windows,
    sink: &mut ShingleSink<'_>,
) {
    term.clear();
    let mut length = 0;
    let mut push = |c: char, white_space: bool| {
        if !white_space {
            if !DROPPED.contains(&c) {
                term.push(c);
                length += 1;
            }
            return;
        }
        if length >= SHORTEST && term != STOP {
            windows.tokens().push(hash::token(term.as_bytes()));
            windows.roll(sink);
        }
        term.clear();
        length = 0;
    };
    fold.chars(text, |c, entry| push(c, entry.is_white_space()));
    // The end of the text ends its last term.
    push(' ', ascii(b' ').is_white_space());
}
