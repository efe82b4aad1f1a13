//! Rebuilds, with changes in the meantime.

use std::sync::mpsc;
use std::thread;

use super::answers::check;
use super::calls::make;
use super::documents::Model;
use super::readers::History;
use super::step::Remake;
use crate::error::Error;
use crate::progress::Progress;
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
    let rebuild = match remake.permutations {
        Some(permutations) => Rebuild::reindex(target(store, permutations)),
        None => Rebuild::compact(),
    };
    let is_same = remake.permutations == Some(before.permutations());
    let stats = store.stats().unwrap();
    let is_compact = stats.removed == 0 && store.reclaimable_bytes().unwrap() == 0;
    let may_rest = remake.permutations.map_or(is_compact, |_| is_same);
    let mut reports = 0;
    let mut meanwhile = remake.meanwhile.iter();
    let rebuilt = in_steps(store, rebuild.memory(64), |progress| {
        reports += 1;
        if let Some(Some(call)) = meanwhile.next() {
            make(store, history, model, std::slice::from_ref(call));
        }
        if Some(reports) == remake.stop {
            progress.stop();
        }
    });
    match rebuilt {
        Ok(rebuilt) => {
            assert!(if rebuilt { !is_same } else { may_rest });
            let permutations = remake.permutations.unwrap_or(before.permutations());
            assert_eq!(*store.schema(), target(store, permutations));
        }
        Err(Error::Stopped) => assert_eq!(*store.schema(), *before),
        Err(Error::Unfinished { .. }) => {
            let other = other.unwrap();
            assert!(store.rebuild(Rebuild::resume()).unwrap());
            assert_eq!(*store.schema(), other.schema);
        }
        Err(error) => panic!("{error}"),
    }
    check(store, model);
}

/// Rebuilds a store on another thread, which waits after each step until `act` returns.
fn in_steps(
    store: &Store,
    rebuild: Rebuild<'_>,
    mut act: impl FnMut(&Progress),
) -> Result<bool, Error> {
    let (tell, told) = mpsc::sync_channel(0);
    let (resume, resumed) = mpsc::channel();
    let observe = move |progress: &Progress| {
        tell.send(progress.clone()).unwrap();
        resumed.recv().unwrap();
    };
    let watched = store.watched(&Progress::observed(observe));
    thread::scope(|scope| {
        let rebuilding = scope.spawn(move || watched.rebuild(rebuild));
        while let Ok(progress) = told.recv() {
            act(&progress);
            drop(progress);
            resume.send(()).unwrap();
        }
        rebuilding.join().unwrap()
    })
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
