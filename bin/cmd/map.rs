//! `map`: writes the lines of documents.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Result, bail};
use dedupdb::corpus::{Batch, Format, IdScope, Item, Options, Reading, Repeats, Skipped};
use dedupdb::mapreduce::{Lines, Mapper};
use dedupdb::{Schema, sketching::Shingling};
use rayon::prelude::*;

use crate::args::{Args, Map};
use crate::console::Console;
use crate::exit::Exit;
use crate::inputs::{STDIN, sources};
use crate::interrupt::Interrupt;
use crate::json;
use crate::left_out::{LeftOut, Named};
use crate::number::bytes;
use crate::output::Output;
use crate::reading::{Told as _, line};

/// Runs `map`.
pub(crate) fn run(args: &Args, map: &Map, console: &Console, output: &mut Output) -> Result<Exit> {
    let start = Instant::now();
    let schema = super::init::schema(&map.sketching).build()?;
    let (paths, options) = inputs(map, &schema)?;
    map.telling.check(&paths, &[])?;
    let mut mapping = Mapping {
        mapper: Mapper::new(&schema)?,
        strict: map.inputs.strict,
        console,
        output,
        left_out: LeftOut::begin(console, &map.telling, Named::Failures)?,
        reading: Reading::default(),
        documents: 0,
        lines: 0,
        shuffled: 0,
    };
    let interrupt = Interrupt::catch()?;
    let batches = options.store(&args.store).batches(sources(&paths, None))?;
    loop {
        match interrupt.receive(&batches) {
            Ok(Some(batch)) => mapping.take(batch?)?,
            Ok(None) => break,
            Err(_) => {
                mapping.output.flush()?;
                console.error("stopped; these are not all lines");
                return Ok(Exit::Interrupted);
            }
        }
        if mapping.is_given_up() {
            break;
        }
    }
    mapping.output.flush()?;
    mapping.left_out.finish()?;
    mapping.tell(start, args.json)?;
    Ok(Exit::failed(mapping.reading.has_failures()))
}

/// What is to be read, and how.
fn inputs(map: &Map, schema: &Schema) -> Result<(Vec<PathBuf>, Options)> {
    let mut inputs = map.inputs.clone();
    let mut needs_ids = false;
    let is_stdin = |path: &Path| path == Path::new(STDIN);
    let paths = match map.paths.as_slice() {
        [] => vec![PathBuf::from(STDIN)],
        paths => paths.to_vec(),
    };
    if paths.iter().any(|path| is_stdin(path)) {
        if paths.len() > 1 {
            bail!("standard input (-) is read alone: its records need ids, those of files do not");
        }
        inputs.format.get_or_insert(Format::Jsonl);
        needs_ids = true;
    }
    if needs_ids && inputs.id_scope == IdScope::File {
        bail!("--id-scope file makes keys of the names of files, and standard input has none");
    }
    if inputs.format.is_some_and(Format::is_document) && needs_ids {
        bail!(
            "standard input has records, of which each has an id; say with --format what they are"
        );
    }
    if inputs.format == Some(Format::Shingles) && schema.shingling() != Shingling::Ids {
        bail!("--format shingles has integers, not texts: give --shingling ids, to reduce, too");
    }
    let options = inputs.options().needs_ids(needs_ids);
    Ok((paths, options.repeats(Repeats::Skip)))
}

/// A map that is under way.
struct Mapping<'a> {
    mapper: Mapper,
    /// Whether the first failure is the end.
    strict: bool,
    console: &'a Console,
    output: &'a mut Output,
    left_out: LeftOut,
    reading: Reading,
    documents: u64,
    lines: u64,
    /// Bytes that were written.
    shuffled: u64,
}

impl Mapping<'_> {
    fn take(&mut self, batch: Batch) -> Result<()> {
        let mapper = &self.mapper;
        let mapped: Vec<_> = batch
            .items
            .into_par_iter()
            .map(|item| match item {
                Item::Document(document) => {
                    let lines = mapper.lines(&document.key, document.text());
                    let lines = lines.map_err(|error| document.refused(&error));
                    Some((Some(document.into_origin()), lines))
                }
                Item::Skipped(skipped) => Some((None, Err(skipped))),
                _ => None,
            })
            .collect();
        for (read, lines) in mapped.into_iter().flatten() {
            if let Some(read) = read {
                self.reading.document(&read);
            }
            match lines {
                Ok(lines) => self.write(&lines)?,
                Err(skipped) => self.skip(&skipped)?,
            }
            if self.is_given_up() {
                break;
            }
        }
        Ok(())
    }

    fn write(&mut self, lines: &Lines) -> Result<()> {
        self.documents += 1;
        self.lines += lines.len() as u64;
        for (bucket, columns) in lines.parts() {
            self.output.bytes(bucket.as_bytes())?;
            self.output.bytes(columns.as_bytes())?;
            self.shuffled += (bucket.len() + columns.len()) as u64;
        }
        Ok(())
    }

    fn skip(&mut self, skipped: &Skipped) -> Result<()> {
        self.reading.skipped(skipped.reason);
        self.left_out.tell(skipped)
    }

    fn is_given_up(&self) -> bool {
        self.strict && self.reading.has_failures()
    }

    /// Says what was done; standard output has the lines.
    fn tell(&self, start: Instant, json: bool) -> Result<()> {
        let elapsed = start.elapsed();
        if json {
            let counts = (self.documents, self.lines, self.shuffled);
            let mapped = json::Mapped::new(&self.reading, elapsed, counts);
            return Ok(self.console.object(&mapped)?);
        }
        let mut text = line("documents", self.documents, "");
        text += &self.reading.skipped_line().unwrap_or_default();
        let each = bytes(self.shuffled / self.documents.max(1));
        let shuffled = format!("   {}, {each} a document", bytes(self.shuffled));
        text += &line("lines", self.lines, &shuffled);
        self.console.text(&(text + &self.reading.to_text(elapsed)));
        Ok(())
    }
}
