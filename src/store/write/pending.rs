//! What a writer did to the documents and has not committed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::error::Result;
use crate::storage::{CatalogChange, DocumentChange, DocumentRow, Snapshot};

/// A point in the order of a writer's calls.
pub(crate) type Moment = u64;

/// The documents that changed, with every step of their change.
///
/// The steps are kept until the commit, so that a question can be answered as of any moment: a
/// batch that is worked on in parallel gets the answers that one call after another would get.
#[derive(Debug)]
pub(crate) struct Pending {
    now: Moment,
    documents: BTreeMap<Arc<str>, History>,
    named: Named,
    /// Memory that all this takes, about.
    bytes: u64,
}

/// Bytes of memory that a change of a document takes beside its key: a step, its history, the
/// places of both in their maps, and what the commit makes of them.
const CHANGE_BYTES: usize = 300;

/// The keys that came to name each content.
///
/// Nearly all are the only name of a content that is new itself, so those have a place each.
#[derive(Debug)]
struct Named {
    /// The first content that was not committed.
    start: u32,
    new: Vec<Option<Arc<str>>>,
    others: HashMap<u32, BTreeSet<Arc<str>>>,
}

impl Named {
    fn push(&mut self, content: u32, key: Arc<str>) {
        if let Some(place) = content.checked_sub(self.start) {
            let place = place as usize;
            if place >= self.new.len() {
                self.new.resize(place + 1, None);
            }
            if let first @ None = &mut self.new[place] {
                *first = Some(key);
                return;
            }
        }
        self.others.entry(content).or_default().insert(key);
    }

    /// The first key of `content` that came, and the others in order.
    fn of(&self, content: u32) -> (Option<&Arc<str>>, impl Iterator<Item = &Arc<str>>) {
        let place = content.checked_sub(self.start);
        let first = place.and_then(|place| self.new.get(place as usize)?.as_ref());
        (first, self.others.get(&content).into_iter().flatten())
    }
}

#[derive(Debug)]
struct History {
    committed: Option<DocumentRow>,
    steps: Vec<(Moment, Option<DocumentRow>)>,
}

impl History {
    fn at(&self, moment: Moment) -> Option<DocumentRow> {
        let past = self.steps.iter().rev().find(|(when, _)| *when <= moment);
        past.map_or(self.committed, |(_, row)| *row)
    }
}

impl Pending {
    /// Nothing yet; `contents` is the number of committed contents.
    pub(crate) fn new(contents: u32) -> Pending {
        Pending {
            now: 0,
            bytes: 0,
            documents: BTreeMap::new(),
            named: Named {
                start: contents,
                new: Vec::new(),
                others: HashMap::new(),
            },
        }
    }

    /// The moment of the last change.
    pub(crate) fn now(&self) -> Moment {
        self.now
    }

    /// Bytes of memory, about.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether there is anything to commit.
    pub(crate) fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// The document `key` as it is now, given what is committed of it.
    pub(crate) fn current(&self, key: &str, committed: Option<DocumentRow>) -> Option<DocumentRow> {
        let history = self.documents.get(key);
        history.map_or(committed, |history| history.at(self.now))
    }

    /// Changes the document `key`, given what is committed of it.
    pub(crate) fn set(
        &mut self,
        key: &str,
        committed: Option<DocumentRow>,
        row: Option<DocumentRow>,
    ) {
        self.now += 1;
        self.bytes += (CHANGE_BYTES + key.len()) as u64;
        let step = (self.now, row);
        let key: Arc<str> = match self.documents.get_key_value(key) {
            Some((key, _)) => key.clone(),
            None => key.into(),
        };
        if let Some(row) = row {
            self.named.push(row.content, key.clone());
        }
        self.documents
            .entry(key)
            .or_insert_with(|| History {
                committed,
                steps: Vec::with_capacity(1),
            })
            .steps
            .push(step);
    }

    /// The first key other than `except` that named `content` at `moment`; `snapshot` is what is
    /// committed.
    pub(crate) fn first_name_at(
        &self,
        snapshot: &Snapshot,
        content: u32,
        moment: Moment,
        except: &str,
    ) -> Result<Option<String>> {
        let still = |key: &str, committed: bool| match self.documents.get(key) {
            _ if key == except => false,
            Some(history) => history.at(moment).is_some_and(|row| row.content == content),
            None => committed,
        };
        // Each of the three is in order, so that the first of a million names is found at once.
        let mut names = snapshot.names(content)?;
        let committed = names.find(|name| name.as_ref().map_or(true, |key| still(key, true)));
        let (first, mut others) = self.named.of(content);
        let first = first.filter(|key| still(key, false));
        let other = others.find(|key| still(key, false));
        let since = first.into_iter().chain(other).min();
        Ok(match (committed.transpose()?, since) {
            (Some(committed), Some(since)) if **since < *committed => Some(since.to_string()),
            (None, since) => since.map(ToString::to_string),
            (committed, _) => committed,
        })
    }

    /// The changes in the form in which they are committed.
    pub(crate) fn change(&self) -> CatalogChange {
        let mut change = CatalogChange::default();
        for (key, history) in &self.documents {
            let new = history.at(self.now);
            let kept = new.map(|row| row.content);
            let rows = history.steps.iter().map(|(_, row)| *row);
            let left = rows
                .chain([history.committed])
                .flatten()
                .map(|row| row.content)
                .filter(|&content| Some(content) != kept);
            change.maybe_unnamed.extend(left);
            if new != history.committed {
                change.documents.push(DocumentChange {
                    key: key.to_string(),
                    old: history.committed.map(|row| row.content),
                    new,
                });
            }
        }
        change.maybe_unnamed.sort_unstable();
        change.maybe_unnamed.dedup();
        change
    }
}
