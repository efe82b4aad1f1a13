//! Clusters as a page on which a person decides what to keep and what to drop, and what one text shares with others as a
//! page to read and to print.
//!
//! A page is a single HTML file, which any browser opens without a network. That of clusters shows parameters and
//! predicted recall, counts, sizes, similarities, and the clusters, the largest first, with the texts of their documents
//! as far as they are available and fit. It exports a list of the documents to drop. [`Report::sources`] makes the other
//! one.
//!
//! ```
//! use dedupdb_corpus::report::Report;
//! use dedupdb::{Schema, Store};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("report.html");
//! let store = Store::open_or_create(folder.path().join("store"), &Schema::default())?;
//! let mut writer = store.writer()?;
//! writer.add("a", "nobody had seen the keeper since the boats were pulled up")?;
//! writer.add("b", "nobody had seen the keeper since the boats were pulled up")?;
//! writer.commit()?;
//!
//! let page = Report::new().title("The boats").make(&store)?;
//! assert_eq!(page.summary().clusters, 1);
//! page.write(&path, false)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Untrusted texts
//!
//! Keys and texts are data in the page of clusters, in one element that no browser runs. The page's only script inserts
//! them as text. The page names that script and its style by their hashes (Content-Security-Policy), so nothing else
//! runs. The page of one text has them escaped, and no script.
//!
//! # Files that are gone, changed, or named twice
//!
//! A store records its files as they were added. The page checks each file of a cluster again. A file is marked if it
//! is gone, has another size or modification time, or is another name of an earlier file of the cluster. A marked file
//! does not count among what could go, and is no reason for another one to go. Documents that did not come from their
//! own files are not checked, and count as existing.
//!
//! # Where texts come from
//!
//! A store keeps no texts. If a key names a file or a record of a file, its text is read there. Other texts are read
//! from the given [sources](Report::texts_from). A text is used if its hash is the stored one, wherever it comes from.

// From the lowest to the highest: the state of files (`file_status`), what two texts have in
// common (`runs`), the reader's next steps (`commands`), the counts (`summary`, `sources_summary`). Of clusters: the list
// (`passage_links`, `row`, `proposal`, `chosen`), the charts (`figures`), the texts (`texts`) and what they share (`shared`), the data of the page (`data`) and its HTML
// (`chart`, `html`). Of one text: its passages (`sources`) and the HTML (`sources_html`). Around both: `frame` and `page`.
// `settings` makes them.

mod chart;
mod chosen;
mod commands;
mod data;
mod figures;
mod file_status;
mod frame;
mod html;
mod page;
mod passage_links;
mod proposal;
mod row;
mod runs;
mod settings;
mod shared;
mod sources;
mod sources_html;
mod sources_summary;
mod summary;
mod texts;

pub use commands::Commands;
pub use page::Page;
pub use settings::Report;
pub use sources_summary::SourcesSummary;
pub use summary::Summary;
