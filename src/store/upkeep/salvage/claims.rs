//! Which documents name each content of a damaged store.
//!
//! Two tables of the index tell that: `documents` leads from a key to its content, `names` from a
//! content to its keys. Each stands in where the other ends or has lost an entry. Only a key that the
//! two give to different contents is lost, for nothing says which of them is right.

use std::collections::{BTreeMap, BTreeSet};

use crate::storage::{DocumentRow, Wreck};

/// Why a document is lost or doubtful that the two tables do not agree about.
pub(super) const CONTRADICTION: &str = "the index contradicts itself about it";

/// A document that names a content.
#[derive(Debug)]
pub(super) struct Claim {
    pub(super) key: String,
    /// None if it cannot be read.
    pub(super) row: Option<DocumentRow>,
    /// Why it may not be a document of this content.
    pub(super) doubt: Option<&'static str>,
}

impl Claim {
    /// A document of which nothing else is known.
    pub(super) fn new(key: String) -> Claim {
        Claim {
            key,
            row: None,
            doubt: None,
        }
    }
}

/// What is claimed of one content.
#[derive(Debug, Default)]
pub(super) struct Claimed {
    pub(super) documents: Vec<Claim>,
    /// Whether there are no others, so that without any the content was removed.
    pub(super) are_all: bool,
    /// Keys that are damaged in `names` and that `documents` does not tell either.
    pub(super) garbled: usize,
    /// Keys that the two tables give to different contents, and no more than one of them finds.
    pub(super) lost: Vec<String>,
    /// Keys in `documents` that stand for one in `names`.
    pub(super) replaced: Vec<String>,
}

/// What the two tables say beside what `names` says where it is whole.
#[derive(Debug)]
pub(super) struct Claims<'a> {
    wreck: &'a Wreck,
    /// By content and key, the documents that `names` may not bring, or not with their rows.
    strays: BTreeMap<u32, BTreeMap<String, Stray>>,
    /// Keys that the tables give to different contents.
    contested: BTreeSet<String>,
    /// Those contents.
    disputed: BTreeSet<u32>,
}

#[derive(Debug)]
struct Stray {
    row: DocumentRow,
    /// Whether `names` has it, if that can be read.
    is_name: Option<bool>,
    /// Whether `documents` finds it by its key.
    is_found: bool,
}

impl<'a> Claims<'a> {
    /// Reads both tables as far as they go.
    pub(super) fn read(wreck: &'a Wreck) -> Claims<'a> {
        let mut claims = Claims {
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
        let ending: BTreeSet<u32> = (0..wreck.len())
            .filter(|&content| !wreck.names(content).are_all)
            .collect();
        wreck.for_each_document(|key, row| {
            let is_name = wreck.is_name(row.content, &key).ok();
            let is_found = matches!(wreck.document(&key), Ok(Some(found)) if found == row);
            let is_there = row.content < wreck.len() && !ending.contains(&row.content);
            if is_there && is_found && is_name == Some(true) {
                return;
            }
            let strays = self.strays.entry(row.content).or_default();
            let stray = Stray {
                row,
                is_name,
                is_found,
            };
            strays.insert(key, stray);
        });
        // A table whose order is disturbed may have what it does not find.
        for (&content, strays) in &mut self.strays {
            if strays.values().all(Stray::is_named) {
                continue;
            }
            for key in wreck.names(content).keys {
                if let Some(stray) = strays.get_mut(&key) {
                    stray.is_name = Some(true);
                }
            }
        }
    }

    /// Takes out the strays that `names` gives to another content.
    fn find_contested(&mut self) {
        let strays = self.strays.values().flatten();
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

    /// The documents of a content, each of which is given out once.
    pub(super) fn of(&mut self, content: u32) -> Claimed {
        let names = self.wreck.names(content);
        let mut strays = self.strays.remove(&content).unwrap_or_default();
        let mut claimed = Claimed::default();
        let mut orphans = Vec::new();
        for key in names.keys {
            let known = strays.remove(&key).map(|stray| stray.row);
            match known.map_or_else(|| self.wreck.document(&key), |row| Ok(Some(row))) {
                Ok(Some(row)) if row.content == content => claimed.push(key, Some(row), None),
                Ok(Some(row)) if row.content >= self.wreck.len() => {
                    claimed.push(key, None, Some(CONTRADICTION));
                }
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
        // An entry of `names` that no document has is that of a stray, with another key by now.
        let unnamed = strays.values().filter(|stray| !stray.is_named()).count();
        let unexplained = (orphans.len() + names.garbled).saturating_sub(unnamed);
        claimed.garbled = names.garbled.saturating_sub(unnamed);
        for (key, stray) in strays {
            let doubt = (stray.is_name == Some(false)).then_some(CONTRADICTION);
            // One that is not where its key belongs has the damaged key.
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
        if unexplained > 0 {
            for key in orphans {
                claimed.push(key, None, Some(CONTRADICTION));
            }
        }
        let is_disputed = self.disputed.contains(&content) || !claimed.lost.is_empty();
        claimed.are_all = names.are_all && !is_disputed;
        claimed
    }

    /// The documents that are left when those of all contents were given out: theirs are missing.
    pub(super) fn rest(self) -> impl Iterator<Item = String> {
        self.strays.into_values().flat_map(BTreeMap::into_keys)
    }
}

impl Stray {
    fn is_named(&self) -> bool {
        self.is_name == Some(true)
    }
}

impl Claimed {
    fn push(&mut self, key: String, row: Option<DocumentRow>, doubt: Option<&'static str>) {
        self.documents.push(Claim { key, row, doubt });
    }
}
