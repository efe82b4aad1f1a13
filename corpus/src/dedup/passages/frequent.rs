//! Passages that stand at many places of all texts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use rayon::slice::ParallelSliceMut;

use super::PassageLengths;
use super::kept::RunHashes;
use crate::dedup::error::{Error, Result};

/// Counts the places of passages by their hashes, which are sorted in parts on disk.
#[derive(Debug)]
pub(super) struct PassageCounter {
    file: File,
    lengths: PassageLengths,
    /// The number of places of frequent passages.
    least: u32,
    /// The hashes that are not yet written.
    last: Vec<u64>,
    /// The number of hashes from which on they are written.
    most: usize,
    /// The ends of the sorted parts in the file, in hashes.
    ends: Vec<u64>,
}

/// Passages that stand at enough places, by their hashes in order.
#[derive(Debug)]
pub(super) struct FrequentPassages(Vec<u64>);

/// A sorted part that is being read.
struct SortedPart {
    /// What is to be read from the file, in hashes.
    next: u64,
    end: u64,
    /// The hashes that were read, the next one last.
    read: Vec<u64>,
}

/// The number of hashes of a part to read at a time.
const READ: u64 = 1 << 13;

/// The number of hashes between two calls while they are counted.
const WAIT: u64 = 1 << 20;

impl PassageCounter {
    /// Starts without passages, in an empty file. It takes about `memory` bytes.
    pub(super) fn new(
        file: File,
        lengths: PassageLengths,
        least: u32,
        memory: u64,
    ) -> PassageCounter {
        let most = usize::try_from(memory / size_of::<u64>() as u64);
        PassageCounter {
            file,
            lengths,
            least,
            last: Vec::new(),
            most: most.unwrap_or(usize::MAX).max(1),
            ends: Vec::new(),
        }
    }

    /// Counts the passages of a text.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub(super) fn push(&mut self, words: &[u32]) -> io::Result<()> {
        let hashes = RunHashes::of(words, self.lengths);
        for at in hashes.passages() {
            if self.last.len() >= self.most {
                self.write()?;
            }
            self.last.push(hashes.passage(at));
        }
        Ok(())
    }

    /// Returns the bytes on disk.
    pub(super) fn written(&self) -> u64 {
        self.ends.last().unwrap_or(&0) * size_of::<u64>() as u64
    }

    fn write(&mut self) -> io::Result<()> {
        self.last.par_sort_unstable();
        self.file.write_all(bytemuck::cast_slice(&self.last))?;
        let written = self.ends.last().copied().unwrap_or(0);
        self.ends.push(written + self.last.len() as u64);
        self.last.clear();
        Ok(())
    }

    /// Returns the frequent passages. Calls `wait` from time to time, and leaves nothing on disk.
    ///
    /// # Errors
    ///
    /// Those of the system and of `wait`; they take more than `memory` bytes.
    pub(super) fn finish(
        mut self,
        memory: u64,
        folder: &Path,
        wait: &mut dyn FnMut() -> Result<()>,
    ) -> Result<FrequentPassages> {
        let of_folder = |error| Error::temporary(folder, error);
        self.write().map_err(of_folder)?;
        self.last = Vec::new();
        let mut merge = SortedMerge::begin(self.file, &self.ends).map_err(of_folder)?;
        let (mut frequent, mut current, mut count) = (Vec::new(), 0, 0_u64);
        while let Some(hash) = merge.next().map_err(of_folder)? {
            count = if hash == current { count + 1 } else { 1 };
            current = hash;
            if count == u64::from(self.least) {
                frequent.push(hash);
                if (frequent.capacity() * size_of::<u64>()) as u64 > memory {
                    return Err(Error::PassageMemory { limit: memory });
                }
            }
            if merge.taken.is_multiple_of(WAIT) {
                wait()?;
            }
        }
        merge.file.set_len(0).map_err(of_folder)?;
        Ok(FrequentPassages(frequent))
    }
}

/// All hashes in order.
struct SortedMerge {
    file: File,
    parts: Vec<SortedPart>,
    /// The least hash of each part that has more.
    firsts: BinaryHeap<Reverse<(u64, usize)>>,
    /// The number of hashes so far.
    taken: u64,
}

impl SortedMerge {
    /// Begins with the ends of the sorted parts of a file.
    fn begin(file: File, ends: &[u64]) -> io::Result<SortedMerge> {
        let starts = [0].into_iter().chain(ends.iter().copied());
        let parts = starts.zip(ends).map(|(next, &end)| SortedPart {
            next,
            end,
            read: Vec::new(),
        });
        let mut merge = SortedMerge {
            file,
            parts: parts.collect(),
            firsts: BinaryHeap::new(),
            taken: 0,
        };
        (0..ends.len()).try_for_each(|part| merge.advance(part))?;
        Ok(merge)
    }

    /// Takes the next hash of a part to the others.
    fn advance(&mut self, part: usize) -> io::Result<()> {
        let hash = self.parts[part].next(&mut self.file)?;
        self.firsts.extend(hash.map(|hash| Reverse((hash, part))));
        Ok(())
    }

    fn next(&mut self) -> io::Result<Option<u64>> {
        let Some(Reverse((hash, part))) = self.firsts.pop() else {
            return Ok(None);
        };
        self.taken += 1;
        self.advance(part)?;
        Ok(Some(hash))
    }
}

impl SortedPart {
    fn next(&mut self, file: &mut File) -> io::Result<Option<u64>> {
        if self.read.is_empty() && self.next < self.end {
            let length = (self.end - self.next).min(READ);
            self.read.resize(usize::try_from(length).unwrap_or(0), 0);
            file.seek(SeekFrom::Start(self.next * size_of::<u64>() as u64))?;
            file.read_exact(bytemuck::cast_slice_mut(&mut self.read))?;
            self.read.reverse();
            self.next += length;
        }
        Ok(self.read.pop())
    }
}

impl FrequentPassages {
    /// Returns whether the passage at each place of these words is one of them.
    pub(super) fn among(&self, hashes: &RunHashes) -> Vec<bool> {
        let is_frequent = |at| self.0.binary_search(&hashes.passage(at)).is_ok();
        hashes.passages().map(is_frequent).collect()
    }

    /// Returns the bytes of memory that this takes.
    pub(super) fn bytes(&self) -> u64 {
        (self.0.capacity() * size_of::<u64>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn passages_are_counted_across_parts() {
        let lengths = PassageLengths::of(8);
        // Words of a small alphabet, so that runs of eight come again, also where they overlap.
        let text = |number: u32| -> Vec<u32> {
            let bits = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let word = |at: u32| u32::from(bits >> at & 1 == 1) + 1;
            (0..number % 40).map(word).collect()
        };
        let texts: Vec<Vec<u32>> = (0..300).map(text).collect();
        let mut counts: HashMap<&[u32], u32> = HashMap::new();
        for run in texts.iter().flat_map(|text| text.windows(8)) {
            *counts.entry(run).or_default() += 1;
        }
        for (least, memory) in [(2, 8), (3, 800), (20, 1 << 20)] {
            let file = tempfile::tempfile().unwrap();
            let mut counter = PassageCounter::new(file, lengths, least, memory);
            for text in &texts {
                counter.push(text).unwrap();
            }
            let frequent = counter
                .finish(u64::MAX, Path::new(""), &mut || Ok(()))
                .unwrap();
            for text in texts.iter().filter(|text| text.len() >= 8) {
                let found = frequent.among(&RunHashes::of(text, lengths));
                let expected = text.windows(8).map(|run| counts[run] >= least);
                assert_eq!(found, expected.collect::<Vec<bool>>());
            }
        }
    }
}
