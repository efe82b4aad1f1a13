//! A JSON object a line.

use crate::ingest::columns::short;
use crate::ingest::decode::{Decoded, decode};
use crate::ingest::fields::{Field, FieldNames, Fields, Names};
use crate::ingest::record::{Fault, Record};

/// The record on a line.
///
/// # Errors
///
/// What is wrong with it.
pub(crate) fn record(line: &[u8], names: Names<'_>) -> Result<Record, Fault> {
    let decoded = decode(line, None);
    let mut json = serde_json::Deserializer::from_str(&decoded.text);
    let fields = Fields::read(&mut json, names).and_then(|fields| json.end().map(|()| fields));
    let fields = fields.map_err(|error| {
        Fault::bad(if error.is_data() {
            "not a JSON object".to_owned()
        } else {
            format!("not JSON: {}", without_line(&error))
        })
    })?;
    let id = match fields.id {
        Some(Field::String(id) | Field::Integer(id)) => Some(id),
        Some(Field::Null) | None => None,
        Some(Field::Other) => {
            let what = format!("{:?} is neither a string nor an integer", names.id);
            return Err(Fault::bad(what));
        }
    };
    if id.as_ref().is_some_and(String::is_empty) {
        return Err(Fault::bad(format!("{:?} is empty", names.id)));
    }
    let text = match fields.text {
        Some(Field::String(text)) => text,
        Some(_) => return Err(Fault::bad(format!("{:?} is not a string", names.text))),
        None => return Err(Fault::bad(missing(&decoded.text, names.text))),
    };
    Ok(Record {
        id,
        decoded: Decoded {
            text,
            encoding: decoded.encoding,
            replaced: decoded.replaced,
        },
    })
}

/// Says that there is no field of the name, and which there are.
fn missing(line: &str, name: &str) -> String {
    const SHOWN: usize = 20;
    let Ok(found) = serde_json::from_str::<FieldNames>(line) else {
        return format!("no field {name:?}");
    };
    let shown: Vec<String> = found.0.iter().take(SHOWN).map(|name| short(name)).collect();
    let has = match shown.as_slice() {
        [] => "no fields".to_owned(),
        shown => shown.join(", "),
    };
    let more = if found.0.len() > SHOWN { ", ..." } else { "" };
    format!("no field {name:?}; it has {has}{more} (choose one with --text-field)")
}

/// A line with a key and a text.
pub(crate) fn line(key: &str, text: &str) -> Vec<u8> {
    let object = serde_json::json!({ "id": key, "text": text });
    format!("{object}\n").into_bytes()
}

/// The error's message with the column alone: the line is always the first.
fn without_line(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match message.strip_suffix(&place) {
        Some(what) => format!("{what} at column {}", error.column()),
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::{Names, record};
    use crate::ingest::record::Record;

    const NAMES: Names<'_> = Names {
        id: "id",
        text: "text",
    };

    #[test]
    fn records_have_an_id_and_a_text() {
        let good = record(br#"{"id": -7, "text": "a\u00e9", "url": 1}"#, NAMES).unwrap();
        assert_eq!(
            (good.id.as_deref(), good.decoded.text.as_str()),
            (Some("-7"), "aé")
        );
        for nameless in [r#"{"text": "b"}"#, r#"{"text": "b", "id": null}"#] {
            let good = record(nameless.as_bytes(), NAMES).unwrap();
            assert_eq!((good.id, good.decoded.text.as_str()), (None, "b"));
        }
        let replaced = record(b"{\"id\": \"a\", \"text\": \"\xff\"}", NAMES)
            .unwrap()
            .decoded;
        assert!(replaced.encoding == "windows-1252" && replaced.text == "ÿ");
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (bad, what) in [
            (
                r#"{"id": "a""#,
                "not JSON: EOF while parsing an object at column 10",
            ),
            ("[1]", "not a JSON object"),
            ("7", "not a JSON object"),
            (
                r#"{"id": [{}], "text": ""}"#,
                "\"id\" is neither a string nor an integer",
            ),
            (
                r#"{"id": "a", "text": "b"} x"#,
                "not JSON: trailing characters at column 26",
            ),
            (
                r#"{"id": 1.5, "text": "b"}"#,
                "\"id\" is neither a string nor an integer",
            ),
            (r#"{"id": "", "text": "b"}"#, "\"id\" is empty"),
            (
                r#"{"id": "a", "body": {"text": 1}}"#,
                "no field \"text\"; it has \"id\", \"body\" (choose one with --text-field)",
            ),
            (
                "{}",
                "no field \"text\"; it has no fields (choose one with --text-field)",
            ),
            (r#"{"id": "a", "text": null}"#, "\"text\" is not a string"),
        ] {
            let fault = record(bad.as_bytes(), NAMES).unwrap_err();
            assert_eq!(fault.detail, what);
        }
    }

    fn named(line: &str, id: &str, text: &str) -> Result<Record, String> {
        let record = record(line.as_bytes(), Names { id, text });
        record.map_err(|fault| fault.detail)
    }

    #[test]
    fn dots_lead_into_nested_objects() {
        let line = r#"{"a": {"id": 1, "b": {"text": "x"}, "c": "y"}, "a.c": "z", "id": 2}"#;
        let found = named(line, "a.id", "a.b.text").unwrap();
        assert_eq!(
            (found.id.as_deref(), found.decoded.text.as_str()),
            (Some("1"), "x")
        );
        assert_eq!(named(line, "id", "a.c").unwrap().decoded.text, "z");
        assert_eq!(named(line, "a.c", "a.c").unwrap().id.as_deref(), Some("z"));
        let what = named(line, "id", "a.b").unwrap_err();
        assert_eq!(what, "\"a.b\" is not a string");
        let what = named(line, "id", "a.c.d").unwrap_err();
        let expected =
            "no field \"a.c.d\"; it has \"a\", \"a.c\", \"id\" (choose one with --text-field)";
        assert_eq!(what, expected);
        let what = named(line, "a", "a.c").unwrap_err();
        assert_eq!(what, "\"a\" is neither a string nor an integer");
    }
}
