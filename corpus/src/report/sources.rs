//! What a text shares with stored documents, as a page shows it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::{ControlFlow, Range};
use std::path::PathBuf;

use dedupdb::overlap::{Passages, PassagesOfDocument};
use dedupdb::sketching::ShingleSet;
use dedupdb::{Result as StoreResult, Store};

use super::file_status::{FileCheck, FileStatus};
use super::runs::{SharedRun, Tokens, covered, overlap, pieces};
use super::sources_summary::SourcesSummary;
use crate::Error;
use crate::reread::{TextFiles, file_of_document, unique};

/// What at least this number of documents have counts as common: a template, a licence, the wording of an
/// assignment.
pub(super) const MANY: u32 = 5;

/// The maximum number of documents of which a page shows where a passage is.
pub(super) const MOST_PLACES: usize = 10;

/// The maximum number of documents that a page lists and reads again.
pub(super) const MOST_DOCUMENTS: usize = 1000;

/// The number of tokens of a document that are shown on either side of a passage, and at its start and its end.
const AROUND: u32 = 12;

/// The maximum number of bytes of a document that are shown in one place.
const MOST_EXCERPT: usize = 600;

/// How many documents have a place of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HowCommon {
    Few,
    Many,
    /// Too many to compare them all, and none of those that were compared has a passage there.
    NotCompared,
}

/// The passages of a text and the documents that have them.
#[derive(Debug)]
pub(super) struct TextSources {
    /// The numbered passages, in the order of the text.
    pub(super) passages: Vec<NumberedPassage>,
    /// The parts of the text inside passages, ascending.
    pub(super) marks: Vec<MarkedPart>,
    /// The documents: first those with most tokens of the text that few have, then those with most tokens.
    pub(super) documents: Vec<SourceDocument>,
    common: CommonTokens,
}

/// Which tokens of a text many documents have.
#[derive(Debug)]
struct CommonTokens {
    /// For each token, how many before it few documents have; one more at the end.
    few_before: Vec<u32>,
}

/// A part of the text inside a passage.
#[derive(Debug)]
pub(super) struct MarkedPart {
    pub(super) bytes: Range<usize>,
    pub(super) tokens: Range<u32>,
    pub(super) kind: HowCommon,
    /// The number of its passage from 0, and whether it is the first part of it. None if it was not compared.
    pub(super) passage: Option<(usize, bool)>,
}

/// A passage that has a number. Others lie inside such ones.
#[derive(Debug)]
pub(super) struct NumberedPassage {
    pub(super) tokens: Range<u32>,
    pub(super) bytes: Range<usize>,
    pub(super) line: u64,
    pub(super) documents: u64,
    pub(super) kind: HowCommon,
    /// Where documents have it or a part of it, the longest part first.
    pub(super) places: Vec<PassagePlace>,
}

/// Where a document has a passage or a part of it.
#[derive(Debug)]
pub(super) struct PassagePlace {
    /// The number of the document.
    pub(super) document: usize,
    /// The tokens of the text that it has there.
    pub(super) tokens: Range<u32>,
    pub(super) matched: u32,
    /// The number of the first token in the document, from 0, if it is known.
    pub(super) place: Option<u32>,
    pub(super) excerpt: Option<PassageExcerpt>,
}

/// A passage in a document, with what stands around it.
#[derive(Debug, Default)]
pub(super) struct PassageExcerpt {
    pub(super) line: usize,
    pub(super) before: String,
    /// The passage, or its start and its end.
    pub(super) passage: Vec<String>,
    pub(super) after: String,
}

/// A document that shares passages with the text.
#[derive(Debug)]
pub(super) struct SourceDocument {
    pub(super) key: String,
    /// The number of tokens of the text inside its passages.
    pub(super) covered: u32,
    /// How many of these few documents have.
    pub(super) few: u32,
    pub(super) longest: u32,
    /// The numbers of its passages, from 0.
    pub(super) passages: BTreeSet<usize>,
    pub(super) state: FileStatus,
    /// The share of its own tokens inside passages, if its text was read again.
    pub(super) own_share: Option<f64>,
    hash: [u8; 32],
    file: Option<PathBuf>,
}

impl TextSources {
    /// Numbers the passages that were `found` in a text.
    pub(super) fn of(
        store: &Store,
        text: &Tokens<'_>,
        found: &Passages,
    ) -> StoreResult<TextSources> {
        let mut sources = TextSources {
            passages: Vec::new(),
            marks: Vec::new(),
            documents: Vec::new(),
            common: CommonTokens::of(text.count(), found),
        };
        sources.mark(text, found);
        sources.list(store, found)?;
        sources.number(found);
        Ok(sources)
    }

    /// Returns the number of tokens inside passages that few documents have, and that many have.
    pub(super) fn covered(&self) -> [u32; 2] {
        let of = |kind| {
            let marks = self.marks.iter().filter(|mark| mark.kind == kind);
            marks.map(|mark| mark.tokens.end - mark.tokens.start).sum()
        };
        [of(HowCommon::Few), of(HowCommon::Many)]
    }

    /// Marks what is inside passages. A passage gets a number when the first part of it comes.
    fn mark(&mut self, text: &Tokens<'_>, found: &Passages) {
        let passages = found.passages.iter().map(|passage| passage.tokens.clone());
        let mut ranges: Vec<Range<u32>> = passages.collect();
        ranges.dedup();
        let numbered = ranges.len();
        ranges.extend(found.common.iter().cloned());
        let mut numbers: HashMap<usize, usize> = HashMap::new();
        for piece in pieces(&ranges) {
            let next = numbers.len();
            let mut passage = (piece.range < numbered).then(|| {
                let number = *numbers.entry(piece.range).or_insert(next);
                (number, number == next)
            });
            if passage.is_some_and(|(_, is_first)| is_first) {
                let tokens = ranges[piece.range].clone();
                self.passages.push(NumberedPassage {
                    bytes: text.bytes(&tokens),
                    line: text.text[..text.bytes(&tokens).start].matches('\n').count() as u64 + 1,
                    documents: 0,
                    kind: self.common.of_most(&tokens),
                    tokens,
                    places: Vec::new(),
                });
            }
            for (tokens, kind) in self.common.parts(&piece.tokens) {
                self.marks.push(MarkedPart {
                    bytes: text.bytes(&tokens),
                    tokens,
                    kind: passage.map_or(HowCommon::NotCompared, |_| kind),
                    passage,
                });
                passage = passage.map(|(number, _)| (number, false));
            }
        }
    }

    /// Lists the documents.
    fn list(&mut self, store: &Store, found: &Passages) -> StoreResult<()> {
        let mut few: HashMap<&str, u32> = HashMap::new();
        for passage in &found.passages {
            *few.entry(&passage.key).or_default() += self.common.few(&passage.tokens);
        }
        let of = |key: &str| few.get(key).copied().unwrap_or(0);
        let mut documents: Vec<&PassagesOfDocument> = found.documents.iter().collect();
        documents.sort_by_key(|document| Reverse((of(&document.key), document.covered)));
        for document in documents.into_iter().take(MOST_DOCUMENTS) {
            let stored = store.get(&document.key)?;
            let state = stored.as_ref().map(FileCheck::at);
            let file = stored.as_ref().and_then(file_of_document);
            self.documents.push(SourceDocument {
                key: document.key.clone(),
                covered: document.covered,
                few: of(&document.key).min(document.covered),
                longest: document.longest,
                passages: BTreeSet::new(),
                // A document that was removed meanwhile is gone.
                state: state.map_or(FileStatus::Gone, |state| state.state),
                own_share: None,
                hash: stored.map_or([0; 32], |stored| stored.hash),
                file,
            });
        }
        Ok(())
    }

    /// Gives each passage that was found to the number with which it shares most of the text.
    fn number(&mut self, found: &Passages) {
        let documents = self.documents.iter().enumerate();
        let numbers: HashMap<String, usize> = documents
            .map(|(number, document)| (document.key.clone(), number))
            .collect();
        let mut last: Option<(&Range<u32>, usize)> = None;
        for passage in &found.passages {
            let number = match last {
                Some((tokens, number)) if *tokens == passage.tokens => Some(number),
                _ => self.number_of(&passage.tokens),
            };
            let Some(number) = number else { continue };
            last = Some((&passage.tokens, number));
            let numbered = &mut self.passages[number];
            if numbered.tokens == passage.tokens {
                numbered.documents = passage.documents;
            }
            // A document that is not listed has no place on the page.
            let Some(&document) = numbers.get(passage.key.as_str()) else {
                continue;
            };
            self.documents[document].passages.insert(number);
            numbered.places.push(PassagePlace {
                document,
                tokens: passage.tokens.clone(),
                matched: passage.matched,
                place: passage.place,
                excerpt: None,
            });
        }
    }

    /// Returns the number of the passage that has most of these tokens.
    fn number_of(&self, tokens: &Range<u32>) -> Option<usize> {
        let first = self
            .marks
            .partition_point(|mark| mark.tokens.end <= tokens.start);
        let marks = self.marks[first..].iter();
        let marks = marks.take_while(|mark| mark.tokens.start < tokens.end);
        let mut shared: BTreeMap<usize, u32> = BTreeMap::new();
        for mark in marks {
            if let Some((number, _)) = mark.passage {
                *shared.entry(number).or_default() += overlap(&mark.tokens, tokens);
            }
        }
        let most = shared.into_iter().max_by_key(|&(number, shared)| {
            // Of equal ones, the first.
            (shared, Reverse(number))
        });
        most.map(|(number, _)| number)
    }

    /// Counts what was `found` in the text. What is not on the page is counted when it is made.
    pub(super) fn summary(&self, text: &Tokens<'_>, found: &Passages) -> SourcesSummary {
        let longest = found.passages.iter().map(|passage| passage.tokens.len());
        let common = self.passages.iter();
        let common = common.filter(|passage| passage.kind == HowCommon::Many);
        let missing = self.documents.iter();
        let missing = missing.filter(|document| document.own_share.is_none());
        SourcesSummary {
            tokens: text.count(),
            ignored: found.ignored,
            covered: found.covered,
            covered_by_many: self.covered()[1],
            longest: longest
                .max()
                .and_then(|longest| u32::try_from(longest).ok())
                .unwrap_or(0),
            passages: self.passages.len() as u64,
            common_passages: common.count() as u64,
            documents: found.documents.len() as u64,
            documents_beyond: (found.documents.len() - self.documents.len()) as u64,
            not_compared: found.common.len() as u64,
            texts_missing: missing.count() as u64,
            ..SourcesSummary::default()
        }
    }

    /// Reads the documents again, and takes from them what stands around their passages.
    ///
    /// # Errors
    ///
    /// The system allows no further thread, or the work is stopped.
    pub(super) fn read(
        &mut self,
        (store, text, at_least): (&Store, &Tokens<'_>, u32),
        ignored: Option<&ShingleSet>,
        files: TextFiles<'_>,
    ) -> Result<(), Error> {
        let shingler = store.schema().shingler()?;
        let mut wanted: HashMap<[u8; 32], Vec<usize>> = HashMap::new();
        for (number, document) in self.documents.iter().enumerate() {
            if document.state != FileStatus::Gone {
                wanted.entry(document.hash).or_default().push(number);
            }
        }
        let named = self.documents.iter();
        let named = unique(named.filter_map(|document| document.file.clone()));
        for paths in [named, files.sources()] {
            if wanted.is_empty() {
                break;
            }
            files.read(&paths, |document| {
                if let Some(numbers) = wanted.remove(&document.hash()) {
                    // A text of ids that are no numbers is not stored.
                    if let Ok(tokens) = Tokens::of(&shingler, document.text(), ignored) {
                        self.excerpt(text, &numbers, &tokens, at_least);
                    }
                }
                if wanted.is_empty() {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })?;
        }
        Ok(())
    }

    /// Takes the excerpts of documents with this text, and the share of it inside passages.
    fn excerpt(&mut self, text: &Tokens<'_>, documents: &[usize], own: &Tokens<'_>, at_least: u32) {
        // Passages that were joined have shorter runs.
        let runs = text.shared_with(own, if self.has_joined() { 1 } else { at_least });
        let long = runs
            .iter()
            .filter(|run| run.a.end - run.a.start >= at_least);
        let long: Vec<Range<u32>> = long.map(|run| run.b.clone()).collect();
        let counted = own.counted().max(1);
        for &document in documents {
            let mut own_ranges = long.clone();
            for &number in &self.documents[document].passages {
                let places = self.passages[number].places.iter_mut().enumerate();
                for (rank, place) in places.filter(|(_, place)| place.document == document) {
                    let Some(passage) = place.among(&runs) else {
                        continue;
                    };
                    if rank < MOST_PLACES {
                        place.place = Some(passage.start);
                        place.excerpt = Some(PassageExcerpt::of(own, &passage));
                    }
                    own_ranges.push(passage);
                }
            }
            let share = f64::from(covered(&own_ranges)) / f64::from(counted);
            self.documents[document].own_share = Some(share);
        }
    }

    /// Whether passages were joined over other tokens.
    pub(super) fn has_joined(&self) -> bool {
        let mut places = self.passages.iter().flat_map(|passage| &passage.places);
        places.any(|place| place.others() > 0)
    }
}

impl PassagePlace {
    /// The number of its tokens that the document has not.
    fn others(&self) -> u32 {
        (self.tokens.end - self.tokens.start).saturating_sub(self.matched)
    }

    /// Returns the tokens of the document among which it is: those of the longest run, and of others around it.
    fn among(&self, runs: &[SharedRun]) -> Option<Range<u32>> {
        let inside = runs.iter().filter_map(|run| {
            let cut = |by: u32| by.min(run.a.end - run.a.start);
            let from = cut(self.tokens.start.saturating_sub(run.a.start));
            let to = cut(run.a.end.saturating_sub(self.tokens.end));
            let b = run.b.start + from..run.b.end.saturating_sub(to).max(run.b.start + from);
            // The place of the text's first token in the document, if all before were the same.
            let offset = i64::from(run.b.start) - i64::from(run.a.start);
            (overlap(&run.a, &self.tokens) > 0).then_some((b, offset))
        });
        let inside: Vec<(Range<u32>, i64)> = inside.collect();
        let best = inside.iter().rev().max_by_key(|(b, _)| b.end - b.start)?;
        let most = 2 * i64::from(self.others());
        let near = inside
            .iter()
            .filter(|(_, offset)| (offset - best.1).abs() <= most);
        let near = near.map(|(b, _)| b);
        let start = near.clone().map(|b| b.start).min()?;
        Some(start..near.map(|b| b.end).max()?)
    }
}

impl CommonTokens {
    /// Counts the documents that have each of the tokens inside a passage.
    fn of(count: u32, found: &Passages) -> CommonTokens {
        let mut changes: BTreeMap<u32, i64> = BTreeMap::new();
        for passage in &found.passages {
            let documents = if passage.is_common {
                i64::from(MANY)
            } else {
                1
            };
            *changes.entry(passage.tokens.start).or_default() += documents;
            *changes.entry(passage.tokens.end).or_default() -= documents;
        }
        let (mut few_before, mut few, mut documents) = (vec![0], 0, 0);
        for token in 0..count {
            documents += changes.get(&token).copied().unwrap_or(0);
            few += u32::from(documents < i64::from(MANY));
            few_before.push(few);
        }
        CommonTokens { few_before }
    }

    /// How many of these tokens few documents have.
    fn few(&self, tokens: &Range<u32>) -> u32 {
        let before = |token: u32| self.few_before.get(token as usize).copied().unwrap_or(0);
        before(tokens.end).saturating_sub(before(tokens.start))
    }

    /// Whether few documents have most of these tokens.
    fn of_most(&self, tokens: &Range<u32>) -> HowCommon {
        if 2 * self.few(tokens) > tokens.end - tokens.start {
            HowCommon::Few
        } else {
            HowCommon::Many
        }
    }

    /// Cuts these tokens where their kind changes.
    fn parts(&self, tokens: &Range<u32>) -> Vec<(Range<u32>, HowCommon)> {
        let mut parts: Vec<(Range<u32>, HowCommon)> = Vec::new();
        for token in tokens.clone() {
            let kind = self.of_most(&(token..token + 1));
            match parts.last_mut() {
                Some((part, last)) if *last == kind => part.end = token + 1,
                _ => parts.push((token..token + 1, kind)),
            }
        }
        parts
    }
}

impl PassageExcerpt {
    fn of(tokens: &Tokens<'_>, passage: &Range<u32>) -> PassageExcerpt {
        let text = tokens.text;
        let part = |range: Range<u32>| cut(&text[tokens.bytes(&range)]);
        let Range { start, end } = *passage;
        let whole = tokens.bytes(passage);
        let first = tokens.bytes(&(start.saturating_sub(AROUND)..end));
        let last = tokens.bytes(&(start..end.saturating_add(AROUND).min(tokens.count())));
        let shown = if end - start <= 3 * AROUND {
            vec![part(start..end)]
        } else {
            vec![part(start..start + AROUND), part(end - AROUND..end)]
        };
        let before = &text[first.start..whole.start];
        PassageExcerpt {
            line: text[..whole.start].matches('\n').count() + 1,
            before: if first.start > 0 { "… " } else { "" }.to_owned() + &cut_start(before),
            passage: shown,
            after: cut(&text[whole.end..last.end])
                + if last.end < text.len() { " …" } else { "" },
        }
    }
}

/// Returns the beginning of a text, if it is long.
fn cut(text: &str) -> String {
    let mut ends = (0..=MOST_EXCERPT.min(text.len())).rev();
    let end = ends.find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    text[..end].to_owned()
}

/// Returns the end of a text, if it is long.
fn cut_start(text: &str) -> String {
    let mut starts = text.len().saturating_sub(MOST_EXCERPT)..=text.len();
    let start = starts.find(|&start| text.is_char_boundary(start));
    text[start.unwrap_or(text.len())..].to_owned()
}
