//! The caption below the panels, which says what the figures describe.

use plotters::prelude::*;

use super::Picture;
use super::canvas::{Area, DrawResult, UNIT, font};

/// The height of a line, in pixels.
const LINE: u32 = 20;

/// The pixels to the left and to the right, and those below.
const MARGIN: u32 = 32;
const FOOT: u32 = 12;

/// The size of letters, and the average width of a letter, in pixels.
const LETTERS: u32 = 13;
const LETTER: u32 = 8;

/// The maximum number of lines. A corpus may have many names.
const MOST_LINES: usize = 12;

/// Returns the height of the caption of a picture of this width, in pixels.
pub(super) fn height(picture: &Picture, width: u32) -> u32 {
    match u32::try_from(lines(picture, width).len()) {
        Ok(0) | Err(_) => 0,
        Ok(lines) => lines * LINE + FOOT,
    }
}

/// Draws the caption of a picture of this width in pixels.
pub(super) fn draw<DB: DrawingBackend>(area: &Area<DB>, picture: &Picture, width: u32) -> DrawResult
where
    DB::ErrorType: 'static,
{
    let text = TextStyle::from(font(LETTERS)).color(&RGBColor(90, 90, 90));
    for (place, line) in (0_u32..).zip(lines(picture, width)) {
        let at = (
            i32::try_from(MARGIN * UNIT)?,
            i32::try_from(place * LINE * UNIT)?,
        );
        area.draw(&Text::new(line, at, text.clone()))?;
    }
    Ok(())
}

/// Returns the lines, none of which is wider than the picture.
fn lines(picture: &Picture, width: u32) -> Vec<String> {
    let most = usize::try_from(width.saturating_sub(2 * MARGIN) / LETTER)
        .unwrap_or(0)
        .max(1);
    let lines = picture.caption.iter().flat_map(|line| wrapped(line, most));
    lines.take(MOST_LINES).collect()
}

/// Wraps a line into lines of at most `most` characters, between words where possible.
fn wrapped(line: &str, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut length = 0;
    for word in line.split_whitespace() {
        let mut word: Vec<char> = word.chars().collect();
        while !word.is_empty() {
            let room = most.saturating_sub(length + usize::from(length > 0));
            if word.len() > room && length > 0 {
                lines.push(String::new());
                length = 0;
                continue;
            }
            let rest = word.split_off(word.len().min(most));
            let last = lines.last_mut().map(|last| {
                if length > 0 {
                    last.push(' ');
                }
                last.extend(&word);
                last.chars().count()
            });
            length = last.unwrap_or_default();
            word = rest;
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrapped("one two  three", 8), ["one two", "three"]);
        assert_eq!(
            wrapped("one-word-of-many a", 6),
            ["one-wo", "rd-of-", "many a"]
        );
        assert_eq!(wrapped(" ", 6), [""; 0]);
        assert_eq!(wrapped("éé éé", 5), ["éé éé"]);
    }
}
