//! The times of the parts of a corpus, as rows and as a table.

use super::{ExperimentReport, FigureRow, TextTable};
use crate::eval::{Cost, Crossing, PartCost, SignedCost, pairs, time_picture};
use crate::number::{counted, grouped, seconds};
use dedupdb::sketching::Shingling;

/// Reports the cost of the parts of a corpus, ascending, as [`time`](crate::eval::time()) returns them.
///
/// Also reports from how many texts on LSH takes less time than all exact similarities.
pub fn time_report(parts: &[PartCost], shingling: Shingling, threshold: f64) -> ExperimentReport {
    let signed = parts.first().map_or(&[][..], |part| &part.signed);
    let wins: Vec<Option<f64>> = (0..signed.len())
        .map(|at| Crossing::of(parts, at).map(|crossing| crossing.texts))
        .collect();
    let heading = format!(
        "seconds of one thread, medians of several runs, for parts of the corpus, {shingling} shingles, near-duplicates at {threshold} or \
         more; ~: computed",
    );
    let notes = signed.iter().enumerate();
    ExperimentReport {
        rows: parts.iter().flat_map(|part| rows(part, &wins)).collect(),
        heading: vec![heading],
        table: table(parts),
        notes: notes.map(|(at, signed)| note(parts, at, signed)).collect(),
        picture: time_picture(parts),
    }
}

fn note(parts: &[PartCost], at: usize, signed: &SignedCost) -> String {
    let name = format!(
        "{} permutations ({})",
        signed.permutations,
        crate::number::shape(signed.bands)
    );
    let Some(crossing) = Crossing::of(parts, at) else {
        let texts = parts.last().map_or(0, |part| part.texts);
        return format!(
            "{name}: LSH takes longer than all exact similarities at the whole, {}",
            counted(texts as u64, "text", "texts")
        );
    };
    let texts = crossing.texts;
    let Some(lost) = crossing.after else {
        return format!(
            "{name}: LSH takes less than all exact similarities from {texts:.0} texts on, the smallest part"
        );
    };
    let between = &parts[lost..=lost + 1];
    let how = if between.iter().all(|part| part.exact.measured) {
        "measured"
    } else {
        "computed"
    };
    format!(
        "{name}: LSH takes less than all exact similarities from about {texts:.0} texts on, {how} \
         between {} and {}",
        between[0].texts, between[1].texts
    )
}

fn table(parts: &[PartCost]) -> TextTable {
    let mut table = TextTable::default();
    let mut column = |head: &str, cell: &dyn Fn(&PartCost) -> String| {
        table.column(head, parts.iter().map(cell));
    };
    let cost = |cost: Cost| {
        let mark = if cost.measured { "" } else { "~" };
        format!("{mark}{}", seconds(cost.seconds))
    };
    column("texts", &|part| grouped(part.texts as u64));
    column("pairs", &|part| grouped(pairs(part.texts)));
    column("exact", &|part| cost(part.exact));
    let several = parts.first().map_or(0, |part| part.signed.len());
    for at in 0..several {
        let number = parts[0].signed[at].permutations;
        column(&format!("{number}: signatures"), &|part| {
            seconds(part.signed[at].signatures)
        });
        column("estimates", &|part| cost(part.signed[at].estimates));
        column("LSH", &|part| seconds(part.signed[at].lsh));
        column("compared", &|part| grouped(part.signed[at].compared));
    }
    table.column("", parts.iter().map(|_| String::new()));
    table
}

/// Returns the figures for each number of permutations.
fn rows(part: &PartCost, wins: &[Option<f64>]) -> Vec<FigureRow> {
    let row = |(signed, wins): (&SignedCost, &Option<f64>)| -> FigureRow {
        vec![
            ("texts", part.texts.into()),
            ("pairs", pairs(part.texts).into()),
            ("permutations", signed.permutations.into()),
            ("bands", signed.bands.bands().into()),
            ("rows", signed.bands.rows().into()),
            ("exact_seconds", part.exact.seconds.into()),
            ("exact_low", part.exact.low.into()),
            ("exact_high", part.exact.high.into()),
            ("exact_measured", part.exact.measured.into()),
            ("signatures_seconds", signed.signatures.into()),
            ("estimates_seconds", signed.estimates.seconds.into()),
            ("estimates_measured", signed.estimates.measured.into()),
            ("lsh_seconds", signed.lsh.into()),
            ("lsh_low", signed.lsh_span.0.into()),
            ("lsh_high", signed.lsh_span.1.into()),
            ("lsh_compared", signed.compared.into()),
            ("lsh_found", signed.found.into()),
            ("lsh_wins_from", (*wins).into()),
        ]
    };
    part.signed.iter().zip(wins).map(row).collect()
}
