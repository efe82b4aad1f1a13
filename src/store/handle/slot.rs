//! The place of a store's files between writes.

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::parallel::lock;
use crate::storage::Process;
use crate::storage::StoreFiles;

/// How long [`FilesSlot::take_at_last`] waits between two calls of its caller's function.
const TICK: Duration = Duration::from_millis(50);

/// Holds the files of the writing side. One thread at a time takes them out.
///
/// # Invariant
///
/// No thread waits for itself: neither the thread that used the files last nor one that feeds a pipeline. If a writer
/// moves to another thread, the slot does not know it until that thread uses the writer. So a wait for a writer that is
/// not used is limited, except in [`FilesSlot::take_at_last`], which its caller can end.
#[derive(Debug)]
pub(crate) struct FilesSlot {
    process: Process,
    /// How long to wait for files that are not used.
    idle: Duration,
    content: Mutex<SlotContent>,
    given_back: Condvar,
    /// The number of calls that use the files now.
    in_use: AtomicU64,
    /// The number of calls that used them before.
    uses: AtomicU64,
}

#[derive(Debug)]
struct SlotContent {
    /// `None` while a lease has them.
    files: Option<StoreFiles>,
    /// The thread that took them, or used them last.
    user: Option<ThreadId>,
    /// The threads that feed a pipeline that has the files or waits for them, with the number of the pipeline.
    feeders: Vec<(u64, ThreadId)>,
    /// The number of pipelines that were started.
    pipelines: u64,
}

impl SlotContent {
    /// Refuses to let this thread wait for itself.
    ///
    /// # Errors
    ///
    /// [`Error::WriterHeld`].
    fn check_not_held_here(&self) -> Result<()> {
        let this = thread::current().id();
        let feeds = self.feeders.iter().any(|(_, feeder)| *feeder == this);
        if feeds || self.user == Some(this) {
            return Err(Error::WriterHeld);
        }
        Ok(())
    }
}

impl FilesSlot {
    pub(crate) fn new(files: StoreFiles, idle: Duration) -> Arc<FilesSlot> {
        Arc::new(FilesSlot {
            process: Process::current(),
            idle,
            content: Mutex::new(SlotContent {
                files: Some(files),
                user: None,
                feeders: Vec::new(),
                pipelines: 0,
            }),
            given_back: Condvar::new(),
            in_use: AtomicU64::new(0),
            uses: AtomicU64::new(0),
        })
    }

    /// Takes the files out once no other lease has them. They are in use until the caller [rests](Lease::rest).
    ///
    /// # Errors
    ///
    /// [`Error::WriterHeld`] if this thread has them, or they are not used.
    pub(crate) fn take(self: &Arc<FilesSlot>) -> Result<Lease> {
        self.take_within(self.idle)
    }

    /// Takes the files out like [`FilesSlot::take`], but waits even for files that are not used, until `meanwhile` fails. It
    /// is called from time to time.
    pub(crate) fn take_at_last(
        self: &Arc<FilesSlot>,
        mut meanwhile: impl FnMut() -> Result<()>,
    ) -> Result<Lease> {
        let mut content = lock(&self.content);
        loop {
            if let Some(lease) = self.lease(&mut content)? {
                return Ok(lease);
            }
            let waited = self.given_back.wait_timeout(content, TICK);
            let (after, time) = waited.unwrap_or_else(PoisonError::into_inner);
            content = after;
            if time.timed_out() && content.files.is_none() {
                // The caller's function may use the store.
                drop(content);
                meanwhile()?;
                content = lock(&self.content);
            }
        }
    }

    fn take_within(self: &Arc<FilesSlot>, idle: Duration) -> Result<Lease> {
        let mut content = lock(&self.content);
        loop {
            if let Some(lease) = self.lease(&mut content)? {
                return Ok(lease);
            }
            let seen = self.uses.load(Ordering::Relaxed);
            let waited = self.given_back.wait_timeout(content, idle);
            let (after, time) = waited.unwrap_or_else(PoisonError::into_inner);
            content = after;
            let is_used = self.in_use.load(Ordering::Relaxed) > 0
                || self.uses.load(Ordering::Relaxed) != seen;
            if time.timed_out() && content.files.is_none() && !is_used {
                return Err(Error::WriterHeld);
            }
        }
    }

    /// Takes the files if they are there.
    fn lease(self: &Arc<FilesSlot>, content: &mut SlotContent) -> Result<Option<Lease>> {
        content.check_not_held_here()?;
        let Some(files) = content.files.take() else {
            return Ok(None);
        };
        let user = thread::current().id();
        content.user = Some(user);
        Ok(Some(Lease {
            in_use: Some(SlotUse::begin(self)),
            slot: self.clone(),
            files: Some(files),
            user,
        }))
    }

    /// Takes the files out if no other lease has them.
    pub(crate) fn take_if_free(self: &Arc<FilesSlot>) -> Option<Lease> {
        let mut content = lock(&self.content);
        self.lease(&mut content).unwrap_or(None)
    }

    /// Refuses to wait for the files if this thread has them, or feeds a pipeline.
    ///
    /// # Errors
    ///
    /// [`Error::WriterHeld`].
    pub(crate) fn check_not_held_here(&self) -> Result<()> {
        lock(&self.content).check_not_held_here()
    }

    /// Refuses to wait for the files if this thread has them.
    ///
    /// # Errors
    ///
    /// [`Error::WriterHeld`].
    pub(crate) fn check_not_used_here(&self) -> Result<()> {
        if lock(&self.content).user == Some(thread::current().id()) {
            return Err(Error::WriterHeld);
        }
        Ok(())
    }

    /// Records that this thread feeds a pipeline.
    ///
    /// # Errors
    ///
    /// [`Error::WriterHeld`] if it feeds another one, or has the files.
    pub(crate) fn feed(self: &Arc<FilesSlot>) -> Result<Feeder> {
        let mut content = lock(&self.content);
        content.check_not_held_here()?;
        let thread = thread::current().id();
        content.pipelines += 1;
        let number = content.pipelines;
        content.feeders.push((number, thread));
        Ok(Feeder {
            slot: self.clone(),
            number,
            thread,
        })
    }
}

/// The thread that feeds a pipeline.
#[derive(Debug)]
pub(crate) struct Feeder {
    slot: Arc<FilesSlot>,
    number: u64,
    thread: ThreadId,
}

impl Feeder {
    /// Records that this thread feeds the pipeline now.
    pub(crate) fn is_here(&mut self) {
        let this = thread::current().id();
        if self.thread == this || !self.slot.process.is_current() {
            return;
        }
        self.thread = this;
        for (number, thread) in &mut lock(&self.slot.content).feeders {
            if *number == self.number {
                *thread = this;
            }
        }
    }
}

impl Drop for Feeder {
    fn drop(&mut self) {
        if self.slot.process.is_current() {
            let feeders = &mut lock(&self.slot.content).feeders;
            feeders.retain(|(number, _)| *number != self.number);
        }
    }
}

/// A call that uses the files.
#[derive(Debug)]
pub(crate) struct SlotUse(Arc<FilesSlot>);

impl SlotUse {
    fn begin(slot: &Arc<FilesSlot>) -> SlotUse {
        slot.in_use.fetch_add(1, Ordering::Relaxed);
        SlotUse(slot.clone())
    }
}

impl Drop for SlotUse {
    fn drop(&mut self) {
        self.0.uses.fetch_add(1, Ordering::Relaxed);
        self.0.in_use.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The files of a store, until they are given back on drop.
#[derive(Debug)]
pub(crate) struct Lease {
    slot: Arc<FilesSlot>,
    /// `None` while only single calls use the files.
    in_use: Option<SlotUse>,
    /// Taken when the files are given back.
    files: Option<StoreFiles>,
    user: ThreadId,
}

impl Lease {
    /// Leaves the use of the files to single calls from now on.
    pub(crate) fn rest(&mut self) {
        self.in_use = None;
    }

    /// Records that this thread uses the files, until the returned value is dropped.
    ///
    /// # Errors
    ///
    /// [`Error::OtherProcess`] in a fork of the process that has them.
    pub(crate) fn enter(&mut self) -> Result<SlotUse> {
        self.slot.process.check()?;
        let user = thread::current().id();
        if self.user != user {
            self.user = user;
            lock(&self.slot.content).user = Some(user);
        }
        Ok(SlotUse::begin(&self.slot))
    }

    /// Whether the files belong to the current process, not to one that it is a fork of.
    pub(crate) fn is_of_this_process(&self) -> bool {
        self.slot.process.is_current()
    }
}

impl Deref for Lease {
    type Target = StoreFiles;

    fn deref(&self) -> &StoreFiles {
        match &self.files {
            Some(files) => files,
            None => unreachable!("the files are there until the lease ends"),
        }
    }
}

impl DerefMut for Lease {
    fn deref_mut(&mut self) -> &mut StoreFiles {
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
        let mut files = self.files.take();
        if let Some(files) = &mut files {
            files.end_turn();
        }
        let mut content = lock(&self.slot.content);
        content.files = files;
        content.user = None;
        drop(content);
        self.slot.given_back.notify_one();
    }
}
