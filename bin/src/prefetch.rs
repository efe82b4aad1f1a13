//! Finds items on a separate thread while earlier ones are written.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result};

use crate::threads::NO_THREAD;

/// The number of items in a part, and the number of parts that may wait.
const PART: usize = 1 << 8;
const WAITING: usize = 1 << 6;

/// The items of an iterator, in order. Once it is dropped, at most one more part is found.
#[derive(Debug)]
pub(crate) struct PrefetchIter<T> {
    parts: Receiver<Vec<T>>,
    part: std::vec::IntoIter<T>,
    finder: Option<JoinHandle<()>>,
}

impl<T: Send + 'static> PrefetchIter<T> {
    /// Starts to find items.
    ///
    /// # Errors
    ///
    /// If the system cannot start a thread.
    pub(crate) fn begin(
        items: impl Iterator<Item = T> + Send + 'static,
    ) -> Result<PrefetchIter<T>> {
        let (sender, parts) = sync_channel(WAITING);
        let finder = thread::Builder::new()
            .name("finding".to_owned())
            .spawn(move || find(items, &sender))
            .context(NO_THREAD)?;
        Ok(PrefetchIter {
            parts,
            part: Vec::new().into_iter(),
            finder: Some(finder),
        })
    }
}

/// Sends all items, for as long as the receiver exists.
fn find<T>(mut items: impl Iterator<Item = T>, sender: &SyncSender<Vec<T>>) {
    loop {
        let part: Vec<T> = items.by_ref().take(PART).collect();
        if part.is_empty() || sender.send(part).is_err() {
            return;
        }
    }
}

impl<T> Iterator for PrefetchIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        if let Some(item) = self.part.next() {
            return Some(item);
        }
        if let Ok(part) = self.parts.recv() {
            self.part = part.into_iter();
            return self.part.next();
        }
        // There are no more items, or the thread panicked; the panic continues here.
        if let Err(panic) = self.finder.take()?.join() {
            std::panic::resume_unwind(panic);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn items_come_in_order() {
        for count in [0, 1, PART, PART * WAITING * 3 + 1] {
            assert!(
                PrefetchIter::begin(0..count).unwrap().eq(0..count),
                "{count}"
            );
        }
    }

    #[test]
    fn no_more_is_found_than_waits() {
        let found = Arc::new(AtomicUsize::new(0));
        let counter = found.clone();
        let items = (0..).inspect(move |_| {
            counter.fetch_add(1, Ordering::Relaxed);
        });
        let mut ahead = PrefetchIter::begin(items).unwrap();
        assert_eq!(ahead.next(), Some(0));
        let finder = ahead.finder.take().unwrap();
        drop(ahead);
        finder.join().unwrap();
        assert!(found.load(Ordering::Relaxed) <= PART * (WAITING + 3));
    }

    #[test]
    #[should_panic(expected = "item 3")]
    fn a_panic_goes_on() {
        let items = (0..9).inspect(|&item| assert!(item < 3, "item {item}"));
        PrefetchIter::begin(items).unwrap().for_each(drop);
    }
}
