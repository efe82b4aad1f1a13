//! From files to documents: reads ahead, in batches, on a thread of its own.

use std::fs::{self, Metadata};
use std::io;
use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use rayon::prelude::*;

use crate::corpus::document::{Batch, Document, Item, modified};
use crate::corpus::error::Error;
use crate::corpus::formats::document;
use crate::corpus::formats::format::{Format, is_compressed};
use crate::corpus::formats::record::{Fault, Record};
use crate::corpus::formats::records::Records;
use crate::corpus::options::Options;
use crate::corpus::read::outbox::{Enough, Outbox};
use crate::corpus::skipped::{Reason, Skipped};
use crate::corpus::source::Source;
use crate::corpus::walk::identity::Identities;
use crate::corpus::walk::key::Key;
use crate::corpus::walk::{Found, STDIN, Walk, is_nameless};

/// A batch is sent once it has so many bytes of text.
pub const BATCH_BYTES: u64 = 4 << 20;

/// Files that are looked at together.
const BATCH_FILES: usize = 4096;

/// Batches that wait to be taken while the next is being read.
const WAITING: usize = 1;

/// Says of a key, a size and a time of last change whether they are as stored.
pub type IsUnchanged = Box<dyn Fn(&str, u64, Option<i64>) -> crate::Result<bool> + Send + Sync>;

/// What reads.
#[expect(missing_debug_implementations, reason = "a closure is in it")]
pub struct Reader {
    /// What is read.
    pub walk: Walk,
    /// How it is read.
    pub options: Options,
    /// Key of the document on standard input, or what keys of its records without an id begin with.
    pub stdin_key: String,
    /// Which files need not be read.
    pub is_unchanged: IsUnchanged,
}

/// A file that is to be read as one document.
struct Sized {
    path: PathBuf,
    format: Format,
    key: Key,
    size: u64,
    modified: Option<i64>,
}

/// What the walk found, and of a file what the system says of it.
enum Met {
    File(PathBuf, Key, Metadata),
    Stream(Source),
    Skipped(Skipped),
}

/// What a look at a file's size and time leads to.
enum Looked {
    Read(Sized),
    /// The source, its format and its key.
    Records(Source, Format, String),
    /// One document that comes as a stream.
    Stream(Source, Format, Key),
    Done(Item, u64),
}

impl Reader {
    /// Starts reading. The batches end when everything is read.
    ///
    /// # Errors
    ///
    /// The system allows no further thread.
    pub fn start(self) -> Result<Receiver<Result<Batch, Error>>, Error> {
        let (sender, receiver) = sync_channel(WAITING);
        let outbox = Outbox::new(sender, &self.options);
        thread::Builder::new()
            .name("reader".to_owned())
            .spawn(move || {
                let run = AssertUnwindSafe(|| self.run(&outbox));
                // Without this a defect would look like the end of the input. Enough: nobody wants
                // the rest.
                if catch_unwind(run).is_err() {
                    outbox.fail(Error::Defect);
                }
            })
            .map_err(Error::thread)?;
        Ok(receiver)
    }

    fn run(mut self, outbox: &Outbox) -> Result<(), Enough> {
        let mut identities = Identities::default();
        loop {
            let found: Vec<Found> = self.walk.by_ref().take(BATCH_FILES).collect();
            if found.is_empty() {
                return Ok(());
            }
            let met: Vec<Met> = found.into_par_iter().map(meet).collect();
            // In the order of the walk, for of a file's names the first counts.
            let met: Vec<Met> = met
                .into_iter()
                .map(|met| once(met, &mut identities))
                .collect();
            let looked: Result<Vec<Looked>, Error> =
                met.into_par_iter().map(|met| self.look(met)).collect();
            match looked {
                Ok(looked) => self.read_all(looked, outbox)?,
                Err(error) => return Err(outbox.fail(error)),
            }
        }
    }

    fn look(&self, met: Met) -> Result<Looked, Error> {
        let (path, key, metadata) = match met {
            Met::File(path, key, metadata) => (path, key, metadata),
            Met::Stream(source) => return Ok(self.look_at_stream(source)),
            Met::Skipped(skipped) => return Ok(skip(skipped)),
        };
        let format = self.options.format.unwrap_or_else(|| Format::of(&path));
        if !format.is_document() {
            return Ok(Looked::Records(Source::File(path), format, key.text));
        }
        let (size, modified) = (metadata.len(), modified(&metadata));
        if size > self.options.max_document {
            return Ok(skip(Skipped::file(Reason::TooLarge, &path)));
        }
        let is_unchanged = (self.is_unchanged)(&key.text, size, modified);
        if is_unchanged.map_err(|source| Error::Store { source })? {
            return Ok(Looked::Done(Item::Unchanged, size));
        }
        Ok(Looked::Read(Sized {
            path,
            format,
            key,
            size,
            modified,
        }))
    }

    fn look_at_stream(&self, source: Source) -> Looked {
        let (format, key) = match &source {
            Source::Pipe(path) => (Format::of(path), self.key_of_pipe(path)),
            Source::File(_) | Source::Stdin => (Format::Text, self.key_of_stdin()),
        };
        let format = self.options.format.unwrap_or(format);
        if format.is_document() {
            Looked::Stream(source, format, key)
        } else {
            Looked::Records(source, format, key.text)
        }
    }

    fn key_of_stdin(&self) -> Key {
        Key {
            text: self.stdin_key.clone(),
            lossy: false,
        }
    }

    /// The key that was given, or else its name.
    fn key_of_pipe(&self, path: &Path) -> Key {
        if is_nameless(path) && self.stdin_key != STDIN {
            return self.key_of_stdin();
        }
        Key::of(path)
    }

    /// Reads what was looked at, in batches.
    fn read_all(&self, looked: Vec<Looked>, outbox: &Outbox) -> Result<(), Enough> {
        let mut batch = Vec::new();
        let mut bytes = 0;
        for looked in looked {
            match looked {
                Looked::Records(source, format, key) => {
                    outbox.send(self.read_batch(take(&mut batch), bytes))?;
                    bytes = 0;
                    let records = Records {
                        source: &source,
                        key: &key,
                        options: &self.options,
                    };
                    records.read(format, outbox)?;
                    continue;
                }
                Looked::Stream(source, format, key) => {
                    outbox.send(self.read_batch(take(&mut batch), bytes))?;
                    bytes = 0;
                    let read = self.read_document(&source, format, key);
                    outbox.send(Batch::of(vec![read]))?;
                    continue;
                }
                Looked::Read(ref file) => bytes += file.size,
                Looked::Done(_, spared) => bytes += spared,
            }
            batch.push(looked);
            if bytes >= BATCH_BYTES {
                outbox.send(self.read_batch(take(&mut batch), bytes))?;
                bytes = 0;
            }
        }
        outbox.send(self.read_batch(batch, bytes))
    }

    /// Reads the files of a batch.
    fn read_batch(&self, looked: Vec<Looked>, bytes: u64) -> Batch {
        let read = |looked| match looked {
            Looked::Read(file) => Some(self.read_file(file)),
            Looked::Done(item, _) => Some(item),
            // They have batches of their own.
            Looked::Records(..) | Looked::Stream(..) => None,
        };
        Batch {
            items: looked.into_par_iter().filter_map(read).collect(),
            bytes,
        }
    }

    fn read_file(&self, file: Sized) -> Item {
        let source = Source::File(file.path);
        match self.read_document(&source, file.format, file.key) {
            Item::Document(document) => Item::Document(Document {
                size: Some(file.size),
                modified: file.modified,
                ..document
            }),
            item => item,
        }
    }

    /// Reads a document to its end.
    fn read_document(&self, source: &Source, format: Format, key: Key) -> Item {
        let skipped = |reason, detail| {
            Item::Skipped(Skipped {
                reason,
                place: source.name().display().to_string(),
                detail,
            })
        };
        match self.read_record(source, format) {
            Ok(Ok(record)) => Item::Document(Document {
                key: key.text,
                text: record.decoded.text,
                size: None,
                modified: None,
                encoding: record.decoded.encoding,
                replaced: record.decoded.replaced,
                lossy_key: key.lossy,
                line: None,
                has_id: false,
                id: None,
                repeated: None,
                source: source.name().to_owned(),
                verbatim: Vec::new(),
            }),
            Ok(Err(fault)) => skipped(fault.reason, fault.detail),
            Err(error) => skipped(Reason::Unreadable, error.to_string()),
        }
    }

    fn read_record(&self, source: &Source, format: Format) -> io::Result<Result<Record, Fault>> {
        let mut reader = match source {
            Source::File(path) if !is_compressed(path) => source.open_as_is()?,
            Source::File(_) | Source::Pipe(_) | Source::Stdin => source.open()?,
        };
        document::read(&mut reader, format, &self.options)
    }
}

/// Asks the system about a file.
fn meet(found: Found) -> Met {
    match found {
        Found::File(path, key) => match fs::metadata(&path) {
            Ok(metadata) => Met::File(path, key, metadata),
            Err(error) => Met::Skipped(Skipped::unreadable(&path, &error)),
        },
        Found::Pipe(path) => Met::Stream(Source::Pipe(path)),
        Found::Stdin => Met::Stream(Source::Stdin),
        Found::Skipped(skipped) => Met::Skipped(skipped),
    }
}

/// Leaves out what was met under another name.
fn once(met: Met, identities: &mut Identities) -> Met {
    match &met {
        Met::File(path, _, metadata) => match identities.again(path, metadata) {
            Some(skipped) => Met::Skipped(skipped),
            None => met,
        },
        Met::Stream(_) | Met::Skipped(_) => met,
    }
}

fn skip(skipped: Skipped) -> Looked {
    Looked::Done(Item::Skipped(skipped), 0)
}
