//! `map` and `reduce`, with sorting in between.

use std::collections::BTreeSet;

use crate::sandbox::{Ran, Sandbox, text};

/// Bands for lines that are made where memory is cheap.
const SIXTY: [&str; 6] = [
    "--threshold",
    "0.9",
    "--permutations",
    "960",
    "--bands",
    "60x16",
];

fn map(sandbox: &Sandbox, arguments: &[&str], input: &str) -> Vec<String> {
    let ran = sandbox.run_with(&[&["map"], arguments].concat(), input.as_bytes());
    lines(&ran.expect(0))
}

fn lines(ran: &Ran) -> Vec<String> {
    ran.stdout.lines().map(str::to_owned).collect()
}

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort_unstable();
    lines
}

fn reduce(sandbox: &Sandbox, parameters: &[&str], lines: &[String]) -> Ran {
    let input: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
    sandbox.run_with(&[&["reduce"], parameters].concat(), input.as_bytes())
}

/// The pairs from reducing `lines`, each once.
fn pairs(sandbox: &Sandbox, parameters: &[&str], lines: &[String]) -> BTreeSet<String> {
    let ran = reduce(sandbox, parameters, lines).expect(0);
    let pairs: BTreeSet<String> = ran.stdout.lines().map(str::to_owned).collect();
    assert_eq!(pairs.len(), ran.stdout.lines().count(), "each pair once");
    pairs
}

/// All of the test data, and copies of texts without words.
fn corpus() -> Sandbox {
    let sandbox = Sandbox::with_testdata();
    for name in ["a", "b", "c"] {
        sandbox.write(format!("folder/{name}.txt"), "-- --");
    }
    sandbox.write("folder/d.txt", "...");
    sandbox
}

const INPUTS: [&str; 2] = ["folder", "pages.jsonl"];

#[test]
fn the_pairs_are_those_of_a_store() {
    let others = [
        &[
            "--shingling",
            "char:12",
            "--threshold",
            "0.5",
            "--seed",
            "9",
        ][..],
        &["--no-lowercase", "--slot-bits", "8", "--recall", "99.9%"],
    ];
    let sandbox = corpus();
    for (store, parameters) in [&[][..], &SIXTY].into_iter().chain(others).enumerate() {
        let store = store.to_string();
        let stored = |arguments: &[&str]| {
            let arguments = [&["--store", &store], arguments].concat();
            sandbox.run(&arguments).expect(0)
        };
        stored(&[&["init"], parameters].concat());
        stored(&[&["add"], &INPUTS[..]].concat());
        // Mapped lines have no texts, so pairs are not marked.
        let expected = lines(&stored(&["pairs"])).into_iter();
        let expected: BTreeSet<String> = expected
            .map(|line| line.split('\t').take(3).collect::<Vec<_>>().join("\t"))
            .collect();
        assert!(expected.len() > 10, "{expected:?}");
        let mapped = map(&sandbox, &[&INPUTS, parameters].concat(), "");
        let found = pairs(&sandbox, parameters, &sorted(mapped));
        assert_eq!(found, expected, "{parameters:?}");
    }
}

#[test]
fn reducers_share_the_keys_and_list_each_pair_once() {
    let sandbox = corpus();
    let mapped = sorted(map(&sandbox, &[&INPUTS[..], &SIXTY].concat(), ""));
    let whole = pairs(&sandbox, &SIXTY, &mapped);
    let key = |line: &String| line.split('\t').next().unwrap().to_owned();
    let reducer = |line: &String| key(line).bytes().map(u32::from).sum::<u32>() % 3;
    let mut apart = BTreeSet::new();
    for own in 0..3 {
        let own = mapped.iter().filter(|line| reducer(line) == own).cloned();
        for pair in pairs(&sandbox, &SIXTY, &own.collect::<Vec<_>>()) {
            assert!(apart.insert(pair), "two reducers list a pair");
        }
    }
    assert_eq!(apart, whole);
}

#[test]
fn any_order_will_do_that_keeps_keys_together() {
    let sandbox = corpus();
    let mapped = sorted(map(&sandbox, &INPUTS, ""));
    let forward = reduce(&sandbox, &[], &mapped).expect(0);
    // Within a key, the order makes no difference.
    let key = |line: &String| line.split('\t').next().unwrap().to_owned();
    let mut within = mapped.clone();
    within.sort_by(|a, b| key(a).cmp(&key(b)).then(b.cmp(a)));
    assert_ne!(within, mapped);
    assert_eq!(
        reduce(&sandbox, &[], &within).expect(0).stdout,
        forward.stdout
    );
    let mut backward = mapped;
    backward.reverse();
    let backward = pairs(&sandbox, &[], &backward);
    assert_eq!(backward, lines(&forward).into_iter().collect());
}

#[test]
fn input_that_is_not_sorted_is_refused() {
    let sandbox = corpus();
    let mapped = map(&sandbox, &INPUTS, "");
    let ran = reduce(&sandbox, &[], &mapped).expect(2);
    let message = "the input is not sorted by key; pipe it through sort";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
}

#[test]
fn other_parameters_are_refused() {
    let sandbox = Sandbox::new();
    let mapped = sorted(map(&sandbox, &[], "{\"id\":\"a\",\"text\":\"a b c\"}\n"));
    for other in [
        &["--threshold", "0.7"][..],
        &["--bands", "9x13"],
        &["--seed", "2"],
        &["--shingling", "word:4"],
        &SIXTY,
    ] {
        let ran = reduce(&sandbox, other, &mapped).expect(2);
        let message = "standard input:1: map had other parameters, not shingling word:";
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    }
}

#[test]
fn lines_that_are_none_are_refused() {
    let sandbox = Sandbox::new();
    let input = format!(
        "{{\"id\":\"a\",\"text\":\"{0}\"}}\n{{\"id\":\"b\",\"text\":\"{0}!\"}}\n",
        text(1, 50)
    );
    let good = sorted(map(&sandbox, &[], &input));
    let found: Vec<String> = pairs(&sandbox, &[], &good).into_iter().collect();
    assert_eq!(found, ["a\tb\t1.0000"]);
    let columns = |id| {
        let mut columns = good.iter().filter_map(|line| line.split_once('\t'));
        let found = columns.find(|(_, columns)| columns.starts_with(id));
        found.unwrap().1
    };
    let other_key = |id| format!("07:00000000\t{}", columns(id));
    let damaged = good[0].replace("\ta\t", "\tc\t");
    let cut = &good[1][..good[1].len() - 4];
    for (wrong, what) in [
        ("a b c", "1: this is not a line of dedupdb map"),
        ("00\tb\tc", "1: this is not a line of dedupdb map"),
        ("", "1: this is not a line of dedupdb map"),
        (cut, "2: this is not a line of dedupdb map"),
        (
            &damaged,
            "1: this is not a line of dedupdb map, or it is damaged",
        ),
        (
            &other_key("a\t"),
            "its shingles do not belong to this bucket",
        ),
    ] {
        let lines = if wrong == cut {
            vec![good[0].clone(), wrong.to_owned()]
        } else if wrong.starts_with("07") {
            vec![wrong.to_owned(), other_key("b\t")]
        } else {
            vec![wrong.to_owned()]
        };
        let ran = reduce(&sandbox, &[], &lines).expect(2);
        assert!(ran.stderr.contains(what), "{what}: {}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    }
    let ran = sandbox.run_with(&["reduce"], good[0].as_bytes()).expect(2);
    assert!(
        ran.stderr.contains("the line is incomplete"),
        "{}",
        ran.stderr
    );
    assert!(reduce(&sandbox, &[], &[]).expect(0).stdout.is_empty());
    assert!(map(&sandbox, &[], "").is_empty());
}

#[test]
fn ids_are_kept_whatever_they_hold() {
    let sandbox = Sandbox::new();
    let record = |id: &str| format!("{}\n", serde_json::json!({"id": id, "text": text(1, 30)}));
    let ids = ["a\tb", "a\nb\r", "\"q\"", "\\n", "\u{2028}\u{e9}"];
    let input: String = ids.iter().map(|id| record(id)).collect();
    let mapped = sorted(map(&sandbox, &[], &input));
    assert!(mapped.iter().all(|line| line.split('\t').count() == 6));
    let ran = reduce(&sandbox, &["--json"], &mapped).expect(0);
    let found: BTreeSet<(String, String)> = ran
        .objects()
        .iter()
        .map(|pair| {
            assert_eq!(pair["jaccard"], 1.0);
            let key = |name: &str| pair[name].as_str().unwrap().to_owned();
            (key("key_a"), key("key_b"))
        })
        .collect();
    let mut expected = BTreeSet::new();
    for a in ids {
        expected.extend(
            ids.iter()
                .filter(|b| a < **b)
                .map(|b| (a.into(), (*b).into())),
        );
    }
    assert_eq!(found, expected);
}

#[test]
fn an_id_of_two_texts_ends_with_an_error() {
    let sandbox = Sandbox::new();
    let record = |id: &str, end: &str| format!("{id}\t{} {end}\n", text(1, 80));
    let input = [record("a", "x"), record("a", "y"), record("b", "z")].concat();
    // A mapper notices it.
    let ran = sandbox.run_with(&["--json", "map", "--format", "tsv"], input.as_bytes());
    let ran = ran.expect(2);
    let said = "standard input:2: the key \"a\" came before with another text, at standard input:1";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    assert!(ran.stderr.contains("\"repeated\":1"), "{}", ran.stderr);
    // Two mappers do not, but the reducer where both meet does.
    let mapped = [record("a", "x"), record("a", "y") + &record("b", "z")];
    let mapped = mapped.map(|input| map(&sandbox, &["--format", "tsv"], &input));
    let mapped = sorted(mapped.concat());
    for quiet in [&[][..], &["--quiet"]] {
        let ran = reduce(&sandbox, quiet, &mapped).expect(2);
        assert!(ran.stderr.contains("such as \"a\""), "{}", ran.stderr);
        assert!(!ran.stdout.contains("a\ta"), "{}", ran.stdout);
    }
    let twice = [record("a", "x"), record("a", "x"), record("b", "x")].concat();
    let mapped = sorted(map(&sandbox, &["--format", "tsv"], &twice));
    let found: Vec<String> = pairs(&sandbox, &[], &mapped).into_iter().collect();
    assert_eq!(found, ["a\tb\t1.0000"]);
}

#[test]
fn sets_of_integers_are_read() {
    let sandbox = Sandbox::new();
    let ids = ["--shingling", "ids"];
    let arguments = [&["--format", "shingles"], &ids[..]].concat();
    let input = "a 1 2 3 18446744073709551615\nb\t18446744073709551615 3 2 1\nc 1 2 9\nd\n";
    let mapped = sorted(map(&sandbox, &arguments, input));
    let found: Vec<String> = pairs(&sandbox, &ids, &mapped).into_iter().collect();
    assert_eq!(found, ["a\tb\t1.0000"]);

    for (bad, what) in [
        (
            "b 1 x",
            "token 2: expected a decimal integer below 2^64, found \"x\"",
        ),
        (
            "b 18446744073709551616",
            "token 1: expected a decimal integer below 2^64",
        ),
        ("b -1", "found \"-1\""),
    ] {
        let input = format!("a 1 2\n\n{bad}\nc 2 1\n");
        let mapped = [&["map"], &arguments[..]].concat();
        let ran = sandbox.run_with(&mapped, input.as_bytes()).expect(2);
        assert!(ran.stderr.contains("standard input:3: "), "{}", ran.stderr);
        assert!(ran.stderr.contains(what), "{}", ran.stderr);
        assert!(ran.stderr.contains("1 bad text"), "{}", ran.stderr);
        let found = pairs(&sandbox, &ids, &sorted(lines(&ran)));
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["a\tc\t1.0000"]);
    }
    let ran = sandbox
        .run_with(&["map", "--format", "shingles"], b"a 1")
        .expect(2);
    assert!(
        ran.stderr.contains("they need --shingling ids"),
        "{}",
        ran.stderr
    );
}

#[test]
fn bad_records_are_reported_and_the_rest_goes_on() {
    let sandbox = Sandbox::new();
    let input = "{\"id\":\"a\",\"text\":\"a b\"}\n{\"text\":\"x\"}\n{\"id\":\"c\"\n";
    let ran = sandbox
        .run_with(&["--json", "map"], input.as_bytes())
        .expect(2);
    let errors: Vec<&str> = ran.stderr.lines().collect();
    assert!(
        errors[0].contains("standard input:2: it has no key"),
        "{}",
        ran.stderr
    );
    assert!(
        errors[1].contains("standard input:3: not JSON"),
        "{}",
        ran.stderr
    );
    let summary: serde_json::Value = serde_json::from_str(errors[2]).unwrap();
    assert_eq!(summary["documents"], 1);
    assert_eq!(summary["lines"], 17);
    assert_eq!(summary["shuffled_bytes"], ran.stdout.len());
    assert_eq!(summary["skipped"]["bad record"], 2);
    sandbox
        .run_with(&["map", "--strict"], input.as_bytes())
        .expect(2);
    for wrong in [
        &["map", "-", "x"][..],
        &["map", "--format", "text"],
        &["map", "missing"],
    ] {
        sandbox.run(wrong).expect(2);
    }
}

#[cfg(unix)]
#[test]
fn a_shell_joins_them() {
    use std::path::PathBuf;
    let sandbox = Sandbox::with_testdata();
    let program = PathBuf::from(env!("CARGO_BIN_EXE_dedupdb"));
    let line = "$DEDUPDB map -q folder pages.jsonl | sort | $DEDUPDB reduce -q | sort";
    let shell = |line: &str| {
        let mut shell = sandbox.shell(line);
        Ran::of(shell.env("DEDUPDB", &program).output().unwrap()).expect(0)
    };
    let found = shell(line);
    assert!(found.stderr.is_empty(), "{}", found.stderr);
    sandbox.add(&INPUTS, 0);
    let expected = shell("$DEDUPDB pairs | cut -f 1-3 | sort");
    assert_eq!(found.stdout, expected.stdout);
    // The reader of the lines may go away.
    let ended = shell("{ $DEDUPDB map folder; echo $? > code; } | head -n 1; cat code");
    assert!(ended.stdout.ends_with("\n0\n"), "{}", ended.stdout);
}
