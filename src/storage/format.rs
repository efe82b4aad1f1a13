//! The bytes of a store, format 2.
//!
//! ```text
//! STORE/
//!   index.redb     the catalog and the band tables, one redb database
//!   contents.G     column: one 52-byte row for each content id
//!   shingles.G     column: each content's shingle set, compressed (empty where none are kept)
//!   signatures.G   column: one signature for each content that is not small
//!   fingerprints.G column: some of each content's shingles in the order of its text (empty where none are kept)
//!   filter.G.N     which hashes the bucket tables cannot hold; recreated if missing
//!   holder         while a process writes: its number and the store's id; no data
//! ```
//!
//! G is the generation that a file was created for. A new store is generation 1. A rebuild creates an index of the next
//! generation beside the one in use, with those columns that change, and then renames it to `index.redb`. Both
//! generations share the columns that do not change. During the rebuild, the index is called `index.redb.next`: see the
//! `generation` module.
//!
//! Integers are little-endian and of fixed width unless stated otherwise. Content ids are dense: row `i` of a column
//! belongs to content `i`.
//!
//! # Columns
//!
//! A column is a header of [`HEADER_BYTES`] followed by rows that are only ever appended. The index, not the file,
//! records how many of its bytes are valid. Bytes past the committed length are the rest of a write that was never
//! committed. They are cut off when a writer opens the store.
//!
//! | offset | bytes | header field |
//! |---|---|---|
//! | 0 | 8 | `dedupdb\n` |
//! | 8 | 4 | format version, 2 |
//! | 12 | 4 | kind: 1 contents, 2 shingles, 3 signatures, 4 fingerprints |
//! | 16 | 8 | store id, drawn when the store is created, the same in all its files |
//! | 24 | 4 | generation that the column was created for |
//! | 28 | 4 | bytes per row (0 for shingles and fingerprints, whose rows vary) |
//! | 32 | 24 | zero |
//! | 56 | 8 | first 8 bytes of the BLAKE3 hash of the 56 bytes before |
//!
//! A row of `contents`:
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 32 | BLAKE3 hash of the text, or that of its shingles if no text was given |
//! | 32 | 6 | end of the content's block in `shingles`, counted from the end of the header |
//! | 38 | 6 | end of its block in `fingerprints`, likewise |
//! | 44 | 4 | number of distinct shingles |
//! | 48 | 4 | number of signatures up to this content |
//!
//! The block of content `i` in `shingles` begins where that of content `i - 1` ends. Its encoding is that of the
//! `packed` module. A row of `signatures` holds the signature's slots in order. Slots of 8 or 16 bits are cut from
//! mixed minima (`sketch::mixing`). A content of up to 64 shingles that are kept has no row there, because its signature
//! follows from them. A block of `fingerprints` holds shingles of 32 bits each: those at the places 0, w,
//! 2w and so on of the text, where w is [`Schema::fingerprint_step`](crate::Schema::fingerprint_step). It is empty for a
//! content whose text was not at hand when the fingerprints were made.
//!
//! # Index
//!
//! | table | key | value |
//! |---|---|---|
//! | `meta` | name | u64: see `meta::Meta`, and a checksum of all but `commit` |
//! | `schema` | parameter | its value as text |
//! | `documents` | document key | content id, size, number of the run that stored it or 0, time added, number of its source or 0, day when it was last offered, modification time: the `document` module |
//! | `names` | content id, document key | nothing: the documents that name a content |
//! | `sources` | number of a file | its path as text: the files that records came from |
//! | `removed` | content id | nothing: contents that no document names any more |
//! | `journal` | number of a commit, document key | nothing: what changed while a rebuild runs, see the `journal` module |
//! | `sums` | column kind, block | checksum of 64 KiB of a column |
//! | `level-L-copies-P` | top P bits of a content hash's first four bytes | packed postings |
//! | `level-L-band-B-P` | top P bits of a band hash, band B | packed postings |
//! | `level-L-fingerprints-P` | top P bits of a fingerprint | packed postings |
//!
//! Packed postings have the format of the `leaf` module. Each list of buckets, the copies, a band or the fingerprints, has up to four
//! tables. Level 3 has the postings of contents whose ids are below `meta/end-3`, level 2 of those from there to below
//! `meta/end-2`, and so on. A level that ends where the next older one does has no tables. A content whose id is at or
//! above `meta/end-0` has no postings in tables yet. They follow from its rows in the columns, and an open store keeps
//! them in memory. `meta/prefix-bits-L` is P (for fingerprints, see `postings::list`), and `meta/posted-L` counts the contents of a level,
//! without removed ones. Those that were removed since the level was written may still have postings there;
//! `meta/removed-L` counts them.
//!
//! # Runs
//!
//! `meta/runs` is the number of the last run, and `meta/open-run` that of the open one, or 0. A document of the open
//! run does not count as published. It names a content with an id of at least `meta/open-run-first`, so all such
//! documents are found without examining older ones.
//!
//! `meta/committed` is when documents were committed last, in seconds since 1970.
//!
//! # Ids
//!
//! `meta/id-scope` is 0 as long as nobody said where ids of records are unique, 1 if in all files, and 2 if in each.
//!
//! # Filters
//!
//! A filter is derived data: see the `filter` module. `meta/old-filter` is the number of the filter over level 3,
//! `meta/young-filter` that of the filter over the younger levels, and `meta/filters` the number of filters created, so
//! that no number is used twice in a generation. `meta/old-filter-mark` and `meta/young-filter-mark` are random numbers
//! drawn when those filters gained their last postings. The file has a header (the magic `dedupflt`, store id,
//! generation, filter number, and the first 8 bytes of the BLAKE3 hash of the 24 bytes before), two words with its last
//! two marks, a word that holds the number of the words that follow, and those words. A word has 56 bits of data below
//! eight check bits of the data and the place. A filter is used only if it is complete and one of its marks is that in
//! `meta`.
//!
//! # Commit
//!
//! Rows are appended to the columns, the columns are synced, then one redb transaction commits the new lengths together
//! with every table. Before that commit the rows do not exist.

use std::cmp::Ordering;
use std::ops::{Index, IndexMut};
use std::path::Path;

use crate::codec::{u32_at, u64_at};
use crate::error::{Error, Result};

/// The format that this release writes, and the only one that it reads.
pub(crate) const FORMAT: u32 = 2;

/// The size of a column's header in bytes.
pub(crate) const HEADER_BYTES: usize = 64;

const MAGIC: [u8; 8] = *b"dedupdb\n";

/// The first bytes of a redb database.
const REDB_MAGIC: [u8; 9] = *b"redb\x1A\x0A\xA9\x0D\x0A";

/// The size of a filter's header in bytes: the magic, the store's id, the generation, the filter's number, and a
/// checksum.
pub(crate) const FILTER_HEADER_BYTES: usize = 32;

/// The first bytes of a filter.
pub(crate) const FILTER_MAGIC: [u8; 8] = *b"dedupflt";

/// The kind of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Contents = 1,
    Shingles = 2,
    Signatures = 3,
    Fingerprints = 4,
}

impl ColumnKind {
    pub(crate) const ALL: [ColumnKind; 4] = [
        ColumnKind::Contents,
        ColumnKind::Shingles,
        ColumnKind::Signatures,
        ColumnKind::Fingerprints,
    ];

    fn name(self) -> &'static str {
        match self {
            ColumnKind::Contents => "contents",
            ColumnKind::Shingles => "shingles",
            ColumnKind::Signatures => "signatures",
            ColumnKind::Fingerprints => "fingerprints",
        }
    }

    /// The name of the column's file in a generation.
    pub(crate) fn file_name(self, generation: u32) -> String {
        format!("{}.{generation}", self.name())
    }

    /// The kind and generation of the column whose file has this name.
    pub(super) fn of_file_name(name: &str) -> Option<(ColumnKind, u32)> {
        let (stem, generation) = name.split_once('.')?;
        let mut kinds = ColumnKind::ALL.into_iter();
        let kind = kinds.find(|kind| kind.name() == stem)?;
        Some((kind, generation.parse().ok()?))
    }
}

/// A value for each column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PerColumn<T>([T; ColumnKind::ALL.len()]);

impl<T> PerColumn<T> {
    /// The values that `make` returns.
    pub(crate) fn new(make: impl FnMut(ColumnKind) -> T) -> PerColumn<T> {
        PerColumn(ColumnKind::ALL.map(make))
    }

    /// The values that `make` returns, or its first error.
    pub(crate) fn try_new(mut make: impl FnMut(ColumnKind) -> Result<T>) -> Result<PerColumn<T>> {
        let [contents, shingles, signatures, fingerprints] = ColumnKind::ALL;
        Ok(PerColumn([
            make(contents)?,
            make(shingles)?,
            make(signatures)?,
            make(fingerprints)?,
        ]))
    }

    /// The values with their kinds.
    pub(crate) fn each(&self) -> impl Iterator<Item = (ColumnKind, &T)> {
        ColumnKind::ALL.into_iter().zip(&self.0)
    }

    /// The values with their kinds, mutable.
    pub(crate) fn each_mut(&mut self) -> impl Iterator<Item = (ColumnKind, &mut T)> {
        ColumnKind::ALL.into_iter().zip(&mut self.0)
    }
}

impl<T> Index<ColumnKind> for PerColumn<T> {
    type Output = T;

    #[inline]
    fn index(&self, kind: ColumnKind) -> &T {
        &self.0[kind as usize - 1]
    }
}

impl<T> IndexMut<ColumnKind> for PerColumn<T> {
    #[inline]
    fn index_mut(&mut self, kind: ColumnKind) -> &mut T {
        &mut self.0[kind as usize - 1]
    }
}

/// The header of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: ColumnKind,
    pub(crate) store: u64,
    pub(crate) generation: u32,
    pub(crate) row_bytes: u32,
}

impl Header {
    /// The header's bytes.
    pub(crate) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&FORMAT.to_le_bytes());
        bytes[12..16].copy_from_slice(&(self.kind as u32).to_le_bytes());
        bytes[16..24].copy_from_slice(&self.store.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.generation.to_le_bytes());
        bytes[28..32].copy_from_slice(&self.row_bytes.to_le_bytes());
        let sum = checksum(&bytes[..56]);
        bytes[56..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// The header that a file begins with, if its checksum is right.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Header> {
        let bytes = bytes.first_chunk::<HEADER_BYTES>()?;
        let header = Header {
            kind: ColumnKind::ALL
                .into_iter()
                .find(|kind| *kind as u32 == u32_at(bytes, 12))?,
            store: u64_at(bytes, 16),
            generation: u32_at(bytes, 24),
            row_bytes: u32_at(bytes, 28),
        };
        (header.encode() == *bytes).then_some(header)
    }

    /// Checks that the file at `path`, which begins with `bytes`, has no other format.
    ///
    /// A damaged header passes, since it proves nothing.
    ///
    /// # Errors
    ///
    /// [`Error::NewerFormat`] and [`Error::OlderFormat`].
    pub(crate) fn refuse_other(path: &Path, bytes: &[u8]) -> Result<()> {
        match bytes.first_chunk::<HEADER_BYTES>() {
            Some(bytes) if bytes[..8] == MAGIC && u64_at(bytes, 56) == checksum(&bytes[..56]) => {
                refuse_other(path, u32_at(bytes, 8))
            }
            _ => Ok(()),
        }
    }

    /// Checks that `bytes`, the start of the file at `path`, hold this header.
    ///
    /// # Errors
    ///
    /// [`Error::NewerFormat`], [`Error::OlderFormat`], or an [`Error::Damaged`] that names the first difference.
    pub(crate) fn expect(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        let Some(bytes) = bytes.first_chunk::<HEADER_BYTES>() else {
            let reason = format!("{} bytes are too few for a header", bytes.len());
            return Err(Error::damaged(path, reason));
        };
        let damaged = |reason: &str| Err(Error::damaged(path, reason));
        if bytes[..8] != MAGIC {
            return damaged("it does not begin like a dedupdb column");
        }
        if u64_at(bytes, 56) != checksum(&bytes[..56]) {
            return damaged("the checksum of its header is wrong");
        }
        refuse_other(path, u32_at(bytes, 8))?;
        if u32_at(bytes, 12) != self.kind as u32 {
            return damaged("it is another column of a store");
        }
        if u64_at(bytes, 16) != self.store {
            return damaged("it belongs to another store");
        }
        if u32_at(bytes, 24) != self.generation {
            return damaged("it belongs to another generation");
        }
        if *bytes != self.encode() {
            return damaged("its header does not fit the schema");
        }
        Ok(())
    }
}

/// Refuses the format `found` of the file at `path` unless this release reads it.
///
/// # Errors
///
/// [`Error::NewerFormat`] and [`Error::OlderFormat`].
pub(crate) fn refuse_other(path: &Path, found: u32) -> Result<()> {
    let (path, supported) = (path.to_owned(), FORMAT);
    match found.cmp(&FORMAT) {
        Ordering::Equal => Ok(()),
        Ordering::Greater => Err(Error::NewerFormat {
            path,
            supported,
            found,
        }),
        Ordering::Less => Err(Error::OlderFormat {
            path,
            supported,
            found,
        }),
    }
}

/// Whether a file with these first bytes is a column.
pub(super) fn is_column(start: &[u8]) -> bool {
    start.starts_with(&MAGIC)
}

/// Whether a file with these first bytes is a redb database.
pub(super) fn is_redb(start: &[u8]) -> bool {
    start.starts_with(&REDB_MAGIC)
}

/// Whether a file with these first bytes may be an unfinished column without rows.
pub(crate) fn may_be_unfinished(start: &[u8]) -> bool {
    start.len() <= HEADER_BYTES && (is_start_of(&MAGIC, start) || is_lost(start))
}

/// Whether a file with these first bytes may be an unfinished index.
///
/// redb writes the first bytes last.
pub(super) fn may_be_unfinished_index(start: &[u8]) -> bool {
    is_lost(&start[..start.len().min(REDB_MAGIC.len())])
}

/// Whether a file with these first bytes may be a filter, complete or not.
pub(crate) fn may_be_a_filter(start: &[u8]) -> bool {
    is_start_of(&FILTER_MAGIC, start) || is_lost(start)
}

/// Whether a file with the name of a filter and these first bytes is one of a store, complete or not.
///
/// A killed process leaves the beginning of a header. A crash may leave zeros in its place.
pub(crate) fn may_be_filter_of(start: &[u8], store: u64) -> bool {
    let is_unfinished = start.len() < FILTER_HEADER_BYTES || is_lost(start);
    belongs_to(start, store) || is_unfinished && may_be_a_filter(start)
}

/// Whether `start` begins with `magic` or is a prefix of it.
fn is_start_of(magic: &[u8], start: &[u8]) -> bool {
    start.starts_with(&magic[..start.len().min(magic.len())])
}

/// Whether all bytes are zero: only the length of the file reached the disk.
pub(super) fn is_lost(start: &[u8]) -> bool {
    start.iter().all(|&byte| byte == 0)
}

/// Whether a column or a filter with these first bytes belongs to a store.
pub(crate) fn belongs_to(start: &[u8], store: u64) -> bool {
    let id = if start.starts_with(&MAGIC) { 16 } else { 8 };
    let known = start.starts_with(&MAGIC) || start.starts_with(&FILTER_MAGIC);
    known && start.len() >= id + 8 && u64_at(start, id) == store
}

/// Whether a column or a filter with these first bytes belongs to another store than this one.
pub(crate) fn belongs_to_other(start: &[u8], store: u64) -> bool {
    let is_filter = start.starts_with(&FILTER_MAGIC) && start.len() >= FILTER_HEADER_BYTES;
    (is_filter || Header::decode(start).is_some()) && !belongs_to(start, store)
}

/// One row of the column `contents`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContentRow {
    pub(crate) hash: [u8; 32],
    /// Below [`MOST_BYTES`], like the other end.
    pub(crate) shingles_end: u64,
    pub(crate) fingerprints_end: u64,
    pub(crate) shingle_count: u32,
    /// The number of signatures of the contents up to this one.
    pub(crate) signatures: u32,
}

/// A column of rows that vary has fewer bytes than this.
pub(crate) const MOST_BYTES: u64 = 1 << 48;

impl ContentRow {
    pub(crate) const BYTES: usize = 52;

    /// The row's bytes.
    pub(crate) fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..32].copy_from_slice(&self.hash);
        bytes[32..40].copy_from_slice(&self.shingles_end.to_le_bytes());
        bytes[38..46].copy_from_slice(&self.fingerprints_end.to_le_bytes());
        bytes[44..48].copy_from_slice(&self.shingle_count.to_le_bytes());
        bytes[48..52].copy_from_slice(&self.signatures.to_le_bytes());
        bytes
    }

    /// Decodes a row.
    pub(crate) fn decode(bytes: &[u8; Self::BYTES]) -> ContentRow {
        let mut hash = [0; 32];
        hash.copy_from_slice(&bytes[..32]);
        ContentRow {
            hash,
            shingles_end: ContentRow::shingles_end(bytes),
            fingerprints_end: ContentRow::fingerprints_end(bytes),
            shingle_count: u32_at(bytes, 44),
            signatures: ContentRow::signatures(bytes),
        }
    }

    /// The end of the shingles of the encoded row `bytes`.
    pub(crate) fn shingles_end(bytes: &[u8; Self::BYTES]) -> u64 {
        u64_at(bytes, 32) % MOST_BYTES
    }

    /// The end of the fingerprints of the encoded row `bytes`.
    pub(crate) fn fingerprints_end(bytes: &[u8; Self::BYTES]) -> u64 {
        u64_at(bytes, 38) % MOST_BYTES
    }

    /// The number of signatures up to the encoded row `bytes`.
    pub(crate) fn signatures(bytes: &[u8; Self::BYTES]) -> u32 {
        u32_at(bytes, 48)
    }
}

/// The posting hash of a content hash. It selects the bucket in which exact copies are looked up.
pub(crate) fn copy_hash(content: &[u8; 32]) -> u32 {
    u32_at(content, 0)
}

/// The first 8 bytes of the BLAKE3 hash of `bytes`.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    u64_at(blake3::hash(bytes).as_bytes(), 0)
}

/// Converts a stored count to u32.
pub(crate) fn narrow(path: &Path, value: u64) -> Result<u32> {
    u32::try_from(value).map_err(|_| Error::damaged(path, format!("a count of {value}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Header = Header {
        kind: ColumnKind::Signatures,
        store: 0x0123_4567_89ab_cdef,
        generation: 1,
        row_bytes: 256,
    };

    #[test]
    fn a_header_is_accepted_as_written_and_with_no_bit_flipped() {
        let bytes = HEADER.encode();
        let path = Path::new("signatures.1");
        assert!(HEADER.expect(path, &bytes).is_ok());
        for bit in 0..HEADER_BYTES * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(
                matches!(HEADER.expect(path, &flipped), Err(Error::Damaged { .. })),
                "bit {bit}"
            );
        }
        assert!(HEADER.expect(path, &bytes[..63]).is_err());
    }

    #[test]
    fn a_header_of_another_column_store_or_generation_is_refused() {
        let path = Path::new("signatures.1");
        for other in [
            Header {
                kind: ColumnKind::Contents,
                ..HEADER
            },
            Header { store: 1, ..HEADER },
            Header {
                generation: 2,
                ..HEADER
            },
            Header {
                row_bytes: 128,
                ..HEADER
            },
        ] {
            assert!(HEADER.expect(path, &other.encode()).is_err(), "{other:?}");
        }
    }

    #[test]
    fn another_format_is_named() {
        let mut bytes = HEADER.encode();
        bytes[8] = 9;
        let sum = checksum(&bytes[..56]);
        bytes[56..].copy_from_slice(&sum.to_le_bytes());
        assert!(matches!(
            HEADER.expect(Path::new("x"), &bytes),
            Err(Error::NewerFormat {
                found: 9,
                supported: FORMAT,
                ..
            })
        ));
        bytes[8] = 1;
        let sum = checksum(&bytes[..56]);
        bytes[56..].copy_from_slice(&sum.to_le_bytes());
        assert!(matches!(
            HEADER.expect(Path::new("x"), &bytes),
            Err(Error::OlderFormat {
                found: 1,
                supported: FORMAT,
                ..
            })
        ));
    }

    #[test]
    fn a_content_row_survives_its_bytes() {
        let row = ContentRow {
            hash: *blake3::hash(b"text").as_bytes(),
            shingles_end: MOST_BYTES - 2,
            fingerprints_end: MOST_BYTES - 1,
            shingle_count: 77,
            signatures: 9,
        };
        assert_eq!(ContentRow::decode(&row.encode()), row);
    }
}
