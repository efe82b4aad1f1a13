//! Where the time of an add went, for `--timings`.

use std::fmt::Write;
use std::time::Duration;

use dedupdb::upkeep::Timings;

use crate::processor::ThreadTime;

const MEGABYTE: f64 = 1e6;

/// The times of an add.
#[derive(Debug)]
pub(crate) struct AddTimes {
    /// The stages of the work.
    pub(crate) stages: Timings,
    /// The time without input to work on.
    pub(crate) waiting: Duration,
    /// The processor time of the threads, the busiest first. Empty if the system does not report it.
    pub(crate) threads: Vec<ThreadTime>,
    /// The number of bytes that were read.
    pub(crate) bytes: u64,
}

impl AddTimes {
    /// The lines to show.
    pub(crate) fn to_text(&self) -> String {
        let stages = &self.stages;
        let mut text = String::new();
        for (name, spent, remark) in [
            ("waiting for input", self.waiting, ""),
            ("shingling", stages.shingling, "summed over threads"),
            ("signing", stages.signing, "summed over threads"),
            ("appending", stages.appending, ""),
            ("comparing", stages.comparing, "summed over threads"),
            ("committing", stages.committing, ""),
            ("  of that merging", stages.merging, ""),
        ] {
            line(&mut text, name, spent, remark);
        }
        let megabytes = self.bytes as f64 / MEGABYTE;
        for thread in &self.threads {
            let name = format!("thread {}", thread.name);
            line(&mut text, &name, thread.spent, &each(thread, megabytes));
        }
        let mut alone = self.threads.iter().filter(|one| !one.shares_its_work());
        if let Some(busiest) = alone.next().filter(|_| megabytes > 0.0) {
            let rate = megabytes / busiest.spent.as_secs_f64();
            let ThreadTime { name, .. } = busiest;
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "no number of cores adds more than {rate:.0} MB/s, for {name} is one thread"
            );
        }
        text
    }
}

/// The remark beside the processor time of a thread.
fn each(thread: &ThreadTime, megabytes: f64) -> String {
    if megabytes == 0.0 {
        return "of the processor".to_owned();
    }
    let each = 1e3 * thread.spent.as_secs_f64() / megabytes;
    format!("of the processor, {each:.2} ms a MB")
}

fn line(text: &mut String, name: &str, spent: Duration, remark: &str) {
    let seconds = spent.as_secs_f64();
    let line = format!("{name:<18} {seconds:>8.3} s  {remark}");
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", line.trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_thread_that_works_alone_says_what_it_allows() {
        let thread = |name: &str, milliseconds| ThreadTime {
            name: name.to_owned(),
            spent: Duration::from_millis(milliseconds),
        };
        let spent = |bytes| AddTimes {
            stages: Timings::default(),
            waiting: Duration::ZERO,
            threads: vec![
                thread("dedupdb-1", 900),
                thread("main", 500),
                thread("reader", 250),
            ],
            bytes,
        };
        let text = spent(100_000_000).to_text();
        let (_, threads) = text.split_at(text.find("thread dedupdb").unwrap());
        assert_eq!(
            threads,
            "thread dedupdb-1      0.900 s  of the processor, 9.00 ms a MB\n\
             thread main           0.500 s  of the processor, 5.00 ms a MB\n\
             thread reader         0.250 s  of the processor, 2.50 ms a MB\n\
             no number of cores adds more than 200 MB/s, for main is one thread\n"
        );
        assert!(spent(0).to_text().ends_with("0.250 s  of the processor\n"));
    }
}
