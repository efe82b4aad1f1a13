//! What became of the files that documents came from.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::ErrorKind;

use crate::Document;
use crate::corpus::{FileIdentity, Key, modified};

/// What became of a document's file since it was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It came from no file of its own, or nobody knows which.
    NotChecked,
    /// It has the size and the time that are stored.
    AtHand,
    Gone,
    /// It has another size or time.
    Changed,
    /// The system refuses to look.
    OutOfReach,
    /// As it is stored, and an earlier document of the cluster is at hand in the same file.
    OtherName,
}

impl State {
    /// Whether the document can be the one of its cluster that stays, or one that goes for the sake of another.
    pub(super) fn stands(self) -> bool {
        matches!(self, State::NotChecked | State::AtHand)
    }

    /// As the page's script knows it.
    pub(super) fn number(self) -> u8 {
        match self {
            State::NotChecked => 0,
            State::AtHand => 1,
            State::Gone => 2,
            State::Changed => 3,
            State::OutOfReach => 4,
            State::OtherName => 5,
        }
    }
}

/// What became of a document's file, and which file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) state: State,
    /// The place in the cluster of the first document that has this file: its own, if it is the first.
    pub(super) file: usize,
}

/// The files that the documents of a cluster have.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// Of each the place of the first document, and whether one so far is at hand in it.
    met: HashMap<FileIdentity, (usize, bool)>,
}

impl Files {
    /// Looks for the file of the document at `place` of the cluster; places ascend.
    pub(super) fn look(&mut self, document: &Document, place: usize) -> Standing {
        let standing = |state| Standing { state, file: place };
        let path = document.modified.and_then(|_| Key::path(&document.key));
        let Some(path) = path else {
            return standing(State::NotChecked);
        };
        let metadata = match fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() => metadata,
            Ok(_) => return standing(State::Gone),
            Err(error) => {
                let is_gone =
                    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
                return standing(if is_gone {
                    State::Gone
                } else {
                    State::OutOfReach
                });
            }
        };
        let identity = FileIdentity::of(&path, &metadata);
        let (file, is_at_hand) = self.met.entry(identity).or_insert((place, false));
        let is_changed =
            metadata.len() != document.size || modified(&metadata) != document.modified;
        let state = if is_changed {
            State::Changed
        } else if std::mem::replace(is_at_hand, true) {
            State::OtherName
        } else {
            State::AtHand
        };
        Standing { state, file: *file }
    }
}

/// Bytes of a cluster that could go: of what is at hand, what is like the first of it, which stays.
#[derive(Debug, Default)]
pub(super) struct Going {
    pub(super) all: u64,
    /// If only copies go, and of each text one document stays.
    pub(super) identical: u64,
    stays: Option<Likeness>,
    /// The texts of which a document stays, by their places.
    staying: HashSet<usize>,
}

/// What is known of how a document of a cluster is like the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Likeness {
    /// The place in the cluster of the first document with this text.
    pub(super) text: usize,
    /// Whether it reaches the threshold with the representative.
    pub(super) reaches: bool,
}

impl Likeness {
    /// Whether two documents are known to reach the threshold with each other: others of the cluster may be
    /// connected by what lies between them alone.
    fn reaches(self, other: Likeness) -> bool {
        self.text == other.text
            || self.text == 0 && other.reaches
            || other.text == 0 && self.reaches
    }
}

impl Going {
    /// Counts a document of `size` bytes; the representative comes first.
    pub(super) fn count(&mut self, state: State, size: u64, likeness: Likeness) {
        if !state.stands() {
            return;
        }
        match self.stays {
            None => self.stays = Some(likeness),
            Some(stays) if stays.reaches(likeness) => self.all += size,
            Some(_) => {}
        }
        if !self.staying.insert(likeness.text) {
            self.identical += size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Going, Likeness, State};

    fn going(documents: &[(State, usize, bool)]) -> (u64, u64) {
        let mut going = Going::default();
        for (place, &(state, text, reaches)) in documents.iter().enumerate() {
            going.count(state, 1 << place, Likeness { text, reaches });
        }
        (going.all, going.identical)
    }

    #[test]
    fn one_stays_of_what_is_at_hand() {
        use State::{AtHand, Changed, Gone, NotChecked, OtherName, OutOfReach};
        let same = |states: &[State]| {
            let documents: Vec<_> = states.iter().map(|state| (*state, 0, true)).collect();
            going(&documents)
        };
        assert_eq!(same(&[AtHand, AtHand, AtHand]), (6, 6));
        assert_eq!(same(&[NotChecked, NotChecked]), (2, 2));
        assert_eq!(same(&[Gone, AtHand]), (0, 0));
        assert_eq!(same(&[Gone, AtHand, NotChecked]), (4, 4));
        assert_eq!(same(&[AtHand, Changed, OutOfReach, OtherName]), (0, 0));
        // What is like it may go for the sake of another text; what is identical may not.
        let documents = [(Gone, 0, true), (AtHand, 1, true), (AtHand, 0, true)];
        assert_eq!(going(&documents), (4, 0));
        assert_eq!(going(&[(AtHand, 0, true), (AtHand, 1, true)]), (2, 0));
        // Copies of another text than the representative's are copies.
        let documents = [(AtHand, 0, true), (AtHand, 1, true), (AtHand, 1, true)];
        assert_eq!(going(&documents), (6, 4));
    }

    #[test]
    fn what_is_not_known_to_be_like_what_stays_stays() {
        use State::{AtHand, Gone};
        let far = [(AtHand, 0, true), (AtHand, 1, false), (AtHand, 1, false)];
        assert_eq!(going(&far), (0, 4));
        // Both are like the representative, and may be unlike each other.
        let sides = [(Gone, 0, true), (AtHand, 1, true), (AtHand, 2, true)];
        assert_eq!(going(&sides), (0, 0));
    }
}
