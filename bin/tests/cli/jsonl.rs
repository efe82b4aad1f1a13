//! `add` and `query` of files of records.

use serde_json::json;

use crate::sandbox::{Sandbox, text};

#[test]
fn records_are_documents() {
    let sandbox = Sandbox::with_testdata();
    let summary = sandbox.add(&["pages.jsonl"], 0);
    assert_eq!(summary["added"], 13);
    assert_eq!(sandbox.keys()[0], "page-01");
    assert_eq!(sandbox.add(&["pages.jsonl"], 0)["unchanged"], 13);
    sandbox.run(&["show", "pages.jsonl"]).expect(2);
}

#[test]
fn broken_records_are_reported_and_the_rest_is_added() {
    let sandbox = Sandbox::new();
    let long = "k".repeat(70_000);
    let lines = [
        "\u{feff}{\"id\": \"first\", \"text\": \"one\"}".to_owned(),
        "{\"id\": \"cut".to_owned(),
        "[]".to_owned(),
        String::new(),
        "{\"text\": 5}".to_owned(),
        "{\"id\": true, \"text\": \"x\"}".to_owned(),
        "{\"id\": \"\", \"text\": \"x\"}".to_owned(),
        "{\"id\": \"no text\"}".to_owned(),
        format!("{{\"id\": \"{long}\", \"text\": \"x\"}}"),
        "{\"id\": 17, \"text\": \"a number\"}\r".to_owned(),
        "{\"id\": \"last\", \"text\": \"without a line end\"}".to_owned(),
    ];
    sandbox.write("x.jsonl", lines.join("\n"));
    let summary = sandbox.add(&["x.jsonl"], 2);
    assert_eq!(summary["added"], 4);
    assert_eq!(summary["skipped"], json!({ "bad record": 6 }));
    assert_eq!(sandbox.keys(), ["17", "first", "last", "x.jsonl#7"]);
    let errors = sandbox.run(&["add", "x.jsonl"]).expect(2).stderr;
    for line in [2, 3, 5, 6, 8, 9] {
        let place = format!("dedupdb: x.jsonl:{line}: ");
        assert!(errors.contains(&place), "{place} in {errors}");
    }
}

#[test]
fn the_first_of_two_records_with_one_id_stays() {
    let sandbox = Sandbox::new();
    let record = |seed| json!({ "id": "a", "text": text(seed, 30 + seed) }).to_string();
    sandbox.write("x.jsonl", [record(1), record(2)].join("\n"));
    let summary = sandbox.add(&["x.jsonl"], 2);
    assert_eq!(
        (&summary["added"], &summary["repeated"]),
        (&json!(1), &json!(1))
    );
    let shown = sandbox.run(&["--json", "show", "a"]).expect(0);
    assert_eq!(shown.objects()[0]["shingles"], 27);
}

#[test]
fn records_that_are_no_utf8_are_decoded() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "x.jsonl",
        b"{\"id\": \"a\", \"text\": \"caf\xe9 au lait\"}\n",
    );
    let summary = sandbox.add(&["x.jsonl"], 0);
    assert_eq!(summary["encodings"], json!({ "windows-1252": 1 }));
    let ran = sandbox.run_with(&["query", "-"], "café au lait".as_bytes());
    assert_eq!(ran.expect(0).stdout, "-\ta\t1.0000\texact copy\n");
}

#[test]
fn each_record_is_a_query() {
    let sandbox = Sandbox::with_testdata();
    sandbox.add(&["folder", "pages.jsonl"], 0);
    let ran = sandbox.run(&["query", "pages.jsonl"]).expect(0);
    assert!(
        ran.lines()
            .contains(&"page-08\tfolder/languages/german.txt\t0.8454"),
        "{}",
        ran.stdout
    );
    let own = ran
        .lines()
        .into_iter()
        .map(|line| line.split('\t').collect::<Vec<_>>());
    assert!(own.into_iter().all(|columns| columns[0] != columns[1]));
}

#[test]
fn a_record_without_an_id_is_named_after_its_line() {
    let sandbox = Sandbox::new();
    let lines = [
        r#"{"text": "first"}"#,
        "",
        r#"{"id": null, "text": "third"}"#,
    ];
    sandbox.write("in/x.jsonl", lines.join("\n"));
    sandbox.add(&["in/x.jsonl", "./in//x.jsonl"], 0);
    assert_eq!(sandbox.keys(), ["in/x.jsonl#1", "in/x.jsonl#3"]);
}

#[test]
fn fields_have_the_names_that_are_given() {
    let sandbox = Sandbox::new();
    let record = json!({ "meta": { "url": "u", "page": { "body": text(1, 40) } }, "id": "i" });
    sandbox.write("x.jsonl", record.to_string());
    let fields = ["--text-field", "meta.page.body", "--id-field", "meta.url"];
    sandbox.add(&[&["x.jsonl"][..], &fields].concat(), 0);
    assert_eq!(sandbox.keys(), ["u"]);
    let ran = sandbox.run(&["query", "x.jsonl", "--text-field", "meta.page.body"]);
    assert_eq!(ran.expect(0).lines(), ["i\tu\t1.0000\texact copy"]);
    let ran = sandbox.run(&["add", "x.jsonl", "--text-field", "meta..body"]);
    assert!(ran.expect(2).stderr.contains("meta.text"));
}

#[test]
fn strict_stops_at_the_first_failure() {
    let sandbox = Sandbox::new();
    let lines = [
        r#"{"id": 1, "text": "a"}"#,
        "{",
        r#"{"id": 3, "text": "c"}"#,
        "{",
    ];
    sandbox.write("x.jsonl", lines.join("\n"));
    sandbox.write("y.jsonl", r#"{"id": 4, "text": "d"}"#);
    let summary = sandbox.add(&["--strict", "x.jsonl", "y.jsonl"], 2);
    assert_eq!(summary["documents"], 2);
    assert_eq!(sandbox.keys(), ["1"]);
    let ran = sandbox.run(&["add", "--strict", "x.jsonl"]).expect(2);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    sandbox
        .run(&["query", "--strict", "y.jsonl", "x.jsonl"])
        .expect(2);
}

#[test]
fn larger_texts_are_left_out_and_counted() {
    let sandbox = Sandbox::new();
    let record = |id: u64, words| json!({ "id": id, "text": text(id, words) }).to_string();
    sandbox.write(
        "x.jsonl",
        [record(1, 10), record(2, 900), record(3, 10)].join("\n"),
    );
    sandbox.write("y.txt", text(4, 900));
    let summary = sandbox.add(&["--max-document", "1kB", "x.jsonl", "y.txt"], 2);
    assert_eq!(
        summary["skipped"],
        json!({ "bad record": 1, "too large": 1 })
    );
    assert_eq!(sandbox.keys(), ["1", "3"]);
    // A record of a file that was named is wanted; in a folder, some may be too large.
    sandbox.add(&["--max-document", "1kB", "x.jsonl"], 2);
    sandbox.add(&["--max-document", "1kB", "."], 0);
    let dedup = [
        "dedup",
        "--max-document",
        "1kB",
        "x.jsonl",
        "-o",
        "new.jsonl",
    ];
    sandbox.run(&dedup).expect(2);
    assert_eq!(
        std::fs::read_to_string(sandbox.path("new.jsonl"))
            .unwrap()
            .lines()
            .count(),
        2
    );
    sandbox
        .run(&["add", "--max-document", "huge", "x.jsonl"])
        .expect(2);
}

#[test]
fn records_that_are_read_as_one_text_are_noted() {
    let sandbox = Sandbox::new();
    let lines = "{\"id\": 1, \"text\": \"The night tram runs again\"}\n{\"id\": 2, \"text\": \"from Friday on\"}\n";
    let array = format!("[{}]\n", lines.trim().replace('\n', ",\n"));
    sandbox.write("arr.txt", &array);
    sandbox.write("lines.txt", lines);
    sandbox.write("one.json", "{\"name\": \"a file of settings\"}\n");
    let as_array = "arr.txt: a JSON array is read as one text; for records, give --format json";
    let as_lines = "lines of JSON are read as one text; for records, give --format jsonl";
    let ran = sandbox.run(&["dedup", "arr.txt", "-o", "out"]).expect(0);
    assert!(ran.stderr.contains(as_array), "{}", ran.stderr);
    let ran = sandbox.run(&["add", "arr.txt", "lines.txt"]).expect(0);
    let told = format!("{as_array} (1 other file looks like records or a page, too)\n");
    assert!(ran.stderr.contains(&told), "{}", ran.stderr);
    for arguments in [&["add", "-", "--key", "pages"][..], &["query", "-"]] {
        let ran = sandbox.run_with(arguments, lines.as_bytes());
        assert!(ran.stderr.contains(as_lines), "{}", ran.stderr);
    }
    let page = "<!DOCTYPE html>\n<p>The night tram runs again";
    sandbox.write("view.php", page);
    sandbox.write("index.html?page=3", page);
    let add = ["add", "view.php", "index.html?page=3"];
    let ran = sandbox.run(&add).expect(0);
    let told = "view.php: a page is read with its tags; for its text, give --format html\n";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    let mail = "From a@b Mon Jan  1 00:00:01 2024\nSubject: c\n\nThe night tram\n";
    sandbox.write("mail.txt", mail);
    let ran = sandbox.run(&["add", "mail.txt"]).expect(0);
    let told = "mail.txt: a mailbox is read as one text; for its messages, give --format mbox\n";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    let objects = "{\n  \"id\": 1\n}\n{\n  \"id\": 2\n}\n";
    let ran = sandbox.run_with(&["query", "-"], objects.as_bytes());
    let told = "JSON objects are read as one text; for records, write each on a line";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    // One object is a document of its own, and a format that is given is meant.
    for arguments in [
        &["add", "one.json"][..],
        &["add", "lines.txt", "--format", "jsonl"],
        &["add", "arr.txt", "--format", "text"],
    ] {
        let ran = sandbox.run(arguments).expect(0);
        assert!(!ran.stderr.contains("as one text"), "{}", ran.stderr);
    }
}
