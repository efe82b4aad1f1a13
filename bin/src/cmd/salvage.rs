//! `salvage`: makes a store from the intact parts of a damaged one.

use anyhow::Result;
use dedupdb::Progress;
use dedupdb::upkeep::{Casualty, SalvageSummary, Unreadable};

use crate::args::{Args, SalvageArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::json;
use crate::number::counted;
use crate::output::{Output, escape, printable};
use crate::watch::{ProgressWatch, StepUnit};

/// Runs `salvage`.
pub(crate) fn run(
    args: &Args,
    salvage: &SalvageArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    let schema = match &salvage.like {
        Some(folder) => {
            Some(crate::store::open_other(&crate::store::options(args), folder)?.schema())
        }
        None => None,
    };
    let progress = Progress::new();
    let watch = ProgressWatch::new(console, "salvaged", StepUnit::Step, &progress);
    let mut told = Ok(());
    let saved = crate::store::salvage(args, salvage, schema.as_deref(), &progress, |casualty| {
        if told.is_ok() {
            told = tell(casualty, output);
        }
    });
    drop(watch);
    let saved = saved?;
    told?;
    if output.is_json() {
        output.object(&json::SalvageJson::new(&salvage.target, &saved))?;
    } else if !args.quiet {
        for line in summary(&saved) {
            console.note(&line);
        }
    }
    let is_whole = saved.lost + saved.doubtful + saved.unnamed == 0 && saved.index_is_whole;
    Ok(Exit::found(is_whole))
}

fn fate(casualty: &Casualty) -> &'static str {
    if casualty.is_lost { "lost" } else { "doubtful" }
}

fn tell(casualty: &Casualty, output: &mut Output) -> std::io::Result<()> {
    let (fate, key) = (fate(casualty), casualty.key.as_deref());
    if output.is_json() {
        output.object(&json::CasualtyJson {
            fate,
            key,
            why: casualty.what,
        })
    } else {
        let key = key.map_or("(key unknown)".into(), escape);
        output.line(format!("{fate}\t{key}\t{}", casualty.what))
    }
}

fn summary(saved: &SalvageSummary) -> Vec<String> {
    let documents = |count| counted(count, "document", "documents");
    let mut lines = vec![format!(
        "saved {}, {} of them doubtful; {} lost",
        documents(saved.documents),
        saved.doubtful,
        saved.lost
    )];
    if saved.unnamed > 0 {
        let unnamed = documents(saved.unnamed);
        lines.push(format!(
            "{unnamed} without a key, kept under the hash of the text"
        ));
    }
    if saved.undated > saved.unnamed {
        let undated = documents(saved.undated - saved.unnamed);
        lines.push(format!("{undated} without size and times"));
    }
    if saved.unfingerprinted > 0 {
        lines.push(format!(
            "{} no fingerprints: `reindex --passage {} --from PATH...` in the new store reads the texts again",
            counted(saved.unfingerprinted, "text has", "texts have"),
            saved.schema.passage()
        ));
    }
    for Unreadable { file, bytes, .. } in &saved.unreadable {
        let bytes = counted(*bytes, "byte", "bytes");
        lines.push(format!(
            "{}: the disk cannot read {bytes} of it",
            printable(&file.display().to_string())
        ));
    }
    if !saved.index_is_whole {
        lines.push(
            "the index is damaged: sizes and times may be wrong, and documents of which nothing is \
             left are not counted"
                .to_owned(),
        );
        lines.push(format!(
            "so may be the parameters, of which signatures show but a part: {}",
            saved.schema
        ));
    }
    lines
}
