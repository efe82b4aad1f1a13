//! A large store of synthetic contents: bulk load, a nightly batch, queries, calls of many threads.
//!
//! Each document has six shingles, so that the store takes most of the time, not shingling and signing. One in ten is a
//! near-copy of an earlier one.
//!
//! ```sh
//! cargo bench --bench bulk -- 1000000
//! ```
//!
//! Memory comes from the allocator of the command line. A second argument is the number of documents after which the
//! bulk load commits. Without it, the bulk load commits once, at the end.
#![expect(
    clippy::unwrap_used,
    reason = "a benchmark that cannot go on has failed"
)]
#![expect(clippy::print_stdout, reason = "a benchmark shows its result")]

use std::thread;
use std::time::{Duration, Instant};

use dedupdb::{Input, Options, Query, Schema, Store, sketching::Shingling};

#[path = "../bin/src/allocator.rs"]
mod allocator;

/// The number of documents that are added together.
const BATCH: u64 = 20_000;
/// The number of documents in the nightly batch.
const NIGHTLY: u64 = 10_000;
const QUERIES: u64 = 20_000;
/// The number of calls of each of the threads that share commits.
const CALLS: u64 = 500;

fn main() {
    allocator::keep_for_a_moment();
    let mut numbers = std::env::args().filter_map(|argument| argument.parse().ok());
    let contents: u64 = numbers.next().unwrap_or(100_000);
    let uncommitted: u64 = numbers.next().unwrap_or(contents);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let schema = Schema::builder().shingling(Shingling::Ids).build().unwrap();
    let store = Store::create(&path, &schema).unwrap();
    println!("{contents} contents, {}", store.schema());

    let loaded = load(&store, contents, uncommitted);
    let seconds = loaded.spent.as_secs_f64();
    let rate = contents as f64 / seconds;
    println!("bulk load          {seconds:.2} s, {rate:.0} contents/s");
    let timings = store.timings();
    for (name, spent) in [
        ("signing", timings.signing),
        ("appending", timings.appending),
        ("comparing", timings.comparing),
        ("committing", timings.committing),
        ("merging", timings.merging),
    ] {
        println!("  {name:<16} {:.2} s", spent.as_secs_f64());
    }
    let merged = contents as f64 / timings.merging.as_secs_f64();
    println!("merging            {merged:.0} contents/s");
    println!(
        "peak memory        {} MB beside mapped files",
        loaded.peak >> 20
    );
    for (name, bytes) in store.stats().unwrap().files {
        println!(
            "  {name:<16} {:.1} bytes a content",
            bytes as f64 / contents as f64
        );
    }
    queries("novel query", &store, |n| text(contents * 10 + n));
    queries("query of a stored", &store, |n| text(n * 7 % contents));
    println!(
        "nightly batch      {:.3} s for {NIGHTLY}",
        nightly(&store, contents).as_secs_f64()
    );
    for callers in [16, 64] {
        changes(&store, callers, contents * 10 * callers);
    }
    drop(store);

    let start = Instant::now();
    let store = Options::new().read_only(true).open(&path).unwrap();
    store.query(&Query::text(&text(5))).unwrap();
    println!(
        "open and one query {:.2} ms",
        start.elapsed().as_secs_f64() * 1e3
    );
}

fn mix(value: u64) -> u64 {
    let value = (value ^ value >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 32
}

/// Six integers. Every tenth document has those of its neighbour and one more.
fn text(number: u64) -> String {
    let (of, shingles) = if number % 10 == 9 {
        (number - 1, 7)
    } else {
        (number, 6)
    };
    let integers = (0..shingles).map(|i| (mix(of * 8 + i) >> 24).to_string());
    integers.collect::<Vec<_>>().join(" ")
}

/// The memory of the process in bytes, without mapped files. It is 0 if the system does not report it.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("RssAnon"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kilobytes.unwrap_or_default() << 10
}

/// The cost of a bulk load.
#[derive(Default)]
struct Loaded {
    spent: Duration,
    /// Peak memory in bytes.
    peak: u64,
}

fn load(store: &Store, contents: u64, uncommitted: u64) -> Loaded {
    let mut loaded = Loaded::default();
    let mut writer = store.writer().unwrap();
    for first in (0..contents).step_by(20_000) {
        let end = contents.min(first + BATCH);
        let documents: Vec<Input> = (first..end)
            .map(|n| Input::new(format!("{n:010}"), text(n)))
            .collect();
        let start = Instant::now();
        writer.add_all(documents).unwrap();
        loaded.peak = loaded.peak.max(memory());
        if first / uncommitted < end / uncommitted || end == contents {
            writer.commit().unwrap();
        }
        loaded.spent += start.elapsed();
    }
    loaded
}

fn queries(name: &str, store: &Store, text: impl Fn(u64) -> String) {
    let mut times: Vec<f64> = (0..QUERIES)
        .map(|number| {
            let text = text(number);
            let start = Instant::now();
            store.query(&Query::text(&text)).unwrap();
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let (median, p99) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    println!("{name:<18} {median:.1} us median, {p99:.1} us p99");
}

fn nightly(store: &Store, contents: u64) -> Duration {
    let first = contents * 20;
    let documents: Vec<Input> = (first..first + NIGHTLY)
        .map(|n| Input::new(format!("nightly/{n}"), text(n)))
        .collect();
    let start = Instant::now();
    let mut writer = store.writer().unwrap();
    writer.add_all(documents).unwrap();
    writer.commit().unwrap();
    start.elapsed()
}

/// A call for the document of a number.
type Call<'a> = &'a (dyn Fn(u64) -> dedupdb::Result<()> + Sync);

/// Calls of many threads, each of which is durable when it returns: documents are inserted, replaced, changed by one of
/// four calls in turns, and removed.
fn changes(store: &Store, callers: u64, first: u64) {
    let key = |number| format!("page/{number}");
    let insert = |number| {
        let inserted = store.insert_unless_duplicate(key(number), text(number));
        inserted.map(drop)
    };
    let replace = |number| store.replace(key(number), text(number + 1)).map(drop);
    let renamed = |number| format!("page/{number}/renamed");
    let mixed = |number| match number % 4 {
        0 => insert(number),
        1 => replace(number),
        2 => store.remove(&key(number)).map(drop),
        _ => store.rename(&key(number), &renamed(number)).map(drop),
    };
    let remove = |number| {
        let key = if number % 4 == 3 {
            renamed(number)
        } else {
            key(number)
        };
        store.remove(&key).map(drop)
    };
    let calls: [(&str, Call<'_>); 4] = [
        ("insert_unless_duplicate", &insert),
        ("replace", &replace),
        ("each of four in turns", &mixed),
        ("remove", &remove),
    ];
    for (name, call) in calls {
        let rate = rate(callers, |n| call(first + n).unwrap());
        println!("{name}, {callers} callers: {rate:.0}/s");
    }
}

/// The number of calls per second by many threads.
fn rate(callers: u64, call: impl Fn(u64) + Sync) -> f64 {
    let start = Instant::now();
    thread::scope(|scope| {
        for caller in 0..callers {
            let call = &call;
            scope.spawn(move || (caller * CALLS..(caller + 1) * CALLS).for_each(call));
        }
    });
    (callers * CALLS) as f64 / start.elapsed().as_secs_f64()
}
