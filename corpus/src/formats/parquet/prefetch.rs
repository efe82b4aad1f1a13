//! Reads and decompresses the pages of a column one page ahead, on a separate thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};

use crate::skipped::DEFECT;

/// The pages that a thread reads, and where it sends them. `None` follows the last page.
type PageJob = (Box<dyn PageReader>, SyncSender<Result<Option<Page>>>);

/// A thread that reads the pages of one column after another.
#[derive(Debug)]
pub(crate) struct Pager {
    jobs: SyncSender<PageJob>,
}

impl Pager {
    /// Starts a thread, which ends with the pager. Returns `None` if the system allows no further thread.
    pub(crate) fn start() -> Option<Pager> {
        let (jobs, columns) = sync_channel(1);
        let thread = thread::Builder::new().name("pages".to_owned());
        thread.spawn(move || read_all(&columns)).ok()?;
        Some(Pager { jobs })
    }

    /// Returns a reader of the same pages that the thread fills. The thread starts with them when the pages that it was
    /// given before are read or dropped.
    pub(crate) fn ahead(&self, pages: Box<dyn PageReader>) -> Box<dyn PageReader> {
        // No queue: the thread reads one page or holds it until it is taken.
        let (sender, receiver) = sync_channel(0);
        match self.jobs.send((pages, sender)) {
            Ok(()) => Box::new(PrefetchedPages {
                pages: receiver,
                peeked: None,
                has_ended: false,
            }),
            Err(unsent) => unsent.0.0,
        }
    }
}

fn read_all(columns: &Receiver<PageJob>) {
    for (mut pages, sender) in columns {
        loop {
            let read = catch_unwind(AssertUnwindSafe(|| pages.get_next_page()));
            let page = read.unwrap_or_else(|_| Err(defect()));
            let goes_on = matches!(page, Ok(Some(_)));
            if sender.send(page).is_err() || !goes_on {
                break;
            }
        }
    }
}

fn defect() -> ParquetError {
    ParquetError::General(DEFECT.to_owned())
}

/// The pages of a column that another thread reads.
struct PrefetchedPages {
    pages: Receiver<Result<Option<Page>>>,
    /// A page that was peeked at and not yet taken.
    peeked: Option<Page>,
    has_ended: bool,
}

impl PageReader for PrefetchedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        if self.peeked.is_some() || self.has_ended {
            return Ok(self.peeked.take());
        }
        let page = self.pages.recv().unwrap_or_else(|_| Err(defect()));
        self.has_ended = !matches!(page, Ok(Some(_)));
        page
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.peeked = self.get_next_page()?;
        Ok(self.peeked.as_ref().map(|page| {
            let levels = usize::try_from(page.num_values()).ok();
            let rows = match page {
                Page::DataPageV2 { num_rows, .. } => usize::try_from(*num_rows).ok(),
                Page::DataPage { .. } | Page::DictionaryPage { .. } => None,
            };
            PageMetadata {
                num_rows: rows,
                num_levels: levels.filter(|_| page.is_data_page()),
                is_dict: page.is_dictionary_page(),
            }
        }))
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.get_next_page().map(drop)
    }
}

impl Iterator for PrefetchedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

#[cfg(test)]
mod tests {
    use parquet::basic::Encoding;

    use super::*;

    type End = fn() -> Result<Option<Page>>;

    /// Yields `pages` pages; then the reader fails, panics or ends.
    struct Given {
        pages: u32,
        read: u32,
        end: End,
    }

    impl PageReader for Given {
        fn get_next_page(&mut self) -> Result<Option<Page>> {
            if self.read == self.pages {
                return (self.end)();
            }
            self.read += 1;
            Ok(Some(Page::DataPage {
                buf: vec![0; 8].into(),
                num_values: self.read,
                encoding: Encoding::PLAIN,
                def_level_encoding: Encoding::RLE,
                rep_level_encoding: Encoding::RLE,
                statistics: None,
            }))
        }

        fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
            Ok(None)
        }

        fn skip_next_page(&mut self) -> Result<()> {
            Ok(())
        }
    }

    impl Iterator for Given {
        type Item = Result<Page>;

        fn next(&mut self) -> Option<Result<Page>> {
            self.get_next_page().transpose()
        }
    }

    fn ahead(pager: &Pager, pages: u32, end: End) -> Box<dyn PageReader> {
        let read = 0;
        pager.ahead(Box::new(Given { pages, read, end }))
    }

    fn numbers(pages: &mut dyn PageReader) -> Result<Vec<u32>> {
        pages.map(|page| Ok(page?.num_values())).collect()
    }

    #[test]
    fn pages_come_in_order_and_those_of_a_column_that_was_left_are_forgotten() {
        let pager = Pager::start().unwrap();
        let mut left = ahead(&pager, 9, || Ok(None));
        assert_eq!(left.next().unwrap().unwrap().num_values(), 1);
        drop(left);
        let mut pages = ahead(&pager, 5, || Ok(None));
        assert_eq!(pages.peek_next_page().unwrap().unwrap().num_levels, Some(1));
        assert_eq!(pages.peek_next_page().unwrap().unwrap().num_levels, Some(1));
        pages.skip_next_page().unwrap();
        assert_eq!(numbers(&mut *pages).unwrap(), [2, 3, 4, 5]);
        assert!(pages.next().is_none() && pages.peek_next_page().unwrap().is_none());
    }

    #[test]
    fn a_failure_or_a_panic_is_an_error_after_the_pages_before_it() {
        let pager = Pager::start().unwrap();
        let ends: [(End, &str); 2] = [
            (|| Err(ParquetError::General("cut off".into())), "cut off"),
            (|| panic!("a defect of the library"), DEFECT),
        ];
        for (end, what) in ends {
            let mut pages = ahead(&pager, 2, end);
            assert_eq!(pages.next().unwrap().unwrap().num_values(), 1);
            assert_eq!(pages.next().unwrap().unwrap().num_values(), 2);
            let error = pages.next().unwrap().unwrap_err();
            assert!(error.to_string().contains(what), "{error}");
            assert!(pages.next().is_none());
        }
    }
}
