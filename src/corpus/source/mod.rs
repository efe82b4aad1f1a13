//! What a corpus is read from: paths, patterns and streams.

pub(crate) mod converter;
pub(crate) mod feed;
pub(crate) mod guard;
mod pattern;

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::corpus::formats::format::Format;
use crate::corpus::skipped::{Reason, Skipped};
use crate::corpus::source::feed::Stream;
use crate::corpus::walk::is_pipe;

pub(crate) use pattern::expanded;

/// What documents are read from: a file, a folder with all that is in it, a pattern, or a stream.
///
/// Strings and paths become sources by themselves. One that is no file's name is a pattern if it has `*`,
/// `?` or `[...]`: `crawl/*.jsonl.zst`, or `**/*.txt` for all folders below this one. What matches comes sorted
/// by name; names that begin with a dot do not match a star.
///
/// ```
/// use dedupdb::corpus::{Corpus, Format, Source};
///
/// let lines = &b"{\"id\": \"a\", \"text\": \"The night tram runs again.\"}\n"[..];
/// let stream = Source::stream("lines", lines).format(Format::Jsonl);
/// let document = Corpus::open([stream])?.next().expect("there is one")?;
/// assert_eq!((&*document.key, document.text()), ("a", "The night tram runs again."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Source {
    pub(crate) kind: Kind,
    pub(crate) key: Option<String>,
    pub(crate) format: Option<Format>,
}

/// What a source is.
#[derive(Debug)]
pub(crate) enum Kind {
    /// A path, or a pattern where there is no such file.
    Pattern(PathBuf),
    Path(PathBuf),
    Stream(Stream),
    /// What a pattern led to and cannot be read.
    Skipped(Skipped),
}

impl Source {
    /// The file or folder of exactly this name.
    pub fn path(path: impl Into<PathBuf>) -> Source {
        Source::of(Kind::Path(path.into()))
    }

    /// What `reader` gives, which is decompressed if it is compressed. Its `name` is that of messages, tells
    /// the format as a file's name would, and is its key, or what keys of its records without an id begin
    /// with.
    ///
    /// It is read on another thread, which ends when it is read or when nobody takes its documents and
    /// `reader` returns.
    pub fn stream(name: impl Into<String>, reader: impl Read + Send + 'static) -> Source {
        Source::of(Kind::Stream(Stream::new(
            name.into().into(),
            Box::new(reader),
        )))
    }

    /// Standard input. Its key is `-`, unless another is chosen.
    pub fn stdin() -> Source {
        Source::stream("standard input", std::io::stdin()).key("-")
    }

    /// The key of a document, instead of its path or name, or what keys of a file's records without an id begin
    /// with. It is without effect on a folder or pattern.
    #[must_use]
    pub fn key(self, key: impl Into<String>) -> Source {
        Source {
            key: Some(key.into()),
            ..self
        }
    }

    /// The format of this file, pipe or stream, instead of what its name or the options say. It is without
    /// effect on a folder or pattern.
    #[must_use]
    pub fn format(self, format: Format) -> Source {
        Source {
            format: Some(format),
            ..self
        }
    }

    /// The path, if it is one.
    pub(crate) fn named(&self) -> Option<&Path> {
        match &self.kind {
            Kind::Path(path) | Kind::Pattern(path) => Some(path),
            Kind::Stream(_) | Kind::Skipped(_) => None,
        }
    }

    /// The path or the name of the stream, or what a pattern led to.
    pub(crate) fn name(&self) -> &Path {
        match &self.kind {
            Kind::Path(path) | Kind::Pattern(path) => path,
            Kind::Stream(stream) => &stream.name,
            Kind::Skipped(skipped) => Path::new(&skipped.place),
        }
    }

    /// Whether there is no such file or folder, and nothing that a pattern matches.
    pub(crate) fn is_missing(&self) -> bool {
        match &self.kind {
            Kind::Path(path) | Kind::Pattern(path) => std::fs::metadata(path).is_err(),
            Kind::Stream(_) => false,
            Kind::Skipped(skipped) => skipped.reason == Reason::NotFound,
        }
    }

    /// Whether it can be read once and has no file's size and time.
    pub(crate) fn is_stream(&self) -> bool {
        match &self.kind {
            Kind::Path(path) | Kind::Pattern(path) => is_pipe(path),
            Kind::Stream(_) => true,
            Kind::Skipped(_) => false,
        }
    }

    fn of(kind: Kind) -> Source {
        Source {
            kind,
            key: None,
            format: None,
        }
    }
}

impl From<PathBuf> for Source {
    fn from(path: PathBuf) -> Source {
        Source::of(Kind::Pattern(path))
    }
}

/// Everything that names a path is a source.
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
