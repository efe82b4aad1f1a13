//! Records that give no document, when all records are written with marks.

use std::collections::BTreeMap;
use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::Field;
use parquet::schema::parser::parse_message_type;
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, text};

const KEEP: [&str; 3] = ["first", "longest", "none"];

/// Marks a file of which something cannot be read. Returns the output and the summary.
fn marked(sandbox: &Sandbox, input: &str, keep: &str) -> (String, Value) {
    let output = format!("{keep}-{input}");
    let arguments = [
        "--json", "dedup", input, "-o", &output, "--mark", "x", "--keep", keep,
    ];
    let ran = sandbox.run(&arguments).expect(2);
    let notes = ran.stderr.lines();
    let notes = notes.filter(|line| line.contains(" no document: "));
    assert_eq!(notes.count(), 1, "{}", ran.stderr);
    let output = std::fs::read(sandbox.path(output)).unwrap();
    (
        String::from_utf8_lossy(&output).into_owned(),
        ran.objects()[0].clone(),
    )
}

#[test]
fn lines_without_a_text_stay_and_have_null_marks() {
    let sandbox = Sandbox::new();
    let words = text(1, 50);
    let lines = [
        json!({ "id": 1, "text": words }).to_string(),
        "{\"id\": 2, \"text\": null }".to_owned(),
        "{}".to_owned(),
        "no JSON".to_owned(),
        "[1]".to_owned(),
        json!({ "id": 3, "text": words }).to_string(),
        json!({ "text": 7, "id": "x".repeat(70_000) }).to_string(),
        json!({ "text": words, "id": "y".repeat(70_000) }).to_string(),
    ];
    sandbox.write("in.jsonl", lines.join("\n"));
    for keep in KEEP {
        let (output, done) = marked(&sandbox, "in.jsonl", keep);
        let found: Vec<&str> = output.lines().collect();
        // What is not an object can have no fields.
        assert_eq!(found.len(), 6, "{output}");
        assert_eq!(done["unmarked"], 4, "{done}");
        assert_eq!(done["skipped"]["bad record"], 6, "{done}");
        let nulls =
            "\"x_keep\":null,\"x_cluster\":null,\"x_representative\":null,\"x_similarity\":null}";
        assert_eq!(found[1], format!("{{\"id\": 2, \"text\": null ,{nulls}"));
        assert_eq!(found[2], format!("{{{nulls}"));
        let value = |at: usize| -> Value { serde_json::from_str(found[at]).unwrap() };
        assert_eq!(value(3)["x_representative"], "1");
        let cluster = value(3)["x_cluster"].as_u64().unwrap();
        assert!(cluster < 1 << 53, "all readers of JSON keep it");
        for at in [4, 5] {
            assert_eq!(value(at)["x_keep"], Value::Null, "{}", found[at]);
        }
    }
    // Without marks they are left out, reported and counted.
    let ran = sandbox
        .run(&["dedup", "in.jsonl", "-o", "out.jsonl"])
        .expect(2);
    assert!(ran.stderr.contains("in.jsonl:2: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("6 bad records"), "{}", ran.stderr);
    let against = [
        "--json",
        "dedup",
        "in.jsonl",
        "-o",
        "a.jsonl",
        "--mark",
        "x",
        "--against",
        "out.jsonl",
    ];
    let done = sandbox.run(&against).expect(2).objects()[0].clone();
    assert_eq!(done["unmarked"], 3, "{done}");
}

#[test]
fn a_line_without_a_text_that_is_marked_before_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", "{\"id\": 1, \"x_keep\": null}\n");
    for keep in KEEP {
        let marked = [
            "dedup", "in.jsonl", "-o", "out", "--mark", "x", "--keep", keep,
        ];
        let ran = sandbox.run(&marked).expect(2);
        assert!(
            ran.stderr.contains("in.jsonl:1: x_keep: it has"),
            "{}",
            ran.stderr
        );
        assert!(!sandbox.path("out").exists());
    }
}

#[test]
fn rows_that_are_cut_short_stay_and_have_empty_marks() {
    let sandbox = Sandbox::new();
    let words = text(1, 50);
    for (name, tab) in [("in.csv", ","), ("in.tsv", "\t")] {
        let rows = format!("id,text,url\n1,{words},u\n2\n3,{words}\n4,{words},v\n");
        sandbox.write(name, rows.replace(',', tab));
        for keep in KEEP {
            let (output, done) = marked(&sandbox, name, keep);
            assert_eq!(done["unmarked"], 2, "{done}");
            let rows: Vec<Vec<&str>> = output.lines().map(|row| row.split(tab).collect()).collect();
            assert!(rows.iter().all(|row| row.len() == 7), "{output}");
            assert_eq!(rows[2], ["2", "", "", "", "", "", ""]);
            assert_eq!(rows[3], ["3", &words, "", "", "", "", ""]);
            assert_eq!((rows[1][5], rows[4][5]), ("1", "1"));
        }
    }
}

/// A file of two groups of rows, some of which have no text.
fn nullable(texts: &[Option<&str>]) -> Vec<u8> {
    let schema = parse_message_type("message m { optional binary text (UTF8); }").unwrap();
    let mut file = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::default()).unwrap();
    for texts in texts.chunks(3) {
        let mut group = file.next_row_group().unwrap();
        let values: Vec<ByteArray> = texts
            .iter()
            .copied()
            .flatten()
            .map(ByteArray::from)
            .collect();
        let levels: Vec<i16> = texts.iter().map(|text| text.is_some().into()).collect();
        let mut column = group.next_column().unwrap().unwrap();
        let typed = column.typed::<ByteArrayType>();
        typed.write_batch(&values, Some(&levels), None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    file.into_inner().unwrap()
}

#[test]
fn rows_of_parquet_without_a_text_have_null_marks() {
    let sandbox = Sandbox::new();
    let (one, two) = (text(1, 50), text(2, 50));
    let texts = [Some(&*one), None, Some(&two), Some(&one), None];
    sandbox.write("in.parquet", nullable(&texts));
    for keep in KEEP {
        let (_, done) = marked(&sandbox, "in.parquet", keep);
        assert_eq!(done["unmarked"], 2, "{done}");
        let file = std::fs::File::open(sandbox.path(format!("{keep}-in.parquet"))).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let found = reader.get_row_iter(None).unwrap();
        let found = found.map(|row| row.unwrap().into_columns());
        let found: Vec<BTreeMap<String, Field>> =
            found.map(|row| row.into_iter().collect()).collect();
        assert_eq!(found.len(), 5);
        for (row, text) in found.iter().zip(texts) {
            let expected = text.map_or(Field::Null, |text| Field::Str(text.to_owned()));
            assert_eq!(row["text"], expected);
            for mark in ["keep", "cluster", "representative", "similarity"] {
                let is_null = row[&format!("x_{mark}")] == Field::Null;
                assert_eq!(is_null, text.is_none(), "{row:?}");
            }
        }
        for mark in ["x_cluster", "x_representative"] {
            assert_eq!(found[3][mark], found[0][mark], "{keep}");
        }
        // Written as lines, they are the same.
        let lines = format!("{keep}.jsonl");
        let arguments = [
            "dedup",
            "in.parquet",
            "-o",
            &lines,
            "--mark",
            "x",
            "--keep",
            keep,
        ];
        sandbox.run(&arguments).expect(2);
        let lines = std::fs::read_to_string(sandbox.path(lines)).unwrap();
        let lines: Vec<Value> = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 5);
        assert_eq!(lines[1]["x_keep"], Value::Null);
        assert_eq!(
            lines[3]["x_cluster"].to_string(),
            found[3]["x_cluster"].to_string()
        );
    }
}
