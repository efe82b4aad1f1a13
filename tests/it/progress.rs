//! The progress of long calls.

use std::sync::{Arc, Mutex};

use dedupdb::groups::PairQuery;
use dedupdb::overlap::PassageQuery;
use dedupdb::upkeep::Rebuild;
use dedupdb::{Error, Options, Progress, Query, Schema, Store};

use crate::numbered;

/// The number of steps that a call counted, which must be all of them.
#[track_caller]
fn all_steps(progress: &Progress) -> u64 {
    assert_eq!(progress.done(), progress.total());
    progress.total()
}

#[test]
fn every_long_call_counts_all_its_steps() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let progress = Progress::new();
    let options = Options::new().progress(&progress);
    let store = options.create(&path, &Schema::default()).unwrap();
    numbered::add(&store, 0..300, 20);
    assert_eq!(all_steps(&progress), 0, "adding counts none");
    store.sample().unwrap();
    assert!(all_steps(&progress) > 1);
    store.largest_buckets(1).unwrap();
    assert_eq!(all_steps(&progress), 17, "a step a band");
    let stats = store.backup(folder.path().join("copy")).unwrap();
    let columns = stats.files.iter().filter(|(name, _)| name != "index.redb");
    assert!(all_steps(&progress) > columns.map(|(_, bytes)| bytes).sum::<u64>() - 1000);
    let parts = Arc::new(Mutex::new(Vec::new()));
    let (seen, mut last) = (parts.clone(), 0);
    let progress = Progress::observed(move |progress| {
        let mut parts = seen.lock().unwrap();
        let at = (progress.begun(), progress.total());
        if parts.last() != Some(&at) {
            last = 0;
            parts.push(at);
        }
        assert!(last <= progress.done() && progress.done() <= progress.total());
        last = progress.done();
    });
    store
        .watched(&progress)
        .rebuild(Rebuild::compact())
        .unwrap();
    // After the contents, one list for each band, one for copies, one for fingerprints, and the rest.
    assert_eq!(*parts.lock().unwrap(), [(2, 19), (3, 1)]);
    assert_eq!(all_steps(&progress), 1);
    let queries: Vec<Query<'_>> = (0..30).map(|_| Query::text("some words")).collect();
    let found = store.watched(&progress).query_all(&queries).unwrap();
    assert_eq!(found.len(), 30);
    assert_eq!(all_steps(&progress), 30);
    drop(store);
    let options = options.progress(&progress);
    options.check(&path).unwrap();
    assert!(all_steps(&progress) >= 300);
}

#[test]
fn pairs_count_towards_their_end() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("store"), &Schema::default()).unwrap();
    let mut writer = store.writer().unwrap();
    for number in 0..400 {
        // Families of four copies.
        let text = numbered::text(number / 4, 30);
        writer.add(format!("{number:03}"), text).unwrap();
    }
    writer.commit().unwrap();
    let progress = store.progress();
    let mut before = 0;
    for pair in store.pairs(PairQuery::new()).unwrap() {
        pair.unwrap();
        assert!(before <= progress.done() && progress.done() <= progress.total());
        before = progress.done();
    }
    assert!(before < progress.total());
    assert_eq!(all_steps(progress), 18_000);
    for query in [
        PairQuery::new().exhaustive(true),
        PairQuery::new().containment(0.5),
    ] {
        assert!(store.pairs(query).unwrap().count() > 0);
        assert_eq!(all_steps(progress), 18_000);
    }
}

#[test]
fn a_stopped_progress_stops_every_long_call_and_no_other_handle() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let store = Store::create(path("store"), &Schema::default()).unwrap();
    numbered::add(&store, 0..20, 30);
    let other = Store::create(path("other"), &Schema::default()).unwrap();
    numbered::add(&other, 0..2, 30);
    let progress = Progress::new();
    progress.stop();
    let stopped = store.watched(&progress);
    let queries = [Query::text("some words")];
    let passages = [PassageQuery::text("some words")];
    let results = [
        stopped.query_all(&queries).map(drop),
        stopped.passages_all(&passages).map(drop),
        stopped.rebuild(Rebuild::compact()).map(drop),
        stopped.merge(&other, 1 << 20).map(drop),
        stopped.sample().map(drop),
        stopped.largest_buckets(1).map(drop),
        stopped.common_passages(1, None, |_| Vec::new()).map(drop),
        stopped.backup(path("copy")).map(drop),
        stopped
            .pairs(PairQuery::new())
            .unwrap()
            .try_for_each(|pair| pair.map(drop)),
        Options::new()
            .progress(&progress)
            .check(path("store"))
            .map(drop),
    ];
    for (number, result) in results.into_iter().enumerate() {
        assert!(
            matches!(result, Err(Error::Stopped)),
            "{number}: {result:?}"
        );
    }
    assert!(!path("copy").exists());
    assert!(store.cancel_rebuild().unwrap());
    assert_eq!(store.query_all(&queries).unwrap().len(), 1);
    assert!(Store::check(path("store")).unwrap().is_clean());
}
