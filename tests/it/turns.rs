//! Several processes write to one store by turns, and are killed now and then, while another one rebuilds and checks it.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use dedupdb::{
    Error, Options, Progress, Query, Schema, Store,
    upkeep::{Rebuild, Reindex},
    write::Change,
};

use crate::numbered;

/// Names the store, and the writer, for the process that runs [`inserts_until_it_is_killed`].
const STORE: &str = "DEDUPDB_TEST_TURNS";
const WRITER: &str = "DEDUPDB_TEST_WRITER";

const WRITERS: usize = 3;

/// The number of times that a writer is killed, and of documents that it inserts in each life.
const LIVES: usize = 4;
const INSERTS: usize = 25;

/// The text of a document. No two of them resemble each other.
fn text(writer: usize, number: usize) -> String {
    numbered::text(writer * 1_000_000 + number * 7, 40)
}

fn key(writer: usize, number: usize) -> String {
    format!("{writer}/{number:05}")
}

fn patient() -> Options {
    Options::new().wait(Duration::from_secs(600))
}

/// What a writing process does: it prints the number of each document once that is durable. In any other process, this
/// tests nothing.
#[test]
fn inserts_until_it_is_killed() {
    let Some(path) = std::env::var_os(STORE).map(PathBuf::from) else {
        return;
    };
    let writer = std::env::var_os(WRITER).unwrap();
    let writer: usize = writer.to_str().unwrap().parse().unwrap();
    // The process ends with the test that started it, however that ends.
    let ended = Arc::new(AtomicBool::new(false));
    let end = ended.clone();
    thread::spawn(move || {
        std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
        end.store(true, Ordering::Relaxed);
    });
    let store = patient().open(path).unwrap();
    let mut number = 0;
    while store.get(&key(writer, number)).unwrap().is_some() {
        number += 1;
    }
    while !ended.load(Ordering::Relaxed) {
        // Every second one is added by a writer, which takes more than one call to its commit.
        if number.is_multiple_of(2) {
            let inserted = store.insert_unless_duplicate(key(writer, number), text(writer, number));
            // What a killed process acknowledged to nobody may be there.
            assert_ne!(inserted.unwrap().change, Change::KeptOut);
        } else {
            let mut adding = store.writer().unwrap();
            adding
                .add(key(writer, number), text(writer, number))
                .unwrap();
            adding.commit().unwrap();
        }
        println!("{number}");
        number += 1;
    }
}

/// A process that writes, killed on drop.
struct Writing {
    child: Child,
    told: BufReader<ChildStdout>,
}

impl Writing {
    fn start(path: &Path, writer: usize) -> Writing {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "turns::inserts_until_it_is_killed",
                "--nocapture",
            ])
            .env(STORE, path)
            .env(WRITER, writer.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let told = BufReader::new(child.stdout.take().unwrap());
        Writing { child, told }
    }

    /// The number of the next document that the process has stored.
    fn next(&mut self) -> usize {
        loop {
            let mut line = String::new();
            assert!(self.told.read_line(&mut line).unwrap() > 0, "it has ended");
            if let Ok(number) = line.trim().parse() {
                return number;
            }
        }
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn what_processes_write_by_turns_is_all_there_whoever_is_killed_and_rebuilds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let store = patient().create(&path, &Schema::default()).unwrap();
    let is_done = AtomicBool::new(false);
    let last: Vec<usize> = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let path = &path;
                scope.spawn(move || {
                    let mut last = 0;
                    for life in 0..LIVES {
                        let mut writing = Writing::start(path, writer);
                        for _ in 0..INSERTS + 3 * life {
                            last = writing.next();
                        }
                    }
                    last
                })
            })
            .collect();
        // Upkeep goes on beside them, in this process and in handles of its own.
        scope.spawn(|| {
            let mut rounds = 0;
            while !is_done.load(Ordering::Relaxed) || rounds < 2 {
                let permutations = if rounds % 2 == 0 { 64 } else { 128 };
                let rebuild = Reindex::new().permutations(permutations);
                assert!(store.rebuild(rebuild.rebuild(&store).unwrap()).unwrap());
                let report = patient().check(&path).unwrap();
                assert!(report.is_clean(), "{:?}", report.problems);
                store
                    .insert_unless_duplicate(key(WRITERS, rounds), text(WRITERS, rounds))
                    .unwrap();
                store.rebuild(Rebuild::compact()).unwrap();
                rounds += 1;
            }
        });
        let last = writers.into_iter().map(|writer| writer.join().unwrap());
        let last = last.collect();
        is_done.store(true, Ordering::Relaxed);
        last
    });
    store.refresh().unwrap();
    for (writer, last) in last.into_iter().enumerate() {
        for number in 0..=last {
            let found = store.query(&Query::text(&text(writer, number))).unwrap();
            assert_eq!(found.len(), 1, "{writer} {number}");
            assert_eq!(found[0].key, key(writer, number));
        }
    }
    drop(store);
    assert!(patient().check(&path).unwrap().is_clean());
}

/// A process that is stopped while it has the right to write is named, and the others wait as long as they said.
#[cfg(target_os = "linux")]
#[test]
fn a_process_that_is_stopped_within_its_turn_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let store = Store::create(&path, &Schema::default()).unwrap();
    let impatient = Options::new()
        .wait(Duration::from_millis(20))
        .open(&path)
        .unwrap();
    let mut writing = Writing::start(&path, 0);
    let stop = |signal: &str| {
        let pid = writing.child.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status().unwrap();
        assert!(sent.success());
    };
    // It is in its turn sooner or later when it is stopped.
    let holder = (0..).find_map(|number: usize| {
        stop("-STOP");
        let inserted = impatient.insert_unless_duplicate(key(1, number), text(1, number));
        stop("-CONT");
        match inserted {
            Err(Error::Locked { holder, .. }) => Some(holder.unwrap().process),
            inserted => {
                inserted.unwrap();
                None
            }
        }
    });
    assert_eq!(holder, Some(writing.child.id()));
    writing.next();
    drop(writing);
    store.insert_unless_duplicate("after", text(2, 0)).unwrap();
    assert!(Store::check(&path).unwrap().is_clean());
}

#[test]
fn who_takes_over_what_others_wrote_answers_as_one_that_opens_it_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let stores = [(); 3].map(|()| patient().open_or_create(&path, &Schema::default()).unwrap());
    // Enough for merges of recent postings, of which the others know nothing before their turn.
    for number in 0..600 {
        let store = &stores[number * 31 % 3];
        let outcome = store
            .insert_unless_duplicate(key(0, number), text(0, number))
            .unwrap();
        assert_eq!(outcome.change, Change::Added);
        let other = &stores[(number + 1) % 3];
        let again = other
            .insert_unless_duplicate(key(1, number), text(0, number))
            .unwrap();
        assert_eq!(again.duplicate_of().unwrap().key, key(0, number));
        if number % 100 == 50 {
            let permutations = 64 + u32::try_from(number / 100).unwrap();
            let rebuild = Reindex::new()
                .permutations(permutations)
                .rebuild(store)
                .unwrap();
            assert!(store.rebuild(rebuild).unwrap());
        }
        if number % 7 == 0 {
            let mut writer = store.writer().unwrap();
            assert!(writer.remove(&key(0, number / 2)).unwrap() || number > 7);
            writer.commit().unwrap();
        }
    }
    let fresh = Store::open(&path).unwrap();
    for store in &stores {
        store.refresh().unwrap();
        assert_eq!(
            store.stats().unwrap().documents,
            fresh.stats().unwrap().documents
        );
        for number in 0..600 {
            let query = |store: &Store| store.query(&Query::text(&text(0, number))).unwrap();
            assert_eq!(query(store), query(&fresh), "{number}");
        }
    }
    drop((stores, fresh));
    assert!(Store::check(&path).unwrap().is_clean());
}
#[test]
fn what_another_process_has_removed_is_stored_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let store = Store::create(&path, &Schema::default()).unwrap();
    let other = Store::open(&path).unwrap();
    for key in ["one", "two"] {
        store.insert_unless_duplicate("one", text(0, 1)).unwrap();
        let again = store.insert_unless_duplicate("one", text(0, 1)).unwrap();
        assert_eq!(again.change, Change::Unchanged);
        other.rebuild(Rebuild::compact()).unwrap();
        let mut writer = other.writer().unwrap();
        assert!(writer.remove("one").unwrap());
        writer.commit().unwrap();
        let inserted = store.insert_unless_duplicate(key, text(0, 1)).unwrap();
        assert_eq!(inserted.change, Change::Added, "{key}");
    }
}

#[test]
fn what_was_added_and_removed_again_leaves_nothing_that_is_named_later() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("store"), &Schema::default()).unwrap();
    let mut writer = store.writer().unwrap();
    writer.add("one", text(0, 1)).unwrap();
    writer.remove("one").unwrap();
    writer.commit().unwrap();
    // Another writer stores what has the number of the content that was not kept.
    let other = Store::open(folder.path().join("store")).unwrap();
    other.insert_unless_duplicate("two", text(0, 2)).unwrap();
    writer.add("one", text(0, 1)).unwrap();
    writer.commit().unwrap();
    drop(writer);
    for (key, number) in [("one", 1), ("two", 2)] {
        let found = store.query(&Query::text(&text(0, number))).unwrap();
        assert_eq!(found[0].key, key);
    }
    drop((store, other));
    assert!(
        Store::check(folder.path().join("store"))
            .unwrap()
            .is_clean()
    );
}

#[test]
fn a_rebuild_waits_for_the_one_of_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let store = Store::create(&path, &Schema::default()).unwrap();
    for number in 0..20 {
        let inserted = store.insert_unless_duplicate(key(0, number), text(0, number));
        inserted.unwrap();
    }
    let wait = |millis| Options::new().wait(Duration::from_millis(millis));
    let (hasty, patient) = (
        wait(20).open(&path).unwrap(),
        wait(600_000).open(&path).unwrap(),
    );
    let (tell, told) = mpsc::channel();
    let (mut is_first, asking) = (true, patient.clone());
    let reindex = Reindex::new().permutations(256).rebuild(&store).unwrap();
    let progress = Progress::observed(move |_| {
        if std::mem::take(&mut is_first) {
            let refused = hasty.rebuild(Rebuild::compact());
            let process = std::process::id();
            let names = |error: &Error| matches!(error, Error::Rebuilding { process: Some(named), .. } if *named == process);
            assert!(refused.as_ref().is_err_and(names), "{refused:?}");
            let begun = hasty.unfinished_rebuild().unwrap().unwrap();
            assert_eq!((begun.is_running, begun.process), (true, Some(process)));
            let asking = asking.clone();
            let waiting = thread::spawn(move || asking.rebuild(Rebuild::compact()));
            tell.send(waiting).unwrap();
        }
    });
    assert!(store.watched(&progress).rebuild(reindex).unwrap());
    told.recv().unwrap().join().unwrap().unwrap();
    let stats = patient.stats().unwrap();
    assert_eq!(
        (stats.documents, patient.schema().permutations()),
        (20, 256)
    );
    assert!(Store::check(&path).unwrap().is_clean());
}

/// Calls of several threads share a commit, but not the time that they wait for another process.
#[test]
fn each_call_in_line_waits_as_long_as_it_may() {
    const WAIT: Duration = Duration::from_secs(1);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let holding = Store::create(&path, &Schema::default()).unwrap();
    let open = |wait| Options::new().wait(wait).open(&path).unwrap();
    let (shared, brief) = (open(WAIT), open(WAIT / 2));
    let (shared, brief) = (&shared, &brief);
    let mut writer = holding.writer().unwrap();
    writer.add("held", text(0, 0)).unwrap();
    let insert =
        |store: &Store, number| store.insert_unless_duplicate(key(1, number), text(1, number));
    let insert = &insert;
    let is_locked = |outcome| matches!(outcome, Err(Error::Locked { .. }));
    let order = Mutex::new(Vec::new());
    let call = |number, store: &Store| {
        assert!(is_locked(insert(store, number)));
        order.lock().unwrap().push(number);
    };
    let call = &call;
    thread::scope(|scope| {
        let first = scope.spawn(move || call(1, shared));
        thread::sleep(WAIT / 20);
        scope.spawn(move || call(2, shared));
        thread::sleep(WAIT * 3 / 4);
        let late = scope.spawn(move || insert(shared, 4));
        first.join().unwrap();
        call(3, brief);
        writer.commit().unwrap();
        assert_eq!(late.join().unwrap().unwrap().change, Change::Added);
    });
    // The second one did not wait as long again for the first one's wait.
    assert_eq!(order.into_inner().unwrap(), [1, 2, 3]);
}
