//! `dedup --store`: what was stored before, and what the run stores.

use std::fs;

use serde_json::{Value, json};

use crate::dedup::{check, dedup, lines, read, record};
use crate::sandbox::{Ran, Sandbox, text};

#[test]
fn what_is_stored_comes_first_and_what_was_published_is_not_written_again() {
    let sandbox = Sandbox::new();
    let all = lines(300);
    let (monday, tuesday) = all.split_at(100);
    sandbox.write("monday.jsonl", monday.join("\n"));
    for name in ["tuesday.jsonl", "again.jsonl"] {
        sandbox.write(name, tuesday.join("\n"));
    }
    let day = |day: &str, keep: &str, store: &str| {
        let (input, output) = (format!("{day}.jsonl"), format!("{day}-new.jsonl"));
        let removed = format!("{day}.tsv");
        let arguments = [
            &*input,
            "-o",
            &output,
            "--removed",
            &removed,
            "--keep",
            keep,
            "--store",
            store,
            "--force",
        ];
        let mut summary = dedup(&sandbox, &arguments);
        summary["seconds"] = Value::Null;
        (summary, read(&sandbox, &output), read(&sandbox, &removed))
    };
    for keep in ["first", "longest"] {
        day("monday", keep, keep);
        let stored: Vec<(String, String)> = monday.iter().map(|line| record(line)).collect();
        let (summary, output, removed) = day("tuesday", keep, keep);
        check(&tuesday.join("\n"), &output, &removed, &stored);
        assert!(summary["of_history"]["near_duplicates"].as_u64() > Some(10));
        let (summary, output, _) = day("again", keep, keep);
        assert_eq!(
            (&summary["kept"], output.as_str()),
            (&json!(0), ""),
            "{keep}"
        );
        // What is new on Tuesday is history on Wednesday, even under other keys.
        let renamed = tuesday.join("\n").replace("doc-", "wednesday-");
        sandbox.write("wednesday.jsonl", renamed);
        assert_eq!(day("wednesday", keep, keep).0["kept"], 0);
        assert_eq!(read(&sandbox, "wednesday-new.jsonl"), "");
        sandbox.run(&["check", "--store", keep]).expect(0);
    }
}

#[test]
fn whatever_is_kept_a_document_is_noted_as_one_of_its_file() {
    let line = |seed| serde_json::json!({"id": "1", "text": text(seed, 50)}).to_string();
    for keep in ["first", "longest", "newest", "none"] {
        let sandbox = Sandbox::new();
        for (folder, seeds) in [("one", [1, 2]), ("two", [3, 4])] {
            sandbox.write(format!("{folder}/{folder}.jsonl"), line(seeds[0]));
            sandbox.write(format!("{folder}/docs/a.txt"), text(seeds[1], 50));
        }
        for (input, output) in [("one.jsonl", "o.jsonl"), ("docs", "o")] {
            let dedup = ["dedup", input, "-o", output, "--keep", keep];
            sandbox.run_in("one", &dedup).expect(0);
        }
        let list = ["list", "--long"];
        let before = sandbox.run_in("one", &list).expect(0).stdout;
        // Another file has no right to the id, nor to the relative path, and here nothing is missing.
        for input in ["two.jsonl", "docs"] {
            let add = ["add", input];
            sandbox.run_in("two", &add).expect(2);
        }
        let missing = ["remove", "--missing"];
        sandbox.run_in("two", &missing).expect(1);
        assert_eq!(
            sandbox.run_in("one", &list).expect(0).stdout,
            before,
            "{keep}"
        );
    }
}

#[test]
fn a_new_text_of_a_stored_file_is_that_of_the_file() {
    let sandbox = Sandbox::new();
    for seed in 0..4 {
        sandbox.write(format!("d/{seed}.txt"), text(seed, 40));
    }
    let kept =
        |output: &str| dedup(&sandbox, &["d", "-o", output, "--store", "st"])["kept"].clone();
    assert_eq!(kept("o1"), 4);
    sandbox.write("d/0.txt", text(9, 50));
    assert_eq!(kept("o2"), 1);
    let listed = sandbox.run(&["list", "--store", "st"]).expect(0);
    assert!(listed.stdout.contains("d/0.txt#"), "{}", listed.stdout);
    assert!(!listed.stderr.contains("no longer"), "{}", listed.stderr);
    sandbox
        .run(&["remove", "--missing", "--store", "st"])
        .expect(1);
    assert_eq!(kept("o3"), 0);
    fs::remove_file(sandbox.path("d/0.txt")).unwrap();
    let ran = sandbox.run(&["remove", "--missing", "--store", "st"]);
    assert_eq!(ran.expect(0).stdout, "removed 2 documents\n");
}

#[test]
fn the_store_remembers_what_ids_mean() {
    let sandbox = Sandbox::new();
    sandbox.write("r.jsonl", format!("{}\n", lines(1)[0]));
    let arguments = [
        "r.jsonl",
        "-o",
        "o.jsonl",
        "--store",
        "st",
        "--id-scope",
        "file",
    ];
    assert_eq!(dedup(&sandbox, &arguments)["kept"], 1);
    let added = sandbox.run(&["--json", "add", "r.jsonl", "--store", "st"]);
    assert_eq!(added.expect(0).objects()[0]["unchanged"], 1);
}

#[test]
fn a_file_that_is_stored_itself_is_said_to_have_no_other_copy() {
    let sandbox = Sandbox::new();
    for seed in 0..3 {
        sandbox.write(format!("in/{seed}.txt"), text(seed, 60));
    }
    sandbox.run(&["--store", "s", "add", "in"]).expect(0);
    sandbox.write("in/copy.txt", text(0, 60));
    let run = |input: &str, output: &str| {
        let removed = format!("{output}.tsv");
        let arguments = [
            "dedup",
            input,
            "-o",
            output,
            "--removed",
            &removed,
            "--store",
            "s",
        ];
        let ran = sandbox.run(&arguments).expect(0);
        assert_eq!(read(&sandbox, &removed).lines().count(), 4);
        ran.stderr
    };
    let told = "dedupdb: 3 dropped documents are stored already, by key or file: their files may be the only copies";
    let said = run("in", "out");
    assert!(said.contains(told), "{said}");
    // Under another path it is the same file.
    let whole = sandbox.path("in");
    let said = run(whole.to_str().unwrap(), "out2");
    assert!(said.contains(told), "{said}");
    // Copies in another folder are copies.
    sandbox
        .run(&["--store", "other", "add", "in/copy.txt"])
        .expect(0);
    sandbox.write("far/0.txt", text(0, 60));
    let arguments = ["dedup", "far", "-o", "out3", "--store", "other"];
    let ran = sandbox.run(&arguments).expect(0);
    assert!(!ran.stderr.contains("by key or file"), "{}", ran.stderr);
}

/// The run may be killed while it packs the store. Its documents are history then, so no later output has them.
#[cfg(unix)]
#[test]
fn the_output_of_a_run_that_was_killed_at_its_end_is_kept_when_more_has_come() {
    use std::fs;
    use std::os::unix::fs::DirBuilderExt;
    let sandbox = Sandbox::new();
    let all = lines(40);
    let run = |more: &[&str]| {
        let arguments = ["dedup", "day.jsonl", "-o", "new.jsonl", "--store", "st"];
        sandbox.run(&[&arguments, more].concat())
    };
    sandbox.write("day.jsonl", all[..20].join("\n"));
    run(&[]).expect(0);
    let first = read(&sandbox, "new.jsonl");
    // Without a kill, an output is what has come since the last one.
    sandbox.write("day.jsonl", all[..30].join("\n"));
    run(&["--force"]).expect(0);
    let second = read(&sandbox, "new.jsonl");
    assert!(!second.contains(first.lines().next().unwrap()));
    // What a killed run leaves.
    let folder = sandbox.path(".new.jsonl.dedup");
    fs::DirBuilder::new().mode(0o700).create(&folder).unwrap();
    sandbox.write(".new.jsonl.dedup/dedupdb-work", "");
    sandbox.write("day.jsonl", all.join("\n"));
    run(&[]).expect(2);
    let ran = run(&["--force"]).expect(0);
    let said = "what was in the place of the output is new.jsonl.old now";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    assert_eq!(read(&sandbox, "new.jsonl.old"), second);
    let third = read(&sandbox, "new.jsonl");
    assert!(!third.is_empty() && third.lines().all(|line| !second.contains(line)));
    assert_eq!(
        sandbox.names(),
        ["day.jsonl", "new.jsonl", "new.jsonl.old", "st"]
    );
}

#[test]
fn what_a_crawler_fetches_again_is_not_written_again() {
    let sandbox = Sandbox::new();
    let page = |page: u64, more: &str| {
        let text = text(page, 30) + more;
        json!({ "id": format!("https://example.org/{page}"), "text": text }).to_string() + "\n"
    };
    let monday: String = (0..6000).map(|number| page(number, "")).collect();
    sandbox.write("monday.jsonl", monday);
    let tuesday = (0..6000).map(|number| match number {
        0..1491 => page(number, ""),
        1491..2000 => page(number, " edited"),
        // Fetched from another place.
        2000..2100 => page(number, "").replace("example.org", "example.net"),
        _ => page(number + 6000, ""),
    });
    sandbox.write("tuesday.jsonl", tuesday.collect::<String>());
    let day = |day: &str| {
        let (input, output) = (format!("{day}.jsonl"), format!("{day}-new.jsonl"));
        dedup(&sandbox, &[&input, "-o", &output, "--store", "seen"])
    };
    assert_eq!(day("monday")["kept"], 6000);
    let summary = day("tuesday");
    assert_eq!(summary["of_history"]["exact_copies"], 1591);
    assert_eq!(summary["of_history"]["near_duplicates"], 509);
    assert_eq!(summary["kept"], 3900);
    let new = read(&sandbox, "tuesday-new.jsonl");
    let old = new.lines().map(record).find(|(key, _)| {
        let number: u64 = key.rsplit('/').next().unwrap().parse().unwrap();
        number < 6000
    });
    assert_eq!(old, None);
}

#[test]
fn a_store_has_parameters_of_its_own() {
    let sandbox = Sandbox::new();
    let near = text(5, 40) + " " + &text(6, 40);
    let line = |id: u32, text: &str| json!({ "id": id, "text": text }).to_string() + "\n";
    let (a, b) = (line(1, &near), line(2, &near.replace(&text(6, 40), "gone")));
    sandbox.write("in.jsonl", [a, b].concat());
    let low = [
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--force",
        "--threshold",
        "0.4",
    ];
    assert_eq!(dedup(&sandbox, &low)["kept"], 1);
    assert_eq!(dedup(&sandbox, &low[..4])["kept"], 2);
    let stored = [&low[..], &["--store", "low"]].concat();
    assert_eq!(dedup(&sandbox, &stored)["kept"], 1);
    let again = dedup(&sandbox, &["in.jsonl", "-o", "again", "--store", "low"]);
    assert_eq!(again["of_history"]["near_duplicates"], 1);
    let other = [
        "dedup",
        "in.jsonl",
        "-o",
        "x",
        "--store",
        "low",
        "--threshold",
        "0.8",
    ];
    let ran = sandbox.run(&other).expect(2);
    assert!(
        ran.stderr.contains("the store has --threshold 0.4; leave"),
        "{}",
        ran.stderr
    );
    let mut command = sandbox.command(&["dedup", "in.jsonl", "-o", "y"]);
    let ran = Ran::of(command.env("DEDUPDB_STORE", "low").output().unwrap()).expect(0);
    let told = "dedupdb: DEDUPDB_STORE names the store low: what is stored there is dropped";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    // All of it is stored, so none of it is new.
    assert_eq!(read(&sandbox, "y"), "");
}

/// A run that keeps everything compares with everything. A run that drops some compares with those that it keeps.
#[test]
fn a_copy_of_what_is_dropped_is_a_near_duplicate_of_what_is_kept() {
    let sandbox = Sandbox::new();
    let first = text(1, 60);
    let like = format!("{first} and one more");
    for (name, text) in [("a.txt", &first), ("b.txt", &like), ("c.txt", &like)] {
        sandbox.write(format!("folder/{name}"), text);
    }
    let counts = |summary: &Value| {
        (
            summary["exact_copies"].clone(),
            summary["near_duplicates"].clone(),
        )
    };
    let added = sandbox.add(&["folder"], 0);
    assert_eq!(counts(&added), (json!(1), json!(1)));
    let unique = sandbox.add(&["folder", "--unique", "--store", "unique"], 0);
    assert_eq!(counts(&unique), (json!(0), json!(2)));
    let written = dedup(&sandbox, &["folder", "-o", "out"]);
    assert_eq!(counts(&written["of_input"]), (json!(0), json!(2)));
}
