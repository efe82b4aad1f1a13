//! Tests of the command line: they run the built program.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod add;
mod backup;
mod beside;
mod check;
mod clusters;
mod compressed;
mod crash;
mod dedup;
mod dedup_crash;
mod dedup_formats;
mod dirty;
mod dirty_files;
mod eval;
mod explain;
mod help;
mod init;
mod inspect;
mod interrupt;
mod jsonl;
mod kill;
mod matrix;
mod pairs;
mod parquet;
mod query;
mod raw;
mod readme;
mod rebuild;
mod remove;
mod sandbox;
mod tables;
mod tune;
mod values;
mod wait;
mod web;
