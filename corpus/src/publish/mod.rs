//! Files that appear complete, apart from what is read, and only replace what may be replaced.
//!
//! This is for programs that write beside their corpus and their stores, as the command line does. [`AtomicFile`] is a file
//! that appears once all of it is written. [`check_output`] and similar functions refuse a place over, in or around an
//! input, another output or a store. [`escape()`] makes a key a field of a line, and a [`MatrixFile`] is a table of
//! signatures.
//!
//! ```
//! use dedupdb_corpus::publish::{Error, AtomicFile, check_output, escape, unescape};
//!
//! # let folder = tempfile::tempdir()?;
//! # let inputs = [folder.path().join("crawl")];
//! # std::fs::create_dir(&inputs[0])?;
//! let within = check_output(&inputs[0].join("list.tsv"), &inputs);
//! assert!(matches!(within, Err(Error::Overlaps { .. })));
//!
//! let list = folder.path().join("list.tsv");
//! check_output(&list, &inputs)?;
//! AtomicFile::of(&list, format!("{}\tlost\n", escape("a\nb")).as_bytes())?;
//! assert_eq!(std::fs::read_to_string(&list)?, "a\\nb\tlost\n");
//! assert_eq!(unescape("a\\nb").as_deref(), Some("a\nb"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// An output of `dedup` is built in a folder beside its place (`work`). What exists in its place is examined first: a file
// is replaced by a rename; a folder gets another name, and so does a file in the place of a folder.
// **Invariant: the place has a whole output, old or new, or nothing. What stood there is replaced only by a whole file, and
// never deleted otherwise.**

pub(crate) mod apart;
mod atomic_file;
pub(crate) mod durable;
pub(crate) mod error;
mod escape;
pub(crate) mod existing_output;
mod hash;
mod matrix;
mod npy;
mod rights;
mod steps;
pub(crate) mod work;

pub(crate) use escape::{ascii_json, readable};
pub(crate) use hash::hash_of;
#[cfg(unix)]
pub(crate) use steps::{rename_to_free, sync_folder};

pub use apart::{check_no_store, check_output, check_outputs, is_same};
pub use atomic_file::AtomicFile;
pub use error::Error;
pub use escape::{csv_field, escape, printable, unescape};
pub use matrix::MatrixFile;
