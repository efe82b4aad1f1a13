//! Where the files of a store are while nobody writes.

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, ThreadId};

use crate::error::{Error, Result};
use crate::storage::Files;
use crate::storage::Process;
use crate::store::lock::lock;

/// The place of the writing side's files. One thread at a time takes them out.
#[derive(Debug)]
pub(crate) struct Slot {
    process: Process,
    content: Mutex<Content>,
    given_back: Condvar,
}

#[derive(Debug)]
struct Content {
    /// None while somebody has them.
    files: Option<Files>,
    /// The thread that took them, or used them last.
    user: Option<ThreadId>,
}

impl Slot {
    pub(crate) fn new(files: Files) -> Arc<Slot> {
        Arc::new(Slot {
            process: Process::current(),
            content: Mutex::new(Content {
                files: Some(files),
                user: None,
            }),
            given_back: Condvar::new(),
        })
    }

    /// Takes the files out, once nobody else has them.
    ///
    /// # Errors
    ///
    /// [`Error::WriterHeld`] if this thread has them: it would wait for itself.
    pub(crate) fn take(self: &Arc<Slot>) -> Result<Lease> {
        let user = thread::current().id();
        let mut content = lock(&self.content);
        loop {
            if content.user == Some(user) {
                return Err(Error::WriterHeld);
            }
            if let Some(files) = content.files.take() {
                content.user = Some(user);
                return Ok(Lease {
                    slot: self.clone(),
                    files: Some(files),
                    user,
                });
            }
            let waited = self.given_back.wait(content);
            content = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Refuses what would wait for the files while this thread has them.
    ///
    /// # Errors
    ///
    /// [`Error::WriterHeld`].
    pub(crate) fn check_not_held_here(&self) -> Result<()> {
        if lock(&self.content).user == Some(thread::current().id()) {
            return Err(Error::WriterHeld);
        }
        Ok(())
    }
}

/// The files of a store, for as long as it is there.
#[derive(Debug)]
pub(crate) struct Lease {
    slot: Arc<Slot>,
    /// Taken out when they are given back.
    files: Option<Files>,
    user: ThreadId,
}

impl Lease {
    /// Takes note that this thread uses the files now.
    ///
    /// # Errors
    ///
    /// [`Error::OtherProcess`] in a fork of the process that has them.
    pub(crate) fn enter(&mut self) -> Result<()> {
        self.slot.process.check()?;
        let user = thread::current().id();
        if self.user != user {
            self.user = user;
            lock(&self.slot.content).user = Some(user);
        }
        Ok(())
    }

    /// Whether the process that runs has the files, and not one that it is a fork of.
    pub(crate) fn is_of_this_process(&self) -> bool {
        self.slot.process.is_current()
    }
}

impl Deref for Lease {
    type Target = Files;

    fn deref(&self) -> &Files {
        match &self.files {
            Some(files) => files,
            None => unreachable!("the files are there until the lease ends"),
        }
    }
}

impl DerefMut for Lease {
    fn deref_mut(&mut self) -> &mut Files {
        match &mut self.files {
            Some(files) => files,
            None => unreachable!("the files are there until the lease ends"),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if !self.is_of_this_process() {
            let _open = ManuallyDrop::new(self.files.take());
            return;
        }
        let mut content = lock(&self.slot.content);
        content.files = self.files.take();
        content.user = None;
        drop(content);
        self.slot.given_back.notify_one();
    }
}
