//! Queries: many texts in one call, and one text repeatedly.
//!
//! `python/benches/compare.py` compares the Python package with it.
//!
//! ```sh
//! cargo bench --bench ask -- STORE FILE.jsonl
//! ```
//!
//! Each line of FILE has a text in the field `text`.
#![expect(
    clippy::unwrap_used,
    reason = "a benchmark that cannot go on has failed"
)]
#![expect(clippy::print_stdout, reason = "a benchmark shows its result")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use dedupdb::{Options, Query, Store};
use serde_json::Value;

#[path = "../bin/src/allocator.rs"]
mod allocator;

/// The number of calls that are timed together.
const CALLS: u32 = 500;

/// The number of repetitions. The fastest one counts.
const BLOCKS: u32 = 20;

fn main() {
    allocator::keep_for_a_moment();
    let mut arguments = std::env::args().skip(1);
    let store = Options::new()
        .read_only(true)
        .open(arguments.next().unwrap())
        .unwrap();
    let lines = std::fs::read_to_string(arguments.next().unwrap()).unwrap();
    let lines = lines.lines();
    let lines = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let texts: Vec<String> = lines
        .map(|line| line["text"].as_str().unwrap().to_owned())
        .collect();
    println!("{} texts", texts.len());
    show("in one call, a text", many(&store, &texts));
    show("about the first one", one(&store, &texts[0]));
}

fn show(name: &str, took: Took) {
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let (wall, processor) = (micros(took.wall), micros(took.processor));
    println!("{name}: {wall:.2} us, processor {processor:.2} us");
}

/// The time of a text or a call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Took {
    wall: Duration,
    /// Of all threads.
    processor: Duration,
}

/// Measures `work`, and divides its time by `times`.
fn took(times: u32, work: impl FnOnce()) -> Took {
    let (start, before) = (Instant::now(), processor());
    work();
    Took {
        wall: start.elapsed() / times,
        processor: processor().saturating_sub(before) / times,
    }
}

/// The processor time of all threads so far. It is zero if the system does not report it.
fn processor() -> Duration {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    let told = tasks.filter_map(|task| {
        let told = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        told.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(told.sum())
}

/// The time per text when all texts are queried in one call.
fn many(store: &Store, texts: &[String]) -> Took {
    took(u32::try_from(texts.len()).unwrap(), || {
        let queries: Vec<Query<'_>> = texts.iter().map(|text| Query::text(text)).collect();
        let answers = store.query_all(&queries).unwrap();
        assert!(answers.iter().all(Result::is_ok));
    })
}

/// The time per call when one text is queried repeatedly.
fn one(store: &Store, text: &str) -> Took {
    let block = |_| {
        took(CALLS, || {
            for _ in 0..CALLS {
                black_box(store.query(&Query::text(black_box(text))).unwrap());
            }
        })
    };
    (0..BLOCKS).map(block).min().unwrap()
}
