//! `explain`: why two texts match, or do not.

use crate::sandbox::{Ran, Sandbox, text};

const JANUARY: &str = "folder/docs/meeting-notes-january.md";
const FEBRUARY: &str = "folder/docs/meeting-notes-february.md";

fn stored() -> Sandbox {
    let sandbox = Sandbox::with_testdata();
    sandbox.add(&["folder", "pages.jsonl"], 0);
    sandbox
}

#[track_caller]
fn has(ran: &Ran, parts: &[&str]) {
    for part in parts {
        assert!(ran.stdout.contains(part), "{part:?} in:\n{}", ran.stdout);
    }
}

#[test]
fn near_duplicates_are_explained_with_their_differences() {
    let sandbox = stored();
    let ran = sandbox.run(&["explain", JANUARY, FEBRUARY]).expect(0);
    has(
        &ran,
        &[
            "(stored, ",
            "verdict       match: the threshold is 0.8\n",
            "jaccard       0.9502: ",
            " of 17 shared (",
            "shared        ",
            "differences   ",
            "museum shop, [-14 January-] {+4 February+} 2026",
        ],
    );
    assert!(!ran.stdout.contains('\u{1b}'), "no colours in a pipe");
    assert!(ran.stderr.is_empty(), "{}", ran.stderr);

    // The same for files, and in a store that has neither.
    let files = [format!("./{JANUARY}"), format!("./{FEBRUARY}")];
    let files = ["explain", &files[0], &files[1]];
    let of_files = sandbox.run(&files).expect(0);
    let same = |ran: &Ran| {
        ran.stdout
            .lines()
            .skip(2)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(same(&of_files), same(&ran));
    has(&of_files, &["(a file, "]);
    let elsewhere = sandbox
        .run(&[&["--store", "none"], &files[..]].concat())
        .expect(0);
    assert_eq!(same(&elsewhere), same(&ran));
    assert!(
        elsewhere.stderr.contains("default parameters"),
        "{}",
        elsewhere.stderr
    );
    assert!(!sandbox.path("none").exists());
}

#[test]
fn the_longest_run_is_found_wherever_it_is() {
    let sandbox = Sandbox::new();
    let run = text(1, 30);
    sandbox.write("a.txt", format!("{run} {}", text(2, 40)));
    sandbox.write("b.txt", format!("{} {run}", text(3, 50)));
    let files = ["explain", "a.txt", "b.txt", "--full"];
    let ran = sandbox.run(&files).expect(1);
    let line = "longest run   30 words and signs: from number 1 of A and number 51 of B\n";
    has(&ran, &[line, &run]);
    let ran = sandbox.run(&[&["--json"], &files[..]].concat()).expect(1);
    let longest = serde_json::json!({"words": 30, "first_in_a": 1, "first_in_b": 51, "text": run});
    assert_eq!(ran.objects()[0]["diff"]["longest"], longest);
    sandbox.write("b.txt", "nothing");
    has(&sandbox.run(&files).expect(1), &["longest run   none\n"]);
}

#[test]
fn what_dedup_drops_by_containment_is_said_to_be_contained() {
    let sandbox = Sandbox::new();
    let all = [
        ("notice.txt", text(1, 40)),
        ("page.txt", format!("{} {}", text(2, 100), text(1, 40))),
        ("other.txt", format!("{} {}", text(4, 30), text(1, 100))),
        ("short.txt", text(1, 19)),
        ("near.txt", format!("{} and", text(1, 40))),
        // As many shingles as the notice, and more letters, or fewer.
        (
            "longer.txt",
            format!("{} {}", text(1, 34), "longer ".repeat(6)),
        ),
        ("fewer.txt", format!("{} a b c d e f", text(1, 34))),
    ];
    for (name, text) in &all {
        sandbox.write(name, text);
    }
    let mut said = 0;
    for [a, b] in all
        .iter()
        .flat_map(|(a, _)| all.iter().map(move |(b, _)| [*a, *b]))
    {
        if a == b {
            continue;
        }
        let dedup = ["dedup", a, b, "-o", "-", "--list", "--containment", "0.8"];
        let removed = ["--removed", "gone.jsonl", "--force"];
        sandbox.run(&[&dedup[..], &removed].concat()).expect(0);
        let line = std::fs::read_to_string(sandbox.path("gone.jsonl")).unwrap();
        let line: Option<serde_json::Value> =
            (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap());
        let line = line.filter(|line| line["measure"] == "containment");
        let which = line.map(|line| if line["key"] == a { "a" } else { "b" });
        let ran = sandbox.run(&["--json", "explain", a, b]);
        assert_eq!(ran.objects()[0]["contained"].as_str(), which, "{a} {b}");
        let verdict = sandbox.run(&["explain", a, b]).stdout;
        let words = "is contained in";
        assert_eq!(verdict.contains(words), which.is_some(), "{a} {b}");
        said += usize::from(which.is_some());
    }
    assert!(said > 5, "{said}");
    has(
        &sandbox
            .run(&["explain", "page.txt", "notice.txt"])
            .expect(1),
        &[
            "verdict       no match: the threshold is 0.8; B is contained in A, so dedup --containment 0.8 drops it\n",
        ],
    );
}

#[test]
fn json_has_the_same_facts() {
    let sandbox = stored();
    let object = |a: &str, b: &str, code| {
        let ran = sandbox.run(&["--json", "explain", a, b]).expect(code);
        ran.objects().pop().unwrap()
    };
    let near = object(JANUARY, FEBRUARY, 0);
    let query = ["--json", "query", "--key", JANUARY];
    let found = sandbox.run(&query).expect(0).objects();
    let found = found.iter().find(|found| found["key"] == FEBRUARY).unwrap();
    for field in ["jaccard", "estimate", "error", "exact_copy"] {
        assert_eq!(near[field], found[field], "{field}");
    }
    assert_eq!(near["containment_of_a"], found["containment"]);
    assert_eq!(near["containment_of_b"], found["containment_of_match"]);
    let bands = near["bands"].as_array().unwrap().len();
    assert_eq!(found["bands"], bands);
    assert_eq!(
        (&near["match"], &near["found"]),
        (&true.into(), &true.into())
    );
    let share = near["both"].as_f64().unwrap() / near["either"].as_f64().unwrap();
    assert!((share - near["jaccard"].as_f64().unwrap()).abs() < 1e-12);
    assert_eq!(
        (&near["slots"], &near["all_bands"]),
        (&128.into(), &17.into())
    );
    assert_eq!(near["a"]["name"], JANUARY);
    let differences = near["diff"]["differences"].as_array().unwrap();
    assert!(
        differences
            .iter()
            .any(|d| d["a"] == "14 January" && d["b"] == "4 February")
    );
    assert_eq!(near["diff"]["changes"], differences.len());

    let unlike = object(JANUARY, "folder/poems/tide-clock.txt", 1);
    assert_eq!(
        (&unlike["match"], &unlike["both"]),
        (&false.into(), &0.into())
    );
    assert!(unlike["bands"].as_array().unwrap().is_empty());
}

#[test]
fn texts_of_records_come_from_their_file() {
    let sandbox = stored();
    let records = ["explain", "page-02", "page-04", "--texts-from"];
    let ran = sandbox.run(&[&records[..], &["pages.jsonl"]].concat());
    has(
        &ran.expect(0),
        &["jaccard       0.8966", "differences   ", "{+"],
    );
    let json = [&["--json"], &records[..], &["pages.jsonl"]].concat();
    let json = sandbox.run(&json).expect(0);
    assert!(json.objects()[0]["diff"]["changes"].as_u64().unwrap() > 0);
    let ran = sandbox.run(&[&records[..], &["folder"]].concat()).expect(0);
    let told = "not at hand: no file of --texts-from has it";
    assert_eq!(ran.stdout.matches(told).count(), 2, "{}", ran.stdout);
    sandbox
        .run(&[&records[..], &["nowhere"]].concat())
        .expect(2);
}

#[test]
fn copies_and_texts_that_are_not_at_hand() {
    let sandbox = stored();
    let poem = "folder/poems/tide-clock.txt";
    let ran = sandbox.run(&["explain", "page-05", poem]).expect(0);
    has(
        &ran,
        &[
            "match: the same text",
            "17 of 17 shared",
            "text of A     not at hand: it is a record, or came from standard input; name the file that has it with --texts-from",
        ],
    );
    assert!(!ran.stdout.contains("differences"), "{}", ran.stdout);

    sandbox.write(JANUARY, "another text than the one that was stored here");
    let ran = sandbox.run(&["explain", JANUARY, FEBRUARY]).expect(0);
    has(
        &ran,
        &[
            "jaccard       0.9502",
            "text of A     not at hand: its file has another",
        ],
    );
    // What is compared is not what a person sees there.
    assert!(ran.stdout.starts_with("text of A"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("this is about the stored text"),
        "{}",
        ran.stdout
    );
    let json = sandbox
        .run(&["--json", "explain", JANUARY, FEBRUARY])
        .expect(0);
    assert!(json.objects()[0]["diff"].is_null());
    let file = format!("./{JANUARY}");
    let ran = sandbox.run(&["explain", &file, FEBRUARY]).expect(1);
    has(&ran, &["no match", "none of 17 shared"]);
}

#[test]
fn names_that_lead_nowhere() {
    let sandbox = stored();
    let errors = |arguments: &[&str]| {
        let ran = sandbox.run(arguments).expect(2);
        assert!(ran.stdout.is_empty());
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        ran.stderr
    };
    let missing = errors(&["explain", JANUARY, "nowhere"]);
    assert!(
        missing.contains("nowhere: no document of the store has this key"),
        "{missing}"
    );
    let without = errors(&[
        "-q",
        "--store",
        "none",
        "explain",
        "./pages.jsonl",
        "nowhere",
    ]);
    assert!(
        without.contains("pages.jsonl: it holds several documents"),
        "{without}"
    );
    let without = errors(&["-q", "--store", "none", "explain", "query.txt", "nowhere"]);
    assert!(without.contains("no such file, and no store"), "{without}");
    assert!(errors(&["explain", "folder", JANUARY]).contains("it is a folder"));
    assert!(errors(&["explain", "-", "-"]).contains("more than once"));
    sandbox.write("binary", b"a\0b");
    assert!(errors(&["explain", "binary", JANUARY]).contains("binary: "));
}

#[test]
fn texts_without_tokens_and_stores_without_shingles() {
    let sandbox = stored();
    sandbox.write("dashes", "-- --");
    sandbox.write("stars", "***");
    let ran = sandbox.run(&["explain", "dashes", "stars"]).expect(1);
    has(
        &ran,
        &[
            "(a file, 0 shingles)",
            "jaccard       0.0000: 0 of 0",
            "estimate      none",
        ],
    );
    let ran = sandbox
        .run_with(&["explain", "dashes", "-"], b"-- --")
        .expect(0);
    has(&ran, &["the same text", "differences   none"]);

    sandbox
        .run(&["--store", "bare", "init", "--no-shingles"])
        .expect(0);
    sandbox.run(&["--store", "bare", "add", "folder"]).expect(0);
    let ran = sandbox
        .run(&["--store", "bare", "explain", JANUARY, FEBRUARY])
        .expect(0);
    has(
        &ran,
        &[
            "jaccard       not known",
            "by the estimate",
            "[-14 January-]",
        ],
    );
}

#[test]
fn long_passages_and_many_differences_are_shortened() {
    let sandbox = Sandbox::new();
    let shared = text(1, 200);
    let passage = |seed| format!("{shared} {}", text(seed, 60).replace(' ', " and "));
    sandbox.write("a", passage(2));
    sandbox.write("b", format!("{}\u{1b}[31m", passage(3)));
    let ran = sandbox.run(&["-q", "explain", "a", "b"]).expect(1);
    has(&ran, &["more; --full shows all", "… …", "\n     200  "]);
    assert!(ran.stdout.lines().all(|line| line.chars().count() < 500));
    let full = sandbox
        .run(&["-q", "explain", "--full", "a", "b"])
        .expect(1);
    has(&full, &[&shared, "\\u{1b}"]);
    assert!(!full.stdout.contains('…') || !full.stdout.contains("more;"));
    assert!(!full.stdout.contains('\u{1b}'));
}
