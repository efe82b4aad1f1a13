//! Options for reading a corpus.

use std::path::{Path, PathBuf};

use crate::encoding::Encoding;
use crate::formats::format::Format;
use crate::formats::record_fields::WantedFields;
use crate::glob::{Glob, Globs};
use crate::read::stored::StoredFiles;
use crate::source::converter::Converter;
use dedupdb::Store;
use dedupdb::write::IdScope;

/// The default approximate memory of a run, in bytes.
pub(crate) const MEMORY: u64 = 512 << 20;

/// The default maximum size of a document in bytes.
const MAX_DOCUMENT: u64 = 64 << 20;

/// Options for reading a corpus. The defaults are those of the command line.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Options {
    pub(crate) format: Option<Format>,
    /// None stands for `text`.
    pub(crate) text_fields: Vec<String>,
    pub(crate) id_field: Option<String>,
    pub(crate) id_scope: IdScope,
    pub(crate) encoding: Option<Encoding>,
    pub(crate) max_document: u64,
    pub(crate) memory: u64,
    pub(crate) strict: bool,
    pub(crate) follow: bool,
    pub(crate) globs: Globs,
    pub(crate) converter: Option<Converter>,
    pub(crate) verbatim: bool,
    pub(crate) fields: Option<WantedFields>,
    /// Whether rows of Parquet files are written from their file again, and so are not wanted as lines.
    pub(crate) tables_apart: bool,
    /// The fields that are wanted as lines of such rows nevertheless.
    pub(crate) ranked_fields: Vec<String>,
    pub(crate) needs_ids: bool,
    pub(crate) repeats: Repeats,
    pub(crate) quoted: bool,
    pub(crate) store: Option<PathBuf>,
    pub(crate) stored: Option<StoredFiles>,
}

/// What happens to a record whose id came before with another text. The same happens to a file, and to a record without
/// an id, if its key is the id of an earlier record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Repeats {
    /// Nothing: repeated ids are not detected.
    #[default]
    Allow,
    /// The document is kept and marked.
    Tell,
    /// The document is skipped.
    Skip,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            format: None,
            text_fields: Vec::new(),
            id_field: None,
            id_scope: IdScope::Unset,
            encoding: None,
            max_document: MAX_DOCUMENT,
            memory: MEMORY,
            strict: false,
            follow: false,
            globs: Globs::default(),
            converter: None,
            verbatim: false,
            fields: None,
            tables_apart: false,
            ranked_fields: Vec::new(),
            needs_ids: false,
            repeats: Repeats::Skip,
            quoted: true,
            store: None,
            stored: None,
        }
    }
}

impl Options {
    /// Returns the default options.
    pub fn new() -> Options {
        Options::default()
    }

    /// Sets the format of all files and streams. By default, each name determines it.
    #[must_use]
    pub fn format(self, format: Format) -> Options {
        Options {
            format: Some(format),
            ..self
        }
    }

    /// Sets the field or column of a record's text, instead of `text`. Dots lead into nested fields of JSON. A number,
    /// counted from 1, selects a column of a table without a header.
    #[must_use]
    pub fn text_field(self, name: impl Into<String>) -> Options {
        self.text_fields([name])
    }

    /// Sets several fields or columns, named as for [`Options::text_field`]. A record's text is the texts of these, in this
    /// order, with a line break between them. A field that is missing, null or empty adds nothing; a table has all of these
    /// columns. A name that is repeated counts once, and no name stands for `text`.
    ///
    /// ```
    /// use dedupdb_corpus::Corpus;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let file = folder.path().join("posts.jsonl");
    /// std::fs::write(&file, r#"{"id": 1, "title": "A tram", "lead": null, "body": "It runs at night."}"#)?;
    /// let mut corpus = Corpus::options().text_fields(["title", "lead", "body"]).open([file])?;
    /// let post = corpus.next().transpose().map_err(|skipped| skipped.message())?;
    /// assert_eq!(post.unwrap().text(), "A tram\nIt runs at night.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn text_fields<F: Into<String>>(self, names: impl IntoIterator<Item = F>) -> Options {
        let mut text_fields: Vec<String> = Vec::new();
        for name in names.into_iter().map(Into::into) {
            if !text_fields.contains(&name) {
                text_fields.push(name);
            }
        }
        Options {
            text_fields,
            ..self
        }
    }

    /// Sets whether lines of mail that begin with `>`, which quote an earlier message, are part of its text. They are by
    /// default.
    #[must_use]
    pub fn quoted(self, quoted: bool) -> Options {
        Options { quoted, ..self }
    }

    /// Sets the field or column of a record's key, instead of `id`, or the header of a WARC record, instead of
    /// `WARC-Target-URI`, or of a message in a mailbox, instead of `Message-ID`. A record without it has the key `PATH#NUMBER`.
    #[must_use]
    pub fn id_field(self, name: impl Into<String>) -> Options {
        Options {
            id_field: Some(name.into()),
            ..self
        }
    }

    /// Sets the scope in which an id identifies a document. If a store remembers one, [`Add`](crate::Add) needs
    /// none; otherwise, the store remembers this one.
    #[must_use]
    pub fn id_scope(self, id_scope: IdScope) -> Options {
        Options { id_scope, ..self }
    }

    /// Sets the encoding of all texts, instead of UTF-8 or detection.
    #[must_use]
    pub fn encoding(self, encoding: Encoding) -> Options {
        Options {
            encoding: Some(encoding),
            ..self
        }
    }

    /// Skips texts larger than this number of bytes, 64 MiB by default.
    #[must_use]
    pub fn max_document(self, max_document: u64) -> Options {
        Options {
            max_document,
            ..self
        }
    }

    /// Sets how many bytes of memory it may take to decompress a file, 512 MiB by default. Windows of Zstandard and
    /// dictionaries of xz have up to 2 GiB and more. [`Add::memory`](crate::Add::memory) and
    /// [`Dedup::memory`](crate::dedup::Dedup::memory) set this, too.
    #[must_use]
    pub fn memory(self, bytes: u64) -> Options {
        Options {
            memory: bytes,
            ..self
        }
    }

    /// Whether to stop at the first failure: a file or record that cannot be read.
    #[must_use]
    pub fn strict(self, strict: bool) -> Options {
        Options { strict, ..self }
    }

    /// Whether to follow symbolic links below the paths. A file is read once, under its own name if that is below a
    /// path.
    #[must_use]
    pub fn follow(self, follow: bool) -> Options {
        Options { follow, ..self }
    }

    /// Reads files in folders only if their names match this pattern or another one of these.
    #[must_use]
    pub fn include(mut self, glob: Glob) -> Options {
        self.globs.include.push(glob);
        self
    }

    /// Skips files and folders in folders if their names match this pattern.
    #[must_use]
    pub fn exclude(mut self, glob: Glob) -> Options {
        self.globs.exclude.push(glob);
        self
    }

    /// Whether to obey `.gitignore` files in the folders that are read, and below them.
    #[must_use]
    pub fn gitignore(mut self, gitignore: bool) -> Options {
        self.globs.gitignore = gitignore;
        self
    }

    /// Reads files through a program, as one document each.
    #[must_use]
    pub fn converter(self, converter: Converter) -> Options {
        Options {
            converter: Some(converter),
            ..self
        }
    }

    /// Whether to keep records as they are in their files, besides their texts. A row of a Parquet file becomes a
    /// line of JSON with all its columns: lists are arrays, structures and maps with string keys are objects, times
    /// are as in ISO 8601, and bytes that are not text are in base64.
    #[must_use]
    pub fn verbatim(self, verbatim: bool) -> Options {
        Options { verbatim, ..self }
    }

    /// Reads other fields of records, too, as [`Origin::fields`](crate::Origin::fields). Records are kept as with
    /// [`Options::verbatim`]; of a row of a Parquet file, these fields.
    ///
    /// ```
    /// use dedupdb_corpus::{Corpus, WantedFields};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let file = folder.path().join("posts.jsonl");
    /// std::fs::write(&file, r#"{"id": 1, "text": "A tram", "meta": {"score": 7}}"#)?;
    /// let wanted = WantedFields::Named(vec!["meta.score".to_owned()]);
    /// let mut corpus = Corpus::options().fields(wanted).open([file])?;
    /// let post = corpus.next().transpose().map_err(|skipped| skipped.message())?.unwrap();
    /// assert_eq!(post.fields.as_ref().unwrap().values, [("meta.score".to_owned(), "7".to_owned())]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn fields(self, fields: WantedFields) -> Options {
        Options {
            fields: Some(fields),
            verbatim: true,
            ..self
        }
    }

    /// Whether to leave the records of tables to a second reader of `OpenedFile::table`.
    pub(crate) fn tables_apart(self, tables_apart: bool) -> Options {
        Options {
            tables_apart,
            ..self
        }
    }

    /// Sets the fields of such records that are wanted verbatim nevertheless.
    pub(crate) fn ranked_fields(self, names: Vec<String>) -> Options {
        Options {
            ranked_fields: names,
            ..self
        }
    }

    /// Whether a record without its own id is bad.
    #[must_use]
    pub fn needs_ids(self, needs_ids: bool) -> Options {
        Options { needs_ids, ..self }
    }

    /// Sets what happens to a document whose key came before as an id with another text. Detection takes about 40 bytes
    /// of memory per id. The keys of files and of records without an id are not remembered.
    #[must_use]
    pub fn repeats(self, repeats: Repeats) -> Options {
        Options { repeats, ..self }
    }

    /// Sets the folder of the store that the documents go to. It is skipped, whatever it holds. Other stores are
    /// skipped if their files identify them.
    #[must_use]
    pub fn store(self, folder: impl Into<PathBuf>) -> Options {
        Options {
            store: Some(folder.into()),
            ..self
        }
    }

    /// Compares what is found with the documents of `store`, to which it is added. A file that is one document, and that the
    /// store holds with its current size and modification time, becomes an [`Item::Unchanged`](crate::Item::Unchanged)
    /// of its batch and is not read, unless `rereads` is true. A file whose relative path has led to another file from
    /// another folder, where that file still is, is skipped.
    ///
    /// If the store is closed before everything is read, the remaining files count as unchanged.
    #[must_use]
    pub fn added_to(self, store: &Store, rereads: bool) -> Options {
        Options {
            stored: Some(StoredFiles::new(store, rereads)),
            ..self
        }
    }

    /// Returns the format of the file or stream of this name.
    pub(crate) fn format_of(&self, name: &Path) -> Format {
        self.format.unwrap_or_else(|| Format::of(name))
    }

    /// Returns the fields of a record's text, at least one.
    pub(crate) fn text_names(&self) -> Vec<&str> {
        if self.text_fields.is_empty() {
            return vec!["text"];
        }
        self.text_fields.iter().map(String::as_str).collect()
    }

    /// Returns the field of a record's key.
    pub(crate) fn id_name(&self) -> &str {
        self.id_field.as_deref().unwrap_or("id")
    }

    /// Returns the encoding of all texts, if it was set.
    pub(crate) fn given_encoding(&self) -> Option<&'static encoding_rs::Encoding> {
        self.encoding.map(|encoding| encoding.0)
    }

    /// Returns the maximum size in bytes of a line or block of a record. The text may be a small part of it.
    pub(crate) fn max_record(&self) -> u64 {
        const LEAST: u64 = 64 << 20;
        LEAST.max(self.max_document)
    }
}
