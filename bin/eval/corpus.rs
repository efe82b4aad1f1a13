//! The texts of an experiment.

use anyhow::{Result, bail};
use dedupdb::corpus::{Item, Sourced};
use dedupdb::eval::Reservoir;
use dedupdb::sketching::{ShingleSet, Shingler, Shingling};
use rayon::prelude::*;

use crate::args::Args;
use crate::args::eval::Texts;
use crate::console::Console;
use crate::inputs::sources;
use crate::interrupt::Interrupt;
use crate::left_out::{LeftOut, Named, advice};
use crate::number::{counted, grouped};
use crate::progress::Progress;

/// Texts as sets of shingles, in the order in which they were read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Corpus {
    pub(crate) keys: Vec<String>,
    /// The set of each, not empty.
    pub(crate) sets: Vec<ShingleSet>,
    /// Whether something could not be read.
    pub(crate) failed: bool,
}

impl Corpus {
    /// Reads all texts and keeps their shingles; those that have none are left out.
    pub(crate) fn read(
        args: &Args,
        texts: &Texts,
        shingling: Shingling,
        console: &Console,
    ) -> Result<Corpus> {
        let folds = shingling.folds();
        let shingler = Shingler::new(shingling, folds, folds)?;
        let mut corpus = Corpus::default();
        let mut empty = 0;
        corpus.failed = each(args, texts, console, &Interrupt::default(), |documents| {
            let sets: Vec<_> = documents
                .into_par_iter()
                .map(|document| (shingler.shingles(document.text()), document))
                .collect();
            for (set, document) in sets {
                match set {
                    Ok(set) if set.is_empty() => empty += 1,
                    Ok(set) => {
                        corpus.keys.push(document.into_origin().key);
                        corpus.sets.push(set);
                    }
                    Err(error) => bail!("{}: {error}", document.place()),
                }
            }
            Ok(())
        })?;
        if empty > 0 {
            let texts = counted(empty, "text has", "texts have");
            console.note(&format!("{texts} no {shingling} shingles; left out"));
        }
        check_two(corpus.len())?;
        Ok(corpus)
    }

    /// Number of texts.
    pub(crate) fn len(&self) -> usize {
        self.sets.len()
    }
}

/// Refuses what has no pair.
fn check_two(texts: usize) -> Result<()> {
    if texts < 2 {
        let texts = counted(texts as u64, "text", "texts");
        bail!("{texts} to compare: an experiment needs two or more");
    }
    Ok(())
}

/// Refuses more than `most` comparisons; `work` says what they are, and `option` asks for fewer.
pub(super) fn check_work(work: &str, comparisons: u64, most: u64, option: &str) -> Result<()> {
    if comparisons > most {
        let most = grouped(most);
        bail!("{work}, more than {most}: ask for fewer with {option} N");
    }
    Ok(())
}

/// Hands on the documents batch by batch; says whether something could not be read.
///
/// # Errors
///
/// Those of `take`, that the user asked to stop, and under `--strict` the first failure.
pub(crate) fn each(
    args: &Args,
    texts: &Texts,
    console: &Console,
    interrupt: &Interrupt,
    mut take: impl FnMut(Vec<Sourced>) -> Result<()>,
) -> Result<bool> {
    let options = texts.inputs.options().store(&args.store);
    let (plan, paths) = (options.clone(), texts.paths.clone());
    let plan = move || plan.disk_bytes(sources(&paths, None));
    let mut progress = Progress::new(console, plan);
    texts.telling.check(&texts.paths, &[])?;
    let mut left_out = LeftOut::begin(console, &texts.telling, Named::First)?;
    let mut failed = false;
    let batches = options.batches(sources(&texts.paths, None))?;
    while let Some(batch) = interrupt.receive(&batches)? {
        let batch = batch?;
        let mut documents = Vec::new();
        for item in batch.items {
            match item {
                Item::Document(document) => documents.push(document),
                Item::Skipped(skipped) if texts.inputs.strict && skipped.reason.is_failure() => {
                    bail!("{}", skipped.told(advice))
                }
                Item::Skipped(skipped) => {
                    failed |= skipped.reason.is_failure();
                    left_out.tell(&skipped)?;
                }
                _ => {}
            }
        }
        let count = documents.len() as u64;
        take(documents)?;
        progress.advance(count, batch.bytes);
    }
    progress.finish();
    left_out.finish()?;
    Ok(failed)
}

/// The texts themselves: so many, drawn by the hashes of their keys, or all if there are no more
/// than `most`.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// In the order in which they were read.
    pub(super) texts: Vec<String>,
    /// Whether something could not be read.
    pub(super) failed: bool,
}

impl Sample {
    /// Reads all texts, and keeps those that are drawn.
    pub(super) fn read(
        args: &Args,
        texts: &Texts,
        (sample, seed): (Option<usize>, u64),
        most: usize,
        console: &Console,
    ) -> Result<Sample> {
        let mut drawn = Reservoir::new(sample.unwrap_or(most), seed);
        let failed = each(args, texts, console, &Interrupt::default(), |documents| {
            for document in documents {
                let key = document.key.clone();
                drawn.push(&key, document.into_text());
            }
            if sample.is_none() && drawn.met() > most as u64 {
                bail!(
                    "more than {}, whose pairs would take long to compare: ask for fewer with \
                     --sample N",
                    counted(most as u64, "text", "texts")
                );
            }
            Ok(())
        })?;
        let texts = drawn.into_drawn();
        check_two(texts.len())?;
        Ok(Sample { texts, failed })
    }
}
