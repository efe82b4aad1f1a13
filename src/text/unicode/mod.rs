//! The properties of characters that the shingler needs, frozen at Unicode 17.0.0.
//!
//! Stored hashes must outlive toolchains, so nothing here asks the standard library or a crate for
//! the properties of a character: the range tables beside this file are part of the store's format.
//! Code points unassigned in 17.0.0 separate words, have no case, and are never passed to a
//! normalizer, which may know a newer version.
//!
//! The first non-ASCII character that a process meets expands the ranges into a two-stage lookup of
//! one packed [`CharEntry`] a character.

mod class;
mod combining;
mod entry;
mod lowercase;
mod quick_check;
mod table;
mod unassigned;

pub(super) use entry::{CharClass, CharEntry};
pub(super) use table::{CharTable, ascii, entry_of};
