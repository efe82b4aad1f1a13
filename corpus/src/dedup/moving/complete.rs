//! Which of the dropped files the one that stays makes unnecessary.

use std::path::Path;

use super::plan::{MovePlan, MovedFiles, PlannedMove};
use crate::dedup::error::Result;
use crate::{Options, SourcedText};
use dedupdb::find::Explanation;
use dedupdb::sketching::seen_text;
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
    pub(super) is_needless: bool,
}

/// A text that stays, as somebody sees it.
struct StayingText {
    text: String,
    /// The file, if it stays beside the one that it resembles.
    file: Option<PlannedMove>,
}

impl CompleteCheck<'_> {
    /// Leaves those files out of the plan that have something that no file has which they resemble and which stays. Returns
    /// their number.
    ///
    /// Files come in the order in which they were judged, so each is compared with those before it.
    pub(super) fn leave_incomplete(&self, plan: &mut MovePlan) -> Result<u64> {
        if self.is_needless {
            return Ok(0);
        }
        // A stable sort: the files that resemble one file stay in their order.
        plan.files.sort_by(|a, b| a.like.cmp(&b.like));
        let mut left = 0;
        let mut files: Vec<PlannedMove> = Vec::with_capacity(plan.files.len());
        let (mut staying, mut bytes) = (Vec::new(), 0);
        let mut like = String::new();
        for mut planned in std::mem::take(&mut plan.files) {
            self.progress.go_on()?;
            // What else keeps a file in its place is found again, and told, before it moves.
            if planned.exact_copy || plan.check(&planned, &MovedFiles::new()).is_err() {
                files.push(planned);
                continue;
            }
            if staying.is_empty() || like != planned.like {
                like.clone_from(&planned.like);
                staying = vec![StayingText {
                    text: self.text_of_other(&planned),
                    file: None,
                }];
                bytes = 0;
            }
            let Some(text) = self.text_at(&planned.file, None) else {
                planned.stays = Some("it cannot be read again".to_owned());
                files.push(planned);
                continue;
            };
            let holder = staying.iter().find(|it| has_all_of(&it.text, &text));
            if let Some(holder) = holder {
                if let Some(file) = &holder.file {
                    let explained = Explanation::of_texts(self.schema, &text, &holder.text)?;
                    planned.resemble(file, &explained);
                    plan.keep(file);
                }
                files.push(planned);
                continue;
            }
            left += 1;
            if self.is_within && bytes < MOST_BYTES {
                bytes += text.len();
                let file = Some(planned);
                staying.push(StayingText { text, file });
            }
        }
        plan.files = files;
        Ok(left)
    }

    /// Returns the text that a file resembles. It is empty if it cannot be read again.
    fn text_of_other(&self, planned: &PlannedMove) -> String {
        let other = planned.other.as_deref();
        let text = other.and_then(|other| self.text_at(other, Some(&planned.like)));
        text.unwrap_or_default()
    }

    /// Reads the text of a file again, or of the record with this key in it, as somebody sees it.
    fn text_at(&self, file: &Path, key: Option<&str>) -> Option<String> {
        let documents = self.options.open([file]).ok()?.filter_map(Result::ok);
        let is_it = |document: &SourcedText| {
            document.record.is_none() || key == Some(document.key.as_str())
        };
        let mut documents = documents.filter(is_it);
        documents.next().map(|document| seen_text(document.text()))
    }
}

/// Whether a text has every word of another one, with the signs at it, in the same order. The last word may be cut off.
fn has_all_of(text: &str, other: &str) -> bool {
    let mut words = text.split_whitespace();
    let mut others = other.split_whitespace().peekable();
    while let Some(other) = others.next() {
        let is_last = others.peek().is_none();
        if !words.any(|word| word == other || is_last && word.starts_with(other)) {
            return false;
        }
    }
    true
}
