//! The passages of a document that stood before.

use std::collections::HashMap;
use std::io;
use std::ops::Range;

use super::PassageLengths;
use super::frequent::FrequentPassages;
use super::kept::{GAP, KeptWords, RunHashes, RunPlaces};

/// The number of words to read at a time when runs are compared.
const COMPARED: usize = 256;

/// The number of places whose anchors are read from memory together.
const TOGETHER: usize = 16;

/// A passage of a document that stood before.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FoundPassage {
    /// Its words, as numbers in the document.
    pub(super) words: Range<usize>,
    /// The longest part of it that was found at one place.
    pub(super) longest: Range<usize>,
    /// Where that part stood.
    pub(super) stood: RunPlace,
}

/// Where a run of words stood before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RunPlace {
    /// At this place of what is kept.
    Kept(u64),
    /// At this word of the same document.
    Here(usize),
}

impl FoundPassage {
    /// Takes over a passage that overlaps with this one or touches it.
    fn join(&mut self, other: FoundPassage) {
        self.words = self.words.start.min(other.words.start)..self.words.end.max(other.words.end);
        if other.longest.len() > self.longest.len() {
            (self.longest, self.stood) = (other.longest, other.stood);
        }
    }
}

/// A document whose words are looked up one after another.
struct DocumentScan<'a> {
    words: &'a [u32],
    hashes: RunHashes,
    lengths: PassageLengths,
    kept: &'a mut KeptWords,
    /// The passages that may be cut, if not all may.
    frequent: Option<&'a FrequentPassages>,
    /// Whether the passage at each place may be cut, once that was asked for.
    may_be_cut: Option<Vec<bool>>,
    /// The anchors of this document before the current place that are kept.
    own: RunPlaces,
    /// The passages that are cut, which may overlap.
    cut: Vec<FoundPassage>,
    /// Whether each word is cut.
    is_cut: Vec<bool>,
}

/// Returns the passages that stand in pieces that are kept, or before in this document and apart from
/// them, and are `frequent` if that is asked for. They are in order and do not overlap.
///
/// # Errors
///
/// Those of reading.
pub(super) fn scan(
    words: &[u32],
    kept: &mut KeptWords,
    lengths: PassageLengths,
    frequent: Option<&FrequentPassages>,
) -> io::Result<Vec<FoundPassage>> {
    if words.len() < lengths.passage {
        return Ok(Vec::new());
    }
    let mut scan = DocumentScan {
        words,
        hashes: RunHashes::of(words, lengths),
        lengths,
        kept,
        frequent,
        may_be_cut: None,
        own: RunPlaces::default(),
        cut: Vec::new(),
        is_cut: vec![false; words.len()],
    };
    scan.look_up_all()?;
    Ok(joined(scan.cut))
}

/// Joins passages that overlap or touch, in order.
fn joined(mut passages: Vec<FoundPassage>) -> Vec<FoundPassage> {
    passages.sort_by_key(|passage| passage.words.start);
    let mut joined: Vec<FoundPassage> = Vec::new();
    for passage in passages {
        match joined.last_mut() {
            Some(last) if passage.words.start <= last.words.end => last.join(passage),
            _ => joined.push(passage),
        }
    }
    joined
}

impl DocumentScan<'_> {
    fn look_up_all(&mut self) -> io::Result<()> {
        let mut next_own = 0;
        // The ends of the runs that were compared, by what the place in the file is more than the place here.
        let mut compared: HashMap<u64, usize> = HashMap::new();
        let places = 0..=self.words.len() - self.lengths.anchor;
        for at in places.clone() {
            if at.is_multiple_of(TOGETHER) {
                let end = (at + TOGETHER).min(places.end() + 1);
                self.kept.places().approach(&self.hashes, at..end);
            }
            // A passage that begins here or before is found `step` places later at the latest, so until then it is not
            // known what is kept.
            while next_own + self.lengths.anchor + self.lengths.step <= at + 1 {
                let anchor = next_own..next_own + self.lengths.anchor;
                if !self.is_cut[anchor].contains(&true) {
                    self.own.add(&self.hashes, next_own, 0);
                }
                next_own += self.lengths.step;
            }
            // First in what was kept before this document, then in this document before this place.
            let mut found = Vec::new();
            self.kept.places().find(&self.hashes, at, &mut found);
            if !found.is_empty() && !self.may_cut_around(at) {
                continue;
            }
            for place in found.drain(..) {
                let ahead = place.wrapping_sub(at as u64);
                // The place belongs to a run that was compared before.
                if compared.get(&ahead).is_some_and(|&end| at < end) {
                    continue;
                }
                let run = self.run_in_file(at, place)?;
                compared.insert(ahead, run.end);
                for run in self.parts_to_cut(run) {
                    let stood = RunPlace::Kept(ahead.wrapping_add(run.start as u64));
                    self.take(run, stood);
                }
            }
            self.own.find(&self.hashes, at, &mut found);
            if !found.is_empty() && !self.may_cut_around(at) {
                continue;
            }
            for place in found.drain(..) {
                let place = usize::try_from(place).unwrap_or(usize::MAX);
                let run = self.run_here(at, place);
                for run in self.parts_to_cut(run) {
                    let stood = RunPlace::Here(run.start - (at - place));
                    self.take(run, stood);
                }
            }
        }
        Ok(())
    }

    /// Returns whether a passage that has the anchor at this place may be cut.
    fn may_cut_around(&mut self, at: usize) -> bool {
        let Some(frequent) = self.frequent else {
            return true;
        };
        let all = &mut self.may_be_cut;
        let all = all.get_or_insert_with(|| frequent.among(&self.hashes));
        all[self.hashes.around(at)].contains(&true)
    }

    /// Returns the parts of a run that have only passages that may be cut.
    fn parts_to_cut(&self, run: Range<usize>) -> Vec<Range<usize>> {
        let passage = self.lengths.passage;
        if run.len() < passage {
            return Vec::new();
        }
        let Some(all) = &self.may_be_cut else {
            return vec![run];
        };
        let mut parts: Vec<Range<usize>> = Vec::new();
        for start in (run.start..=run.end - passage).filter(|&start| all[start]) {
            match parts.last_mut() {
                Some(last) if last.end + 1 == start + passage => last.end += 1,
                _ => parts.push(start..start + passage),
            }
        }
        parts
    }

    fn take(&mut self, run: Range<usize>, stood: RunPlace) {
        self.is_cut[run.clone()].fill(true);
        let passage = FoundPassage {
            words: run.clone(),
            longest: run,
            stood,
        };
        match self.cut.last_mut() {
            // A text that repeats itself has a passage at nearly each place.
            Some(last) if (last.words.start..=last.words.end).contains(&passage.words.start) => {
                last.join(passage);
            }
            _ => self.cut.push(passage),
        }
    }

    /// Returns the longest run around the place `at` that is also around `place` in the file.
    fn run_in_file(&mut self, at: usize, place: u64) -> io::Result<Range<usize>> {
        // Forward from the anchor, then back from it, a part of the file at a time.
        let mut buffer = [GAP; COMPARED];
        let mut end = at;
        'forward: while end < self.words.len() {
            let read = &mut buffer[..COMPARED.min(self.words.len() - end)];
            self.kept.read(place + (end - at) as u64, read)?;
            for word in read {
                if *word != self.words[end] {
                    break 'forward;
                }
                end += 1;
            }
        }
        if end - at < self.lengths.anchor {
            // Another run has the same part of a hash.
            return Ok(at..at);
        }
        let mut start = at;
        let most = usize::try_from(place).map_or(at, |place| place.min(at));
        'backward: while at - start < most {
            let length = COMPARED.min(most - (at - start));
            let read = &mut buffer[..length];
            self.kept.read(place - (at - start + length) as u64, read)?;
            for word in read.iter().rev() {
                if *word != self.words[start - 1] {
                    break 'backward;
                }
                start -= 1;
            }
        }
        Ok(start..end)
    }

    /// Returns the run around the place `at` that is also around `place` before, in what is kept and apart from it. Not more of
    /// it than the passages that have the anchor at this place: others have anchors of their own, so a text that repeats
    /// itself takes no more time than another.
    fn run_here(&self, at: usize, place: usize) -> Range<usize> {
        let PassageLengths {
            passage, anchor, ..
        } = self.lengths;
        let distance = at - place;
        let is_same = |word: usize| {
            let before = word - distance;
            self.words[word] == self.words[before] && !self.is_cut[before]
        };
        // Both ends stay within the passages that have this anchor, and the earlier run ends before this one begins.
        let first = distance.max((at + anchor).saturating_sub(passage));
        let start = (first..at).rev().take_while(|&word| is_same(word)).last();
        let start = start.unwrap_or(at);
        // What is not cut may be in the earlier run of what is.
        let stays = |word: &usize| {
            let all = self.may_be_cut.as_ref();
            all.is_some_and(|all| !all.get(*word).unwrap_or(&false))
        };
        let start = (start..at).find(|word| !stays(word)).unwrap_or(at);
        let end = self.words.len().min(start + distance).min(at + passage);
        let length = (at..end).take_while(|&word| is_same(word)).count();
        start..at + length
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::dedup::passages::frequent::PassageCounter;

    /// The pieces of a document that are kept, and the ranges that are cut.
    type CutDocument = (Vec<Vec<u32>>, Vec<Range<usize>>);

    /// Cuts documents one after another.
    fn cut_all(documents: &[Vec<u32>], passage: usize, least: u32) -> Vec<CutDocument> {
        let lengths = PassageLengths::of(passage);
        let file = tempfile::tempfile().unwrap();
        let mut counter = PassageCounter::new(file, lengths, least, 1 << 16);
        for words in documents {
            counter.push(words).unwrap();
        }
        let frequent = counter.finish(u64::MAX, Path::new(""), &mut || Ok(()));
        let frequent = Some(frequent.unwrap()).filter(|_| least > 2);
        let mut kept = KeptWords::new(tempfile::tempfile().unwrap(), lengths);
        let mut all = Vec::new();
        for words in documents {
            let found = scan(words, &mut kept, lengths, frequent.as_ref()).unwrap();
            let cut: Vec<Range<usize>> = found.iter().map(|it| it.words.clone()).collect();
            for passage in found {
                check_place(&passage, words, &mut kept);
            }
            let (mut pieces, mut start) = (Vec::new(), 0);
            for range in cut.iter().chain([&(words.len()..words.len())]) {
                pieces.push(words[start..range.start].to_vec());
                start = range.end;
            }
            for piece in &pieces {
                kept.push(piece).unwrap();
            }
            all.push((pieces, cut));
        }
        all
    }

    /// Checks that the words of the longest part of a passage are at the place where it stood.
    fn check_place(passage: &FoundPassage, words: &[u32], kept: &mut KeptWords) {
        let longest = passage.longest.clone();
        let mut stood = vec![GAP; longest.len()];
        match passage.stood {
            RunPlace::Kept(place) => kept.read(place, &mut stood).unwrap(),
            RunPlace::Here(first) => {
                assert!(first + longest.len() <= longest.start);
                stood.copy_from_slice(&words[first..first + longest.len()]);
            }
        }
        assert_eq!(stood, words[longest.clone()]);
        assert!(passage.words.start <= longest.start && longest.end <= passage.words.end);
    }

    /// Checks documents against what is promised, run by run.
    fn check(documents: &[Vec<u32>], passage: usize, least: u32) {
        let mut counts: HashMap<&[u32], u32> = HashMap::new();
        for run in documents.iter().flat_map(|words| words.windows(passage)) {
            *counts.entry(run).or_default() += 1;
        }
        let mut known: HashMap<&[u32], Vec<(usize, usize)>> = HashMap::new();
        let all = cut_all(documents, passage, least);
        let mut number = 0;
        for ((pieces, cut), words) in all.iter().zip(documents) {
            for range in cut {
                assert!(range.len() >= passage);
                let stood = |at: usize| {
                    let run = &words[at..at + passage];
                    let mut before = 0..(at + 1).saturating_sub(passage);
                    let stood = before.any(|it| words[it..it + passage] == *run);
                    counts[run] >= least && (stood || known.contains_key(run))
                };
                let mut covered = range.start;
                for at in range.start..=range.end - passage {
                    if stood(at) {
                        assert!(at <= covered, "{at} of {range:?}");
                        covered = at + passage;
                    }
                }
                assert_eq!(covered, range.end);
            }
            for piece in pieces {
                number += 1;
                for (at, run) in piece.windows(passage).enumerate() {
                    if counts[run] < least {
                        continue;
                    }
                    let places = known.entry(run).or_default();
                    let is_apart =
                        |&(other, place): &(usize, usize)| other != number || place + passage <= at;
                    assert!(!places.iter().any(is_apart), "{run:?} is left twice");
                    places.push((number, at));
                }
            }
        }
    }

    /// Documents of parts that come again and of other words.
    fn documents() -> impl Strategy<Value = (Vec<Vec<u32>>, usize, u32)> {
        let parts = proptest::collection::vec(proptest::collection::vec(1_u32..9, 1..24), 1..6);
        let picked = proptest::collection::vec(proptest::collection::vec(0_usize..9, 1..40), 1..12);
        let numbers = (8_usize..14, 2_u32..7);
        (parts, picked, numbers).prop_map(|(parts, picked, (passage, least))| {
            let mut other = 100;
            let mut document = |picked: Vec<usize>| {
                let part = |number: usize| {
                    other += 1;
                    parts.get(number).cloned().unwrap_or_else(|| vec![other])
                };
                picked.into_iter().flat_map(part).collect()
            };
            let documents = picked.into_iter().map(&mut document).collect();
            (documents, passage, least)
        })
    }

    proptest! {
        #[test]
        fn no_passage_is_left_twice_and_no_other_is_cut((documents, passage, least) in documents()) {
            check(&documents, passage, least);
        }
    }

    #[test]
    fn runs_that_are_nearly_passages_may_come_often() {
        // Sixteen words with others around them, and then twenty words that begin with them.
        let mut other = 1000_u32;
        let mut document = |number: u32| {
            other += 2;
            let template: Vec<u32> = (1..17).collect();
            [&[other], &template[..], &[other + 1 + number]].concat()
        };
        let mut documents: Vec<Vec<u32>> = (0..3000).map(|_| document(0)).collect();
        let again = [&documents[1500][..], &[7, 7]].concat();
        documents.push(again);
        check(&documents, 18, 2);
        let all = cut_all(&documents, 18, 2);
        assert_eq!(all[3000].1, vec![0..18]);
        assert!(all[..3000].iter().all(|(_, cut)| cut.is_empty()));
    }

    #[test]
    fn long_runs_are_compared_across_what_is_written_and_what_is_not() {
        let long: Vec<u32> = (1..200_000).collect();
        let around = [&[7, 7], &long[..], &[8, 8]].concat();
        let all = cut_all(&[long.clone(), long[5..100].to_vec(), around], 50, 2);
        assert_eq!(all[1].1, vec![0..95]);
        assert_eq!(all[2].1, vec![2..200_001]);
    }

    #[test]
    fn a_text_that_repeats_itself_keeps_one_copy() {
        let line: Vec<u32> = (1..11).collect();
        let all = cut_all(&[line.repeat(1000)], 20, 2);
        let kept: usize = all[0].0.iter().map(Vec::len).sum();
        assert!((20..60).contains(&kept), "{kept}");
        // This would take hours if each run were compared to its end.
        let all = cut_all(&[vec![7; 3_000_000]], 50, 2);
        assert_eq!(all[0].1, vec![50..3_000_000]);
    }
}
