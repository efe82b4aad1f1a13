//! Rebuilds, with changes in the meantime.

use std::ops::ControlFlow;

use super::answers::check;
use super::calls::make;
use super::documents::Model;
use super::readers::History;
use super::step::Remake;
use crate::error::Error;
use crate::schema::Schema;
use crate::store::handle::Store;
use crate::store::upkeep::Rebuild;

/// Rebuilds the store. If it has an unfinished rebuild to another target, finishes that one
/// instead.
pub(super) fn rebuild(store: &Store, history: &History, model: &mut Model, remake: &Remake) {
    let before = store.schema();
    let other = store.unfinished_rebuild().unwrap().filter(|unfinished| {
        let permutations = unfinished.schema.permutations();
        match remake.permutations {
            None => !unfinished.compacts,
            Some(wanted) => unfinished.compacts || permutations != wanted,
        }
    });
    let mut reports = 0;
    let mut meanwhile = remake.meanwhile.iter();
    let mut watch = |_| {
        reports += 1;
        if let Some(Some(call)) = meanwhile.next() {
            make(store, history, model, std::slice::from_ref(call));
        }
        if Some(reports) == remake.stop {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let rebuild = match remake.permutations {
        Some(permutations) => Rebuild::reindex(target(store, permutations)),
        None => Rebuild::compact(),
    };
    let is_same = remake.permutations == Some(before.permutations());
    let stats = store.stats().unwrap();
    let is_compact = stats.removed == 0 && store.reclaimable_bytes().unwrap() == 0;
    let may_rest = remake.permutations.map_or(is_compact, |_| is_same);
    match store.rebuild(rebuild.memory(64).watch(&mut watch)) {
        Ok(rebuilt) => {
            assert!(if rebuilt { !is_same } else { may_rest });
            let permutations = remake.permutations.unwrap_or(before.permutations());
            assert_eq!(*store.schema(), target(store, permutations));
        }
        Err(Error::Interrupted) => assert_eq!(*store.schema(), *before),
        Err(Error::Unfinished { .. }) => {
            let other = other.unwrap();
            assert!(store.rebuild(Rebuild::resume()).unwrap());
            assert_eq!(*store.schema(), other.schema);
        }
        Err(error) => panic!("{error}"),
    }
    check(store, model);
}

fn target(store: &Store, permutations: u32) -> Schema {
    let builder = store.schema().to_builder();
    builder.permutations(permutations).build().unwrap()
}

/// Cancels a rebuild that was stopped.
pub(super) fn cancel(store: &Store) {
    let unfinished = store.unfinished_rebuild().unwrap();
    assert_eq!(store.cancel_rebuild().unwrap(), unfinished.is_some());
    assert_eq!(store.unfinished_rebuild().unwrap(), None);
}
