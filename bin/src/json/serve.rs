//! The answers of `serve`.

use dedupdb::overlap::{Passage, Passages};
use dedupdb::{Match, write::Outcome};
use serde::Serialize;

use super::failure::ErrorJson;
use super::matches::FoundJson;
use super::passages::FoundPassageJson;
use crate::serve::{Answer, Request, RequestBody, RequestId};

/// `serve`: an answer.
#[derive(Serialize)]
pub(crate) struct AnswerJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RequestId>,
    #[serde(flatten)]
    answer: AnswerBodyJson<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum AnswerBodyJson<'a> {
    Verdict {
        verdict: &'static str,
        earlier: Option<FoundJson<'a>>,
    },
    Done {
        done: bool,
    },
    Matches {
        matches: Vec<FoundJson<'a>>,
    },
    Passages {
        passages: Vec<FoundPassageJson<'a>>,
        covered: u32,
        words: u32,
    },
    Failed {
        error: ErrorJson<'a>,
    },
}

impl<'a> AnswerJson<'a> {
    /// The answer to a request.
    pub(crate) fn new(request: &'a Request, answer: &'a Answer) -> AnswerJson<'a> {
        AnswerJson {
            id: request.id.as_ref(),
            answer: match answer {
                Answer::Verdict(outcome) => verdict(outcome),
                Answer::Done(done) => AnswerBodyJson::Done { done: *done },
                Answer::Matches(found) => matches(found),
                Answer::Passages(found) => passages(request, found),
                Answer::Failed {
                    kind,
                    message,
                    path,
                } => AnswerBodyJson::Failed {
                    error: ErrorJson::new(kind, message, path.as_deref()),
                },
            },
        }
    }
}

fn verdict(outcome: &Outcome) -> AnswerBodyJson<'_> {
    AnswerBodyJson::Verdict {
        verdict: outcome.verdict(),
        earlier: outcome.duplicate_of().map(FoundJson::new),
    }
}

fn matches(found: &[Match]) -> AnswerBodyJson<'_> {
    AnswerBodyJson::Matches {
        matches: found.iter().map(FoundJson::new).collect(),
    }
}

fn passages<'a>(request: &'a Request, found: &'a Passages) -> AnswerBodyJson<'a> {
    let text = match &request.body {
        Ok(RequestBody::Passages { text, .. }) => text.as_str(),
        _ => "",
    };
    let of_text = |passage: &'a Passage| {
        let words = text.get(passage.bytes.clone()).unwrap_or_default();
        FoundPassageJson::new(passage, words)
    };
    AnswerBodyJson::Passages {
        passages: found.passages.iter().map(of_text).collect(),
        covered: found.covered,
        words: found.tokens,
    }
}
