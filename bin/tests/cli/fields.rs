//! Texts of several fields.

use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::dedup_parquet::column;
use crate::parquet::parquet;
use crate::sandbox::Sandbox;

const FIELDS: [&str; 4] = ["--text-field", "title", "--text-field", "body"];

/// The arguments, and those of two fields.
fn with_fields<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [arguments, &FIELDS].concat()
}

#[test]
fn texts_of_several_fields_are_joined_in_their_order() {
    let sandbox = Sandbox::new();
    sandbox.write("whole.txt", "The night tram\nruns again from Friday on");
    sandbox.add(&["whole.txt"], 0);
    sandbox.write(
        "x.jsonl",
        concat!(
            r#"{"id": "j", "body": "runs again from Friday on", "title": "The night tram"}"#,
            "\n",
            r#"{"id": "k", "body": "The night tram\nruns again from Friday on", "title": null}"#,
            "\n",
            r#"{"id": "l", "title": "The night tram\nruns again from Friday on"}"#,
        ),
    );
    sandbox.write("y.csv", "id,body,title\nc,runs again from Friday on,The night tram\nd,,\"The night tram\nruns again from Friday on\"\n");
    sandbox.write(
        "z.tsv",
        "id\tbody\ttitle\nt\truns again from Friday on\tThe night tram\n",
    );
    for (file, keys) in [
        ("x.jsonl", &["j", "k", "l"][..]),
        ("y.csv", &["c", "d"]),
        ("z.tsv", &["t"]),
    ] {
        let expected: Vec<String> = keys
            .iter()
            .map(|key| format!("{key}\twhole.txt\t1.0000\texact copy"))
            .collect();
        let ran = sandbox.run(&with_fields(&["query", file])).expect(0);
        assert_eq!(ran.lines(), expected, "{file}");
    }
    let schema = "message m { optional binary title (UTF8); required binary body (UTF8); }";
    let rows = [
        (
            Some("The night tram"),
            "runs again from Friday on".to_owned(),
        ),
        (None, "The night tram\nruns again from Friday on".to_owned()),
    ];
    sandbox.write("v.parquet", parquet(schema, &rows, 9, Compression::SNAPPY));
    let ran = sandbox.run(&with_fields(&["query", "v.parquet"])).expect(0);
    let copy = "whole.txt\t1.0000\texact copy";
    let expected = [1, 2].map(|row| format!("v.parquet#{row}\t{copy}"));
    assert_eq!(ran.lines(), expected);
    // A column that is named twice counts once.
    let twice = [&FIELDS[..], &["--text-field", "1"]].concat();
    let ran = sandbox.run(&[&["query", "v.parquet"], &twice[..]].concat());
    assert_eq!(ran.expect(0).lines(), expected);
}

#[test]
fn records_and_tables_without_the_fields_are_named() {
    let sandbox = Sandbox::new();
    sandbox.write("x.jsonl", "{\"text\": \"some words\"}\n");
    sandbox.write("y.csv", "title,text\nsome,words\n");
    for (file, said) in [
        ("x.jsonl", "no field \"title\" or \"body\"; it has \"text\""),
        (
            "y.csv",
            "it has no column \"body\", its first row is \"title\", \"text\"",
        ),
    ] {
        let ran = sandbox.run(&with_fields(&["add", file])).expect(2);
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
}

#[test]
fn nothing_is_cut_from_the_text_of_several_fields() {
    let sandbox = Sandbox::new();
    sandbox.write("x.jsonl", "{\"title\": \"some\", \"body\": \"words\"}\n");
    sandbox.write("bench.txt", "It asks who painted the crane in the harbour.");
    let said = "x.jsonl: its text cannot be cut, because it was extracted, or is in a list or in several fields";
    for cut in [
        &["dedup", "x.jsonl", "-o", "out.jsonl", "--unit", "line"][..],
        &["dedup", "x.jsonl", "-o", "out.jsonl", "--cut-passages", "9"],
        &[
            "decontaminate",
            "x.jsonl",
            "-o",
            "out.jsonl",
            "--against",
            "bench.txt",
            "--action",
            "cut",
        ],
    ] {
        for fields in [&FIELDS[..], &["--text-field", "parts[].text"]] {
            let ran = sandbox.run(&[cut, fields].concat()).expect(2);
            assert!(ran.stderr.contains(said), "{}", ran.stderr);
        }
    }
    sandbox.write("x.jsonl", "{\"text\": [\"some words\", \"some words\"]}\n");
    let cut = ["dedup", "x.jsonl", "-o", "out.jsonl", "--unit", "line"];
    let ran = sandbox.run(&[&cut[..], &["--min-words", "2"]].concat());
    let ran = ran.expect(2);
    assert!(
        ran.stderr.contains("x.jsonl:1: its text cannot be cut"),
        "{}",
        ran.stderr
    );
}

/// A file of one row: the turns of a chat, and a list of strings.
fn chat() -> Vec<u8> {
    let schema = "message m { required binary id (UTF8);
        optional group chat (LIST) { repeated group list { optional group element {
            optional binary role (UTF8); optional binary content (UTF8); } } }
        optional group tags (LIST) { repeated group list { optional binary element (UTF8); } } }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
    let mut group = file.next_row_group().unwrap();
    let strings = |strings: &[&str]| -> Vec<ByteArray> {
        strings
            .iter()
            .map(|string| ByteArray::from(*string))
            .collect()
    };
    column::<ByteArrayType>(&mut group, &strings(&["j"]), None, None);
    let said = ["Where does the tram go?", "To the harbour.", "And when?"];
    let (roles, said) = (strings(&["user", "bot", "user"]), strings(&said));
    for values in [roles, said] {
        column::<ByteArrayType>(&mut group, &values, Some(&[4, 4, 4]), Some(&[0, 1, 1]));
    }
    let tags = strings(&["Where does the tram go?", "And when?"]);
    column::<ByteArrayType>(&mut group, &tags, Some(&[3, 2, 3]), Some(&[0, 1, 1]));
    group.close().unwrap();
    file.into_inner().unwrap()
}

#[test]
fn texts_in_lists_are_found_at_the_end_of_paths() {
    let sandbox = Sandbox::new();
    sandbox.write("whole.txt", "Where does the tram go?\nAnd when?");
    sandbox.write(
        "all.txt",
        "Where does the tram go?\nTo the harbour.\nAnd when?",
    );
    sandbox.add(&["whole.txt", "all.txt"], 0);
    let tram = r#"{"role": "user", "content": "Where does the tram go?"}"#;
    let harbour = r#"{"role": "bot", "content": "To the harbour.", "tool": null}"#;
    let when = r#"{"role": "user", "content": "And when?"}"#;
    let list = r#""tags": ["Where does the tram go?", "", "And when?"]"#;
    sandbox.write(
        "x.jsonl",
        format!("{{\"id\": \"j\", \"chat\": [{tram}, {harbour}, {when}], {list}}}\n"),
    );
    sandbox.write("x.parquet", chat());
    let copy = "whole.txt\t1.0000\texact copy";
    for file in ["x.jsonl", "x.parquet"] {
        for path in ["chat[role=user].content", "tags", "tags[]"] {
            let ran = sandbox
                .run(&["query", file, "--text-field", path])
                .expect(0);
            assert_eq!(ran.lines(), [format!("j\t{copy}")], "{file} {path}");
        }
        let all = ["query", file, "--text-field", "chat[].content"];
        let ran = sandbox.run(&all).expect(0);
        assert_eq!(ran.lines(), ["j\tall.txt\t1.0000\texact copy"]);
        let ran = sandbox
            .run(&["query", file, "--text-field", "chat"])
            .expect(2);
        let said = "\"chat\" leads to a list, and not of strings";
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
    let ran = sandbox.run(&["query", "x.parquet", "--text-field", "nothing[].text"]);
    let said = "it has no column \"nothing[].text\", its columns are";
    assert!(ran.expect(2).stderr.contains(said));
    // All of a table's columns are written again.
    let paths = ["--text-field", "chat[].content"];
    sandbox
        .run(&[&["dedup", "x.parquet", "-o", "out.parquet"], &paths[..]].concat())
        .expect(0);
    let ran = sandbox
        .run(&["query", "out.parquet", "--text-field", "tags"])
        .expect(0);
    assert_eq!(ran.lines(), [format!("j\t{copy}")]);
    let cut = [
        "dedup",
        "x.parquet",
        "-o",
        "cut.parquet",
        "--unit",
        "line",
        "--text-field",
        "tags",
    ];
    assert!(
        sandbox
            .run(&cut)
            .expect(2)
            .stderr
            .contains("its text cannot be cut")
    );
}

#[test]
fn paths_that_lead_nowhere_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("x.jsonl", "{\"text\": \"some words\"}\n");
    for path in [
        "",
        "a.",
        "a..b",
        "messages[",
        "messages[0].content",
        "messages[role=].content",
        "messages[=user].content",
        "messages[]content",
        "messages[].",
        "messages[].content[0]",
        "[role=].content",
        "[].content",
    ] {
        let against = ["decontaminate", "x.jsonl", "--against", "x.jsonl"];
        for asked in [
            &["add", "x.jsonl", "--text-field", path][..],
            &[&against[..], &["--against-field", path]].concat(),
        ] {
            let ran = sandbox.run(asked).expect(2);
            assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
            let has_form = path.is_empty() || ran.stderr.contains("messages[].content and");
            assert!(has_form, "{path}: {}", ran.stderr);
        }
    }
}

#[test]
fn a_condition_that_holds_nowhere_is_told() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "x.jsonl",
        "{\"chat\": [{\"role\": \"user\", \"content\": \"some words\"}]}\n",
    );
    sandbox.write("bench.txt", "It asks who painted the crane in the harbour.");
    let told = "all texts are empty: no record has what \"chat[role=nobody].content\" of --text-field asks for\n";
    for asked in [
        &["add", "x.jsonl"][..],
        &["dedup", "x.jsonl", "-o", "out.jsonl", "--force"],
        &["decontaminate", "x.jsonl", "--against", "bench.txt"],
    ] {
        let run = |field| {
            sandbox
                .run(&[asked, &["--text-field", field]].concat())
                .expect(0)
        };
        let said = run("chat[role=nobody].content").stderr;
        assert!(said.contains(told), "{said}");
        let said = run("chat[role=user].content").stderr;
        assert!(!said.contains("all texts are empty"), "{said}");
    }
}
