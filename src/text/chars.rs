//! Text to tokens that are one character or one byte each.

use super::fold::Fold;
use super::hash;
use super::sink::ShingleSink;
use super::windows::Windows;

/// The number of tokens to gather before the windows roll.
const GATHER: usize = 4 << 10;

/// How white space counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpaceRule {
    /// A run of it counts as one space, except at either end.
    Single,
    /// It is left out.
    Dropped,
}

/// Rolls the windows over the folded characters of a text.
pub(super) fn read(
    fold: Fold,
    space: SpaceRule,
    text: &str,
    windows: &mut Windows,
    sink: &mut ShingleSink<'_>,
) {
    let (mut any, mut gap) = (false, false);
    fold.chars(text, |c, entry| {
        if entry.is_white_space() {
            gap = true;
            return;
        }
        let tokens = windows.tokens();
        if gap && any && space == SpaceRule::Single {
            tokens.push(hash::char_token(' '));
        }
        tokens.push(hash::char_token(c));
        if tokens.len() >= GATHER {
            windows.roll(sink);
        }
        (any, gap) = (true, false);
    });
}

/// Rolls the windows over the bytes of a text.
pub(super) fn read_bytes(text: &str, windows: &mut Windows, sink: &mut ShingleSink<'_>) {
    for bytes in text.as_bytes().chunks(GATHER) {
        windows
            .tokens()
            .extend(bytes.iter().map(|byte| hash::token(&[*byte])));
        windows.roll(sink);
    }
}
