//! Arrays of JSON objects as records.

use serde_json::{Value, json};

use crate::compressed::{gz, zst};
use crate::sandbox::{Sandbox, text};

/// Five records; the third is a copy of the first.
fn records() -> Vec<Value> {
    let text = |id: u64| if id == 2 { text(0, 40) } else { text(id, 40) };
    (0..5)
        .map(|id| json!({ "id": id, "text": text(id), "more": [{ "a": "], }" }, null] }))
        .collect()
}

#[test]
fn an_array_is_read_as_its_records() {
    let records = records();
    let lines: Vec<String> = records.iter().map(|record| format!("{record}\n")).collect();
    let sandbox = Sandbox::new();
    sandbox.write("lines.jsonl", lines.concat());
    sandbox.add(&["lines.jsonl"], 0);
    let expected = sandbox.contents();
    let pretty = serde_json::to_vec_pretty(&records).unwrap();
    let wide: Vec<u8> = format!("\u{feff}{}", json!(records))
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    for (name, bytes, more) in [
        ("a.json", json!(records).to_string().into_bytes(), &[][..]),
        ("a.JSON", pretty.clone(), &[]),
        ("a.json.gz", gz(&pretty), &[]),
        ("a.jsonl", pretty.clone(), &[]),
        ("a.json.zst", zst(&pretty), &[]),
        ("a.json", wide, &[]),
        ("a.txt", pretty.clone(), &["--format", "json"]),
    ] {
        let sandbox = Sandbox::new();
        sandbox.write(name, bytes);
        let summary = sandbox.add(&[&[name], more].concat(), 0);
        assert_eq!(summary["added"], 5, "{name}");
        assert_eq!(sandbox.contents(), expected, "{name}");
    }
    let sandbox = Sandbox::new();
    sandbox
        .run_with(&["add", "-", "--format", "json"], &pretty)
        .expect(0);
    assert_eq!(sandbox.contents(), expected);
}

#[test]
fn other_json_is_one_text() {
    let sandbox = Sandbox::new();
    for json in ["{\"a\": [{}]}", "[1, 2]", "", "[\"a\", [{}]]"] {
        sandbox.write("a.json", json);
        let ran = sandbox.run(&["add", "a.json"]).expect(0);
        assert_eq!(sandbox.keys(), ["a.json"], "{json}");
        let is_told = ran
            .stderr
            .contains("a.json: a JSON array is read as one text");
        assert_eq!(is_told, json.starts_with('['), "{}", ran.stderr);
    }
    sandbox.write("notes.txt", "[{\"text\": \"a\"}]");
    let ran = sandbox.run(&["add", "notes.txt"]).expect(0);
    assert!(ran.stderr.contains("give --format json"), "{}", ran.stderr);
}

#[test]
fn an_array_whose_first_element_is_no_object_has_records() {
    let sandbox = Sandbox::new();
    for first in ["null", "\"a\"", "[1, {}]"] {
        sandbox.write(
            "a.json",
            format!("[{first}, {{\"id\": 1, \"text\": \"one\"}}]"),
        );
        let ran = sandbox.run(&["add", "a.json"]).expect(2);
        assert!(
            ran.stderr.contains("a.json#1: not a JSON object"),
            "{}",
            ran.stderr
        );
        assert_eq!(sandbox.keys(), ["1"]);
    }
}

#[test]
fn an_array_has_the_names_of_its_records_in_messages() {
    let sandbox = Sandbox::new();
    let records = "[{\"text\": \"one\"},\n{\"body\": 1}, 3,\n {\"id\": \"x\", \"text\": \"four\"}]";
    sandbox.write("a.json", records);
    let ran = sandbox.run(&["add", "a.json"]).expect(2);
    assert!(
        ran.stderr.contains("a.json#2: no field \"text\""),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("a.json#3: not a JSON object"),
        "{}",
        ran.stderr
    );
    assert_eq!(sandbox.keys(), ["a.json#1", "x"]);
}

#[test]
fn dedup_gives_an_array_back_or_lines() {
    let sandbox = Sandbox::new();
    let records = records();
    sandbox.write("in/a.json", serde_json::to_vec_pretty(&records).unwrap());
    let mut kept = records.clone();
    kept.remove(2);
    let array = |name: &str| -> Value {
        serde_json::from_slice(&std::fs::read(sandbox.path(name)).unwrap()).unwrap()
    };
    for more in [&["--keep", "first"][..], &["--keep", "longest"]] {
        for (output, written) in [("one.json", "one.json"), ("out", "out/a.json")] {
            let input = if output == "out" { "in" } else { "in/a.json" };
            let dedup = ["dedup", input, "-o", output, "--force"];
            sandbox.run(&[&dedup, more].concat()).expect(0);
            assert_eq!(array(written), json!(kept));
        }
        let dedup = ["dedup", "in/a.json", "-o", "lines.jsonl", "--force"];
        sandbox.run(&[&dedup, more].concat()).expect(0);
        let lines = std::fs::read_to_string(sandbox.path("lines.jsonl")).unwrap();
        let lines: Vec<Value> = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines, kept);
    }
    sandbox
        .run(&["dedup", "lines.jsonl", "in/a.json", "-o", "both.json"])
        .expect(0);
    assert_eq!(array("both.json"), json!(kept));
    sandbox
        .run(&["dedup", "in/a.json", "-o", "m.json", "--mark", "dup"])
        .expect(0);
    let marked = array("m.json");
    assert_eq!(marked[2]["dup_keep"], false);
    assert_eq!(marked.as_array().unwrap().len(), 5);
    sandbox
        .run(&[
            "dedup",
            "one.json",
            "--against",
            "lines.jsonl",
            "-o",
            "none.json",
        ])
        .expect(0);
    assert_eq!(array("none.json"), json!([]));
    let ran = sandbox.run(&["dedup", "none.json", "lines.jsonl", "-o", "again.json"]);
    let said = ran.expect(0).stderr;
    assert!(said.contains("none.json: "), "{said}");
    assert_eq!(array("again.json"), json!(kept));
}
