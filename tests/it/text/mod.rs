//! Text to shingle sets: the laws, and agreement with a slow implementation.

mod agreement;
mod frozen;
mod laws;
mod reference;
mod strategy;
