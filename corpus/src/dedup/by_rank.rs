//! Documents that are all read first and then judged by rank.

use std::sync::Arc;
use std::sync::mpsc::Receiver;

use crate::dedup::error::Result;
use crate::dedup::judge::{BatchReceiver, DedupJudge};
use crate::dedup::order::{DocumentRank, Ranking};
use crate::dedup::spool::{Spool, SpooledTexts, in_batches};
use crate::{Item, ItemBatch, count_items};

/// Reads all documents into the spool.
///
/// # Errors
///
/// Those of reading; the temporary files take too much space.
pub(super) fn spool_all(
    judge: &mut DedupJudge<'_>,
    batches: &BatchReceiver,
    spool: &mut Spool,
    ranking: &mut Ranking,
) -> Result<()> {
    judge.for_each_batch(batches, |judge, mut batch| {
        ranking.by_fields(&mut batch.items)?;
        let mut ranks = ranking.by_content(&batch.items).into_iter();
        for item in &batch.items {
            judge.reporter.item(item)?;
            match item {
                Item::Document(document) => {
                    let is_protected = judge.guard(document)?;
                    let offset = spool.push(document)?;
                    let by_content = ranks.next().unwrap_or_default();
                    ranking.push(document, by_content, offset, is_protected);
                }
                Item::Opened(opened) => spool.open(opened)?,
                Item::Skipped(skipped) => {
                    judge.protection.leave_out(skipped);
                    // With marks, records that are not documents are written as well.
                    let unread = skipped.record.as_ref().filter(|_| judge.is_marking);
                    unread.map_or(Ok(()), |unread| spool.push_unread(unread))?;
                }
                Item::Unchanged(_) => {}
            }
        }
        let items = count_items(&batch.items);
        judge.reporter.observer.advance(items, batch.bytes)
    })
}

/// Reads the texts in the order of their ranks, in batches, on a separate thread.
///
/// # Errors
///
/// The system allows no further thread.
pub(super) fn ranked(
    mut texts: SpooledTexts,
    order: Arc<Vec<DocumentRank>>,
) -> Result<Receiver<Result<ItemBatch>>> {
    in_batches(
        (0..order.len()).map(move |number| Ok(Item::Document(texts.read(order[number].offset)?))),
    )
}
