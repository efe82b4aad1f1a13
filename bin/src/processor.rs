//! Processor time of the threads of this process, from `/proc`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process;
use std::time::Duration;

/// Processor time of the threads of this process, including those that have ended.
///
/// Only Linux provides it. On other systems there are no threads here.
#[derive(Debug, Default)]
pub(crate) struct ProcessorTimes {
    by_id: BTreeMap<u32, ThreadTime>,
}

/// A thread and its processor time when it was last observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ThreadTime {
    /// The thread's name, or `main` for the first thread.
    pub(crate) name: String,
    /// Its processor time.
    pub(crate) spent: Duration,
}

impl ThreadTime {
    /// Whether other threads do the same work, so that there are more of them on more cores.
    ///
    /// The names of threads in pools end in a number.
    pub(crate) fn shares_its_work(&self) -> bool {
        self.name.ends_with(|last: char| last.is_ascii_digit())
    }
}

impl ProcessorTimes {
    /// Records the times of the current threads.
    ///
    /// Call it often: the time that a thread spends between the last call and its end is lost.
    pub(crate) fn look(&mut self) {
        let Ok(tasks) = fs::read_dir("/proc/self/task") else {
            return;
        };
        for task in tasks.filter_map(Result::ok) {
            let id = task.file_name().to_str().and_then(|id| id.parse().ok());
            if let Some((id, spent)) = id.zip(spent(&task.path())) {
                // A thread has the name of its creator until it sets its own.
                let thread = ThreadTime {
                    name: name(id, &task.path()),
                    spent,
                };
                self.by_id.insert(id, thread);
            }
        }
    }

    /// The threads that used any processor time, busiest first.
    pub(crate) fn busiest(&self) -> Vec<ThreadTime> {
        let mut threads: Vec<ThreadTime> = self.by_id.values().cloned().collect();
        threads.retain(|thread| !thread.spent.is_zero());
        threads.sort_by(|a, b| b.spent.cmp(&a.spent).then_with(|| a.name.cmp(&b.name)));
        threads
    }
}

/// The processor time of a task: the first number in its `schedstat`, in nanoseconds.
fn spent(task: &Path) -> Option<Duration> {
    let text = fs::read_to_string(task.join("schedstat")).ok()?;
    let nanoseconds = text.split_ascii_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

/// The name of a thread.
fn name(id: u32, task: &Path) -> String {
    if id == process::id() {
        return "main".to_owned();
    }
    let own = fs::read_to_string(task.join("comm")).unwrap_or_default();
    own.trim_end().to_owned()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_worked_is_known_after_it_ended() {
        let mut threads = ProcessorTimes::default();
        let (sender, receiver) = std::sync::mpsc::channel();
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let busy = std::thread::Builder::new().name("busy".to_owned());
        let busy = busy.spawn(move || {
            let sum = (0..20_000_000_u64).fold(0, |sum, n| std::hint::black_box(sum ^ n));
            sender.send(sum).unwrap();
            wait.recv().unwrap();
        });
        receiver.recv().unwrap();
        threads.look();
        go.send(()).unwrap();
        busy.unwrap().join().unwrap();
        threads.look();
        let found = threads.busiest();
        let busy = found.iter().find(|thread| thread.name == "busy").unwrap();
        assert!(busy.spent > Duration::ZERO);
        assert!(
            found
                .iter()
                .any(|thread| thread.name == "main" || thread.name.contains("a_thread"))
        );
        assert!(found.is_sorted_by(|a, b| a.spent >= b.spent));
    }
}
