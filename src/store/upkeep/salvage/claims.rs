//! Which documents name each content of a damaged store.
//!
//! Two tables of the index hold this: `documents` maps a key to its content, and `names` maps a content to its keys.
//! Each is used where the other ends or has lost an entry. Only a key that the two give to different contents is lost,
//! because nothing shows which of them is right.

use std::collections::{BTreeMap, BTreeSet};

use crate::storage::{DocumentRow, Wreck};

/// Why a document is lost or doubtful if the two tables disagree about it.
pub(super) const CONTRADICTION: &str = "the index contradicts itself about it";

/// A document that names a content.
#[derive(Debug)]
pub(super) struct DocumentClaim {
    pub(super) key: String,
    /// None if it cannot be read.
    pub(super) row: Option<DocumentRow>,
    /// Why it may not be a document of this content.
    pub(super) doubt: Option<&'static str>,
}

impl DocumentClaim {
    /// A document about which nothing else is known.
    pub(super) fn new(key: String) -> DocumentClaim {
        DocumentClaim {
            key,
            row: None,
            doubt: None,
        }
    }
}

/// The documents claimed for one content.
#[derive(Debug, Default)]
pub(super) struct ClaimedDocuments {
    pub(super) documents: Vec<DocumentClaim>,
    /// Whether there are no other documents. If so, a content without documents was removed.
    pub(super) are_all: bool,
    /// Keys that are damaged in `names` and that `documents` does not have either.
    pub(super) garbled: usize,
    /// Keys that the two tables give to different contents, if at most one of the tables finds them.
    pub(super) lost: Vec<String>,
    /// Keys in `documents` that were replaced by one in `names`.
    pub(super) replaced: Vec<String>,
}

/// The claims of the two tables, except those of `names` where it is intact.
#[derive(Debug)]
pub(super) struct DocumentClaims<'a> {
    wreck: &'a Wreck,
    /// By content and key: documents that `names` may lack, or may have without their rows.
    strays: BTreeMap<u32, BTreeMap<String, StrayDocument>>,
    /// Keys that the tables give to different contents.
    contested: BTreeSet<String>,
    /// The contents of these keys.
    disputed: BTreeSet<u32>,
}

#[derive(Debug)]
struct StrayDocument {
    row: DocumentRow,
    /// Whether `names` has it; `None` if that cannot be read.
    is_name: Option<bool>,
    /// Whether `documents` finds it by its key.
    is_found: bool,
}

impl<'a> DocumentClaims<'a> {
    /// Reads both tables as far as possible.
    pub(super) fn read(wreck: &'a Wreck) -> DocumentClaims<'a> {
        let mut claims = DocumentClaims {
            wreck,
            strays: BTreeMap::new(),
            contested: BTreeSet::new(),
            disputed: BTreeSet::new(),
        };
        if wreck.has_catalog() {
            claims.find_strays();
            claims.find_contested();
        }
        claims
    }

    fn find_strays(&mut self) {
        let wreck = self.wreck;
        // Of these contents, `names` cannot be read to the end, so any document may be theirs.
        let ending: BTreeSet<u32> = (0..wreck.len())
            .filter(|&content| !wreck.names(content).are_all)
            .collect();
        wreck.for_each_document(|key, row| {
            let is_name = wreck.is_name(row.content, &key).ok();
            let is_found = matches!(wreck.document(&key), Ok(Some(found)) if found == row);
            let is_there = row.content < wreck.len() && !ending.contains(&row.content);
            // Both tables agree, and `names` will find it.
            if is_there && is_found && is_name == Some(true) {
                return;
            }
            let strays = self.strays.entry(row.content).or_default();
            let stray = StrayDocument {
                row,
                is_name,
                is_found,
            };
            strays.insert(key, stray);
        });
        // A table whose order is disturbed may have an entry that a look-up does not find.
        for (&content, strays) in &mut self.strays {
            if strays.values().all(StrayDocument::is_named) {
                continue;
            }
            for key in wreck.names(content).keys {
                if let Some(stray) = strays.get_mut(&key) {
                    stray.is_name = Some(true);
                }
            }
        }
    }

    /// Removes the strays that `names` gives to another content.
    fn find_contested(&mut self) {
        let strays = self.strays.values().flatten();
        // If `names` has such a key elsewhere, the tables contradict each other.
        let unnamed = strays.filter(|(_, stray)| !stray.is_named());
        let unnamed: BTreeMap<String, u32> = unnamed
            .map(|(key, stray)| (key.clone(), stray.row.content))
            .collect();
        if unnamed.is_empty() {
            return;
        }
        for content in 0..self.wreck.len() {
            for key in self.wreck.names(content).keys {
                let Some(&other) = unnamed.get(&key).filter(|&&other| other != content) else {
                    continue;
                };
                if let Some(strays) = self.strays.get_mut(&other) {
                    strays.remove(&key);
                }
                if other < self.wreck.len() {
                    self.contested.insert(key);
                    self.disputed.extend([content, other]);
                }
            }
        }
    }

    /// The keys that are lost because the tables give them to different contents.
    pub(super) fn contested(&self) -> Vec<String> {
        self.contested.iter().cloned().collect()
    }

    /// The documents of a content. Each document is returned once.
    pub(super) fn of(&mut self, content: u32) -> ClaimedDocuments {
        let names = self.wreck.names(content);
        let mut strays = self.strays.remove(&content).unwrap_or_default();
        let mut claimed = ClaimedDocuments::default();
        let mut orphans = Vec::new();
        for key in names.keys {
            // A name counts if the document agrees, or cannot say anything else.
            let known = strays.remove(&key).map(|stray| stray.row);
            match known.map_or_else(|| self.wreck.document(&key), |row| Ok(Some(row))) {
                Ok(Some(row)) if row.content == content => claimed.push(key, Some(row), None),
                Ok(Some(row)) if row.content >= self.wreck.len() => {
                    claimed.push(key, None, Some(CONTRADICTION));
                }
                // The document is that of another content. Reported once: here, or with the contested keys.
                Ok(Some(row)) => {
                    let is_told = self.contested.contains(&key);
                    if !is_told && !self.wreck.is_name(row.content, &key).unwrap_or(false) {
                        claimed.lost.push(key);
                    }
                }
                Ok(None) => orphans.push(key),
                Err(_) => claimed.push(key, None, None),
            }
        }
        // An entry of `names` that no document has belongs to a stray whose key has changed.
        let unnamed = strays.values().filter(|stray| !stray.is_named()).count();
        let unexplained = (orphans.len() + names.garbled).saturating_sub(unnamed);
        claimed.garbled = names.garbled.saturating_sub(unnamed);
        for (key, stray) in strays {
            let doubt = (stray.is_name == Some(false)).then_some(CONTRADICTION);
            // A stray that is not found by its key has the damaged key.
            let named = orphans.pop_if(|_| !stray.is_named() && !stray.is_found);
            let key = match named {
                Some(named) => {
                    claimed.replaced.push(key);
                    named
                }
                None => key,
            };
            claimed.push(key, Some(stray.row), doubt);
        }
        // Names that no stray explains are documents whose rows are lost.
        if unexplained > 0 {
            for key in orphans {
                claimed.push(key, None, Some(CONTRADICTION));
            }
        }
        // Only if nothing is missing and nothing contradicts can it be said that these are all.
        let is_disputed = self.disputed.contains(&content) || !claimed.lost.is_empty();
        claimed.are_all = names.are_all && !is_disputed;
        claimed
    }

    /// The documents that remain after those of all contents: their contents are missing.
    pub(super) fn rest(self) -> impl Iterator<Item = String> {
        self.strays.into_values().flat_map(BTreeMap::into_keys)
    }
}

impl StrayDocument {
    fn is_named(&self) -> bool {
        self.is_name == Some(true)
    }
}

impl ClaimedDocuments {
    fn push(&mut self, key: String, row: Option<DocumentRow>, doubt: Option<&'static str>) {
        self.documents.push(DocumentClaim { key, row, doubt });
    }
}
