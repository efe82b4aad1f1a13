//! Which documents are kept, what they are compared with, and what is reported about the others.

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, text};

/// A line of an id and a text.
fn line(id: &str, text: &str) -> String {
    json!({ "id": id, "text": text }).to_string() + "\n"
}

/// Three texts. The second resembles the other two, which do not resemble each other.
fn chain() -> [String; 3] {
    let words: Vec<String> = text(1, 100).split(' ').map(str::to_owned).collect();
    let first: Vec<String> = (0..6).map(|at| format!("first{at}")).collect();
    let last: Vec<String> = (0..6).map(|at| format!("last{at}")).collect();
    let second = [&first[..], &words[6..]].concat();
    let third = [&first[..], &words[6..94], &last[..]].concat();
    [words, second, third].map(|words| words.join(" "))
}

fn read(sandbox: &Sandbox, name: &str) -> String {
    std::fs::read_to_string(sandbox.path(name)).unwrap()
}

fn ids(lines: &str) -> Vec<String> {
    let id = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap();
        value["id"].as_str().unwrap().to_owned()
    };
    lines.lines().map(id).collect()
}

#[test]
fn a_few_or_none_of_those_that_are_alike_are_kept() {
    let sandbox = Sandbox::new();
    let [first, second, third] = chain();
    let copy = text(2, 50);
    let lines = [
        ("a", &first),
        ("b", &second),
        ("c", &third),
        ("d", &copy),
        ("e", &copy),
        ("f", &copy),
        ("g", &text(3, 50)),
    ];
    let all = lines.map(|(id, text)| line(id, text)).concat();
    sandbox.write("in.jsonl", all);
    let kept = |keep: &str| {
        let output = format!("{keep}.jsonl");
        let arguments = ["--json", "dedup", "in.jsonl", "-o", &output, "--keep", keep];
        let ran = sandbox.run(&arguments).expect(0);
        let done = &ran.objects()[0];
        let kept = ids(&read(&sandbox, &output));
        assert_eq!(done["kept"], kept.len(), "{done}");
        assert_eq!(done["dropped"], 7 - kept.len(), "{done}");
        kept.join("")
    };
    assert_eq!(kept("first"), "acdg");
    assert_eq!(kept("1"), "acdg");
    assert_eq!(kept("2"), "abcdeg");
    assert_eq!(kept("7"), "abcdefg");
    // The third resembles only the second, which is dropped in favour of the first.
    assert_eq!(kept("none"), "g");
    sandbox
        .run(&["dedup", "in.jsonl", "-o", "x.jsonl", "--keep", "0"])
        .expect(2);
    let removed = [
        "dedup",
        "in.jsonl",
        "-o",
        "x.jsonl",
        "--keep",
        "none",
        "--removed",
        "gone.jsonl",
    ];
    sandbox.run(&removed).expect(0);
    let removed = read(&sandbox, "gone.jsonl");
    let removed: Vec<Value> = removed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let names = |name: &str| {
        removed
            .iter()
            .map(|it| it[name].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names("key"), ["b", "e", "f", "a", "c", "d"]);
    assert_eq!(names("earlier"), ["a", "d", "d", "b", "b", "e"]);
    assert_eq!(names("earlier_record"), [1, 4, 4, 2, 2, 5]);
    assert!(
        removed
            .iter()
            .all(|it| it["file"] == "in.jsonl" && it["earlier_file"] == "in.jsonl")
    );
}

#[test]
fn marks_say_of_all_documents_what_would_become_of_them() {
    let sandbox = Sandbox::new();
    let copy = text(2, 50);
    sandbox.write(
        "in.jsonl",
        line("a", &copy) + &line("b", &text(1, 50)) + &line("c", &(copy + " x")),
    );
    for keep in ["first", "longest", "2", "none"] {
        let output = format!("{keep}.jsonl");
        let arguments = [
            "dedup", "in.jsonl", "-o", &output, "--mark", "dup", "--keep", keep,
        ];
        sandbox.run(&arguments).expect(0);
        let marked = read(&sandbox, &output);
        let input = read(&sandbox, "in.jsonl");
        let mut marks = Vec::new();
        for (line, before) in marked.lines().zip(input.lines()) {
            assert!(line.starts_with(&before[..before.len() - 1]), "{line}");
            let line: Value = serde_json::from_str(line).unwrap();
            let similarity = line["dup_similarity"].as_f64().unwrap();
            let representative = line["dup_representative"].clone();
            assert_eq!(similarity >= 1.0, representative == line["id"], "{line}");
            assert!(similarity > 0.9);
            marks.push((
                line["dup_keep"].as_bool().unwrap(),
                representative,
                line["dup_cluster"].clone(),
            ));
        }
        let kept: Vec<bool> = marks.iter().map(|mark| mark.0).collect();
        let expected = match keep {
            "first" => [true, true, false],
            "longest" => [false, true, true],
            "2" => [true; 3],
            _ => [false, true, false],
        };
        assert_eq!(kept, expected, "{keep}");
        let representative = if keep == "longest" { "c" } else { "a" };
        assert_eq!(
            (&marks[0].1, &marks[2].1),
            (&json!(representative), &json!(representative))
        );
        assert_eq!(marks[0].2, marks[2].2);
        assert_ne!(marks[0].2, marks[1].2);
    }
}

#[test]
fn rows_of_tables_are_marked_and_texts_are_not() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "in.csv",
        "id,text\r\n1,one two three four five six\r\n2,One two three four five six\r\n",
    );
    sandbox
        .run(&["dedup", "in.csv", "-o", "out.csv", "--mark", "x"])
        .expect(0);
    let table = read(&sandbox, "out.csv");
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!(
        rows[0],
        "id,text,x_keep,x_cluster,x_representative,x_similarity"
    );
    assert!(
        rows[1].ends_with(",1,1") && rows[1].contains(",true,"),
        "{table}"
    );
    assert!(
        rows[2].ends_with(",1,1") && rows[2].contains(",false,"),
        "{table}"
    );
    sandbox.write("texts/a.txt", "one two three four five six");
    let ran = sandbox
        .run(&["dedup", "texts", "-o", "out", "--mark", "x"])
        .expect(2);
    assert!(
        ran.stderr.contains("a.txt: it has no columns to mark"),
        "{}",
        ran.stderr
    );
}

#[test]
fn what_is_like_something_elsewhere_is_dropped_and_nothing_else() {
    let sandbox = Sandbox::new();
    let (known, new) = (text(1, 50), text(2, 50));
    sandbox.write("test/known.txt", &known);
    sandbox.write(
        "in.jsonl",
        line("a", &(known.clone() + " x")) + &line("b", &new) + &line("c", &new),
    );
    sandbox.add(&["test"], 0);
    let before = sandbox.contents();
    for (against, output) in [("test", "a.jsonl"), (".dedupdb", "b.jsonl")] {
        let arguments = [
            "--json",
            "dedup",
            "in.jsonl",
            "-o",
            output,
            "--against",
            against,
            "--removed",
            "gone.tsv",
            "--force",
        ];
        let done = sandbox.run(&arguments).expect(0).objects()[0].clone();
        assert_eq!(done["of_history"]["near_duplicates"], 1, "{done}");
        assert_eq!(ids(&read(&sandbox, output)), ["b", "c"]);
        let gone = read(&sandbox, "gone.tsv");
        let gone: Value = serde_json::from_str(&gone).unwrap();
        // A match in a store has no file.
        let file = (against == "test").then_some("test/known.txt");
        assert_eq!(gone["earlier_file"], json!(file), "{gone}");
    }
    assert_eq!(sandbox.contents(), before);
    sandbox
        .run(&[
            "dedup",
            "in.jsonl",
            "-o",
            "c.jsonl",
            "--against",
            "test",
            "--mark",
            "seen",
        ])
        .expect(0);
    let marked = read(&sandbox, "c.jsonl");
    assert!(
        marked
            .lines()
            .next()
            .unwrap()
            .contains("\"seen_representative\":\"test/known.txt\"")
    );
}

#[test]
fn an_exact_copy_elsewhere_comes_before_a_text_that_only_has_the_same_words() {
    let sandbox = Sandbox::new();
    let words = "one two three four five six seven";
    let upper = words.to_uppercase();
    let marked = format!("{words}!");
    let old = line("b1", &upper) + &line("b2", words) + &line("b3", &marked);
    sandbox.write("old.jsonl", old);
    for (name, text) in [("b1", &*upper), ("b2", words), ("b3", &*marked)] {
        sandbox.write(format!("old/{name}"), text);
    }
    let new = line("a1", words) + &line("a2", "nobody knows who painted the harbour crane");
    sandbox.write("new.jsonl", new);
    sandbox.add(&["old.jsonl"], 0);
    for (against, earlier) in [("old.jsonl", "b2"), (".dedupdb", "b2"), ("old", "old/b2")] {
        for threads in ["1", "4"] {
            let ran = sandbox.run(&[
                "dedup",
                "new.jsonl",
                "-o",
                "out.jsonl",
                "--force",
                "--threads",
                threads,
                "--against",
                against,
                "--removed",
                "gone.jsonl",
            ]);
            let summary = ran.expect(0).stderr;
            assert!(
                summary.contains("exact copies                 1   of documents of --against\n"),
                "{summary}"
            );
            let gone: Value = serde_json::from_str(&read(&sandbox, "gone.jsonl")).unwrap();
            assert_eq!(gone["earlier"], earlier);
            assert_eq!(gone["exact_copy"], true);
        }
    }
}

#[test]
fn what_cannot_be_compared_with_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write("test/known.txt", text(1, 50));
    sandbox.write("in.jsonl", line("a", &text(2, 50)));
    for arguments in [
        &["dedup", "in.jsonl", "-o", "d.jsonl", "--against", "nowhere"][..],
        &[
            "dedup",
            "in.jsonl",
            "-o",
            "test/x.jsonl",
            "--against",
            "test",
        ],
        &[
            "--store",
            "s",
            "dedup",
            "in.jsonl",
            "-o",
            "d.jsonl",
            "--against",
            "test",
        ],
    ] {
        let ran = sandbox.run(arguments).expect(2);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    }
}

#[test]
fn a_record_that_is_marked_before_is_refused() {
    let sandbox = Sandbox::new();
    let words = text(1, 50);
    for field in ["dup_keep", "dup\\u005fkeep"] {
        let marked = format!("{{\"{field}\":1,\"id\":\"b\",\"text\":\"{words}\"}}\n");
        sandbox.write("in.jsonl", line("a", "dup_keep") + &marked);
        for keep in ["first", "longest"] {
            let arguments = [
                "dedup", "in.jsonl", "-o", "out", "--mark", "dup", "--keep", keep,
            ];
            let ran = sandbox.run(&arguments).expect(2);
            assert!(ran.stderr.contains("in.jsonl"), "{}", ran.stderr);
            assert!(ran.stderr.contains(": dup_keep: it has"), "{}", ran.stderr);
            assert!(!sandbox.path("out").exists());
        }
    }
    let arguments = ["dedup", "in.jsonl", "-o", "out.jsonl", "--mark", "seen"];
    sandbox.run(&arguments).expect(0);
}

#[test]
fn a_table_that_is_marked_before_is_refused() {
    let sandbox = Sandbox::new();
    for (name, cell) in [("in.csv", ','), ("in.tsv", '\t')] {
        let rows = format!("id,text,\"dup_cluster\"\n1,{},7\n", text(1, 50));
        let rows = rows.replace('"', if cell == ',' { "\"" } else { "" });
        sandbox.write(name, rows.replace(',', &cell.to_string()));
        for keep in ["first", "longest"] {
            let marked = ["dedup", name, "-o", "out", "--mark", "dup", "--keep", keep];
            let ran = sandbox.run(&marked).expect(2);
            let message = format!("{name}: dup_cluster: it has");
            assert!(ran.stderr.contains(&message), "{}", ran.stderr);
            assert!(!sandbox.path("out").exists());
        }
        let marked = format!("marked-{name}");
        let arguments = ["dedup", name, "-o", &marked, "--mark", "seen"];
        sandbox.run(&arguments).expect(0);
    }
}

#[test]
fn what_cannot_be_read_to_compare_with_leaves_no_output() {
    let sandbox = Sandbox::new();
    let words = text(1, 50);
    sandbox.write(
        "in.jsonl",
        format!("{{\"url\":\"a\",\"body\":\"{words}\"}}\n"),
    );
    sandbox.write("test.jsonl", line("known", &words));
    let arguments = [
        "dedup",
        "in.jsonl",
        "-o",
        "d.jsonl",
        "--text-field",
        "body",
        "--id-field",
        "url",
        "--against",
    ];
    let ran = sandbox.run(&[&arguments[..], &["test.jsonl"]].concat());
    let ran = ran.expect(2);
    let told = "nothing could be read of --against, so nothing is written";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert_eq!(sandbox.names(), ["in.jsonl", "test.jsonl"]);
    // With the same fields it works, and with a store, which needs none.
    sandbox
        .run(&["--store", "s", "add", "test.jsonl"])
        .expect(0);
    sandbox.write(
        "test.jsonl",
        format!("{{\"url\":\"b\",\"body\":\"{words}\"}}\n"),
    );
    for against in ["test.jsonl", "s"] {
        let ran = sandbox.run(&[&arguments[..], &[against, "--force"]].concat());
        let ran = ran.expect(0);
        assert!(
            ran.stderr.contains("   of documents of --against"),
            "{}{}",
            ran.stdout,
            ran.stderr
        );
        assert_eq!(read(&sandbox, "d.jsonl"), "");
    }
}

#[test]
fn marks_are_in_their_columns_in_rows_of_any_length() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "in.csv",
        "id,text,x\n1,aaa bbb ccc\n2,ddd eee fff,,,\n3,ggg,hhh,iii\n4,jjj kkk lll,m\n",
    );
    let mark = ["dedup", "in.csv", "-o", "out.csv", "--mark", "z"];
    let told = sandbox.run(&mark).expect(2).stderr;
    assert!(told.contains("skipped (1) is not in the output"), "{told}");
    let out = read(&sandbox, "out.csv");
    let rows: Vec<Vec<&str>> = out.lines().map(|row| row.split(',').collect()).collect();
    assert!(rows.iter().all(|row| row.len() == 7), "{out}");
    let kept: Vec<_> = rows.iter().map(|row| (row[0], row[3])).collect();
    assert_eq!(
        kept,
        [("id", "z_keep"), ("1", ""), ("2", "true"), ("4", "true")]
    );
}

#[test]
fn a_store_to_compare_with_keeps_its_parameters() {
    let sandbox = Sandbox::new();
    sandbox.write("old.jsonl", line("a", &text(1, 50)));
    sandbox.write("new.jsonl", line("b", &text(1, 50)));
    sandbox.add(&["old.jsonl"], 0);
    let store = sandbox.path(".dedupdb");
    let store = store.to_str().unwrap();
    let against = |option: &str, value: &str, code| {
        let out = format!("{value}.jsonl");
        let ran = sandbox.run(&[
            "dedup",
            "new.jsonl",
            "-o",
            &out,
            "--against",
            store,
            option,
            value,
        ]);
        ran.expect(code).stderr
    };
    for (option, value) in [
        ("--threshold", "0.9"),
        ("--shingling", "char:9"),
        ("--permutations", "64"),
    ] {
        let told = against(option, value, 2);
        assert!(told.contains(&format!("the store has {option} ")), "{told}");
    }
    against("--threshold", "0.8", 0);
}
