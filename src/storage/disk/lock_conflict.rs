//! Reports which processes keep bytes of a file locked.

use std::fmt;
use std::fs;
use std::ops::Bound;
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use super::turn::WRITER;

/// Bytes of a file that other processes keep locked.
#[derive(Debug)]
pub(super) struct LockConflict {
    pub(super) bytes: (Bound<u64>, Bound<u64>),
    /// Whether others may lock the bytes at the same time. If so, of the first bytes, only the last step of a commit
    /// keeps them: a reader has to wait for it.
    pub(super) is_shared: bool,
    pub(super) holders: Vec<u32>,
}

impl std::error::Error for LockConflict {}

impl fmt::Display for LockConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, end) = self.bytes;
        let start = match start {
            Bound::Included(start) => start,
            Bound::Excluded(start) => start + 1,
            Bound::Unbounded => 0,
        };
        let end = match end {
            Bound::Included(end) => format!("{end}"),
            Bound::Excluded(end) => format!("{}", end.saturating_sub(1)),
            Bound::Unbounded => "the end".to_owned(),
        };
        let holders = match self.holders.as_slice() {
            [] => "another process".to_owned(),
            [process] => format!("process {process}"),
            processes => {
                let all: Vec<String> = processes.iter().map(u32::to_string).collect();
                format!("processes {}", all.join(", "))
            }
        };
        if self.is_shared && start == 0 {
            write!(
                f,
                "the last step of a commit, which readers wait for, is held up in {holders}"
            )
        } else {
            write!(f, "bytes {start} to {end} stay locked by {holders}")
        }
    }
}

/// The other processes that lock some of the `bytes` of the file at `path`, in ascending order.
///
/// Linux reports those that this user may inspect. Other systems report none.
#[cfg(target_os = "linux")]
pub(super) fn holders(path: &Path, bytes: (Bound<u64>, Bound<u64>)) -> Vec<u32> {
    let Ok(file) = fs::metadata(path) else {
        return Vec::new();
    };
    let mut found: Vec<u32> = processes()
        .filter(|&process| process != std::process::id())
        .filter(|&process| {
            locks_of(process, &file)
                .lines()
                .any(|lock| is_of(lock, bytes))
        })
        .collect();
    found.sort_unstable();
    found
}

#[cfg(not(target_os = "linux"))]
pub(super) fn holders(_: &Path, _: (Bound<u64>, Bound<u64>)) -> Vec<u32> {
    Vec::new()
}

/// The process that has the right to write to the database at `path`, as Linux reports it.
#[cfg(target_os = "linux")]
pub(in crate::storage) fn writing_process(path: &Path) -> Option<u32> {
    let file = fs::metadata(path).ok()?;
    // The lock of redb, as the system writes it: exclusive, from this byte to this byte.
    let lock = format!(" {WRITER} {WRITER}");
    let writes = |line: &str| line.contains("WRITE") && line.ends_with(&lock);
    let has_lock = |&process: &u32| locks_of(process, &file).lines().any(writes);
    first_parent(&processes().filter(has_lock).collect::<Vec<u32>>(), parent)
}

/// The first process whose parent is not among these. A child has the locks of its parent until it runs another program.
#[cfg(target_os = "linux")]
fn first_parent(processes: &[u32], parent: impl Fn(u32) -> Option<u32>) -> Option<u32> {
    let is_child = |process| parent(process).is_some_and(|parent| processes.contains(&parent));
    let mut processes = processes.iter().copied();
    processes.find(|&process| !is_child(process))
}

/// The parent of a process: the fourth word of its `stat`, of which the second, in parentheses, is a name.
#[cfg(target_os = "linux")]
fn parent(process: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, behind_name) = stat.rsplit_once(')')?;
    behind_name.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(not(target_os = "linux"))]
pub(in crate::storage) fn writing_process(_: &Path) -> Option<u32> {
    None
}

/// Whether a lock, as the system writes it, has some of the bytes. It ends with its first and its last byte.
#[cfg(target_os = "linux")]
fn is_of(lock: &str, bytes: (Bound<u64>, Bound<u64>)) -> bool {
    let mut words = lock.split_whitespace().rev();
    let last = words.next().and_then(|last| last.parse().ok());
    let Some(first) = words.next().and_then(|first| first.parse::<u64>().ok()) else {
        return false;
    };
    let is_before_end = match bytes.1 {
        Bound::Included(end) => first <= end,
        Bound::Excluded(end) => first < end,
        Bound::Unbounded => true,
    };
    let is_after_start = match bytes.0 {
        Bound::Included(start) => last.unwrap_or(u64::MAX) >= start,
        Bound::Excluded(start) => last.unwrap_or(u64::MAX) > start,
        Bound::Unbounded => true,
    };
    is_before_end && is_after_start
}

/// The locks that a process has on ranges of a file, each in a line.
#[cfg(target_os = "linux")]
fn locks_of(process: u32, file: &fs::Metadata) -> String {
    use std::os::unix::fs::MetadataExt;
    let of_process = Path::new("/proc").join(process.to_string());
    let mut locks = String::new();
    for open in entries(&of_process.join("fd")) {
        let is_it = fs::metadata(&open)
            .is_ok_and(|found| (found.dev(), found.ino()) == (file.dev(), file.ino()));
        let Some(number) = open.file_name().filter(|_| is_it) else {
            continue;
        };
        let told = fs::read_to_string(of_process.join("fdinfo").join(number)).unwrap_or_default();
        let is_lock = |line: &&str| line.starts_with("lock:") && !line.contains("FLOCK");
        for line in told.lines().filter(is_lock) {
            locks.push_str(line);
            locks.push('\n');
        }
    }
    locks
}

/// All processes.
#[cfg(target_os = "linux")]
fn processes() -> impl Iterator<Item = u32> {
    let processes = entries(Path::new("/proc"));
    processes.filter_map(|process| process.file_name()?.to_str()?.parse().ok())
}

#[cfg(target_os = "linux")]
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_lock_of_other_bytes_is_in_nobodys_way() {
        let lock = |bytes: &str| format!("lock:\t1: OFDLCK ADVISORY  WRITE -1 08:01:5177 {bytes}");
        let header = (Bound::Included(0), Bound::Excluded(320));
        for (bytes, is_of_them) in [
            ("0 319", true),
            ("319 319", true),
            ("0 EOF", true),
            ("320 EOF", false),
            ("4611686018427387904 4611686018427387904", false),
        ] {
            assert_eq!(is_of(&lock(bytes), header), is_of_them, "{bytes}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_that_has_the_lock_of_its_parent_is_not_the_writer() {
        let parent_of = |process| {
            [(7, 1), (9, 4000), (4000, 1)]
                .iter()
                .find_map(|&(child, parent)| (child == process).then_some(parent))
        };
        assert_eq!(first_parent(&[9, 4000], parent_of), Some(4000));
        assert_eq!(first_parent(&[7, 9], parent_of), Some(7));
        assert_eq!(first_parent(&[], parent_of), None);
        assert_eq!(
            parent(std::process::id()),
            Some(std::os::unix::process::parent_id())
        );
    }

    #[test]
    fn it_says_what_is_held_up_and_who_does_it() {
        let blocked_as = |is_shared, holders| {
            let bytes = (Bound::Included(0), Bound::Excluded(320));
            let blocked = LockConflict {
                bytes,
                is_shared,
                holders,
            };
            blocked.to_string()
        };
        let step = "the last step of a commit, which readers wait for, is held up in process 7";
        assert_eq!(blocked_as(true, vec![7]), step);
        let blocked = |holders| blocked_as(false, holders);
        let bytes = "bytes 0 to 319 stay locked by ";
        assert_eq!(blocked(vec![]), format!("{bytes}another process"));
        assert_eq!(blocked(vec![7]), format!("{bytes}process 7"));
        assert_eq!(blocked(vec![7, 9]), format!("{bytes}processes 7, 9"));
    }
}
