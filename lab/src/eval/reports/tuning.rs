//! Shapes of bands, as rows and as a table.

use super::{ExperimentReport, FigureRow, TextTable};
use crate::eval::s_curves;
use crate::number::{counted, grouped, percent};
use dedupdb::upkeep::{ComparedShape, Sample, Tuning};

/// Similarities at which the S-curves are shown.
const CURVE: [f64; 6] = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// Similarities at or above which the sample's pairs are counted.
const COUNTED: [f64; 4] = [0.2, 0.4, 0.6, 0.8];

/// Reports what each shape of bands finds and costs. The shapes are those of [`Tuning::compare`] with the same
/// `sample`. The sample was drawn in a store of the given number of contents, and may have been
/// [grown](Sample::grown_to) since.
pub fn tuning_report(
    tuning: &Tuning,
    shapes: &[ComparedShape],
    sample: Option<(&Sample, u64)>,
) -> ExperimentReport {
    let heading = format!(
        "shapes (bands x rows) of up to {} permutations; all that are not marked current or textbook find at least {} of the \
         pairs at {}",
        tuning.permutations,
        percent(tuning.recall),
        tuning.threshold
    );
    let mut notes = vec![
        "recall: at the threshold; postings: a document, about; midpoint: (1/b)^(1/r), which \
         the textbook sets to the threshold"
            .to_owned(),
    ];
    if let Some((sample, measured)) = sample {
        notes.extend(measured_notes(tuning, shapes, sample, measured));
    } else {
        notes.push(
            "work: look-ups, and false candidates among 1,000 contents spread evenly over the \
             similarities; a store has its own"
                .to_owned(),
        );
    }
    ExperimentReport {
        rows: shapes.iter().map(row).collect(),
        heading: vec![heading],
        table: table(tuning, shapes, sample.is_some()),
        notes,
        picture: s_curves(tuning, shapes),
    }
}

fn row(compared: &ComparedShape) -> FigureRow {
    let shape = &compared.shape;
    let (bands, expected) = (shape.bands, shape.expected);
    vec![
        ("bands", bands.bands().into()),
        ("rows", bands.rows().into()),
        ("slots", bands.used().into()),
        ("recall", shape.recall.into()),
        ("midpoint", bands.midpoint().into()),
        ("work", shape.work.into()),
        ("matches", expected.map(|expected| expected.matches).into()),
        (
            "matches_found",
            expected.map(|expected| expected.found).into(),
        ),
        (
            "false_candidates",
            expected.map(|expected| expected.false_candidates).into(),
        ),
        ("error", expected.map(|expected| expected.error).into()),
        ("posting_bytes", bands.posting_bytes().into()),
        ("is", compared.names.join(", ").into()),
    ]
}

fn table(tuning: &Tuning, shapes: &[ComparedShape], is_measured: bool) -> TextTable {
    let mut table = TextTable::default();
    let mut column = |head: &str, cell: &dyn Fn(&ComparedShape) -> String| {
        table.column(head, shapes.iter().map(cell));
    };
    column("shape", &|row| row.shape.bands.to_string());
    column("slots", &|row| row.shape.bands.used().to_string());
    column("recall", &|row| percent(row.shape.recall));
    for jaccard in CURVE {
        column(&format!("at {jaccard:.1}"), &|row| {
            percent(row.shape.bands.probability(jaccard, tuning.slot_width))
        });
    }
    column("midpoint", &|row| {
        format!("{:.3}", row.shape.bands.midpoint())
    });
    column("work", &|row| format!("{:.1}", row.shape.work));
    if is_measured {
        column("false candidates", &|row| {
            let expected = row.shape.expected;
            expected.map_or_else(String::new, |expected| {
                let (wrong, error) = (expected.false_candidates, expected.error);
                format!("{wrong:.2} ±{error:.2}")
            })
        });
    }
    column("postings", &|row| {
        format!("{:.0} B", row.shape.bands.posting_bytes())
    });
    column("", &|row| row.names.join("  "));
    table
}

/// Returns notes that describe the figures of a sample, and how reliable they are.
fn measured_notes(
    tuning: &Tuning,
    shapes: &[ComparedShape],
    sample: &Sample,
    measured: u64,
) -> Vec<String> {
    let size = if sample.contents() == measured {
        "this store".to_owned()
    } else {
        let contents = counted(sample.contents(), "content", "contents");
        format!("a store of {contents} of this kind")
    };
    let counts = COUNTED.map(|jaccard| {
        let pairs = grouped(sample.at_least(jaccard));
        format!("{pairs} at {jaccard:.1} or more")
    });
    let mut lines = vec![
        format!(
            "work: look-ups (one a band) and false candidates (below the threshold, looked at in \
             vain) of an average query in {size}"
        ),
        format!(
            "measured: {} of {} against the others, {}, {} of them compared exactly",
            grouped(sample.queries() as u64),
            counted(measured, "content", "contents"),
            counted(sample.pairs(), "pair", "pairs"),
            grouped(sample.exact()),
        ),
        format!("of these pairs {}", counts.join(", ")),
    ];
    lines.extend(sample.shortage(tuning.threshold));
    if let Some(expected) = shapes.first().and_then(|row| row.shape.expected) {
        lines.push(format!(
            "an average query has {:.2} matches at {} or more",
            expected.matches, tuning.threshold
        ));
    }
    lines
}
