//! What was read and what was left out, as text.

use std::time::Duration;

use dedupdb::{Schema, sketching::Shingling};
use dedupdb_corpus::{ReadCounts, Reason};

use crate::console::Console;
use crate::inputs::InputArgs;
use crate::number::{self, counted, grouped};

/// What is said where nothing is left to work on.
pub(crate) const ALL_SKIPPED: &str = "no text was found: everything was skipped";

/// The counts of what was read, as text.
pub(crate) trait ReadCountsText {
    /// The number of items left out for each reason, by its name. Two reasons can share a name.
    fn skipped_by_name(&self) -> Vec<(&'static str, u64)>;

    /// How many items were left out and why, as a line for people, if there are any.
    ///
    /// The line names `--pre`, unless a program already converts files to text.
    fn skipped_line(&self, has_converter: bool) -> Option<String>;

    /// The same as a note, for commands whose summary lacks that line.
    fn left_out_note(&self, has_converter: bool) -> Option<String>;

    /// Whether everything was skipped, and no failure has reported that.
    fn is_all_skipped(&self) -> bool;

    /// How texts were decoded, how much was read, and how fast, as lines for people.
    fn to_text(&self, elapsed: Duration) -> String;

    /// A line about the id field, if no record has it.
    fn no_id_note(&self, inputs: &InputArgs) -> Option<String>;

    /// A line about the text field, if all texts are empty because its condition holds nowhere.
    fn no_match_note(&self, inputs: &InputArgs) -> Option<String>;

    /// A line about patterns of --exclude that matched nothing.
    fn no_exclusion_note(&self, inputs: &InputArgs) -> Option<String>;

    /// A line about files of records that were read as one text, if there are any.
    fn unsplit_note(&self) -> Option<String>;

    /// A line about short texts, if most of many documents are short and `schema` is not made for that.
    fn short_note(&self, schema: &Schema) -> Option<String>;

    /// A line about keys in which something was replaced, if there are any.
    fn lossy_note(&self) -> Option<String>;
}

impl ReadCountsText for ReadCounts {
    fn skipped_by_name(&self) -> Vec<(&'static str, u64)> {
        let mut counts: Vec<(&str, u64)> = Vec::new();
        for (reason, &count) in self.by_reason() {
            match counts.iter_mut().find(|(name, _)| *name == reason.name()) {
                Some((_, all)) => *all += count,
                None => counts.push((reason.name(), count)),
            }
        }
        counts
    }

    fn skipped_line(&self, has_converter: bool) -> Option<String> {
        let more = format!("   {}", reasons(self, has_converter));
        (self.all_skipped() > 0).then(|| line("  skipped", self.all_skipped(), &more))
    }

    fn left_out_note(&self, has_converter: bool) -> Option<String> {
        let skipped = counted(
            self.all_skipped(),
            "file or record was",
            "files and records were",
        );
        let reasons = reasons(self, has_converter);
        (self.all_skipped() > 0).then(|| format!("{skipped} skipped: {reasons}"))
    }

    fn is_all_skipped(&self) -> bool {
        self.all_skipped() > 0 && self.by_encoding().is_empty() && !self.has_failures()
    }

    fn to_text(&self, elapsed: Duration) -> String {
        let mut text = String::new();
        let others = self
            .by_encoding()
            .iter()
            .filter(|(name, _)| **name != "UTF-8");
        let (names, counts): (Vec<String>, Vec<u64>) = others
            .map(|(name, &count)| (format!("{} {name}", grouped(count)), count))
            .unzip();
        if !names.is_empty() {
            let more = format!("   {}", names.join(", "));
            text += &line("not in UTF-8", counts.iter().sum(), &more);
        }
        // Those that were skipped have a line.
        let skipped = self.by_reason().get(&Reason::RepeatedKey);
        let repeated = self.all_repeated() - skipped.copied().unwrap_or(0);
        if repeated > 0 {
            let more = "   came before with another text";
            text += &line("repeated keys", repeated, more);
        }
        if self.grown() > 0 {
            let more = "   files had grown when they were read; what they had first was taken";
            text += &line("grown", self.grown(), more);
        }
        if self.all_replaced() > 0 {
            let more = "   have U+FFFD for invalid bytes";
            text += &line("replaced", self.all_replaced(), more);
        }
        let seconds = elapsed.as_secs_f64();
        let rate = self.bytes() as f64 / 1e6 / seconds.max(1e-9);
        let read = number::bytes(self.bytes());
        let last = match self.bytes() {
            0 => format!("nothing read, {seconds:.1} s\n"),
            _ => format!("{read} read in {seconds:.1} s, {rate:.1} MB/s\n"),
        };
        text + &last
    }

    fn no_id_note(&self, inputs: &InputArgs) -> Option<String> {
        let field = inputs.id_field.as_ref();
        let field = field.filter(|_| self.records() > 0 && self.with_id() == 0)?;
        Some(format!(
            "no record has the field {field:?} of --id-field; their keys are PATH#NUMBER"
        ))
    }

    fn no_match_note(&self, inputs: &InputArgs) -> Option<String> {
        let mut fields = inputs.text_field.iter();
        let field = fields.find(|field| field.contains('='))?;
        (self.records() > 0 && self.bytes() == 0).then(|| {
            format!("all texts are empty: no record has what {field:?} of --text-field asks for")
        })
    }

    fn no_exclusion_note(&self, inputs: &InputArgs) -> Option<String> {
        let names = &inputs.names;
        let others_exclude = !names.include.is_empty() || names.gitignore;
        // These folders are left out before anything else.
        let reasons = [Reason::Excluded, Reason::VersionControl];
        if others_exclude
            || reasons
                .iter()
                .any(|reason| self.by_reason().contains_key(reason))
        {
            return None;
        }
        let globs = names.exclude.iter().map(ToString::to_string);
        let globs: Vec<String> = globs.collect();
        (!globs.is_empty()).then(|| {
            let globs = globs.join(" and ");
            format!("--exclude {globs} matches nothing in the folders that were read, so nothing was excluded")
        })
    }

    fn unsplit_note(&self) -> Option<String> {
        let (source, unsplit) = self.first_unsplit()?;
        let what = unsplit.note(|format| format!("--format {format}"));
        let others = self.all_unsplit() - 1;
        let more = if others > 0 {
            let files = counted(others, "other file looks", "other files look");
            format!(" ({files} like records or a page, too)")
        } else {
            String::new()
        };
        Some(format!("{}: {what}{more}", source.display()))
    }

    fn short_note(&self, schema: &Schema) -> Option<String> {
        let documents: u64 = self.by_encoding().values().sum();
        let is_for_long_texts = matches!(
            schema.shingling(),
            Shingling::Word(5..) | Shingling::Code(5..)
        );
        let are_short = documents >= MANY && 2 * self.all_short() > documents;
        (is_for_long_texts && are_short && schema.threshold() >= 0.7).then(|| {
            format!(
                "{} of {} texts are short (below {} bytes): one changed word can bring their similarity below {}; \
                 `dedupdb init --help` has an example for short texts",
                grouped(self.all_short()),
                grouped(documents),
                ReadCounts::SHORT,
                schema.threshold()
            )
        })
    }

    fn lossy_note(&self) -> Option<String> {
        (self.lossy_keys() > 0).then(|| {
            let keys = counted(self.lossy_keys(), "key has", "keys have");
            format!(
                "{keys} U+FFFD in place of bytes that are not UTF-8; if it is the name of a file, each byte follows as \
                 two hexadecimal digits"
            )
        })
    }
}

/// The number of documents that are enough to say of what kind they are.
const MANY: u64 = 100;

/// How many items were left out for each reason, and how binary files can be read.
fn reasons(reading: &ReadCounts, has_converter: bool) -> String {
    let counts = reading.skipped_by_name().into_iter();
    let counts = counts.map(|(name, count)| counted(count, name, &plural(name)));
    let reasons = counts.collect::<Vec<_>>().join(", ");
    let has_binary = reading.by_reason().contains_key(&Reason::Binary);
    let advice = if has_binary && !has_converter {
        "; formats with text in them, such as PDF, are read with --pre"
    } else {
        ""
    };
    reasons + advice
}

/// The name of a reason for several items. Only reasons that name things have a plural.
fn plural(name: &str) -> String {
    const THINGS: [&str; 12] = [
        "device", "file", "key", "link", "loop", "manifest", "name", "pipe", "record", "socket",
        "store", "text",
    ];
    let is_thing = name
        .split(' ')
        .next_back()
        .is_some_and(|last| THINGS.contains(&last));
    format!("{name}{}", if is_thing { "s" } else { "" })
}

/// A count as a line for people.
pub(crate) fn line(name: &str, count: u64, more: &str) -> String {
    format!("{name:<18}{:>12}{more}\n", grouped(count))
}

/// Whether something that was to be asked about could not be read, and so has no answer. Says so if that is all.
pub(crate) fn has_failed(read: &ReadCounts, console: &Console) -> bool {
    let is_all_skipped = read.is_all_skipped();
    if is_all_skipped {
        console.note(ALL_SKIPPED);
    }
    read.has_failures() || is_all_skipped
}
