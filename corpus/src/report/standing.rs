//! The state of the files from which documents came.

use std::collections::{HashMap, HashSet};

use crate::{FileIdentity, Presence};
use dedupdb::Document;

/// The state of a document's file since the document was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
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

impl State {
    /// Whether the document can be the one of its cluster that stays, or one that goes because of another.
    pub(super) fn stands(self) -> bool {
        matches!(self, State::NotChecked | State::AtHand)
    }

    /// Returns the number by which the page's script knows the state.
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

/// A document's file, as it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    state: State,
    file: Option<FileIdentity>,
}

impl Look {
    /// Looks at the file of a document.
    pub(super) fn at(document: &Document) -> Look {
        let (presence, file) = Presence::with_file(document);
        let state = match presence {
            Presence::Unknown => State::NotChecked,
            Presence::Present => State::AtHand,
            Presence::Changed => State::Changed,
            Presence::Gone => State::Gone,
            Presence::OutOfReach => State::OutOfReach,
        };
        Look { state, file }
    }
}

/// The state of a document's file, and which file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) state: State,
    /// The position in the cluster of the first document with this file: its own position, if it is the first.
    pub(super) file: usize,
}

/// The files of the documents of a cluster.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// For each file, the position of its first document, and whether a document so far is at hand in it.
    met: HashMap<FileIdentity, (usize, bool)>,
}

impl Files {
    /// Returns the standing of the document at `place` in the cluster. Calls must be in ascending order of `place`.
    pub(super) fn meet(&mut self, look: Look, place: usize) -> Standing {
        let Look { mut state, file } = look;
        let Some(identity) = file else {
            return Standing { state, file: place };
        };
        let (file, is_at_hand) = self.met.entry(identity).or_insert((place, false));
        if state == State::AtHand && std::mem::replace(is_at_hand, true) {
            state = State::OtherName;
        }
        Standing { state, file: *file }
    }
}

/// The bytes of a cluster that could go: of the documents at hand, those that resemble the first one, which stays.
#[derive(Debug, Default)]
pub(super) struct Going {
    pub(super) all: u64,
    /// The bytes if only copies go, and one document of each text stays.
    pub(super) identical: u64,
    stays: Option<Likeness>,
    /// The texts of which a document stays, by their positions.
    staying: HashSet<usize>,
}

/// How a document of a cluster resembles the others, as far as known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Likeness {
    /// The position in the cluster of the first document with this text.
    pub(super) text: usize,
    /// Whether its similarity to the representative reaches the threshold.
    pub(super) reaches: bool,
}

impl Likeness {
    /// Whether the similarity of two documents is known to reach the threshold. Other documents of the cluster may be
    /// connected only through documents between them.
    fn reaches(self, other: Likeness) -> bool {
        self.text == other.text
            || self.text == 0 && other.reaches
            || other.text == 0 && self.reaches
    }
}

impl Going {
    /// Counts a document of `size` bytes. The representative must come first.
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
        use State::{AtHand, Gone};
        let far = [(AtHand, 0, true), (AtHand, 1, false), (AtHand, 1, false)];
        assert_eq!(going(&far), (0, 4));
        // Both resemble the representative, but they may not resemble each other.
        let sides = [(Gone, 0, true), (AtHand, 1, true), (AtHand, 2, true)];
        assert_eq!(going(&sides), (0, 0));
    }
}
