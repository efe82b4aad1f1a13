//! The writing side: appended data becomes durable in one order, and is read back in that order.

mod backup;
mod durable;
mod files;
mod merge;
mod reader;
mod sound;

pub(crate) use durable::CatalogChange;
pub(crate) use files::{Health, NewContent, StoreFiles};
pub(crate) use sound::SoundCommit;
