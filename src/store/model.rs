//! The store against a model that keeps texts in a map and compares each with each.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use proptest::prelude::*;

use super::input::{Change, Input, Relation, Verdict};
use super::query::Query;
use super::rebuild::Rebuild;
use super::{Options, Store};
use crate::error::Error;
use crate::schema::Schema;
use crate::text::{ShingleSet, Shingler, Shingling};

const THRESHOLD: f64 = 0.5;

/// Sixty-four bands of one row miss a pair at 0.5 with a probability of 2^-64, so the store's
/// answers are those of the model.
pub(super) fn schema(keep_shingles: bool) -> Schema {
    let builder = Schema::builder().shingling(Shingling::Word(2));
    let builder = builder.permutations(64).bands(64, 1).threshold(THRESHOLD);
    builder.keep_shingles(keep_shingles).build().unwrap()
}

#[derive(Clone, Debug)]
enum Step {
    AddAll(Vec<(u8, Text)>),
    AddUnique(Vec<(u8, Text)>),
    Insert(u8, Text),
    Remove(u8),
    Commit,
    Abandon,
    Reopen,
    Rebuild(Remake),
    Cancel,
}

/// A rebuild, and what is done to the store while it goes on.
#[derive(Clone, Debug)]
struct Remake {
    /// None to compact.
    permutations: Option<u32>,
    /// It is stopped when it reports for this time.
    stop: Option<usize>,
    /// At some of its reports a document is inserted or removed.
    meanwhile: Vec<Option<(u8, Option<Text>)>>,
}

/// A text of one of a few families, whose members differ in some words, and in case.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) family: u8,
    pub(super) changed: u8,
    pub(super) upper: bool,
}

impl Text {
    pub(super) fn words(&self) -> String {
        if self.family == 0 {
            return "!".repeat(usize::from(self.changed));
        }
        let words = (0..12_u8).map(|word| {
            let changed = word < self.changed;
            format!(
                "w{}x{word}{}",
                self.family,
                if changed { "changed" } else { "" }
            )
        });
        let text = words.collect::<Vec<_>>().join(" ");
        if self.upper {
            text.to_uppercase()
        } else {
            text
        }
    }
}

pub(super) fn text() -> impl Strategy<Value = Text> {
    (0..5_u8, 0..7_u8, any::<bool>()).prop_map(|(family, changed, upper)| Text {
        family,
        changed,
        upper,
    })
}

fn step() -> impl Strategy<Value = Step> {
    let batch = || prop::collection::vec((0..12_u8, text()), 1..9);
    prop_oneof![
        4 => batch().prop_map(Step::AddAll),
        2 => batch().prop_map(Step::AddUnique),
        3 => (0..12_u8, text()).prop_map(|(key, text)| Step::Insert(key, text)),
        3 => (0..12_u8).prop_map(Step::Remove),
        2 => Just(Step::Commit),
        1 => Just(Step::Abandon),
        1 => Just(Step::Reopen),
        3 => remake().prop_map(Step::Rebuild),
        1 => Just(Step::Cancel),
    ]
}

fn remake() -> impl Strategy<Value = Remake> {
    let permutations = prop::option::of((0..3_u32).prop_map(|more| 64 + 20 * more));
    let stop = prop::option::of(1..20_usize);
    let change = prop::option::weighted(0.3, (0..12_u8, prop::option::of(text())));
    let meanwhile = prop::collection::vec(change, 0..16);
    (permutations, stop, meanwhile).prop_map(|(permutations, stop, meanwhile)| Remake {
        permutations,
        stop,
        meanwhile,
    })
}

/// What the store should hold.
#[derive(Clone, Default)]
pub(super) struct Model {
    pub(super) texts: BTreeMap<String, String>,
}

impl Model {
    fn shingles(text: &str) -> ShingleSet {
        let shingler = Shingler::new(Shingling::Word(2), true, true).unwrap();
        shingler.shingles(text).unwrap()
    }

    /// The documents other than `key` that match `text`: best first, ties by key.
    fn matches(&self, key: &str, text: &str) -> Vec<(String, f64)> {
        let set = Model::shingles(text);
        let mut matches: Vec<(String, f64)> = self
            .texts
            .iter()
            .filter(|(other, _)| *other != key)
            .map(|(other, stored)| {
                let same = stored == text;
                let jaccard = if same {
                    1.0
                } else {
                    set.jaccard(&Model::shingles(stored))
                };
                (other.clone(), jaccard)
            })
            .filter(|(_, jaccard)| *jaccard >= THRESHOLD)
            .collect();
        matches.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        matches
    }

    pub(super) fn add(&mut self, key: &str, text: &str, unique: bool) -> (Change, Relation) {
        let old = self.texts.get(key);
        if old.is_some_and(|old| old == text) {
            return (Change::Unchanged, Relation::Novel);
        }
        let copied = self
            .texts
            .iter()
            .any(|(other, t)| other != key && t == text);
        let relation = if copied {
            Relation::ExactCopy
        } else if self.matches(key, text).is_empty() {
            Relation::Novel
        } else {
            Relation::NearDuplicate
        };
        if unique && relation != Relation::Novel {
            return (Change::KeptOut, relation);
        }
        let change = if old.is_some() {
            Change::Updated
        } else {
            Change::Added
        };
        self.texts.insert(key.to_owned(), text.to_owned());
        (change, relation)
    }
}

pub(super) fn key(key: u8) -> String {
    format!("key{key:02}")
}

fn add_all(
    store: &Store,
    writer: &mut super::Writer<'_>,
    model: &mut Model,
    batch: &[(u8, Text)],
    unique: bool,
) {
    writer.unique(unique);
    let inputs = batch
        .iter()
        .map(|(k, text)| Input::new(key(*k), text.words()));
    let outcomes = writer.add_all(inputs.collect()).unwrap();
    for ((k, text), outcome) in batch.iter().zip(outcomes) {
        let outcome = outcome.unwrap();
        let before = model.clone();
        let expected = model.add(&key(*k), &text.words(), unique);
        assert_eq!((outcome.change, outcome.relation), expected, "{k} {text:?}");
        if let Some(earlier) = outcome.earlier {
            let best = before.matches(&key(*k), &text.words()).remove(0);
            let jaccard = if store.schema().keeps_shingles() {
                earlier.jaccard.unwrap()
            } else {
                best.1
            };
            if expected.1 == Relation::NearDuplicate {
                assert_eq!((earlier.key, jaccard), best);
            }
        }
    }
}

pub(super) fn check_answers(store: &Store, model: &Model) {
    let stored: Vec<String> = store.documents().unwrap().map(|d| d.unwrap().key).collect();
    let expected: Vec<String> = model.texts.keys().cloned().collect();
    assert_eq!(stored, expected);
    for (key, text) in &model.texts {
        let expected = model.matches(key, text);
        for query in [Query::key(key), Query::text(text).except(key)] {
            let matches = store.query(&query).unwrap();
            let found: Vec<(String, f64)> = matches
                .iter()
                .map(|m| (m.key.clone(), m.jaccard.unwrap()))
                .collect();
            assert_eq!(found, expected, "{query:?}");
            let limited = store.query(&query.limit(2)).unwrap();
            assert_eq!(limited, matches[..matches.len().min(2)]);
        }
    }
    let contents: std::collections::BTreeSet<&String> = model.texts.values().collect();
    let stats = store.stats().unwrap();
    assert_eq!(stats.contents, contents.len() as u64);
    assert_eq!(stats.documents, model.texts.len() as u64);
}

/// Runs the steps on a store and the model; the writer lives until a step ends it.
fn run(steps: &[Step], threads: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let options = Options::new().threads(threads);
    let mut store = options.create(&path, &schema(true)).unwrap();
    let mut committed = Model::default();
    let mut rest = steps;
    while !rest.is_empty() {
        let mut model = committed.clone();
        let mut writer = store.writer().unwrap();
        writer.evidence(steps.len().is_multiple_of(2));
        let mut last = None;
        while let Some((step, others)) = rest.split_first() {
            rest = others;
            match step {
                Step::AddAll(batch) => add_all(&store, &mut writer, &mut model, batch, false),
                Step::AddUnique(batch) => add_all(&store, &mut writer, &mut model, batch, true),
                Step::Remove(k) => {
                    let removed = writer.remove(&key(*k)).unwrap();
                    assert_eq!(removed, model.texts.remove(&key(*k)).is_some());
                }
                Step::Commit => {
                    writer.commit().unwrap();
                    committed = model.clone();
                    check_answers(&store, &committed);
                }
                Step::Insert(..)
                | Step::Abandon
                | Step::Reopen
                | Step::Rebuild(_)
                | Step::Cancel => {
                    last = Some(step);
                    break;
                }
            }
        }
        drop(writer);
        check_answers(&store, &committed);
        match last {
            Some(Step::Insert(k, text)) => insert(&store, &mut committed, &key(*k), &text.words()),
            Some(Step::Reopen) => {
                drop(store);
                let report = options.check(&path).unwrap();
                assert!(report.is_clean(), "{:?}", report.problems);
                store = options.open(&path).unwrap();
                check_answers(&store, &committed);
            }
            Some(Step::Rebuild(remake)) => rebuild(&store, &mut committed, remake),
            Some(Step::Cancel) => {
                let unfinished = store.unfinished_rebuild().unwrap();
                assert_eq!(store.cancel_rebuild().unwrap(), unfinished.is_some());
                assert_eq!(store.unfinished_rebuild().unwrap(), None);
            }
            _ => {}
        }
    }
    drop(store);
    let report = Store::check(&path).unwrap();
    assert!(report.is_clean(), "{:?}", report.problems);
}

/// Rebuilds the store, with changes by the way; a rebuild that was stopped before is finished if it
/// was another.
fn rebuild(store: &Store, model: &mut Model, remake: &Remake) {
    let target = |permutations| {
        let builder = store.schema().to_builder();
        builder.permutations(permutations).build().unwrap()
    };
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
        match meanwhile.next().and_then(Option::as_ref) {
            Some((k, Some(text))) => insert(store, model, &key(*k), &text.words()),
            Some((k, None)) => {
                let mut writer = store.writer().unwrap();
                let removed = writer.remove(&key(*k)).unwrap();
                writer.commit().unwrap();
                assert_eq!(removed, model.texts.remove(&key(*k)).is_some());
            }
            None => {}
        }
        if Some(reports) == remake.stop {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let rebuild = match remake.permutations {
        Some(permutations) => Rebuild::reindex(target(permutations)),
        None => Rebuild::compact(),
    };
    let is_same = remake.permutations == Some(before.permutations());
    match store.rebuild(rebuild.memory(64).watch(&mut watch)) {
        Ok(rebuilt) => {
            assert_eq!(rebuilt, !is_same);
            let permutations = remake.permutations.unwrap_or(before.permutations());
            assert_eq!(*store.schema(), target(permutations));
        }
        Err(Error::Interrupted) => assert_eq!(*store.schema(), *before),
        Err(Error::Unfinished { .. }) => {
            let other = other.unwrap();
            assert!(store.rebuild(Rebuild::resume()).unwrap());
            assert_eq!(*store.schema(), other.schema);
        }
        Err(error) => panic!("{error}"),
    }
    check_answers(store, model);
}

fn insert(store: &Store, model: &mut Model, key: &str, text: &str) {
    let earlier = model.matches(key, text);
    let verdict = store.insert_unless_duplicate(key, text).unwrap();
    match model.add(key, text, true).0 {
        Change::Unchanged => assert_eq!(verdict, Verdict::Unchanged),
        Change::KeptOut => match verdict {
            Verdict::Duplicate(found) => assert_eq!(found.key, earlier[0].0),
            other => panic!("{other:?}"),
        },
        _ => assert_eq!(verdict, Verdict::Inserted),
    }
    check_answers(store, model);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn the_store_behaves_like_the_model(
        steps in prop::collection::vec(step(), 1..24),
        threads in 1..3_usize,
    ) {
        run(&steps, threads);
    }
}
