//! Which of the dropped files the one that stays makes unnecessary.

use std::path::{Path, PathBuf};

use super::plan::{MovePlan, MovedFiles, PlannedMove};
use crate::dedup::error::Result;
use crate::{Options, Source};
use dedupdb::find::Explanation;
use dedupdb::{Progress, Schema};

/// The bytes of the texts that stay beside one that they resemble, and that others are compared with.
const MOST_BYTES: usize = 64 << 20;

/// How files are compared with those because of which they move.
pub(super) struct CompleteCheck<'a> {
    pub(super) options: Options,
    pub(super) schema: &'a Schema,
    pub(super) progress: &'a Progress,
    /// Whether the files of the folder are compared with each other.
    pub(super) is_within: bool,
    /// Whether files move even if they differ.
    pub(super) differing: bool,
}

/// A file that stays.
struct StayingFile {
    /// Empty if it was extracted from the file, or cannot be read again.
    text: String,
    path: Option<PathBuf>,
    /// What was planned for it, unless it is the one that the others resemble.
    planned: Option<PlannedMove>,
}

impl StayingFile {
    /// Whether nothing of another file with this text is missing here. Of a page, a message, or a text with bytes that could not
    /// be decoded, the text is not all.
    fn has_all_of(&self, other: &PlannedMove, text: &str) -> bool {
        if other.is_extracted || text.contains(char::REPLACEMENT_CHARACTER) {
            return self
                .path
                .as_ref()
                .is_some_and(|path| other.has_bytes_of(path));
        }
        goes_on(&self.text, text)
    }
}

impl CompleteCheck<'_> {
    /// Leaves those files out of the plan of which no file that they resemble and that stays has all lines. Returns their number.
    pub(super) fn leave_incomplete(&self, plan: &mut MovePlan) -> Result<u64> {
        if self.differing {
            return Ok(0);
        }
        // A stable sort: the files that resemble one file stay in the order in which they were judged.
        let mut files = std::mem::take(&mut plan.files);
        files.sort_by(|a, b| a.like.cmp(&b.like));
        let mut left = 0;
        for group in files.chunk_by(|a, b| a.like == b.like) {
            // What else keeps a file in its place is found again, and told, before it moves.
            let is_decided = |it: &PlannedMove| {
                it.is_same() && plan.is_other_safe(it)
                    || plan.check(it, &MovedFiles::new()).is_err()
            };
            let group = group.iter().cloned().map(|mut planned| {
                if planned.stays.is_none() && plan.is_hidden(&planned.file) {
                    planned.stays = Some("it is hidden or in a hidden folder".to_owned());
                }
                planned
            });
            let (decided, open): (Vec<_>, Vec<_>) = group.partition(is_decided);
            plan.files.extend(decided);
            if !open.is_empty() {
                left += self.judge(open, plan)?;
            }
        }
        Ok(left)
    }

    /// Plans to move those of some files, which resemble one document, of which it or one before them has all. Returns the
    /// number of the others.
    fn judge(&self, group: Vec<PlannedMove>, plan: &mut MovePlan) -> Result<u64> {
        let other = group.first().and_then(|it| it.other.clone());
        let like = group.first().map(|it| it.like.clone());
        let paths = other.iter().chain(group.iter().map(|it| &it.file));
        let corpus = self.options.open(paths.map(Source::path))?;
        let mut documents = corpus.filter_map(std::result::Result::ok).peekable();
        let mut text_of = |path: &Path, key: Option<&String>| {
            let mut text = None;
            while let Some(document) = documents.next_if(|it| it.source == path) {
                if document.is_extracted {
                    text = Some(String::new());
                } else if document.record.is_none() || key == Some(&document.key) {
                    text = Some(document.into_text());
                }
            }
            text
        };
        let text = other
            .as_ref()
            .and_then(|other| text_of(other, like.as_ref()));
        let mut staying = vec![StayingFile {
            text: text.unwrap_or_default(),
            path: other,
            planned: None,
        }];
        let (mut bytes, mut left) = (0, 0);
        for mut planned in group {
            self.progress.go_on()?;
            let Some(text) = text_of(&planned.file, None) else {
                planned.stays = Some("it cannot be read again".to_owned());
                plan.files.push(planned);
                continue;
            };
            // Nobody misses a file only while the one that stays is at least as safe as it was.
            let mut safe = staying
                .iter()
                .filter(|it| it.planned.is_some() || plan.is_other_safe(&planned));
            if let Some(whole) = safe.find(|it| it.has_all_of(&planned, &text)) {
                if let Some(file) = &whole.planned {
                    let explained = Explanation::of_texts(self.schema, &text, &whole.text)?;
                    planned.resemble(file, &explained);
                    plan.keep(file);
                }
                plan.files.push(planned);
                continue;
            }
            left += 1;
            if self.is_within && bytes < MOST_BYTES {
                bytes += text.len();
                staying.push(StayingFile {
                    text,
                    path: Some(planned.file.clone()),
                    planned: Some(planned),
                });
            }
        }
        Ok(left)
    }
}

/// Whether a text has the same lines as another one, or goes on behind them. Line ends and white space before them do not count.
///
/// The last line may be cut off: it has no end but some words, and the text goes on for a while, so that `1` is not taken for a
/// part of `16`.
fn goes_on(text: &str, other: &str) -> bool {
    const WORDS: usize = 10;
    let (mut own, mut others) = (lines(text), lines(other).peekable());
    while let Some(other_line) = others.next() {
        let line = own.next().unwrap_or_default();
        if line == other_line {
            continue;
        }
        let is_cut = others.peek().is_none()
            && !other.ends_with(char::is_whitespace)
            && other_line.split_whitespace().count() >= WORDS;
        let rest = line.strip_prefix(other_line).filter(|_| is_cut);
        let behind = rest.map(|rest| {
            rest.split_whitespace().count() + own.flat_map(str::split_whitespace).count()
        });
        return behind.is_some_and(|words| words >= WORDS);
    }
    true
}

/// Returns the lines without white space at their ends, up to the last one that has anything else.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.trim_end().lines().map(str::trim_end)
}
