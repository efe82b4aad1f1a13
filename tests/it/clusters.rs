//! Clusters, compared with a model that compares each document with each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use dedupdb::{
    Input, Options, Schema, Store,
    groups::{Cluster, ClusterQuery, Linkage, PairQuery},
    sketching::{ShingleSet, Shingler, Shingling},
};
use proptest::prelude::*;

const THRESHOLD: f64 = 0.5;

/// Bands of one row miss a pair at 0.5 with a probability of 2^-64, and make large buckets.
fn schema() -> Schema {
    let builder = Schema::builder().shingling(Shingling::Word(2));
    let builder = builder.permutations(64).bands(64, 1).threshold(THRESHOLD);
    builder.build().unwrap()
}

/// A text that shares its first words with all others, and other words with its family, with some changes. It may end
/// early.
#[derive(Clone, Debug)]
struct Text {
    family: u8,
    length: u8,
    changed: BTreeSet<u8>,
    variant: u8,
}

impl Text {
    fn words(&self) -> String {
        if self.family == 0 && self.variant == 0 {
            return "!".repeat(self.changed.len());
        }
        let words = (0..self.length).map(|word| match word {
            _ if self.changed.contains(&word) => format!("changed{word}by{}", self.variant),
            0..8 => format!("common{word}"),
            _ => format!("family{}word{word}", self.family),
        });
        words.collect::<Vec<_>>().join(" ")
    }
}

fn texts(largest: usize) -> impl Strategy<Value = Vec<Text>> {
    let changed = prop::collection::btree_set(0..24_u8, 0..9);
    let length = prop_oneof![3 => Just(24_u8), 1 => 12..24_u8];
    let changed = prop_oneof![3 => changed, 1 => Just(BTreeSet::new())];
    let text = (0..8_u8, length, changed, 0..30_u8);
    let text = text.prop_map(|(family, length, changed, variant)| Text {
        family,
        length,
        changed,
        variant,
    });
    prop::collection::vec(text, 1..largest)
}

/// A store of the texts, made in two commits. Every ninth document is removed again.
fn make(folder: &Path, threads: usize, schema: &Schema, texts: &[Text]) -> Store {
    let store = Options::new()
        .threads(threads)
        .create(folder, schema)
        .unwrap();
    let mut writer = store.writer().unwrap();
    let inputs = (0..).zip(texts).map(|(n, text)| {
        // The keys are not in the order of the contents.
        Input::new(format!("{:04}", (n * 617) % 1000), text.words())
    });
    let mut inputs: Vec<Input> = inputs.collect();
    let removed: Vec<String> = inputs
        .iter()
        .step_by(9)
        .map(|i| i.key().to_owned())
        .collect();
    let second = inputs.split_off(inputs.len() / 2);
    for inputs in [inputs, second] {
        writer.add_all(inputs).unwrap();
        writer.commit().unwrap();
    }
    for key in removed {
        assert!(writer.remove(&key).unwrap());
    }
    writer.commit().unwrap();
    drop(writer);
    store
}

fn clusters(store: &Store, query: ClusterQuery) -> Vec<Cluster> {
    let clusters = store.clusters(query).unwrap();
    clusters.collect::<Result<_, _>>().unwrap()
}

/// A member's key, similarity to the representative, and whether it is a copy of it.
type Member = (String, f64, bool);

/// The distinct texts of a store in the order of their ids, with their keys.
struct Model {
    texts: Vec<(ShingleSet, Vec<String>)>,
}

impl Model {
    fn of(store: &Store, texts: &[Text]) -> Model {
        let shingler = Shingler::new(Shingling::Word(2), true, true).unwrap();
        let mut contents: BTreeMap<u32, (ShingleSet, Vec<String>)> = BTreeMap::new();
        for (n, text) in (0..).zip(texts) {
            if n % 9 == 0 {
                continue;
            }
            let key = format!("{:04}", (n * 617) % 1000);
            let content = store.get(&key).unwrap().unwrap().content;
            let set = || (shingler.shingles(&text.words()).unwrap(), Vec::new());
            contents.entry(content).or_insert_with(set).1.push(key);
        }
        let mut texts: Vec<_> = contents.into_values().collect();
        for (_, keys) in &mut texts {
            keys.sort();
        }
        Model { texts }
    }

    fn jaccard(&self, one: usize, other: usize) -> f64 {
        if one == other {
            return 1.0;
        }
        self.texts[one].0.jaccard(&self.texts[other].0)
    }

    /// The representative of each text.
    fn connected(&self, threshold: f64) -> Vec<usize> {
        let mut roots: Vec<usize> = (0..self.texts.len()).collect();
        for one in 0..roots.len() {
            for other in 0..one {
                if self.jaccard(one, other) >= threshold {
                    let (low, high) = (roots[one].min(roots[other]), roots[one].max(roots[other]));
                    roots
                        .iter_mut()
                        .filter(|r| **r == high)
                        .for_each(|r| *r = low);
                }
            }
        }
        roots
    }

    fn represented(&self, threshold: f64) -> Vec<usize> {
        let mut roots: Vec<usize> = Vec::new();
        for one in 0..self.texts.len() {
            let mut best = (threshold, one);
            for other in (0..one).rev().filter(|&other| roots[other] == other) {
                let jaccard = self.jaccard(one, other);
                if jaccard >= best.0 {
                    best = (jaccard, other);
                }
            }
            roots.push(best.1);
        }
        roots
    }

    fn clusters(&self, linkage: Linkage, threshold: f64, min_size: usize) -> Vec<Vec<Member>> {
        let roots = match linkage {
            Linkage::Connected => self.connected(threshold),
            Linkage::Representative => self.represented(threshold),
            other => unreachable!("{other:?}"),
        };
        let mut clusters: BTreeMap<usize, Vec<Member>> = BTreeMap::new();
        for (text, root) in roots.into_iter().enumerate() {
            let members = self.texts[text].1.iter();
            let members = members.map(|key| (key.clone(), self.jaccard(text, root), text == root));
            clusters.entry(root).or_default().extend(members);
        }
        let mut clusters: Vec<_> = clusters.into_values().collect();
        clusters.retain(|members| members.len() >= min_size);
        clusters
    }
}

/// Checks that a store's pairs are those of the model, each once.
fn check_pairs(store: &Store, model: &Model, threshold: f64) {
    let mut expected = BTreeMap::new();
    for (one, (_, keys)) in model.texts.iter().enumerate() {
        for (other, (_, others)) in model.texts[..=one].iter().enumerate() {
            let jaccard = model.jaccard(one, other);
            let pairs = keys.iter().flat_map(|a| others.iter().map(move |b| (a, b)));
            for (a, b) in pairs.filter(|(a, b)| a != b && jaccard >= threshold) {
                expected.insert((a.min(b).clone(), a.max(b).clone()), jaccard);
            }
        }
    }
    let mut found = BTreeMap::new();
    for pair in store.pairs(PairQuery::new().threshold(threshold)).unwrap() {
        let pair = pair.unwrap();
        let keys = (pair.key_a, pair.key_b);
        assert_eq!(found.insert(keys, pair.jaccard.unwrap()), None);
    }
    assert_eq!(found, expected);
}

fn members(cluster: &Cluster) -> Vec<Member> {
    let members = cluster.members.iter();
    let members: Vec<Member> = members
        .map(|member| {
            (
                member.key.clone(),
                member.jaccard.unwrap(),
                member.exact_copy,
            )
        })
        .collect();
    assert_eq!(cluster.representative, members[0].0);
    let lowest = members.iter().map(|member| member.1);
    assert_eq!(
        cluster.lowest.to_bits(),
        lowest.fold(1.0, f64::min).to_bits()
    );
    members
}

fn check_against_the_model(texts: &[Text]) {
    let folder = tempfile::tempdir().unwrap();
    let one = make(&folder.path().join("one"), 1, &schema(), texts);
    let two = make(&folder.path().join("two"), 2, &schema(), texts);
    let model = Model::of(&one, texts);
    check_pairs(&two, &model, 0.6);
    for linkage in [Linkage::Connected, Linkage::Representative] {
        for (threshold, min_size) in [(0.5, 2), (0.7, 1), (1.0, 2)] {
            let query = ClusterQuery::new().linkage(linkage);
            let query = query.threshold(threshold).min_size(min_size);
            let found = clusters(&one, query);
            let found_members: Vec<_> = found.iter().map(members).collect();
            let expected = model.clusters(linkage, threshold, min_size);
            assert_eq!(found_members, expected, "{query:?}");
            assert_eq!(clusters(&two, query), found);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn clusters_are_those_of_all_pairs(texts in texts(60)) {
        check_against_the_model(&texts);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]
    #[test]
    fn clusters_of_large_buckets_are_those_of_all_pairs(texts in texts(600)) {
        check_against_the_model(&texts);
    }
}

/// The documents of the clusters, from joining the pairs that the store finds.
fn components(store: &Store, query: PairQuery) -> BTreeSet<BTreeSet<String>> {
    let mut sets: Vec<BTreeSet<String>> = Vec::new();
    let mut set_of: BTreeMap<String, usize> = BTreeMap::new();
    for pair in store.pairs(query).unwrap() {
        let pair = pair.unwrap();
        let mut place = |key: String| {
            *set_of.entry(key.clone()).or_insert_with(|| {
                sets.push(BTreeSet::from([key]));
                sets.len() - 1
            })
        };
        let (one, other) = (place(pair.key_a), place(pair.key_b));
        if one != other {
            let (small, large) = if sets[one].len() < sets[other].len() {
                (one, other)
            } else {
                (other, one)
            };
            for key in std::mem::take(&mut sets[small]) {
                set_of.insert(key.clone(), large);
                sets[large].insert(key);
            }
        }
    }
    sets.into_iter().filter(|set| !set.is_empty()).collect()
}

fn keys(clusters: &[Cluster]) -> BTreeSet<BTreeSet<String>> {
    let keys = clusters.iter().map(|cluster| {
        let keys = cluster.members.iter().map(|member| member.key.clone());
        keys.collect()
    });
    keys.collect()
}

/// Checks that connected clusters are what the store's own pairs connect.
pub(crate) fn check_against_pairs(store: &Store) -> Vec<Cluster> {
    let found = clusters(store, ClusterQuery::new());
    let expected = components(store, PairQuery::new());
    let listed: usize = found.iter().map(|cluster| cluster.members.len()).sum();
    assert_eq!(listed, expected.iter().map(BTreeSet::len).sum::<usize>());
    assert!(
        keys(&found) == expected,
        "clusters are not what the pairs connect"
    );
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    #[test]
    fn without_shingles_clusters_are_what_pairs_connect(texts in texts(400)) {
        let folder = tempfile::tempdir().unwrap();
        let builder = Schema::builder().shingling(Shingling::Word(2)).keep_shingles(false);
        let schema = builder.permutations(64).bands(32, 2).threshold(0.7).build().unwrap();
        let store = make(folder.path(), 2, &schema, &texts);
        for cluster in check_against_pairs(&store) {
            assert!(cluster.members.iter().all(|member| member.jaccard.is_none()));
            let estimates = cluster.members.iter().map(|member| member.estimate.jaccard);
            assert_eq!(cluster.lowest.to_bits(), estimates.fold(1.0, f64::min).to_bits());
        }
    }
}

#[test]
fn contents_of_tables_and_recent_ones_are_in_clusters() {
    let folder = tempfile::tempdir().unwrap();
    let store = crate::pairs::make(folder.path(), 2);
    let found = check_against_pairs(&store);
    let members = || found.iter().flat_map(|cluster| &cluster.members);
    assert!(members().any(|member| member.exact_copy && member.key.ends_with("01798")));
    for member in members() {
        assert!(store.get(&member.key).unwrap().is_some(), "{member:?}");
    }
}

/// The words of a link in a chain. Each link has most of its words in common with the next.
fn link(number: usize) -> String {
    let words = (number * 6..number * 6 + 60).map(|word| format!("word{word}"));
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_chain_is_one_connected_cluster_and_several_represented_ones() {
    let folder = tempfile::tempdir().unwrap();
    let builder = Schema::builder().shingling(Shingling::Word(1));
    let schema = builder
        .threshold(0.8)
        .target_recall(0.9999)
        .build()
        .unwrap();
    let store = Store::create(folder.path(), &schema).unwrap();
    let mut writer = store.writer().unwrap();
    let inputs = (0..12).map(|n| Input::new(format!("link{n:02}"), link(n)));
    writer.add_all(inputs.collect()).unwrap();
    writer.commit().unwrap();
    drop(writer);

    let connected = clusters(&store, ClusterQuery::new());
    assert_eq!(connected.len(), 1);
    assert_eq!(connected[0].members.len(), 12);
    // Links that are ten apart have no word in common.
    assert_eq!(connected[0].lowest.to_bits(), 0.0_f64.to_bits());

    let query = ClusterQuery::new().linkage(Linkage::Representative);
    let represented = clusters(&store, query);
    let members: Vec<Vec<&str>> = represented
        .iter()
        .map(|cluster| cluster.members.iter().map(|m| m.key.as_str()).collect())
        .collect();
    let expected: Vec<Vec<String>> = (0..6)
        .map(|pair| {
            vec![
                format!("link{:02}", pair * 2),
                format!("link{:02}", pair * 2 + 1),
            ]
        })
        .collect();
    assert_eq!(members, expected);
    assert!(represented.iter().all(|cluster| cluster.lowest >= 0.8));
}

/// Twenty thousand pages of one template, and five thousand of another one that shares half of it.
#[test]
fn a_template_makes_one_cluster_of_a_huge_bucket() {
    let text = |page: usize| {
        let common = (0..10).map(|n| format!("{n}"));
        let other = (0..10).map(|n| {
            if n < 5 {
                format!("{n}")
            } else {
                format!("1{n}")
            }
        });
        let mut ids: Vec<String> = match page % 5 {
            0 => other.collect(),
            _ => common.collect(),
        };
        ids.extend((page >= 5).then(|| format!("{}", 1000 + page)));
        ids.join(" ")
    };
    let folder = tempfile::tempdir().unwrap();
    let schema = Schema::builder().shingling(Shingling::Ids).build().unwrap();
    let mut answers = Vec::new();
    for threads in [1, 2] {
        let path = folder.path().join(threads.to_string());
        let store = Options::new()
            .threads(threads)
            .create(path, &schema)
            .unwrap();
        let mut writer = store.writer().unwrap();
        writer.evidence(false);
        let inputs = (0..25_000).map(|page| Input::new(format!("{page:05}"), text(page)));
        writer.add_all(inputs.collect()).unwrap();
        writer.commit().unwrap();
        drop(writer);
        assert!(store.largest_buckets(1).unwrap()[0].contents > 10_000);
        answers.push(
            [Linkage::Connected, Linkage::Representative].map(|linkage| {
                let found = clusters(&store, ClusterQuery::new().linkage(linkage));
                found
                    .into_iter()
                    .map(|cluster| {
                        let keys = cluster.members.into_iter().map(|member| member.key);
                        (cluster.lowest, keys.collect::<Vec<_>>())
                    })
                    .collect::<Vec<_>>()
            }),
        );
    }
    assert_eq!(answers[0], answers[1]);
    let connected = &answers[0][0];
    let sizes: Vec<usize> = connected.iter().map(|(_, keys)| keys.len()).collect();
    assert_eq!(sizes, [5_000, 20_000]);
    assert!(
        connected
            .iter()
            .all(|(lowest, _)| (0.8..1.0).contains(lowest))
    );
}
