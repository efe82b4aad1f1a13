//! A crawler that stores each page once: several threads, a stream of pages, restarts in between.
//!
//! Run it twice: the second run finds every page known.
//!
//! ```sh
//! cargo run --release --example crawler -- /tmp/seen
//! ```

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use dedupdb::{Query, Result, Schema, Store, write::Change};

const THREADS: usize = 4;
const PAGES: usize = 600;
const RESTARTS: usize = 3;

fn main() -> Result<()> {
    let folder = std::env::args_os().nth(1).map_or_else(
        || std::env::temp_dir().join("dedupdb-crawler"),
        PathBuf::from,
    );
    let mut report = String::new();
    for run in 0..RESTARTS {
        // Opening continues from the last commit, however the previous run ended.
        let store = Store::open_or_create(&folder, &Schema::default())?;
        let (inserted, duplicates) = crawl(&store, run)?;
        writeln!(
            report,
            "run {run}: {inserted} pages were new, {duplicates} were known; {} are stored",
            store.stats()?.documents
        )
        .unwrap_or_default();
    }
    let store = Store::open(&folder)?;
    let page = page(7, true);
    for found in store.query(&Query::text(&page).limit(3))? {
        let similarity = found.similarity();
        writeln!(report, "page 7 is like {} ({similarity:.3})", found.key).unwrap_or_default();
    }
    show(&report);
    Ok(())
}

/// Fetches the pages of one run with several threads; counts the new ones and the others.
fn crawl(store: &Store, run: usize) -> Result<(usize, usize)> {
    let next = AtomicUsize::new(0);
    let inserted = AtomicUsize::new(0);
    thread::scope(|scope| {
        let crawlers: Vec<_> = (0..THREADS)
            .map(|_| {
                scope.spawn(|| -> Result<()> {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= PAGES {
                            return Ok(());
                        }
                        // Each run fetches a third that the run before it fetched too, and every
                        // fifth page is a mirror of its neighbour with another footer.
                        let number = run * PAGES * 2 / 3 + number;
                        let mirror = number.is_multiple_of(5);
                        let url = format!("https://example.org/{number}");
                        let text = page(number + usize::from(mirror), mirror);
                        if store.insert_unless_duplicate(&url, &text)?.change == Change::Added {
                            inserted.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                })
            })
            .collect();
        for crawler in crawlers {
            match crawler.join() {
                Ok(done) => done?,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(())
    })?;
    let inserted = inserted.into_inner();
    Ok((inserted, PAGES - inserted))
}

/// Generates a page. A mirror has another footer.
fn page(number: usize, mirror: bool) -> String {
    let words = (0..200).map(|word| format!("word{}", (number * 7919 + word * word) % 100_003));
    let body = words.collect::<Vec<_>>().join(" ");
    let footer = if mirror {
        "mirrored with care"
    } else {
        "all rights reserved"
    };
    format!("{body}\n{footer}\n")
}

#[expect(clippy::print_stdout, reason = "an example shows its result")]
fn show(report: &str) {
    print!("{report}");
}
