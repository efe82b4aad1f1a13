//! Pairs and clusters, by comparing each text with every other.

use std::collections::BTreeMap;

use super::documents::{Model, THRESHOLD, jaccard};
use crate::store::groups::Linkage;

/// Two keys in order, and the similarity of their texts.
pub(super) type Pair = (String, String, f64);

/// A document of a cluster: its key, its similarity to the representative, and whether it is a copy of it.
pub(super) type Member = (String, f64, bool);

impl Model {
    /// All pairs that match, by their keys.
    pub(super) fn pairs(&self) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for (one, text) in self.texts() {
            for (other, with) in self.texts().range(one.clone()..).skip(1) {
                let jaccard = jaccard(text, with);
                if jaccard >= THRESHOLD {
                    pairs.push((one.clone(), other.clone(), jaccard));
                }
            }
        }
        pairs
    }

    /// The clusters of two documents or more, in the order of their representatives.
    pub(super) fn clusters(&self, linkage: Linkage) -> Vec<Vec<Member>> {
        let texts = self.contents();
        let representatives = match linkage {
            Linkage::Connected => connected(&texts),
            Linkage::Representative => represented(&texts),
        };
        let mut clusters: BTreeMap<usize, Vec<Member>> = BTreeMap::new();
        for (text, of) in texts.iter().zip(representatives) {
            let likeness = (jaccard(text, texts[of]), *text == texts[of]);
            let members = self.keys_of(text);
            let members = members.map(|key| (key.to_owned(), likeness.0, likeness.1));
            clusters.entry(of).or_default().extend(members);
        }
        let mut clusters: Vec<Vec<Member>> = clusters.into_values().collect();
        clusters.retain(|members| members.len() > 1);
        clusters
    }
}

/// For each text, the first one that matching pairs connect it with.
fn connected(texts: &[&str]) -> Vec<usize> {
    let mut roots: Vec<usize> = (0..texts.len()).collect();
    for one in 0..texts.len() {
        for other in 0..one {
            if jaccard(texts[one], texts[other]) >= THRESHOLD {
                let (low, high) = (roots[one].min(roots[other]), roots[one].max(roots[other]));
                let joined = roots.iter_mut().filter(|root| **root == high);
                joined.for_each(|root| *root = low);
            }
        }
    }
    roots
}

/// For each text, the most similar representative before it, the first one of several; or the text itself.
fn represented(texts: &[&str]) -> Vec<usize> {
    let mut roots: Vec<usize> = Vec::new();
    for one in 0..texts.len() {
        let mut best = (THRESHOLD, one);
        for other in (0..one).rev().filter(|&other| roots[other] == other) {
            let jaccard = jaccard(texts[one], texts[other]);
            if jaccard >= best.0 {
                best = (jaccard, other);
            }
        }
        roots.push(best.1);
    }
    roots
}
