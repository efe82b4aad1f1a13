//! Which shape a stated recall asks for.

use super::bands::{Bands, counted};
use crate::error::{Error, Result};
use crate::sketch::{MAX_PERMUTATIONS, SlotWidth};

impl Bands {
    /// Returns the shape that finds a pair at the threshold with the stated probability at the
    /// least work.
    ///
    /// Among the shapes within `permutations` slots whose [`probability`](Bands::probability) at
    /// `threshold` is at least `recall`, it is the one of least
    /// [`false_work`](Bands::false_work); of equals, the one with fewer bands, then the one with
    /// fewer rows. `threshold` is above 0 and at most 1, `recall` above 0 and below 1.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSchema`] if an argument is outside its range or no shape reaches the
    /// recall; the message then says which recall is in reach and which number of permutations
    /// would do.
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

    /// Returns the shapes worth weighing for a recall: for each number of rows the fewest bands
    /// within `permutations` slots that find a pair at `threshold` with a probability of at least
    /// `recall`. They are ordered by rows, and there is at least one.
    ///
    /// At fixed rows, more bands only add recall and work.
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

    /// Returns the shape that the textbook's rule of thumb leads to: of those that use up
    /// `permutations` slots, the one whose [`midpoint`](Bands::midpoint) is nearest to
    /// `threshold`; of equals, the one with fewer rows.
    ///
    /// It is here for comparison. The rule puts the steepest part of the S-curve at the threshold,
    /// so that about a third of the pairs that lie there are missed.
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

/// Returns the error that names the nearest recall in reach and the permutations to reach the
/// asked one.
///
/// One row a band finds most: every other shape's candidates agree in some slot too.
fn out_of_reach(permutations: u32, width: SlotWidth, threshold: f64, recall: f64) -> Error {
    let reached = |bands| Bands::trusted(bands, 1).probability(threshold, width);
    let enough = (permutations + 1..=MAX_PERMUTATIONS).find(|&bands| reached(bands) >= recall);
    let way_out = match enough {
        Some(bands) => format!("{} would do", counted(bands, "permutation")),
        None => format!("nor would {MAX_PERMUTATIONS} permutations do"),
    };
    // Rounded down, so that the recall named is one that is reached.
    let best = (reached(permutations) * 1e6).floor() / 1e6;
    Error::InvalidSchema {
        parameter: "recall",
        reason: format!(
            "{recall} at threshold {threshold} is out of reach: {} find at most {best}; {way_out}",
            counted(permutations, "permutation"),
        ),
    }
}
