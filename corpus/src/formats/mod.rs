//! Formats: from the bytes of a file to records, and from a record to its text. One file per format.

pub(crate) mod array;
pub(crate) mod column_type;
pub(crate) mod field_values;
mod fields;
pub(crate) mod format;
pub(crate) mod id;
pub(crate) mod jsonl;
mod lines;
pub(crate) mod mail;
pub(crate) mod nested;
pub(crate) mod parquet;
pub(crate) mod record;
pub(crate) mod record_fields;
pub(crate) mod records;
mod shingles;
pub(crate) mod table;
pub(crate) mod text_place;
pub(crate) mod unsplit;
mod web;
pub(crate) mod whole;
