//! The measurements of a day.

use std::fmt;

use crate::crawler::Report;
use crate::pages::HOURS;
use crate::verify::Verified;

/// The reports of a day's hours and of its kills.
#[derive(Debug, Default)]
pub(crate) struct Day {
    number: u32,
    last: Report,
    memory: u64,
    commits: Vec<u64>,
    queries: Vec<u64>,
    inserts: Vec<u64>,
    night: u64,
    largest_index: u64,
    kills: u32,
    opened: u64,
    verified: Verified,
}

impl Day {
    pub(crate) const HEADER: &'static str = "\
| day | documents | index, most, MB | columns MB | filter MB | memory MB | commit ms, most | query us, p99 | insert us, p99 | night s | kills | opened ms | answers | pairs missed |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|";

    /// Whether a report belongs to another day.
    pub(crate) fn is_over(&self, report: &Report) -> bool {
        self.number > 0 && self.number != number(report)
    }

    /// Adds an hour.
    pub(crate) fn add(&mut self, report: Report) {
        self.number = number(&report);
        self.memory = self.memory.max(report.memory);
        self.largest_index = self.largest_index.max(report.index);
        self.night = self.night.max(report.night);
        self.commits.push(report.commit);
        self.queries.extend(&report.queries);
        self.inserts.extend(&report.inserts);
        self.last = report;
    }

    pub(crate) fn add_life(&mut self, verified: &Verified) {
        self.kills += 1;
        let opened = u64::try_from(verified.opened.as_millis()).unwrap_or(u64::MAX);
        self.opened = self.opened.max(opened);
        self.verified.answers += verified.answers;
        self.verified.pairs += verified.pairs;
        self.verified.missed += verified.missed;
    }
}

/// The day of an hour, counted from 1.
fn number(report: &Report) -> u32 {
    report.hour.saturating_sub(1) / HOURS + 1
}

/// The percentile: at least `hundredths` percent of the values are not above it.
fn percentile(values: &[u64], hundredths: usize) -> u64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let at = (sorted.len() * hundredths / 100).min(sorted.len().saturating_sub(1));
    sorted.get(at).copied().unwrap_or_default()
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let megabytes = |kibibytes: u64| kibibytes as f64 / 1024.0;
        let Day { last, verified, .. } = self;
        write!(
            f,
            "| {} | {} | {:.1}, {:.1} | {:.1} | {:.1} | {:.0} | {:.0}, {:.0} | {}, {} | {}, {} | {:.1} | {} | {} | {} | {} of {} |",
            self.number,
            last.documents,
            megabytes(last.index),
            megabytes(self.largest_index),
            megabytes(last.columns),
            megabytes(last.filter),
            megabytes(self.memory),
            percentile(&self.commits, 50) as f64 / 1e3,
            percentile(&self.commits, 100) as f64 / 1e3,
            percentile(&self.queries, 50),
            percentile(&self.queries, 99),
            percentile(&self.inserts, 50),
            percentile(&self.inserts, 99),
            self.night as f64 / 1e6,
            self.kills,
            self.opened,
            verified.answers,
            verified.missed,
            verified.pairs,
        )
    }
}
