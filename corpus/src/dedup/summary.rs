//! The result of a run, in counts.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::ReadCounts;
use dedupdb::Match;

/// The result of a run. Each document counts as kept, dropped or skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DedupSummary {
    /// The number of documents, including skipped files and records.
    pub documents: u64,
    /// The number of documents in the output.
    pub kept: u64,
    /// Documents that resemble an earlier one of this input.
    pub of_input: DropCounts,
    /// Documents that resemble one that was stored before this run.
    pub of_history: DropCounts,
    /// The number of these that are stored themselves, under their own key or from the same file. They resemble
    /// themselves; there may be no other copy.
    pub of_itself: u64,
    /// Keys of [`Dedup::drop_only`](crate::dedup::Dedup::drop_only) whose documents were not dropped; each was an
    /// [event](crate::dedup::DedupEvent::Spared).
    pub spared: u64,
    /// For each field of [`Dedup::keep_by`](crate::dedup::Dedup::keep_by), the number of documents without a value.
    pub without_field: BTreeMap<String, u64>,
    /// A field that only the name of a folder has, such as `lang=en`, if records from there go into one file, which does
    /// not have it: the first one.
    pub folder_field: Option<String>,
    /// Counts of what was read and what was skipped.
    pub reading: ReadCounts,
    /// What the input was only compared with ([`Dedup::against`](crate::dedup::Dedup::against)), if there was such a
    /// request.
    pub compared: Option<ReferenceCounts>,
    /// The outcome for [units](crate::dedup::Dedup::unit), if these were judged. [`of_input`](Self::of_input) and
    /// [`of_history`](Self::of_history) then count the units that were cut, and not documents.
    pub units: Option<UnitCounts>,
    /// The outcome for [passages](crate::dedup::Dedup::cut_passages), if these were cut.
    pub passages: Option<PassageCounts>,
    /// The number of skipped records that are in the output nevertheless, with null [marks](crate::dedup::Dedup::mark).
    pub unmarked: u64,
    /// The number of searches that skipped candidates because of
    /// [`Options::false_candidates`](dedupdb::Options::false_candidates).
    pub searches_cut_short: u64,
    /// Whether the output was written. False if no document is kept and the old output is not empty, because an empty
    /// output never replaces another one. Also false if the input has documents and none could be read.
    pub is_written: bool,
    /// The new name of the folder that was in the place of the output, if there was one; or of a file there that a killed
    /// run may have written, if documents of the input were stored already, so that the output does not have them.
    pub aside: Option<PathBuf>,
}

/// The outcome for units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnitCounts {
    /// Units that were judged and are in the output.
    pub kept: u64,
    /// Units with too few words to be judged, which are in the output.
    pub short: u64,
    /// Units that were no copies, or too short to be judged, and are lost with the rest of their documents.
    pub lost: u64,
    /// Documents in the output that lost units.
    pub changed: u64,
    /// Documents that are not in the output, because they lost too much.
    pub dropped: u64,
}

/// The outcome for passages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PassageCounts {
    /// Passages that were cut from documents in the output.
    pub passages: u64,
    /// Their words.
    pub words: u64,
    /// Documents in the output that lost passages.
    pub changed: u64,
    /// Documents that are not in the output, because they lost too much.
    pub dropped: u64,
}

/// What the input was only compared with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReferenceCounts {
    /// The number of its documents.
    pub documents: u64,
    /// Counts of what was read of it and what was skipped; of a store, nothing is read.
    pub reading: ReadCounts,
}

/// Numbers of dropped documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DropCounts {
    /// Documents with the same text, byte for byte.
    pub exact_copies: u64,
    /// Documents with a similar text.
    pub near_duplicates: u64,
    /// Those of the near-duplicates whose text has the same shingles.
    pub same_words: u64,
    /// Documents that are neither, and that a longer one contains.
    pub contained: u64,
}

impl DropCounts {
    /// Returns the sum of exact copies, near-duplicates and contained documents.
    pub fn all(self) -> u64 {
        self.exact_copies + self.near_duplicates + self.contained
    }
}

impl DedupSummary {
    /// Returns the number of documents that were dropped because they resemble another one.
    pub fn dropped(&self) -> u64 {
        self.of_input.all() + self.of_history.all()
    }

    /// Returns whether anything could not be read, in the input or in what it was only compared with.
    pub fn has_failures(&self) -> bool {
        let compared = self.compared.as_ref();
        self.reading.has_failures() || compared.is_some_and(|it| it.reading.has_failures())
    }

    /// Returns whether there were failures and no document could be read.
    pub fn read_nothing(&self) -> bool {
        self.kept + self.dropped() == 0 && self.reading.has_failures()
    }

    /// Counts a dropped document, which may only be contained in the other one.
    pub(crate) fn dropped_one(&mut self, earlier: &Match, stored_before: bool, is_contained: bool) {
        let dropped = if stored_before {
            &mut self.of_history
        } else {
            &mut self.of_input
        };
        if earlier.exact_copy {
            dropped.exact_copies += 1;
        } else if is_contained {
            dropped.contained += 1;
        } else {
            dropped.near_duplicates += 1;
            dropped.same_words += u64::from(earlier.has_same_shingles());
        }
    }

    /// Returns the counts with their sum.
    pub(crate) fn summed(self, searches_cut_short: u64) -> DedupSummary {
        let of_units = self.units.map(|units| units.dropped);
        let of_passages = self.passages.map(|passages| passages.dropped);
        let dropped = of_units.or(of_passages).unwrap_or(self.dropped());
        DedupSummary {
            documents: self.kept + dropped + self.reading.all_skipped(),
            searches_cut_short,
            ..self
        }
    }
}
