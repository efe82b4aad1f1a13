//! A salvage with each step refused once: what cannot be read just now is not damaged.

use super::crash::assert_clean;
use super::refusal::copy_folder;
use super::{FailureNote, add, options, patience, sample, say, schema};
use crate::error::Error;
use crate::storage::watch::{DiskFault, DiskWatch};

#[test]
fn a_salvage_that_is_refused_a_step_leaves_nothing() {
    let sound = tempfile::tempdir().unwrap();
    let store = options()
        .create(sound.path().join("store"), &schema())
        .unwrap();
    let texts: Vec<_> = (0..9).map(|key| (key, sample(key, 0))).collect();
    add(&store, &texts).unwrap();
    drop(store);
    let stride = if patience() == 0 { 5 } else { 1 };
    let mut errors = 0;
    for step in (0..).step_by(stride) {
        let root = tempfile::tempdir().unwrap();
        copy_folder(sound.path(), root.path());
        let (source, target) = (root.path().join("store"), root.path().join("saved"));
        let watch = DiskWatch::new(root.path());
        watch.fail(Some(DiskFault::Once { step }));
        let done = options().salvage(&source, &target, Some(&schema()), |_| {});
        watch.fail(None);
        let Some(failed) = watch.failed().into_iter().next() else {
            break;
        };
        let _place = FailureNote(format!("{failed}: {done:?}"));
        match done {
            Ok(saved) => {
                assert!(saved.index_is_whole);
                assert_eq!((saved.documents, saved.unnamed), (9, 0));
                assert_clean(&target);
            }
            Err(Error::Io { .. } | Error::Index { .. } | Error::Poisoned) => {
                errors += 1;
                assert!(!target.exists());
            }
            Err(error) => panic!("{error}"),
        }
    }
    say(&format!("{errors} errors"));
    assert!(errors > 20);
}
