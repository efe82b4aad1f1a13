//! `passages --against` and `pairs --passages`, compared with a search through the words themselves.

use std::collections::BTreeMap;

use crate::sandbox::{Sandbox, text};

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
