//! Which documents are like no other one, dropped ones included.

use std::collections::HashMap;
use std::ops::ControlFlow;

use crate::corpus::{Sourced, short_hash};
use crate::dedup::error::Result;
use crate::dedup::event::Dropped;
use crate::dedup::judge::Judge;
use crate::dedup::order::Rank;
use crate::dedup::spool::Texts;
use crate::{Query, Store};

/// Texts that are asked about together.
const BATCH: usize = 256;

/// What was judged, the first of each group kept and stored.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// Those that were kept, by the hashes of the keys that they are stored under.
    kept: HashMap<u64, Rank>,
    dropped: Vec<Rank>,
}

impl Groups {
    /// Takes note of a document, which is stored under a key of this hash if it was kept.
    pub(crate) fn push(&mut self, rank: Rank, stored: Option<u64>) {
        match stored {
            Some(hash) => drop(self.kept.insert(hash, rank)),
            None => self.dropped.push(rank),
        }
    }

    /// Drops the documents that a dropped one is like, which are all that are like any: what is kept is like
    /// nothing else that is. Hands their places in the input over.
    ///
    /// # Errors
    ///
    /// Those of the store, of the temporary files, and of the observer.
    pub(crate) fn drop_firsts(
        mut self,
        judge: &mut Judge<'_>,
        store: &Store,
        texts: &mut Texts,
        mut drop_one: impl FnMut(u64),
    ) -> Result<()> {
        for ranks in self.dropped.chunks(BATCH) {
            judge.met.watch.tick()?;
            let others = ranks.iter().map(|rank| texts.read(rank.offset));
            let others: Vec<Sourced> = others.collect::<Result<_>>()?;
            let queries: Vec<Query<'_>> = others.iter().map(|it| Query::text(it.text())).collect();
            let answers = store.query_all(&queries, &|| ControlFlow::Continue(()))?;
            for (other, answer) in others.iter().zip(answers) {
                for mut like in answer? {
                    let Some(rank) = self.kept.remove(&short_hash(&like.key)) else {
                        continue;
                    };
                    let first = texts.read(rank.offset)?;
                    like.key.clone_from(&other.key);
                    std::mem::swap(&mut like.share_of_query, &mut like.share_of_match);
                    judge.drop_late(&Dropped {
                        key: &first.key,
                        source: &first.source,
                        record: first.record,
                        earlier: &like,
                        earlier_source: Some(&other.source),
                        earlier_record: other.record,
                        stored_before: false,
                    })?;
                    drop_one(rank.ordinal);
                }
            }
        }
        Ok(())
    }
}
