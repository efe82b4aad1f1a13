//! From the bytes of a file to records, and from a record to its text: one file a format.

mod fields;
pub(crate) mod format;
mod jsonl;
mod lines;
pub(crate) mod parquet;
pub(crate) mod record;
pub(crate) mod records;
mod shingles;
pub(crate) mod table;
pub(crate) mod unsplit;
mod web;
pub(crate) mod whole;
