//! The progress of long calls.

use std::ops::ControlFlow;

use dedupdb::groups::PairQuery;
use dedupdb::upkeep::{Progress, Rebuild};
use dedupdb::{Options, Schema, Store};

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
    let before = progress.begun();
    let (mut parts, mut last) = (Vec::new(), 0);
    let rebuild = Rebuild::compact().watch(|_| {
        let at = (progress.begun() - before, progress.total());
        if parts.last() != Some(&at) {
            last = 0;
            parts.push(at);
        }
        assert!(last <= progress.done() && progress.done() <= progress.total());
        last = progress.done();
        ControlFlow::Continue(())
    });
    store.rebuild(rebuild).unwrap();
    // After the contents, one list for each band, one for copies, one for fingerprints, and the rest.
    assert_eq!(parts, [(2, 19), (3, 1)]);
    assert_eq!(all_steps(&progress), 1);
    drop(store);
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
}
