//! The contents of a report.

use dedupdb_corpus::report::Summary;
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
            searches_cut_short: summary.searches_cut_short,
            skipped,
            written,
        }
    }
}
