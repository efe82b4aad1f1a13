//! The next generation while it is being built.

use std::path::{Path, PathBuf};

use redb::WriteTransaction;

use super::columns::NextColumns;
use super::plan::{GenerationProgress, RebuildPlan};
use super::renumbering::Renumbering;
use super::state::{self, RebuildState, UnfinishedGeneration};
use crate::error::{Error, Result};
use crate::schema::Schema;
use crate::storage::columns::ColumnSpec;
use crate::storage::disk::{self, TurnWait};
use crate::storage::folder::leftovers;
use crate::storage::format::{ColumnKind, PerColumn};
use crate::storage::index::{Index, Meta, catalog as tables, guarded};
use crate::storage::limits::Limits;
use crate::storage::names::NEXT_INDEX;
use crate::storage::postings::FilterName;
use crate::storage::view::Snapshot;

/// A next generation that is being built.
#[derive(Debug)]
pub(crate) struct NextGeneration {
    pub(super) folder: PathBuf,
    pub(super) path: PathBuf,
    pub(super) index: Index,
    pub(super) plan: RebuildPlan,
    pub(super) limits: Limits,
    /// The metadata of the next generation's index, as of the last checkpoint.
    pub(super) meta: Meta,
    pub(super) state: RebuildState,
    pub(super) columns: NextColumns,
    /// The contents that had been removed when the rebuild began, sorted.
    pub(super) left_out: Vec<u32>,
    pub(super) ids: Renumbering,
    /// The contents removed since then whose postings no longer count, by old id, sorted.
    pub(super) unposted: Vec<u32>,
    /// The length in bytes of each column when the checksums of the shared columns were copied.
    pub(super) summed: PerColumn<u64>,
    /// The removed contents that the catalog records, by old id, sorted.
    pub(super) removed: Vec<u32>,
    /// The number of the commit whose documents the catalog has.
    pub(super) followed: u64,
}

impl NextGeneration {
    /// Resumes an earlier rebuild that has the same plan, or begins a new one.
    ///
    /// # Errors
    ///
    /// [`Error::Unfinished`] if there is an earlier rebuild with another plan.
    pub(crate) fn take_up(
        snapshot: &Snapshot,
        plan: &RebuildPlan,
        limits: Limits,
    ) -> Result<NextGeneration> {
        let next = NextGeneration::begun_or_new(snapshot, plan)?;
        Ok(NextGeneration { limits, ..next })
    }

    fn begun_or_new(snapshot: &Snapshot, plan: &RebuildPlan) -> Result<NextGeneration> {
        let folder = snapshot.folder();
        match NextGeneration::find(folder, snapshot)? {
            Some(next) if next.plan == *plan => Ok(next),
            Some(next) if next.plan.packs(&snapshot.schema) => {
                // This rebuild was not requested by the user.
                drop(next);
                NextGeneration::discard(folder, snapshot)?;
                NextGeneration::begin(folder, snapshot, plan)
            }
            Some(next) => {
                let what = next.describe(&snapshot.schema);
                Err(Error::Unfinished { what })
            }
            None => NextGeneration::begin(folder, snapshot, plan),
        }
    }

    /// Finds an earlier rebuild of the generation of `snapshot`.
    pub(crate) fn find(folder: &Path, snapshot: &Snapshot) -> Result<Option<NextGeneration>> {
        let path = folder.join(NEXT_INDEX);
        if !disk::is_file(&path)? {
            return Ok(None);
        }
        // If the process was killed at the very beginning, the file is no index or has no tables. It may also be a
        // user's file. Opening for writing would modify it, so it is read first.
        let read = |index| {
            guarded(&path, || {
                NextGeneration::read(folder, &path, index, snapshot)
            })
        };
        let found = match NextGeneration::begun(&path, snapshot) {
            Ok(Some(_)) => Index::open(&path, &TurnWait::NONE).and_then(read),
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        match found {
            Err(Error::Locked { .. }) => Err(rebuilding(folder)),
            Err(error) if !error.is_of_damage() => Err(error),
            Err(_) | Ok(None) => {
                NextGeneration::discard(folder, snapshot)?;
                Ok(None)
            }
            found => found,
        }
    }

    /// Returns the plan, the progress and the file bytes of a rebuild of the generation of `snapshot`.
    ///
    /// The progress is that of the last checkpoint. The rebuild may be under way.
    pub(crate) fn look(
        folder: &Path,
        snapshot: &Snapshot,
    ) -> Result<Option<(RebuildPlan, GenerationProgress, u64)>> {
        let path = folder.join(NEXT_INDEX);
        if !disk::is_file(&path)? {
            return Ok(None);
        }
        // A rebuild that was killed right before the switch no longer has a state.
        let begun = match NextGeneration::begun(&path, snapshot) {
            Err(error) if error.is_of_damage() => None,
            begun => begun?,
        };
        let Some(begun) = begun else {
            return Ok(None);
        };
        let plan = begun.plan();
        let mut bytes = disk::size(&path).unwrap_or_default();
        for kind in ColumnKind::ALL {
            let spec = ColumnSpec::of(kind, &begun.meta, &plan.schema)?;
            if u64::from(spec.header.generation) == begun.meta.generation {
                bytes += spec.len;
            }
        }
        let progress = GenerationProgress {
            covered: (begun.state.covered, snapshot.len),
            lists: (begun.state.lists, plan.lists().count()),
        };
        Ok(Some((plan, progress, bytes)))
    }

    /// Whether a process makes the next generation of the store in `folder`, and which one, if the system tells.
    pub(crate) fn maker(folder: &Path) -> Result<(bool, Option<u32>)> {
        let path = folder.join(NEXT_INDEX);
        let is_made = disk::is_written(&path)?;
        let process = is_made.then(|| disk::writing_process(&path));
        Ok((is_made, process.flatten()))
    }

    /// Reads what the index at `path` records of a rebuild of the generation of `snapshot`.
    ///
    /// Writes nothing.
    fn begun(path: &Path, snapshot: &Snapshot) -> Result<Option<UnfinishedGeneration>> {
        let index = Index::open_read_only(path)?;
        let transaction = index.begin_read(path)?;
        let begun = guarded(path, || state::read(&transaction, path))?;
        Ok(begun.filter(|begun| begun.fits(snapshot)))
    }

    /// Deletes the files of a next generation, and returns whether its index existed.
    ///
    /// # Errors
    ///
    /// [`Error::Rebuilding`] if another process makes it, and [`Error::Occupied`] if a file that does not belong to the
    /// store has the name of its index.
    pub(crate) fn discard(folder: &Path, snapshot: &Snapshot) -> Result<bool> {
        let path = folder.join(NEXT_INDEX);
        if !disk::is_file(&path)? {
            return Ok(false);
        }
        let Some(_kept_out) = disk::keep_writers_out(&path)? else {
            return Err(rebuilding(folder));
        };
        snapshot.check_in_place()?;
        leftovers::remove_next(folder, &snapshot.tables.meta)?;
        Ok(true)
    }

    /// Describes the goal of the rebuild for users.
    pub(crate) fn describe(&self, stored: &Schema) -> String {
        if self.plan.renumbers {
            return "less space (compact)".to_owned();
        }
        if self.plan.packs(stored) {
            return "an index that is packed".to_owned();
        }
        let pairs = self.plan.schema.parameters();
        let changed = pairs.into_iter().zip(stored.parameters());
        let changed = changed.filter(|(new, old)| new != old);
        let changed: Vec<String> = changed
            .map(|((name, value), _)| format!("{name} {value}"))
            .collect();
        changed.join(", ")
    }

    /// The plan of the rebuild.
    pub(crate) fn plan(&self) -> &RebuildPlan {
        &self.plan
    }

    /// The progress of the rebuild, given the contents of `snapshot`.
    pub(crate) fn progress(&self, snapshot: &Snapshot) -> GenerationProgress {
        GenerationProgress {
            covered: (self.state.covered, snapshot.len),
            lists: (self.state.lists, self.lists()),
        }
    }

    /// The number of contents of `snapshot` that are not yet taken over.
    pub(crate) fn behind(&self, snapshot: &Snapshot) -> u32 {
        snapshot.len.saturating_sub(self.state.covered)
    }

    /// The number of contents that have rows but no postings.
    pub(crate) fn unbanded(&self) -> u64 {
        self.meta.contents.saturating_sub(self.meta.banded())
    }

    fn begin(folder: &Path, snapshot: &Snapshot, plan: &RebuildPlan) -> Result<NextGeneration> {
        let path = folder.join(NEXT_INDEX);
        let index = Index::create_like(&path, snapshot.tables.path())?;
        // From here on, no other process makes a next generation, or puts one in use.
        if let Err(error) = snapshot.check_in_place() {
            disk::remove(&path).unwrap_or_default();
            return Err(error);
        }
        leftovers::clear_next(folder, &snapshot.tables.meta)?;
        let old = snapshot.tables.meta;
        let generation = old.generation + 1;
        let file = |kind| {
            if plan.remakes(kind, &snapshot.schema) {
                generation
            } else {
                old.files[kind]
            }
        };
        let meta = Meta {
            format: old.format,
            store: old.store,
            generation,
            files: PerColumn::new(file),
            id_scope: old.id_scope,
            ..Meta::default()
        };
        let columns = NextColumns::begin(folder, &meta, &plan.schema, snapshot);
        let columns = columns.inspect_err(|_| {
            // No rebuild has begun, so no files may stay.
            leftovers::clear_next(folder, &old).unwrap_or_default();
            disk::remove(&path).unwrap_or_default();
        })?;
        let begun = UnfinishedGeneration {
            meta,
            schema: (*plan.schema).clone(),
            state: RebuildState {
                renumbers: u32::from(plan.renumbers),
                ..RebuildState::default()
            },
            left_out: snapshot.removed_contents()?,
        };
        let next = NextGeneration::of(folder, index, begun, columns);
        let transaction = next.begin_write()?;
        let begun = || -> Result<(), redb::Error> {
            tables::Catalog::create(&transaction)?;
            tables::write_schema(&transaction, &next.plan.schema.parameters())?;
            state::write_left_out(&transaction, &next.left_out)
        };
        begun().map_err(|error| next.in_index(error))?;
        // The files' names must be durable before an index that counts their rows.
        disk::sync_folder(folder)?;
        next.commit(transaction)?;
        Ok(next)
    }

    /// Reads what an earlier attempt left, if it fits the store in its present state.
    fn read(
        folder: &Path,
        path: &Path,
        index: Index,
        snapshot: &Snapshot,
    ) -> Result<Option<NextGeneration>> {
        let transaction = index.begin_read(path)?;
        let Some(begun) = state::read(&transaction, path)? else {
            return Ok(None);
        };
        if !begun.fits(snapshot) {
            return Ok(None);
        }
        let columns = NextColumns::resume(folder, &begun.meta, &begun.schema)?;
        Ok(Some(NextGeneration::of(folder, index, begun, columns)))
    }

    /// A rebuild in the recorded state.
    fn of(
        folder: &Path,
        index: Index,
        begun: UnfinishedGeneration,
        columns: NextColumns,
    ) -> NextGeneration {
        let plan = begun.plan();
        let UnfinishedGeneration {
            meta,
            state,
            left_out,
            ..
        } = begun;
        let ids = if plan.renumbers {
            Renumbering::without(left_out.clone())
        } else {
            Renumbering::default()
        };
        NextGeneration {
            folder: folder.to_owned(),
            path: folder.join(NEXT_INDEX),
            index,
            meta,
            state,
            columns,
            ids,
            plan,
            limits: Limits::default(),
            left_out,
            unposted: Vec::new(),
            removed: Vec::new(),
            followed: 0,
            summed: PerColumn::default(),
        }
    }

    pub(super) fn lists(&self) -> u32 {
        self.plan.lists().count()
    }

    pub(super) fn in_index(&self, error: impl Into<redb::Error>) -> Error {
        Error::index(&self.path, error)
    }

    pub(super) fn begin_write(&self) -> Result<WriteTransaction> {
        self.index.begin_write()
    }

    /// Commits a transaction together with the current counts.
    pub(super) fn commit(&self, transaction: WriteTransaction) -> Result<()> {
        let write = || -> Result<(), redb::Error> {
            self.meta.write(&transaction)?;
            self.state.write(&transaction)
        };
        write().map_err(|error| self.in_index(error))?;
        let done = transaction.commit();
        done.map_err(|error| self.in_index(error))
    }

    /// The name of the filter that the generation will have.
    pub(super) fn filter_name(&self) -> Result<FilterName> {
        FilterName::of(&self.path, &self.meta, self.meta.old_filter.number)
    }
}

/// The error that another process makes the next generation.
fn rebuilding(folder: &Path) -> Error {
    Error::Rebuilding {
        path: folder.to_owned(),
        process: None,
    }
}
