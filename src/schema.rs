//! The schema: every parameter that shapes what a store holds.

use std::fmt;

use crate::codec::low32;
use crate::error::{Error, Result};
use crate::lsh::Bands;
use crate::sketch::{Family, Signer, SlotWidth};
use crate::text::{Fingerprints, ShingleSet, Shingler, Shingling, folded};

/// Every parameter that shapes the stored bytes, checked once when the schema is built.
///
/// A store keeps the schema that it was created with, until a rebuild changes it; nothing is ever reinterpreted.
/// [`Schema::default`] has five-word shingles of lowercased, NFKC-normalized text, 128 permutations in 16-bit slots and
/// the bands that find at least 98% of the pairs at 0.8.
///
/// ```
/// use dedupdb::{Schema, sketching::Shingling};
///
/// let schema = Schema::builder()
///     .shingling(Shingling::Char(24))
///     .permutations(256)
///     .threshold(0.7)
///     .build()?;
/// assert!(schema.recall(0.7) >= 0.98);
/// # Ok::<(), dedupdb::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Schema {
    shingling: Shingling,
    lowercase: bool,
    nfkc: bool,
    fold_marks: bool,
    family: Family,
    seed: u64,
    permutations: u32,
    slot_width: SlotWidth,
    bands: Bands,
    threshold: f64,
    keeps_shingles: bool,
    passage: u32,
}

/// The parameters in the order in which they are stored and compared.
const PARAMETERS: [&str; 12] = [
    "shingling",
    "lowercase",
    "nfkc",
    "fold",
    "family",
    "seed",
    "permutations",
    "slot-bits",
    "bands",
    "threshold",
    "shingles",
    "passage",
];

impl Default for Schema {
    fn default() -> Self {
        match SchemaBuilder::default().build() {
            Ok(schema) => schema,
            // A test builds the default schema, which depends on nothing.
            Err(error) => unreachable!("the default schema is valid: {error}"),
        }
    }
}

impl Schema {
    /// Starts from the defaults.
    pub fn builder() -> SchemaBuilder {
        SchemaBuilder::default()
    }

    /// Starts from the parameters of this schema, its bands included.
    ///
    /// ```
    /// use dedupdb::Schema;
    ///
    /// let schema = Schema::default();
    /// assert_eq!(schema.to_builder().build()?, schema);
    /// let larger = schema.to_builder().permutations(256).choose_bands().build()?;
    /// assert_eq!(larger.threshold(), schema.threshold());
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    pub fn to_builder(&self) -> SchemaBuilder {
        SchemaBuilder {
            shingling: Some(self.shingling),
            lowercase: Some(self.lowercase),
            nfkc: Some(self.nfkc),
            fold_marks: Some(self.fold_marks),
            family: Some(self.family),
            seed: Some(self.seed),
            permutations: Some(self.permutations),
            slot_width: Some(self.slot_width),
            bands: Some((self.bands.bands(), self.bands.rows())),
            threshold: Some(self.threshold),
            recall: None,
            keeps_shingles: Some(self.keeps_shingles),
            passage: Some(self.passage),
        }
    }

    /// How texts become shingles.
    pub fn shingling(&self) -> Shingling {
        self.shingling
    }

    /// Whether texts are lowercased first.
    pub fn lowercase(&self) -> bool {
        self.lowercase
    }

    /// Whether texts are NFKC-normalized first.
    pub fn nfkc(&self) -> bool {
        self.nfkc
    }

    /// Whether marks are dropped that some writers leave out ([`Shingler::fold_marks`]).
    pub fn fold_marks(&self) -> bool {
        self.fold_marks
    }

    /// Makes a shingler with these parameters.
    ///
    /// # Errors
    ///
    /// None: the parameters were checked when the schema was built.
    pub fn shingler(&self) -> Result<Shingler> {
        let shingler = Shingler::new(self.shingling(), self.lowercase(), self.nfkc())?;
        let shingler = shingler.fold_marks(self.fold_marks)?;
        Ok(shingler.fingerprinted(self.fingerprint_step()))
    }

    /// Refuses a set of shingles that cannot match the text that it stands for.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidShingles`] if another shingler made the set, as far as the set knows, or if the set is small and
    /// lacks its tails.
    pub(crate) fn check_shingles(&self, set: &ShingleSet) -> Result<()> {
        let given = set.fingerprints().map(Fingerprints::step);
        let serves = |step: u32| given.is_some_and(|given| step.is_multiple_of(given));
        let reason = if !set.is_empty() && !self.fingerprint_step().is_none_or(serves) {
            let passage = self.passage;
            format!(
                "they lack the fingerprints of a store that finds passages of {passage} tokens: give the text, or a set \
                 that the shingler of the store's schema makes of it, or make the store with passage 0"
            )
        } else if set.lacks_tails() {
            let (shingles, most) = (set.len(), ShingleSet::SMALL);
            format!(
                "a set of {shingles} shingles needs 64 bits for each, as every set of at most {most} does; make it of a \
                 text or of integers of 64 bits (ShingleSet::from_ids)"
            )
        } else {
            let made = set.shingler().map(Shingler::parameters);
            let own = self.shingler()?.parameters();
            let differs = made.and_then(|made| made.into_iter().zip(own).find(|(a, b)| a != b));
            let Some(((parameter, given), (_, stored))) = differs else {
                return Ok(());
            };
            format!("the shingles were made with {parameter} {given}, and the store has {stored}")
        };
        Err(Error::InvalidShingles { reason })
    }

    /// Makes a signer with these parameters.
    ///
    /// # Errors
    ///
    /// None: the parameters were checked when the schema was built.
    pub fn signer(&self) -> Result<Signer> {
        let (family, seed, slots) = (self.family(), self.seed(), self.permutations());
        Signer::new(family, seed, slots, self.slot_width())
    }

    /// The family that permutations are drawn from.
    pub fn family(&self) -> Family {
        self.family
    }

    /// The seed that the permutations are drawn with.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The number of permutations, which is the number of slots in a signature.
    pub fn permutations(&self) -> u32 {
        self.permutations
    }

    /// Width of a stored slot.
    pub fn slot_width(&self) -> SlotWidth {
        self.slot_width
    }

    /// The bands and their rows.
    pub fn bands(&self) -> Bands {
        self.bands
    }

    /// The hash of a content's bucket in a band; `None` if the content has no shingles, because it is in no bucket.
    pub(crate) fn band_hash(&self, shingles: usize, signature: &[u8], band: u32) -> Option<u32> {
        if shingles == 0 {
            return None;
        }
        self.bands.hash(signature, self.slot_width, band)
    }

    /// Appends the hashes of a content's buckets, one a band, or none if the content has no shingles.
    pub(crate) fn band_hashes(&self, shingles: usize, signature: &[u8], hashes: &mut Vec<u32>) {
        if shingles > 0 {
            let hashed = self.bands.hashes(signature, self.slot_width, hashes);
            debug_assert!(
                hashed.is_some(),
                "a stored signature is as long as the schema says"
            );
        }
    }

    /// The similarity at and above which two texts match.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Whether shingle sets are kept, so that every answer is exact.
    pub fn keeps_shingles(&self) -> bool {
        self.keeps_shingles
    }

    /// The length of the passages that are always found, in tokens of the shingling; 0 if the store finds none.
    pub fn passage(&self) -> u32 {
        self.passage
    }

    /// The distance, in shingles, between two fingerprints of a text: [`Schema::passage`] - K + 1 for shingles of K
    /// tokens. `None` if no fingerprints are kept.
    ///
    /// A passage of that many tokens has as many shingles as the distance, so one of them is a fingerprint.
    ///
    /// ```
    /// use dedupdb::Schema;
    ///
    /// assert_eq!(Schema::builder().passage(20).build()?.fingerprint_step(), Some(16));
    /// assert_eq!(Schema::builder().passage(0).build()?.fingerprint_step(), None);
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    pub fn fingerprint_step(&self) -> Option<u32> {
        let step = self.passage.checked_sub(self.shingling.k().into())?;
        Some(step + 1)
    }

    /// How many fingerprints of a text in a store of this schema make one of `target`, if those of `target` are among
    /// them.
    pub(crate) fn fingerprint_factor(&self, target: &Schema) -> Option<usize> {
        let (old, new) = (self.fingerprint_step()?, target.fingerprint_step()?);
        new.is_multiple_of(old).then_some((new / old) as usize)
    }

    /// The probability that a pair of this Jaccard similarity shares a bucket.
    pub fn recall(&self, jaccard: f64) -> f64 {
        self.bands.probability(jaccard, self.slot_width)
    }

    /// What a search at a threshold below this one misses, as a sentence. `None` if it misses no more than stores miss by
    /// default at their own threshold.
    ///
    /// ```
    /// # use dedupdb::Schema;
    /// let missed = Schema::default().missed_at(0.5).unwrap();
    /// assert!(missed.starts_with("0.5 is below the store's threshold, 0.8: 12.5% of the pairs"));
    /// assert_eq!(Schema::default().missed_at(0.9), None);
    /// assert_eq!(Schema::builder().bands(30, 3).build()?.missed_at(0.5), None);
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    pub fn missed_at(&self, threshold: f64) -> Option<String> {
        let recall = self.recall(threshold);
        let is_worse = threshold < self.threshold && recall < RECALL;
        is_worse.then(|| {
            format!(
                "{threshold} is below the store's threshold, {}: {} of the pairs at {threshold} share a bucket; the \
                 others are missed",
                self.threshold,
                percent(recall)
            )
        })
    }

    /// The size of a stored signature in bytes.
    pub fn signature_bytes(&self) -> usize {
        self.permutations as usize * self.slot_width.bytes()
    }

    /// Whether a store keeps the signature of a content with this number of shingles.
    ///
    /// That of up to 64 shingles which are kept follows from them.
    pub(crate) fn keeps_signature(&self, shingle_count: u32) -> bool {
        !self.keeps_shingles || shingle_count > MOST_UNSIGNED
    }

    /// The number of signatures in a column of this size.
    pub(crate) fn signatures_in(&self, column_bytes: u64) -> u32 {
        low32(column_bytes / self.signature_bytes() as u64)
    }

    /// Refuses a schema that no store may have.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSchema`] for a family that does not keep the recall that [`Schema::recall`] states.
    pub(crate) fn check_for_store(&self) -> Result<()> {
        if self.family.keeps_recall() {
            return Ok(());
        }
        let reason = format!(
            "{} does not find the pairs that a store promises to find; it is for experiments (eval, matrix); affine32 \
             does",
            self.family
        );
        Err(invalid("family", reason))
    }

    /// The parameters by name, as text that the command line also takes.
    pub fn parameters(&self) -> Vec<(&'static str, String)> {
        let values = [
            self.shingling.to_string(),
            self.lowercase.to_string(),
            self.nfkc.to_string(),
            folded(self.fold_marks).to_owned(),
            self.family.to_string(),
            self.seed.to_string(),
            self.permutations.to_string(),
            self.slot_width.to_string(),
            self.bands.to_string(),
            self.threshold.to_string(),
            self.keeps_shingles.to_string(),
            self.passage.to_string(),
        ];
        PARAMETERS.into_iter().zip(values).collect()
    }

    /// Builds a schema from the text of all of its parameters.
    pub(crate) fn from_parameters(parameters: &[(String, String)]) -> Result<Schema> {
        let text = |name: &'static str| {
            let found = parameters.iter().find(|(other, _)| other == name);
            found.map(|(_, value)| value.as_str()).ok_or_else(|| {
                let reason = "missing".to_owned();
                invalid(name, reason)
            })
        };
        if let Some((name, _)) = parameters
            .iter()
            .find(|(name, _)| !PARAMETERS.contains(&name.as_str()))
        {
            return Err(invalid("schema", format!("unknown parameter {name:?}")));
        }
        let bands: Bands = text("bands")?.parse()?;
        SchemaBuilder {
            shingling: Some(text("shingling")?.parse()?),
            lowercase: Some(parsed("lowercase", text("lowercase")?)?),
            nfkc: Some(parsed("nfkc", text("nfkc")?)?),
            fold_marks: Some(match text("fold")? {
                "none" => false,
                "marks" => true,
                other => {
                    return Err(invalid(
                        "fold",
                        format!("{other:?} is neither none nor marks"),
                    ));
                }
            }),
            family: Some(text("family")?.parse()?),
            seed: Some(parsed("seed", text("seed")?)?),
            permutations: Some(parsed("permutations", text("permutations")?)?),
            slot_width: Some(text("slot-bits")?.parse()?),
            bands: Some((bands.bands(), bands.rows())),
            threshold: Some(parsed("threshold", text("threshold")?)?),
            recall: None,
            keeps_shingles: Some(parsed("shingles", text("shingles")?)?),
            passage: Some(parsed("passage", text("passage")?)?),
        }
        .build()
    }

    /// Checks that `given` equals this schema, which is a store's.
    ///
    /// # Errors
    ///
    /// [`Error::SchemaMismatch`] with the first parameter that differs.
    pub(crate) fn check_same(&self, given: &Schema) -> Result<()> {
        given.to_builder().check(self)
    }

    /// Checks that a store of this schema takes contents that were made for `given`: everything is the same but the
    /// passage, and the store's fingerprints are among those of the contents.
    ///
    /// That is so if the [step](Schema::fingerprint_step) of the store is a multiple of the other. A store with passage
    /// 0 takes all of them, and keeps no fingerprints.
    ///
    /// ```
    /// use dedupdb::Schema;
    ///
    /// let passage = |tokens| Schema::builder().passage(tokens).build();
    /// // Every 32nd shingle is among every 16th one; every 46th is not.
    /// assert!(passage(36)?.check_takes(&passage(20)?).is_ok());
    /// assert!(passage(50)?.check_takes(&passage(20)?).is_err());
    /// assert!(passage(20)?.check_takes(&passage(0)?).is_err());
    /// assert!(passage(0)?.check_takes(&passage(20)?).is_ok());
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::SchemaMismatch`] with the first parameter that differs.
    pub fn check_takes(&self, given: &Schema) -> Result<()> {
        let mut given_parameters = given.to_builder();
        if self.passage == 0 || given.fingerprint_factor(self).is_some() {
            given_parameters.passage = None;
        }
        given_parameters.check(self)
    }
}

impl fmt::Display for Schema {
    /// Writes `name value` pairs on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.parameters().iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{name} {value}")?;
        }
        Ok(())
    }
}

/// Refuses a similarity that cannot be a threshold.
pub(crate) fn check_threshold(threshold: f64) -> Result<()> {
    check_share("threshold", threshold)
}

/// Refuses a share that is not above 0 and at most 1.
pub(crate) fn check_share(parameter: &'static str, share: f64) -> Result<()> {
    if share > 0.0 && share <= 1.0 {
        return Ok(());
    }
    let reason = format!("{share} is not above 0 and at most 1");
    Err(Error::InvalidQuery { parameter, reason })
}

/// A share from 0 to 1 in percent, never rounded up to 100: `97.5%`, `99.99%`.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if share >= 1.0 {
        "100%".to_owned()
    } else if percent >= 99.95 {
        format!("{:.2}%", percent.min(99.99))
    } else {
        format!("{percent:.1}%")
    }
}

fn parsed<T: std::str::FromStr>(name: &'static str, value: &str) -> Result<T> {
    let wrong = |_| invalid(name, format!("{value:?} is not a value it can have"));
    value.parse().map_err(wrong)
}

fn invalid(parameter: &'static str, reason: String) -> Error {
    Error::InvalidSchema { parameter, reason }
}

/// The longest passage that a store can be asked to find, in tokens.
const MOST_PASSAGE: u32 = 10_000;

/// The most shingles of a set whose signature is not kept: of 4 bytes each, they are no longer than one of the default
/// size.
const MOST_UNSIGNED: u32 = 64;

/// Whether runs of shingles say where they are in a text: fewer than three words are everywhere.
fn has_order(shingling: Shingling) -> bool {
    match shingling {
        Shingling::Word(k) | Shingling::Code(k) => k >= 3,
        Shingling::Char(_) | Shingling::CharNoSpace(_) | Shingling::Byte(_) => true,
        Shingling::Term | Shingling::Ids => false,
    }
}

/// The length of passages of a store for which none was given: 20 words, or about as many characters.
fn default_passage(shingling: Shingling, keeps_shingles: bool) -> u32 {
    if !has_order(shingling) || !keeps_shingles {
        return 0;
    }
    let tokens = match shingling {
        Shingling::Word(_) | Shingling::Code(_) => 20,
        _ => 100,
    };
    tokens.max(shingling.k().into())
}

/// Refuses a length that passages cannot have in a store.
fn check_passage(passage: u32, shingling: Shingling, keeps_shingles: bool) -> Result<()> {
    let k = shingling.k();
    let reason = if passage == 0 {
        return Ok(());
    } else if !has_order(shingling) {
        format!(
            "passages need shingles of at least 3 words, or of characters or bytes, and not {shingling}: give 0"
        )
    } else if !keeps_shingles {
        "passages need the shingles, which this store does not keep: give 0".to_owned()
    } else if passage < k.into() || passage > MOST_PASSAGE {
        format!(
            "{passage} is not from {k}, the length of a shingle, to {MOST_PASSAGE}; 0 is for no passages"
        )
    } else {
        return Ok(());
    };
    Err(invalid("passage", reason))
}

/// The share of the pairs at the threshold that the chosen bands find, unless another one is set.
const RECALL: f64 = 0.98;

/// Collects the parameters of a [`Schema`]. Those that are not set have their defaults.
#[derive(Clone, Debug, Default)]
pub struct SchemaBuilder {
    shingling: Option<Shingling>,
    lowercase: Option<bool>,
    nfkc: Option<bool>,
    fold_marks: Option<bool>,
    family: Option<Family>,
    seed: Option<u64>,
    permutations: Option<u32>,
    slot_width: Option<SlotWidth>,
    bands: Option<(u32, u32)>,
    threshold: Option<f64>,
    recall: Option<f64>,
    keeps_shingles: Option<bool>,
    passage: Option<u32>,
}

impl SchemaBuilder {
    /// How texts become shingles; five words by default.
    #[must_use]
    pub fn shingling(mut self, shingling: Shingling) -> Self {
        self.shingling = Some(shingling);
        self
    }

    /// Whether texts are lowercased first; on by default where it applies.
    #[must_use]
    pub fn lowercase(mut self, lowercase: bool) -> Self {
        self.lowercase = Some(lowercase);
        self
    }

    /// Whether texts are NFKC-normalized first; on by default where it applies.
    #[must_use]
    pub fn nfkc(mut self, nfkc: bool) -> Self {
        self.nfkc = Some(nfkc);
        self
    }

    /// Whether marks are dropped that some writers leave out ([`Shingler::fold_marks`]); off by default.
    #[must_use]
    pub fn fold_marks(mut self, fold: bool) -> Self {
        self.fold_marks = Some(fold);
        self
    }

    /// The family that permutations are drawn from.
    #[must_use]
    pub fn family(mut self, family: Family) -> Self {
        self.family = Some(family);
        self
    }

    /// The seed that the permutations are drawn with; 1 by default, so that runs and shards agree.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// The number of permutations, 1 to 16384; 128 by default.
    #[must_use]
    pub fn permutations(mut self, permutations: u32) -> Self {
        self.permutations = Some(permutations);
        self
    }

    /// Width of a stored slot; 16 bits by default.
    #[must_use]
    pub fn slot_width(mut self, width: SlotWidth) -> Self {
        self.slot_width = Some(width);
        self
    }

    /// The band shape, instead of the one that [`SchemaBuilder::target_recall`] chooses. Of the two, the last call
    /// counts.
    #[must_use]
    pub fn bands(mut self, bands: u32, rows: u32) -> Self {
        self.bands = Some((bands, rows));
        self
    }

    /// Chooses the band shape by [`SchemaBuilder::target_recall`], even if a shape was given.
    #[must_use]
    pub fn choose_bands(mut self) -> Self {
        self.bands = None;
        self
    }

    /// The similarity at and above which two texts match, above 0 and up to 1; 0.8 by default.
    #[must_use]
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.threshold = Some(threshold);
        self
    }

    /// The least share of pairs at the threshold that the chosen bands find, between 0 and 1; 0.98
    /// by default. Of this and [`SchemaBuilder::bands`], the last call counts.
    #[must_use]
    pub fn target_recall(mut self, recall: f64) -> Self {
        self.recall = Some(recall);
        self.bands = None;
        self
    }

    /// Whether shingle sets are kept; without them answers are estimates. On by default.
    #[must_use]
    pub fn keep_shingles(mut self, keep: bool) -> Self {
        self.keeps_shingles = Some(keep);
        self
    }

    /// The length of the passages that are always found, in tokens of the shingling: from the length of a shingle to
    /// 10,000, or 0 for none. It needs shingles with an order: at least three words, characters or bytes. With these, the
    /// default is 20 words, or 100 characters or bytes; otherwise it is 0.
    ///
    /// A store keeps a fingerprint for each `passage - K + 1` shingles of K tokens. Two texts with a run of this many
    /// tokens in common are found by [`Store::passages`](crate::Store::passages) and by queries for containment, and
    /// so is a stored text that is shorter and contained as a whole.
    ///
    /// ```
    /// use dedupdb::{Schema, sketching::Shingling};
    ///
    /// assert_eq!(Schema::builder().build()?.passage(), 20);
    /// assert!(Schema::builder().passage(4).build().is_err());
    /// assert!(Schema::builder().shingling(Shingling::Term).passage(20).build().is_err());
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    #[must_use]
    pub fn passage(mut self, tokens: u32) -> Self {
        self.passage = Some(tokens);
        self
    }

    /// Checks the parameters and chooses those that were left open.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSchema`], which names the parameter and says what would fit.
    pub fn build(self) -> Result<Schema> {
        let shingling = self.shingling.unwrap_or_default();
        let lowercase = self.lowercase.unwrap_or(shingling.folds());
        let nfkc = self.nfkc.unwrap_or(shingling.folds());
        let fold_marks = self.fold_marks.unwrap_or(false);
        let (family, seed) = (self.family.unwrap_or_default(), self.seed.unwrap_or(1));
        let permutations = self.permutations.unwrap_or(128);
        let slot_width = self.slot_width.unwrap_or_default();
        let threshold = self.threshold.unwrap_or(0.8);
        if !(threshold > 0.0 && threshold <= 1.0) {
            let reason = format!("{threshold} is not above 0 and at most 1");
            return Err(invalid("threshold", reason));
        }
        // The shingler and the signer check their own parameters.
        Shingler::new(shingling, lowercase, nfkc)?.fold_marks(fold_marks)?;
        Signer::new(family, seed, permutations, slot_width)?;
        let bands = match self.bands {
            Some((bands, rows)) => Bands::new(bands, rows, permutations)?,
            None => Bands::choose(
                permutations,
                slot_width,
                threshold,
                self.recall.unwrap_or(RECALL),
            )?,
        };
        let keeps_shingles = self.keeps_shingles.unwrap_or(true);
        let passage = self
            .passage
            .unwrap_or_else(|| default_passage(shingling, keeps_shingles));
        check_passage(passage, shingling, keeps_shingles)?;
        Ok(Schema {
            shingling,
            lowercase,
            nfkc,
            fold_marks,
            family,
            seed,
            permutations,
            slot_width,
            bands,
            threshold,
            keeps_shingles,
            passage,
        })
    }

    /// Checks that a store's schema has the parameters that are set here, and finds the recall.
    ///
    /// # Errors
    ///
    /// [`Error::SchemaMismatch`] with the first parameter that differs.
    pub(crate) fn check(&self, stored: &Schema) -> Result<()> {
        let mismatch = |parameter, stored, given| {
            Err(Error::SchemaMismatch {
                parameter,
                stored,
                given,
            })
        };
        for ((parameter, stored), given) in stored.parameters().into_iter().zip(self.given()) {
            if let Some(given) = given.filter(|given| *given != stored) {
                return mismatch(parameter, stored, given);
            }
        }
        let found = stored.recall(stored.threshold);
        match self
            .recall
            .filter(|&recall| self.bands.is_none() && found < recall)
        {
            Some(recall) => mismatch("recall", found.to_string(), recall.to_string()),
            None => Ok(()),
        }
    }

    /// The parameters that are set, as text, in the order in which they are stored.
    fn given(&self) -> [Option<String>; PARAMETERS.len()] {
        fn text(value: Option<impl ToString>) -> Option<String> {
            value.map(|value| value.to_string())
        }
        [
            text(self.shingling),
            text(self.lowercase),
            text(self.nfkc),
            self.fold_marks.map(|folds| folded(folds).to_owned()),
            text(self.family),
            text(self.seed),
            text(self.permutations),
            text(self.slot_width),
            self.bands.map(|(bands, rows)| format!("{bands}x{rows}")),
            text(self.threshold),
            text(self.keeps_shingles),
            text(self.passage),
        ]
    }
}
