//! The answers of a store, and those of the model.

use std::time::SystemTime;

use super::documents::{Model, Passage};
use super::linked::{Member, Pair};
use super::step::{Text, key};
use crate::clock;
use crate::store::Cluster;
use crate::store::find::Query;
use crate::store::groups::{ClusterQuery, Linkage, PairQuery};
use crate::store::handle::Store;
use crate::store::overlap::PassageQuery;

/// A question that one commit answers.
#[derive(Clone, Debug)]
pub(super) enum Question {
    Documents,
    Counts,
    Pairs {
        exhaustive: bool,
    },
    Clusters(Linkage),
    /// The documents that match the text, except the one with the key.
    Like(String, String),
    /// The passages of the text, without those of the document with the key.
    Passages(String, String),
}

/// What is stored of a document.
#[derive(Debug, PartialEq)]
pub(super) struct Shown {
    key: String,
    is_published: bool,
    source: Option<String>,
    last_seen: SystemTime,
}

#[derive(Debug, PartialEq)]
pub(super) enum Answer {
    Documents(Vec<Shown>),
    Counts { documents: usize, contents: usize },
    Pairs(Vec<Pair>),
    Clusters(Vec<Vec<Member>>),
    Like(Vec<(String, f64)>),
    Passages(Vec<Passage>),
}

impl Question {
    /// One question of each kind that is not about a text.
    const KINDS: [Question; 6] = [
        Question::Documents,
        Question::Counts,
        Question::Pairs { exhaustive: false },
        Question::Pairs { exhaustive: true },
        Question::Clusters(Linkage::Connected),
        Question::Clusters(Linkage::Representative),
    ];

    /// The questions in turn: one about a text after each of another kind.
    pub(super) fn nth(number: usize) -> Question {
        if number.is_multiple_of(2) {
            return Question::KINDS[number / 2 % Question::KINDS.len()].clone();
        }
        let texts: Vec<Text> = Text::all().collect();
        let text = texts[number * 31 % texts.len()].words();
        let except = u8::try_from(number % 16).unwrap();
        let except = key(except);
        if number % 4 == 1 {
            Question::Like(except, text)
        } else {
            Question::Passages(except, text)
        }
    }

    pub(super) fn ask(&self, store: &Store) -> Answer {
        match self {
            Question::Documents => {
                let documents = store.documents().unwrap();
                let documents = documents.map(|found| {
                    let found = found.unwrap();
                    Shown {
                        key: found.key,
                        is_published: found.is_published,
                        source: found.source,
                        last_seen: found.last_seen,
                    }
                });
                Answer::Documents(documents.collect())
            }
            Question::Counts => {
                let stats = store.stats().unwrap();
                Answer::Counts {
                    documents: usize::try_from(stats.documents).unwrap(),
                    contents: usize::try_from(stats.contents).unwrap(),
                }
            }
            Question::Pairs { exhaustive } => {
                let query = PairQuery::new().exhaustive(*exhaustive);
                let pairs = store.pairs(query).unwrap().map(|pair| {
                    let pair = pair.unwrap();
                    (pair.key_a, pair.key_b, pair.jaccard.unwrap())
                });
                let mut pairs: Vec<Pair> = pairs.collect();
                pairs.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
                Answer::Pairs(pairs)
            }
            Question::Clusters(linkage) => {
                let query = ClusterQuery::new().linkage(*linkage);
                let clusters = store.clusters(query).unwrap();
                Answer::Clusters(clusters.map(|cluster| members(cluster.unwrap())).collect())
            }
            Question::Like(except, text) => {
                let matches = store.query(&Query::text(text).except(except)).unwrap();
                let matches = matches.into_iter().map(|m| (m.key, m.jaccard.unwrap()));
                Answer::Like(matches.collect())
            }
            Question::Passages(except, text) => Answer::Passages(passages(store, except, text)),
        }
    }

    pub(super) fn expect(&self, model: &Model) -> Answer {
        match self {
            Question::Documents => {
                let documents = model.texts().keys().map(|key| Shown {
                    key: key.clone(),
                    is_published: !model.unpublished().contains(key),
                    source: model.source(key).map(str::to_owned),
                    last_seen: clock::day(model.last_seen(key)),
                });
                Answer::Documents(documents.collect())
            }
            Question::Counts => Answer::Counts {
                documents: model.texts().len(),
                contents: model.contents().len(),
            },
            Question::Pairs { .. } => Answer::Pairs(model.pairs()),
            Question::Clusters(linkage) => Answer::Clusters(model.clusters(*linkage)),
            Question::Like(except, text) => Answer::Like(model.matches(except, text)),
            Question::Passages(except, text) => Answer::Passages(model.passages(except, text)),
        }
    }
}

fn members(cluster: Cluster) -> Vec<Member> {
    assert_eq!(cluster.representative, cluster.members[0].key);
    let members = cluster.members.into_iter();
    let members = members.map(|m| (m.key, m.jaccard.unwrap(), m.exact_copy));
    members.collect()
}

/// The passages of a text, sorted, without those of the document `except`.
fn passages(store: &Store, except: &str, text: &str) -> Vec<Passage> {
    let except = [except.to_owned()];
    let query = PassageQuery::text(text).except(&except);
    let found = store.passages(&query).unwrap();
    assert!(found.common.is_empty());
    let found = found.passages.into_iter();
    let mut found: Vec<Passage> = found
        .map(|p| (p.key, p.tokens.start, p.tokens.end))
        .collect();
    found.sort();
    found
}

/// Asks the store everything, and compares its answers with the model's.
pub(crate) fn check(store: &Store, model: &Model) {
    for question in &Question::KINDS {
        assert_eq!(question.ask(store), question.expect(model), "{question:?}");
    }
    for (key, text) in model.texts() {
        assert_eq!(
            passages(store, key, text),
            model.passages(key, text),
            "{key}"
        );
        let expected = model.matches(key, text);
        for query in [Query::key(key), Query::text(text).except(key)] {
            let matches = store.query(&query).unwrap();
            let found = matches.iter().map(|m| (m.key.clone(), m.jaccard.unwrap()));
            assert_eq!(found.collect::<Vec<_>>(), expected, "{query:?}");
            let limited = store.query(&query.limit(2)).unwrap();
            assert_eq!(limited, matches[..matches.len().min(2)]);
        }
    }
}
