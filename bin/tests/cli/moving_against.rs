//! Files that are moved because they resemble files elsewhere, which are only read.
#![cfg(unix)]

use std::fs;
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use dedupdb_corpus::dedup::{Dedup, DedupEvent, MoveEvent};
use dedupdb_corpus::{Format, Source};

use crate::moving::{pairs, tree};
use crate::sandbox::{Sandbox, text};

#[test]
fn what_resembles_a_file_elsewhere_that_changed_meanwhile_stays() {
    let sandbox = Sandbox::new();
    for number in 0..4 {
        let words = text(number, 40);
        sandbox.write(format!("in/{number}.txt"), format!("{words} end"));
        sandbox.write(format!("arch/{number}.txt"), words);
    }
    fs::rename(sandbox.path("arch/3.txt"), sandbox.path("alone.txt")).unwrap();
    // Clocks of file systems tick slowly.
    thread::sleep(Duration::from_millis(30));
    let mut told = Vec::new();
    let moved = Dedup::new([sandbox.path("in")])
        .against_corpus([sandbox.path("arch"), sandbox.path("alone.txt")])
        .move_to(sandbox.path("aside"))
        .differing(true)
        .run(|event| match event {
            MoveEvent::Judging(DedupEvent::Publishing) => {
                thread::sleep(Duration::from_millis(30));
                sandbox.write("arch/0.txt", "words of somebody");
                fs::remove_file(sandbox.path("arch/1.txt")).unwrap();
                sandbox.write("alone.txt", "words of somebody");
            }
            MoveEvent::Left { why, .. } => told.push(why.to_owned()),
            _ => {}
        });
    let moved = moved.unwrap();
    assert_eq!(
        (moved.files, moved.left, moved.failed),
        (1, 3, 0),
        "{told:?}"
    );
    for (told, other) in told.iter().zip(["arch/0.txt", "arch/1.txt", "alone.txt"]) {
        let why = format!("{other} changed since the run began; it stays there");
        assert!(told.ends_with(&why), "{told}");
    }
    assert_eq!(tree(&sandbox, "in").len(), 3);
    assert!(sandbox.path("aside/2.txt").exists());
}

#[test]
fn a_stream_has_no_file_that_could_change() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 1);
    // It cannot be read again either, so only copies move unless all files that resemble it shall.
    for (differing, files) in [(false, 1), (true, 2)] {
        let stream = Source::stream("elsewhere", std::io::Cursor::new(text(0, 40)));
        let moved = Dedup::new([sandbox.path("in")])
            .against_corpus([stream.format(Format::Text)])
            .move_to(sandbox.path(format!("aside{files}")))
            .differing(differing)
            .pretend(true)
            .run(|_| {});
        assert_eq!(moved.unwrap().files, files);
    }
}

#[test]
fn a_file_that_was_stored_from_a_folder_above_is_itself() {
    let sandbox = Sandbox::new();
    sandbox.write("inbox/a.txt", text(1, 40));
    sandbox.add(&["inbox"], 0);
    let moving = ["move", ".", "../aside", "--against", "../.dedupdb"];
    let mut moving = sandbox.command(&moving);
    let moved = moving.current_dir(sandbox.path("inbox")).output().unwrap();
    let told = String::from_utf8(moved.stderr).unwrap();
    assert!(told.contains("inbox/a.txt is this file itself"), "{told}");
    assert!(sandbox.path("inbox/a.txt").exists());
}

/// Moves duplicates of the folder `in`, which `change` changes after they were read. Returns what was moved and why
/// other files stay.
fn moved_while(sandbox: &Sandbox, change: impl Fn()) -> (Vec<String>, Vec<String>) {
    let (mut moved, mut left) = (Vec::new(), Vec::new());
    // Clocks of file systems tick slowly.
    thread::sleep(Duration::from_millis(30));
    let run = Dedup::new([sandbox.path("in")])
        .move_to(sandbox.path("aside"))
        .run(|event| match event {
            MoveEvent::Judging(DedupEvent::Publishing) => change(),
            MoveEvent::Moved { from, .. } => moved.push(from.display().to_string()),
            MoveEvent::Left { why, .. } => left.push(why.to_owned()),
            _ => {}
        });
    run.unwrap();
    (moved, left)
}

#[test]
fn a_file_in_a_folder_that_was_exchanged_is_another_one() {
    let sandbox = Sandbox::new();
    sandbox.write("in/a.txt", text(1, 40));
    sandbox.write("in/m/b.txt", text(1, 40));
    // It has the same size and time, and is older than the run.
    sandbox.write("other/b.txt", text(1, 40).to_uppercase());
    for file in ["in/m/b.txt", "other/b.txt"] {
        let file = fs::File::open(sandbox.path(file)).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1_600_000_000))
            .unwrap();
    }
    let (moved, left) = moved_while(&sandbox, || {
        fs::rename(sandbox.path("in/m"), sandbox.path("m.old")).unwrap();
        fs::rename(sandbox.path("other"), sandbox.path("in/m")).unwrap();
    });
    assert_eq!(moved, [""; 0]);
    assert!(
        left[0].contains("it changed since the run began"),
        "{left:?}"
    );
}

#[test]
fn what_resembles_a_file_that_was_replaced_by_a_link_stays() {
    for kept in ["in/a.txt", "in/k/a.txt"] {
        let sandbox = Sandbox::new();
        sandbox.write("old/a.txt", text(2, 50));
        sandbox.write(kept, text(1, 40) + "\nend");
        sandbox.write("in/z.txt", text(1, 40));
        let (moved, left) = moved_while(&sandbox, || {
            let replaced = if kept == "in/a.txt" {
                fs::remove_file(sandbox.path(kept)).unwrap();
                (sandbox.path("old/a.txt"), sandbox.path(kept))
            } else {
                fs::remove_dir_all(sandbox.path("in/k")).unwrap();
                (sandbox.path("old"), sandbox.path("in/k"))
            };
            std::os::unix::fs::symlink(replaced.0, replaced.1).unwrap();
        });
        assert_eq!(moved, [""; 0], "{kept}");
        assert!(
            left[0].contains("a.txt changed since the run began"),
            "{left:?}"
        );
    }
}

#[test]
fn files_with_the_names_of_our_own_stay() {
    let sandbox = Sandbox::new();
    sandbox.write("in/a.txt", text(1, 40) + "\nend");
    let own = [".dedupdb-moved", ".dedupdb-moved.part", ".dedupdb-moving"];
    for name in own {
        sandbox.write(format!("in/{name}"), text(1, 40));
    }
    sandbox.write("in/a copy.txt", text(1, 40));
    let (moved, left) = moved_while(&sandbox, || {});
    assert_eq!(moved.len(), 1, "{moved:?}");
    assert_eq!(left.len(), 3, "{left:?}");
    // A file of that name in an otherwise empty folder is not ours either.
    sandbox.write("there/.dedupdb-moved.part", "mine");
    let ran = sandbox.run(&["move", "in", "there"]).expect(2);
    assert!(
        ran.stderr.contains("choose a folder that is new or empty"),
        "{}",
        ran.stderr
    );
    let mine = fs::read_to_string(sandbox.path("there/.dedupdb-moved.part"));
    assert_eq!(mine.unwrap(), "mine");
}

/// Runs a command that adds documents, in a folder of the sandbox.
fn add_in(sandbox: &Sandbox, folder: &str, arguments: &[&str]) {
    let mut adding = sandbox.command(arguments);
    let added = adding.current_dir(sandbox.path(folder)).output().unwrap();
    assert!(added.status.success());
}

#[test]
fn a_file_that_was_stored_from_a_folder_beside_is_itself() {
    let sandbox = Sandbox::new();
    sandbox.write("docs/x.txt", text(1, 40));
    sandbox.write("docs/y.txt", text(2, 40));
    sandbox.write("there/z.txt", text(2, 40));
    add_in(
        &sandbox,
        "there",
        &["--store", "s", "add", "../docs/x.txt", "z.txt"],
    );
    let moving = ["move", "docs", "aside", "--against", "there/s"];
    let ran = sandbox.run(&moving).expect(0);
    let told = "../docs/x.txt is this file itself";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.stdout);
    assert!(sandbox.path("aside/y.txt").exists());
}

#[test]
fn a_copy_of_the_same_name_in_another_folder_is_not_the_file_itself() {
    let sandbox = Sandbox::new();
    let copy = |from: &str, to: &str| {
        sandbox.write(to, "");
        fs::copy(sandbox.path(from), sandbox.path(to)).unwrap();
        let time = fs::metadata(sandbox.path(from))
            .unwrap()
            .modified()
            .unwrap();
        let file = fs::File::options()
            .write(true)
            .open(sandbox.path(to))
            .unwrap();
        file.set_modified(time).unwrap();
    };
    sandbox.write("2025/p/a.txt", text(1, 40));
    copy("2025/p/a.txt", "2026/p/a.txt");
    add_in(&sandbox, "2025", &["add", "p"]);
    let moving = ["move", "2026", "aside", "--against", "2025/.dedupdb"];
    sandbox.run(&moving).expect(0);
    assert!(sandbox.path("aside/p/a.txt").exists());
    // A store elsewhere knows the folder, too.
    add_in(&sandbox, "2025", &["--store", "../stores/s", "add", "p"]);
    let from_store = |folder: &str, aside: &str| {
        let moving = ["move", folder, aside, "--against", "stores/s"];
        sandbox.run(&moving).expect(0).stderr
    };
    let told = from_store("2025", "aside1");
    assert!(told.contains("p/a.txt is this file itself"), "{told}");
    sandbox.write("2027/p/a.txt", text(1, 40));
    from_store("2027", "aside2");
    assert!(sandbox.path("aside2/p/a.txt").exists());
}

#[test]
fn the_last_copy_of_a_text_stays() {
    let sandbox = Sandbox::new();
    for number in 0..4 {
        sandbox.write(format!("notes/{number}.txt"), text(number, 40));
        sandbox.write(format!("in/{number}.txt"), text(number, 40));
    }
    sandbox.write("more/0.txt", text(0, 40));
    sandbox.write(
        "r.jsonl",
        format!("{{\"id\":\"r\",\"text\":\"{}\"}}", text(5, 40)),
    );
    sandbox.write(
        "s.jsonl",
        format!("{{\"id\":\"s\",\"text\":\"{}\"}}", text(6, 40)),
    );
    for number in [5, 6, 7] {
        sandbox.write(format!("in/{number}.txt"), text(number, 40));
    }
    sandbox.add(&["notes", "more", "r.jsonl", "s.jsonl"], 0);
    sandbox
        .run_with(&["add", "-", "--key", "typed"], text(7, 40).as_bytes())
        .expect(0);
    // Another copy of the first text is there; the second is gone, and the third has another text now.
    fs::remove_file(sandbox.path("more/0.txt")).unwrap();
    fs::remove_file(sandbox.path("notes/1.txt")).unwrap();
    sandbox.write("notes/2.txt", "other words");
    fs::remove_file(sandbox.path("s.jsonl")).unwrap();
    for dry_run in [&["--dry-run"][..], &[]] {
        let moving = ["move", "in", "aside", "--against", ".dedupdb"];
        let ran = sandbox.run(&[&moving, dry_run].concat()).expect(0);
        let moved: Vec<&str> = ran.stdout.lines().map(|line| &line[..8]).collect();
        assert_eq!(
            moved,
            ["in/0.txt", "in/3.txt", "in/5.txt"],
            "{}",
            ran.stderr
        );
        for why in [
            "in/1.txt: notes/1.txt is gone",
            "in/2.txt: notes/2.txt has changed since it was added",
            "s.jsonl, the file of s, is gone; it stays there",
            "in/7.txt: typed was not added from a file",
        ] {
            assert!(ran.stderr.contains(why), "{}", ran.stderr);
        }
    }
    assert_eq!(tree(&sandbox, "in").len(), 4);
}

#[test]
fn a_stored_file_moves_because_of_another_copy_that_stays() {
    let sandbox = Sandbox::new();
    sandbox.write("A/z.txt", text(1, 40));
    sandbox.write("A/x.txt", text(2, 40));
    sandbox.write("A/x (1).txt", text(2, 40));
    sandbox.write("B/orig.txt", text(1, 40));
    sandbox.add(&["A", "B"], 0);
    let moving = ["move", "A", "aside", "--against", ".dedupdb"];
    let ran = sandbox.run(&moving).expect(0);
    // Of copies in the folder itself, one stays.
    let moved: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(moved.len(), 2, "{moved:?}");
    assert!(
        moved[0].starts_with("A/x (1).txt\taside/x (1).txt\tA/x.txt\t"),
        "{moved:?}"
    );
    assert!(
        moved[1].starts_with("A/z.txt\taside/z.txt\tB/orig.txt\t"),
        "{moved:?}"
    );
    assert!(
        ran.stderr
            .contains("A/x.txt: A/x (1).txt is the lesser copy"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_store_of_the_folder_itself_lets_the_same_files_move() {
    let sandbox = Sandbox::new();
    let whole = text(1, 60);
    // It was pasted twice, which says no more.
    sandbox.write("A/a/notes.txt", format!("{whole}\n\n{whole}"));
    sandbox.write("A/b.txt", &whole);
    // A word was decoded wrongly.
    let song = format!("{} f\u{fc}r {}", text(2, 60), text(3, 60));
    sandbox.write("A/c.txt", &song);
    sandbox.write("A/d.txt", song.replace('\u{fc}', "\u{c3}\u{bc}"));
    // The end is cut off.
    sandbox.write("A/Downloads/e.txt", text(4, 60));
    sandbox.write("A/f.txt", &text(4, 60)[..text(4, 60).len() - 9]);
    let judged = ["move", "A", "aside", "--dry-run", "--threshold", "0.8"];
    let files = |arguments: &[&str]| {
        let ran = sandbox.run(arguments).expect(0);
        let mut moved: Vec<String> = ran.lines().iter().map(|it| (*it).to_owned()).collect();
        moved.sort();
        moved
    };
    let expected = files(&judged);
    let moved: Vec<&str> = (expected.iter())
        .filter_map(|line| line.split('\t').next())
        .collect();
    assert_eq!(moved, ["A/a/notes.txt", "A/d.txt", "A/f.txt"]);
    sandbox.add(&["A"], 0);
    assert_eq!(
        files(&[&judged[..], &["--against", ".dedupdb"]].concat()),
        expected
    );
}

#[test]
fn a_record_that_is_gone_stands_for_nothing() {
    let sandbox = Sandbox::new();
    let line = |number: u64| {
        format!(
            "{}\n",
            serde_json::json!({"id": number, "text": text(number, 40)})
        )
    };
    let lines = |numbers: &[u64]| {
        numbers
            .iter()
            .map(|&number| line(number))
            .collect::<String>()
    };
    for number in 0..2 {
        sandbox.write(format!("inbox/{number}.txt"), text(number, 40));
    }
    sandbox.write("export.jsonl", lines(&[0, 1, 2]));
    sandbox.run(&["add", "-q", "export.jsonl"]).expect(0);
    let moved = || {
        let asked = [
            "move",
            "inbox",
            "aside",
            "--against",
            ".dedupdb",
            "--dry-run",
        ];
        let ran = sandbox.run(&asked).expect(0);
        (ran.lines().len(), ran.stderr)
    };
    assert_eq!(moved().0, 2);
    // The first record goes, and the others are added again.
    sandbox.write("export.jsonl", lines(&[1, 2]));
    // As an older export, which somebody put back, would have.
    let export = fs::File::options()
        .append(true)
        .open(sandbox.path("export.jsonl"));
    export.unwrap().set_modified(UNIX_EPOCH).unwrap();
    for _ in 0..2 {
        let (files, told) = moved();
        assert_eq!(files, 1, "{told}");
        assert!(
            told.contains("export.jsonl, the file of 0, does not have it any more"),
            "{told}"
        );
        sandbox.run(&["add", "-q", "export.jsonl"]).expect(0);
    }
    sandbox.write("export.jsonl", "");
    assert_eq!(moved().0, 0);
}

#[test]
fn of_files_that_are_all_stored_each_resembles_one_that_stays() {
    let sandbox = Sandbox::new();
    let words = text(1, 300);
    let words: Vec<&str> = words.split(' ').collect();
    let (first, last) = (text(2, 25), text(3, 40));
    sandbox.write("in/a.txt", format!("{first} {}", words[25..].join(" ")));
    sandbox.write("in/b.txt", words.join(" "));
    sandbox.write("in/c.txt", format!("{} {last}", words[..275].join(" ")));
    // A copy may move because of a copy that moves itself.
    sandbox.write("in/copy of b.txt", words.join(" "));
    sandbox.run(&["add", "-q", "in"]).expect(0);
    sandbox
        .run(&["move", "in", "aside", "--against", ".dedupdb"])
        .expect(0);
    let left = tree(&sandbox, "in");
    for number in ["a.txt", "b.txt", "c.txt", "copy of b.txt"] {
        let name = if sandbox.path(format!("in/{number}")).exists() {
            format!("in/{number}")
        } else {
            format!("aside/{number}")
        };
        sandbox.run(&["--store", "left", "init"]);
        sandbox
            .run(&["--store", "left", "add", "-q", "in"])
            .expect(0);
        let found = sandbox.run(&["--store", "left", "query", &name]);
        assert!(
            name.starts_with("in/") || !found.stdout.is_empty(),
            "{number}: {left:?}"
        );
    }
    assert!(left.len() < 4, "{left:?}");
}

#[test]
fn of_a_chain_that_is_stored_the_same_files_move() {
    let sandbox = Sandbox::new();
    let (old, new) = (text(1, 300), text(2, 300));
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split(' ').collect(), new.split(' ').collect());
    // Each version resembles the next one only, and says more.
    for (version, name) in (0..).zip(["e", "d", "c", "a", "b", "f"]) {
        let start = 25 * version;
        let end = new[..26 * version].join(" ");
        sandbox.write(
            format!("in/{name}.txt"),
            old[start..].join(" ") + " " + &end,
        );
    }
    let moved = |arguments: &[&str]| {
        let moving = ["move", "in", "aside", "--dry-run", "--threshold", "0.8"];
        let ran = sandbox.run(&[&moving, arguments].concat()).expect(0);
        let moved = ran.lines().into_iter();
        let moved = moved.filter_map(|line| line.split('\t').next());
        moved.map(str::to_owned).collect::<Vec<String>>()
    };
    let expected = moved(&[]);
    assert_eq!(expected, ["in/b.txt", "in/c.txt", "in/e.txt"]);
    sandbox.run(&["add", "-q", "in"]).expect(0);
    assert_eq!(moved(&["--against", ".dedupdb"]), expected);
}

#[test]
fn what_was_put_aside_is_no_copy_that_stays() {
    let sandbox = Sandbox::new();
    let words = text(1, 60);
    for name in ["home/documents/x/a.txt", "home/documents/y/a.txt"] {
        sandbox.write(name, &words);
    }
    sandbox
        .run(&["move", "home/documents", "home/aside"])
        .expect(0);
    assert!(sandbox.path("home/aside/y/a.txt").exists());
    let ran = sandbox
        .run(&["move", "home", "elsewhere", "--dry-run"])
        .expect(0);
    assert_eq!(ran.stdout, "");
    let ran = sandbox.run(&["dedup", "home", "-o", "out"]).expect(0);
    assert!(ran.stderr.contains("put aside"), "{}", ran.stderr);
    assert!(sandbox.path("out/documents/x/a.txt").exists());
    assert!(!sandbox.path("out/aside").exists());
    // A folder that is named is read, except for the list.
    sandbox.run(&["add", "-q", "home/aside"]).expect(0);
    assert_eq!(
        sandbox.run(&["list"]).expect(0).stdout,
        "home/aside/y/a.txt\n"
    );
    // Nor does it stand for the file that stayed.
    let again = [
        "move",
        "home/documents",
        "elsewhere",
        "--against",
        ".dedupdb",
    ];
    let ran = sandbox.run(&again).expect(0);
    assert!(
        ran.stderr.contains("home/aside/y/a.txt was put aside"),
        "{}",
        ran.stderr
    );
    assert!(sandbox.path("home/documents/x/a.txt").exists());
}

#[test]
fn a_persons_own_files_beside_those_that_were_put_aside_are_read() {
    let sandbox = Sandbox::new();
    let words = text(1, 60);
    sandbox.write("home/in/a.txt", &words);
    sandbox.write("home/in/b.txt", &words);
    sandbox.run(&["move", "home/in", "home/aside"]).expect(0);
    sandbox.write("home/aside/mine.txt", text(2, 60));
    sandbox.add(&["home"], 0);
    let listed = sandbox.run(&["list"]).expect(0);
    assert_eq!(listed.lines(), ["home/aside/mine.txt", "home/in/a.txt"]);
    // Nobody knows what a damaged list has named.
    let list = sandbox.path("home/aside/.dedupdb-moved");
    let bytes = fs::read(&list).unwrap();
    fs::write(&list, &bytes[..bytes.len() / 2]).unwrap();
    let dedup = ["dedup", "home", "-o", "out"];
    sandbox.run(&dedup).expect(0);
    assert!(!sandbox.path("out/aside").exists());
}

#[test]
fn a_table_without_texts_among_others_is_told_and_a_named_one_ends_the_run() {
    let sandbox = Sandbox::new();
    sandbox.write("archive/budget.csv", "name,amount\nMiller,12\n");
    sandbox.write("archive/letter.txt", text(1, 60));
    sandbox.write("inbox/letter.txt", text(1, 60));
    let named = ["move", "inbox", "aside", "--against", "archive/budget.csv"];
    let ran = sandbox.run(&named).expect(2);
    assert!(ran.stderr.contains("it has no column"), "{}", ran.stderr);
    assert!(!sandbox.path("aside").exists());
    let folder = ["move", "inbox", "aside", "--against", "archive"];
    let ran = sandbox.run(&folder).expect(2);
    let told = "archive/budget.csv: it has no column \"text\"";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert!(sandbox.path("aside/letter.txt").exists());
    for (table, aside) in [
        ("Name;Betrag\nMeier;12\n", "again"),
        ("\"Name\";\"Betrag\"\n\"Meier\";\"12\"\n", "third"),
    ] {
        sandbox.write("archive/budget.csv", table);
        sandbox.write("inbox/letter.txt", text(1, 60));
        let folder = ["move", "inbox", aside, "--against", "archive"];
        let ran = sandbox.run(&folder).expect(2);
        let told = "separated by `;`, and only commas and tabs are read";
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
        assert!(sandbox.path(aside).join("letter.txt").exists());
    }
}

#[test]
fn a_copy_of_what_is_hidden_or_was_thrown_away_stays_for_that_reason() {
    for copy in ["elsewhere/Trash/a.txt", "elsewhere/.old/a.txt"] {
        let sandbox = Sandbox::new();
        sandbox.write("in/a.txt", text(1, 40));
        sandbox.write(copy, text(1, 40));
        let arguments = ["move", "in", "aside", "--dry-run", "--against", "elsewhere"];
        for more in [&[][..], &["--threshold", "0.8"]] {
            let ran = sandbox.run(&[&arguments[..], more].concat()).expect(0);
            let why = format!("in/a.txt: {copy} is hidden or was thrown away; it stays there");
            assert!(ran.stderr.contains(&why), "{}", ran.stderr);
            assert!(!ran.stderr.contains("other lines"), "{}", ran.stderr);
        }
    }
}
