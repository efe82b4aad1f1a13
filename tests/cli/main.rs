//! Tests of the command line: they run the built program.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod add;
mod backup;
mod check;
mod compressed;
mod crash;
mod dedup;
mod dedup_crash;
mod dedup_formats;
mod dirty;
mod dirty_files;
mod help;
mod init;
mod inspect;
mod interrupt;
mod jsonl;
mod pairs;
mod parquet;
mod query;
mod remove;
mod sandbox;
mod tables;
mod tune;
mod wait;
mod web;
