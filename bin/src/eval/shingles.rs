//! How the kind and length of shingles change similarities.

use anyhow::{Result, bail};
use dedupdb::{Progress, sketching::Shingling};
use dedupdb_lab::eval::{self as experiments, ShingleKind, pairs};

use super::ExperimentOutcome;
use super::corpus::TextSample;
use crate::args::{Args, eval};
use crate::console::Console;
use crate::number::{counted, grouped};
use crate::watch::{ProgressWatch, StepUnit};

/// The maximum number of comparisons of two sets, which take some minutes.
const MOST: u64 = 200_000_000;

/// A kind of shingle for any length, and whether texts are lowercased and normalized.
type ShinglingOfLength = (fn(u8) -> Shingling, bool);

/// All kinds.
const KINDS: [ShinglingOfLength; 7] = [
    (Shingling::Word, true),
    (Shingling::Char, true),
    (Shingling::CharNoSpace, true),
    (Shingling::Byte, false),
    (Shingling::Word, false),
    (Shingling::Char, false),
    (Shingling::CharNoSpace, false),
];

/// Runs the experiment.
pub(crate) fn run(
    args: &Args,
    asked: &eval::ShinglesArgs,
    console: &Console,
) -> Result<ExperimentOutcome> {
    let lengths = asked.k.from..=asked.k.to;
    let kinds = lengths.clone().count() * KINDS.len();
    let most = most_texts(kinds as u64);
    if let Some(sample) = asked.sample
        && sample > most
    {
        bail!(
            "the pairs of {} with {} are more than {} comparisons: ask for {} or fewer",
            counted(sample as u64, "text", "texts"),
            counted(kinds as u64, "kind of shingles", "kinds of shingles"),
            grouped(MOST),
            grouped(most as u64)
        );
    }
    let drawn = (asked.sample, asked.seed);
    let sample = TextSample::read(args, &asked.texts, drawn, most, console)?;
    let of_kind = |(of, folds): ShinglingOfLength| {
        lengths.clone().map(move |k| ShingleKind::new(of(k), folds))
    };
    let kinds: Vec<ShingleKind> = KINDS.into_iter().flat_map(of_kind).collect();
    let progress = Progress::new();
    let _watch = ProgressWatch::new(console, "compared", StepUnit::Step, &progress);
    let found = experiments::shingles(&sample.texts, &kinds, asked.threshold, &progress)?;
    Ok(ExperimentOutcome::new(
        found.report(asked.threshold),
        sample.failed,
    ))
}

/// The maximum number of texts all of whose pairs can be compared with `kinds` kinds of shingles.
fn most_texts(kinds: u64) -> usize {
    let most = MOST / kinds.max(1);
    let texts = (1..).take_while(|&texts| pairs(texts) <= most);
    texts.count()
}

#[cfg(test)]
mod tests {
    use super::most_texts;

    #[test]
    fn the_pairs_of_so_many_texts_fit() {
        assert_eq!(most_texts(200_000_000), 2);
        assert_eq!(most_texts(1), 20_000);
    }
}
