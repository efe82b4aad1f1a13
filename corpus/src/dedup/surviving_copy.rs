//! Whether the text of a stored document still exists, so that a file may be moved because of it.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::walk::folder::is_aside;
use crate::{
    FileIdentity, KeepRank, Key, Options, Origin, Presence, Repeats, ShingleCounter, Source,
    SourcedText, is_itself, paths_of_document, rank_of_text,
};
use dedupdb::{Document, Match, Query, Result, Store};

/// What stands for a stored document.
#[derive(Debug)]
pub(crate) enum SurvivingCopy {
    /// Its file, which is as it was when it was stored.
    File(PathBuf, FileIdentity),
    /// The file that was read: it was stored itself.
    Itself,
    /// Nothing, for this reason.
    Nothing(String),
}

/// The records that files have now.
#[derive(Debug, Default)]
pub(crate) struct RecordFiles {
    /// How their records are read.
    options: Options,
    hashes: RefCell<HashMap<PathBuf, HashSet<[u8; 32]>>>,
}

impl RecordFiles {
    /// Files whose records are read with these options.
    pub(crate) fn new(options: &Options) -> RecordFiles {
        RecordFiles {
            options: options.clone(),
            hashes: RefCell::default(),
        }
    }

    /// The documents that a file has now. What cannot be read stands for nothing.
    fn documents(&self, path: &Path) -> impl Iterator<Item = SourcedText> {
        let options = self.options.clone().repeats(Repeats::Allow).strict(false);
        let documents = options.open([Source::path(path)]);
        documents.into_iter().flatten().flatten()
    }

    /// How worth keeping the document of a file is, or its record with this hash. `None` if there is none.
    fn rank(
        &self,
        path: &Path,
        hash: Option<&[u8; 32]>,
        counter: &ShingleCounter,
    ) -> Option<KeepRank> {
        let mut documents = self.documents(path);
        let document =
            documents.find(|document| hash.is_none_or(|hash| document.hash() == *hash))?;
        let (text, is_record) = (document.text(), document.record.is_some());
        Some(rank_of_text(
            text,
            counter.count(text),
            Some((path, is_record)),
        ))
    }

    /// Whether a record of a file has a text with this hash. Each file is read once.
    fn has(&self, path: &Path, hash: &[u8; 32]) -> bool {
        let mut known = self.hashes.borrow_mut();
        let hashes = known.entry(path.to_owned()).or_insert_with(|| {
            let records = self.documents(path);
            records.map(|record| record.hash()).collect()
        });
        hashes.contains(hash)
    }
}

/// The number of matches to look at first.
const FIRST: usize = 8;

/// Returns a match for which a file stands, or else any, and what stands for it. Files are moved from the folder `root`.
///
/// # Errors
///
/// Those of the store.
pub(super) fn chosen(
    read: &SourcedText,
    mut any: Match,
    store: &Store,
    root: &Path,
    records: &RecordFiles,
) -> Result<(Match, SurvivingCopy)> {
    let mut standing = SurvivingCopy::Itself;
    let mut seen = 0;
    let mut limit = FIRST;
    // More and more matches, until a file stands for one of them.
    loop {
        let query = Query::of(read.subject()).limit(limit).copies_first();
        let found = store.query(&query)?;
        let is_all = found.len() < limit;
        for earlier in found.into_iter().skip(seen) {
            match of(read, &earlier, store, root, records)? {
                file @ SurvivingCopy::File(..) => return Ok((earlier, file)),
                SurvivingCopy::Nothing(why) if matches!(standing, SurvivingCopy::Itself) => {
                    (any, standing) = (earlier, SurvivingCopy::Nothing(why));
                }
                _ => {}
            }
        }
        if is_all {
            return Ok((any, standing));
        }
        (seen, limit) = (limit, limit.saturating_mul(2));
    }
}

/// Returns what stands for a document that was stored before. Files are moved from the folder `root`. A file there
/// stands only for those that are lesser copies of it, so that one of them stays.
///
/// # Errors
///
/// Those of the store.
pub(super) fn of(
    origin: &Origin,
    earlier: &Match,
    store: &Store,
    root: &Path,
    records: &RecordFiles,
) -> Result<SurvivingCopy> {
    if is_itself(origin, &earlier.key, |_| earlier.exact_copy, store)? {
        return Ok(SurvivingCopy::Itself);
    }
    let key = &earlier.key;
    let Some(document) = store.get(key)? else {
        return Ok(SurvivingCopy::Nothing(format!(
            "{key} is not stored any more"
        )));
    };
    let (state, found) = look(&document, store, records);
    let why = match (state, found) {
        (Presence::Present, Some((path, identity))) => {
            let place = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
            let (place, own) = (place(&path), place(&origin.source));
            // A file that was put aside is a duplicate itself.
            if place.ancestors().any(|folder| is_aside(folder, true)) {
                return Ok(SurvivingCopy::Nothing(format!("{key} was put aside")));
            }
            // A file outside of the folder is not moved, so it stands for any document.
            if !place.starts_with(root) || origin.record.is_some() {
                return Ok(SurvivingCopy::File(path, identity));
            }
            // Both are read again: the store has no texts, and only they show which one says more.
            let counter = ShingleCounter::of(&store.schema())?;
            let stored = records.rank(&place, Some(&document.hash), &counter);
            let own_rank = records.rank(&own, None, &counter);
            match (stored, own_rank) {
                (Some(stored), Some(of_own)) if (&stored, &place) < (&of_own, &own) => {
                    return Ok(SurvivingCopy::File(path, identity));
                }
                (Some(_), Some(_)) => format!("{key} is the lesser copy"),
                _ => format!("{key} could not be read again"),
            }
        }
        (Presence::Changed, _) => match &document.source {
            Some(source) => format!("{source}, the file of {key}, does not have it any more"),
            None => format!("{key} has changed since it was added"),
        },
        (Presence::OutOfReach, _) => format!("the system refuses to look at {key}"),
        (Presence::Unknown, _) => {
            format!("{key} was not added from a file, so its text may exist nowhere else")
        }
        _ => match &document.source {
            Some(source) => format!("{source}, the file of {key}, is gone"),
            None if Path::new(key).is_absolute() => format!("{key} is gone"),
            None => format!(
                "{key} is gone, or is a path from another folder (run this where it was added)"
            ),
        },
    };
    Ok(SurvivingCopy::Nothing(why))
}

/// Looks for the file of a stored document: as its key names it or, of a record, as the store names it, with that record.
fn look(
    document: &Document,
    store: &Store,
    records: &RecordFiles,
) -> (Presence, Option<(PathBuf, FileIdentity)>) {
    if let Some(source) = &document.source {
        let found = Key::path(source).and_then(|path| Some((fs::metadata(&path).ok()?, path)));
        return match found.filter(|(found, _)| found.is_file()) {
            Some((found, path)) => {
                // Its time says nothing: an older export may have been put in its place.
                if !records.has(&path, &document.hash) {
                    return (Presence::Changed, None);
                }
                let identity = FileIdentity::of(&path, &found);
                (Presence::Present, Some((path, identity)))
            }
            None => (Presence::Gone, None),
        };
    }
    let paths = document
        .modified
        .map_or(Vec::new(), |_| paths_of_document(document, store));
    if paths.is_empty() {
        return (Presence::Unknown, None);
    }
    let mut state = Presence::Gone;
    for path in paths {
        match Presence::look_at(path, document) {
            (Presence::Present, Some((path, found))) => {
                let identity = FileIdentity::of(&path, &found);
                return (Presence::Present, Some((path, identity)));
            }
            (Presence::Gone, _) => {}
            (other, _) => state = other,
        }
    }
    (state, None)
}
