//! Clusters and pairs of a store with a large template cluster.
//!
//! Each document has 60 shingles. Of N contents, a fifth are pages of one template, each with a similarity above 0.9 to
//! it. A tenth are in groups of a hundred, made in the same way. The others resemble nothing.
//!
//! ```sh
//! cargo bench --bench clusters -- 1000000
//! ```
//!
//! A second number adds as many contents that have 40 shingles in common and 20 of their own: they share buckets but do
//! not match.
#![expect(
    clippy::unwrap_used,
    reason = "a benchmark that cannot go on has failed"
)]
#![expect(clippy::print_stdout, reason = "a benchmark shows its result")]

use std::time::Instant;

use dedupdb::{
    Input, Schema, Store,
    groups::{ClusterQuery, Linkage, PairQuery},
    sketching::Shingling,
};

const BATCH: u64 = 20_000;
const SHINGLES: u64 = 60;
/// The number of shingles in which a page differs from the template: 57 / 63 is 0.905.
const OWN: u64 = 3;
const GROUP: u64 = 100;
/// The maximum number of pairs: the template's alone are 20 billion at a million contents.
const PAIRS: usize = 10_000_000;

fn main() {
    let mut numbers = std::env::args().filter_map(|argument| argument.parse().ok());
    let contents: u64 = numbers.next().unwrap_or(50_000);
    let unlike: u64 = numbers.next().unwrap_or(0);
    let folder = tempfile::tempdir().unwrap();
    let schema = Schema::builder().shingling(Shingling::Ids).build().unwrap();
    let store = Store::create(folder.path().join("store"), &schema).unwrap();
    println!(
        "{contents} contents, {unlike} unlike ones, {}",
        store.schema()
    );
    load(&store, contents, unlike);
    for bucket in store.largest_buckets(3).unwrap() {
        println!("  a bucket of {} contents", bucket.contents);
    }
    for linkage in [Linkage::Connected, Linkage::Representative] {
        measure(&format!("{linkage:?}"), || {
            let query = ClusterQuery::new().linkage(linkage);
            let start = Instant::now();
            let clusters = store.clusters(query).unwrap();
            let linked = start.elapsed().as_secs_f64();
            let (mut count, mut documents, mut lowest) = (0, 0, 1.0_f64);
            for cluster in clusters {
                let cluster = cluster.unwrap();
                count += 1;
                documents += cluster.members.len();
                lowest = lowest.min(cluster.lowest);
            }
            format!(
                "{count} clusters, {documents} documents, lowest {lowest:.3}, linked after {linked:.1} s"
            )
        });
    }
    measure("pairs", || {
        let pairs = store.pairs(PairQuery::new()).unwrap();
        let taken = pairs.take(PAIRS).map(Result::unwrap).count();
        format!("the first {taken}")
    });
}

/// Runs `work`, and prints its result, its time and its peak memory.
fn measure(name: &str, work: impl FnOnce() -> String) {
    // On Linux, this resets the peak to the current usage.
    drop(std::fs::write("/proc/self/clear_refs", "5"));
    let start = Instant::now();
    let result = work();
    let seconds = start.elapsed().as_secs_f64();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let peak = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    let peak = peak.unwrap_or_default() >> 10;
    println!("{name:<16} {seconds:.1} s, {peak} MB with mapped files: {result}");
}

fn mix(value: u64) -> u64 {
    let value = (value ^ value >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 32
}

/// The integer at a place of a page: the page's own at `own` places, its family's at the others.
fn integer(family: u64, page: u64, place: u64, own: u64) -> u64 {
    // Consecutive places, from one that the page chooses.
    let is_own = (place + mix(page) % SHINGLES) % SHINGLES < own;
    let of = if is_own { page << 1 | 1 } else { family << 1 };
    mix(of * SHINGLES + place) >> 32
}

fn text(number: u64, contents: u64) -> String {
    // The numbers of families are above those of all pages.
    let family = |family: u64| 1 << 40 | family;
    let (family, own) = match number * 10 / contents.max(1) {
        0 | 1 => (family(0), OWN),
        2 => (family(number / GROUP), OWN),
        3..10 => (family(number), SHINGLES),
        _ => (family(1 << 39), 20),
    };
    let integers = (0..SHINGLES).map(|place| integer(family, number, place, own).to_string());
    integers.collect::<Vec<_>>().join(" ")
}

fn load(store: &Store, contents: u64, unlike: u64) {
    let start = Instant::now();
    let mut writer = store.writer().unwrap();
    writer.evidence(false);
    for first in (0..contents + unlike).step_by(20_000) {
        let end = (contents + unlike).min(first + BATCH);
        let documents = (first..end).map(|n| Input::new(format!("{n:010}"), text(n, contents)));
        writer.add_all(documents.collect()).unwrap();
        writer.commit().unwrap();
    }
    println!("loaded in {:.1} s", start.elapsed().as_secs_f64());
}
