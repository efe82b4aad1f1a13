//! How a corpus is read.

use crate::corpus::encoding::Encoding;
use crate::corpus::formats::format::Format;
use crate::corpus::read::repeats::{IdScope, Repeats};

/// Bytes that a document has at most, unless another number is asked for.
const MAX_DOCUMENT: u64 = 64 << 20;

/// How a corpus is read. The default is what the command line does when it is given no flag.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Options {
    pub(crate) format: Option<Format>,
    pub(crate) text_field: Option<String>,
    pub(crate) id_field: Option<String>,
    pub(crate) id_scope: IdScope,
    pub(crate) encoding: Option<Encoding>,
    pub(crate) max_document: u64,
    pub(crate) strict: bool,
    pub(crate) follow: bool,
    pub(crate) verbatim: bool,
    pub(crate) needs_ids: bool,
    pub(crate) repeats: Repeats,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            format: None,
            text_field: None,
            id_field: None,
            id_scope: IdScope::All,
            encoding: None,
            max_document: MAX_DOCUMENT,
            strict: false,
            follow: false,
            verbatim: false,
            needs_ids: false,
            repeats: Repeats::Skip,
        }
    }
}

impl Options {
    /// The default options.
    pub fn new() -> Options {
        Options::default()
    }

    /// The format of all files and streams, instead of what each name says.
    #[must_use]
    pub fn format(self, format: Format) -> Options {
        Options {
            format: Some(format),
            ..self
        }
    }

    /// The field or column of a record's text, instead of `text`. Dots lead into nested fields of JSON, and
    /// a number, from 1 on, counts the columns of a table without a header.
    #[must_use]
    pub fn text_field(self, name: impl Into<String>) -> Options {
        Options {
            text_field: Some(name.into()),
            ..self
        }
    }

    /// The field or column of a record's key, instead of `id`, or the header of a WARC record, instead of
    /// `WARC-Target-URI`. A record without it has the key `PATH#NUMBER`.
    #[must_use]
    pub fn id_field(self, name: impl Into<String>) -> Options {
        Options {
            id_field: Some(name.into()),
            ..self
        }
    }

    /// Where an id stands for one document.
    #[must_use]
    pub fn id_scope(self, id_scope: IdScope) -> Options {
        Options { id_scope, ..self }
    }

    /// The encoding of all texts, instead of UTF-8 or what each looks like.
    #[must_use]
    pub fn encoding(self, encoding: Encoding) -> Options {
        Options {
            encoding: Some(encoding),
            ..self
        }
    }

    /// Leaves out texts of more than so many bytes, instead of 64 MiB.
    #[must_use]
    pub fn max_document(self, max_document: u64) -> Options {
        Options {
            max_document,
            ..self
        }
    }

    /// Whether the first failure is the end: a file or record that cannot be read.
    #[must_use]
    pub fn strict(self, strict: bool) -> Options {
        Options { strict, ..self }
    }

    /// Whether symbolic links below the paths are followed, too. A file is read once, under its own name if
    /// that is below a path.
    #[must_use]
    pub fn follow(self, follow: bool) -> Options {
        Options { follow, ..self }
    }

    /// Whether records are wanted as they are in their files, beside their texts.
    #[must_use]
    pub fn verbatim(self, verbatim: bool) -> Options {
        Options { verbatim, ..self }
    }

    /// Whether a record without an id of its own is bad.
    #[must_use]
    pub fn needs_ids(self, needs_ids: bool) -> Options {
        Options { needs_ids, ..self }
    }

    /// What is done with a record whose id came before with another text. To look for it takes about 40
    /// bytes of memory for each id.
    #[must_use]
    pub fn repeats(self, repeats: Repeats) -> Options {
        Options { repeats, ..self }
    }

    /// The field of a record's text.
    pub(crate) fn text_name(&self) -> &str {
        self.text_field.as_deref().unwrap_or("text")
    }

    /// The field of a record's key.
    pub(crate) fn id_name(&self) -> &str {
        self.id_field.as_deref().unwrap_or("id")
    }

    /// The encoding that all texts are in, if that is known.
    pub(crate) fn given_encoding(&self) -> Option<&'static encoding_rs::Encoding> {
        self.encoding.map(|encoding| encoding.0)
    }

    /// The longest line or block of a record that is read, in bytes; its text may be a small part.
    pub(crate) fn max_record(&self) -> u64 {
        const LEAST: u64 = 64 << 20;
        LEAST.max(self.max_document)
    }
}
