//! `dedup --unit` and `--cut-passages`: paragraphs, lines and runs of words.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, text};

/// A paragraph of twenty words.
fn paragraph(number: u64) -> String {
    format!("{}.", text(number, 20))
}

/// Documents of these paragraphs, called by letters.
fn documents(texts: &[&[&str]]) -> String {
    let names = ('a'..='z').map(String::from);
    let records = names.zip(texts).map(|(id, paragraphs)| {
        let text = paragraphs.join("\n\n") + "\n";
        format!("{}\n", json!({"id": id, "text": text}))
    });
    records.collect()
}

/// The ids and texts of a file of lines.
fn read(sandbox: &Sandbox, name: &str) -> Vec<(String, String)> {
    let lines = fs::read_to_string(sandbox.path(name)).unwrap();
    let records = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let field = |record: &Value, name: &str| record[name].as_str().unwrap().to_owned();
    records
        .map(|record| (field(&record, "id"), field(&record, "text")))
        .collect()
}

fn expected(texts: &[(&str, &[&str])]) -> Vec<(String, String)> {
    let text = |paragraphs: &[&str]| paragraphs.join("\n\n") + "\n";
    texts
        .iter()
        .map(|(id, paragraphs)| ((*id).to_owned(), text(paragraphs)))
        .collect()
}

fn run(sandbox: &Sandbox, input: &str, output: &str, more: &[&str]) -> Value {
    let asked = [
        "--json",
        "dedup",
        input,
        "-o",
        output,
        "--unit",
        "paragraph",
    ];
    sandbox
        .run(&[&asked[..], more].concat())
        .expect(0)
        .objects()
        .remove(0)
}

#[test]
fn later_copies_of_paragraphs_are_cut() {
    let sandbox = Sandbox::new();
    let [one, two, three] = [1, 2, 3].map(paragraph);
    let like_one = one.to_uppercase();
    sandbox.write(
        "in.jsonl",
        documents(&[
            &["Home", &one, &two],
            &["Home", &three, &one, "End."],
            &[
                &like_one,
                &three.replace('.', "!"),
                &paragraph(4),
                "End.",
                &paragraph(4),
            ],
            &["Home", "End."],
        ]),
    );
    let done = run(
        &sandbox,
        "in.jsonl",
        "out.jsonl",
        &["--removed", "cut.jsonl"],
    );
    assert_eq!(
        read(&sandbox, "out.jsonl"),
        expected(&[
            ("a", &["Home", &one, &two]),
            ("b", &["Home", &three, "End."]),
            ("c", &[&paragraph(4), "End."]),
            ("d", &["Home", "End."]),
        ])
    );
    let counts =
        ["kept", "short", "lost", "changed", "dropped"].map(|name| done["units"][name].as_u64());
    assert_eq!(counts, [4, 6, 0, 2, 0].map(Some));
    assert_eq!(
        [&done["documents"], &done["kept"], &done["dropped"]],
        [4, 4, 4]
    );
    assert_eq!(
        [
            &done["of_input"]["exact_copies"],
            &done["of_input"]["same_words"]
        ],
        [2, 2]
    );
    let cut = fs::read_to_string(sandbox.path("cut.jsonl")).unwrap();
    let cut = cut
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let cut = cut.map(|cut| format!("{} {}", cut["key"], cut["earlier"]).replace('"', ""));
    assert_eq!(
        cut.collect::<Vec<_>>(),
        ["b@3 a@2", "c@1 a@2", "c@2 b@2", "c@5 c@3"]
    );
}

#[test]
fn what_a_dropped_document_had_stays_elsewhere() {
    let sandbox = Sandbox::new();
    let paragraphs: Vec<String> = (0..9).map(paragraph).collect();
    let all: Vec<&str> = paragraphs.iter().map(|one| &**one).collect();
    let [new, last] = [20, 21].map(paragraph);
    let copy = [&all[..], &[&new]].concat();
    let text = documents(&[&all, &copy, &["Short.", &new], &[&new, &last]]);
    sandbox.write("in.jsonl", &text);
    for store in [&[][..], &["--store", "store"]] {
        let done = run(
            &sandbox,
            "in.jsonl",
            "out.jsonl",
            &[store, &["--force"]].concat(),
        );
        assert_eq!(
            read(&sandbox, "out.jsonl"),
            expected(&[("a", &all), ("c", &["Short.", &new]), ("d", &[&last]),])
        );
        assert_eq!([&done["units"]["lost"], &done["units"]["dropped"]], [1, 1]);
        assert_eq!([&done["documents"], &done["kept"]], [4, 3]);
    }
    assert_eq!(
        sandbox
            .run(&["--store", "store", "list"])
            .expect(0)
            .lines()
            .len(),
        11
    );
    // With another bound it stays.
    run(&sandbox, "in.jsonl", "more.jsonl", &["--drop-above", "1"]);
    let more = read(&sandbox, "more.jsonl");
    assert_eq!(more[1..3], expected(&[("b", &[&new]), ("c", &["Short."])]));
}

#[test]
fn a_store_has_the_paragraphs_of_earlier_days() {
    let sandbox = Sandbox::new();
    let [one, two] = [1, 2].map(paragraph);
    sandbox.write("monday.jsonl", documents(&[&[&one, "Monday."]]));
    sandbox.write("tuesday.jsonl", documents(&[&["Tuesday."], &[&one, &two]]));
    let store = ["--store", "store"];
    run(&sandbox, "monday.jsonl", "1.jsonl", &store);
    let done = run(&sandbox, "tuesday.jsonl", "2.jsonl", &store);
    assert_eq!(
        read(&sandbox, "2.jsonl"),
        expected(&[("a", &["Tuesday."]), ("b", &[&two])])
    );
    assert_eq!(done["of_history"]["exact_copies"], 1);
    // A run that succeeded is repeated: what is there stays.
    let again = [
        "dedup",
        "monday.jsonl",
        "-o",
        "1.jsonl",
        "--unit",
        "paragraph",
        "--force",
    ];
    let refused = sandbox.run(&[&again[..], &store].concat()).expect(2);
    assert!(
        refused.stderr.contains("no new document was kept"),
        "{}",
        refused.stderr
    );
    assert_eq!(
        read(&sandbox, "1.jsonl"),
        expected(&[("a", &[&one, "Monday."])])
    );
}

#[test]
fn the_first_copy_stays_though_a_document_before_it_is_dropped() {
    let sandbox = Sandbox::new();
    let (long, other) = (text(1, 1000), text(2, 40));
    let part = |from: usize| {
        let words: Vec<&str> = other.split(' ').skip(from).take(30).collect();
        words.join(" ")
    };
    // Of the parts, only those that are next to each other are near-duplicates.
    sandbox.write(
        "in.jsonl",
        documents(&[
            &[&long],
            &[&long, &part(0)],
            &["The head of page two", &part(2), "Its foot."],
            &["The head of page three", &part(4), "Its foot."],
        ]),
    );
    run(
        &sandbox,
        "in.jsonl",
        "out.jsonl",
        &["--threshold", "0.85", "--drop-above", "0.95"],
    );
    assert_eq!(
        read(&sandbox, "out.jsonl"),
        expected(&[
            ("a", &[&long]),
            ("c", &["The head of page two", &part(2), "Its foot."]),
            ("d", &["The head of page three", "Its foot."]),
        ])
    );
}

#[test]
fn indentation_stays_with_its_line() {
    let sandbox = Sandbox::new();
    let line = |indent: &str| format!("{indent}raise ValueError({});\n", text(1, 20));
    let before = format!(
        "def f():\n{}\ndef g():\n    if q:\n{}    return 1\n",
        line("    "),
        line("        ")
    );
    let behind = format!(
        "def f():\n{}\ndef g():\n    if q:\n    return 1\n",
        line("    ")
    );
    sandbox.write("in/a.txt", before);
    let asked = ["dedup", "in", "-o", "out", "--unit", "line"];
    sandbox.run(&asked).expect(0);
    assert_eq!(
        fs::read_to_string(sandbox.path("out/a.txt")).unwrap(),
        behind
    );
}

#[test]
fn a_document_whose_units_the_store_refuses_is_left_out() {
    let sandbox = Sandbox::new();
    let records = [
        ("k".repeat(65_535), paragraph(1)),
        ("b".to_owned(), paragraph(1)),
    ];
    let lines = records.map(|(id, text)| format!("{}\n", json!({"id": id, "text": text})));
    sandbox.write("in.jsonl", lines.concat());
    let asked = [
        "--json",
        "dedup",
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--unit",
        "paragraph",
    ];
    let done = sandbox.run(&asked).expect(2).objects().remove(0);
    assert_eq!([&done["documents"], &done["kept"]], [2, 1]);
    assert_eq!(
        read(&sandbox, "out.jsonl"),
        [("b".to_owned(), paragraph(1))]
    );
}

#[test]
fn lines_and_files_lose_theirs() {
    let sandbox = Sandbox::new();
    let [one, two] = [1, 2].map(paragraph);
    sandbox.write("in/a.txt", format!("{one}\n{two}\n"));
    sandbox.write(
        "in/b.txt",
        format!("Title\r\n{one}\r\n{}\r\n", paragraph(3)),
    );
    sandbox.write("in/c.txt", format!("{two}\n"));
    let asked = [
        "--json",
        "dedup",
        "in",
        "-o",
        "out",
        "--unit",
        "line",
        "--min-words",
        "5",
    ];
    let done = sandbox.run(&asked).expect(0).objects().remove(0);
    assert_eq!(
        [&done["units"]["changed"], &done["units"]["dropped"]],
        [1, 1]
    );
    let files = [
        ("a.txt", format!("{one}\n{two}\n")),
        ("b.txt", format!("Title\r\n{}\r\n", paragraph(3))),
    ];
    for (name, text) in files {
        assert_eq!(
            fs::read_to_string(sandbox.path("out").join(name)).unwrap(),
            text
        );
    }
    assert!(!sandbox.path("out/c.txt").exists());
}

#[test]
fn what_cannot_be_cut_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("in/a.html", format!("<p>{}</p>", paragraph(1)));
    let refused = sandbox
        .run(&["dedup", "in", "-o", "out", "--unit", "line"])
        .expect(2);
    assert!(
        refused.stderr.contains("in/a.html: its text cannot be cut"),
        "{}",
        refused.stderr
    );
    assert!(!sandbox.path("out").exists());
    for more in [
        &["--keep", "longest"][..],
        &["--mark", "m"],
        &["--list"],
        &["--containment", "0.8"],
        &["--against", "in"],
    ] {
        let asked = ["dedup", "in", "-o", "out", "--unit", "line"];
        sandbox.run(&[&asked[..], more].concat()).expect(2);
    }
    for alone in [
        &["--min-words", "3"][..],
        &["--cut-passages", "8", "--min-words", "3"],
        &["--list", "--min-words", "3"],
        &["--drop-above", "0.5"],
        &["--list", "--drop-above", "0.5"],
        &["--unit", "line", "--shortest", "3"],
    ] {
        let asked = ["dedup", "in", "-o", "out"];
        let refused = sandbox.run(&[&asked[..], alone].concat()).expect(2);
        let is_told = refused.stderr.contains("were not provided");
        assert!(is_told, "{alone:?}: {}", refused.stderr);
    }
}

#[test]
fn passages_that_stand_before_are_cut() {
    let sandbox = Sandbox::new();
    let quoted = text(1, 60);
    let [first, second, third] = [2, 3, 4].map(|seed| text(seed, 40));
    let texts = [
        format!("{first}: {quoted}."),
        format!("{second} ({}), {third}\n", quoted.to_uppercase()),
        format!("{third} and then {quoted}"),
        quoted.clone(),
    ];
    let texts: Vec<Vec<&str>> = texts.iter().map(|text| vec![&**text]).collect();
    let texts: Vec<&[&str]> = texts.iter().map(|text| &**text).collect();
    sandbox.write("in.jsonl", documents(&texts));
    let asked = [
        "--json",
        "dedup",
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--cut-passages",
        "50",
    ];
    let done = sandbox.run(&asked).expect(0).objects().remove(0);
    let expected = expected(&[
        ("a", &[&format!("{first}: {quoted}.")]),
        ("b", &[&format!("{second} ({third}\n")]),
        ("c", &[&format!("{third} and then ")]),
    ]);
    assert_eq!(read(&sandbox, "out.jsonl"), expected);
    let counts = ["passages", "words", "changed", "dropped"];
    let counts = counts.map(|name| done["passages"][name].as_u64());
    assert_eq!(counts, [2, 120, 2, 1].map(Some));
    assert_eq!(
        ["documents", "kept", "dropped"].map(|name| done[name].as_u64()),
        [4, 3, 1].map(Some)
    );
    for more in [
        &["--store", "store"][..],
        &["--threshold", "0.9"],
        &["--permutations", "64"],
        &["--shingling", "word:3"],
        &["--unit", "line"],
        &["--cut-passages", "7"],
    ] {
        let asked = [&["dedup", "in.jsonl", "-o", "new.jsonl"], more];
        let passages = if more.contains(&"7") {
            &[][..]
        } else {
            &["--cut-passages", "50"]
        };
        sandbox
            .run(&[&asked.concat()[..], passages].concat())
            .expect(2);
        assert!(!sandbox.path("new.jsonl").exists());
    }
}

#[test]
fn passages_that_stand_at_few_places_stay() {
    let sandbox = Sandbox::new();
    // A notice is on four pages, a line on three, and a quotation on two.
    let [notice, line, quoted] = [1, 2, 3].map(|seed| text(seed, 30) + " ");
    let own = |seed: u64| text(seed, 20) + " ";
    let pages = [
        [&own(4), &*notice, &own(5), &line].concat(),
        [&own(6), &*quoted, &notice, &own(7)].concat(),
        [&own(8), &*quoted, &notice, &line, &own(9)].concat(),
        [&*notice, &own(10), &line, &own(11)].concat(),
    ];
    let rows = |texts: &[String; 4]| {
        let rows = texts.iter().zip('a'..='d');
        let rows = rows.map(|(text, id)| format!("{id}\t{text}\n"));
        format!("id\ttext\n{}", rows.collect::<String>())
    };
    let without = |parts: [&[&String]; 4]| {
        let mut texts = pages.clone();
        for (text, parts) in texts.iter_mut().zip(parts) {
            for part in parts {
                *text = text.replace(part.as_str(), "");
            }
        }
        texts
    };
    for (least, texts) in [
        (
            "2",
            without([
                &[],
                &[&notice],
                &[&quoted, &notice, &line],
                &[&notice, &line],
            ]),
        ),
        (
            "3",
            without([&[], &[&notice], &[&notice, &line], &[&notice, &line]]),
        ),
        ("4", without([&[], &[&notice], &[&notice], &[&notice]])),
        ("5", pages.clone()),
    ] {
        // Standard input cannot be read twice.
        let asked = "-q dedup - --format tsv -o out.tsv --force --cut-passages 25 --min-count";
        let asked: Vec<&str> = asked.split(' ').chain([least]).collect();
        sandbox.run_with(&asked, rows(&pages).as_bytes()).expect(0);
        let written = fs::read_to_string(sandbox.path("out.tsv")).unwrap();
        assert_eq!(written, rows(&texts), "{least}");
    }
}

#[test]
fn a_number_of_places_is_one_of_passages() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", documents(&[&["one"]]));
    for (flags, reason) in [
        (&["--min-count", "3"][..], "were not provided"),
        (&["--min-count", "3", "--unit", "line"], "were not provided"),
        (
            &["--min-count", "1", "--cut-passages", "8"],
            "1 is not in 2..",
        ),
        (
            &["--min-count", "0", "--cut-passages", "8"],
            "0 is not in 2..",
        ),
    ] {
        let asked = [&["dedup", "in.jsonl", "-o", "out.jsonl"], flags].concat();
        let refused = sandbox.run(&asked).expect(2);
        assert!(refused.stderr.contains(reason), "{}", refused.stderr);
    }
}

/// Checks a line about a passage against the texts of `a`, `b` and so on.
fn check_place(line: &Value, texts: &[String]) {
    let number = |name: &str| usize::try_from(line[name].as_u64().unwrap()).unwrap();
    let document = |name: &str| usize::from(line[name].as_str().unwrap().as_bytes()[0] - b'a');
    let (own, earlier) = (document("key"), document("earlier"));
    assert_eq!(
        (number("record"), number("earlier_record")),
        (own + 1, earlier + 1)
    );
    assert_eq!(line["text"], texts[own][number("start")..number("end")]);
    let words: Vec<&str> = texts[earlier].split_whitespace().collect();
    let words = words[number("earlier_first") - 1..number("earlier_last")].join(" ");
    let cut = line["text"].as_str().unwrap();
    assert!(
        cut.contains(words.trim_end_matches('.')),
        "{words} in {cut}"
    );
    assert!(number("earlier_last") - number("earlier_first") >= 49);
}

#[test]
fn passages_that_are_cut_are_listed() {
    let sandbox = Sandbox::new();
    let quoted = text(1, 60);
    let [first, second, third] = [2, 3, 4].map(|seed| text(seed, 40));
    let texts = [
        format!("{first}: {quoted}."),
        format!("{second} ({quoted}), {third}"),
        quoted.clone(),
        // Its own words come again, and neither part of `b` in it is long enough.
        format!("{second} {third} {second} {third}"),
    ];
    let records = texts.iter().zip(["a", "b", "c", "d"]);
    let records = records.map(|(text, id)| format!("{}\n", json!({"id": id, "text": text})));
    sandbox.write("in.jsonl", records.collect::<String>());
    let read = |list: &str| {
        let asked = "dedup -q in.jsonl --force -o new.jsonl --cut-passages 50 --removed";
        let asked: Vec<&str> = asked.split(' ').chain([list]).collect();
        sandbox.run(&asked).expect(0);
        fs::read_to_string(sandbox.path(list)).unwrap()
    };
    let lines = read("cut.jsonl");
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    let names = ["key", "earlier", "words", "first", "last", "dropped"];
    let found = lines
        .iter()
        .map(|line| names.map(|name| line[name].clone()));
    let expected = json!([
        ["b", "a", 60, 41, 100, false],
        ["c", "a", 60, 1, 60, true],
        ["d", "d", 80, 81, 160, false],
    ]);
    assert_eq!(json!(found.collect::<Vec<_>>()), expected);
    for line in &lines {
        check_place(line, &texts);
    }
    let (csv, tabs) = (read("cut.csv"), read("cut.tsv"));
    assert!(
        csv.starts_with("key,earlier,words,first,last,start,end,earlier_first,"),
        "{csv}"
    );
    assert!(
        csv.lines().nth(1).unwrap().starts_with("b,a,60,41,100,"),
        "{csv}"
    );
    assert!(tabs.starts_with("b\ta\t60\t41\t100\t"), "{tabs}");
    assert_eq!((csv.lines().count(), tabs.lines().count()), (4, 3));
}
