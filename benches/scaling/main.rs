//! How the speed of adding grows with the number of threads, and the limit that its busiest thread sets.
//!
//! ```sh
//! cargo bench --bench scaling              # 100,000 texts, with 1, 2, ... threads
//! cargo bench --bench scaling -- 1000000 2 # a million, with 2 threads
//! ```
//!
//! The texts are generated from a seed: words by Zipf's law, lengths like those of mail and pages, copies, near-copies
//! and a template. They are added as `dedupdb add` does it, with a commit every 64 MB. The time to generate them does
//! not count.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a benchmark that cannot go on has failed, prints what it found, and reads the clock"
)]

mod corpus;

use std::collections::BTreeMap;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use corpus::Corpus;
use dedupdb::{Input, Options, Schema, Store};

/// Bytes of text that are sketched together.
const BATCH_BYTES: usize = 4 << 20;

/// The number of batches that are committed together. They are generated while the clock is stopped.
const ROUND: usize = 16;

fn main() {
    let mut numbers = env::args()
        .skip(1)
        .filter_map(|argument| argument.parse().ok());
    let texts: u64 = numbers.next().unwrap_or(100_000);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads: Vec<usize> = numbers.map(|threads: u64| threads as usize).collect();
    let threads = if threads.is_empty() {
        let doubled = (0..)
            .map(|power| 1 << power)
            .take_while(|&threads| threads < cores);
        doubled.chain([cores]).collect()
    } else {
        threads
    };
    println!("{texts} texts, {cores} cores");
    println!("threads     MB/s  speed-up  busiest thread  ms a MB  it allows MB/s  memory MB");
    let mut first = None;
    for threads in threads {
        let run = Run::of(texts, threads);
        let rate = run.megabytes / run.elapsed.as_secs_f64();
        let (name, spent) = run.busiest;
        let each = 1e3 * spent.as_secs_f64() / run.megabytes;
        println!(
            "{threads:>7} {rate:>8.1} {:>9.2}  {name:<14} {each:>8.2} {:>15.0} {:>10}",
            rate / *first.get_or_insert(rate),
            1e3 / each,
            run.memory >> 20
        );
        for (file, bytes) in run.files {
            let bytes = bytes as f64 / texts as f64;
            println!("        {file:<16} {bytes:.1} bytes a text");
        }
    }
}

/// The cost of adding the texts.
struct Run {
    elapsed: Duration,
    megabytes: f64,
    /// The thread with the most processor time of those that work alone, and that time.
    busiest: (String, Duration),
    /// Peak memory in bytes, without mapped files.
    memory: u64,
    files: Vec<(String, u64)>,
}

impl Run {
    fn of(texts: u64, threads: usize) -> Run {
        let folder = tempfile::tempdir().unwrap();
        let options = Options::new().threads(threads);
        let store = options.create(folder.path().join("store"), &Schema::default());
        let store = store.unwrap();
        let corpus = Corpus::new(1);
        let (mut elapsed, mut bytes, mut memory) = (Duration::ZERO, 0, 0);
        let mut processor = Processor::default();
        let mut number = 0;
        while number < texts {
            let round = round(&corpus, &mut number, texts);
            bytes += round
                .iter()
                .flatten()
                .map(|input| input.text().map_or(0, str::len))
                .sum::<usize>();
            processor.begin();
            let start = Instant::now();
            add(&store, round, &mut processor);
            elapsed += start.elapsed();
            memory = memory.max(anonymous_memory());
        }
        Run {
            elapsed,
            megabytes: bytes as f64 / 1e6,
            busiest: processor.busiest(),
            memory,
            files: store.stats().unwrap().files,
        }
    }
}

/// Generates the next batches.
fn round(corpus: &Corpus, number: &mut u64, texts: u64) -> Vec<Vec<Input>> {
    let mut round = Vec::new();
    while round.len() < ROUND && *number < texts {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while bytes < BATCH_BYTES && *number < texts {
            let text = corpus.text(*number);
            bytes += text.len();
            batch.push(Input::new(format!("text/{number:09}"), text));
            *number += 1;
        }
        round.push(batch);
    }
    round
}

/// Adds batches. Sketches each while the previous one is written.
fn add(store: &Store, round: Vec<Vec<Input>>, processor: &mut Processor) {
    let mut writer = store.writer().unwrap();
    thread::scope(|scope| {
        let (sender, batches) = sync_channel(1);
        let ahead = thread::Builder::new().name("ahead".to_owned());
        let ahead = ahead.spawn_scoped(scope, move || {
            for batch in round {
                sender.send(store.sketch_all(batch)).unwrap();
            }
        });
        for batch in batches {
            writer.add_batch(batch).unwrap();
            processor.look();
        }
        ahead.unwrap().join().unwrap();
    });
    // A dropped writer discards what it did not commit.
    writer.commit().unwrap();
    processor.look();
}

/// Processor time of the threads of this process, as Linux reports it.
#[derive(Default)]
struct Processor {
    /// By id: the name, the processor time at the start of a round, and the time spent in all rounds.
    threads: BTreeMap<u64, Thread>,
}

#[derive(Default)]
struct Thread {
    name: String,
    seen: Duration,
    spent: Duration,
}

impl Processor {
    /// Excludes the processor time until now.
    fn begin(&mut self) {
        for (id, name, time) in tasks() {
            let thread = self.threads.entry(id).or_default();
            (thread.name, thread.seen) = (name, time);
        }
    }

    fn look(&mut self) {
        for (id, name, time) in tasks() {
            let thread = self.threads.entry(id).or_default();
            thread.name = name;
            thread.spent += time.saturating_sub(thread.seen);
            thread.seen = time;
        }
    }

    fn busiest(&self) -> (String, Duration) {
        // Pool threads end in a number. There are more of them on more cores.
        let main = u64::from(std::process::id());
        let is_alone = |(id, thread): &(&u64, &Thread)| {
            **id == main || !thread.name.ends_with(|last: char| last.is_ascii_digit())
        };
        let threads = self
            .threads
            .iter()
            .filter(is_alone)
            .map(|(_, thread)| thread);
        let busiest = threads.max_by_key(|thread| thread.spent);
        busiest.map_or_else(Default::default, |thread| {
            (thread.name.clone(), thread.spent)
        })
    }
}

/// The threads: id, name, processor time. The time is the first figure of `schedstat`.
fn tasks() -> Vec<(u64, String, Duration)> {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten();
    let read = tasks.filter_map(|task| {
        let path = task.ok()?.path();
        let id = path.file_name()?.to_str()?.parse().ok()?;
        let name = fs::read_to_string(path.join("comm")).ok()?;
        let times = fs::read_to_string(path.join("schedstat")).ok()?;
        let time = times.split_ascii_whitespace().next()?.parse().ok()?;
        Some((id, name.trim_end().to_owned(), Duration::from_nanos(time)))
    });
    read.collect()
}

fn anonymous_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("RssAnon"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kilobytes.unwrap_or_default() << 10
}
