//! Tests of the command line: they run the built program.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod add;
mod backup;
mod check;
mod crash;
mod dirty;
mod help;
mod init;
mod inspect;
mod interrupt;
mod jsonl;
mod query;
mod remove;
mod sandbox;
mod tune;
mod wait;
