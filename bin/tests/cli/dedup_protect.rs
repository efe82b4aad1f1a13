//! `dedup`: documents that must not be dropped, and lists of those that should be.

use std::collections::BTreeSet;

use crate::dedup::{lines, record, shingles};
use crate::sandbox::{Sandbox, text};

/// The words of a text without the first ones, and with others after them. Each version resembles the next one;
/// versions some steps apart do not resemble each other.
fn version(seed: u64, version: usize) -> String {
    let words = text(seed, 60);
    let words: Vec<&str> = words.split(' ').skip(4 * version).collect();
    let new = (0..4 * version).map(|word| format!(" new{seed}x{word}"));
    words.join(" ") + &new.collect::<String>()
}

/// The paths of all files below a folder.
fn files(sandbox: &Sandbox, folder: &str) -> Vec<String> {
    let root = sandbox.path(folder);
    let entries = walkdir::WalkDir::new(&root).sort_by_file_name();
    let files = entries
        .into_iter()
        .map(Result::unwrap)
        .filter(|entry| entry.file_type().is_file());
    let path = |entry: walkdir::DirEntry| entry.path().strip_prefix(&root).unwrap().to_owned();
    files
        .map(|entry| path(entry).display().to_string())
        .filter(|path| !path.starts_with(".dedupdb"))
        .collect()
}

/// A folder in which `a.txt` resembles the second original and not the first, and the originals resemble each other.
fn originals(sandbox: &Sandbox) {
    sandbox.write("in/a.txt", version(1, 2));
    sandbox.write("in/originals/b.txt", version(1, 0));
    sandbox.write("in/originals/c.txt", version(1, 1));
    sandbox.write("in/z.txt", text(2, 60));
    sandbox.write("in/zz.txt", text(2, 60));
}

#[test]
fn what_is_protected_stays_and_others_go_for_its_sake() {
    let alike = |a: usize, b: usize| {
        let [a, b] = [version(1, a), version(1, b)].map(|text| shingles(&text));
        a.jaccard(&b) >= 0.8
    };
    assert!(alike(0, 1) && alike(1, 2) && !alike(0, 2));
    for (more, kept) in [
        (
            &["--protect", "originals/"][..],
            &["originals/b.txt", "originals/c.txt", "z.txt"][..],
        ),
        (
            &["--protect", "/originals/**", "--protect", "zz.*"],
            &["originals/b.txt", "originals/c.txt", "zz.txt"],
        ),
        (
            &["--protect", "b.txt", "--keep", "none"],
            &["originals/b.txt"],
        ),
        (
            &["--protect", "*.txt", "--keep", "longest"],
            &[
                "a.txt",
                "originals/b.txt",
                "originals/c.txt",
                "z.txt",
                "zz.txt",
            ],
        ),
        (&[], &["a.txt", "originals/b.txt", "z.txt"]),
    ] {
        let sandbox = Sandbox::new();
        originals(&sandbox);
        sandbox
            .run(&[&["dedup", "in", "-o", "out"], more].concat())
            .expect(0);
        assert_eq!(files(&sandbox, "out"), kept, "{more:?}");
    }
}

#[test]
fn what_is_protected_is_written_whatever_it_is_compared_with() {
    let sandbox = Sandbox::new();
    originals(&sandbox);
    sandbox.write("old/b.txt", version(1, 1));
    let ran = sandbox.run(&["dedup", "in", "-o", "out", "--against", "old"]);
    ran.expect(0);
    assert_eq!(files(&sandbox, "out"), ["z.txt", "zz.txt"]);
    let guarded = ["--against", "old", "--protect", "b.txt"];
    let ran = sandbox.run(&[&["dedup", "in", "-o", "more"], &guarded[..]].concat());
    ran.expect(0);
    assert_eq!(
        files(&sandbox, "more"),
        ["originals/b.txt", "z.txt", "zz.txt"]
    );
}

#[test]
fn a_pattern_that_protects_nothing_is_refused() {
    let sandbox = Sandbox::new();
    originals(&sandbox);
    for more in [
        &["dedup", "in", "-o", "out"][..],
        &["move", "in", "out"],
        &["dedup", "in", "-o", "out", "--against", "old"],
    ] {
        sandbox.write("old/b.txt", version(1, 1));
        let guards = ["--protect", "a.txt", "--protect", "orginals/"];
        let ran = sandbox.run(&[more, &guards].concat());
        let ran = ran.expect(2);
        assert!(
            ran.stderr
                .contains("orginals/: no file has a name that this pattern protects"),
            "{more:?}: {}",
            ran.stderr
        );
        assert_eq!(files(&sandbox, "in").len(), 5);
        assert!(!sandbox.path("out").exists(), "{more:?}");
    }
}

#[test]
fn only_what_is_listed_is_dropped_and_one_of_them_stays() {
    let sandbox = Sandbox::new();
    originals(&sandbox);
    sandbox.write("in/other.txt", text(3, 60));
    // Two resemble only each other, one resembles nothing, and one is named by another path.
    let away = sandbox.path("in/originals/c.txt").display().to_string();
    let list = [
        "in/z.txt",
        "in/zz.txt",
        "in/other.txt",
        "in/gone.txt",
        &away,
    ];
    sandbox.write("drop.keys", list.join("\0") + "\0");
    sandbox.write("drop.txt", list.join("\n"));
    for list in ["drop.keys", "drop.txt"] {
        let moving = ["move", "in", "aside", "--keys-from", list];
        let ran = sandbox.run(&moving).expect(2);
        let told: BTreeSet<&str> = ran
            .stderr
            .lines()
            .filter(|line| line.contains("in/"))
            .collect();
        let named = |line: &str| told.iter().any(|told| told.ends_with(line));
        assert!(
            named("in/gone.txt: no document that was read has this key")
                && named("in/other.txt: it resembles no document that is kept, so it is kept too")
                && named("in/z.txt: it resembles no document that is kept, so it is kept too"),
            "{told:?}"
        );
        assert_eq!(files(&sandbox, "aside"), ["originals/c.txt", "zz.txt"]);
        assert_eq!(
            files(&sandbox, "in"),
            ["a.txt", "originals/b.txt", "other.txt", "z.txt"]
        );
        sandbox
            .run(&["move", "--undo", "aside/.dedupdb-moved"])
            .expect(0);
    }
    let guarded = [
        "--keys-from",
        "drop.keys",
        "--protect",
        "originals/",
        "--json",
    ];
    let ran = sandbox.run(&[&["dedup", "in", "-o", "out"], &guarded[..]].concat());
    let ran = ran.expect(2);
    let summary: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (&summary["spared"], &summary["dropped"]),
        (&4.into(), &1.into())
    );
    assert!(
        ran.stderr.contains("it is protected, so it is kept"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_listed_message_that_stays_for_its_attachments_is_named() {
    let sandbox = Sandbox::new();
    let message = |attached: &str| {
        let head = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\n";
        let part = "--b\nContent-Disposition: attachment\n\n";
        format!("{head}{}\n{part}{attached}\n--b--\n", text(1, 60))
    };
    for (name, attached) in [("a", "May"), ("b", "June"), ("c", "May"), ("d", "June")] {
        sandbox.write(format!("in/{name}.eml"), message(attached));
    }
    sandbox.write("drop.txt", "in/b.eml\nin/c.eml\nin/d.eml\n");
    let moving = ["move", "in", "aside", "--keys-from", "drop.txt"];
    let ran = sandbox.run(&moving).expect(0);
    let told = "in/b.eml: no kept message has its attachments, so it is kept";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert!(!ran.stderr.contains("in/d.eml"), "{}", ran.stderr);
    assert_eq!(files(&sandbox, "in"), ["a.eml", "b.eml"]);
}

#[test]
fn of_many_listed_records_each_that_goes_is_like_one_that_stays() {
    let sandbox = Sandbox::new();
    let lines = lines(400);
    sandbox.write("in.jsonl", lines.join("\n") + "\n");
    let records: Vec<(String, String)> = lines.iter().map(|line| record(line)).collect();
    let listed = records.iter().step_by(3).map(|(key, _)| &**key);
    let listed: Vec<&str> = listed.collect();
    let mut outputs = Vec::new();
    for threads in ["1", "2"] {
        let ran = sandbox.run_with(
            &[
                "--threads",
                threads,
                "dedup",
                "in.jsonl",
                "-o",
                "-",
                "--keys-from",
                "-",
            ],
            listed.join("\n").as_bytes(),
        );
        outputs.push(ran.expect(0).stdout.clone());
    }
    assert_eq!(outputs[0], outputs[1]);
    let kept: BTreeSet<String> = outputs[0].lines().map(|line| record(line).0).collect();
    assert!(kept.len() < 350, "{}", kept.len());
    let all = records.iter().map(|(key, text)| (key, shingles(text)));
    let all: Vec<_> = all.collect();
    for (key, shingles) in all.iter().filter(|(key, _)| !kept.contains(*key)) {
        assert!(listed.contains(&key.as_str()), "{key}");
        let mut staying = all.iter().filter(|(key, _)| kept.contains(*key));
        assert!(
            staying.any(|(_, other)| shingles.jaccard(other) >= 0.8),
            "{key}"
        );
    }
}

#[test]
fn lists_that_are_none_and_contradictions_are_refused() {
    let sandbox = Sandbox::new();
    originals(&sandbox);
    sandbox.write("bytes", [0xff_u8, 0xfe]);
    for (more, said) in [
        (&["--keys-from", "none"][..], "none: there is no such file"),
        (&["--keys-from", "bytes"], "bytes: it is not UTF-8"),
        (&["--keys-from", "in"], "in: it cannot be read"),
        (&["--keys-from", "bytes", "--keep", "longest"], "--keep"),
        (&["--protect", "a["], "a["),
    ] {
        let ran = sandbox.run(&[&["dedup", "in", "-o", "out"], more].concat());
        let ran = ran.expect(2);
        assert!(ran.stderr.contains(said), "{more:?}: {}", ran.stderr);
        assert!(!sandbox.path("out").exists(), "{more:?}");
    }
}

/// The text of a file.
fn read(sandbox: &Sandbox, name: &str) -> String {
    std::fs::read_to_string(sandbox.path(name)).unwrap()
}

#[cfg(unix)]
#[test]
fn all_names_of_a_protected_file_protect_it() {
    for (name, is_link) in [("in/keep/z.txt", false), ("in/keep/z.txt", true)] {
        let sandbox = Sandbox::new();
        sandbox.write("in/a.txt", text(1, 60));
        sandbox.write("in/b.txt", text(1, 60));
        sandbox.write("in/keep/other.txt", text(2, 60));
        sandbox.write("old/a.txt", text(1, 60));
        if is_link {
            std::os::unix::fs::symlink("../b.txt", sandbox.path(name)).unwrap();
        } else {
            std::fs::hard_link(sandbox.path("in/b.txt"), sandbox.path(name)).unwrap();
        }
        let guards = ["--protect", "keep/"];
        let moving = |aside| [&["move", "in", aside], &guards[..]].concat();
        let ran = sandbox.run(&moving("aside")).expect(0);
        assert_eq!(files(&sandbox, "aside"), ["a.txt"], "{}", ran.stderr);
        sandbox
            .run(&[&moving("more")[..], &["--against", "old"]].concat())
            .expect(0);
        assert!(!sandbox.path("more").exists());
        sandbox
            .run(&[&["dedup", "in", "-o", "out"], &guards[..]].concat())
            .expect(0);
        assert_eq!(read(&sandbox, "out/b.txt"), text(1, 60));
    }
}

#[cfg(unix)]
#[test]
fn names_that_are_not_read_protect_as_well() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    let sandbox = Sandbox::new();
    for name in ["a", "b", "c", "d/d", "e"] {
        sandbox.write(format!("in/{name}.txt"), text(1, 60));
    }
    sandbox.write("in/keep/k.md", text(2, 60));
    std::fs::hard_link(sandbox.path("in/b.txt"), sandbox.path("in/keep/b.md")).unwrap();
    let odd = std::path::Path::new("in/keep").join(OsStr::from_bytes(b"c\xff"));
    symlink("../c.txt", sandbox.path(odd)).unwrap();
    symlink("../d", sandbox.path("in/keep/d")).unwrap();
    let moving = ["move", "in", "aside", "--include", "*.txt"];
    let guarded = [&moving[..], &["--protect", "keep/"]].concat();
    let ran = sandbox.run(&guarded).expect(0);
    assert_eq!(
        files(&sandbox, "aside"),
        ["a.txt", "e.txt"],
        "{}",
        ran.stderr
    );
    sandbox.run(&["move", "--undo", "aside"]).expect(0);
    // If nothing is protected, the target of a link stays, whatever is listed about the link.
    sandbox.run(&moving).expect(0);
    assert!(sandbox.path("in/c.txt").exists());
    // A broken link protects nothing.
    symlink("nowhere", sandbox.path("in/broken")).unwrap();
    let ran = sandbox.run(&["dedup", "in", "-o", "out", "--protect", "broken"]);
    assert!(ran.expect(2).stderr.contains("broken: no file has a name"));
}

#[cfg(unix)]
#[test]
fn a_list_names_files_by_any_name_and_links_to_none() {
    let sandbox = Sandbox::new();
    for name in ["in/a.txt", "in/b.txt", "in/c.txt"] {
        sandbox.write(name, text(1, 60));
    }
    sandbox.write("in/table.bin", b"\0\0");
    std::fs::hard_link(sandbox.path("in/b.txt"), sandbox.path("in/zb.txt")).unwrap();
    std::os::unix::fs::symlink("c.txt", sandbox.path("in/zc.txt")).unwrap();
    let list = "in/zb.txt\n\nin/zb.txt\nin/b.txt\nin/zc.txt\nin/table.bin\n\n";
    let listed = ["dedup", "in", "-o", "out", "--keys-from", "-", "--json"];
    let ran = sandbox.run_with(&listed, list.as_bytes()).expect(2);
    for said in [
        "in/zc.txt: its file was left out, so it is kept\n",
        "in/table.bin: its file was left out, so it is kept\n",
    ] {
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
    assert_eq!(ran.objects()[0]["spared"], 2);
    assert_eq!(files(&sandbox, "out"), ["a.txt", "c.txt"]);
    // A list that ends with an empty line, and one with a byte order mark.
    for list in ["in/b.txt\n\n", "\u{feff}in/b.txt"] {
        let listed = ["dedup", "in", "-o", "-", "--list", "--keys-from", "-"];
        let ran = sandbox.run_with(&listed, list.as_bytes()).expect(0);
        assert_eq!(ran.lines(), ["in/a.txt", "in/c.txt"], "{list:?}");
    }
    let over = [
        "dedup",
        "in",
        "--list",
        "--force",
        "--keys-from",
        "k",
        "-o",
        "k",
    ];
    sandbox.write("k", "in/b.txt\n");
    let ran = sandbox.run(&over).expect(2);
    assert!(ran.stderr.contains("k: this is an input"), "{}", ran.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_not_utf_8_is_not_taken_for_another() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let names = [&b"m\xff.txt"[..], "m\u{fffd}.txt".as_bytes()].map(OsStr::from_bytes);
    for more in [
        &["--protect", "a.txt"][..],
        &["--keep", "longest"],
        &["--keep", "newest"],
        &["--keys-from", "list"],
    ] {
        let sandbox = Sandbox::new();
        sandbox.write("in/a.txt", text(1, 60));
        sandbox.write(std::path::Path::new("in").join(names[0]), text(1, 60));
        sandbox.write(std::path::Path::new("in").join(names[1]), text(2, 60));
        sandbox.write("in/a n.txt", text(1, 60));
        sandbox.write("list", "in/m\u{fffd}FF.txt\nin/a n.txt\n");
        let moving = [&["move", "in", "aside"], more].concat();
        let ran = sandbox.run(&moving).expect(0);
        assert!(
            ran.stderr.contains("its name is not UTF-8"),
            "{more:?}: {}",
            ran.stderr
        );
        assert_eq!(read(&sandbox, "in/m\u{fffd}.txt"), text(2, 60));
        assert!(!files(&sandbox, "aside").contains(&"m\u{fffd}.txt".to_owned()));
        let listing = ["dedup", "in", "-o", "out", "--removed", "gone.jsonl"];
        sandbox
            .run(&[&listing, more].concat())
            .expect(2 * i32::from(more[0] == "--keys-from"));
        let gone = read(&sandbox, "gone.jsonl");
        assert!(
            gone.contains("\"file\":\"in/m\u{fffd}FF.txt\""),
            "{more:?}: {gone}"
        );
    }
}
