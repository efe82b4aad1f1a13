//! The next generation of a store, made beside the one in use.
//!
//! A rebuild goes through these stages:
//!
//! 1. *Begin.* `index.redb.next` is made. It says what is to be made, and which contents were removed
//!    at that time; those get no postings, and no rows either if contents are numbered anew.
//! 2. *Columns* (`columns.rs`). Those that change are written as files of the next generation.
//! 3. *Lists* (`lists.rs`). The bucket tables are written from the columns.
//! 4. *Catalog* (`catalog.rs`). Documents, names and removed contents are copied.
//! 5. *Catching up.* What was committed meanwhile is added, until little is left.
//! 6. *Switch* (`switch.rs`). Under the store's lock the rest is added, and the index gets its name.
//!
//! Nothing that is in use is changed before the last step, which is one renaming of a file. Until
//! then a crash leaves the store as it was; what is in `index.redb.next` is taken up by the next
//! attempt, with the columns' rows that it counts.

mod catalog;
mod columns;
mod lists;
mod next;
mod plan;
mod renumbering;
mod state;
mod switch;

pub(crate) use columns::Sign;
pub(crate) use next::Next;
pub(crate) use plan::{Plan, Progress};
