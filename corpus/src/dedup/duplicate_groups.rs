//! Finds the documents that resemble no other one, including dropped ones.

use std::collections::HashMap;

use crate::dedup::error::Result;
use crate::dedup::event::DroppedDocument;
use crate::dedup::judge::DedupJudge;
use crate::dedup::order::DocumentRank;
use crate::dedup::spool::SpooledTexts;
use crate::{SourcedText, short_hash};
use dedupdb::{Query, Store};

/// The number of texts to query together.
const BATCH: usize = 256;

/// The judged documents. The first document of each group was kept and stored.
#[derive(Debug, Default)]
pub(crate) struct DuplicateGroups {
    /// The kept documents, by the hashes of the keys under which they are stored.
    kept: HashMap<u64, DocumentRank>,
    dropped: Vec<DocumentRank>,
}

impl DuplicateGroups {
    /// Records a document. If it was kept, `stored` is the hash of the key under which it is stored.
    pub(crate) fn push(&mut self, rank: DocumentRank, stored: Option<u64>) {
        match stored {
            Some(hash) => drop(self.kept.insert(hash, rank)),
            None => self.dropped.push(rank),
        }
    }

    /// Drops the kept documents that resemble a dropped one, and have no other attachments than that. These are all that
    /// resemble any, because kept documents do not resemble each other. Passes their positions in the input to `drop_one`.
    ///
    /// # Errors
    ///
    /// Those of the store, of the temporary files, and of the observer.
    pub(crate) fn drop_firsts(
        mut self,
        judge: &mut DedupJudge<'_>,
        store: &Store,
        texts: &mut SpooledTexts,
        mut drop_one: impl FnMut(u64),
    ) -> Result<()> {
        for ranks in self.dropped.chunks(BATCH) {
            judge.reporter.observer.go_on()?;
            let others = ranks.iter().map(|rank| texts.read(rank.offset));
            let others: Vec<SourcedText> = others.collect::<Result<_>>()?;
            let queries: Vec<Query<'_>> = others.iter().map(|it| Query::of(it.subject())).collect();
            let answers = store.query_all(&queries)?;
            for (other, answer) in others.iter().zip(answers) {
                for mut like in answer? {
                    // A kept document is dropped once, because of the first dropped one that it resembles.
                    let hash = short_hash(&like.key);
                    let Some(rank) = self.kept.get(&hash).copied() else {
                        continue;
                    };
                    let first = texts.read(rank.offset)?;
                    let attached = first.attachments();
                    if attached.is_some() && attached != other.attachments() {
                        continue;
                    }
                    self.kept.remove(&hash);
                    // Seen from the kept document, the dropped one is the other.
                    like.key.clone_from(&other.key);
                    std::mem::swap(&mut like.containment, &mut like.containment_of_match);
                    let dropped = DroppedDocument {
                        key: &first.key,
                        source: &first.source,
                        record: first.record,
                        earlier: &like,
                        earlier_source: Some(&other.source),
                        earlier_record: other.record,
                        stored_before: false,
                        is_contained: false,
                        is_extracted: first.is_extracted,
                        is_earlier_protected: false,
                        surviving_copy: None,
                        files: [first.read, other.read],
                    };
                    judge.drop_late(&dropped)?;
                    drop_one(rank.ordinal);
                }
            }
        }
        Ok(())
    }
}
