//! Finds the best shape of bands for a store.

use super::sample::{Expected, Sample};
use crate::error::Result;
use crate::lsh::Bands;
use crate::schema::Schema;
use crate::sketch::SlotWidth;

/// The requirements for bands.
///
/// ```
/// use dedupdb::{Schema, upkeep::{Shape, Tuning}};
///
/// let mut tuning = Tuning::of(&Schema::default());
/// tuning.permutations = 256;
/// let shapes = tuning.shapes(None)?;
/// let best = Shape::best(&shapes).unwrap();
/// assert_eq!(best.bands.to_string(), "28x9");
/// # Ok::<(), dedupdb::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Tuning {
    /// The minimum similarity of a match, above 0 and at most 1.
    pub threshold: f64,
    /// The minimum share of the pairs at the threshold to find, above 0 and below 1.
    pub recall: f64,
    /// The number of slots that the bands may use, 1 to 16384.
    pub permutations: u32,
    /// The width of a slot.
    pub slot_width: SlotWidth,
}

/// A shape of bands and its expected results.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Shape {
    /// The bands and their rows.
    pub bands: Bands,
    /// The probability that a pair at the threshold becomes a candidate.
    pub recall: f64,
    /// The expected results in the sampled store.
    pub expected: Option<Expected>,
    /// The work of a query besides its matches: one look-up per band, plus false candidates. Each is one read in a
    /// sorted structure. Without a sample, it is [`Bands::false_work`].
    pub work: f64,
}

impl Tuning {
    /// The threshold and permutations of `schema`, and the default recall of 0.98.
    pub fn of(schema: &Schema) -> Tuning {
        Tuning {
            threshold: schema.threshold(),
            recall: 0.98,
            permutations: schema.permutations(),
            slot_width: schema.slot_width(),
        }
    }

    /// Returns the shapes that reach the recall, ordered by rows: for each number of rows, the one with the fewest
    /// bands.
    ///
    /// # Errors
    ///
    /// [`InvalidSchema`](crate::Error::InvalidSchema) if a parameter is outside its range or no shape reaches the
    /// recall; the message says which recall can be reached.
    pub fn shapes(&self, sample: Option<&Sample>) -> Result<Vec<Shape>> {
        let shapes = Bands::reaching(
            self.permutations,
            self.slot_width,
            self.threshold,
            self.recall,
        )?;
        Ok(shapes
            .into_iter()
            .map(|bands| self.shape(bands, sample))
            .collect())
    }

    /// Returns the expected results of one shape, whatever its recall.
    pub fn shape(&self, bands: Bands, sample: Option<&Sample>) -> Shape {
        let expected = sample.map(|sample| sample.expected(bands, self.threshold));
        let work = expected.map_or_else(
            || bands.false_work(self.threshold, self.slot_width),
            |expected| f64::from(bands.bands()) + expected.false_candidates,
        );
        Shape {
            bands,
            recall: bands.probability(self.threshold, self.slot_width),
            expected,
            work,
        }
    }
}

/// A shape in a comparison.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ComparedShape {
    /// The shape.
    pub shape: Shape,
    /// Any of `best`, `current` and `textbook`: whether it has the least work of those that reach the recall, is in use, and
    /// has its steepest point nearest to the threshold ([`Bands::textbook`]). No shape is the best if a sample has fewer than
    /// 30 pairs between 0.2 and the threshold: too few to tell shapes apart.
    pub names: Vec<&'static str>,
}

impl Tuning {
    /// Returns the [shapes](Tuning::shapes) that reach the recall, together with the shape in use and the textbook
    /// shape, whatever their recall. They are ordered by rows and bands.
    ///
    /// # Errors
    ///
    /// Those of [`Tuning::shapes`].
    pub fn compare(
        &self,
        current: Option<Bands>,
        sample: Option<&Sample>,
    ) -> Result<Vec<ComparedShape>> {
        let mut shapes = self.shapes(sample)?;
        let can_tell = sample.is_none_or(|sample| sample.shortage(self.threshold).is_none());
        let best = Shape::best(&shapes).filter(|_| can_tell);
        let best = best.map(|best| best.bands);
        let textbook = Bands::textbook(self.permutations, self.threshold)?;
        for bands in current.into_iter().chain([textbook]) {
            if shapes.iter().all(|shape| shape.bands != bands) {
                shapes.push(self.shape(bands, sample));
            }
        }
        shapes.sort_by_key(|shape| (shape.bands.rows(), shape.bands.bands()));
        let compared = |shape: Shape| {
            let names = [
                (best, "best"),
                (current, "current"),
                (Some(textbook), "textbook"),
            ];
            let own = names.into_iter().filter(|(of, _)| *of == Some(shape.bands));
            ComparedShape {
                names: own.map(|(_, name)| name).collect(),
                shape,
            }
        };
        Ok(shapes.into_iter().map(compared).collect())
    }
}

impl Shape {
    /// Returns the shape with the least work; on a tie, the one with fewer bands.
    pub fn best(shapes: &[Shape]) -> Option<&Shape> {
        shapes.iter().min_by(|a, b| {
            let bands = a.bands.bands().cmp(&b.bands.bands());
            a.work.total_cmp(&b.work).then(bands)
        })
    }
}
