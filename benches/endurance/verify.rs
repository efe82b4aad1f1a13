//! Compares the store that a killed process left with the model.

use std::path::Path;
use std::time::{Duration, Instant};

use dedupdb::{Query, Store, find::Subject};

use crate::pages::{CLOCK, Model, key};

/// The number of pages that are drawn.
const DRAWN: u64 = 300;

/// The result of a comparison after a kill.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Verified {
    /// The time until the store was open and had answered.
    pub(crate) opened: Duration,
    pub(crate) answers: u64,
    /// The number of similar pages, and how many of them no answer had. The bands miss two in a hundred thousand of
    /// such pairs.
    pub(crate) pairs: u64,
    pub(crate) missed: u64,
}

/// Opens the store, moves the model to the hour that it holds, and compares.
///
/// # Panics
///
/// If the store lost an hour that was `acknowledged`, holds half of one, or gives a wrong answer.
pub(crate) fn verify(path: &Path, model: &mut Model, acknowledged: u32) -> Verified {
    let start = Instant::now();
    let store = Store::open(path).unwrap();
    let clock = store.get(CLOCK).unwrap();
    let mut verified = Verified {
        opened: start.elapsed(),
        ..Verified::default()
    };
    let hour = clock.map_or(0, |clock| u32::try_from(clock.size).unwrap());
    assert!(
        hour == acknowledged || hour == acknowledged + 1,
        "hour {acknowledged} was committed, and the store is at {hour}"
    );
    model.reach(hour);
    let pages = store.documents_with_prefix("page/").unwrap();
    assert_eq!(pages.count(), model.len(), "pages after hour {hour}");
    for n in 0..if model.len() > 0 { DRAWN } else { 0 } {
        let page = model.draw(u64::from(hour) << 32 | n);
        verified.answers += 1;
        let Some(like) = model.like(page) else {
            assert!(store.get(&key(page)).unwrap().is_none(), "{page}");
            continue;
        };
        let matches = store.query(&Query::key(&key(page))).unwrap();
        let pages = matches
            .iter()
            .filter(|found| found.key.starts_with("page/"));
        let found: Vec<&String> = pages.map(|found| &found.key).collect();
        assert!(
            found.iter().all(|key| like.contains(key)),
            "{page}: {found:?}"
        );
        verified.pairs += like.len() as u64;
        for other in like.iter().filter(|other| !found.contains(other)) {
            // A missed pair must have no band in common: the bands may miss it, the store may not.
            let (a, b) = (key(page), Subject::Key(other));
            let explanation = store.explain(Subject::Key(&a), b).unwrap();
            assert!(
                explanation.bands.is_empty(),
                "{a} and {other}: {explanation:?}"
            );
            verified.missed += 1;
        }
    }
    verified
}
