//! From files to documents: reads ahead, in batches, on a thread of its own.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use anyhow::{Context, Result};
use rayon::prelude::*;

use crate::decode::{decode, is_binary};
use crate::document::{Batch, Document, Item, modified, place};
use crate::jsonl::{self, Line, Lines};
use crate::key::Key;
use crate::skip::{Reason, Skipped};
use crate::walk::{Found, Walk};

/// A file, or a line of a file of records, with more bytes than this is not read.
pub(crate) const MAX_BYTES: u64 = 64 << 20;

/// A batch is sent once it has so many bytes of text.
const BATCH_BYTES: u64 = 4 << 20;

/// Files that are looked at together.
const BATCH_FILES: usize = 4096;

/// Batches that wait to be taken while the next is being read.
const WAITING: usize = 1;

/// Says of a key, a size and a time of last change whether they are as stored.
pub(crate) type IsUnchanged = Box<dyn Fn(&str, u64, Option<i64>) -> Result<bool> + Send + Sync>;

/// What reads.
pub(crate) struct Reader {
    pub(crate) walk: Walk,
    /// Key of the document on standard input.
    pub(crate) stdin_key: String,
    pub(crate) is_unchanged: IsUnchanged,
}

/// A file that is to be read.
struct Sized {
    path: PathBuf,
    key: Key,
    size: u64,
    modified: Option<i64>,
}

/// What a look at a file's size and time leads to.
enum Looked {
    Read(Sized),
    Records(PathBuf),
    Stdin,
    Done(Item, u64),
}

/// The receiver hung up, because the command ends early.
struct HungUp;

type Sender = SyncSender<Result<Batch>>;

impl Reader {
    /// Starts reading. The batches end when everything is read.
    pub(crate) fn start(self) -> Result<Receiver<Result<Batch>>> {
        let (sender, receiver) = sync_channel(WAITING);
        thread::Builder::new()
            .name("reader".to_owned())
            .spawn(move || {
                // Err: nobody wants the rest.
                let _ = self.run(&sender);
            })
            .context("cannot start a thread")?;
        Ok(receiver)
    }

    fn run(mut self, sender: &Sender) -> Result<(), HungUp> {
        loop {
            let found: Vec<Found> = self.walk.by_ref().take(BATCH_FILES).collect();
            if found.is_empty() {
                return Ok(());
            }
            let looked: Result<Vec<Looked>> = found
                .into_par_iter()
                .map(|found| self.look(found))
                .collect();
            match looked {
                Ok(looked) => self.read_all(looked, sender)?,
                Err(error) => return send(sender, Err(error)),
            }
        }
    }

    fn look(&self, found: Found) -> Result<Looked> {
        let (path, key) = match found {
            Found::File(path, key) => (path, key),
            Found::Stdin => return Ok(Looked::Stdin),
            Found::Skipped(skipped) => return Ok(Looked::Done(Item::Skipped(skipped), 0)),
        };
        if jsonl::is_jsonl(&path) {
            return Ok(Looked::Records(path));
        }
        let metadata = match fs::metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) => return Ok(skip(Skipped::unreadable(&path, &error))),
        };
        let (size, modified) = (metadata.len(), modified(&metadata));
        if size > MAX_BYTES {
            return Ok(skip(Skipped::file(Reason::TooLarge, &path)));
        }
        if (self.is_unchanged)(&key.text, size, modified)? {
            return Ok(Looked::Done(Item::Unchanged, size));
        }
        Ok(Looked::Read(Sized {
            path,
            key,
            size,
            modified,
        }))
    }

    /// Reads what was looked at, in batches.
    fn read_all(&self, looked: Vec<Looked>, sender: &Sender) -> Result<(), HungUp> {
        let mut batch = Vec::new();
        let mut bytes = 0;
        for looked in looked {
            match looked {
                Looked::Records(path) => {
                    send(sender, Ok(read_batch(std::mem::take(&mut batch), bytes)))?;
                    bytes = 0;
                    read_records(&path, sender)?;
                    continue;
                }
                Looked::Stdin => {
                    send(sender, Ok(read_batch(std::mem::take(&mut batch), bytes)))?;
                    bytes = 0;
                    let key = Key {
                        text: self.stdin_key.clone(),
                        lossy: false,
                    };
                    let read = read_text(&mut io::stdin().lock(), Path::new("standard input"), key);
                    send(sender, Ok(Batch::of(vec![read])))?;
                    continue;
                }
                Looked::Read(ref file) => bytes += file.size,
                Looked::Done(_, spared) => bytes += spared,
            }
            batch.push(looked);
            if bytes >= BATCH_BYTES {
                send(sender, Ok(read_batch(std::mem::take(&mut batch), bytes)))?;
                bytes = 0;
            }
        }
        send(sender, Ok(read_batch(batch, bytes)))
    }
}

fn send(sender: &Sender, batch: Result<Batch>) -> Result<(), HungUp> {
    match &batch {
        Ok(batch) if batch.items.is_empty() => Ok(()),
        _ => sender.send(batch).map_err(|_| HungUp),
    }
}

fn skip(skipped: Skipped) -> Looked {
    Looked::Done(Item::Skipped(skipped), 0)
}

/// Reads the files of a batch.
fn read_batch(looked: Vec<Looked>, bytes: u64) -> Batch {
    let read = |looked| match looked {
        Looked::Read(file) => Some(read_file(file)),
        Looked::Done(item, _) => Some(item),
        // They have batches of their own.
        Looked::Records(_) | Looked::Stdin => None,
    };
    Batch {
        items: looked.into_par_iter().filter_map(read).collect(),
        bytes,
    }
}

fn read_file(file: Sized) -> Item {
    let opened = File::open(&file.path);
    let read = opened.map(|mut open| read_text(&mut open, &file.path, file.key));
    match read {
        Ok(Item::Document(document)) => Item::Document(Document {
            size: Some(file.size),
            modified: file.modified,
            ..document
        }),
        Ok(item) => item,
        Err(error) => Item::Skipped(Skipped::unreadable(&file.path, &error)),
    }
}

/// Reads a text to its end.
fn read_text(reader: &mut impl Read, path: &Path, key: Key) -> Item {
    let mut bytes = Vec::new();
    // A file may have grown since it was looked at, and standard input has no size.
    if let Err(error) = reader.take(MAX_BYTES + 1).read_to_end(&mut bytes) {
        return Item::Skipped(Skipped::unreadable(path, &error));
    }
    if bytes.len() as u64 > MAX_BYTES {
        return Item::Skipped(Skipped::file(Reason::TooLarge, path));
    }
    if is_binary(&bytes) {
        return Item::Skipped(Skipped::file(Reason::Binary, path));
    }
    let decoded = decode(bytes);
    // A replaced byte becomes three.
    if decoded.text.len() as u64 > MAX_BYTES {
        return Item::Skipped(Skipped::file(Reason::TooLarge, path));
    }
    Item::Document(Document {
        key: key.text,
        text: decoded.text,
        size: None,
        modified: None,
        replaced: decoded.replaced,
        lossy_key: key.lossy,
        line: None,
        source: path.to_owned(),
    })
}

/// Reads a file of records, in batches.
fn read_records(path: &Path, sender: &Sender) -> Result<(), HungUp> {
    let unreadable = |error| {
        let skipped = Skipped::unreadable(path, &error);
        Ok(Batch::of(vec![Item::Skipped(skipped)]))
    };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) => return send(sender, unreadable(error)),
    };
    let mut lines = Vec::new();
    let mut bytes = 0;
    for line in Lines::new(BufReader::with_capacity(1 << 18, file), MAX_BYTES) {
        let line = match line {
            Ok(line) => line,
            Err(error) => {
                send(sender, Ok(parse(path, lines, bytes)))?;
                return send(sender, unreadable(error));
            }
        };
        bytes += line
            .bytes
            .as_ref()
            .map_or(0, |bytes| bytes.len() as u64 + 1);
        lines.push(line);
        if bytes >= BATCH_BYTES || lines.len() >= BATCH_FILES * 4 {
            send(sender, Ok(parse(path, std::mem::take(&mut lines), bytes)))?;
            bytes = 0;
        }
    }
    send(sender, Ok(parse(path, lines, bytes)))
}

/// The records of a batch.
fn parse(path: &Path, lines: Vec<Line>, bytes: u64) -> Batch {
    let parse = |line: Line| {
        let record = match line.bytes {
            Some(bytes) => jsonl::record(bytes),
            None => Err(jsonl::too_long()),
        };
        match record {
            Ok(record) => Item::Document(Document {
                key: record.id,
                text: record.text,
                size: None,
                modified: None,
                replaced: record.replaced,
                lossy_key: false,
                line: Some(line.number),
                source: path.to_owned(),
            }),
            Err(detail) => Item::Skipped(Skipped {
                reason: Reason::BadRecord,
                place: place(path, Some(line.number)),
                detail,
            }),
        }
    };
    Batch {
        items: lines.into_par_iter().map(parse).collect(),
        bytes,
    }
}
