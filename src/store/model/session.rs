//! The steps of one writer.

use super::documents::{Admits, Admitted, Model};
use super::readers::History;
use super::step::{Given, Step, Text, key, prefix};
use crate::clock;
use crate::storage::SourceFile;
use crate::store::handle::Store;
use crate::store::offer::{Change, Input, Outcome, Relation};
use crate::store::{Batch, Writer};

/// A sketched batch, and its documents.
pub(super) type Sketched = Option<(Vec<Given>, Batch)>;

pub(super) struct Session<'a> {
    store: &'a Store,
    history: &'a History,
    writer: Writer,
    /// What the writer would commit.
    model: Model,
    admitted: Admitted,
}

impl<'a> Session<'a> {
    pub(super) fn new(store: &'a Store, history: &'a History, committed: &Model) -> Session<'a> {
        Session {
            store,
            history,
            writer: store.writer().unwrap(),
            admitted: committed.admitted(),
            model: committed.clone(),
        }
    }

    /// Takes steps up to the first one that is not for a writer, and returns that one. Afterwards, `committed` is what
    /// the store holds.
    pub(super) fn run<'s>(
        mut self,
        steps: &mut &'s [Step],
        evidence: bool,
        sketched: &mut Sketched,
        committed: &mut Model,
    ) -> Option<&'s Step> {
        self.writer.evidence(evidence);
        while let Some((step, rest)) = steps.split_first() {
            *steps = rest;
            match step {
                Step::AddAll(documents) => self.add(documents, None, false),
                Step::AddUnique(documents) => self.add(documents, None, true),
                Step::Admit(documents) => {
                    let batch = self.store.sketch_all(inputs(documents));
                    self.admit(documents, batch);
                }
                Step::Sketch(documents) => {
                    let batch = self.store.sketch_all(inputs(documents));
                    *sketched = Some((documents.clone(), batch));
                }
                Step::AddSketched => {
                    if let Some((documents, batch)) = sketched.take() {
                        self.add(&documents, Some(batch), false);
                    }
                }
                Step::AdmitSketched => {
                    if let Some((documents, batch)) = sketched.take() {
                        self.admit(&documents, batch);
                    }
                }
                Step::BeginRun => self.begin_run(committed),
                Step::PublishRun => self.publish_run(committed),
                Step::NextDay => clock::set(clock::now() + clock::DAY),
                Step::Remove(k) => self.remove(&key(*k)),
                Step::Rename(old, new) => self.rename(&key(*old), &key(*new)),
                Step::RemovePrefix(which) => self.remove_prefix(prefix(*which), committed),
                Step::Commit => {
                    let writer = &mut self.writer;
                    self.history
                        .commit(&self.model, || writer.commit().unwrap());
                    *committed = self.model.clone();
                    super::answers::check(self.store, committed);
                }
                other => return Some(other),
            }
        }
        None
    }

    fn add(&mut self, documents: &[Given], batch: Option<Batch>, unique: bool) {
        self.writer.unique(unique);
        let outcomes = match batch {
            Some(batch) => self.writer.add_batch(batch),
            None => self.writer.add_all(inputs(documents)),
        };
        for ((k, text), outcome) in documents.iter().zip(outcomes.unwrap()) {
            let before = self.model.clone();
            let (key, source, text) = (key(*k), text.source(), text.words());
            let outcome = outcome.unwrap();
            let expected = self.model.add_from(&key, &text, source, unique);
            assert_eq!(
                (outcome.change, outcome.relation),
                expected,
                "{key} {text:?}"
            );
            check_evidence(outcome, before.earlier(&key, &text));
        }
    }

    fn admit(&mut self, documents: &[Given], batch: Batch) {
        let admissions = self.writer.admit_batch(batch).unwrap();
        for ((k, text), admission) in documents.iter().zip(admissions) {
            let (key, source, text) = (key(*k), text.source(), text.words());
            let outcome = admission.unwrap();
            let found = if let Some(earlier) = outcome.duplicate_of() {
                Admits::Duplicate {
                    key: earlier.key.clone(),
                    jaccard: earlier.jaccard.unwrap(),
                    is_of_this_writer: outcome.earlier_is_of_this_writer,
                    is_copy: outcome.relation == Relation::ExactCopy,
                }
            } else if outcome.change == Change::Unchanged {
                Admits::Wordless
            } else {
                let expected = (Change::Added, Relation::Novel);
                assert_eq!((outcome.change, outcome.relation), expected);
                let key = outcome.second_key.unwrap_or_else(|| key.clone());
                Admits::New { key }
            };
            let expected = self.model.admit(self.admitted, &key, &text, source);
            assert_eq!(found, expected, "{key} {text:?}");
        }
    }

    fn begin_run(&mut self, committed: &mut Model) {
        // Beginning a run also commits what precedes it.
        let writer = &mut self.writer;
        self.history
            .commit(&self.model, || writer.commit().unwrap());
        let forgotten = self.model.forget_run();
        let begin = || writer.begin_run().unwrap();
        assert_eq!(self.history.commit(&self.model, begin), forgotten);
        self.admitted.in_run = true;
        *committed = self.model.clone();
    }

    fn publish_run(&mut self, committed: &mut Model) {
        let writer = &mut self.writer;
        self.model.publish_run();
        self.history
            .commit(&self.model, || writer.publish_run().unwrap());
        self.admitted.in_run = false;
        *committed = self.model.clone();
        super::answers::check(self.store, committed);
    }

    fn remove(&mut self, key: &str) {
        let removed = self.writer.remove(key).unwrap();
        assert_eq!(removed, self.model.remove(key), "{key}");
    }

    fn rename(&mut self, old: &str, new: &str) {
        let renamed = self.writer.rename(old, new).unwrap().is_some();
        assert_eq!(renamed, self.model.rename(old, new), "{old} {new}");
    }

    /// Removes the committed documents whose keys begin with `prefix`.
    fn remove_prefix(&mut self, prefix: &str, committed: &Model) {
        let documents = self.store.documents_with_prefix(prefix).unwrap();
        let found: Vec<String> = documents.map(|document| document.unwrap().key).collect();
        let keys = committed.texts().keys();
        let expected: Vec<&String> = keys.filter(|key| key.starts_with(prefix)).collect();
        assert!(found.iter().eq(expected), "{prefix}: {found:?}");
        for key in &found {
            self.remove(key);
        }
    }
}

/// The document of a text, with its file.
pub(super) fn input(key: &str, text: Text) -> Input {
    let file = text.source().map(SourceFile::new);
    Input::new(key, text.words()).of_file(file)
}

fn inputs(documents: &[Given]) -> Vec<Input> {
    let inputs = documents.iter();
    inputs.map(|(k, text)| input(&key(*k), *text)).collect()
}

/// Checks that the earlier document of an outcome is the best match.
fn check_evidence(outcome: Outcome, expected: Option<(String, f64)>) {
    if let Some(earlier) = outcome.earlier {
        let (key, similarity) = expected.unwrap();
        assert_eq!(earlier.jaccard.unwrap().to_bits(), similarity.to_bits());
        assert_eq!(earlier.key, key);
        let is_copy = outcome.relation == Relation::ExactCopy;
        assert_eq!(earlier.exact_copy, is_copy);
    }
}
