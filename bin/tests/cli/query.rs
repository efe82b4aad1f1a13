//! `query`: what is found, how it is printed, and exit codes.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::sandbox::{Sandbox, fields, text};

fn filled() -> Sandbox {
    let sandbox = Sandbox::with_testdata();
    let summary = sandbox.add(&["folder", "pages.jsonl"], 0);
    assert_eq!(summary["documents"], 57);
    sandbox
}

#[test]
fn a_file_that_cannot_be_read_has_no_answer() {
    let sandbox = filled();
    sandbox.write("scan.pdf", b"%PDF-1.7\n\x00\x01\x02");
    let ran = sandbox.run(&["query", "scan.pdf"]).expect(2);
    assert!(
        ran.stderr.contains("scan.pdf: binary, PDF"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("no stored document"), "{}", ran.stderr);
}

#[test]
fn what_a_stream_gave_before_is_found_by_the_next_one() {
    let sandbox = Sandbox::new();
    let record = |text: String| format!("{{\"text\": \"{text}\"}}\n");
    let add = ["add", "-", "--format", "jsonl"];
    sandbox
        .run_with(&add, record(text(1, 100)).as_bytes())
        .expect(0);
    let near = record(text(1, 100) + " more");
    let query = ["query", "-", "--format", "jsonl"];
    let ran = sandbox.run_with(&query, near.as_bytes()).expect(0);
    assert!(ran.stdout.starts_with("-#1\t-#1\t"), "{}", ran.stdout);
}

#[test]
fn a_text_in_place_of_a_path_is_told_where_it_belongs() {
    let sandbox = filled();
    let hint = |path: &str| {
        let ran = sandbox.run(&["query", path]).expect(2);
        let told = ran.stderr.lines().nth(1).map(str::to_owned);
        (told, ran.stderr)
    };
    let (told, _) = hint("the night tram runs again");
    let expected = "dedupdb: to look up a text, give it on standard input: `echo 'some text' | dedupdb query -`";
    assert_eq!(told.as_deref(), Some(expected));
    let (told, all) = hint("missing.txt");
    assert_eq!(told, None, "{all}");
}

#[test]
fn where_nothing_is_found_a_note_says_why() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init"]).expect(0);
    sandbox.write("a.txt", text(1, 40));
    sandbox.write("empty.jsonl", "");
    std::fs::create_dir(sandbox.path("none")).unwrap();
    let told = |arguments: &[&str], code| {
        let ran = sandbox.run(arguments).expect(code);
        let quiet = sandbox.run(&[&["-q"], arguments].concat());
        assert_eq!(quiet.stderr, "", "{arguments:?}");
        ran.stderr
    };
    for arguments in [
        &["query", "a.txt"][..],
        &["pairs"],
        &["clusters"],
        &["list"],
    ] {
        assert_eq!(
            told(arguments, 1),
            "dedupdb: the store is empty\n",
            "{arguments:?}"
        );
    }
    sandbox.add(&["a.txt"], 0);
    for (arguments, note) in [
        (
            &["query", "none"][..],
            "there was nothing to look up: no file or record was found",
        ),
        (
            &["query", "empty.jsonl"],
            "empty.jsonl: no records; left out\ndedupdb: there was nothing to look up: no file or record was found",
        ),
        (&["pairs"], "no pair has a similarity of 0.8 or more"),
        (
            &["pairs", "--between", "a", "b"],
            "no pair of a key that begins with \"a\" and one that begins with \"b\" has a similarity of 0.8 or more",
        ),
        (
            &["clusters", "--min-size", "3", "--threshold", "0.9"],
            "no cluster has 3 or more documents at a similarity of 0.9 or more",
        ),
        (&["list", "--prefix", "b"], "no key begins with b"),
    ] {
        assert_eq!(
            told(arguments, 1),
            format!("dedupdb: {note}\n"),
            "{arguments:?}"
        );
    }
    for (input, output) in [("none", "out"), ("empty.jsonl", "out.jsonl")] {
        let ran = sandbox.run(&["dedup", input, "-o", output]).expect(0);
        let note = "dedupdb: there was nothing to compare: no file or record was found\n";
        assert!(ran.stderr.contains(note), "{}", ran.stderr);
    }
}

#[test]
fn below_the_threshold_of_the_store_the_way_to_more_is_told() {
    let sandbox = filled();
    let reindex =
        "to find more, give the store this threshold: `dedupdb reindex --threshold 0.5`\n";
    let exhaustive = "--exhaustive finds all of them\n";
    for (command, told) in [
        (&["query", "query.txt"][..], reindex),
        (&["clusters"], exhaustive),
        (&["pairs"], exhaustive),
    ] {
        let ran = sandbox.run(&[command, &["--threshold", "0.5"]].concat());
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
}

/// The planted pairs at 0.8 and above, and their similarity to four decimals.
fn expected(sandbox: &Sandbox) -> BTreeSet<(String, String, String)> {
    let table = fs::read_to_string(sandbox.path("expected.tsv")).unwrap();
    let mut pairs = BTreeSet::new();
    for line in table.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let jaccard: f64 = columns[2].parse().unwrap();
        if jaccard >= 0.8 {
            let (a, b) = (columns[0].to_owned(), columns[1].to_owned());
            let jaccard = format!("{jaccard:.4}");
            pairs.insert((a.clone(), b.clone(), jaccard.clone()));
            pairs.insert((b, a, jaccard));
        }
    }
    assert!(pairs.len() > 40);
    pairs
}

fn pair(line: &str) -> (String, String, String) {
    let columns: Vec<&str> = line.split('\t').collect();
    assert!(
        columns.len() == 3 || matches!(columns[3..], ["exact copy" | "same words"]),
        "{line}"
    );
    (
        columns[0].to_owned(),
        columns[1].to_owned(),
        columns[2].to_owned(),
    )
}

#[test]
fn every_planted_pair_is_found_and_no_other() {
    let sandbox = filled();
    let keys = sandbox.keys();
    let mut question = vec!["query", "query.txt"];
    for key in &keys {
        question.extend(["--key", key]);
    }
    let ran = sandbox.run(&question).expect(0);
    let found: BTreeSet<_> = ran.lines().into_iter().map(pair).collect();
    let mut expected = expected(&sandbox);
    // The query is not stored, so no document finds it.
    expected.retain(|(_, key, _)| key != "query.txt");
    assert_eq!(found, expected);
    assert_eq!(ran.lines().len(), found.len());
}

#[test]
fn files_find_what_their_keys_find() {
    let sandbox = filled();
    let by_path = sandbox.run(&["query", "./folder//docs"]).expect(0);
    let mut question = vec!["query".to_owned()];
    for key in sandbox.keys() {
        if key.starts_with("folder/docs/") {
            question.extend(["--key".to_owned(), key]);
        }
    }
    let question: Vec<&str> = question.iter().map(String::as_str).collect();
    assert_eq!(by_path.stdout, sandbox.run(&question).expect(0).stdout);
}

#[test]
fn matches_as_json_have_these_fields() {
    let sandbox = filled();
    let ran = sandbox.run(&["query", "--json", "query.txt"]).expect(0);
    let objects = ran.objects();
    assert_eq!(objects.len(), 1);
    let expected = [
        "bands",
        "containment",
        "containment_of_match",
        "error",
        "estimate",
        "exact_copy",
        "jaccard",
        "key",
        "query",
    ];
    assert_eq!(fields(&objects[0]), expected);
    assert_eq!(objects[0]["query"], "query.txt");
    assert_eq!(objects[0]["key"], "folder/news/library-night.txt");
    assert_eq!(objects[0]["exact_copy"], false);
    assert!((objects[0]["jaccard"].as_f64().unwrap() - 0.856).abs() < 0.001);
}

#[test]
fn without_shingles_similarities_are_estimates() {
    let sandbox = Sandbox::with_testdata();
    sandbox.run(&["init", "--no-shingles"]).expect(0);
    sandbox.add(&["folder"], 0);
    let ran = sandbox.run(&["query", "query.txt"]).expect(0);
    let (_, key, similarity) = pair(ran.lines()[0]);
    assert_eq!(key, "folder/news/library-night.txt");
    let (estimate, error) = similarity
        .strip_prefix('~')
        .unwrap()
        .split_once('±')
        .unwrap();
    assert!(estimate.parse::<f64>().unwrap() > 0.7 && error.parse::<f64>().unwrap() > 0.0);
    let objects = sandbox.run(&["--json", "query", "query.txt"]).objects();
    assert_eq!(objects[0]["jaccard"], Value::Null);
}

#[test]
fn a_text_that_resembles_none_is_told_why_if_it_is_short() {
    let sandbox = filled();
    let told = |text: &str| {
        sandbox.write("asked.txt", text);
        let ran = sandbox.run(&["query", "asked.txt"]).expect(1);
        ran.stderr
    };
    let nothing = "dedupdb: found no stored document with a similarity of 0.8 or more\n";
    let empty = "dedupdb: asked.txt has no words to compare\n";
    assert_eq!(told(" ... "), format!("{nothing}{empty}"));
    // Nothing resembles it, so its length is not the reason.
    assert_eq!(told("seven words of which each is unknown"), nothing);
    let with = |word: &str| {
        format!(
            "one two three four five six seven eight nine ten eleven twelve {word} fourteen fifteen"
        )
    };
    let lines = (0..20).map(|id| {
        format!(
            "{{\"id\": \"other {id}\", \"text\": \"{}\"}}\n",
            with(&format!("w{id}"))
        )
    });
    sandbox.write("others.jsonl", lines.collect::<String>());
    sandbox.add(&["others.jsonl"], 0);
    let short = told(&with("thirteen"));
    assert!(
        short.contains("asked.txt is short (11 shingles): one other word")
            && short.contains("other 1"),
        "{short}"
    );
    // A document is not compared with itself.
    sandbox.add(&["asked.txt"], 0);
    let other = sandbox.run(&["query", "asked.txt"]).expect(1).stderr;
    assert!(
        other.starts_with("dedupdb: found no other stored document"),
        "{other}"
    );
    let key = sandbox.run(&["query", "--key", "asked.txt"]).expect(1);
    assert_eq!(key.stderr.lines().count(), 1, "{}", key.stderr);
}

#[test]
fn a_lower_threshold_is_noted_where_the_bands_miss_much_at_it() {
    let sandbox = filled();
    sandbox.write("alone.txt", text(77, 60));
    let ran = sandbox.run(&["query", "--threshold", "0.5", "alone.txt"]);
    let lines = [
        "dedupdb: 0.5 is below the store's threshold, 0.8: 12.5% of the pairs at 0.5 share a bucket; the others are \
         missed",
        "dedupdb: to find more, give the store this threshold: `dedupdb reindex --threshold 0.5`",
        "dedupdb: found no stored document with a similarity of 0.5 or more",
    ];
    assert_eq!(ran.expect(1).stderr.lines().collect::<Vec<_>>(), lines);
    // The bands were chosen for a lower threshold than the store's.
    sandbox.run(&["reindex", "--bands", "30x3"]).expect(0);
    let ran = sandbox.run(&["query", "--threshold", "0.5", "alone.txt"]);
    assert_eq!(ran.expect(1).stderr, format!("{}\n", lines[2]));
}

#[test]
fn exit_codes_tell_found_from_nothing_from_error() {
    let sandbox = filled();
    sandbox.run(&["query", "query.txt"]).expect(0);
    let words: Vec<String> = (0..60).map(|word| format!("alone{word}")).collect();
    sandbox.write("alone.txt", words.join(" "));
    let ran = sandbox.run(&["query", "alone.txt"]).expect(1);
    let nothing = "dedupdb: found no stored document with a similarity of 0.8 or more\n";
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", nothing));
    let ran = sandbox.run(&["query", "--quiet", "alone.txt"]).expect(1);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    let ran = sandbox
        .run(&["query", "nowhere.txt", "query.txt"])
        .expect(2);
    assert_eq!(ran.lines().len(), 1);
    assert!(ran.stderr.contains("nowhere.txt"));
    let ran = sandbox
        .run(&["query", "--key", "nobody", "query.txt"])
        .expect(2);
    assert_eq!(ran.lines().len(), 1);
    assert!(ran.stderr.contains("nobody"));
    sandbox.run(&["query"]).expect(2);
    sandbox
        .run(&["query", "--threshold", "0", "query.txt"])
        .expect(2);
    let ran = sandbox
        .run(&["--store", "nowhere", "query", "query.txt"])
        .expect(2);
    assert!(
        ran.stderr
            .starts_with("dedupdb: nowhere: there is no dedupdb store here")
    );
}

#[test]
fn threshold_and_limit_narrow_and_widen() {
    let sandbox = filled();
    let key = "folder/news/harbour-bridge.txt";
    let lines = |more: &[&str]| {
        let mut question = vec!["query", "--key", key];
        question.extend(more);
        let ran = sandbox.run(&question).expect(0);
        let keys: Vec<String> = ran.lines().into_iter().map(|line| pair(line).1).collect();
        (keys, ran.stderr)
    };
    assert_eq!(
        lines(&[]).0,
        ["page-01", "folder/news/harbour-bridge-update.txt"]
    );
    assert_eq!(lines(&["--limit", "1"]).0, ["page-01"]);
    assert_eq!(lines(&["--threshold", "88%"]).0, ["page-01"]);
    let (_, note) = lines(&["--threshold", "0.7"]);
    assert!(
        note.contains("of the pairs at 0.7 share a bucket"),
        "{note}"
    );
    let (_, note) = lines(&["--threshold", "0.7", "--quiet"]);
    assert_eq!(note, "");
}

#[test]
fn exact_copies_are_marked() {
    let sandbox = filled();
    let ran = sandbox
        .run(&["query", "--key", "folder/docs/tally.rs"])
        .expect(0);
    let expected =
        "folder/docs/tally.rs\tfolder/old/2019/tally-backup.rs.txt\t1.0000\texact copy\n";
    assert_eq!(ran.stdout, expected);
}

#[test]
fn several_processes_ask_at_once() {
    let sandbox = filled();
    let ask = || sandbox.run(&["query", "folder"]).expect(0).stdout;
    let alone = ask();
    std::thread::scope(|scope| {
        let asking: Vec<_> = (0..6).map(|_| scope.spawn(ask)).collect();
        for answer in asking {
            assert_eq!(answer.join().unwrap(), alone);
        }
    });
}

#[test]
fn answers_do_not_depend_on_the_number_of_threads() {
    let sandbox = filled();
    let one = sandbox
        .run(&["--threads", "1", "query", "folder", "pages.jsonl"])
        .expect(0);
    let four = sandbox
        .run(&["query", "--threads", "4", "folder", "pages.jsonl"])
        .expect(0);
    assert_eq!(one.stdout, four.stdout);
}

#[test]
fn the_nearest_are_found_without_a_threshold() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--passage", "0"]).expect(0);
    let words = text(1, 60);
    let half = |seed| {
        let kept: Vec<&str> = words.split(' ').take(30).collect();
        kept.join(" ") + " " + &text(seed, 30)
    };
    for (name, text) in [
        ("a", half(2)),
        ("b", text(3, 60)),
        ("c", words.clone()),
        ("d", half(4)),
    ] {
        sandbox.write(format!("{name}.txt"), text);
    }
    sandbox
        .run(&["add", "a.txt", "b.txt", "c.txt", "d.txt"])
        .expect(0);
    sandbox.write("asked.txt", format!("{words} and more"));
    let found = |arguments: &[&str], code| {
        let ran = sandbox
            .run(&[&["query", "asked.txt"], arguments].concat())
            .expect(code);
        let lines = ran.lines().into_iter();
        let keys: Vec<String> = lines
            .map(|it| it.split('\t').nth(1).unwrap().to_owned())
            .collect();
        (keys.concat(), ran.stderr)
    };
    assert_eq!(
        found(&["--nearest", "2", "--exhaustive"], 0).0,
        "c.txta.txt"
    );
    assert_eq!(
        found(&["--nearest", "9", "--exhaustive", "--threshold", "0"], 0).0,
        "c.txta.txtd.txt"
    );
    let share = &["--nearest", "9", "--exhaustive", "--threshold", "0.5"];
    assert_eq!(found(share, 0).0, "c.txt");
    assert_eq!(
        found(&["--threshold", "0.2", "--exhaustive"], 0).0,
        "c.txta.txtd.txt"
    );
    assert!(found(&["--nearest", "1"], 0).0.starts_with("c.txt"));
    sandbox.write("asked.txt", text(9, 60));
    let (none, said) = found(&["--nearest", "1"], 1);
    assert!(
        none.is_empty() && said.contains("shares a bucket with it; --exhaustive"),
        "{said}"
    );
    let (_, said) = found(&["--nearest", "1", "--exhaustive"], 1);
    assert!(said.contains("anything in common"), "{said}");
    for (arguments, expected) in [
        (&["--threshold", "0"][..], "--threshold 0 is for --nearest"),
        (&["--nearest", "0"], "--nearest"),
        (&["--nearest", "2", "--limit", "3"], "cannot be used with"),
        (
            &["--nearest", "2", "--containment", "0.5"],
            "cannot be used with",
        ),
    ] {
        let (_, said) = found(arguments, 2);
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
}
