//! The filters of a store: one over the oldest level, and one over all younger ones.
//!
//! The large one changes only when younger levels are merged into the oldest, and saves look-ups there. The small one
//! saves look-ups in the younger levels, which nearly every content of the oldest level would otherwise cost.

use std::hint::black_box;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::filter::{Filter, FilterName};
use super::list::OLDEST;
use crate::error::Result;
use crate::storage::disk;
use crate::storage::index::{FilterState, LEVELS, MergeState, Meta, levels};

/// The levels that share a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LevelAge {
    Young,
    Old,
}

impl LevelAge {
    pub(crate) const ALL: [LevelAge; 2] = [LevelAge::Young, LevelAge::Old];

    /// The age of a level.
    pub(crate) fn of(level: usize) -> LevelAge {
        if level < OLDEST {
            LevelAge::Young
        } else {
            LevelAge::Old
        }
    }

    pub(crate) fn levels(self) -> Range<usize> {
        match self {
            LevelAge::Young => 0..OLDEST,
            LevelAge::Old => OLDEST..LEVELS,
        }
    }

    /// Contents below this id have their postings in these levels or in older ones.
    pub(crate) fn end(self, meta: &Meta) -> u64 {
        meta.levels[self.levels().start].end
    }

    /// Whether these levels have tables.
    pub(crate) fn has_tables(self, meta: &Meta) -> bool {
        let start = levels::start(&meta.levels, self.levels().end - 1);
        self.end(meta) > start
    }

    /// The state of their filter.
    pub(crate) fn filter(self, meta: &Meta) -> FilterState {
        match self {
            LevelAge::Young => meta.young_filter,
            LevelAge::Old => meta.old_filter,
        }
    }

    /// The number of the filter that replaces theirs once the merge under way has ended, or 0.
    pub(crate) fn next_filter(self, merge: &mut MergeState) -> &mut u64 {
        match self {
            LevelAge::Young => &mut merge.young_filter,
            LevelAge::Old => &mut merge.old_filter,
        }
    }

    /// The numbers of all filters that `meta` names, or 0.
    pub(crate) fn filter_numbers(meta: &Meta) -> [u64; 4] {
        let (young, old) = (meta.young_filter.number, meta.old_filter.number);
        [young, old, meta.merge.young_filter, meta.merge.old_filter]
    }

    /// The state of their filter, mutable.
    pub(crate) fn filter_mut(self, meta: &mut Meta) -> &mut FilterState {
        match self {
            LevelAge::Young => &mut meta.young_filter,
            LevelAge::Old => &mut meta.old_filter,
        }
    }
}

/// What is known of the hashes in the tables of the levels of an age.
#[derive(Clone, Debug, Default)]
enum AgeFilter {
    /// There are no tables.
    #[default]
    Empty,
    Filter(Arc<Filter>),
    /// There is no usable filter.
    Nothing,
}

/// A value for the younger levels, and one for the oldest.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ByAge<T> {
    young: T,
    old: T,
}

impl<T> ByAge<T> {
    pub(crate) fn of(&self, age: LevelAge) -> &T {
        match age {
            LevelAge::Young => &self.young,
            LevelAge::Old => &self.old,
        }
    }

    pub(crate) fn of_mut(&mut self, age: LevelAge) -> &mut T {
        match age {
            LevelAge::Young => &mut self.young,
            LevelAge::Old => &mut self.old,
        }
    }

    fn map<R>(&self, of: impl Fn(&T) -> R) -> ByAge<R> {
        ByAge {
            young: of(&self.young),
            old: of(&self.old),
        }
    }
}

impl ByAge<bool> {
    /// Whether the value of any age is true.
    pub(crate) fn any(self) -> bool {
        self.young || self.old
    }
}

/// The filters over all postings in tables. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filters(ByAge<AgeFilter>);

impl Filters {
    /// Opens the usable ones of the filters that `meta`, which is that of the index at `path`, names.
    pub(crate) fn open(path: &Path, meta: &Meta, writable: bool) -> Result<Filters> {
        let mut filters = Filters::default();
        for age in LevelAge::ALL {
            let FilterState { number, mark } = age.filter(meta);
            let name = FilterName::of(path, meta, number)?;
            let folder = disk::parent(path);
            let open = || Filter::open(folder, name, mark, writable);
            let filter = (number > 0).then(open).flatten();
            filters.set(age, meta, filter.map(Arc::new));
        }
        Ok(filters)
    }

    /// Replaces the filter of an age. `meta` records whether the age has tables.
    pub(crate) fn set(&mut self, age: LevelAge, meta: &Meta, filter: Option<Arc<Filter>>) {
        *self.0.of_mut(age) = match filter {
            _ if !age.has_tables(meta) => AgeFilter::Empty,
            Some(filter) => AgeFilter::Filter(filter),
            None => AgeFilter::Nothing,
        };
    }

    /// The filter of an age.
    pub(crate) fn get(&self, age: LevelAge) -> Option<&Arc<Filter>> {
        match self.0.of(age) {
            AgeFilter::Filter(filter) => Some(filter),
            AgeFilter::Empty | AgeFilter::Nothing => None,
        }
    }

    /// The existing filters.
    pub(crate) fn all(&self) -> impl Iterator<Item = (LevelAge, &Arc<Filter>)> {
        LevelAge::ALL
            .into_iter()
            .filter_map(|age| Some((age, self.get(age)?)))
    }

    /// Reads the memory that [`Filters::holders`] will need for some lists and hashes.
    pub(crate) fn approach(&self, hashes: &(impl Iterator<Item = (u32, u32)> + Clone)) {
        for (_, filter) in self.all() {
            let words = hashes
                .clone()
                .map(|(list, hash)| filter.approach(list, hash));
            black_box(words.fold(0, |all, word| all ^ word));
        }
    }

    /// The ages whose levels may hold a hash of a list. The others certainly do not.
    pub(crate) fn holders(&self, list: u32, hash: u32) -> ByAge<bool> {
        self.0.map(|known| match known {
            AgeFilter::Empty => false,
            AgeFilter::Filter(filter) => filter.may_hold(list, hash),
            AgeFilter::Nothing => true,
        })
    }
}

/// The filters that `before` names and `after` does not. Both are metadata of the index at `path`.
pub(crate) fn retired(path: &Path, before: &Meta, after: &Meta) -> Result<Vec<FilterName>> {
    let kept = LevelAge::filter_numbers(after);
    let numbers = LevelAge::filter_numbers(before);
    let gone = |number: &u64| *number > 0 && !kept.contains(number);
    let gone = numbers.into_iter().filter(gone);
    gone.map(|number| FilterName::of(path, before, number))
        .collect()
}
