//! The texts of listed documents, read again from their sources.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::PathBuf;

use super::file_status::FileStatus;
use super::row::{PageCluster, PageRow, PageText, inert};
use crate::reread::{TextFiles, unique};
use crate::{Error, Key};

/// The maximum number of bytes to show of a text.
const MOST_BYTES: usize = 32 << 10;

/// The number of texts of each cluster that come before further texts of any cluster.
const MOST_OF_CLUSTER: usize = 24;

/// The texts wanted for the page, by their hashes.
#[derive(Debug, Default)]
pub(super) struct PageTexts {
    numbers: HashMap<[u8; 32], usize>,
    found: Vec<TextLookup>,
    missing: usize,
    /// For each text, its number among the texts shown.
    places: Vec<usize>,
    /// The keys of files that were read and have other texts than the stored ones.
    rewritten: HashSet<String>,
}

/// The result of looking for a text.
#[derive(Clone, Debug)]
enum TextLookup {
    Missing,
    /// The text as an element of the data.
    Read {
        json: String,
        is_cut: bool,
    },
    /// It was read, but does not fit.
    LeftOut,
}

impl PageTexts {
    /// Returns the texts of these clusters that may fit into `most` bytes: for each cluster, that of the representative
    /// and those of the first others, and then the rest.
    pub(super) fn of(groups: &[PageCluster], most: usize) -> PageTexts {
        let mut texts = PageTexts::default();
        let mut bytes = 0;
        for most_of_cluster in [MOST_OF_CLUSTER, usize::MAX] {
            for group in groups {
                let mut wanted = 0;
                for row in &group.rows {
                    if bytes >= most {
                        return texts;
                    }
                    if wanted == most_of_cluster {
                        break;
                    }
                    let number = texts.found.len();
                    if *texts.numbers.entry(row.hash).or_insert(number) == number {
                        texts.found.push(TextLookup::Missing);
                        // The text of a compressed file may be larger than its size.
                        bytes += usize::try_from(row.size)
                            .map_or(MOST_BYTES, |size| size.min(MOST_BYTES));
                        wanted += 1;
                    }
                }
            }
        }
        texts
    }

    /// Reads the files that keys name, and then, as long as a text is missing, the other sources.
    ///
    /// # Errors
    ///
    /// The system allows no further thread, or the work is stopped.
    pub(super) fn read(
        &mut self,
        groups: &[PageCluster],
        files: TextFiles<'_>,
    ) -> Result<(), Error> {
        self.missing = self.found.len();
        let rows = || groups.iter().flat_map(|group| &group.rows);
        // One of several copies is enough.
        let mut asked = vec![false; self.found.len()];
        let first = rows().filter_map(|row| {
            let number = *self.numbers.get(&row.hash)?;
            let file = if asked[number] {
                None
            } else {
                row.file.clone()
            };
            asked[number] = file.is_some() || asked[number];
            file
        });
        let first = unique(first);
        let at_hand = rows().filter(|row| row.standing.state == FileStatus::AtHand);
        let key_here = |row: &PageRow| Some(Key::of(row.file.as_deref()?).text);
        let stored: HashMap<String, &PageRow> = at_hand
            .filter_map(|row| Some((key_here(row)?, row)))
            .collect();
        self.read_files(&first, files, &stored)?;
        let others = rows().filter(|row| self.is_missing(row));
        let others = unique(others.filter_map(|row| row.file.clone()));
        self.read_files(&others, files, &stored)?;
        self.read_files(&files.sources(), files, &stored)
    }

    /// Returns the keys of files that were read and have other texts than the stored ones.
    pub(super) fn rewritten(&self) -> &HashSet<String> {
        &self.rewritten
    }

    fn is_missing(&self, row: &PageRow) -> bool {
        let number = self.numbers.get(&row.hash);
        number.is_some_and(|number| matches!(self.found[*number], TextLookup::Missing))
    }

    fn read_files(
        &mut self,
        paths: &[PathBuf],
        files: TextFiles<'_>,
        stored: &HashMap<String, &PageRow>,
    ) -> Result<(), Error> {
        if self.missing == 0 {
            return Ok(());
        }
        // A document that cannot be read stays missing.
        files.read(paths, |document| {
            let hash = document.hash();
            let row = stored.get(&document.key);
            let is_file = document.record.is_none();
            if let Some(row) = row.filter(|row| is_file && row.hash != hash) {
                self.rewritten.insert(row.key.clone());
            }
            if let Some(&number) = self.numbers.get(&hash)
                && matches!(self.found[number], TextLookup::Missing)
            {
                self.found[number] = shown(document.text());
                self.missing -= 1;
            }
            match self.missing {
                0 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        })
    }

    /// Leaves out texts that do not fit into `most` bytes. Earlier texts take precedence.
    pub(super) fn fit(&mut self, most: usize) {
        let mut bytes = 0;
        for found in &mut self.found {
            let TextLookup::Read { json, .. } = found else {
                continue;
            };
            if bytes + json.len() < most {
                bytes += json.len() + 1;
            } else {
                *found = TextLookup::LeftOut;
            }
        }
        // The texts shown are numbered from 0 on.
        let mut shown = 0;
        let places = self.found.iter().map(|found| {
            let place = shown;
            shown += usize::from(matches!(found, TextLookup::Read { .. }));
            place
        });
        self.places = places.collect();
    }

    /// Returns what the page shows of a row's text.
    pub(super) fn text(&self, row: &PageRow) -> PageText {
        match self.numbers.get(&row.hash) {
            None => PageText::LeftOut,
            Some(&number) => match self.found[number] {
                TextLookup::Missing => PageText::Missing,
                TextLookup::LeftOut => PageText::LeftOut,
                TextLookup::Read { .. } => PageText::Number(self.places[number]),
            },
        }
    }

    /// Returns the texts shown, as elements of the data, and whether each is truncated.
    pub(super) fn shown(&self) -> impl Iterator<Item = (&str, bool)> {
        self.found.iter().filter_map(|found| match found {
            TextLookup::Read { json, is_cut } => Some((&**json, *is_cut)),
            TextLookup::Missing | TextLookup::LeftOut => None,
        })
    }

    /// Returns the number of texts of listed documents that do not fit.
    pub(super) fn left_out(&self, groups: &[PageCluster]) -> usize {
        let rows = groups.iter().flat_map(|group| &group.rows);
        let left_out = rows.filter(|row| self.text(row) == PageText::LeftOut);
        left_out.map(|row| row.hash).collect::<HashSet<_>>().len()
    }

    /// Returns the number of texts that could not be found.
    pub(super) fn missing(&self) -> usize {
        self.missing
    }

    /// How many of these have only keys of listed documents that name no file.
    pub(super) fn without_file(&self, groups: &[PageCluster]) -> usize {
        let (mut without, mut with) = (HashSet::new(), HashSet::new());
        let rows = groups.iter().flat_map(|group| &group.rows);
        for row in rows.filter(|row| self.is_missing(row)) {
            let is_of_file = row.standing.state != FileStatus::NotChecked || row.file.is_some();
            let texts = if is_of_file { &mut with } else { &mut without };
            texts.insert(row.hash);
        }
        without.difference(&with).count()
    }
}

/// Returns a text as an element of the data.
fn shown(text: &str) -> TextLookup {
    let mut ends = (0..=MOST_BYTES.min(text.len())).rev();
    let end = ends.find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    let is_cut = end < text.len();
    TextLookup::Read {
        json: inert(&serde_json::json!([text[..end], u8::from(is_cut)])),
        is_cut,
    }
}
