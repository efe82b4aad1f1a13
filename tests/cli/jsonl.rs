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
    sandbox.run(&["show", "pages.jsonl"]).expect(1);
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
        "{\"text\": \"no id\"}".to_owned(),
        "{\"id\": true, \"text\": \"x\"}".to_owned(),
        "{\"id\": \"\", \"text\": \"x\"}".to_owned(),
        "{\"id\": \"no text\"}".to_owned(),
        format!("{{\"id\": \"{long}\", \"text\": \"x\"}}"),
        "{\"id\": 17, \"text\": \"a number\"}\r".to_owned(),
        "{\"id\": \"last\", \"text\": \"without a line end\"}".to_owned(),
    ];
    sandbox.write("x.jsonl", lines.join("\n"));
    let summary = sandbox.add(&["x.jsonl"], 2);
    assert_eq!(summary["added"], 3);
    assert_eq!(summary["skipped"], json!({ "bad record": 7 }));
    assert_eq!(sandbox.keys(), ["17", "first", "last"]);
    let errors = sandbox.run(&["add", "x.jsonl"]).expect(2).stderr;
    for line in [2, 3, 5, 6, 7, 8, 9] {
        let place = format!("dedupdb: x.jsonl:{line}: ");
        assert!(errors.contains(&place), "{place} in {errors}");
    }
}

#[test]
fn the_last_of_two_records_with_one_id_wins() {
    let sandbox = Sandbox::new();
    let record = |seed| json!({ "id": "a", "text": text(seed, 30 + seed) }).to_string();
    sandbox.write("x.jsonl", [record(1), record(2)].join("\n"));
    let summary = sandbox.add(&["x.jsonl"], 0);
    assert_eq!(
        (&summary["added"], &summary["updated"]),
        (&json!(1), &json!(1))
    );
    let shown = sandbox.run(&["--json", "show", "a"]).expect(0);
    assert_eq!(shown.objects()[0]["shingles"], 28);
}

#[test]
fn bytes_that_are_no_utf8_are_replaced_in_records_too() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "x.jsonl",
        b"{\"id\": \"a\", \"text\": \"caf\xe9 au lait\"}\n",
    );
    let summary = sandbox.add(&["x.jsonl"], 0);
    assert_eq!(
        (&summary["added"], &summary["replaced"]),
        (&json!(1), &json!(1))
    );
}

#[test]
fn each_record_is_a_query() {
    let sandbox = Sandbox::with_testdata();
    sandbox.add(&["folder", "pages.jsonl"], 0);
    let ran = sandbox.run(&["query", "pages.jsonl"]).expect(0);
    assert!(
        ran.lines()
            .contains(&"page-08\tfolder/languages/german.txt\t0.8454\t"),
        "{}",
        ran.stdout
    );
    let own = ran
        .lines()
        .into_iter()
        .map(|line| line.split('\t').collect::<Vec<_>>());
    assert!(own.into_iter().all(|columns| columns[0] != columns[1]));
}
