//! A crawler that inserts one page after another: from many threads, beside another program, from several processes.
//!
//! ```sh
//! cargo bench --bench crawler -- threads 2500000
//! cargo bench --bench crawler -- beside 400000 dedupdb reindex --permutations 256 --store STORE
//! cargo bench --bench crawler -- processes 4 10
//! ```
//!
//! `threads N` inserts N pages from 64 threads, and prints memory while the store grows. `beside N PROGRAM` makes a store
//! of N pages and inserts 500 a second while the program runs, of whose arguments `STORE` is the place of the store.
//! `processes P S` inserts from P processes for S seconds, and then from one.
//!
//! Memory comes from the allocator of the system. Each page has six shingles, and each insert is durable when it returns.
//! The store is in a temporary folder.
#![expect(
    clippy::unwrap_used,
    reason = "a benchmark that cannot go on has failed"
)]
#![expect(clippy::print_stdout, reason = "a benchmark shows its result")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use dedupdb::{Input, Schema, Store};

const THREADS: u64 = 64;
/// The inserts of a crawler in a second, and the threads that share them.
const RATE: u32 = 500;
const FEEDS: u64 = 16;
/// The number of pages after which memory is printed.
const STEP: u64 = 250_000;
/// The first argument of a process of [`processes`].
const INSERT: &str = "insert";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [INSERT, store, first, seconds] => {
            let store = Store::open(store).unwrap();
            let inserts = insert_for(&store, first.parse().unwrap(), seconds.parse().unwrap());
            println!("{inserts}");
        }
        ["processes", number, seconds, ..] => {
            processes(number.parse().unwrap(), seconds.parse().unwrap());
        }
        ["beside", pages, program, ref arguments @ ..] => {
            beside(pages.parse().unwrap(), program, arguments);
        }
        ["threads", pages, ..] => threads(pages.parse().unwrap()),
        _ => println!("give threads N, beside N PROGRAM or processes P S"),
    }
}

/// Makes an empty store, and calls `work` with its place.
fn with_store(work: impl FnOnce(&Path, Store)) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let store = Store::create(&path, &Schema::default()).unwrap();
    work(&path, store);
}

fn mix(value: u64) -> u64 {
    let value = (value ^ value >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 32
}

/// The key and the text of a page of six shingles that resembles no other.
fn page(number: u64) -> (String, String) {
    let integers = (0..10).map(|i| (mix(number * 16 + i) >> 24).to_string());
    let text = integers.collect::<Vec<_>>().join(" ");
    (format!("page/{number:010}"), text)
}

fn insert(store: &Store, number: u64) -> dedupdb::Result<()> {
    let (key, text) = page(number);
    store.insert_unless_duplicate(key, text).map(drop)
}

/// A line of the status of this process, in MB. It is 0 if the system does not report it.
fn memory(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(name));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kilobytes.unwrap_or_default() >> 10
}

/// Inserts pages from many threads, and prints the memory without mapped files.
fn threads(pages: u64) {
    with_store(|_, store| {
        let (next, start) = (AtomicU64::new(0), Instant::now());
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= pages {
                            break;
                        }
                        insert(&store, number).unwrap();
                        if (number + 1).is_multiple_of(STEP) {
                            let (seconds, memory) = (start.elapsed().as_secs(), memory("RssAnon"));
                            println!("{} pages after {seconds} s: {memory} MB", number + 1);
                        }
                    }
                });
            }
        });
        let start = Instant::now();
        let documents = store.stats().unwrap().documents;
        let milliseconds = start.elapsed().as_millis();
        println!("figures of the {documents} documents in {milliseconds} ms");
    });
}

/// Makes a store of pages, inserts at a steady rate while a program runs, and prints how long the inserts took.
fn beside(pages: u64, program: &str, arguments: &[&str]) {
    with_store(|path, store| {
        let mut writer = store.writer().unwrap();
        for first in (0..pages).step_by(20_000) {
            let pages = (first..pages.min(first + 20_000)).map(page);
            let pages = pages.map(|(key, text)| Input::new(key, text));
            writer.add_all(pages.collect()).unwrap();
        }
        writer.commit().unwrap();
        drop(writer);
        let place = path.to_str().unwrap();
        let arguments = arguments.iter().map(|&argument| match argument {
            "STORE" => place,
            argument => argument,
        });
        let start = Instant::now();
        let mut child = Command::new(program).args(arguments).spawn().unwrap();
        let (next, ended) = (AtomicU64::new(0), AtomicBool::new(false));
        let feed = || insert_at_rate(&store, pages, start, &next, &ended);
        let found: Vec<_> = thread::scope(|scope| {
            let feeds: Vec<_> = (0..FEEDS).map(|_| scope.spawn(feed)).collect();
            let status = child.wait().unwrap();
            ended.store(true, Ordering::Relaxed);
            assert!(status.success(), "{program} failed");
            feeds
                .into_iter()
                .flat_map(|feed| feed.join().unwrap())
                .collect()
        });
        let seconds = start.elapsed().as_secs_f64();
        let (mut times, errors): (Vec<[Duration; 2]>, Vec<_>) = found.into_iter().unzip();
        let errors: Vec<String> = errors.into_iter().flatten().collect();
        times.sort_unstable();
        let at = |share: usize| times[(times.len() - 1) * share / 1000][0].as_secs_f64() * 1e3;
        let worst = times[times.len() - 1][1].as_secs_f64();
        let (inserts, failed) = (times.len(), errors.len());
        println!(
            "{inserts} inserts in {seconds:.1} s, {failed} errors {:?}",
            errors.first()
        );
        println!(
            "median {:.1} ms, 99% {:.1} ms, worst {:.0} ms after {worst:.1} s",
            at(500),
            at(990),
            at(1000)
        );
    });
}

/// Inserts each next page when it is due, or at once if that is over, until the program has ended. Returns how long each
/// insert took, when it began, and its error.
fn insert_at_rate(
    store: &Store,
    first: u64,
    start: Instant,
    next: &AtomicU64,
    ended: &AtomicBool,
) -> Vec<([Duration; 2], Option<String>)> {
    let mut found = Vec::new();
    while !ended.load(Ordering::Relaxed) {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let due = start + Duration::from_secs(1) / RATE * u32::try_from(number).unwrap();
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let begun = Instant::now();
        let error = insert(store, first + number).err();
        let times = [begun.elapsed(), begun - start];
        found.push((times, error.map(|error| error.to_string())));
    }
    found
}

/// Inserts until the time is over, and returns the number of inserts.
fn insert_for(store: &Store, first: u64, seconds: u64) -> u64 {
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut inserts = 0;
    while Instant::now() < end {
        insert(store, first + inserts).unwrap();
        inserts += 1;
    }
    inserts
}

/// Inserts from several processes at once, and then from one.
fn processes(number: u64, seconds: u64) {
    let run = |processes: u64| {
        let mut inserts: Vec<u64> = Vec::new();
        with_store(|path, store| {
            drop(store);
            let begun = (0..processes).map(|process| {
                let mut command = Command::new(std::env::current_exe().unwrap());
                let first = process << 32;
                command
                    .arg(INSERT)
                    .arg(path)
                    .args([first, seconds].map(|it| it.to_string()));
                command.stdout(Stdio::piped()).spawn().unwrap()
            });
            let begun: Vec<_> = begun.collect();
            for child in begun {
                let output = child.wait_with_output().unwrap();
                assert!(output.status.success());
                let text = String::from_utf8(output.stdout).unwrap();
                inserts.push(text.trim().parse().unwrap());
            }
        });
        inserts
    };
    let (several, one) = (run(number), run(1));
    let all: u64 = several.iter().sum();
    let least = several.iter().min().unwrap();
    let most = several.iter().max().unwrap();
    println!("{number} processes: {several:?} inserts; one: {one:?}");
    println!("least by most {:.2}", *least as f64 / *most as f64);
    println!("all by those of one {:.2}", all as f64 / one[0] as f64);
}
