//! The store on a disk that fails.
//!
//! Crashes (`crash.rs`), kills beside another process (`killed.rs`) and refusals (`refusal.rs`) at every step are checked against the model. A salvage has every
//! step refused (`salvage.rs`), and reads files that the disk can read only in part (`sectors.rs`).

mod crash;
mod killed;
mod refusal;
mod salvage;
mod sectors;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::model::{Model, SharedCall, Text, apply, check_answers, key, make_together, schema};
use super::{Input, Options, Rebuild, Store};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::storage::Limits;
use crate::storage::watch::DiskWatch;

/// An operation on a store that is done completely or not at all.
#[derive(Clone, Debug)]
enum Verb {
    Add(Vec<(u8, Text)>),
    Remove(Vec<u8>),
    /// Calls from as many threads, which share a commit.
    Calls(Vec<SharedCall>),
    /// Begins a run, which forgets the previous one.
    BeginRun,
    /// Admits documents to a run. It follows [`Verb::BeginRun`], so that it is one commit.
    Admit(Vec<(u8, Text)>),
    PublishRun,
    Reindex(u32),
    /// Stops at the report of this number.
    Compact(Option<usize>),
    Cancel,
    Pack,
    Merge(Vec<(u8, Text)>),
    /// Copies into a folder of this name.
    Backup(u8),
    Reopen,
    /// Goes on with another handle, as another process would, while this one stays open.
    OtherHandle,
}

fn verb() -> impl Strategy<Value = Verb> {
    let batch = || prop::collection::vec((0..12_u8, any::<u8>().prop_map(Text::read)), 1..7);
    let permutations = (0..3_u32).prop_map(|more| 64 + 20 * more);
    prop_oneof![
        6 => batch().prop_map(Verb::Add),
        3 => prop::collection::vec(0..12_u8, 1..4).prop_map(Verb::Remove),
        3 => prop::collection::vec(any::<[u8; 3]>().prop_map(SharedCall::read), 1..6).prop_map(Verb::Calls),
        2 => batch().prop_map(Verb::Admit),
        1 => Just(Verb::BeginRun),
        1 => Just(Verb::PublishRun),
        2 => permutations.prop_map(Verb::Reindex),
        2 => prop::option::of(1..12_usize).prop_map(Verb::Compact),
        1 => Just(Verb::Cancel),
        2 => Just(Verb::Pack),
        1 => batch().prop_map(Verb::Merge),
        1 => (0..3_u8).prop_map(Verb::Backup),
        1 => Just(Verb::Reopen),
        3 => Just(Verb::OtherHandle),
    ]
}

fn sample(family: u8, changed: u8) -> Text {
    let upper = changed % 2 == 1;
    Text {
        family,
        changed,
        upper,
    }
}

/// A short story that has every verb.
fn story() -> Vec<Verb> {
    let texts = |keys: std::ops::Range<u8>, changed| {
        keys.map(|key| (key, sample(1 + key % 4, changed)))
            .collect::<Vec<_>>()
    };
    vec![
        Verb::Add(texts(0..3, 0)),
        Verb::Add(texts(3..5, 1)),
        Verb::OtherHandle,
        Verb::Remove(vec![0, 3]),
        Verb::Backup(0),
        Verb::Reindex(84),
        Verb::OtherHandle,
        Verb::Add(texts(4..9, 2)),
        Verb::Pack,
        Verb::Compact(Some(2)),
        Verb::OtherHandle,
        Verb::Remove(vec![5]),
        Verb::Calls(vec![
            SharedCall::Insert((9, sample(2, 6))),
            SharedCall::Rename(6, 10),
            SharedCall::Replace((7, sample(3, 3))),
            SharedCall::Remove(8),
        ]),
        Verb::Compact(None),
        Verb::OtherHandle,
        Verb::Merge(texts(8..12, 4)),
        Verb::Reopen,
        Verb::Add(texts(2..4, 5)),
        Verb::BeginRun,
        Verb::Admit(texts(12..16, 6)),
        Verb::Compact(None),
        Verb::Add(texts(12..13, 6)),
        Verb::BeginRun,
        Verb::Admit(texts(13..17, 6)),
        Verb::OtherHandle,
        Verb::PublishRun,
        Verb::BeginRun,
    ]
}

/// A copy: when it was started and finished, counted in events, and of which state it is.
#[derive(Clone, Debug)]
struct Copy {
    folder: PathBuf,
    begun: usize,
    done: Option<usize>,
    state: usize,
}

/// A store in a folder that is watched, and what it should hold.
struct Session {
    watch: DiskWatch,
    root: PathBuf,
    store: Option<Store>,
    /// Another handle of it.
    other: Option<Store>,
    /// What it held after each verb; the last one is the current state.
    states: Vec<Model>,
    copies: BTreeMap<u8, Copy>,
}

fn options() -> Options {
    Options::new().threads(1).limits(Limits::LOW)
}

fn store_in(root: &Path) -> PathBuf {
    // Its parent does not exist yet, so that the tests see which names are durable.
    root.join("new").join("store")
}

fn copy_in(root: &Path, number: u8) -> PathBuf {
    root.join("copies").join(number.to_string())
}

impl Session {
    /// Makes a store below `root`.
    fn new(root: &Path) -> Session {
        Session {
            watch: DiskWatch::new(root),
            root: root.to_owned(),
            store: None,
            other: None,
            states: vec![Model::default()],
            copies: BTreeMap::new(),
        }
    }

    /// The store. It is opened or made if it is not open.
    fn store(&mut self) -> Result<&Store> {
        if self.store.is_none() {
            let path = store_in(&self.root);
            let store = match options().open(&path) {
                Err(Error::NotAStore { .. }) => options().create(&path, &schema()),
                opened => opened,
            };
            self.store = Some(store?);
        }
        match &self.store {
            Some(store) => Ok(store),
            None => unreachable!("it was just opened"),
        }
    }

    /// The model of the store after a verb.
    fn after(&self, verb: &Verb) -> Model {
        let mut model = self.states[self.states.len() - 1].clone();
        match verb {
            Verb::Add(batch) => batch.iter().for_each(|(k, text)| {
                model.add(&key(*k), &text.words(), false);
            }),
            Verb::Merge(batch) => {
                let mut other = Model::default();
                for (k, text) in batch {
                    other.add(&key(*k), &text.words(), false);
                }
                model.merge(&other);
            }
            Verb::Remove(keys) => keys.iter().for_each(|k| {
                model.remove(&key(*k));
            }),
            Verb::Calls(calls) => apply(calls, &mut model),
            Verb::BeginRun => drop(model.forget_run()),
            Verb::Admit(batch) => batch
                .iter()
                .for_each(|(k, text)| model.admit_to_run(&key(*k), &text.words())),
            Verb::PublishRun => model.publish_run(),
            _ => {}
        }
        model
    }

    /// Does a verb, and records the states that may be seen in the meantime.
    fn perform(&mut self, verb: &Verb) -> Result<()> {
        let last = self.states.len() - 1;
        let after = self.after(verb);
        self.watch.between(last, last + 1);
        self.states.push(after);
        let done = self.attempt(verb);
        if done.is_ok() {
            self.watch.between(last + 1, last + 1);
        }
        done
    }

    fn attempt(&mut self, verb: &Verb) -> Result<()> {
        let (root, state) = (self.root.clone(), self.states.len() - 1);
        match verb {
            Verb::Reopen => {
                self.store = None;
                self.store().map(|_| ())
            }
            Verb::OtherHandle => {
                std::mem::swap(&mut self.store, &mut self.other);
                self.store().map(|_| ())
            }
            Verb::Backup(number) => {
                let folder = copy_in(&root, *number);
                if self
                    .copies
                    .get(number)
                    .is_some_and(|copy| copy.done.is_some())
                {
                    return Ok(());
                }
                let begun = self.watch.events().len();
                let copy = Copy {
                    folder: folder.clone(),
                    begun,
                    done: None,
                    state,
                };
                let copy = self.copies.entry(*number).or_insert(copy);
                copy.state = state;
                self.store()?.backup(folder)?;
                let done = self.watch.events().len();
                if let Some(copy) = self.copies.get_mut(number) {
                    copy.done = Some(done);
                }
                Ok(())
            }
            verb => perform_on(self.store()?, verb),
        }
    }
}

fn perform_on(store: &Store, verb: &Verb) -> Result<()> {
    match verb {
        Verb::Add(batch) => add(store, batch),
        Verb::Remove(keys) => {
            let mut writer = store.writer()?;
            for k in keys {
                writer.remove(&key(*k))?;
            }
            writer.commit()
        }
        Verb::Calls(calls) => make_together(calls, store),
        Verb::BeginRun => store.writer()?.begin_run().map(drop),
        Verb::Admit(batch) => {
            let mut writer = store.writer()?;
            writer.begin_run()?;
            for admission in writer.admit_batch(store.sketch_all(inputs(batch)))? {
                admission?;
            }
            writer.commit()
        }
        Verb::PublishRun => store.writer()?.publish_run(),
        Verb::Reindex(permutations) => {
            let builder = store.schema().to_builder();
            let schema = builder.permutations(*permutations).build()?;
            rebuild(store, Rebuild::reindex(schema), None)
        }
        Verb::Compact(stop) => rebuild(store, Rebuild::compact(), *stop),
        Verb::Cancel => store.cancel_rebuild().map(|_| ()),
        Verb::Pack => store.pack_if_loose().map(drop),
        Verb::Merge(batch) => {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("other");
            let other = options().create(path, &store.schema()).unwrap();
            add(&other, batch).unwrap();
            store.merge(&other, 1).map(|_| ())
        }
        Verb::Backup(_) | Verb::Reopen | Verb::OtherHandle => {
            unreachable!("it needs more than the store")
        }
    }
}

fn add(store: &Store, batch: &[(u8, Text)]) -> Result<()> {
    let mut writer = store.writer()?;
    for outcome in writer.add_all(inputs(batch))? {
        outcome?;
    }
    writer.commit()
}

fn inputs(batch: &[(u8, Text)]) -> Vec<Input> {
    let inputs = batch.iter();
    let input = |(k, text): &(u8, Text)| Input::new(key(*k), text.words());
    inputs.map(input).collect()
}

/// Rebuilds a store. If it has an unfinished rebuild to another target, finishes that one instead.
fn rebuild(store: &Store, rebuild: Rebuild<'_>, stop: Option<usize>) -> Result<()> {
    let mut reports = 0;
    let progress = Progress::observed(move |progress| {
        reports += 1;
        if Some(reports) == stop {
            progress.stop();
        }
    });
    match store.watched(&progress).rebuild(rebuild.memory(64)) {
        Err(Error::Unfinished { .. }) => store.rebuild(Rebuild::resume().memory(64)).map(|_| ()),
        Ok(_) | Err(Error::Stopped) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The state among `first..=last` that the documents of a store are in.
fn state_of(store: &Store, states: &[Model], first: usize, last: usize) -> usize {
    let found: BTreeMap<String, ([u8; 32], bool)> = store
        .documents()
        .unwrap()
        .map(|document| {
            let document = document.unwrap();
            (document.key, (document.hash, document.is_published))
        })
        .collect();
    let is_it = |model: &Model| {
        let hash = |text: &String| *blake3::hash(text.as_bytes()).as_bytes();
        let expected = model
            .texts()
            .iter()
            .map(|(key, text)| (key, (hash(text), !model.unpublished().contains(key))));
        found.iter().map(|(key, found)| (key, *found)).eq(expected)
    };
    match (first..=last).rev().find(|&state| is_it(&states[state])) {
        Some(state) => state,
        None => panic!(
            "it is in none of the states {first} to {last}: {:?}, and not {:?}",
            found.keys(),
            states[last].texts().keys()
        ),
    }
}

/// The factor by which the tests of this folder run longer, from `DEDUPDB_PATIENCE`.
fn patience() -> u32 {
    #[expect(
        clippy::disallowed_methods,
        reason = "how long a test is to go on is said from outside"
    )]
    let patience = std::env::var("DEDUPDB_PATIENCE").ok();
    patience.and_then(|times| times.parse().ok()).unwrap_or(0)
}

/// A random story.
fn any_story(seed: u32) -> Vec<Verb> {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::{Config, RngSeed, TestRunner};

    let rng_seed = RngSeed::Fixed(seed.into());
    let mut runner = TestRunner::new(Config {
        rng_seed,
        ..Config::default()
    });
    let stories = prop::collection::vec(verb(), 4..16);
    let story = stories.new_tree(&mut runner).unwrap().current();
    let whole = |verb| match verb {
        Verb::Admit(_) => vec![Verb::BeginRun, verb],
        verb => vec![verb],
    };
    story.into_iter().flat_map(whole).collect()
}

/// Prints where a test was when it failed.
struct FailureNote(String);

impl Drop for FailureNote {
    fn drop(&mut self) {
        if std::thread::panicking() {
            say(&self.0);
        }
    }
}

#[expect(clippy::print_stderr, reason = "it is what a test has to say")]
fn say(what: &str) {
    eprintln!("{what}");
}
