//! What a text shares with stored ones, word for word.
//!
//! All shingles of the text are looked up among the fingerprints of the stored texts. A run of as many shingles as the
//! distance of two fingerprints contains one of them, so nothing is missed. The set of a content then decides which
//! shingles of the text it has, and consecutive ones make a passage.

mod common;
mod comparer;
mod contained;
mod holders;
mod lookup;
mod passages;
mod places;
mod query;
mod runs;

pub use common::{CommonPassage, SampledText};
pub(crate) use contained::{ANY, Containment, ContainmentBounds, contained};
pub use passages::{Passage, Passages, PassagesOfDocument};
pub use query::PassageQuery;
