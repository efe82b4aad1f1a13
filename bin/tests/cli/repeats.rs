//! Ids that are repeated within a run.

use serde_json::{Value, json};

use crate::dedup::{dedup_and_end, files, read};
use crate::sandbox::{Sandbox, text};

/// Three files of `each` records with ids from 0 and unique texts.
fn shards(each: u64) -> Sandbox {
    let sandbox = Sandbox::new();
    for shard in 0..3 {
        let line = |id| json!({ "id": id, "text": text(shard * each + id, 20) }).to_string();
        let lines: Vec<String> = (0..each).map(|id| line(id) + "\n").collect();
        sandbox.write(format!("{shard}.jsonl"), lines.concat());
    }
    sandbox
}

const SHARDS: [&str; 3] = ["0.jsonl", "1.jsonl", "2.jsonl"];

#[test]
fn an_add_keeps_the_first_text_of_an_id_and_counts_the_others() {
    let sandbox = shards(2000);
    for store in ["all", "unique"] {
        for threads in ["1", "3"] {
            let folder = format!("{store}-{threads}");
            let mut arguments = SHARDS.to_vec();
            arguments.extend(["--store", &folder, "--threads", threads]);
            if store == "unique" {
                arguments.push("--unique");
            }
            let summary = sandbox.add(&arguments, 2);
            assert_eq!(summary["added"], 2000);
            assert_eq!(summary["updated"], 0);
            assert_eq!(summary["repeated"], 4000);
            assert_eq!(summary["skipped"], json!({ "repeated key": 4000 }));
            let again = sandbox.run(&[&["add"], &arguments[..]].concat()).expect(2);
            let said = "1.jsonl:1: the key \"0\" came before with another text, at 0.jsonl:1\n";
            assert!(again.stderr.contains(said), "{}", again.stderr);
            assert_eq!(again.stderr.matches("--id-scope file").count(), 1);
            assert!(again.stdout.contains("repeated keys"), "{}", again.stdout);
        }
    }
    let listed = |store: &str| sandbox.run(&["--json", "list", "--store", store]).objects();
    let hashes = |store: &str| -> Vec<Value> {
        let objects = listed(store).into_iter();
        objects.map(|object| object["hash"].clone()).collect()
    };
    let first = sandbox.add(&["0.jsonl", "--store", "first"], 0);
    assert_eq!(first["repeated"], 0);
    for store in ["all-1", "all-3", "unique-1", "unique-3"] {
        assert_eq!(hashes(store), hashes("first"), "{store}");
    }
    // In a separate run, it is the same.
    let later = sandbox.add(&["1.jsonl", "--store", "first"], 2);
    assert_eq!(
        (&later["updated"], &later["repeated"]),
        (&json!(0), &json!(2000))
    );
}

#[test]
fn a_key_that_is_the_id_of_an_earlier_record_is_repeated() {
    let sandbox = Sandbox::new();
    let record = |id: &str, seed| json!({ "id": id, "text": text(seed, 20) }).to_string() + "\n";
    let nameless = |seed| json!({ "text": text(seed, 20) }).to_string() + "\n";
    sandbox.write("n/r.jsonl", record("n/z.txt", 1) + &record("n/y.txt", 2));
    sandbox.write("n/y.txt", text(2, 20));
    sandbox.write("n/z.txt", text(3, 20));
    sandbox.write(
        "q.jsonl",
        record("q.jsonl#2", 4) + &nameless(5) + &nameless(6),
    );
    for (input, key, place, earlier) in [
        ("n", "n/z.txt", "n/z.txt", "n/r.jsonl:1"),
        ("q.jsonl", "q.jsonl#2", "q.jsonl:2", "q.jsonl:1"),
    ] {
        let said =
            format!("{place}: the key \"{key}\" came before with another text, at {earlier}");
        // The second run finds what the first one stored.
        for (added, unchanged) in [(2, 0), (0, 2)] {
            let ran = sandbox.run(&["--json", "add", input]).expect(2);
            assert!(ran.stderr.contains(&said), "{}", ran.stderr);
            let summary = &ran.objects()[0];
            assert_eq!(summary["added"], added, "{summary}");
            assert_eq!(summary["updated"], 0, "{summary}");
            assert_eq!(summary["repeated"], 1, "{summary}");
            let same = u64::from(input == "n");
            assert_eq!(summary["unchanged"], unchanged + same, "{summary}");
        }
        let arguments = [input, "-o", "out", "--force"];
        assert_eq!(dedup_and_end(&sandbox, &arguments, 2)["repeated"], 1);
    }
    assert_eq!(
        sandbox.keys(),
        ["n/y.txt", "n/z.txt", "q.jsonl#2", "q.jsonl#3"]
    );
    // In its file, an id is no path.
    let arguments = ["n", "--id-scope", "file", "--store", "st"];
    assert_eq!(sandbox.add(&arguments, 0)["repeated"], 0);
}

#[test]
fn the_scope_is_advised_only_where_it_helps() {
    let sandbox = Sandbox::new();
    let record = |seed| json!({ "id": 1, "text": text(seed, 20) }).to_string() + "\n";
    sandbox.write("a.jsonl", record(1) + &record(2));
    let ran = sandbox.run(&["add", "a.jsonl"]).expect(2);
    assert!(
        ran.stderr.contains("with another text, at a.jsonl:1\n"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("--id-scope"), "{}", ran.stderr);
}

#[test]
fn a_field_of_ids_that_no_record_has_is_told() {
    let sandbox = shards(3);
    let said = "dedupdb: no record has the field \"ident\" of --id-field;";
    let wrong = ["0.jsonl", "--id-field", "ident"];
    let add = sandbox.run(&[&["add"], &wrong[..]].concat()).expect(0);
    assert!(add.stderr.contains(said), "{}", add.stderr);
    for keep in ["first", "longest"] {
        let dedup = [&["dedup", "-o", keep, "--keep", keep], &wrong[..]].concat();
        let ran = sandbox.run(&dedup).expect(0);
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
    // There is no note about a field that some records have, or that was not asked for.
    sandbox.write(
        "some.jsonl",
        "{\"text\":\"a\"}\n{\"text\":\"b\",\"ident\":1}\n",
    );
    for arguments in [&["some.jsonl", "--id-field", "ident"][..], &["some.jsonl"]] {
        let ran = sandbox.run(&[&["add"], arguments].concat()).expect(0);
        assert!(!ran.stderr.contains("no record"), "{}", ran.stderr);
    }
}

#[test]
fn ids_may_hold_in_each_file_only() {
    let sandbox = shards(20);
    let arguments = [&SHARDS[..], &["--id-scope", "file"]].concat();
    assert_eq!(sandbox.add(&arguments, 0)["added"], 60);
    let keys = sandbox.keys();
    assert_eq!((keys.len(), &*keys[0]), (60, "0.jsonl#0"));
    let query = sandbox
        .run(&[&["query"], &arguments[..]].concat())
        .expect(1);
    assert_eq!(query.stdout, "");
    let map = sandbox.run(&[&["map"], &arguments[..]].concat()).expect(0);
    assert!(map.stdout.contains("\t2.jsonl#19\t"), "{}", map.stdout);
    let ran = sandbox.run(&["map", "--id-scope", "file"]).expect(2);
    assert!(ran.stderr.contains("standard input"), "{}", ran.stderr);

    let output = [&arguments[..], &["-o", "out"]].concat();
    assert_eq!(dedup_and_end(&sandbox, &output, 0)["kept"], 60);
    assert_eq!(files(&sandbox.path("out")), SHARDS);
    assert_eq!(read(&sandbox, "out/1.jsonl"), read(&sandbox, "1.jsonl"));
}

#[test]
fn the_same_text_again_is_no_fault() {
    let sandbox = shards(20);
    let summary = sandbox.add(&["0.jsonl", "./2.jsonl", "1.jsonl"], 2);
    assert_eq!(
        (&summary["added"], &summary["repeated"]),
        (&json!(20), &json!(40))
    );
    let copy = read(&sandbox, "0.jsonl");
    sandbox.write("copy.jsonl", copy);
    let summary = sandbox.add(&["0.jsonl", "copy.jsonl", "--store", "st"], 0);
    assert_eq!(
        (&summary["added"], &summary["unchanged"]),
        (&json!(20), &json!(20))
    );
    assert_eq!(summary["repeated"], 0);
    let summary = dedup_and_end(&sandbox, &["0.jsonl", "copy.jsonl", "-o", "out"], 0);
    assert_eq!(summary["of_input"]["exact_copies"], 20);
}

#[test]
fn a_strict_run_ends_at_an_id_that_comes_again() {
    let sandbox = shards(20);
    let arguments = [&SHARDS[..], &["--strict"]].concat();
    assert_eq!(sandbox.add(&arguments, 2)["repeated"], 1);
    let ran = sandbox
        .run(&[&["dedup", "-o", "out"], &arguments[..]].concat())
        .expect(2);
    assert!(ran.stderr.contains("1.jsonl:1: the key"), "{}", ran.stderr);
    assert!(!sandbox.path("out").exists());
}

#[test]
fn lineage_names_file_and_record() {
    let sandbox = shards(20);
    let old = json!({ "id": "old", "text": text(59, 20) }).to_string();
    sandbox.write("old.jsonl", old);
    // Copies of the third record of each shard under one id, and a file that is one document.
    let copies = (0..3).map(|shard| json!({ "id": 2, "text": text(shard * 20 + 2, 20) }));
    let copies: Vec<String> = copies.map(|copy| copy.to_string() + "\n").collect();
    sandbox.write("copies.jsonl", copies.concat());
    for keep in ["first", "longest"] {
        sandbox
            .run(&["add", "old.jsonl", "--store", keep])
            .expect(0);
        for (removed, output) in [("removed.jsonl", "a"), ("removed.tsv", "b")] {
            let store = if output == "a" { keep } else { "none" };
            let mut arguments = SHARDS.to_vec();
            arguments.extend([
                "copies.jsonl",
                "-o",
                output,
                "--removed",
                removed,
                "--force",
            ]);
            arguments.extend(["--keep", keep]);
            if store != "none" {
                arguments.extend(["--store", store]);
            }
            let summary = dedup_and_end(&sandbox, &arguments, 2);
            assert_eq!(summary["repeated"], 42);
        }
        let removed = read(&sandbox, "removed.jsonl");
        let mut found: Vec<Vec<Value>> = removed
            .lines()
            .map(|line| {
                let object: Value = serde_json::from_str(line).unwrap();
                let names = ["file", "record", "earlier_file", "earlier_record"];
                names.map(|name| object[name].clone()).to_vec()
            })
            .collect();
        found.sort_by_key(|place| (place[0].to_string(), place[1].as_u64()));
        let expected = [
            json!(["2.jsonl", 20, null, null]),
            json!(["copies.jsonl", 1, "0.jsonl", 3]),
            json!(["copies.jsonl", 2, "1.jsonl", 3]),
            json!(["copies.jsonl", 3, "2.jsonl", 3]),
        ];
        let expected = expected.map(|place| place.as_array().unwrap().clone());
        assert_eq!(found, expected, "{keep}");
        let plain = [
            "dedup",
            "copies.jsonl",
            "-o",
            "c.jsonl",
            "--removed",
            "c.tsv",
            "--force",
        ];
        sandbox.write("copies.jsonl", copies.concat() + &copies[1]);
        sandbox.run(&plain).expect(2);
        let lines = read(&sandbox, "c.tsv");
        assert!(
            lines.ends_with("\t1.0000\tcopies.jsonl\t4\tcopies.jsonl\t2\texact copy\n"),
            "{lines}"
        );
        sandbox.write("copies.jsonl", copies.concat());
    }
}
