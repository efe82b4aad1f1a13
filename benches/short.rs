//! Adds short texts from memory to a new store, with one commit.
//!
//! ```sh
//! cargo bench --bench short
//! ```
#![expect(
    clippy::unwrap_used,
    reason = "a benchmark that cannot go on has failed"
)]
#![expect(clippy::print_stdout, reason = "a benchmark shows its result")]

use std::time::Instant;

use dedupdb::{Input, Schema, Store};

#[path = "../bin/src/allocator.rs"]
mod allocator;

/// Texts that are sketched at a time.
const BATCH: u32 = 10_000;

fn main() {
    allocator::keep_for_a_moment();
    let number = |i: u32| i.to_string();
    add("1,000,000 numbers, one token each", 1_000_000, number);
    let common = |i: u32| format!("one two three four five six {i}");
    add("82,000 texts that share six of seven words", 82_000, common);
}

/// Adds `count` texts, and prints the time.
fn add(name: &str, count: u32, text: impl Fn(u32) -> String) {
    let folder = tempfile::tempdir().unwrap();
    let start = Instant::now();
    let store = Store::create(folder.path().join("store"), &Schema::default()).unwrap();
    let mut writer = store.writer().unwrap();
    for first in (0..count).step_by(BATCH as usize) {
        let batch = first..count.min(first + BATCH);
        let inputs = batch.map(|i| Input::new(i.to_string(), text(i)));
        writer
            .add_batch(store.sketch_all(inputs.collect()))
            .unwrap();
    }
    writer.commit().unwrap();
    println!("{name}: {:.1} s", start.elapsed().as_secs_f64());
}
