//! Many threads on one store.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use dedupdb::{Error, Input, Query, Schema, Store, write::Change};

use crate::numbered;

/// Sets a flag when it is dropped, also by a panic: the other threads of a test then end, and the test fails.
pub(crate) struct AtEnd<'a>(pub(crate) &'a AtomicBool);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// A distinct text for each number.
fn text(number: usize) -> String {
    numbered::text(number, 30)
}

fn shared<T: Send + Sync>() {}
fn sent<T: Send>() {}

#[test]
fn public_types_can_be_shared() {
    shared::<Store>();
    shared::<Schema>();
    shared::<Input>();
    shared::<Query<'_>>();
    sent::<dedupdb::find::Documents>();
    sent::<dedupdb::Writer>();
    sent::<dedupdb::upkeep::Rebuild<'_>>();
    shared::<dedupdb::Error>();
}

#[test]
fn of_many_callers_with_the_same_text_one_inserts_it() {
    const TEXTS: usize = 60;
    const CALLERS: usize = 8;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), &Schema::default()).unwrap();
    let inserted: Mutex<HashMap<usize, Vec<usize>>> = Mutex::default();
    thread::scope(|scope| {
        for caller in 0..CALLERS {
            let (store, inserted) = (&store, &inserted);
            scope.spawn(move || {
                for step in 0..TEXTS {
                    // Each caller starts elsewhere, and half of the callers write in capitals.
                    let number = (step + caller * 7) % TEXTS;
                    let mut page = text(number);
                    if caller % 2 == 0 {
                        page = page.to_uppercase();
                    }
                    let key = format!("{caller}/{number}");
                    let outcome = store.insert_unless_duplicate(&key, &page).unwrap();
                    match (outcome.change, outcome.earlier) {
                        (Change::Added, None) => {
                            let mut inserted = inserted.lock().unwrap();
                            inserted.entry(number).or_default().push(caller);
                        }
                        (Change::KeptOut, Some(earlier)) => {
                            let of = earlier.key.split('/').nth(1).unwrap();
                            assert_eq!(of, number.to_string());
                            // The verdict rests on something durable and visible.
                            assert!(store.get(&earlier.key).unwrap().is_some());
                        }
                        other => panic!("{key} is new, and {other:?}"),
                    }
                }
            });
        }
    });
    let inserted = inserted.into_inner().unwrap();
    for number in 0..TEXTS {
        assert_eq!(inserted[&number].len(), 1, "text {number}");
    }
    assert_eq!(store.stats().unwrap().documents, TEXTS as u64);
    drop(store);
    assert!(Store::check(folder.path()).unwrap().is_clean());
}

#[test]
fn callers_that_change_their_own_documents_each_get_their_own_answers() {
    const CALLERS: usize = 8;
    const STEPS: usize = 60;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), &Schema::default()).unwrap();
    let kept: Mutex<HashMap<String, [u8; 32]>> = Mutex::default();
    thread::scope(|scope| {
        for caller in 0..CALLERS {
            let (store, kept) = (&store, &kept);
            scope.spawn(move || {
                let key = |number: usize| format!("{caller}/{}", number % 3);
                let mut own: HashMap<String, [u8; 32]> = HashMap::new();
                for step in 0..STEPS {
                    let (one, other) = (key(step), key(step / 3));
                    let page = text(caller * STEPS + step);
                    let hash = *blake3::hash(page.as_bytes()).as_bytes();
                    match step * 7 % 5 {
                        0 => assert_eq!(store.remove(&one).unwrap(), own.remove(&one).is_some()),
                        1 => {
                            let moved = own.remove(&one);
                            assert_eq!(store.rename(&one, &other).unwrap(), moved.is_some());
                            own.extend(moved.map(|hash| (other, hash)));
                        }
                        insert => {
                            let outcome = if insert == 2 {
                                store.insert_unless_duplicate(&one, &page)
                            } else {
                                store.replace(&one, &page)
                            };
                            let expected = match own.insert(one, hash) {
                                Some(_) => Change::Updated,
                                None => Change::Added,
                            };
                            assert_eq!(outcome.unwrap().change, expected);
                        }
                    }
                }
                kept.lock().unwrap().extend(own);
            });
        }
    });
    let stored = store.documents().unwrap().map(Result::unwrap);
    let stored: HashMap<_, _> = stored.map(|found| (found.key, found.hash)).collect();
    assert_eq!(stored, kept.into_inner().unwrap());
    drop(store);
    assert!(Store::check(folder.path()).unwrap().is_clean());
}

#[test]
fn a_call_that_cannot_be_answered_fails_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), &Schema::default()).unwrap();
    store.replace("one", text(1)).unwrap();
    let is_of_key = |error| matches!(error, Err(Error::InvalidKey { bytes: 0 }));
    assert!(is_of_key(store.rename("one", "").map(drop)));
    assert!(is_of_key(store.replace("", text(2)).map(drop)));
    assert!(!store.remove("").unwrap());
    assert!(!store.rename("two", "three").unwrap());
    let _writer = store.writer().unwrap();
    assert!(matches!(store.remove("one"), Err(Error::WriterHeld)));
    assert!(matches!(store.rename("one", "two"), Err(Error::WriterHeld)));
}

#[test]
fn readers_see_whole_commits_while_a_writer_works() {
    const ROUNDS: usize = 40;
    const BATCH: usize = 50;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), &Schema::default()).unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let at_end = AtEnd(&done);
        let readers: Vec<_> = (0..3)
            .map(|reader| {
                let (store, done) = (&store, &done);
                scope.spawn(move || {
                    let mut seen = 0;
                    let mut answers = 0_usize;
                    while !done.load(Ordering::Acquire) || answers == 0 {
                        let documents = store.documents().unwrap().count();
                        assert_eq!(documents % BATCH, 0, "a commit is seen whole");
                        assert!(documents >= seen, "commits are seen in order");
                        seen = documents;
                        if seen > 0 {
                            let number = (answers * 31 + reader) % seen;
                            let found = store.query(&Query::text(&text(number))).unwrap();
                            assert_eq!(found.len(), 1, "{number} of {seen}");
                            assert_eq!(found[0].key, format!("{number:05}"));
                        }
                        answers += 1;
                    }
                })
            })
            .collect();
        for round in 0..ROUNDS {
            let mut writer = store.writer().unwrap();
            let numbers = round * BATCH..(round + 1) * BATCH;
            let inputs = numbers.map(|n| Input::new(format!("{n:05}"), text(n)));
            writer.add_all(inputs.collect()).unwrap();
            writer.commit().unwrap();
        }
        drop(at_end);
        for reader in readers {
            reader.join().unwrap();
        }
    });
}

#[test]
fn callers_that_are_rayon_workers_do_not_wait_for_themselves() {
    use rayon::prelude::*;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), &Schema::default()).unwrap();
    (0..64_usize).into_par_iter().for_each(|number| {
        if number % 2 == 0 {
            store
                .insert_unless_duplicate(format!("{number}"), text(number))
                .unwrap();
        } else {
            let mut writer = store.writer().unwrap();
            let inputs =
                (0..6).map(|i| Input::new(format!("{number}-{i}"), text(number * 100 + i)));
            writer.add_all(inputs.collect()).unwrap();
            writer.commit().unwrap();
        }
    });
    assert_eq!(store.stats().unwrap().documents, 32 + 32 * 6);
}
