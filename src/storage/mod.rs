//! The store on disk: columns, bucket tables, catalog, and the commit that binds them.
//!
//! `format` specifies the files. `StoreFiles` is the writing side, behind the store's lock. `Snapshot` is the reader's view.
//! This layer does not know texts: a content arrives as hash, shingles and signature.

mod columns;
mod commit;
mod disk;
mod folder;
mod format;
mod generation;
mod index;
#[cfg(any(test, fuzzing))]
pub(crate) mod laws;
mod limits;
mod names;
mod parallel;
mod postings;
mod salvage;
mod view;

pub(crate) use commit::{CatalogChange, NewContent, SoundCommit, StoreFiles};
pub(crate) use disk::{Process, TurnWait, UnsyncedFolder, resolved};
#[cfg(all(test, unix))]
pub(crate) use disk::{crash, watch};
pub(crate) use folder::{BuildSite, enclosing, holder, inside, is_store};
pub(crate) use format::{ColumnKind, ContentRow};
pub(crate) use generation::{GenerationProgress, NextGeneration, RebuildPlan, RowMaker};
pub(crate) use index::{DocumentChange, DocumentRow, NoWriter, RunRecord, Sources};
pub use index::{IdScope, SourceFile};
pub(crate) use limits::Limits;
pub(crate) use postings::{BucketList, BucketLists, ByAge, ChainLink, Filter, LevelAge, Posting};
pub(crate) use salvage::{ContentRemains, Wreck};
pub(crate) use view::{PackedShingles, Snapshot};
