//! Tests of the crate through its public interface.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod adding;
mod cluster_kernels;
mod corpus;
mod dedup;
mod each;
mod mail;
#[path = "../../../tests/it/numbered.rs"]
mod numbered;
