//! The listed documents of a cluster.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::file_status::{ClusterFiles, ReclaimableBytes, RowFile, RowLikeness};
use super::proposal::{ClusterDocument, ProposedCluster};
use crate::reread::file_of_key;

/// The maximum number of listed documents of a cluster.
pub(super) const MOST_ROWS: usize = 2000;

/// The maximum number of bytes of the number of a row's text.
const TEXT_NUMBER: usize = 8;

/// A document of a cluster.
#[derive(Clone, Debug)]
pub(super) struct PageRow {
    pub(super) key: String,
    /// The file that its key names, if there is one.
    pub(super) file: Option<PathBuf>,
    /// The similarity to the representative.
    pub(super) similarity: f64,
    /// The share of its shingles that the representative has, and the reverse.
    contained: Option<[f64; 2]>,
    /// The number of tokens of the longest passage by which it is linked, and the position of the other document.
    longest: Option<(u32, usize)>,
    pub(super) likeness: RowLikeness,
    /// The size of its source in bytes.
    pub(super) size: u64,
    /// The modification time of its source, or the time of adding, in seconds since 1970.
    time: Option<i64>,
    /// The hash of its text.
    pub(super) hash: [u8; 32],
    pub(super) standing: RowFile,
}

/// What links the documents of a cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DocumentLink {
    /// Their similarity is at least this.
    Similarity(f64),
    /// At least this share of one is in the other.
    Containment(f64),
    /// Their similarity is at least this, or they share a passage.
    Passages(f64),
}

impl DocumentLink {
    /// How a document is linked to the representative. `text` is the position of the first document with its text.
    fn likeness(self, listed: &ClusterDocument, text: usize) -> RowLikeness {
        let [reaches, holds] = match self {
            DocumentLink::Similarity(least) | DocumentLink::Passages(least) => {
                [listed.similarity >= least; 2]
            }
            DocumentLink::Containment(least) => {
                let contained = listed.contained.unwrap_or_default();
                contained.map(|share| share >= least)
            }
        };
        RowLikeness {
            text,
            reaches,
            holds,
        }
    }
}

/// What the page shows of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageText {
    Number(usize),
    Missing,
    LeftOut,
    Unwanted,
}

/// A cluster as listed.
#[derive(Clone, Debug)]
pub(super) struct PageCluster {
    /// The number of all documents, including those not listed.
    pub(super) documents: u64,
    /// The lowest similarity to the representative.
    lowest: f64,
    /// The number of documents with the text of an earlier one.
    pub(super) identical: u64,
    /// The listed documents, with the representative first.
    pub(super) rows: Vec<PageRow>,
    /// The number of bytes that it takes on the page.
    pub(super) bytes: usize,
}

impl PageRow {
    fn new(
        listed: ClusterDocument,
        longest: Option<(u32, usize)>,
        has_added: bool,
        standing: RowFile,
        likeness: RowLikeness,
    ) -> PageRow {
        let document = listed.document;
        let added = has_added.then_some(document.added);
        PageRow {
            file: file_of_key(&document),
            key: document.key,
            similarity: listed.similarity,
            contained: listed.contained,
            longest,
            likeness,
            size: document.size,
            time: document.modified.or(added).map(unix_seconds),
            hash: document.hash,
            standing,
        }
    }

    fn to_json(&self, text: PageText) -> Value {
        let text = match text {
            PageText::Number(number) => json!(number),
            PageText::Missing => json!(-1),
            PageText::LeftOut => json!(-2),
            PageText::Unwanted => json!(-3),
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
            u8::from(self.likeness.reaches) + 2 * u8::from(self.likeness.holds),
            self.contained.map(|shares| shares.map(rounded)),
            self.longest,
        ])
    }

    /// The position of the document with which it is compared: that of the longest passage, or the representative.
    pub(super) fn compared(&self) -> usize {
        self.longest.map_or(0, |(_, with)| with)
    }
}

impl PageCluster {
    /// Returns the cluster, with as many rows as fit into `most` bytes.
    ///
    /// `count` is called with each document, listed or not, and whether it is the first. `link` is what links documents in the
    /// report. `has_added` says whether the time of adding replaces an unknown modification time.
    pub(super) fn of(
        cluster: ProposedCluster,
        (link, has_added): (DocumentLink, bool),
        most: usize,
        mut count: impl FnMut(&PageRow, bool),
    ) -> PageCluster {
        let mut group = PageCluster {
            documents: cluster.documents.len() as u64,
            lowest: cluster.lowest,
            identical: 0,
            rows: Vec::new(),
            bytes: 64,
        };
        let mut has_room = true;
        let mut files = ClusterFiles::default();
        let mut texts = HashMap::new();
        let keys = cluster.documents.iter().enumerate();
        let places: HashMap<String, usize> =
            if cluster.documents.iter().any(|it| it.longest.is_some()) {
                keys.map(|(place, listed)| (listed.document.key.clone(), place))
                    .collect()
            } else {
                HashMap::new()
            };
        for (place, listed) in cluster.documents.into_iter().enumerate() {
            let standing = files.meet(listed.look, place);
            let text = *texts.entry(listed.document.hash).or_insert(place);
            let likeness = link.likeness(&listed, text);
            let longest = listed.longest.as_ref().and_then(|longest| {
                let with = places.get(&longest.with).copied();
                // What is not listed is not compared.
                Some((longest.tokens, with.filter(|with| *with < MOST_ROWS)?))
            });
            let row = PageRow::new(listed, longest, has_added, standing, likeness);
            count(&row, place == 0);
            group.identical += u64::from(likeness.text < place);
            if has_room {
                let bytes = inert(&row.to_json(PageText::Unwanted)).len() + TEXT_NUMBER;
                has_room = group.rows.len() < MOST_ROWS
                    && (group.bytes + bytes <= most || group.rows.is_empty());
                if has_room {
                    group.bytes += bytes;
                    group.rows.push(row);
                }
            }
        }
        group
    }

    /// The number of documents that are not listed because the cluster has more than a page lists.
    pub(super) fn beyond(&self) -> u64 {
        let listed = self.rows.len();
        let is_full = listed == MOST_ROWS;
        if is_full {
            self.documents - listed as u64
        } else {
            0
        }
    }

    /// Returns the bytes of the listed documents that could go.
    pub(super) fn going(&self) -> ReclaimableBytes {
        let mut going = ReclaimableBytes::default();
        for row in &self.rows {
            going.count(row.standing.state, row.size, row.likeness);
        }
        going
    }

    /// Returns a group with this number of documents and bytes.
    #[cfg(test)]
    pub(super) fn sized(documents: u64, bytes: usize) -> PageCluster {
        PageCluster {
            documents,
            lowest: 1.0,
            identical: 0,
            rows: Vec::new(),
            bytes,
        }
    }

    /// Returns the group as JSON. `text` returns the text of each row.
    pub(super) fn to_json(&self, text: impl Fn(&PageRow) -> PageText) -> Value {
        let rows = self.rows.iter().map(|row| row.to_json(text(row)));
        json!([
            self.documents,
            rounded(self.lowest),
            self.identical,
            rows.collect::<Vec<_>>()
        ])
    }
}

/// Rounds a similarity to four decimals, but not up to 1 if it is below 1.
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

/// Returns the value as JSON that is inert inside an HTML element: no character of it has a meaning for an HTML parser,
/// or ends a line in JavaScript.
pub(super) fn inert(value: &Value) -> String {
    let json = value.to_string();
    let mut inert = String::with_capacity(json.len());
    // These characters occur only in strings.
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\u{7f}' => {
                // Writing to a string never fails.
                let _ = write!(inert, "\\u{:04x}", u32::from(c));
            }
            c => inert.push(c),
        }
    }
    inert
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
