//! Questions about one document.

mod documents;
mod explain;
mod query;

pub use documents::{Document, Documents};
pub use explain::{Common, Explanation};
pub(crate) use query::Naming;
pub use query::{Query, Subject};
