//! The page of one text: what it shares with which documents.

use std::ops::Range;

use maud::{Markup, html};

use super::chart::strip;
use super::commands::Commands;
use super::file_status::FileStatus;
use super::frame;
use super::runs::Tokens;
use super::sources::{
    HowCommon, MANY, MOST_PLACES, NumberedPassage, PassagePlace, SourceDocument, TextSources,
};
use super::sources_summary::SourcesSummary;
use crate::number::{counted, grouped, percent};
use crate::publish::{printable, readable};

/// The number of bytes of a mark on the page, without its text.
const MARK_BYTES: usize = 200;

/// The number of documents that come before the text.
const FIRST: usize = 20;

/// The maximum number of passages that the row of a document names.
const MOST_NUMBERS: usize = 24;

/// What the page is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct SourcesContents<'a> {
    pub(super) title: &'a str,
    pub(super) text: &'a Tokens<'a>,
    pub(super) sources: &'a TextSources,
    /// The length of the shortest passage that was looked for.
    pub(super) at_least: u32,
    /// What one token is called, and several.
    pub(super) unit: [&'static str; 2],
    pub(super) commands: &'a Commands,
    /// Lines about what could not be read.
    pub(super) unread: &'a [String],
}

/// Returns the page, and counts what is left out. Text and lists take at most `room` bytes.
pub(super) fn page(
    shown: &SourcesContents<'_>,
    room: usize,
    summary: &mut SourcesSummary,
) -> String {
    let end = shown.end(room / 2);
    let text = shown.text(end);
    let (documents, others) = shown.documents(room / 4, summary);
    let room = room.saturating_sub(text.0.len() + documents.0.len() + others.0.len());
    let lists = shown.passages(room, end, summary);
    let from = shown.text.count_up_to(end);
    summary.tokens_left_out = summary.tokens - from.min(summary.tokens);
    let with = html! {
        p.quiet { "By dedupdb " (env!("CARGO_PKG_VERSION")) ". A passage is a run of at least "
            (shown.counted(shown.at_least)) " that this text and another document have in common, whatever stands around \
            it."
            @if shown.sources.has_joined() { " Some were joined over a few other words between them, which count, too." }
            " Upper and lower case, spaces and punctuation do not count. A passage does not tell who wrote it first." }
        nav.tools aria-label="On this page" {
            a href="#found" { "What was found" }
            a href="#documents" { "Documents" }
            a href="#text" { "Text" }
            a href="#passages" { "Passages" }
        }
    };
    let body = html! {
        main {
            (shown.found(summary))
            (shown.left_out(summary))
            (documents)
            (text)
            (lists)
            (others)
        }
    };
    let skip = ["#text", "To the text"];
    frame::page(["Shared passages", shown.title], skip, &with, &body, false)
}

impl SourcesContents<'_> {
    /// A number of tokens, as `71 words`.
    fn counted(&self, tokens: u32) -> String {
        let [one, many] = self.unit;
        counted(tokens.into(), one, many)
    }

    /// A number of tokens of the text, as `71 words (12.3%)`, of those that count.
    fn share(&self, tokens: u32) -> String {
        let share = f64::from(tokens) / f64::from(self.text.counted().max(1));
        format!("{} ({})", self.counted(tokens), percent(share))
    }

    /// Returns how many bytes of the text take at most `most` bytes on the page.
    fn end(&self, most: usize) -> usize {
        let text = self.text.text;
        let mut marks = self.sources.marks.iter().peekable();
        let mut bytes = 0;
        for (at, c) in text.char_indices() {
            while marks.next_if(|mark| mark.bytes.start <= at).is_some() {
                bytes += MARK_BYTES;
            }
            bytes += match c {
                '<' | '>' | '&' | '"' => 6,
                ' '..='~' => 1,
                // A character that is spelled out.
                c => c.len_utf8().max(10),
            };
            if bytes > most {
                return at;
            }
        }
        text.len()
    }

    /// Renders what was found.
    fn found(&self, summary: &SourcesSummary) -> Markup {
        let [few, many] = self.sources.covered();
        let tokens = summary.tokens;
        let label = format!(
            "Where the shared passages are in the text: {} that few documents have, {} that many have",
            self.share(few),
            self.share(many)
        );
        let marks = self.sources.marks.iter();
        let marks = marks.map(|mark| (mark.tokens.clone(), mark.kind == HowCommon::Few));
        html! {
            section aria-labelledby="found" {
                h2 id="found" { "What was found" }
                @if summary.covered == 0 {
                    p { "No document that was compared shares a passage of at least " (self.counted(self.at_least))
                        " with this text." }
                } @else {
                    p.told { "Of the " (self.counted(tokens - summary.ignored)) " of this text" @if summary.ignored > 0 { " that count" } ", " strong { (self.share(summary.covered)) }
                        " are in passages that " (others_have(summary.documents)) ", too"
                        @if self.sources.has_joined() { ", or between passages that were joined" } "."
                        @if many > 0 { " " (self.share(many)) " are in what " (MANY) " documents or more have, such as a \
                            template, a licence or the wording of a task." } }
                    (strip(marks, tokens, &label))
                    p.quiet { "The bar is the text, from its beginning to its end, with the shared passages in it."
                        @if many > 0 { " Low bars are what many documents have." } }
                }
                dl.counts {
                    div { dt { "In the text" } dd { (self.counted(tokens)) } }
                    @if summary.ignored > 0 { div { dt { "Do not count" } dd { (self.counted(summary.ignored)) } } }
                    @if many > 0 {
                        div { dt { "Few documents have" } dd { (self.share(few)) } }
                        div { dt { "Many documents have" } dd { (self.share(many)) } }
                    } @else {
                        div { dt { "In shared passages" } dd { (self.share(few)) } }
                    }
                    div { dt { "Longest passage" } dd { (self.counted(summary.longest)) } }
                    div { dt { "Passages" } dd { (grouped(summary.passages)) } }
                    div { dt { "Documents" } dd { (grouped(summary.documents)) } }
                }
            }
        }
    }

    /// Renders what is not on the page.
    fn left_out(&self, summary: &SourcesSummary) -> Markup {
        let lines = [self.unread, &summary.left_out(self.commands)].concat();
        html! {
            @if !lines.is_empty() {
                section aria-labelledby="left-out" {
                    h2 id="left-out" { "What is not on this page" }
                    ul { @for line in lines { li { (printable(&line)) } } }
                }
            }
        }
    }

    /// Renders the documents that fit into `most` bytes: the first ones, and those that come at the end of the page.
    fn documents(&self, most: usize, summary: &mut SourcesSummary) -> (Markup, Markup) {
        let (mut first, mut others, mut bytes) = (Vec::new(), Vec::new(), 0);
        for (number, document) in self.sources.documents.iter().enumerate() {
            let row = self.document(number, document);
            bytes += row.0.len();
            if bytes > most {
                break;
            }
            if number < FIRST && document.few > 0 {
                first.push(row);
            } else {
                others.push(row);
            }
        }
        let listed = first.len() + others.len();
        summary.documents_left_out = summary.documents - listed as u64;
        let more = others.len() as u64;
        let what = if first.is_empty() {
            format!("No document shares what fewer than {MANY} have.")
        } else {
            "Those that share most come first; what many documents have counts least.".to_owned()
        };
        let top = html! {
            section aria-labelledby="documents" {
                h2 id="documents" { "Documents that share passages" }
                p { (what) @if more > 0 { " " a href="#others" { (counted(more, "other document", "other documents")) }
                    " at the end of this page." } }
                @if !first.is_empty() { (table("Table of documents", &first)) }
            }
        };
        let rest = html! {
            @if !others.is_empty() {
                section aria-labelledby="others" {
                    h2 id="others" { "Other documents that share passages" }
                    (table("Table of other documents", &others))
                }
            }
        };
        (top, rest)
    }

    fn document(&self, number: usize, document: &SourceDocument) -> Markup {
        let passages = &document.passages;
        let places = passages.iter().flat_map(|&passage| {
            let passage = &self.sources.passages[passage];
            let places = passage.places.iter();
            let places = places.filter(|place| place.document == number);
            places.map(|place| (place.tokens.clone(), passage.kind == HowCommon::Few))
        });
        let label = format!("Where {} of this text are", self.share(document.covered));
        html! {
            tr {
                th scope="row" { bdi { (printable(&document.key)) } @if let Some(note) = note(document) { " " span.quiet { "(" (note) ")" } } }
                td { (self.share(document.covered))
                    @if document.few == 0 { ", all of it common" }
                    @else if document.few < document.covered { ", " (grouped((document.covered - document.few).into())) " of them common" }
                    (strip(places, self.text.count(), &label)) }
                td { @if let Some(share) = document.own_share { (percent(share)) } @else { "not known" } }
                td { (self.counted(document.longest)) }
                td {
                    @for (place, &passage) in passages.iter().take(MOST_NUMBERS).enumerate() {
                        @if place > 0 { ", " } a href=(format!("#passage-{}", passage + 1)) { (passage + 1) }
                    }
                    @if passages.len() > MOST_NUMBERS { ", and " (passages.len() - MOST_NUMBERS) " more" }
                }
            }
        }
    }

    /// Renders the text up to `end`, with its passages marked.
    fn text(&self, end: usize) -> Markup {
        let (mut at, mut before) = (0, None);
        let mut parts = Vec::new();
        for mark in &self.sources.marks {
            let Range { start, end } = mark.bytes.start.max(at)..mark.bytes.end.min(end);
            if start >= end {
                continue;
            }
            // A part that goes on with the passage of the part before needs no number.
            let is_apart = mark.passage.map(|(number, _)| number) != before;
            before = mark.passage.map(|(number, _)| number);
            parts.push(html! { (readable(&self.text.text[at..start])) });
            let inside = readable(&self.text.text[start..end]);
            parts.push(match mark.passage {
                None => html! { mark.unknown { (inside) } },
                Some((number, is_first)) => {
                    let (number, passage) = (number + 1, &self.sources.passages[number]);
                    let id = is_first.then(|| format!("mark-{number}"));
                    let label = format!("Passage {number}: {}", self.told(passage));
                    html! {
                        mark class=(class(mark.kind)) id=[id] tabindex=[is_first.then_some("-1")] {
                            @if is_first || is_apart { a.no href=(format!("#passage-{number}")) aria-label=(label) { (number) } }
                            (inside)
                        }
                    }
                }
            });
            at = end;
        }
        let has = |kind| self.sources.marks.iter().any(|mark| mark.kind == kind);
        html! {
            section aria-labelledby="text" {
                h2 id="text" tabindex="-1" { "The text and its shared passages" }
                p.legend { "Each passage begins with its number, which leads to where others have it. "
                    mark.few { "Few documents have this" }
                    @if has(HowCommon::Many) { ", " mark.many { (MANY) " or more have this" } }
                    @if has(HowCommon::NotCompared) { ", " mark.unknown { "more have this than were compared" } }
                    "." }
                div.text.whole dir="auto" {
                    @for part in parts { (part) }
                    (readable(&self.text.text[at.min(end)..end]))
                }
                @if end < self.text.text.len() { p.same { "The text goes on." } }
            }
        }
    }

    /// The length of a passage, where it is, and how many documents have it.
    fn told(&self, passage: &NumberedPassage) -> String {
        let length = self.counted(passage.tokens.end - passage.tokens.start);
        let is_whole = passage.places.len() as u64 <= passage.documents;
        let more = if is_whole { "" } else { " as a whole" };
        let documents = counted(passage.documents, "document", "documents");
        format!(
            "{length}, line {}, in {documents}{more}",
            grouped(passage.line)
        )
    }

    /// Renders the passages that fit into `most` bytes: first those that few documents have. Those before `end` are marked
    /// in the text.
    fn passages(&self, most: usize, end: usize, summary: &mut SourcesSummary) -> Markup {
        let (mut room, mut listed) = (most, 0);
        let mut list = |kind: HowCommon| {
            let mut items: Vec<Markup> = Vec::new();
            for (number, passage) in self.sources.passages.iter().enumerate() {
                if passage.kind != kind {
                    continue;
                }
                let item = self.passage(number + 1, passage, passage.bytes.start < end);
                if item.0.len() > room {
                    room = 0;
                    break;
                }
                room -= item.0.len();
                listed += 1;
                items.push(item);
            }
            items
        };
        let (few, many) = (list(HowCommon::Few), list(HowCommon::Many));
        summary.passages_left_out = summary.passages - listed;
        html! {
            section aria-labelledby="passages" {
                h2 id="passages" { "Passages that few documents have" }
                @if few.is_empty() { p { "There are none." } }
                @for item in few { (item) }
            }
            @if !many.is_empty() {
                section aria-labelledby="common" {
                    h2 id="common" { "Passages that many documents have" }
                    p { "What " (MANY) " documents or more have is often a template, a licence, a quotation that everybody \
                        knows, or the wording of a task." }
                    @for item in many { (item) }
                }
            }
        }
    }

    fn passage(&self, number: usize, passage: &NumberedPassage, is_marked: bool) -> Markup {
        let places = passage.places.iter().take(MOST_PLACES);
        let more = passage.places.len().saturating_sub(MOST_PLACES) as u64;
        html! {
            article.passage id=(format!("passage-{number}")) tabindex="-1" {
                h3 {
                    @if is_marked { a href=(format!("#mark-{number}")) { "Passage " (number) } } @else { "Passage " (number) }
                    ": " (self.told(passage))
                }
                ul { @for place in places { li { (self.place(passage, place)) } } }
                @if more > 0 { p.same { "And in " (counted(more, "more document", "more documents")) "." } }
            }
        }
    }

    fn place(&self, passage: &NumberedPassage, place: &PassagePlace) -> Markup {
        let document = &self.sources.documents[place.document];
        let length = passage.tokens.end - passage.tokens.start;
        let [one, _] = self.unit;
        html! {
            bdi { strong { (printable(&document.key)) } }
            @if place.tokens != passage.tokens || place.matched < length { ": " (self.counted(place.matched)) " of it" }
            @if let Some(first) = place.place { ", from its " (one) " " (grouped(u64::from(first) + 1)) " on" }
            @if let Some(excerpt) = &place.excerpt {
                ", line " (grouped(excerpt.line as u64)) ":"
                blockquote dir="auto" {
                    (readable(&excerpt.before)) mark class=(class(passage.kind)) {
                        @for (number, part) in excerpt.passage.iter().enumerate() {
                            @if number > 0 { span.same { " ⋯ " } }
                            (readable(part))
                        }
                    } (readable(&excerpt.after))
                }
            } @else { ". What stands around it is not shown: " (absence(document)) "." }
        }
    }
}

/// Renders a table of documents.
fn table(label: &str, rows: &[Markup]) -> Markup {
    html! {
        div.scrolled role="region" aria-label=(label) tabindex="0" {
            table {
                thead { tr {
                    th scope="col" { "Document" }
                    th scope="col" { "Of this text" }
                    th scope="col" { "Of the document" }
                    th scope="col" { "Longest" }
                    th scope="col" { "Passages" }
                } }
                tbody { @for row in rows { (row) } }
            }
        }
    }
}

/// Who has passages.
fn others_have(count: u64) -> String {
    if count == 1 {
        return "one other document has".to_owned();
    }
    format!("{} other documents have", grouped(count))
}

/// The class of a mark.
fn class(kind: HowCommon) -> &'static str {
    match kind {
        HowCommon::Few => "few",
        HowCommon::Many => "many",
        HowCommon::NotCompared => "unknown",
    }
}

/// What is wrong with the file of a document.
fn note(document: &SourceDocument) -> Option<&'static str> {
    match document.state {
        FileStatus::Gone => Some("gone"),
        FileStatus::Changed => Some("changed since it was added"),
        FileStatus::OutOfReach => Some("cannot be looked at"),
        FileStatus::NotChecked | FileStatus::AtHand | FileStatus::OtherName => {
            document.own_share.is_none().then_some("text not at hand")
        }
    }
}

/// Why what stands around a passage is not shown.
fn absence(document: &SourceDocument) -> &'static str {
    match note(document) {
        None => "the order of its words there is another one",
        Some("gone") => "the document is gone",
        Some("changed since it was added") => "the document has changed since it was added",
        Some(_) => "its text is not at hand",
    }
}
