//! Other parameters for a store.

use super::rebuild::Rebuild;
use super::tune::{Shape, Tuning};
use crate::error::{Error, Result};
use crate::lsh::Bands;
use crate::schema::Schema;
use crate::sketch::{Family, SlotWidth};
use crate::store::handle::Store;

/// The parameters that a store is to get; those that are not named stay as they are.
///
/// Bands that are not named are chosen again where the permutations, the threshold or the recall change, and stay
/// otherwise. The way texts become shingles cannot change: that needs another store.
///
/// ```
/// use dedupdb::{Schema, Store, upkeep::Reindex};
///
/// # let folder = tempfile::tempdir()?;
/// let store = Store::create(folder.path().join("store"), &Schema::default())?;
/// store.insert_unless_duplicate("one", "a text")?;
/// let rebuild = Reindex::new().permutations(256).threshold(0.7).rebuild(&store)?;
/// assert!(store.rebuild(rebuild)?);
/// assert_eq!(store.schema().permutations(), 256);
/// assert!(store.schema().recall(0.7) >= 0.98);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[must_use = "nothing changes before the rebuild"]
pub struct Reindex {
    family: Option<Family>,
    seed: Option<u64>,
    slot_width: Option<SlotWidth>,
    permutations: Option<u32>,
    threshold: Option<f64>,
    recall: Option<f64>,
    bands: Option<(u32, u32)>,
    tuned: Option<Tuned>,
}

/// For how many contents bands are to be tuned.
#[derive(Clone, Copy, Debug)]
enum Tuned {
    Doubled,
    For(u64),
}

impl Reindex {
    /// Changes nothing.
    pub fn new() -> Reindex {
        Reindex::default()
    }

    /// The family of the permutations.
    pub fn family(self, family: Family) -> Reindex {
        let family = Some(family);
        Reindex { family, ..self }
    }

    /// The seed of the permutations.
    pub fn seed(self, seed: u64) -> Reindex {
        let seed = Some(seed);
        Reindex { seed, ..self }
    }

    /// The width of a slot.
    pub fn slot_width(self, width: SlotWidth) -> Reindex {
        let slot_width = Some(width);
        Reindex { slot_width, ..self }
    }

    /// Number of permutations, 1 to 16384.
    pub fn permutations(self, permutations: u32) -> Reindex {
        let permutations = Some(permutations);
        Reindex {
            permutations,
            ..self
        }
    }

    /// Least similarity of a match, above 0 and at most 1.
    pub fn threshold(self, threshold: f64) -> Reindex {
        let threshold = Some(threshold);
        Reindex { threshold, ..self }
    }

    /// Share of the pairs at the threshold that the bands find at least, above 0 and below 1.
    pub fn recall(self, recall: f64) -> Reindex {
        let recall = Some(recall);
        Reindex { recall, ..self }
    }

    /// Number of bands, and of rows of each.
    pub fn bands(self, bands: u32, rows: u32) -> Reindex {
        let bands = Some((bands, rows));
        Reindex { bands, ..self }
    }

    /// Chooses the bands of least work by a [sample](Store::sample) of the store, as it will be with this number of
    /// contents, or else with twice as many as it has.
    pub fn tuned(self, contents: Option<u64>) -> Reindex {
        let tuned = Some(contents.map_or(Tuned::Doubled, Tuned::For));
        Reindex { tuned, ..self }
    }

    /// The parameters that the store will have.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSchema`] for a parameter out of its range; those of reading the store.
    pub fn schema(&self, store: &Store) -> Result<Schema> {
        let stored = store.schema();
        let permutations = self.permutations.unwrap_or(stored.permutations());
        let threshold = self.threshold.unwrap_or(stored.threshold());
        let mut builder = stored
            .to_builder()
            .family(self.family.unwrap_or(stored.family()))
            .seed(self.seed.unwrap_or(stored.seed()))
            .slot_width(self.slot_width.unwrap_or(stored.slot_width()))
            .permutations(permutations)
            .threshold(threshold);
        let changes_bands = permutations != stored.permutations()
            || threshold.to_bits() != stored.threshold().to_bits()
            || self.recall.is_some();
        if let Some((bands, rows)) = self.bands {
            builder = builder.bands(bands, rows);
        } else if let Some(tuned) = self.tuned {
            let mut tuning = Tuning::of(&stored);
            tuning.permutations = permutations;
            tuning.threshold = threshold;
            tuning.slot_width = self.slot_width.unwrap_or(tuning.slot_width);
            tuning.recall = self.recall.unwrap_or(tuning.recall);
            let bands = tuned_bands(store, &tuning, tuned)?;
            builder = builder.bands(bands.bands(), bands.rows());
        } else if changes_bands {
            builder = builder.choose_bands();
            if let Some(recall) = self.recall {
                builder = builder.target_recall(recall);
            }
        }
        builder.build()
    }

    /// The rebuild that gives the store these parameters.
    ///
    /// # Errors
    ///
    /// Those of [`Reindex::schema`].
    pub fn rebuild<'a>(&self, store: &Store) -> Result<Rebuild<'a>> {
        Ok(Rebuild::reindex(self.schema(store)?))
    }
}

/// The bands of least work in a store that will have grown.
fn tuned_bands(store: &Store, tuning: &Tuning, tuned: Tuned) -> Result<Bands> {
    let sample = store.sample()?;
    let contents = match tuned {
        Tuned::Doubled => sample.contents().saturating_mul(2),
        Tuned::For(contents) => contents,
    };
    let sample = sample.grown_to(contents);
    let shapes = tuning.shapes(Some(&sample))?;
    let best = Shape::best(&shapes).map(|best| best.bands);
    best.ok_or_else(|| Error::InvalidSchema {
        parameter: "recall",
        reason: "no bands reach it".to_owned(),
    })
}
