//! The order in which documents are judged, if it is not that of the input.

use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::dedup::settings::Keep;
use crate::number::times;
use crate::{Item, KeepRank, ShingleCounter, SourcedText, rank_of};

/// The rank of a document, and the place of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DocumentRank {
    newest: Reverse<i64>,
    by_content: KeepRank,
    /// Its position in the input.
    pub(crate) ordinal: u64,
    /// Its offset in the spool.
    pub(crate) offset: u64,
    /// Whether it is judged before all unprotected documents, and never dropped.
    pub(crate) is_protected: bool,
}

/// Ranks documents.
#[derive(Debug)]
pub(crate) struct Ranking {
    keep: Keep,
    counter: ShingleCounter,
    ranks: Vec<DocumentRank>,
    /// The last file whose modification time was read, and that time.
    file: Option<(PathBuf, i64)>,
}

impl Ranking {
    /// Returns a ranking without documents.
    pub(crate) fn new(keep: Keep, counter: ShingleCounter) -> Ranking {
        Ranking {
            keep,
            counter,
            ranks: Vec::new(),
            file: None,
        }
    }

    /// Returns how each document of the next items ranks by what it says, if that decides.
    pub(crate) fn by_content(&self, items: &[Item]) -> Vec<KeepRank> {
        if self.keep != Keep::Longest {
            return Vec::new();
        }
        let documents: Vec<&SourcedText> = items.iter().filter_map(Item::document).collect();
        let ranks = documents
            .par_iter()
            .map(|it| rank_of(it, self.counter.count(it.text())));
        ranks.collect()
    }

    /// Ranks the next document of the input, whose text is at `offset` in the spool.
    pub(crate) fn push(
        &mut self,
        document: &SourcedText,
        by_content: KeepRank,
        offset: u64,
        is_protected: bool,
    ) {
        let mut newest = Reverse(0);
        match self.keep {
            Keep::First | Keep::Few(_) | Keep::None | Keep::Longest => {}
            Keep::Newest => {
                let modified = document.modified.and_then(times::nanoseconds);
                newest = Reverse(modified.unwrap_or_else(|| self.time_of(&document.source)));
            }
        }
        self.ranks.push(DocumentRank {
            newest,
            by_content,
            ordinal: self.ranks.len() as u64,
            offset,
            is_protected,
        });
    }

    /// Returns the modification time of a file of records. Standard input is newer than any file.
    fn time_of(&mut self, source: &Path) -> i64 {
        if let Some((path, time)) = &self.file
            && path == source
        {
            return *time;
        }
        let metadata = fs::metadata(source).ok();
        let time = metadata.and_then(|metadata| crate::number::times::modified(&metadata));
        let time = time.and_then(times::nanoseconds).unwrap_or(i64::MAX);
        self.file = Some((source.to_owned(), time));
        time
    }

    /// Returns the ranks of the protected documents and those of all others, each in the order in which they are
    /// judged.
    pub(crate) fn sorted(mut self) -> [Vec<DocumentRank>; 2] {
        let is_newest = self.keep == Keep::Newest;
        self.ranks.sort_unstable_by_key(|rank| {
            let late = is_newest.then_some(Reverse(rank.ordinal));
            let first = Reverse(rank.is_protected);
            (first, rank.newest, rank.by_content, late, rank.ordinal)
        });
        let protected = self.ranks.partition_point(|rank| rank.is_protected);
        let others = self.ranks.split_off(protected);
        [self.ranks, others]
    }
}
