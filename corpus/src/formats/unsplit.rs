//! Records that a file of text seems to have: it is read as one document.

use serde::de::IgnoredAny;
use serde_json::{Deserializer, Map, Value};

use super::mail::mbox::is_mailbox;

/// What a file that was read as one text seems to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unsplit {
    /// A JSON object a line, which [`Format::Jsonl`](crate::Format::Jsonl) reads as records.
    Lines,
    /// A JSON array, which [`Format::Json`](crate::Format::Json) reads as records.
    Array,
    /// A JSON object with records in a field, or with a field for each record or column, as pandas writes it. Nothing reads
    /// it as records.
    Object,
    /// JSON objects one after another, of several lines each. Nothing reads them as records.
    Objects,
    /// A page of HTML, which [`Format::Html`](crate::Format::Html) reads without its tags.
    Page,
    /// A mailbox, which [`Format::Mbox`](crate::Format::Mbox) reads as messages.
    Mailbox,
    /// A web archive, which [`Format::Warc`](crate::Format::Warc) reads as pages.
    WebArchive,
}

impl Unsplit {
    /// What the text seems to be. Of a file, one line with an object may be the whole document; a stream has no name
    /// to say what it has, so one is enough. An array may have any elements if the file is `named_json`.
    pub(crate) fn of(text: &str, is_stream: bool, named_json: bool) -> Option<Unsplit> {
        let text = text.trim();
        if let Some(inside) = text.strip_prefix('[') {
            let has_objects = named_json || inside.trim_start().starts_with('{');
            let is_array = has_objects && text.ends_with(']');
            return is_array.then_some(Unsplit::Array);
        }
        if is_page(text) {
            return Some(Unsplit::Page);
        }
        if is_mailbox(text) {
            return Some(Unsplit::Mailbox);
        }
        if text.starts_with("WARC/1.") {
            return Some(Unsplit::WebArchive);
        }
        if named_json && has_records(text) {
            return Some(Unsplit::Object);
        }
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        let is_object = |line: &str| line.starts_with('{') && line.ends_with('}');
        let has_more = || {
            rest.lines()
                .next()
                .is_some_and(|line| is_object(line.trim()))
        };
        let is_line = is_object(first.trim_end())
            && (is_stream || has_more())
            && serde_json::from_str::<IgnoredAny>(first).is_ok();
        if is_line {
            return Some(Unsplit::Lines);
        }
        let is_objects = (named_json || is_stream) && has_objects(text);
        is_objects.then_some(Unsplit::Objects)
    }

    /// Returns what to do about it. `give` is how a caller names a format, such as `--format json`.
    ///
    /// ```
    /// use dedupdb_corpus::Unsplit;
    ///
    /// let note = Unsplit::Array.note(|format| format!("--format {format}"));
    /// assert_eq!(note, "a JSON array is read as one text; for records, give --format json");
    /// ```
    pub fn note(self, give: impl FnOnce(&str) -> String) -> String {
        let (note, format) = match self {
            Unsplit::Object => {
                return "a JSON object that holds records is read as one text; write them as an array or as JSONL, for \
                        example with `jq .FIELD` or orient=\"records\" of pandas"
                    .to_owned();
            }
            Unsplit::Objects => (
                "JSON objects are read as one text; for records, write each on a line, for example with `jq -c .`, and",
                "jsonl",
            ),
            Unsplit::Lines => ("lines of JSON are read as one text; for records,", "jsonl"),
            Unsplit::Array => ("a JSON array is read as one text; for records,", "json"),
            Unsplit::Page => ("a page is read with its tags; for its text,", "html"),
            Unsplit::Mailbox => ("a mailbox is read as one text; for its messages,", "mbox"),
            Unsplit::WebArchive => ("a web archive is read as one text; for its pages,", "warc"),
        };
        format!("{note} give {}", give(format))
    }
}

/// Whether the text begins as a page does, maybe behind comments and the declaration of XML.
fn is_page(text: &str) -> bool {
    let mut text = text;
    for (start, end) in [("<?xml", "?>"), ("<!--", "-->"), ("<!--", "-->")] {
        let inside = text.strip_prefix(start);
        let behind = inside.and_then(|inside| inside.split_once(end));
        text = behind.map_or(text, |(_, behind)| behind.trim_start());
    }
    let begins = |start: &str| {
        let found = text.get(..start.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(start))
    };
    begins("<!doctype html") || begins("<html")
}

/// Whether the text begins with two JSON objects.
fn has_objects(text: &str) -> bool {
    let mut values = Deserializer::from_str(text).into_iter::<Map<String, Value>>();
    let mut is_object = || matches!(values.next(), Some(Ok(_)));
    text.starts_with('{') && is_object() && is_object()
}

/// Whether a JSON object has exactly one field with several objects, or several fields, which are all lists, or all objects
/// with the same names, or one field with an object of numbered values.
fn has_records(text: &str) -> bool {
    let Ok(fields) = serde_json::from_str::<Map<String, Value>>(text) else {
        return false;
    };
    let is_list = |field: &Value| field.as_array().is_some_and(|list| list.len() > 1);
    let are_objects = |field: &&Value| {
        let mut objects = field.as_array().into_iter().flatten();
        is_list(field) && objects.all(Value::is_object)
    };
    let names = |field: &Value| {
        field
            .as_object()
            .map(|it| it.keys().cloned().collect::<Vec<_>>())
    };
    let first = fields.values().next().and_then(names);
    let are_alike = first.as_ref().is_some_and(|first| {
        let mut fields = fields.values();
        !first.is_empty() && fields.all(|field| names(field).as_ref() == Some(first))
    });
    let are_lists = fields.values().all(is_list);
    let is_number = |name: &String| name.parse::<u64>().is_ok();
    let are_numbered = first.is_some_and(|first| first.len() > 1 && first.iter().all(is_number));
    fields.values().filter(are_objects).count() == 1
        || are_numbered && are_alike
        || fields.len() > 1 && (are_alike || are_lists)
}

#[cfg(test)]
mod tests {
    use super::Unsplit;

    #[test]
    fn records_are_recognised_and_other_texts_are_not() {
        use Unsplit::{Array, Lines};
        for (text, of_file, of_stream) in [
            ("{\"a\": 1}\n{\"a\": 2}\n", Some(Lines), Some(Lines)),
            ("{\"a\": 1}\r\n{\"a\": 2}\r\n", Some(Lines), Some(Lines)),
            ("{\"a\": 1}", None, Some(Lines)),
            ("{\n  \"a\": 1\n}\n", None, None),
            ("{a}\n{b}\n", None, None),
            ("[\n  {\"a\": 1}\n]\n", Some(Array), Some(Array)),
            ("[1, 2]", None, None),
            ("[{see below", None, None),
            ("plain", None, None),
            ("", None, None),
        ] {
            assert_eq!(Unsplit::of(text, false, false), of_file, "{text:?}");
            assert_eq!(Unsplit::of(text, true, false), of_stream, "{text:?}");
        }
        assert_eq!(Unsplit::of("[1, 2]", false, true), Some(Array));
        for page in [
            "\n<!DOCTYPE HTML>\n<p>a",
            "<html lang=en>",
            "<?xml version=\"1.0\"?>\n<html>",
            "<!-- saved from a -->\n<HTML>",
        ] {
            assert_eq!(Unsplit::of(page, false, false), Some(Unsplit::Page));
        }
        let date = "Mon Jan  1 00:00:01 2024";
        for (text, what) in [
            (
                &*format!("From a@b {date}\nSubject: c\n\nd\n"),
                Some(Unsplit::Mailbox),
            ),
            (
                &*format!("From Monday on, or {date}, it rains\nor not\n"),
                None,
            ),
            (
                "WARC/1.1\r\nWARC-Type: response\r\n\r\n",
                Some(Unsplit::WebArchive),
            ),
            ("WARC/10 is a name\n", None),
        ] {
            assert_eq!(Unsplit::of(text, false, false), what, "{text}");
        }
        let objects = "{\n \"a\": 1\n}\n{\n \"a\": 2\n}\n";
        assert_eq!(Unsplit::of(objects, false, true), Some(Unsplit::Objects));
        assert_eq!(Unsplit::of(objects, true, false), Some(Unsplit::Objects));
        assert_eq!(Unsplit::of(objects, false, false), None);
        for records in [
            "{\"data\": [{\"a\": 1}, {\"a\": 2}], \"n\": 2}",
            "{\"id\": {\"0\": 1}, \"text\": {\"0\": \"a\"}}",
            "{\"id\": [1, 2], \"text\": [\"a\", \"b\"]}",
            "{\"text\": {\"0\": \"a\", \"1\": \"b\"}}",
        ] {
            assert_eq!(
                Unsplit::of(records, false, true),
                Some(Unsplit::Object),
                "{records}"
            );
            assert_eq!(Unsplit::of(records, false, false), None, "{records}");
        }
        for other in [
            "{\"a\": 1, \"b\": {}}",
            "{\"a\": [1, 2]}",
            "{\"a\": {\"0\": 1}}",
            "{\"a\": {\"b\": 1, \"c\": 2}}",
            "{\"a\": {\"b\": 1}, \"c\": {}}",
            "{}",
        ] {
            assert_eq!(Unsplit::of(other, false, true), None, "{other}");
        }
    }
}
