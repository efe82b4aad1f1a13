//! Files of a store that no index names any more.

use std::ffi::OsStr;
use std::path::Path;

use super::disk::{self, File};
use super::filter::FilterName;
use super::format::{Kind, belongs_to};
use super::meta::Meta;
use super::next::NEXT_INDEX;
use crate::error::Result;

/// What the name of a file of a generation says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Column(Kind, u32),
    Filter { generation: u32, number: u32 },
}

impl Named {
    fn of(name: &str) -> Option<Named> {
        if let Some((kind, generation)) = Kind::of_file_name(name) {
            return Some(Named::Column(kind, generation));
        }
        let (generation, number) = name.strip_prefix("filter.")?.split_once('.')?;
        Some(Named::Filter {
            generation: generation.parse().ok()?,
            number: number.parse().ok()?,
        })
    }

    fn generation(self) -> u64 {
        match self {
            Named::Column(_, generation) | Named::Filter { generation, .. } => generation.into(),
        }
    }

    /// Whether `meta` names it.
    fn is_in(self, meta: &Meta) -> bool {
        match self {
            Named::Column(Kind::Contents, file) => meta.contents_file == u64::from(file),
            Named::Column(Kind::Shingles, file) => meta.shingles_file == u64::from(file),
            Named::Column(Kind::Signatures, file) => meta.signatures_file == u64::from(file),
            Named::Filter { generation, number } => {
                let name = FilterName {
                    store: meta.store,
                    generation,
                    number,
                };
                FilterName::of(Path::new(""), meta).is_ok_and(|named| named == name)
            }
        }
    }
}

/// Deletes the store's files in `folder` that neither `meta` names nor the next generation, if one is
/// being made.
///
/// What cannot be deleted costs room and nothing else. Readers that have it open go on using it.
pub(super) fn clear(folder: &Path, meta: &Meta) -> Result<()> {
    let has_next = disk::is_file(&folder.join(NEXT_INDEX))?;
    for path in disk::list(folder)? {
        let name = path.file_name().and_then(OsStr::to_str);
        let Some(named) = name.and_then(Named::of) else {
            continue;
        };
        let is_next = has_next && named.generation() == meta.generation + 1;
        if !named.is_in(meta) && !is_next && is_ours(&path, meta) {
            disk::remove(&path).unwrap_or_default();
        }
    }
    Ok(())
}

/// Whether a file begins like one of this store.
fn is_ours(path: &Path, meta: &Meta) -> bool {
    let start = File::open(path).and_then(|file| file.start(64));
    start.is_ok_and(|start| belongs_to(&start, meta.store))
}
