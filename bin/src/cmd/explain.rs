//! `explain`: shows why two texts match, or do not.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};
use dedupdb::sketching::seen_characters;
use dedupdb::{Error, Schema, Store, find::Explanation};
use dedupdb_corpus::dedup::contained_one;
use dedupdb_corpus::{is_same_file, nothing_at};
use dedupdb_lab::diff::{Comparison, LongestRun};

use crate::args::{Args, ExplainArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::inputs::{STDIN, check_stdin, sources};
use crate::json;
use crate::left_out::advice;
use crate::marked_diff::MarkedDiff;
use crate::number::{counted, estimated, four_decimals, grouped, percent};
use crate::output::{Output, escape, printable};
use crate::text_side::TextSide;

/// Runs `explain`.
pub(crate) fn run(
    args: &Args,
    explain: &ExplainArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    check_stdin([&explain.a, &explain.b].map(Path::new))?;
    let store = open(args, console)?;
    let find = |name: &str| {
        let hint = explain.escaped.hint(name);
        let name = explain.escaped.key(name)?;
        TextSide::find(&name, hint, store.as_ref(), args, &explain.inputs)
    };
    let mut sides = [find(&explain.a)?, find(&explain.b)?];
    read_texts(&mut sides, args, explain, console)?;
    if let [Some(a), Some(b)] = sides.each_ref().map(|side| side.file.as_ref())
        && is_same_file(a, b)
    {
        console.note("A and B are the same file");
    }
    let default = Arc::<Schema>::default();
    let (schema, explanation) = match (&store, &sides) {
        (Some(store), [a, b]) => (store.schema(), store.explain(a.subject(), b.subject())?),
        (None, [TextSide { text: Ok(a), .. }, TextSide { text: Ok(b), .. }]) => {
            let explanation = Explanation::of_texts(&default, a, b)?;
            (default, explanation)
        }
        (None, _) => bail!("without a store, both must be files"),
    };
    let (comparison, longest) = match &sides {
        [TextSide { text: Ok(a), .. }, TextSide { text: Ok(b), .. }] => {
            (Some(Comparison::of(a, b)), LongestRun::of(a, b))
        }
        _ => (None, None),
    };
    let found = ExplainedPair {
        schema: &schema,
        sides: &sides,
        explanation: &explanation,
        contained: contained(&schema, &explanation, &sides),
    };
    let marked = MarkedDiff {
        comparison: comparison.as_ref(),
        longest,
        full: explain.full,
        colours: !output.is_json() && has_colours(),
    };
    if output.is_json() {
        let diff = marked.object();
        output.object(&json::ExplainJson::new(
            &schema,
            &sides,
            &explanation,
            found.contained,
            diff,
        ))?;
    } else {
        for line in found.lines().into_iter().chain(marked.lines()) {
            output.line(line)?;
        }
    }
    Ok(Exit::found(explanation.is_match))
}

/// The name of the text that `dedup --containment` drops because of the other one.
fn contained(
    schema: &Schema,
    explanation: &Explanation,
    sides: &[TextSide; 2],
) -> Option<&'static str> {
    let characters =
        |side: &TextSide| seen_characters(side.text.as_ref().map_or("", String::as_str));
    let one = contained_one(schema, explanation, sides.each_ref().map(characters))?;
    Some(["a", "b"][one])
}

/// Looks for the texts that are missing in the files of --texts-from.
fn read_texts(
    sides: &mut [TextSide; 2],
    args: &Args,
    explain: &ExplainArgs,
    console: &Console,
) -> Result<()> {
    let is_missing = |sides: &[TextSide; 2]| sides.iter().any(|side| side.text.is_err());
    if explain.texts_from.is_empty() || !is_missing(sides) {
        return Ok(());
    }
    check_stdin(explain.texts_from.iter().map(PathBuf::as_path))?;
    for path in &explain.texts_from {
        if path != Path::new(STDIN) && path.symlink_metadata().is_err() {
            bail!("{}: {}", path.display(), nothing_at(path));
        }
    }
    let options = explain.inputs.options().store(&args.store);
    for read in options.open(sources(&explain.texts_from, None))? {
        match read {
            Ok(document) => {
                for side in &mut *sides {
                    side.offer(document.text(), document.hash());
                }
            }
            Err(skipped) if skipped.is_failure() => console.error(&skipped.told(advice)),
            Err(_) => {}
        }
        if !is_missing(sides) {
            return Ok(());
        }
    }
    for side in sides.iter_mut().filter(|side| side.text.is_err()) {
        side.text = Err("no file of --texts-from has it".to_owned());
    }
    Ok(())
}

/// The store, if there is one.
fn open(args: &Args, console: &Console) -> Result<Option<Store>> {
    match crate::store::open_to_read(args) {
        Err(error) if matches!(error.downcast_ref(), Some(Error::NotAStore { .. })) => {
            console.note(&format!(
                "{}: there is no store here; texts are compared with the default parameters",
                args.store.display()
            ));
            Ok(None)
        }
        opened => opened.map(Some),
    }
}

/// Whether standard output is a terminal that shows colours.
fn has_colours() -> bool {
    let output = std::io::stdout();
    let choice = anstream::AutoStream::choice(&output);
    output.is_terminal() && choice != anstream::ColorChoice::Never
}

/// What is known about two texts, except for the texts themselves.
struct ExplainedPair<'a> {
    schema: &'a Schema,
    sides: &'a [TextSide; 2],
    explanation: &'a Explanation,
    /// The name in JSON of the text that is contained in the other one, if they do not match.
    contained: Option<&'static str>,
}

impl ExplainedPair<'_> {
    fn lines(&self) -> Vec<String> {
        // What is not about the text that a person sees in a file says so first.
        let mut lines = self.texts_not_at_hand(true);
        for ((name, side), shingles) in ["A", "B"]
            .iter()
            .zip(self.sides)
            .zip(self.explanation.shingles)
        {
            let kind = if side.is_stored { "stored" } else { "a file" };
            let shingles = counted(shingles, "shingle", "shingles");
            let key = escape(&side.name);
            lines.push(format!("{name}             {key} ({kind}, {shingles})"));
        }
        lines.push(format!("verdict       {}", self.verdict()));
        lines.extend(self.similarities());
        lines.push(format!("bands         {}", self.bands()));
        lines.extend(self.texts_not_at_hand(false));
        lines
    }

    /// Says why texts are not at hand: those of files, or those of other documents.
    fn texts_not_at_hand(&self, of_files: bool) -> Vec<String> {
        let sides = ["A", "B"].iter().zip(self.sides);
        let sides = sides.filter(|(_, side)| side.file.is_some() == of_files);
        let advice = if of_files {
            "; this is about the stored text (add the file again to compare what it has now)"
        } else {
            ""
        };
        let line = |(name, side): (&&str, &TextSide)| {
            let reason = printable(side.text.as_ref().err()?);
            Some(format!("text of {name}     not at hand: {reason}{advice}"))
        };
        sides.filter_map(line).collect()
    }

    fn verdict(&self) -> String {
        let Explanation {
            is_match,
            exact_copy,
            ..
        } = self.explanation;
        let threshold = self.schema.threshold();
        match (is_match, exact_copy) {
            (_, true) => "match: the same text".to_owned(),
            (true, false)
                if self
                    .explanation
                    .common
                    .is_some_and(|it| it.both == it.either) =>
            {
                "match: other texts with the same words".to_owned()
            }
            (true, false) if self.explanation.common.is_none() => {
                format!("match: by the estimate, the threshold of {threshold} is in reach")
            }
            (true, false) => format!("match: the threshold is {threshold}"),
            (false, false) => format!(
                "no match: the threshold is {threshold}{}",
                self.containment(threshold)
            ),
        }
    }

    /// Says which text is contained in the other one, if one is.
    fn containment(&self, threshold: f64) -> String {
        let which = match self.contained {
            None => return String::new(),
            Some("a") => "A is contained in B",
            Some(_) => "B is contained in A",
        };
        format!("; {which}, so dedup --containment {threshold} drops it")
    }

    fn similarities(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(common) = self.explanation.common {
            lines.push(format!(
                "jaccard       {}: {} of {} in both",
                four_decimals(common.jaccard),
                grouped(common.both),
                counted(common.either, "shingle is", "shingles are"),
            ));
            lines.push(format!(
                "containment   {} of A is in B, {} of B is in A",
                four_decimals(common.containment_of_a),
                four_decimals(common.containment_of_b)
            ));
        } else {
            lines.push("jaccard       not known: the store keeps no shingles".to_owned());
        }
        lines.push(
            match (self.explanation.estimate, self.explanation.agreeing) {
                (Some(estimate), Some(agreeing)) => format!(
                    "estimate      {}: {agreeing} of {} slots agree",
                    estimated(estimate),
                    self.schema.permutations()
                ),
                _ => "estimate      none: a text without shingles has no signature".to_owned(),
            },
        );
        lines
    }

    fn bands(&self) -> String {
        let Explanation { bands, recall, .. } = self.explanation;
        let all = self.schema.bands().bands();
        let which = match bands.len() {
            0 => format!("none of {all} shared"),
            shared if shared == all as usize => format!("{all} of {all} shared"),
            shared => {
                let numbers: Vec<String> = bands.iter().map(u32::to_string).collect();
                format!("{shared} of {all} shared ({})", numbers.join(", "))
            }
        };
        if self.explanation.exact_copy && bands.is_empty() {
            return format!("none of {all} shared; exact copies are found by their text");
        }
        let likely = format!(
            "{} of pairs with this similarity share a band",
            percent(*recall)
        );
        let missed = self.explanation.is_match && !self.explanation.is_found();
        let missed = if missed {
            "; a query misses this one"
        } else {
            ""
        };
        format!("{which}; {likely}{missed}")
    }
}
