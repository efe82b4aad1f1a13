//! `--ignore`: texts are compared without a template.

use std::fs;

use serde_json::json;

use crate::report::{data, keys};
use crate::sandbox::{Sandbox, text};

/// Eight essays on a form of 60 words. Two of them share 30 other words, and two have nothing but the form.
fn essays() -> Sandbox {
    let sandbox = Sandbox::new();
    let form = text(1, 60);
    sandbox.write("form.txt", &form);
    for number in 0..6 {
        let own = text(100 + number, 20 + number);
        let shared = if number % 3 == 2 {
            text(2, 30)
        } else {
            String::new()
        };
        let essay = format!("{form}\n{own}\n{shared}\n");
        sandbox.write(format!("essays/{number}.txt"), essay);
    }
    for name in ["blank", "empty form"] {
        sandbox.write(format!("essays/{name}.txt"), &form);
    }
    sandbox
}

/// The first columns of what is printed.
fn columns(sandbox: &Sandbox, count: usize, args: &[&str]) -> Vec<String> {
    let ran = sandbox.run(args);
    let columns = |line: &str| line.split('\t').take(count).collect::<Vec<_>>().join(" ");
    ran.stdout.lines().map(columns).collect()
}

#[test]
fn what_all_essays_have_is_not_shared() {
    let sandbox = essays();
    sandbox.run(&["add", "essays"]).expect(0);
    let [two, five] = ["essays/2.txt", "essays/5.txt"];
    let both = format!("{two} {five}");
    let of = |args: &[&str]| columns(&sandbox, 2, args);

    let pairs = ["pairs", "--exhaustive", "--threshold", "0.3"];
    assert!(of(&pairs).len() > 10);
    assert_eq!(
        of(&[&pairs[..], &["--ignore", "form.txt"]].concat()),
        [both.as_str()]
    );
    let contained = ["pairs", "--containment", "0.5", "--ignore", "form.txt"];
    assert_eq!(of(&contained), [both.as_str()]);
    let shared = [
        "pairs",
        "--passages",
        "--from",
        "essays",
        "--ignore",
        "form.txt",
    ];
    assert_eq!(of(&shared), [both.as_str()]);
    let query = ["query", two, "--threshold", "0.3", "--ignore", "form.txt"];
    assert_eq!(of(&query), [both.as_str()]);
    let query = [
        "query",
        "--key",
        two,
        "--containment",
        "0.5",
        "--ignore",
        "form.txt",
    ];
    assert_eq!(of(&query), [both.as_str()]);
    for compared in [&[][..], &["--against", "essays"]] {
        let passages = [&["passages", two, "--ignore", "form.txt"], compared].concat();
        assert_eq!(of(&passages), [both.as_str()]);
    }
    sandbox
        .run(&["query", "essays/blank.txt", "--ignore", "form.txt"])
        .expect(1);

    // A store may say what is ignored.
    sandbox
        .run(&["--store", "forms", "add", "form.txt"])
        .expect(0);
    assert_eq!(
        of(&[&pairs[..], &["--ignore", "forms"]].concat()),
        [both.as_str()]
    );
}

#[test]
fn words_that_are_left_out_are_told() {
    let sandbox = essays();
    sandbox.run(&["add", "-q", "essays"]).expect(0);
    let ran = sandbox.run(&["--json", "passages", "essays/2.txt", "--ignore", "form.txt"]);
    let passage = ran.expect(0).objects().remove(0);
    // The last four words of the form are in shingles with words of the essay, which count.
    assert_eq!(passage["ignored_words"], 56);
    assert_eq!(passage["query_words"], 60 + 22 + 30);
    assert_eq!(passage["words"], 30);
    let ran = sandbox.run(&[
        "pairs",
        "--passages",
        "--from",
        "essays",
        "--ignore",
        "form.txt",
    ]);
    let shares = ran.expect(0).stdout;
    let shares: Vec<&str> = shares.trim().split('\t').skip(3).collect();
    let share = |words: f64| format!("{:.4}", 30.0 / words);
    assert_eq!(shares, [share(22.0 + 34.0), share(25.0 + 34.0)]);
}

#[test]
fn pages_have_the_figures_of_pairs() {
    let sandbox = essays();
    sandbox.run(&["add", "-q", "essays"]).expect(0);
    let ignoring = ["--ignore", "form.txt"];
    let asked = ["report", "essays", "--passages", "-o", "page.html"];
    sandbox.run(&[&asked[..], &ignoring].concat()).expect(0);
    let page = fs::read_to_string(sandbox.path("page.html")).unwrap();
    assert!(page.contains("what the texts have of form.txt: it is not marked"));
    let data = data(&page);
    // The blank forms are no cluster.
    assert_eq!(keys(&data), [["essays/5.txt", "essays/2.txt"]]);
    let pairs = ["pairs", "--threshold", "0.3"];
    let similarity = columns(&sandbox, 3, &[&pairs[..], &ignoring].concat());
    let row = &data["clusters"][0][3][1];
    let told = row[1].as_f64().unwrap();
    assert_eq!(similarity, [format!("essays/2.txt essays/5.txt {told:.4}")]);
    // The two are similar only by the form.
    assert_eq!(row[8], json!(0));
    let shared = &data["shared"][0];
    assert_eq!([&shared[2], &shared[3]], [&json!(59), &json!(56)]);
    let words = |side: usize| {
        let marks = shared[side].as_array().unwrap().iter();
        marks.map(|mark| mark[2].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!([words(4), words(5)], [30, 30]);

    let sources = ["report", "--sources", "essays/2.txt", "-o", "two.html"];
    let ran = sandbox.run(&[&sources[..], &ignoring].concat()).expect(0);
    let told = "30 words (53.6%) shared with 1 document";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    let page = fs::read_to_string(sandbox.path("two.html")).unwrap();
    for told in ["30 words (53.6%)", "56 words", "<td>50.8%</td>"] {
        assert!(page.contains(told), "{told}\n{page}");
    }
}

#[test]
fn dedup_and_move_keep_what_only_the_form_makes_similar() {
    let sandbox = essays();
    let essay =
        |name: &str| fs::read_to_string(sandbox.path(format!("essays/{name}.txt"))).unwrap();
    let again = essay("4").replace('\n', "  ");
    sandbox.write("essays/again.txt", again);
    let kept = |output: &str, args: &[&str]| {
        let asked = [
            "--json",
            "dedup",
            "essays",
            "-o",
            output,
            "--threshold",
            "0.5",
        ];
        let ran = sandbox.run(&[&asked[..], args].concat());
        let summary = ran.expect(0).objects().remove(0);
        (summary["kept"].clone(), summary["dropped"].clone())
    };
    assert!(kept("all", &[]).0.as_u64() < Some(4));
    let ignoring = ["--ignore", "form.txt"];
    // The two blank forms stay: a text without anything of its own is nobody's copy.
    assert_eq!(kept("out", &ignoring), (json!(8), json!(1)));
    let against = [&ignoring[..], &["--against", "form.txt"]].concat();
    assert_eq!(kept("against", &against), (json!(9), json!(0)));
    let moved = sandbox.run(&[
        "move",
        "essays",
        "aside",
        "--threshold",
        "0.5",
        "--ignore",
        "form.txt",
    ]);
    moved.expect(0);
    let left = fs::read_dir(sandbox.path("essays")).unwrap();
    assert_eq!(left.count(), 8);
}

#[test]
fn an_instruction_before_each_question_is_no_hit() {
    let sandbox = Sandbox::new();
    let instruction = text(7, 30);
    sandbox.write("instruction.txt", &instruction);
    let items = [text(20, 25), text(21, 25), String::new()];
    let items = items.iter().enumerate().map(|(number, item)| {
        format!(
            "{}\n",
            json!({"id": number, "text": format!("{instruction} {item}")})
        )
    });
    sandbox.write("bench.jsonl", items.collect::<String>());
    let documents = [
        (
            "instruction",
            format!("{} {instruction} {}", text(30, 40), text(31, 40)),
        ),
        (
            "question",
            format!("{} {} {}", text(32, 40), text(20, 25), text(33, 40)),
        ),
    ];
    let documents = documents.map(|(id, text)| format!("{}\n", json!({"id": id, "text": text})));
    sandbox.write("train.jsonl", documents.concat());
    let asked = [
        "-q",
        "decontaminate",
        "train.jsonl",
        "--against",
        "bench.jsonl",
    ];
    let found = |more: &[&str]| columns(&sandbox, 3, &[&asked[..], more].concat());
    assert_eq!(found(&[]).len(), 4);
    let ignoring = ["--ignore", "instruction.txt"];
    assert_eq!(found(&ignoring), ["question bench.jsonl 0"]);
    // The share is that of the words which count.
    let hit = sandbox
        .run(&[&["--json"], &asked[..], &ignoring].concat())
        .objects()
        .remove(0);
    let share = hit["coverage"].as_f64().unwrap();
    assert!(share > 0.8, "{hit}");
    let ran = sandbox.run(&[
        "decontaminate",
        "train.jsonl",
        "--against",
        "bench.jsonl",
        "-v",
        "--ignore",
        "instruction.txt",
    ]);
    assert!(
        ran.stderr
            .contains("without what is ignored, it has fewer than 5 words"),
        "{}",
        ran.stderr
    );
}

#[test]
fn what_cannot_be_ignored_is_an_error() {
    let sandbox = essays();
    sandbox.run(&["add", "-q", "essays"]).expect(0);
    sandbox.write("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    sandbox.write("nothing.txt", "...");
    sandbox
        .run(&["--store", "chars", "init", "--shingling", "char:7"])
        .expect(0);
    sandbox
        .run(&["--store", "chars", "add", "-q", "form.txt"])
        .expect(0);
    for (named, said) in [
        (
            "nowhere",
            "--ignore: nowhere: there is no such file or folder",
        ),
        ("picture.png", "--ignore: picture.png: "),
        ("nothing.txt", "there are no words in what it names"),
        ("-", "--ignore needs the names of files, folders or stores"),
        ("chars", "chars: its shingles are of another kind"),
    ] {
        for command in [
            &["query", "form.txt"][..],
            &["pairs"],
            &["passages", "form.txt"],
        ] {
            let ran = sandbox
                .run(&[command, &["--ignore", named]].concat())
                .expect(2);
            assert!(ran.stderr.contains(said), "{command:?}: {}", ran.stderr);
            assert_eq!(ran.stdout, "");
        }
    }
    let stored = [
        "--store", "seen", "dedup", "essays", "-o", "out", "--ignore", "form.txt",
    ];
    let ran = sandbox.run(&stored).expect(2);
    assert!(ran.stderr.contains("leave out --store"), "{}", ran.stderr);
    let against = [
        "dedup",
        "essays",
        "-o",
        "out",
        "--against",
        ".dedupdb",
        "--ignore",
        "form.txt",
    ];
    let ran = sandbox.run(&against).expect(2);
    assert!(
        ran.stderr.contains("name their files with --against"),
        "{}",
        ran.stderr
    );
    assert!(!sandbox.path("out").exists());
}
