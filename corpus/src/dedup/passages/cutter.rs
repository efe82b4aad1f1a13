//! Cuts passages from one text after another.

use std::fs::File;
use std::ops::Range;
use std::path::PathBuf;

use super::PassageLengths;
use super::frequent::{FrequentPassages, PassageCounter};
use super::kept::{GAP, KeptWords};
use super::origins::{KeptWord, PieceOrigins};
use super::scan::{FoundPassage, RunPlace, scan};
use crate::Origin;
use crate::dedup::error::{Error, Result};
use crate::ranges::without;
use dedupdb::sketching::{Shingler, Shingling};

/// What is kept so far, and what is cut.
pub(super) struct PassageCutter {
    kept: KeptWords,
    lengths: PassageLengths,
    /// The passages that may be cut, if not all may.
    frequent: Option<FrequentPassages>,
    words: Shingler,
    /// A text that lost more than this share of its characters is dropped.
    pub(super) most_lost: f64,
    /// The most bytes of memory, and on disk.
    most: (u64, u64),
    /// The folder of the words of what is kept.
    folder: PathBuf,
    /// Whose pieces are kept, if that is asked for.
    origins: Option<PieceOrigins>,
}

/// The most bytes of memory for counting passages. With more it is not faster.
const COUNTED_BYTES: u64 = 128 << 20;

/// Hashes of the words of a text. None is a gap.
#[derive(Debug)]
pub(super) struct HashedWords(pub(super) Vec<u32>);

/// What is cut from a text.
#[derive(Debug)]
pub(super) struct CutPassages {
    pub(super) passages: Vec<FoundPassage>,
    /// The parts of the text that are cut for them, in bytes.
    pub(super) parts: Vec<Range<usize>>,
    /// What is left of the text, if anything is cut.
    pub(super) text: Option<String>,
    /// Whether it goes, because more of it is cut than may be, or no word is left.
    pub(super) is_dropped: bool,
}

impl HashedWords {
    /// Hashes the words of a text, with the shingler of a [`PassageCutter`].
    pub(super) fn of(text: &str, words: &Shingler) -> dedupdb::Result<HashedWords> {
        let hashes = words.in_order(text)?;
        let apart = |hash: u32| if hash == GAP { GAP + 1 } else { hash };
        Ok(HashedWords(hashes.into_iter().map(apart).collect()))
    }
}

impl PassageCutter {
    /// Begins with an empty file in a folder, for passages of at least this number of words.
    ///
    /// # Errors
    ///
    /// Those of the shingler.
    pub(super) fn new(
        file: File,
        folder: PathBuf,
        passage: usize,
        most_lost: f64,
        most: (u64, u64),
    ) -> Result<PassageCutter> {
        let lengths = PassageLengths::of(passage);
        Ok(PassageCutter {
            kept: KeptWords::new(file, lengths),
            lengths,
            frequent: None,
            words: Shingler::new(Shingling::Word(1), true, true)?,
            most_lost,
            most,
            folder,
            origins: None,
        })
    }

    /// Also notes whose pieces are kept, with the keys in an empty file.
    pub(super) fn with_origins(mut self, keys: File) -> PassageCutter {
        self.origins = Some(PieceOrigins::new(keys));
        self
    }

    /// Begins to count the passages of texts, in an empty file. Frequent ones stand at this number of places or more.
    pub(super) fn counter(&self, file: File, least: u32) -> PassageCounter {
        let memory = (self.most.0 / 2).min(COUNTED_BYTES);
        PassageCounter::new(file, self.lengths, least, memory)
    }

    /// From now on cuts only passages that are frequent in the texts that were counted. What else is on disk meanwhile has
    /// these bytes.
    ///
    /// # Errors
    ///
    /// Those of the system and of `wait`, which is called from time to time; too much memory is needed.
    pub(super) fn cut_frequent(
        &mut self,
        counter: PassageCounter,
        on_disk: u64,
        wait: &mut dyn FnMut() -> Result<()>,
    ) -> Result<()> {
        let (memory, disk) = &mut self.most;
        self.frequent = Some(counter.finish(*memory, &self.folder, wait)?);
        *disk = disk.saturating_sub(on_disk);
        Ok(())
    }

    /// Returns the shingler that gives words.
    pub(super) fn words(&self) -> &Shingler {
        &self.words
    }

    /// Cuts the passages of a text with these words that stood before, in what is kept or in the text itself. Its document
    /// is noted if it is known and the cutter has [origins](PassageCutter::with_origins).
    ///
    /// # Errors
    ///
    /// Those of the system; too much memory or disk is needed.
    pub(super) fn cut(
        &mut self,
        text: &str,
        words: &HashedWords,
        document: Option<&Origin>,
    ) -> Result<CutPassages> {
        let words = &words.0;
        let passages = scan(words, &mut self.kept, self.lengths, self.frequent.as_ref());
        let passages = passages.map_err(|error| Error::temporary(&self.folder, error))?;
        let cut = passages.iter().map(|passage| passage.words.clone());
        let cut: Vec<Range<usize>> = cut.collect();
        let (mut parts, mut left, mut is_dropped) = (Vec::new(), None, false);
        if !cut.is_empty() {
            parts = places(text, &self.words.places(text), &cut);
            let rest = without(text, &parts);
            is_dropped =
                lost(text, &parts) > self.most_lost || !rest.contains(char::is_alphanumeric);
            left = Some(rest);
        }
        // Words of a dropped text are not kept, so that later copies of them stay.
        if !is_dropped {
            self.keep(words, &cut, document)?;
        }
        Ok(CutPassages {
            passages,
            parts,
            text: left,
            is_dropped,
        })
    }

    /// Keeps the words of a text that are not cut.
    fn keep(
        &mut self,
        words: &[u32],
        cut: &[Range<usize>],
        document: Option<&Origin>,
    ) -> Result<()> {
        self.check_room(words.len())?;
        let of_folder = |error| Error::temporary(&self.folder, error);
        // Each part between two cuts is a piece of its own, so that no run goes across a cut.
        let (mut start, mut pieces) = (0, Vec::new());
        let ends = cut.iter().map(|range| (range.start, range.end));
        for (end, next) in ends.chain([(words.len(), words.len())]) {
            let place = self.kept.push(&words[start..end]).map_err(of_folder)?;
            pieces.extend(place.map(|place| (place, start)));
            start = next;
        }
        match (&mut self.origins, document) {
            (Some(origins), Some(document)) => origins.push(document, &pieces).map_err(of_folder),
            _ => Ok(()),
        }
    }

    /// Returns whose word is the first one of the longest part of a passage of this document, where that stood before.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(super) fn earlier(
        &mut self,
        passage: &FoundPassage,
        document: &Origin,
    ) -> Result<Option<KeptWord>> {
        match (passage.stood, &mut self.origins) {
            (RunPlace::Kept(place), Some(origins)) => {
                let word = origins.word(place);
                word.map_err(|error| Error::temporary(&self.folder, error))
            }
            (RunPlace::Kept(_), None) => Ok(None),
            (RunPlace::Here(word), _) => Ok(Some(KeptWord {
                key: document.key.clone(),
                source: Some(document.source.clone()),
                record: document.record,
                word,
            })),
        }
    }

    /// Refuses words for which there is no room.
    fn check_room(&self, words: usize) -> Result<()> {
        let (memory, disk) = self.kept.bytes_with(words);
        let memory = memory + self.origins.as_ref().map_or(0, PieceOrigins::bytes);
        let memory = memory + self.frequent.as_ref().map_or(0, FrequentPassages::bytes);
        let (most_memory, most_disk) = self.most;
        if memory > most_memory {
            return Err(Error::PassageMemory { limit: most_memory });
        }
        if disk > most_disk {
            return Err(Error::TemporaryLimit {
                folder: self.folder.clone(),
                limit: most_disk,
            });
        }
        Ok(())
    }
}

/// Returns the parts of a text with these words that are cut: each with the punctuation and the spaces behind it.
fn places(text: &str, words: &[Range<usize>], cut: &[Range<usize>]) -> Vec<Range<usize>> {
    let part = |range: &Range<usize>| {
        let start = words.get(range.start).map_or(text.len(), |word| word.start);
        let end = words.get(range.end - 1).map_or(text.len(), |word| word.end);
        let next = words.get(range.end).map_or(text.len(), |word| word.start);
        // To the end of the punctuation that touches the passage and the spaces behind that, but not beyond the line.
        let between = &text[end..next];
        let line = between.find(['\n', '\r']).unwrap_or(between.len());
        let mark = between.find(char::is_whitespace).unwrap_or(between.len());
        // An opening quotation mark belongs to the next word.
        let rest = between[mark..line].trim_start();
        start..end + line - rest.len()
    };
    cut.iter().map(part).collect()
}

/// Returns the share of the characters of a text that these parts have.
fn lost(text: &str, parts: &[Range<usize>]) -> f64 {
    let count = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
    let cut: usize = parts.iter().map(|part| count(&text[part.clone()])).sum();
    cut as f64 / count(text).max(1) as f64
}
