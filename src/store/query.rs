//! Questions to the store, and their answers.

use crate::error::{Error, Result};
use crate::schema::check_threshold;
use crate::sketch::Estimate;
use crate::storage::{ContentRow, Snapshot};
use crate::text::ShingleSet;

use super::allowance::Allowance;
use super::matching::Verified;
use super::search::Search;
use super::sketch::{Sketch, Sketcher};

/// A question: which documents are like this one?
///
/// ```
/// use dedupdb::Query;
///
/// let of_a_text = Query::text("the quick brown fox").threshold(0.9).limit(10);
/// let of_a_document = Query::key("animals/fox.txt");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Query<'a> {
    subject: Subject<'a>,
    threshold: Option<f64>,
    limit: usize,
    except: Option<&'a str>,
}

/// A text that is given, or that of a stored document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Subject<'a> {
    /// This text.
    Text(&'a str),
    /// The document with this key.
    Key(&'a str),
}

impl<'a> Query<'a> {
    /// Asks for the documents that are like `text`.
    pub fn text(text: &'a str) -> Query<'a> {
        Query::of(Subject::Text(text))
    }

    /// Asks for the documents that are like the stored document `key`, which is not among them.
    pub fn key(key: &'a str) -> Query<'a> {
        Query {
            except: Some(key),
            ..Query::of(Subject::Key(key))
        }
    }

    fn of(subject: Subject<'a>) -> Query<'a> {
        Query {
            subject,
            threshold: None,
            limit: usize::MAX,
            except: None,
        }
    }

    /// The least Jaccard similarity of a match, above 0 and up to 1, instead of the schema's.
    ///
    /// The bands were chosen for the schema's threshold: below it they find a smaller share of the
    /// pairs, [`Schema::recall`](crate::Schema::recall) says which.
    #[must_use]
    pub fn threshold(mut self, threshold: f64) -> Query<'a> {
        self.threshold = Some(threshold);
        self
    }

    /// The largest number of matches, the best ones.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Query<'a> {
        self.limit = limit;
        self
    }

    /// Leaves the document `key` out of the answer.
    #[must_use]
    pub fn except(mut self, key: &'a str) -> Query<'a> {
        self.except = Some(key);
        self
    }
}

/// A document that is like the one asked about, with the evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The document's key.
    pub key: String,
    /// Exact Jaccard similarity of the two shingle sets, at or above the threshold. None where the
    /// store keeps no shingles.
    pub jaccard: Option<f64>,
    /// Similarity as the signatures tell it, with its standard error.
    pub estimate: Estimate,
    /// Share of the query's shingles that the match has too.
    pub containment: Option<f64>,
    /// Share of the match's shingles that the query has too.
    pub contained: Option<f64>,
    /// Number of bands whose buckets both are in.
    pub bands: u32,
    /// Whether the texts are the same, byte for byte.
    pub exact_copy: bool,
}

impl Match {
    pub(crate) fn new(key: String, verified: &Verified) -> Match {
        Match {
            key,
            jaccard: verified.likeness.jaccard,
            estimate: verified.likeness.estimate,
            containment: verified.likeness.containment,
            contained: verified.likeness.contained,
            bands: verified.bands,
            exact_copy: verified.likeness.exact_copy,
        }
    }

    /// Exact similarity where it is known, else the estimate: what matches are ordered by.
    pub fn similarity(&self) -> f64 {
        self.jaccard.unwrap_or(self.estimate.jaccard)
    }
}

/// Answers `query` from `snapshot`: the best first, ties by key.
pub(crate) fn answer(
    snapshot: &Snapshot,
    sketcher: &Sketcher,
    allowance: &Allowance,
    query: &Query<'_>,
) -> Result<Vec<Match>> {
    let threshold = query.threshold.unwrap_or(snapshot.schema.threshold());
    check_threshold(threshold)?;
    let (hash, sketch) = match query.subject {
        Subject::Text(text) => text_sketch(sketcher, text)?,
        Subject::Key(key) => {
            let (row, sketch) = stored_sketch(snapshot, key)?;
            (row.hash, sketch)
        }
    };
    let search = Search {
        snapshot,
        allowance,
        threshold,
    };
    let mut verified = search.matches(sketch.probe(&hash), 0..snapshot.len)?;
    let naming = Naming {
        limit: query.limit,
        except: query.except,
    };
    naming.name(snapshot, &mut verified)
}

/// How the contents that match are turned into documents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Naming<'a> {
    pub(crate) limit: usize,
    pub(crate) except: Option<&'a str>,
}

impl Naming<'_> {
    /// The documents that name the contents: the best first, ties by key.
    pub(crate) fn name(
        &self,
        snapshot: &Snapshot,
        verified: &mut [Verified],
    ) -> Result<Vec<Match>> {
        verified.sort_by(|a, b| by_similarity(b, a));
        let mut matches = Vec::new();
        for tied in verified.chunk_by(|a, b| by_similarity(a, b).is_eq()) {
            let start = matches.len();
            let room = self.limit.saturating_sub(start);
            if room == 0 {
                break;
            }
            for verified in tied {
                let names = snapshot
                    .names(verified.content)?
                    .filter(|name| !matches!(name, Ok(key) if Some(key.as_str()) == self.except));
                for name in names.take(room) {
                    matches.push(Match::new(name?, verified));
                }
            }
            matches[start..].sort_by(|a, b| a.key.cmp(&b.key));
            matches.truncate(self.limit);
        }
        Ok(matches)
    }
}

/// The hash and the sketch of a text.
pub(super) fn text_sketch(sketcher: &Sketcher, text: &str) -> Result<([u8; 32], Sketch)> {
    let hash = *blake3::hash(text.as_bytes()).as_bytes();
    Ok((hash, sketcher.sketch(text)?))
}

/// The content of a stored document and its sketch.
pub(super) fn stored_sketch(snapshot: &Snapshot, key: &str) -> Result<(ContentRow, Sketch)> {
    let Some(document) = snapshot.document(key)? else {
        let key = key.to_owned();
        return Err(Error::NoSuchDocument { key });
    };
    content_sketch(snapshot, document.content)
}

/// A stored content and its sketch, from the columns.
pub(super) fn content_sketch(snapshot: &Snapshot, content: u32) -> Result<(ContentRow, Sketch)> {
    let row = snapshot.content(content)?;
    let signature = snapshot.signature(content)?.to_vec();
    let mut band_hashes = Vec::new();
    if row.shingle_count > 0 {
        let schema = &snapshot.schema;
        schema
            .bands()
            .hashes(&signature, schema.slot_width(), &mut band_hashes);
    }
    let mut shingles = ShingleSet::default();
    if snapshot.schema.keeps_shingles() {
        snapshot.shingles(content, &mut shingles)?;
    }
    let sketch = Sketch {
        shingles,
        packed_shingles: Vec::new(),
        signature,
        band_hashes,
    };
    Ok((row, sketch))
}

fn by_similarity(a: &Verified, b: &Verified) -> std::cmp::Ordering {
    a.likeness.similarity().total_cmp(&b.likeness.similarity())
}
