//! Which texts are contained in others.

use std::cmp::Reverse;
use std::path::Path;

use crate::dedup::error::{ContainmentConflict, Error, Result};
use crate::dedup::settings::{Dedup, Keep};
use crate::temporary::fleeting;
use dedupdb::find::Explanation;
use dedupdb::groups::{ClusterQuery, Linkage, Member};
use dedupdb::write::{Outcome, Relation, Uncommitted};
use dedupdb::{Input, Match, Options, Schema, Store, Writer};

/// The share of a text's shingles that another one has, and the number of tokens of the shortest texts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContainmentRule {
    /// `None` if documents are dropped by similarity alone.
    pub(crate) least: Option<f64>,
    pub(crate) shortest: usize,
}

impl Default for ContainmentRule {
    fn default() -> ContainmentRule {
        let (least, shortest) = (None, 20);
        ContainmentRule { least, shortest }
    }
}

/// Refuses what does not go together with containment.
///
/// # Errors
///
/// [`Error::Containment`].
pub(super) fn check(dedup: &Dedup) -> Result<()> {
    let Some(least) = dedup.containment.least else {
        return Ok(());
    };
    let conflict = if dedup.store.is_some() || dedup.store_folder.is_some() {
        ContainmentConflict::Store
    } else if dedup.against.is_some() {
        ContainmentConflict::Against
    } else if !dedup.protected.is_empty() || dedup.droppable.is_some() {
        ContainmentConflict::Protection
    } else if dedup.kept() != Keep::Longest {
        ContainmentConflict::Keep
    } else {
        return check_search(least, &dedup.schema);
    };
    Err(Error::Containment { conflict })
}

/// Refuses a share out of range, and a schema that keeps no shingles.
///
/// # Errors
///
/// [`Error::Containment`].
pub(super) fn check_search(least: f64, schema: &Schema) -> Result<()> {
    let conflict = if !(least > 0.0 && least <= 1.0) {
        ContainmentConflict::Share
    } else if !schema.keeps_shingles() {
        ContainmentConflict::NoShingles
    } else {
        return Ok(());
    };
    Err(Error::Containment { conflict })
}

/// Returns the outcome for a text that `earlier` represents: it is contained if their similarity is below the threshold.
pub(super) fn outcome(earlier: Option<Match>, threshold: f64) -> Outcome {
    let is_below = |it: &Match| !it.exact_copy && it.similarity() < threshold;
    let is_contained = earlier.as_ref().is_some_and(is_below);
    let mut outcome = Outcome::against(earlier);
    if is_contained {
        outcome.relation = Relation::Contained;
    }
    outcome
}

/// Returns which of two texts [`Dedup::containment`] drops because the other one contains it, the first (0) or the second
/// (1), with the threshold of the schema as the share. `None` if it drops neither, or one as a near-duplicate.
///
/// Of two texts with the same number of shingles, it drops the shorter one, or else the second. `bytes` are their
/// lengths.
///
/// ```
/// use dedupdb::{Schema, find::Explanation};
/// use dedupdb_corpus::dedup::contained_one;
///
/// let notice = "The night tram runs again from Friday on, every half hour until four, and every \
///               hour after that, as it did before the bridge was closed in the spring.";
/// let page = format!("News of the week from the harbour, the market and the old town. {notice}");
/// let schema = Schema::default();
/// let explanation = Explanation::of_texts(&schema, notice, &page)?;
/// assert_eq!(contained_one(&schema, &explanation, [notice.len(), page.len()]), Some(0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn contained_one(
    schema: &Schema,
    explanation: &Explanation,
    bytes: [usize; 2],
) -> Option<usize> {
    let common = explanation.common.filter(|_| !explanation.is_match)?;
    let [a, b] = explanation.shingles;
    let smaller = usize::from((a, bytes[0]) >= (b, bytes[1]));
    let share = [common.containment_of_a, common.containment_of_b][smaller];
    let fewest = fewest_shingles(ContainmentRule::default().shortest, schema) as u64;
    let is_contained = share >= schema.threshold() && a.min(b) >= fewest;
    is_contained.then_some(smaller)
}

/// Returns the number of shingles of the shortest texts that are compared by containment, as
/// [`ClusterQuery::shortest`] says. A text without shingles is never compared.
fn fewest_shingles(shortest: usize, schema: &Schema) -> usize {
    let k = usize::from(schema.shingling().k());
    shortest.saturating_add(1).saturating_sub(k).max(1)
}

/// What containment decides about a text.
#[derive(Clone, Debug)]
pub(super) struct ContainmentVerdict {
    /// The number of distinct shingles, 0 if the store refused the text.
    pub(super) shingles: u32,
    /// Whether it is too short to be compared by containment.
    pub(super) is_short: bool,
    /// The number of the text that represents it, and how much of it that has.
    pub(super) within: Option<(u64, Member)>,
}

/// Texts that are compared with each other, numbered from 0. Of texts with the same number of shingles, an earlier one
/// contains a later one.
#[derive(Debug)]
pub(super) struct ContainmentSearch {
    writer: Writer,
    store: Store,
    uncommitted: Uncommitted,
    next: u64,
}

impl ContainmentSearch {
    /// Creates a temporary store at `folder`.
    ///
    /// # Errors
    ///
    /// Those of creating a store.
    pub(super) fn begin(
        options: &Options,
        schema: &Schema,
        folder: &Path,
        memory: u64,
    ) -> Result<ContainmentSearch> {
        let store = fleeting(options, folder, schema)?;
        Ok(ContainmentSearch {
            writer: store.writer()?,
            store,
            uncommitted: Uncommitted::new(memory),
            next: 0,
        })
    }

    /// Adds the next texts.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub(super) fn push(&mut self, texts: Vec<String>) -> Result<()> {
        let inputs = texts.into_iter().map(|text| {
            let number = self.next;
            self.next += 1;
            Input::new(key(number), text)
        });
        let batch = self.store.sketch_all(inputs.collect());
        // A text that is refused is not found later.
        self.writer.add_batch(batch)?;
        if self.uncommitted.is_due(&self.writer) {
            self.writer.commit()?;
            self.uncommitted.committed();
        }
        Ok(())
    }

    /// Decides about all texts. A text that contains the given share of another one, or reaches the threshold of the
    /// schema with it, represents it, unless the other one has more shingles. No text that represents itself is
    /// represented by another one. Calls `wait` from time to time.
    ///
    /// # Errors
    ///
    /// Those of the store and of `wait`.
    pub(super) fn find(
        mut self,
        least: f64,
        shortest: usize,
        wait: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Vec<ContainmentVerdict>> {
        self.writer.commit()?;
        let schema = self.store.schema();
        let fewest = fewest_shingles(shortest, &schema);
        let query = ClusterQuery::new()
            .linkage(Linkage::Representative)
            .containment(least)
            .threshold(schema.threshold())
            .shortest(shortest)
            .min_size(1);
        // Texts that the store refused are in no cluster.
        let mut found = vec![None; usize::try_from(self.next).unwrap_or(usize::MAX)];
        for (done, cluster) in self.store.clusters(query)?.enumerate() {
            if done % 256 == 0 {
                wait()?;
            }
            let cluster = cluster?;
            let document = self.store.get(&cluster.representative)?;
            let (Some(document), Ok(first)) = (document, cluster.representative.parse()) else {
                continue;
            };
            let is_short = (document.shingles as usize) < fewest;
            for member in cluster.members {
                let Ok(number) = member.key.parse::<usize>() else {
                    continue;
                };
                // Copies of a short text are judged with it.
                let is_within = !is_short && number as u64 != first;
                if let Some(place) = found.get_mut(number) {
                    *place = Some(ContainmentVerdict {
                        shingles: document.shingles,
                        is_short,
                        within: is_within.then_some((first, member)),
                    });
                }
            }
        }
        let refused = || ContainmentVerdict {
            shingles: 0,
            is_short: true,
            within: None,
        };
        let found = found.into_iter().map(|it| it.unwrap_or_else(refused));
        Ok(found.collect())
    }
}

/// Keys sort in the order of the texts, so that the first one represents its copies.
pub(super) fn key(number: u64) -> String {
    format!("{number:020}")
}

/// Returns the order in which to judge the texts that nothing represents: those that are not short, and the short ones,
/// the largest first.
pub(super) fn order(verdicts: &[ContainmentVerdict]) -> [Vec<usize>; 2] {
    let alone = |is_short: bool| {
        let alone = verdicts.iter().enumerate();
        let alone = alone.filter(|(_, it)| it.within.is_none() && it.is_short == is_short);
        let mut alone: Vec<usize> = alone.map(|(number, _)| number).collect();
        alone.sort_by_key(|&number| Reverse(verdicts[number].shingles));
        alone
    };
    [alone(false), alone(true)]
}
