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
    /// use dedupdb::{Bands, SlotWidth};
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
        check_ranges(permutations, threshold, recall)?;
        // At fixed rows, more bands only add recall and work: the fewest that reach the recall
        // are the only ones to weigh.
        let shapes = (1..=permutations).filter_map(|rows| {
            (1..=permutations / rows)
                .map(|bands| Bands::trusted(bands, rows))
                .find(|shape| shape.probability(threshold, width) >= recall)
        });
        shapes
            .map(|shape| (shape.false_work(threshold, width), shape))
            .min_by(|(a_work, a), (b_work, b)| {
                a_work.total_cmp(b_work).then(a.bands().cmp(&b.bands()))
            })
            .map(|(_, shape)| shape)
            .ok_or_else(|| out_of_reach(permutations, width, threshold, recall))
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
