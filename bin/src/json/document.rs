//! Documents of a store.

use serde::Serialize;

use crate::document_source::DocumentSource;
use crate::number::{unix_nanoseconds, unix_seconds, utc_date};

/// `list`, `remove --dry-run`: a document.
#[derive(Serialize)]
pub(crate) struct DocumentJson<'a> {
    key: &'a str,
    content: u32,
    hash: String,
    shingles: u32,
    size: u64,
    modified: Option<i64>,
    added: i64,
    last_seen: String,
    published: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'static str>,
}

impl<'a> DocumentJson<'a> {
    /// What is stored about a document.
    pub(crate) fn new(document: &'a dedupdb::Document) -> DocumentJson<'a> {
        DocumentJson {
            key: &document.key,
            content: document.content,
            hash: blake3::Hash::from_bytes(document.hash).to_string(),
            shingles: document.shingles,
            size: document.size,
            modified: document.modified.map(unix_nanoseconds),
            added: unix_seconds(document.added),
            last_seen: utc_date(document.last_seen),
            published: document.is_published,
            source: document.source.as_deref(),
            file: None,
        }
    }

    /// The same with the state of its file.
    pub(crate) fn standing(self, standing: &DocumentSource) -> DocumentJson<'a> {
        DocumentJson {
            file: standing.file,
            ..self
        }
    }
}

/// `show`: a document and its copies.
#[derive(Serialize)]
pub(crate) struct ShowJson<'a> {
    #[serde(flatten)]
    pub(crate) document: DocumentJson<'a>,
    pub(crate) copies: &'a [String],
}

/// `remove`: the summary.
#[derive(Serialize)]
pub(crate) struct RemoveJson {
    pub(crate) removed: u64,
}

/// `rename`.
#[derive(Serialize)]
pub(crate) struct RenameJson {
    pub(crate) renamed: bool,
}

/// `remove --dry-run`: the summary.
#[derive(Serialize)]
pub(crate) struct WouldRemoveJson {
    pub(crate) would_remove: u64,
}
