//! How files are read: the options that the commands share.

use std::path::Path;

use encoding_rs::Encoding;

use crate::ingest::format::Format;
use crate::parse;
use crate::repeats::{IdScope, Repeats};

/// How files are read.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Inputs")]
#[expect(clippy::struct_excessive_bools, reason = "flags are what was typed")]
pub(crate) struct Inputs {
    /// Format of all files and of standard input, instead of what each name says
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,

    /// Field or column of a record's text; dots lead into nested fields, and a number counts the
    /// columns of a table without a header [default: text]
    #[arg(long, value_name = "NAME", value_parser = parse::field)]
    pub(crate) text_field: Option<String>,

    /// Field or column of a record's key; a record without it has the key PATH#NUMBER [default: id]
    #[arg(long, value_name = "NAME", value_parser = parse::field)]
    pub(crate) id_field: Option<String>,

    /// Where an id stands for one document
    #[arg(long, value_enum, value_name = "WHERE", default_value = "all")]
    pub(crate) id_scope: IdScope,

    /// Encoding of all texts, such as windows-1252 or gbk, instead of UTF-8 or what each looks
    /// like
    #[arg(long, value_name = "NAME", value_parser = parse::encoding)]
    pub(crate) encoding: Option<&'static Encoding>,

    /// Leave out larger texts, and count them: 64MiB, 500kB
    #[arg(long, value_name = "SIZE", value_parser = parse::size, default_value = "64MiB")]
    pub(crate) max_document: u64,

    /// Stop at the first file or record that cannot be read
    #[arg(long)]
    pub(crate) strict: bool,

    /// Follow symbolic links below the paths, too; a file is read once, under its own name if that is
    /// below a path
    #[arg(long)]
    pub(crate) follow: bool,

    /// Whether records are wanted as they are in their files, beside their texts.
    #[arg(skip)]
    pub(crate) verbatim: bool,

    /// Whether a record without a key is bad.
    #[arg(skip)]
    pub(crate) needs_ids: bool,

    /// What is done with ids that come again with another text.
    #[arg(skip)]
    pub(crate) repeats: Repeats,
}

impl Inputs {
    /// The field of a record's text.
    pub(crate) fn text_field(&self) -> &str {
        self.text_field.as_deref().unwrap_or("text")
    }

    /// The field of a record's key.
    pub(crate) fn id_field(&self) -> &str {
        self.id_field.as_deref().unwrap_or("id")
    }

    /// Whether standard input or a pipe is one document, not a file of records.
    pub(crate) fn is_one_document(&self, path: &Path) -> bool {
        let format = self.format.unwrap_or_else(|| Format::of(path));
        format.is_document()
    }

    /// The longest line or block of a record that is read, in bytes; its text may be a small part.
    pub(crate) fn max_record(&self) -> u64 {
        const LEAST: u64 = 64 << 20;
        LEAST.max(self.max_document)
    }
}
