//! The documents that the store should hold.

use std::collections::{BTreeMap, BTreeSet};

use crate::clock;
use crate::codec::low32;
use crate::store::offer::{Change, Relation};
use crate::store::write::MergeSummary;
use crate::text::{ShingleSet, Shingler, Shingling};

pub(super) const THRESHOLD: f64 = 0.5;

pub(super) const SHINGLING: Shingling = Shingling::Word(3);

pub(super) const PASSAGE: u32 = 6;

/// A passage: the key of its document, and its first word and the word behind its last in the text that was asked about.
pub(super) type Passage = (String, u32, u32);

/// When a text was added: later texts have higher ids.
type Birth = u64;

/// The documents, and when each of their texts was added.
#[derive(Clone, Default)]
pub(crate) struct Model {
    texts: BTreeMap<String, String>,
    births: BTreeMap<String, Birth>,
    next: Birth,
    /// The keys of the documents of the open run.
    unpublished: BTreeSet<String>,
    /// The files that documents came from.
    sources: BTreeMap<String, &'static str>,
    /// The days when documents were last offered.
    seen: BTreeMap<String, i64>,
}

/// The file of a document, if it came from one.
pub(super) type Source = Option<&'static str>;

/// What admission by a writer depends on.
#[derive(Clone, Copy)]
pub(super) struct Admitted {
    /// Texts added since then are the writer's own.
    start: Birth,
    /// Whether it has begun a run.
    pub(super) in_run: bool,
}

/// The expected outcome of admitting a document.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Admits {
    New {
        key: String,
    },
    /// Its text is there, and has no words.
    Wordless,
    Duplicate {
        key: String,
        jaccard: f64,
        is_of_this_writer: bool,
        is_copy: bool,
    },
}

impl Model {
    pub(crate) fn texts(&self) -> &BTreeMap<String, String> {
        &self.texts
    }

    /// The distinct texts of the documents, in the order in which they were added.
    pub(super) fn contents(&self) -> Vec<&str> {
        let mut contents: Vec<&str> = self.births.keys().map(String::as_str).collect();
        contents.sort_by_key(|text| self.births[*text]);
        contents
    }

    /// The keys of the documents with a text, in order.
    pub(super) fn keys_of(&self, text: &str) -> impl Iterator<Item = &str> {
        let of_text = self.texts.iter().filter(move |(_, of)| *of == text);
        of_text.map(|(key, _)| key.as_str())
    }

    /// The passages of a text, sorted, without those of the document `except`.
    pub(super) fn passages(&self, except: &str, text: &str) -> Vec<Passage> {
        let asked = shingler().in_order(text).unwrap();
        let tokens = low32(shingler().places(text).len() as u64);
        let mut passages = Vec::new();
        for (key, stored) in self.texts.iter().filter(|(key, _)| *key != except) {
            let stored = shingles(stored);
            let has = |shingle: &u32| stored.as_slice().contains(shingle);
            let mut start = 0;
            for run in asked.chunk_by(|a, b| has(a) == has(b)) {
                let end = start + low32(run.len() as u64);
                let last = tokens.min(end + u32::from(SHINGLING.k()) - 1);
                if has(&run[0]) && last - start >= PASSAGE {
                    passages.push((key.clone(), start, last));
                }
                start = end;
            }
        }
        passages.sort();
        passages
    }

    /// The keys of the documents that are not published, in order.
    pub(crate) fn unpublished(&self) -> &BTreeSet<String> {
        &self.unpublished
    }

    /// The file that a document came from.
    pub(super) fn source(&self, key: &str) -> Option<&'static str> {
        self.sources.get(key).copied()
    }

    /// The day when a document was last offered.
    pub(super) fn last_seen(&self, key: &str) -> i64 {
        self.seen[key]
    }

    /// Moves on the day of a document, if there is one.
    fn see(&mut self, key: &str, day: i64) {
        if let Some(seen) = self.seen.get_mut(key) {
            *seen = day.max(*seen);
        }
    }

    pub(super) fn touch(&mut self, key: &str) -> bool {
        self.unpublished.remove(key);
        self.see(key, today());
        self.texts.contains_key(key)
    }

    /// Forgets the documents of the open run, and returns their number.
    pub(crate) fn forget_run(&mut self) -> u64 {
        let keys = std::mem::take(&mut self.unpublished);
        keys.iter().filter(|key| self.remove(key)).count() as u64
    }

    /// Publishes the documents of the open run.
    pub(crate) fn publish_run(&mut self) {
        self.unpublished.clear();
    }

    pub(crate) fn remove(&mut self, key: &str) -> bool {
        self.unpublished.remove(key);
        self.sources.remove(key);
        self.seen.remove(key);
        let Some(text) = self.texts.remove(key) else {
            return false;
        };
        if self.keys_of(&text).next().is_none() {
            self.births.remove(&text);
        }
        true
    }

    pub(super) fn rename(&mut self, old: &str, new: &str) -> bool {
        let Some(text) = self.texts.get(old).cloned() else {
            return false;
        };
        if old != new {
            let same = self.texts.get(new) == Some(&text);
            let seen = self.seen.get(new).copied().filter(|_| same);
            let seen = seen.max(Some(self.seen[old]));
            self.set(new, &text, self.source(old));
            self.seen.extend(seen.map(|seen| (new.to_owned(), seen)));
            self.remove(old);
        }
        true
    }

    fn set(&mut self, key: &str, text: &str, source: Source) {
        self.unpublished.remove(key);
        self.sources.remove(key);
        if let Some(source) = source {
            self.sources.insert(key.to_owned(), source);
        }
        let seen = self.seen.entry(key.to_owned()).or_insert(i64::MIN);
        *seen = today().max(*seen);
        if !self.births.contains_key(text) {
            self.births.insert(text.to_owned(), self.next);
            self.next += 1;
        }
        let old = self.texts.insert(key.to_owned(), text.to_owned());
        if let Some(old) = old.filter(|old| self.keys_of(old).next().is_none()) {
            self.births.remove(&old);
        }
    }

    /// The documents other than `key` that match `text`: best first, ties by key.
    pub(super) fn matches(&self, key: &str, text: &str) -> Vec<(String, f64)> {
        let others = self.texts.iter().filter(|(other, _)| *other != key);
        let mut matches: Vec<(String, f64)> = others
            .map(|(other, stored)| (other.clone(), jaccard(text, stored)))
            .filter(|(_, jaccard)| *jaccard >= THRESHOLD)
            .collect();
        matches.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        matches
    }

    /// The document other than `key` that `text` is reported to duplicate: the first one with the same text, or else
    /// the best match.
    pub(super) fn earlier(&self, key: &str, text: &str) -> Option<(String, f64)> {
        let copy = self.keys_of(text).find(|other| *other != key);
        let copy = copy.map(|copy| (copy.to_owned(), 1.0));
        copy.or_else(|| self.matches(key, text).into_iter().next())
    }

    /// Adds a document that came from no file.
    pub(crate) fn add(&mut self, key: &str, text: &str, unique: bool) -> (Change, Relation) {
        self.add_from(key, text, None, unique)
    }

    /// Adds a document of a file.
    pub(super) fn add_from(
        &mut self,
        key: &str,
        text: &str,
        source: Source,
        unique: bool,
    ) -> (Change, Relation) {
        let stored = self.source(key);
        let is_other_text = self.texts.get(key).is_some_and(|old| old != text);
        if is_other_text && source.is_some() && stored.is_some() && source != stored {
            return (Change::Refused, Relation::Novel);
        }
        self.place(key, text, source, unique)
    }

    fn place(&mut self, key: &str, text: &str, source: Source, unique: bool) -> (Change, Relation) {
        let old = self.texts.get(key);
        if old.is_some_and(|old| old == text) {
            self.see(key, today());
            self.unpublished.remove(key);
            if let Some(source) = source {
                self.sources.entry(key.to_owned()).or_insert(source);
            }
            return (Change::Unchanged, Relation::Novel);
        }
        let relation = if self.keys_of(text).any(|other| other != key) {
            Relation::ExactCopy
        } else if self.matches(key, text).is_empty() {
            Relation::Novel
        } else {
            Relation::NearDuplicate
        };
        if unique && relation != Relation::Novel {
            self.see(key, today());
            return (Change::KeptOut, relation);
        }
        let change = if old.is_some() {
            Change::Updated
        } else {
            Change::Added
        };
        self.set(key, text, source);
        (change, relation)
    }

    /// Adds the documents of another store, in the order in which that store got them.
    pub(crate) fn merge(&mut self, other: &Model) -> MergeSummary {
        let mut merged = MergeSummary::default();
        let now = clock::now();
        for text in other.contents() {
            for key in other.keys_of(text) {
                let is_copy = self.keys_of(text).next().is_some();
                clock::set(other.last_seen(key) * clock::DAY);
                let change = self.place(key, text, other.source(key), false).0;
                clock::set(now);
                match change {
                    Change::Added => merged.added += 1,
                    Change::Updated => {
                        merged.updated += 1;
                        merged.updated_keys.push(key.to_owned());
                    }
                    Change::Unchanged | Change::KeptOut | Change::Refused => {
                        merged.unchanged += 1;
                        continue;
                    }
                }
                merged.copies += u64::from(is_copy);
            }
        }
        merged
    }

    /// What admission by a writer made now depends on.
    pub(super) fn admitted(&self) -> Admitted {
        Admitted {
            start: self.next,
            in_run: false,
        }
    }

    /// Admits a document to a run.
    #[cfg(test)]
    pub(crate) fn admit_to_run(&mut self, key: &str, text: &str) {
        let admitted = Admitted {
            start: self.next,
            in_run: true,
        };
        self.admit(admitted, key, text, None);
    }

    pub(super) fn admit(
        &mut self,
        admitted: Admitted,
        key: &str,
        text: &str,
        source: Source,
    ) -> Admits {
        let similarity = |other: &str| jaccard(text, other);
        let like = |other: &&str| similarity(other) >= THRESHOLD;
        // The last of several that are equal is the greatest, so the order is reversed.
        let most_similar = || {
            let all = self.contents().into_iter().rev().filter(like);
            all.max_by(|a, b| similarity(a).total_cmp(&similarity(b)))
        };
        let copy = self.births.contains_key(text).then_some(text);
        if copy.is_some() && shingles(text).is_empty() {
            self.see(key, today());
            return Admits::Wordless;
        }
        let earlier = copy.or_else(most_similar);
        if let Some(earlier) = earlier.map(str::to_owned) {
            self.see(key, today());
            let earlier = &*earlier;
            return Admits::Duplicate {
                key: self.keys_of(earlier).next().unwrap().to_owned(),
                jaccard: jaccard(text, earlier),
                is_of_this_writer: self.births[earlier] >= admitted.start,
                is_copy: earlier == text,
            };
        }
        let hash = blake3::hash(text.as_bytes()).to_hex();
        let key = if self.texts.contains_key(key) {
            format!("{key}#{}", &hash[..16])
        } else {
            key.to_owned()
        };
        self.set(&key, text, source);
        if admitted.in_run {
            self.unpublished.insert(key.clone());
        }
        Admits::New { key }
    }
}

fn today() -> i64 {
    clock::day_of(clock::now())
}

/// The similarity of two texts. A text and its copy have 1, even if they have no words.
pub(super) fn jaccard(one: &str, other: &str) -> f64 {
    if one == other {
        return 1.0;
    }
    shingles(one).jaccard(&shingles(other))
}

fn shingles(text: &str) -> ShingleSet {
    shingler().shingles(text).unwrap()
}

fn shingler() -> Shingler {
    Shingler::new(SHINGLING, true, true).unwrap()
}
