//! Steps on a store and on the model.

use std::path::{Path, PathBuf};
use std::thread;

use super::answers::check;
use super::calls::make;
use super::documents::{Model, PASSAGE, SHINGLING, THRESHOLD};
use super::readers::History;
use super::rebuilding::{cancel, rebuild};
use super::session::{Session, Sketched, input};
use super::step::{Given, Step, key};
use crate::clock;
use crate::schema::Schema;
use crate::storage::Limits;
use crate::store::handle::{Options, Store};

/// Sixty-four bands of one row miss a pair at 0.5 with a probability of 2^-64, so the store's answers are those of the
/// model.
pub(crate) fn schema() -> Schema {
    let builder = Schema::builder().shingling(SHINGLING).passage(PASSAGE);
    let builder = builder.permutations(64).bands(64, 1).threshold(THRESHOLD);
    builder.build().unwrap()
}

/// When the steps begin.
const NOON: i64 = 20_000 * clock::DAY + clock::DAY / 2;

/// Takes the steps on a store in `folder` with `threads` threads, while `readers` other threads read.
///
/// # Panics
///
/// If the store behaves differently from the model.
pub(crate) fn run(folder: &Path, steps: &[Step], threads: usize, readers: usize) {
    let mut run = Run {
        folder,
        options: Options::new().threads(threads).limits(Limits::LOW),
        evidence: steps.len().is_multiple_of(2),
        committed: Model::default(),
        sketched: None,
        folders: 0,
    };
    clock::set(NOON);
    let mut path = run.new_folder();
    let mut store = run.options.create(&path, &schema()).unwrap();
    let mut rest = steps;
    while !rest.is_empty() {
        let history = History::new(&run.committed);
        path = thread::scope(|scope| {
            let _end = history.end();
            for reader in 0..readers {
                let (store, history) = (&store, &history);
                scope.spawn(move || history.ask(store, reader));
            }
            run.open(&path, &store, &history, &mut rest)
        });
        drop(store);
        let report = run.options.check(&path).unwrap();
        assert!(report.is_clean(), "{:?}", report.problems);
        store = run.options.open(&path).unwrap();
        check(&store, &run.committed);
    }
}

struct Run<'a> {
    folder: &'a Path,
    options: Options,
    evidence: bool,
    /// What the store holds.
    committed: Model,
    sketched: Sketched,
    folders: usize,
}

impl Run<'_> {
    fn new_folder(&mut self) -> PathBuf {
        self.folders += 1;
        self.folder.join(self.folders.to_string())
    }

    /// Takes steps while the store in `path` is open. Returns the path of the one to open next.
    fn open(
        &mut self,
        path: &Path,
        store: &Store,
        history: &History,
        rest: &mut &[Step],
    ) -> PathBuf {
        loop {
            let session = Session::new(store, history, &self.committed);
            let (sketched, committed) = (&mut self.sketched, &mut self.committed);
            let step = session.run(rest, self.evidence, sketched, committed);
            check(store, &self.committed);
            let model = &mut self.committed;
            match step {
                Some(Step::Calls(calls)) => make(store, history, model, calls),
                Some(Step::Merge(documents)) => self.merge(store, history, documents),
                Some(Step::Rebuild(remake)) => rebuild(store, history, model, remake),
                Some(Step::Cancel) => cancel(store),
                Some(Step::Backup { go_on }) => {
                    let copy = self.backup(store);
                    if *go_on {
                        return copy;
                    }
                }
                Some(Step::Reopen) | None => {
                    // A batch would keep the store open.
                    self.sketched = None;
                    return path.to_owned();
                }
                // These steps only drop the writer, which has happened.
                Some(_) => {}
            }
        }
    }

    fn backup(&mut self, store: &Store) -> PathBuf {
        let copy = self.new_folder();
        let stats = store.backup(&copy).unwrap();
        assert_eq!(stats.documents, self.committed.texts().len() as u64);
        check(&Store::open(&copy).unwrap(), &self.committed);
        copy
    }

    /// Merges a store that is made from the documents.
    fn merge(&mut self, store: &Store, history: &History, documents: &[Given]) {
        let path = self.new_folder();
        let other = self.options.create(path, &store.schema()).unwrap();
        let mut added = Model::default();
        let mut writer = other.writer().unwrap();
        // So that of a document that both have, either may have the later day.
        let now = clock::now();
        clock::set(now - clock::DAY);
        for (k, text) in documents {
            let key = key(*k);
            writer.add_all(vec![input(&key, *text)]).unwrap();
            added.add_from(&key, &text.words(), text.source(), false);
        }
        writer.commit().unwrap();
        drop(writer);
        clock::set(now);
        let model = &mut self.committed;
        let expected = model.merge(&added);
        let merge = || store.merge(&other, 64);
        assert_eq!(history.commit(model, merge).unwrap(), expected);
        check(store, model);
    }
}
