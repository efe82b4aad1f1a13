//! A file moves only if one that stays has all that it says.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::moving::{MOVE, UNDO};
use crate::sandbox::{Ran, Sandbox, text};

/// The files of `in` that would move.
fn moved(sandbox: &Sandbox, more: &[&str]) -> (Vec<String>, Ran) {
    let ran = sandbox.run(&[&MOVE[..], &["--dry-run"], more].concat());
    let ran = ran.expect(0);
    let lines = ran.lines().into_iter();
    let files = lines.map(|line| line.split('\t').next().unwrap().to_owned());
    let files: Vec<String> = files.collect();
    (files, ran)
}

/// Two texts that resemble each other.
fn written(one: &str, other: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let (start, end) = (text(1, 60), text(2, 60));
    sandbox.write("in/one.txt", format!("{start} {one} {end}\n"));
    sandbox.write("in/one two.txt", format!("{start} {other} {end}\n"));
    sandbox
}

#[test]
fn what_has_something_of_its_own_stays() {
    for (one, other) in [
        ("für", "fÃ¼r"),
        ("home – it rained", "home \\u2013 it rained"),
        ("Zoë’s café", "Zo=EB=92s caf=E9"),
        ("Grüße", "Gruesse"),
        ("well \u{1f600} then", "well ???? then"),
        ("don't", "don?t"),
        ("☑ milk", "☐ milk"),
        ("-500 EUR", "500 EUR"),
        ("1,000 EUR", "1,000,000 EUR"),
        ("Anna Moore", "[name removed for privacy]"),
        ("DSHELL=/bin/zsh", "#DSHELL=/bin/bash"),
        ("yes", "<<<<<<< HEAD no ======= yes, maybe >>>>>>> other"),
        ("password: hunter2!", "password: hunter2?"),
        ("is liable", "is not liable"),
        ("if a:\n    b()\n    c()", "if a:\n    b()\nc()"),
        ("Monday\t\tMaths", "Monday\tMaths\t"),
        ("echo 1\n# echo 2\necho 3", "echo 1 # echo 2 echo 3"),
        ("flag \u{1f3f4}\u{e0067}\u{e0062}", "flag \u{1f3f4}"),
    ] {
        let sandbox = written(one, other);
        let (files, ran) = moved(&sandbox, &[]);
        assert!(files.is_empty(), "{one}: {}", ran.stdout);
        let told = "1 file resembles one with other lines or named like a copy, and stays";
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
        let json = sandbox.run(&[&["--json"], &MOVE[..], &["--dry-run"]].concat());
        let json: Value = serde_json::from_str(&json.expect(0).stdout).unwrap();
        assert_eq!(json["differing"], 1, "{one}");
        for chosen in [&["--threshold", "0.8"][..], &["--keep", "first"]] {
            assert_eq!(moved(&sandbox, chosen).0.len(), 1, "{one} {chosen:?}");
        }
    }
}

#[test]
fn what_another_one_has_as_well_moves() {
    for (whole, part) in [("a b\nc", "a b\nc"), ("a b\nc", "a b  \r\nc")] {
        let sandbox = written(whole, part);
        assert_eq!(moved(&sandbox, &[]).0.len(), 1, "{part:?}");
    }
    // A text that was cut off, also within a word, and one that another one continues.
    let start = text(1, 90) + " begun";
    let whole = format!("{start} unfinished\n{}\n", text(2, 15));
    for part in [
        &start[..],
        &format!("{start} unfi"),
        &format!("{start} unfinished\n"),
    ] {
        let sandbox = Sandbox::new();
        sandbox.write("in/a.txt", &whole);
        sandbox.write("in/a copy.txt", part);
        assert_eq!(moved(&sandbox, &[]).0, ["in/a copy.txt"], "{part}");
        // One that is not named like a copy is another text.
        sandbox.write("in/a b.txt", part);
        fs::remove_file(sandbox.path("in/a copy.txt")).unwrap();
        assert!(moved(&sandbox, &[]).0.is_empty(), "{part}");
    }
    // These are whole.
    for end in [
        "100\n",
        "100",
        "of the ten or twelve 100",
        "100 EUR",
        "100 and so on",
    ] {
        let sandbox = Sandbox::new();
        sandbox.write(
            "in/a.txt",
            format!("{start}\nTotal: {}", end.replace("100", "1000")),
        );
        sandbox.write("in/a copy.txt", format!("{start}\nTotal: {end}"));
        assert!(moved(&sandbox, &[]).0.is_empty(), "{end}");
    }
    // What looks cut off may be another number.
    for (end, other) in [
        ("500.", "500.50"),
        ("500", "500 000"),
        ("12", "12:30"),
        ("3", "3/4"),
        ("5 €", "5 €7"),
        ("\rTotal: no", "\rTotal: not yet"),
        (
            "\nTotal . . . . . . . . . no",
            "\nTotal . . . . . . . . . not yet",
        ),
    ] {
        let sandbox = Sandbox::new();
        sandbox.write("in/a.txt", format!("{start} {other} {}\n", text(2, 15)));
        sandbox.write("in/a copy.txt", format!("{start} {end}"));
        assert!(moved(&sandbox, &[]).0.is_empty(), "{end}");
    }
}

#[test]
fn of_pages_and_messages_only_the_same_files_move() {
    let page = |more: &str| format!("<p>{}</p>{more}", text(1, 60));
    let message = |from: &str| format!("From: {from}\nSubject: hello\n\n{}\n", text(2, 60));
    let sandbox = Sandbox::new();
    sandbox.write("in/a.html", page(""));
    sandbox.write("in/a (1).html", page(""));
    sandbox.write("in/b.html", page("<img src='data:image/png;base64,AAAA'>"));
    sandbox.write(
        "in/b (1).html",
        page("<img src='data:image/png;base64,AAAA'>"),
    );
    sandbox.write("in/anna.eml", message("anna@example.org"));
    sandbox.write("in/otto.eml", message("otto@example.org"));
    sandbox.write("in/otto (1).eml", message("otto@example.org"));
    // The same bytes, of which all are read as text.
    sandbox.write("in/exported otto", message("otto@example.org"));
    sandbox.write("in/source.txt", page(""));
    let (mut files, ran) = moved(&sandbox, &[]);
    files.sort();
    let copies = ["in/a (1).html", "in/b (1).html", "in/otto (1).eml"];
    assert_eq!(files, copies, "{}", ran.stderr);
    assert_eq!(moved(&sandbox, &["--threshold", "0.8"]).0.len(), 7);
}

#[test]
fn no_file_moves_because_of_one_that_is_out_of_sight() {
    for (stays, beside) in [
        ("Anna/Letters/2020/l.txt", "Trash/l.txt"),
        ("Old laptop/Backup/l.txt", "#recycle/l.txt"),
        ("l.txt", ".l.txt.autosave"),
        (".ssh/config", "notes/config.txt"),
        ("diary.txt", "Temp/diary.txt"),
        ("letter.txt", "archive.txt.bak"),
    ] {
        // What was thrown away says more, or just the same.
        for end in ["", "\nand another line"] {
            let sandbox = Sandbox::new();
            sandbox.write(format!("in/{stays}"), text(1, 60));
            sandbox.write(format!("in/{beside}"), text(1, 60) + end);
            let (files, ran) = moved(&sandbox, &[]);
            let stays = format!("in/{stays}");
            assert!(!files.contains(&stays), "{end}: {}", ran.stderr);
        }
    }
}

#[test]
fn a_file_stays_beside_one_that_was_thrown_away_whatever_moves() {
    let sandbox = Sandbox::new();
    sandbox.write("in/l.txt", text(1, 60));
    sandbox.write("in/Trash/l.txt", format!("{}\nand a line", text(1, 60)));
    assert!(moved(&sandbox, &[]).0.is_empty());
    for option in [["--threshold", "0.7"], ["--keep", "longest"]] {
        let (files, ran) = moved(&sandbox, &option);
        assert_eq!(files, ["in/Trash/l.txt"], "{}", ran.stderr);
    }
}

#[test]
fn no_choice_of_files_makes_one_that_is_in_use_move_because_of_one_that_is_not() {
    for lost in [".h.txt", "$RECYCLE.BIN/l.txt", ".Trash-1000/l.txt"] {
        let sandbox = Sandbox::new();
        // The one that is lost would be the first, the newest or, elsewhere, the only one.
        sandbox.write("in/l.txt", text(1, 60));
        sandbox.write(format!("in/{lost}"), text(1, 60));
        sandbox.write(format!("elsewhere/{lost}"), text(1, 60));
        sandbox.write("keys", "in/l.txt\n");
        for chosen in [
            &["--keep", "first"][..],
            &["--keep", "newest"],
            &["--keys-from", "keys"],
            &["--threshold", "0.8", "--against", "elsewhere"],
        ] {
            let (files, ran) = moved(&sandbox, chosen);
            let is_there = files.contains(&"in/l.txt".to_owned());
            assert!(!is_there, "{lost} {chosen:?}: {}", ran.stderr);
        }
    }
}

#[test]
fn a_hidden_folder_that_is_named_is_not_hidden() {
    let sandbox = Sandbox::new();
    sandbox.write("in/l.txt", text(1, 60));
    sandbox.write(".arch/l.txt", text(1, 60));
    for named in [".arch", "./.arch"] {
        let (files, ran) = moved(&sandbox, &["--against", named]);
        assert_eq!(files.len(), 1, "{named}: {}", ran.stderr);
    }
}

#[test]
fn what_a_store_knows_by_an_absolute_path_is_hidden_there_too() {
    for (name, moves) in [(".cache/l.txt", 0), ("Trash/l.txt", 0), ("l.txt", 1)] {
        let sandbox = Sandbox::new();
        sandbox.write("in/l.txt", text(1, 60));
        sandbox.write(format!("elsewhere/{name}"), text(1, 60));
        let absolute = sandbox.path("elsewhere");
        sandbox.add(&[absolute.to_str().unwrap()], 0);
        let (files, ran) = moved(&sandbox, &["--against", ".dedupdb"]);
        assert_eq!(files.len(), moves, "{name}: {}", ran.stderr);
    }
}

#[test]
fn what_resembles_a_protected_file_moves_wherever_that_is() {
    let sandbox = Sandbox::new();
    sandbox.write("in/Old stuff/taxes (1).txt", text(1, 60));
    sandbox.write("in/Desktop/taxes.txt", text(1, 60));
    let (files, ran) = moved(&sandbox, &["--protect", "Old stuff/"]);
    assert_eq!(files, ["in/Desktop/taxes.txt"], "{}", ran.stderr);
}

#[test]
fn a_copy_is_cut_off_if_its_name_has_the_same_numbers_words_and_extension() {
    let whole = format!("{}\n", text(1, 80));
    let longer = format!("{whole}{}", text(2, 12));
    for (one, other, moves) in [
        ("Essay.txt", "b/Essay.TXT", false),
        ("Essay (1).txt", "Essay.txt", true),
        ("Essay.bak", "Essay.txt", true),
        ("rent 2024.txt", "b/rent 2024.txt", false),
        ("rent 2024 (1).txt", "b/rent 2024.txt", false),
        ("b/rent 2024 (1).txt", "b/rent 2024.txt", true),
        ("Will 2024 signed.txt", "Will 2019.txt", false),
        ("Essay2.txt", "Essay.txt", false),
        ("Will 2024 copy.txt", "Will 2019.txt", false),
        ("Entwurf 2.txt", "Entwurf 1.txt", false),
        ("2024/Will.txt", "2019/Will.txt", false),
        ("Backup 2022/Will.txt", "Will.txt", true),
        ("Downloads 2023/Will.txt", "Downloads 2024/Will.txt", false),
        ("Rechnung 40 - Kopie.txt", "Rechnung.txt", false),
        (
            "Book (1)/Chapter 2/scene.txt",
            "Book/Chapter 1/scene.txt",
            false,
        ),
        ("Testament.txt", "Testament alt.txt", false),
        ("Letter Anna.txt", "Letter Bob.txt", false),
        ("Letter.txt", "Letter Bob.txt", false),
        ("Letter (1).txt", "Letter Bob.txt", false),
        ("Letter Bob (1).txt", "Letter Bob.txt", true),
        ("Test.txt", "Test solutions.txt", false),
        ("Anna/Plan old.txt", "Bob/Plan.txt", false),
        ("Anna/Plan old.txt", "Anna/Plan.txt", true),
        ("Essay.txt", "Essay draft.txt", false),
        ("Essay.txt", "Essay - kopi.txt", false),
        ("Essay.txt", "Essay의 사본.txt", false),
        ("setup.sh", "notes.txt", false),
    ] {
        let sandbox = Sandbox::new();
        sandbox.write(format!("in/{one}"), &whole);
        sandbox.write(format!("in/{other}"), &longer);
        let (files, ran) = moved(&sandbox, &[]);
        assert_eq!(files.len(), usize::from(moves), "{one}: {}", ran.stderr);
        // The same text may have any name.
        sandbox.write(format!("in/{other}"), &whole);
        assert_eq!(moved(&sandbox, &[]).0.len(), 1, "{one}");
    }
}

#[test]
fn of_equal_files_that_another_one_goes_on_behind_the_copy_moves() {
    let longer = format!("{}\n{}", text(1, 80), text(2, 12));
    for (file, copy, other) in [
        (
            "2024-03-10 minutes.txt",
            "2024-03-10 minutes (1).txt",
            "2024-03-10 minutes signed.txt",
        ),
        (
            "Kapitel 3.txt",
            "Kapitel 3 Entwurf.txt",
            "Buch/Kapitel 3.txt",
        ),
        ("v2/x.py", "v2_old/x.py", "v2/x full.py"),
        (
            "minutes.txt",
            "minutes (conflicted copy 2024-05-01).txt",
            "minutes final.txt",
        ),
        (
            "minutes.txt",
            "Backup/2021/minutes.txt",
            "minutes final.txt",
        ),
    ] {
        let sandbox = Sandbox::new();
        for name in [file, copy] {
            sandbox.write(format!("in/{name}"), text(1, 80) + "\n");
        }
        sandbox.write(format!("in/{other}"), &longer);
        let (files, ran) = moved(&sandbox, &[]);
        assert_eq!(files, [format!("in/{copy}")], "{}", ran.stderr);
    }
}

#[test]
fn years_of_the_folders_that_are_compared_tell_versions_too() {
    let sandbox = Sandbox::new();
    sandbox.write("in 2024/Will (1).txt", text(1, 80) + "\n");
    let longer = format!("{}\n{}", text(1, 80), text(2, 12));
    for (folder, moves) in [("2019", 0), ("in 2023", 0), ("disk", 1), ("disk/2024", 1)] {
        sandbox.write(format!("{folder}/Will.txt"), &longer);
        for against in [folder.to_owned(), format!("{folder}/Will.txt")] {
            let asked = [
                "move",
                "in 2024",
                "aside",
                "--dry-run",
                "--against",
                &against,
            ];
            let ran = sandbox.run(&asked).expect(0);
            assert_eq!(ran.lines().len(), moves, "{against}: {}", ran.stderr);
        }
    }
    sandbox.write("2023/Tax/Will (1).txt", text(1, 80) + "\n");
    sandbox.write("2024/Tax/Will.txt", &longer);
    let asked = [
        "move",
        "2023/Tax",
        "aside",
        "--dry-run",
        "--against",
        "2024/Tax",
    ];
    assert_eq!(sandbox.run(&asked).expect(0).stdout, "");
}

#[test]
fn a_copy_of_another_year_stays_if_what_a_store_has_of_it_moves() {
    let sandbox = Sandbox::new();
    for name in ["in/Old laptop/2019/Will (1).txt", "in/2024/Will (1).txt"] {
        sandbox.write(name, text(1, 80) + "\n");
    }
    sandbox.write(
        "in/2024/Will.txt",
        format!("{}\n{}", text(1, 80), text(2, 12)),
    );
    sandbox.run(&["--store", "s", "add", "in"]).expect(0);
    for more in [&[][..], &["--against", "s"]] {
        assert_eq!(
            moved(&sandbox, more).0,
            ["in/2024/Will (1).txt"],
            "{more:?}"
        );
    }
    // A text that goes on, and moves because of a copy of another year, is not enough either.
    let other = Sandbox::new();
    other.write("in/2020/Will (1).txt", text(1, 80) + "\n");
    for name in ["in/2020/Will.txt", "in/21/Will.txt"] {
        other.write(name, format!("{}\n{}", text(1, 80), text(2, 12)));
    }
    other.run(&["--store", "s", "add", "in"]).expect(0);
    assert_eq!(moved(&other, &["--against", "s"]).0, ["in/2020/Will.txt"]);
    // Of the same year, it moves as well.
    fs::rename(
        sandbox.path("in/Old laptop/2019"),
        sandbox.path("in/Old laptop/2024"),
    )
    .unwrap();
    sandbox.run(&["--store", "s", "add", "in"]).expect(0);
    let (files, ran) = moved(&sandbox, &["--against", "s"]);
    assert_eq!(files.len(), 2, "{}", ran.stderr);
}

#[test]
fn no_file_moves_because_of_a_record_that_was_thrown_away_elsewhere() {
    let record = json!({"id": "one", "text": text(1, 60)});
    for (folder, moves) in [("Trash", false), (".kept", false), ("letters", true)] {
        let sandbox = Sandbox::new();
        sandbox.write("in/l.txt", text(1, 60));
        sandbox.write(format!("g/{folder}/r.jsonl"), format!("{record}\n"));
        let (files, ran) = moved(&sandbox, &["--against", "g"]);
        assert_eq!(files.len(), usize::from(moves), "{folder}: {}", ran.stderr);
    }
}

#[test]
fn the_same_bytes_as_a_page_and_as_a_message_both_stay() {
    let both = format!(
        "Subject: hello\nContent-Type: text/html\n\n<p>{}\n",
        text(1, 60)
    );
    let sandbox = Sandbox::new();
    sandbox.write("in/b.html", &both);
    sandbox.write("in/c.eml", &both);
    let (files, ran) = moved(&sandbox, &[]);
    assert!(files.is_empty(), "{files:?} {}", ran.stderr);
}

#[test]
fn a_third_version_makes_no_place_safer() {
    let (start, end) = (text(1, 60), text(2, 60));
    let letter = |word: &str, more: &str| format!("{start}\n{word}\n{end}\n{more}");
    for aside in [
        "Trash/a.txt",
        "a (1).txt",
        "a.txt.bak",
        "old/a.txt",
        "INBOX.Trash/a",
    ] {
        let sandbox = Sandbox::new();
        sandbox.write("in/a.txt", letter("one", ""));
        sandbox.write(format!("in/{aside}"), letter("one", "one more line\n"));
        let third = letter("two", "one more line\nand another one there\n");
        sandbox.write("in/letter.txt", third);
        let (files, ran) = moved(&sandbox, &[]);
        assert!(files.is_empty(), "{aside}: {}", ran.stdout);
    }
}

#[test]
fn a_text_that_was_decoded_by_a_guess_is_compared_by_bytes() {
    let old = [
        text(1, 60).as_bytes(),
        b"Die Gr\x9a\xa7e der Stra\xa7e, wei\xa7 er, ist gro\xa7\n",
    ]
    .concat();
    let sandbox = Sandbox::new();
    sandbox.write("in/original.txt", &old);
    let garbled = encoding_rs::WINDOWS_1252.decode(&old).0;
    sandbox.write("in/a.txt", &*garbled);
    assert!(moved(&sandbox, &[]).0.is_empty());
    sandbox.write("in/original (1).txt", &old);
    assert_eq!(moved(&sandbox, &[]).0, ["in/original (1).txt"]);
}

#[test]
fn a_copy_of_a_version_that_stays_moves_because_of_that() {
    let sandbox = written("signed by Anna on Monday", "signed by Otto");
    let copy = fs::read_to_string(sandbox.path("in/one two.txt")).unwrap();
    sandbox.write("in/two (1).txt", &copy);
    sandbox.write("in/two (2).txt", copy.replace('\n', "\r\n"));
    let (mut files, ran) = moved(&sandbox, &[]);
    files.sort();
    assert_eq!(files, ["in/two (1).txt", "in/two (2).txt"]);
    for line in ran.lines() {
        let like: Vec<&str> = line.split('\t').skip(2).collect();
        assert_eq!(like[..2], ["in/one two.txt", "1.0000"], "{line}");
    }
    // Two commands at once cannot take both: the one that stays is looked at again.
    sandbox.run(&MOVE).expect(0);
    assert!(sandbox.path("in/one two.txt").exists());
    sandbox.run(&UNDO).expect(0);
    // With a folder to compare with, only the files there count.
    sandbox.write(
        "archive/one.txt",
        fs::read(sandbox.path("in/one.txt")).unwrap(),
    );
    let (files, _) = moved(&sandbox, &["--against", "archive"]);
    assert_eq!(files, ["in/one.txt"]);
    let (files, _) = moved(&sandbox, &["--against", "archive", "--threshold", "0.8"]);
    assert_eq!(files.len(), 4);
}

#[test]
fn what_could_not_be_decoded_is_compared_by_bytes() {
    let sandbox = Sandbox::new();
    let letter = |name: &[u8]| [text(1, 60).as_bytes(), "ä M".as_bytes(), name, b"ller\n"].concat();
    sandbox.write("in/a.txt", letter(b"\xfc"));
    sandbox.write("in/b.txt", letter(b"\xf6"));
    sandbox.write("in/b (1).txt", letter(b"\xf6"));
    let (files, ran) = moved(&sandbox, &[]);
    assert_eq!(files, ["in/b (1).txt"], "{}", ran.stderr);
}

#[test]
fn true_copies_move_also_if_a_hidden_version_says_more() {
    let sandbox = Sandbox::new();
    for name in ["in/a.txt", "in/b (1).txt"] {
        sandbox.write(name, text(1, 60));
    }
    sandbox.write("in/.c.txt", text(1, 60) + "\nand more");
    assert_eq!(moved(&sandbox, &[]).0, ["in/b (1).txt"]);
    for (place, files) in [("arch/Trash/a.txt", 0), ("arch/letters/a.txt", 2)] {
        let sandbox = Sandbox::new();
        sandbox.write("in/a.txt", text(1, 60));
        sandbox.write("in/b.txt", text(1, 60));
        sandbox.write(place, text(1, 60));
        let moved = moved(&sandbox, &["--against", "arch"]);
        assert_eq!(moved.0.len(), files, "{place}: {}", moved.1.stderr);
    }
}

#[test]
fn a_link_to_a_folder_keeps_its_files() {
    let sandbox = Sandbox::new();
    for name in ["in/2024/plan.txt", "in/plan.txt"] {
        sandbox.write(name, text(1, 60));
    }
    symlink("2024", sandbox.path("in/current")).unwrap();
    let (files, ran) = moved(&sandbox, &[]);
    assert!(files.is_empty(), "{}", ran.stdout);
    let told = "in/2024/plan.txt: a symbolic link leads to its folder; it stays there";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
}
