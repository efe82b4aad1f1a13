//! The outcomes of adding documents.

use crate::store::compare::Match;

/// The outcome of adding an [`Input`](crate::Input).
///
/// It is returned by [`Writer::add`](crate::Writer::add) and its variants,
/// [`Writer::admit_batch`](crate::Writer::admit_batch) and
/// [`Store::insert_unless_duplicate`](crate::Store::insert_unless_duplicate).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// What it did to the store.
    pub change: Change,
    /// How it relates to the documents that were there before it.
    pub relation: Relation,
    /// The earlier document that it resembles. It is always present if the input was kept out. If the input
    /// was stored, it is present if the writer collects [`evidence`](crate::Writer::evidence), and if the input
    /// [contains](Relation::Contains) it.
    pub earlier: Option<Match>,
    /// Whether this [`Writer`](crate::Writer) added the text of that earlier document. False if there is no
    /// `earlier`, and for [`Store::insert_unless_duplicate`](crate::Store::insert_unless_duplicate).
    pub earlier_is_of_this_writer: bool,
    /// The key under which it is stored, if that is not its own: see
    /// [`Writer::admit_batch`](crate::Writer::admit_batch).
    pub second_key: Option<String>,
    /// The file from which the store has the document of this key, if the input came from another one. The input was
    /// [refused](Change::Refused), or has the same text, and no [`IdScope`](crate::write::IdScope) was chosen.
    pub other_file: Option<String>,
}

/// Returns the second key of a document whose own key has another text: `KEY#HASH`, with 16 digits of the hash of its text.
pub(crate) fn second_key(key: &str, hash: &[u8; 32]) -> String {
    let hash = blake3::Hash::from_bytes(*hash).to_hex();
    format!("{key}#{}", &hash[..16])
}

impl Outcome {
    /// The outcome for an input that is not stored in any case, and is kept out if there is a match.
    pub fn against(earlier: Option<Match>) -> Outcome {
        let (change, relation) = match &earlier {
            None => (Change::Unchanged, Relation::Novel),
            Some(found) if found.exact_copy => (Change::KeptOut, Relation::ExactCopy),
            Some(_) => (Change::KeptOut, Relation::NearDuplicate),
        };
        Outcome {
            change,
            relation,
            earlier,
            earlier_is_of_this_writer: false,
            second_key: None,
            other_file: None,
        }
    }

    /// Returns the outcome in a word: `added`, `updated` and `unchanged` are in the store; `exact_copy`, `near_duplicate`
    /// and `contained` were kept out, and `refused` was [refused](Change::Refused).
    pub fn verdict(&self) -> &'static str {
        match (self.change, self.relation) {
            (Change::Added, _) => "added",
            (Change::Updated, _) => "updated",
            (Change::Unchanged, _) => "unchanged",
            (Change::Refused, _) => "refused",
            (Change::KeptOut, Relation::ExactCopy) => "exact_copy",
            (Change::KeptOut, Relation::Contained) => "contained",
            (Change::KeptOut, _) => "near_duplicate",
        }
    }

    /// Returns the earlier document that the input resembles. `None` if the store has its text under its key, or under
    /// its [second one](Outcome::second_key).
    pub fn duplicate_of(&self) -> Option<&Match> {
        let earlier = self.earlier.as_ref();
        earlier.filter(|_| self.change == Change::KeptOut)
    }
}

/// What an [`Input`](crate::Input) did to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Change {
    /// Its key is new.
    Added,
    /// Its key had another text before.
    Updated,
    /// Its key has this text already; or, in a run, another document has it and it has no shingles.
    Unchanged,
    /// It was not stored, because it resembles an earlier document.
    KeptOut,
    /// It was not stored, because the store has another text of its key, from another file, and no
    /// [`IdScope`](crate::write::IdScope) says that the two are the same document; see [`Input::source`](crate::Input::source).
    Refused,
}

/// How an [`Input`](crate::Input) relates to the documents that were there before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Relation {
    /// None of them reaches the threshold.
    Novel,
    /// At least one of them reaches the threshold.
    NearDuplicate,
    /// One of them has the same text, or was given as the same shingles.
    ExactCopy,
    /// None of them reaches the threshold, and one contains it; see [`Options::containment`](crate::Options::containment).
    Contained,
    /// None of them reaches the threshold or contains it, and it contains one.
    Contains,
}
