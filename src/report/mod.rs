//! Clusters as a page that a person looks through, to decide what is kept and what goes.
//!
//! The page is one file of HTML, which any browser opens without a network: parameters and predicted recall,
//! counts, sizes, similarities, and the clusters, the largest first, with the texts of their documents, as far as
//! these are at hand and there is room. It exports a list of what is to go.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use dedupdb::report::Report;
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
//! let page = Report::new().title("The boats").make(&store, || ControlFlow::Continue(()))?;
//! assert_eq!(page.summary().clusters, 1);
//! page.write(&path, false)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Texts of strangers
//!
//! Keys and texts are data in the page, in one element that no browser runs. The page's one script puts them there as
//! text; the page names that script and its style by their hashes (Content-Security-Policy), so nothing else runs.
//!
//! # Files that are gone, changed, or named twice
//!
//! A store knows its files as they were added. The page looks for each file of a cluster once more: one that is gone, that
//! has another size or time, or that is another name of an earlier file of the cluster is marked, is not counted among what
//! could go, and is no reason for another one to go. What came from no file of its own is not checked, and counts as there.
//!
//! # Where texts come from
//!
//! A store keeps no texts. Those that keys name as files, or as records of files, are read there; others in the
//! [sources](Report::texts_from) that are given. A text is taken if its hash is the stored one, from wherever it
//! comes.

// From the lowest to the highest: what became of files (`standing`), what readers do (`commands`), what is counted (`summary`), what is listed (`row`,
// `chosen`) and drawn (`figures`), its texts (`texts`), the data of the page (`data`), and the page (`chart`, `html`,
// `page`), which `settings` makes.

mod chart;
mod chosen;
mod commands;
mod data;
mod figures;
mod html;
mod page;
mod row;
mod settings;
mod standing;
mod summary;
mod texts;

pub use commands::Commands;
pub use page::Page;
pub use settings::Report;
pub use summary::Summary;
