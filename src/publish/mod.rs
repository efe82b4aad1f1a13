//! Outputs that take their place whole, and replace only what may be replaced.
//!
//! An output is built in a folder beside its place (`work`). What stands in its place is looked at
//! first (`standing`): a plain file, or a folder whose `manifest` says that dedupdb wrote all that
//! is in it. **Invariant: at every step either what stood there or what is new has the name, and what
//! stood there is deleted only when the new one is durable in its place.**

pub mod apart;
pub mod error;
pub mod escape;
pub(crate) mod manifest;
pub(crate) mod standing;
mod steps;
pub(crate) mod work;
