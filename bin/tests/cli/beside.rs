//! A process that queries while another one adds, removes, reindexes and compacts.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use dedupdb::{Input, Options, Query, Schema, Store, upkeep::Rebuild};

use crate::sandbox::{Sandbox, patience, text};

/// Sets a flag when it is dropped, also by a panic: the other threads of a test then end, and the test fails.
struct AtEnd<'a>(&'a AtomicBool);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// The number of documents that one commit adds, and another one removes.
const BATCH: u64 = 20;

/// The number of batches that exist at the same time.
const KEPT: u64 = 5;

const ROUNDS: u64 = 40;

fn key(batch: u64, number: u64) -> String {
    format!("{batch:06}/{number:02}")
}

/// Every second text is a near-copy of the one before.
fn words(batch: u64, number: u64) -> String {
    let end = if number.is_multiple_of(2) {
        ""
    } else {
        " at last"
    };
    text(batch * BATCH + number / 2, 40) + end
}

fn add(store: &Store, batch: u64) {
    let mut writer = store.writer().unwrap();
    let inputs = (0..BATCH).map(|number| Input::new(key(batch, number), words(batch, number)));
    writer.add_all(inputs.collect()).unwrap();
    if let Some(old) = batch.checked_sub(KEPT) {
        for number in 0..BATCH {
            assert!(writer.remove(&key(old, number)).unwrap());
        }
    }
    writer.commit().unwrap();
}

fn rebuild(store: &Store, round: u64) {
    let reindex = |permutations| {
        let builder = Schema::builder().permutations(permutations);
        Rebuild::reindex(builder.build().unwrap())
    };
    let rebuilt = store.rebuild(match round % 3 {
        0 => reindex(256),
        1 => Rebuild::compact(),
        _ => reindex(128),
    });
    assert!(rebuilt.unwrap());
}

/// The batches in a list of keys. Each must be complete, and none in between may be missing.
fn whole_batches(keys: &[String]) -> Vec<u64> {
    let batch = |key: &String| key.split_once('/').unwrap().0.parse().unwrap();
    let mut batches: Vec<u64> = keys.iter().map(batch).collect();
    batches.dedup();
    assert_eq!(keys.len() as u64, batches.len() as u64 * BATCH, "{keys:?}");
    assert!(batches.windows(2).all(|two| two[0] + 1 == two[1]));
    assert!(batches.len() as u64 <= KEPT, "{batches:?}");
    batches
}

#[test]
fn another_process_gets_whole_answers_whatever_is_done_to_the_store() {
    let sandbox = Sandbox::new();
    let store = Store::create(sandbox.path(".dedupdb"), &Schema::default()).unwrap();
    add(&store, 0);
    let (done, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        let _at_end = AtEnd(&done);
        // Processes that come and go.
        scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                let seen = whole_batches(&sandbox.keys());
                let stats = sandbox.run(&["stats", "--json"]).expect(0);
                let documents = stats.objects()[0]["documents"].as_u64().unwrap();
                assert_eq!(documents % BATCH, 0);
                assert!(documents <= KEPT * BATCH);
                let batch = seen[seen.len() - 1];
                sandbox.write("asked", words(batch, 3) + " by the way");
                // By now the batch may be gone. Bands miss a pair as similar as this one once in millions of times.
                let found = sandbox.run(&["query", "asked"]);
                assert!(matches!(found.code, Some(0 | 1)), "{}", found.stderr);
                if found.code == Some(0) {
                    assert!(found.stdout.contains(&key(batch, 3)), "{}", found.stdout);
                }
                asked.fetch_add(1, Ordering::Relaxed);
            }
        });
        // One that stays.
        scope.spawn(|| {
            let options = Options::new().read_only(true);
            let reader = options.open(sandbox.path(".dedupdb")).unwrap();
            while !done.load(Ordering::Acquire) {
                let documents = reader.documents().unwrap();
                let keys: Vec<String> = documents.map(|d| d.unwrap().key).collect();
                for batch in whole_batches(&keys) {
                    for number in (0..BATCH).step_by(7) {
                        let found = reader.query(&Query::key(&key(batch, number))).unwrap();
                        assert_eq!(found.len(), 1, "{batch} {number}");
                        assert_eq!(found[0].key, key(batch, number ^ 1));
                    }
                }
                reader.refresh().unwrap();
            }
        });
        for round in 1..ROUNDS * u64::from(patience()) {
            add(&store, round);
            rebuild(&store, round - 1);
        }
    });
    assert!(asked.load(Ordering::Relaxed) > 0);
    drop(store);
    sandbox.run(&["check"]).expect(0);
}
