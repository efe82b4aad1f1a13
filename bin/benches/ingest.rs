//! Compares adding from files with adding from memory.
//!
//! The first file is JSON lines with the fields `id` and `text`. The crate adds its documents from memory, and then the
//! command line adds each file, each time into a new store with one commit at the end. Parquet files are also
//! deduplicated into another Parquet file with all their columns, which should reach 80% of the rate of adding them.
//! Rates are in megabytes of text per second: medians of eleven runs, taken in turns. Both use the allocator of the
//! command line.
//!
//! ```sh
//! cargo bench --bench ingest -- pages.jsonl pages.parquet
//! ```
#![expect(
    clippy::unwrap_used,
    reason = "a benchmark that cannot go on has failed"
)]
#![expect(clippy::print_stdout, reason = "a benchmark shows its result")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::sync_channel;
use std::time::Instant;

use dedupdb::{Input, Schema, Store};
use serde_json::Value;

#[path = "../src/allocator.rs"]
mod allocator;

const ROUNDS: usize = 11;
/// Bytes of text that are sketched at a time.
const BATCH: usize = 4 << 20;

fn main() {
    allocator::keep_for_a_moment();
    let files = std::env::args_os().skip(1).map(PathBuf::from);
    let files: Vec<PathBuf> = files.filter(|path| path.is_file()).collect();
    let Some(first) = files.first() else {
        println!("no file is named: cargo bench --bench ingest -- FILE.jsonl...");
        return;
    };
    let documents = read(first);
    let bytes: usize = documents.iter().map(|(_, text)| text.len()).sum();
    let tables = files
        .iter()
        .filter(|path| path.extension().is_some_and(|end| end == "parquet"));
    let tables: Vec<&PathBuf> = tables.collect();
    let mut times = vec![Vec::new(); files.len() + tables.len() + 1];
    for _ in 0..ROUNDS {
        times[0].push(timed(|store| from_memory(store, &documents)));
        for (file, times) in files.iter().zip(&mut times[1..]) {
            times.push(timed(|store| from_file(store, file)));
        }
        for (table, times) in tables.iter().zip(&mut times[files.len() + 1..]) {
            times.push(timed(|output| deduplicated(output, table)));
        }
    }
    let rates = times.into_iter().map(|mut times| {
        times.sort_by(f64::total_cmp);
        bytes as f64 / 1e6 / times[ROUNDS / 2]
    });
    let rates: Vec<f64> = rates.collect();
    println!("memory: {:.1} MB/s", rates[0]);
    let of_files = || files.iter().zip(&rates[1..]);
    for (file, rate) in of_files() {
        let share = 100.0 * rate / rates[0];
        println!("{}: {rate:.1} MB/s, {share:.0}% of memory", file.display());
    }
    for (table, rate) in tables.iter().zip(&rates[files.len() + 1..]) {
        let added = of_files().find(|(file, _)| file == table).unwrap().1;
        let share = 100.0 * rate / added;
        println!(
            "dedup of {}: {rate:.1} MB/s, {share:.0}% of adding it",
            table.display()
        );
    }
}

/// The documents of a file of JSON lines.
fn read(file: &Path) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(file).unwrap();
    let field = |value: &Value, name: &str| value[name].as_str().unwrap().to_owned();
    let document = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap();
        (field(&value, "id"), field(&value, "text"))
    };
    text.lines().map(document).collect()
}

/// The seconds that `add` takes with a new store.
fn timed(add: impl FnOnce(&Path)) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let start = Instant::now();
    add(&folder.path().join("store"));
    start.elapsed().as_secs_f64()
}

fn from_memory(folder: &Path, documents: &[(String, String)]) {
    let store = Store::create(folder, &Schema::default()).unwrap();
    let mut writer = store.writer().unwrap();
    std::thread::scope(|scope| {
        let (sender, batches) = sync_channel(1);
        let store = &store;
        scope.spawn(move || {
            let (mut batch, mut bytes) = (Vec::new(), 0);
            for (key, text) in documents {
                batch.push(Input::new(key.clone(), text.clone()));
                bytes += text.len();
                if bytes >= BATCH {
                    sender
                        .send(store.sketch_all(std::mem::take(&mut batch)))
                        .unwrap();
                    bytes = 0;
                }
            }
            sender.send(store.sketch_all(batch)).unwrap();
        });
        for batch in batches {
            writer.add_batch(batch).unwrap();
        }
        writer.commit().unwrap();
    });
}

fn deduplicated(output: &Path, file: &Path) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dedupdb"));
    command.args(["--quiet", "dedup"]).arg(file);
    let output = output.with_extension("parquet");
    let status = command.arg("--output").arg(output).status().unwrap();
    assert!(status.success(), "{}", file.display());
}

fn from_file(folder: &Path, file: &Path) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dedupdb"));
    command.arg("--quiet").arg("--store").arg(folder);
    let status = command.arg("add").arg(file).status().unwrap();
    assert!(status.success(), "{}", file.display());
}
