//! The error that ended a command.

use std::path::Path;

use serde::Serialize;

/// The error that ended a command.
#[derive(Serialize)]
pub(crate) struct FailureJson<'a> {
    error: ErrorJson<'a>,
}

impl FailureJson<'_> {
    /// An error of this kind, about a path if it is about one.
    pub(crate) fn new<'a>(kind: &'a str, message: &'a str, path: Option<&Path>) -> FailureJson<'a> {
        FailureJson {
            error: ErrorJson::new(kind, message, path),
        }
    }
}

/// What went wrong.
#[derive(Serialize)]
pub(super) struct ErrorJson<'a> {
    kind: &'a str,
    message: &'a str,
    path: Option<String>,
}

impl ErrorJson<'_> {
    pub(super) fn new<'a>(kind: &'a str, message: &'a str, path: Option<&Path>) -> ErrorJson<'a> {
        ErrorJson {
            kind,
            message,
            path: path.map(|path| path.display().to_string()),
        }
    }
}
