//! What a report counts.

use crate::number::counted;

/// What was found, and what is not on the page for want of room.
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
    /// Of these, bytes that go if every cluster keeps its representative alone.
    pub could_go: u64,
    /// Of these, bytes that go if only what is identical goes.
    pub identical_could_go: u64,
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
    /// Texts of listed documents that are left out for want of room.
    pub texts_left_out: u64,
    /// Searches that passed candidates over; see [`Options::false_candidates`](crate::Options::false_candidates).
    pub searches_cut_short: u64,
}

impl Summary {
    /// What is not on the page, a line each, for people.
    pub fn left_out(&self, has_texts: bool) -> Vec<String> {
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
            (
                self.texts_missing,
                ["text is", "texts are"],
                "not at hand: no file that a key names has it now",
            ),
            (
                self.texts_cut,
                ["text is", "texts are"],
                "cut: the beginning is shown",
            ),
        ];
        let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
        let lines = counts
            .map(|(count, [one, many], what)| format!("{} {what}", counted(count, one, many)));
        let none = (!has_texts).then(|| "texts are left out, as was asked for".to_owned());
        lines.chain(none).collect()
    }
}
