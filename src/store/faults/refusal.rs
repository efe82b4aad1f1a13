//! Every step refused once: the error names its file, the last commit is intact, and the store works again once the
//! cause is gone.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::crash::assert_clean;
use super::{
    Copy, FailureNote, Model, Session, Verb, any_story, check_answers, copy_in, options, patience,
    perform_on, say, state_of, store_in, story,
};
use crate::error::{Error, Result};
use crate::storage::crash::{SimulatedDisk, Survivors};
use crate::storage::watch::{DiskFault, DiskWatch};
use crate::store::handle::Store;

/// This many of the last steps are always refused: when they fail, most is done.
const LAST_STEPS: u64 = 4;

/// A verb, and the store before it.
struct Moment<'s> {
    folder: &'s Path,
    verb: &'s Verb,
    states: [Model; 2],
}

#[derive(Debug, Default)]
struct Count {
    steps: u64,
    faults: u64,
    /// Those of them that led to an error.
    errors: u64,
}

impl Moment<'_> {
    /// Refuses one in `stride` steps of the verb, and the last ones.
    fn refuse_each(&self, stride: u64, count: &mut Count) {
        let steps = self.steps();
        count.steps += steps;
        let last = steps.saturating_sub(LAST_STEPS);
        for step in (0..steps).filter(|&step| step % stride == 0 || step >= last) {
            let Some(kind) = self.refuse(DiskFault::Once { step }, count) else {
                continue;
            };
            if kind.starts_with("write") {
                self.refuse(DiskFault::Half { step }, count);
            }
            if ["write", "make", "copy", "set"]
                .iter()
                .any(|room| kind.starts_with(room))
            {
                self.refuse(DiskFault::Full { step }, count);
            }
        }
    }

    /// The number of steps that the verb takes.
    fn steps(&self) -> u64 {
        let folder = self.copy();
        let watch = DiskWatch::new(folder.path());
        let store = self.store(folder.path());
        watch.fail(None);
        attempt(folder.path(), store.as_ref(), self.verb).unwrap();
        watch.steps()
    }

    /// A copy of the folder.
    fn copy(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        copy_folder(self.folder, folder.path());
        folder
    }

    /// The store for the verb, unless the verb itself opens it.
    fn store(&self, root: &Path) -> Option<Store> {
        let is_open = !matches!(self.verb, Verb::Reopen);
        is_open.then(|| open(root).unwrap())
    }

    /// Does the verb with a fault, and again without it. Returns the step that failed, if any.
    fn refuse(&self, fault: DiskFault, count: &mut Count) -> Option<String> {
        let mut place = FailureNote(format!("{fault:?} in {:?}", self.verb));
        let folder = self.copy();
        let mut disk = SimulatedDisk::of(folder.path());
        let watch = DiskWatch::new(folder.path());
        let root = folder.path();
        let store = self.store(root);
        watch.fail(Some(fault));
        let done = attempt(root, store.as_ref(), self.verb);
        watch.fail(None);
        let failed = watch.failed().into_iter().next()?;
        place.0 = format!("{}: {failed}; {done:?}", place.0);
        count.faults += 1;
        if let Err(error) = done {
            count.errors += 1;
            assert_named(&error, root);
            self.go_on(root, store);
        } else {
            drop(store);
        }
        // Taken now, because the checks below make more of the store durable.
        let events = watch.events();
        if let Verb::Backup(number) = self.verb {
            assert_clean(&copy_in(root, *number));
        }
        let path = store_in(root);
        assert_clean(&path);
        let store = options().open(&path).unwrap();
        check_answers(&store, &self.states[1]);
        drop(store);
        // What the system took for written after a failed sync must not be needed.
        for event in &events {
            disk.apply(event);
        }
        let after = tempfile::tempdir().unwrap();
        disk.leave(Survivors::None, after.path());
        let path = store_in(after.path());
        state_of(&options().open(&path).unwrap(), &self.states, 1, 1);
        assert_clean(&path);
        if let Verb::Backup(number) = self.verb {
            assert_clean(&copy_in(after.path(), *number));
        }
        Some(failed)
    }

    /// Does the verb again after an error, with the same store, which goes on to answer meanwhile.
    fn go_on(&self, root: &Path, store: Option<Store>) {
        let store = store.map_or_else(|| open(root), Ok).unwrap();
        state_of(&store, &self.states, 0, 1);
        attempt(root, Some(&store), self.verb).unwrap();
        check_answers(&store, &self.states[1]);
    }
}

fn assert_named(error: &Error, root: &Path) {
    let (Error::Io { path, .. } | Error::Index { path, .. }) = error else {
        panic!("{error}");
    };
    assert!(path.starts_with(root), "{error}");
    assert!(error.to_string().contains("os error"), "{error}");
}

fn open(root: &Path) -> Result<Store> {
    match options().open(store_in(root)) {
        Err(Error::NotAStore { .. }) => options().create(store_in(root), &super::schema()),
        opened => opened,
    }
}

fn attempt(root: &Path, store: Option<&Store>, verb: &Verb) -> Result<()> {
    match (store, verb) {
        (Some(store), Verb::Backup(number)) => store.backup(copy_in(root, *number)).map(|_| ()),
        (Some(store), verb) if !matches!(verb, Verb::Reopen) => perform_on(store, verb),
        (Some(_), _) => Ok(()),
        (None, _) => open(root).map(drop),
    }
}

pub(super) fn copy_folder(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir(&to).unwrap();
            copy_folder(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Refuses steps of each verb of a story, beginning with the creation of the store.
fn refuse_in(story: &[Verb], stride: u64) -> Count {
    let mut count = Count::default();
    let folder = tempfile::tempdir().unwrap();
    let mut session = Session::new(folder.path());
    // Each verb is refused to a handle of its own.
    let story = story
        .iter()
        .filter(|verb| !matches!(verb, Verb::OtherHandle));
    for verb in [Verb::Reopen].iter().chain(story) {
        session.store = None;
        let before = session.states[session.states.len() - 1].clone();
        let moment = Moment {
            folder: folder.path(),
            verb,
            states: [before, session.after(verb)],
        };
        let is_made = matches!(verb, Verb::Backup(number)
            if session.copies.get(number).is_some_and(|copy: &Copy| copy.done.is_some()));
        if !is_made {
            let is_made_again = session.states.len() == 1;
            moment.refuse_each(if is_made_again { 1 } else { stride }, &mut count);
        }
        session.perform(verb).unwrap();
    }
    count
}

#[test]
fn a_step_that_is_refused_leaves_the_store_whole() {
    let stride = if patience() == 0 { 41 } else { 1 };
    let count = refuse_in(&story(), stride);
    say(&format!("{count:?}"));
    assert!(count.errors > 20);
    for seed in 0..patience() {
        let story = any_story(seed);
        let _place = FailureNote(format!("story {seed}: {story:?}"));
        say(&format!("story {seed}: {:?}", refuse_in(&story, 7)));
    }
}
