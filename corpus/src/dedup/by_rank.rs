//! Documents that are all read first and then judged by rank.

use std::sync::Arc;
use std::sync::mpsc::Receiver;

use crate::dedup::error::Result;
use crate::dedup::judge::{BatchReceiver, DedupJudge};
use crate::dedup::order::{DocumentRank, Ranking};
use crate::dedup::spool::{Spool, SpooledTexts};
use crate::{BATCH_BYTES, Item, ItemBatch, count_items, send_batches};

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
    let receiver = send_batches("spool", 1, move |sender| {
        let mut batch = ItemBatch::default();
        for rank in order.iter() {
            match texts.read(rank.offset) {
                Ok(document) => {
                    batch.bytes += document.text().len() as u64;
                    batch.items.push(Item::Document(document));
                }
                Err(error) => {
                    // If this fails, the receiver is gone.
                    drop(sender.send(Err(error)));
                    return;
                }
            }
            if batch.bytes >= BATCH_BYTES && sender.send(Ok(std::mem::take(&mut batch))).is_err() {
                return;
            }
        }
        drop(sender.send(Ok(batch)));
    })?;
    Ok(receiver)
}
