//! What can be read of a damaged store.

mod part;
mod worn;
mod wreck;

pub(crate) use wreck::{ContentRemains, Wreck};
