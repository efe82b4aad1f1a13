//! Ids of several files: the same documents, or others.

use serde_json::{Value, json};

use crate::dedup::dedup_and_end;
use crate::sandbox::{Sandbox, text};

/// Two exports with the ids 1 to 3, and other texts.
fn exports() -> Sandbox {
    let sandbox = Sandbox::new();
    write(&sandbox, "news.jsonl", 0, 3);
    write(&sandbox, "tickets.jsonl", 100, 3);
    sandbox
}

fn write(sandbox: &Sandbox, name: &str, seed: u64, records: u64) {
    let line = |id| json!({ "id": id, "text": text(seed + id, 30) }).to_string() + "\n";
    let lines: Vec<String> = (1..=records).map(line).collect();
    sandbox.write(name, lines.concat());
}

fn field<'a>(objects: &'a [Value], key: &str, name: &str) -> &'a Value {
    &objects
        .iter()
        .find(|object| object["key"] == key)
        .unwrap_or_else(|| panic!("{key}"))[name]
}

#[test]
fn what_came_from_no_file_becomes_the_record_of_the_file_that_has_it() {
    let sandbox = exports();
    let news = std::fs::read(sandbox.path("news.jsonl")).unwrap();
    let piped = ["add", "-", "--format", "jsonl"];
    sandbox.run_with(&piped, &news).expect(0);
    assert_eq!(sandbox.add(&["news.jsonl"], 0)["unchanged"], 3);
    let before = sandbox.contents();
    sandbox.run(&["add", "tickets.jsonl"]).expect(2);
    assert_eq!(sandbox.contents(), before);
}

#[test]
fn what_came_from_one_file_is_not_replaced_by_another() {
    for options in [&[][..], &["--unique"], &["--threads", "1"]] {
        let sandbox = exports();
        sandbox.add(&["news.jsonl"], 0);
        let before = sandbox.contents();
        let add = [&["add", "tickets.jsonl"], options].concat();
        let ran = sandbox.run(&add).expect(2);
        let news = sandbox.path("news.jsonl").canonicalize().unwrap();
        let refused = |id| {
            let before = format!("the key \"{id}\" came before with another text");
            format!(
                "dedupdb: tickets.jsonl:{id}: {before}, in {}",
                news.display()
            )
        };
        let question = "dedupdb: are these the same documents (--id-scope all), or others (--id-scope file, keys \
                        become PATH#ID)?";
        let said = [refused(1), refused(2), refused(3), question.to_owned()];
        assert_eq!(ran.stderr.lines().collect::<Vec<_>>(), said);
        let counted = ran.stdout.matches("repeated keys").count();
        assert!(
            ran.stdout.contains("3 repeated keys") && counted == 1,
            "{}",
            ran.stdout
        );
        assert_eq!(sandbox.contents(), before);
        // The file itself may change.
        write(&sandbox, "news.jsonl", 200, 3);
        assert_eq!(sandbox.add(&["news.jsonl"], 0)["updated"], 3);
        assert_ne!(sandbox.contents(), before);
    }
}

#[test]
fn a_store_remembers_what_ids_mean() {
    let sandbox = exports();
    sandbox.add(&["news.jsonl"], 0);
    let ran = sandbox.run(&["add", "--id-scope", "all", "tickets.jsonl"]);
    let said = "dedupdb: the store remembers --id-scope all\n";
    assert!(ran.expect(0).stderr.contains(said));
    assert_eq!(sandbox.keys(), ["1", "2", "3"]);
    // It need not be said again.
    let again = sandbox.run(&["add", "news.jsonl"]).expect(0);
    assert!(!again.stderr.contains("remembers"), "{}", again.stderr);
    assert!(again.stdout.contains("updated                    3"));
    let ran = sandbox.run(&["add", "--id-scope", "file", "tickets.jsonl"]);
    let said = "the store remembers --id-scope file instead of all\n";
    assert!(ran.expect(0).stderr.contains(said));
    sandbox.run(&["compact"]).expect(0);
    sandbox.run(&["backup", "copy"]).expect(0);
    for store in [".dedupdb", "copy"] {
        sandbox.add(&["--store", store, "news.jsonl"], 0);
        let listed = sandbox.run(&["list", "--store", store]).expect(0);
        assert_eq!(listed.lines().len(), 6, "{}", listed.stdout);
        assert!(listed.stdout.contains("news.jsonl#3\n"));
    }
    // Nor where a store was made for it.
    for (scope, keys) in [("all", 3), ("file", 6)] {
        let store = ["--store", scope];
        sandbox
            .run(&[&["init", "--id-scope", scope], &store[..]].concat())
            .expect(0);
        for file in ["news.jsonl", "tickets.jsonl"] {
            let ran = sandbox.run(&[&["add", file], &store[..]].concat());
            assert!(!ran.expect(0).stderr.contains("remembers"));
        }
        let listed = sandbox.run(&[&["list"], &store[..]].concat());
        assert_eq!(listed.lines().len(), keys);
    }
}

#[test]
fn records_stored_by_id_alone_get_the_keys_of_their_files() {
    for (options, is_dry) in [
        (&[][..], false),
        (&["--unique"], false),
        (&["--dry-run"], true),
    ] {
        let sandbox = exports();
        sandbox.add(&["news.jsonl"], 0);
        write(&sandbox, "news.jsonl", 200, 3);
        let before = sandbox.contents();
        let add = ["add", "--id-scope", "file", "news.jsonl", "tickets.jsonl"];
        let ran = sandbox.run(&[&add, options].concat()).expect(0);
        let said = "records were stored by id alone, and now by file and id (first: 1 is now news.jsonl#1)";
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
        assert!(
            ran.stdout.contains("exact copies                 0"),
            "{}",
            ran.stdout
        );
        if is_dry {
            assert_eq!(sandbox.contents(), before);
            continue;
        }
        let of = |file| (1..=3).map(move |id| format!("{file}.jsonl#{id}"));
        assert_eq!(
            sandbox.keys(),
            of("news").chain(of("tickets")).collect::<Vec<_>>()
        );
        // Once is enough.
        let again = sandbox.run(&add).expect(0);
        assert!(
            !again.stderr.contains("stored by id alone"),
            "{}",
            again.stderr
        );
        assert!(
            again.stdout.contains("unchanged                  6"),
            "{}",
            again.stdout
        );
    }
}

#[test]
fn a_dry_run_remembers_nothing() {
    let sandbox = exports();
    sandbox.add(&["news.jsonl"], 0);
    let dry = ["add", "--dry-run", "--id-scope", "all", "tickets.jsonl"];
    sandbox.run(&dry).expect(0);
    sandbox.run(&["add", "tickets.jsonl"]).expect(2);
}

#[test]
fn the_same_ids_and_texts_are_counted_and_said() {
    let sandbox = exports();
    write(&sandbox, "b/copy.jsonl", 0, 3);
    let said = "3 documents have ids and texts of another file, and are counted as unchanged (first: b/copy.jsonl:1, as in ";
    for paths in [&["news.jsonl", "b"][..], &["b"], &["b", "news.jsonl"]] {
        let ran = sandbox.run(&[&["add"], paths].concat()).expect(0);
        assert!(
            ran.stderr
                .contains("3 documents have ids and texts of another file"),
            "{}",
            ran.stderr
        );
        if paths[0] != "b" || paths.len() == 1 {
            assert!(ran.stderr.contains(said), "{}", ran.stderr);
        }
    }
    let report = ["report", "news.jsonl", "b", "-o", "page.html"];
    let ran = sandbox.run(&report).expect(1);
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    // Once it was said, nothing is to be asked.
    let all = ["add", "--id-scope", "all", "b"];
    let ran = sandbox.run(&all).expect(0);
    assert!(!ran.stderr.contains("of another file"), "{}", ran.stderr);
}

#[test]
fn an_id_that_a_later_file_repeats_is_refused_there() {
    let sandbox = Sandbox::new();
    let line = |seed| serde_json::json!({"id": "1", "text": text(seed, 40)}).to_string();
    sandbox.write("a.jsonl", line(1));
    sandbox.write("b.jsonl", [line(1), line(2)].join("\n"));
    let add = ["add", "--id-scope", "all", "a.jsonl", "b.jsonl"];
    let ran = sandbox.run(&add).expect(2);
    assert!(ran.stderr.contains(" at b.jsonl:1"), "{}", ran.stderr);
    sandbox.write("asked.txt", text(1, 40));
    let ran = sandbox.run(&["query", "asked.txt"]).expect(0);
    assert!(ran.stdout.contains("\t1\t1.0000"), "{}", ran.stdout);
}

#[test]
fn one_run_is_like_several() {
    let sandbox = exports();
    let both = ["news.jsonl", "tickets.jsonl"];
    let with = |scope: &'static str, store: &'static str| {
        [&both[..], &["--id-scope", scope, "--store", store]].concat()
    };
    assert_eq!(sandbox.add(&both, 2)["repeated"], 3);
    assert_eq!(sandbox.add(&with("all", "a"), 0)["updated"], 3);
    assert_eq!(sandbox.add(&with("file", "f"), 0)["added"], 6);
    let dedup = |scope: &[&'static str], code| {
        let arguments = [&both[..], &["-o", "out", "--force"], scope].concat();
        dedup_and_end(&sandbox, &arguments, code)["repeated"].clone()
    };
    assert_eq!(dedup(&[], 2), 3);
    // The output has them all, and its readers cannot tell them apart.
    assert_eq!(dedup(&["--id-scope", "all"], 2), 3);
    assert_eq!(dedup(&["--id-scope", "file"], 0), 0);
    let report = |scope: &[&'static str]| {
        let arguments = [
            &["report"],
            &both[..],
            &["-o", "page.html", "--force"],
            scope,
        ]
        .concat();
        sandbox.run(&arguments)
    };
    let ran = report(&[]).expect(2);
    assert!(
        ran.stderr
            .contains("tickets.jsonl:1: the key \"1\" came before"),
        "{}",
        ran.stderr
    );
    report(&["--id-scope", "file"]).expect(1);
    // Lines that are sorted have no later text.
    let map = [&["map"], &both[..], &["--id-scope", "all"]].concat();
    sandbox.run(&map).expect(2);
}

#[test]
fn an_id_is_not_the_name_of_a_file() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", text(1, 30));
    sandbox.write(
        "r.jsonl",
        json!({ "id": "a.txt", "text": text(2, 30) }).to_string(),
    );
    for (first, second) in [("a.txt", "r.jsonl"), ("r.jsonl", "a.txt")] {
        let store = ["--store", if first == "a.txt" { "one" } else { "two" }];
        sandbox.add(&[&[first], &store[..]].concat(), 0);
        let ran = sandbox
            .run(&[&["add", second], &store[..]].concat())
            .expect(2);
        assert!(
            ran.stderr.contains("the key \"a.txt\" came before"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn ids_without_a_file_are_those_of_the_store() {
    let sandbox = exports();
    sandbox.add(&["news.jsonl"], 0);
    let input = json!({ "id": 1, "text": text(7, 30) }).to_string();
    for _ in 0..2 {
        let add = ["--json", "add", "-", "--format", "jsonl"];
        let ran = sandbox.run_with(&add, input.as_bytes()).expect(0);
        let summary = &ran.objects()[0];
        assert_eq!(
            (&summary["repeated"], &summary["added"]),
            (&json!(0), &json!(0))
        );
    }
    let listed = sandbox.run(&["--json", "list"]).objects();
    assert_eq!(field(&listed, "1", "source"), &Value::Null);
    // And a file may take it over.
    assert_eq!(sandbox.add(&["tickets.jsonl"], 2)["updated"], 1);
}

#[test]
fn a_document_knows_its_file() {
    let sandbox = exports();
    sandbox.add(&["news.jsonl"], 0);
    sandbox.write("n/a.txt", text(1, 30));
    sandbox.add(&["n"], 0);
    let news = sandbox.path("news.jsonl").canonicalize().unwrap();
    let news = json!(news.to_str().unwrap());
    for remade in [false, true] {
        if remade {
            sandbox.run(&["reindex", "--permutations", "64"]).expect(0);
        }
        let listed = sandbox.run(&["--json", "list"]).objects();
        assert_eq!(field(&listed, "1", "source"), &news);
        assert_eq!(field(&listed, "n/a.txt", "source"), &Value::Null);
        let shown = sandbox.run(&["show", "1"]).expect(0);
        assert!(
            shown.stdout.contains("\nsource        /"),
            "{}",
            shown.stdout
        );
        let pairs = sandbox.run(&["--json", "pairs"]).expect(0).objects();
        assert_eq!(pairs[0]["source_a"], news);
        assert_eq!(pairs[0]["source_b"], Value::Null);
        let found = sandbox.run(&["--json", "query", "n/a.txt"]).expect(0);
        assert_eq!(found.objects()[0]["source"], news);
    }
    // A merged and a salvaged store know it, too.
    sandbox
        .run(&["--store", "m", "merge", ".dedupdb"])
        .expect(0);
    sandbox.run(&["salvage", ".dedupdb", "saved"]).expect(0);
    for store in ["m", "saved"] {
        let listed = sandbox.run(&["--json", "list", "--store", store]).objects();
        assert_eq!(field(&listed, "2", "source"), &news, "{store}");
        sandbox
            .run(&["add", "tickets.jsonl", "--store", store])
            .expect(2);
        sandbox.run(&["check", "--store", store]).expect(0);
    }
}

#[cfg(unix)]
#[test]
fn a_file_has_one_name() {
    let sandbox = exports();
    std::fs::create_dir(sandbox.path("d")).unwrap();
    std::os::unix::fs::symlink("../news.jsonl", sandbox.path("d/link.jsonl")).unwrap();
    sandbox.add(&["news.jsonl"], 0);
    write(&sandbox, "news.jsonl", 300, 3);
    let absolute = sandbox.path("news.jsonl");
    for (name, seed) in [("d/link.jsonl", 300), (absolute.to_str().unwrap(), 400)] {
        write(&sandbox, "news.jsonl", seed, 3);
        assert_eq!(sandbox.add(&[name], 0)["updated"], 3);
    }
}

#[test]
fn a_query_for_a_record_leaves_out_that_record_only() {
    let sandbox = exports();
    sandbox.write(
        "again.jsonl",
        json!({ "id": 1, "text": text(1, 30) }).to_string(),
    );
    sandbox.add(&["news.jsonl"], 0);
    // Another file's record with the same id and text is a copy.
    let ran = sandbox.run(&["query", "again.jsonl"]).expect(0);
    assert_eq!(ran.stdout, "1\t1\t1.0000\texact copy\n");
    sandbox.run(&["query", "news.jsonl"]).expect(1);
    let absolute = sandbox.path("news.jsonl");
    sandbox
        .run(&["query", absolute.to_str().unwrap()])
        .expect(1);
    // Records without an id have the name of their file as it was given.
    sandbox.write("bare.jsonl", json!({ "text": text(9, 30) }).to_string());
    sandbox.add(&["bare.jsonl"], 0);
    let absolute = sandbox.path("bare.jsonl");
    sandbox
        .run(&["query", absolute.to_str().unwrap()])
        .expect(1);
}
