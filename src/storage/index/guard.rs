//! Calls into redb, which panics at some pages that are damaged.
//!
//! redb compares the checksums of its pages only in a check of the whole index, and trusts them
//! otherwise. Everything that reads pages goes through here, so that a page that makes no sense to
//! redb is an error like any other. A transaction that was written to is dropped after a panic, and
//! with it what it wrote. Tables that are only read may be read on: a panic leaves nothing half-done in
//! them, and a lock that it poisoned is an error of redb's. All this needs panics that unwind.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::storage::disk::first_failure;

#[cfg(all(panic = "abort", not(any(test, fuzzing))))]
compile_error!(
    "dedupdb turns panics at damaged pages into errors: build it with panic = \"unwind\""
);

/// A message of redb's is cut to so many characters.
const MESSAGE_CHARS: usize = 120;

/// Does something with the index at `path` at which redb may panic.
///
/// # Errors
///
/// [`Error::Damaged`] after a panic, or those of `work`.
pub(crate) fn guarded<T>(path: &Path, work: impl FnOnce() -> Result<T>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        // redb says that something failed before; what that was is told.
        Ok(Err(Error::Poisoned)) => Err(match first_failure(path) {
            Some(cause) => Error::index(path, redb::Error::Io(cause)),
            None => Error::Poisoned,
        }),
        Ok(done) => done,
        Err(panic) => Err(Error::damaged(path, reason(&*panic))),
    }
}

/// What a panic said, on one line.
fn reason(panic: &(dyn Any + Send)) -> String {
    let said = panic.downcast_ref::<String>().map(String::as_str);
    let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
    let line = said.and_then(|said| said.lines().next()).unwrap_or("");
    let line: String = line.chars().take(MESSAGE_CHARS).collect();
    format!("redb cannot make sense of it ({line})")
}

/// Entries of a table, each read under guard; an error is the last of them.
#[derive(Debug)]
pub(crate) struct Guarded<I> {
    path: PathBuf,
    entries: Option<I>,
}

impl<I> Guarded<I> {
    /// The entries that `open` gives of a table of the index at `path`.
    pub(crate) fn open<E: Into<redb::Error>>(
        path: &Path,
        open: impl FnOnce() -> Result<I, E>,
    ) -> Result<Guarded<I>> {
        let entries = guarded(path, || open().map_err(|error| Error::index(path, error)))?;
        Ok(Guarded {
            path: path.to_owned(),
            entries: Some(entries),
        })
    }
}

impl<T, I: Iterator<Item = Result<T, redb::Error>>> Iterator for Guarded<I> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        let entries = self.entries.as_mut()?;
        let path = &self.path;
        let next = guarded(path, || {
            let next = entries.next().transpose();
            next.map_err(|error| Error::index(path, error))
        });
        if !matches!(next, Ok(Some(_))) {
            self.entries = None;
        }
        next.transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_that_says_what_redb_said() {
        let path = Path::new("index.redb");
        let error = guarded::<()>(path, || panic!("page {} is none\nat all", 7)).unwrap_err();
        assert!(
            matches!(&error, Error::Damaged { path: named, reason }
                if named == path && reason.ends_with("(page 7 is none)")),
            "{error}"
        );
        assert_eq!(guarded(path, || Ok(5)).unwrap(), 5);
    }

    #[test]
    fn entries_end_at_the_first_error() {
        let entries = (0..9).map(|n| match n {
            0..3 => Ok(n),
            _ => panic!("a damaged page"),
        });
        let open = || Ok::<_, redb::Error>(entries);
        let mut guarded = Guarded::open(Path::new("index.redb"), open).unwrap();
        let read: Vec<Option<i32>> = (0..5).map(|_| guarded.next()?.ok()).collect();
        assert_eq!(read, [Some(0), Some(1), Some(2), None, None]);
        assert!(guarded.next().is_none());
    }
}
