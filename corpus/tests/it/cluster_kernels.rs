//! The functions that a cluster calls give the same results, one after the other, as a store.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use dedupdb::batch::{
    BucketPairs, BucketSearch, ContentCode, Keeper, KeyWidth, Rarity, Sketcher, TextSketch,
    Verdict, components,
};
use dedupdb::groups::{ClusterQuery, PairQuery};
use dedupdb::{Options, Schema, Store, sketching::ShingleSet};
use dedupdb_corpus::dedup::RowDedup;

const THRESHOLD: f64 = 0.7;

/// Texts with near-copies, and a template that fills buckets whose contents do not all match.
fn texts() -> Vec<String> {
    let words = |from: u32, count: u32| {
        let words =
            (from..from + count).map(|n| format!("w{}", n.wrapping_mul(2_654_435_761) % 9973));
        words.collect::<Vec<_>>().join(" ")
    };
    let mut texts = Vec::new();
    for number in 0..160_u32 {
        let text = words(number / 4 * 1000, 60 + number / 4);
        texts.push(format!("{} end {}", text, number % 3));
        // The template, with its own tail, which is short or long.
        let tail = words(500_000 + number * 100, 2 + number % 40);
        texts.push(format!("{} {tail}", words(77, 80)));
    }
    texts
}

fn schema() -> Schema {
    let schema = Schema::builder().threshold(THRESHOLD);
    schema.build().unwrap()
}

struct Cluster {
    sketches: Vec<TextSketch>,
    codes: Vec<ContentCode>,
}

impl Cluster {
    fn of(texts: &[String]) -> Cluster {
        let sketcher = Sketcher::new(&schema(), KeyWidth::Bits64).unwrap();
        let sketches = sketcher.sketch_all(texts).into_iter();
        let sketches: Vec<TextSketch> = sketches.map(Result::unwrap).collect();
        let codes = sketches.iter();
        let codes = codes.map(|sketch| ContentCode::new(&sketch.hash, sketch.size));
        Cluster {
            codes: codes.collect(),
            sketches,
        }
    }

    fn set(&self, row: usize) -> ShingleSet {
        let TextSketch { packed, size, .. } = &self.sketches[row];
        ShingleSet::from_packed(packed, *size as usize).unwrap()
    }

    /// The first row whose text is that of `row`.
    fn first_copy(&self, row: usize) -> usize {
        let hash = self.sketches[row].hash;
        let first = self.sketches.iter().position(|other| other.hash == hash);
        first.unwrap()
    }

    /// Walks through rows of a key and a text, `batch` rows at a time.
    fn walk(&self, rows: &[(u64, usize)], batch: usize, search: BucketSearch) -> BucketPairs {
        let mut rows: Vec<_> = rows.iter().map(|&(k, row)| (k, self.codes[row])).collect();
        rows.sort_unstable();
        let (mut walk, mut found) = (search.walk(), BucketPairs::default());
        for part in rows.chunks(batch) {
            let (keys, codes): (Vec<u64>, Vec<ContentCode>) = part.iter().copied().unzip();
            walk.push(&keys, &codes, None, None).unwrap();
            let taken = walk.take();
            found.pairs.extend(taken.pairs);
            found.large.extend(taken.large);
            found.passed_over.extend(taken.passed_over);
        }
        found
    }

    fn band_rows(&self) -> Vec<(u64, usize)> {
        let rows = self.sketches.iter().enumerate();
        rows.flat_map(|(row, sketch)| sketch.keys.iter().map(move |&key| (key, row)))
            .collect()
    }

    /// The rows of the rarest shingles of some contents.
    fn rare_rows(&self, large: &[ContentCode]) -> Vec<(u64, usize)> {
        let large: BTreeSet<ContentCode> = large.iter().copied().collect();
        let rows = (0..self.codes.len()).filter(|&row| large.contains(&self.codes[row]));
        let mut rarity = Rarity::default();
        for row in rows.clone() {
            rarity.count(&self.set(row));
        }
        rows.flat_map(|row| {
            let rarest = rarity.rarest(&self.set(row), THRESHOLD);
            rarest.into_iter().map(move |shingle| (shingle.into(), row))
        })
        .collect()
    }

    /// Rows of distinct contents that share a key and match.
    fn matches(&self, pairs: &[(ContentCode, ContentCode)]) -> BTreeSet<(usize, usize)> {
        let row = |code| self.codes.iter().position(|other| *other == code).unwrap();
        let pairs: BTreeSet<_> = pairs.iter().copied().collect();
        let share_a_key = |a: usize, b: usize| {
            let keys = self.sketches[a].keys.iter().zip(&self.sketches[b].keys);
            keys.into_iter().any(|(a, b)| a == b)
        };
        pairs
            .into_iter()
            .map(|(a, b)| (row(a).min(row(b)), row(a).max(row(b))))
            .filter(|&(a, b)| share_a_key(a, b) && self.set(a).jaccard(&self.set(b)) >= THRESHOLD)
            .collect()
    }

    fn found(&self, search: BucketSearch) -> BTreeSet<(usize, usize)> {
        let first = self.walk(&self.band_rows(), 97, search);
        let rare = self.rare_rows(&first.large);
        let second = self.walk(&rare, 1000, BucketSearch::new(THRESHOLD).unwrap());
        assert!(first.passed_over.is_empty() && second.passed_over.is_empty());
        self.matches(&[first.pairs, second.pairs].concat())
    }
}

fn key(row: usize) -> String {
    format!("{row:06}")
}

fn store(folder: &std::path::Path, texts: &[String]) -> Store {
    let store = Store::create(folder.join("store"), &schema()).unwrap();
    let mut writer = store.writer().unwrap();
    for (row, text) in texts.iter().enumerate() {
        writer.add(key(row), text).unwrap();
    }
    writer.commit().unwrap();
    drop(writer);
    store
}

#[test]
fn pairs_and_clusters_are_those_of_a_store_with_large_buckets_or_without() {
    let texts = texts();
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path(), &texts);
    let expected: BTreeSet<(String, String)> = store
        .pairs(PairQuery::new())
        .unwrap()
        .map(|pair| pair.unwrap())
        .map(|pair| (pair.key_a, pair.key_b))
        .collect();
    let cluster = Cluster::of(&texts);
    let search = BucketSearch::new(THRESHOLD).unwrap();
    let plain = cluster.found(search);
    assert!(cluster.found(search.large(20, 3)) == plain);
    // Copies are recognized by their hashes, and resemble what any of them resembles.
    let hash = |row: usize| &cluster.sketches[row].hash;
    let copies = |a: usize| (0..texts.len()).filter(move |&b| hash(a) == hash(b));
    let mut pairs: BTreeSet<(usize, usize)> = plain
        .iter()
        .flat_map(|&(a, b)| {
            copies(a).flat_map(move |a| copies(b).map(move |b| (a.min(b), a.max(b))))
        })
        .collect();
    for a in 0..texts.len() {
        pairs.extend(copies(a).filter(|&b| a < b).map(|b| (a, b)));
    }
    let found: BTreeSet<_> = pairs.iter().map(|&(a, b)| (key(a), key(b))).collect();
    assert!(found.len() > 500, "{}", found.len());
    let differ: Vec<_> = found.symmetric_difference(&expected).collect();
    assert!(
        differ.is_empty(),
        "{} differ: {:?}",
        differ.len(),
        differ.first()
    );

    let pairs: Vec<(u64, u64)> = pairs.iter().map(|&(a, b)| (a as u64, b as u64)).collect();
    let mut clusters: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (row, first) in components(&pairs).unwrap() {
        clusters.entry(first).or_default().push(row);
    }
    let expected: BTreeSet<Vec<u64>> = store
        .clusters(ClusterQuery::new())
        .unwrap()
        .map(|cluster| {
            let members = cluster.unwrap().members.into_iter();
            let mut rows: Vec<u64> = members.map(|m| m.key.parse().unwrap()).collect();
            rows.sort_unstable();
            rows
        })
        .collect();
    assert!(clusters.into_values().collect::<BTreeSet<_>>() == expected);
}

#[test]
fn large_buckets_are_searched_with_less_work() {
    let cluster = Cluster::of(&texts());
    let search = BucketSearch::new(THRESHOLD).unwrap();
    let plain = cluster.walk(&cluster.band_rows(), 50, search);
    let large = cluster.walk(&cluster.band_rows(), 50, search.large(20, 3));
    assert!(large.pairs.len() < plain.pairs.len() && !large.large.is_empty());
}

#[test]
fn what_is_dropped_and_for_whose_sake_is_what_a_store_says() {
    let texts = texts();
    let mut rows = RowDedup::begin(&Options::new(), &schema(), std::env::temp_dir()).unwrap();
    rows.push(texts.clone());
    rows.close();
    let mut expected = Vec::new();
    while rows.under_way() > 0 {
        for row in rows
            .wait(Duration::from_millis(50))
            .unwrap()
            .unwrap_or_default()
        {
            expected.push(row.unwrap().map(|row| (row.earlier, row.jaccard.unwrap())));
        }
    }
    let cluster = Cluster::of(&texts);
    let pairs = cluster.found(BucketSearch::new(THRESHOLD).unwrap());
    let (mut keeper, mut found) = (Keeper::new(THRESHOLD).unwrap(), vec![None; texts.len()]);
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (row, first) in components(&Vec::from_iter(pairs)).unwrap() {
        groups.entry(first).or_default().push(row);
    }
    for group in groups.into_values() {
        keeper.begin();
        let mut kept = Vec::new();
        for row in group
            .into_iter()
            .filter(|&row| cluster.first_copy(row) == row)
        {
            match keeper.judge(&cluster.sketches[row].keys, cluster.set(row)) {
                Verdict::Like(number, jaccard) => found[row] = Some((kept[number], jaccard)),
                _ => kept.push(row as u64),
            }
        }
    }
    // A copy is dropped in favour of the first one, or of what that was dropped for.
    for row in 0..texts.len() {
        let first = cluster.first_copy(row);
        if first < row {
            found[row] = found[first].or(Some((first as u64, 1.0)));
        }
    }
    assert_eq!(keeper.cut_short(), 0);
    assert_eq!(found, expected);
}
