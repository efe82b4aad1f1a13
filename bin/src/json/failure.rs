//! The error that ended a command.

use std::path::Path;

use serde::Serialize;

/// The error that ended a command.
#[derive(Serialize)]
pub(crate) struct Failure<'a> {
    error: Wrong<'a>,
}

#[derive(Serialize)]
struct Wrong<'a> {
    kind: &'a str,
    message: &'a str,
    path: Option<String>,
}

impl Failure<'_> {
    /// An error of this kind, about a path if it is about one.
    pub(crate) fn new<'a>(kind: &'a str, message: &'a str, path: Option<&Path>) -> Failure<'a> {
        let path = path.map(|path| path.display().to_string());
        Failure {
            error: Wrong {
                kind,
                message,
                path,
            },
        }
    }
}
