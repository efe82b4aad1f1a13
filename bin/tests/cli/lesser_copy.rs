//! Which of several similar texts counts as the lesser copy, and what is nobody's copy.

use std::fs;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use crate::sandbox::{Sandbox, text};

/// Moves the near-duplicates of the folder `in` aside, and returns the files that stay.
#[cfg(unix)]
fn staying(sandbox: &Sandbox) -> Vec<String> {
    let moving = ["move", "in", "aside", "--threshold", "0.8"];
    sandbox.run(&moving).expect(0);
    let tree = crate::moving::tree(sandbox, "in");
    sandbox.run(&["move", "--undo", "aside"]).expect(0);
    tree.into_keys().collect()
}

/// Returns the file that a page proposes to keep of the first cluster in the folder `in`.
#[cfg(unix)]
fn proposed(sandbox: &Sandbox) -> String {
    let report = ["report", "in", "-o", "page.html", "--no-text", "--force"];
    sandbox.run(&report).expect(0);
    let page = fs::read_to_string(sandbox.path("page.html")).unwrap();
    let data = crate::report::data(&page);
    crate::report::keys(&data)[0][0].to_owned()
}

#[cfg(unix)]
#[test]
fn the_name_that_a_copy_was_given_never_stays() {
    let originals = [
        ("thesis.txt", "thesis (1).txt"),
        ("thesis.txt", "Copy of thesis.txt"),
        ("thesis.txt", "thesis - Kopie.txt"),
        ("thesis.txt", "thesis.txt~"),
        ("thesis.txt", "thesis.bak.txt"),
        ("thesis.txt", "thesis final2.txt"),
        ("thesis.txt", "thesis-old/thesis.txt"),
        ("thesis.txt", "Backup/2024/thesis.txt"),
        ("src/x.js", "node_modules/x.js"),
        (
            "Documents/contracts/contract-5.txt",
            "Downloads/contract-5 (1).txt",
        ),
    ];
    for (original, copy) in originals {
        let sandbox = Sandbox::new();
        sandbox.write(format!("in/{original}"), text(1, 60));
        sandbox.write(format!("in/{copy}"), text(1, 60));
        assert_eq!(staying(&sandbox), [original], "{copy}");
    }
}

#[cfg(unix)]
#[test]
fn the_longest_text_stays_whatever_its_name() {
    let sandbox = Sandbox::new();
    let whole = text(1, 100);
    let cut = whole.rsplitn(9, ' ').last().unwrap();
    sandbox.write("in/a.txt", cut);
    sandbox.write("in/z (2).txt", &whole);
    assert_eq!(staying(&sandbox), ["z (2).txt"]);
    let ran = sandbox.run(&["move", "in", "aside", "--keep", "first", "--dry-run"]);
    assert!(ran.expect(0).stdout.starts_with("in/z (2).txt\t"));
}

#[cfg(unix)]
#[test]
fn a_record_that_says_more_is_no_reason_to_move_the_last_file() {
    let sandbox = Sandbox::new();
    let essay = text(1, 100);
    sandbox.write("in/essay.txt", &essay);
    sandbox.write("in/essay2.txt", &essay);
    let message = json!({ "text": format!("Dear all, here it is.\n{essay}") });
    sandbox.write("in/mail.jsonl", format!("{message}\n"));
    assert_eq!(staying(&sandbox), ["essay.txt", "mail.jsonl"]);
    assert_eq!(proposed(&sandbox), "in/essay.txt");
}

#[cfg(unix)]
#[test]
fn characters_that_nobody_sees_make_no_text_longer() {
    let sandbox = Sandbox::new();
    let clean = text(1, 60);
    sandbox.write("in/a clean text.txt", &clean);
    sandbox.write("in/a.txt", clean.replace('w', "w\u{AD}\u{2060}"));
    sandbox.write("in/a saved page.html", format!("<p>{}</p>", text(2, 60)));
    sandbox.write("in/b.txt", text(2, 60));
    // Of what is as long without them, the shorter name stays, and markup makes no text longer.
    assert_eq!(staying(&sandbox), ["a.txt", "b.txt"]);
    fs::rename(
        sandbox.path("in/a.txt"),
        sandbox.path("in/a text with hyphens.txt"),
    )
    .unwrap();
    assert_eq!(staying(&sandbox), ["a clean text.txt", "b.txt"]);
}

#[cfg(unix)]
#[test]
fn neither_an_encoding_nor_a_compressor_nor_blank_lines_make_a_text_longer() {
    let whole = text(1, 100);
    let cut = whole.rsplitn(9, ' ').last().unwrap();
    let wide = |text: &str| -> Vec<u8> {
        let units = "\u{feff}".encode_utf16().chain(text.encode_utf16());
        units.flat_map(u16::to_le_bytes).collect()
    };
    let mut zipped = GzEncoder::new(Vec::new(), Compression::best());
    zipped.write_all(whole.as_bytes()).unwrap();
    let lines = whole.replace(' ', "\n");
    // The file that stays, and the one that goes.
    let pairs = [
        (
            ("thesis.txt.gz", zipped.finish().unwrap()),
            ("a.txt", cut.into()),
        ),
        (("thesis.txt", whole.clone().into()), ("a.txt", wide(cut))),
        (
            ("thesis.txt", whole.clone().into()),
            ("a.txt", format!("{cut}{}", "\n".repeat(900)).into()),
        ),
        (
            ("memo.txt", whole.clone().into()),
            ("memo (from Word).txt", wide(&whole)),
        ),
        (
            ("memo.txt", lines.clone().into()),
            ("memo (dos).txt", lines.replace('\n', "\r\n").into()),
        ),
    ];
    for ((stays, bytes), (goes, others)) in pairs {
        let sandbox = Sandbox::new();
        sandbox.write(format!("in/{stays}"), bytes);
        sandbox.write(format!("in/{goes}"), others);
        assert_eq!(staying(&sandbox), [stays], "{goes}");
        assert_eq!(proposed(&sandbox), format!("in/{stays}"), "{goes}");
    }
}

#[cfg(unix)]
#[test]
fn the_text_that_says_more_stays() {
    let letter = format!("für {} grüßt", text(1, 60));
    let lines = (0..30).map(|n| format!("if a{n} > {n} {{\n    b{n}();\n}}\n"));
    let code = lines.collect::<Vec<_>>().concat();
    // The file that stays, and the one that goes.
    let pairs = [
        (
            ("thesis.txt", letter.clone()),
            ("a.txt", format!("{letter}\n{letter}")),
        ),
        (
            ("a.html", format!("<p>{letter}</p>")),
            (
                "page.html",
                format!("<div class='x y z'><p><b>{letter}</b></p></div>"),
            ),
        ),
        (
            ("letter.txt", letter.clone()),
            ("a.txt", letter.replace('ü', "Ã¼").replace('ß', "ÃŸ")),
        ),
        (
            ("z/letter.txt", letter.clone()),
            ("a.txt", letter.replace('ü', "\u{fffd}")),
        ),
        (
            ("parser.rs", code.clone()),
            ("p.rs", code.replace("    ", "")),
        ),
        (
            ("b.txt", letter.replace("für", "find £5")),
            ("abc.txt", letter.replace("für", "\u{fb01}nd £5")),
        ),
        (
            ("a long name.txt", letter.replace("für", "for £5")),
            ("b.txt", letter.replace("für", "for ¬£5")),
        ),
        (
            ("b.txt", letter.clone()),
            ("abc.txt", letter.replace(' ', "  \n\n") + "\x0c\x0c"),
        ),
        (
            ("b.txt", letter.replace(' ', "\n")),
            ("abc.txt", format!("> {}", letter.replace(' ', "\n> "))),
        ),
        (
            ("b.txt", code.clone()),
            ("abc.txt", format!("  {}", code.replace('\n', "\n  "))),
        ),
        (
            ("old town/walk.txt", letter.clone()),
            ("old/w.txt", letter.clone()),
        ),
    ];
    for ((stays, text), (goes, other)) in pairs {
        let sandbox = Sandbox::new();
        sandbox.write(format!("in/{stays}"), text);
        sandbox.write(format!("in/{goes}"), other);
        assert_eq!(staying(&sandbox), [stays], "{goes}");
        assert_eq!(proposed(&sandbox), format!("in/{stays}"), "{goes}");
    }
}

#[cfg(unix)]
#[test]
fn of_equal_texts_the_one_that_can_be_seen_stays() {
    for hidden in [".Trash/letter.txt", ".old/l.txt", "documents/.l.txt"] {
        let sandbox = Sandbox::new();
        sandbox.write("in/documents/letter.txt", text(1, 60));
        sandbox.write(format!("in/{hidden}"), text(1, 60));
        assert_eq!(staying(&sandbox), ["documents/letter.txt"], "{hidden}");
        assert_eq!(proposed(&sandbox), "in/documents/letter.txt", "{hidden}");
    }
}

#[test]
fn a_page_proposes_to_keep_the_longest_text() {
    let sandbox = Sandbox::new();
    let whole = text(1, 100);
    let cut = whole.rsplitn(9, ' ').last().unwrap();
    sandbox.write("in/a.txt", cut);
    sandbox.write("in/b/copy.txt", &whole);
    sandbox.write("in/z.txt", &whole);
    sandbox.write("in/empty.txt", "...");
    sandbox.write("in/other empty.txt", "...");
    let ran = sandbox
        .run(&["report", "in", "-o", "page.html", "--no-text"])
        .expect(0);
    assert!(
        ran.stderr.contains("1 cluster of 3 documents"),
        "{}",
        ran.stderr
    );
    let page = fs::read_to_string(sandbox.path("page.html")).unwrap();
    let place = |key: &str| {
        page.find(key)
            .unwrap_or_else(|| panic!("{key} is not on the page"))
    };
    assert!(
        place("in/z.txt") < place("in/b/copy.txt") && place("in/b/copy.txt") < place("in/a.txt")
    );
}

#[cfg(unix)]
#[test]
fn a_page_and_a_move_keep_the_same_file() {
    let sandbox = Sandbox::new();
    let whole = text(1, 100);
    let cut = whole.rsplitn(9, ' ').last().unwrap();
    // It is larger and says less.
    let pictures = "<img src='beach.png'>".repeat(50);
    sandbox.write("in/a.html", format!("<p>{cut}</p>{pictures}"));
    sandbox.write("in/the whole text.txt", &whole);
    assert_eq!(staying(&sandbox), ["the whole text.txt"]);
    assert_eq!(proposed(&sandbox), "in/the whole text.txt");
}

#[cfg(unix)]
#[test]
fn of_equal_files_the_first_by_path_stays_whichever_came_first() {
    let sandbox = Sandbox::new();
    for name in ["in/a-b/c.txt", "in/a/b/c.txt"] {
        sandbox.write(name, text(1, 60));
        sandbox.add(&[name], 0);
    }
    assert_eq!(staying(&sandbox), ["a/b/c.txt"]);
    sandbox.run(&["report", "-o", "page.html"]).expect(0);
    let page = fs::read_to_string(sandbox.path("page.html")).unwrap();
    let data = crate::report::data(&page);
    assert_eq!(
        crate::report::keys(&data),
        [["in/a/b/c.txt", "in/a-b/c.txt"]]
    );
}

#[test]
fn texts_without_words_are_nobodys_copies() {
    let sandbox = Sandbox::new();
    sandbox.write("in/beach.html", "<img src='beach.png'>");
    sandbox.write("in/passport.html", "<img src='passport.png'>");
    sandbox.write("in/passport2.html", "<img src='passport.png'>");
    sandbox.write("in/a.txt", "...");
    sandbox.write("in/b.txt", "...");
    let added = sandbox.add(&["in"], 0);
    assert_eq!(
        (&added["exact_copies"], &added["near_duplicates"]),
        (&2.into(), &0.into())
    );
    let pairs = sandbox.run(&["pairs"]).expect(0);
    assert_eq!(
        pairs.lines(),
        [
            "in/a.txt\tin/b.txt\t1.0000\texact copy",
            "in/passport.html\tin/passport2.html\t1.0000\texact copy"
        ]
    );
    sandbox.run(&["query", "in/beach.html"]).expect(1);
    let found = sandbox.run(&["query", "in/passport.html"]).expect(0);
    assert_eq!(
        found.lines(),
        ["in/passport.html\tin/passport2.html\t1.0000\texact copy"]
    );
    for (other, said, code) in [
        ("in/beach.html", "no match", 1),
        ("in/passport2.html", "match: the same text", 0),
    ] {
        let ran = sandbox
            .run(&["explain", "in/passport.html", other])
            .expect(code);
        assert!(ran.stdout.contains(said), "{}", ran.stdout);
    }
    let ran = sandbox
        .run(&["jaccard", "in/passport.html", "in/beach.html"])
        .expect(0);
    assert!(ran.stdout.starts_with("jaccard   0.0000"), "{}", ran.stdout);
    // No form of dedup drops any of them, beside each other or beside those of a store or another folder.
    for more in [
        &[][..],
        &["--against", ".dedupdb"],
        &["--keep", "longest"],
        &["--keep", "none"],
    ] {
        let ran = sandbox
            .run(&[&["dedup", "in", "-o", "out", "--force"], more].concat())
            .expect(0);
        let kept: Vec<&str> = ran
            .stdout
            .lines()
            .chain(ran.stderr.lines())
            .filter(|line| line.contains("kept"))
            .collect();
        assert_eq!(
            kept.concat().split_whitespace().collect::<Vec<_>>(),
            ["kept", "5"],
            "{more:?}"
        );
    }
    let twice = ["--store", "history", "dedup", "in", "-o", "once"];
    sandbox.run(&twice).expect(0);
    sandbox
        .run(&["--store", "history", "dedup", "in", "-o", "again"])
        .expect(0);
    assert_eq!(fs::read_dir(sandbox.path("again")).unwrap().count(), 5);
}

#[cfg(unix)]
#[test]
fn a_converter_that_finds_no_words_makes_no_copies() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    for (name, bytes) in [
        ("a.pdf", "%PDF one"),
        ("b.pdf", "%PDF two"),
        ("c.pdf", "%PDF two"),
    ] {
        sandbox.write(format!("in/{name}"), bytes);
    }
    // What a program prints of a scanned page.
    sandbox.write("scan", "#!/bin/sh\necho ' - '\n");
    fs::set_permissions(sandbox.path("scan"), fs::Permissions::from_mode(0o755)).unwrap();
    let added = sandbox.add(&["in", "--pre", "./scan", "--pre-glob", "*.pdf"], 0);
    assert_eq!(added["exact_copies"], 1, "{added}");
}

#[test]
fn the_same_words_are_told_from_the_same_text() {
    let sandbox = Sandbox::new();
    let lines = [
        "C++ C#",
        "C C",
        "3 + 4",
        "3 - 4",
        "500.00 EUR",
        "-500.00 EUR",
        "500.00 EUR",
    ];
    let lines: Vec<String> = lines
        .iter()
        .enumerate()
        .map(|(id, text)| format!("{{\"id\": \"{id}\", \"text\": \"{text}\"}}\n"))
        .collect();
    sandbox.write("a.jsonl", lines.concat());
    sandbox.add(&["a.jsonl"], 0);
    let pairs = [
        "0\t1\t1.0000\tsame words",
        "2\t3\t1.0000\tsame words",
        "4\t5\t1.0000\tsame words",
        "4\t6\t1.0000\texact copy",
        "5\t6\t1.0000\tsame words",
    ];
    let ran = sandbox.run(&["pairs"]).expect(0);
    let mut found = ran.lines();
    found.sort_unstable();
    assert_eq!(found, pairs);
    let ran = sandbox.run_with(&["query", "-"], b"3 * 4").expect(0);
    assert_eq!(
        ran.lines(),
        ["-\t2\t1.0000\tsame words", "-\t3\t1.0000\tsame words"]
    );
    let clusters = sandbox.run(&["clusters"]).expect(0);
    assert_eq!(
        clusters.lines()[..2],
        ["1\t0\t1.0000", "1\t1\t1.0000\tsame words"]
    );
    let dedup = [
        "--json",
        "dedup",
        "a.jsonl",
        "-o",
        "out.jsonl",
        "--removed",
        "removed.tsv",
    ];
    let counts = sandbox.run(&dedup).expect(0).objects().pop().unwrap();
    let dropped = json!({"exact_copies": 1, "near_duplicates": 3, "contained": 0, "same_words": 3});
    assert_eq!(counts["of_input"], dropped);
    let said = "3 dropped texts have the same words as other ones, but are not the same: case, spacing, punctuation and symbols do not count";
    let ran = sandbox.run(&[&dedup[1..], &["--force"]].concat()).expect(0);
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    assert!(!ran.stderr.contains("path order"), "{}", ran.stderr);
    sandbox.run(&[&dedup[1..], &["--force"]].concat()).expect(0);
    let removed = fs::read_to_string(sandbox.path("removed.tsv")).unwrap();
    assert_eq!(removed.matches("\tsame words\n").count(), 3, "{removed}");
    // Where symbols matter, they are tokens.
    let code = ["--store", "code", "init", "--shingling", "code:5"];
    sandbox.run(&code).expect(0);
    sandbox
        .run(&["--store", "code", "add", "a.jsonl"])
        .expect(0);
    let pairs = sandbox.run(&["--store", "code", "pairs"]).expect(0);
    assert_eq!(pairs.lines(), ["4\t6\t1.0000\texact copy"]);
}

#[cfg(unix)]
#[test]
fn files_with_the_same_words_are_counted_and_the_rule_is_said() {
    let sandbox = Sandbox::new();
    sandbox.write("in/a.txt", "-500.00 EUR are on the account since Monday");
    sandbox.write("in/b.txt", "+500.00 EUR are on the account since Monday");
    for asked in [
        &["dedup", "in", "-o", "kept"][..],
        &["move", "in", "aside", "--threshold", "0.8"],
    ] {
        let ran = sandbox.run(asked).expect(0);
        let said = "1 dropped text has the same words as another one";
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
        let kept = ["path order is kept", "the one that says more stays"];
        assert!(
            ran.stderr.contains(kept[usize::from(asked[0] == "move")]),
            "{}",
            ran.stderr
        );
    }
    sandbox.run(&["move", "--undo", "aside"]).expect(0);
    let code = ["dedup", "in", "-o", "more", "--shingling", "code:5"];
    assert!(
        !sandbox
            .run(&code)
            .expect(0)
            .stderr
            .contains("same words as")
    );
}

#[cfg(unix)]
#[test]
fn an_encoding_with_one_byte_for_a_letter_does_not_make_a_text_shorter() {
    let sandbox = Sandbox::new();
    let menu = "le café était fermé, mais la forêt était à côté";
    sandbox.write("in/copy of the menu.txt", menu);
    let latin: Vec<u8> = menu
        .chars()
        .map(|c| u8::try_from(u32::from(c)).unwrap())
        .collect();
    sandbox.write("in/menu.txt", latin);
    assert_eq!(staying(&sandbox), ["menu.txt"]);
    assert_eq!(proposed(&sandbox), "in/menu.txt");
}

#[cfg(unix)]
#[test]
fn a_separate_accent_does_not_make_a_text_longer() {
    let sandbox = Sandbox::new();
    let composed = "le café était fermé, mais la forêt était à côté et 한글도 있었다";
    let separate = composed
        .replace('é', "e\u{301}")
        .replace('한', "\u{1112}\u{1161}\u{11ab}");
    sandbox.write("in/copy of the menu.txt", separate);
    sandbox.write("in/menu.txt", composed);
    assert_eq!(staying(&sandbox), ["menu.txt"]);
}

#[test]
fn invisible_characters_and_folded_marks_do_not_count() {
    let sandbox = Sandbox::new();
    let plain = "the invisible hyphens of a printed page do not make other words of what it says";
    sandbox.write("a.txt", plain);
    sandbox.write(
        "b.txt",
        plain
            .replace("hyphens", "hy\u{AD}phens")
            .replace("page", "pa\u{2060}ge\u{FE0F}"),
    );
    sandbox.write(
        "c.txt",
        plain
            .replace("say", "s\u{E4}y")
            .replace("other", "\u{F3}ther"),
    );
    let files = ["a.txt", "b.txt", "c.txt"];
    sandbox.add(&files, 0);
    assert_eq!(
        sandbox.run(&["pairs"]).expect(0).lines(),
        ["a.txt\tb.txt\t1.0000\tsame words"]
    );
    sandbox
        .run(&["--store", "folded", "init", "--fold", "marks"])
        .expect(0);
    sandbox
        .run(&[&["--store", "folded", "add"], &files[..]].concat())
        .expect(0);
    assert_eq!(
        sandbox
            .run(&["--store", "folded", "pairs"])
            .expect(0)
            .lines()
            .len(),
        3
    );
    let stats = sandbox.run(&["--store", "folded", "stats"]).expect(0);
    assert!(
        stats.stdout.contains("fold          marks"),
        "{}",
        stats.stdout
    );
    let ran = sandbox
        .run(&[
            "--store",
            "x",
            "init",
            "--fold",
            "marks",
            "--shingling",
            "byte:5",
        ])
        .expect(2);
    assert!(ran.stderr.contains("normalized"), "{}", ran.stderr);
}

#[cfg(unix)]
#[test]
fn backups_move_and_marks_do_not_count() {
    let sandbox = Sandbox::new();
    let words = text(1, 40);
    for name in [
        "report.txt",
        "report.bak",
        "report.txt~",
        "#report#",
        "old/r.txt",
    ] {
        sandbox.write(format!("in/{name}"), &words);
    }
    let other = text(2, 40);
    sandbox.write("in/a.txt", &other);
    sandbox.write("in/with-a-mark.txt", format!("\u{feff}{other}"));
    sandbox.write("in/with-a-space.txt", format!("{other}\u{200b}"));
    // What the variable names has no part in it.
    let mut command = sandbox.command(&["move", "in", "aside"]);
    let ran = command.env("DEDUPDB_STORE", "store").output().unwrap();
    assert!(ran.status.success());
    for stays in ["report.txt", "a.txt"] {
        assert!(sandbox.path(format!("in/{stays}")).exists(), "{stays}");
        assert!(!sandbox.path(format!("aside/{stays}")).exists(), "{stays}");
    }
    assert!(sandbox.path("aside/report.bak").exists());
    assert!(sandbox.path("aside/with-a-mark.txt").exists());
    assert!(!sandbox.path("store").exists());
}

/// The folders in which all files are do not decide, and a record, which cannot move, sends no file away.
#[cfg(unix)]
#[test]
fn folders_of_both_and_records_decide_nothing() {
    let letter = text(1, 60);
    let record = format!("{{\"id\": 1, \"text\": \"{letter}\"}}\n");
    let pairs = [
        ("Downloads/zz my essay.txt", "Downloads/a copy.txt", &letter),
        ("tmp/taxes/2023/return.txt", "tmp/old/return.txt", &letter),
        ("Archiv/Steuer 2019/Bescheid.txt", "Trash/B.txt", &letter),
        ("drafts/novel, chapter 1.txt", "drafts/old/n.txt", &letter),
    ];
    for (stays, goes, text) in pairs {
        let sandbox = Sandbox::new();
        sandbox.write(format!("in/{stays}"), text);
        sandbox.write(format!("in/{goes}"), text);
        assert_eq!(staying(&sandbox), [stays], "{goes}");
        assert_eq!(proposed(&sandbox), format!("in/{stays}"), "{goes}");
    }
    let sandbox = Sandbox::new();
    sandbox.write("in/Letters/to mum.txt", &letter);
    sandbox.write("in/old/export.jsonl", &record);
    sandbox.run(&["move", "in", "aside"]).expect(0);
    assert!(sandbox.path("in/Letters/to mum.txt").exists());
}
