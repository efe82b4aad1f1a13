//! Admitting the documents of a corpus that are like no earlier one.

use super::Batch;
use super::earlier::At;
use super::matching::Verified;
use super::prepared::Prepared;
use super::query::{Match, content_sketch};
use super::writer::{MAX_KEY_BYTES, Writer, own_error};
use crate::error::{Error, Result};
use crate::storage::DocumentRow;

/// What became of a document that [`Writer::admit_batch`] was offered.
#[derive(Clone, Debug, PartialEq)]
pub enum Admission {
    /// No earlier document is like it, and it was stored.
    New,
    /// It is stored since before this writer, and no document stored before it is like it.
    Known,
    /// A document that came before is like it.
    Duplicate {
        /// The first of those that are like it, in the order in which they were stored.
        earlier: Match,
        /// Whether this writer admitted that one.
        is_of_this_writer: bool,
    },
}

impl Writer {
    /// Stores the documents of a batch that are like no earlier one, as if one was offered after
    /// the other, and never replaces or removes any. Offering the same documents again, to another
    /// writer and after a crash at any moment too, gives the same answers, but for [`Admission::Known`]
    /// where it was [`Admission::New`], as long as no candidates are passed over
    /// ([`Store::passed_over`](crate::Store::passed_over)).
    ///
    /// A document whose key has another text in the store is stored beside it, as `KEY#HASH` with 16
    /// digits of its text's hash. A document that is stored already is no duplicate of itself; but
    /// it is one of those that were stored before it, and so is a document that is offered twice to
    /// the same writer.
    ///
    /// ```
    /// use dedupdb::{Admission, Input, Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("seen"), &Schema::default())?;
    /// let texts = [
    ///     ("1", "seven swans were swimming on the lake when the snow began to fall at last"),
    ///     ("2", "Seven swans were swimming on the lake when the snow began to fall, at last!"),
    ///     ("1", "nobody had told the ferryman that the bridge would open a whole year early"),
    /// ];
    /// let batch = store.sketch_all(texts.map(|(key, text)| Input::new(key, text)).to_vec());
    /// let mut writer = store.writer()?;
    /// let admissions = writer.admit_batch(batch)?;
    /// assert!(matches!(admissions[0], Ok(Admission::New)));
    /// assert!(matches!(&admissions[1], Ok(Admission::Duplicate { earlier, .. }) if earlier.key == "1"));
    /// assert!(matches!(admissions[2], Ok(Admission::New)));
    /// writer.commit()?;
    /// assert_eq!(store.stats()?.documents, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Writer::add_all`].
    pub fn admit_batch(&mut self, batch: Batch) -> Result<Vec<Result<Admission>>> {
        self.begin()?;
        let located = self.locate(batch);
        let admissions = self.admit_each(located);
        self.failed |= admissions.is_err();
        admissions
    }

    fn admit_each(&mut self, located: Vec<Result<Prepared>>) -> Result<Vec<Result<Admission>>> {
        let compared = self.store.shared.pool.map(located, |prepared| {
            let mut prepared = prepared?;
            match self.committed_own(&prepared)? {
                Some(content) => self.find_matches_below(&mut prepared, content)?,
                None => prepared = self.find_matches(prepared)?,
            }
            Ok(prepared)
        });
        let admit = |prepared| match own_error(prepared)? {
            Ok(prepared) => own_error(self.admit(prepared)),
            Err(own) => Ok(Err(own)),
        };
        compared.into_iter().map(admit).collect()
    }

    /// The content of the last commit with the text of `prepared` that is stored under its key.
    fn committed_own(&self, prepared: &Prepared) -> Result<Option<u32>> {
        if prepared.copies.is_empty() {
            return Ok(None);
        }
        let is_copy = |row: &DocumentRow| prepared.copies.contains(&row.content);
        let mut row = prepared.row.filter(is_copy);
        if row.is_none() && prepared.row.is_some() {
            let second = second_key(prepared);
            row = self.committed.snapshot.document(&second)?.filter(is_copy);
        }
        Ok(row.map(|row| row.content))
    }

    /// Compares a document that is stored as `content` with those stored before it.
    fn find_matches_below(&self, prepared: &mut Prepared, content: u32) -> Result<()> {
        let snapshot = &self.committed.snapshot;
        let (row, sketch) = content_sketch(snapshot, content)?;
        let (search, probe) = (self.store.search(snapshot), sketch.probe(&row.hash));
        let comparing = &self.store.shared.meters.comparing;
        prepared.matches = comparing.time(|| search.matches(probe, 0..content))?;
        prepared.checked = content;
        Ok(())
    }

    fn admit(&mut self, mut prepared: Prepared) -> Result<Admission> {
        if let Some(content) = self.named_copy(&prepared)? {
            let is_met = content >= self.start || self.known.contains(&content);
            if !is_met && self.is_own(&prepared, content)? {
                return self.admit_known(prepared, content);
            }
            let copy = self.verified_copy(content, &prepared.hash)?;
            if let Some(duplicate) = self.first(&copy)? {
                return Ok(duplicate);
            }
        }
        if prepared.checked < self.committed.snapshot.len {
            // The copy that was to make a comparison needless lost its name since.
            prepared.sketch = Some(prepared.take_sketch(&self.committed.sketcher)?);
            prepared = self.find_matches(prepared)?;
        }
        let sketch = prepared.take_sketch(&self.committed.sketcher)?;
        let appended = self.appended_matches(sketch.probe(&prepared.hash))?;
        prepared.matches.extend(appended);
        if let Some(duplicate) = self.first(&prepared.matches)? {
            return Ok(duplicate);
        }
        let (key, committed) = self.free_key(&prepared)?;
        let content = self.append(&prepared.hash, &sketch)?;
        let row = self.row(&prepared, content);
        self.pending.set(&key, committed, Some(row));
        Ok(Admission::New)
    }

    /// Admits a document that is stored as `content` since before this writer.
    fn admit_known(&mut self, mut prepared: Prepared, content: u32) -> Result<Admission> {
        if prepared.checked != content {
            self.find_matches_below(&mut prepared, content)?;
        }
        if let Some(duplicate) = self.first(&prepared.matches)? {
            return Ok(duplicate);
        }
        self.known.insert(content);
        Ok(Admission::Known)
    }

    /// The content with the text of `prepared` that a document names.
    fn named_copy(&self, prepared: &Prepared) -> Result<Option<u32>> {
        let appended = self.appended.get(&prepared.hash);
        for &content in prepared.copies.iter().chain(appended) {
            if self.is_named(content, self.as_nobody())? {
                return Ok(Some(content));
            }
        }
        Ok(None)
    }

    /// A question as of now by which no document is left out, for none has this key.
    fn as_nobody(&self) -> At<'static> {
        At {
            moment: self.pending.now(),
            key: "",
        }
    }

    /// The first of `matches`, which are in the order of their contents, that a document names.
    fn first(&self, matches: &[Verified]) -> Result<Option<Admission>> {
        for verified in matches {
            if let Some(key) = self.first_name(verified.content, self.as_nobody())? {
                let content = verified.content;
                return Ok(Some(Admission::Duplicate {
                    earlier: Match::new(key, verified),
                    is_of_this_writer: content >= self.start || self.known.contains(&content),
                }));
            }
        }
        Ok(None)
    }

    /// Whether the document is stored as `content`.
    fn is_own(&self, prepared: &Prepared, content: u32) -> Result<bool> {
        let is_it = |row: Option<DocumentRow>| row.is_some_and(|row| row.content == content);
        if is_it(self.pending.current(prepared.key(), prepared.row)) {
            return Ok(true);
        }
        let second = second_key(prepared);
        let committed = self.committed.snapshot.document(&second)?;
        Ok(is_it(self.pending.current(&second, committed)))
    }

    /// A key for the document under which nothing is stored, and what is committed of it.
    fn free_key(&self, prepared: &Prepared) -> Result<(String, Option<DocumentRow>)> {
        let first = prepared.key();
        if self.pending.current(first, prepared.row).is_none() {
            return Ok((first.to_owned(), prepared.row));
        }
        let second = second_key(prepared);
        let committed = self.committed.snapshot.document(&second)?;
        if self.pending.current(&second, committed).is_none() && second.len() <= MAX_KEY_BYTES {
            return Ok((second, committed));
        }
        Err(Error::InvalidText {
            reason: format!(
                "its key has another text in the store, and it cannot be stored as {second:?}"
            ),
        })
    }
}

/// The key of a document whose own one has another text.
fn second_key(prepared: &Prepared) -> String {
    const DIGITS: usize = 16;
    let hash = blake3::Hash::from_bytes(prepared.hash).to_hex();
    format!("{}#{}", prepared.key(), &hash[..DIGITS])
}
