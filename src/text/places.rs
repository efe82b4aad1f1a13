//! Where the tokens of a text are.

use std::ops::Range;

use super::block::SymbolRule;
use super::chars::SpaceRule;
use super::fold::Fold;
use super::unicode::CharClass;

/// The bytes of each word of a text, in order; the same words that `words` reads.
///
/// Characters that are normalized together count as one piece, so a word begins and ends at a piece.
pub(super) fn words(fold: Fold, symbols: SymbolRule, text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let (mut open, mut apart) = (false, false);
    fold.pieces(text, |piece, _, entry| {
        let class = symbols.class(entry);
        let is_apart = class == CharClass::Spaceless;
        if class == CharClass::Separator {
            (open, apart) = (false, false);
            return;
        }
        match found.last_mut() {
            Some(word) if open && !apart && !is_apart => word.end = piece.end,
            _ => found.push(piece),
        }
        (open, apart) = (true, is_apart);
    });
    found
}

/// The bytes of each character of a text that is a token, in order; the same ones that `chars` reads.
pub(super) fn chars(fold: Fold, space: SpaceRule, text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut gap: Option<Range<usize>> = None;
    fold.pieces(text, |piece, _, entry| {
        if entry.is_white_space() {
            let start = gap.as_ref().map_or(piece.start, |gap| gap.start);
            gap = Some(start..piece.end);
            return;
        }
        if let Some(gap) = gap.take()
            && !found.is_empty()
            && space == SpaceRule::Single
        {
            found.push(gap);
        }
        found.push(piece);
    });
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::text::{Shingler, Shingling};

    const SHINGLINGS: [Shingling; 7] = [
        Shingling::Word(1),
        Shingling::Word(3),
        Shingling::Code(2),
        Shingling::Char(1),
        Shingling::Char(4),
        Shingling::CharNoSpace(3),
        Shingling::Byte(2),
    ];

    proptest! {
        #[test]
        fn there_is_a_place_for_each_token_and_it_has_the_token(
            text in "([a-zA-Z]{1,7}|[ \t\n]{1,3}|[0-9.,+=-]|ǅ|İ|ß|é|e\u{301}|가나|\u{1112}\u{1161}\u{11ab}|漢字|ไทย|\u{ad}|\u{200b}|ﬁ|\u{fdfa}|👍🏽|\u{300}){0,40}",
            lowercase: bool,
            nfkc: bool,
        ) {
            for shingling in SHINGLINGS {
                let folds = shingling.folds();
                let shingler = Shingler::new(shingling, lowercase && folds, nfkc && folds).unwrap();
                let (places, shingles) = (shingler.places(&text), shingler.in_order(&text).unwrap());
                let k = usize::from(shingling.k());
                let expected = match places.len() {
                    0 => 0,
                    tokens => (tokens + 1).saturating_sub(k).max(1),
                };
                prop_assert_eq!(shingles.len(), expected, "{}", shingling);
                prop_assert!(places.is_sorted_by_key(|place| (place.start, place.end)));
                // A character may become several, which then have its place together.
                let is_apart = |at: usize| at == 0 || at == places.len() || places[at - 1].end <= places[at].start;
                for (at, shingle) in shingles.iter().enumerate() {
                    let end = places.len().min(at + k);
                    if is_apart(at) && is_apart(end) && !matches!(shingling, Shingling::Byte(_)) {
                        let run = &text[places[at].start..places[end - 1].end];
                        // White space at either end is no token, also before a character that nobody sees.
                        let is_unseen = |c: char| c.is_whitespace() || c == '\u{ad}';
                        if run.starts_with(is_unseen) || run.ends_with(is_unseen) {
                            continue;
                        }
                        prop_assert_eq!(&shingler.in_order(run).unwrap(), &[*shingle], "{}: {:?}", shingling, run);
                    }
                }
            }
        }
    }
}
