//! Tests of the crate through its public interface.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod collection;
mod experiments;
mod pictures;
