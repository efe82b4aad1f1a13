//! Decoded shingle sets.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::BuildHasherDefault;
use std::rc::Rc;

use super::seen::SpreadHasher;
use crate::error::Result;
use crate::text::ShingleSet;

/// Once the sets have more shingles than this, all are dropped.
const MOST: usize = 1 << 18;

/// The shingle sets of contents that are compared again and again, each decoded once.
///
/// When they have too many shingles, all are dropped, and those that are needed are decoded again.
#[derive(Debug, Default)]
pub(crate) struct DecodedSets {
    decoded: HashMap<u32, Rc<ShingleSet>, BuildHasherDefault<SpreadHasher>>,
    shingles: usize,
}

impl DecodedSets {
    /// The shingles of a content, which `decode` appends to an empty set.
    pub(crate) fn of(
        &mut self,
        content: u32,
        decode: impl FnOnce(&mut ShingleSet) -> Result<()>,
    ) -> Result<Rc<ShingleSet>> {
        if self.shingles > MOST {
            *self = DecodedSets::default();
        }
        match self.decoded.entry(content) {
            Entry::Occupied(held) => Ok(held.get().clone()),
            Entry::Vacant(place) => {
                let mut set = ShingleSet::default();
                decode(&mut set)?;
                self.shingles += set.len();
                Ok(place.insert(Rc::new(set)).clone())
            }
        }
    }
}
