//! The contents that share fingerprints with a text.

use super::places::{Cover, tokens_of};
use super::runs::held;
use crate::codec::low32;
use crate::error::Result;
use crate::storage::Snapshot;
use crate::store::compare::SpreadHasher;
use crate::text::{ShingleSet, Shingler};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// The number of contents that are read of each list at first. Most lists are shorter.
const FEW: usize = 64;

/// The number of shingles that are looked up together: memory serves many reads concurrently.
const TOGETHER: usize = 32;

/// The number of contents that are named of a list that is too long.
const NAMED: usize = 3;

/// The shingles of a text.
#[derive(Debug)]
pub(crate) struct TextShingles {
    /// The distinct ones, ascending.
    pub(crate) distinct: Vec<u32>,
    /// For each place of the text, the place of its shingle among the distinct ones.
    pub(crate) ranks: Vec<u32>,
    /// Whether each distinct one is ignored. Empty if none is.
    pub(super) ignored: Vec<bool>,
}

impl TextShingles {
    pub(crate) fn of(in_order: &[u32]) -> TextShingles {
        // A text has fewer than 2^32 shingles, so that a shingle and its place are sorted as one number.
        let placed = (0..)
            .zip(in_order)
            .map(|(place, &shingle)| u64::from(shingle) << 32 | place);
        let mut placed: Vec<u64> = placed.collect();
        placed.sort_unstable();
        let mut distinct = Vec::with_capacity(in_order.len());
        let mut ranks = vec![0; in_order.len()];
        for placed in placed {
            let shingle = low32(placed >> 32);
            if distinct.last() != Some(&shingle) {
                distinct.push(shingle);
            }
            ranks[low32(placed) as usize] = low32(distinct.len() as u64 - 1);
        }
        TextShingles {
            distinct,
            ranks,
            ignored: Vec::new(),
        }
    }

    /// The same, of which those that `others` has do not count.
    pub(super) fn ignoring(mut self, others: &ShingleSet) -> TextShingles {
        held(&self.distinct, others.as_slice(), &mut self.ignored);
        self
    }

    /// Whether the shingle at a place of the text does not count.
    pub(super) fn is_ignored(&self, place: usize) -> bool {
        self.ignored.get(self.ranks[place] as usize) == Some(&true)
    }

    /// The number of tokens that are in no shingle that counts, in a text of `count` tokens. A shingle has `k`.
    pub(super) fn ignored_tokens(&self, k: u32, count: u32) -> u32 {
        if self.ignored.is_empty() {
            return 0;
        }
        let mut counted = Cover::default();
        let places = (0..self.ranks.len()).filter(|&place| !self.is_ignored(place));
        places.for_each(|place| counted.add(tokens_of(&(place..place + 1), k, count)));
        count - counted.len()
    }

    /// The number of tokens of the text. A shingle has `k`.
    pub(super) fn tokens(&self, shingler: &Shingler, text: &str, k: u32) -> u32 {
        let shingles = low32(self.ranks.len() as u64);
        if shingles > 1 {
            return (shingles - 1).saturating_add(k);
        }
        // It may be shorter than a shingle.
        low32(shingler.places(text).len() as u64)
    }
}

/// A shingle that is a fingerprint of too many contents to compare them all.
#[derive(Debug)]
pub(crate) struct CommonFingerprint {
    /// Its place among the distinct shingles.
    pub(crate) rank: usize,
    /// The number of contents that were counted; there may be more.
    pub(crate) contents: usize,
}

/// A content that shares fingerprints with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SharingContent {
    pub(crate) content: u32,
    /// The number of its fingerprints that were found in the text.
    pub(crate) fingerprints: u32,
    /// The place of one of them among the distinct shingles of the text.
    pub(crate) rank: u32,
}

/// The contents that share fingerprints with a text.
#[derive(Debug)]
pub(crate) struct SharedFingerprints {
    /// Ascending by content. Some may be removed already.
    pub(crate) contents: Vec<SharingContent>,
    /// The fingerprints whose contents are not all among these, by rank.
    pub(crate) common: Vec<CommonFingerprint>,
}

/// The contents that have a shingle of the text as a fingerprint.
struct FingerprintList {
    rank: usize,
    len: usize,
    /// The contents, if they were few.
    contents: Option<Vec<u32>>,
}

impl SharedFingerprints {
    /// The contents, and the youngest of those with each common fingerprint, ascending. Each comes with the rank of its only
    /// fingerprint in the text, if it is known to have no other one there.
    pub(crate) fn with_some_common(
        &self,
        snapshot: &Snapshot,
        distinct: &[u32],
    ) -> Result<Vec<(u32, Option<u32>)>> {
        let mut all: Vec<(u32, Option<u32>)> = Vec::with_capacity(self.contents.len());
        for of in &self.contents {
            let is_only = of.fingerprints == 1 && self.common.is_empty();
            all.push((of.content, is_only.then_some(of.rank)));
        }
        let mut some = Vec::new();
        for common in &self.common {
            snapshot.with_fingerprint(distinct[common.rank], NAMED, &mut some)?;
            all.extend(some.iter().map(|&content| (content, None)));
        }
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }

    /// Looks up the distinct shingles of a text, but those that are `ignored` by rank. At most `most` contents are
    /// returned: those of the shortest lists.
    pub(crate) fn find(
        snapshot: &Snapshot,
        distinct: &[u32],
        ignored: &[bool],
        most: usize,
    ) -> Result<SharedFingerprints> {
        let mut lists = Vec::new();
        let mut read = Vec::new();
        for (first, some) in (0..).step_by(TOGETHER).zip(distinct.chunks(TOGETHER)) {
            snapshot.approach_fingerprints(some);
            for (rank, &shingle) in (first..).zip(some) {
                if ignored.get(rank) == Some(&true) {
                    continue;
                }
                // Most lists are short, so the few contents are read at once and kept.
                snapshot.with_fingerprint(shingle, FEW + 1, &mut read)?;
                if read.len() <= FEW {
                    if !read.is_empty() {
                        lists.push(FingerprintList {
                            rank,
                            len: read.len(),
                            contents: Some(read.clone()),
                        });
                    }
                    continue;
                }
                // Of a longer list, only the length counts for now, as far as it matters.
                snapshot.with_fingerprint(shingle, most.saturating_add(1), &mut read)?;
                lists.push(FingerprintList {
                    rank,
                    len: read.len(),
                    contents: None,
                });
            }
        }
        // The shortest lists first: they say most about a text, and most of them fit.
        lists.sort_unstable_by_key(|list| (list.len, list.rank));
        let mut hits = HashMap::<u32, (u32, u32), BuildHasherDefault<SpreadHasher>>::default();
        let mut common = Vec::new();
        for list in lists {
            // A list is taken as a whole or not at all, so that what it says is known.
            if hits.len() + list.len > most {
                common.push(CommonFingerprint {
                    rank: list.rank,
                    contents: list.len,
                });
                continue;
            }
            let contents = if let Some(contents) = list.contents {
                contents
            } else {
                snapshot.with_fingerprint(distinct[list.rank], usize::MAX, &mut read)?;
                std::mem::take(&mut read)
            };
            for content in contents {
                let (fingerprints, rank) = hits.entry(content).or_default();
                *fingerprints += 1;
                *rank = low32(list.rank as u64);
            }
        }
        let contents = hits.into_iter();
        let contents = contents.map(|(content, (fingerprints, rank))| SharingContent {
            content,
            fingerprints,
            rank,
        });
        let mut contents: Vec<SharingContent> = contents.collect();
        contents.sort_unstable();
        common.sort_unstable_by_key(|common| common.rank);
        Ok(SharedFingerprints { contents, common })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketching::Shingling;
    use crate::{Schema, Store};

    #[test]
    fn a_text_of_one_shingle_may_be_shorter_than_a_shingle() {
        let shingler = Shingler::new(Shingling::Word(5), true, false).unwrap();
        for tokens in 0..9_u32 {
            let text: Vec<String> = (0..tokens).map(|token| format!("word{token}")).collect();
            let text = text.join(" ");
            let shingles = TextShingles::of(&shingler.in_order(&text).unwrap());
            assert_eq!(shingles.tokens(&shingler, &text, 5), tokens);
        }
    }

    const THREE: &str = "in three texts";

    const TWO: &str = "in two texts";

    /// A store in which each shingle of three words is a fingerprint.
    fn store_of(texts: &[String]) -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let schema = Schema::builder().shingling(Shingling::Word(3)).passage(3);
        let store = Store::create(folder.path().join("s"), &schema.build().unwrap()).unwrap();
        let mut writer = store.writer().unwrap();
        for text in texts {
            writer.add(text, text.as_str()).unwrap();
        }
        writer.commit().unwrap();
        drop(writer);
        (folder, store)
    }

    /// What is found of these shingles: each content with the number of its fingerprints, and each list that was too long with
    /// its length.
    fn found(store: &Store, shingles: &[&str], most: usize) -> (Vec<[u32; 2]>, Vec<(u32, usize)>) {
        let shingler = store.schema().shingler().unwrap();
        let shingles: Vec<u32> = shingles
            .iter()
            .flat_map(|text| shingler.in_order(text).unwrap())
            .collect();
        let distinct = TextShingles::of(&shingles).distinct;
        let snapshot = store.current().unwrap().snapshot;
        let found = SharedFingerprints::find(&snapshot, &distinct, &[], most).unwrap();
        let contents = found.contents.iter();
        let contents = contents.map(|of| [of.content, of.fingerprints]).collect();
        let place = |rank: usize| shingles.iter().position(|it| *it == distinct[rank]);
        let common = found.common.iter();
        let mut common: Vec<(u32, usize)> = common
            .map(|of| (low32(place(of.rank).unwrap() as u64), of.contents))
            .collect();
        common.sort_unstable();
        (contents, common)
    }

    #[test]
    fn lists_are_taken_as_a_whole_if_they_just_fit() {
        let (_folder, store) = store_of(&[
            format!("{THREE} and {TWO}"),
            format!("a text {THREE}"),
            format!("another {THREE}"),
            TWO.to_owned(),
        ]);
        let found = |most| found(&store, &[THREE, TWO], most);
        let (three, two) = ((0, 3), (1, 2));
        assert_eq!(found(5), (vec![[0, 2], [1, 1], [2, 1], [3, 1]], vec![]));
        assert_eq!(found(4), (vec![[0, 1], [3, 1]], vec![three]));
        assert_eq!(found(2), (vec![[0, 1], [3, 1]], vec![three]));
        assert_eq!(found(1), (vec![], vec![three, two]));
    }

    #[test]
    fn a_long_list_is_taken_as_a_whole() {
        let contents = 0..low32(FEW as u64 + 1);
        let texts: Vec<String> = contents.clone().map(|id| format!("{THREE} {id}")).collect();
        let (_folder, store) = store_of(&texts);
        let all = contents.map(|content| [content, 1]).collect();
        assert_eq!(found(&store, &[THREE], FEW + 1), (all, vec![]));
        assert_eq!(found(&store, &[THREE], FEW), (vec![], vec![(0, FEW + 1)]));
    }
}
