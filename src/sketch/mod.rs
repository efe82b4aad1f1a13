//! From shingles to signatures: permutation families, their kernels, agreement and estimate.

mod agreement;
mod estimate;
mod family;
mod kernel;
#[cfg(any(test, fuzzing))]
pub(crate) mod laws;
mod mixing;
mod permutations;
mod signature;
mod signer;
mod simd;
mod width;

pub use agreement::agreeing;
pub use estimate::Estimate;
pub use family::Family;
pub use signature::Signature;
pub(crate) use signer::MAX_PERMUTATIONS;
pub use signer::Signer;
pub use width::SlotWidth;
