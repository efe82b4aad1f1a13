//! Passages.

use dedupdb::overlap::{CommonPassage, Passage, Passages};
use serde::Serialize;

use super::matches::PairSourcesJson;
use crate::document_source::DocumentSource;
use crate::ranked_pairs::RankedPair;

/// `passages`: a passage.
#[derive(Serialize)]
pub(crate) struct PassageJson<'a> {
    query: &'a str,
    #[serde(flatten)]
    found: FoundPassageJson<'a>,
    covered: u32,
    query_words: u32,
    /// Words of the query's text that do not count, because --ignore has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    ignored_words: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'static str>,
}

impl<'a> PassageJson<'a> {
    /// A passage of the text called `query`, one of all that were found.
    pub(crate) fn new(
        query: &'a str,
        passage: &'a Passage,
        all: &Passages,
        text: &'a str,
        standing: DocumentSource,
    ) -> PassageJson<'a> {
        PassageJson {
            query,
            found: FoundPassageJson::new(passage, text),
            covered: all.covered,
            query_words: all.tokens,
            ignored_words: (all.ignored > 0).then_some(all.ignored),
            source: standing.source,
            file: standing.file,
        }
    }
}

/// A passage that a stored document has.
#[derive(Serialize)]
pub(super) struct FoundPassageJson<'a> {
    key: &'a str,
    /// Words that the document has, those in gaps not counted.
    words: u32,
    /// Numbers of words, from 1; both belong to the passage.
    first: u32,
    last: u32,
    line: u64,
    bytes: [usize; 2],
    place: Option<u32>,
    documents: u64,
    /// Whether too many texts share it to compare them all.
    common: bool,
    text: &'a str,
}

impl<'a> FoundPassageJson<'a> {
    pub(super) fn new(passage: &'a Passage, text: &'a str) -> FoundPassageJson<'a> {
        FoundPassageJson {
            key: &passage.key,
            words: passage.matched,
            first: passage.tokens.start + 1,
            last: passage.tokens.end,
            line: passage.line,
            bytes: [passage.bytes.start, passage.bytes.end],
            place: passage.place.map(|place| place + 1),
            documents: passage.documents,
            common: passage.is_common,
            text,
        }
    }
}

/// `pairs --passages`: a pair.
#[derive(Serialize)]
pub(crate) struct PassagePairJson<'a> {
    key_a: &'a str,
    key_b: &'a str,
    /// Words.
    longest: u32,
    coverage_a: Option<f64>,
    coverage_b: Option<f64>,
    #[serde(flatten)]
    sources: PairSourcesJson,
}

impl<'a> PassagePairJson<'a> {
    /// A pair of a store.
    pub(crate) fn new(pair: &'a RankedPair, sources: [DocumentSource; 2]) -> PassagePairJson<'a> {
        let [coverage_a, coverage_b] = pair.coverage;
        PassagePairJson {
            key_a: &pair.keys[0],
            key_b: &pair.keys[1],
            longest: pair.longest,
            coverage_a,
            coverage_b,
            sources: PairSourcesJson::new(sources),
        }
    }
}

/// `common`: a passage.
#[derive(Serialize)]
pub(crate) struct CommonPassageJson<'a> {
    documents: u64,
    words: u32,
    text: &'a str,
    keys: &'a [String],
}

impl<'a> CommonPassageJson<'a> {
    pub(crate) fn new(passage: &'a CommonPassage) -> CommonPassageJson<'a> {
        CommonPassageJson {
            documents: passage.documents,
            words: passage.tokens,
            text: &passage.text,
            keys: &passage.keys,
        }
    }
}
