//! `eval`: experiments beside what theory says.

use std::fs;

use serde_json::Value;

use crate::sandbox::{Sandbox, fields, text};

/// Groups of four texts, each with a few words of the first one changed.
fn groups(sandbox: &Sandbox, count: u64) {
    for group in 0..count {
        let original = text(group, 120);
        for copy in 0..4 {
            let mut words: Vec<String> = original.split(' ').map(str::to_owned).collect();
            for change in 0..copy {
                words[40 * change + 7] = format!("changed{group}x{change}");
            }
            sandbox.write(format!("texts/{group:02}-{copy}.txt"), words.join(" "));
        }
    }
}

fn number(object: &Value, name: &str) -> f64 {
    object[name]
        .as_f64()
        .unwrap_or_else(|| panic!("{name} of {object}"))
}

#[test]
fn bands_find_what_the_curve_says() {
    let sandbox = Sandbox::new();
    groups(&sandbox, 20);
    let asked = [
        "--json",
        "eval",
        "bands",
        "texts",
        "--bands",
        "4,16,64",
        "--permutations",
        "256",
        "--shingling",
        "word:1",
        "--queries",
        "all",
        "-o",
        "bands.csv",
    ];
    let rows = sandbox.run(&asked).expect(0).objects();
    assert_eq!(rows.len(), 3);
    for row in &rows {
        let [found, near] = ["found", "near_duplicates"].map(|name| number(row, name));
        assert!((near - 3.0).abs() < 1e-9, "{row}");
        assert!((found + number(row, "false_negatives") - near).abs() < 1e-9);
        let candidates = found + number(row, "false_positives");
        assert!((candidates - number(row, "candidates")).abs() < 1e-9);
        assert!((number(row, "candidate_pairs") - candidates * 40.0).abs() < 1e-6);
        assert!((found - number(row, "expected_found")).abs() < 0.5, "{row}");
        let rate = number(row, "false_negatives") / near;
        assert!((rate - number(row, "false_negative_rate")).abs() < 1e-9);
    }
    let found: Vec<f64> = rows.iter().map(|row| number(row, "found")).collect();
    assert!(found[0] < found[1] && found[1] <= found[2], "{found:?}");
    let csv = fs::read_to_string(sandbox.path("bands.csv")).unwrap();
    assert_eq!(csv.lines().count(), 4);
    let mut names: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    names.sort_unstable();
    assert_eq!(names, fields(&rows[0]));
}

#[test]
fn the_same_seed_gives_the_same_figures_on_any_number_of_threads() {
    let sandbox = Sandbox::new();
    groups(&sandbox, 30);
    let run = |threads: &str, seed: &str| {
        let asked = [
            "--json",
            "--threads",
            threads,
            "eval",
            "bands",
            "texts",
            "--seed",
            seed,
        ];
        sandbox
            .run(&[&asked[..], &["--queries", "5"]].concat())
            .expect(0)
            .stdout
    };
    assert_eq!(run("1", "3"), run("3", "3"));
    assert_ne!(run("1", "3"), run("1", "4"));
}

#[test]
fn what_cannot_be_measured_is_said_in_one_line() {
    let sandbox = Sandbox::new();
    groups(&sandbox, 2);
    for (asked, said) in [
        (
            vec!["bands", "texts", "--bands", "0"],
            "give a number from 1",
        ),
        (
            vec!["bands", "texts", "--bands", "129"],
            "give a number from 1",
        ),
        (
            vec!["bands", "texts", "--queries", "0"],
            "from 1 on, or all",
        ),
        (vec!["bands", "texts/00-0.txt"], "needs two or more"),
        (vec!["bands", "texts", "-o", "x.txt"], ".csv"),
        (vec!["bands", "texts", "--shingling", "ids"], "00-0.txt"),
    ] {
        let ran = sandbox.run(&[&["eval"], &asked[..]].concat()).expect(2);
        assert!(
            ran.stderr.contains(said) && ran.stdout.is_empty(),
            "{asked:?}: {}",
            ran.stderr
        );
    }
    let ran = sandbox
        .run(&["eval", "bands", "texts", "nowhere"])
        .expect(2);
    assert!(
        ran.stderr.contains("nowhere") && ran.stdout.contains("8 queries"),
        "{}",
        ran.stdout
    );
}

#[test]
fn estimates_are_as_accurate_as_theory_says_and_masks_are_not() {
    let sandbox = Sandbox::new();
    // Sets of 20 words, of which neighbours share some.
    for number in 0..40 {
        let words: Vec<String> = (0..20).map(|word| text(number * 3 + word, 1)).collect();
        sandbox.write(format!("texts/{number:02}"), words.join(" "));
    }
    let run = |threads: &str| {
        let asked = [
            "--json",
            "--threads",
            threads,
            "eval",
            "accuracy",
            "texts",
            "--shingling",
            "word:1",
            "--permutations",
            "300,100",
            "--epsilon",
            "0.05,0.1",
            "--family",
            "affine32,xor",
            "--plot",
            "accuracy.svg",
        ];
        let mut rows = sandbox.run(&asked).expect(0).objects();
        for row in &mut rows {
            let seconds = row.as_object_mut().unwrap().remove("signing_seconds");
            assert!(seconds.unwrap().as_f64().unwrap() > 0.0);
        }
        rows
    };
    let rows = run("1");
    assert_eq!(rows, run("3"));
    assert_eq!(rows.len(), 8);
    for row in &rows {
        assert_eq!((&row["pairs"], &row["runs"]), (&780.into(), &15.into()));
        let [error, ideal] = ["error", "ideal_error"].map(|name| number(row, name));
        let [mean, ideal_off] = ["mean_off", "ideal_off"].map(|name| number(row, name));
        if row["family"] == "affine32" {
            assert!((error / ideal - 1.0).abs() < 0.1, "{row}");
            assert!(number(row, "deviation").abs() < 4.0, "{row}");
        } else {
            assert!(error > 1.2 * ideal && mean > ideal_off, "{row}");
        }
    }
    assert!(number(&rows[0], "ideal_error") > number(&rows[2], "ideal_error"));
    assert!(number(&rows[0], "ideal_off") > number(&rows[1], "ideal_off"));
    for (asked, said) in [
        (["--permutations", "0"], "1 to 16384"),
        (["--runs", "0"], "0 is not in 1.."),
        (["--sample", "1"], "needs two texts"),
        (["--family", "md5"], "there are affine32"),
        (["--epsilon", "2"], "give a share"),
    ] {
        let ran = sandbox
            .run(&[&["eval", "accuracy", "texts"], &asked[..]].concat())
            .expect(2);
        assert!(ran.stderr.contains(said), "{asked:?}: {}", ran.stderr);
    }
}
