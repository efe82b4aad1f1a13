//! `eval`: experiments, compared with theory.

use std::fs;
use std::process::Stdio;

use serde_json::Value;

use crate::sandbox::{Sandbox, fields, text};

/// Groups of four texts, each with a few words of the first one changed.
pub(crate) fn groups(sandbox: &Sandbox, count: u64) {
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

pub(crate) fn number(object: &Value, name: &str) -> f64 {
    object[name]
        .as_f64()
        .unwrap_or_else(|| panic!("{name} of {object}"))
}

#[track_caller]
pub(crate) fn assert_close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9, "{a} is not {b}");
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
        assert_close(near, 3.0);
        assert_close(found + number(row, "false_negatives"), near);
        let candidates = found + number(row, "false_positives");
        assert_close(candidates, number(row, "candidates"));
        assert_close(number(row, "candidate_pairs"), candidates * 40.0);
        assert!((found - number(row, "expected_found")).abs() < 0.5, "{row}");
        let rate = number(row, "false_negatives") / near;
        assert_close(rate, number(row, "false_negative_rate"));
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
fn results_are_not_written_over_what_is_read() {
    let sandbox = Sandbox::new();
    groups(&sandbox, 2);
    let corpus = "{\"text\": \"a b c d\"}\n{\"text\": \"a b c e\"}\n";
    sandbox.write("c.jsonl", corpus);
    sandbox.add(&["texts"], 0);
    for (asked, said) in [
        (
            vec!["bands", "c.jsonl", "-o", "c.jsonl"],
            "c.jsonl: this is an input",
        ),
        (
            vec!["shingles", "c.jsonl", "-o", "./c.jsonl"],
            "this is an input",
        ),
        (
            vec!["time", "texts", "-o", "texts/x.csv"],
            "inside the input",
        ),
        (
            vec!["accuracy", "texts", "--plot", "texts/x.svg"],
            "inside the input",
        ),
        (vec!["recall", "-o", ".dedupdb/x.csv"], "inside the input"),
    ] {
        let ran = sandbox.run(&[&["eval"], &asked[..]].concat()).expect(2);
        assert!(
            ran.stderr.contains(said) && ran.stdout.is_empty(),
            "{asked:?}: {}",
            ran.stderr
        );
    }
    assert_eq!(fs::read_to_string(sandbox.path("c.jsonl")).unwrap(), corpus);
    assert_eq!(fs::read_dir(sandbox.path("texts")).unwrap().count(), 8);
}

#[test]
fn files_are_written_though_nobody_reads_standard_output() {
    let sandbox = Sandbox::new();
    groups(&sandbox, 2);
    // More than is buffered before it is written out.
    let bands: Vec<String> = (1..=300).map(|bands: u32| bands.to_string()).collect();
    let asked = ["--json", "eval", "bands", "texts", "--permutations", "300"];
    let bands = bands.join(",");
    let asked = [&asked[..], &["--bands", &bands]].concat();
    let mut child = sandbox
        .command(&[&asked[..], &["-o", "b.csv", "--plot", "b.svg"]].concat())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    child.wait().unwrap();
    let csv = fs::read_to_string(sandbox.path("b.csv")).unwrap();
    assert_eq!(csv.lines().count(), 301);
    assert_eq!(sandbox.names(), ["b.csv", "b.svg", "texts"]);
}

#[test]
fn strict_experiments_end_at_the_first_failure() {
    let sandbox = Sandbox::new();
    groups(&sandbox, 2);
    for asked in ["bands", "shingles", "time", "accuracy"] {
        let all = ["eval", asked, "texts", "nowhere", "--strict", "-o", "x.csv"];
        let ran = sandbox.run(&all).expect(2);
        assert!(ran.stdout.is_empty(), "{asked}: {}", ran.stdout);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        assert!(ran.stderr.contains("nowhere"), "{}", ran.stderr);
    }
    assert_eq!(sandbox.names(), ["texts"]);
}

#[test]
fn rates_of_nothing_are_nothing() {
    let sandbox = Sandbox::new();
    groups(&sandbox, 2);
    let asked = [
        "eval",
        "bands",
        "texts",
        "--threshold",
        "1",
        "--bands",
        "16",
    ];
    let row = sandbox.run(&[&["--json"], &asked[..]].concat());
    let row = row.expect(0).objects().remove(0);
    for name in ["false_negative_rate", "expected_false_negative_rate"] {
        assert_eq!(row[name], Value::Null, "{row}");
    }
    assert_close(number(&row, "false_negatives"), 0.0);
    assert!(number(&row, "false_positive_rate") > 0.0);
    let asked = ["eval", "bands", "texts/00-0.txt", "texts/00-1.txt"];
    let row = sandbox.run(
        &[
            &["--json"],
            &asked[..],
            &["--threshold", "0.5", "--bands", "16"],
        ]
        .concat(),
    );
    let row = row.expect(0).objects().remove(0);
    assert_eq!(row["false_positive_rate"], Value::Null, "{row}");
    assert_eq!(row["expected_false_positive_rate"], Value::Null, "{row}");
}

#[test]
fn each_kind_of_shingles_has_its_own_number_of_texts() {
    let sandbox = Sandbox::new();
    groups(&sandbox, 2);
    // No words, but characters.
    sandbox.write("texts/marks", "!!! ??? !?!");
    let asked = ["--json", "eval", "accuracy", "--shingling", "char:3,word:1"];
    let more = ["--permutations", "64", "--epsilon", "0.1", "--runs", "1"];
    let rows = sandbox
        .run(&[&asked[..], &more, &["texts"]].concat())
        .expect(0)
        .objects();
    let of = |row: &Value| (row["texts"].as_u64(), row["pairs"].as_u64());
    assert_eq!(
        rows.iter().map(of).collect::<Vec<_>>(),
        [(Some(9), Some(36)), (Some(8), Some(28))]
    );
    // An input that can be read only once is read for one kind.
    let input = b"{\"text\": \"a b c d\"}\n{\"text\": \"a b c e\"}\n";
    let stdin = ["--format", "jsonl", "-"];
    let ran = sandbox
        .run_with(&[&asked[..], &more, &stdin].concat(), input)
        .expect(2);
    assert!(ran.stderr.contains("standard input"), "{}", ran.stderr);
    assert!(ran.stderr.contains("--shingling"), "{}", ran.stderr);
    let one = ["eval", "accuracy", "--shingling", "word:1"];
    sandbox
        .run_with(&[&one[..], &more, &stdin].concat(), input)
        .expect(0);
}

#[test]
fn long_texts_are_said_to_be_judged_by_their_beginning() {
    let sandbox = Sandbox::new();
    let long = "w ".repeat(50_000);
    sandbox.write("a", &long);
    sandbox.write("b", "w w w v");
    sandbox.write("c", "w w w u");
    let run = |more: &[&str]| sandbox.run(&[&["eval", "shingles", "--k", "2"], more].concat());
    let ran = run(&["a", "b", "c"]).expect(0);
    assert!(!ran.stdout.contains("50,000"), "{}", ran.stdout);
    sandbox.write("a", format!("{long} x"));
    let ran = run(&["a", "b", "c"]).expect(0);
    assert!(
        ran.stdout.contains("1 text has more than 50,000 words"),
        "{}",
        ran.stdout
    );
    let row = run(&["--json", "a", "b", "c"])
        .expect(0)
        .objects()
        .remove(0);
    assert_eq!(row["cut"], 1);
}

#[test]
fn longer_shingles_make_less_alike() {
    let sandbox = Sandbox::new();
    groups(&sandbox, 10);
    let run = |more: &[&str]| {
        let asked = ["--json", "eval", "shingles", "--k", "1..6"];
        sandbox
            .run(&[&asked[..], more].concat())
            .expect(0)
            .objects()
    };
    let two = run(&["texts/00-0.txt", "texts/00-2.txt"]);
    assert_eq!(two.len(), 7 * 6);
    for lines in two.chunks(6) {
        let jaccard: Vec<f64> = lines.iter().map(|line| number(line, "jaccard")).collect();
        // There are few different characters, so one more of them weighs much.
        let falls = lines[0]["kind"] != "word" || jaccard.is_sorted_by(|a, b| a >= b);
        assert!(
            falls && jaccard.iter().all(|j| (0.5..1.0).contains(j)),
            "{jaccard:?}"
        );
    }
    // Two of 120 words differ, each in k shingles of the 121 - k.
    let words: Vec<&Value> = two.iter().filter(|line| line["kind"] == "word").collect();
    assert_close(number(words[0], "jaccard"), 118.0 / 122.0);
    assert_close(number(words[4], "jaccard"), 106.0 / 126.0);
    let all = run(&["texts"]);
    assert_eq!(all.iter().filter(|line| line["best"] == true).count(), 1);
    for line in &all {
        assert_close(number(line, "near_duplicates"), 60.0);
        let gap = number(line, "near_bound") - number(line, "others_bound");
        assert!((gap - number(line, "gap")).abs() < 1e-12);
        let mean = 60.0 * number(line, "near_mean") + 720.0 * number(line, "others_mean");
        assert!(
            (mean / 780.0 - number(line, "jaccard")).abs() < 1e-9,
            "{line}"
        );
    }
    let ran = sandbox
        .run(&["eval", "shingles", "texts", "--sample", "100000"])
        .expect(2);
    assert!(ran.stderr.contains("or fewer"), "{}", ran.stderr);
}

#[test]
fn no_kind_of_shingles_is_best_if_none_separates() {
    let sandbox = Sandbox::new();
    let words = text(1, 10);
    let mut reversed: Vec<&str> = words.split(' ').collect();
    reversed.reverse();
    // To a diff, only the first two are alike. To shingles of one word or letter, the last one is a copy.
    sandbox.write("a.txt", &words);
    sandbox.write("b.txt", words.replace(reversed[0], "zyxvu"));
    sandbox.write("c.txt", reversed.join(" "));
    let ran = sandbox
        .run(&["eval", "shingles", "a.txt", "b.txt", "c.txt", "--k", "1"])
        .expect(0);
    let told = "no choice separates them: all gaps are 0 or negative\n";
    assert!(ran.stdout.contains(told), "{}", ran.stdout);
    assert!(!ran.stdout.contains("best"), "{}", ran.stdout);
}

#[test]
fn times_are_of_growing_parts() {
    let sandbox = Sandbox::new();
    groups(&sandbox, 20);
    let asked = [
        "--json",
        "eval",
        "time",
        "texts",
        "--permutations",
        "32,64",
        "--all-pairs",
        "40",
    ];
    let rows = sandbox.run(&asked).expect(0).objects();
    let texts: Vec<u64> = rows
        .iter()
        .map(|row| row["texts"].as_u64().unwrap())
        .collect();
    assert_eq!(texts, [16, 16, 32, 32, 40, 40, 64, 64, 80, 80]);
    for row in &rows {
        let texts = number(row, "texts");
        assert_close(number(row, "pairs"), texts * (texts - 1.0) / 2.0);
        assert_eq!(row["exact_measured"], texts <= 40.0);
        assert!(number(row, "lsh_found") <= number(row, "lsh_compared"));
        assert!(number(row, "exact_seconds") > 0.0 && number(row, "lsh_seconds") > 0.0);
    }
    let names = fields(&rows[0]);
    assert!(names.contains(&"lsh_wins_from") && names.contains(&"estimates_seconds"));
}

#[test]
fn every_experiment_draws() {
    let sandbox = Sandbox::new();
    groups(&sandbox, 10);
    sandbox.add(&["texts"], 0);
    for (asked, said) in [
        (vec!["recall"], "predicted by the S-curve"),
        (vec!["bands", "texts"], "expected by the S-curve"),
        (
            vec!["shingles", "texts", "--k", "1..3"],
            "Mean similarity of near-duplicates",
        ),
        (
            vec!["shingles", "texts/01-0.txt", "texts/01-1.txt"],
            "Similarity of two texts",
        ),
        (vec!["time", "texts"], "all exact, measured"),
        (
            vec!["accuracy", "texts", "--runs", "3"],
            "permutations of the seeds from 0 to 2",
        ),
    ] {
        let all = [&["eval"], &asked[..], &["--plot", "picture.svg"]].concat();
        sandbox.run(&all).expect(0);
        let svg = fs::read_to_string(sandbox.path("picture.svg")).unwrap();
        assert!(
            svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"),
            "{asked:?}"
        );
        assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
        assert!(svg.contains(said) && !svg.contains("NaN"), "{asked:?}");
        assert!(
            svg.contains("; dedupdb 0."),
            "{asked:?} says of what and by what"
        );
    }
    sandbox
        .run(&["eval", "recall", "--plot", "picture.png"])
        .expect(0);
    let png = fs::read(sandbox.path("picture.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.ends_with(b"IEND\xaeB`\x82"));
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
        (vec!["bands", "texts", "--plot", "x.pdf"], ".svg"),
        (
            vec!["bands", "texts", "-o", "nowhere/x.csv"],
            "folder of this file does not exist",
        ),
        (vec!["bands", "texts", "--shingling", "ids"], "00-0.txt"),
        (vec!["time", "texts", "--all-pairs", "1"], "from 2 on"),
        (vec!["time", "texts", "--all-pairs", "0"], "from 2 on"),
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
    // Sets of 20 words. Neighbours share some of them.
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
