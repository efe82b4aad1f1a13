//! The format of a file, by its name.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::error::Error;

/// The last extensions of compressed files.
const COMPRESSED: [&str; 4] = ["bz2", "gz", "xz", "zst"];

/// The format in which a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// One document, read as it is.
    Text,
    /// One document: a page without its tags.
    Html,
    /// One JSON object per line.
    Jsonl,
    /// A JSON array of objects.
    Json,
    /// A table with commas and quotes, and a header.
    Csv,
    /// A table with tabs and a header, or lines of a key, a tab and a text.
    Tsv,
    /// A Parquet table.
    Parquet,
    /// A web archive: texts, and pages without their tags.
    Warc,
    /// One document: the body of a mail message, or of a page that is saved as one. Files of a Maildir are messages as well.
    Eml,
    /// A mailbox: the bodies of its messages. A file without an extension that begins like one is one.
    Mbox,
    /// One document per line: its key and the integers that are its shingles, for
    /// [`Shingling::Ids`](dedupdb::sketching::Shingling::Ids).
    Shingles,
}

/// What there is to know of a format besides how it is read.
struct FormatSpec {
    format: Format,
    /// The name by which it is chosen.
    name: &'static str,
    /// The extensions of its files.
    extensions: &'static [&'static str],
    /// Whether a file is one document.
    is_document: bool,
}

const fn spec(
    format: Format,
    name: &'static str,
    extensions: &'static [&'static str],
    is_document: bool,
) -> FormatSpec {
    FormatSpec {
        format,
        name,
        extensions,
        is_document,
    }
}

/// The formats, in the order of [`Format`]. A file with another extension is a text. An array is recognized by its
/// content, so it has no extension here.
const SPECS: &[FormatSpec] = &[
    spec(Format::Text, "text", &[], true),
    spec(Format::Html, "html", &["html", "htm", "xhtml", "xht"], true),
    spec(Format::Jsonl, "jsonl", &["jsonl", "ndjson"], false),
    spec(Format::Json, "json", &[], false),
    spec(Format::Csv, "csv", &["csv"], false),
    spec(Format::Tsv, "tsv", &["tsv"], false),
    spec(Format::Parquet, "parquet", &["parquet"], false),
    spec(Format::Warc, "warc", &["warc", "wet"], false),
    spec(Format::Eml, "eml", &["eml", "mht", "mhtml"], true),
    spec(Format::Mbox, "mbox", &["mbox", "mbx"], false),
    spec(Format::Shingles, "shingles", &[], false),
];

impl Format {
    /// All formats, in the order in which they are listed.
    pub const ALL: [Format; 11] = {
        let mut all = [Format::Text; 11];
        let mut at = 0;
        while at < SPECS.len() {
            assert!(SPECS[at].format as usize == at, "the formats are in order");
            all[at] = SPECS[at].format;
            at += 1;
        }
        all
    };

    fn spec(self) -> &'static FormatSpec {
        &SPECS[self.code()]
    }

    /// Returns the number that stands for it in a temporary file.
    pub(crate) fn code(self) -> usize {
        self as usize
    }

    /// Returns the format of this number.
    pub(crate) fn of_code(code: u64) -> Option<Format> {
        let code = usize::try_from(code).ok()?;
        Format::ALL.get(code).copied()
    }

    /// Returns the name by which the format is chosen.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// Returns the format of the file at `path` by its name: by its last extension, or by the one before `.bz2`, `.gz`, `.xz` or
    /// `.zst`. The query of a web address is no part of the name, nor is one in the name of a file, as in
    /// `index.html?page=3`.
    pub fn of(path: &Path) -> Format {
        let path = without_query(path);
        let mut extension = extension(path);
        if let Some(stem) = path.file_stem().filter(|_| is_compressed(path)) {
            extension = self::extension(Path::new(stem));
        }
        spec_of(&extension).map_or(Format::Text, |spec| spec.format)
    }

    /// Whether a file is one document, whose key is the file's path.
    pub fn is_document(self) -> bool {
        self.spec().is_document
    }
}

impl fmt::Display for Format {
    /// Writes its [`name`](Format::name).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Format, Error> {
        let mut all = Format::ALL.into_iter();
        let found = all.find(|format| format.name() == name);
        found.ok_or_else(|| Error::UnknownFormat {
            name: name.to_owned(),
        })
    }
}

/// Returns the format of an output with this name. An array is recognized by its content where it is read, and by its
/// name where it is written.
pub(crate) fn format_of_output(path: &Path) -> Format {
    if is_json(path) {
        Format::Json
    } else {
        Format::of(path)
    }
}

/// Whether the last extension, or the one before that of a compression, is `.json`.
pub(crate) fn is_json(path: &Path) -> bool {
    let path = without_query(path);
    match path.file_stem().map(Path::new) {
        Some(stem) if is_compressed(path) => extension(stem) == "json",
        _ => extension(path) == "json",
    }
}

/// Whether the name is that of a compressed file.
pub(crate) fn is_compressed(path: &Path) -> bool {
    COMPRESSED.contains(&extension(path).as_str())
}

/// Returns a path; of a web address, what comes before its query. wget writes that into the name of a file.
fn without_query(path: &Path) -> &Path {
    let Some(whole) = path.to_str() else {
        return path;
    };
    if whole.starts_with("http://") || whole.starts_with("https://") {
        let end = whole.find(['?', '#']);
        return end.map_or(path, |end| Path::new(&whole[..end]));
    }
    let name = whole.rfind('/').map_or(0, |slash| slash + 1);
    let end = whole[name..].find('?');
    let before = end.map(|end| Path::new(&whole[..name + end]));
    // In another name, it is a question mark.
    let is_known = |path: &&Path| {
        let extension = extension(path);
        extension == "json" || spec_of(&extension).is_some()
    };
    before.filter(is_known).unwrap_or(path)
}

/// Returns the format whose files have this extension.
fn spec_of(extension: &str) -> Option<&'static FormatSpec> {
    SPECS
        .iter()
        .find(|spec| spec.extensions.contains(&extension))
}

fn extension(path: &Path) -> String {
    let extension = path.extension().unwrap_or_default();
    extension.to_string_lossy().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::Format;
    use std::path::Path;

    #[test]
    fn names_tell_formats() {
        for (name, format) in [
            ("a/b.jsonl", Format::Jsonl),
            ("b.NDJSON", Format::Jsonl),
            ("b.jsonl.gz", Format::Jsonl),
            ("b.jsonl.ZST", Format::Jsonl),
            ("b.jsonl.xz", Format::Jsonl),
            ("b.jsonl.bz2", Format::Jsonl),
            ("b.csv.gz", Format::Csv),
            ("b.htm", Format::Html),
            ("b.warc.wet.gz", Format::Warc),
            ("b.TSV", Format::Tsv),
            ("b.eml", Format::Eml),
            ("b.mbox.gz", Format::Mbox),
            ("b.jsonl.bak", Format::Text),
            ("jsonl", Format::Text),
            (".jsonl", Format::Text),
            ("b.gz", Format::Text),
            ("b", Format::Text),
            ("https://b/c.jsonl.gz?d=e/f.g#h", Format::Jsonl),
            ("b?.jsonl", Format::Jsonl),
            ("c/index.html?page=3.5", Format::Html),
            ("why?/index.txt", Format::Text),
        ] {
            assert_eq!(Format::of(Path::new(name)), format, "{name}");
        }
    }
}
