//! The note in a store's folder that says who has it open for writing.
//!
//! It is a hint for people whose process has to wait. What keeps writers apart is the lock on the
//! index: nothing is decided by the note, and nothing fails where it cannot be written.

use std::path::{Path, PathBuf};
use std::process;

use crate::clock;
use crate::error::{Holder, Result};
use crate::process::Process;

use super::disk::{self, File};

const NAME: &str = "holder";

/// No note is longer.
const LONGEST: usize = 100;

/// Is there as long as a writer has the store open.
///
/// # Invariant
///
/// It is left and taken away under the store's lock, so nobody takes away another's.
#[derive(Debug)]
pub(crate) struct Note {
    path: PathBuf,
    process: Process,
}

impl Note {
    /// Leaves a note in the folder of a store that this process has just locked.
    pub(crate) fn leave(folder: &Path) -> Note {
        let path = folder.join(NAME);
        let (process, since) = (process::id(), clock::now());
        let text = format!("process {process}\nsince {since}\n");
        write(&path, &text).unwrap_or_default();
        Note {
            path,
            process: Process::current(),
        }
    }

    /// What the note in a store's folder says, if there is one and it may be true.
    pub(crate) fn read(folder: &Path) -> Option<Holder> {
        let start = File::open(&folder.join(NAME)).ok()?.start(LONGEST).ok()?;
        let text = String::from_utf8(start).ok()?;
        let mut lines = text.lines();
        let holder = Holder {
            process: lines.next()?.strip_prefix("process ")?.parse().ok()?,
            since: lines.next()?.strip_prefix("since ")?.parse().ok()?,
        };
        is_there(holder.process).then_some(holder)
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        if self.process.is_current() {
            disk::remove(&self.path).unwrap_or_default();
        }
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    File::create(path)?.write(0, text.as_bytes())
}

/// Whether the process may be alive: only some systems show that in their files.
fn is_there(process: u32) -> bool {
    let processes = Path::new("/proc");
    !processes.join("self").exists() || processes.join(process.to_string()).exists()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_note_is_there_while_it_is_held() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Note::read(folder.path()), None);
        let note = Note::leave(folder.path());
        let holder = Note::read(folder.path()).unwrap();
        assert_eq!(holder.process, process::id());
        assert!(holder.since > 1_700_000_000);
        drop(note);
        assert_eq!(Note::read(folder.path()), None);
    }

    #[test]
    fn a_note_that_says_nothing_is_none() {
        let folder = tempfile::tempdir().unwrap();
        for text in [
            "",
            "process 1",
            "process x\nsince 5\n",
            "\u{0}",
            "since 5\nprocess 1\n",
        ] {
            fs::write(folder.path().join(NAME), text).unwrap();
            assert_eq!(Note::read(folder.path()), None, "{text:?}");
        }
        let _note = Note::leave(&folder.path().join("nowhere"));
    }
}
