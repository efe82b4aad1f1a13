//! Documents that are linked by shared passages.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use dedupdb::Store;
use dedupdb::groups::{Clusters, Pairs};
use dedupdb::overlap::PassageQuery;
use dedupdb::sketching::ShingleSet;

use super::sources::MANY;
use crate::reread::{TextFiles, file_of_document, unique};
use crate::{EachEvent, EndReason, Error, ForEach, Repeats, Source, SourcedText};

/// Which passages link documents.
#[derive(Clone, Debug, Default)]
pub(super) struct LinkingPassages {
    /// The number of tokens of the shortest one, if it is not the store's.
    pub(super) at_least: Option<u32>,
    /// Whether all documents are compared, however many share a part of a text.
    pub(super) all: bool,
}

/// A document of a set.
#[derive(Debug)]
pub(super) struct LinkedDocument {
    pub(super) key: String,
    pub(super) longest: Option<LongestPassage>,
}

/// The longest passage that a document shares with another one.
#[derive(Clone, Debug)]
pub(super) struct LongestPassage {
    pub(super) tokens: u32,
    /// The key of the other document.
    pub(super) with: String,
}

/// The documents that share a passage with a text.
#[derive(Debug)]
struct SharingDocuments {
    /// The hash of the text.
    hash: [u8; 32],
    /// Their keys, and the number of tokens of the longest passage of each.
    keys: BTreeMap<String, u32>,
}

/// Sets of documents, which are joined when a link between them is found.
#[derive(Debug, Default)]
pub(super) struct LinkedDocuments {
    keys: Vec<String>,
    numbers: HashMap<String, usize>,
    /// For each document, an earlier one of its set, or itself.
    parents: Vec<usize>,
    /// For each document, the length of the longest passage by which it is linked, and the number of the other document.
    longest: Vec<Option<(u32, usize)>>,
    /// The documents with each text whose passages were not looked for.
    unread: HashMap<[u8; 32], Vec<usize>>,
}

impl LinkedDocuments {
    /// Links the documents with the same text, unless it has nothing but what is ignored.
    pub(super) fn of(
        store: &Store,
        ignored: Option<&ShingleSet>,
    ) -> dedupdb::Result<LinkedDocuments> {
        let mut linked = LinkedDocuments::default();
        for document in store.documents()? {
            let document = document?;
            let number = linked.keys.len();
            linked.parents.push(number);
            linked.longest.push(None);
            let copies = linked.unread.entry(document.hash).or_default();
            copies.push(number);
            let first = copies[0];
            let is_copy = first != number
                && match ignored {
                    Some(ignored) => !left(&store.shingles(&document)?, ignored).is_empty(),
                    None => true,
                };
            linked.numbers.insert(document.key.clone(), number);
            linked.keys.push(document.key);
            if is_copy {
                linked.join(first, number);
            }
        }
        Ok(linked)
    }

    /// Links the documents of each cluster.
    pub(super) fn by_clusters(&mut self, clusters: Clusters) -> dedupdb::Result<()> {
        for cluster in clusters {
            let members = cluster?.members;
            let keys: Vec<&str> = members.iter().map(|member| member.key.as_str()).collect();
            keys.windows(2)
                .for_each(|pair| self.join_keys(pair[0], pair[1]));
        }
        Ok(())
    }

    /// Links the documents of each pair.
    pub(super) fn by_pairs(&mut self, pairs: Pairs) -> dedupdb::Result<()> {
        for pair in pairs {
            let pair = pair?;
            self.join_keys(&pair.key_a, &pair.key_b);
        }
        Ok(())
    }

    /// Reads the texts again, and links those that share a passage which fewer than [`MANY`] others have.
    ///
    /// # Errors
    ///
    /// Those of [`Store::passages`]; the system allows no further thread, or the work is stopped.
    pub(super) fn by_passages(
        &mut self,
        asked: (&Store, Option<&ShingleSet>),
        passages: &LinkingPassages,
        files: TextFiles<'_>,
    ) -> Result<(), Error> {
        let mut named = Vec::new();
        for document in asked.0.documents()? {
            named.extend(file_of_document(&document?));
        }
        for paths in [unique(named.into_iter()), files.sources()] {
            if paths.is_empty() || self.unread.is_empty() {
                continue;
            }
            let options = files.options.clone().repeats(Repeats::Allow).strict(false);
            let mut found = Vec::new();
            let each = ForEach::new(paths.iter().map(Source::path))
                .reading(options)
                .progress(&files.progress.part());
            let read = each.run(
                |document| self.sharing(asked, passages, document),
                |event| {
                    if let EachEvent::Document(_, Some(links)) = event {
                        found.push(links);
                    }
                },
            )?;
            if read.ended == EndReason::Stopped {
                return Err(dedupdb::Error::Stopped.into());
            }
            for SharingDocuments { hash, keys } in found {
                let Some(copies) = self.unread.remove(&hash) else {
                    continue;
                };
                for (key, tokens) in keys {
                    // A document that was added meanwhile is ignored.
                    if let Some(&other) = self.numbers.get(&key) {
                        self.join(copies[0], other);
                        self.meet(other, (tokens, copies[0]));
                        for &copy in &copies {
                            self.meet(copy, (tokens, other));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the documents that share a passage with a text which few have. `None` if no document has the text, or its
    /// passages are known.
    fn sharing(
        &self,
        (store, ignored): (&Store, Option<&ShingleSet>),
        passages: &LinkingPassages,
        document: &SourcedText,
    ) -> dedupdb::Result<Option<SharingDocuments>> {
        let hash = document.hash();
        let Some(copies) = self.unread.get(&hash) else {
            return Ok(None);
        };
        let own = copies.iter().map(|&copy| self.keys[copy].clone());
        let own: Vec<String> = own.collect();
        let mut query = PassageQuery::text(document.text()).except(&own);
        if let Some(tokens) = passages.at_least {
            query = query.at_least(tokens);
        }
        if passages.all {
            query = query.all();
        }
        if let Some(ignored) = ignored {
            query = query.ignore(ignored);
        }
        let found = store.passages(&query)?.passages.into_iter();
        let few = found.filter(|passage| !passage.is_common && passage.documents < MANY.into());
        let mut keys = BTreeMap::new();
        for passage in few {
            // The longest passages come first.
            keys.entry(passage.key).or_insert(passage.matched);
        }
        Ok(Some(SharingDocuments { hash, keys }))
    }

    /// Returns the number of documents whose texts were not at hand.
    pub(super) fn unread(&self) -> u64 {
        self.unread.values().map(|copies| copies.len() as u64).sum()
    }

    /// Returns the sets of at least `least` documents, in the order of their first ones.
    pub(super) fn groups(mut self, least: usize) -> Vec<Vec<LinkedDocument>> {
        let mut groups: Vec<Vec<LinkedDocument>> = Vec::new();
        groups.resize_with(self.keys.len(), Vec::new);
        for number in 0..self.keys.len() {
            let first = self.first(number);
            let longest = self.longest[number].map(|(tokens, other)| LongestPassage {
                tokens,
                with: self.keys[other].clone(),
            });
            let key = self.keys[number].clone();
            groups[first].push(LinkedDocument { key, longest });
        }
        groups.retain(|group| group.len() >= least);
        groups
    }

    /// Keeps the longer passage of a document; of two equal ones, that with the earlier document.
    fn meet(&mut self, number: usize, (tokens, other): (u32, usize)) {
        let longest = &mut self.longest[number];
        if longest.is_none_or(|known| (tokens, Reverse(other)) > (known.0, Reverse(known.1))) {
            *longest = Some((tokens, other));
        }
    }

    /// Joins two documents. One that was added meanwhile is left out.
    fn join_keys(&mut self, a: &str, b: &str) {
        if let (Some(&a), Some(&b)) = (self.numbers.get(a), self.numbers.get(b)) {
            self.join(a, b);
        }
    }

    fn join(&mut self, number: usize, other: usize) {
        let (a, b) = (self.first(number), self.first(other));
        self.parents[a.max(b)] = a.min(b);
    }

    /// The first document of a set.
    fn first(&mut self, mut number: usize) -> usize {
        while self.parents[number] != number {
            self.parents[number] = self.parents[self.parents[number]];
            number = self.parents[number];
        }
        number
    }
}

/// Returns what a set has besides what is ignored.
pub(super) fn left(shingles: &ShingleSet, ignored: &ShingleSet) -> ShingleSet {
    let shingles = shingles.as_slice().iter().copied();
    let left = shingles.filter(|shingle| ignored.as_slice().binary_search(shingle).is_err());
    ShingleSet::from_hashes(left.collect())
}
