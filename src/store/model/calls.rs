//! Calls of a store that may share a commit.

use super::answers::check;
use super::documents::Model;
use super::readers::History;
use super::step::{SharedCall, key};
use crate::error::Result;
use crate::store::handle::Store;
use crate::store::offer::{CallAnswer, CallTurn, Change, Input, Outcome, Relation, StoreCall};

/// What a call returns.
#[derive(Debug, PartialEq)]
enum Returned {
    /// The outcome for a document, with the earlier one that keeps it out.
    Document(Change, Relation, Option<String>),
    Existed(bool),
}

impl From<Outcome> for Returned {
    fn from(outcome: Outcome) -> Returned {
        let earlier = outcome.duplicate_of().map(|found| found.key.clone());
        Returned::Document(outcome.change, outcome.relation, earlier)
    }
}

impl SharedCall {
    fn make(&self, store: &Store) -> Result<Returned> {
        match self {
            SharedCall::Insert((k, text)) => {
                let inserted = store.insert_unless_duplicate(key(*k), text.words());
                inserted.map(Returned::from)
            }
            SharedCall::Replace((k, text)) => {
                store.replace(key(*k), text.words()).map(Returned::from)
            }
            SharedCall::Remove(k) => store.remove(&key(*k)).map(Returned::Existed),
            SharedCall::Touch(k) => store.touch(&key(*k)).map(Returned::Existed),
            SharedCall::Rename(old, new) => {
                let renamed = store.rename(&key(*old), &key(*new));
                renamed.map(Returned::Existed)
            }
        }
    }

    /// The call as it waits in line.
    fn in_line(&self, store: &Store) -> Result<StoreCall> {
        let prepare = |k, words| store.last_commit().prepare(Input::new(key(k), words));
        Ok(match self {
            SharedCall::Insert((k, text)) => StoreCall::Insert(prepare(*k, text.words())?),
            SharedCall::Replace((k, text)) => StoreCall::Replace(prepare(*k, text.words())?),
            SharedCall::Remove(k) => StoreCall::Remove(key(*k)),
            SharedCall::Touch(k) => StoreCall::Touch(key(*k)),
            SharedCall::Rename(old, new) => StoreCall::Rename(key(*old), key(*new)),
        })
    }

    fn expect(&self, model: &mut Model) -> Returned {
        match self {
            SharedCall::Insert((k, text)) => {
                model.forget_run();
                let (key, words) = (key(*k), text.words());
                let earlier = model.earlier(&key, &words);
                let (change, relation) = model.add(&key, &words, true);
                let is_kept_out = change == Change::KeptOut;
                let earlier = earlier.filter(|_| is_kept_out).map(|(key, _)| key);
                Returned::Document(change, relation, earlier)
            }
            SharedCall::Replace((k, text)) => {
                let (change, relation) = model.add(&key(*k), &text.words(), false);
                Returned::Document(change, relation, None)
            }
            SharedCall::Remove(k) => Returned::Existed(model.remove(&key(*k))),
            SharedCall::Touch(k) => Returned::Existed(model.touch(&key(*k))),
            SharedCall::Rename(old, new) => Returned::Existed(model.rename(&key(*old), &key(*new))),
        }
    }
}

/// Does to a model what the calls do to a store.
#[cfg(test)]
pub(crate) fn apply(calls: &[SharedCall], model: &mut Model) {
    for call in calls {
        call.expect(model);
    }
}

/// Makes the calls as if from as many threads, so that they share a commit.
#[cfg(test)]
pub(crate) fn make_together(calls: &[SharedCall], store: &Store) -> Result<()> {
    together(calls, store).map(drop)
}

fn together(calls: &[SharedCall], store: &Store) -> Result<Vec<Returned>> {
    let calls = calls.iter().map(|call| call.in_line(store));
    let calls: Vec<StoreCall> = calls.collect::<Result<_>>()?;
    let queue = &store.shared.queue;
    let requests: Vec<_> = calls.into_iter().map(|call| queue.join(call)).collect();
    store.lead();
    let answers = requests.iter().map(|request| match request.wait() {
        CallTurn::Done(answer) => Ok(match answer? {
            CallAnswer::Outcome(outcome) => Returned::from(outcome),
            CallAnswer::Existed(existed) => Returned::Existed(existed),
        }),
        turn => panic!("the leader left a caller without an answer: {turn:?}"),
    });
    answers.collect()
}

/// Makes calls that share a commit if there are several.
pub(super) fn make(store: &Store, history: &History, model: &mut Model, calls: &[SharedCall]) {
    let expected: Vec<Returned> = calls.iter().map(|call| call.expect(model)).collect();
    let returned = history.commit(model, || match calls {
        [call] => Ok(vec![call.make(store)?]),
        calls => together(calls, store),
    });
    assert_eq!(returned.unwrap(), expected, "{calls:?}");
    check(store, model);
}
