//! The texts of an experiment.

use anyhow::{Result, bail};
use dedupdb::Progress;
use dedupdb::sketching::{ShingleSet, Shingler, Shingling};
use dedupdb_corpus::{ForEachSummary, Origin, SourcedText};
use dedupdb_lab::eval::Reservoir;

use crate::args::Args;
use crate::args::eval::EvalTextArgs;
use crate::console::Console;
use crate::each::{ForEachRun, Strictness};
use crate::left_out::NamingScope;
use crate::number::{counted, grouped};

/// Texts as sets of shingles, in the order of the input.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExperimentTexts {
    pub(crate) keys: Vec<String>,
    /// The set of each text, never empty.
    pub(crate) sets: Vec<ShingleSet>,
    /// Whether something could not be read.
    pub(crate) failed: bool,
}

impl ExperimentTexts {
    /// Reads all texts and keeps their shingles. Texts without shingles are left out.
    pub(crate) fn read(
        args: &Args,
        texts: &EvalTextArgs,
        shingling: Shingling,
        console: &Console,
    ) -> Result<ExperimentTexts> {
        let folds = shingling.folds();
        let shingler = Shingler::new(shingling, folds, folds)?;
        let mut corpus = ExperimentTexts::default();
        let mut empty = 0;
        let shingles = |document: &SourcedText| shingler.shingles(document.text());
        let read = each(
            args,
            texts,
            console,
            &Progress::new(),
            shingles,
            |origin, set| {
                if set.is_empty() {
                    empty += 1;
                } else {
                    corpus.keys.push(origin.key);
                    corpus.sets.push(set);
                }
                Ok(())
            },
        )?;
        corpus.failed = read.reading.has_failures();
        if empty > 0 {
            let texts = counted(empty, "text has", "texts have");
            console.note(&format!("{texts} no {shingling} shingles; left out"));
        }
        check_two(corpus.len())?;
        Ok(corpus)
    }

    /// The number of texts.
    pub(crate) fn len(&self) -> usize {
        self.sets.len()
    }
}

/// Refuses a corpus without a pair.
fn check_two(texts: usize) -> Result<()> {
    if texts < 2 {
        let texts = counted(texts as u64, "text", "texts");
        bail!("{texts} to compare: an experiment needs two or more");
    }
    Ok(())
}

/// Refuses more than `most` comparisons. `work` describes them, and `option` asks for fewer.
pub(super) fn check_work(work: &str, comparisons: u64, most: u64, option: &str) -> Result<()> {
    if comparisons > most {
        let most = grouped(most);
        bail!("{work}, more than {most}: ask for fewer with {option} N");
    }
    Ok(())
}

/// Works on each text, and passes on the results. The first text that cannot be worked on is an error.
///
/// # Errors
///
/// The errors of `work` and `take` and, with `--strict`, the first failure.
pub(crate) fn each<T: Send>(
    args: &Args,
    texts: &EvalTextArgs,
    console: &Console,
    progress: &Progress,
    work: impl Fn(&SourcedText) -> dedupdb::Result<T> + Sync,
    take: impl FnMut(Origin, T) -> Result<()>,
) -> Result<ForEachSummary> {
    let each = ForEachRun {
        paths: &texts.paths,
        options: texts.inputs.options().store(&args.store),
        telling: &texts.telling,
        named: NamingScope::First,
        progress,
        whole: Some(if texts.inputs.strict {
            Strictness::Strict
        } else {
            Strictness::Lenient
        }),
        has_bar: true,
    };
    each.run(console, work, take)
}

/// The texts themselves: a sample drawn by the hashes of their keys, or all of them if there are at most `most`.
#[derive(Clone, Debug)]
pub(super) struct TextSample {
    /// In the order of the input.
    pub(super) texts: Vec<String>,
    /// Whether something could not be read.
    pub(super) failed: bool,
}

impl TextSample {
    /// Reads all texts, and keeps the sample.
    pub(super) fn read(
        args: &Args,
        texts: &EvalTextArgs,
        (sample, seed): (Option<usize>, u64),
        most: usize,
        console: &Console,
    ) -> Result<TextSample> {
        let mut drawn = Reservoir::new(sample.unwrap_or(most), seed);
        let text = |document: &SourcedText| Ok(document.text().to_owned());
        let read = each(
            args,
            texts,
            console,
            &Progress::new(),
            text,
            |origin, text| {
                drawn.push(&origin.key, text);
                if sample.is_none() && drawn.met() > most as u64 {
                    bail!(
                        "there are more than {}, and comparing all their pairs would take long; choose fewer with \
                     --sample N",
                        counted(most as u64, "text", "texts")
                    );
                }
                Ok(())
            },
        )?;
        let failed = read.reading.has_failures();
        let texts = drawn.into_drawn();
        check_two(texts.len())?;
        Ok(TextSample { texts, failed })
    }
}
