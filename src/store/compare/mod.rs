//! From a text to the stored contents that are similar to it. This module does not know documents.

mod allowance;
mod found;
mod matching;
mod published;
mod search;
mod seen;
mod sets;
mod sketch;

pub(crate) use allowance::{Allowance, FALSE_CANDIDATES};
pub use found::Match;
pub(crate) use matching::{
    Likeness, Matcher, Probe, StoredContent, VerifiedContent, highest_similarity, least_agreeing,
};
pub(crate) use published::PublishedCommit;
pub(crate) use search::Search;
pub(crate) use seen::SpreadHasher;
pub(crate) use sets::DecodedSets;
pub(crate) use sketch::{BodyRef, Sketch, StoreSketcher, content_sketch};
