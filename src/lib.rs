//! An embedded, persistent store for near-duplicate text.

mod error;
