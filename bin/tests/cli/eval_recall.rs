//! `eval recall`: how much a store finds of all that it could find.

use serde_json::Value;

use crate::eval::{assert_close, groups, number};
use crate::sandbox::{Sandbox, text};

/// A store of groups and a copy whose bands miss some pairs.
fn store_of_groups() -> Sandbox {
    let sandbox = Sandbox::new();
    groups(&sandbox, 30);
    sandbox.write("texts/copy.txt", text(0, 120));
    let init = [
        "init",
        "--shingling",
        "word:2",
        "--bands",
        "4x16",
        "--permutations",
        "64",
    ];
    sandbox.run(&init).expect(0);
    sandbox.add(&["texts"], 0);
    sandbox
}

fn recall(sandbox: &Sandbox, more: &[&str]) -> Vec<Value> {
    let asked = ["--json", "eval", "recall", "--threshold", "0.5"];
    let ran = sandbox.run(&[&asked[..], more].concat());
    ran.expect(0).objects()
}

#[test]
fn a_store_finds_what_was_promised() {
    let sandbox = store_of_groups();
    let whole = recall(&sandbox, &[]);
    let all = whole.last().unwrap();
    let exhaustive = [
        "--json",
        "pairs",
        "--exhaustive",
        "--fold-copies",
        "--threshold",
        "0.5",
    ];
    let pairs = sandbox.run(&exhaustive).expect(0).objects().len();
    let listed = ["--json", "pairs", "--fold-copies", "--threshold", "0.5"];
    let listed = sandbox.run(&listed).expect(0).objects().len();
    assert_eq!(
        (all["pairs"].as_u64(), all["precision"].as_f64()),
        (Some(180), Some(1.0))
    );
    assert_eq!((pairs, all["found"].as_u64()), (180, Some(listed as u64)));
    assert!(listed < 180, "the bands miss some");
    for name in ["pairs", "found"] {
        let parts = whole[..whole.len() - 1].iter().map(|row| number(row, name));
        assert_close(parts.sum(), number(all, name));
    }
    // Below the threshold, texts share buckets, too.
    let candidates = number(all, "candidates");
    assert!(candidates >= number(all, "found"), "{all}");
    let precision = number(all, "found") / candidates;
    assert_close(number(all, "candidate_precision"), precision);
    let recall = number(all, "recall");
    assert!(number(all, "recall_low") < recall && recall < number(all, "recall_high"));
    assert!((recall - number(all, "predicted")).abs() < 0.1, "{all}");
    sandbox
        .run(&["init", "--store", "bare", "--no-shingles"])
        .expect(0);
    let ran = sandbox
        .run(&["eval", "recall", "--store", "bare"])
        .expect(2);
    assert!(ran.stderr.contains("keeps no shingles"), "{}", ran.stderr);
}

#[test]
fn a_sample_counts_each_pair_once() {
    let sandbox = store_of_groups();
    let whole = recall(&sandbox, &[]);
    // Even if all texts are queried one by one, each pair counts once.
    let sampled = recall(&sandbox, &["--sample", "1000"]);
    assert_eq!(sampled.len(), whole.len());
    for (one, other) in sampled.iter().zip(&whole) {
        for name in ["from", "pairs", "found", "recall", "predicted"] {
            assert_close(number(one, name), number(other, name));
        }
        assert_eq!(one["candidates"], other["candidates"]);
    }
    let few = recall(&sandbox, &["--sample", "10"]);
    let pairs = number(few.last().unwrap(), "pairs");
    // Each text is one of a group of four. A pair of two sampled texts is one pair.
    assert!((15.0..=30.0).contains(&pairs), "{pairs}");
    let said = sandbox
        .run(&["eval", "recall", "--sample", "1000"])
        .expect(0);
    assert!(
        said.stdout.starts_with("120 of 120 distinct texts "),
        "{}",
        said.stdout
    );
}

#[test]
fn a_sample_of_two_thirds_counts_the_pairs_that_it_touches() {
    let sandbox = Sandbox::new();
    // One group: all texts are alike, so that s of n touch s (n - 1) - s (s - 1) / 2 pairs.
    for number in 0..12 {
        sandbox.write(
            format!("texts/{number:02}"),
            format!("{} x{number}", text(1, 200)),
        );
    }
    sandbox.add(&["texts"], 0);
    for (sample, pairs) in [
        ("1", 11.0),
        ("2", 21.0),
        ("8", 60.0),
        ("11", 66.0),
        ("12", 66.0),
    ] {
        let asked = ["--json", "eval", "recall", "--sample", sample];
        let rows = sandbox.run(&asked).expect(0).objects();
        assert_close(number(rows.last().unwrap(), "pairs"), pairs);
    }
}
