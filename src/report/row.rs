//! What is listed of a cluster.

use std::collections::{HashMap, HashSet};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::standing::{Files, Going, Likeness, Standing, State};
use super::summary::Summary;
use crate::groups::{Cluster, Member};
use crate::{Document, Result, Store};

/// Documents of a cluster that are listed, at most.
const MOST_ROWS: usize = 2000;

/// Bytes that the number of a row's text takes, at most.
const TEXT_NUMBER: usize = 8;

/// A document of a cluster.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) key: String,
    /// To the representative.
    pub(super) similarity: f64,
    pub(super) likeness: Likeness,
    /// Bytes of its source.
    pub(super) size: u64,
    /// Of the source's last change, or when it was added: seconds from 1970.
    time: Option<i64>,
    /// Of its text.
    pub(super) hash: [u8; 32],
    pub(super) standing: Standing,
}

/// What the page is told in the place of a text's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Text {
    Number(usize),
    Missing,
    LeftOut,
    Unwanted,
}

/// A cluster as it is listed.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// All documents, also those that are not listed.
    pub(super) documents: u64,
    /// The lowest similarity to the representative.
    lowest: f64,
    /// Documents with the text of an earlier one.
    pub(super) identical: u64,
    /// The representative first.
    pub(super) rows: Vec<Row>,
    /// Bytes that it takes on the page.
    pub(super) bytes: usize,
}

impl Row {
    fn new(
        member: &Member,
        document: &Document,
        has_added: bool,
        standing: Standing,
        likeness: Likeness,
    ) -> Row {
        let added = has_added.then_some(document.added);
        Row {
            key: member.key.clone(),
            similarity: member.similarity(),
            likeness,
            size: document.size,
            time: document.modified.or(added).map(unix_seconds),
            hash: document.hash,
            standing,
        }
    }

    fn to_json(&self, text: Text) -> Value {
        let text = match text {
            Text::Number(number) => json!(number),
            Text::Missing => json!(-1),
            Text::LeftOut => json!(-2),
            Text::Unwanted => json!(-3),
        };
        json!([
            self.key,
            rounded(self.similarity),
            self.likeness.text,
            self.size,
            self.time,
            text,
            self.standing.state.number(),
            self.standing.file,
            u8::from(self.likeness.reaches),
        ])
    }
}

impl Group {
    /// The cluster, as far as its rows take no more than `most` bytes; `count` is called with each document,
    /// listed or not, and whether it is the first. `threshold` is that of the report, and `has_added` says whether the
    /// time of adding stands in for one that is not known.
    ///
    /// # Errors
    ///
    /// Those of reading the store.
    pub(super) fn of(
        cluster: &Cluster,
        store: &Store,
        (threshold, has_added): (f64, bool),
        most: usize,
        mut count: impl FnMut(&Row, bool),
    ) -> Result<Group> {
        let mut group = Group {
            documents: cluster.members.len() as u64,
            lowest: cluster.lowest,
            identical: 0,
            rows: Vec::new(),
            bytes: 64,
        };
        let mut has_room = true;
        let (mut files, mut met) = (Files::default(), 0);
        let mut texts = HashMap::new();
        for member in &cluster.members {
            // A document that was removed meanwhile is not told of.
            let Some(document) = store.get(&member.key)? else {
                continue;
            };
            let standing = files.look(&document, met);
            let likeness = Likeness {
                text: *texts.entry(document.hash).or_insert(met),
                reaches: member.similarity() >= threshold,
            };
            let row = Row::new(member, &document, has_added, standing, likeness);
            count(&row, met == 0);
            group.identical += u64::from(likeness.text < met);
            met += 1;
            if has_room {
                let bytes = super::data::inert(&row.to_json(Text::Unwanted)).len() + TEXT_NUMBER;
                has_room = group.rows.len() < MOST_ROWS
                    && (group.bytes + bytes <= most || group.rows.is_empty());
                if has_room {
                    group.bytes += bytes;
                    group.rows.push(row);
                }
            }
        }
        Ok(group)
    }

    /// Takes note of the documents, by their keys, whose files have other texts than are stored: as if their size or time
    /// had changed.
    pub(super) fn rewritten(&mut self, keys: &HashSet<String>, summary: &mut Summary) {
        let before = self.going();
        for row in &mut self.rows {
            if row.standing.state == State::AtHand && keys.contains(&row.key) {
                row.standing.state = State::Changed;
                summary.other_texts += 1;
            }
        }
        let after = self.going();
        let corrected = |all: u64, before: u64, after: u64| all.saturating_sub(before) + after;
        summary.could_go = corrected(summary.could_go, before.all, after.all);
        summary.identical_could_go = corrected(
            summary.identical_could_go,
            before.identical,
            after.identical,
        );
    }

    /// What could go of the documents that are listed.
    fn going(&self) -> Going {
        let mut going = Going::default();
        for row in &self.rows {
            going.count(row.standing.state, row.size, row.likeness);
        }
        going
    }

    /// One of so many documents and bytes.
    #[cfg(test)]
    pub(super) fn sized(documents: u64, bytes: usize) -> Group {
        Group {
            documents,
            lowest: 1.0,
            identical: 0,
            rows: Vec::new(),
            bytes,
        }
    }

    /// The group, of whose rows `text` tells the texts.
    pub(super) fn to_json(&self, text: impl Fn(&Row) -> Text) -> Value {
        let rows = self.rows.iter().map(|row| row.to_json(text(row)));
        json!([
            self.documents,
            rounded(self.lowest),
            self.identical,
            rows.collect::<Vec<_>>()
        ])
    }
}

/// A similarity to four decimals, and below 1 if it is.
fn rounded(similarity: f64) -> f64 {
    let rounded = (similarity * 10_000.0).round() / 10_000.0;
    if similarity < 1.0 && rounded >= 1.0 {
        return 0.9999;
    }
    rounded
}

fn unix_seconds(time: SystemTime) -> i64 {
    let whole = |seconds: u64| i64::try_from(seconds).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => whole(since.as_secs()),
        Err(before) => -whole(before.duration().as_secs()),
    }
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn only_equals_are_at_1() {
        let told = [0.123_45, 0.999_99, 1.0].map(|similarity| rounded(similarity).to_string());
        assert_eq!(told, ["0.1235", "0.9999", "1"]);
    }
}
