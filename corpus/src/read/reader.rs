//! Reads documents from files, ahead and in batches, on a separate thread.

use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::mem::take;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;

use crate::decode::is_wordless;
use crate::error::Error;
use crate::formats::format::{Format, is_compressed, is_json};
use crate::formats::record::{Record, RecordFault};
use crate::formats::records::RecordFile;
use crate::formats::unsplit::Unsplit;
use crate::formats::whole;
use crate::item::{Item, ItemBatch, Origin, SourcedText, modified};
use crate::options::Options;
use crate::read::batches::send_batches;
use crate::read::outbox::{Outbox, ReadingStopped};
use crate::skipped::{Reason, Skipped};
use crate::source::feed::Feed;
use crate::source::{Source, expanded};
use crate::walk::identity::{FileIdentities, FileIdentity};
use crate::walk::key::Key;
use crate::walk::others::OtherKeys;
use crate::walk::read_file::ReadFile;
use crate::walk::{Walk, WalkEntry};
use dedupdb::write::SourceFile;
use rayon::prelude::*;

/// The number of bytes of text from which a batch is sent.
pub(crate) const BATCH_BYTES: u64 = 4 << 20;

/// The number of files to examine together.
const BATCH_FILES: usize = 4096;

/// The maximum number of converted files in a batch. A converter may take a while for each.
const BATCH_CONVERTED: usize = 64;

/// The number of batches that wait while the next is being read.
const WAITING: usize = 1;

/// The state of the reading thread.
struct CorpusReader {
    walk: Walk,
    options: Options,
}

/// A file to be read as one document.
struct DocumentFile {
    path: PathBuf,
    format: Format,
    key: Key,
    identity: FileIdentity,
    read: ReadFile,
    /// Whether a converter extracts its text.
    is_converted: bool,
}

/// What the walk found. A file comes with its metadata and identity.
enum CheckedEntry {
    File(PathBuf, Key, Option<Format>, Metadata, FileIdentity),
    Stream(Feed, Key, Option<Format>),
    Skipped(Skipped),
}

/// What to do with a file or stream, after a check of its size and modification time.
#[allow(
    clippy::large_enum_variant,
    reason = "there are few at a time; without some features, none is large"
)]
enum ReadPlan {
    Read(DocumentFile),
    /// Records: their source, format and key, and their file as it was met.
    Records(Feed, Format, String, Option<ReadFile>),
    /// One document from a stream.
    Stream(Feed, Format, Key),
    Done(Box<Item>, u64),
}

/// Starts reading `sources`. The batches end when everything is read. The thread ends when the receiver is dropped.
///
/// # Errors
///
/// The system allows no further thread.
pub(crate) fn start(
    sources: Vec<Source>,
    options: Options,
) -> Result<Receiver<Result<ItemBatch, Error>>, Error> {
    let sources = expanded(sources);
    send_batches("reader", WAITING, move |sender| {
        let outbox = Outbox::new(sender.clone(), &sources, &options);
        let walk = Walk::new(sources, &options);
        // `ReadingStopped` needs no report: the rest is not wanted.
        let _: Result<(), ReadingStopped> = CorpusReader { walk, options }.run(&outbox);
    })
}

impl CorpusReader {
    fn run(mut self, outbox: &Outbox) -> Result<(), ReadingStopped> {
        let mut identities = FileIdentities::default();
        loop {
            let found: Vec<WalkEntry> = self.walk.by_ref().take(BATCH_FILES).collect();
            if found.is_empty() {
                return Ok(());
            }
            let met: Vec<CheckedEntry> =
                found.into_par_iter().map(with_metadata).collect::<Vec<_>>();
            // In the order of the walk, because the first name of a file counts.
            let met: Vec<CheckedEntry> = met
                .into_iter()
                .map(|met| without_repeats(met, &mut identities))
                .collect();
            let looked = met
                .into_par_iter()
                .map(|met| self.plan(met))
                .collect::<Vec<_>>();
            match looked.into_iter().collect::<Result<Vec<ReadPlan>, Error>>() {
                Ok(looked) => self.read_all(looked, outbox)?,
                Err(error) => return Err(outbox.fail(error)),
            }
        }
    }

    fn plan(&self, met: CheckedEntry) -> Result<ReadPlan, Error> {
        let (path, key, format, metadata, identity) = match met {
            CheckedEntry::File(path, key, format, metadata, identity) => {
                (path, key, format, metadata, identity)
            }
            CheckedEntry::Stream(feed, key, format) => {
                return Ok(self.look_at_stream(feed, key, format));
            }
            CheckedEntry::Skipped(skipped) => return Ok(skip(skipped)),
        };
        let converter = self.options.converter.as_ref();
        let is_converted = converter.is_some_and(|converter| converter.fits(&path));
        let format = if is_converted {
            let given = self.options.format.filter(|format| format.is_document());
            given.unwrap_or(Format::Text)
        } else {
            format.unwrap_or_else(|| self.options.format_at(&path))
        };
        if !format.is_document() {
            let read = ReadFile::of(&path, &metadata);
            return Ok(ReadPlan::Records(
                Feed::File(path),
                format,
                key.text,
                Some(read),
            ));
        }
        let size = metadata.len();
        if size > self.options.max_document && !is_converted {
            return Ok(skip(Skipped::file(Reason::TooLarge, &path)));
        }
        if (self.options).is_unchanged(&key.text, size, modified(&metadata))? {
            return Ok(ReadPlan::Done(Box::new(Item::Unchanged(key.text)), size));
        }
        Ok(ReadPlan::Read(DocumentFile {
            read: ReadFile::of(&path, &metadata),
            path,
            format,
            key,
            identity,
            is_converted,
        }))
    }

    fn look_at_stream(&self, feed: Feed, key: Key, format: Option<Format>) -> ReadPlan {
        let format = format.unwrap_or_else(|| self.options.format_of(feed.name()));
        if format.is_document() {
            ReadPlan::Stream(feed, format, key)
        } else {
            ReadPlan::Records(feed, format, key.text, None)
        }
    }

    /// Reads the examined files, in batches.
    fn read_all(&self, plans: Vec<ReadPlan>, outbox: &Outbox) -> Result<(), ReadingStopped> {
        let mut batch = Vec::new();
        let mut names = OtherKeys::new();
        let (mut bytes, mut converted) = (0, 0);
        for looked in plans {
            match looked {
                ReadPlan::Records(feed, format, key, read) => {
                    outbox.send(self.read_batch(take(&mut batch), bytes))?;
                    (bytes, converted) = (0, 0);
                    let file = read.and_then(|_| names.resolved(feed.name()));
                    let file = file.map(|path| SourceFile::new(&Key::of(&path).text));
                    let records = RecordFile {
                        source: &feed,
                        key: &key,
                        options: &self.options,
                        read,
                        file: file.as_ref(),
                    };
                    records.read(format, outbox)?;
                    continue;
                }
                ReadPlan::Stream(feed, format, key) => {
                    outbox.send(self.read_batch(take(&mut batch), bytes))?;
                    (bytes, converted) = (0, 0);
                    let mut read = self.read_document(&feed, format, key);
                    self.seek_records(&mut read, format, !matches!(feed, Feed::File(_)));
                    outbox.send(ItemBatch::of(vec![read]))?;
                    continue;
                }
                ReadPlan::Read(ref file) => {
                    bytes += file.read.size;
                    converted += usize::from(file.is_converted);
                }
                ReadPlan::Done(_, spared) => bytes += spared,
            }
            batch.push(looked);
            if bytes >= BATCH_BYTES || converted >= BATCH_CONVERTED {
                outbox.send(self.read_batch(take(&mut batch), bytes))?;
                (bytes, converted) = (0, 0);
            }
        }
        outbox.send(self.read_batch(batch, bytes))
    }

    /// Reads the files of a batch.
    fn read_batch(&self, plans: Vec<ReadPlan>, bytes: u64) -> ItemBatch {
        let read = |looked| match looked {
            ReadPlan::Read(file) => Some(self.read_file(file)),
            ReadPlan::Done(item, _) => Some(*item),
            // These have their own batches.
            ReadPlan::Records(..) | ReadPlan::Stream(..) => None,
        };
        ItemBatch {
            items: plans
                .into_par_iter()
                .map(read)
                .collect::<Vec<_>>()
                .into_iter()
                .flatten()
                .collect(),
            bytes,
        }
    }

    fn read_file(&self, file: DocumentFile) -> Item {
        let feed = Feed::File(file.path);
        let mut has_grown = false;
        let mut item = if file.is_converted {
            document(&feed, file.key, |path| self.converted(path, file.format))
        } else if is_compressed(feed.name()) || file.read.size == 0 {
            self.read_document(&feed, file.format, file.key)
        } else {
            document(&feed, file.key, |_| {
                // Files may be written to meanwhile. A file with a size is read up to that size; files in /proc have
                // none.
                let mut reader = feed.open_as_is()?.take(file.read.size);
                let record = whole::read(&mut reader, file.read.size, file.format, &self.options);
                let is_whole = reader.limit() == 0;
                has_grown = is_whole && reader.into_inner().read(&mut [0])? > 0;
                record
            })
        };
        if !file.is_converted {
            self.seek_records(&mut item, file.format, false);
        }
        if let Item::Document(document) = &mut item {
            let origin = &mut document.origin;
            origin.has_grown = has_grown;
            (origin.size, origin.bytes) = (Some(file.read.size), file.read.size);
            origin.modified = file.read.modified;
            (origin.identity, origin.read) = (Some(file.identity), Some(file.read));
        }
        item
    }

    /// Looks for records in what nobody said to be one text.
    fn seek_records(&self, item: &mut Item, format: Format, is_stream: bool) {
        if let Item::Document(document) = item
            && format == Format::Text
            && self.options.format.is_none()
        {
            let named_json = is_json(&document.source);
            document.origin.unsplit = Unsplit::of(document.text(), is_stream, named_json);
        }
    }

    /// Reads one document to its end.
    fn read_document(&self, feed: &Feed, format: Format, key: Key) -> Item {
        document(feed, key, |_| self.read_record(feed, format))
    }

    /// Returns the text that the converter extracts from a file.
    fn converted(&self, path: &Path, format: Format) -> io::Result<Result<Record, RecordFault>> {
        let limit = self.options.max_document;
        let converter = self.options.converter.as_ref();
        let text = converter.map(|converter| converter.convert(path, limit));
        let text = text.transpose()?.unwrap_or_default();
        let size = text.len() as u64;
        let mut read = whole::read(&mut &*text, size, format, &self.options)?;
        if let Ok(record) = &mut read
            && is_wordless(&record.decoded.text)
        {
            let source = blake3::Hasher::new()
                .update_reader(fs::File::open(path)?)?
                .finalize();
            record.decoded.source_hash = Some(*source.as_bytes());
        }
        Ok(read)
    }

    fn read_record(&self, feed: &Feed, format: Format) -> io::Result<Result<Record, RecordFault>> {
        let mut reader = match feed {
            Feed::File(path) if !is_compressed(path) => feed.open_as_is()?,
            Feed::File(_) | Feed::Pipe(_) | Feed::Stream(_) => feed.open(self.options.memory)?,
        };
        whole::read(&mut reader, 0, format, &self.options)
    }
}

/// Returns the document of a file or stream that `read` reads.
fn document(
    feed: &Feed,
    key: Key,
    read: impl FnOnce(&Path) -> io::Result<Result<Record, RecordFault>>,
) -> Item {
    match read(feed.name()) {
        Ok(Ok(record)) => {
            let origin = Origin {
                bytes: record.decoded.text.len() as u64,
                encoding: record.decoded.encoding,
                replaced: record.decoded.replaced,
                source_hash: record.decoded.source_hash.map(Box::new),
                lossy_key: key.lossy,
                ..Origin::new(key.text, feed.name().to_owned())
            };
            Item::Document(SourcedText::new(record.decoded.text, origin))
        }
        Ok(Err(fault)) => Item::Skipped(fault.skipped(feed.name().display().to_string())),
        Err(error) => Item::Skipped(Skipped::unreadable(feed.name(), &error)),
    }
}

/// Reads the metadata of a file, and derives its identity.
fn with_metadata(found: WalkEntry) -> CheckedEntry {
    match found {
        WalkEntry::File(path, key, format) => match fs::metadata(&path) {
            Ok(metadata) => {
                let identity = FileIdentity::of(&path, &metadata);
                CheckedEntry::File(path, key, format, metadata, identity)
            }
            Err(error) => CheckedEntry::Skipped(Skipped::unreadable(&path, &error)),
        },
        WalkEntry::Stream(feed, key, format) => CheckedEntry::Stream(feed, key, format),
        WalkEntry::Skipped(skipped) => CheckedEntry::Skipped(skipped),
    }
}

/// Skips a file that was met under another name.
fn without_repeats(met: CheckedEntry, identities: &mut FileIdentities) -> CheckedEntry {
    match &met {
        CheckedEntry::File(path, _, _, metadata, identity) => {
            match identities.again(path, metadata, *identity) {
                Some(skipped) => CheckedEntry::Skipped(skipped),
                None => met,
            }
        }
        CheckedEntry::Stream(..) | CheckedEntry::Skipped(_) => met,
    }
}

fn skip(skipped: Skipped) -> ReadPlan {
    ReadPlan::Done(Box::new(Item::Skipped(skipped)), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_file_that_grew_the_text_is_that_of_its_first_size() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        fs::write(&path, "one line\nand more\n").unwrap();
        let options = Options::new();
        let walk = Walk::new(Vec::new(), &options);
        let reader = CorpusReader { walk, options };
        for (size, text, has_grown) in [
            (9, "one line\n", true),
            (18, "one line\nand more\n", false),
            // The file was truncated meanwhile, or reports no size.
            (40, "one line\nand more\n", false),
            (0, "one line\nand more\n", false),
        ] {
            let metadata = fs::metadata(&path).unwrap();
            let file = DocumentFile {
                key: Key::of(&path),
                path: path.clone(),
                format: Format::Text,
                identity: FileIdentity::of(&path, &metadata),
                read: ReadFile {
                    size,
                    ..ReadFile::of(&path, &metadata)
                },
                is_converted: false,
            };
            let Item::Document(document) = reader.read_file(file) else {
                panic!("{size}");
            };
            assert_eq!((document.text(), document.has_grown), (text, has_grown));
        }
    }
}
