//! Reads documents from files, folders, patterns and streams: walks, decompresses, splits into records, decodes.
//!
//! ```
//! use dedupdb_corpus::Corpus;
//!
//! # let folder = tempfile::tempdir()?;
//! # std::fs::write(folder.path().join("a.jsonl"), "{\"id\": 7, \"text\": \"The night tram\"}\n{\"id\": 8}\n")?;
//! # std::fs::write(folder.path().join("b.txt"), "runs again.")?;
//! # let pattern = |name: &str| folder.path().join(name);
//! for document in Corpus::open([pattern("*.jsonl"), pattern("b.txt")])? {
//!     match document {
//!         Ok(document) => println!("{}: {} bytes of text", document.key, document.text().len()),
//!         // a.jsonl:2: no field "text"; it has "id"
//!         Err(skipped) => println!("left out: {skipped}"),
//!     }
//! }
//! # let all: Vec<_> = Corpus::open([pattern("*.jsonl"), pattern("b.txt")])?.collect();
//! # assert!(all[0].as_ref().is_ok_and(|it| it.key == "7" && it.text() == "The night tram"));
//! # assert!(all[1].as_ref().is_err_and(|it| it.to_string().contains("a.jsonl:2: no field \"text\"")));
//! # assert!(all[2].as_ref().is_ok_and(|it| it.text() == "runs again." && it.size == Some(11)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The command line reads through these calls, too. [`Corpus`] yields one document after another; [`Options`] say how
//! to read; [`Source`]s say what to read. [`Add`] stores everything, as `dedupdb add` does. [`ForEach`] works on each
//! document on all processors, as `dedupdb query` does. A program that chooses what to store makes an
//! [`Input`](dedupdb::Input) of each document. It is faster to take batches, which are sketched while the previous one is
//! written:
//!
//! ```
//! use dedupdb_corpus::{Corpus, Item, sketch_ahead};
//! use dedupdb::{Schema, Store};
//!
//! # let folder = tempfile::tempdir()?;
//! # let crawl = folder.path().join("crawl.jsonl");
//! # std::fs::write(&crawl, "{\"url\": \"a\", \"body\": \"The night tram runs again.\"}\n")?;
//! let store = Store::open_or_create(folder.path().join("store"), &Schema::default())?;
//! let options = Corpus::options().text_field("body").id_field("url").store(store.folder());
//! let mut writer = store.writer()?;
//! for sketched in sketch_ahead(options.batches([crawl])?, &store)? {
//!     let sketched = sketched?;
//!     for outcome in writer.add_batch(sketched.documents)? {
//!         println!("{:?}", outcome?);
//!     }
//!     for item in sketched.items {
//!         if let Item::Skipped(skipped) = item {
//!             println!("left out: {skipped}");
//!         }
//!     }
//! }
//! writer.commit()?;
//! # assert_eq!(store.stats()?.documents, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is read
//!
//! | format | a document is | its key | file names |
//! |---|---|---|---|
//! | [`Text`](Format::Text) | a file | its path | anything else |
//! | [`Html`](Format::Html) | a file, without its tags | its path | `.html`, `.htm`, `.xhtml`, `.xht` |
//! | [`Jsonl`](Format::Jsonl) | a line, which is a JSON object | field `id`, or `PATH#LINE` | `.jsonl`, `.ndjson` |
//! | [`Json`](Format::Json) | an element of an array of objects | field `id`, or `PATH#NUMBER` | `.json`, `.jsonl`, if it begins with `[{` |
//! | [`Csv`](Format::Csv) | a row, with quotes as in RFC 4180 | column `id`, or `PATH#ROW` | `.csv` |
//! | [`Tsv`](Format::Tsv) | a line with tabs | column `id`, or the text before the first tab | `.tsv` |
//! | [`Parquet`](Format::Parquet) | a row | column `id`, or `PATH#ROW` | `.parquet` |
//! | [`Eml`](Format::Eml) | the body of a message, or of a page saved as one | its path | `.eml`, `.mht`, `.mhtml`, files of a Maildir |
//! | [`Mbox`](Format::Mbox) | the body of a message | `Message-ID` | `.mbox`, `.mbx` |
//! | [`Warc`](Format::Warc) | a record with a text or a page | `WARC-Target-URI` | `.warc`, `.wet` |
//! | [`Shingles`](Format::Shingles) | a line of integers | the first word | none: it must be chosen |
//!
//! Texts are in the field or column `text`, or in the one that [`Options::text_field`] names. Lines are counted from 1
//! in their file; rows and records from 1, without the header.
//!
//! | compression | recognized by | used for |
//! |---|---|---|
//! | gzip, of any number of members | its first bytes, and `.gz` for files of one document | any format |
//! | Zstandard, of any number of frames | its first bytes, and `.zst` for files of one document | any format |
//! | xz, of any number of streams | its first bytes, and `.xz` for files of one document | any format |
//! | bzip2, of any number of streams | its first bytes, and `.bz2` for files of one document | any format |
//! | Snappy, gzip, Zstandard, LZ4 | the footer | columns of Parquet |
//! | gzip, deflate, Zstandard | the header | HTTP responses in WARC |
//!
//! A compressed file may grow to 64 MiB, or to a thousand times its size if that is more, and take
//! [`Options::memory`] to decompress.
//!
//! In Parquet, text and keys are UTF-8, unless [`Options::encoding`] sets another encoding, and keys of other types have
//! the texts of an [`IdType`]. Other text is UTF-8, UTF-16 or UTF-32 with a byte order mark, or in a detected encoding, unless [`Options::encoding`] sets
//! one. Invalid bytes become U+FFFD, which [`Origin::replaced`] reports.
//!
//! # What is skipped
//!
//! Everything that is not read is reported as a [`Skipped`], with its place and a [`Reason`]: binary files, texts of
//! more than [`Options::max_document`] bytes, broken records, symbolic links, folders of stores and of version control,
//! and further names of one file. [`Skipped::is_failure`] tells whether something requested was not done: a source that
//! is binary was requested, a binary file in a folder was not. A [`Hint`] says what would make it readable.

mod add;
mod aside_names;
mod corpus;
mod decode;
pub mod decontaminate;
pub mod dedup;
mod each;
mod encoding;
mod error;
mod formats;
mod garbled;
mod glob;
mod item;
mod largest;
pub mod number;
mod options;
mod presence;
mod preset;
pub mod publish;
mod ranges;
mod read;
mod read_counts;
pub mod report;
mod reread;
mod same_document;
mod selection;
mod single;
mod skipped;
mod source;
mod temporary;
mod walk;

pub use add::{Add, AddEvent, AddSummary, EndReason, Load};
pub use corpus::Corpus;
pub use each::{EachEvent, ForEach, ForEachSummary};
pub use encoding::Encoding;
pub use error::Error;
pub use formats::column_type::{ColumnType, ScalarType};
pub(crate) use formats::field_values::{Compound, FieldPlaces};
pub use formats::format::Format;
pub(crate) use formats::format::{format_of_output, is_compressed};
pub use formats::id::IdType;
pub use formats::jsonl::without_surrogates;
pub use formats::nested::{NestedValue, NoText, add_text, check_path, strings_in};
pub(crate) use formats::parquet::added_columns::AddedCells;
pub(crate) use formats::parquet::chunk::RowText;
pub(crate) use formats::parquet::failure::CopyFailure;
pub(crate) use formats::parquet::filter::{FilteredTable, TableOrigin};
pub(crate) use formats::parquet::table::{ParquetTable, TableSource};
pub use formats::record::JoinedText;
pub use formats::record_fields::{FieldTypes, NoObject, RecordFields, WantedFields, json_fields};
pub(crate) use formats::table::quoted::width as cells_of_csv;
pub(crate) use formats::text_place::{TextPlace, encoded_as, has_utf8_characters, split_line_end};
pub use formats::unsplit::Unsplit;
pub use glob::Glob;
pub(crate) use glob::below as globs_below;
pub(crate) use item::count_items;
pub use item::{Item, ItemBatch, OpenedFile, Origin, RepeatedId, SourcedText};
pub(crate) use largest::{KeepRank, ShingleCounter, rank_of, rank_of_text, stored_rank};
pub(crate) use options::MEMORY;
pub use options::{Options, Repeats};
pub(crate) use presence::paths_of_document;
pub use presence::{Presence, file_exists, path_of_document};
pub use preset::Preset;
pub(crate) use read::batches::{BATCH_BYTES, for_each_batch, send_batches};
pub(crate) use read::places::{PlaceTable, RecordPlace, short_hash};
pub use read::sketch_ahead::{SketchedBatch, start as sketch_ahead};
pub use read_counts::ReadCounts;
pub use reread::read_again;
pub(crate) use same_document::is_itself;
pub use selection::{Selected, Selection};
pub use skipped::{Hint, Nth, Reason, Skipped};
pub(crate) use skipped::{HintedError, UnreadRecord, hint};
pub use source::converter::Converter;
pub(crate) use source::expanded;
pub(crate) use source::feed::open_file;
pub use source::{Source, is_pipe};
pub use temporary::TemporaryStore;
pub(crate) use walk::identity::FileIdentity;
pub use walk::identity::is_same_file;
pub use walk::key::{Key, REPLACED};
pub use walk::nothing_at;
pub(crate) use walk::read_file::ReadFile;
