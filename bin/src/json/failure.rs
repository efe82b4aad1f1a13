//! The error that ended a command.

use std::path::Path;

use serde::Serialize;

/// The error that ended a command.
#[derive(Serialize)]
pub(crate) struct FailureJson<'a> {
    error: ErrorJson<'a>,
}

#[derive(Serialize)]
struct ErrorJson<'a> {
    kind: &'a str,
    message: &'a str,
    path: Option<String>,
}

impl FailureJson<'_> {
    /// An error of this kind, about a path if it is about one.
    pub(crate) fn new<'a>(kind: &'a str, message: &'a str, path: Option<&Path>) -> FailureJson<'a> {
        let path = path.map(|path| path.display().to_string());
        FailureJson {
            error: ErrorJson {
                kind,
                message,
                path,
            },
        }
    }
}
