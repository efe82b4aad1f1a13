//! From paths and streams to documents: walking, decompressing, cutting files into records, decoding.
//!
//! A source gives bytes, decompressed; a format cuts them into raw records, one after the other;
//! a raw record is parsed and decoded on any thread.

mod decode;
mod document;
mod encoding;
mod error;
mod formats;
mod options;
mod read;
mod reading;
mod skipped;
mod source;
mod walk;

pub use document::{Batch, Document, Item, Opened, modified, place};
pub use encoding::Encoding;
pub use error::Error;
pub use formats::document::text;
pub use formats::format::{Format, is_compressed};
pub use formats::record::Nth;
pub use options::Options;
pub use read::ahead::{Entry, Origin, Sketched, start as sketch_ahead};
pub use read::places::{Place, Places, short_hash};
pub use read::reader::{BATCH_BYTES, IsUnchanged, Reader};
pub use read::repeats::{Id, IdScope, Repeats};
pub use reading::Reading;
pub use skipped::{Reason, Skipped};
pub use walk::identity::is_same_file;
pub use walk::key::{Key, REPLACED};
pub use walk::{Found, STDIN, Walk, is_nameless, is_pipe};
