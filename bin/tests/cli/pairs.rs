//! `pairs`: all similar documents.

use crate::sandbox::{Sandbox, fields, text};

#[test]
fn pairs_have_two_keys_and_a_similarity() {
    let sandbox = Sandbox::with_testdata();
    sandbox.run(&["pairs"]).expect(2);
    sandbox.add(&["folder", "pages.jsonl"], 0);
    let ran = sandbox.run(&["pairs"]).expect(0);
    let lines = ran.lines();
    let january =
        "folder/docs/meeting-notes-february.md\tfolder/docs/meeting-notes-january.md\t0.9502";
    assert!(lines.contains(&january), "{}", ran.stdout);
    let copy = |line: &&str| line.ends_with("\t1.0000\texact copy");
    let copies = lines.iter().filter(|line| copy(line)).count();
    let words = |line: &&str| line.ends_with("\t1.0000\tsame words");
    let columns =
        |line: &&str| line.split('\t').count() == 3 + usize::from(copy(line) || words(line));
    assert!(lines.iter().all(columns), "{}", ran.stdout);

    let ran = sandbox.run(&["--json", "pairs"]).expect(0);
    assert_eq!(ran.objects().len(), lines.len());
    let expected = [
        "error",
        "estimate",
        "exact_copy",
        "jaccard",
        "key_a",
        "key_b",
    ];
    assert_eq!(fields(&ran.objects()[0]), expected);
    let are_copies = ran.objects().into_iter();
    let are_copies = are_copies.filter(|pair| pair["exact_copy"] == true).count();
    assert!(copies > 0 && copies == are_copies);

    let folded = sandbox.run(&["pairs", "--fold-copies"]).expect(0);
    assert!(folded.lines().len() < lines.len());
    let across = sandbox
        .run(&["pairs", "--between", "page-", "folder/"])
        .expect(0);
    let in_order = |line: &&str| line.starts_with("page-") && line.contains("\tfolder/");
    assert!(across.lines().iter().all(in_order), "{}", across.stdout);
    assert!(across.lines().len() < lines.len());
    sandbox
        .run(&["pairs", "--between", "page-", "nowhere/"])
        .expect(1);
    sandbox.run(&["pairs", "--between", "page-"]).expect(2);
}

#[test]
fn an_exhaustive_search_needs_shingles_and_finds_what_bands_miss() {
    let sandbox = Sandbox::with_testdata();
    for seed in [2, 3] {
        // Two texts that have one half in common.
        sandbox.write(format!("folder/half-{seed}"), text(1, 40) + &text(seed, 40));
    }
    sandbox.add(&["folder", "pages.jsonl"], 0);
    let sorted = |arguments: &[&str]| {
        let ran = sandbox.run(arguments).expect(0);
        let mut lines: Vec<String> = ran.lines().into_iter().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let exhaustive = sorted(&["pairs", "--exhaustive"]);
    let from_buckets = sorted(&["pairs"]);
    assert!(from_buckets.iter().all(|line| exhaustive.contains(line)));
    let low = sorted(&["pairs", "--exhaustive", "--threshold", "10%"]);
    assert!(low.len() > sorted(&["pairs", "--threshold", "10%"]).len());

    let bare = ["--store", "bare", "init", "--no-shingles"];
    sandbox.run(&bare).expect(0);
    let ran = sandbox
        .run(&["--store", "bare", "pairs", "--exhaustive"])
        .expect(2);
    let advice = "init and without --no-shingles";
    assert!(ran.stderr.contains(advice), "{}", ran.stderr);
    assert!(ran.stdout.is_empty());
}

#[test]
fn what_a_low_threshold_misses_is_said() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", text(1, 60));
    sandbox.write("b.txt", text(1, 60) + " and more");
    sandbox.add(&["a.txt", "b.txt"], 0);
    for command in [&["pairs"][..], &["clusters"], &["query", "a.txt"]] {
        let note = "0.5 is below the store's threshold, 0.8: ";
        let ran = sandbox.run(&[command, &["--threshold", "0.5"]].concat());
        assert!(ran.expect(0).stderr.contains(note), "{command:?}");
        let ran = sandbox.run(&[command, &["--threshold", "0.8"]].concat());
        assert_eq!(ran.expect(0).stderr, "");
    }
    let all = ["pairs", "--threshold", "0.5", "--exhaustive"];
    assert_eq!(sandbox.run(&all).expect(0).stderr, "");
}
