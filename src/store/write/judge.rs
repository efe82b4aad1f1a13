//! Judges a document against everything that is stored and pending.
//!
//! Every way to add documents uses the same judge. `settle.rs` then changes the store.

use std::ops::Range;

use super::by_hash::ContentsByHash;
use super::names::{DocumentsAtMoment, EarlierDocument, Tie};
use super::pending::PendingDocuments;
use crate::error::Result;
use crate::storage::{DocumentRow, IdScope, Snapshot, StoreFiles};
use crate::store::compare::{Matcher, Probe, PublishedCommit, VerifiedContent};
use crate::store::handle::Store;
use crate::store::offer::{Input, PreparedInput, Relation};
use crate::store::overlap::{Containment, ContainmentBounds, contained};
use crate::text::ShingleSet;

/// What happens to a document that resembles an earlier one, or whose key is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// It is stored whatever it resembles, in place of what its key had.
    Add,
    /// It is stored in place of what its key had, unless it resembles another document. The outcome names the one
    /// with its text, or else the most similar one.
    AddUnique,
    /// It is stored beside all others, unless it resembles any document, the one under its own key included. The
    /// outcome names the one with its text, or else the most similar one; on a tie, the first one that was stored.
    Admit,
    /// It is stored beside all others, unless a document has its text, the one under its own key included.
    AdmitDistinct,
}

impl Policy {
    /// Whether documents that are near-duplicates of an earlier one are kept out.
    pub(crate) fn keeps_out(self) -> bool {
        matches!(self, Policy::AddUnique | Policy::Admit)
    }

    /// Whether it replaces nothing, not even the document under the same key.
    pub(crate) fn replaces_nothing(self) -> bool {
        matches!(self, Policy::Admit | Policy::AdmitDistinct)
    }

    /// Which of several equally similar documents the outcome names.
    fn tie(self) -> Tie {
        if self.replaces_nothing() {
            Tie::Eldest
        } else {
            Tie::FirstKey
        }
    }

    /// The key whose document does not count as an earlier one.
    pub(crate) fn except(self, key: &str) -> &str {
        if self.replaces_nothing() { "" } else { key }
    }
}

/// The result of judging a document.
#[derive(Debug)]
pub(crate) enum Finding {
    /// Its key has this text already.
    Unchanged(DocumentRow),
    /// Another document has its text, which is this content. The document is stored nevertheless. The earlier one is
    /// present if it was requested.
    Copy(u32, Option<EarlierDocument>),
    /// Its key has another text from another file, and nobody said that the two are the same document.
    Refused,
    /// Another document has its text, which has no shingles. A run keeps the document, and need not store it again.
    Wordless,
    /// It is kept out because of an earlier one.
    Duplicate(Relation, EarlierDocument),
    /// It resembles nothing that it was compared with. It may contain an earlier one.
    New(Option<EarlierDocument>),
}

/// A finding, and the present row of the document's key.
#[derive(Debug)]
pub(crate) struct JudgedInput {
    pub(crate) current: Option<DocumentRow>,
    pub(crate) finding: Finding,
}

/// The contents appended since the last commit.
#[derive(Debug)]
pub(crate) struct AppendedContents<'a> {
    pub(crate) by_hash: &'a ContentsByHash,
    pub(crate) files: &'a mut StoreFiles,
}

/// Everything that a document is judged against.
#[derive(Debug)]
pub(crate) struct Judge<'a> {
    pub(crate) store: &'a Store,
    pub(crate) committed: &'a PublishedCommit,
    pub(crate) pending: &'a PendingDocuments,
    /// `None` without a writer.
    pub(crate) appended: Option<AppendedContents<'a>>,
    /// Whether to find the earlier document of a copy that is stored nevertheless.
    pub(crate) evidence: bool,
    /// What ids name, if a document is refused whose key has a text from another file.
    pub(crate) id_scope: Option<IdScope>,
}

impl Judge<'_> {
    /// Judges a document as of now. Keeps the results in `prepared`: its sketch, unless a copy makes it unnecessary,
    /// and its matches.
    pub(crate) fn judge(
        &mut self,
        prepared: &mut PreparedInput,
        policy: Policy,
    ) -> Result<JudgedInput> {
        let current = self.pending.current(prepared.keyed(), prepared.row);
        let finding = self.find(prepared, current, policy)?;
        Ok(JudgedInput { current, finding })
    }

    fn find(
        &mut self,
        prepared: &mut PreparedInput,
        current: Option<DocumentRow>,
        policy: Policy,
    ) -> Result<Finding> {
        // First the text itself: a named content with the same hash is found without shingles.
        let appended = self.appended.as_ref();
        let appended = appended.and_then(|appended| appended.by_hash.get(&prepared.hash));
        let names = self.names(policy.except(prepared.key()));
        let copy = names.copy(prepared, current, appended)?;
        if let Some(content) = copy {
            let own = current.filter(|row| row.content == content);
            if let (Some(row), true) = (own, !policy.replaces_nothing()) {
                return Ok(Finding::Unchanged(row));
            }
        }
        // Then the key: a text of another file does not replace this one, unless ids name the same document in all files.
        if !policy.replaces_nothing()
            && let Some(id_scope) = self.id_scope
            && current.is_some_and(|row| is_refused(&row, &prepared.input, id_scope))
        {
            return Ok(Finding::Refused);
        }
        // A copy of another document is kept out, or stored as a second name of the content.
        if let Some(content) = copy {
            if policy == Policy::Add {
                let earlier = if self.evidence {
                    self.copy_of(prepared, content, policy)?
                } else {
                    None
                };
                return Ok(Finding::Copy(content, earlier));
            }
            if policy.replaces_nothing() && self.is_wordless(content)? {
                return Ok(Finding::Wordless);
            }
            if let Some(earlier) = self.copy_of(prepared, content, policy)? {
                return Ok(Finding::Duplicate(Relation::ExactCopy, earlier));
            }
        }
        // Similar documents matter only if they keep this one out. Otherwise the comparison comes later, in batches.
        if !policy.keeps_out() {
            return Ok(Finding::New(None));
        }
        self.compare(prepared, policy)?;
        let names = self.names(policy.except(prepared.key()));
        // Of several documents that are equally similar, a run of `dedup` names the first one that was stored. So the
        // outcome does not depend on documents that follow.
        let Some(earlier) = names.best(&prepared.matches, policy.tie())? else {
            return Ok(Finding::New(names.best(&prepared.inside, policy.tie())?));
        };
        // What is found without reaching the threshold contains the document.
        let is_near = earlier.found.similarity() >= self.committed.snapshot.schema.threshold();
        let relation = if is_near || self.store.shared.containment.is_none() {
            Relation::NearDuplicate
        } else {
            Relation::Contained
        };
        Ok(Finding::Duplicate(relation, earlier))
    }

    fn names<'n>(&'n self, except: &'n str) -> DocumentsAtMoment<'n> {
        DocumentsAtMoment {
            committed: &self.committed.snapshot,
            pending: self.pending,
            moment: self.pending.now(),
            except,
        }
    }

    /// Compares a document with all contents that it was not compared with yet.
    fn compare(&mut self, prepared: &mut PreparedInput, policy: Policy) -> Result<()> {
        self.store.compare(self.committed, prepared, policy)?;
        let Some(appended) = &mut self.appended else {
            return Ok(());
        };
        let Some(sketch) = &prepared.sketch else {
            return Ok(());
        };
        let probe = sketch.probe(&prepared.hash);
        // The committed contents are compared by now, on any thread. What was appended since is left.
        let start = self.committed.snapshot.len;
        if let Some(bounds) = self.store.containment(policy) {
            let snapshot = appended.files.snapshot()?;
            let ids = start..snapshot.len;
            let found = self.store.contained(&snapshot, probe, bounds, ids)?;
            prepared.matches.extend(found.around);
            prepared.inside.extend(found.inside);
        }
        // Most documents share no bucket with an appended content, whose rows then need not be flushed.
        let youngest = appended.files.youngest_met(probe.band_hashes);
        if let Some(youngest) = youngest.filter(|&youngest| youngest >= start) {
            let snapshot = appended.files.snapshot_up_to(youngest)?;
            let search = self.store.search(&snapshot);
            let found = search.matches(probe, start..snapshot.len)?;
            prepared.matches.extend(found);
        }
        Ok(())
    }

    /// Whether a content has no shingles, so that nothing says what it is about.
    fn is_wordless(&mut self, content: u32) -> Result<bool> {
        let row = match &mut self.appended {
            Some(appended) => appended.files.snapshot_up_to(content)?.content(content)?,
            None => self.committed.snapshot.content(content)?,
        };
        Ok(row.shingle_count == 0)
    }

    /// The first document with the text of `prepared`, which is `content`.
    fn copy_of(
        &mut self,
        prepared: &PreparedInput,
        content: u32,
        policy: Policy,
    ) -> Result<Option<EarlierDocument>> {
        let verified = match &mut self.appended {
            Some(appended) => {
                let snapshot = appended.files.snapshot_up_to(content)?;
                verified_copy(&snapshot, content, &prepared.hash)?
            }
            None => verified_copy(&self.committed.snapshot, content, &prepared.hash)?,
        };
        let names = self.names(policy.except(prepared.key()));
        names.best(verified.as_slice(), policy.tie())
    }
}

/// Whether an input does not replace a stored document of its key, because it is of another file.
fn is_refused(stored: &DocumentRow, input: &Input, id_scope: IdScope) -> bool {
    let source = input.source.as_ref().map_or(0, |file| file.number);
    if are_paths(stored, input) {
        // The folders of both are known.
        let is_other = stored.source != 0 && source != 0 && stored.source != source;
        return is_other && !is_instead_of(stored, input);
    }
    id_scope != IdScope::All && is_of_another_file(stored, input)
}

/// Whether a stored document and an input came from two files, of which one at least has several documents. What came from
/// no file is of none.
pub(super) fn is_of_another_file(stored: &DocumentRow, input: &Input) -> bool {
    let source = input.source.as_ref().map_or(0, |file| file.number);
    let has_file = |source: u64, modified: Option<i64>| source != 0 || modified.is_some();
    stored.source != source
        && !are_paths(stored, input)
        && !is_instead_of(stored, input)
        && has_file(stored.source, stored.modified)
        && has_file(source, input.modified_nanoseconds())
}

/// Whether both are of files that are one document, as their modification times show: their keys are paths.
fn are_paths(stored: &DocumentRow, input: &Input) -> bool {
    stored.modified.is_some() && input.modified_nanoseconds().is_some()
}

/// Whether the input came from the file of the stored document, at another place.
pub(super) fn is_instead_of(stored: &DocumentRow, input: &Input) -> bool {
    input.instead_of != 0 && input.instead_of == stored.source
}

/// `content` as a match of the text with this hash.
fn verified_copy(
    snapshot: &Snapshot,
    content: u32,
    hash: &[u8; 32],
) -> Result<Option<VerifiedContent>> {
    let probe = Probe {
        hash,
        shingles: ShingleSet::EMPTY,
        signature: &snapshot.signature(content)?,
        band_hashes: &[],
        bands: None,
    };
    Matcher::new(snapshot, probe, snapshot.schema.threshold()).verify(content)
}

/// Contents that contain a text but do not resemble it, and those that it contains.
struct ContainmentMatches {
    around: Vec<VerifiedContent>,
    inside: Vec<VerifiedContent>,
}

impl Store {
    /// How much of a document another one has to have, if such a one is looked for.
    fn containment(&self, policy: Policy) -> Option<ContainmentBounds> {
        let asked = self
            .shared
            .containment
            .filter(|_| policy == Policy::AddUnique)?;
        let asked = Containment {
            least: Some(asked),
            ..Containment::default()
        };
        asked.bounds(&self.schema())
    }

    /// The contents within `ids` that contain a text, or that it contains.
    fn contained(
        &self,
        snapshot: &Snapshot,
        probe: Probe<'_>,
        bounds: ContainmentBounds,
        ids: Range<u32>,
    ) -> Result<ContainmentMatches> {
        let found = contained(snapshot, &self.shared.allowance, probe, bounds, ids)?;
        let threshold = snapshot.schema.threshold();
        let found = found
            .into_iter()
            .filter(|found| found.likeness.similarity() < threshold);
        let is_around = |found: &VerifiedContent| found.likeness.containment >= Some(bounds.least);
        let (around, inside) = found.partition(is_around);
        Ok(ContainmentMatches { around, inside })
    }

    /// Compares a document with the contents of a commit that it was not compared with yet. Sketches it first if it has
    /// no sketch.
    pub(crate) fn compare(
        &self,
        committed: &PublishedCommit,
        prepared: &mut PreparedInput,
        policy: Policy,
    ) -> Result<()> {
        let snapshot = &*committed.snapshot;
        if prepared.sketch.is_some() && prepared.checked == snapshot.len {
            return Ok(());
        }
        let sketch = prepared.take_sketch(&committed.sketcher)?;
        let ids = prepared.checked..snapshot.len;
        let probe = sketch.probe(&prepared.hash);
        let comparing = &self.shared.meters.comparing;
        let found = comparing.time(|| self.search(snapshot).matches(probe, ids.clone()))?;
        prepared.matches.extend(found);
        if let Some(bounds) = self.containment(policy) {
            let found = comparing.time(|| self.contained(snapshot, probe, bounds, ids))?;
            prepared.matches.extend(found.around);
            prepared.inside.extend(found.inside);
        }
        prepared.checked = snapshot.len;
        prepared.sketch = Some(sketch);
        Ok(())
    }
}
