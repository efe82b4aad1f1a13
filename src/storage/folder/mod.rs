//! The folder of a store: what may be in it, who has it, and what is left in it.

mod apart;
mod holder;
pub(crate) mod leftovers;
mod site;

pub(crate) use apart::{check_outside, enclosing, inside, is_store};
pub(crate) use holder::Note;
pub(crate) use site::{BuildSite, check_free};
