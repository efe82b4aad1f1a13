//! Files of records, in batches.

use std::fs;
use std::io;
use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use crate::formats::array::Elements;
use crate::formats::fields::FieldPaths;
use crate::formats::format::Format;
use crate::formats::jsonl;
use crate::formats::lines::LineReader;
use crate::formats::mail::{mbox, message};
use crate::formats::parquet;
use crate::formats::parquet::table::RereadSource;
use crate::formats::record::{RawRecord, Record, caught};
use crate::formats::record_fields::WantedPlaces;
use crate::formats::shingles;
use crate::formats::table::columns::RowCells;
use crate::formats::table::csv;
use crate::formats::table::tsv;
use crate::formats::text_place::TextPlace;
use crate::formats::web::http;
use crate::formats::web::warc;
use crate::item::{Item, ItemBatch, OpenedFile, Origin, RecordId, SourcedText, place};
use crate::number::{grouped, times};
use crate::options::{Options, Repeats};
use crate::read::batches::BATCH_BYTES;
use crate::read::outbox::{Outbox, ReadingStopped};
use crate::skipped::{DEFECT, Hint, Nth, Reason, RecordFault, Skipped, UnreadRecord};
use crate::source::feed::ByteStream;
use crate::walk::Found;
use dedupdb::write::IdScope;
use rayon::prelude::*;

/// The number of records to parse together.
const BATCH_RECORDS: usize = 16_384;

/// A file of records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordFile<'a> {
    pub(crate) found: &'a Found,
    pub(crate) options: &'a Options,
}

/// The records of a file so far.
#[derive(Debug, Default)]
struct RecordSequence {
    /// Documents, and records that have none and need none.
    documents: u64,
    bad: u64,
}

impl RecordSequence {
    /// Counts the records of a batch.
    fn count(&mut self, batch: ItemBatch) -> ItemBatch {
        for item in &batch.items {
            match item {
                Item::Document(_) => self.documents += 1,
                Item::Skipped(skipped) if skipped.reason == Reason::NoPage => self.documents += 1,
                Item::Skipped(_) => self.bad += 1,
                Item::Unchanged(_) | Item::Opened(_) => {}
            }
        }
        batch
    }
}

impl RecordFile<'_> {
    /// Reads a file of this format and sends its records.
    pub(crate) fn read(self, format: Format, outbox: &Outbox) -> Result<(), ReadingStopped> {
        let read = || match format {
            Format::Text | Format::Html | Format::Eml => Ok(Ok(())),
            Format::Jsonl => self.jsonl(outbox),
            Format::Json => self.array(outbox),
            Format::Csv => self.csv(outbox),
            Format::Tsv => self.tsv(outbox),
            Format::Parquet => self.parquet(outbox),
            Format::Warc => self.warc(outbox),
            Format::Mbox => self.mbox(outbox),
            Format::Shingles => self.shingles(outbox),
        };
        let done = unpanicked(read);
        match done {
            Ok(Ok(())) if self.has_changed() => {
                let error = io::Error::other("it changed while it was read; read it again");
                outbox.send(ItemBatch::of(vec![self.unreadable(&error)]))
            }
            Ok(done) => done,
            Err(error) => outbox.send(ItemBatch::of(vec![self.unreadable(&error)])),
        }
    }

    fn jsonl(self, outbox: &Outbox) -> io::Result<Result<(), ReadingStopped>> {
        let (bytes, encoding) = self.open_text()?;
        let lines =
            LineReader::new(bytes, self.options.max_record()).verbatim(self.options.verbatim);
        let texts = self.options.text_names();
        let names = self.names(&texts);
        let parse = |line: Vec<u8>| jsonl::record(&line, names).map(|record| record.of(encoding));
        self.send(self.opened(Format::Jsonl), lines, parse, outbox)
    }

    fn array(self, outbox: &Outbox) -> io::Result<Result<(), ReadingStopped>> {
        let (bytes, encoding) = self.open_text()?;
        let elements = Elements::new(bytes, self.options.max_record(), self.options.verbatim);
        let texts = self.options.text_names();
        let names = self.names(&texts);
        let parse = |one: Vec<u8>| jsonl::record(&one, names).map(|record| record.of(encoding));
        self.send(self.opened(Format::Json), elements, parse, outbox)
    }

    fn csv(self, outbox: &Outbox) -> io::Result<Result<(), ReadingStopped>> {
        let (bytes, encoding) = self.open_text()?;
        let mut rows = csv::CsvRows::new(bytes, self.options)?;
        let (header, columns) = rows.take_header();
        let opened = OpenedFile {
            header,
            columns,
            text: rows.text_place(),
            ..self.opened(Format::Csv)
        };
        let parse = |cells: RowCells<_>| cells.record(None).map(|record| record.of(encoding));
        self.send(opened, rows, parse, outbox)
    }

    fn tsv(self, outbox: &Outbox) -> io::Result<Result<(), ReadingStopped>> {
        let (bytes, encoding) = self.open_text()?;
        let table = tsv::open(bytes, self.options)?;
        let opened = OpenedFile {
            header: table.header,
            columns: table.names,
            text: match table.layout {
                tsv::Layout::Columns(ref columns) => columns.text_place(),
                tsv::Layout::Pair => TextPlace::BehindTab,
            },
            ..self.opened(Format::Tsv)
        };
        let parse = |line: Vec<u8>| {
            let record = tsv::record(&line, &table.layout);
            record.map(|record| record.of(encoding))
        };
        self.send(opened, table.lines, parse, outbox)
    }

    fn parquet(self, outbox: &Outbox) -> io::Result<Result<(), ReadingStopped>> {
        let (file, is_copy) = self.found.feed.open_file(self.options.memory)?;
        let again = if is_copy {
            RereadSource::Held(file.try_clone()?)
        } else {
            let metadata = file.metadata()?;
            let path = self.name().to_owned();
            RereadSource::Path(path, metadata.len(), times::modified(&metadata))
        };
        let rows = parquet::ParquetRows::new(file, self.options)?;
        let table = rows.table(again);
        let fields = table.schema.get_fields().iter();
        let opened = OpenedFile {
            columns: fields.map(|field| field.name().to_owned()).collect(),
            text: rows.text_place(),
            table: Some(Arc::new(table)),
            ..self.opened(Format::Parquet)
        };
        let (given, names) = (self.options.given_encoding(), self.options.text_names());
        let parse = |cells: RowCells<_>| cells.typed_record(given, &names);
        self.send(opened, rows, parse, outbox)
    }

    fn warc(self, outbox: &Outbox) -> io::Result<Result<(), ReadingStopped>> {
        let blocks =
            warc::WarcRecords::new(self.found.feed.open(self.options.memory)?, self.options);
        let parse = |block| http::record(block, self.options);
        self.send(self.opened(Format::Warc), blocks, parse, outbox)
    }

    fn mbox(self, outbox: &Outbox) -> io::Result<Result<(), ReadingStopped>> {
        let mailbox = self.found.feed.open(self.options.memory)?;
        let messages = mbox::MboxMessages::new(mailbox, self.options);
        let parse = |bytes: Vec<u8>| message::record(&bytes, self.options);
        self.send(self.opened(Format::Mbox), messages, parse, outbox)
    }

    fn shingles(self, outbox: &Outbox) -> io::Result<Result<(), ReadingStopped>> {
        let (bytes, encoding) = self.open_text()?;
        let lines =
            LineReader::new(bytes, self.options.max_record()).verbatim(self.options.verbatim);
        let parse = |line: Vec<u8>| Ok(shingles::record(&line).of(encoding));
        self.send(self.opened(Format::Shingles), lines, parse, outbox)
    }

    /// Returns the path, or the name of the stream.
    fn name(&self) -> &Path {
        self.found.feed.name()
    }

    /// Returns the names of the fields of JSON objects.
    fn names<'n>(&'n self, texts: &'n [&'n str]) -> FieldPaths<'n> {
        let id = self.options.id_name();
        FieldPaths { id, texts }
    }

    /// Opens the file as UTF-8.
    fn open_text(self) -> io::Result<(ByteStream, Option<&'static str>)> {
        let (given, memory) = (self.options.given_encoding(), self.options.memory);
        self.found.feed.open_text(given, memory)
    }

    /// Returns the opened file, without a header.
    fn opened(self, format: Format) -> OpenedFile {
        OpenedFile {
            source: self.name().to_owned(),
            format,
            header: Vec::new(),
            columns: Vec::new(),
            text: match format {
                Format::Jsonl | Format::Json => match &*self.options.text_names() {
                    [name] if !name.contains('[') => TextPlace::Field((*name).to_owned()),
                    _ => TextPlace::None,
                },
                _ => TextPlace::None,
            },
            table: None,
        }
    }

    /// Parses raw records and sends them. Everything before an error is complete. A file without a record before it is not
    /// opened.
    fn send<T: Send>(
        self,
        opened: OpenedFile,
        mut raws: impl Iterator<Item = io::Result<RawRecord<T>>>,
        parse: impl Fn(T) -> Result<Record, RecordFault> + Sync,
        outbox: &Outbox,
    ) -> io::Result<Result<(), ReadingStopped>> {
        let wanted = WantedPlaces::of(&opened, self.options).map_err(io::Error::other)?;
        let wanted = wanted.as_ref();
        let mut opened = self.options.verbatim.then_some(opened);
        let mut open = || {
            let items = opened.take().map(Item::Opened).into_iter().collect();
            outbox.send(ItemBatch::of(items))
        };
        let mut batch = Vec::new();
        let (mut bytes, mut held) = (0, 0);
        let (mut all, mut ended) = (RecordSequence::default(), Ok(()));
        while let Some(raw) = unpanicked(|| raws.next().transpose()).transpose() {
            let raw = match raw {
                Ok(raw) => raw,
                Err(error) => {
                    ended = Err(error);
                    break;
                }
            };
            bytes += raw.bytes;
            held += raw.held();
            batch.push(raw);
            if held >= BATCH_BYTES || batch.len() >= BATCH_RECORDS {
                let parsed = all.count(self.parse(take(&mut batch), bytes, (&parse, wanted)));
                if let Err(enough) = open().and_then(|()| outbox.send(parsed)) {
                    return Ok(Err(enough));
                }
                (bytes, held) = (0, 0);
            }
        }
        let mut parsed = all.count(self.parse(batch, bytes, (&parse, wanted)));
        if ended.is_ok() && all.documents == 0 {
            match &mut parsed.items[..] {
                // The one that says what is wrong with it stands for the whole file.
                [Item::Skipped(only)] if all.bad == 1 => {
                    only.named = outbox.is_named(self.name());
                }
                _ if all.bad > 0 => parsed.items.push(self.all_bad(all.bad)),
                _ if outbox.is_named(self.name()) => {
                    let empty = Skipped::file(Reason::NoRecords, self.name());
                    parsed.items.push(Item::Skipped(empty));
                }
                _ => {}
            }
        }
        let is_opened = ended.is_ok() || !parsed.items.is_empty();
        let sent = if is_opened { open() } else { Ok(()) };
        let sent = sent.and_then(|()| outbox.send(parsed));
        ended.map(|()| sent)
    }

    /// Returns the skipped item for a file with several records, none of which is a document.
    fn all_bad(self, bad: u64) -> Item {
        Item::Skipped(Skipped {
            detail: format!("none of its {} records could be read", grouped(bad)),
            ..Skipped::file(Reason::AllBad, self.name())
        })
    }

    /// Returns the items of a batch.
    fn parse<T: Send>(
        self,
        raws: Vec<RawRecord<T>>,
        bytes: u64,
        (parse, wanted): (
            impl Fn(T) -> Result<Record, RecordFault> + Sync,
            Option<&WantedPlaces<'_>>,
        ),
    ) -> ItemBatch {
        let items = raws
            .into_par_iter()
            .map(|raw| {
                let is_whole = raw.body.is_ok() && self.options.verbatim;
                let record = raw
                    .body
                    .and_then(|body| caught(|| parse(body)))
                    .and_then(|record| {
                        let is_large = record.decoded.text.len() as u64 > self.options.max_document;
                        if is_large {
                            Err(RecordFault::too_large())
                        } else if record.is_lossy {
                            // Different ids would become one key.
                            Err(RecordFault {
                                hint: Some(Hint::IdField),
                                ..RecordFault::bad("its id is not Unicode")
                            })
                        } else if record.id.is_none() && self.options.needs_ids {
                            Err(RecordFault::bad(
                                "it has no key, and standard input has no name to make one of",
                            ))
                        } else {
                            Ok(record)
                        }
                    });
                match record {
                    Ok(record) => {
                        let fields = wanted.map(|wanted| Box::new(wanted.read(&raw.verbatim)));
                        let mut document = self.document(record, raw.nth, raw.verbatim);
                        document.origin.fields = fields;
                        Item::Document(document)
                    }
                    Err(fault) => {
                        let place = place(self.name(), Some(raw.nth));
                        let unread = UnreadRecord {
                            nth: raw.nth,
                            verbatim: raw.verbatim,
                        };
                        Item::Skipped(Skipped {
                            record: is_whole.then(|| Box::new(unread)),
                            ..fault.skipped(place)
                        })
                    }
                }
            })
            .collect::<Vec<_>>();
        ItemBatch { items, bytes }
    }

    fn document(self, record: Record, nth: Nth, verbatim: Vec<u8>) -> SourcedText {
        let has_id = record.id.is_some();
        let is_in_file = self.options.id_scope == IdScope::File;
        let brings_id = has_id || is_in_file;
        let source_hash = record.decoded.source_hash.map(Box::new);
        let attachments = record.decoded.attachments;
        let text = record.decoded.text;
        let key = match record.id {
            Some(id) if !is_in_file => id,
            Some(id) => format!("{}#{id}", self.found.key.text),
            None => format!("{}#{}", self.found.key.text, nth.number()),
        };
        let looks = brings_id && self.options.repeats != Repeats::Allow;
        let origin = Origin {
            record: Some(nth),
            bytes: text.len() as u64,
            encoding: record.decoded.encoding,
            replaced: record.decoded.replaced,
            has_id,
            read: self.found.read,
            file: self.found.source.clone(),
            stored_as: self.found.stored_as.clone(),
            verbatim,
            id: looks.then(|| RecordId::of(&key, &text)),
            source_hash,
            attachments,
            strings: record.strings,
            ..Origin::new(key, self.name().to_owned())
        };
        SourcedText::new(text, origin)
    }

    /// Whether the file is not the one that was met. One that is longer may have grown, as logs do.
    fn has_changed(&self) -> bool {
        let Some(met) = self.found.read else {
            return false;
        };
        let now = fs::metadata(self.name()).ok();
        let now = now.filter(|now| now.len() <= met.size);
        now.is_some_and(|now| now.len() < met.size || times::modified(&now) != met.modified)
    }

    fn unreadable(self, error: &io::Error) -> Item {
        Item::Skipped(Skipped::unreadable(self.name(), error))
    }
}

/// Calls `read`. A panic ends the reading of this file only.
fn unpanicked<T>(read: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(io::Error::other(DEFECT)))
}
