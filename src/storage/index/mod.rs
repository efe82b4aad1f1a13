//! The index: how it is opened, and the tables that name documents.

mod append;
pub(crate) mod catalog;
mod document;
mod guard;
pub(crate) mod journal;
pub(crate) mod levels;
mod meta;
mod open;
mod runs;
mod scope;
mod sources;

pub(crate) use append::{Appender, copy};
pub(crate) use catalog::Catalog;
pub(crate) use document::{DocumentChange, DocumentRow};
pub(crate) use guard::{GuardedEntries, guarded};
pub(crate) use levels::{LEVELS, LevelState, MergeState};
pub(crate) use meta::{FilterState, Meta};
pub(crate) use open::{Index, InodeIdentity, NoWriter, existing_index, identity, page_bytes};
pub(crate) use runs::RunRecord;
pub use scope::IdScope;
pub use sources::SourceFile;
pub(crate) use sources::Sources;
