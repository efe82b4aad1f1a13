//! The file of `--skipped`.

use serde::Serialize;

/// A file or record that was left out.
#[derive(Serialize)]
pub(crate) struct LeftOutJson<'a> {
    pub(crate) place: &'a str,
    pub(crate) reason: &'a str,
    pub(crate) detail: Option<&'a str>,
}
