//! Callers that wait for a common commit.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::outcome::Outcome;
use super::prepared::Prepared;
use crate::error::{Error, Result};
use crate::store::lock::lock;

/// What a caller wants done to the store.
#[derive(Debug)]
pub(crate) enum Call {
    /// Stores the document unless it resembles another.
    Insert(Box<Prepared>),
    /// Stores the document whatever it resembles.
    Replace(Box<Prepared>),
    /// Removes the document with this key.
    Remove(String),
    /// Notes that the document with this key was offered today.
    Touch(String),
    /// Gives the document with the first key the second one.
    Rename(String, String),
}

/// What a call returns.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// The outcome for a document.
    Outcome(Outcome),
    /// Whether the document with the key existed.
    Existed(bool),
}

/// The callers that wait for an answer.
///
/// The first caller that finds no leader leads: it takes all requests, serves them with one commit,
/// and hands the lead to one of those that came in the meantime. So all callers that come during a
/// commit share the next one.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    line: Mutex<Line>,
}

#[derive(Debug, Default)]
pub(crate) struct Line {
    pub(crate) requests: Vec<Arc<Request>>,
    led: bool,
}

#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) call: Mutex<Option<Call>>,
    turn: Mutex<Turn>,
    changed: Condvar,
}

#[derive(Debug, Default)]
pub(crate) enum Turn {
    #[default]
    Waiting,
    Leading,
    Done(Result<Answer>),
}

impl Request {
    pub(crate) fn turn(&self, turn: Turn) {
        *lock(&self.turn) = turn;
        self.changed.notify_one();
    }

    /// Waits for a turn other than [`Turn::Waiting`] and takes it.
    pub(crate) fn wait(&self) -> Turn {
        let turn = self
            .changed
            .wait_while(lock(&self.turn), |turn| matches!(turn, Turn::Waiting));
        std::mem::take(&mut *turn.unwrap_or_else(PoisonError::into_inner))
    }
}

impl Queue {
    /// Adds a request to the line. The caller then waits for its turn.
    pub(crate) fn join(&self, call: Call) -> Arc<Request> {
        let mut line = lock(&self.line);
        let lead = !std::mem::replace(&mut line.led, true);
        let request = Arc::new(Request {
            call: Mutex::new(Some(call)),
            turn: Mutex::new(if lead { Turn::Leading } else { Turn::Waiting }),
            changed: Condvar::new(),
        });
        line.requests.push(request.clone());
        request
    }

    pub(crate) fn take(&self) -> Vec<Arc<Request>> {
        std::mem::take(&mut lock(&self.line).requests)
    }

    /// Ends the lead of the caller, and makes the first waiting caller lead.
    fn hand_over(&self) {
        let mut line = lock(&self.line);
        match line.requests.first() {
            Some(next) => next.turn(Turn::Leading),
            None => line.led = false,
        }
    }
}

/// The requests that a leader took. However the lead ends, all of them get an answer, and the next
/// leader is chosen.
pub(crate) struct Lead<'a> {
    pub(crate) queue: &'a Queue,
    pub(crate) requests: Vec<Arc<Request>>,
}

impl Lead<'_> {
    pub(crate) fn answer(&mut self, answers: &Result<Vec<Result<Answer>>>) {
        for (index, request) in self.requests.drain(..).enumerate() {
            request.turn(Turn::Done(match answers {
                Ok(answers) => answers.get(index).cloned().unwrap_or(Err(Error::Poisoned)),
                Err(error) => Err(error.clone()),
            }));
        }
    }
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        // Only a panic leaves requests without an answer.
        self.answer(&Err(Error::Poisoned));
        self.queue.hand_over();
    }
}
