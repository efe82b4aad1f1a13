//! Which of the dropped files the one that stays makes unnecessary.

use std::path::{Path, PathBuf};

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::plan::{MovePlan, MovedFiles, PlannedMove};
use crate::dedup::error::Result;
use crate::{Options, Source, SourcedText};
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

/// What a file says.
enum FileText {
    Whole(String),
    /// The hash of a text that is not all.
    Part([u8; 32]),
}

/// A file that stays.
struct StayingFile {
    /// `None` if it cannot be read again.
    text: Option<FileText>,
    path: Option<PathBuf>,
    /// What was planned for it, unless it is the one that the others resemble.
    planned: Option<PlannedMove>,
}

impl StayingFile {
    /// Whether nothing of another file with this text is missing here. Where texts are not all, bytes decide, if they are read
    /// in the same way: the same message may be read as a message, as a page and as it is.
    fn has_all_of(&self, other: &PlannedMove, text: &FileText, plan: &MovePlan) -> bool {
        match (&self.text, text) {
            (Some(FileText::Whole(own)), FileText::Whole(text)) => {
                let is_cut_copy = || {
                    let path = self.path.as_deref();
                    path.is_some_and(|path| plan.is_cut_copy(&other.file, path))
                };
                goes_on(own, text) && (lines(own).eq(lines(text)) || is_cut_copy())
            }
            (Some(FileText::Part(own)), FileText::Part(text)) => {
                let path = self.path.as_deref();
                own == text && path.is_some_and(|path| other.has_bytes_of(path))
            }
            _ => false,
        }
    }
}

impl CompleteCheck<'_> {
    /// Leaves those files out of the plan of which no file that they resemble and that stays has all lines. Returns their number.
    pub(super) fn leave_incomplete(&self, plan: &mut MovePlan) -> Result<u64> {
        let mut files = std::mem::take(&mut plan.files);
        if self.differing {
            for planned in files.iter_mut().filter(|it| it.stays.is_none()) {
                planned.stays = plan.why_missed(planned);
            }
            plan.files = files;
            return Ok(0);
        }
        // A stable sort: the files that resemble one file stay in the order in which they were judged.
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
        Ok(left + leave_stranded(plan))
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
                if document.record.is_none() || key == Some(&document.key) {
                    text = Some(text_of_file(document));
                }
            }
            text
        };
        let text = other
            .as_ref()
            .and_then(|other| text_of(other, like.as_ref()));
        let mut staying = vec![StayingFile {
            text,
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
            let mut safe = staying.iter().filter(|it| match &it.planned {
                Some(file) => plan.is_as_safe(&file.file, &planned.file),
                None => plan.is_other_safe(&planned),
            });
            if let Some(whole) = safe.find(|it| it.has_all_of(&planned, &text, plan)) {
                if let Some(file) = &whole.planned {
                    let (similarity, is_copy) = match (&text, &whole.text) {
                        (FileText::Whole(own), Some(FileText::Whole(other))) => {
                            let explained = Explanation::of_texts(self.schema, own, other)?;
                            let similarity = explained.similarity().unwrap_or_default();
                            (similarity, explained.exact_copy)
                        }
                        // They have the same bytes.
                        _ => (1.0, true),
                    };
                    planned.resemble(file, similarity, is_copy);
                    plan.keep(file);
                }
                plan.files.push(planned);
                continue;
            }
            planned.stays = plan.why_missed(&planned);
            if planned.stays.is_some() {
                plan.files.push(planned.clone());
            } else {
                left += 1;
            }
            if self.is_within && bytes < MOST_BYTES {
                if let FileText::Whole(text) = &text {
                    bytes += text.len();
                }
                staying.push(StayingFile {
                    text: Some(text),
                    path: Some(planned.file.clone()),
                    planned: Some(planned),
                });
            }
        }
        Ok(left)
    }
}

/// Leaves those files out of the plan whose similar one, which a store knows, moves itself, and that by their names are no copies
/// that were cut from the one that stays in its place. Returns their number.
fn leave_stranded(plan: &mut MovePlan) -> u64 {
    let moving = plan.files.iter().filter(|it| it.stays.is_none());
    let moving: MovedFiles<'_> = moving.map(|it| (&*it.file, it.other.as_deref())).collect();
    let is_stranded = |planned: &PlannedMove| {
        let Some(kept) = planned.kept(&moving).filter(|_| planned.is_other_stored) else {
            return false;
        };
        planned.stays.is_none()
            && planned.other.as_deref() != Some(kept)
            && !planned.has_bytes_of(kept)
            && !plan.is_cut_copy(&planned.file, kept)
    };
    let stranded: Vec<bool> = plan.files.iter().map(is_stranded).collect();
    let mut left = 0;
    for (planned, _) in plan.files.iter_mut().zip(stranded).filter(|(_, is)| *is) {
        planned.stays = Some(format!("{} moves itself", planned.like));
        left += 1;
    }
    left
}

/// Returns the text of a document. It is all that its file says if it is not that of a page or a message, and without bytes that
/// could not be decoded, or were by a guess, as those of an encoding other than Unicode are.
fn text_of_file(document: SourcedText) -> FileText {
    let is_unicode = [UTF_8, UTF_16LE, UTF_16BE]
        .map(Encoding::name)
        .contains(&document.encoding);
    let is_all = !document.is_extracted
        && is_unicode
        && !document.text().contains(char::REPLACEMENT_CHARACTER);
    if is_all {
        FileText::Whole(document.into_text())
    } else {
        FileText::Part(document.hash())
    }
}

/// Whether a text has the same lines as another one, or goes on behind them. Line ends and white space before them do not count.
///
/// The last line may be cut off: it has no end but some words, which have letters or digits, and the text goes on for a
/// while. A number at the end may be another one: 500 is not the beginning of 500.50, nor of 500 000.
fn goes_on(text: &str, other: &str) -> bool {
    const WORDS: usize = 10;
    let (mut own, mut others) = (lines(text), lines(other).peekable());
    while let Some(other_line) = others.next() {
        let line = own.next().unwrap_or_default();
        if line == other_line {
            continue;
        }
        // Other line ends do not end a line here, and what is behind the last one is no longer for that.
        let last_line = other_line.rsplit(is_rare_line_end).next();
        let cut: Vec<&str> = last_line.into_iter().flat_map(words).collect();
        let is_cut = others.peek().is_none()
            && !other.ends_with(char::is_whitespace)
            && cut.len() >= WORDS
            && cut
                .last()
                .is_some_and(|word| !word.contains(char::is_numeric));
        let rest = line.strip_prefix(other_line).filter(|_| is_cut);
        let behind = rest.map(|rest| words(rest).count() + own.flat_map(words).count());
        return behind.is_some_and(|words| words >= WORDS);
    }
    true
}

/// Returns the words of a line, but not single marks such as dashes or dots.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split_whitespace();
    words.filter(|word| word.contains(char::is_alphanumeric))
}

fn is_rare_line_end(letter: char) -> bool {
    matches!(
        letter,
        '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Returns the lines without white space at their ends, up to the last one that has anything else.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.trim_end().lines().map(str::trim_end)
}
