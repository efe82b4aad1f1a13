//! The filter: a fast test that the bucket tables do not hold a hash.
//!
//! A look-up in a table costs a microsecond once the index is larger than a cache, and most band hashes of a new
//! document are in no table. A Bloom filter over all postings (Bloom, "Space/time trade-offs in hash coding with
//! allowable errors", 1970), blocked into single words (Putze, Sanders, Singler, "Cache-, hash- and space-efficient
//! Bloom filters", 2007), answers nearly all of these look-ups with one memory access.
//!
//! It is a mapped file outside of the index, and is derived from the postings. A filter that is missing, has a damaged
//! header or belongs to another commit is ignored, and the next merge creates a new one. A merge sets bits and makes
//! them durable before its commit. Bits of a commit that failed do no harm, and bits are never cleared.
//!
//! Each merge draws a random mark for each filter that gains postings, and records it in the filter and in the index.
//! So the filter of another copy of the store is not mistaken for its own, even if their names, ages and sizes are
//! equal. A filter keeps its last two marks: that of the commit in progress, and that of the commit before, which
//! remains the last one if the other fails.
//!
//! A word has 56 data bits below eight check bits, which also depend on its place. A word whose check fails, such as a
//! word of zeros or one from another place, may hold anything. A filter with a damaged file thus rules out fewer hashes,
//! but none wrongly, except for one damaged word in 256 that passes the check by chance. Once a writer has met a damaged
//! word, its next merge creates a new filter.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::leaf::Posting;
use crate::codec::bits;
use crate::error::{Error, Result};
use crate::storage::disk::{self, File, SharedWords, sync_words};
use crate::storage::format::{
    FILTER_HEADER_BYTES, FILTER_MAGIC, checksum, may_be_filter_of, narrow,
};
use crate::storage::index::Meta;
use crate::storage::names::{INDEX, is_filter_of};

/// The words of the last two marks, in either order.
const MARKS: [usize; 2] = [FILTER_HEADER_BYTES / 8, FILTER_HEADER_BYTES / 8 + 1];

/// The word that holds the number of data words.
const LENGTH: usize = MARKS[1] + 1;

/// The first data word.
const FIRST: usize = LENGTH + 1;

/// The most postings per word in a new filter.
const FRESH: u64 = 2;

/// The numbers of postings and words in the filter of a rebuilt index. It is smaller, and full when there are a quarter more
/// postings.
const REBUILT: (u64, u64) = (16, 5);

/// With more postings per word than this, a filter is due for replacement.
///
/// One absent hash in 125 then passes. With six postings per word it would be one in 45, and each such hash costs a
/// table look-up.
const FULL: u64 = 4;

/// The number of bytes that are written at a time when a filter is created.
const EMPTY: u64 = 1 << 20;

/// The number of bits that a posting sets in its word.
const BITS: u32 = 4;

/// The number of words that are made durable at a time while a merge is under way.
const SYNCED: usize = 1 << 19;

/// The number of data bits in a word.
const OWN_BITS: u32 = 56;

/// The number of postings whose words are read before the first one is changed.
const TOGETHER: usize = 32;

/// The identity of a filter: its store, the generation of its index, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FilterName {
    pub(crate) store: u64,
    pub(crate) generation: u32,
    pub(crate) number: u32,
}

impl FilterName {
    /// The name of filter `number` in the generation of `meta`, which is that of the index at `path`.
    pub(crate) fn of(path: &Path, meta: &Meta, number: u64) -> Result<FilterName> {
        Ok(FilterName {
            store: meta.store,
            generation: narrow(path, meta.generation)?,
            number: narrow(path, number)?,
        })
    }

    /// The path of the filter's file.
    pub(crate) fn path(self, folder: &Path) -> PathBuf {
        folder.join(format!("filter.{}.{}", self.generation, self.number))
    }

    /// Deletes the file. A process that has it open can still use it.
    pub(crate) fn delete(self, folder: &Path) {
        let path = self.path(folder);
        if is_filter_of(&path, self.store) {
            // A leftover only costs space.
            disk::remove(&path).unwrap_or_default();
        }
    }

    fn header(self) -> [u8; FILTER_HEADER_BYTES] {
        let mut bytes = [0; FILTER_HEADER_BYTES];
        bytes[..8].copy_from_slice(&FILTER_MAGIC);
        bytes[8..16].copy_from_slice(&self.store.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.generation.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.number.to_le_bytes());
        let sum = checksum(&bytes[..24]);
        bytes[24..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }
}

/// A filter that is being created.
///
/// Its empty words are written out, and not only because they differ from zeros: setting a bit in a hole of the file
/// would need disk space, and the process would die if there were none.
#[derive(Debug)]
pub(crate) struct EmptyFilter {
    path: PathBuf,
    file: File,
    /// The number of words it will have.
    len: u64,
    /// The number of bytes that are written, with the header.
    written: u64,
}

impl EmptyFilter {
    /// Creates the file of a filter of `len` words in `folder`.
    ///
    /// # Errors
    ///
    /// [`Error::Occupied`] if a file that is not a filter has its name.
    pub(crate) fn create(folder: &Path, name: FilterName, len: u64) -> Result<EmptyFilter> {
        let path = name.path(folder);
        if disk::is_file(&path)? {
            let start = File::open(&path)?.start(FILTER_HEADER_BYTES)?;
            if !may_be_filter_of(&start, name.store) {
                return Err(Error::Occupied { path });
            }
            disk::remove(&path)?;
        }
        let file = File::create_like(&path, &folder.join(INDEX))?;
        file.write(0, &name.header())?;
        Ok(EmptyFilter {
            path,
            file,
            len,
            written: FILTER_HEADER_BYTES as u64,
        })
    }

    /// The approximate number of calls of [`EmptyFilter::write`] and [`Filter::sync_some`] that a filter of `len` words
    /// takes.
    pub(crate) fn steps(len: u64) -> u64 {
        (8 * len).div_ceil(EMPTY) + len.div_ceil(SYNCED as u64)
    }

    /// Writes some words, and returns whether these were the last ones.
    pub(crate) fn write(&mut self) -> Result<bool> {
        let bytes = 8 * (self.len + FIRST as u64);
        let end = bytes.min(self.written + EMPTY);
        let words = self.written / 8..end / 8;
        let empty: Vec<u8> = words.flat_map(|at| checked(0, at).to_le_bytes()).collect();
        self.file.write(self.written, &empty)?;
        self.written = end;
        Ok(end == bytes)
    }

    /// The filter, once all words are written.
    pub(crate) fn finish(self) -> Result<Filter> {
        let filter = Filter::of(self.path, self.file.words(true)?);
        filter.words.put(LENGTH, checked(self.len, LENGTH as u64));
        Ok(filter)
    }
}

/// A filter over the postings of all lists in some levels.
#[derive(Debug)]
pub(crate) struct Filter {
    path: PathBuf,
    words: SharedWords,
    /// Whether the check of a word has failed.
    met_damage: AtomicBool,
}

impl Filter {
    /// The number of words of a filter for `postings` postings that is not full before it has `expected` ones.
    pub(crate) fn words_for(postings: u64, expected: u64) -> u64 {
        let words = postings.div_ceil(FRESH);
        words.max(expected.div_ceil(FULL)).max(1)
    }

    /// The number of words of the filter of a rebuilt index.
    pub(crate) fn words_for_rebuilt(postings: u64) -> u64 {
        let (of_postings, words) = REBUILT;
        postings.div_ceil(of_postings).max(1) * words
    }

    /// Creates an empty filter of `len` words in `folder`.
    ///
    /// # Errors
    ///
    /// [`Error::Occupied`] if a file that is not a filter has its name.
    pub(crate) fn create(folder: &Path, name: FilterName, len: u64) -> Result<Filter> {
        let mut empty = EmptyFilter::create(folder, name, len)?;
        while !empty.write()? {}
        empty.finish()
    }

    fn of(path: PathBuf, words: SharedWords) -> Filter {
        Filter {
            path,
            words,
            met_damage: AtomicBool::new(false),
        }
    }

    /// Opens the filter in `folder` if it exists, is complete and has the mark.
    pub(crate) fn open(
        folder: &Path,
        name: FilterName,
        mark: u64,
        writable: bool,
    ) -> Option<Filter> {
        let path = name.path(folder);
        let open = if writable {
            File::open_writable
        } else {
            File::open
        };
        let file = open(&path).ok()?;
        if file.start(FILTER_HEADER_BYTES).ok()? != name.header() {
            return None;
        }
        let filter = Filter::of(path, file.words(writable).ok()?);
        // The length is put in last, so a filter without it is unfinished.
        let whole = filter.words.len() > FIRST
            && filter.words.get(LENGTH)? == checked(filter.len() as u64, LENGTH as u64);
        let is_marked = MARKS.into_iter().any(|place| filter.has_mark(place, mark));
        (whole && is_marked).then_some(filter)
    }

    /// Whether `postings` postings are too many for the filter.
    pub(crate) fn is_full(&self, postings: u64) -> bool {
        postings > FULL * self.len() as u64
    }

    /// Adds the hashes of postings of a list. Sorted postings are the fastest.
    pub(crate) fn insert(&self, list: u32, postings: &[Posting]) {
        let mut places = [(0, 0); TOGETHER];
        for some in postings.chunks(TOGETHER) {
            let places = &mut places[..some.len()];
            for (place, posting) in places.iter_mut().zip(some) {
                *place = self.place(list, posting.hash());
            }
            // A change waits for its word, and later changes wait with it. Words that are only read arrive
            // concurrently.
            let words = places.iter().map(|&(word, _)| self.look(word));
            black_box(words.fold(0, |all, word| all ^ word));
            for same in places.chunk_by(|a, b| a.0 == b.0) {
                let bits = same.iter().fold(0, |bits, place| bits | place.1);
                // A word whose check fails stays as it is, since its data is unknown.
                let at = same[0].0;
                let change = |word| Some(checked(self.own(word, at)? | bits, at as u64));
                self.words.update(at, change);
            }
        }
    }

    /// Reads the word of a hash, and returns it.
    ///
    /// A caller with many hashes reads all of their words first, because memory serves independent reads concurrently.
    pub(crate) fn approach(&self, list: u32, hash: u32) -> u64 {
        self.look(self.place(list, hash).0)
    }

    fn look(&self, word: usize) -> u64 {
        self.words.get(word).unwrap_or(0)
    }

    /// Whether the tables of a list may hold a hash. `false` is certain.
    pub(crate) fn may_hold(&self, list: u32, hash: u32) -> bool {
        let (at, bits) = self.place(list, hash);
        let word = self.words.get(at).and_then(|word| self.own(word, at));
        word.is_none_or(|word| word & bits == bits)
    }

    /// Makes the filter durable with a mark for the next commit, and returns the mark.
    ///
    /// `last` is the mark of the commit before.
    pub(crate) fn sync(&self, last: u64) -> Result<u64> {
        // The standard library's randomness saves a dependency. Two marks collide with a probability of 2^-56.
        let mark = RandomState::new().hash_one(&self.path) & bits::mask(OWN_BITS);
        // Overwrites the older mark: until the next commit succeeds, the filter is still that of the last one.
        let [first, second] = MARKS;
        let place = if self.has_mark(first, last) {
            second
        } else {
            first
        };
        self.words.put(place, checked(mark, place as u64));
        sync_words(&self.path, &self.words, &(0..self.words.len()))?;
        Ok(mark)
    }

    /// Makes some words from the word `start` on durable, and returns the next one, or `None` at the end. After this for
    /// all words, [`Filter::sync`] takes little time.
    pub(crate) fn sync_some(&self, start: usize) -> Result<Option<usize>> {
        let end = start + SYNCED;
        sync_words(&self.path, &self.words, &(start..end))?;
        Ok((end < self.words.len()).then_some(end))
    }

    /// The number of calls of [`Filter::sync_some`] for all words.
    pub(crate) fn syncs(&self) -> u64 {
        self.words.len().div_ceil(SYNCED) as u64
    }

    fn has_mark(&self, place: usize, mark: u64) -> bool {
        let own = |word| own(word, place as u64);
        self.words.get(place).and_then(own) == Some(mark)
    }

    /// Whether the check of a word has failed when the word was needed.
    pub(crate) fn met_damage(&self) -> bool {
        self.met_damage.load(Ordering::Relaxed)
    }

    /// The data bits of the word at a place, if its check succeeds. Records the damage otherwise.
    fn own(&self, word: u64, at: usize) -> Option<u64> {
        let own = own(word, at as u64);
        if own.is_none() {
            self.met_damage.store(true, Ordering::Relaxed);
        }
        own
    }

    /// The number of data words whose check fails.
    pub(crate) fn damaged(&self) -> usize {
        let is_damaged = |&at: &usize| {
            let word = self.words.get(at);
            word.is_some_and(|word| own(word, at as u64).is_none())
        };
        (FIRST..self.words.len()).filter(is_damaged).count()
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The size of the file in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        8 * self.words.len() as u64
    }

    /// The number of data words.
    fn len(&self) -> usize {
        self.words.len() - FIRST
    }

    /// The word of a hash, and the hash's bits in it.
    ///
    /// Ascending hashes have ascending words, so inserting sorted postings walks through memory. Each list starts at
    /// another place, so that the lists do not crowd one another.
    fn place(&self, list: u32, hash: u32) -> (usize, u64) {
        // The hash as a fraction, times the number of words.
        let turned = u64::from(hash.wrapping_add(list.wrapping_mul(0x9E37_79B9)));
        let word = ((turned * self.len() as u64) >> 32) as usize;
        // This is the finalizer of MurmurHash3.
        let mut x = turned << 32 | u64::from(list);
        x = (x ^ x >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        x = (x ^ x >> 33).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
        x ^= x >> 33;
        // Each of the bits takes 16 bits of the mixed hash, scaled in the same way.
        let place = |i| ((x >> (16 * i) & 0xFFFF) * u64::from(OWN_BITS)) >> 16;
        let bits = (0..BITS).fold(0, |bits, i| bits | 1_u64 << place(i));
        (FIRST + word, bits)
    }
}

/// Encodes data bits as the word at a place, with its check bits.
fn checked(own: u64, at: u64) -> u64 {
    let own = own & bits::mask(OWN_BITS);
    // The multiplier is that of SplitMix64.
    let check = (own ^ own >> 29 ^ at).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> OWN_BITS;
    // The check is never zero, so that of a word of zeros fails.
    let check = if check == 0 { 0xA5 } else { check };
    check << OWN_BITS | own
}

/// The data bits of the word at a place, if its check succeeds.
fn own(word: u64, at: u64) -> Option<u64> {
    let own = word & bits::mask(OWN_BITS);
    (checked(own, at) == word).then_some(own)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NAME: FilterName = FilterName {
        store: 7,
        generation: 1,
        number: 2,
    };

    fn insert(filter: &Filter, list: u32, hash: u32) {
        filter.insert(list, &[Posting::new(hash, 0)]);
    }

    #[test]
    fn a_filter_is_found_again_only_if_it_is_the_right_one() {
        let folder = tempfile::tempdir().unwrap();
        let filter = Filter::create(folder.path(), NAME, 30).unwrap();
        insert(&filter, 3, 4);
        let mark = filter.sync(0).unwrap();
        let open = |name, mark| Filter::open(folder.path(), name, mark, false);
        assert!(open(NAME, mark).is_some_and(|filter| filter.may_hold(3, 4)));
        assert!(open(NAME, mark + 1).is_none());
        assert!(open(FilterName { number: 3, ..NAME }, mark).is_none());
        for other in [
            FilterName { store: 8, ..NAME },
            FilterName {
                generation: 2,
                ..NAME
            },
        ] {
            std::fs::copy(filter.path(), other.path(folder.path())).unwrap();
            assert!(open(other, mark).is_none());
        }
        std::fs::write(filter.path(), b"dedupflt").unwrap();
        assert!(open(NAME, mark).is_none());
        Filter::create(folder.path(), NAME, 30).unwrap();
        std::fs::write(filter.path(), b"dear diary").unwrap();
        let error = Filter::create(folder.path(), NAME, 30).unwrap_err();
        assert!(matches!(error, Error::Occupied { .. }), "{error}");
    }

    #[test]
    fn a_filter_keeps_the_mark_of_the_last_commit_until_the_next_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let filter = Filter::create(folder.path(), NAME, 30).unwrap();
        let found = |marks: &[u64]| {
            let is_found = |mark| Filter::open(folder.path(), NAME, mark, false).is_some();
            marks
                .iter()
                .map(|&mark| is_found(mark))
                .collect::<Vec<bool>>()
        };
        let one = filter.sync(0).unwrap();
        assert_eq!(found(&[one, one + 1]), [true, false]);
        let two = filter.sync(one).unwrap();
        assert_eq!(found(&[one, two]), [true, true]);
        // The commit of `two` failed.
        let three = filter.sync(one).unwrap();
        assert_eq!(found(&[one, two, three]), [true, false, true]);
        let four = filter.sync(three).unwrap();
        assert_eq!(found(&[one, two, three, four]), [false, false, true, true]);
    }

    #[test]
    fn words_that_were_damaged_let_everything_pass() {
        let folder = tempfile::tempdir().unwrap();
        let filter = Filter::create(folder.path(), NAME, 1_000).unwrap();
        let hash = |n: u32| n.wrapping_mul(0x9E37_79B1);
        (0..4_000).for_each(|n| insert(&filter, n % 18, hash(n)));
        let mark = filter.sync(0).unwrap();
        let path = filter.path().to_owned();
        drop(filter);
        let sound = std::fs::read(&path).unwrap();
        let missing = |damaged: &[u8]| {
            std::fs::write(&path, damaged).unwrap();
            let filter = Filter::open(folder.path(), NAME, mark, true)?;
            // Inserting into a damaged word does not make it look sound.
            (0..100).for_each(|n| insert(&filter, n % 18, hash(n)));
            Some(
                (0..4_000)
                    .filter(|&n| !filter.may_hold(n % 18, hash(n)))
                    .count(),
            )
        };
        assert_eq!(missing(&sound), Some(0));
        let behind_head = 8 * FIRST..sound.len();
        for value in [0, 0xFF] {
            let mut damaged = sound.clone();
            damaged[behind_head.clone()].fill(value);
            assert_eq!(missing(&damaged), Some(0), "{value}");
        }
        for bit in (8 * behind_head.start..8 * behind_head.end).step_by(61) {
            let mut damaged = sound.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(missing(&damaged), Some(0), "bit {bit}");
        }
        // Pages in each other's places.
        let page = 8 * 128;
        let mut damaged = sound.clone();
        let (first, others) = damaged[behind_head.clone()].split_at_mut(page);
        first.swap_with_slice(&mut others[2 * page..3 * page]);
        assert!(missing(&damaged).unwrap() < 60);
        let mut damaged = sound;
        let (head, words) = damaged.split_at_mut(behind_head.start);
        words
            .chunks_exact_mut(8)
            .for_each(|word| word.rotate_left(3));
        assert!(missing(&[head, words].concat()).unwrap() < 60);
    }

    #[test]
    fn few_hashes_pass_that_are_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let postings = 100_000;
        let filter = Filter::create(folder.path(), NAME, Filter::words_for(postings, 0)).unwrap();
        let hash = |n: u32| n.wrapping_mul(0x9E37_79B1);
        // As many postings as the filter takes before it is full.
        let full = (0..10 * postings).find(|&n| filter.is_full(n)).unwrap();
        let full = u32::try_from(full).unwrap();
        assert!(u64::from(full) >= postings);
        (0..full).for_each(|n| insert(&filter, n % 18, hash(n)));
        let passed = (full..full + 100_000).filter(|&n| filter.may_hold(n % 18, hash(n)));
        let passed = passed.count();
        assert!(passed < 1_000, "{passed} of 100,000");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn what_was_inserted_passes(
            postings in prop::collection::vec((0_u32..20, any::<u32>()), 0..2000)
        ) {
            let folder = tempfile::tempdir().unwrap();
            let filter = Filter::create(folder.path(), NAME, 3).unwrap();
            for list in 0..20 {
                let of_list = postings.iter().filter(|posting| posting.0 == list);
                let of_list: Vec<Posting> = of_list.map(|p| Posting::new(p.1, 0)).collect();
                filter.insert(list, &of_list);
            }
            prop_assert!(postings.iter().all(|&(list, hash)| filter.may_hold(list, hash)));
        }
    }
}
