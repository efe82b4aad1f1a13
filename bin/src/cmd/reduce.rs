//! `reduce`: lists the pairs among the sorted lines of `map`.

use anyhow::Result;
use dedupdb_lab::mapreduce::{Groups, Reducer};

use crate::args::ReduceArgs;
use crate::closed_input;
use crate::console::Console;
use crate::exit::Exit;
use crate::interrupt;
use crate::json;
use crate::number::{counted, four_decimals, grouped};
use crate::output::{Output, escape};
use crate::piped_input::PipedInput;
use crate::read_counts::line;

/// The counts of what was read.
#[derive(Clone, Copy, Debug, Default)]
struct ReduceCounts {
    keys: u64,
    /// Keys with several lines.
    shared: u64,
    pairs: u64,
}

/// Runs `reduce`.
pub(crate) fn run(reduce: &ReduceArgs, console: &Console, output: &mut Output) -> Result<Exit> {
    output.end_with_reader();
    let schema = super::init::schema(&reduce.sketching).build()?;
    let progress = interrupt::catch()?;
    let stdin = PipedInput::begin(closed_input::stdin(), progress.clone())?;
    let mut groups = Groups::new(stdin, "standard input", &schema);
    let mut reducer = Reducer::new(schema);
    let mut counts = ReduceCounts::default();
    loop {
        let next = groups.next_group();
        // A signal interrupts the whole pipeline, so the end of the input may not be its real end.
        if progress.is_stopped() {
            output.flush()?;
            console.error("stopped; these are not all pairs");
            return Ok(Exit::Interrupted);
        }
        let Some(group) = next? else {
            break;
        };
        counts.keys += 1;
        counts.shared += u64::from(group.len() > 1);
        reducer.pairs(group, |a, b, jaccard| {
            counts.pairs += 1;
            list(a, b, jaccard, output)
        })?;
    }
    output.flush()?;
    tell(counts, groups.lines(), &reducer, output.is_json(), console)?;
    Ok(match reducer.repeated() {
        (0, _) => Exit::Found,
        _ => Exit::Failed,
    })
}

fn list(a: &str, b: &str, jaccard: f64, output: &mut Output) -> Result<()> {
    if output.is_json() {
        let (key_a, key_b) = (a, b);
        let pair = json::ReducedPairJson {
            key_a,
            key_b,
            jaccard,
        };
        return Ok(output.object(&pair)?);
    }
    Ok(output.line(format!(
        "{}\t{}\t{}",
        escape(a),
        escape(b),
        four_decimals(jaccard)
    ))?)
}

/// Reports what was done, on standard error: standard output has the pairs.
fn tell(
    counts: ReduceCounts,
    lines: u64,
    reducer: &Reducer,
    json: bool,
    console: &Console,
) -> Result<()> {
    let (repeated, example) = reducer.repeated();
    if let Some(example) = example {
        let lines = counted(repeated, "line has", "lines have");
        console.error(&format!(
            "{lines} an id that stands for another text, too, such as {example:?}; pairs are missing or \
             listed twice: give each document its own id, for example with map --id-scope file"
        ));
    }
    if json {
        return Ok(console.object(&json::ReduceJson {
            lines,
            keys: counts.keys,
            shared_keys: counts.shared,
            pairs: counts.pairs,
            repeated,
        })?);
    }
    let mut text = line("lines", lines, "");
    let shared = format!("   {} of several lines", grouped(counts.shared));
    text += &line("keys", counts.keys, &shared);
    text += &line("pairs", counts.pairs, "");
    console.text(&text);
    Ok(())
}
