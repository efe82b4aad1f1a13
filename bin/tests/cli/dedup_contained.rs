//! `dedup --containment`: texts that a longer one contains.

use serde_json::{Value, json};

use crate::dedup::read;
use crate::sandbox::{Sandbox, text};

/// A stub, the article that contains it, a near-duplicate of the article, a short text that is in it, and two others.
fn pages() -> Sandbox {
    let sandbox = Sandbox::new();
    let notice = text(1, 40);
    let article = format!("{} {notice}", text(2, 100));
    let pages = [
        ("stub", notice.clone()),
        ("near", format!("{article} and more")),
        ("article", article),
        ("short", text(2, 10)),
        ("other", text(3, 60)),
        ("copy", text(3, 60)),
    ];
    let line = |(id, text): &(&str, String)| json!({"id": id, "text": text}).to_string() + "\n";
    sandbox.write("in.jsonl", pages.iter().map(line).collect::<String>());
    for (id, text) in &pages {
        std::fs::create_dir_all(sandbox.path("pages")).unwrap();
        sandbox.write(format!("pages/{id}.txt"), text);
    }
    sandbox
}

const CONTAINED: [&str; 4] = ["dedup", "in.jsonl", "--containment", "0.8"];

fn ids(lines: &str) -> Vec<Value> {
    let ids = lines.lines().map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["id"].clone()
    });
    ids.collect()
}

#[test]
fn the_longer_text_is_kept_and_the_list_says_why_others_are_not() {
    let sandbox = pages();
    let outputs = ["-o", "out.jsonl", "--removed", "gone.tsv"];
    let ran = sandbox.run(&[&CONTAINED[..], &outputs].concat()).expect(0);
    assert_eq!(
        ids(&read(&sandbox, "out.jsonl")),
        ["near", "short", "other"]
    );
    let gone = read(&sandbox, "gone.tsv");
    let why = |key: &str| {
        let line = gone.lines().find(|line| line.starts_with(key)).unwrap();
        let fields: Vec<&str> = line.split('\t').collect();
        (
            fields[1].to_owned(),
            fields.get(7).map(|it| (*it).to_owned()),
        )
    };
    let contained = Some("contained 1.0000".to_owned());
    assert_eq!(why("stub"), ("near".to_owned(), contained));
    assert_eq!(why("article"), ("near".to_owned(), None));
    let copy = Some("exact copy".to_owned());
    assert_eq!(why("copy"), ("other".to_owned(), copy));
    assert!(
        ran.stderr.contains("   in kept documents"),
        "{}",
        ran.stderr
    );

    // The short text is dropped if it is not too short.
    let shortest = ["-o", "all.jsonl", "--shortest", "5"];
    sandbox.run(&[&CONTAINED[..], &shortest].concat()).expect(0);
    assert_eq!(ids(&read(&sandbox, "all.jsonl")), ["near", "other"]);
    let ran = sandbox.run(&["dedup", "in.jsonl", "-o", "plain.jsonl"]);
    ran.expect(0);
    assert_eq!(
        ids(&read(&sandbox, "plain.jsonl")),
        ["stub", "near", "short", "other"]
    );
}

#[test]
fn each_form_of_output_has_the_same_verdicts_with_any_number_of_threads() {
    let sandbox = pages();
    let mut counts = Vec::new();
    for threads in ["1", "3"] {
        let options = ["--json", "--threads", threads];
        let outputs = ["-o", "out.jsonl", "--removed", "gone.jsonl", "--force"];
        let ran = sandbox.run(&[&options[..], &CONTAINED, &outputs].concat());
        let mut summary = ran.expect(0).objects()[0].clone();
        summary["seconds"] = Value::Null;
        assert_eq!(summary["of_input"]["contained"], 1);
        assert_eq!(summary["of_input"]["near_duplicates"], 1);
        assert_eq!(
            (&summary["kept"], &summary["dropped"]),
            (&json!(3), &json!(3))
        );
        counts.push((
            summary,
            read(&sandbox, "gone.jsonl"),
            read(&sandbox, "out.jsonl"),
        ));
    }
    assert_eq!(counts[0], counts[1]);
    let gone: Vec<Value> = counts[0]
        .1
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let stub = gone.iter().find(|line| line["key"] == "stub").unwrap();
    assert_eq!(
        (&stub["measure"], &stub["containment"]),
        (&json!("containment"), &json!(1.0))
    );
    assert!(stub["jaccard"].as_f64().unwrap() < 0.8);
    let near = gone.iter().find(|line| line["key"] == "article").unwrap();
    assert_eq!(near["measure"], "jaccard");

    let marks = ["-o", "marked.jsonl", "--mark", "dup"];
    sandbox.run(&[&CONTAINED[..], &marks].concat()).expect(0);
    let marked = read(&sandbox, "marked.jsonl");
    let marked = marked
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let kept: Vec<Value> = marked
        .filter(|line| line["dup_keep"] == true)
        .map(|line| line["id"].clone())
        .collect();
    assert_eq!(kept, ids(&counts[0].2));

    let folder = ["dedup", "pages", "-o", "kept", "--containment", "80%"];
    sandbox.run(&folder).expect(0);
    for (name, is_kept) in [
        ("near", true),
        ("article", false),
        ("stub", false),
        ("short", true),
    ] {
        assert_eq!(
            sandbox.path(format!("kept/{name}.txt")).exists(),
            is_kept,
            "{name}"
        );
    }
    let table = ["dedup", "in.jsonl", "-o", "-", "--containment", "0.8"];
    assert_eq!(sandbox.run(&table).expect(0).stdout, counts[0].2);
}

#[test]
fn what_does_not_go_with_containment_is_refused_in_one_line() {
    let sandbox = pages();
    sandbox.write("keys", "stub\n");
    for (options, advice) in [
        (&["--against", "pages"][..], "leave out --against"),
        (&["--keep", "first"], "give --keep longest"),
        (&["--keep", "none"], "give --keep longest"),
        (&["--protect", "*.txt"], "leave one of them out"),
        (&["--keys-from", "keys"], "leave one of them out"),
        (&["--store", "store"], "leave out --store"),
    ] {
        let (mut front, mut back) = (Vec::new(), options.to_vec());
        if options[0] == "--store" {
            std::mem::swap(&mut front, &mut back);
        }
        let all = [&front[..], &CONTAINED, &["-o", "out.jsonl"], &back].concat();
        let ran = sandbox.run(&all).expect(2);
        assert!(ran.stderr.contains(advice), "{options:?}: {}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        assert!(!sandbox.path("out.jsonl").exists());
    }
    let alone = ["dedup", "in.jsonl", "-o", "out.jsonl", "--shortest", "5"];
    sandbox.run(&alone).expect(2);
    let longest = ["-o", "out.jsonl", "--keep", "longest"];
    sandbox.run(&[&CONTAINED[..], &longest].concat()).expect(0);
}
