//! Threads that ask questions while others write.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::answers::Question;
use super::documents::Model;
use crate::parallel::lock;
use crate::store::handle::Store;

/// The commits that readers may see.
pub(super) struct History {
    commits: Mutex<Commits>,
    ended: AtomicBool,
}

struct Commits {
    /// In order, with one that may be under way.
    all: Vec<Model>,
    /// The last one whose call has returned.
    last: usize,
}

/// Ends the readers when it is dropped, also by a panic.
pub(super) struct End<'a>(&'a History);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.ended.store(true, Ordering::Relaxed);
    }
}

impl History {
    /// A history that begins with what is stored now.
    pub(super) fn new(model: &Model) -> History {
        let commits = Commits {
            all: vec![model.clone()],
            last: 0,
        };
        History {
            commits: Mutex::new(commits),
            ended: AtomicBool::new(false),
        }
    }

    /// Commits. Afterwards the store holds what `model` holds.
    pub(super) fn commit<T>(&self, model: &Model, commit: impl FnOnce() -> T) -> T {
        lock(&self.commits).all.push(model.clone());
        let done = commit();
        let mut commits = lock(&self.commits);
        commits.last = commits.all.len() - 1;
        done
    }

    pub(super) fn end(&self) -> End<'_> {
        End(self)
    }

    /// Asks until the end. Each answer must be true of a commit that was the last one when the
    /// question was asked, or of a later one.
    pub(super) fn ask(&self, store: &Store, reader: usize) {
        let mut number = reader * 3;
        while !self.ended.load(Ordering::Relaxed) {
            let question = Question::nth(number);
            number += 1;
            let first = lock(&self.commits).last;
            let answer = question.ask(store);
            let commits = lock(&self.commits);
            let is_true = |model: &Model| question.expect(model) == answer;
            assert!(
                commits.all[first..].iter().any(is_true),
                "{question:?} of {} commits: {answer:?}",
                commits.all.len() - first
            );
        }
    }
}
