//! Callers that wait for a common commit.

use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::outcome::Outcome;
use super::prepared::PreparedInput;
use crate::clock::Stopwatch;
use crate::error::{Error, Result};
use crate::parallel::lock;

/// What a caller wants done to the store.
#[derive(Debug)]
pub(crate) enum StoreCall {
    /// Stores the document unless it resembles another.
    Insert(Box<PreparedInput>),
    /// Stores the document whatever it resembles.
    Replace(Box<PreparedInput>),
    /// Removes the document with this key.
    Remove(String),
    /// Notes that the document with this key was offered today.
    Touch(String),
    /// Gives the document with the first key the second one.
    Rename(String, String),
}

/// What a call returns.
#[derive(Clone, Debug)]
pub(crate) enum CallAnswer {
    /// The outcome for a document.
    Outcome(Outcome),
    /// Whether the document with the key existed.
    Existed(bool),
}

/// The callers that wait for an answer.
///
/// The first caller that finds no leader leads: it takes all requests, serves them with one commit,
/// and hands the lead to one of those that came in the meantime. So all callers that come during a
/// commit share the next one. A leader waits for another process as long as its own request may. Then those whose time
/// is not over stay in line, and the next one leads.
#[derive(Debug, Default)]
pub(crate) struct CallQueue {
    line: Mutex<CallLine>,
}

#[derive(Debug, Default)]
pub(crate) struct CallLine {
    pub(crate) requests: Vec<Arc<CallRequest>>,
    led: bool,
    /// Whether the leader has the writer of this process, so that only another process can be in the way.
    has_writer: bool,
}

#[derive(Debug)]
pub(crate) struct CallRequest {
    pub(crate) call: Mutex<Option<StoreCall>>,
    /// Runs while only another process can be in the way.
    waiting: OnceLock<Stopwatch>,
    turn: Mutex<CallTurn>,
    changed: Condvar,
}

#[derive(Debug, Default)]
pub(crate) enum CallTurn {
    #[default]
    Waiting,
    Leading,
    Done(Result<CallAnswer>),
}

impl CallRequest {
    /// How long it has waited for other processes.
    pub(crate) fn waited(&self) -> Duration {
        self.waiting.get_or_init(Stopwatch::start).elapsed()
    }

    pub(crate) fn turn(&self, turn: CallTurn) {
        *lock(&self.turn) = turn;
        self.changed.notify_one();
    }

    /// Waits for a turn other than [`CallTurn::Waiting`] and takes it.
    pub(crate) fn wait(&self) -> CallTurn {
        let turn = self
            .changed
            .wait_while(lock(&self.turn), |turn| matches!(turn, CallTurn::Waiting));
        std::mem::take(&mut *turn.unwrap_or_else(PoisonError::into_inner))
    }
}

impl CallQueue {
    /// Adds a request to the line. The caller then waits for its turn.
    pub(crate) fn join(&self, call: StoreCall) -> Arc<CallRequest> {
        let mut line = lock(&self.line);
        // Who finds no leader leads. The flag goes from leader to leader, and off when nobody waits.
        let lead = !std::mem::replace(&mut line.led, true);
        let request = Arc::new(CallRequest {
            call: Mutex::new(Some(call)),
            waiting: OnceLock::new(),
            turn: Mutex::new(if lead {
                CallTurn::Leading
            } else {
                CallTurn::Waiting
            }),
            changed: Condvar::new(),
        });
        if line.has_writer {
            request.waited();
        }
        line.requests.push(request.clone());
        request
    }

    /// Makes the caller lead all requests in line.
    pub(crate) fn lead(&self) -> LedCalls<'_> {
        let requests = std::mem::take(&mut lock(&self.line).requests);
        LedCalls {
            queue: self,
            requests,
        }
    }

    /// Ends the lead of the caller, and makes the first waiting caller lead.
    fn hand_over(&self) {
        let mut line = lock(&self.line);
        line.has_writer = false;
        match line.requests.first() {
            Some(next) => next.turn(CallTurn::Leading),
            None => line.led = false,
        }
    }
}

/// The requests that a leader took. However the lead ends, all of them get an answer, and the next
/// leader is chosen.
pub(crate) struct LedCalls<'a> {
    queue: &'a CallQueue,
    pub(crate) requests: Vec<Arc<CallRequest>>,
}

impl LedCalls<'_> {
    /// Takes the requests that came in the meantime as well, now that the leader has the writer. Returns how long the
    /// first one has waited for other processes.
    pub(crate) fn gather(&mut self) -> Duration {
        let mut line = lock(&self.queue.line);
        line.has_writer = true;
        self.requests.append(&mut line.requests);
        let waited = self.requests.iter().map(|request| request.waited());
        waited.max().unwrap_or_default()
    }

    /// Leaves the requests in line that have waited for less than `time`, except the leader's own.
    pub(crate) fn leave(&mut self, time: Duration) {
        // The first request is the leader's own, which has to be answered.
        let own = self.requests.len().min(1);
        let left = self
            .requests
            .extract_if(own.., |request| request.waited() < time);
        lock(&self.queue.line).requests.splice(..0, left);
    }

    pub(crate) fn answer(&mut self, answers: &Result<Vec<Result<CallAnswer>>>) {
        for (index, request) in self.requests.drain(..).enumerate() {
            request.turn(CallTurn::Done(match answers {
                Ok(answers) => answers.get(index).cloned().unwrap_or(Err(Error::Poisoned)),
                Err(error) => Err(error.clone()),
            }));
        }
    }
}

impl Drop for LedCalls<'_> {
    fn drop(&mut self) {
        // Only a panic leaves requests without an answer.
        self.answer(&Err(Error::Poisoned));
        self.queue.hand_over();
    }
}
