//! Texts of several fields.

use parquet::basic::Compression;

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
    let said = "dedupdb: what is left of a text that is cut goes back into its field; name one text field\n";
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
        let ran = sandbox.run(&with_fields(cut)).expect(2);
        assert_eq!(ran.stderr, said);
    }
}
