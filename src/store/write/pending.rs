//! The uncommitted changes of documents.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::hash_places::HashPlaces;
use super::parts::ListInParts;
use crate::codec::low32;
use crate::error::Result;
use crate::pool::Pool;
use crate::storage::{CatalogChange, DocumentChange, DocumentRow, Snapshot};
use crate::store::offer::HashedKey;

/// A point in the order of a writer's calls: the number of steps before it.
pub(crate) type Moment = u32;

/// The documents that changed, with every step of their change.
///
/// The steps are kept until the commit, so that questions can be answered as of any moment. A batch
/// that is processed in parallel gets the answers of one call after another.
#[derive(Debug)]
pub(crate) struct PendingDocuments {
    steps: ListInParts<ChangeStep>,
    /// The last step of each document.
    last: HashPlaces,
    named: NamingSteps,
    /// The approximate number of bytes of memory that keys and names take.
    bytes: u64,
}

/// A change of one document.
#[derive(Debug)]
struct ChangeStep {
    key: Arc<str>,
    row: Option<DocumentRow>,
    before: StateBefore,
    /// Whether the document has no later step.
    is_last: bool,
}

/// The document before a step.
#[derive(Debug)]
enum StateBefore {
    Absent,
    /// As it was committed.
    Committed(Box<DocumentRow>),
    /// As an earlier step left it.
    Step(u32),
}

/// The number of bytes of memory that a change of a document takes beside its key: a step, the
/// places of both in their maps, and the data that the commit makes of them.
const CHANGE_BYTES: usize = 220;

/// The steps by which documents came to name each content.
///
/// Nearly all contents have one name and are new themselves, so each new content has a place of its
/// own.
#[derive(Debug)]
struct NamingSteps {
    /// The first content that is not committed.
    start: u32,
    /// For each new content, the first step that named it, plus one; 0 without one.
    new: Vec<u32>,
    others: HashMap<u32, BTreeSet<Arc<str>>>,
}

impl NamingSteps {
    fn push(&mut self, content: u32, step: u32, key: &Arc<str>) {
        // A new content has one name nearly always, for which there is a place in a list.
        if let Some(place) = content.checked_sub(self.start) {
            let place = place as usize;
            if place >= self.new.len() {
                self.new.resize(place + 1, 0);
            }
            if self.new[place] == 0 {
                self.new[place] = step + 1;
                return;
            }
        }
        self.others.entry(content).or_default().insert(key.clone());
    }

    /// The first step that named `content`, and the other keys that did, in order.
    fn of(&self, content: u32) -> (Option<u32>, impl Iterator<Item = &Arc<str>>) {
        let place = content.checked_sub(self.start);
        let first = place.and_then(|place| self.new.get(place as usize)?.checked_sub(1));
        (first, self.others.get(&content).into_iter().flatten())
    }
}

impl PendingDocuments {
    /// Returns an empty set of changes. `contents` is the number of committed contents.
    pub(crate) fn new(contents: u32) -> PendingDocuments {
        PendingDocuments {
            steps: ListInParts::new(),
            last: HashPlaces::default(),
            named: NamingSteps {
                start: contents,
                new: Vec::new(),
                others: HashMap::new(),
            },
            bytes: 0,
        }
    }

    /// The moment after the last change.
    pub(crate) fn now(&self) -> Moment {
        low32(self.steps.len() as u64)
    }

    /// The approximate number of bytes of memory.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether there is anything to commit.
    pub(crate) fn is_empty(&self) -> bool {
        self.steps.len() == 0
    }

    /// The document `key` as it is now. `committed` is its committed row.
    pub(crate) fn current(
        &self,
        key: HashedKey<'_>,
        committed: Option<DocumentRow>,
    ) -> Option<DocumentRow> {
        match self.last_of(key) {
            Some(last) => self.steps[last].row,
            None => committed,
        }
    }

    /// Reads the place of a key, so that it is in the processor's cache soon.
    pub(crate) fn approach(&self, key: HashedKey<'_>) {
        self.last.approach(low32(key.hash));
    }

    /// The last step of a document.
    fn last_of(&self, key: HashedKey<'_>) -> Option<u32> {
        let is_its = |step| *self.steps[step].key == *key.key;
        self.last.find(low32(key.hash), is_its)
    }

    /// The document of a step as it was at `moment`.
    fn at(&self, mut step: u32, moment: Moment) -> Option<DocumentRow> {
        loop {
            let ChangeStep { row, before, .. } = &self.steps[step];
            if step < moment {
                return *row;
            }
            match before {
                StateBefore::Absent => return None,
                StateBefore::Committed(row) => return Some(**row),
                StateBefore::Step(earlier) => step = *earlier,
            }
        }
    }

    /// Changes the document `key`. `committed` is its committed row.
    pub(crate) fn set(
        &mut self,
        key: HashedKey<'_>,
        committed: Option<DocumentRow>,
        row: Option<DocumentRow>,
    ) {
        let now = self.now();
        self.bytes += (CHANGE_BYTES + key.key.len()) as u64;
        let steps = &mut self.steps;
        let is_its = |step| *steps[step].key == *key.key;
        // The key is shared with the step before. Only the first step has to know the committed row.
        let earlier = self.last.set(low32(key.hash), now, is_its);
        let (shared, before) = if let Some(earlier) = earlier {
            let step = &mut steps[earlier];
            step.is_last = false;
            (step.key.clone(), StateBefore::Step(earlier))
        } else {
            let committed = committed.map(Box::new);
            let before = committed.map_or(StateBefore::Absent, StateBefore::Committed);
            (key.key.into(), before)
        };
        if let Some(row) = row {
            self.named.push(row.content, now, &shared);
        }
        self.steps.push(ChangeStep {
            key: shared,
            row,
            before,
            is_last: true,
        });
    }

    /// Whether a document other than `except` names `content` at `moment`. `snapshot` is the last
    /// commit.
    pub(crate) fn is_named_at(
        &self,
        snapshot: &Snapshot,
        content: u32,
        moment: Moment,
        except: &str,
    ) -> Result<bool> {
        // In the order of the time that they take: names in memory, then those of the index.
        let (first, mut others) = self.named.of(content);
        let first = first.is_some_and(|step| self.still_names(step, content, moment, except));
        if first || others.any(|key| self.names(key, content, moment, except)) {
            return Ok(true);
        }
        let committed = self.committed_name(snapshot, content, moment, except)?;
        Ok(committed.is_some())
    }

    /// The first key other than `except` that named `content` at `moment`. `snapshot` is the last
    /// commit.
    pub(crate) fn first_name_at(
        &self,
        snapshot: &Snapshot,
        content: u32,
        moment: Moment,
        except: &str,
    ) -> Result<Option<String>> {
        // Each of the three is in order, so the first one of a million names is found at once.
        let committed = self.committed_name(snapshot, content, moment, except)?;
        let (first, mut others) = self.named.of(content);
        let first = first.filter(|&step| self.still_names(step, content, moment, except));
        let first = first.map(|step| &self.steps[step].key);
        let other = others.find(|key| self.names(key, content, moment, except));
        let since = first.into_iter().chain(other).min();
        Ok(match (committed, since) {
            (Some(committed), Some(since)) if **since < *committed => Some(since.to_string()),
            (None, since) => since.map(ToString::to_string),
            (committed, _) => committed,
        })
    }

    /// The first key other than `except` that named `content` at the commit and at `moment`.
    fn committed_name(
        &self,
        snapshot: &Snapshot,
        content: u32,
        moment: Moment,
        except: &str,
    ) -> Result<Option<String>> {
        if content >= snapshot.len {
            return Ok(None);
        }
        let still = |key: &str| {
            let last = self.last_of(HashedKey::new(key));
            key != except && last.is_none_or(|last| self.named_it(last, content, moment))
        };
        let mut names = snapshot.names(content)?;
        names
            .find(|name| name.as_ref().map_or(true, |key| still(key)))
            .transpose()
    }

    /// Whether `key`, which was changed, named `content` at `moment` and is not `except`.
    fn names(&self, key: &str, content: u32, moment: Moment, except: &str) -> bool {
        let last = self.last_of(HashedKey::new(key));
        key != except && last.is_some_and(|last| self.named_it(last, content, moment))
    }

    /// Like [`PendingDocuments::names`], for the key of a step.
    fn still_names(&self, step: u32, content: u32, moment: Moment, except: &str) -> bool {
        let ChangeStep { key, is_last, .. } = &self.steps[step];
        if *is_last {
            return **key != *except && self.named_it(step, content, moment);
        }
        self.names(key, content, moment, except)
    }

    /// Whether the document with this last step named `content` at `moment`.
    fn named_it(&self, last: u32, content: u32, moment: Moment) -> bool {
        let row = self.at(last, moment);
        row.is_some_and(|row| row.content == content)
    }

    /// The changes in the form in which they are committed.
    pub(crate) fn change(&self, pool: &Pool) -> CatalogChange {
        // One change for each document, from the committed row to the last one.
        let mut last: Vec<(&Arc<str>, u32)> = (0..)
            .zip(self.steps.iter())
            .filter(|(_, step)| step.is_last)
            .map(|(number, step)| (&step.key, number))
            .collect();
        pool.sort(&mut last);
        let mut change = CatalogChange {
            documents: Vec::with_capacity(last.len()),
            ..CatalogChange::default()
        };
        for (key, number) in last {
            let new = self.steps[number].row;
            let kept = new.map(|row| row.content);
            // A content that any step left may have lost its last name. The commit looks, when all names are written.
            let mut left = |row: Option<DocumentRow>| {
                let content = row.map(|row| row.content);
                let left = content.filter(|_| content != kept);
                change.maybe_unnamed.extend(left);
            };
            let mut step = number;
            // Back to the committed row, through all contents that the document named in the meantime.
            let old = loop {
                match &self.steps[step].before {
                    StateBefore::Absent => break None,
                    StateBefore::Committed(row) => break Some(**row),
                    StateBefore::Step(earlier) => step = *earlier,
                }
                left(self.steps[step].row);
            };
            left(old);
            if new != old {
                change.documents.push(DocumentChange {
                    key: key.clone(),
                    old: old.map(|row| row.content),
                    new,
                });
            }
        }
        change.maybe_unnamed.sort_unstable();
        change.maybe_unnamed.dedup();
        change
    }
}
