//! An exact join: all pairs of sets that reach a threshold of Jaccard similarity.
//!
//! Sets are ranked by size, and all their members, the shingles, are put in one order, rare ones
//! first. Two sets can only be alike if their sizes are, and if some of the first members of both
//! are common: those that are indexed of the smaller one and those that are looked up of the larger
//! one. That is `AllPairs` (Bayardo, Ma and Srikant, "Scaling Up All Pairs Similarity Search", 2007).
//! Where the common ones stand says how many there may be in all, which `PPJoin` added (Xiao, Wang,
//! Lin and Yu, "Efficient Similarity Joins for Near Duplicate Detection", 2008). What is left is
//! compared until it is clear that it cannot reach the threshold. Sets are taken for those of their hashes
//! up to that comparison, which alone looks at the tails of small ones: they only take away from what
//! two sets have in common. No step leaves anything to chance.

mod bounds;
mod exact;
mod index;
mod rarity;

pub(crate) use exact::{Join, Joined, Sets};
