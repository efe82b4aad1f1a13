//! `passages`, `query --containment`, and the rebuild that a store needs for them.

use crate::sandbox::{Sandbox, fields, text};

/// A quotation of 30 words between other words.
fn quoting(seed: u64) -> String {
    let words = text(1, 60);
    let quoted: Vec<&str> = words.split_whitespace().skip(10).take(30).collect();
    format!(
        "{}\n\n{}\n\n{}",
        text(seed, 25),
        quoted.join(" "),
        text(seed + 50, 25)
    )
}

#[test]
fn what_a_text_shares_is_listed_with_its_places() {
    let sandbox = Sandbox::new();
    sandbox.write("source.txt", text(1, 60));
    sandbox.write("other.txt", text(2, 60));
    sandbox.write("essay.txt", quoting(7));
    sandbox.run(&["init", "--passage", "20"]).expect(0);
    sandbox.add(&["source.txt", "other.txt"], 0);
    let ran = sandbox.run(&["passages", "essay.txt"]).expect(0);
    let lines = ran.lines();
    let columns: Vec<&str> = lines[0].split('\t').collect();
    assert_eq!(columns.len(), 9, "{}", ran.stdout);
    let expected = ["essay.txt", "source.txt", "30", "26", "55", "3", "11", "1"];
    assert_eq!(columns[..8], expected);
    assert_eq!(lines.len(), 1);

    let ran = sandbox.run(&["--json", "passages", "essay.txt"]).expect(0);
    let passage = &ran.objects()[0];
    let names = [
        "bytes",
        "common",
        "covered",
        "documents",
        "first",
        "key",
        "last",
        "line",
        "place",
        "query",
        "query_words",
        "text",
        "words",
    ];
    assert_eq!(fields(passage), names);
    assert_eq!(
        (&passage["covered"], &passage["query_words"]),
        (&30.into(), &80.into())
    );
    let essay = quoting(7);
    let place = |end: usize| usize::try_from(passage["bytes"][end].as_u64().unwrap()).unwrap();
    assert_eq!(passage["text"], essay[place(0)..place(1)]);

    // A stored file is not its own source.
    sandbox.add(&["essay.txt"], 0);
    let again = sandbox.run(&["passages", "essay.txt"]).expect(0);
    assert_eq!(again.lines().len(), 1, "{}", again.stdout);
    let ran = sandbox
        .run(&["passages", "--at-least", "31", "essay.txt"])
        .expect(1);
    assert!(
        ran.stderr.contains("found no passage of 31 words or more"),
        "{}",
        ran.stderr
    );
    let ran = sandbox
        .run(&["passages", "--at-least", "4", "essay.txt"])
        .expect(2);
    assert!(ran.stderr.contains("4 is less than 5"), "{}", ran.stderr);
    sandbox.run(&["passages", "gone.txt"]).expect(2);
}

#[test]
fn a_store_gets_fingerprints_from_files() {
    let sandbox = Sandbox::new();
    sandbox.write("texts/source.txt", text(1, 60));
    sandbox.write("texts/other.txt", text(2, 60));
    sandbox.write("essay.txt", quoting(7));
    sandbox.run(&["init", "--passage", "0"]).expect(0);
    sandbox.add(&["texts"], 0);
    for asked in [
        &["passages", "essay.txt"][..],
        &["query", "--containment", "0.8", "essay.txt"],
    ] {
        let ran = sandbox.run(asked).expect(2);
        assert!(
            ran.stderr.contains("reindex --passage 20 --from PATH"),
            "{}",
            ran.stderr
        );
    }
    let ran = sandbox.run(&["reindex", "--passage", "20"]).expect(2);
    assert!(ran.stderr.contains("need the texts"), "{}", ran.stderr);
    sandbox.run(&["reindex", "--from", "texts"]).expect(2);
    sandbox
        .run(&["reindex", "--passage", "20", "--from", "gone"])
        .expect(2);
    let from = ["reindex", "--passage", "20", "--from", "texts/source.txt"];
    let lacking = "1 stored text has no fingerprints";
    let ran = sandbox.run(&from).expect(0);
    assert!(ran.stderr.contains(lacking), "{}", ran.stderr);
    let ran = sandbox.run(&["passages", "essay.txt"]).expect(0);
    assert!(ran.stderr.contains(lacking), "{}", ran.stderr);
    assert_eq!(ran.lines().len(), 1);
    let contained = ["query", "--containment", "0.8", "essay.txt"];
    let ran = sandbox.run(&contained).expect(1);
    assert!(ran.stderr.contains(lacking), "{}", ran.stderr);
    let ran = sandbox.run(&["--json", "stats"]).expect(0);
    assert_eq!(ran.objects()[0]["unfingerprinted"], 1);
    sandbox
        .run(&["reindex", "--passage", "20", "--from", "texts"])
        .expect(0);
    let ran = sandbox.run(&["passages", "essay.txt"]).expect(0);
    assert!(!ran.stderr.contains("no fingerprints"), "{}", ran.stderr);
    sandbox
        .run(&["reindex", "--passage", "20", "--from", "texts"])
        .expect(1);
    // Fingerprints are not lost because a file was not named.
    let ran = sandbox
        .run(&["reindex", "--passage", "25", "--from", "texts/source.txt"])
        .expect(2);
    assert!(
        ran.stderr.contains("other.txt\" has fingerprints") && ran.stderr.contains("--from PATH"),
        "{}",
        ran.stderr
    );
    sandbox.run(&["check"]).expect(0);
}

#[test]
fn a_text_is_found_in_a_longer_one_and_around_a_shorter_one() {
    let sandbox = Sandbox::new();
    sandbox.write("note.txt", text(1, 60));
    let page = format!("{} {} {}", text(3, 100), text(1, 60), text(4, 100));
    sandbox.write("page.txt", &page);
    sandbox.write("other.txt", text(5, 60));
    sandbox.run(&["init", "--passage", "20"]).expect(0);
    sandbox.add(&["note.txt", "other.txt"], 0);
    let contained = ["query", "--containment", "0.8", "page.txt"];
    sandbox.run(&["query", "page.txt"]).expect(1);
    let ran = sandbox.run(&contained).expect(0);
    let lines = ran.lines();
    let columns: Vec<&str> = lines[0].split('\t').collect();
    assert_eq!((lines.len(), columns.len()), (1, 5), "{}", ran.stdout);
    assert_eq!((columns[1], columns[4]), ("note.txt", "1.0000"));
    sandbox.add(&["page.txt"], 0);
    let around = ["query", "--containment", "0.8", "note.txt"];
    let ran = sandbox.run(&around).expect(0);
    assert!(
        ran.lines()[0].starts_with("note.txt\tpage.txt\t"),
        "{}",
        ran.stdout
    );
    let ran = sandbox.run(&[
        "query",
        "--containment",
        "0.8",
        "--shortest",
        "80",
        "note.txt",
    ]);
    ran.expect(1);
    sandbox
        .run(&["query", "--containment", "0", "note.txt"])
        .expect(2);
    sandbox
        .run(&[
            "query",
            "--containment",
            "0.8",
            "--threshold",
            "0.5",
            "note.txt",
        ])
        .expect(2);
}

#[test]
fn a_passage_in_many_documents_is_listed_with_some_of_them() {
    let sandbox = Sandbox::new();
    let (phrase, footer) = (text(2, 5), text(1, 25));
    for seed in 0..60 {
        let page = format!("{phrase} {}\n{footer}", text(100 + seed, 35));
        sandbox.write(format!("pages/{seed:02}.txt"), page);
    }
    sandbox.write("new.txt", format!("{}\n{footer}", text(7, 20)));
    sandbox.write(
        "phrase.txt",
        format!("{} {phrase} {}", text(8, 20), text(9, 20)),
    );
    sandbox.run(&["init", "--passage", "20"]).expect(0);
    sandbox.add(&["pages"], 0);
    let few = ["--false-candidates", "2"];
    let asked = [&few[..], &["-q", "passages", "new.txt"]].concat();
    let ran = sandbox.run(&asked).expect(0);
    let lines = ran.lines();
    assert!((3..59).contains(&lines.len()), "{}", ran.stdout);
    for line in &lines {
        let columns: Vec<&str> = line.split('\t').collect();
        assert!(columns[7].ends_with('+'), "{line}");
    }
    let asked = [&few[..], &["--json", "passages", "new.txt"]].concat();
    let ran = sandbox.run(&asked).expect(0);
    assert_eq!(ran.objects()[0]["common"], true);
    let ran = sandbox.run(&["passages", "--all", "new.txt"]).expect(0);
    assert_eq!(ran.lines().len(), 60);
    // A phrase alone is no passage, but more may stand around it in one of the documents.
    let asked = [&few[..], &["passages", "phrase.txt"]].concat();
    let ran = sandbox.run(&asked).expect(1);
    assert!(
        ran.stderr.contains("1 place of 1 text is in more"),
        "{}",
        ran.stderr
    );
}

#[test]
fn what_a_stored_text_contains_is_kept_out_on_request() {
    let sandbox = Sandbox::new();
    let excerpt = text(1, 60);
    let article = format!("{} {excerpt} {}", text(3, 100), text(4, 100));
    let longer = format!("{article} {}", text(5, 80));
    let records = [
        ("article", &article),
        ("excerpt", &excerpt),
        ("longer", &longer),
    ];
    let lines = records.map(|(id, text)| format!("{{\"id\": \"{id}\", \"text\": \"{text}\"}}\n"));
    sandbox.write("pages.jsonl", lines.concat());
    sandbox.run(&["init", "--passage", "20"]).expect(0);
    let unique = ["add", "--unique", "--containment", "0.8", "pages.jsonl"];
    let ran = sandbox
        .run(&[&unique[..], &["--dry-run", "--matches"]].concat())
        .expect(0);
    let rows: Vec<Vec<&str>> = ran
        .lines()
        .iter()
        .map(|line| line.split('\t').collect())
        .collect();
    let keys: Vec<_> = rows.iter().map(|row| (row[0], row[1], row[3])).collect();
    assert_eq!(keys[0], ("excerpt", "article", "1.0000"), "{}", ran.stdout);
    assert_eq!(
        (keys[1].0, keys[1].1, rows[1][4]),
        ("longer", "article", "1.0000")
    );
    let ran = sandbox.run(&[&["--json"], &unique[..]].concat()).expect(0);
    let added = &ran.objects()[0];
    let counts =
        ["added", "kept_out", "contained", "near_duplicates"].map(|name| added[name].as_u64());
    assert_eq!(counts, [Some(2), Some(1), Some(1), Some(0)]);
    sandbox
        .run(&["add", "--containment", "0.8", "pages.jsonl"])
        .expect(2);
    let other = Sandbox::new();
    other.write("one.txt", &excerpt);
    other.run(&["init", "--passage", "0"]).expect(0);
    let ran = other
        .run(&["add", "--unique", "--containment", "0.8", "one.txt"])
        .expect(2);
    assert!(ran.stderr.contains("finds no passages"), "{}", ran.stderr);
}
