//! The words of what is kept, and the places of their runs.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;

use super::PassageLengths;
use super::index::AnchorIndex;

/// What is between two pieces. No word has this hash.
pub(super) const GAP: u32 = 0;

/// The number of anchors with one hash from which on whole passages are looked up instead, so that a run of words that is
/// nearly a passage may come often.
const COMMON: usize = 32;

/// Bytes of a passage that is looked up as a whole.
const WINDOW_BYTES: u64 = 40;

/// The number of words to keep in memory before they are written.
const UNWRITTEN: usize = 1 << 16;

/// Hashes of all runs of a sequence of words.
#[derive(Debug)]
pub(super) struct RunHashes {
    /// The hash of the words before each place.
    before: Vec<u64>,
    lengths: PassageLengths,
    /// What the hash of the words before an anchor, or a passage, counts behind it.
    factors: [u64; 2],
}

impl RunHashes {
    pub(super) fn of(words: &[u32], lengths: PassageLengths) -> RunHashes {
        const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut before = Vec::with_capacity(words.len() + 1);
        let mut hash = 0_u64;
        before.push(hash);
        for &word in words {
            hash = hash.wrapping_mul(BASE).wrapping_add(word.into());
            before.push(hash);
        }
        let power = |length: usize| (0..length).fold(1_u64, |power, _| power.wrapping_mul(BASE));
        RunHashes {
            before,
            lengths,
            factors: [power(lengths.anchor), power(lengths.passage)],
        }
    }

    fn hash(&self, at: usize, length: usize, factor: u64) -> u64 {
        let first = self.before[at].wrapping_mul(factor);
        let hash = self.before[at + length].wrapping_sub(first);
        // The finalizer of MurmurHash3 (Appleby): each bit depends on all words.
        let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        let hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        hash ^ (hash >> 33)
    }

    /// Returns the hash of the run of an anchor's length at this place.
    pub(super) fn anchor(&self, at: usize) -> u64 {
        self.hash(at, self.lengths.anchor, self.factors[0])
    }

    /// Returns the hash of the run of a passage's length at this place.
    pub(super) fn passage(&self, at: usize) -> u64 {
        self.hash(at, self.lengths.passage, self.factors[1])
    }

    /// Returns the places of all passages.
    pub(super) fn passages(&self) -> Range<usize> {
        0..self.before.len().saturating_sub(self.lengths.passage)
    }

    /// Returns the places of the passages that have the anchor at this place.
    pub(super) fn around(&self, anchor: usize) -> Range<usize> {
        let PassageLengths {
            passage,
            anchor: length,
            ..
        } = self.lengths;
        let first = (anchor + length).saturating_sub(passage);
        first..self.passages().end.min(anchor + 1)
    }
}

/// Places of runs of words.
#[derive(Debug, Default)]
pub(super) struct RunPlaces {
    anchors: AnchorIndex,
    /// The places of the passages around anchors that are common.
    passages: HashMap<u64, u64>,
}

impl RunPlaces {
    /// Adds the anchor at `at` in words with these hashes, which begin at the place `start`.
    pub(super) fn add(&mut self, hashes: &RunHashes, at: usize, start: u64) {
        let hash = hashes.anchor(at);
        if self.anchors.get(hash).nth(COMMON - 1).is_none() {
            let number = (start + at as u64) / hashes.lengths.step as u64;
            // More words than these are refused.
            self.anchors
                .insert(hash, u32::try_from(number).unwrap_or(u32::MAX - 1));
            return;
        }
        // Comparing all places of a common anchor would take long, so each passage around it leads to one place.
        for at in hashes.around(at) {
            let place = self.passages.entry(hashes.passage(at));
            place.or_insert(start + at as u64);
        }
    }

    /// Reads the memory that [`RunPlaces::find`] needs for the runs at these places.
    pub(super) fn approach(&self, hashes: &RunHashes, places: Range<usize>) {
        self.anchors.approach(places.map(|at| hashes.anchor(at)));
    }

    /// Adds to `found` the places at which the run at `at` may stand.
    pub(super) fn find(&self, hashes: &RunHashes, at: usize, found: &mut Vec<u64>) {
        let numbers = self.anchors.get(hashes.anchor(at));
        found.extend(numbers.map(|number| u64::from(number) * hashes.lengths.step as u64));
        if found.len() < COMMON {
            return;
        }
        for passage in hashes.around(at) {
            let place = self.passages.get(&hashes.passage(passage));
            found.extend(place.map(|place| place + (at - passage) as u64));
        }
    }

    /// Returns the bytes of memory that this takes with this number of further anchors.
    fn bytes_with(&self, more: usize) -> u64 {
        self.anchors.bytes_with(more) + self.passages.len() as u64 * WINDOW_BYTES
    }
}

/// The words of all pieces so far, in a file.
#[derive(Debug)]
pub(super) struct KeptWords {
    lengths: PassageLengths,
    places: RunPlaces,
    file: File,
    /// The number of words in the file.
    written: u64,
    /// The words behind them.
    last: Vec<u32>,
}

impl KeptWords {
    /// Starts without words, in an empty file.
    pub(super) fn new(file: File, lengths: PassageLengths) -> KeptWords {
        KeptWords {
            lengths,
            places: RunPlaces::default(),
            file,
            written: 0,
            last: Vec::new(),
        }
    }

    pub(super) fn places(&self) -> &RunPlaces {
        &self.places
    }

    /// Returns the bytes of memory that this takes once it has this number of further words, and those on disk.
    pub(super) fn bytes_with(&self, words: usize) -> (u64, u64) {
        let memory = self.places.bytes_with(words / self.lengths.step + 1);
        let all = self.written + (self.last.len() + words) as u64;
        (memory, all * size_of::<u32>() as u64)
    }

    /// Adds a piece, and returns its place. One that is too short for an anchor is left out.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub(super) fn push(&mut self, piece: &[u32]) -> io::Result<Option<u64>> {
        if piece.len() < self.lengths.anchor {
            return Ok(None);
        }
        let start = self.written + self.last.len() as u64;
        let hashes = RunHashes::of(piece, self.lengths);
        // Anchors begin at multiples of the step in the whole file, so their numbers give their places.
        let step = self.lengths.step as u64;
        let first = usize::try_from(start.next_multiple_of(step) - start).unwrap_or(0);
        let last = piece.len() - self.lengths.anchor;
        for at in (first..=last).step_by(self.lengths.step) {
            self.places.add(&hashes, at, start);
        }
        self.last.extend_from_slice(piece);
        // A gap ends the piece, so no run goes on into the next one.
        self.last.push(GAP);
        if self.last.len() >= UNWRITTEN {
            self.file.seek(SeekFrom::End(0))?;
            self.file.write_all(bytemuck::cast_slice(&self.last))?;
            self.written += self.last.len() as u64;
            self.last.clear();
        }
        Ok(Some(start))
    }

    /// Reads as many words as `words` has from this place on. Behind the last one are gaps.
    ///
    /// # Errors
    ///
    /// Those of reading.
    pub(super) fn read(&mut self, place: u64, words: &mut [u32]) -> io::Result<()> {
        words.fill(GAP);
        // Words that are not written yet follow those in the file.
        let in_file = self.written.saturating_sub(place).min(words.len() as u64);
        let (from_file, rest) = words.split_at_mut(usize::try_from(in_file).unwrap_or(0));
        if !from_file.is_empty() {
            self.file
                .seek(SeekFrom::Start(place * size_of::<u32>() as u64))?;
            self.file.read_exact(bytemuck::cast_slice_mut(from_file))?;
        }
        let skipped = usize::try_from(place.saturating_sub(self.written)).unwrap_or(usize::MAX);
        let in_memory = self.last.get(skipped..).unwrap_or(&[]);
        let both = in_memory.len().min(rest.len());
        rest[..both].copy_from_slice(&in_memory[..both]);
        Ok(())
    }
}
