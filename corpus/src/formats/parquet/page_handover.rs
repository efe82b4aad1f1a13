//! Passes pages from one reader of a file to another, so that they are read and decompressed once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use parquet::column::page::Page;

/// The maximum number of bytes of waiting pages. Further pages are read again.
const MOST: usize = 32 << 20;

/// Pages that wait for the second reader, while there is one. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageHandover(Arc<Mutex<WaitingPages>>);

#[derive(Debug, Default)]
struct WaitingPages {
    /// Whether the file is read a second time.
    is_wanted: bool,
    pages: BTreeMap<PagePosition, Page>,
    /// The bytes of all pages together.
    bytes: usize,
}

/// The position of a page in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PagePosition {
    pub(crate) group: usize,
    pub(crate) column: usize,
    /// The number of pages of the column before it.
    pub(crate) number: usize,
}

impl PageHandover {
    /// Starts the second read.
    pub(crate) fn begin(&self) {
        self.with(|waiting| waiting.is_wanted = true);
    }

    /// Ends the second read and drops all waiting pages.
    pub(crate) fn end(&self) {
        self.with(|waiting| *waiting = WaitingPages::default());
    }

    /// Leaves a page for the second reader, if there is one and not too many bytes are waiting.
    pub(super) fn leave(&self, place: PagePosition, page: &Page) {
        self.with(|waiting| {
            let bytes = waiting.bytes + page.buffer().len();
            if waiting.is_wanted && bytes <= MOST {
                waiting.bytes = bytes;
                waiting.pages.insert(place, page.clone());
            }
        });
    }

    /// Takes a page that was left.
    pub(super) fn take(&self, place: PagePosition) -> Option<Page> {
        self.with(|waiting| {
            let page = waiting.pages.remove(&place)?;
            waiting.bytes -= page.buffer().len();
            Some(page)
        })
    }

    /// Drops the pages of the groups up to this one.
    pub(super) fn end_group(&self, group: usize) {
        self.with(|waiting| {
            while let Some(first) = waiting.pages.first_entry()
                && first.key().group <= group
            {
                waiting.bytes -= first.remove().buffer().len();
            }
        });
    }

    fn with<T>(&self, work: impl FnOnce(&mut WaitingPages) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The role of a reader of one column.
#[derive(Debug)]
pub(super) enum ReaderRole {
    /// Leaves its pages.
    First(PageHandover, PagePosition),
    /// Takes the pages that were left.
    Second(PageHandover, PagePosition),
}

impl ReaderRole {
    /// Returns the next page if the first reader left it.
    pub(super) fn taken(&self) -> Option<Page> {
        match self {
            ReaderRole::First(..) => None,
            ReaderRole::Second(passing, place) => passing.take(*place),
        }
    }

    /// Records a page that was read or taken.
    pub(super) fn passed(&mut self, page: &Page) {
        match self {
            ReaderRole::First(passing, place) => {
                passing.leave(*place, page);
                place.number += 1;
            }
            ReaderRole::Second(_, place) => place.number += 1,
        }
    }

    /// Records a page that was skipped.
    pub(super) fn skipped(&mut self) {
        let (ReaderRole::First(_, place) | ReaderRole::Second(_, place)) = self;
        place.number += 1;
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use parquet::basic::Encoding;
    use parquet::column::page::Page;

    use super::{MOST, PageHandover, PagePosition};

    fn page(bytes: usize) -> Page {
        Page::DictionaryPage {
            buf: Bytes::from(vec![0; bytes]),
            num_values: 1,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        }
    }

    fn place(group: usize, number: usize) -> PagePosition {
        PagePosition {
            group,
            column: 3,
            number,
        }
    }

    #[test]
    fn pages_wait_for_a_second_reader_as_long_as_there_is_one() {
        let passing = PageHandover::default();
        passing.leave(place(0, 0), &page(9));
        assert!(passing.take(place(0, 0)).is_none());
        passing.begin();
        for (group, number) in [(0, 0), (0, 1), (1, 0)] {
            passing.leave(place(group, number), &page(9));
        }
        assert!(passing.take(place(0, 1)).is_some() && passing.take(place(0, 1)).is_none());
        passing.end_group(0);
        assert!(passing.take(place(0, 0)).is_none());
        passing.end();
        assert!(passing.take(place(1, 0)).is_none());
        passing.leave(place(2, 0), &page(9));
        assert!(passing.take(place(2, 0)).is_none());
    }

    #[test]
    fn no_more_pages_wait_than_there_is_room_for() {
        let passing = PageHandover::default();
        passing.begin();
        passing.leave(place(0, 0), &page(MOST));
        passing.leave(place(1, 0), &page(1));
        assert!(passing.take(place(1, 0)).is_none());
        assert!(passing.take(place(0, 0)).is_some());
        passing.leave(place(1, 1), &page(MOST));
        passing.end_group(1);
        passing.leave(place(2, 0), &page(MOST));
        assert!(passing.take(place(2, 0)).is_some());
    }
}
