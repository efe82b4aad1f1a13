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
