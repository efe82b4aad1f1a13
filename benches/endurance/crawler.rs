//! The process that crawls.

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use dedupdb::{Input, Query, Store, upkeep::Rebuild};

use crate::pages::{CLOCK, HOURS, Plan, input, key, mix, text};

/// The number of documents that are added together.
const BATCH: usize = 500;

/// The number of threads that insert pages as they find them, and the number of pages that each finds in an hour.
const FINDERS: u32 = 4;
const FOUND: u32 = 12;

/// The measurements of an hour. Times are in microseconds, sizes in KiB.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    /// Hours that have passed.
    pub(crate) hour: u32,
    pub(crate) commit: u64,
    /// Of the nightly rebuild; 0 in other hours.
    pub(crate) night: u64,
    pub(crate) memory: u64,
    pub(crate) index: u64,
    pub(crate) columns: u64,
    pub(crate) filter: u64,
    pub(crate) documents: u64,
    pub(crate) queries: Vec<u64>,
    pub(crate) inserts: Vec<u64>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report {
            hour,
            commit,
            night,
            memory,
            ..
        } = self;
        let Report {
            index,
            columns,
            filter,
            documents,
            ..
        } = self;
        write!(
            f,
            "{hour} {commit} {night} {memory} {index} {columns} {filter} {documents}"
        )?;
        for times in [&self.queries, &self.inserts] {
            write!(f, " {}", times.len())?;
            times.iter().try_for_each(|time| write!(f, " {time}"))?;
        }
        Ok(())
    }
}

impl FromStr for Report {
    type Err = std::num::ParseIntError;

    fn from_str(line: &str) -> Result<Report, Self::Err> {
        let numbers: Result<Vec<u64>, _> = line.split_whitespace().map(str::parse).collect();
        let mut numbers = numbers?.into_iter();
        let mut next = || numbers.next().unwrap_or_default();
        let mut report = Report {
            hour: u32::try_from(next()).unwrap_or_default(),
            commit: next(),
            night: next(),
            memory: next(),
            index: next(),
            columns: next(),
            filter: next(),
            documents: next(),
            ..Report::default()
        };
        report.queries = (0..next()).map(|_| next()).collect();
        report.inserts = (0..next()).map(|_| next()).collect();
        Ok(report)
    }
}

/// Continues to crawl from the last committed hour, until the process is killed.
pub(crate) fn crawl(path: &Path, plan: Plan) {
    // The process ends with its parent, however that ends.
    thread::spawn(|| {
        std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
        std::process::abort();
    });
    let store = Store::open(path).unwrap();
    if store.unfinished_rebuild().unwrap().is_some() {
        store.rebuild(Rebuild::resume()).unwrap();
    }
    let clock = store.get(CLOCK).unwrap();
    let passed = clock.map_or(0, |clock| u32::try_from(clock.size).unwrap());
    for hour in passed.. {
        println!("{}", crawl_hour(&store, plan, hour));
    }
}

fn crawl_hour(store: &Store, plan: Plan, hour: u32) -> Report {
    let mut report = Report {
        hour: hour + 1,
        ..Report::default()
    };
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let asked = scope.spawn(|| ask(store, plan, hour, &done));
        let finders: Vec<_> = (0..FINDERS)
            .map(|finder| scope.spawn(move || find(store, plan, hour, finder)))
            .collect();
        for finder in finders {
            report.inserts.extend(finder.join().unwrap());
        }
        let start = Instant::now();
        write(store, plan, hour);
        report.commit = microseconds(start.elapsed());
        if hour % HOURS == HOURS - 1 {
            let start = Instant::now();
            rest(store, hour);
            report.night = microseconds(start.elapsed());
        }
        done.store(true, Ordering::Relaxed);
        report.queries = asked.join().unwrap();
    });
    report.memory = memory();
    let stats = store.stats().unwrap();
    report.documents = stats.documents;
    for (name, bytes) in stats.files {
        let size = match name.split('.').next() {
            Some("index") => &mut report.index,
            Some("filter") => &mut report.filter,
            _ => &mut report.columns,
        };
        *size += bytes >> 10;
    }
    report
}

/// Writes the changes of an hour in one commit.
fn write(store: &Store, plan: Plan, hour: u32) {
    let mut writer = store.writer().unwrap();
    let pages: Vec<u32> = plan.written(hour).collect();
    for pages in pages.chunks(BATCH) {
        let inputs = pages.iter().map(|&page| input(page, hour));
        writer.add_all(inputs.collect()).unwrap();
    }
    for page in plan.gone(hour) {
        assert!(writer.remove(&key(page)).unwrap(), "page {page} goes");
    }
    // Removes what `find` inserted during the hour.
    let found = store.documents_with_prefix("found/").unwrap();
    for document in found {
        assert!(writer.remove(&document.unwrap().key).unwrap());
    }
    let clock =
        Input::new(CLOCK, (1 << 31 | u64::from(hour)).to_string()).size(u64::from(hour) + 1);
    writer.add_all(vec![clock]).unwrap();
    writer.commit().unwrap();
}

/// Inserts new pages, each under two keys. No two of the pages are similar.
fn find(store: &Store, plan: Plan, hour: u32, finder: u32) -> Vec<u64> {
    let mut times = Vec::new();
    for n in 0..FOUND {
        let page = u32::MAX - ((hour * FINDERS + finder) * FOUND + n) * 8;
        let text = text(page, plan.changes());
        for key in [format!("found/{page}"), format!("again/{page}")] {
            let start = Instant::now();
            store.insert_unless_duplicate(&key, &text).unwrap();
            times.push(microseconds(start.elapsed()));
        }
    }
    times
}

/// Queries pages that are stored and pages that are not, until the hour is done.
fn ask(store: &Store, plan: Plan, hour: u32, done: &AtomicBool) -> Vec<u64> {
    const KEPT: usize = 200;
    let mut times = Vec::new();
    let last: Vec<u32> = plan.written(hour.saturating_sub(1)).collect();
    for n in 0_u64.. {
        if done.load(Ordering::Relaxed) && times.len() >= 20 {
            break;
        }
        let drawn = mix(u64::from(hour) << 32 | n) % (2 * last.len() as u64).max(1);
        let page = usize::try_from(drawn).ok().and_then(|at| last.get(at));
        let text = match page {
            Some(&page) => text(page, hour.saturating_sub(1)),
            None => text(u32::MAX >> 1, u32::try_from(n & 0xffff).unwrap()),
        };
        let start = Instant::now();
        store.query(&Query::text(&text)).unwrap();
        times.push(microseconds(start.elapsed()));
        thread::sleep(Duration::from_micros(500));
    }
    // Only a sample of the times, so that a report stays on one line.
    let step = times.len() / KEPT + 1;
    times.into_iter().step_by(step).collect()
}

/// The nightly rebuild: reindexes with another seed, or compacts.
fn rest(store: &Store, hour: u32) {
    let day = hour / HOURS;
    let rebuild = if day.is_multiple_of(2) {
        let seed = u64::from(day) + 1;
        Rebuild::reindex(store.schema().to_builder().seed(seed).build().unwrap())
    } else {
        Rebuild::compact()
    };
    store.rebuild(rebuild).unwrap();
}

/// The memory of the process in KiB, without mapped files. It is 0 if the system does not report it.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("RssAnon"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    kilobytes.unwrap_or_default()
}

fn microseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
