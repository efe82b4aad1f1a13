//! One JSON object per line.

use std::ops::Range;

use crate::decode::{Decoded, decode};
use crate::formats::field_values::Compound;
use crate::formats::fields::{Field, FieldNames, FieldPaths, FieldRelation, Fields};
use crate::formats::record::{JoinedText, Record};
use crate::formats::table::columns::short;
use crate::formats::text_place::field_value;
use crate::skipped::{Hint, RecordFault};

/// Returns the record on a line.
///
/// # Errors
///
/// A fault that says what is wrong with the line.
pub(crate) fn record(line: &[u8], names: FieldPaths<'_>) -> Result<Record, RecordFault> {
    let decoded = decode(line, None);
    let mut replaced = decoded.replaced;
    let mut fields = fields(&decoded.text, names);
    if fields.is_err()
        && let Some(whole) = without_surrogates(&decoded.text)
    {
        fields = self::fields(&whole, names);
        replaced = true;
    }
    if fields.is_err()
        && let Some(whole) = without_odd_numbers(&decoded.text)
    {
        fields = self::fields(&whole, names);
    }
    let fields = fields.map_err(|error| {
        RecordFault::bad(if error.is_data() {
            "not a JSON object".to_owned()
        } else {
            format!("not JSON: {}", without_line(&error))
        })
    })?;
    let id = match fields.id {
        Some(Field::String(id) | Field::Integer(id)) => Some(id).filter(|id| !id.is_empty()),
        Some(Field::Null) | None => None,
        Some(Field::Strings(_) | Field::OtherList | Field::Other) => {
            let what = format!(
                "{:?} is neither a string nor an integer of 64 bits",
                names.id
            );
            return Err(RecordFault {
                hint: Some(Hint::IdField),
                ..RecordFault::bad(what)
            });
        }
    };
    let text = text(fields.texts, names.texts, &decoded.text)?;
    let strings = text.list().map(<[_]>::to_vec);
    let text = text.into_text().unwrap_or_default();
    let is_replaced = |text: &str| replaced && text.contains(char::REPLACEMENT_CHARACTER);
    Ok(Record {
        is_lossy: id.as_deref().is_some_and(is_replaced),
        decoded: Decoded {
            replaced: is_replaced(&text),
            text,
            encoding: decoded.encoding,
            source_hash: None,
            attachments: None,
        },
        id,
        strings,
    })
}

/// Returns the texts of the fields of these names, with line breaks between them. One among several that is missing, null or
/// empty adds nothing.
///
/// # Errors
///
/// A field is something else, or none is a string.
fn text(fields: Vec<Option<Field>>, names: &[&str], line: &str) -> Result<JoinedText, RecordFault> {
    if fields.iter().all(Option::is_none) {
        return Err(missing(line, names));
    }
    let is_text = |field: &Field| matches!(field, Field::String(_) | Field::Strings(_));
    let is_any = fields.iter().flatten().any(is_text);
    let mut text = JoinedText::default();
    for (field, name) in fields.into_iter().zip(names) {
        match field {
            Some(Field::String(string)) => text.add(string),
            Some(Field::Strings(strings)) => text.add_list(strings),
            Some(Field::Null) if is_any => {}
            Some(Field::OtherList) if name.contains('[') => {
                let what = format!("{name:?} leads to a value that is no string");
                return Err(RecordFault::bad(what));
            }
            Some(Field::OtherList) => {
                return Err(RecordFault::bad(format!(
                    "{name:?} leads to a list, and not of strings; the strings in its objects are named as in \
                     \"messages[].content\""
                )));
            }
            Some(_) => {
                return Err(RecordFault::bad(format!(
                    "{name:?} is neither a string nor a list of strings"
                )));
            }
            None => {}
        }
    }
    Ok(text)
}

/// Returns the values of these fields of the object on a line, as texts.
///
/// # Errors
///
/// The number of a field whose value is a list or an object.
pub(crate) fn values(
    line: &[u8],
    names: &[String],
) -> Result<Vec<Option<String>>, (usize, Compound)> {
    let decoded = decode(line, None).text;
    let value = |(at, name): (usize, &String)| {
        let field = FieldRelation::Below(name);
        let text = match field_value(&decoded, field) {
            Ok(found) => found.map(text_of),
            Err(_) => without_odd_numbers(&decoded).and_then(|whole| {
                let found = field_value(&whole, field).ok().flatten();
                found.map(text_of)
            }),
        };
        text.unwrap_or(Ok(None)).map_err(|compound| (at, compound))
    };
    names.iter().enumerate().map(value).collect()
}

/// Returns a JSON value as a text.
fn text_of(json: &str) -> Result<Option<String>, Compound> {
    let text = match json.as_bytes().first() {
        Some(b'[') => return Err(Compound::List),
        Some(b'{') => return Err(Compound::Object),
        Some(b'n') | None => return Ok(None),
        Some(b'"') => {
            let whole = without_surrogates(json);
            serde_json::from_str(whole.as_deref().unwrap_or(json)).unwrap_or_default()
        }
        Some(_) => json.to_owned(),
    };
    Ok(Some(text))
}

/// Returns the names of the fields of the object on a line.
pub(crate) fn field_names(line: &[u8]) -> Vec<String> {
    let names = serde_json::from_str::<FieldNames>(&decode(line, None).text);
    names.map_or(Vec::new(), |names| names.0)
}

/// Reports that there is no field of these names, and which fields there are.
fn missing(line: &str, names: &[&str]) -> RecordFault {
    const SHOWN: usize = 20;
    let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    let names = names.join(" or ");
    let Ok(found) = serde_json::from_str::<FieldNames>(line) else {
        return RecordFault::bad(format!("no field {names}"));
    };
    let shown: Vec<String> = found.0.iter().take(SHOWN).map(|name| short(name)).collect();
    let has = match shown.as_slice() {
        [] => "no fields".to_owned(),
        shown => shown.join(", "),
    };
    let more = if found.0.len() > SHOWN { ", ..." } else { "" };
    RecordFault {
        hint: Some(Hint::TextField),
        ..RecordFault::bad(format!("no field {names}; it has {has}{more}"))
    }
}

fn fields(json: &str, names: FieldPaths<'_>) -> serde_json::Result<Fields> {
    let mut json = serde_json::Deserializer::from_str(json);
    let fields = Fields::read(&mut json, names)?;
    json.end().map(|()| fields)
}

/// Replaces escapes of unpaired surrogates in JSON, which are not characters, by U+FFFD. Returns `None` if there are none.
pub fn without_surrogates(json: &str) -> Option<String> {
    const LENGTH: usize = "\\udc00".len();
    let (mut whole, mut copied, mut at) = (String::new(), 0, 0);
    while let Some(found) = json[at..].find('\\') {
        at += found;
        at += match escape(json, at) {
            Some(0xd800..0xdc00) if matches!(escape(json, at + LENGTH), Some(0xdc00..0xe000)) => {
                2 * LENGTH
            }
            Some(0xd800..0xe000) => {
                whole += &json[copied..at];
                whole += "\\ufffd";
                copied = at + LENGTH;
                LENGTH
            }
            _ => 1 + json[at + 1..].chars().next().map_or(0, char::len_utf8),
        };
    }
    (copied > 0).then(|| whole + &json[copied..])
}

/// Replaces NaN and the infinities by `null`. Returns `None` if there are none.
pub(crate) fn without_odd_numbers(json: &str) -> Option<String> {
    let places = odd_numbers(json);
    let (mut whole, mut copied) = (String::new(), 0);
    for place in &places {
        whole += &json[copied..place.start];
        whole += "null";
        copied = place.end;
    }
    (!places.is_empty()).then(|| whole + &json[copied..])
}

/// Returns the places of NaN and of the infinities, which many programs write although JSON has no such numbers.
pub(crate) fn odd_numbers(json: &str) -> Vec<Range<usize>> {
    let (mut places, mut end, mut is_string) = (Vec::new(), 0, false);
    let mut rest = json.char_indices();
    while let Some((at, c)) = rest.next() {
        match c {
            '"' => is_string = !is_string,
            '\\' => drop(rest.next()),
            'N' | 'I' if !is_string && at >= end => {
                let mut names = ["NaN", "Infinity"].iter();
                if let Some(name) = names.find(|name| json[at..].starts_with(**name)) {
                    let start = at - usize::from(json[end..at].ends_with('-'));
                    end = at + name.len();
                    places.push(start..end);
                }
            }
            _ => {}
        }
    }
    places
}

/// Returns the number of the `\u` escape at `at`, if there is one.
fn escape(json: &str, at: usize) -> Option<u32> {
    let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
    let is_hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hexadecimal.then(|| u32::from_str_radix(digits, 16).ok())?
}

/// Returns the error's message, with the column only if it is in the first line of the record.
fn without_line(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match message.strip_suffix(&place) {
        Some(what) if error.line() == 1 => format!("{what} at column {}", error.column()),
        _ => message,
    }
}

#[cfg(test)]
mod tests {
    use super::{FieldPaths, record, values};
    use crate::formats::record::Record;
    use crate::skipped::Hint;

    const NAMES: FieldPaths<'_> = FieldPaths {
        id: "id",
        texts: &["text"],
    };

    #[test]
    fn records_have_an_id_and_a_text() {
        let good = record(br#"{"id": -7, "text": "a\u00e9", "url": 1}"#, NAMES).unwrap();
        assert_eq!(
            (good.id.as_deref(), good.decoded.text.as_str()),
            (Some("-7"), "aé")
        );
        for nameless in [
            r#"{"text": "b"}"#,
            r#"{"text": "b", "id": null}"#,
            r#"{"text": "b", "id": ""}"#,
        ] {
            let good = record(nameless.as_bytes(), NAMES).unwrap();
            assert_eq!((good.id, good.decoded.text.as_str()), (None, "b"));
        }
        let replaced = record(b"{\"id\": \"a\", \"text\": \"\xff\"}", NAMES)
            .unwrap()
            .decoded;
        assert!(replaced.encoding == "windows-1252" && replaced.text == "ÿ");
    }

    #[test]
    fn surrogates_alone_are_replaced() {
        for (line, id, text, is_lossy, replaced) in [
            (
                r#"{"id": "a", "text": "\ud83dx"}"#,
                "a",
                "\u{fffd}x",
                false,
                true,
            ),
            (
                r#"{"id": "\uDE00", "text": "x"}"#,
                "\u{fffd}",
                "x",
                true,
                false,
            ),
            (
                r#"{"id": "\ud83d\ude00", "text": "\ud83d\ud83d\ude00\\ud83d"}"#,
                "😀",
                "\u{fffd}😀\\ud83d",
                false,
                true,
            ),
            (
                r#"{"id": "a", "x": "\ud83d", "text": "x"}"#,
                "a",
                "x",
                false,
                false,
            ),
        ] {
            let good = record(line.as_bytes(), NAMES).unwrap();
            assert_eq!((good.id.as_deref(), good.is_lossy), (Some(id), is_lossy));
            assert_eq!(
                (&*good.decoded.text, good.decoded.replaced),
                (text, replaced)
            );
        }
        let fault = record(br#"{"text": "\ud83d"#, NAMES).unwrap_err();
        assert!(
            fault.detail.contains("EOF while parsing a string"),
            "{}",
            fault.detail
        );
    }

    #[test]
    fn numbers_that_json_does_not_have_are_passed_over() {
        for (line, text) in [
            (
                r#"{"score": NaN, "text": "NaN \"is\" -Infinity"}"#,
                "NaN \"is\" -Infinity",
            ),
            (
                r#"{"a": [-Infinity, Infinity,NaN], "text": "x", "b":NaN}"#,
                "x",
            ),
        ] {
            let good = record(line.as_bytes(), NAMES).unwrap();
            assert_eq!(good.decoded.text, text);
        }
        for bad in [
            r#"{"text": NaN}"#,
            r#"{"text": "x", "a": Nan}"#,
            r#"{"text": "x", "a": NaNaN}"#,
        ] {
            record(bad.as_bytes(), NAMES).unwrap_err();
        }
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
                "\"id\" is neither a string nor an integer of 64 bits",
            ),
            (
                r#"{"id": "a", "text": "b"} x"#,
                "not JSON: trailing characters at column 26",
            ),
            (
                r#"{"id": 1.5, "text": "b"}"#,
                "\"id\" is neither a string nor an integer of 64 bits",
            ),
            (
                r#"{"id": "a", "body": {"text": 1}}"#,
                "no field \"text\"; it has \"id\", \"body\"",
            ),
            ("{}", "no field \"text\"; it has no fields"),
            (
                r#"{"id": "a", "text": null}"#,
                "\"text\" is neither a string nor a list of strings",
            ),
        ] {
            let fault = record(bad.as_bytes(), NAMES).unwrap_err();
            assert_eq!(fault.detail, what);
            let hint = match what {
                what if what.starts_with("no field") => Some(Hint::TextField),
                what if what.starts_with("\"id\"") => Some(Hint::IdField),
                _ => None,
            };
            assert_eq!(fault.hint, hint);
        }
    }

    fn named(line: &str, id: &str, text: &str) -> Result<Record, String> {
        let texts = &[text];
        let record = record(line.as_bytes(), FieldPaths { id, texts });
        record.map_err(|fault| fault.detail)
    }

    #[test]
    fn texts_of_several_fields_are_joined() {
        for (line, expected) in [
            (
                r#"{"body": "b", "a": {"c": "c"}, "title": "t"}"#,
                Ok("t\nb\nc"),
            ),
            (r#"{"body": "b", "a": 1, "title": "t\n"}"#, Ok("t\n\nb")),
            (r#"{"body": null, "title": "", "a": {"c": "c"}}"#, Ok("c")),
            (r#"{"body": null, "title": ""}"#, Ok("")),
            (
                r#"{"text": "x", "a": {}}"#,
                Err("no field \"title\" or \"body\" or \"a.c\"; it has \"text\", \"a\""),
            ),
            (
                r#"{"body": null}"#,
                Err("\"body\" is neither a string nor a list of strings"),
            ),
            (r#"{"title": "t", "body": ["b", null, "d"]}"#, Ok("t\nb\nd")),
            (
                r#"{"title": "t", "body": 7}"#,
                Err("\"body\" is neither a string nor a list of strings"),
            ),
        ] {
            let names = FieldPaths {
                id: "id",
                texts: &["title", "body", "a.c"],
            };
            let found = record(line.as_bytes(), names);
            let found = found.map(|record| record.decoded.text);
            let found = found.as_deref().map_err(|fault| &*fault.detail);
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn a_list_of_strings_is_a_text_with_their_places() {
        let found = named(
            r#"{"id": 1, "a": {"b": ["x y", "", null, "z"]}}"#,
            "id",
            "a.b",
        )
        .unwrap();
        let (text, places) = (found.decoded.text, found.strings.unwrap());
        assert_eq!(text, "x y\nz");
        let strings: Vec<&str> = places.into_iter().map(|place| &text[place]).collect();
        assert_eq!(strings, ["x y", "", "", "z"]);
        let one = named(r#"{"a": {"b": "x"}}"#, "id", "a.b").unwrap();
        assert_eq!((one.decoded.text.as_str(), one.strings), ("x", None));
        let empty = named(r#"{"a": {"b": []}}"#, "id", "a.b").unwrap();
        assert_eq!(
            (empty.decoded.text.as_str(), empty.strings),
            ("", Some(vec![]))
        );
        for other in ["[1]", r#"["x", ["y"], "z"]"#, "[{}]"] {
            let line = format!(r#"{{"a": {{"b": {other}}}}}"#);
            let what = named(&line, "id", "a.b").unwrap_err();
            assert!(
                what.starts_with("\"a.b\" leads to a list, and not of strings"),
                "{what}"
            );
        }
    }

    #[test]
    fn brackets_lead_into_lists() {
        let chat = r#"{"chat": {"turns": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "A", "meta": {"lang": "en", "a.b": "c"}},
            {"role": "user", "content": null, "meta": null},
            {"role": "user", "tool": 1},
            {"role": "bot", "content": "B", "parts": [{"text": "p"}, {"text": "q", "kind": "x"}]}
        ]}, "a[]": "z", "none": [], "null": null}"#;
        for (path, expected) in [
            ("chat.turns[].content", Ok("Be kind.\nA\nB")),
            ("chat.turns[role=user].content", Ok("A")),
            ("chat.turns[role=nobody].content", Ok("")),
            (
                "chat.turns[rol=user].content",
                Err("no field \"chat.turns[rol=user].content\""),
            ),
            ("chat.turns[].text", Err("no field \"chat.turns[].text\"")),
            (
                "chat.turns[].parts[].txt",
                Err("no field \"chat.turns[].parts[].txt\""),
            ),
            (
                "null[].text",
                Err("is neither a string nor a list of strings"),
            ),
            ("chat.turns[meta.lang=en].meta.a.b", Ok("c")),
            ("chat.turns[].parts[].text", Ok("p\nq")),
            ("chat.turns[role=bot].parts[kind=x].text", Ok("q")),
            ("a[]", Ok("z")),
            ("none[].text", Ok("")),
            ("chat.turns[]", Err("leads to a value that is no string")),
            (
                "chat.turns[].meta",
                Err("leads to a value that is no string"),
            ),
            (
                "chat.turns[0].content",
                Err("leads to a value that is no string"),
            ),
            (
                "chat.turns[.content",
                Err("leads to a value that is no string"),
            ),
            (
                "chat[].content",
                Err("no field \"chat[].content\"; it has \"chat\""),
            ),
        ] {
            let found = named(chat, "id", path).map(|record| record.decoded.text);
            match (found, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{path}"),
                (Err(found), Err(expected)) => assert!(found.contains(expected), "{path}: {found}"),
                (found, _) => panic!("{path}: {found:?}"),
            }
        }
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
        for line in [
            r#"{"a": {"c": "y"}, "a.c": "z"}"#,
            r#"{"a.c": "z", "a": {"c": "y"}}"#,
        ] {
            let found = named(line, "a.c", "a.c").unwrap();
            assert_eq!(found.decoded.text, "z", "{line}");
            assert_eq!(found.id.as_deref(), Some("z"), "{line}");
            let ranks = values(line.as_bytes(), &["a.c".to_owned()]).unwrap();
            assert_eq!(ranks, [Some("z".to_owned())], "{line}");
        }
        let what = named(line, "id", "a.b").unwrap_err();
        assert_eq!(what, "\"a.b\" is neither a string nor a list of strings");
        let what = named(line, "id", "a.c.d").unwrap_err();
        let expected = "no field \"a.c.d\"; it has \"a\", \"a.c\", \"id\"";
        assert_eq!(what, expected);
        let what = named(line, "a", "a.c").unwrap_err();
        assert_eq!(what, "\"a\" is neither a string nor an integer of 64 bits");
    }
}
