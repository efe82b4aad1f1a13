//! What a report counts.

use super::commands::{Commands, with};
use super::standing::State;
use crate::number::counted;

/// Counts of what was found, and of what is not on the page because it has no room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Documents of the store.
    pub documents: u64,
    /// Distinct texts of the store.
    pub contents: u64,
    /// Clusters.
    pub clusters: u64,
    /// Documents that are in clusters.
    pub clustered: u64,
    /// Of these, documents with the text of their representative, which is not counted itself.
    pub identical: u64,
    /// Bytes of the sources of the documents that are in clusters.
    pub bytes: u64,
    /// Of these, bytes that go if every cluster keeps one document that is at hand: its representative, if that is.
    /// Files that are gone, changed, or other names of another one do not count.
    pub could_go: u64,
    /// Of these, bytes that go if only what is identical to the representative goes, and one such document stays.
    pub identical_could_go: u64,
    /// Documents in clusters whose files are gone.
    pub gone: u64,
    /// Documents in clusters whose files have another size or time than when they were added.
    pub changed: u64,
    /// Documents in clusters whose files were read for the page and have another text than was added, though their
    /// size and time are the same.
    pub other_texts: u64,
    /// Documents in clusters whose files the system refuses to look at.
    pub out_of_reach: u64,
    /// Documents in clusters that are other names of the file of an earlier one: these are no copies.
    pub other_names: u64,
    /// Clusters that are not listed.
    pub clusters_left_out: u64,
    /// Documents in clusters that are not listed, those of clusters that are left out included.
    pub documents_left_out: u64,
    /// Texts on the page.
    pub texts: u64,
    /// Texts of which the page has the beginning only.
    pub texts_cut: u64,
    /// Texts that would be on the page, and are nowhere to be read.
    pub texts_missing: u64,
    /// Texts of listed documents that have no room on the page.
    pub texts_left_out: u64,
    /// Searches that passed candidates over; see [`Options::false_candidates`](crate::Options::false_candidates).
    pub searches_cut_short: u64,
}

impl Summary {
    /// Counts a document of a cluster.
    pub(super) fn count(&mut self, size: u64, state: State) {
        self.clustered += 1;
        self.bytes += size;
        match state {
            State::NotChecked | State::AtHand => {}
            State::Gone => self.gone += 1,
            State::Changed => self.changed += 1,
            State::OutOfReach => self.out_of_reach += 1,
            State::OtherName => self.other_names += 1,
        }
    }

    /// What is no longer as it was added, and the command against it, a line each, for people.
    pub fn no_longer(&self, commands: &Commands) -> Vec<String> {
        let gone = with("gone", &commands.forget_gone, "forgets what is gone");
        let changed = "changed after being added";
        let changed = with(
            changed,
            &commands.add_changed,
            "reads again what has changed",
        );
        let other = "another text than was added, with the same size and time";
        let other = with(other, &commands.add_all, "reads all again");
        let counts = [
            (self.gone, ["document is", "documents are"], &*gone),
            (self.changed, ["file has", "files have"], &changed),
            (self.other_texts, ["file has", "files have"], &other),
            (self.out_of_reach, ["file", "files"], "cannot be looked at"),
            (
                self.other_names,
                ["document is another name", "documents are other names"],
                "of a file that is listed, and no copy",
            ),
        ];
        lines(&counts)
    }

    /// What is not on the page, and the command that would show it, a line each, for people.
    pub fn left_out(&self, has_texts: bool, commands: &Commands) -> Vec<String> {
        let missing = "not shown, as no file that a key names has the text";
        let missing = with(missing, &commands.show_texts, "looks for it there");
        let counts = [
            (
                self.clusters_left_out,
                ["cluster is", "clusters are"],
                "not listed, the smallest: there is no room for more",
            ),
            (
                self.documents_left_out,
                ["document of a cluster is", "documents of clusters are"],
                "not listed: there is no room for more",
            ),
            (
                self.texts_left_out,
                ["text is", "texts are"],
                "left out: there is no room for more",
            ),
            (self.texts_missing, ["text is", "texts are"], &missing),
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

/// A line for each count that is not 0.
fn lines(counts: &[(u64, [&str; 2], &str)]) -> Vec<String> {
    let counts = counts.iter().filter(|(count, ..)| *count > 0);
    counts
        .map(|(count, [one, many], what)| format!("{} {what}", counted(*count, one, many)))
        .collect()
}
