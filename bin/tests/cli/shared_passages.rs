//! `passages --against` and `pairs --passages`, compared with a search through the words themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Unbounded};

use crate::sandbox::{Sandbox, fields, text};

/// The documents, each with words of its own around some of a few quotations of 12 to 47 words.
fn documents() -> BTreeMap<String, Vec<String>> {
    let quotations: Vec<String> = (0..8).map(|n| text(900 + n, 12 + 5 * n)).collect();
    let mut documents = BTreeMap::new();
    for number in 0..30_u64 {
        let mut words = vec![format!("first{number}")];
        for part in 0..number % 4 {
            let quotation = &quotations[((number * 7 + part * 3) % 8) as usize];
            words.extend(quotation.split(' ').map(str::to_owned));
            let own = 1 + (number * 5 + part) % 9;
            words.extend((0..own).map(|own| format!("own{number}x{part}x{own}")));
        }
        documents.insert(format!("d{number:02}.txt"), words);
    }
    documents
}

/// The longest runs of words of `a` that `b` has, as first word and length, found by looking at every place of both.
fn runs(a: &[String], b: &[String], at_least: usize) -> Vec<(usize, usize)> {
    let common = |i: usize, j: usize| {
        let both = a[i..].iter().zip(&b[j..]);
        both.take_while(|(a, b)| a == b).count()
    };
    let longest = |i: usize| (0..b.len()).map(|j| common(i, j)).max().unwrap_or(0);
    let all: Vec<usize> = (0..a.len()).map(longest).collect();
    let begins = |i: usize| i == 0 || all[i - 1] != all[i] + 1;
    let found = (0..a.len()).filter(|&i| all[i] >= at_least && begins(i));
    found.map(|i| (i, all[i])).collect()
}

fn sandbox(documents: &BTreeMap<String, Vec<String>>) -> Sandbox {
    let sandbox = Sandbox::new();
    for (name, words) in documents {
        sandbox.write(format!("texts/{name}"), words.join(" "));
    }
    sandbox
}

#[test]
fn files_are_compared_without_a_store_as_their_words_say() {
    let documents = documents();
    let sandbox = sandbox(&documents);
    for at_least in [5, 20, 33] {
        let mut expected = Vec::new();
        for (query, a) in &documents {
            for (key, b) in documents.iter().filter(|(key, _)| *key != query) {
                for (first, words) in runs(a, b, at_least) {
                    let last = first + words;
                    expected.push(format!(
                        "texts/{query}\ttexts/{key}\t{words}\t{}\t{last}",
                        first + 1
                    ));
                }
            }
        }
        expected.sort();
        assert!(expected.len() > 10);
        let at_least = at_least.to_string();
        let asked = ["passages", "--at-least", &at_least, "texts", "--against"];
        let ran = sandbox.run(&[&asked[..], &["texts"]].concat()).expect(0);
        let columns = |line: &&str| line.split('\t').take(5).collect::<Vec<_>>().join("\t");
        let mut found: Vec<String> = ran.lines().iter().map(columns).collect();
        found.sort();
        assert_eq!(found, expected);
        // The files one by one, and with the store of an environment that has none.
        let names = documents.keys().map(|name| format!("texts/{name}"));
        let names: Vec<String> = names.collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut command = sandbox.command(&[&asked[..], &names].concat());
        let output = command.env("DEDUPDB_STORE", "none").output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), ran.stdout);
    }
    assert_eq!(sandbox.names(), ["texts"]);
}

#[test]
fn a_record_is_not_compared_with_itself() {
    let sandbox = Sandbox::new();
    let record = |id: &str, text: &str| format!("{{\"id\": \"{id}\", \"text\": \"{text}\"}}\n");
    let (one, other) = (text(1, 30), format!("{} and more", text(1, 30)));
    let both = record("one", &one) + &record("other", &other);
    sandbox.write("both.jsonl", &both);
    sandbox.write("copy.jsonl", &both);
    let asked = ["passages", "both.jsonl", "--against", "copy.jsonl"];
    let ran = sandbox.run(&asked).expect(0);
    let keys = |line: &&str| line.split('\t').take(2).collect::<Vec<_>>().join(" ");
    let pairs: Vec<String> = ran.lines().iter().map(keys).collect();
    assert_eq!(pairs, ["one other", "other one"]);
    // A text of the same id is another document, unless ids are said to be unique.
    let stream = [
        "passages",
        "-",
        "--format",
        "jsonl",
        "--against",
        "copy.jsonl",
    ];
    let changed = record("one", &other);
    let ran = sandbox.run_with(&stream, changed.as_bytes()).expect(0);
    assert_eq!(ran.lines().len(), 2, "{}", ran.stdout);
    let unique = [&stream[..], &["--id-scope", "all"]].concat();
    let ran = sandbox.run_with(&unique, changed.as_bytes()).expect(0);
    assert_eq!(ran.lines().len(), 1, "{}", ran.stdout);
}

#[test]
fn what_cannot_be_compared_without_a_store_is_refused() {
    let sandbox = sandbox(&documents());
    sandbox.write("broken.jsonl", "{\"id\": 1, \"text\": \"one\"}\n{\"id\"\n");
    sandbox.add(&["texts"], 0);
    for (line, code, said) in [
        (
            "passages texts --against gone",
            2,
            "nothing could be read of --against",
        ),
        (
            "passages texts --against texts broken.jsonl",
            2,
            "broken.jsonl:2",
        ),
        (
            "--store .dedupdb passages texts --against texts",
            2,
            "leave one of them out",
        ),
        (
            "passages texts --against .dedupdb",
            2,
            "give it with --store",
        ),
        ("passages --against texts texts", 2, "before --against"),
        ("passages - --against -", 2, "named more than once"),
        (
            "passages texts --against texts --at-least 4",
            2,
            "4 is less than 5",
        ),
        (
            "passages texts --against texts --shingling term",
            2,
            "at least 3 words",
        ),
        ("passages texts --shingling code:5", 2, "--against"),
        (
            "passages texts --against texts --at-least 20000",
            1,
            "of 20000 words",
        ),
    ] {
        let arguments: Vec<&str> = line.split(' ').collect();
        let ran = sandbox.run(&arguments).expect(code);
        assert!(ran.stderr.contains(said), "{line}: {}", ran.stderr);
        assert!(!ran.stderr.contains("panic"));
    }
}

/// The lines of `pairs --passages` for these documents, of which only some have their text `at_hand`.
fn ranked(
    documents: &BTreeMap<String, Vec<String>>,
    at_least: usize,
    at_hand: impl Fn(&str) -> bool,
) -> Vec<String> {
    let mut found = Vec::new();
    for (key_a, a) in documents {
        for (key_b, b) in documents.range::<str, _>((Excluded(&**key_a), Unbounded)) {
            let sides = [(key_a, a, b), (key_b, b, a)].map(|(key, own, other)| {
                let runs = runs(own, other, at_least);
                let covered: BTreeSet<usize> = runs.iter().flat_map(|(i, n)| *i..i + n).collect();
                let longest = runs.iter().map(|(_, words)| *words).max();
                let share = covered.len() as f64 / own.len() as f64;
                (longest.filter(|_| at_hand(key)), share)
            });
            let best = sides
                .iter()
                .filter_map(|(longest, share)| Some(((*longest)?, *share)));
            let Some((longest, share)) = best.reduce(|a, b| if b > a { b } else { a }) else {
                continue;
            };
            let columns = sides.map(|(longest, share)| match longest {
                Some(_) => format!("\t{share:.4}"),
                None => "\t-".to_owned(),
            });
            let keys = format!("texts/{key_a}\ttexts/{key_b}");
            found.push((longest, share, keys, columns.concat()));
        }
    }
    found.sort_by(|a, b| {
        let by_longest = b.0.cmp(&a.0).then(b.1.total_cmp(&a.1));
        by_longest.then_with(|| a.2.cmp(&b.2))
    });
    let line = |(longest, _, keys, columns)| format!("{keys}\t{longest}{columns}");
    found.into_iter().map(line).collect()
}

#[test]
fn pairs_are_ranked_by_passages_as_their_words_say() {
    let documents = documents();
    let sandbox = sandbox(&documents);
    sandbox.run(&["init", "--passage", "5"]).expect(0);
    sandbox.add(&["texts"], 0);
    let asked = ["pairs", "--passages", "--from", "texts"];
    for at_least in [5, 20, 33] {
        let expected = ranked(&documents, at_least, |_| true);
        assert!(expected.len() > 10);
        let at_least = at_least.to_string();
        let asked = [&asked[..], &["--at-least", &at_least]].concat();
        for threads in ["1", "3"] {
            let ran = sandbox.run(&[&["--threads", threads], &asked[..]].concat());
            assert_eq!(ran.expect(0).lines(), expected);
        }
        let ran = sandbox.run(&[&asked[..], &["--limit", "7"]].concat());
        assert_eq!(ran.expect(0).lines(), expected[..7]);
    }
    // A text that was named twice, and texts that are not at hand.
    let expected = ranked(&documents, 5, |key| key.starts_with("d0"));
    let some: Vec<String> = (0..10).map(|n| format!("texts/d0{n}.txt")).collect();
    let some: Vec<&str> = some.iter().map(String::as_str).collect();
    let named = [&asked[..3], &some, &some[3..4]].concat();
    let ran = sandbox.run(&named).expect(0);
    assert_eq!(ran.lines(), expected);
    let missing = "20 stored documents have no text in --from (first: texts/d10.txt)";
    assert!(ran.stderr.contains(missing), "{}", ran.stderr);
    // Of two prefixes, the first one is that of the first column.
    let all = ranked(&documents, 5, |_| true);
    let mut across = Vec::new();
    for line in &all {
        let columns: Vec<&str> = line.split('\t').collect();
        if let [a, b, longest, share_a, share_b] = columns[..]
            && a.starts_with("texts/d0")
            && b.starts_with("texts/d1")
        {
            across.push([b, a, longest, share_b, share_a].join("\t"));
        }
    }
    let between = ["--between", "texts/d1", "texts/d0"];
    let ran = sandbox.run(&[&asked[..], &between].concat()).expect(0);
    assert_eq!(ran.lines(), across);
    assert_eq!(ran.stderr, "");
}

#[test]
fn pairs_of_texts_that_are_not_stored_are_counted() {
    let sandbox = sandbox(&documents());
    sandbox.add(&["texts"], 0);
    sandbox.write("texts/d07.txt", "another text");
    sandbox.write("texts/new.txt", "a new one");
    let asked = ["--json", "pairs", "--passages", "--from", "texts"];
    let ran = sandbox.run(&asked).expect(0);
    for said in [
        "1 text of --from is not stored (first: texts/new.txt)",
        "1 text of --from is not the one that is stored under its key (first: texts/d07.txt)",
        "1 stored document has no text in --from (first: texts/d07.txt)",
    ] {
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
    let pairs = ran.objects();
    let names = ["coverage_a", "coverage_b", "key_a", "key_b", "longest"];
    assert_eq!(fields(&pairs[0]), names);
    let of_changed = pairs.iter().find(|pair| pair["key_a"] == "texts/d07.txt");
    let of_changed = of_changed.unwrap();
    assert_eq!(of_changed["coverage_a"], serde_json::Value::Null);
    assert_eq!(of_changed["file_a"], "changed");
}

#[test]
fn what_does_not_go_with_passages_of_pairs_is_refused() {
    let sandbox = sandbox(&documents());
    sandbox.add(&["texts"], 0);
    for (line, code, said) in [
        ("pairs --passages", 2, "--from"),
        ("pairs --from texts", 2, "--passages"),
        ("pairs --from texts --threshold 0.5", 2, "--passages"),
        ("pairs --limit 5", 2, "--passages"),
        (
            "pairs --passages --from texts --threshold 0.5",
            2,
            "--threshold",
        ),
        (
            "pairs --passages --from texts --exhaustive",
            2,
            "--exhaustive",
        ),
        (
            "pairs --passages --from texts --containment 0.5",
            2,
            "--containment",
        ),
        (
            "pairs --passages --from texts --fold-copies",
            2,
            "--fold-copies",
        ),
        (
            "pairs --passages --from texts --at-least 4",
            2,
            "4 is less than 5",
        ),
        (
            "pairs --passages --from gone",
            2,
            "gone: there is no such file",
        ),
        (
            "pairs --passages --from texts --at-least 500",
            1,
            "no pair shares a passage of 500 words",
        ),
        (
            "pairs --passages --from texts --between x y",
            1,
            "begins with \"x\"",
        ),
    ] {
        let arguments: Vec<&str> = line.split(' ').collect();
        let ran = sandbox.run(&arguments).expect(code);
        assert!(ran.stderr.contains(said), "{line}: {}", ran.stderr);
    }
    let without = ["--store", "none", "init", "--passage", "0"];
    sandbox.run(&without).expect(0);
    let none = ["--store", "none", "pairs", "--passages", "--from", "texts"];
    let ran = sandbox.run(&none).expect(2);
    assert!(ran.stderr.contains("finds no passages"), "{}", ran.stderr);
}

#[test]
fn pairs_that_share_what_many_share_may_be_missing() {
    let sandbox = Sandbox::new();
    let footer = text(1, 25);
    for seed in 0..60 {
        let page = format!("{} {footer}", text(100 + seed, 35));
        sandbox.write(format!("pages/{seed:02}.txt"), page);
    }
    sandbox.add(&["pages"], 0);
    let asked = [
        "--false-candidates",
        "2",
        "pairs",
        "--passages",
        "--from",
        "pages",
    ];
    let ran = sandbox.run(&asked).expect(0);
    assert!(ran.lines().len() < 60 * 59 / 2);
    let note =
        "60 texts are in more stored texts than were compared, and a pair there may be missing";
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    let ran = sandbox.run(&[&asked[..], &["--all"]].concat()).expect(0);
    assert_eq!((ran.lines().len(), &*ran.stderr), (60 * 59 / 2, ""));
}
