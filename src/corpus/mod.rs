//! From paths and streams to documents: walking, decompressing, cutting files into records, decoding.
//!
//! A source gives bytes, decompressed; a format cuts them into raw records, one after the other;
//! a raw record is parsed and decoded on any thread.

#[expect(clippy::module_inception, reason = "its one noun")]
mod corpus;
mod decode;
mod encoding;
mod error;
mod formats;
mod options;
mod read;
mod reading;
mod skipped;
mod source;
mod sourced;
mod walk;

pub use corpus::Corpus;
pub use encoding::Encoding;
pub use error::Error;
pub use formats::format::Format;
pub use formats::record::Nth;
pub use options::Options;
pub use read::ahead::{Entry, Sketched, start as sketch_ahead};
pub(crate) use read::places::{Place, Places, short_hash};
pub(crate) use read::reader::BATCH_BYTES;
pub use read::repeats::{IdScope, Repeats};
pub use reading::Reading;
pub use skipped::{Reason, Skipped};
pub use source::Source;
pub(crate) use sourced::modified;
pub use sourced::{Batch, Item, Opened, Origin, Sourced};
pub use walk::identity::is_same_file;
pub use walk::is_pipe;
pub use walk::key::{Key, REPLACED};
