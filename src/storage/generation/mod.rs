//! The next generation of a store, built beside the one in use.
//!
//! A rebuild goes through these stages:
//!
//! 1. *Begin.* `index.redb.next` is created. It records the plan and the contents that are removed at that time. Those
//!    get no postings, and no rows either if contents are renumbered.
//! 2. *Columns* (`columns.rs`). The columns that change are written as files of the next generation.
//! 3. *Lists* (`lists.rs`). The bucket tables are written from the columns.
//! 4. *Catalog* (`catalog.rs`). Documents, names and removed contents are copied.
//! 5. *Catching up.* Commits made in the meantime are added until little is left.
//! 6. *Switch* (`switch.rs`). Under the store's lock, the rest is added and the index is renamed to its final name.
//!
//! Files in use are not changed before the last step, which renames one file. A crash before that leaves the store as
//! it was. The next attempt resumes from `index.redb.next` and the column rows that it counts.

mod catalog;
mod columns;
mod lists;
mod next;
mod plan;
mod renumbering;
mod state;
mod switch;

pub(crate) use columns::RowMaker;
pub(crate) use next::NextGeneration;
pub(crate) use plan::{GenerationProgress, RebuildPlan};
