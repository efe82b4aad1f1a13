//! Calls into redb, which panics at some damaged pages.
//!
//! redb only verifies the checksums of its pages in a check of the whole index, and trusts them otherwise. All code
//! that reads pages goes through here, so that a page that redb cannot parse is an error like any other. After a panic,
//! a write transaction is dropped together with its changes. Tables open for reading can still be used: a panic leaves
//! no half-done changes in them, and a lock that it poisoned is an error of redb. All of this needs panics that unwind.
//!
//! The message of such a panic is part of the error and is not printed: the first call puts a hook before that of the
//! program, which is silent while this thread is in here, and passes on all other panics.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::thread;

use crate::error::{Error, Result};
use crate::storage::disk::first_failure;

#[cfg(all(panic = "abort", not(any(test, fuzzing))))]
compile_error!(
    "dedupdb turns panics at damaged pages into errors: build it with panic = \"unwind\""
);

/// The number of characters to which a message of redb is truncated.
const MESSAGE_CHARS: usize = 120;

/// Does `work` with the index at `path`, during which redb may panic.
///
/// # Errors
///
/// [`Error::Damaged`] after a panic, and those of `work`.
pub(crate) fn guarded<T>(path: &Path, work: impl FnOnce() -> Result<T>) -> Result<T> {
    hush();
    let outer = IS_GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(outer);
    match done {
        // redb only reports that something failed earlier. The cause is reported instead.
        Ok(Err(Error::Poisoned)) => Err(match first_failure(path) {
            Some(cause) => Error::index(path, redb::Error::Io(cause)),
            None => Error::Poisoned,
        }),
        Ok(done) => done,
        Err(panic) => Err(Error::damaged(path, reason(&*panic))),
    }
}

thread_local! {
    /// Whether a panic of this thread becomes an error.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Keeps panics that become errors from being printed.
fn hush() {
    static HUSHED: Once = Once::new();
    // A thread that panics must not change the hook; the next call does.
    if HUSHED.is_completed() || thread::panicking() {
        return;
    }
    HUSHED.call_once(|| {
        let told = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            let is_guarded = IS_GUARDED.try_with(Cell::get).unwrap_or_default();
            if !is_guarded {
                told(panic);
            }
        }));
    });
}

/// The message of a panic, on one line.
fn reason(panic: &(dyn Any + Send)) -> String {
    let said = panic.downcast_ref::<String>().map(String::as_str);
    let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
    let line = said.and_then(|said| said.lines().next()).unwrap_or("");
    let line: String = line.chars().take(MESSAGE_CHARS).collect();
    format!("redb cannot make sense of it ({line})")
}

/// The entries of a table, each read under guard. An error ends them.
#[derive(Debug)]
pub(crate) struct GuardedEntries<I> {
    path: PathBuf,
    entries: Option<I>,
}

impl<I> GuardedEntries<I> {
    /// The entries that `open` returns for a table of the index at `path`.
    pub(crate) fn open<E: Into<redb::Error>>(
        path: &Path,
        open: impl FnOnce() -> Result<I, E>,
    ) -> Result<GuardedEntries<I>> {
        let entries = guarded(path, || open().map_err(|error| Error::index(path, error)))?;
        Ok(GuardedEntries {
            path: path.to_owned(),
            entries: Some(entries),
        })
    }
}

impl<T, I: Iterator<Item = Result<T, redb::Error>>> Iterator for GuardedEntries<I> {
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
        let mut guarded = GuardedEntries::open(Path::new("index.redb"), open).unwrap();
        let read: Vec<Option<i32>> = (0..5).map(|_| guarded.next()?.ok()).collect();
        assert_eq!(read, [Some(0), Some(1), Some(2), None, None]);
        assert!(guarded.next().is_none());
    }
}
