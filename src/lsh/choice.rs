//! Choosing the shape for a given recall.

use super::bands::{Bands, counted};
use crate::error::{Error, Result};
use crate::sketch::{MAX_PERMUTATIONS, SlotWidth};

impl Bands {
    /// Returns the shape that finds a pair at the threshold with the given probability at the least work.
    ///
    /// Among the shapes within `permutations` slots whose [`probability`](Bands::probability) at `threshold` is at
    /// least `recall`, this is the one with the least [`false_work`](Bands::false_work). Ties go to the shape with
    /// fewer bands, then to the one with fewer rows. `threshold` must be above 0 and at most 1, `recall` above 0 and
    /// below 1.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSchema`] if an argument is outside its range or no shape reaches the recall. The message then
    /// names the highest recall within reach and a sufficient number of permutations.
    ///
    /// ```
    /// use dedupdb::sketching::{Bands, SlotWidth};
    ///
    /// let shape = Bands::choose(128, SlotWidth::Bits16, 0.8, 0.98)?;
    /// assert_eq!(shape.to_string(), "17x7");
    /// assert!(shape.probability(0.8, SlotWidth::Bits16) >= 0.98);
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    pub fn choose(
        permutations: u32,
        width: SlotWidth,
        threshold: f64,
        recall: f64,
    ) -> Result<Bands> {
        let shapes = Bands::reaching(permutations, width, threshold, recall)?;
        let weighed = shapes.into_iter();
        weighed
            .map(|shape| (shape.false_work(threshold, width), shape))
            .min_by(|(a_work, a), (b_work, b)| {
                a_work.total_cmp(b_work).then(a.bands().cmp(&b.bands()))
            })
            .map(|(_, shape)| shape)
            .ok_or_else(|| out_of_reach(permutations, width, threshold, recall))
    }

    /// Returns the shapes to consider for a recall, ordered by rows, at least one.
    ///
    /// For each number of rows, this is the shape with the fewest bands within `permutations` slots that finds a pair
    /// at `threshold` with a probability of at least `recall`. For fixed rows, more bands only add recall and work.
    ///
    /// # Errors
    ///
    /// Those of [`Bands::choose`], which chooses among them.
    ///
    /// ```
    /// use dedupdb::sketching::{Bands, SlotWidth};
    ///
    /// let shapes = Bands::reaching(64, SlotWidth::Bits16, 0.8, 0.98)?;
    /// let shown: Vec<String> = shapes.iter().map(Bands::to_string).collect();
    /// assert_eq!(shown, ["3x1", "4x2", "6x3", "8x4", "10x5"]);
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    pub fn reaching(
        permutations: u32,
        width: SlotWidth,
        threshold: f64,
        recall: f64,
    ) -> Result<Vec<Bands>> {
        check_ranges(permutations, threshold, recall)?;
        let shapes = (1..=permutations).filter_map(|rows| {
            (1..=permutations / rows)
                .map(|bands| Bands::trusted(bands, rows))
                .find(|shape| shape.probability(threshold, width) >= recall)
        });
        let shapes: Vec<Bands> = shapes.collect();
        if shapes.is_empty() {
            return Err(out_of_reach(permutations, width, threshold, recall));
        }
        Ok(shapes)
    }

    /// Returns the shape that the textbook's rule of thumb selects.
    ///
    /// Of the shapes that use up `permutations` slots, this is the one whose [`midpoint`](Bands::midpoint) is nearest
    /// to `threshold`. Ties go to the one with fewer rows.
    ///
    /// It is here for comparison. The rule puts the steepest part of the S-curve at the threshold, so about a third of
    /// the pairs at the threshold are missed.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSchema`] if an argument is outside its range.
    ///
    /// ```
    /// use dedupdb::sketching::{Bands, SlotWidth};
    ///
    /// let shape = Bands::textbook(128, 0.8)?;
    /// assert_eq!(shape.to_string(), "11x11");
    /// assert!(shape.probability(0.8, SlotWidth::Bits16) < 0.75);
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    pub fn textbook(permutations: u32, threshold: f64) -> Result<Bands> {
        check_ranges(permutations, threshold, 0.5)?;
        let away = |shape: &Bands| (shape.midpoint() - threshold).abs();
        let shapes = (1..=permutations).map(|rows| Bands::trusted(permutations / rows, rows));
        let nearest = shapes.min_by(|a, b| away(a).total_cmp(&away(b)));
        Ok(nearest.unwrap_or(Bands::trusted(1, 1)))
    }
}

fn check_ranges(permutations: u32, threshold: f64, recall: f64) -> Result<()> {
    let (parameter, reason) = if !(1..=MAX_PERMUTATIONS).contains(&permutations) {
        let range = format!("a signature has 1 to {MAX_PERMUTATIONS} permutations");
        ("permutations", format!("{range}, not {permutations}"))
    } else if !(threshold > 0.0 && threshold <= 1.0) {
        (
            "threshold",
            format!("a threshold is above 0 and at most 1, not {threshold}"),
        )
    } else if !(recall > 0.0 && recall < 1.0) {
        (
            "recall",
            format!("a recall is above 0 and below 1, not {recall}"),
        )
    } else {
        return Ok(());
    };
    Err(Error::InvalidSchema { parameter, reason })
}

/// Returns the error that names the highest recall within reach and the permutations for the requested one.
///
/// One row per band finds most: the candidates of every other shape also agree in some slot.
fn out_of_reach(permutations: u32, width: SlotWidth, threshold: f64, recall: f64) -> Error {
    let reached = |bands| Bands::trusted(bands, 1).probability(threshold, width);
    let enough = (permutations + 1..=MAX_PERMUTATIONS).find(|&bands| reached(bands) >= recall);
    let way_out = match enough {
        Some(bands) => format!("{} would do", counted(bands, "permutation")),
        None => format!("nor would {MAX_PERMUTATIONS} permutations do"),
    };
    // Rounded down, so that the named recall is reached.
    let best = (reached(permutations) * 1e6).floor() / 1e6;
    Error::InvalidSchema {
        parameter: "recall",
        reason: format!(
            "{recall} at threshold {threshold} is out of reach: with {}, at most {best} is found; {way_out}",
            counted(permutations, "permutation"),
        ),
    }
}
