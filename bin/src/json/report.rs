//! The contents of a report.

use dedupdb_corpus::report::{SourcesSummary, Summary};
use serde::Serialize;

/// `report`.
#[derive(Serialize)]
pub(crate) struct ReportJson {
    documents: u64,
    contents: u64,
    clusters: u64,
    clustered: u64,
    identical: u64,
    bytes: u64,
    could_go: u64,
    identical_could_go: u64,
    gone: u64,
    changed: u64,
    out_of_reach: u64,
    other_names: u64,
    other_texts: u64,
    clusters_left_out: u64,
    documents_left_out: u64,
    texts: u64,
    texts_cut: u64,
    texts_missing: u64,
    texts_left_out: u64,
    short: u64,
    not_compared: u64,
    searches_cut_short: u64,
    skipped: u64,
    written: u64,
}

impl ReportJson {
    /// What was found, the bytes written for the page, and the number of files and records that were left out.
    pub(crate) fn new(summary: &Summary, written: u64, skipped: u64) -> ReportJson {
        ReportJson {
            documents: summary.documents,
            contents: summary.contents,
            clusters: summary.clusters,
            clustered: summary.clustered,
            identical: summary.identical,
            bytes: summary.bytes,
            could_go: summary.could_go,
            identical_could_go: summary.identical_could_go,
            gone: summary.gone,
            changed: summary.changed,
            out_of_reach: summary.out_of_reach,
            other_names: summary.other_names,
            other_texts: summary.other_texts,
            clusters_left_out: summary.clusters_left_out,
            documents_left_out: summary.documents_left_out,
            texts: summary.texts,
            texts_cut: summary.texts_cut,
            texts_missing: summary.texts_missing,
            texts_left_out: summary.texts_left_out,
            short: summary.short,
            not_compared: summary.not_compared,
            searches_cut_short: summary.searches_cut_short,
            skipped,
            written,
        }
    }
}

/// `report --sources`.
#[derive(Serialize)]
pub(crate) struct ReportSourcesJson<'a> {
    query: &'a str,
    query_words: u32,
    /// Words that do not count, because --ignore has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    ignored_words: Option<u32>,
    covered: u32,
    /// Words that are only in passages which many documents have.
    covered_by_many: u32,
    longest: u32,
    passages: u64,
    common_passages: u64,
    documents: u64,
    not_compared: u64,
    documents_left_out: u64,
    passages_left_out: u64,
    words_left_out: u32,
    texts_missing: u64,
    written: u64,
}

impl<'a> ReportSourcesJson<'a> {
    /// What the text called `query` shares with documents, and the bytes written for the page.
    pub(crate) fn new(
        query: &'a str,
        summary: &SourcesSummary,
        written: u64,
    ) -> ReportSourcesJson<'a> {
        ReportSourcesJson {
            query,
            query_words: summary.tokens,
            ignored_words: (summary.ignored > 0).then_some(summary.ignored),
            covered: summary.covered,
            covered_by_many: summary.covered_by_many,
            longest: summary.longest,
            passages: summary.passages,
            common_passages: summary.common_passages,
            documents: summary.documents,
            not_compared: summary.not_compared,
            documents_left_out: summary.documents_left_out,
            passages_left_out: summary.passages_left_out,
            words_left_out: summary.tokens_left_out,
            texts_missing: summary.texts_missing,
            written,
        }
    }
}
