//! From the bytes of a file to records, and from a record to its text.
//!
//! A source gives bytes, decompressed; a format cuts them into raw records, one after the other;
//! a raw record is parsed and decoded on any thread.

mod columns;
mod csv;
mod decode;
pub(crate) mod document;
mod fields;
mod footer;
pub(crate) mod format;
mod guard;
mod html;
mod http;
mod jsonl;
mod lines;
mod magic;
mod markup;
mod pages;
mod parquet;
mod quoted;
pub(crate) mod record;
pub(crate) mod records;
mod shingles;
pub(crate) mod source;
mod transcode;
mod tsv;
mod warc;
