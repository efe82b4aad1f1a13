//! A crash at every step: what it leaves is opened, checked and compared with the model.

use std::path::Path;

use super::{
    Copy, FailureNote, Session, Verb, any_story, options, patience, perform_on, sample, say,
    state_of, store_in, story,
};
use crate::error::Error;
use crate::parallel;
use crate::storage::crash::{SimulatedDisk, Survivors};
use crate::storage::watch::{DiskEvent, DiskWatch};
use crate::store::Rebuild;
use crate::store::model::{Model, check_answers, key, schema};

/// Everything that was done to a disk, step by step.
struct Recording {
    start: SimulatedDisk,
    events: Vec<DiskEvent>,
    states: Vec<Model>,
    copies: Vec<Copy>,
}

/// What is known of a store when it crashes.
#[derive(Clone)]
struct Known<'r> {
    states: &'r [Model],
    first: usize,
    last: usize,
    /// Whether the store was made.
    is_there: bool,
    /// The copies that were started, and whether they were finished.
    copies: Vec<(&'r Copy, bool)>,
}

fn record(verbs: &[Verb]) -> Recording {
    let folder = tempfile::tempdir().unwrap();
    let start = SimulatedDisk::new(folder.path());
    let mut session = Session::new(folder.path());
    session.watch.between(0, 0);
    for verb in verbs {
        session.perform(verb).unwrap();
    }
    (session.store, session.other) = (None, None);
    Recording {
        start,
        events: session.watch.events(),
        states: session.states,
        copies: session.copies.into_values().collect(),
    }
}

impl Recording {
    /// Crashes after every step, once for each of `survivors`, and counts the crashes. The steps
    /// are divided among threads.
    fn crash(&self, survivors: impl Fn(usize) -> Vec<Survivors> + Sync, nested: usize) -> Points {
        let turns = rayon::current_num_threads();
        let of_turn = |turn| self.crash_in_turn(&survivors, nested, (turn, turns));
        let points = parallel::map((0..turns).collect(), of_turn);
        points.into_iter().fold(Points::default(), Points::plus)
    }

    /// The same, for the steps whose turn it is.
    fn crash_in_turn(
        &self,
        survivors: impl Fn(usize) -> Vec<Survivors>,
        nested: usize,
        (turn, turns): (usize, usize),
    ) -> Points {
        let mut disk = self.start.clone();
        let mut points = Points::default();
        let mut steps = 0;
        let mut between = (0, 0);
        for (index, event) in self.events.iter().enumerate() {
            disk.apply(event);
            if let DiskEvent::Between { first, last } = event {
                between = (*first, *last);
            }
            // Words of mapped files change between steps, many at a time.
            let is_word = |event: Option<&DiskEvent>| matches!(event, Some(DiskEvent::Written { bytes, .. }) if bytes.0.len() == 8);
            if is_word(Some(event)) && is_word(self.events.get(index + 1)) {
                continue;
            }
            let begun = self.copies.iter().filter(|copy| copy.begun <= index);
            let is_done = |copy: &Copy| copy.done.is_some_and(|done| done <= index);
            let known = Known {
                states: &self.states,
                first: between.0,
                last: between.1,
                is_there: between.0 > 0,
                copies: begun.map(|copy| (copy, is_done(copy))).collect(),
            };
            let mut survivors = survivors(index);
            steps += usize::from(!survivors.is_empty());
            if survivors.is_empty() || steps % turns != turn {
                continue;
            }
            if disk.is_settled() {
                survivors.truncate(1);
            }
            points.steps += 1;
            for survivors in survivors {
                let again = nested > 0 && points.crashes.is_multiple_of(nested);
                let place = format!("after event {index}, {event:?}, with {survivors:?}");
                points.crashes += 1;
                points.nested += crash_once(&disk, survivors, &known, again, place);
            }
        }
        points
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Points {
    steps: usize,
    crashes: usize,
    nested: usize,
}

impl Points {
    fn plus(self, other: Points) -> Points {
        Points {
            steps: self.steps + other.steps,
            crashes: self.crashes + other.crashes,
            nested: self.nested + other.nested,
        }
    }
}

/// Crashes and recovers. With `again`, also crashes at each step of the recovery.
fn crash_once(
    disk: &SimulatedDisk,
    survivors: Survivors,
    known: &Known<'_>,
    again: bool,
    place: String,
) -> usize {
    let _place = FailureNote(place);
    let folder = tempfile::tempdir().unwrap();
    let mut left = disk.leave(survivors, folder.path());
    // Watching takes a quarter of the time.
    let watch = again.then(|| DiskWatch::new(folder.path()));
    let state = recover(folder.path(), known);
    let events = watch.as_ref().map(DiskWatch::events).unwrap_or_default();
    go_on(folder.path(), known, state);
    drop(watch);
    let mut crashes = 0;
    for (index, event) in events.iter().enumerate() {
        left.apply(event);
        for survivors in [Survivors::None, Survivors::Any(index as u64)] {
            let place = format!(
                "then in event {index} of {}, {event:?}, with {survivors:?}",
                events.len()
            );
            crash_once(&left, survivors, known, false, place);
            crashes += 1;
        }
    }
    crashes
}

/// Opens what a crash left, and returns the state that it is in.
fn recover(root: &Path, known: &Known<'_>) -> usize {
    let path = store_in(root);
    let index = path.join("index.redb");
    let left = std::fs::read(&index).ok();
    let reader = options().read_only(true).open(&path);
    assert!(std::fs::read(&index).ok() == left, "a reader wrote");
    if !known.is_there && matches!(reader, Err(Error::NotAStore { .. })) {
        drop(options().create(&path, &schema()).unwrap());
    } else {
        state_of(&reader.unwrap(), known.states, known.first, known.last);
    }
    assert_clean(&path);
    let store = options().open(&path).unwrap();
    let state = state_of(&store, known.states, known.first, known.last);
    check_answers(&store, &known.states[state]);
    for (copy, is_done) in &known.copies {
        let folder = root.join("copies").join(copy.folder.file_name().unwrap());
        if !is_done && matches!(options().open(&folder), Err(Error::NotAStore { .. })) {
            store.backup(&folder).unwrap();
        } else {
            assert_clean(&folder);
            state_of(
                &options().open(&folder).unwrap(),
                known.states,
                copy.state,
                copy.state,
            );
        }
    }
    state
}

/// Checks that the store works like any other.
fn go_on(root: &Path, known: &Known<'_>, state: usize) {
    let path = store_in(root);
    let mut model = known.states[state].clone();
    let store = options().open(&path).unwrap();
    let begun = store.unfinished_rebuild().unwrap();
    let done = store.rebuild(Rebuild::resume().memory(64)).unwrap();
    assert_eq!(done, begun.is_some());
    let text = sample(3, 6);
    perform_on(&store, &Verb::Add(vec![(7, text), (11, text)])).unwrap();
    for k in [7, 11] {
        model.add(&key(k), &text.words(), false);
    }
    check_answers(&store, &model);
    drop(store);
    assert_clean(&path);
}

pub(super) fn assert_clean(path: &Path) {
    let report = options().check(path).unwrap();
    assert!(report.is_clean(), "{:?}", report.problems);
}

#[test]
fn a_crash_at_any_step_leaves_the_last_commit() {
    let recording = record(&story());
    let long = u64::from(patience());
    let survivors = |index: usize| {
        let seed = index as u64;
        if long == 0 {
            // A third of the steps, each with one kind of survivors in turn.
            if !index.is_multiple_of(3) {
                return Vec::new();
            }
            let ways = [
                Survivors::None,
                Survivors::Any(seed),
                Survivors::All,
                Survivors::Any(seed),
            ];
            return vec![ways[index / 3 % ways.len()]];
        }
        let mut all = vec![
            Survivors::None,
            Survivors::All,
            Survivors::Names,
            Survivors::Bytes,
            Survivors::Torn,
        ];
        all.extend((0..long).map(|more| Survivors::Any(seed * long + more)));
        all
    };
    let points = recording.crash(survivors, 200);
    say(&format!("{} events, {points:?}", recording.events.len()));
    assert!(points.crashes > 100);
}

#[test]
fn a_crash_in_any_story_leaves_the_last_commit() {
    for seed in 0..=10 * patience() {
        let story = any_story(seed);
        let _place = FailureNote(format!("story {seed}: {story:?}"));
        let recording = record(&story);
        let survivors = |index: usize| {
            // The modulus is prime, so that all kinds of steps come up.
            let by_chance = Survivors::Any((index + 1) as u64 * u64::from(seed + 1));
            match (index % 13, patience()) {
                (0, _) => vec![Survivors::All],
                (1, _) => vec![Survivors::None],
                (2, _) | (_, 1..) => vec![by_chance],
                _ => Vec::new(),
            }
        };
        let points = recording.crash(survivors, 200);
        say(&format!(
            "story {seed}: {} events, {points:?}",
            recording.events.len()
        ));
    }
}
