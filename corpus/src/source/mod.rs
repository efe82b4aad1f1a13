//! The sources of a corpus: paths, patterns and streams.

pub(crate) mod converter;
pub(crate) mod feed;
mod frames;
pub(crate) mod guard;
mod members;
mod pattern;
mod xz;

use std::ffi::{OsStr, OsString};
use std::fs::{self, FileType};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::formats::format::Format;
use crate::skipped::{Reason, Skipped};
use crate::source::feed::CallerStream;

pub(crate) use pattern::expanded;

/// A source of documents: a file, a folder with everything in it, a pattern, or a stream.
///
/// Strings and paths convert to sources. A name with `*`, `?` or `[...]` is a pattern, unless a file has exactly this
/// name: `crawl/*.jsonl.zst`, or `**/*.txt` for all folders below the current one. Matches are sorted by name. A star
/// does not match names that begin with a dot.
///
/// ```
/// use dedupdb_corpus::{Corpus, Format, Source};
///
/// let lines = &b"{\"id\": \"a\", \"text\": \"The night tram runs again.\"}\n"[..];
/// let stream = Source::stream("lines", lines).format(Format::Jsonl);
/// let document = Corpus::open([stream])?.next().expect("there is one")?;
/// assert_eq!((&*document.key, document.text()), ("a", "The night tram runs again."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Source {
    pub(crate) kind: SourceKind,
    pub(crate) key: Option<String>,
    pub(crate) format: Option<Format>,
}

/// The kind of a source.
#[derive(Debug)]
pub(crate) enum SourceKind {
    /// A path, or a pattern if there is no such file.
    Pattern(PathBuf),
    Path(PathBuf),
    Stream(CallerStream),
    /// A pattern without matches, or a match that cannot be read.
    Skipped(Skipped),
}

impl Source {
    /// Returns the file or folder of exactly this name.
    pub fn path(path: impl Into<PathBuf>) -> Source {
        Source::of(SourceKind::Path(path.into()))
    }

    /// Returns the bytes of `reader`, decompressed if necessary. Messages use the `name`. As for a file, it determines
    /// the format, and it is the key of the document or the prefix of keys of records without an id.
    ///
    /// Another thread reads it. The thread ends at the end of the stream, or, once its documents are no longer
    /// received, as soon as `reader` returns.
    pub fn stream(name: impl Into<String>, reader: impl Read + Send + 'static) -> Source {
        Source::of(SourceKind::Stream(CallerStream::new(
            name.into().into(),
            Box::new(reader),
        )))
    }

    /// Returns standard input. Its key is `-`, unless [`Source::key`] sets another.
    pub fn stdin() -> Source {
        Source::stream("standard input", std::io::stdin()).key("-")
    }

    /// Sets the key of a document, instead of its path or name, or the prefix of keys of records without an id. It
    /// has no effect on a folder or pattern.
    #[must_use]
    pub fn key(self, key: impl Into<String>) -> Source {
        Source {
            key: Some(key.into()),
            ..self
        }
    }

    /// Sets the format of this file, pipe or stream, in place of the one from its name or the options. It has no
    /// effect on a folder or pattern.
    #[must_use]
    pub fn format(self, format: Format) -> Source {
        Source {
            format: Some(format),
            ..self
        }
    }

    /// Returns the path, unless it is a stream.
    pub(crate) fn named(&self) -> Option<&Path> {
        match &self.kind {
            SourceKind::Path(path) | SourceKind::Pattern(path) => Some(path),
            SourceKind::Stream(_) | SourceKind::Skipped(_) => None,
        }
    }

    /// Returns the path, the name of the stream, or the place of what was skipped.
    pub(crate) fn name(&self) -> &Path {
        match &self.kind {
            SourceKind::Path(path) | SourceKind::Pattern(path) => path,
            SourceKind::Stream(stream) => &stream.name,
            SourceKind::Skipped(skipped) => Path::new(&skipped.place),
        }
    }

    /// Whether there is no such file or folder, or the pattern has no matches.
    pub(crate) fn is_missing(&self) -> bool {
        match &self.kind {
            SourceKind::Path(path) | SourceKind::Pattern(path) => fs::metadata(path).is_err(),
            SourceKind::Stream(_) => false,
            SourceKind::Skipped(skipped) => skipped.reason == Reason::NotFound,
        }
    }

    /// Whether it can be read only once, and has no size and modification time of a file.
    pub(crate) fn is_stream(&self) -> bool {
        match &self.kind {
            SourceKind::Path(path) | SourceKind::Pattern(path) => is_pipe(path),
            SourceKind::Stream(_) => true,
            SourceKind::Skipped(_) => false,
        }
    }

    fn of(kind: SourceKind) -> Source {
        Source {
            kind,
            key: None,
            format: None,
        }
    }
}

impl From<PathBuf> for Source {
    fn from(path: PathBuf) -> Source {
        Source::of(SourceKind::Pattern(path))
    }
}

/// Implements `From` for types that name a path.
macro_rules! named {
    ($($name:ty),*) => {
        $(impl From<$name> for Source {
            fn from(name: $name) -> Source {
                Source::from(PathBuf::from(name))
            }
        })*
    };
}

named!(&Path, &str, String, OsString, &OsStr, &String, &PathBuf);

/// Returns whether a path is that of a named pipe, which can be read only once.
pub fn is_pipe(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| special(meta.file_type()) == Some(Reason::Pipe))
}

/// Returns the reason why a special file is not read. `None` for plain files and folders.
#[cfg(unix)]
pub(crate) fn special(kind: FileType) -> Option<Reason> {
    use std::os::unix::fs::FileTypeExt;
    if kind.is_file() || kind.is_dir() {
        None
    } else if kind.is_fifo() {
        Some(Reason::Pipe)
    } else if kind.is_socket() {
        Some(Reason::Socket)
    } else {
        Some(Reason::Device)
    }
}

/// Returns the reason why a special file is not read. `None` for plain files and folders.
#[cfg(not(unix))]
pub(crate) fn special(kind: FileType) -> Option<Reason> {
    (!kind.is_file() && !kind.is_dir()).then_some(Reason::Device)
}
