//! Searches of buckets with more false candidates than allowed, compared with a simple model of
//! what they may look at.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tempfile::TempDir;

use super::handle::{Options, Store};
use super::{ClusterQuery, Linkage, PairQuery, Relation};
use crate::storage::Limits;
use crate::{
    Input, Query, Schema,
    sketching::{ShingleSet, Shingling, SlotWidth},
};

const THRESHOLD: f64 = 0.5;

const LIMITS: Limits = Limits::LOW;

/// A schema with few slots, so that different texts share buckets.
fn schema() -> Schema {
    let schema = Schema::builder().shingling(Shingling::Word(1));
    let schema = schema.permutations(3).bands(3, 1).threshold(THRESHOLD);
    let schema = schema.slot_width(SlotWidth::Bits32);
    schema.build().unwrap()
}

/// Distinct texts of ten words, most of which are common.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let words = prop::collection::vec(prop_oneof![3 => 0..4_u32, 1 => 4..40_u32], 10);
    let text = words.prop_map(|words| {
        let words = (0..10_u32).zip(words);
        let words = words.map(|(place, word)| match word {
            0..4 => format!("common{place}"),
            _ => format!("word{word}"),
        });
        words.collect::<Vec<_>>().join(" ")
    });
    let texts = prop::collection::btree_set(text, 2..60);
    texts
        .prop_map(|texts| texts.into_iter().collect::<Vec<_>>())
        .prop_shuffle()
}

fn key(content: usize) -> String {
    format!("{content:03}")
}

/// The properties of the texts that a search may use, by content.
struct Account {
    sizes: Vec<usize>,
    slots: Vec<Vec<u8>>,
    jaccard: Vec<Vec<f64>>,
    most: usize,
}

impl Account {
    fn of(texts: &[String], most: usize) -> Account {
        let schema = schema();
        let (shingler, signer) = (schema.shingler().unwrap(), schema.signer().unwrap());
        let sets = texts.iter().map(|text| shingler.shingles(text).unwrap());
        let sets: Vec<_> = sets.collect();
        let row = |a: &_| sets.iter().map(|b| b.jaccard(a)).collect();
        Account {
            sizes: sets.iter().map(ShingleSet::len).collect(),
            slots: sets
                .iter()
                .map(|set| signer.sign(set.as_slice()).as_bytes().to_vec())
                .collect(),
            jaccard: sets.iter().map(row).collect(),
            most,
        }
    }

    fn slot(&self, content: usize, band: usize) -> &[u8] {
        &self.slots[content][band * 4..][..4]
    }

    /// The contents below `end` that match `content`, and how many times candidates were skipped.
    /// `first` contents of each bucket are read first.
    fn matches(&self, content: usize, end: usize, first: usize) -> (BTreeSet<usize>, u64) {
        let bucket = |band| {
            let alike = move |&other: &usize| self.slot(other, band) == self.slot(content, band);
            (0..end).rev().filter(alike).collect()
        };
        let buckets: [Vec<usize>; 3] = [0, 1, 2].map(bucket);
        let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::new());
        let (mut read, mut depth, mut left) = (0, first, self.most);
        while buckets.iter().any(|bucket| bucket.len() > read) {
            let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
            let next = buckets.iter().flat_map(|b| b.iter().take(depth).skip(read));
            next.clone()
                .for_each(|&other| *shared.entry(other).or_default() += 1);
            let mut ranked: Vec<_> = next.collect();
            if depth >= LIMITS.some_of_bucket {
                ranked.sort_by_key(|&other| (shared[other], *other));
                ranked.reverse();
            }
            for &other in ranked {
                if !seen.insert(other) {
                    continue;
                }
                if left == 0 {
                    return (found, 1);
                }
                if self.jaccard[content][other] >= THRESHOLD {
                    found.insert(other);
                } else {
                    left -= 1;
                }
            }
            read = depth;
            depth = if depth < LIMITS.some_of_bucket {
                LIMITS.some_of_bucket
            } else {
                LIMITS.deeper(depth)
            };
        }
        (found, 0)
    }

    /// The buckets of a band, each in the order in which its contents are compared.
    fn buckets(&self, band: usize) -> Vec<Vec<usize>> {
        let mut buckets: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
        for content in 0..self.slots.len() {
            let bucket = buckets.entry(self.slot(content, band));
            bucket.or_default().push(content);
        }
        let mut buckets: Vec<_> = buckets.into_values().collect();
        for bucket in &mut buckets {
            if bucket.len() >= self.most {
                bucket.sort_by_key(|&content| (self.sizes[content], content));
            }
        }
        buckets
    }

    fn pairs(&self) -> (BTreeSet<(usize, usize)>, u64) {
        let (mut compared, mut found, mut passed_over) = (BTreeSet::new(), BTreeSet::new(), 0);
        for bucket in (0..3).flat_map(|band| self.buckets(band)) {
            for (place, &one) in bucket.iter().enumerate() {
                let mut left = self.most;
                for &other in &bucket[place + 1..] {
                    // In the order of sizes, later ones do not fit either.
                    let is_sorted = bucket.len() >= self.most;
                    let fit = self.sizes[one] as f64 / self.sizes[other] as f64;
                    if is_sorted && fit < THRESHOLD {
                        break;
                    }
                    if left == 0 {
                        passed_over += 1;
                        break;
                    }
                    let pair = (one.min(other), one.max(other));
                    if !compared.insert(pair) {
                        continue;
                    }
                    if self.jaccard[one][other] >= THRESHOLD {
                        found.insert(pair);
                    } else {
                        left -= 1;
                    }
                }
            }
        }
        (found, passed_over)
    }
}

fn keys_of(contents: impl IntoIterator<Item = usize>) -> Vec<String> {
    contents.into_iter().map(key).collect()
}

/// Makes a store of the texts, and checks the relation of each. `commits` has the number of texts
/// in each commit.
fn store_of(
    account: &Account,
    texts: &[String],
    commits: &[usize],
    threads: usize,
) -> (Store, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let options = Options::new()
        .threads(threads)
        .limits(LIMITS)
        .false_candidates(account.most);
    let store = options
        .create(folder.path().join("store"), &schema())
        .unwrap();
    let mut writer = store.writer().unwrap();
    let mut next = 0;
    for &commit in commits.iter().chain([&texts.len()]) {
        let numbers = next..texts.len().min(next + commit);
        let inputs = numbers.clone().map(|n| Input::new(key(n), &*texts[n]));
        let outcomes = writer.add_all(inputs.collect()).unwrap();
        for (n, outcome) in numbers.clone().zip(outcomes) {
            let is_near = outcome.unwrap().relation == Relation::NearDuplicate;
            assert_eq!(
                is_near,
                !account.matches(n, n, LIMITS.few_of_bucket).0.is_empty(),
                "{n}"
            );
        }
        next = numbers.end;
        writer.commit().unwrap();
    }
    drop(writer);
    (store, folder)
}

fn clusters(store: &Store, linkage: Linkage) -> Vec<Vec<String>> {
    let clusters = store.clusters(ClusterQuery::new().linkage(linkage));
    let members = |cluster: crate::groups::Cluster| cluster.members.into_iter().map(|m| m.key);
    let clusters = clusters.unwrap().map(|c| members(c.unwrap()).collect());
    clusters.collect()
}

fn check(account: &Account, store: &Store) {
    let mut passed_over = store.searches_cut_short();
    for content in 0..account.slots.len() {
        let (mut expected, expected_over) =
            account.matches(content, account.slots.len(), LIMITS.some_of_bucket);
        expected.remove(&content);
        let found = store.query(&Query::key(&key(content))).unwrap();
        let mut found: Vec<String> = found.into_iter().map(|found| found.key).collect();
        found.sort();
        assert_eq!(found, keys_of(expected), "{content}");
        passed_over += expected_over;
        assert_eq!(store.searches_cut_short(), passed_over, "{content}");
    }
    let (expected, expected_over) = account.pairs();
    let pairs = store.pairs(PairQuery::new()).unwrap().map(Result::unwrap);
    let mut pairs: Vec<_> = pairs.map(|pair| (pair.key_a, pair.key_b)).collect();
    pairs.sort();
    let expected = expected.into_iter().map(|(a, b)| (key(a), key(b)));
    assert_eq!(pairs, expected.collect::<Vec<_>>());
    assert_eq!(store.searches_cut_short(), passed_over + expected_over);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 48 }))]
    #[test]
    fn a_search_looks_at_what_it_may(
        texts in texts(),
        commits in prop::collection::vec(1..20_usize, 0..5),
        most in prop_oneof![1..8_usize, Just(usize::MAX)],
    ) {
        let account = Account::of(&texts, most);
        let stores = [1, 2].map(|threads| store_of(&account, &texts, &commits, threads));
        for (store, _) in &stores {
            check(&account, store);
        }
        let all = Account { most: usize::MAX, ..Account::of(&texts, most) };
        let (whole, _folder) = store_of(&all, &texts, &commits, 2);
        for linkage in [Linkage::Connected, Linkage::Representative] {
            let before = stores[0].0.searches_cut_short();
            let found = clusters(&stores[0].0, linkage);
            prop_assert_eq!(&clusters(&stores[1].0, linkage), &found);
            if stores[0].0.searches_cut_short() == before {
                prop_assert_eq!(&clusters(&whole, linkage), &found);
            }
        }
        // Each cluster of a limited search is within a cluster of the full search.
        let whole = clusters(&whole, Linkage::Connected);
        for part in clusters(&stores[0].0, Linkage::Connected) {
            let is_within = |all: &Vec<String>| part.iter().all(|key| all.contains(key));
            prop_assert!(whole.iter().any(is_within));
        }
    }
}
