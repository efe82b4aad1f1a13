//! Tests of a store whose postings are merged in steps, over several commits and by several handles.

use std::path::Path;

use crate::storage::Limits;
use crate::store::Rebuild;
use crate::store::find::Query;
use crate::store::groups::{ClusterQuery, PairQuery};
use crate::store::handle::{Options, Store};
use crate::store::model::schema;

/// A handle with low limits.
fn open(folder: &Path) -> Store {
    let options = Options::new().threads(2).limits(Limits::LOW);
    options.open(folder).unwrap()
}

/// A merge that is under way.
#[derive(Clone, Copy)]
struct ObservedMerge {
    owner: u64,
    /// The number of its parts that are built.
    built: u64,
    posted: u64,
}

fn merge_of(store: &Store) -> ObservedMerge {
    let merge = store.last_commit().snapshot.tables.meta.merge;
    ObservedMerge {
        owner: merge.owner,
        built: merge.built,
        posted: merge.posted,
    }
}

/// Two texts with the same number are near-duplicates if one is even and the other odd.
fn text(number: usize) -> String {
    let words = (0..12).map(|word| match (word, number % 2) {
        (0, 1) => format!("changed{number}"),
        _ => format!("n{}w{word}", number / 2),
    });
    words.collect::<Vec<_>>().join(" ")
}

fn insert(store: &Store, number: usize) {
    let mut writer = store.writer().unwrap();
    writer.add(number.to_string(), text(number)).unwrap();
    writer.commit().unwrap();
}

fn remove(store: &Store, number: usize) {
    let mut writer = store.writer().unwrap();
    assert!(writer.remove(&number.to_string()).unwrap());
    writer.commit().unwrap();
}

/// Checks every posting, and that each document finds itself and its near-duplicate.
fn check(store: &Store, folder: &Path, stored: &[usize]) {
    store.refresh().unwrap();
    let report = Store::check(folder).unwrap();
    assert!(report.is_clean(), "{:?}", report.problems);
    for number in stored {
        let matches = store.query(&Query::text(&text(*number))).unwrap();
        let mut found: Vec<usize> = matches.iter().map(|m| m.key.parse().unwrap()).collect();
        found.sort_unstable();
        let mut expected = vec![*number];
        expected.extend(stored.contains(&(number ^ 1)).then_some(number ^ 1));
        expected.sort_unstable();
        assert_eq!(found, expected);
    }
}

#[test]
fn a_merge_in_steps_changes_no_answer_also_when_its_contents_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    Store::create(&path, &schema()).unwrap();
    let store = open(&path);
    let mut stored = Vec::new();
    let (mut under_way, mut removed_from, mut ended) = (0, 0, 0);
    for number in 0..160 {
        let before = merge_of(&store);
        insert(&store, number);
        stored.push(number);
        if number % 3 == 2 {
            // One of the recent contents, or an older one.
            let place = if number % 2 == 0 {
                stored.len() - 2
            } else {
                stored.len() / 3
            };
            let merge = merge_of(&store);
            remove(&store, stored.remove(place));
            let after = merge_of(&store);
            removed_from += u32::from(merge.built > 0 && after.posted < merge.posted);
        }
        let merge = merge_of(&store);
        under_way += u32::from(merge.built > 0);
        ended += u32::from(before.owner != 0 && merge.owner != before.owner);
        if number % 5 == 0 {
            check(&store, &path, &stored);
        }
    }
    check(&store, &path, &stored);
    assert!(
        under_way > 50 && removed_from > 8 && ended > 5,
        "{under_way} {removed_from} {ended}"
    );
}

#[test]
fn a_merge_whose_handle_is_gone_is_done_by_others_once_it_is_overdue() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    Store::create(&path, &schema()).unwrap();
    let mut store = open(&path);
    let mut stored = Vec::new();
    let (mut left, mut begun) = (0, Vec::new());
    for number in 0..240 {
        if number % 30 == 29 && merge_of(&store).built > 0 {
            // The handle goes, half way.
            drop(store);
            store = open(&path);
            left += 1;
        }
        insert(&store, number);
        stored.push(number);
        let merge = merge_of(&store);
        begun.push(merge.owner);
        if number % 7 == 0 {
            check(&store, &path, &stored);
        }
    }
    begun.dedup();
    assert!(left > 3 && begun.len() > 2 * left, "{left} {begun:?}");
    // Two handles by turns: the one that began goes on.
    let other = open(&path);
    for number in 240..400 {
        insert(if number % 2 == 0 { &store } else { &other }, number);
        stored.push(number);
        if number % 9 == 0 {
            check(
                if number % 4 == 0 { &store } else { &other },
                &path,
                &stored,
            );
        }
    }
    let meta = other.last_commit().snapshot.tables.meta;
    assert!(meta.contents - meta.banded() < 100, "{meta:?}");
}

#[test]
fn a_handle_that_commits_once_leaves_no_merge_under_way() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    Store::create(&path, &schema()).unwrap();
    let mut merged = 0;
    for number in 0..80 {
        let store = open(&path);
        let before = store.last_commit().snapshot.tables.meta.banded();
        insert(&store, number);
        let meta = store.last_commit().snapshot.tables.meta;
        assert!(!meta.merge.is_under_way());
        merged += u32::from(meta.banded() > before);
    }
    assert!((1..20).contains(&merged), "{merged}");
    let store = open(&path);
    check(&store, &path, &(0..80).collect::<Vec<_>>());
}

#[test]
fn the_tables_of_an_empty_generation_are_no_hindrance() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    Store::create(&path, &schema()).unwrap();
    let store = open(&path);
    store.rebuild(Rebuild::compact()).unwrap();
    for number in 0..40 {
        insert(&store, number);
    }
    check(&store, &path, &(0..40).collect::<Vec<_>>());
    assert!(store.last_commit().snapshot.tables.meta.banded() > 10);
}

/// The number of removed contents that may have postings in tables, and of contents that have any.
fn removed_of(store: &Store) -> (u64, u64) {
    let meta = store.last_commit().snapshot.tables.meta;
    (meta.removed(), meta.posted())
}

/// A store of a number of documents, all of whose postings are in tables, and the documents.
fn filled(path: &Path, documents: usize) -> (Store, Vec<usize>) {
    Store::create(path, &schema()).unwrap();
    let store = open(path);
    let mut writer = store.writer().unwrap();
    for number in 0..documents {
        writer.add(number.to_string(), text(number)).unwrap();
    }
    writer.commit().unwrap();
    let meta = store.last_commit().snapshot.tables.meta;
    assert!(meta.banded() == documents as u64 && !meta.merge.is_under_way());
    drop(writer);
    (store, (0..documents).collect())
}

#[test]
fn removing_alone_drops_postings_sooner_or_later() {
    for handles in [1, 2, 3] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let (first, mut stored) = filled(&path, 120);
        let mut stores = vec![first];
        stores.resize_with(handles, || open(&path));
        let (mut kept, mut dropped) = (0, 0);
        for number in 0..116 {
            let store = &mut stores[number % handles];
            if handles == 3 {
                // Each of these commits once.
                *store = open(&path);
            }
            store.refresh().unwrap();
            let before = removed_of(store).0;
            remove(store, stored.remove(number * 7 % stored.len()));
            let (removed, posted) = removed_of(store);
            kept += u32::from(removed == before + 1);
            dropped += u32::from(removed < before);
            // The steps of a merge take 12 changes, and a handle that is not to stay waits for 24.
            assert!(removed <= posted / 2 + 24, "{handles}: {removed} {posted}");
            if number % 9 == 0 {
                check(store, &path, &stored);
            }
        }
        assert!(kept > 80 && dropped > 1, "{handles}: {kept} {dropped}");
    }
}

#[test]
fn removed_contents_are_in_tables_and_in_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let (store, mut stored) = filled(&path, 60);
    let postings = || Store::check(&path).unwrap().postings;
    let before = postings();
    for number in [3, 8, 20, 21, 30] {
        stored.retain(|&other| other != number);
        remove(&store, number);
    }
    assert_eq!((removed_of(&store).0, postings()), (5, before));
    check(&store, &path, &stored);
    let paired = stored.chunk_by(|a, b| a / 2 == b / 2);
    let paired = paired.filter(|pair| pair.len() == 2).count();
    let answers = || {
        let pairs = store.pairs(PairQuery::new()).unwrap();
        let pairs: Vec<_> = pairs.map(Result::unwrap).collect();
        let clusters = store.clusters(ClusterQuery::new()).unwrap();
        let clusters: Vec<_> = clusters.map(Result::unwrap).collect();
        assert!(pairs.len() == paired && clusters.len() == paired);
        (pairs, clusters, store.largest_buckets(999).unwrap())
    };
    let lazy = answers();
    store.rebuild(Rebuild::compact()).unwrap();
    assert_eq!(removed_of(&store).0, 0);
    assert!(postings() < before);
    assert_eq!(answers(), lazy);
}
