//! `tune`: possible shapes of bands.

use std::fs;

use serde_json::json;

use crate::sandbox::{Sandbox, fields, text};

/// Adds eight texts that are half alike: their pairs are below the threshold, and tell shapes apart.
pub(crate) fn add_half_alike(sandbox: &Sandbox) {
    for number in 0..8 {
        let words = text(500, 25) + " " + &text(501 + number, 15);
        sandbox.write(format!("half/{number}.txt"), words);
    }
    sandbox.add(&["half"], 0);
}

#[test]
fn a_store_is_measured_and_its_shape_is_marked() {
    let sandbox = Sandbox::with_testdata();
    sandbox.add(&["folder", "pages.jsonl"], 0);
    add_half_alike(&sandbox);
    let ran = sandbox.run(&["tune"]).expect(0);
    let marked = |mark: &str| {
        let lines = ran.stdout.lines();
        let lines: Vec<&str> = lines.filter(|line| line.contains(mark)).collect();
        lines
    };
    assert!(
        marked("  current")[0].starts_with("17x7 "),
        "{}",
        ran.stdout
    );
    assert!(marked("  textbook")[0].starts_with("11x11 "));
    assert_eq!(marked("  best").len(), 1);
    assert!(
        ran.stdout.contains("measured: 60 of 60 contents"),
        "{}",
        ran.stdout
    );
    let tuned = sandbox
        .run(&["--json", "tune", "--recall", "90%"])
        .expect(0);
    let tuned = tuned.objects().remove(0);
    let names = ["permutations", "recall", "sample", "shapes", "threshold"];
    assert_eq!(fields(&tuned), names);
    assert_eq!(tuned["sample"]["pairs"], 60 * 59);
    for shape in tuned["shapes"].as_array().unwrap() {
        let is_named = shape["is"] == json!(["current"]) || shape["is"] == json!(["textbook"]);
        assert!(is_named || shape["recall"].as_f64().unwrap() >= 0.9);
        assert!(shape["false_candidates"].as_f64().unwrap() >= 0.0);
    }
}

#[test]
fn too_few_pairs_are_counted_in_words() {
    let sandbox = Sandbox::new();
    let tuned = || sandbox.run(&["tune"]).expect(0).stdout;
    for seed in 0..3 {
        sandbox.write(format!("in/{seed}.txt"), text(seed, 40));
    }
    sandbox.add(&["in"], 0);
    let none = tuned();
    assert!(
        none.contains("\nno pair of the sample lies between 0.2 and the threshold: too few"),
        "{none}"
    );
    let ran = sandbox.run(&["reindex", "--tuned"]).expect(2);
    let told = "dedupdb: bands: no pair of the sample lies between 0.2 and the threshold: too few to tell shapes apart; \
                choose them with --bands, or leave --tuned out\n";
    assert_eq!(ran.stderr, told);
    assert!(!none.contains("  best"), "{none}");
    let half = text(0, 25) + " " + &text(9, 15);
    sandbox.write("in/half.txt", half);
    sandbox.add(&["in"], 0);
    let some = tuned();
    assert!(
        some.contains("\nonly 2 pairs of the sample lie between 0.2"),
        "{some}"
    );
}

#[test]
fn an_empty_store_has_no_work_below_zero() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init"]).expect(0);
    let ran = sandbox.run(&["tune"]).expect(0);
    assert!(ran.stdout.contains("0.00 ±0.00"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("-0.00"), "{}", ran.stdout);
}

#[test]
fn a_larger_store_wants_more_rows() {
    let sandbox = Sandbox::with_testdata();
    sandbox.add(&["folder", "pages.jsonl"], 0);
    add_half_alike(&sandbox);
    let best_rows = |contents: &str| {
        let ran = sandbox
            .run(&["--json", "tune", "--contents", contents])
            .expect(0);
        let tuned = ran.objects().remove(0);
        let shapes = tuned["shapes"].as_array().unwrap().clone();
        let is_best = |shape: &&serde_json::Value| shape["is"].to_string().contains("best");
        shapes.iter().find(is_best).unwrap()["rows"]
            .as_u64()
            .unwrap()
    };
    assert!(best_rows("100000000") > best_rows("60"));
    sandbox.run(&["tune", "--contents", "0"]).expect(2);
}

#[test]
fn a_budget_needs_no_store() {
    let sandbox = Sandbox::new();
    let ran = sandbox
        .run(&["--json", "tune", "--permutations", "256"])
        .expect(0);
    let tuned = ran.objects().remove(0);
    assert_eq!(tuned["sample"], json!(null));
    let ran = sandbox.run(&["tune"]).expect(2);
    assert!(ran.stderr.contains("no dedupdb store"), "{}", ran.stderr);
    let out_of_reach = ["tune", "--permutations", "4", "--threshold", "0.2"];
    let ran = sandbox.run(&out_of_reach).expect(2);
    assert!(ran.stderr.contains("would do"), "{}", ran.stderr);
    sandbox.run(&["tune", "--permutations", "0"]).expect(2);
    let measured = ["tune", "--permutations", "64", "--contents", "9"];
    sandbox.run(&measured).expect(2);
}

#[test]
fn a_plot_stands_on_its_own() {
    let sandbox = Sandbox::with_testdata();
    sandbox.add(&["pages.jsonl"], 0);
    sandbox.run(&["tune", "--plot", "curves.svg"]).expect(0);
    let svg = fs::read_to_string(sandbox.path("curves.svg")).unwrap();
    assert!(svg.starts_with("<svg width=\"880\" ") && svg.trim_end().ends_with("</svg>"));
    for part in [
        "Jaccard similarity of a pair",
        "probability that the pair is found",
        "17 bands of 7 rows (",
        "(textbook): 62.8% at 0.8",
        "100%",
    ] {
        assert!(svg.contains(part), "{part}");
    }
    sandbox.run(&["tune", "--plot", "curves.png"]).expect(0);
    let png = fs::read(sandbox.path("curves.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    let ran = sandbox.run(&["tune", "--plot", "curves.pdf"]).expect(2);
    assert!(ran.stdout.is_empty() && ran.stderr.contains(".svg"));
    sandbox
        .run(&["tune", "--plot", "nowhere/curves.svg"])
        .expect(2);
}
