//! The passages that texts of a cluster share.

use std::collections::HashSet;
use std::ops::Range;

use dedupdb::sketching::{ShingleSet, Shingler};
use dedupdb::{Result as StoreResult, Schema};
use serde_json::{Value, json};

use super::row::{PageCluster, PageRow, PageText};
use super::runs::{SharedRun, TextPiece, Tokens, overlap, pieces};
use super::texts::PageTexts;

/// The passages that pairs of texts on the page share.
#[derive(Debug)]
pub(super) struct SharedPassages {
    /// The number of tokens of the shortest passage.
    pub(super) least: u32,
    /// What a token is called, and several.
    pub(super) unit: [&'static str; 2],
    /// An element of the data for each pair.
    pub(super) pairs: Vec<String>,
}

impl SharedPassages {
    /// Returns an empty list. Passages have the store's length, unless another one is given.
    pub(super) fn new(
        schema: &Schema,
        unit: [&'static str; 2],
        at_least: Option<u32>,
    ) -> SharedPassages {
        let least = at_least.unwrap_or(match schema.passage() {
            0 => Schema::default().passage(),
            tokens => tokens,
        });
        SharedPassages {
            least: least.max(schema.shingling().k().into()),
            unit,
            pairs: Vec::new(),
        }
    }

    /// Compares the text of each listed document with that of the one beside which it is shown, as far as they are on the page and the
    /// results fit into `most` bytes. What is ignored is not shared.
    pub(super) fn compare(
        &mut self,
        groups: &[PageCluster],
        texts: &PageTexts,
        (shingler, ignored): (&Shingler, Option<&ShingleSet>),
        most: usize,
    ) -> StoreResult<()> {
        let shown: Vec<String> = texts.shown().map(|(json, _)| text_of(json)).collect();
        let mut met = HashSet::new();
        let mut bytes = 0;
        let number = |row: Option<&PageRow>| match texts.text(row?) {
            PageText::Number(number) => Some(number),
            PageText::Missing | PageText::LeftOut | PageText::Unwanted => None,
        };
        for group in groups {
            // Most texts of a cluster are compared with the same one.
            let mut last: Option<(usize, Tokens<'_>)> = None;
            for row in group.rows.iter().skip(1) {
                let compared = number(group.rows.get(row.compared()));
                let (Some(first), Some(number)) = (compared, number(Some(row))) else {
                    continue;
                };
                if number == first || !met.insert((first, number)) {
                    continue;
                }
                let a = match last.take() {
                    Some((known, tokens)) if known == first => tokens,
                    _ => Tokens::of(shingler, &shown[first], ignored)?,
                };
                let b = Tokens::of(shingler, &shown[number], ignored)?;
                // Terms and ids have no order.
                if a.count() > 0 && b.count() > 0 {
                    let pair = pair([first, number], &a, &b, self.least).to_string();
                    bytes += pair.len() + 1;
                    if bytes > most {
                        return Ok(());
                    }
                    self.pairs.push(pair);
                }
                last = Some((first, a));
            }
        }
        Ok(())
    }
}

/// The text of an element of the data.
fn text_of(json: &str) -> String {
    let element: Result<(String, u8), _> = serde_json::from_str(json);
    element.map(|(text, _)| text).unwrap_or_default()
}

/// Returns the numbers of two texts, and for each the number of its tokens that count and its marks: where each mark starts and ends,
/// in the units of JavaScript's strings, the number of its tokens, and the number of the mark in the other text that has
/// the same passage.
fn pair(numbers: [usize; 2], a: &Tokens<'_>, b: &Tokens<'_>, least: u32) -> Value {
    let runs = a.shared_with(b, least);
    let (in_a, in_b): (Vec<Range<u32>>, Vec<Range<u32>>) = runs
        .iter()
        .map(|run| (run.a.clone(), run.b.clone()))
        .unzip();
    let (in_a, in_b) = (pieces(&in_a), pieces(&in_b));
    let to_b = |piece: &TextPiece| {
        let SharedRun { a, b } = &runs[piece.range];
        at(&in_b, b.start + (piece.tokens.start - a.start))
    };
    let to_a = |piece: &TextPiece| {
        let SharedRun { a, b } = &runs[piece.range];
        at(&in_a, a.start + (piece.tokens.start - b.start))
    };
    json!([
        numbers[0],
        numbers[1],
        a.counted(),
        b.counted(),
        marks(a, &in_a, to_b),
        marks(b, &in_b, to_a)
    ])
}

/// The number of the piece with this token.
fn at(pieces: &[TextPiece], token: u32) -> usize {
    let token = token..token + 1;
    let at = pieces
        .iter()
        .position(|piece| overlap(&piece.tokens, &token) > 0);
    at.unwrap_or(0)
}

fn marks(
    text: &Tokens<'_>,
    pieces: &[TextPiece],
    other: impl Fn(&TextPiece) -> usize,
) -> Vec<[usize; 4]> {
    let (mut units, mut bytes) = (0, 0);
    let mut until = |end: usize| {
        units += text.text[bytes.min(end)..end].encode_utf16().count();
        bytes = bytes.max(end);
        units
    };
    let marks = pieces.iter().map(|piece| {
        let Range { start, end } = text.bytes(&piece.tokens);
        [until(start), until(end), piece.tokens.len(), other(piece)]
    });
    marks.collect()
}

#[cfg(test)]
mod tests {
    use dedupdb::sketching::{Shingler, Shingling};
    use serde_json::json;

    use super::*;

    #[test]
    fn marks_lead_to_each_other() {
        let shingler = Shingler::new(Shingling::Word(2), true, true).unwrap();
        let tokens = |text| Tokens::of(&shingler, text, None).unwrap();
        // Astral characters are two units.
        let (a, b) = (
            tokens("\u{1f600} é one two, x four five six"),
            tokens("four five six One two y one two"),
        );
        let pair = pair([3, 5], &a, &b, 2);
        let in_a = json!([[5, 12, 2, 1], [16, 29, 3, 0]]);
        let in_b = json!([[0, 13, 3, 1], [14, 21, 2, 0], [24, 31, 2, 0]]);
        assert_eq!(pair, json!([3, 5, 7, 8, in_a, in_b]));
    }
}
