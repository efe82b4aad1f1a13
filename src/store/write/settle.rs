//! Changes the store once a document is judged.

use super::fresh::{FreshBatch, FreshContent};
use super::judge::{
    AppendedContents, Finding, Judge, JudgedInput, Policy, is_instead_of, is_of_another_file,
};
use super::names::EarlierDocument;
use super::writer::Writer;
use crate::codec::low32;
use crate::error::{Error, Result};
use crate::storage::{DocumentRow, IdScope, NewContent, SourceFile};
use crate::store::offer::{
    Change, HashedKey, MAX_KEY_BYTES, Outcome, PreparedInput, Relation, second_key,
};

/// The outcome of a document, and its content if that is new.
#[derive(Debug)]
pub(crate) struct SettledInput {
    pub(crate) outcome: Outcome,
    new: Option<u32>,
}

impl Writer {
    /// Does the part of judging a document that needs no order, unless a copy makes it unnecessary.
    pub(super) fn compare_ahead(
        &self,
        mut prepared: Box<PreparedInput>,
        policy: Policy,
    ) -> Result<Box<PreparedInput>> {
        // Without a sketch, the document seemed to be a copy. If it still is, it needs none.
        if prepared.sketch.is_none() {
            let names = self.names(self.pending.now(), policy.except(prepared.key()));
            let current = self.pending.current(prepared.keyed(), prepared.row);
            let appended = self.appended.get(&prepared.hash);
            if names.copy(&prepared, current, appended)?.is_some() {
                return Ok(prepared);
            }
        }
        self.store.compare(&self.committed, &mut prepared, policy)?;
        Ok(prepared)
    }

    /// Settles one input. If its content is new and need not be compared now, it is left in `fresh`.
    pub(super) fn settle_text(
        &mut self,
        mut prepared: Box<PreparedInput>,
        policy: Policy,
        index: usize,
        fresh: &mut FreshBatch,
    ) -> Result<Result<Outcome>> {
        if self.evidence && fresh.left() > 0 && self.appended.get(&prepared.hash).is_some() {
            // The rows of the content that it is a copy of may be needed.
            self.append_fresh(fresh)?;
        }
        // If it is stored whatever it resembles, a content only gets its number here, and is appended with others.
        // Otherwise it is appended at once, because the next document must find it.
        let settled = self.settle(&mut prepared, policy, |writer, prepared| {
            let sketch = prepared.take_sketch(&writer.committed.sketcher)?;
            let content = if policy == Policy::Add {
                writer.number(fresh.left(), prepared.hash)?
            } else {
                writer.append(&sketch.content(&prepared.hash))?
            };
            prepared.sketch = Some(sketch);
            Ok(content)
        });
        let SettledInput { outcome, new } = match own_error(settled)? {
            Ok(settled) => settled,
            Err(own) => return Ok(Err(own)),
        };
        // Only such a content is still to be compared.
        if let (Some(content), Some(sketch), Policy::Add) = (new, prepared.sketch, policy) {
            fresh.push(FreshContent {
                index,
                key: prepared.input.key,
                hash: prepared.hash,
                sketch,
                content,
                moment: self.pending.now(),
                company: Vec::new(),
            });
        }
        Ok(Ok(outcome))
    }

    /// Judges a document, and stores it or keeps it out. `append` stores its content if that is new.
    pub(crate) fn settle(
        &mut self,
        prepared: &mut PreparedInput,
        policy: Policy,
        append: impl FnOnce(&mut Writer, &mut PreparedInput) -> Result<u32>,
    ) -> Result<SettledInput> {
        let JudgedInput { current, finding } = self.judge().judge(prepared, policy)?;
        // A document that is kept out was offered all the same, so the one under its key was seen today.
        if let (Some(row), Finding::Duplicate(..) | Finding::Wordless) = (current, &finding) {
            self.set_seen(prepared.keyed(), prepared.row, row, row);
        }
        let (change, relation, earlier, new) = match finding {
            Finding::Unchanged(row) => {
                self.offer_again(prepared, row);
                let unchanged = self.outcome(Change::Unchanged, Relation::Novel, None);
                let outcome = self.of_other_file(unchanged, current, prepared)?;
                return Ok(SettledInput { outcome, new: None });
            }
            Finding::Refused => {
                let refused = self.outcome(Change::Refused, Relation::Novel, None);
                let outcome = self.of_other_file(refused, current, prepared)?;
                return Ok(SettledInput { outcome, new: None });
            }
            Finding::Wordless => (Change::Unchanged, Relation::Novel, None, None),
            Finding::Duplicate(relation, earlier) => {
                if policy == Policy::AddUnique {
                    *self.kept_out_by.entry(earlier.content).or_default() += 1;
                }
                (Change::KeptOut, relation, Some(earlier), None)
            }
            Finding::Copy(content, earlier) => {
                let change = self.name(prepared, current, content);
                (change, Relation::ExactCopy, earlier, None)
            }
            Finding::New(_) if policy.replaces_nothing() => {
                return self.settle_new(prepared, current, append);
            }
            Finding::New(inside) => {
                let content = append(self, prepared)?;
                let change = self.name(prepared, current, content);
                let relation = match inside {
                    Some(_) => Relation::Contains,
                    None => Relation::Novel,
                };
                (change, relation, inside, Some(content))
            }
        };
        let outcome = self.outcome(change, relation, earlier);
        Ok(SettledInput { outcome, new })
    }

    /// Stores a new document beside all others, whatever its key, as one of this writer's open run.
    fn settle_new(
        &mut self,
        prepared: &mut PreparedInput,
        current: Option<DocumentRow>,
        append: impl FnOnce(&mut Writer, &mut PreparedInput) -> Result<u32>,
    ) -> Result<SettledInput> {
        // Its key may have another text, which stays.
        let second = current.map(|_| self.second_key(prepared)).transpose()?;
        let content = append(self, prepared)?;
        let row = DocumentRow {
            run: self.run,
            ..self.row(prepared, content)
        };
        let (key, committed) = match &second {
            Some((key, committed)) => (HashedKey::new(key), *committed),
            None => (prepared.keyed(), prepared.row),
        };
        self.pending.set(key, committed, Some(row));
        let outcome = Outcome {
            second_key: second.map(|(key, _)| key),
            ..self.outcome(Change::Added, Relation::Novel, None)
        };
        let new = Some(content);
        Ok(SettledInput { outcome, new })
    }

    fn judge(&mut self) -> Judge<'_> {
        Judge {
            store: &self.store,
            committed: &self.committed,
            pending: &self.pending,
            appended: Some(AppendedContents {
                by_hash: &self.appended,
                files: &mut self.files,
            }),
            evidence: self.evidence,
            id_scope: self.refuses.then_some(self.id_scope),
        }
    }

    /// Adds to an outcome the file that the document `current` came from, if the input came from another one and nobody
    /// said what that means.
    fn of_other_file(
        &self,
        outcome: Outcome,
        current: Option<DocumentRow>,
        prepared: &PreparedInput,
    ) -> Result<Outcome> {
        let asks = self.refuses && self.id_scope == IdScope::Unset;
        let is_other = |row: &DocumentRow| {
            outcome.change == Change::Refused || asks && is_of_another_file(row, &prepared.input)
        };
        let Some(row) = current.filter(is_other) else {
            return Ok(outcome);
        };
        let file = match self.sources.get(row.source) {
            Some(file) => Some(file),
            None => self.committed.snapshot.source(row.source)?,
        };
        let path = match file {
            Some(folder) if folder.is_folder() => format!("{}{}", folder.path, prepared.key()),
            Some(file) => file.path.to_string(),
            None => prepared.key().to_owned(),
        };
        Ok(Outcome {
            other_file: Some(path),
            ..outcome
        })
    }

    pub(super) fn outcome(
        &self,
        change: Change,
        relation: Relation,
        earlier: Option<EarlierDocument>,
    ) -> Outcome {
        Outcome {
            change,
            relation,
            earlier_is_of_this_writer: earlier
                .as_ref()
                .is_some_and(|earlier| self.has_added(earlier.content)),
            earlier: earlier.map(|earlier| earlier.found),
            second_key: None,
            other_file: None,
        }
    }

    /// A second key for a document whose own key is in use, and the committed row of that second key.
    fn second_key(&self, prepared: &PreparedInput) -> Result<(String, Option<DocumentRow>)> {
        let second = second_key(prepared.key(), &prepared.hash);
        let committed = self.committed.snapshot.document(&second)?;
        let current = self.pending.current(HashedKey::new(&second), committed);
        if current.is_none() && second.len() <= MAX_KEY_BYTES {
            return Ok((second, committed));
        }
        Err(Error::InvalidText {
            reason: format!(
                "its key has another text in the store, and it cannot be stored as {second:?}"
            ),
        })
    }

    /// The id of a new content. `before` contents are to be appended before it.
    fn number(&mut self, before: usize, hash: [u8; 32]) -> Result<u32> {
        self.files.check_room(before + 1)?;
        let content = self.files.len + low32(before as u64);
        self.appended.insert(hash, content);
        Ok(content)
    }

    /// Stores a new content.
    pub(crate) fn append(&mut self, new: &NewContent<'_>) -> Result<u32> {
        let content = self.files.push(new, &self.store.shared.pool)?;
        self.appended.insert(*new.hash, content);
        Ok(content)
    }

    /// Makes the input's key, whose present row is `current`, a name of `content`.
    fn name(
        &mut self,
        prepared: &PreparedInput,
        current: Option<DocumentRow>,
        content: u32,
    ) -> Change {
        let row = self.row(prepared, content);
        let Some(current) = current else {
            self.pending.set(prepared.keyed(), prepared.row, Some(row));
            return Change::Added;
        };
        self.set_seen(prepared.keyed(), prepared.row, current, row);
        Change::Updated
    }

    /// The row of a document that names `content` and belongs to no run.
    fn row(&mut self, prepared: &PreparedInput, content: u32) -> DocumentRow {
        DocumentRow {
            content,
            size: prepared.input.source_bytes(),
            modified: prepared.input.modified_nanoseconds(),
            added: self.added,
            run: 0,
            source: self.sources.note(prepared.input.source.as_ref()),
            last_seen: self.today,
        }
    }

    /// Records that a document is offered again with the same text, and a new size or time of its source.
    fn offer_again(&mut self, prepared: &PreparedInput, row: DocumentRow) {
        // A file may have moved with its folder. A record stays one of the file that had it first, unless its key is of one
        // file alone. One of no file becomes one of this file.
        let is_of_path = |source: &SourceFile| source.is_folder() || self.id_scope == IdScope::File;
        let has_moved = row.source == 0 || is_instead_of(&row, &prepared.input);
        let source = prepared.input.source.as_ref();
        let source = match source.filter(|it| has_moved || is_of_path(it)) {
            Some(source) => self.sources.note(Some(source)),
            None => row.source,
        };
        let offered = DocumentRow {
            source,
            size: prepared.input.source_bytes(),
            modified: prepared.input.modified_nanoseconds().or(row.modified),
            ..self.outside_run(row)
        };
        self.set_seen(prepared.keyed(), prepared.row, row, offered);
    }
}

/// Separates an error of one input, which is an outcome, from an error that ends the batch.
pub(super) fn own_error<T>(prepared: Result<T>) -> Result<Result<T>> {
    match prepared {
        Err(error) if !error.is_of_input() => Err(error),
        own => Ok(own),
    }
}
