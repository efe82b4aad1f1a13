//! Answers requests, many with one commit.

use std::mem::take;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use dedupdb::overlap::{PassageQuery, Passages};
use dedupdb::write::Outcome;
use dedupdb::{Error, Input, Match, Query, Result, Store, Writer};

use super::request::{Request, RequestBody};
use crate::store;

/// How long the answers to questions may lack what other processes committed, and how long after one of them kept the right
/// to write.
const REFRESHED: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];

/// The answer to a request.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// To `insert` and `replace`.
    Verdict(Outcome),
    /// To other changes: whether there was anything to do.
    Done(bool),
    Matches(Vec<Match>),
    Passages(Passages),
    Failed {
        kind: &'static str,
        message: String,
        path: Option<PathBuf>,
    },
}

impl Answer {
    /// The answer that the store refused; `None` if the user asked to stop.
    fn failed(error: &Error) -> Option<Answer> {
        if matches!(error, Error::Stopped) {
            return None;
        }
        let path = error.path().map(Into::into);
        let error = anyhow::Error::from(error.clone());
        Some(Answer::Failed {
            kind: store::kind(&error),
            message: store::message(&error),
            path,
        })
    }

    /// The answer to what is no request.
    fn refused(reason: String) -> Answer {
        Answer::Failed {
            kind: "usage",
            message: reason,
            path: None,
        }
    }
}

/// A store that answers requests.
#[derive(Debug)]
pub(crate) struct Session {
    store: Store,
    /// When to take over next what other processes committed.
    refresh: Instant,
}

impl Session {
    pub(crate) fn new(store: Store) -> Session {
        let refresh = Instant::now() + REFRESHED[0];
        Session { store, refresh }
    }

    /// The number of searches that were cut short.
    pub(crate) fn searches_cut_short(&self) -> u64 {
        self.store.searches_cut_short()
    }

    /// Answers requests in order. Each finds what those before it did. What an answer says was done is durable. Once the
    /// user asked to stop, the others have no answer.
    ///
    /// Changes with no question between them share a commit. If it fails, so did all of them. The texts of changes are
    /// taken out of the requests.
    pub(crate) fn answers(&mut self, requests: &mut [Request]) -> Vec<Answer> {
        let mut answers = Vec::with_capacity(requests.len());
        for group in requests.chunk_by_mut(is_answered_with) {
            let answered = match group {
                [
                    Request {
                        body: Err(reason), ..
                    },
                ] => vec![Answer::refused(take(reason))],
                _ => self.answer(group),
            };
            let is_stopped = answered.len() < group.len();
            answers.extend(answered);
            if is_stopped {
                break;
            }
        }
        answers
    }

    /// Answers changes, or questions of one kind: the first ones, if the user asked to stop.
    fn answer(&mut self, group: &mut [Request]) -> Vec<Answer> {
        let bodies = group.iter_mut().filter_map(|it| it.body.as_mut().ok());
        let mut bodies: Vec<&mut RequestBody> = bodies.collect();
        let answered = if bodies.first().is_some_and(|body| body.changes()) {
            change(&self.store, &mut bodies)
        } else {
            self.catch_up().and_then(|()| ask(&self.store, &bodies))
        };
        match answered {
            Ok(answers) => answers,
            Err(error) => Answer::failed(&error).map_or(Vec::new(), |it| vec![it; bodies.len()]),
        }
    }

    /// Takes over what other processes committed. If one of them keeps the right to write, that comes later.
    fn catch_up(&mut self) -> Result<()> {
        if Instant::now() < self.refresh {
            return Ok(());
        }
        let refreshed = self.store.refresh();
        let is_busy = matches!(refreshed, Err(Error::Locked { .. } | Error::Blocked { .. }));
        self.refresh = Instant::now() + REFRESHED[usize::from(is_busy)];
        if is_busy { Ok(()) } else { refreshed.map(drop) }
    }
}

/// Whether two requests, one after the other, are answered together.
fn is_answered_with(a: &Request, b: &Request) -> bool {
    match (&a.body, &b.body) {
        (Ok(a), Ok(b)) => (a.changes() && b.changes()) || a.operation() == b.operation(),
        _ => false,
    }
}

/// Makes changes with one commit.
fn change(store: &Store, changes: &mut [&mut RequestBody]) -> Result<Vec<Answer>> {
    let mut writer = store.writer()?;
    let mut answers = Vec::with_capacity(changes.len());
    for run in changes.chunk_by_mut(|a, b| a.operation() == b.operation()) {
        let is_insert = matches!(run, [RequestBody::Insert { .. }, ..]);
        if is_insert || matches!(run, [RequestBody::Replace { .. }, ..]) {
            writer.unique(is_insert);
            let outcomes = writer.add_all(run.iter_mut().filter_map(|it| input(it)).collect())?;
            let outcomes = outcomes.into_iter();
            let given = outcomes.map(|outcome| answered(outcome, Answer::Verdict));
            let given: Option<Vec<Answer>> = given.collect();
            answers.extend(given.ok_or(Error::Stopped)?);
            continue;
        }
        for body in run {
            answers.extend(match change_one(&mut writer, body) {
                Err(error @ (Error::InvalidKey { .. } | Error::OldDocument { .. })) => {
                    Answer::failed(&error)
                }
                done => Some(Answer::Done(done?)),
            });
        }
    }
    writer.commit()?;
    Ok(answers)
}

/// The document of an insert or a replacement.
fn input(body: &mut RequestBody) -> Option<Input> {
    match body {
        RequestBody::Insert { key, text } | RequestBody::Replace { key, text } => {
            Some(Input::new(take(key), take(text)))
        }
        _ => None,
    }
}

/// Makes a change other than these, and returns whether there was anything to do.
fn change_one(writer: &mut Writer, body: &RequestBody) -> Result<bool> {
    match body {
        RequestBody::Remove { key } => writer.remove(key),
        RequestBody::Rename { key, to } => Ok(writer.rename(key, to)?.is_some()),
        RequestBody::Touch { key } => writer.touch(key),
        _ => Ok(true),
    }
}

/// Answers questions of one kind.
fn ask(store: &Store, questions: &[&mut RequestBody]) -> Result<Vec<Answer>> {
    let queries: Vec<Query<'_>> = questions.iter().filter_map(|body| query(body)).collect();
    if !queries.is_empty() {
        let found = store.query_all(&queries)?;
        return Ok(found
            .into_iter()
            .map_while(|found| answered(found, Answer::Matches))
            .collect());
    }
    let queries: Vec<PassageQuery<'_>> = questions
        .iter()
        .filter_map(|it| passage_query(it))
        .collect();
    let found = store.passages_all(&queries)?;
    Ok(found
        .into_iter()
        .map_while(|found| answered(found, Answer::Passages))
        .collect())
}

fn answered<T>(found: Result<T>, answer: fn(T) -> Answer) -> Option<Answer> {
    found.map_or_else(|error| Answer::failed(&error), |found| Some(answer(found)))
}

fn query(body: &RequestBody) -> Option<Query<'_>> {
    let RequestBody::Query {
        text,
        key,
        threshold,
        containment,
        nearest,
        exhaustive,
        limit,
    } = body
    else {
        return None;
    };
    let mut query = match (text, key) {
        (Some(text), _) => Query::text(text),
        (None, key) => Query::key(key.as_deref()?),
    };
    if let Some(threshold) = threshold {
        query = query.threshold(*threshold);
    }
    if let Some(containment) = containment {
        query = query.containment(*containment);
    }
    if let Some(nearest) = nearest {
        query = query.nearest(nearest.get());
    }
    if let Some(limit) = limit {
        query = query.limit(limit.get());
    }
    Some(query.exhaustive(*exhaustive))
}

fn passage_query(body: &RequestBody) -> Option<PassageQuery<'_>> {
    let RequestBody::Passages {
        text,
        at_least,
        limit,
    } = body
    else {
        return None;
    };
    let mut query = PassageQuery::text(text);
    if let Some(at_least) = at_least {
        query = query.at_least(*at_least);
    }
    if let Some(limit) = limit {
        query = query.limit(limit.get());
    }
    Some(query)
}
