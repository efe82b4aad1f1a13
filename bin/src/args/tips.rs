//! Tips of the argument parser.

use std::path::Path;

use clap::error::{ContextKind, ContextValue};

/// The error without tips that have nothing to do with what was typed.
pub(super) fn without_odd_tips(mut error: clap::Error) -> clap::Error {
    let typed = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(typed)) => typed.clone(),
        _ => return error,
    };
    let suggested = match error.get(ContextKind::SuggestedArg) {
        Some(ContextValue::String(suggested)) => suggested.clone(),
        _ => String::new(),
    };
    if !is_slip(&typed, suggested.split(' ').next().unwrap_or_default()) {
        error.remove(ContextKind::SuggestedArg);
    }
    // This one says how to name a file that begins with a dash.
    if !Path::new(&typed).exists() {
        error.remove(ContextKind::Suggested);
    }
    error
}

/// Whether two words differ in at most two letters at one place, or one begins with the other.
fn is_slip(a: &str, b: &str) -> bool {
    let same = |(a, b): &(char, char)| a == b;
    let front = a.chars().zip(b.chars()).take_while(same).count();
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let (rest_a, rest_b) = (&a[front..], &b[front..]);
    let back = rest_a.iter().rev().zip(rest_b.iter().rev());
    let back = back.take_while(|(a, b)| a == b).count();
    let differing = rest_a.len().max(rest_b.len()) - back;
    front > 2 && (rest_a.is_empty() || rest_b.is_empty()) || differing <= 2
}

#[cfg(test)]
mod tests {
    use super::is_slip;

    #[test]
    fn slips_are_small_or_at_the_end() {
        for (typed, meant) in [
            ("--stirct", "--strict"),
            ("--excludes", "--exclude"),
            ("--excl", "--exclude"),
            ("--thread", "--threads"),
        ] {
            assert!(is_slip(typed, meant), "{typed}");
        }
        for (typed, other) in [
            ("--threshold", "--threads"),
            ("--open", "--pre"),
            ("--sep", "--help"),
            ("--b", ""),
        ] {
            assert!(!is_slip(typed, other), "{typed}");
        }
    }
}
