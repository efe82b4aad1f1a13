//! Text to shingle sets: the laws, and agreement with a slow implementation.

mod agreement;
mod frozen;
mod laws;
pub(crate) mod reference;
mod strategy;
