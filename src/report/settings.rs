//! What a report is to be about, and how it is made.

use std::ops::ControlFlow;
use std::path::PathBuf;

use super::chosen::Chosen;
use super::commands::Commands;
use super::data::data;
use super::figures::Figures;
use super::html::{self, Shown};
use super::page::Page;
use super::row::Group;
use super::standing::Going;
use super::summary::Summary;
use super::texts::Texts;
use crate::Store;
use crate::corpus::{Error, Options};
use crate::groups::{ClusterQuery, Linkage};

/// Bytes that a page may take, unless it is told otherwise.
const BYTES: u64 = 20_000_000;

/// Bytes for all but clusters and texts.
const FRAME: usize = 90_000;

/// Largest buckets that are told.
const BUCKETS: usize = 10;

/// What a page is to show. The default is all clusters at the store's threshold, with their texts, in 20 MB.
#[derive(Clone, Debug)]
#[must_use = "nothing is made before it is asked for"]
pub struct Report {
    title: String,
    threshold: Option<f64>,
    linkage: Linkage,
    min_size: usize,
    bytes: u64,
    has_texts: bool,
    options: Options,
    sources: Vec<PathBuf>,
    has_added: bool,
    commands: Commands,
}

impl Default for Report {
    fn default() -> Report {
        Report {
            title: String::new(),
            threshold: None,
            linkage: Linkage::default(),
            min_size: 2,
            bytes: BYTES,
            has_texts: true,
            options: Options::new(),
            sources: Vec::new(),
            has_added: true,
            commands: Commands::default(),
        }
    }
}

impl Report {
    /// The least number of bytes that a page can be kept to.
    pub const LEAST_BYTES: u64 = 200_000;

    /// A report on all clusters.
    pub fn new() -> Report {
        Report::default()
    }

    /// What the report is on, as its heading says it: a folder, say.
    pub fn title(self, title: impl Into<String>) -> Report {
        Report {
            title: title.into(),
            ..self
        }
    }

    /// The least similarity of documents that are linked, above 0 and at most 1, instead of the store's.
    pub fn threshold(self, threshold: f64) -> Report {
        Report {
            threshold: Some(threshold),
            ..self
        }
    }

    /// What makes a cluster.
    pub fn linkage(self, linkage: Linkage) -> Report {
        Report { linkage, ..self }
    }

    /// Only clusters of at least this number of documents; less than 2 counts as 2, for a single document is no
    /// cluster to look at.
    pub fn min_size(self, documents: usize) -> Report {
        Report {
            min_size: documents.max(2),
            ..self
        }
    }

    /// Bytes that the page may take, 20 MB by default; less than [`Report::LEAST_BYTES`] is taken as that. Half of
    /// them at most are for lists of documents, the rest is for texts.
    pub fn bytes(self, bytes: u64) -> Report {
        Report {
            bytes: bytes.max(Report::LEAST_BYTES),
            ..self
        }
    }

    /// Whether texts are shown and compared; they are by default.
    pub fn texts(self, has_texts: bool) -> Report {
        Report { has_texts, ..self }
    }

    /// How the files with the texts are read: as they were when they were added.
    pub fn reading(self, options: Options) -> Report {
        Report { options, ..self }
    }

    /// Files and folders that are searched for texts whose keys do not name their files, as ids of records do not.
    pub fn texts_from(self, paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Report {
        Report {
            sources: paths.into_iter().map(Into::into).collect(),
            ..self
        }
    }

    /// Whether the store was made for this report: then the times at which documents were added to it say nothing,
    /// and are not shown.
    pub fn temporary(self, is_temporary: bool) -> Report {
        Report {
            has_added: !is_temporary,
            ..self
        }
    }

    /// The commands that the page names.
    pub fn commands(self, commands: Commands) -> Report {
        Report { commands, ..self }
    }

    /// Makes the page. The same store and files give the same bytes. `go_on` is called now and then, and may
    /// break.
    ///
    /// Memory is that of [`Store::clusters`] and three times the bytes of the page.
    ///
    /// # Errors
    ///
    /// Those of the store, or the system allows no thread; [`Error::Store`] with [`crate::Error::Stopped`] if
    /// `go_on` breaks.
    pub fn make(
        &self,
        store: &Store,
        mut go_on: impl FnMut() -> ControlFlow<()>,
    ) -> Result<Page, Error> {
        let schema = store.schema();
        let room = usize::try_from(self.bytes).unwrap_or(usize::MAX) - FRAME;
        let lists = if self.has_texts { room / 2 } else { room };
        let cut_short = store.searches_cut_short();
        let (mut summary, figures, mut groups) = self.find(store, lists, &mut go_on)?;
        let buckets = store.largest_buckets(BUCKETS)?;
        let room = room
            - groups
                .iter()
                .map(|group| group.bytes + 1)
                .sum::<usize>()
                .min(room);
        let texts = self.find_texts(&groups, room, &mut go_on)?;
        if let Some(texts) = &texts {
            for group in &mut groups {
                group.rewritten(texts.rewritten(), &mut summary);
            }
            summary.texts = texts.shown().count() as u64;
            summary.texts_cut = texts.shown().filter(|(_, is_cut)| *is_cut).count() as u64;
            summary.texts_missing = texts.missing() as u64;
            summary.texts_left_out = texts.left_out(&groups) as u64;
        }
        summary.searches_cut_short = store.searches_cut_short().saturating_sub(cut_short);
        let data = data(&groups, texts.as_ref(), !schema.keeps_shingles());
        let shown = Shown {
            title: &self.title,
            schema: &schema,
            threshold: self.threshold.unwrap_or(schema.threshold()),
            linkage: self.linkage,
            summary: &summary,
            figures: &figures,
            buckets: &buckets,
            has_texts: self.has_texts,
            commands: &self.commands,
        };
        let html = html::page(&shown, &data);
        Ok(Page { html, summary })
    }

    /// Counts all clusters, and lists the largest that have room in `most` bytes.
    fn find(
        &self,
        store: &Store,
        most: usize,
        go_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<(Summary, Figures, Vec<Group>), Error> {
        let mut query = ClusterQuery::new()
            .linkage(self.linkage)
            .min_size(self.min_size);
        if let Some(threshold) = self.threshold {
            query = query.threshold(threshold);
        }
        let stats = store.stats()?;
        let mut summary = Summary {
            documents: stats.documents,
            contents: stats.contents,
            ..Summary::default()
        };
        let mut figures = Figures::default();
        let mut chosen = Chosen::new(most);
        for cluster in store.clusters(query)? {
            if go_on().is_break() {
                return Err(crate::Error::Stopped.into());
            }
            let cluster = cluster?;
            let mut going = Going::default();
            let group = Group::of(
                &cluster,
                store,
                self.has_added,
                most / 2,
                |row, is_first| {
                    summary.count(row.size, row.standing.state);
                    let is_identical = is_first || row.is_identical;
                    going.count(row.standing.state, row.size, is_identical);
                    if !is_first {
                        figures.member(row);
                    }
                },
            )?;
            summary.could_go += going.all;
            summary.identical_could_go += going.identical;
            summary.clusters += 1;
            summary.identical += group.identical;
            figures.cluster(&cluster);
            chosen.offer(group);
        }
        let groups = chosen.finish();
        let listed = groups.iter().map(|group| group.rows.len() as u64);
        summary.documents_left_out = summary.clustered - listed.sum::<u64>();
        summary.clusters_left_out = summary.clusters - groups.len() as u64;
        Ok((summary, figures, groups))
    }

    /// The texts of the clusters that are at hand and have room in `most` bytes, if they are wanted.
    fn find_texts(
        &self,
        groups: &[Group],
        most: usize,
        go_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<Option<Texts>, Error> {
        if !self.has_texts {
            return Ok(None);
        }
        let mut texts = Texts::of(groups, most);
        texts.read(groups, &self.options, &self.sources, go_on)?;
        texts.fit(most);
        Ok(Some(texts))
    }
}
