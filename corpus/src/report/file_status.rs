//! The state of the files from which documents came.

use std::collections::{HashMap, HashSet};

use crate::{FileIdentity, Presence};
use dedupdb::Document;

/// The state of a document's file since the document was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileStatus {
    /// The document did not come from its own file, or the file is unknown.
    NotChecked,
    /// The file has the stored size and modification time.
    AtHand,
    Gone,
    /// The file has another size or modification time.
    Changed,
    /// The system refuses access.
    OutOfReach,
    /// The file is as stored, but an earlier document of the cluster is at hand in the same file.
    OtherName,
}

impl FileStatus {
    /// Whether the document can be the one of its cluster that stays, or one that goes because of another.
    pub(super) fn stands(self) -> bool {
        matches!(self, FileStatus::NotChecked | FileStatus::AtHand)
    }

    /// Returns the number by which the page's script knows the state.
    pub(super) fn number(self) -> u8 {
        match self {
            FileStatus::NotChecked => 0,
            FileStatus::AtHand => 1,
            FileStatus::Gone => 2,
            FileStatus::Changed => 3,
            FileStatus::OutOfReach => 4,
            FileStatus::OtherName => 5,
        }
    }
}

/// A document's file, as it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileCheck {
    pub(super) state: FileStatus,
    file: Option<FileIdentity>,
}

impl FileCheck {
    /// Looks at the file of a document.
    pub(super) fn at(document: &Document) -> FileCheck {
        let (presence, file) = Presence::with_file(document);
        let state = match presence {
            Presence::Unknown => FileStatus::NotChecked,
            Presence::Present => FileStatus::AtHand,
            Presence::Changed => FileStatus::Changed,
            Presence::Gone => FileStatus::Gone,
            Presence::OutOfReach => FileStatus::OutOfReach,
        };
        FileCheck { state, file }
    }
}

/// The state of a document's file, and which file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowFile {
    pub(super) state: FileStatus,
    /// The position in the cluster of the first document with this file: its own position, if it is the first.
    pub(super) file: usize,
}

/// The files of the documents of a cluster.
#[derive(Debug, Default)]
pub(super) struct ClusterFiles {
    /// For each file, the position of its first document, and whether a document so far is at hand in it.
    seen: HashMap<FileIdentity, (usize, bool)>,
}

impl ClusterFiles {
    /// Returns the standing of the document at `place` in the cluster. Calls must be in ascending order of `place`.
    pub(super) fn meet(&mut self, look: FileCheck, place: usize) -> RowFile {
        let FileCheck { mut state, file } = look;
        let Some(identity) = file else {
            return RowFile { state, file: place };
        };
        let (file, is_at_hand) = self.seen.entry(identity).or_insert((place, false));
        if state == FileStatus::AtHand && std::mem::replace(is_at_hand, true) {
            state = FileStatus::OtherName;
        }
        RowFile { state, file: *file }
    }
}

/// The bytes of a cluster that could go: of the documents at hand, those that resemble the first one or are contained in it, which stays.
#[derive(Debug, Default)]
pub(super) struct ReclaimableBytes {
    pub(super) all: u64,
    /// The bytes if only copies go, and one document of each text stays.
    pub(super) identical: u64,
    stays: Option<RowLikeness>,
    /// The positions of the texts that a staying document has.
    staying: HashSet<usize>,
}

/// How a document of a cluster resembles the others, as far as known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowLikeness {
    /// The position in the cluster of the first document with this text.
    pub(super) text: usize,
    /// Whether its similarity to the representative reaches the threshold, or it is contained in the representative.
    pub(super) reaches: bool,
    /// The same the other way around.
    pub(super) holds: bool,
}

impl RowLikeness {
    /// Whether another document is known to resemble this one, or to be contained in it. Other documents of the cluster may
    /// be connected only through documents between them.
    fn reached_by(self, other: RowLikeness) -> bool {
        self.text == other.text || self.text == 0 && other.reaches || other.text == 0 && self.holds
    }
}

impl ReclaimableBytes {
    /// Counts a document of `size` bytes. The representative must come first.
    pub(super) fn count(&mut self, state: FileStatus, size: u64, likeness: RowLikeness) {
        if !state.stands() {
            return;
        }
        match self.stays {
            None => self.stays = Some(likeness),
            Some(stays) if stays.reached_by(likeness) => self.all += size,
            Some(_) => {}
        }
        if !self.staying.insert(likeness.text) {
            self.identical += size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FileStatus, ReclaimableBytes, RowLikeness};

    fn going(documents: &[(FileStatus, usize, bool)]) -> (u64, u64) {
        let mut going = ReclaimableBytes::default();
        for (place, &(state, text, reaches)) in documents.iter().enumerate() {
            let holds = reaches;
            let likeness = RowLikeness {
                text,
                reaches,
                holds,
            };
            going.count(state, 1 << place, likeness);
        }
        (going.all, going.identical)
    }

    #[test]
    fn one_stays_of_what_is_at_hand() {
        use FileStatus::{AtHand, Changed, Gone, NotChecked, OtherName, OutOfReach};
        let same = |states: &[FileStatus]| {
            let documents: Vec<_> = states.iter().map(|state| (*state, 0, true)).collect();
            going(&documents)
        };
        assert_eq!(same(&[AtHand, AtHand, AtHand]), (6, 6));
        assert_eq!(same(&[NotChecked, NotChecked]), (2, 2));
        assert_eq!(same(&[Gone, AtHand]), (0, 0));
        assert_eq!(same(&[Gone, AtHand, NotChecked]), (4, 4));
        assert_eq!(same(&[AtHand, Changed, OutOfReach, OtherName]), (0, 0));
        // A document may go because it resembles another text, but not as a copy of it.
        let documents = [(Gone, 0, true), (AtHand, 1, true), (AtHand, 0, true)];
        assert_eq!(going(&documents), (4, 0));
        assert_eq!(going(&[(AtHand, 0, true), (AtHand, 1, true)]), (2, 0));
        // Copies of a text other than the representative's are copies, too.
        let documents = [(AtHand, 0, true), (AtHand, 1, true), (AtHand, 1, true)];
        assert_eq!(going(&documents), (6, 4));
    }

    #[test]
    fn what_is_not_known_to_be_like_what_stays_stays() {
        use FileStatus::{AtHand, Gone};
        let far = [(AtHand, 0, true), (AtHand, 1, false), (AtHand, 1, false)];
        assert_eq!(going(&far), (0, 4));
        // Both resemble the representative, but they may not resemble each other.
        let sides = [(Gone, 0, true), (AtHand, 1, true), (AtHand, 2, true)];
        assert_eq!(going(&sides), (0, 0));
    }
}
