//! One request: a JSON object on a line.

use std::mem::{Discriminant, discriminant, take};
use std::num::NonZeroUsize;

use dedupdb_corpus::without_surrogates;
use serde::{Deserialize, Serialize};

/// What a client calls a request and its answer.
#[derive(Debug, Deserialize, Serialize)]
#[serde(untagged, expecting = "an id is an integer or a string")]
pub(crate) enum RequestId {
    Integer(i64),
    Large(u64),
    Text(String),
}

/// A request, and what to call its answer.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) id: Option<RequestId>,
    /// What is asked, or why the line is no request.
    pub(crate) body: Result<RequestBody, String>,
}

/// What is asked.
#[derive(Debug)]
pub(crate) enum RequestBody {
    Insert {
        key: String,
        text: String,
    },
    Replace {
        key: String,
        text: String,
    },
    Remove {
        key: String,
    },
    Rename {
        key: String,
        to: String,
    },
    Touch {
        key: String,
    },
    Commit,
    Query {
        text: Option<String>,
        key: Option<String>,
        threshold: Option<f64>,
        containment: Option<f64>,
        nearest: Option<NonZeroUsize>,
        exhaustive: bool,
        limit: Option<NonZeroUsize>,
    },
    Passages {
        text: String,
        at_least: Option<u32>,
        limit: Option<NonZeroUsize>,
    },
}

impl RequestBody {
    /// Whether it may change the store.
    pub(crate) fn changes(&self) -> bool {
        !matches!(
            self,
            RequestBody::Query { .. } | RequestBody::Passages { .. }
        )
    }

    /// The operation, without its values.
    pub(crate) fn operation(&self) -> Discriminant<RequestBody> {
        discriminant(self)
    }
}

/// The fields of all requests. Which of them belong together depends on the operation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestFields {
    op: Operation,
    id: Option<RequestId>,
    key: Option<String>,
    text: Option<String>,
    to: Option<String>,
    threshold: Option<f64>,
    containment: Option<f64>,
    nearest: Option<NonZeroUsize>,
    exhaustive: Option<bool>,
    at_least: Option<u32>,
    limit: Option<NonZeroUsize>,
}

/// What a request that has something wrong in it may have nevertheless.
#[derive(Debug, Deserialize)]
struct IdField {
    id: Option<RequestId>,
}

/// The fields that name something. If half of a pair of surrogates were replaced in these, two names could become one.
#[derive(Debug, Deserialize)]
struct NameFields {
    #[serde(rename = "id")]
    _id: Option<RequestId>,
    #[serde(rename = "key")]
    _key: Option<String>,
    #[serde(rename = "to")]
    _to: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Operation {
    Insert,
    Replace,
    Remove,
    Rename,
    Touch,
    Commit,
    Query,
    Passages,
}

impl Request {
    /// Reads a line.
    pub(super) fn parse(line: &[u8]) -> Request {
        if !line.trim_ascii_start().starts_with(b"{") {
            return Request::none("not a request: a request is a JSON object".to_owned());
        }
        // Half of a pair, where a program cut a text, is replaced as in files.
        let whole = std::str::from_utf8(line).ok().and_then(without_surrogates);
        let fields = match &whole {
            None => serde_json::from_slice::<RequestFields>(line),
            Some(whole) => {
                serde_json::from_slice::<NameFields>(line).and_then(|_| serde_json::from_str(whole))
            }
        };
        match fields {
            Ok(mut fields) => Request {
                id: take(&mut fields.id),
                body: fields.body(),
            },
            Err(error) => Request {
                id: serde_json::from_slice(line).map_or(None, |IdField { id }| id),
                body: Err(format!("not a request: {}", in_plain_words(&error))),
            },
        }
    }

    /// A line that is no request.
    pub(super) fn none(reason: String) -> Request {
        Request {
            id: None,
            body: Err(reason),
        }
    }

    /// About the number of bytes that it takes.
    pub(super) fn size(&self) -> usize {
        let text = match &self.body {
            Ok(
                RequestBody::Insert { text, .. }
                | RequestBody::Replace { text, .. }
                | RequestBody::Passages { text, .. },
            ) => text.len(),
            Ok(RequestBody::Query { text, .. }) => text.as_ref().map_or(0, String::len),
            _ => 0,
        };
        text + size_of::<Request>()
    }
}

impl RequestFields {
    /// The request of the operation.
    ///
    /// # Errors
    ///
    /// A message about a field that it needs, or does not have.
    fn body(mut self) -> Result<RequestBody, String> {
        let body = match self.op {
            Operation::Insert => RequestBody::Insert {
                key: needed("key", &mut self.key)?,
                text: needed("text", &mut self.text)?,
            },
            Operation::Replace => RequestBody::Replace {
                key: needed("key", &mut self.key)?,
                text: needed("text", &mut self.text)?,
            },
            Operation::Remove => RequestBody::Remove {
                key: needed("key", &mut self.key)?,
            },
            Operation::Rename => RequestBody::Rename {
                key: needed("key", &mut self.key)?,
                to: needed("to", &mut self.to)?,
            },
            Operation::Touch => RequestBody::Touch {
                key: needed("key", &mut self.key)?,
            },
            Operation::Commit => RequestBody::Commit,
            Operation::Query => RequestBody::Query {
                text: self.text.take(),
                key: self.key.take(),
                threshold: self.threshold.take(),
                containment: self.containment.take(),
                nearest: self.nearest.take(),
                exhaustive: self.exhaustive.take().unwrap_or(false),
                limit: self.limit.take(),
            },
            Operation::Passages => RequestBody::Passages {
                text: needed("text", &mut self.text)?,
                at_least: self.at_least.take(),
                limit: self.limit.take(),
            },
        };
        if let RequestBody::Query { text, key, .. } = &body
            && text.is_some() == key.is_some()
        {
            return Err(
                "a query needs a text or the key of a stored document, and not both".to_owned(),
            );
        }
        if let RequestBody::Query { nearest, limit, .. } = &body
            && nearest.is_some()
            && limit.is_some()
        {
            return Err("\"nearest\" is the number of matches; leave out \"limit\"".to_owned());
        }
        match self.left() {
            Some(name) => Err(format!("this operation has no field {name:?}")),
            None => Ok(body),
        }
    }

    /// A field that the operation did not take.
    fn left(&self) -> Option<&'static str> {
        let left = [
            ("key", self.key.is_some()),
            ("text", self.text.is_some()),
            ("to", self.to.is_some()),
            ("threshold", self.threshold.is_some()),
            ("containment", self.containment.is_some()),
            ("nearest", self.nearest.is_some()),
            ("exhaustive", self.exhaustive.is_some()),
            ("at_least", self.at_least.is_some()),
            ("limit", self.limit.is_some()),
        ];
        let left = left.into_iter().find(|(_, is_left)| *is_left);
        left.map(|(name, _)| name)
    }
}

/// What names that are not Unicode have.
const HALF: &str = "half of a surrogate pair in a key, in `to` or in an id";

/// What is wrong with a line, without the names of types of Rust.
fn in_plain_words(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let message = message.replace("expected f64", "expected a number");
    let message = message.replace("expected u32", "expected a whole number");
    let message = message.replace("a nonzero usize", "a whole number from 1 on");
    let message = message.replace("lone leading surrogate in hex escape", HALF);
    message.replace("unexpected end of hex escape", HALF)
}

/// The value of a field.
fn needed(name: &str, field: &mut Option<String>) -> Result<String, String> {
    let missing = || format!("this operation needs the field {name:?}");
    field.take().ok_or_else(missing)
}
