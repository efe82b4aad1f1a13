//! Which parameters a store gets if only the changes are given.

use dedupdb::sketching::{Bands, Family, SlotWidth};
use dedupdb::upkeep::{Rebuild, Reindex, Shape, Tuning};
use dedupdb::{Error, Progress, Schema, Store};

use crate::numbered;

/// A store whose bands are not those that would be chosen.
fn store(folder: &std::path::Path) -> Store {
    let schema = Schema::builder().permutations(64).bands(16, 4);
    let store = Store::create(folder.join("store"), &schema.build().unwrap()).unwrap();
    numbered::add(&store, 0..40, 30);
    store
}

#[test]
fn bands_are_chosen_again_only_where_they_must_be() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let stored = store.schema();
    let bands = |reindex: Reindex| reindex.schema(&store).unwrap().bands();
    let chosen = |permutations, threshold, recall| {
        Bands::choose(permutations, SlotWidth::Bits16, threshold, recall).unwrap()
    };
    assert_eq!(Reindex::new().schema(&store).unwrap(), *stored);
    assert_eq!(
        bands(Reindex::new().seed(9).family(Family::Murmur)),
        stored.bands()
    );
    assert_eq!(
        bands(Reindex::new().permutations(64).threshold(0.8)),
        stored.bands()
    );
    assert_eq!(
        bands(Reindex::new().permutations(256)),
        chosen(256, 0.8, 0.98)
    );
    assert_eq!(bands(Reindex::new().threshold(0.7)), chosen(64, 0.7, 0.98));
    assert_eq!(bands(Reindex::new().recall(0.9)), chosen(64, 0.8, 0.9));
    let named = Reindex::new().permutations(256).bands(10, 3);
    assert_eq!(bands(named), Bands::new(10, 3, 256).unwrap());
    for wrong in [
        Reindex::new().permutations(0),
        Reindex::new().threshold(f64::NAN),
        Reindex::new().recall(1.0),
        Reindex::new().bands(64, 2),
    ] {
        let refused = wrong.rebuild(&store).unwrap_err();
        assert!(matches!(
            refused,
            Error::InvalidSchema { .. } | Error::InvalidQuery { .. }
        ));
    }
}

#[test]
fn tuned_bands_are_the_best_in_a_store_that_has_grown() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    // Texts without anything in common cannot tell shapes apart.
    let refused = Reindex::new().tuned(None).schema(&store).unwrap_err();
    let told = "bands: no pair of the sample lies between 0.2 and the threshold: too few to tell shapes apart";
    assert_eq!(refused.to_string(), told);
    // Texts that are similar, but not enough, make work.
    let mut writer = store.writer().unwrap();
    for number in 0..200 {
        let text = format!("{} {}", numbered::text(0, 16), numbered::text(number, 14));
        writer.add(format!("like {number}"), text).unwrap();
    }
    writer.commit().unwrap();
    drop(writer);
    let best = |contents| {
        let sample = store.sample().unwrap().grown_to(contents);
        let shapes = Tuning::of(&store.schema()).shapes(Some(&sample)).unwrap();
        Shape::best(&shapes).unwrap().bands
    };
    let tuned = |contents| Reindex::new().tuned(contents).schema(&store).unwrap();
    assert_eq!(tuned(None).bands(), best(480));
    assert_eq!(tuned(Some(1_000_000_000)).bands(), best(1_000_000_000));
    assert!(
        store
            .rebuild(Reindex::new().tuned(None).rebuild(&store).unwrap())
            .unwrap()
    );
}

#[test]
fn only_a_rebuild_to_another_end_is_in_the_way() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let larger = || Reindex::new().permutations(128).rebuild(&store).unwrap();
    assert_eq!(store.cancel_other_rebuild(&larger()).unwrap(), None);
    let stopped = store
        .watched(&Progress::observed(Progress::stop))
        .rebuild(larger());
    assert!(matches!(stopped, Err(Error::Stopped)));
    for same in [larger(), Rebuild::resume()] {
        assert_eq!(store.cancel_other_rebuild(&same).unwrap(), None);
    }
    // A rebuild that does nothing needs no room.
    let nothing = Reindex::new().rebuild(&store).unwrap();
    assert_eq!(store.cancel_other_rebuild(&nothing).unwrap(), None);
    let begun = store.cancel_other_rebuild(&Rebuild::compact()).unwrap();
    assert_eq!(begun.unwrap().schema.permutations(), 128);
    assert_eq!(store.unfinished_rebuild().unwrap(), None);
}
