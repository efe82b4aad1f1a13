//! Admitting the documents of a corpus that are like no earlier one.

use super::earlier::At;
use super::writer::{Writer, own_error};
use crate::error::{Error, Result};
use crate::storage::DocumentRow;
use crate::store::Batch;
use crate::store::compare::{Match, Verified};
use crate::store::offer::{MAX_KEY_BYTES, Prepared};

/// What became of a document that [`Writer::admit_batch`] was offered.
#[derive(Clone, Debug, PartialEq)]
pub enum Admission {
    /// No earlier document is like it, and it was stored.
    New {
        /// The key that it is stored under, its own or a second one.
        key: String,
    },
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
    /// the other, and never replaces or removes any. A document that is stored already is a duplicate,
    /// under its own key, too.
    ///
    /// What is offered may be interrupted and is then to be offered again: give it a run
    /// ([`Writer::begin_run`]). The next run forgets what an interrupted one stored, so it gives the
    /// same answers, as long as no candidates are passed over
    /// ([`Store::passed_over`](crate::Store::passed_over)).
    ///
    /// A document whose key has another text in the store is stored beside it, as `KEY#HASH` with 16
    /// digits of its text's hash.
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
    /// assert!(matches!(admissions[0], Ok(Admission::New { .. })));
    /// assert!(matches!(&admissions[1], Ok(Admission::Duplicate { earlier, .. }) if earlier.key == "1"));
    /// assert!(matches!(&admissions[2], Ok(Admission::New { key }) if key.starts_with("1#")));
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
            // A copy that no document names any more makes no comparison needless.
            if prepared.sketch.is_none() && self.named_copy(&prepared)?.is_none() {
                prepared.sketch = Some(prepared.take_sketch(&self.committed.sketcher)?);
            }
            self.find_matches(prepared)
        });
        let admit = |prepared| match own_error(prepared)? {
            Ok(prepared) => own_error(self.admit(prepared)),
            Err(own) => Ok(Err(own)),
        };
        compared.into_iter().map(admit).collect()
    }

    fn admit(&mut self, mut prepared: Prepared) -> Result<Admission> {
        if let Some(content) = self.named_copy(&prepared)? {
            let copy = self.verified_copy(content, &prepared.hash)?;
            if let Some(duplicate) = self.first(&copy)? {
                return Ok(duplicate);
            }
        }
        if prepared.sketch.is_none() {
            // The copy that was to make a comparison needless is none.
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
        let row = DocumentRow {
            run: self.run,
            ..self.row(&prepared, content)
        };
        self.pending.set(&key, committed, Some(row));
        Ok(Admission::New { key })
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
                    is_of_this_writer: content >= self.start,
                }));
            }
        }
        Ok(None)
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
