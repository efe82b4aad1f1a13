//! What the shingler needs to know of each character, frozen at Unicode 17.0.0.
//!
//! Stored hashes must outlive toolchains, so nothing here asks the standard library or a crate
//! what a character is: the range tables beside this file are part of the store's format. Code
//! points unassigned in 17.0.0 separate words, have no case, and are never shown to a normalizer
//! that may know better.
//!
//! The ranges are expanded once, on the first non-ASCII character a process meets, into a
//! two-stage lookup of one packed [`CharEntry`] a character.

mod class;
mod combining;
mod entry;
mod lowercase;
mod quick_check;
mod table;
mod unassigned;

pub(super) use entry::{CharEntry, Class};
pub(super) use table::{CharTable, ascii};
