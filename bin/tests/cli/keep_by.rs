//! Which of several similar records stays, by the values of their fields.

use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;

use parquet::data_type::{ByteArrayType, FixedLenByteArray, FixedLenByteArrayType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde_json::{Value, json};

use crate::dedup_parquet::{bytes, column};
use crate::sandbox::{Sandbox, text};

/// A record: id, score in tenths, date, source and rank.
type Fields = (
    &'static str,
    Option<i128>,
    &'static str,
    Option<&'static str>,
    i64,
);

/// Records of one text. Two of the scores are the same as floats.
const RECORDS: [Fields; 5] = [
    (
        "a",
        Some(90_071_992_547_409_920),
        "2024-03-01",
        Some("web"),
        2,
    ),
    (
        "b",
        Some(90_071_992_547_409_930),
        "2024-02-29T23:59:59Z",
        Some("books"),
        2,
    ),
    ("c", Some(95), "2024-01-01T00:30:00+01:00", Some("wiki"), 3),
    ("d", None, "2024-01-01", None, 10),
    ("e", Some(-5), "2024-02-30", Some("web"), 9),
];

/// What is asked for, and the ids that are kept.
const QUESTIONS: [(&str, &str); 14] = [
    ("--keep-by score", "b"),
    ("--keep-by -score", "e"),
    ("--keep-by=-score", "e"),
    // A date that does not exist is a text.
    ("--keep-by date", "a"),
    ("--keep-by -date", "c"),
    ("--keep-by rank", "d"),
    ("--keep-by -rank", "a"),
    ("--keep-by -rank,score", "b"),
    ("--keep-by -rank --keep-by=-score", "a"),
    ("--prefer source=wiki,books", "c"),
    ("--prefer source=news,books,wiki", "b"),
    ("--prefer source=web --keep-by -score", "e"),
    ("--keep-by score --keep 2", "ab"),
    ("--keep-by -rank --keep newest", "b"),
];

fn score(tenths: i128) -> String {
    let sign = if tenths < 0 { "-" } else { "" };
    let tenths = tenths.abs();
    format!("{sign}{}.{}", tenths / 10, tenths % 10)
}

fn json_line(record: usize, text: &str) -> String {
    let (id, tenths, date, source, rank) = RECORDS[record];
    let tenths = tenths.map_or("null".to_owned(), score);
    let source = source.map_or(String::new(), |it| format!(", \"source\": \"{it}\""));
    format!(
        "{{\"id\": \"{id}\", \"score\": {tenths}, \"date\": \"{date}\"{source}, \"rank\": {rank}, \"text\": \"{text}\"}}"
    )
}

/// A table with this separator between cells.
fn table(separator: &str, text: &str) -> String {
    let mut table = ["id", "score", "date", "source", "rank", "text"].join(separator) + "\n";
    for (id, tenths, date, source, rank) in RECORDS {
        let (tenths, rank) = (tenths.map_or(String::new(), score), rank.to_string());
        let cells = [id, &tenths, date, source.unwrap_or_default(), &rank, text];
        writeln!(table, "{}", cells.join(separator)).unwrap();
    }
    table
}

fn parquet_table(text: &str) -> Vec<u8> {
    let schema = "message rows {
        required binary id (UTF8);
        optional fixed_len_byte_array(9) score (DECIMAL(20, 1));
        required binary date (UTF8);
        optional binary source (UTF8);
        required int64 rank;
        repeated int64 list;
        required binary text (UTF8);
    }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = Arc::new(WriterProperties::default());
    let mut file = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
    let mut rows = file.next_row_group().unwrap();
    let number = |tenths: i128| {
        let bytes = tenths.to_le_bytes();
        FixedLenByteArray::from(bytes[..9].iter().rev().copied().collect::<Vec<u8>>())
    };
    let scores: Vec<_> = RECORDS.iter().filter_map(|it| it.1).map(number).collect();
    let sources: Vec<_> = RECORDS.iter().filter_map(|it| it.3).map(bytes).collect();
    let is_there = |it: bool| i16::from(it);
    column::<ByteArrayType>(&mut rows, &RECORDS.map(|it| bytes(it.0)), None, None);
    let levels = RECORDS.map(|it| is_there(it.1.is_some()));
    column::<FixedLenByteArrayType>(&mut rows, &scores, Some(&levels), None);
    column::<ByteArrayType>(&mut rows, &RECORDS.map(|it| bytes(it.2)), None, None);
    let levels = RECORDS.map(|it| is_there(it.3.is_some()));
    column::<ByteArrayType>(&mut rows, &sources, Some(&levels), None);
    column::<Int64Type>(&mut rows, &RECORDS.map(|it| it.4), None, None);
    column::<Int64Type>(&mut rows, &[7; 5], Some(&[1; 5]), Some(&[0; 5]));
    column::<ByteArrayType>(&mut rows, &[text; 5].map(bytes), None, None);
    rows.close().unwrap();
    file.into_inner().unwrap()
}

/// Runs `dedup` with what is asked for, and returns its summary.
fn run(sandbox: &Sandbox, arguments: &str) -> Value {
    let all = format!("--json dedup --force {arguments}");
    let all: Vec<&str> = all.split(' ').collect();
    sandbox.run(&all).expect(0).objects()[0].clone()
}

/// The ids in an output.
fn ids(sandbox: &Sandbox, output: &str, store: &str) -> String {
    let store = &format!("{store}.store");
    sandbox.run(&["--store", store, "add", output]).expect(0);
    let listed = sandbox.run(&["--store", store, "--json", "list"]);
    let listed = listed.expect(0).objects();
    let ids = listed.iter().map(|it| it["key"].as_str().unwrap());
    ids.collect()
}

#[test]
fn all_formats_have_the_same_order() {
    let sandbox = Sandbox::new();
    let text = text(1, 40);
    let lines: Vec<String> = (0..5).map(|record| json_line(record, &text)).collect();
    sandbox.write("in.jsonl", lines.join("\n"));
    sandbox.write("in.json", format!("[{}]", lines.join(", ")));
    sandbox.write("in.csv", table(",", &text));
    sandbox.write("in.tsv", table("\t", &text));
    sandbox.write("in.parquet", parquet_table(&text));
    for (at, (question, expected)) in QUESTIONS.into_iter().enumerate() {
        for extension in ["jsonl", "json", "csv", "tsv", "parquet"] {
            let out = format!("out.{extension}");
            let summary = run(&sandbox, &format!("in.{extension} -o {out} {question}"));
            let found = ids(&sandbox, &out, &format!("{at}{extension}"));
            assert_eq!(found, expected, "{extension} {question}");
            assert_eq!(summary["kept"], expected.len(), "{extension} {question}");
            if question == "--keep-by score" {
                assert_eq!(summary["without_field"], json!({ "score": 1 }));
            }
        }
    }
    // Rows of Parquet that become lines, and files in a folder.
    run(&sandbox, "in.parquet -o lines.jsonl --keep-by rank");
    assert_eq!(ids(&sandbox, "lines.jsonl", "lines"), "d");
    let out = run(
        &sandbox,
        "in.parquet in.jsonl in.tsv -o out/ --prefer source=books",
    );
    assert_eq!(out["without_field"], json!({ "source": 3 }));
    assert_eq!(ids(&sandbox, "out/in.parquet", "out"), "b");
}

#[test]
fn fields_may_lie_in_others_and_be_numbers_of_columns() {
    let sandbox = Sandbox::new();
    let text = text(1, 40);
    let line =
        |id: &str, fields: &str| format!("{{\"id\":\"{id}\",{fields},\"text\":\"{text}\"}}\n");
    let nested = line("a", "\"m\":{\"s\":{\"n\":2}}") + &line("b", "\"m.s.n\":\"1e1\"");
    let odd = line("c", "\"m\":{\"s\":null,\"x\":NaN}") + &line("d", "\"m\":{\"s\":{\"n\":NaN}}");
    sandbox.write("in.jsonl", nested + &odd);
    let done = run(&sandbox, "in.jsonl -o out.jsonl --keep-by m.s.n");
    assert_eq!(done["without_field"], json!({ "m.s.n": 2 }));
    assert_eq!(ids(&sandbox, "out.jsonl", "nested"), "b");
    sandbox.write("in.csv", format!("x,\"1,5\",{text}\ny,\" 7\",{text}\n"));
    let columns = "--text-field 3 --id-field 1 -o out.csv --keep-by 2";
    run(&sandbox, &format!("in.csv {columns}"));
    let kept = fs::read_to_string(sandbox.path("out.csv")).unwrap();
    assert_eq!(kept, format!("y,\" 7\",{text}\n"));
}

#[test]
fn stored_and_protected_documents_come_first() {
    let sandbox = Sandbox::new();
    let text = text(1, 40);
    for (record, (id, ..)) in RECORDS.iter().enumerate().take(3) {
        sandbox.write(format!("in/{id}.jsonl"), json_line(record, &text) + "\n");
    }
    run(&sandbox, "in/ -o out/ --keep-by score --protect a.jsonl");
    assert_eq!(ids(&sandbox, "out", "protected"), "a");
    sandbox.write("in/other.jsonl", other(3));
    run(&sandbox, "in/ -o none/ --keep-by score --keep none");
    assert_eq!(ids(&sandbox, "none", "none"), "other3");
    let stored = run(&sandbox, "in/ -o out2/ --store day --keep-by -score");
    assert_eq!(
        (&stored["kept"], &stored["dropped"]),
        (&json!(2), &json!(2))
    );
    sandbox.write("next.jsonl", json_line(4, &text) + "\n" + &other(2));
    let next = run(
        &sandbox,
        "next.jsonl -o next2.jsonl --store day --keep-by -score",
    );
    assert_eq!(next["of_history"]["exact_copies"], 1);
    assert_eq!(ids(&sandbox, "next2.jsonl", "next"), "other2");
}

/// A line of another text.
fn other(seed: u64) -> String {
    let text = text(seed, 40);
    format!("{{\"id\":\"other{seed}\",\"score\":1,\"text\":\"{text}\"}}\n")
}

#[test]
fn what_cannot_be_ranked_is_refused_by_name() {
    let sandbox = Sandbox::new();
    let text = text(1, 40);
    let line = format!(
        "{{\"id\":1,\"tags\":[],\"meta\":{{\"a\":1}},\"none\":null,\"text\":\"{text}\"}}\n"
    );
    sandbox.write("in.jsonl", line);
    sandbox.write("in.parquet", parquet_table(&text));
    sandbox.write("twice.csv", format!("a,a,text\n1,2,{text}\n"));
    sandbox.write("folder/a.txt", &text);
    for (arguments, expected) in [
        ("in.jsonl --keep-by tags", "in.jsonl:1: \"tags\" is a list"),
        (
            "in.jsonl --prefer meta=1",
            "in.jsonl:1: \"meta\" has nested fields",
        ),
        (
            "in.parquet --keep-by list",
            "in.parquet#1: \"list\" is a list",
        ),
        (
            "in.jsonl --keep-by scor",
            "no document has a value of \"scor\"; the first one has \"id\", \"tags\", \"meta\", \"none\", \"text\"",
        ),
        (
            "in.jsonl --keep-by none",
            "no document has a value of \"none\"",
        ),
        (
            "in.parquet --keep-by scor",
            "no document has a value of \"scor\"; the first one has \"id\", \"score\", \"date\"",
        ),
        (
            "twice.csv --keep-by a",
            "twice.csv: several columns are called \"a\"",
        ),
        ("folder --keep-by a", "these documents have no fields"),
        ("in.jsonl --keep-by=", "names no field"),
        ("in.jsonl --keep-by --x", "\"--x\" names no field"),
        ("in.jsonl --prefer source", "such as source=wiki,books"),
        ("in.jsonl --keep-by id --unit line", "cannot be used with"),
        (
            "in.jsonl --keep-by id --against in.parquet",
            "cannot be used with",
        ),
        (
            "in.jsonl --prefer id=1 --containment 0.8",
            "cannot be used with",
        ),
    ] {
        let all = format!("dedup -o out {arguments}");
        let all: Vec<&str> = all.split(' ').collect();
        let ran = sandbox.run(&all).expect(2);
        assert!(ran.stderr.contains(expected), "{arguments}: {}", ran.stderr);
        assert!(!sandbox.path("out").exists(), "{arguments}");
    }
}
