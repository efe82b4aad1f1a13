//! Searches by containment: which texts are in others.

use std::sync::Arc;

use super::exhaustive::ExhaustivePairs;
use super::join::JoinBounds;
use crate::error::{Error, Result};
use crate::schema::check_share;
use crate::storage::Snapshot;
use crate::store::overlap::Containment;
use crate::text::ShingleSet;

impl Containment {
    /// Prepares the search, if this is a query by containment. `other` names an option that the query also has and that
    /// does not go together with containment.
    pub(super) fn search(
        self,
        snapshot: &Snapshot,
        removed: &[u32],
        other: Option<&str>,
        ignored: Option<&Arc<ShingleSet>>,
    ) -> Result<Option<ExhaustivePairs>> {
        self.search_from(1.0, snapshot, removed, other, ignored)
    }

    /// The same, and it also finds pairs whose containment is `from` or more.
    pub(super) fn search_from(
        self,
        from: f64,
        snapshot: &Snapshot,
        removed: &[u32],
        other: Option<&str>,
        ignored: Option<&Arc<ShingleSet>>,
    ) -> Result<Option<ExhaustivePairs>> {
        let Some(least) = self.least else {
            return Ok(None);
        };
        check_share("containment", least)?;
        if let Some(other) = other {
            return Err(Error::InvalidQuery {
                parameter: "containment",
                reason: format!("a query has either this or {other}"),
            });
        }
        if !snapshot.schema.keeps_shingles() {
            return Err(Error::NoShingles);
        }
        let shingles = u32::try_from(self.shingles(&snapshot.schema)).unwrap_or(u32::MAX);
        let bounds = JoinBounds::Containment(least.min(from));
        ExhaustivePairs::new(snapshot, bounds, shingles, removed, ignored).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use crate::error::Error;
    use crate::schema::Schema;
    use crate::store::groups::{ClusterQuery, Linkage, PairQuery};
    use crate::store::handle::{Options, Store};
    use crate::text::{ShingleSet, Shingling};

    const K: u8 = 2;

    /// Parts of one long text, some of them with words of their own.
    fn texts() -> impl Strategy<Value = Vec<String>> {
        let text = (0_u32..30, 1_u32..16, 0_u32..8).prop_map(|(start, words, own)| {
            let part = (start..start + words).map(|word| format!("w{}", word % 30));
            let own = (0..own.saturating_sub(4)).map(|word| format!("x{start}y{word}"));
            part.chain(own).collect::<Vec<_>>().join(" ")
        });
        prop::collection::vec(text, 1..40)
    }

    /// A document's keys in order, and its shingles: the distinct texts in the order in which they were added.
    type Contents = Vec<(Vec<String>, ShingleSet)>;

    /// A pair: two keys, the containment and the Jaccard similarity.
    type Pair = (String, String, f64, f64);

    /// A store of these texts, of which every `step`-th document is removed again, and its contents.
    fn make(texts: &[String], step: usize, threads: usize) -> (tempfile::TempDir, Store, Contents) {
        let folder = tempfile::tempdir().unwrap();
        let schema = Schema::builder().shingling(Shingling::Word(K));
        let schema = schema.permutations(16).build().unwrap();
        let options = Options::new().threads(threads);
        let store = options
            .create(folder.path().join("store"), &schema)
            .unwrap();
        let key = |number: usize| format!("{}/{number:02}", ["new", "old"][number % 2]);
        let mut writer = store.writer().unwrap();
        for (number, text) in texts.iter().enumerate() {
            writer.add(key(number), text.as_str()).unwrap();
        }
        writer.commit().unwrap();
        let mut contents: Vec<(&str, Vec<String>)> = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            let place = contents.iter().position(|(other, _)| other == text);
            let place = place.unwrap_or_else(|| {
                contents.push((text, Vec::new()));
                contents.len() - 1
            });
            if number % step == 0 {
                assert!(writer.remove(&key(number)).unwrap());
            } else {
                contents[place].1.push(key(number));
            }
        }
        writer.commit().unwrap();
        drop(writer);
        let shingler = schema.shingler().unwrap();
        let contents = contents.into_iter().filter(|(_, keys)| !keys.is_empty());
        let contents = contents.map(|(text, mut keys)| {
            keys.sort();
            (keys, shingler.shingles(text).unwrap())
        });
        let contents = contents.collect();
        (folder, store, contents)
    }

    /// Compares all with all. The pairs are in the order that `Store::pairs` states.
    fn brute_force(contents: &Contents, least: f64, shortest: usize) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for (keys, _) in contents {
            for (place, a) in keys.iter().enumerate() {
                let others = keys[place + 1..].iter();
                pairs.extend(others.map(|b| (a.clone(), b.clone(), 1.0, 1.0)));
            }
        }
        for (outer, (containers, b)) in contents.iter().enumerate() {
            for (inner, (keys, a)) in contents.iter().enumerate() {
                let containment = a.containment_in(b);
                if (a.len(), inner) < (b.len(), outer)
                    && a.len() + usize::from(K) > shortest
                    && containment >= least
                {
                    let is_earlier = a.len() == b.len();
                    let (keys, containers) = if is_earlier {
                        (containers, keys)
                    } else {
                        (keys, containers)
                    };
                    for key in keys {
                        pairs.extend(containers.iter().map(|container| {
                            (key.clone(), container.clone(), containment, a.jaccard(b))
                        }));
                    }
                }
            }
        }
        pairs
    }

    fn found(store: &Store, query: PairQuery) -> Vec<Pair> {
        let pairs = store.pairs(query).unwrap().map(|pair| {
            let pair = pair.unwrap();
            let (containment, jaccard) = (pair.containment.unwrap(), pair.jaccard.unwrap());
            (pair.key_a, pair.key_b, containment, jaccard)
        });
        pairs.collect()
    }

    /// The keys of each cluster, from its representative on, and the containment in that of the first of each content.
    fn trees(contents: &Contents, least: f64, shortest: usize) -> Vec<(Vec<String>, Vec<f64>)> {
        let rank = |place: usize| (Reverse(contents[place].1.len()), place);
        let parent = |inner: usize| {
            let a = &contents[inner].1;
            let outer = (0..contents.len()).filter(|&outer| {
                rank(outer) < rank(inner) && a.containment_in(&contents[outer].1) >= least
            });
            let fits = a.len() + usize::from(K) > shortest;
            outer.filter(|_| fits).min_by_key(|&outer| rank(outer))
        };
        let mut trees: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for content in 0..contents.len() {
            let mut root = content;
            while let Some(parent) = parent(root) {
                root = parent;
            }
            trees.entry(root).or_default().push(content);
        }
        let trees = trees.into_iter().map(|(root, mut tree)| {
            tree.sort_by_key(|&content| (content != root, content));
            let keys = tree.iter().flat_map(|&content| contents[content].0.clone());
            let of = |&content: &usize| {
                let set = &contents[content].1;
                let share = if content == root {
                    1.0
                } else {
                    set.containment_in(&contents[root].1)
                };
                vec![share; contents[content].0.len()]
            };
            (keys.collect(), tree.iter().flat_map(of).collect())
        });
        trees
            .filter(|(keys, _): &(Vec<_>, _)| keys.len() > 1)
            .collect()
    }

    /// Each key and that of its representative. A content that is not too short joins the first one that contains it or
    /// reaches the threshold, the largest first.
    fn represented(
        contents: &Contents,
        least: f64,
        threshold: Option<f64>,
        shortest: usize,
    ) -> Vec<(String, String)> {
        let fits = |place: usize| contents[place].1.len() + usize::from(K) > shortest;
        let mut order: Vec<usize> = (0..contents.len()).collect();
        order.sort_by_key(|&place| (Reverse(contents[place].1.len()), place));
        let (mut roots, mut documents) = (Vec::new(), Vec::new());
        for place in order {
            let (keys, set) = &contents[place];
            let is_linked = |&root: &usize| {
                let other = &contents[root].1;
                let reaches = threshold.is_some_and(|least| set.jaccard(other) >= least);
                fits(place) && (reaches || set.containment_in(other) >= least)
            };
            let root = roots.iter().copied().find(is_linked);
            if root.is_none() {
                roots.push(place);
            }
            let root = &contents[root.unwrap_or(place)].0[0];
            documents.extend(keys.iter().map(|key| (key.clone(), root.clone())));
        }
        documents.sort();
        documents
    }

    /// Each key and that of its representative, where every pair that reaches the threshold is a link.
    fn linked(contents: &Contents, threshold: f64, linkage: Linkage) -> Vec<(String, String)> {
        let jaccard = |one: usize, other: usize| contents[one].1.jaccard(&contents[other].1);
        let mut roots: Vec<usize> = Vec::new();
        for content in 0..contents.len() {
            let earlier = (0..content).filter(|&other| jaccard(content, other) >= threshold);
            let root = if linkage == Linkage::Representative {
                let earlier = earlier.filter(|&other| roots[other] == other);
                earlier.min_by(|&a, &b| jaccard(content, b).total_cmp(&jaccard(content, a)))
            } else {
                let joined: Vec<usize> = earlier.map(|other| roots[other]).collect();
                let first = joined.iter().min().copied();
                for root in &mut roots {
                    if joined.contains(root) {
                        *root = first.unwrap_or(*root);
                    }
                }
                first
            };
            roots.push(root.unwrap_or(content));
        }
        let documents = roots.iter().zip(contents).flat_map(|(&root, (keys, _))| {
            keys.iter()
                .map(move |key| (key.clone(), contents[root].0[0].clone()))
        });
        let mut documents: Vec<(String, String)> = documents.collect();
        documents.sort();
        documents
    }

    /// Each key and that of its representative, as the store finds them.
    fn members(store: &Store, query: ClusterQuery) -> Vec<(String, String)> {
        let mut documents = Vec::new();
        for cluster in store.clusters(query.min_size(1)).unwrap() {
            let cluster = cluster.unwrap();
            for member in cluster.members {
                documents.push((member.key, cluster.representative.clone()));
            }
        }
        documents.sort();
        documents
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn exhaustive_clusters_are_linked_by_every_pair(
            texts in texts(),
            step in 2_usize..9,
            threshold in prop::sample::select(vec![0.05, 0.2, 0.5, 0.8, 1.0]),
            threads in 1_usize..4,
        ) {
            let (_folder, store, contents) = make(&texts, step, threads);
            for linkage in [Linkage::Connected, Linkage::Representative] {
                let query = ClusterQuery::new().threshold(threshold).linkage(linkage);
                let expected = linked(&contents, threshold, linkage);
                prop_assert_eq!(&members(&store, query.exhaustive(true)), &expected);
                prop_assert_eq!(members(&store, query.exhaustive(true).memory(0)), expected);
            }
        }

        #[test]
        fn pairs_and_trees_are_what_comparing_all_with_all_finds(
            texts in texts(),
            step in 2_usize..9,
            least in prop::sample::select(vec![0.1, 1.0 / 3.0, 0.5, 0.6, 0.75, 0.8, 0.9, 1.0]),
            threshold in prop::sample::select(vec![0.2, 0.5, 0.8, 1.0]),
            shortest in prop::sample::select(vec![0, 1, 4, 6, 20]),
            threads in 1_usize..4,
        ) {
            let (_folder, store, contents) = make(&texts, step, threads);
            let query = PairQuery::new().containment(least).shortest(shortest);
            let expected = brute_force(&contents, least, shortest);
            prop_assert_eq!(&found(&store, query.clone()), &expected);
            // One text at a time, in another order.
            let mut in_parts = found(&store, query.clone().memory(0));
            let by_keys = |a: &Pair, b: &Pair| (&a.0, &a.1).cmp(&(&b.0, &b.1));
            in_parts.sort_by(by_keys);
            let mut sorted = expected.clone();
            sorted.sort_by(by_keys);
            prop_assert_eq!(in_parts, sorted);
            let short = contents.iter().filter(|(_, set)| set.len() + usize::from(K) <= shortest);
            prop_assert_eq!(store.pairs(query.clone()).unwrap().short(), short.count() as u64);

            let mut first = expected.clone();
            let is_first = |key: &String| contents.iter().any(|(keys, _)| keys[0] == *key);
            first.retain(|(a, b, ..)| is_first(a) && is_first(b));
            prop_assert_eq!(found(&store, query.clone().fold_copies(true)), first);

            let is_across = |a: &str, b: &str| a.starts_with("old") && b.starts_with("new");
            let across: Vec<_> = expected.into_iter().filter_map(|(a, b, containment, jaccard)| {
                let are_copies = contents.iter().any(|(keys, _)| keys.contains(&a) && keys.contains(&b));
                match (is_across(&a, &b), is_across(&b, &a)) {
                    (false, true) if are_copies => Some((b, a, containment, jaccard)),
                    (false, false) => None,
                    _ => Some((a, b, containment, jaccard)),
                }
            }).collect();
            prop_assert_eq!(found(&store, query.between("old/", "new/")), across);

            let query = ClusterQuery::new().containment(least).shortest(shortest);
            let clusters: Vec<(Vec<String>, Vec<f64>)> = store.clusters(query).unwrap().map(|cluster| {
                let members = cluster.unwrap().members.into_iter();
                members.map(|member| (member.key, member.containment.unwrap())).unzip()
            }).collect();
            prop_assert_eq!(clusters, trees(&contents, least, shortest));
            let query = query.linkage(Linkage::Representative);
            for threshold in [None, Some(threshold)] {
                let query = threshold.map_or(query, |threshold| query.threshold(threshold));
                let expected = represented(&contents, least, threshold, shortest);
                prop_assert_eq!(members(&store, query), expected);
            }
        }

        #[test]
        fn a_part_of_a_text_is_contained_in_it(words in 20_usize..60, start in 0_usize..30) {
            let words: Vec<String> = (0..words + start).map(|word| format!("w{word}")).collect();
            let (whole, part) = (words.join(" "), words[start..].join(" "));
            let (_folder, store, _) = make(&[String::new(), whole, part], 3, 1);
            let pairs = found(&store, PairQuery::new().containment(1.0));
            // The same text, if nothing is left out.
            prop_assert_eq!(pairs.len(), 1);
            prop_assert_eq!(pairs[0].2.to_bits(), 1.0_f64.to_bits());
        }
    }

    #[test]
    fn a_query_that_makes_no_sense_is_refused() {
        let (_folder, store, _) = make(&[String::from("one"), String::from("two")], 9, 1);
        let refusals = |containment| {
            let pairs = store.pairs(PairQuery::new().containment(containment)).err();
            let clusters = store
                .clusters(ClusterQuery::new().containment(containment))
                .err();
            [pairs, clusters].map(|error| error.map(|error| error.to_string()))
        };
        for wrong in [0.0, -0.5, 1.5, f64::NAN, f64::INFINITY] {
            for refusal in refusals(wrong) {
                let refusal = refusal.unwrap();
                assert!(refusal.contains("above 0 and at most 1"), "{refusal}");
            }
        }
        assert_eq!(refusals(1.0), [None, None]);

        let pairs = PairQuery::new().containment(0.8);
        let clusters = ClusterQuery::new().containment(0.8);
        let contradictions = [
            store.pairs(pairs.clone().threshold(0.8)).err(),
            store.clusters(clusters.threshold(0.8)).err(),
        ];
        for refusal in contradictions {
            let refusal = refusal.unwrap().to_string();
            assert!(
                refusal.contains("a query has either this or a"),
                "{refusal}"
            );
        }
        let folder = tempfile::tempdir().unwrap();
        let schema = Schema::builder().keep_shingles(false).build().unwrap();
        let store = Store::create(folder.path().join("bare"), &schema).unwrap();
        assert!(matches!(store.pairs(pairs), Err(Error::NoShingles)));
        assert!(matches!(store.clusters(clusters), Err(Error::NoShingles)));
        let exhaustive = ClusterQuery::new().exhaustive(true);
        assert!(matches!(store.clusters(exhaustive), Err(Error::NoShingles)));
    }
}
