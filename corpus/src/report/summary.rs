//! The counts of a report.

use std::collections::HashSet;

use super::commands::{Commands, advised, with};
use super::file_status::FileStatus;
use super::row::{MOST_ROWS, PageCluster};
use crate::number::{counted, grouped};

/// Counts of what was found, and of what does not fit on the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The number of documents in the store.
    pub documents: u64,
    /// The number of distinct texts in the store.
    pub contents: u64,
    /// The number of clusters.
    pub clusters: u64,
    /// The number of documents in clusters.
    pub clustered: u64,
    /// The number of these documents with the text of an earlier document of their cluster.
    pub identical: u64,
    /// The bytes of all documents in clusters.
    pub bytes: u64,
    /// The bytes that could be freed if each cluster keeps one document whose file exists unchanged, if possible its
    /// representative, and loses all documents known to reach the threshold with it. Files that are gone, changed, or
    /// other names of a counted file do not count.
    pub could_go: u64,
    /// The bytes that could be freed if only copies are dropped, and one document of each text stays.
    pub identical_could_go: u64,
    /// Documents in clusters whose files are gone.
    pub gone: u64,
    /// Documents in clusters whose files have changed in size or modification time since they were added.
    pub changed: u64,
    /// Documents in clusters whose files were read for the page and have another text than the one that was added,
    /// although their size and modification time are the same.
    pub other_texts: u64,
    /// Documents in clusters whose files cannot be checked because the system refuses access.
    pub out_of_reach: u64,
    /// Documents in clusters that are other names of an earlier document's file, and so are not copies.
    pub other_names: u64,
    /// Clusters that are not listed.
    pub clusters_left_out: u64,
    /// Documents in clusters that are not listed, including those of clusters that are left out.
    pub documents_left_out: u64,
    /// How many of these are beyond the first 2,000 of a listed cluster. No page lists more of a cluster.
    pub documents_beyond: u64,
    /// Texts on the page.
    pub texts: u64,
    /// Texts of which the page has only the beginning.
    pub texts_cut: u64,
    /// Texts that would be on the page but could not be found.
    pub texts_missing: u64,
    /// How many of these have only keys that name no file, such as ids of records.
    pub texts_without_file: u64,
    /// Texts of listed documents that do not fit on the page.
    pub texts_left_out: u64,
    /// Documents whose passages were not looked for, because their texts are not at hand.
    pub not_compared: u64,
    /// Texts that are too short for a search by containment.
    pub short: u64,
    /// Searches that skipped candidates; see [`Options::false_candidates`](dedupdb::Options::false_candidates).
    pub searches_cut_short: u64,
}

impl Summary {
    /// Marks the documents of a cluster, by their keys, whose files have other texts than the stored ones, as if their
    /// size or time had changed.
    pub(super) fn rewritten(&mut self, cluster: &mut PageCluster, keys: &HashSet<String>) {
        let before = cluster.going();
        for row in &mut cluster.rows {
            if row.standing.state == FileStatus::AtHand && keys.contains(&row.key) {
                row.standing.state = FileStatus::Changed;
                self.other_texts += 1;
            }
        }
        let after = cluster.going();
        let corrected = |all: u64, before: u64, after: u64| all.saturating_sub(before) + after;
        self.could_go = corrected(self.could_go, before.all, after.all);
        self.identical_could_go =
            corrected(self.identical_could_go, before.identical, after.identical);
    }

    /// Counts a document of a cluster.
    pub(super) fn count(&mut self, size: u64, state: FileStatus) {
        self.clustered += 1;
        self.bytes += size;
        match state {
            FileStatus::NotChecked | FileStatus::AtHand => {}
            FileStatus::Gone => self.gone += 1,
            FileStatus::Changed => self.changed += 1,
            FileStatus::OutOfReach => self.out_of_reach += 1,
            FileStatus::OtherName => self.other_names += 1,
        }
    }

    /// Returns readable lines about what has changed since it was added, with the commands that update it.
    pub fn no_longer(&self, commands: &Commands) -> Vec<String> {
        let gone = "not found from this folder";
        let gone = advised(gone, &commands.forget_gone, |remove| {
            format!("; run this where you ran `add`, and `{remove}` there to remove what is gone")
        });
        let changed = "changed after being added";
        let changed = with(
            changed,
            &commands.add_changed,
            "reads again what has changed",
        );
        let other = "another text than was added, with the same size and time";
        let other = with(other, &commands.add_all, "reads all again");
        let counts = [
            (self.gone, ["file is", "files are"], &*gone),
            (self.changed, ["file has", "files have"], &changed),
            (self.other_texts, ["file has", "files have"], &other),
            (self.out_of_reach, ["file", "files"], "cannot be looked at"),
            (
                self.other_names,
                [
                    "document is another name of a listed file, not a copy",
                    "documents are other names of listed files, not copies",
                ],
                "",
            ),
        ];
        lines(&counts)
    }

    /// Returns readable lines about what is not on the page, with the command that would show it.
    pub fn left_out(&self, has_texts: bool, commands: &Commands) -> Vec<String> {
        let missing = "not shown: the files have changed, are elsewhere, or are read with the options of `add`, such as \
                       a program for PDF";
        let missing = with(missing, &commands.show_texts, "looks there");
        let passages = "not asked for shared passages: the text is not at hand";
        let passages = with(passages, &commands.show_texts, "looks there");
        let without_file = "not shown: none of the keys names a file";
        let without_file = advised(without_file, &commands.show_texts, |option| {
            format!("; give `{option}`")
        });
        let no_room = "there is no room for more";
        let no_room = advised(no_room, &commands.more_bytes, |option| {
            format!("; raise {option}")
        });
        let [smallest, others, left_out] = ["not listed, the smallest", "not listed", "left out"]
            .map(|what| format!("{what}: {no_room}"));
        let most = grouped(MOST_ROWS as u64);
        let beyond = format!("not listed: a page lists the first {most} of a cluster");
        let no_room = self
            .documents_left_out
            .saturating_sub(self.documents_beyond);
        let with_file = self.texts_missing.saturating_sub(self.texts_without_file);
        let counts = [
            (
                self.clusters_left_out,
                ["cluster is", "clusters are"],
                &*smallest,
            ),
            (
                no_room,
                ["document of a cluster is", "documents of clusters are"],
                &others,
            ),
            (
                self.documents_beyond,
                ["document of a cluster is", "documents of clusters are"],
                &beyond,
            ),
            (self.texts_left_out, ["text is", "texts are"], &left_out),
            (
                self.texts_without_file,
                ["text is", "texts are"],
                &without_file,
            ),
            (with_file, ["text is", "texts are"], &missing),
            (
                self.not_compared,
                ["document was", "documents were"],
                &passages,
            ),
            (
                self.short,
                ["text was", "texts were"],
                "too short for a search by containment",
            ),
            (
                self.texts_cut,
                ["text is", "texts are"],
                "cut: the beginning is shown",
            ),
        ];
        let none = (!has_texts).then(|| "texts are left out, as was asked for".to_owned());
        lines(&counts).into_iter().chain(none).collect()
    }
}

/// Returns a line for each count that is not 0.
fn lines(counts: &[(u64, [&str; 2], &str)]) -> Vec<String> {
    let counts = counts.iter().filter(|(count, ..)| *count > 0);
    counts
        .map(|(count, [one, many], what)| {
            let line = format!("{} {what}", counted(*count, one, many));
            line.trim_end().to_owned()
        })
        .collect()
}
