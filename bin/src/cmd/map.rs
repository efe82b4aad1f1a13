//! `map`: writes the lines of documents for `reduce`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use dedupdb::Schema;
use dedupdb::write::IdScope;
use dedupdb_corpus::{EndReason, ForEachSummary, Format, Options, Repeats, SourcedText};
use dedupdb_lab::mapreduce::{Lines, Mapper};

use crate::args::{Args, MapArgs};
use crate::console::Console;
use crate::each::ForEachRun;
use crate::exit::Exit;
use crate::inputs::STDIN;
use crate::interrupt;
use crate::json;
use crate::left_out::NamingScope;
use crate::number::bytes;
use crate::output::Output;
use crate::read_counts::{ReadCountsText as _, line};

/// Runs `map`.
pub(crate) fn run(
    args: &Args,
    map: &MapArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    output.end_with_reader();
    let start = Instant::now();
    let schema = super::init::schema(&map.sketching).build()?;
    let (paths, options) = inputs(map, &schema)?;
    let mapper = Mapper::new(&schema)?;
    let progress = interrupt::catch()?;
    let each = ForEachRun {
        paths: &paths,
        options: options.store(&args.store),
        telling: &map.files.telling,
        named: NamingScope::Failures,
        progress: &progress,
        whole: None,
        has_bar: false,
    };
    let lines = |document: &SourcedText| mapper.lines(&document.key, document.text());
    let mut written = WrittenCounts::default();
    let worked = each.run(console, lines, |_, lines| written.write(&lines, output))?;
    output.flush()?;
    if worked.ended == EndReason::Stopped {
        console.error("stopped; these are not all lines");
        return Ok(Exit::Interrupted);
    }
    let elapsed = start.elapsed();
    // Standard output has the lines.
    if args.json {
        let counts = (worked.documents, written.lines, written.bytes);
        console.object(&json::MapJson::new(&worked.reading, elapsed, counts))?;
    } else {
        console.text(&written.to_text(&worked, map.files.inputs.pre.is_some(), elapsed));
    }
    Ok(Exit::failed(worked.reading.has_failures()))
}

/// What to read, and how.
fn inputs(map: &MapArgs, schema: &Schema) -> Result<(Vec<PathBuf>, Options)> {
    let mut inputs = map.files.inputs.clone();
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
    if needs_ids && inputs.id_scope == Some(IdScope::File) {
        bail!("--id-scope file makes keys of the names of files, and standard input has none");
    }
    if inputs.format.is_some_and(Format::is_document) && needs_ids {
        bail!("standard input must have records with ids; name their format with --format");
    }
    inputs.check_shingles(schema)?;
    let mut options = inputs.options().needs_ids(needs_ids);
    if inputs.id_scope == Some(IdScope::All) {
        // No later text of an id replaces an earlier one here, so it is repeated.
        options = options.id_scope(IdScope::Unset);
    }
    Ok((paths, options.repeats(Repeats::Skip)))
}

/// The numbers of what was written.
#[derive(Clone, Copy, Debug, Default)]
struct WrittenCounts {
    lines: u64,
    bytes: u64,
}

impl WrittenCounts {
    fn write(&mut self, lines: &Lines, output: &mut Output) -> Result<()> {
        self.lines += lines.len() as u64;
        for (bucket, columns) in lines.parts() {
            output.bytes(bucket.as_bytes())?;
            output.bytes(columns.as_bytes())?;
            self.bytes += (bucket.len() + columns.len()) as u64;
        }
        Ok(())
    }

    /// The counts as lines for people. `has_converter` says whether a program converts files to text.
    fn to_text(self, worked: &ForEachSummary, has_converter: bool, elapsed: Duration) -> String {
        let reading = &worked.reading;
        let mut text = line("documents", worked.documents, "");
        text += &reading.skipped_line(has_converter).unwrap_or_default();
        let each = bytes(self.bytes / worked.documents.max(1));
        let shuffled = format!("   {}, {each} a document", bytes(self.bytes));
        text += &line("lines", self.lines, &shuffled);
        text + &reading.to_text(elapsed)
    }
}
