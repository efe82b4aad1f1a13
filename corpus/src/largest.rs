//! The order in which similar documents are worth keeping.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::OsStr;
use std::path::Path;

use crate::SourcedText;
use crate::aside_names::{THROWN_AWAY, set_aside};
use crate::garbled::{garbled_places, with_letters};
use dedupdb::sketching::{Shingler, seen_characters};
use dedupdb::{Result, Schema};

/// Counts what texts say.
#[derive(Debug)]
pub(crate) struct ShingleCounter {
    shingler: Shingler,
    /// The number of tokens of a shingle.
    k: usize,
}

impl ShingleCounter {
    /// Counts the shingles of a schema.
    ///
    /// # Errors
    ///
    /// Those of [`Schema::shingler`].
    pub(crate) fn of(schema: &Schema) -> Result<ShingleCounter> {
        Ok(ShingleCounter {
            shingler: schema.shingler()?,
            k: schema.shingling().k().into(),
        })
    }

    /// Counts the distinct shingles, without those that only join two passages which the text had before, and looks whether
    /// each comes twice: a text that was pasted twice says no more. The last word may be cut off, so it does not count.
    /// A word that was decoded wrongly counts as one word. A text that a store refuses says nothing.
    pub(crate) fn count(&self, text: &str) -> Content {
        let garbled = garbled_places(text);
        let text = with_letters(text, &garbled);
        let mut shingles = self.shingler.in_order(&text).unwrap_or_default();
        if shingles.len() > 1 {
            shingles.pop();
        }
        // Whether a shingle came again.
        let mut met = HashMap::with_capacity(shingles.len());
        // New shingles in a row, and those behind them that came before.
        let (mut run, mut again) = (0, 0);
        let (mut count, mut once) = (0, 0_usize);
        for &shingle in &shingles {
            match met.entry(shingle) {
                Entry::Vacant(new) => {
                    new.insert(false);
                    once += 1;
                    if again > 0 {
                        count += self.said(run, again);
                        (run, again) = (0, 0);
                    }
                    run += 1;
                }
                Entry::Occupied(mut known) => {
                    once -= usize::from(!known.insert(true));
                    again += 1;
                }
            }
        }
        count += self.said(run, again);
        // Those that join both passages come once, and the last one, which did not count.
        let is_twice = once <= self.k && shingles.len() >= 2 * count.max(1);
        let count = count.saturating_sub(is_twice.into()) as u64;
        // A text that was cut off where it only repeats itself says as much, in fewer words.
        let length = if is_twice { 0 } else { shingles.len() as u64 };
        (Reverse(count), is_twice, Reverse(length), garbled.len())
    }

    /// The number of new shingles in a row that say something: as many as a shingle has words, but one, may reach into the
    /// passage that comes `again` behind them.
    fn said(&self, run: usize, again: usize) -> usize {
        run.saturating_sub(again.min(self.k - 1))
    }
}

/// What a text says: the number of distinct shingles, whether it says all of it at least twice, the number of shingles with
/// those that come again, unless it says all of it twice, and the number of places that were decoded wrongly. The lesser one
/// is worth keeping.
pub(crate) type Content = (Reverse<u64>, bool, Reverse<u64>, usize);

/// Of two documents, the one with the lesser rank is worth keeping. The fields decide in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KeepRank {
    is_thrown_away: bool,
    content: Content,
    /// How many names tell that it is a copy.
    aside: usize,
    /// The length of its text.
    length: Reverse<u64>,
    /// The lengths of its name and path.
    names: [usize; 2],
}

/// Returns what sorts the document to keep first: one that was not thrown away; then the one that says most, by its number of distinct shingles; then the
/// one with more shingles, counted as often as they come; then the one with fewer names, of the file and its folders,
/// that are hidden or tell a copy or a program; then the one with the longer text, then the shorter name, then the
/// shorter path. A record, which is not a file of its own, counts as having one such name. Invisible characters do not
/// count as length.
pub(crate) fn rank_of(document: &SourcedText, content: Content) -> KeepRank {
    let is_record = document.record.is_some();
    rank_of_text(
        document.text(),
        content,
        Some((&document.source, is_record)),
    )
}

/// Returns the same for a text, which may be that of a file, or of a record in it.
pub(crate) fn rank_of_text(text: &str, content: Content, place: Option<(&Path, bool)>) -> KeepRank {
    // Signs that are seen, and not bytes: one sign for two letters is no longer than these. Of white space, only the
    // indentation of some lines by more than others says something, and quotation marks of mail say nothing.
    let (mut indents, mut quotes, mut least, mut lines) = (0, 0, usize::MAX, 0);
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let before = line.len() - line.trim_start_matches(['>', ' ', '\t']).len();
        let quoted = line[..before].matches('>').count();
        (indents, quotes) = (indents + before - quoted, quotes + quoted);
        (least, lines) = (least.min(before - quoted), lines + 1);
    }
    let indentation = indents.saturating_sub(least.saturating_mul(lines));
    let length = seen_characters(text).saturating_sub(quotes) + indentation;
    KeepRank {
        content,
        ..stored_rank(0, length as u64, place)
    }
}

/// Returns the same without the text.
pub(crate) fn stored_rank(shingles: u64, bytes: u64, place: Option<(&Path, bool)>) -> KeepRank {
    let path = place.and_then(|(path, is_record)| (!is_record).then_some(path));
    let name = path.and_then(Path::file_name);
    let lengths = [name, path.map(Path::as_os_str)].map(|it| it.map_or(0, OsStr::len));
    let (aside, is_record) =
        place.map_or((0, false), |(path, is_record)| (set_aside(path), is_record));
    KeepRank {
        is_thrown_away: aside >= THROWN_AWAY,
        content: (Reverse(shingles), false, Reverse(0), 0),
        aside: aside + usize::from(is_record),
        length: Reverse(bytes),
        names: lengths,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_off_says_less_and_what_is_repeated_says_no_more() {
        let counter = ShingleCounter::of(&Schema::default()).unwrap();
        let words = |name: &str, count: usize| {
            let words = (0..count).map(|word| format!("{name}{word} "));
            words.collect::<String>()
        };
        let (verse, refrain) = (words("verse", 60), words("refrain", 30));
        let song = format!("{verse}{refrain}{refrain}{refrain}");
        let rank = |text: &str| rank_of_text(text, counter.count(text), None);
        for share in [40, 50, 70, 80, 90, 99] {
            let cut = &song[..song.len() * share / 100];
            assert!(rank(&song) < rank(cut), "{share}");
        }
        let twice = format!("{verse}{verse}");
        assert!(rank(&verse) < rank(&twice));
        let garbled = verse.replacen("verse7 ", "verse\u{fffd} ", 1);
        assert!(rank(&verse) < rank(&garbled));
        assert!(rank(&garbled) < rank(&verse[..verse.len() / 2]));
        let named = |text: &str, name| {
            rank_of_text(text, counter.count(text), Some((Path::new(name), false)))
        };
        for share in [70, 80, 90, 99] {
            let cut = &song[..song.len() * share / 100];
            assert!(named(&song, "song (1).bak") < named(cut, "song"), "{share}");
        }
        // The name decides about the same words, and about how often a text was pasted.
        for copy in [
            song.replace(' ', "\r\n"),
            song.replace(' ', "   "),
            format!("\u{feff}{song}"),
            format!("{song}\n\n-- \n   \n"),
            song.replace("verse", "\n> verse"),
        ] {
            assert!(
                named(&song, "song") < named(&copy, "song (1).bak"),
                "{copy}"
            );
        }
        let often = verse.repeat(3);
        assert!(named(&twice, "song") < named(&often, "song (1).bak"));
        // What is added counts at least nothing, whatever it is.
        for more in [
            "see https://example.org/index.php?id=12 and https://example.org/index.php?id=13",
            "Smith &amp; Sons and Jones &amp; Co. sent it",
            "proxy=\nuser=anna\npassword=Sesame17",
            "let x=a?b:c; let y=d?e:f;",
            "as verse1 verse2 verse3 verse4 verse5 says",
            r#""M\u00fcller", "J\u00e4ger""#,
            "see https://example.org/watch?v=dQw4w9WgXcQ",
            "write to mailto:anna@example.org?subject=tram",
            "if x &lt; 5",
        ] {
            let whole = format!("{verse}and then it goes on like that, {more}\n");
            let cut = format!("{verse}and then it goes on like that,\n");
            assert!(
                named(&whole, "song (1).bak") < named(&cut, "song"),
                "{more}"
            );
        }
        // A link in place of a word, and a word in place of a garbled one.
        let with_link = format!("{verse}see https://example.org/list?page=2");
        let without = format!("{verse}see later");
        assert!(named(&with_link, "song (1).bak") < named(&without, "song"));
        let misread = verse
            .replace("verse1", "vÃ¤rse1")
            .replace("verse2", "v&auml;rse2");
        let clean = verse
            .replace("verse1", "värse1")
            .replace("verse2", "värse2");
        assert!(named(&clean, "song (1).bak") < named(&misread, "song"));
        let dense: Vec<String> = (0..60).map(|word| format!("\\u00fcber{word}")).collect();
        let dense = dense.join(" ");
        assert!(rank(&dense) < rank(&dense[..dense.len() * 9 / 10]));
    }
}
