//! An exact join: all pairs of sets that reach a threshold of Jaccard similarity.
//!
//! Sets are ranked by size. Their members, the shingles, are put in one order, rare ones first. Two sets can only be
//! similar if their sizes are close, and if they have one of their first members in common: an indexed member of the
//! smaller set and a looked-up member of the larger one. That is `AllPairs` (Bayardo, Ma and Srikant, "Scaling Up All
//! Pairs Similarity Search", 2007). The positions of the common members bound how many there can be in all, which
//! `PPJoin` added (Xiao, Wang, Lin and Yu, "Efficient Similarity Joins for Near Duplicate Detection", 2008). The
//! remaining pairs are compared until it is clear that they cannot reach the threshold. Only this comparison looks at
//! the tails of small sets; earlier steps use the hashes alone. That is safe because tails can only reduce the number
//! of common members. No step leaves anything to chance.

mod bounds;
mod exact;
mod index;
mod rarity;

pub(crate) use exact::{Join, Joined, Sets};
