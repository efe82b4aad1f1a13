//! How the kind and length of shingles change similarities.

use anyhow::{Result, bail};
use dedupdb::eval::{self as experiments, KindMeasured, Monitor, ShingleKind};
use dedupdb::{sketching::Shingling, upkeep::Progress};

use super::corpus::{Sample, pairs};
use super::report::Report;
use super::shingles_report::Measured;
use crate::args::{Args, eval};
use crate::console::Console;
use crate::number::{counted, grouped};
use crate::watch::{Unit, Watch};

/// Comparisons of two sets that are made at most; so many take some minutes.
const MOST: u64 = 200_000_000;

/// A kind of shingles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    of: fn(u8) -> Shingling,
    /// Whether texts are lowercased and normalized.
    pub(super) folds: bool,
}

const fn kind(name: &'static str, of: fn(u8) -> Shingling, folds: bool) -> Kind {
    Kind { name, of, folds }
}

/// All kinds.
pub(super) const KINDS: [Kind; 7] = [
    kind("word", Shingling::Word, true),
    kind("char", Shingling::Char, true),
    kind("char-nospace", Shingling::CharNoSpace, true),
    kind("byte", Shingling::Byte, false),
    kind("word, as it is", Shingling::Word, false),
    kind("char, as it is", Shingling::Char, false),
    kind("char-nospace, as it is", Shingling::CharNoSpace, false),
];

/// What one kind and length came to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) kind: Kind,
    pub(super) k: u8,
    pub(super) found: KindMeasured,
}

/// Runs the experiment.
pub(crate) fn run(args: &Args, asked: &eval::Shingles, console: &Console) -> Result<Report> {
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
    let sample = Sample::read(args, &asked.texts, drawn, most, console)?;
    let asked_for = KINDS
        .iter()
        .flat_map(|kind| lengths.clone().map(move |k| (*kind, k)));
    let asked_for: Vec<(Kind, u8)> = asked_for.collect();
    let of = |&(kind, k): &(Kind, u8)| ShingleKind::new((kind.of)(k), kind.folds);
    let kinds: Vec<ShingleKind> = asked_for.iter().map(of).collect();
    let progress = Progress::new();
    let _watch = Watch::new(console, "compared", Unit::Step, &progress);
    let monitor = Monitor::new().progress(&progress);
    let found = experiments::shingles(&sample.texts, &kinds, asked.threshold, &monitor)?;
    let lines = asked_for.into_iter().zip(&found.kinds);
    let lines = lines.map(|((kind, k), &found)| Line { kind, k, found });
    let measured = Measured {
        texts: found.texts,
        cut: found.cut,
        near: found.near,
        lines: lines.collect(),
    };
    Ok(measured.report(asked, sample.failed))
}

/// Texts all of whose pairs can be compared with so many kinds of shingles.
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
