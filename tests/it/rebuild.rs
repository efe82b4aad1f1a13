//! Rebuilding a store that is in use.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use dedupdb::{Error, Options, Progress, Query, Schema, Store, upkeep::Rebuild, write::Change};

use crate::concurrency::AtEnd;
use crate::numbered;

const WORDS: usize = 80;

/// A near-copy of the text with this number.
fn near_copy(number: usize) -> String {
    format!("{} by the way", numbered::text(number, WORDS))
}

fn schema(permutations: u32) -> Schema {
    let builder = Schema::builder().permutations(permutations).threshold(0.7);
    builder.build().unwrap()
}

/// A store of `documents` documents, each with a near-copy and a copy.
fn store(folder: &Path, schema: &Schema, documents: usize) -> Store {
    let store = Store::create(folder, schema).unwrap();
    numbered::add(&store, 0..documents, WORDS);
    let mut writer = store.writer().unwrap();
    for number in 0..documents {
        let text = numbered::text(number, WORDS);
        writer.add(format!("copy/{number}"), text).unwrap();
        let text = near_copy(number);
        writer.add(format!("near/{number}"), text).unwrap();
    }
    writer.commit().unwrap();
    drop(writer);
    store
}

/// All answers of the store.
fn answers(store: &Store) -> Vec<String> {
    let keys = store.documents().unwrap().map(|document| {
        let document = document.unwrap();
        (document.key.clone(), document.hash, document.size)
    });
    let answer = |(key, hash, size): (String, _, _)| {
        let matches = store.query(&Query::key(&key)).unwrap();
        let matches: Vec<_> = matches.iter().map(|m| (&m.key, m.jaccard)).collect();
        format!("{key} {hash:?} {size} {matches:?}")
    };
    keys.collect::<Vec<_>>().into_iter().map(answer).collect()
}

fn assert_sound(folder: &Path) {
    let report = Store::check(folder).unwrap();
    assert!(report.is_clean(), "{:?}", report.problems);
}

/// The file of a column of the newest generation.
fn column(folder: &Path, kind: &str) -> PathBuf {
    let files = fs::read_dir(folder).unwrap();
    let names = files.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut generations: Vec<u32> = names
        .filter_map(|name| name.strip_prefix(kind)?.strip_prefix('.')?.parse().ok())
        .collect();
    assert_eq!(generations.len(), 1, "{kind} of {generations:?}");
    folder.join(format!("{kind}.{}", generations.remove(0)))
}

/// The data of a column, which begins after its header.
fn data(folder: &Path, kind: &str) -> Vec<u8> {
    fs::read(column(folder, kind)).unwrap().split_off(64)
}

fn copy(from: &Path, to: &Path) {
    if to.exists() {
        fs::remove_dir_all(to).unwrap();
    }
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn longer_signatures_and_back_are_those_of_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let (path, fresh) = (folder.path().join("store"), folder.path().join("fresh"));
    drop(store(&path, &schema(128), 300));
    let start = data(&path, "signatures");
    let live = Store::open(&path).unwrap();
    let expected = answers(&live);
    assert!(live.rebuild(Rebuild::reindex(schema(256))).unwrap());
    assert_eq!(live.schema().permutations(), 256);
    assert_eq!(answers(&live), expected);
    let other = store(&fresh, &schema(256), 300);
    drop(other);
    let grown = fs::read(column(&path, "signatures")).unwrap();
    // While the store is open, its file has room in advance.
    assert!(grown[64..].starts_with(&data(&fresh, "signatures")));
    assert!(live.rebuild(Rebuild::reindex(schema(128))).unwrap());
    assert!(!live.rebuild(Rebuild::reindex(schema(128))).unwrap());
    assert_eq!(answers(&live), expected);
    drop(live);
    assert!(data(&path, "signatures") == start);
    assert_sound(&path);
}

#[test]
fn other_bands_leave_the_signatures_alone() {
    let folder = tempfile::tempdir().unwrap();
    let live = store(folder.path(), &schema(128), 100);
    let before = column(folder.path(), "signatures");
    let bands = live.schema().to_builder().bands(30, 4).build().unwrap();
    assert!(live.rebuild(Rebuild::reindex(bands)).unwrap());
    assert_eq!(column(folder.path(), "signatures"), before);
    assert_eq!(live.schema().bands().to_string(), "30x4");
    drop(live);
    assert_sound(folder.path());
}

/// The signatures of a store, each of two bytes for a permutation, and what the store says of itself.
fn signatures(folder: &Path, permutations: usize) -> usize {
    assert_sound(folder);
    data(folder, "signatures").len() / (2 * permutations)
}

#[test]
fn a_few_shingles_have_no_stored_signature_wherever_their_text_goes() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("store"), folder.path().join("other"));
    let live = Store::create(&path, &schema(128)).unwrap();
    let mut writer = live.writer().unwrap();
    for number in 0..300 {
        // Sets of 8 and 9 shingles, and every third one of 65 and 66.
        let words = if number % 3 == 0 { 69 } else { 12 };
        let text = numbered::text(number, words);
        let near = format!("{text} again");
        writer.add(format!("{number:03}"), text).unwrap();
        writer.add(format!("near/{number:03}"), near).unwrap();
    }
    writer.commit().unwrap();
    drop(writer);
    let mut expected = answers(&live);
    assert!(expected.iter().all(|answer| answer.contains("near/")));
    drop(live);
    assert_eq!(signatures(&path, 128), 200);

    let live = Store::open(&path).unwrap();
    assert_eq!(answers(&live), expected);
    assert!(live.rebuild(Rebuild::reindex(schema(256))).unwrap());
    assert_eq!(answers(&live), expected);
    drop(live);
    assert_eq!(signatures(&path, 256), 200);

    let live = Store::open(&path).unwrap();
    let mut writer = live.writer().unwrap();
    for number in (0..300).filter(|number| number % 2 == 0) {
        assert!(writer.remove(&format!("{number:03}")).unwrap());
        assert!(writer.remove(&format!("near/{number:03}")).unwrap());
    }
    writer.commit().unwrap();
    drop(writer);
    assert!(live.rebuild(Rebuild::compact()).unwrap());
    expected = answers(&live);
    assert_eq!(expected.len(), 300);
    let merged = Store::create(&other, &schema(256)).unwrap();
    merged.merge(&live, 1 << 20).unwrap();
    assert_eq!(answers(&merged), expected);
    drop((live, merged));
    assert_eq!(
        (signatures(&path, 256), signatures(&other, 256)),
        (100, 100)
    );
}

#[test]
fn compacting_gives_back_the_space_and_changes_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let (path, fresh) = (folder.path().join("store"), folder.path().join("fresh"));
    let live = store(&path, &schema(128), 2000);
    let mut writer = live.writer().unwrap();
    for number in (0..2000).filter(|number| number % 10 != 0) {
        for key in [format!("{number:05}"), format!("copy/{number}")] {
            assert!(writer.remove(&key).unwrap());
        }
        assert!(writer.remove(&format!("near/{number}")).unwrap());
    }
    writer.commit().unwrap();
    drop(writer);
    let (before, expected) = (live.stats().unwrap(), answers(&live));
    assert_eq!((before.contents, before.removed), (400, 3600));
    assert!(live.rebuild(Rebuild::compact()).unwrap());
    let after = live.stats().unwrap();
    assert_eq!((after.contents, after.removed), (400, 0));
    assert_eq!(answers(&live), expected);
    drop(live);
    let bytes = |stats: &dedupdb::upkeep::Stats| stats.files.iter().map(|file| file.1).sum::<u64>();
    assert!(bytes(&after) * 2 < bytes(&before), "{before:?} {after:?}");
    assert_sound(&path);
    // What is left is as if nothing else had ever been stored.
    let other = Store::create(&fresh, &schema(128)).unwrap();
    let kept = (0..2000).filter(|number| number % 10 == 0);
    for number in kept.clone() {
        numbered::add(&other, number..number + 1, WORDS);
    }
    for number in kept {
        let mut writer = other.writer().unwrap();
        writer.add("x", near_copy(number)).unwrap();
        writer.commit().unwrap();
    }
    drop(other);
    let sizes = |kind| (data(&path, kind).len(), data(&fresh, kind).len());
    for kind in ["contents", "shingles", "signatures"] {
        assert_eq!(sizes(kind).0, sizes(kind).1, "{kind}");
    }
}

/// At every report, the folder is as a killed process would leave it.
#[test]
fn wherever_it_ends_the_store_is_whole_and_the_rebuild_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (path, left) = (folder.path().join("store"), folder.path().join("left"));
    let live = store(&path, &schema(64), 400);
    let mut writer = live.writer().unwrap();
    for number in 0..40 {
        writer.remove(&format!("near/{number}")).unwrap();
    }
    writer.commit().unwrap();
    drop(writer);
    for rebuild in [Rebuild::reindex(schema(96)), Rebuild::compact()] {
        let expected = answers(&live);
        let reports = Arc::new(AtomicUsize::new(0));
        let (counted, path, left) = (reports.clone(), path.clone(), left.clone());
        let watch = move |_: &Progress| {
            copy(&path, &left);
            let killed = Store::open(&left).unwrap();
            assert_eq!(answers(&killed), expected);
            // Half of the stores that are killed here continue, and the other half start again.
            if counted.load(Ordering::Relaxed) % 2 == 0 {
                assert!(killed.rebuild(Rebuild::resume()).unwrap());
            } else {
                assert!(killed.cancel_rebuild().unwrap());
                assert_eq!(killed.unfinished_rebuild().unwrap(), None);
                killed.rebuild(Rebuild::compact()).unwrap();
            }
            assert_eq!(answers(&killed), expected);
            drop(killed);
            assert_sound(&left);
            assert_eq!(fs::read_dir(&left).unwrap().count(), 6);
            counted.fetch_add(1, Ordering::Relaxed);
        };
        let watched = live.watched(&Progress::observed(watch));
        assert!(watched.rebuild(rebuild.memory(2000)).unwrap());
        assert!(reports.load(Ordering::Relaxed) > 2);
    }
}

#[test]
fn one_that_was_stopped_goes_on_only_to_the_same_end() {
    let folder = tempfile::tempdir().unwrap();
    let live = store(folder.path(), &schema(64), 200);
    let hasty = live.watched(&Progress::observed(Progress::stop));
    let stopped = hasty.rebuild(Rebuild::reindex(schema(96))).unwrap_err();
    assert!(matches!(stopped, Error::Stopped));
    drop(hasty);
    let unfinished = live.unfinished_rebuild().unwrap().unwrap();
    assert_eq!(unfinished.schema, schema(96));
    let error = live.rebuild(Rebuild::compact()).unwrap_err();
    assert!(matches!(&error, Error::Unfinished { .. }));
    assert!(error.to_string().contains("permutations 96"), "{error}");
    drop(live);
    let live = Store::open(folder.path()).unwrap();
    assert!(live.rebuild(Rebuild::reindex(schema(96))).unwrap());
    assert!(!live.rebuild(Rebuild::resume()).unwrap());
    assert!(!live.cancel_rebuild().unwrap());
}

#[test]
fn what_needs_other_shingles_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let live = store(folder.path(), &schema(64), 3);
    let shingling = dedupdb::sketching::Shingling::Char(9);
    let other = live.schema().to_builder().shingling(shingling);
    let error = live.rebuild(Rebuild::reindex(other.build().unwrap()));
    let error = error.unwrap_err().to_string();
    assert!(error.starts_with("shingling: it is word:5"), "{error}");
    let reader = Options::new().read_only(true);
    drop(live);
    let reader = reader.open(folder.path()).unwrap();
    let error = reader.rebuild(Rebuild::compact()).unwrap_err();
    assert!(matches!(error, Error::ReadOnly));
}

#[test]
fn without_shingles_the_texts_are_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let bare = schema(64).to_builder().passage(0).keep_shingles(false);
    let bare = bare.build().unwrap();
    let live = store(folder.path(), &bare, 30);
    let target = bare.to_builder().permutations(96).build().unwrap();
    let text = |key: &str| match key.split_once('/') {
        None => Some(numbered::text(key.parse().ok()?, WORDS)),
        Some(("near", "7")) => Some("something else".to_owned()),
        Some(("near", number)) => Some(near_copy(number.parse().ok()?)),
        // A copy has the text of another document, which is enough.
        Some(_) => None,
    };
    let error = live.rebuild(Rebuild::reindex(target.clone()).source(text));
    match error.unwrap_err() {
        Error::MissingSources { keys } => assert_eq!(keys, ["near/7"]),
        error => panic!("{error}"),
    }
    assert_eq!(live.schema().permutations(), 64);
    assert_eq!(live.unfinished_rebuild().unwrap(), None);
    // Shorter signatures need no text.
    let shorter = bare.to_builder().permutations(48).choose_bands();
    let shorter = Rebuild::reindex(shorter.build().unwrap());
    assert!(live.rebuild(shorter).unwrap());
    // What others remove meanwhile is not among what the rebuild drops.
    live.remove("near/8").unwrap();
    let dropped = Mutex::new(Vec::new());
    let rebuild = Rebuild::reindex(target).source(text);
    let rebuild = rebuild.drop_missing(|keys| dropped.lock().unwrap().extend_from_slice(keys));
    assert!(live.rebuild(rebuild).unwrap());
    assert_eq!(dropped.into_inner().unwrap(), ["near/7"]);
    assert_eq!(live.stats().unwrap().documents, 88);
    assert_eq!(live.query(&Query::key("near/9")).unwrap().len(), 2);
    drop(live);
    assert_sound(folder.path());
}

/// A process that waits for the lock of an index gets the new index, if that replaced it meanwhile.
#[test]
fn who_waits_opens_the_newest_generation() {
    let folder = tempfile::tempdir().unwrap();
    drop(store(folder.path(), &schema(64), 50));
    let live = Options::new().exclusive(true).open(folder.path()).unwrap();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let options = Options::new().wait(Duration::from_secs(60));
            let store = options.open(folder.path()).unwrap();
            store.schema().permutations()
        });
        for permutations in [80, 96, 112] {
            live.rebuild(Rebuild::reindex(schema(permutations)))
                .unwrap();
        }
        drop(live);
        assert_eq!(waiting.join().unwrap(), 112);
    });
}

/// Threads insert and query while the store is repeatedly reindexed and compacted. Each knows what it inserted, and
/// every answer must show it.
#[test]
fn every_answer_is_right_while_the_store_is_rebuilt() {
    const WORKERS: usize = 4;
    const ROUNDS: usize = 6;
    let folder = tempfile::tempdir().unwrap();
    let live = store(folder.path(), &schema(64), 100);
    let (done, finished) = (AtomicBool::new(false), AtomicUsize::new(0));
    let number = |worker: usize, step: usize| 1000 + worker * 100_000 + step;
    thread::scope(|scope| {
        let _at_end = AtEnd(&done);
        for worker in 0..WORKERS {
            let (live, done, finished) = (&live, &done, &finished);
            scope.spawn(move || {
                let mut step = 0;
                while !done.load(Ordering::Acquire) || step < 20 {
                    let number = number(worker, step);
                    let key = format!("{worker}/{number}");
                    let text = numbered::text(number, WORDS);
                    let outcome = live.insert_unless_duplicate(&key, &text).unwrap();
                    assert_eq!(outcome.change, Change::Added);
                    let near = near_copy(number);
                    let outcome = live.insert_unless_duplicate("near", &near).unwrap();
                    let earlier = outcome.duplicate_of().map(|earlier| &earlier.key);
                    assert_eq!(earlier, Some(&key), "{outcome:?}");
                    let found = live.query(&Query::text(&near)).unwrap();
                    let found: Vec<_> = found.iter().map(|m| m.key.clone()).collect();
                    assert_eq!(found, std::slice::from_ref(&key));
                    // Every third document is removed again, and is not found.
                    if step % 3 == 0 {
                        let mut writer = live.writer().unwrap();
                        assert!(writer.remove(&key).unwrap());
                        writer.commit().unwrap();
                        drop(writer);
                        assert_eq!(live.query(&Query::text(&near)).unwrap(), []);
                    }
                    let found = live.query(&Query::key("00007")).unwrap();
                    assert_eq!(found.len(), 2);
                    step += 1;
                }
                finished.fetch_add(step, Ordering::Relaxed);
            });
        }
        for round in 0..ROUNDS {
            let rebuild = match round % 3 {
                0 => Rebuild::reindex(schema(128)),
                1 => Rebuild::compact(),
                _ => Rebuild::reindex(schema(64)),
            };
            assert!(live.rebuild(rebuild).unwrap());
        }
    });
    assert!(finished.load(Ordering::Relaxed) >= 20 * WORKERS);
    for worker in 0..WORKERS {
        for step in 0..20 {
            let key = format!("{worker}/{}", number(worker, step));
            assert_eq!(live.get(&key).unwrap().is_some(), step % 3 != 0, "{key}");
        }
    }
    drop(live);
    assert_sound(folder.path());
}

#[test]
fn a_compaction_gives_back_what_was_told() {
    let folder = tempfile::tempdir().unwrap();
    let live = store(folder.path(), &schema(128), 2000);
    let size = |live: &Store| -> u64 {
        let files = live.stats().unwrap().files;
        files.iter().map(|(_, bytes)| bytes).sum()
    };
    for prefix in ["near/", "copy/"] {
        let mut writer = live.writer().unwrap();
        for document in live.documents_with_prefix(prefix).unwrap() {
            assert!(writer.remove(&document.unwrap().key).unwrap());
        }
        writer.commit().unwrap();
        drop(writer);
        let (told, before) = (live.reclaimable_bytes().unwrap(), size(&live));
        assert!(live.rebuild(Rebuild::compact()).unwrap());
        let given = before - size(&live);
        assert!(
            told.abs_diff(given) < before / 10,
            "{told} told, {given} given of {before}"
        );
        assert!(live.reclaimable_bytes().unwrap() < size(&live) / 4);
    }
}

#[test]
fn nothing_is_left_to_cancel_of_a_rebuild_that_another_process_has_just_done() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let one = store(&path, &schema(128), 50);
    let others = [(); 2].map(|()| Options::new().open(&path).unwrap());
    assert!(one.rebuild(Rebuild::reindex(schema(256))).unwrap());
    // They have not looked at the store since.
    assert!(!others[0].cancel_rebuild().unwrap());
    let left = others[1].cancel_other_rebuild(&Rebuild::compact());
    assert_eq!(left.unwrap(), None);
}

#[test]
fn a_rebuild_waits_until_another_process_has_done_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let one = store(&path, &schema(128), 50);
    let commit = one.stats().unwrap().commit;
    let other = Options::new()
        .wait(Duration::from_secs(60))
        .open(&path)
        .unwrap();
    let (begun, has_begun) = mpsc::channel();
    let reindexing = thread::spawn(move || {
        let progress = Progress::observed(move |_| {
            begun.send(()).unwrap();
            thread::sleep(Duration::from_millis(50));
        });
        let reindex = Rebuild::reindex(schema(256));
        one.watched(&progress).rebuild(reindex).unwrap()
    });
    has_begun.recv().unwrap();
    let left = other.cancel_other_rebuild(&Rebuild::compact()).unwrap();
    assert!(reindexing.join().unwrap());
    // Nothing was left to cancel: the other one was done.
    assert_eq!(left, None);
    assert_eq!(other.schema().permutations(), 256);
    assert!(other.stats().unwrap().commit > commit);
}
