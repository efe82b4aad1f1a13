//! The folder of a store: what may be in it, who has it, and what is left in it.

mod apart;
mod holder;
pub(crate) mod leftovers;
mod site;

#[cfg(feature = "corpus")]
pub(crate) use apart::is_store;
pub(crate) use apart::{check_outside, enclosing, inside};
pub(crate) use holder::Note;
pub(crate) use site::{BuildSite, check_free};
