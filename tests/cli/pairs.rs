//! `pairs`: all documents that are alike.

use crate::sandbox::{Sandbox, fields};

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
    assert!(lines.iter().all(|line| line.split('\t').count() == 3));

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
