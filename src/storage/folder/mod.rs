//! The folder of a store: what may be in it, which process has it open, and leftovers in it.

mod apart;
mod holder;
pub(crate) mod leftovers;
mod site;

pub(crate) use apart::is_store;
pub(crate) use apart::{check_outside, enclosing, inside};
pub(crate) use holder::{HolderNote, holder};
pub(crate) use site::{BuildSite, check_free};
