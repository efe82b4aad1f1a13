//! What to do about an argument that is missing.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The same error, or one line that says what to do where only the output is missing.
pub(super) fn explained(error: clap::Error) -> clap::Error {
    let is_output = |value: &ContextValue| match value {
        ContextValue::Strings(missing) => {
            matches!(&missing[..], [only] if only.starts_with("--output "))
        }
        _ => false,
    };
    let is_missing = error.kind() == ErrorKind::MissingRequiredArgument
        && error.get(ContextKind::InvalidArg).is_some_and(is_output);
    if !is_missing {
        return error;
    }
    let usage = error.get(ContextKind::Usage).map(ToString::to_string);
    let is_dedup = usage.is_some_and(|usage| usage.contains("dedupdb dedup "));
    let more = if is_dedup {
        ", or move what would be dropped aside with --move-to DIR"
    } else {
        ""
    };
    let what = format!("name what to write with -o OUTPUT, or -o - for standard output{more}\n");
    clap::Error::raw(ErrorKind::MissingRequiredArgument, what)
}
