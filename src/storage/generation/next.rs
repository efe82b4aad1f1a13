//! The next generation while it is made.

use std::path::{Path, PathBuf};

use redb::WriteTransaction;

use super::columns::NextColumns;
use super::plan::{Plan, Progress};
use super::renumbering::Renumbering;
use super::state::{self, Begun, State};
use crate::error::{Error, Result};
use crate::schema::Schema;
use crate::storage::columns::ColumnSpec;
use crate::storage::disk;
use crate::storage::folder::leftovers;
use crate::storage::format::Kind;
use crate::storage::index::{Index, Meta, catalog as tables, guarded};
use crate::storage::limits::Limits;
use crate::storage::names::NEXT_INDEX;
use crate::storage::postings::FilterName;
use crate::storage::view::Snapshot;

/// The makings of the next generation.
#[derive(Debug)]
pub(crate) struct Next {
    pub(super) folder: PathBuf,
    pub(super) path: PathBuf,
    pub(super) index: Index,
    pub(super) plan: Plan,
    pub(super) limits: Limits,
    /// What the next generation's index will say; it counts what the last checkpoint has.
    pub(super) meta: Meta,
    pub(super) state: State,
    pub(super) columns: NextColumns,
    /// The contents that were removed when the rebuild began, sorted.
    pub(super) left_out: Vec<u32>,
    pub(super) ids: Renumbering,
    /// The contents that were removed since and are in no table any more, sorted, by their old ids.
    pub(super) unposted: Vec<u32>,
    /// Bytes of each column, in the order of their kinds, when the checksums of the shared ones were
    /// copied.
    pub(super) summed: [u64; 3],
    /// The removed contents that the catalog has, sorted, by their old ids.
    pub(super) removed: Vec<u32>,
}

impl Next {
    /// Takes up the rebuild that was begun before, if it has the same plan, or begins one.
    ///
    /// # Errors
    ///
    /// [`Error::Unfinished`] if one with another plan was begun.
    pub(crate) fn take_up(snapshot: &Snapshot, plan: &Plan, limits: Limits) -> Result<Next> {
        let next = Next::begun_or_new(snapshot, plan)?;
        Ok(Next { limits, ..next })
    }

    fn begun_or_new(snapshot: &Snapshot, plan: &Plan) -> Result<Next> {
        let folder = snapshot.tables.path().parent().unwrap_or(Path::new(""));
        match Next::find(folder, snapshot)? {
            Some(next) if next.plan == *plan => Ok(next),
            Some(next) if next.plan.packs(&snapshot.schema) => {
                // Nobody asked for it.
                drop(next);
                Next::discard(folder, snapshot)?;
                Next::begin(folder, snapshot, plan)
            }
            Some(next) => {
                let what = next.describe(&snapshot.schema);
                Err(Error::Unfinished { what })
            }
            None => Next::begin(folder, snapshot, plan),
        }
    }

    /// The rebuild that was begun before on the generation of `snapshot`.
    pub(crate) fn find(folder: &Path, snapshot: &Snapshot) -> Result<Option<Next>> {
        let path = folder.join(NEXT_INDEX);
        if !disk::is_file(&path)? {
            return Ok(None);
        }
        // One that was killed at the very beginning is no index, or has no tables. It may be somebody's,
        // so it is read before it is opened for writing, which writes to it.
        let read = |index| guarded(&path, || Next::read(folder, &path, index, snapshot));
        let found = match Next::begun(&path, snapshot) {
            Ok(Some(_)) => Index::open(&path).and_then(read),
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        match found {
            Err(error) if !error.is_of_damage() => Err(error),
            Err(_) | Ok(None) => {
                Next::discard(folder, snapshot)?;
                Ok(None)
            }
            found => found,
        }
    }

    /// The plan of the rebuild that was begun before on the generation of `snapshot`, how far it was at
    /// its last checkpoint, and the bytes of its files. It may be under way.
    pub(crate) fn look(
        folder: &Path,
        snapshot: &Snapshot,
    ) -> Result<Option<(Plan, Progress, u64)>> {
        let path = folder.join(NEXT_INDEX);
        if !disk::is_file(&path)? {
            return Ok(None);
        }
        // One that was killed right before the switch has no state any more.
        let begun = match Next::begun(&path, snapshot) {
            Err(error) if error.is_of_damage() => None,
            begun => begun?,
        };
        let Some(begun) = begun else {
            return Ok(None);
        };
        let plan = begun.plan();
        let mut bytes = disk::size(&path).unwrap_or_default();
        for kind in Kind::ALL {
            let spec = ColumnSpec::of(kind, &begun.meta, &plan.schema)?;
            if u64::from(spec.header.generation) == begun.meta.generation {
                bytes += spec.len;
            }
        }
        let progress = Progress {
            covered: (begun.state.covered, snapshot.len),
            lists: (begun.state.lists, plan.lists()),
        };
        Ok(Some((plan, progress, bytes)))
    }

    /// What the index at `path` says of a rebuild, if it was begun on the generation of `snapshot`.
    /// Nothing is written.
    fn begun(path: &Path, snapshot: &Snapshot) -> Result<Option<Begun>> {
        let index = Index::open_read_only(path)?;
        let transaction = index.begin_read(path)?;
        let begun = guarded(path, || state::read(&transaction, path))?;
        Ok(begun.filter(|begun| begun.fits(snapshot)))
    }

    /// Deletes what there is of a next generation; says whether there was any.
    ///
    /// # Errors
    ///
    /// [`Error::Occupied`] if a file that is not the store's has the name of its index.
    pub(crate) fn discard(folder: &Path, snapshot: &Snapshot) -> Result<bool> {
        let meta = &snapshot.tables.meta;
        let was_there = leftovers::remove_next_index(folder, meta.store)?;
        leftovers::clear(folder, meta)?;
        Ok(was_there)
    }

    /// What it is to become, for people.
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

    /// What is to be made.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How far it is, if the store has the contents of `snapshot`.
    pub(crate) fn progress(&self, snapshot: &Snapshot) -> Progress {
        Progress {
            covered: (self.state.covered, snapshot.len),
            lists: (self.state.lists, self.lists()),
        }
    }

    /// How many contents are yet to be taken over from `snapshot`.
    pub(crate) fn behind(&self, snapshot: &Snapshot) -> u32 {
        snapshot.len.saturating_sub(self.state.covered)
    }

    /// How many contents have rows but no postings.
    pub(crate) fn unbanded(&self) -> u64 {
        self.meta.contents.saturating_sub(self.meta.banded())
    }

    fn begin(folder: &Path, snapshot: &Snapshot, plan: &Plan) -> Result<Next> {
        leftovers::clear(folder, &snapshot.tables.meta)?;
        let path = folder.join(NEXT_INDEX);
        let index = Index::create_like(&path, snapshot.tables.path())?;
        let old = snapshot.tables.meta;
        let generation = old.generation + 1;
        let file = |changes, old| if changes { generation } else { old };
        let resigns = plan.renumbers || plan.resigns(&snapshot.schema);
        let meta = Meta {
            format: old.format,
            store: old.store,
            generation,
            contents_file: file(plan.renumbers, old.contents_file),
            shingles_file: file(plan.renumbers, old.shingles_file),
            signatures_file: file(resigns, old.signatures_file),
            ..Meta::default()
        };
        let columns = NextColumns::create(folder, &meta, &plan.schema, snapshot);
        let columns = columns.inspect_err(|_| {
            // Nothing is begun, so nothing stays.
            disk::remove(&path).unwrap_or_default();
            leftovers::clear(folder, &old).unwrap_or_default();
        })?;
        let begun = Begun {
            meta,
            schema: (*plan.schema).clone(),
            state: State {
                renumbers: u32::from(plan.renumbers),
                ..State::default()
            },
            left_out: snapshot.removed_contents()?,
        };
        let next = Next::of(folder, index, begun, columns);
        let transaction = next.begin_write()?;
        let begun = || -> Result<(), redb::Error> {
            tables::Catalog::create(&transaction)?;
            tables::write_schema(&transaction, &next.plan.schema.parameters())?;
            state::write_left_out(&transaction, &next.left_out)
        };
        begun().map_err(|error| next.in_index(error))?;
        // What counts rows of files comes after their names.
        disk::sync_folder(folder)?;
        next.commit(transaction)?;
        Ok(next)
    }

    /// Reads what an earlier attempt left, if it belongs to the store as it is.
    fn read(folder: &Path, path: &Path, index: Index, snapshot: &Snapshot) -> Result<Option<Next>> {
        let transaction = index.begin_read(path)?;
        let Some(begun) = state::read(&transaction, path)? else {
            return Ok(None);
        };
        if !begun.fits(snapshot) {
            return Ok(None);
        }
        let columns = NextColumns::open(folder, &begun.meta, &begun.schema)?;
        Ok(Some(Next::of(folder, index, begun, columns)))
    }

    /// A rebuild as it was begun, or goes on.
    fn of(folder: &Path, index: Index, begun: Begun, columns: NextColumns) -> Next {
        let plan = begun.plan();
        let Begun {
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
        Next {
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
            summed: [0; 3],
        }
    }

    pub(super) fn lists(&self) -> u32 {
        self.plan.lists()
    }

    pub(super) fn in_index(&self, error: impl Into<redb::Error>) -> Error {
        Error::index(&self.path, error)
    }

    pub(super) fn begin_write(&self) -> Result<WriteTransaction> {
        self.index.begin_write()
    }

    /// Commits a transaction with the counts as they are now.
    pub(super) fn commit(&self, transaction: WriteTransaction) -> Result<()> {
        let write = || -> Result<(), redb::Error> {
            self.meta.write(&transaction)?;
            self.state.write(&transaction)
        };
        write().map_err(|error| self.in_index(error))?;
        let done = transaction.commit();
        done.map_err(|error| self.in_index(error))
    }

    /// The filter that it will have.
    pub(super) fn filter_name(&self) -> Result<FilterName> {
        FilterName::of(&self.path, &self.meta, self.meta.old_filter.number)
    }
}
