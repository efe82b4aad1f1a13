//! Changes of a store's parameters.

use super::rebuild::Rebuild;
use super::tune::{Shape, Tuning};
use crate::error::{Error, Result};
use crate::lsh::Bands;
use crate::schema::Schema;
use crate::sketch::{Family, SlotWidth};
use crate::store::handle::Store;

/// New parameters for a store. Parameters that are not set stay as they are.
///
/// If the bands are not set, they are chosen again when the permutations, the threshold or the recall change; otherwise
/// they stay as they are. The parameters of shingles cannot change: that needs another store.
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
    tuned: Option<TunedSize>,
    passage: Option<u32>,
}

/// The number of contents that bands are tuned for.
#[derive(Clone, Copy, Debug)]
enum TunedSize {
    Present,
    For(u64),
}

impl Reindex {
    /// Changes nothing.
    pub fn new() -> Reindex {
        Reindex::default()
    }

    /// Sets the family of the permutations.
    pub fn family(self, family: Family) -> Reindex {
        let family = Some(family);
        Reindex { family, ..self }
    }

    /// Sets the seed of the permutations.
    pub fn seed(self, seed: u64) -> Reindex {
        let seed = Some(seed);
        Reindex { seed, ..self }
    }

    /// Sets the width of a slot.
    pub fn slot_width(self, width: SlotWidth) -> Reindex {
        let slot_width = Some(width);
        Reindex { slot_width, ..self }
    }

    /// Sets the number of permutations, 1 to 16384.
    pub fn permutations(self, permutations: u32) -> Reindex {
        let permutations = Some(permutations);
        Reindex {
            permutations,
            ..self
        }
    }

    /// Sets the minimum similarity of a match, above 0 and at most 1.
    pub fn threshold(self, threshold: f64) -> Reindex {
        let threshold = Some(threshold);
        Reindex { threshold, ..self }
    }

    /// Sets the minimum share of the pairs at the threshold that the bands find, above 0 and below 1.
    pub fn recall(self, recall: f64) -> Reindex {
        let recall = Some(recall);
        Reindex { recall, ..self }
    }

    /// Sets the number of bands and the number of rows of each.
    pub fn bands(self, bands: u32, rows: u32) -> Reindex {
        let bands = Some((bands, rows));
        Reindex { bands, ..self }
    }

    /// Sets the length of the passages that the store always finds, in tokens, or 0 for none. Longer ones need the texts,
    /// unless their fingerprints are among the stored ones: see [`Rebuild::fingerprints`].
    pub fn passage(self, tokens: u32) -> Reindex {
        let passage = Some(tokens);
        Reindex { passage, ..self }
    }

    /// Chooses the bands with the least work, measured on a [sample](Store::sample) of the store, for this number
    /// of contents or, by default, the present number.
    pub fn tuned(self, contents: Option<u64>) -> Reindex {
        let tuned = Some(contents.map_or(TunedSize::Present, TunedSize::For));
        Reindex { tuned, ..self }
    }

    /// Returns the parameters that the store will have.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSchema`] for a parameter out of range, or if bands are to be [tuned](Reindex::tuned) and the sample
    /// has too few similar pairs; or those of reading the store.
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
            .threshold(threshold)
            .passage(self.passage.unwrap_or(stored.passage()));
        // New bands are chosen if what they were chosen for changes. Given bands, and tuned ones, come first.
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

    /// Returns the rebuild that gives the store these parameters.
    ///
    /// # Errors
    ///
    /// Those of [`Reindex::schema`].
    pub fn rebuild<'a>(&self, store: &Store) -> Result<Rebuild<'a>> {
        Ok(Rebuild::reindex(self.schema(store)?))
    }
}

/// The bands with the least work in a store that has grown to this number of contents.
fn tuned_bands(store: &Store, tuning: &Tuning, tuned: TunedSize) -> Result<Bands> {
    let sample = store.sample()?;
    if let Some(reason) = sample.shortage(tuning.threshold) {
        return Err(Error::InvalidSchema {
            parameter: "bands",
            reason,
        });
    }
    let sample = match tuned {
        TunedSize::Present => sample,
        TunedSize::For(contents) => sample.grown_to(contents),
    };
    let shapes = tuning.shapes(Some(&sample))?;
    let best = Shape::best(&shapes).map(|best| best.bands);
    best.ok_or_else(|| Error::InvalidSchema {
        parameter: "recall",
        reason: "no bands reach it".to_owned(),
    })
}
