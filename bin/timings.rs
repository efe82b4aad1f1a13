//! Where the time of an add went, for `--timings`.

use std::fmt::Write;
use std::time::Duration;

use dedupdb::upkeep::Timings;

/// The lines to show; `waiting` is the time in which there was no input to work on.
pub(crate) fn to_text(timings: &Timings, waiting: Duration) -> String {
    let rows = [
        ("waiting for input", waiting, ""),
        ("shingling", timings.shingling, "summed over threads"),
        ("signing", timings.signing, "summed over threads"),
        ("appending", timings.appending, ""),
        ("comparing", timings.comparing, "summed over threads"),
        ("committing", timings.committing, ""),
        ("  of that merging", timings.merging, ""),
    ];
    let mut text = String::new();
    for (name, spent, remark) in rows {
        let seconds = spent.as_secs_f64();
        let line = format!("{name:<18} {seconds:>8.3} s  {remark}");
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}
