//! An input before it is added.

use super::hashed_key::HashedKey;
use super::input::{Input, check_key};
use crate::error::{Error, Result};
use crate::storage::{DocumentRow, Snapshot};
use crate::store::compare::{PublishedCommit, Sketch, StoreSketcher, VerifiedContent};

/// An input with everything that can be found out about it without changing the store.
///
/// It is large and moves between threads, so it is boxed.
#[derive(Debug)]
pub(crate) struct PreparedInput {
    pub(crate) input: Input,
    pub(crate) hash: [u8; 32],
    /// The hash of the key.
    key_hash: u64,
    /// The generation of the store that the following fields refer to.
    generation: u64,
    /// `None` while a copy of the text seems to be stored, because then it is not needed.
    pub(crate) sketch: Option<Sketch>,
    /// The document's row in the last commit.
    pub(crate) row: Option<DocumentRow>,
    /// The contents of the last commit with the same text.
    pub(crate) copies: Vec<u32>,
    /// The contents below this id were compared with the input. Those that match are in `matches`.
    pub(crate) checked: u32,
    pub(crate) matches: Vec<VerifiedContent>,
    /// Contents that the text contains, which is no reason to keep it out.
    pub(crate) inside: Vec<VerifiedContent>,
}

impl PreparedInput {
    /// The input's key.
    pub(crate) fn key(&self) -> &str {
        &self.input.key
    }

    /// The input's key with its hash.
    pub(crate) fn keyed(&self) -> HashedKey<'_> {
        HashedKey {
            key: &self.input.key,
            hash: self.key_hash,
        }
    }

    /// Takes the sketch out, or makes it if there is none.
    pub(crate) fn take_sketch(&mut self, sketcher: &StoreSketcher) -> Result<Sketch> {
        match self.sketch.take() {
            Some(sketch) => Ok(sketch),
            None => sketcher.sketch_to_store(self.input.body.borrowed()),
        }
    }

    /// Looks up the document and its copies in `snapshot`.
    pub(crate) fn locate(&mut self, snapshot: &Snapshot) -> Result<()> {
        let generation = snapshot.tables.meta.generation;
        if self.generation != generation {
            // Another generation may have other signatures and other ids.
            self.generation = generation;
            self.sketch = None;
            self.matches.clear();
            self.inside.clear();
            self.checked = 0;
        }
        self.row = snapshot.document(&self.input.key)?;
        snapshot.copies(&self.hash, &mut self.copies)
    }
}

impl PublishedCommit {
    /// Finds out everything about an input that needs no change of the store.
    pub(crate) fn prepare(&self, input: Input) -> Result<Box<PreparedInput>> {
        let hash = input.hash();
        self.sketcher.check(input.body.borrowed())?;
        let mut prepared = self.locate(input, hash)?;
        if prepared.copies.is_empty() {
            let body = prepared.input.body.borrowed();
            prepared.sketch = Some(self.sketcher.sketch_to_store(body)?);
        }
        Ok(prepared)
    }

    /// Looks up an input whose content has the hash `hash`.
    pub(crate) fn locate(&self, input: Input, hash: [u8; 32]) -> Result<Box<PreparedInput>> {
        check_key(&input.key)?;
        let mut prepared = Box::new(PreparedInput {
            hash,
            key_hash: HashedKey::new(&input.key).hash,
            input,
            generation: self.snapshot.tables.meta.generation,
            sketch: None,
            row: None,
            copies: Vec::new(),
            checked: 0,
            matches: Vec::new(),
            inside: Vec::new(),
        });
        prepared.locate(&self.snapshot)?;
        Ok(prepared)
    }
}

impl Error {
    /// Whether the error concerns one input only and leaves the store intact.
    pub(crate) fn is_of_input(&self) -> bool {
        matches!(
            self,
            Error::InvalidKey { .. } | Error::InvalidText { .. } | Error::InvalidShingles { .. }
        )
    }
}
