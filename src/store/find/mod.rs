//! Queries about single documents.

mod documents;
mod explain;
mod query;
mod query_all;

pub use documents::{Document, Documents};
pub use explain::{Common, Explanation};
pub use query::{Query, Subject};
