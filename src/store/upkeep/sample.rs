//! A sample of the similarities between the contents of a store.

use crate::error::Result;
use crate::lsh::Bands;
use crate::sketch::{Estimate, SlotWidth, agreeing};
use crate::storage::Snapshot;
use crate::store::handle::Store;
use crate::text::ShingleSet;

/// The number of sampled contents, at most.
const QUERIES: usize = 256;

/// Contents that each of them is compared with, at most.
const COMPARED: usize = 1 << 18;

/// Queries that share one pass over the signatures.
const CHUNK: usize = 16;

/// Pairs with at least this estimate are compared exactly, if the store keeps shingles.
const EXACT_FROM: f64 = 0.2;

/// With fewer pairs between the lowest similarity that counts and the threshold, a sample says little.
const FEW: u64 = 30;

/// Pairs that are compared exactly for a query, at most. They stand for the other pairs with such an estimate, too.
const EXACT_PAIRS: usize = if cfg!(test) { 32 } else { 2048 };

/// The similarities of sampled contents to the other contents of their store.
///
/// Most pairs of a collection have nothing in common, so random pairs say little about the moderately similar ones,
/// which make false candidates. Instead, a few contents are each compared with all others (or with a fixed number of
/// them in a large store), as queries are. These are the contents whose texts have the lowest hashes, so the sample
/// depends on the stored texts, not on the order in which they were added.
///
/// If the store keeps shingles, pairs with an estimate of at least 0.2 are compared exactly; if there are more than 2,048
/// of them for a content, that many are, and stand for all. For all others, the signatures give the probability of
/// sharing a band.
#[derive(Clone, Debug)]
pub struct Sample {
    contents: u64,
    slots: u32,
    width: SlotWidth,
    queries: Vec<Neighbours>,
}

/// The contents that a sampled content was compared with.
#[derive(Clone, Debug)]
struct Neighbours {
    /// How many of them agree with it in 0, 1, 2, ... slots, without those that `exact` stands for.
    agreeing: Vec<u32>,
    /// Exact similarities, ordered by content id.
    exact: Vec<f64>,
    /// The number of pairs that `exact` stands for.
    similar: u64,
}

/// The expected results of a query for an average content of the store, with a shape of bands.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Expected {
    /// Other contents at or above the threshold.
    pub matches: f64,
    /// Those of them that become candidates.
    pub found: f64,
    /// Contents below the threshold that become candidates.
    pub false_candidates: f64,
    /// Standard error of `false_candidates` that comes from sampling; 0 if every content was sampled.
    pub error: f64,
}

impl Store {
    /// Samples the similarities between the contents of the last commit.
    ///
    /// At most 256 contents are compared with at most 262,144 others each, on all of the store's threads. This takes
    /// about a second of one core.
    ///
    /// ```
    /// use dedupdb::{Schema, Store, sketching::Bands};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let store = Store::create(folder.path().join("store"), &Schema::default())?;
    /// # store.insert_unless_duplicate("a", "one of the long and cold nights in the lighthouse")?;
    /// # store.insert_unless_duplicate("b", "one of the short and warm nights in the harbour")?;
    /// let expected = store.sample()?.expected(Bands::new(17, 7, 128)?, 0.8);
    /// assert!(expected.false_candidates < 0.1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of reading the store.
    pub fn sample(&self) -> Result<Sample> {
        let snapshot = self.published()?;
        let (contents, drawn) = draw(&snapshot)?;
        let queries: Vec<u32> = drawn.iter().take(QUERIES).copied().collect();
        let mut compared = drawn;
        compared.sort_unstable();
        let chunks: Vec<Vec<u32>> = queries.chunks(CHUNK).map(<[u32]>::to_vec).collect();
        self.progress.begin(chunks.len() as u64);
        let chunks = self.shared.pool.map(chunks, |chunk| {
            let found = neighbours(&snapshot, &chunk, &compared);
            self.progress.step(1)?;
            found
        });
        let chunks: Vec<Vec<Neighbours>> = chunks.into_iter().collect::<Result<_>>()?;
        Ok(Sample {
            contents,
            slots: snapshot.schema.permutations(),
            width: snapshot.schema.slot_width(),
            queries: chunks.into_iter().flatten().collect(),
        })
    }
}

/// Counts the contents in buckets, and draws those with the lowest hashes, lowest first.
fn draw(snapshot: &Snapshot) -> Result<(u64, Vec<u32>)> {
    let removed = snapshot.removed_contents()?;
    let (mut count, mut lowest) = (0, Vec::new());
    for content in 0..snapshot.len {
        let row = snapshot.content(content)?;
        if row.shingle_count == 0 || removed.binary_search(&content).is_ok() {
            continue;
        }
        count += 1;
        let (start, _) = row.hash.split_at(8);
        lowest.push((<[u8; 8]>::try_from(start).unwrap_or_default(), content));
        // Half of them are dropped now and then, so that memory is bounded.
        if lowest.len() == 2 * COMPARED {
            lowest.select_nth_unstable(COMPARED);
            lowest.truncate(COMPARED);
        }
    }
    lowest.sort_unstable();
    lowest.truncate(COMPARED);
    Ok((
        count,
        lowest.into_iter().map(|(_, content)| content).collect(),
    ))
}

/// Compares each of `queries` with all of `compared` except itself.
fn neighbours(snapshot: &Snapshot, queries: &[u32], compared: &[u32]) -> Result<Vec<Neighbours>> {
    let schema = &snapshot.schema;
    let (slots, width) = (schema.permutations(), schema.slot_width());
    let mut subjects = Vec::with_capacity(queries.len());
    for &content in queries {
        let neighbours = Neighbours {
            agreeing: vec![0; slots as usize + 1],
            exact: Vec::new(),
            similar: 0,
        };
        subjects.push((content, snapshot.signature(content)?, neighbours));
    }
    // One pass over the signatures serves all queries of the chunk.
    let mut similar = vec![Vec::new(); queries.len()];
    for &content in compared {
        let signature = snapshot.signature(content)?;
        for ((query, own, neighbours), similar) in subjects.iter_mut().zip(&mut similar) {
            if *query == content {
                continue;
            }
            let agreeing = agreeing(own, &signature, width);
            let estimate = Estimate::new(agreeing, slots, width).jaccard;
            // Pairs with much in common decide, so they are compared exactly later. Of the others, only the agreement
            // is counted.
            if schema.keeps_shingles() && estimate >= EXACT_FROM {
                similar.push(content);
            } else if let Some(count) = neighbours.agreeing.get_mut(agreeing as usize) {
                *count += 1;
            }
        }
    }
    let mut found: Vec<Neighbours> = subjects.into_iter().map(|(.., found)| found).collect();
    compare_exactly(snapshot, queries, &similar, &mut found)?;
    Ok(found)
}

/// Compares each of `queries` exactly with those `similar` to it, or with some of them.
fn compare_exactly(
    snapshot: &Snapshot,
    queries: &[u32],
    similar: &[Vec<u32>],
    found: &mut [Neighbours],
) -> Result<()> {
    let mut own = vec![ShingleSet::default(); queries.len()];
    let mut chosen = Vec::new();
    for (place, similar) in similar.iter().enumerate() {
        found[place].similar = similar.len() as u64;
        if !similar.is_empty() {
            snapshot.shingles(queries[place], &mut own[place])?;
        }
        chosen.extend(spread(similar).map(|content| (content, place)));
    }
    // The shingles of a content are read once for all queries.
    chosen.sort_unstable();
    let (mut read, mut other) = (None, ShingleSet::default());
    for (content, place) in chosen {
        if read != Some(content) {
            snapshot.shingles(content, &mut other)?;
            read = Some(content);
        }
        found[place].exact.push(own[place].jaccard(&other));
    }
    Ok(())
}

/// All of `contents`, or the most that are compared exactly, evenly spread.
fn spread(contents: &[u32]) -> impl Iterator<Item = u32> {
    let most = contents.len().min(EXACT_PAIRS);
    (0..most).map(move |at| contents[at * contents.len() / most])
}

impl Sample {
    /// Returns the number of contents in buckets: those that a document names and that have shingles. After
    /// [`Sample::grown_to`], the number given there.
    pub fn contents(&self) -> u64 {
        self.contents
    }

    /// Returns the number of sampled contents.
    pub fn queries(&self) -> usize {
        self.queries.len()
    }

    /// Returns the number of compared pairs.
    pub fn pairs(&self) -> u64 {
        self.queries.iter().map(Neighbours::pairs).sum()
    }

    /// Returns the number of pairs that were compared exactly.
    pub fn exact(&self) -> u64 {
        self.queries.iter().map(|q| q.exact.len() as u64).sum()
    }

    /// Returns the number of pairs with at least this similarity: exact if all similar pairs were compared exactly,
    /// otherwise estimated.
    pub fn at_least(&self, jaccard: f64) -> u64 {
        let mut count = 0;
        for query in &self.queries {
            let exact = query.exact.iter().filter(|&&j| j >= jaccard).count();
            let compared = query.exact.len().max(1) as u64;
            count += (exact as u64 * query.similar + compared / 2) / compared;
            let estimated = (0..).zip(&query.agreeing);
            let estimated = estimated.filter(|&(agreeing, _)| self.estimate(agreeing) >= jaccard);
            count += estimated.map(|(_, &count)| u64::from(count)).sum::<u64>();
        }
        count
    }

    /// Says why the sample cannot tell shapes of bands apart, if it cannot: they differ in what they make of the pairs
    /// below the threshold that have much in common.
    pub fn shortage(&self, threshold: f64) -> Option<String> {
        if threshold <= EXACT_FROM {
            return Some(format!(
                "pairs below {EXACT_FROM} are not compared, so none tells shapes apart for a threshold of {threshold}"
            ));
        }
        let likely = self
            .at_least(EXACT_FROM)
            .saturating_sub(self.at_least(threshold));
        let lie = match likely {
            FEW.. => return None,
            0 => "no pair of the sample lies".to_owned(),
            1 => "only 1 pair of the sample lies".to_owned(),
            _ => format!("only {likely} pairs of the sample lie"),
        };
        Some(format!(
            "{lie} between {EXACT_FROM} and the threshold: too few to tell shapes apart"
        ))
    }

    /// Returns the sample of a larger store with this number of similar contents. Matches and false candidates grow
    /// with the number of contents.
    #[must_use]
    pub fn grown_to(mut self, contents: u64) -> Sample {
        self.contents = contents;
        self
    }

    /// Returns the expected results of a query for an average content, with these bands and threshold.
    ///
    /// The figures are for a store of the sampled size, averaged over all permutations. The actual permutations of a
    /// store give somewhat more or fewer candidates; with fewer than about twenty slots, several times more or fewer.
    pub fn expected(&self, bands: Bands, threshold: f64) -> Expected {
        let chances: Vec<f64> = (0..=self.slots).map(|a| self.chance(bands, a)).collect();
        let each = self.queries.iter().map(|query| {
            let (mut matches, mut found, mut wrong) = (0.0, 0.0, 0.0);
            let mut count = |jaccard: f64, chance: f64, pairs: f64| {
                if jaccard >= threshold {
                    matches += pairs;
                    found += pairs * chance;
                } else {
                    wrong += pairs * chance;
                }
            };
            // A pair counts with the probability that it shares a bucket: by its slots, or by its exact similarity.
            for ((agreeing, &pairs), &chance) in (0..).zip(&query.agreeing).zip(&chances) {
                count(self.estimate(agreeing), chance, pairs.into());
            }
            for &jaccard in &query.exact {
                count(
                    jaccard,
                    bands.probability(jaccard, self.width),
                    query.weight(),
                );
            }
            // A query was compared with only some of the other contents.
            let others = self.contents.saturating_sub(1) as f64;
            let scale = others / query.pairs().max(1) as f64;
            [matches, found, wrong].map(|sum| sum * scale)
        });
        let each: Vec<[f64; 3]> = each.collect();
        if each.is_empty() {
            return Expected {
                matches: 0.0,
                found: 0.0,
                false_candidates: 0.0,
                error: 0.0,
            };
        }
        let queries = each.len() as f64;
        let mean = |of: usize| each.iter().map(|sums| sums[of]).sum::<f64>() / queries;
        let [matches, found, false_candidates] = [mean(0), mean(1), mean(2)];
        // The error of a mean over queries that were drawn without repetition.
        let squares = each.iter().map(|sums| (sums[2] - false_candidates).powi(2));
        let variance = squares.sum::<f64>() / (queries - 1.0).max(1.0);
        let left_out = 1.0 - queries / self.contents.max(1) as f64;
        Expected {
            matches,
            found,
            false_candidates,
            error: (variance / queries * left_out.max(0.0)).sqrt(),
        }
    }

    fn estimate(&self, agreeing: u32) -> f64 {
        Estimate::new(agreeing, self.slots, self.width).jaccard
    }

    /// The probability that two contents share a bucket if `agreeing` of their slots agree.
    ///
    /// Of all ways to draw the r slots of a band from a signature, it uses the share in which all slots agree. This is
    /// an unbiased estimate of p^r. The r-th power of an estimate of p would be far too high for pairs that have little
    /// in common.
    fn chance(&self, bands: Bands, agreeing: u32) -> f64 {
        let (agreeing, slots) = (f64::from(agreeing), f64::from(self.slots));
        let drawn = (0..bands.rows()).map(f64::from);
        let band: f64 = if bands.rows() <= self.slots {
            drawn
                .map(|i| (agreeing - i).max(0.0) / (slots - i))
                .product()
        } else {
            // No band can be drawn; pairs that might share one are nearly identical anyway.
            drawn.map(|_| agreeing / slots).product()
        };
        let none = (0..bands.bands()).map(|_| 1.0 - band).product::<f64>();
        1.0 - none
    }
}

impl Neighbours {
    fn pairs(&self) -> u64 {
        let estimated = self.agreeing.iter().map(|&count| u64::from(count));
        estimated.sum::<u64>() + self.similar
    }

    /// The number of pairs that each pair in `exact` stands for.
    fn weight(&self) -> f64 {
        self.similar as f64 / self.exact.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;

    #[test]
    fn pairs_that_are_not_compared_are_as_those_that_are() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path().join("store"), &Schema::default()).unwrap();
        let mut writer = store.writer().unwrap();
        // Pairs have a similarity of about 0.71, so that some of the estimates are above the threshold.
        let template: Vec<String> = (0..100).map(|word| format!("t{word}")).collect();
        for number in 0..120 {
            let own: Vec<String> = (0..18).map(|word| format!("o{number}x{word}")).collect();
            let text = [template.clone(), own].concat().join(" ");
            writer.add(format!("key {number}"), text).unwrap();
        }
        writer.commit().unwrap();
        let sample = store.sample().unwrap();
        let queries = sample.queries() as u64;
        assert_eq!(sample.pairs(), queries * 119);
        assert_eq!(sample.exact(), queries * EXACT_PAIRS as u64);
        assert_eq!(sample.at_least(0.8), 0);
        assert_eq!(sample.at_least(0.6), sample.pairs());
        let expected = sample.expected(Bands::new(17, 7, 128).unwrap(), 0.8);
        assert!(expected.matches.abs() < f64::EPSILON, "{expected:?}");
        let all = 119.0
            * Bands::new(17, 7, 128)
                .unwrap()
                .probability(0.71, SlotWidth::Bits16);
        let ratio = expected.false_candidates / all;
        assert!((0.9..1.1).contains(&ratio), "{expected:?}");
    }
}
