//! The parameters of other tools, as they published them.

use std::fmt;
use std::str::FromStr;

use dedupdb::sketching::{SchemaBuilder, Shingling};
use dedupdb::{Error, Result, Schema};

/// A tool whose parameters are known.
///
/// dedupdb still cuts, folds and hashes words in its own way. It also compares what the bands find, and drops
/// pairs below the threshold; these tools keep them.
///
/// ```
/// use dedupdb_corpus::Preset;
///
/// let preset: Preset = "fineweb".parse()?;
/// let schema = preset.builder().threshold(0.8).build()?;
/// assert_eq!((schema.permutations(), schema.bands().to_string()), (112, "14x8".to_owned()));
/// # Ok::<(), dedupdb::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Preset {
    /// `FineWeb`: five words, 14 bands of 8 rows, 0.75.
    ///
    /// Penedo et al., "The `FineWeb` Datasets", 2024, on deduplication: 112 hashes in 14 buckets of 8, for documents
    /// that are at least 75% similar. The defaults and the `FineWeb` example of its tool, datatrove, have the same
    /// values.
    Fineweb,
    /// `NeMo` Curator: 24 characters as they are, 20 bands of 13 rows, 0.8.
    ///
    /// The defaults of its fuzzy deduplication workflow (24 characters, 20 bands, 13 hashes a band), made for 0.8. It
    /// hashes the text as it is.
    Nemo,
    /// `RefinedWeb`: five words, 450 bands of 20 rows, 0.8; 18,000 bytes of signature a document.
    ///
    /// Penedo et al., "The `RefinedWeb` Dataset for Falcon LLM", 2023, appendix G.3.1: 9,000 hashes in 450 buckets of
    /// 20, as in Lee et al., "Deduplicating Training Data Makes Language Models Better", 2022, section 4.2, whose
    /// threshold is 0.8. Its five tokens are those of a language model.
    Refinedweb,
    /// text-dedup: five words, 25 bands of 10 rows of 250 permutations, 0.7.
    ///
    /// The defaults of its `MinHash` script (5 words, 250 permutations, 0.7), and the bands that its rule, equal weight
    /// for false positives and negatives, derives from them.
    TextDedup,
}

impl Preset {
    /// All presets.
    pub const ALL: [Preset; 4] = [
        Preset::Fineweb,
        Preset::Nemo,
        Preset::Refinedweb,
        Preset::TextDedup,
    ];

    /// Returns the preset's name: `fineweb`, `nemo`, `refinedweb` or `text-dedup`.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Fineweb => "fineweb",
            Preset::Nemo => "nemo",
            Preset::Refinedweb => "refinedweb",
            Preset::TextDedup => "text-dedup",
        }
    }

    /// Returns a builder with the preset's parameters.
    pub fn builder(self) -> SchemaBuilder {
        let builder = Schema::builder();
        match self {
            Preset::Fineweb => builder.permutations(112).bands(14, 8).threshold(0.75),
            Preset::Nemo => builder
                .shingling(Shingling::Char(24))
                .lowercase(false)
                .nfkc(false)
                .permutations(260)
                .bands(20, 13)
                .threshold(0.8),
            Preset::Refinedweb => builder.permutations(9000).bands(450, 20).threshold(0.8),
            Preset::TextDedup => builder.permutations(250).bands(25, 10).threshold(0.7),
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Preset {
    type Err = Error;

    /// Reads a [`name`](Preset::name).
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSchema`] for anything else, with the names that exist.
    fn from_str(name: &str) -> Result<Preset> {
        let found = Preset::ALL.into_iter().find(|preset| preset.name() == name);
        found.ok_or_else(|| Error::InvalidSchema {
            parameter: "preset",
            reason: format!("{name:?} is no preset: fineweb, nemo, refinedweb and text-dedup are"),
        })
    }
}
