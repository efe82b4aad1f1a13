//! The page as HTML.

use maud::{Markup, PreEscaped, html};

use super::chart::{Axes, bars, curve};
use super::commands::Commands;
use super::figures::ClusterFigures;
use super::frame::{self, SCRIPT};
use super::row::DocumentLink;
use super::summary::Summary;
use crate::number::{bytes, counted, grouped, percent};
use dedupdb::Schema;
use dedupdb::groups::Linkage;
use dedupdb::upkeep::Bucket;

/// The contents of the page besides the clusters.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageContents<'a> {
    pub(super) title: &'a str,
    pub(super) schema: &'a Schema,
    pub(super) link: DocumentLink,
    pub(super) linkage: Linkage,
    /// Whether texts were compared without a part of them.
    pub(super) is_ignoring: bool,
    pub(super) summary: &'a Summary,
    pub(super) figures: &'a ClusterFigures,
    pub(super) buckets: &'a [Bucket],
    pub(super) has_texts: bool,
    pub(super) commands: &'a Commands,
    /// Lines about what could not be read.
    pub(super) unread: &'a [String],
}

/// Returns the page with its data, which is inert.
pub(super) fn page(shown: &PageContents<'_>, data: &str) -> String {
    let with = html! {
        p.quiet { "By dedupdb " (env!("CARGO_PKG_VERSION")) ". Similarity is the Jaccard similarity of two documents: \
            the share of all their shingles that both have. How much of a text is in another one is the share of its own \
            shingles." }
        nav.tools aria-label="On this page" {
            a href="#found" { "What was found" }
            a href="#clusters" { "Clusters" }
            a href="#export" { "Save your decisions" }
            a href="#how" { "How it was found" }
        }
    };
    let body = html! {
        main {
            (counts(shown.summary, shown.is_by_containment()))
            (no_longer(shown))
            (left_out(shown))
            (clusters(shown.commands, shown.is_by_containment()))
            (sizes(shown.figures))
            (similarities(shown))
            (render_parameters(shown))
            (hottest(shown))
        }
        script type="application/json" id="data" { (PreEscaped(data)) }
        script { (PreEscaped(SCRIPT)) }
    };
    let skip = ["#clusters", "To the clusters"];
    frame::page(["Near-duplicates", shown.title], skip, &with, &body, true)
}

/// Renders what was found.
fn counts(summary: &Summary, is_by_containment: bool) -> Markup {
    let near = summary.clustered - summary.clusters.min(summary.clustered) - summary.identical;
    let [others, why] = if is_by_containment {
        ["Mostly in a larger one", "is mostly in"]
    } else {
        ["Near-duplicates", "resembles"]
    };
    html! {
        section aria-labelledby="found" {
            h2 id="found" { "What was found" }
            dl.counts {
                div { dt { "Documents" } dd { (grouped(summary.documents)) } }
                div { dt { "Distinct texts" } dd { (grouped(summary.contents)) } }
                div { dt { "Clusters" } dd { (grouped(summary.clusters)) } }
                div { dt { "Documents in clusters" } dd { (grouped(summary.clustered)) } }
                div { dt { "Copies of another one" } dd { (grouped(summary.identical)) } }
                div { dt { (others) } dd { (grouped(near)) } }
                div { dt { "Bytes in clusters" } dd { (bytes(summary.bytes)) } }
                div { dt { "Could go: all that " (why) " the one kept" } dd { (bytes(summary.could_go)) } }
                div { dt { "Could go: copies only" } dd { (bytes(summary.identical_could_go)) } }
            }
        }
    }
}

/// Renders what has changed since it was added.
fn no_longer(shown: &PageContents<'_>) -> Markup {
    let lines = shown.summary.no_longer(shown.commands);
    html! {
        @if !lines.is_empty() {
            section aria-labelledby="no-longer" {
                h2 id="no-longer" { "What is no longer as it was added" }
                ul { @for line in lines { li { (line) } } }
            }
        }
    }
}

/// Renders what is not on the page.
fn left_out(shown: &PageContents<'_>) -> Markup {
    let lines = shown.summary.left_out(shown.has_texts, shown.commands);
    let lines = [shown.unread, &lines].concat();
    html! {
        @if !lines.is_empty() {
            section aria-labelledby="left-out" {
                h2 id="left-out" { "What is not on this page" }
                ul { @for line in lines { li { (line) } } }
            }
        }
    }
}

impl PageContents<'_> {
    fn is_by_containment(&self) -> bool {
        matches!(self.link, DocumentLink::Containment(_))
    }

    /// The threshold, if similar pairs are found by bands. Without what is ignored, all sets are compared.
    fn of_bands(&self) -> Option<f64> {
        match self.link {
            DocumentLink::Similarity(threshold) | DocumentLink::Passages(threshold) => {
                (!self.is_ignoring).then_some(threshold)
            }
            DocumentLink::Containment(_) => None,
        }
    }
}

/// Renders the parameters, and the predicted recall of a search by similarity.
fn render_parameters(shown: &PageContents<'_>) -> Markup {
    let clusters = match (shown.link, shown.linkage) {
        (DocumentLink::Containment(_), _) => {
            "documents below the largest one that contains them, over several levels"
        }
        (DocumentLink::Passages(_), _) => {
            "documents linked by chains of similar pairs and of shared passages"
        }
        (_, Linkage::Connected) => "documents linked by chains of similar pairs",
        _ => "documents similar to the representative",
    };
    html! {
        section aria-labelledby="how" {
            h2 id="how" { "How it was found" }
            div.beside {
                div.scrolled role="region" aria-label="Table of parameters" tabindex="0" {
                    table {
                        caption { "Parameters" }
                        tbody {
                            @for (name, value) in shown.schema.parameters() {
                                tr { th scope="row" { (name) } td { (value) } }
                            }
                            @match shown.link {
                                DocumentLink::Similarity(threshold) | DocumentLink::Passages(threshold) => {
                                    tr { th scope="row" { "threshold of this report" } td { (threshold) } }
                                }
                                DocumentLink::Containment(least) => {
                                    tr { th scope="row" { "containment of this report" } td { (least) } }
                                }
                            }
                            @match shown.of_bands() {
                                Some(threshold) => tr { th scope="row" { "predicted recall" }
                                    td { (percent(shown.schema.recall(threshold))) " of the pairs at " (threshold) } },
                                None => tr { th scope="row" { "recall" } td { "every pair is found" } },
                            }
                            tr { th scope="row" { "clusters" } td { (clusters) } }
                        }
                    }
                }
                @if let Some(threshold) = shown.of_bands() { (recall(shown.schema, threshold)) }
            }
        }
    }
}

/// Draws the S-curve.
fn recall(schema: &Schema, threshold: f64) -> Markup {
    let recall = percent(schema.recall(threshold));
    let told = format!("S-curve: of the pairs at the threshold, {threshold}, {recall} are found");
    let axes = Axes {
        caption: &told,
        x: "Jaccard similarity of a pair",
        y: "pairs found",
    };
    html! {
        figure {
            (curve(axes, |at| schema.recall(at), threshold))
            figcaption { "Pairs of a similarity that share a bucket, and so are compared. The line is the threshold." }
        }
    }
}

fn sizes(figures: &ClusterFigures) -> Markup {
    let sizes = figures.sizes();
    let label = |from: u64, to: u64| {
        if from == to {
            grouped(to)
        } else {
            format!("{}–{}", grouped(from), grouped(to))
        }
    };
    let rows = sizes
        .iter()
        .map(|sizes| (label(sizes.from, sizes.to), sizes.clusters));
    let rows: Vec<(String, u64)> = rows.collect();
    let axes = Axes {
        caption: "Clusters by their number of documents; the table has the figures",
        x: "documents of a cluster",
        y: "clusters",
    };
    html! {
        section aria-labelledby="sizes" {
            h2 id="sizes" { "Sizes of clusters" }
            @if sizes.is_empty() { p { "There are no clusters." } } @else {
                div.beside {
                    div.scrolled role="region" aria-label="Table of sizes" tabindex="0" {
                        table {
                            thead { tr { th scope="col" { "Size" } th scope="col" { "Clusters" } th scope="col" { "Documents" } } }
                            tbody {
                                @for sizes in &sizes {
                                    tr {
                                        th scope="row" { (label(sizes.from, sizes.to)) }
                                        td.number { (grouped(sizes.clusters)) }
                                        td.number { (grouped(sizes.documents)) }
                                    }
                                }
                            }
                        }
                    }
                    figure { (bars(axes, &rows, true)) figcaption { "Clusters of each size; the axis is logarithmic." } }
                }
            }
        }
    }
}

fn similarities(shown: &PageContents<'_>) -> Markup {
    let least = match shown.link {
        DocumentLink::Similarity(least) => least,
        DocumentLink::Containment(_) | DocumentLink::Passages(_) => 0.0,
    };
    let counts = shown.figures.similarities(least);
    let rows = counts
        .iter()
        .map(|(bar, count)| (format!("{:.2}", *bar as f64 / 100.0), *count));
    let rows: Vec<(String, u64)> = rows.collect();
    let told = "Documents by their similarity to the representative; the table has the figures";
    let axes = Axes {
        caption: told,
        x: "similarity to the representative",
        y: "documents",
    };
    html! {
        section aria-labelledby="similarities" {
            h2 id="similarities" { "Similarities" }
            p { "Similarity of each document to the representative of its cluster, in steps of 0.01. Left out: "
                (counted(shown.figures.identical(), "document", "documents")) " identical to it." }
            div.beside {
                figure { (bars(axes, &rows, false)) figcaption { "Linear" } }
                figure { (bars(axes, &rows, true)) figcaption { "Logarithmic" } }
            }
            details {
                summary { "As a table" }
                table {
                    thead { tr { th scope="col" { "Similarity from" } th scope="col" { "Documents" } } }
                    tbody {
                        @for (label, count) in rows.iter().filter(|(_, count)| *count > 0) {
                            tr { th scope="row" { (label) } td.number { (grouped(*count)) } }
                        }
                    }
                }
            }
        }
    }
}

fn hottest(shown: &PageContents<'_>) -> Markup {
    let (buckets, cut_short) = (shown.buckets, shown.summary.searches_cut_short);
    html! {
        @if !buckets.is_empty() {
            section aria-labelledby="buckets" {
                h2 id="buckets" { "Largest buckets" }
                p { "Where one bucket has thousands of contents, a template or boilerplate is shared." }
                @if cut_short > 0 {
                    p { (counted(cut_short, "time", "times")) ", a search skipped candidates, after many that did not match." }
                } @else {
                    p { "No search skipped candidates." }
                }
                div.scrolled role="region" aria-label="Table of buckets" tabindex="0" {
                    table {
                        thead { tr { th scope="col" { "Band" } th scope="col" { "Hash" } th scope="col" { "Contents" } } }
                        tbody {
                            @for bucket in buckets {
                                tr {
                                    th scope="row" { (bucket.band) }
                                    td { (format!("{:08x}", bucket.hash)) }
                                    td.number { (grouped(bucket.contents)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Renders the place of the clusters, which the script fills.
fn clusters(commands: &Commands, is_by_containment: bool) -> Markup {
    let drop_others = if is_by_containment {
        "Drop what the representative contains"
    } else {
        "Drop what resembles the representative"
    };
    html! {
        section aria-labelledby="clusters" {
            h2 id="clusters" tabindex="-1" { "Clusters" }
            noscript { p { "The clusters are shown by the script of this page, which is switched off here." } }
            form.filters id="filters" {
                label { "Key has" input type="search" id="find" autocomplete="off" spellcheck="false"; }
                label { "Documents, from" input type="number" id="least-size" min="2" step="1"; }
                label { "to" input type="number" id="most-size" min="2" step="1"; }
                label { "Lowest similarity, from" input type="number" id="least-alike" min="0" max="1" step="any"; }
                label { "to" input type="number" id="most-alike" min="0" max="1" step="any"; }
                label { "Documents are"
                    select id="kind" {
                        option value="all" { "identical or nearly" }
                        option value="identical" { "all identical" }
                        option value="nearly" { "nearly, some of them" }
                    }
                }
                button type="reset" { "Show all" }
            }
            p id="status" role="status" {}
            div.tools role="group" aria-label="Marks in the clusters shown by the filter" {
                button type="button" id="drop-identical" { "Drop what is identical" }
                button type="button" id="drop-others" { (drop_others) }
                button type="button" id="clear" { "Clear marks" }
            }
            ol.clusters id="list" {}
            nav.tools aria-label="Pages of clusters" {
                button type="button" id="previous" { "Previous" }
                span id="page" {}
                button type="button" id="next" { "Next" }
            }
        }
        section aria-labelledby="export" {
            h2 id="export" { "Save your decisions" }
            p { "Marks are lost when this page is closed. A list has a key for each marked document." }
            p id="ticked" role="status" {}
            div.tools {
                button type="button" id="save-drop" { "Save what is to go" }
                button type="button" id="save-keep" { "Save what is to stay" }
                button type="button" id="save-lines" { "Save what is to go, as lines" }
            }
            @if !commands.move_files.is_empty() {
                p { code { (commands.move_files) } " moves the files of " code { "drop.keys" } " to another folder, \
                    as long as one that resembles them stays, and says how to undo that."
                    @if !commands.write_others.is_empty() {
                        " For records, " code { (commands.write_others) } " writes the others."
                    } }
            }
            p { "Each key ends with a NUL byte"
                @if !commands.forget_keys.is_empty() {
                    ", for " code { (commands.forget_keys) } ", which removes the documents from the store and \
                    leaves the files"
                }
                ". In the list with lines, control characters and backslashes are escaped"
                @if !commands.forget_lines.is_empty() { ", for " code { (commands.forget_lines) } }
                "." }
        }
    }
}
