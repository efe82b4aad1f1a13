//! Real corpora with exact truth, if they are present.
//!
//! `DEDUPDB_CORPORA` names their folder, `../shared/data` by default. The texts are not part of the
//! project; where they are absent the tests say so and pass.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use dedupdb::{
    Input, Query, Schema, Store,
    groups::{Cluster, PairQuery},
    sketching::{ShingleSet, Shingler, Shingling},
};
use rayon::prelude::*;
use tempfile::TempDir;

use crate::clusters::check_against_pairs;
use crate::text::reference::terms;

type Pairs = BTreeMap<(String, String), f64>;
type Group = BTreeSet<String>;

/// A decompressed file from the folder of the corpora, or a notice that it is absent.
fn corpus(name: &str) -> Option<Box<dyn Read>> {
    let folder = std::env::var_os("DEDUPDB_CORPORA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data"),
        PathBuf::from,
    );
    let path = folder.join(name);
    let Ok(file) = File::open(&path) else {
        println!("skipped: {} is not here", path.display());
        return None;
    };
    let decoder = ruzstd::decoding::StreamingDecoder::new(io::BufReader::new(file)).unwrap();
    Some(Box::new(decoder))
}

/// The files of an archive: their names without folders, and their bytes.
fn files(archive: impl Read) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in tar::Archive::new(archive).entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().into_owned();
        if entry.header().entry_type().is_file() {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            let name = path.file_name().unwrap().to_str().unwrap();
            files.push((name.to_owned(), bytes));
        }
    }
    files
}

fn truth(name: &str) -> Pairs {
    let mut text = String::new();
    corpus(name).unwrap().read_to_string(&mut text).unwrap();
    let pairs = text.lines().map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        (ordered(fields[0], fields[1]), fields[2].parse().unwrap())
    });
    pairs.collect()
}

fn ordered(a: &str, b: &str) -> (String, String) {
    let (a, b) = if a < b { (a, b) } else { (b, a) };
    (a.to_owned(), b.to_owned())
}

/// What the store of a corpus finds.
struct Found {
    /// By a query for each document.
    queried: Pairs,
    /// From the buckets.
    paired: Pairs,
    /// By comparing shingles.
    exhaustive: Pairs,
}

/// Adds the documents to a new store.
fn stored(inputs: Vec<Input>) -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), &Schema::default()).unwrap();
    let mut writer = store.writer().unwrap();
    let mut inputs = inputs.into_iter().peekable();
    while inputs.peek().is_some() {
        for outcome in writer
            .add_all(inputs.by_ref().take(4000).collect())
            .unwrap()
        {
            outcome.unwrap();
        }
    }
    writer.commit().unwrap();
    drop(writer);
    (folder, store)
}

/// Finds the similar documents in three ways.
fn found(store: &Store) -> Found {
    let documents = store.documents().unwrap();
    let keys: Vec<String> = documents.map(|document| document.unwrap().key).collect();
    let pairs: Vec<((String, String), f64)> = keys
        .par_iter()
        .flat_map_iter(|key| {
            let matches = store.query(&Query::key(key)).unwrap();
            matches
                .into_iter()
                .map(|found| (ordered(key, &found.key), found.jaccard.unwrap()))
        })
        .collect();
    let paired = |query| {
        let pairs = store.pairs(query).unwrap().map(|pair| {
            let pair = pair.unwrap();
            (ordered(&pair.key_a, &pair.key_b), pair.jaccard.unwrap())
        });
        pairs.collect()
    };
    Found {
        queried: pairs.into_iter().collect(),
        paired: paired(PairQuery::new()),
        exhaustive: paired(PairQuery::new().exhaustive(true)),
    }
}

impl Found {
    /// What both ways through the buckets found. An exhaustive search must find all of it.
    fn through_buckets(&self) -> &Pairs {
        assert_eq!(self.queried, self.paired);
        let (recall, missed) = compare(&self.paired, &self.exhaustive);
        assert_eq!(missed, Vec::<&(String, String)>::new());
        println!(
            "recall {recall:.5} of {} by an exhaustive search",
            self.exhaustive.len()
        );
        &self.queried
    }
}

/// The share of the true pairs that were found, and the pairs that were found but are not true.
fn compare<'a>(found: &'a Pairs, truth: &Pairs) -> (f64, Vec<&'a (String, String)>) {
    let hits = truth
        .keys()
        .filter(|pair| found.contains_key(*pair))
        .count();
    let extra = found.keys().filter(|pair| !truth.contains_key(*pair));
    (hits as f64 / truth.len() as f64, extra.collect())
}

#[test]
fn the_near_copies_of_24008_messages_are_found() {
    let Some(archive) = corpus("lsh_data.tar.zst") else {
        return;
    };
    let mut inputs = Vec::new();
    // The truth decodes bytes that are not UTF-8 differently.
    let mut replaced = BTreeSet::new();
    for (key, bytes) in files(archive) {
        if std::str::from_utf8(&bytes).is_err() {
            replaced.insert(key.clone());
        }
        inputs.push(Input::new(key, String::from_utf8_lossy(&bytes)));
    }
    assert_eq!(inputs.len(), 24_008);
    let truth = truth("lsh_data_truth_w5_j80.tsv.zst");
    let (_folder, store) = stored(inputs);
    let all = found(&store);
    let (recall, extra) = compare(all.through_buckets(), &truth);
    println!(
        "recall {recall:.5}, {} pairs that are not true",
        extra.len()
    );
    assert!(recall >= 0.999, "{recall}");
    assert_eq!(extra, Vec::<&(String, String)>::new());
    assert!(all.exhaustive.keys().eq(truth.keys()));
    assert_eq!(replaced.len(), 96);
    for (pair, jaccard) in &all.exhaustive {
        let exact = (jaccard - truth[pair]).abs() < 1e-6;
        let explained = replaced.contains(&pair.0) || replaced.contains(&pair.1);
        assert!(exact || explained, "{pair:?}: {jaccard}");
    }
    let others = other_groups(&check_against_pairs(&store), &truth);
    assert_eq!(others, Vec::<Group>::new());
}

/// The text of a message: in UTF-8, or else in Latin-1, where each byte is the character with its number.
fn message(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().copied().map(char::from).collect(),
    }
}

#[test]
fn the_terms_of_1001_messages_are_the_known_ones() {
    let Some(archive) = corpus("space.tar.zst") else {
        return;
    };
    let texts: Vec<String> = files(archive)
        .iter()
        .map(|(_, bytes)| message(bytes))
        .collect();
    assert_eq!(texts.len(), 1001);
    let by_definition = texts
        .iter()
        .flat_map(|text| terms(&text.to_lowercase()))
        .collect::<BTreeSet<String>>();
    assert_eq!(by_definition.len(), 32_804);
    // With this many terms, one draw in eight has two with the same 32-bit hash. Here none have, so counts of hashes
    // are counts of terms.
    let shingler = Shingler::new(Shingling::Term, true, true).unwrap();
    let sets: Vec<ShingleSet> = texts
        .iter()
        .map(|text| shingler.shingles(text).unwrap())
        .collect();
    let all = sets.iter().flat_map(|set| set.as_slice().iter().copied());
    assert_eq!(ShingleSet::from_hashes(all.collect()).len(), 32_804);
    let pairs = texts.len() * (texts.len() - 1) / 2;
    let sum: f64 = (0..sets.len())
        .into_par_iter()
        .map(|i| {
            let earlier = sets[..i].iter().map(|other| sets[i].jaccard(other));
            earlier.sum::<f64>()
        })
        .sum();
    let mean = sum / pairs as f64;
    assert!((mean - 0.088_502).abs() < 1e-6, "{mean}");
}

/// Scripts whose words the truth splits differently: it has no rule for scripts without spaces, and leaves combining
/// marks out of words.
const OTHER_TOKENS: [&str; 13] = [
    "thai/", "/zh", "/ja", "/th/", ".th/", ".lo/", ".zh", ".ja", "/as/", "/hi/", "/kn/", "/mr/",
    "/fa/",
];

#[test]
fn the_near_copies_of_34000_mixed_documents_are_found() {
    let Some(mut lines) = corpus("mixed_34k.jsonl.zst") else {
        return;
    };
    let mut text = String::new();
    lines.read_to_string(&mut text).unwrap();
    let inputs: Vec<Input> = text.lines().map(record).collect();
    assert_eq!(inputs.len(), 34_000);
    let texts: BTreeMap<String, String> = inputs
        .iter()
        .map(|input| (input.key().to_owned(), input.text().unwrap().to_owned()))
        .collect();
    let truth = truth("mixed_34k_truth_w5_j80.tsv.zst");
    let (_folder, store) = stored(inputs);
    let all = found(&store);
    let found = all.through_buckets();
    let (recall, _) = compare(found, &truth);
    // True pairs with a similarity below 0.8 in this crate's tokens are not misses of the store.
    let shingler = Shingler::new(Shingling::default(), true, true).unwrap();
    let shingles = |key: &str| shingler.shingles(&texts[key]).unwrap();
    let mut own = truth.clone();
    own.retain(|pair, _| {
        found.contains_key(pair) || shingles(&pair.0).jaccard(&shingles(&pair.1)) >= 0.8
    });
    assert!(own.keys().all(|pair| all.exhaustive.contains_key(pair)));
    let (_, extra) = compare(&all.exhaustive, &truth);
    let (own_recall, _) = compare(found, &own);
    println!("recall {recall:.5} of {}", truth.len());
    println!(
        "recall {own_recall:.5} of {} with the same tokens",
        own.len()
    );
    assert!(recall >= 0.99, "{recall}");
    let small = without_largest_group(&truth);
    let (recall, _) = compare(found, &small);
    println!(
        "recall {recall:.5} of {} without the largest group",
        small.len()
    );
    assert!(recall >= 0.99, "{recall}");
    own.retain(|pair, _| small.contains_key(pair));
    let (own_recall, _) = compare(found, &own);
    println!("recall {own_recall:.5} of {}, both", own.len());
    assert!(own_recall >= 0.995, "{own_recall}");
    for pair in extra {
        let explained = has_other_tokens(&pair.0) || has_other_tokens(&pair.1);
        assert!(explained, "{pair:?} is not a true pair");
    }
    check_clusters(&store, &truth);
}

fn has_other_tokens(key: &str) -> bool {
    OTHER_TOKENS.iter().any(|part| key.contains(part))
}

/// The groups that true pairs connect and that are not clusters.
fn other_groups(clusters: &[Cluster], truth: &Pairs) -> Vec<Group> {
    let parents = groups(truth);
    let mut members: BTreeMap<&str, Group> = BTreeMap::new();
    for (a, b) in truth.keys() {
        let group = members.entry(root(&parents, a)).or_default();
        group.extend([a.clone(), b.clone()]);
    }
    let keys = |cluster: &Cluster| cluster.members.iter().map(|m| m.key.clone()).collect();
    let clusters: BTreeSet<Group> = clusters.iter().map(keys).collect();
    let all = members.len();
    let others = members
        .into_values()
        .filter(|group| !clusters.contains(group));
    let others: Vec<Group> = others.collect();
    println!("{} of {all} true groups are clusters", all - others.len());
    others
}

/// Checks that the clusters are what the store's pairs connect, and that true pairs connect each.
fn check_clusters(store: &Store, truth: &Pairs) {
    let clusters = check_against_pairs(store);
    let group = groups(truth);
    let (mut checked, mut largest) = (0, 0);
    for cluster in &clusters {
        let keys: Vec<&str> = cluster.members.iter().map(|m| m.key.as_str()).collect();
        largest = largest.max(keys.len());
        if keys.iter().any(|key| has_other_tokens(key)) {
            continue;
        }
        checked += 1;
        let first = root(&group, keys[0]);
        let strange = keys.iter().find(|key| root(&group, key) != first);
        assert_eq!(strange, None, "{keys:?}");
    }
    println!(
        "{} clusters, the largest of {largest}, {checked} of them without other tokens",
        clusters.len()
    );
    for group in other_groups(&clusters, truth) {
        let explained = group.iter().any(|key| has_other_tokens(key));
        assert!(explained, "{group:?} is no cluster");
    }
    assert!(checked * 2 > clusters.len());
}

fn record(line: &str) -> Input {
    let value: serde_json::Value = serde_json::from_str(line).unwrap();
    Input::new(
        value["id"].as_str().unwrap(),
        value["text"].as_str().unwrap(),
    )
}

/// For each key that is not the root of its group, connected by true pairs, its parent.
fn groups(truth: &Pairs) -> BTreeMap<&str, &str> {
    let mut group: BTreeMap<&str, &str> = BTreeMap::new();
    for (a, b) in truth.keys() {
        let (a, b) = (root(&group, a), root(&group, b));
        if a != b {
            group.insert(a, b);
        }
    }
    group
}

/// The pairs outside the group that has the most of them.
fn without_largest_group(truth: &Pairs) -> Pairs {
    let group = groups(truth);
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for (a, _) in truth.keys() {
        *sizes.entry(root(&group, a)).or_default() += 1;
    }
    let largest = sizes.iter().max_by_key(|(_, size)| **size).unwrap().0;
    let others = truth
        .iter()
        .filter(|((a, _), _)| root(&group, a) != *largest);
    others.map(|(pair, j)| (pair.clone(), *j)).collect()
}

/// Follows a key's parents to the root of its group.
fn root<'a>(group: &BTreeMap<&'a str, &'a str>, mut key: &'a str) -> &'a str {
    while let Some(&parent) = group.get(key) {
        key = parent;
    }
    key
}
