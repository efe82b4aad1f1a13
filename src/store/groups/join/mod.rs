//! An exact join: all pairs of sets that reach a threshold of Jaccard similarity, or of the containment of the smaller
//! set in the larger one.
//!
//! Sets are ranked by size. Their members, the shingles, are put in one order, rare ones first. Two sets can only be
//! similar if their sizes are close, and if they have one of their first members in common: an indexed member of the
//! smaller set and a looked-up member of the larger one. That is `AllPairs` (Bayardo, Ma and Srikant, "Scaling Up All
//! Pairs Similarity Search", 2007). The positions of the common members bound how many there can be in all, which
//! `PPJoin` added (Xiao, Wang, Lin and Yu, "Efficient Similarity Joins for Near Duplicate Detection", 2008). The
//! remaining pairs are compared until it is clear that they cannot reach the threshold. Only this comparison looks at
//! the tails of small sets; earlier steps use the hashes alone. That is safe because tails can only reduce the number
//! of common members. No step leaves anything to chance.
//!
//! For containment, sizes say nothing, and all members of the larger set are looked up; which members of the smaller
//! one need to be indexed follows from Sarawagi and Kirpal ("Efficient Set Joins on Similarity Predicates", 2004).
//! Members that no other set has are neither indexed nor looked up. In most texts these are all of the first ones.

mod bounds;
mod exact;
mod index;
mod rarity;

pub(crate) use bounds::JoinBounds;
pub(crate) use exact::{ExactJoin, JoinedPair, SetSource};
