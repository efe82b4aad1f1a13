//! `check`: looks for damage.

use anyhow::Result;
use dedupdb::Progress;
use dedupdb::upkeep::{CheckReport, Problem};

use crate::args::Args;
use crate::console::Console;
use crate::exit::Exit;
use crate::json;
use crate::number::counted;
use crate::output::{Output, printable};
use crate::watch::{ProgressWatch, StepUnit};

/// Runs `check`.
pub(crate) fn run(args: &Args, console: &Console, output: &mut Output) -> Result<Exit> {
    let progress = Progress::new();
    let watch = ProgressWatch::new(console, "checked", StepUnit::Step, &progress);
    let report = crate::store::check(args, &progress);
    drop(watch);
    let report = report?;
    if output.is_json() {
        output.object(&json::CheckJson::new(&report))?;
    } else {
        for problem in &report.problems {
            output.line(printable(&problem.to_string()))?;
        }
        if !args.quiet {
            output.line(summary(&report))?;
        }
    }
    Ok(Exit::failed(!report.is_clean()))
}

/// Whether a problem is in a filter, which is derived from other files.
fn is_of_filter(problem: &Problem) -> bool {
    let name = problem.file.file_name().unwrap_or_default();
    name.to_string_lossy().starts_with("filter.")
}

fn summary(report: &CheckReport) -> String {
    let verdict = if report.is_clean() {
        "no damage found".to_owned()
    } else {
        let problems = counted(report.problems.len() as u64, "problem", "problems");
        let remedy = if report.problems.iter().all(is_of_filter) {
            "no document is damaged; delete the files named above while nobody uses the store"
        } else {
            "restore the store from a backup, or save its intact parts with salvage"
        };
        format!("{problems} found; {remedy}")
    };
    if !report.is_clean() && report.documents == 0 && report.contents == 0 {
        return format!("could not go on to check the documents: {verdict}");
    }
    let recent = match report.recent {
        0 => String::new(),
        recent => {
            let contents = counted(recent, "recent content", "recent contents");
            format!(" ({contents} without postings in tables yet, which is normal)")
        }
    };
    format!(
        "checked {}, {} and {}{recent}: {verdict}",
        counted(report.documents, "document", "documents"),
        counted(report.contents, "content", "contents"),
        counted(report.postings, "posting", "postings"),
    )
}
