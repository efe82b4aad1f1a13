//! The clocks, read in this one place.

use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The current time in seconds since 1970, which a document stores as the time it was added.
pub(crate) fn now() -> i64 {
    #[cfg(any(test, fuzzing))]
    if let Some(set) = SET.get() {
        return set;
    }
    i64::try_from(since_1970().as_secs()).unwrap_or(i64::MAX)
}

#[cfg(any(test, fuzzing))]
thread_local! {
    static SET: Cell<Option<i64>> = const { Cell::new(None) };
}

/// Stops the clock of [`now`] at a time, for this thread.
#[cfg(any(test, fuzzing))]
pub(crate) fn set(seconds: i64) {
    SET.set(Some(seconds));
}

/// The number of seconds of a day.
pub(crate) const DAY: i64 = 24 * 60 * 60;

/// The day of a time in seconds since 1970, as the number of days since then.
pub(crate) fn day_of(seconds: i64) -> i64 {
    seconds.div_euclid(DAY)
}

/// The time `span` ago in microseconds since 1970. Two processes compare them to see which came first.
pub(crate) fn micros_before(span: Duration) -> u64 {
    let since = since_1970().saturating_sub(span);
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// The time since 1970, or none if the clock is set to an earlier year.
fn since_1970() -> Duration {
    #[expect(
        clippy::disallowed_methods,
        reason = "the time a document is added is a fact that only the clock knows, and no other clock is the same for \
                  all processes"
    )]
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default()
}

/// Nanoseconds from 1970 to `time`, as times are stored; `None` if they do not fit, before 1677 or after 2262.
pub(crate) fn nanoseconds(time: SystemTime) -> Option<i64> {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).ok(),
        Err(before) => {
            let nanoseconds = i64::try_from(before.duration().as_nanos()).ok();
            nanoseconds.map(|nanoseconds| -nanoseconds)
        }
    }
}

/// The time `nanoseconds` after 1970.
pub(crate) fn at_nanoseconds(nanoseconds: i64) -> SystemTime {
    after(
        Duration::from_nanos(nanoseconds.unsigned_abs()),
        nanoseconds < 0,
    )
}

/// The time `seconds` after 1970, or 1970 itself if the system cannot represent it.
pub(crate) fn at_seconds(seconds: i64) -> SystemTime {
    after(Duration::from_secs(seconds.unsigned_abs()), seconds < 0)
}

/// The start of a day, which is given in days since 1970.
pub(crate) fn day(day: i64) -> SystemTime {
    at_seconds(day.saturating_mul(DAY))
}

fn after(span: Duration, is_before: bool) -> SystemTime {
    let time = if is_before {
        UNIX_EPOCH.checked_sub(span)
    } else {
        UNIX_EPOCH.checked_add(span)
    };
    time.unwrap_or(UNIX_EPOCH)
}

/// Measures the time since its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts now.
    pub(crate) fn start() -> Stopwatch {
        Stopwatch(Instant::now())
    }

    /// One that started this long ago.
    #[cfg(test)]
    pub(crate) fn started(ago: Duration) -> Option<Stopwatch> {
        Instant::now().checked_sub(ago).map(Stopwatch)
    }

    /// Time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// The longest pause between two attempts. A longer one would leave a store idle for no reason.
const LONGEST_PAUSE: Duration = Duration::from_millis(200);

/// The shortest and the longest pause where a millisecond counts.
const BRIEF_PAUSES: Range<Duration> = Duration::from_micros(30)..Duration::from_millis(5);

/// Limits how long an operation is retried.
#[derive(Debug)]
pub(crate) struct Patience {
    started: Instant,
    wait: Duration,
    pause: Duration,
    is_brief: bool,
}

impl Patience {
    /// Allows retries for `wait` from now on.
    pub(crate) fn new(wait: Duration) -> Patience {
        Patience {
            started: Instant::now(),
            wait,
            pause: Duration::from_millis(5),
            is_brief: false,
        }
    }

    /// Allows retries for `wait`, of something that others mostly have for less than a millisecond.
    pub(crate) fn brief(wait: Duration) -> Patience {
        Patience {
            is_brief: true,
            ..Patience::new(wait)
        }
    }

    /// Sleeps before the next attempt, or returns false if the time is up.
    pub(crate) fn pause(&mut self) -> bool {
        let elapsed = self.started.elapsed();
        let left = self.wait.saturating_sub(elapsed);
        if left.is_zero() {
            return false;
        }
        if self.is_brief {
            let pause = (elapsed / 50).clamp(BRIEF_PAUSES.start, BRIEF_PAUSES.end);
            thread::sleep(pause.min(left));
        } else {
            thread::sleep(self.pause.min(left));
            self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        }
        true
    }
}

/// The number of texts that the time of one stands for, in [`Meter::time_of`].
///
/// Reading the clock and counting takes as long as a tenth of the work on a few words. So each thread times one of
/// 16 short texts, and none of the others.
pub(crate) fn stands_for(bytes: usize) -> u64 {
    const SHORT: usize = 1 << 10;
    const ONE_OF: u64 = 16;
    thread_local! {
        static SHORT_TEXTS: Cell<u64> = const { Cell::new(0) };
    }
    if bytes > SHORT {
        return 1;
    }
    let before = SHORT_TEXTS.replace(SHORT_TEXTS.get().wrapping_add(1));
    if before.is_multiple_of(ONE_OF) {
        ONE_OF
    } else {
        0
    }
}

/// Adds up the time that some kind of work takes, on any number of threads.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    nanoseconds: AtomicU64,
}

impl Meter {
    /// Does `work` and counts its time.
    pub(crate) fn time<T>(&self, work: impl FnOnce() -> T) -> T {
        self.time_of(1, work)
    }

    /// Does `work` and counts its time as that of `texts` texts.
    pub(crate) fn time_of<T>(&self, texts: u64, work: impl FnOnce() -> T) -> T {
        if texts == 0 {
            return work();
        }
        let start = Instant::now();
        let done = work();
        let spent = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let spent = spent.saturating_mul(texts);
        self.nanoseconds.fetch_add(spent, Ordering::Relaxed);
        done
    }

    fn total(&self) -> Duration {
        Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed))
    }
}

/// The meters of an open store.
#[derive(Debug, Default)]
pub(crate) struct Meters {
    pub(crate) shingling: Meter,
    pub(crate) signing: Meter,
    pub(crate) appending: Meter,
    pub(crate) comparing: Meter,
    pub(crate) merging: Meter,
    pub(crate) committing: Meter,
}

impl Meters {
    /// Reads all meters.
    pub(crate) fn read(&self) -> Timings {
        Timings {
            shingling: self.shingling.total(),
            signing: self.signing.total(),
            appending: self.appending.total(),
            comparing: self.comparing.total(),
            merging: self.merging.total(),
            committing: self.committing.total(),
        }
    }
}

/// Where the time went since a store was opened.
///
/// Several threads shingle, sign, compare and merge at a time, and their times are added up, so the sum may exceed the
/// elapsed time. The times of shingling and signing are estimates for texts of up to a kilobyte: one in sixteen is
/// timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timings {
    /// From texts to packed shingle sets.
    pub shingling: Duration,
    /// From shingle sets to signatures and band hashes.
    pub signing: Duration,
    /// Giving contents their ids and writing their rows, on one thread.
    pub appending: Duration,
    /// Looking for earlier documents that are similar to new ones.
    pub comparing: Duration,
    /// Moving postings into the bucket tables.
    pub merging: Duration,
    /// All commits, merging included, as elapsed time.
    pub committing: Duration,
}
