//! Simulates days of a crawler in minutes.
//!
//! Every hour, pages come, change and go while other threads query. Every night, the store is reindexed or compacted.
//! The process is killed again and again.
//!
//! ```sh
//! cargo bench --bench endurance -- 10 4200
//! ```
//!
//! That is ten days of 4,200 changes an hour. After each kill, the benchmark opens the store. The store must hold the
//! last hour that was reported as committed, or the one after it, complete. The benchmark then queries pages that it
//! draws from a model. It prints a line of measurements per day; none of them should grow.
#![expect(
    clippy::unwrap_used,
    reason = "a benchmark that cannot go on has failed"
)]
#![expect(clippy::print_stdout, reason = "a benchmark shows its result")]

mod crawler;
mod day;
mod pages;
mod verify;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;

use dedupdb::{Schema, Store, sketching::Shingling};

use crawler::Report;
use day::Day;
use pages::{HOURS, Model, Plan, mix};

/// The first argument of a crawling process.
const CRAWL: &str = "crawl";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, path, changes, ..] = &arguments[..]
        && first == CRAWL
    {
        crawler::crawl(Path::new(path), Plan::new(changes.parse().unwrap()));
        return;
    }
    let mut numbers = arguments.iter().filter_map(|number| number.parse().ok());
    let days: u32 = numbers.next().unwrap_or(4);
    let plan = Plan::new(numbers.next().unwrap_or(800));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let schema = Schema::builder().shingling(Shingling::Ids).build().unwrap();
    let store = Store::create(&path, &schema).unwrap();
    println!(
        "{days} days, {} changes an hour, {}",
        plan.changes(),
        store.schema()
    );
    drop(store);
    run(&path, plan, days);
    let report = Store::check(&path).unwrap();
    assert!(report.is_clean(), "{:?}", report.problems);
}

/// Runs crawling processes, one after the other, for `days` days.
fn run(path: &Path, plan: Plan, days: u32) {
    println!("{}", Day::HEADER);
    let mut model = Model::new(plan);
    let mut day = Day::default();
    let mut life = 0;
    while model.hour() < days * HOURS {
        life += 1;
        let mut crawling = Crawling::start(path, plan);
        let mut acknowledged = model.hour();
        let mut take = |report: Report| {
            acknowledged = report.hour;
            if day.is_over(&report) {
                println!("{}", std::mem::take(&mut day));
            }
            day.add(report);
        };
        for _ in 0..mix(life) % 12 {
            take(crawling.next().unwrap());
        }
        // The kill comes at any moment of an hour or a night.
        thread::sleep(Duration::from_micros(mix(life << 32) % 1_500_000));
        crawling.kill();
        while let Some(report) = crawling.next() {
            take(report);
        }
        day.add_life(&verify::verify(path, &mut model, acknowledged));
    }
    println!("{day}");
}

/// A crawling process, killed on drop.
struct Crawling {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Crawling {
    fn start(path: &Path, plan: Plan) -> Crawling {
        let child = Command::new(std::env::current_exe().unwrap())
            .arg(CRAWL)
            .arg(path)
            .arg(plan.changes().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut child = child.unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Crawling { child, lines }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// The report of the next hour. Returns `None` after a kill, which may leave half a line.
    fn next(&mut self) -> Option<Report> {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.ends_with('\n').then(|| line.parse().unwrap())
    }
}

impl Drop for Crawling {
    fn drop(&mut self) {
        self.kill();
    }
}
