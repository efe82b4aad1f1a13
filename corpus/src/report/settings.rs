//! The settings of a report, and how it is made.

use std::path::PathBuf;

use super::chosen::ChosenClusters;
use super::commands::Commands;
use super::data::data;
use super::figures::ClusterFigures;
use super::file_status::ReclaimableBytes;
use super::html::{self, PageContents};
use super::page::Page;
use super::passage_links::{LinkedDocuments, LinkingPassages};
use super::proposal::{ProposalOrder, ProposedCluster, met, met_linked, proposed};
use super::row::{DocumentLink, PageCluster};
use super::runs::Tokens;
use super::shared::SharedPassages;
use super::sources::TextSources;
use super::sources_html::{self, SourcesContents};
use super::sources_summary::SourcesSummary;
use super::summary::Summary;
use super::texts::PageTexts;
use crate::reread::TextFiles;
use crate::{Error, Options, SourcedText};
use dedupdb::groups::{ClusterQuery, Linkage, PairQuery};
use dedupdb::overlap::Passages;
use dedupdb::sketching::{ShingleSet, Shingling};
use dedupdb::{Result as StoreResult, Schema, Store};

/// The shortest text that is compared by containment, in tokens.
const SHORTEST: usize = 20;

/// The default maximum size of a page in bytes.
const BYTES: u64 = 20_000_000;

/// The number of bytes for everything except clusters and texts.
const FRAME: usize = 90_000;

/// The number of documents of clusters whose files are read together.
const BATCH: usize = 4096;

/// The number of largest buckets to show.
const BUCKETS: usize = 10;

/// The settings of a page. By default, it shows all clusters at the store's threshold, with their texts, in at most 20
/// MB.
#[derive(Clone, Debug)]
#[must_use = "nothing is made before it is asked for"]
pub struct Report {
    title: String,
    threshold: Option<f64>,
    linkage: Linkage,
    containment: Option<f64>,
    shortest: usize,
    passages: Option<LinkingPassages>,
    ignored: Option<ShingleSet>,
    min_size: usize,
    bytes: u64,
    has_texts: bool,
    options: Options,
    sources: Vec<PathBuf>,
    has_added: bool,
    commands: Commands,
    unread: Vec<String>,
}

impl Default for Report {
    fn default() -> Report {
        Report {
            title: String::new(),
            threshold: None,
            linkage: Linkage::default(),
            containment: None,
            shortest: SHORTEST,
            passages: None,
            ignored: None,
            min_size: 2,
            bytes: BYTES,
            has_texts: true,
            options: Options::new(),
            sources: Vec::new(),
            has_added: true,
            commands: Commands::default(),
            unread: Vec::new(),
        }
    }
}

impl Report {
    /// The smallest limit for the size of a page, in bytes.
    pub const LEAST_BYTES: u64 = 200_000;

    /// Returns the settings for a report of all clusters.
    pub fn new() -> Report {
        Report::default()
    }

    /// Sets the heading, such as the name of a folder.
    pub fn title(self, title: impl Into<String>) -> Report {
        Report {
            title: title.into(),
            ..self
        }
    }

    /// Sets the minimum Jaccard similarity of linked documents, above 0 and at most 1, instead of the store's
    /// threshold.
    pub fn threshold(self, threshold: f64) -> Report {
        Report {
            threshold: Some(threshold),
            ..self
        }
    }

    /// Sets the condition that links documents into clusters.
    pub fn linkage(self, linkage: Linkage) -> Report {
        Report { linkage, ..self }
    }

    /// Puts each text below the largest text that has at least this share of its shingles, above 0 and at most 1, instead of
    /// comparing by similarity: see [`ClusterQuery::containment`].
    pub fn containment(self, least: f64) -> Report {
        Report {
            containment: Some(least),
            ..self
        }
    }

    /// Leaves texts of fewer tokens out of a search by containment, 20 by default.
    pub fn shortest(self, tokens: usize) -> Report {
        Report {
            shortest: tokens,
            ..self
        }
    }

    /// Also links documents that share a passage, whatever else they have: of at least `at_least` tokens, or of the
    /// [store's length](Schema::passage). What five documents or more have links none. With `all`, all documents are compared,
    /// however many share a part of a text. The texts are read again. This goes with neither
    /// [containment](Report::containment) nor [representatives](Linkage::Representative).
    pub fn passages(self, at_least: Option<u32>, all: bool) -> Report {
        Report {
            passages: Some(LinkingPassages { at_least, all }),
            ..self
        }
    }

    /// Compares texts without these shingles, such as those of a template: they link no documents, are in no passage and in
    /// no share. This is for [passages](Report::passages) and [`Report::sources`]; ask for what was found without the same
    /// ones.
    pub fn ignore(self, shingles: ShingleSet) -> Report {
        Report {
            ignored: Some(shingles),
            ..self
        }
    }

    /// Shows only clusters of at least this number of documents, 2 by default. Less than 2 counts as 2.
    pub fn min_size(self, documents: usize) -> Report {
        Report {
            min_size: documents.max(2),
            ..self
        }
    }

    /// Sets the maximum size of the page in bytes, 20 MB by default. A smaller value than [`Report::LEAST_BYTES`]
    /// counts as that minimum. At most half of it is for lists of documents; the rest is for texts.
    pub fn bytes(self, bytes: u64) -> Report {
        Report {
            bytes: bytes.max(Report::LEAST_BYTES),
            ..self
        }
    }

    /// Sets whether texts are shown and compared. This is the default.
    pub fn texts(self, has_texts: bool) -> Report {
        Report { has_texts, ..self }
    }

    /// Sets how files with texts are read. Use the options with which they were added.
    pub fn reading(self, options: Options) -> Report {
        Report { options, ..self }
    }

    /// Names files and folders that have the texts of documents whose keys do not name a file, such as ids of records.
    pub fn texts_from(self, paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Report {
        Report {
            sources: paths.into_iter().map(Into::into).collect(),
            ..self
        }
    }

    /// Sets whether the store was created only for this report. In that case, the times at which documents were added
    /// mean nothing and are not shown.
    pub fn temporary(self, is_temporary: bool) -> Report {
        Report {
            has_added: !is_temporary,
            ..self
        }
    }

    /// Sets lines about what is not on the page, such as what could not be read for the store of this report.
    pub fn unread(self, lines: impl IntoIterator<Item = impl Into<String>>) -> Report {
        Report {
            unread: lines.into_iter().map(Into::into).collect(),
            ..self
        }
    }

    /// Sets the commands that the page names.
    pub fn commands(self, commands: Commands) -> Report {
        Report { commands, ..self }
    }

    /// Makes the page. The same store and files give the same bytes. The [progress](Store::watched) of the handle may
    /// stop the work.
    ///
    /// Takes the memory of [`Store::clusters`], and three times the size of the page.
    ///
    /// # Errors
    /// Those of the store; an error of the system if no thread can be started; [`Error::Store`] with
    /// [`dedupdb::Error::Stopped`] if the work is stopped.
    pub fn make(&self, store: &Store) -> Result<Page, Error> {
        let schema = store.schema();
        let room = usize::try_from(self.bytes).unwrap_or(usize::MAX) - FRAME;
        let lists = if self.has_texts { room / 2 } else { room };
        let cut_short = store.searches_cut_short();
        let (mut summary, figures, mut groups) = self.find(store, lists)?;
        let buckets = store.largest_buckets(BUCKETS)?;
        let room = room
            - groups
                .iter()
                .map(|group| group.bytes + 1)
                .sum::<usize>()
                .min(room);
        let texts = self.find_texts(store, &groups, room)?;
        if let Some(texts) = &texts {
            for group in &mut groups {
                summary.rewritten(group, texts.rewritten());
            }
            summary.texts = texts.shown().count() as u64;
            summary.texts_cut = texts.shown().filter(|(_, is_cut)| *is_cut).count() as u64;
            summary.texts_missing = texts.missing() as u64;
            summary.texts_without_file = texts.without_file(&groups) as u64;
            summary.texts_left_out = texts.left_out(&groups) as u64;
        }
        summary.searches_cut_short = store.searches_cut_short().saturating_sub(cut_short);
        let at_least = self
            .passages
            .as_ref()
            .and_then(|passages| passages.at_least);
        let mut shared = SharedPassages::new(&schema, unit(&schema), at_least);
        if let Some(texts) = &texts {
            let room = room.saturating_sub(texts.shown().map(|(json, _)| json.len() + 1).sum());
            let cut = (&schema.shingler()?, self.ignored.as_ref());
            shared.compare(&groups, texts, cut, room)?;
        }
        let kind = (!schema.keeps_shingles(), self.ignored.is_some());
        let data = data(&groups, texts.as_ref(), &shared, kind);
        let shown = PageContents {
            title: &self.title,
            schema: &schema,
            link: self.link(store),
            linkage: self.linkage,
            is_ignoring: self.ignored.is_some(),
            summary: &summary,
            figures: &figures,
            buckets: &buckets,
            has_texts: self.has_texts,
            commands: &self.commands,
            unread: &self.unread,
        };
        let html = html::page(&shown, &data);
        Ok(Page { html, summary })
    }

    /// Makes a page of one text: the passages of at least `at_least` tokens that were `found` in stored documents, and these
    /// documents, each with what stands around a passage if its text can be read again. The same store and files give the
    /// same bytes. The [progress](Store::watched) of the handle may stop the work.
    ///
    /// ```
    /// use dedupdb_corpus::Options;
    /// use dedupdb_corpus::report::Report;
    /// use dedupdb::overlap::PassageQuery;
    /// use dedupdb::{Result as StoreResult, Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let essay = folder.path().join("essay.txt");
    /// let schema = Schema::builder().passage(8).build()?;
    /// let store = Store::create(folder.path().join("store"), &schema)?;
    /// store.insert_unless_duplicate("log", "It was the first of many long and cold nights in the old lighthouse.")?;
    /// std::fs::write(&essay, "As the log says, the first of many long and cold nights.")?;
    ///
    /// let essay = Options::new().document(&essay)?;
    /// let found = store.passages(&PassageQuery::text(essay.text()))?;
    /// let page = Report::new().sources(&store, &essay, &found, 8)?;
    /// assert_eq!((page.summary().covered, page.summary().tokens), (8, 12));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Report::make`].
    pub fn sources(
        &self,
        store: &Store,
        text: &SourcedText,
        found: &Passages,
        at_least: u32,
    ) -> Result<Page<SourcesSummary>, Error> {
        let schema = store.schema();
        let ignored = self.ignored.as_ref();
        let text = Tokens::of(&schema.shingler()?, text.text(), ignored)?;
        let mut sources = TextSources::of(store, &text, found)?;
        if self.has_texts {
            sources.read((store, &text, at_least), ignored, self.files(store))?;
        }
        let mut summary = sources.summary(&text, found);
        summary.unit = unit(&schema);
        let shown = SourcesContents {
            title: &self.title,
            text: &text,
            sources: &sources,
            at_least,
            unit: summary.unit,
            commands: &self.commands,
            unread: &self.unread,
        };
        let room = usize::try_from(self.bytes).unwrap_or(usize::MAX) - FRAME;
        let html = sources_html::page(&shown, room, &mut summary);
        Ok(Page { html, summary })
    }

    /// Returns where texts are read again.
    pub(super) fn files<'a>(&'a self, store: &'a Store) -> TextFiles<'a> {
        TextFiles {
            options: &self.options,
            sources: &self.sources,
            progress: store.progress(),
        }
    }

    /// Looks at the documents of clusters, together with those that share passages with them, if these count.
    fn met<'a>(
        &self,
        query: ClusterQuery,
        store: &'a Store,
        summary: &mut Summary,
    ) -> Result<Box<dyn Iterator<Item = StoreResult<ProposedCluster>> + 'a>, Error> {
        let Some(passages) = &self.passages else {
            let clusters = store.clusters(query)?;
            summary.short = clusters.short();
            return Ok(Box::new(clusters.map(|cluster| met(cluster?, store))));
        };
        let ignored = self.ignored.as_ref();
        let mut linked = LinkedDocuments::of(store, ignored)?;
        if let Some(ignored) = ignored {
            let mut query = PairQuery::new().fold_copies(true).ignore(ignored);
            if let Some(threshold) = self.threshold {
                query = query.threshold(threshold);
            }
            linked.by_pairs(store.pairs(query)?)?;
        } else {
            linked.by_clusters(store.clusters(query)?)?;
        }
        linked.by_passages((store, ignored), passages, self.files(store))?;
        summary.not_compared = linked.unread();
        let groups = linked.groups(self.min_size).into_iter();
        Ok(Box::new(groups.map(|linked| met_linked(linked, store))))
    }

    /// Returns what links the documents of a cluster.
    fn link(&self, store: &Store) -> DocumentLink {
        let threshold = self.threshold.unwrap_or(store.schema().threshold());
        match (self.containment, &self.passages) {
            (Some(least), _) => DocumentLink::Containment(least),
            (None, Some(_)) => DocumentLink::Passages(threshold),
            (None, None) => DocumentLink::Similarity(threshold),
        }
    }

    /// Counts all clusters, and lists the largest ones that fit into `most` bytes.
    fn find(
        &self,
        store: &Store,
        most: usize,
    ) -> Result<(Summary, ClusterFigures, Vec<PageCluster>), Error> {
        let mut query = ClusterQuery::new()
            .linkage(self.linkage)
            .shortest(self.shortest)
            .min_size(if self.passages.is_some() {
                2
            } else {
                self.min_size
            });
        if let Some(least) = self.containment {
            query = query.containment(least);
        }
        if let Some(threshold) = self.threshold {
            query = query.threshold(threshold);
        }
        let stats = store.stats()?;
        let mut summary = Summary {
            documents: stats.documents,
            contents: stats.contents,
            ..Summary::default()
        };
        let link = self.link(store);
        let mut figures = ClusterFigures::default();
        let mut chosen = ChosenClusters::new(most);
        let mut clusters = self.met(query, store, &mut summary)?;
        let batches = std::iter::from_fn(|| next_batch(&mut clusters).transpose());
        for batch in batches {
            store.progress().go_on()?;
            let by = ProposalOrder {
                by_containment: self.containment.is_some(),
                ignored: self.ignored.as_ref(),
            };
            for cluster in proposed(batch?, by, store, &self.options)? {
                let mut going = ReclaimableBytes::default();
                let shown = (link, self.has_added);
                let group = PageCluster::of(cluster, shown, most / 2, |row, is_first| {
                    summary.count(row.size, row.standing.state);
                    going.count(row.standing.state, row.size, row.likeness);
                    if !is_first {
                        figures.member(row);
                    }
                });
                summary.could_go += going.all;
                summary.identical_could_go += going.identical;
                summary.clusters += 1;
                summary.identical += group.identical;
                figures.cluster(group.documents);
                chosen.offer(group);
            }
        }
        let groups = chosen.finish();
        let listed = groups.iter().map(|group| group.rows.len() as u64);
        summary.documents_left_out = summary.clustered - listed.sum::<u64>();
        summary.documents_beyond = groups.iter().map(PageCluster::beyond).sum();
        summary.clusters_left_out = summary.clusters - groups.len() as u64;
        Ok((summary, figures, groups))
    }

    /// Returns the available texts of the clusters that fit into `most` bytes, if texts are wanted.
    fn find_texts(
        &self,
        store: &Store,
        groups: &[PageCluster],
        most: usize,
    ) -> Result<Option<PageTexts>, Error> {
        if !self.has_texts {
            return Ok(None);
        }
        let mut texts = PageTexts::of(groups, most);
        texts.read(groups, self.files(store))?;
        texts.fit(most);
        Ok(Some(texts))
    }
}

/// What a token of a store is called, and several.
fn unit(schema: &Schema) -> [&'static str; 2] {
    match schema.shingling() {
        Shingling::Word(_) => ["word", "words"],
        Shingling::Char(_) | Shingling::CharNoSpace(_) => ["character", "characters"],
        Shingling::Byte(_) => ["byte", "bytes"],
        _ => ["token", "tokens"],
    }
}

/// Returns the next clusters, until they have [`BATCH`] documents. `None` at the end.
fn next_batch(
    clusters: &mut impl Iterator<Item = StoreResult<ProposedCluster>>,
) -> StoreResult<Option<Vec<ProposedCluster>>> {
    let (mut batch, mut documents) = (Vec::new(), 0);
    for cluster in clusters {
        let cluster = cluster?;
        documents += cluster.documents.len();
        batch.push(cluster);
        if documents >= BATCH {
            break;
        }
    }
    Ok((!batch.is_empty()).then_some(batch))
}
