//! The note in a store's folder that names the process that writes.
//!
//! It is a hint for people whose process has to wait. The lock on the index is what excludes other writers: no decision
//! depends on the note, and nothing fails if it cannot be written. What takes a moment leaves no note.

use std::path::{Path, PathBuf};
use std::process;

use crate::clock;
use crate::error::{Holder, Result};
use crate::storage::disk::Process;

use crate::storage::disk::{self, File};
use crate::storage::format::is_lost;
use crate::storage::names::INDEX;

pub(crate) const NAME: &str = "holder";

/// The maximum length of a note in bytes.
const LONGEST: usize = 100;

/// The process that has the right to write to the store in `folder`.
pub(crate) fn holder(folder: &Path) -> Option<Holder> {
    let noted = HolderNote::read(folder);
    let Some(process) = disk::writing_process(&folder.join(INDEX)) else {
        return noted;
    };
    let since = noted.filter(|noted| noted.process == process);
    let since = since.and_then(|noted| noted.since);
    Some(Holder { process, since })
}

/// A note that exists as long as a process has the right to write.
///
/// # Invariant
///
/// It is written and removed under that right, so no process removes the note of another. If there is a file of
/// its name without the store's id, that file is left alone and no note is written.
#[derive(Debug)]
pub(crate) struct HolderNote {
    path: PathBuf,
    store: u64,
    process: Process,
}

impl HolderNote {
    /// Writes a note to the folder of a store that this process has the right to write to.
    pub(crate) fn leave(folder: &Path, store: u64) -> HolderNote {
        let path = folder.join(NAME);
        let process = Process::current();
        let note = HolderNote {
            path,
            store,
            process,
        };
        note.write().unwrap_or_default();
        note
    }

    /// The holder according to the note in a store's folder, if there is one and it may be true.
    pub(crate) fn read(folder: &Path) -> Option<Holder> {
        let text = text(&folder.join(NAME))?;
        let mut lines = text.lines();
        let holder = Holder {
            process: lines.next()?.strip_prefix("process ")?.parse().ok()?,
            since: Some(clock::at_seconds(
                lines.next()?.strip_prefix("since ")?.parse().ok()?,
            )),
        };
        is_there(holder.process).then_some(holder)
    }

    fn write(&self) -> Result<()> {
        self.remove()?;
        let (process, since) = (process::id(), clock::now());
        let text = format!("process {process}\nsince {since}\n{}", self.last_line());
        File::create(&self.path)?.write(0, text.as_bytes())
    }

    /// Removes an existing note, of this process or of a killed one.
    fn remove(&self) -> Result<()> {
        match text(&self.path) {
            Some(text) if text.is_empty() || text.ends_with(&self.last_line()) => {
                disk::remove(&self.path)
            }
            _ => Ok(()),
        }
    }

    /// The line with the store's id.
    fn last_line(&self) -> String {
        format!("store {:016x}\n", self.store)
    }
}

impl Drop for HolderNote {
    fn drop(&mut self) {
        if self.process.is_current() {
            self.remove().unwrap_or_default();
        }
    }
}

/// Whether a file with these first bytes may be a note.
pub(crate) fn is_note(start: &[u8]) -> bool {
    start.starts_with(b"process ")
}

/// The text of a file no longer than a note, or an empty text if it was lost in a crash.
fn text(path: &Path) -> Option<String> {
    let start = File::open(path).ok()?.start(LONGEST + 1).ok()?;
    if start.len() > LONGEST {
        return None;
    }
    if is_lost(&start) {
        return Some(String::new());
    }
    String::from_utf8(start).ok()
}

/// Whether the process may be alive. Only some systems show this in their files.
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
        assert_eq!(HolderNote::read(folder.path()), None);
        let note = HolderNote::leave(folder.path(), 7);
        let holder = HolderNote::read(folder.path()).unwrap();
        assert_eq!(holder.process, process::id());
        assert!(holder.since > Some(clock::at_seconds(1_700_000_000)));
        drop(note);
        assert_eq!(HolderNote::read(folder.path()), None);
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
            assert_eq!(HolderNote::read(folder.path()), None, "{text:?}");
        }
        let _note = HolderNote::leave(&folder.path().join("nowhere"), 7);
    }

    #[test]
    fn what_is_no_note_of_the_store_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        let killed = "process 4000000000\nsince 5\nstore 0000000000000007\n";
        for (text, is_ours) in [
            ("of a lease", false),
            ("process 1\nsince 5\nstore 0000000000000008\n", false),
            (&"store 0000000000000007\n".repeat(9), false),
            (killed, true),
            ("", true),
            ("\0\0\0", true),
            (&"\0".repeat(200), false),
        ] {
            fs::write(&path, text).unwrap();
            drop(HolderNote::leave(folder.path(), 7));
            let left = fs::read_to_string(&path).ok();
            assert_eq!(left, (!is_ours).then(|| text.to_owned()));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("precious"), folder.path().join(NAME));
        for text in [None, Some("precious")] {
            if let Some(text) = text {
                fs::write(&target, text).unwrap();
            }
            std::os::unix::fs::symlink(&target, &link).unwrap();
            drop(HolderNote::leave(folder.path(), 7));
            assert_eq!(fs::read_to_string(&target).ok().as_deref(), text);
            assert!(link.is_symlink());
            fs::remove_file(&link).unwrap();
        }
    }
}
