//! Reads documents from files, ahead and in batches, on a separate thread.

use std::collections::HashSet;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::mem::take;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use crate::decode::is_wordless;
use crate::error::Error;
use crate::formats::format::{Format, is_compressed, is_json};
use crate::formats::record::Record;
use crate::formats::records::RecordFile;
use crate::formats::unsplit::Unsplit;
use crate::formats::whole;
use crate::item::{Item, ItemBatch, Origin, SourcedText};
use crate::options::Options;
use crate::read::batches::{BATCH_BYTES, send_batches};
use crate::read::outbox::{Outbox, ReadingStopped};
use crate::read::stored::{self, StoredFile};
use crate::skipped::{Reason, RecordFault, Skipped};
use crate::source::converter::ConverterGuard;
use crate::source::feed::Feed;
use crate::source::{Source, expanded};
use crate::walk::identity::FileIdentities;
use crate::walk::key::Key;
use crate::walk::others::OtherKeys;
use crate::walk::read_file::ReadFile;
use crate::walk::{Found, Walk};
use dedupdb::write::{IdScope, SourceFile};
use rayon::prelude::*;

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
    /// The current folder.
    folder: Option<SourceFile>,
    names: OtherKeys,
}

/// What to do with what was found, after a look at its size and modification time.
enum Plan {
    /// Read it, in this format.
    Read(Box<Found>, Format),
    /// The item of what is not read, and the bytes that need not be read.
    Done(Box<Item>, u64),
}

impl Options {
    /// Starts reading, in batches of about 4 MB of text. One batch waits while the next is being read.
    ///
    /// An error is the last item. When the receiver is dropped, the reading thread ends as soon as its current read
    /// returns.
    ///
    /// # Errors
    ///
    /// [`Error::Thread`].
    pub fn batches<S: Into<Source>>(
        &self,
        sources: impl IntoIterator<Item = S>,
    ) -> Result<Receiver<Result<ItemBatch, Error>>, Error> {
        let sources = sources.into_iter().map(Into::into).collect();
        let (sources, options) = (expanded(sources), self.clone());
        send_batches("reader", WAITING, move |sender| {
            let outbox = Outbox::new(sender.clone(), &sources, &options);
            let walk = Walk::new(sources, &options);
            // `ReadingStopped` needs no report: the rest is not wanted.
            let folder = stored::current_folder();
            let reader = CorpusReader {
                walk,
                options,
                folder,
                names: OtherKeys::new(),
            };
            let _: Result<(), ReadingStopped> = reader.run(&outbox);
        })
    }
    /// Returns the options for a run with its own converter programs, which are ended when the returned guard is
    /// dropped.
    pub(crate) fn begin(mut self) -> (Options, Option<ConverterGuard>) {
        let Some(converter) = &self.converter else {
            return (self, None);
        };
        let (begun, ending) = converter.begin();
        self.converter = Some(begun);
        (self, Some(ending))
    }
}

impl CorpusReader {
    fn run(mut self, outbox: &Outbox) -> Result<(), ReadingStopped> {
        let mut identities = FileIdentities::default();
        let named = outbox.named();
        loop {
            let found: Vec<_> = self.walk.by_ref().take(BATCH_FILES).collect();
            if found.is_empty() {
                return Ok(());
            }
            // The system may take long for each file, so a batch of files is looked at together.
            let met: Vec<_> = (found.into_par_iter())
                .map(|found| with_metadata(found?))
                .collect::<Vec<_>>();
            // In the order of the walk, because the first name of a file counts.
            let met: Vec<_> = met
                .into_iter()
                .map(|met| without_repeats(met?, &mut identities))
                .collect();
            let plans = (met.into_par_iter())
                .map_init(
                    || self.names.clone(),
                    |names, found| self.plan(found, named, names),
                )
                .collect::<Vec<_>>();
            match plans.into_iter().collect::<Result<Vec<Plan>, Error>>() {
                Ok(plans) => self.read_all(plans, outbox)?,
                Err(error) => return Err(outbox.fail(error)),
            }
        }
    }

    fn plan(
        &self,
        found: Result<Found, Skipped>,
        named: &HashSet<String>,
        names: &mut OtherKeys,
    ) -> Result<Plan, Error> {
        let mut found = match found {
            Ok(found) => found,
            Err(skipped) => return Ok(skip(skipped)),
        };
        let (path, chosen) = (found.feed.name(), found.format);
        // A stream has no size or time, and is read in any case.
        let Some(file) = found.read else {
            let format = chosen.unwrap_or_else(|| self.options.format_of(path));
            return Ok(Plan::Read(Box::new(found), format));
        };
        let is_converted = self.is_converted(&found);
        let format = if is_converted {
            let given = self.options.format.filter(|format| format.is_document());
            given.unwrap_or(Format::Text)
        } else {
            chosen.unwrap_or_else(|| self.options.format_at(path))
        };
        // Only a file that is one document can be too large as a whole.
        if format.is_document() && file.size > self.options.max_document && !is_converted {
            return Ok(skip(Skipped::file(Reason::TooLarge, path)));
        }
        let stored = self.stored(&mut found, &file, format, names);
        let path = found.feed.name();
        match stored.map_err(|source| Error::Store { source })? {
            StoredFile::ToRead | StoredFile::Moved(_) => {}
            StoredFile::OfAnotherFolder(other) => {
                return Ok(skip(Skipped::of_another_folder(
                    path,
                    &found.key.text,
                    &other,
                )));
            }
            StoredFile::Unchanged => {
                // What is named must be there to be read, as it would be if it had changed.
                if named.contains(&path.display().to_string())
                    && let Err(error) = File::open(path)
                {
                    return Ok(skip(Skipped::unreadable(path, &error)));
                }
                return Ok(Plan::Done(
                    Box::new(Item::Unchanged(found.key.text)),
                    file.size,
                ));
            }
        }
        Ok(Plan::Read(Box::new(found), format))
    }

    /// Returns what the store has of a file, and sets the key of the file if the store has it under another one.
    fn stored(
        &self,
        found: &mut Found,
        file: &ReadFile,
        format: Format,
        names: &mut OtherKeys,
    ) -> dedupdb::Result<StoredFile> {
        if !format.is_document() {
            found.source = self.source(found.feed.name(), names)?;
        }
        let Some(store) = &self.options.stored else {
            return Ok(StoredFile::ToRead);
        };
        let key = &found.key.text;
        let stored = match &found.source {
            None if format.is_document() => store.document(key, file)?,
            None => return Ok(StoredFile::ToRead), // It is gone.
            Some(source) => {
                let is_scoped = self.options.id_scope == IdScope::File;
                store.records(key, file, source, is_scoped)?
            }
        };
        if stored == StoredFile::Unchanged {
            return Ok(stored);
        }
        let (path, source) = (found.feed.name(), found.source.as_ref());
        let Some(other) = store.other_key(key, path, source, names)? else {
            if let StoredFile::Moved(instead_of) = &stored {
                let key = store.moved(key, format, instead_of.clone());
                found.stored_as = Some(Arc::new(key));
            }
            return Ok(stored);
        };
        found.key.text.clone_from(&other.key);
        found.stored_as = Some(Arc::new(other));
        // It is read even if it has not changed, and so `add` reports its other key.
        Ok(StoredFile::ToRead)
    }

    /// Returns a file of records as the store knows it: by its path without links, or by the one that it had before its
    /// folder was replaced by a link to it.
    fn source(&self, path: &Path, names: &mut OtherKeys) -> dedupdb::Result<Option<SourceFile>> {
        let file = |path: PathBuf| SourceFile::new(&Key::of(&path).text);
        let [named, resolved] = names.places(path).map(|place| place.map(file));
        match (&self.options.stored, &named, &resolved) {
            (Some(store), Some(known), Some(new)) if known != new => {
                let is_named = store.has_source(known)? && !store.has_source(new)?;
                Ok(if is_named { named } else { resolved })
            }
            _ => Ok(resolved),
        }
    }

    /// Whether a converter extracts the text of a file.
    fn is_converted(&self, found: &Found) -> bool {
        let converter = self.options.converter.as_ref();
        let converter = converter.filter(|_| found.read.is_some());
        converter.is_some_and(|converter| converter.fits(found.feed.name()))
    }

    /// Reads what was found: files that are one document in batches, everything else by itself.
    fn read_all(&self, plans: Vec<Plan>, outbox: &Outbox) -> Result<(), ReadingStopped> {
        let mut batch = Vec::new();
        let (mut bytes, mut converted) = (0, 0);
        for plan in plans {
            match &plan {
                Plan::Read(found, format) => match found.read {
                    Some(file) if format.is_document() => {
                        bytes += file.size;
                        converted += usize::from(self.is_converted(found));
                    }
                    _ => {
                        // The documents before it are sent first, so that the order stays that of the walk.
                        outbox.send(self.read_batch(take(&mut batch), bytes))?;
                        (bytes, converted) = (0, 0);
                        self.read_alone(found, *format, outbox)?;
                        continue;
                    }
                },
                Plan::Done(_, spared) => bytes += spared,
            }
            batch.push(plan);
            if bytes >= BATCH_BYTES || converted >= BATCH_CONVERTED {
                outbox.send(self.read_batch(take(&mut batch), bytes))?;
                (bytes, converted) = (0, 0);
            }
        }
        outbox.send(self.read_batch(batch, bytes))
    }

    /// Reads a file of records or a stream.
    fn read_alone(
        &self,
        found: &Found,
        format: Format,
        outbox: &Outbox,
    ) -> Result<(), ReadingStopped> {
        if format.is_document() {
            let mut item = self.read_document(found, format);
            self.seek_records(&mut item, format, true);
            return outbox.send(ItemBatch::of(vec![item]));
        }
        let records = RecordFile {
            found,
            options: &self.options,
        };
        records.read(format, outbox)
    }

    /// Reads the files of a batch, each of which is one document.
    fn read_batch(&self, plans: Vec<Plan>, bytes: u64) -> ItemBatch {
        let read = |plan| match plan {
            Plan::Read(found, format) => self.read_file(&found, format),
            Plan::Done(item, _) => *item,
        };
        ItemBatch {
            items: plans.into_par_iter().map(read).collect::<Vec<_>>(),
            bytes,
        }
    }

    fn read_file(&self, found: &Found, format: Format) -> Item {
        let size = found.read.map_or(0, |file| file.size);
        let is_converted = self.is_converted(found);
        let (mut has_grown, mut hash) = (false, None);
        let mut item = if is_converted {
            document(found, || self.converted(found.feed.name(), format))
        } else if is_compressed(found.feed.name()) || size == 0 {
            self.read_document(found, format)
        } else {
            document(found, || {
                // Files may be written to meanwhile. A file with a size is read up to that size; files in /proc have
                // none.
                let mut reader = HashingReader {
                    inner: found.feed.open_as_is()?.take(size),
                    hasher: self.options.verbatim.then(blake3::Hasher::new),
                };
                let record = whole::read(&mut reader, size, format, &self.options);
                hash = reader.hasher.map(|hasher| *hasher.finalize().as_bytes());
                let reader = reader.inner;
                let is_whole = reader.limit() == 0;
                has_grown = is_whole && reader.into_inner().read(&mut [0])? > 0;
                record
            })
        };
        if !is_converted {
            self.seek_records(&mut item, format, false);
        }
        if let Item::Document(document) = &mut item {
            let origin = &mut document.origin;
            origin.has_grown = has_grown;
            origin.read = found.read.map(|read| ReadFile { hash, ..read });
            origin.is_extracted = is_converted || [Format::Html, Format::Eml].contains(&format);
            (origin.size, origin.bytes) = (Some(size), size);
            origin.modified = found.read.and_then(|file| file.modified);
            // The folder from which the key leads to the file.
            let is_relative = found.read.is_some() && Path::new(&origin.key).is_relative();
            origin.file = match &found.stored_as {
                Some(stored) => stored.folder.clone(),
                None => self.folder.clone().filter(|_| is_relative),
            };
            origin.stored_as.clone_from(&found.stored_as);
        }
        item
    }

    /// Looks for records in a text whose format was not given.
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
    fn read_document(&self, found: &Found, format: Format) -> Item {
        document(found, || {
            let feed = &found.feed;
            let mut reader = match feed {
                Feed::File(path) if !is_compressed(path) => feed.open_as_is()?,
                Feed::File(_) | Feed::Pipe(_) | Feed::Stream(_) => {
                    feed.open(self.options.memory)?
                }
            };
            whole::read(&mut reader, 0, format, &self.options)
        })
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
}

/// Reads, and hashes what was read if there is a hasher.
struct HashingReader<R> {
    inner: R,
    hasher: Option<blake3::Hasher>,
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&buffer[..read]);
        }
        Ok(read)
    }
}

/// Returns the document of a file or stream that `read` reads.
fn document(found: &Found, read: impl FnOnce() -> io::Result<Result<Record, RecordFault>>) -> Item {
    let name = found.feed.name();
    match read() {
        Ok(Ok(record)) => {
            let origin = Origin {
                bytes: record.decoded.text.len() as u64,
                encoding: record.decoded.encoding,
                replaced: record.decoded.replaced,
                source_hash: record.decoded.source_hash.map(Box::new),
                attachments: record.decoded.attachments,
                lossy_key: found.key.lossy,
                read: found.read,
                ..Origin::new(found.key.text.clone(), name.to_owned())
            };
            Item::Document(SourcedText::new(record.decoded.text, origin))
        }
        Ok(Err(fault)) => Item::Skipped(fault.skipped(name.display().to_string())),
        Err(error) => Item::Skipped(Skipped::unreadable(name, &error)),
    }
}

/// Reads the metadata of a file.
fn with_metadata(mut found: Found) -> Result<(Found, Option<Metadata>), Skipped> {
    let Feed::File(path) = &found.feed else {
        return Ok((found, None));
    };
    let metadata = fs::metadata(path).map_err(|error| Skipped::unreadable(path, &error))?;
    found.read = Some(ReadFile::of(path, &metadata));
    Ok((found, Some(metadata)))
}

/// Skips a file that was met under another name.
fn without_repeats(
    (found, metadata): (Found, Option<Metadata>),
    identities: &mut FileIdentities,
) -> Result<Found, Skipped> {
    let file = metadata.zip(found.read);
    let again = file
        .and_then(|(metadata, file)| identities.again(found.feed.name(), &metadata, file.identity));
    again.map_or(Ok(found), Err)
}

fn skip(skipped: Skipped) -> Plan {
    Plan::Done(Box::new(Item::Skipped(skipped)), 0)
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
        let reader = CorpusReader {
            walk,
            options,
            folder: None,
            names: OtherKeys::new(),
        };
        for (size, text, has_grown) in [
            (9, "one line\n", true),
            (18, "one line\nand more\n", false),
            // The file was truncated meanwhile, or reports no size.
            (40, "one line\nand more\n", false),
            (0, "one line\nand more\n", false),
        ] {
            let metadata = fs::metadata(&path).unwrap();
            let found = Found {
                read: Some(ReadFile {
                    size,
                    ..ReadFile::of(&path, &metadata)
                }),
                ..Found::new(Feed::File(path.clone()), Key::of(&path), None)
            };
            let Item::Document(document) = reader.read_file(&found, Format::Text) else {
                panic!("{size}");
            };
            assert_eq!((document.text(), document.has_grown), (text, has_grown));
        }
    }
}
