//! The counts of a page about one text.

use super::commands::{Commands, advised};
use super::sources::MOST_DOCUMENTS;
use crate::number::{counted, grouped};

/// Counts of what a text shares with others, and of what is not on its page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourcesSummary {
    /// What a token of the text is called, and several: `word` and `words`.
    pub unit: [&'static str; 2],
    /// The number of tokens of the text.
    pub tokens: u32,
    /// How many of these do not count, because they are ignored.
    pub ignored: u32,
    /// The tokens inside passages, with any document, and those between passages that were joined.
    pub covered: u32,
    /// How many of these are only in passages that many documents have: five or more.
    pub covered_by_many: u32,
    /// The number of tokens of the longest passage.
    pub longest: u32,
    /// The numbered passages. Others lie inside such ones.
    pub passages: u64,
    /// How many of these have many documents.
    pub common_passages: u64,
    /// The documents that share passages with the text.
    pub documents: u64,
    /// Places of the text that more stored texts share than were compared, where a passage may be missing.
    pub not_compared: u64,
    /// Documents that are not listed.
    pub documents_left_out: u64,
    /// How many of these are beyond the first 1,000. No page lists more.
    pub documents_beyond: u64,
    /// Listed documents whose texts are not at hand, so that the page cannot show what stands around a passage.
    pub texts_missing: u64,
    /// Passages that are marked in the text and not listed.
    pub passages_left_out: u64,
    /// The tokens of the text that are not shown, because it is longer than there is room for.
    pub tokens_left_out: u32,
}

impl SourcesSummary {
    /// Returns readable lines about what is not on the page, with the option that would show it.
    pub fn left_out(&self, commands: &Commands) -> Vec<String> {
        let room = |what: &str| {
            advised(what, &commands.more_bytes, |option| {
                format!("; raise {option}")
            })
        };
        let shown = advised(
            "shown without the words around a passage: the text is not at hand",
            &commands.show_texts,
            |option| format!("; `{option}` looks for it there"),
        );
        let common = advised(
            "in more stored texts than were compared, and a passage there may be missing",
            &commands.compare_all,
            |option| format!("; `{option}` compares them all"),
        );
        let counts = [
            (
                self.not_compared,
                ["place of the text is", "places of the text are"],
                common,
            ),
            (self.texts_missing, ["document is", "documents are"], shown),
            (
                self.documents_beyond,
                ["document is", "documents are"],
                format!(
                    "not listed: a page lists the first {}",
                    grouped(MOST_DOCUMENTS as u64)
                ),
            ),
            (
                self.documents_left_out - self.documents_beyond.min(self.documents_left_out),
                ["document is", "documents are"],
                room("not listed: there is no room for more"),
            ),
            (
                self.passages_left_out,
                ["passage is", "passages are"],
                room("marked and not listed: there is no room for more"),
            ),
        ];
        let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
        let mut lines: Vec<String> = counts
            .map(|(count, [one, many], what)| format!("{} {what}", counted(count, one, many)))
            .collect();
        if self.tokens_left_out > 0 {
            let left_out = counted(self.tokens_left_out.into(), self.unit[0], self.unit[1]);
            lines.push(room(&format!(
                "the last {left_out} of the text are not shown: there is no room for more"
            )));
        }
        lines
    }
}
