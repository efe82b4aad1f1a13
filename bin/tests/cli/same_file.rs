//! A file is itself under every name, and one that is gone or has changed is marked.
#![cfg(unix)]

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::sandbox::{Ran, Sandbox, text};

/// A stored file, and three other names of it.
fn named() -> (Sandbox, Vec<String>) {
    let sandbox = Sandbox::new();
    sandbox.write("Notes/a.txt", text(1, 40));
    sandbox.add(&["Notes"], 0);
    fs::hard_link(sandbox.path("Notes/a.txt"), sandbox.path("hard.txt")).unwrap();
    symlink("Notes/a.txt", sandbox.path("soft.txt")).unwrap();
    symlink("Notes", sandbox.path("folder")).unwrap();
    let absolute = sandbox.path("Notes/a.txt").to_str().unwrap().to_owned();
    let names = ["hard.txt", "soft.txt", "folder/a.txt", &absolute];
    let names = names.map(str::to_owned).to_vec();
    (sandbox, names)
}

#[test]
fn a_file_is_no_copy_of_itself() {
    let (sandbox, names) = named();
    for name in &names {
        let ran = sandbox.run(&["query", name]).expect(1);
        assert_eq!(ran.stdout, "", "{name}");
        let ran = sandbox.run(&["query", "--limit", "1", name]);
        assert_eq!(ran.expect(1).stdout, "", "{name}");
        let ran = sandbox.run(&["explain", "Notes/a.txt", name]).expect(0);
        assert_eq!(ran.stderr, "dedupdb: A and B are the same file\n");
    }
    // A copy is found, also if only one is wanted.
    sandbox.write("Notes/b.txt", text(1, 40));
    sandbox.add(&["Notes"], 0);
    for name in &names {
        let ran = sandbox.run(&["query", "--limit", "1", name]).expect(0);
        assert!(
            ran.stdout.contains("\tNotes/b.txt\t1.0000"),
            "{name}: {}",
            ran.stdout
        );
    }
}

#[test]
fn a_file_is_stored_once() {
    let (sandbox, names) = named();
    for name in &names {
        let summary = sandbox.add(&[name], 0);
        let counts = ["added", "unchanged", "other_names", "exact_copies"];
        let counts = counts.map(|count| summary[count].as_u64().unwrap());
        assert_eq!(counts, [0, 1, 1, 0], "{name}");
        assert_eq!(sandbox.keys(), ["Notes/a.txt"], "{name}");
    }
    let folder = sandbox.path("Notes");
    let ran = sandbox.run(&["add", folder.to_str().unwrap()]).expect(0);
    let said = "1 file is stored under other names already, and not a second time (first: ";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    // What has changed a little is stored under the name that it has.
    fs::write(sandbox.path("Notes/a.txt"), text(1, 40) + " more").unwrap();
    let before = sandbox.contents();
    assert_eq!(sandbox.add(&[folder.to_str().unwrap()], 0)["updated"], 1);
    assert_eq!(sandbox.keys(), ["Notes/a.txt"]);
    assert_ne!(sandbox.contents(), before);
    sandbox.run(&["check"]).expect(0);
    // And in the other direction.
    let store = ["--store", "s"];
    sandbox.add(&[&[folder.to_str().unwrap()], &store[..]].concat(), 0);
    fs::write(sandbox.path("Notes/a.txt"), text(2, 40)).unwrap();
    let summary = sandbox.add(&[&["Notes"], &store[..]].concat(), 0);
    assert_eq!(
        (&summary["updated"], &summary["other_names"]),
        (&json!(1), &json!(1))
    );
    let listed = sandbox.run(&[&["list"], &store[..]].concat());
    assert_eq!(listed.lines().len(), 1, "{}", listed.stdout);
}

#[test]
fn a_file_that_was_written_anew_is_stored_once() {
    let sandbox = Sandbox::new();
    sandbox.write("top/docs/a.txt", text(1, 40));
    let store = sandbox.path("s").to_str().unwrap().to_owned();
    let add = |folder: &str, path: &str| {
        let mut command = sandbox.command(&["--json", "--store", &store, "add", path]);
        let ran = command.current_dir(sandbox.path(folder)).output().unwrap();
        Ran::of(ran).expect(0).objects()[0].clone()
    };
    add("top", "docs");
    let docs = sandbox.path("top/docs").to_str().unwrap().to_owned();
    let ways = [
        ("top", &*docs),
        ("top/docs", "."),
        (".", "top"),
        ("top", "docs"),
    ];
    for (seed, (folder, path)) in (2..).zip(ways) {
        sandbox.write("top/docs/a.txt", text(seed, 40));
        assert_eq!(add(folder, path)["updated"], 1, "{folder} {path}");
        let listed = sandbox.run(&["--store", &store, "list"]);
        assert_eq!(listed.stdout, "docs/a.txt\n", "{folder} {path}");
    }
    // Another file of the same name is another one.
    sandbox.write("other/docs/a.txt", text(9, 40));
    assert_eq!(add(".", "other")["added"], 1);
    // From a folder beside it, too.
    sandbox.write("far/b.txt", text(10, 40));
    assert_eq!(add("top/docs", "../../far")["added"], 1);
    let far = sandbox.path("far").to_str().unwrap().to_owned();
    let ways = [
        ("far", "."),
        (".", "far"),
        ("other", "../far"),
        ("top/docs", &far),
    ];
    for (seed, (folder, path)) in (11..).zip(ways) {
        sandbox.write("far/b.txt", text(seed, 40));
        assert_eq!(add(folder, path)["updated"], 1, "{folder} {path}");
    }
    let listed = sandbox.run(&["--store", &store, "list"]);
    let keys = "../../far/b.txt\ndocs/a.txt\nother/docs/a.txt\n";
    assert_eq!(listed.stdout, keys);
}

#[test]
fn a_file_is_known_by_any_path_before_it_is_judged() {
    let sandbox = Sandbox::new();
    let store = sandbox.path("s").to_str().unwrap().to_owned();
    let add = |folder: &str, arguments: &[&str]| {
        let mut command =
            sandbox.command(&[&["--json", "--store", &store, "add"], arguments].concat());
        let ran = command.current_dir(sandbox.path(folder)).output().unwrap();
        Ran::of(ran).expect(0).objects()[0].clone()
    };
    let list = || sandbox.run(&["--store", &store, "list"]).stdout;
    // An edited file is not kept out because of its own earlier text.
    sandbox.write("p/a.txt", text(1, 40));
    add(".", &["p"]);
    sandbox.write("p/a.txt", text(1, 40) + " more");
    let summary = add("p", &["--unique", "."]);
    assert_eq!(
        (&summary["updated"], &summary["kept_out"]),
        (&json!(1), &json!(0))
    );
    // The key that it would have is that of a file that is gone.
    for (seed, folder) in (2..).zip(["p1", "p2"]) {
        sandbox.write(format!("{folder}/read.me"), text(seed, 40));
    }
    add(".", &["p2"]);
    add("p1", &["."]);
    assert_eq!(list(), "p/a.txt\np2/read.me\nread.me\n");
    sandbox.write("p2/read.me", text(7, 40));
    let other = add("p2", &["."]);
    assert_eq!(
        (&other["updated"], &other["other_names"]),
        (&json!(1), &json!(1))
    );
    fs::remove_dir_all(sandbox.path("p1")).unwrap();
    sandbox.write("p2/read.me", text(8, 40));
    assert_eq!(add("p2", &["."])["other_names"], 1);
    assert_eq!(list(), "p/a.txt\np2/read.me\nread.me\n");
    // Its key still counts from the folder from which it was added first.
    let ran = sandbox.run(&["--store", &store, "remove", "--missing", "--force"]);
    ran.expect(0);
    assert_eq!(list(), "p/a.txt\np2/read.me\n");
}

#[test]
fn the_records_of_a_file_are_known_by_any_path() {
    for has_ids in [false, true] {
        // A key that leads through a link does not tell its file.
        for first in [0, 1, 2, 4, 5] {
            let sandbox = Sandbox::new();
            let store = sandbox.path("s").to_str().unwrap().to_owned();
            for seed in 1..3 {
                let mut record = json!({ "text": text(seed, 40) });
                if has_ids {
                    record["id"] = json!(seed);
                }
                sandbox.write(format!("p/{seed}.jsonl"), format!("{record}\n"));
            }
            sandbox.write("p/other/a.txt", text(99, 40));
            symlink("p", sandbox.path("link")).unwrap();
            let absolute = sandbox.path("p").to_str().unwrap().to_owned();
            let ways = [
                (".", "p"),
                ("p", "."),
                ("p/other", ".."),
                (".", "link"),
                ("p", &*absolute),
                ("p/other", "../../p"),
            ];
            let mut keys = String::new();
            for (folder, path) in [ways[first]].into_iter().chain(ways) {
                let add = ["--store", &store, "add", path, "--id-scope"];
                let scope = if has_ids { "file" } else { "all" };
                let mut command = sandbox.command(&[&add[..], &[scope]].concat());
                let ran = command.current_dir(sandbox.path(folder)).output().unwrap();
                Ran::of(ran).expect(0);
                let listed = sandbox.run(&["--store", &store, "list"]).stdout;
                let records = listed.lines().filter(|key| key.contains('#'));
                assert_eq!(
                    records.count(),
                    2,
                    "{path} after {:?}: {listed}",
                    ways[first]
                );
                assert!(keys.is_empty() || listed == keys, "{path}: {listed}");
                keys = listed;
            }
        }
    }
}

#[test]
fn a_file_of_records_is_one_without_any_other_file() {
    let record = |text: String| format!("{}\n", json!({ "text": text }));
    let world = || {
        let sandbox = Sandbox::new();
        sandbox.write("w/data/c.jsonl", record(text(1, 40)));
        fs::create_dir_all(sandbox.path("w/side/deep")).unwrap();
        symlink("data", sandbox.path("w/link")).unwrap();
        fs::create_dir(sandbox.path("w/hard")).unwrap();
        fs::hard_link(
            sandbox.path("w/data/c.jsonl"),
            sandbox.path("w/hard/h.jsonl"),
        )
        .unwrap();
        sandbox
    };
    let add = |sandbox: &Sandbox, folder: &str, path: &str| {
        let store = sandbox.path("s").to_str().unwrap().to_owned();
        let mut command = sandbox.command(&["--json", "--store", &store, "add", path]);
        let ran = command.current_dir(sandbox.path(folder)).output().unwrap();
        Ran::of(ran).expect(0).objects()[0].clone()
    };
    let ways = [
        ("w", "data/c.jsonl"),
        ("w/data", "."),
        ("w/side/deep", "../../data"),
        ("w/side", "../data/c.jsonl"),
        (".", "w/link/c.jsonl"),
        ("w", "hard"),
    ];
    for first in ways {
        for second in ways {
            let sandbox = world();
            add(&sandbox, first.0, first.1);
            let summary = add(&sandbox, second.0, second.1);
            let counts = ["added", "unchanged"].map(|count| summary[count].as_u64().unwrap());
            assert_eq!(counts, [0, 1], "{first:?} {second:?}: {summary}");
            let is_other = first != second;
            assert_eq!(
                summary["other_names"],
                u64::from(is_other),
                "{first:?} {second:?}"
            );
            let store = sandbox.path("s").to_str().unwrap().to_owned();
            let file = sandbox.path("w").join(second.1);
            if file.is_file() {
                let asked = ["--store", &store, "query", file.to_str().unwrap()];
                assert_eq!(sandbox.run(&asked).expect(1).stdout, "", "{first:?}");
            }
        }
    }
}

#[test]
fn records_move_with_the_folder_of_their_file() {
    for scope in [&[][..], &["--id-scope", "file"]] {
        let sandbox = Sandbox::new();
        let record = |seed| format!("{}\n", json!({ "text": text(seed, 40) }));
        let store = sandbox.path("s").to_str().unwrap().to_owned();
        let add = |folder: &str, path: &str, code| {
            let add = ["--json", "--store", &store, "add", path];
            let mut command = sandbox.command(&[&add[..], scope].concat());
            let ran = command.current_dir(sandbox.path(folder)).output().unwrap();
            Ran::of(ran).expect(code)
        };
        // From a folder beside it, too.
        for (seed, project) in [(8, "p1"), (9, "p2")] {
            sandbox.write(format!("{project}/data/c.jsonl"), record(seed));
            fs::create_dir(sandbox.path(format!("{project}/bin"))).unwrap();
        }
        add("p1/bin", "../data/c.jsonl", 0);
        add("p2/bin", "../data/c.jsonl", 2);
        fs::rename(sandbox.path("p1"), sandbox.path("p3")).unwrap();
        sandbox.write("p3/data/c.jsonl", record(10));
        let ran = add("p3/bin", "../data", 0);
        assert_eq!(ran.objects()[0]["updated"], 1, "{}", ran.stderr);
        sandbox.write("p3/data/c.jsonl", record(11));
        let ran = add("p3", "data", 0);
        assert_eq!(ran.objects()[0]["updated"], 1, "{}", ran.stderr);
        let listed = sandbox.run(&["--store", &store, "list"]).stdout;
        assert_eq!(listed, "../data/c.jsonl#1\n");
        fs::remove_dir_all(&store).unwrap();
        let list = || sandbox.run(&["--store", &store, "list"]).stdout;
        sandbox.write("old/r.jsonl", record(1) + &record(2));
        add("old", "r.jsonl", 0);
        fs::rename(sandbox.path("old"), sandbox.path("moved")).unwrap();
        let ran = add("moved", "r.jsonl", 0);
        assert_eq!(ran.objects()[0]["unchanged"], 2);
        assert_eq!(ran.stderr, "");
        // The store knows where the file is.
        add(".", "moved", 0);
        assert_eq!(list(), "r.jsonl#1\nr.jsonl#2\n");
        sandbox.write("old/r.jsonl", record(3));
        add("old", "r.jsonl", 2);
        sandbox.write("moved/r.jsonl", record(4) + &record(2));
        let ran = add(".", "moved", 0);
        assert_eq!(ran.objects()[0]["updated"], 1, "{}", ran.stderr);
        assert_eq!(list(), "r.jsonl#1\nr.jsonl#2\n");
    }
}

#[test]
fn records_stay_those_of_their_file_when_its_folder_becomes_a_link() {
    let sandbox = Sandbox::new();
    let records = |first| {
        let with_id = json!({ "id": 1, "text": text(first, 40) });
        format!("{with_id}\n{}\n", json!({ "text": text(first + 1, 40) }))
    };
    sandbox.write("p/x.jsonl", records(1));
    sandbox.add(&["p"], 0);
    let place = |name: &str| sandbox.path(name);
    fs::create_dir(place("disk")).unwrap();
    fs::rename(place("p"), place("disk/p")).unwrap();
    symlink(place("disk/p"), place("p")).unwrap();
    let ran = sandbox.run(&["--json", "add", "p"]).expect(0);
    assert_eq!(ran.objects()[0]["unchanged"], 2);
    assert_eq!(ran.stderr, "");
    sandbox.write("disk/p/x.jsonl", records(3));
    assert_eq!(sandbox.add(&["p"], 0)["updated"], 2);
    // Back at its place, it is the same file.
    fs::remove_file(place("p")).unwrap();
    fs::rename(place("disk/p"), place("p")).unwrap();
    sandbox.write("p/x.jsonl", records(5));
    assert_eq!(sandbox.add(&["p"], 0)["updated"], 2);
    assert_eq!(sandbox.keys(), ["1", "p/x.jsonl#2"]);
}

#[test]
fn a_file_is_found_from_a_folder_that_was_made_again() {
    let sandbox = Sandbox::new();
    for (seed, name) in (1..).zip(["a/1.txt", "k/1.txt", "k/2.txt"]) {
        sandbox.write(name, text(seed, 40));
    }
    let store = sandbox.path("s").to_str().unwrap().to_owned();
    let program = env!("CARGO_BIN_EXE_dedupdb");
    let script = "cd a && \"$0\" --store \"$1\" add -q . ../k && cp -a . ../b && rm -r ../a && mv ../b ../a \
        && \"$0\" --store \"$1\" remove --missing; true";
    let ran = std::process::Command::new("sh")
        .args(["-c", script, program, &store])
        .current_dir(sandbox.path(""))
        .output()
        .unwrap();
    Ran::of(ran).expect(0);
    assert_eq!(sandbox.run(&["--store", &store, "list"]).lines().len(), 3);
}

#[test]
fn a_second_key_of_a_file_goes_once_the_first_one_has_its_text() {
    let sandbox = Sandbox::new();
    for (seed, out) in [(1, "o1/"), (2, "o2/")] {
        sandbox.write("a/1.txt", text(seed, 40));
        sandbox
            .run(&["--store", "s", "dedup", "a", "-o", out])
            .expect(0);
    }
    assert_eq!(sandbox.run(&["--store", "s", "list"]).lines().len(), 2);
    let ran = sandbox
        .run(&["--store", "s", "--json", "add", "a"])
        .expect(0);
    assert_eq!(ran.objects()[0]["updated"], 1, "{}", ran.stderr);
    assert_eq!(ran.stderr, "");
    assert_eq!(sandbox.run(&["--store", "s", "list"]).stdout, "a/1.txt\n");
}

#[test]
fn a_detour_is_no_part_of_a_key() {
    let ways = |sandbox: &Sandbox| {
        let docs = sandbox.path("q/docs").to_str().unwrap().to_owned();
        [
            ("q/docs", "..".to_owned()),
            ("q/docs", ".".to_owned()),
            ("q/docs", "../docs".to_owned()),
            ("q/docs", "../../q".to_owned()),
            ("q", "docs/../docs".to_owned()),
            ("q", format!("{docs}/../docs")),
            (".", "q".to_owned()),
        ]
    };
    for first in 0..ways(&Sandbox::new()).len() {
        let sandbox = Sandbox::new();
        let store = sandbox.path("s").to_str().unwrap().to_owned();
        let ways = ways(&sandbox);
        let mut keys = String::new();
        for (place, seed) in [first].into_iter().chain(0..ways.len()).zip(1..) {
            let (folder, path) = &ways[place];
            sandbox.write("q/docs/todo.txt", text(seed, 40));
            let mut command = sandbox.command(&["--json", "--store", &store, "add", path]);
            let ran = command.current_dir(sandbox.path(folder)).output().unwrap();
            let summary = &Ran::of(ran).expect(0).objects()[0];
            let change = if seed == 1 { "added" } else { "updated" };
            assert_eq!(
                summary[change], 1,
                "{folder} {path} after {:?}",
                ways[first]
            );
            let listed = sandbox.run(&["--store", &store, "list"]).stdout;
            assert!(
                !listed.contains("docs/../") && listed.lines().count() == 1,
                "{listed}"
            );
            assert!(keys.is_empty() || keys == listed, "{keys} {listed}");
            keys = listed;
        }
    }
    // What is gone from the current folder is gone from the one above it, too.
    let sandbox = Sandbox::new();
    for (seed, name) in (1..).zip(["todo", "kept"]) {
        sandbox.write(format!("q/docs/{name}.txt"), text(seed, 40));
    }
    let store = sandbox.path("s").to_str().unwrap().to_owned();
    let add = |path: &str| {
        let mut command = sandbox.command(&["--store", &store, "add", path]);
        let ran = command
            .current_dir(sandbox.path("q/docs"))
            .output()
            .unwrap();
        Ran::of(ran).expect(0).stderr
    };
    add("..");
    fs::remove_file(sandbox.path("q/docs/todo.txt")).unwrap();
    for path in ["..", ".", "../../q"] {
        let told = add(path);
        assert!(
            told.contains("no longer exist") && told.contains("todo.txt"),
            "{path}: {told}"
        );
    }
}

#[test]
fn a_key_that_leads_upward_counts_from_its_own_folder() {
    let sandbox = Sandbox::new();
    for folder in ["h/c", "h/tools", "h/x"] {
        fs::create_dir_all(sandbox.path(folder)).unwrap();
    }
    let store = sandbox.path("s").to_str().unwrap().to_owned();
    let run = |folder: &str, arguments: &[&str], code| {
        let mut command = sandbox.command(&[&["--store", &store], arguments].concat());
        let ran = command.current_dir(sandbox.path(folder)).output().unwrap();
        Ran::of(ran).expect(code)
    };
    sandbox.write("h/b/x.txt", text(1, 40));
    run("h/c", &["add", "../b"], 0);
    // From `b`, the key that counts from `c` would lead to the same place.
    for (seed, (folder, path)) in (2..).zip([("h/b", "."), ("h/c", "../b"), ("h", "b")]) {
        sandbox.write("h/b/x.txt", text(seed, 40));
        let summary = run(folder, &["--json", "add", path], 0).objects().remove(0);
        assert_eq!(summary["updated"], 1, "{folder} {path}");
        assert_eq!(
            run("h", &["list"], 0).stdout,
            "../b/x.txt\n",
            "{folder} {path}"
        );
    }
    // The file is still there if that folder is not.
    fs::remove_dir(sandbox.path("h/c")).unwrap();
    for folder in ["h", "h/b", "h/tools", "."] {
        let told = run(folder, &["remove", "--missing", "--force"], 1).stderr;
        assert_eq!(
            run("h", &["list"], 0).stdout,
            "../b/x.txt\n",
            "{folder}: {told}"
        );
    }
    sandbox.write("h/b/x.txt", text(9, 40));
    let summary = run("h", &["--json", "add", "b"], 0).objects().remove(0);
    assert_eq!(summary["updated"], 1);
    assert_eq!(run("h", &["list"], 0).stdout, "../b/x.txt\n");
    // Another file at the same path from another folder does not replace it.
    sandbox.write("i/b/x.txt", text(10, 40));
    fs::create_dir(sandbox.path("i/c")).unwrap();
    let told = run("i/c", &["add", "../b"], 2).stderr;
    assert!(told.contains("../b/x.txt"), "{told}");
    fs::remove_file(sandbox.path("h/b/x.txt")).unwrap();
    run("h/tools", &["remove", "--missing", "--force"], 0);
    assert_eq!(run("h", &["list"], 1).stdout, "");
}

#[test]
fn files_that_are_gone_or_have_changed_are_marked() {
    let sandbox = Sandbox::new();
    for name in ["a.txt", "b.txt", "c.txt"] {
        sandbox.write(format!("d/{name}"), text(1, 40));
    }
    sandbox.add(&["d"], 0);
    for line in ["pairs", "clusters", "list", "query d/a.txt"] {
        let ran = sandbox.run(&line.split(' ').collect::<Vec<_>>()).expect(0);
        assert_eq!(ran.stderr, "", "{line}");
    }
    fs::remove_file(sandbox.path("d/b.txt")).unwrap();
    sandbox.write("d/c.txt", text(2, 40));
    for line in ["pairs", "clusters", "list", "query d/a.txt"] {
        let words: Vec<&str> = line.split(' ').collect();
        let ran = sandbox.run(&words).expect(0);
        let gone = "1 of these files no longer exists (first: d/b.txt), as seen from this folder; `dedupdb remove";
        assert!(ran.stderr.contains(gone), "{}", ran.stderr);
        assert!(
            ran.stderr
                .contains("has changed since it was added (first: d/c.txt)"),
            "{}",
            ran.stderr
        );
        // The columns stay as they are.
        assert!(!ran.stdout.contains("gone"), "{}", ran.stdout);
        let ran = sandbox.run(&[&["--json"], &words[..]].concat()).expect(0);
        let (gone, changed) = match line {
            "pairs" => ("\"file_b\":\"gone\"", "\"file_b\":\"changed\""),
            _ => ("\"file\":\"gone\"", "\"file\":\"changed\""),
        };
        for field in [gone, changed] {
            assert!(ran.stdout.contains(field), "{line}: {}", ran.stdout);
        }
    }
    let shown = sandbox.run(&["show", "d/b.txt"]).expect(0);
    assert!(
        shown.stdout.contains("no longer exists"),
        "{}",
        shown.stdout
    );
}

#[test]
fn names_that_are_not_utf_8_are_taken_by_every_command() {
    let sandbox = Sandbox::new();
    let name = OsStr::from_bytes(b"caf\xe9.txt");
    sandbox.write(name, text(1, 40));
    sandbox.write("b.txt", text(1, 40));
    let run = |arguments: &[&OsStr]| {
        let mut command = sandbox.command(&[]);
        Ran::of(command.args(arguments).output().unwrap())
    };
    let word = OsStr::new;
    let key = word("caf\u{fffd}E9.txt");
    run(&[word("add"), name, word("b.txt")]).expect(0);
    for given in [name, key] {
        run(&[word("explain"), given, word("b.txt")]).expect(0);
        run(&[word("jaccard"), given, word("b.txt")]).expect(0);
        run(&[word("show"), given]).expect(0);
        run(&[word("query"), given]).expect(0);
        run(&[word("query"), word("--key"), given]).expect(0);
        run(&[word("list"), word("--prefix"), given]).expect(0);
        run(&[word("pairs"), word("--between"), given, word("b")]).expect(0);
        run(&[word("matrix"), given, word("-o"), word("rows.csv")]).expect(0);
        run(&[word("remove"), word("--dry-run"), given]).expect(0);
        let explained = run(&[
            word("explain"),
            word("--store"),
            word("none"),
            given,
            word("b.txt"),
        ]);
        assert!(explained.expect(0).stdout.contains("a file"));
    }
    let ran = run(&[word("remove"), name]).expect(0);
    assert_eq!(ran.stdout, "removed 1 document\n");
}

#[test]
fn a_report_reads_a_file_whose_name_is_not_utf_8() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["report", "-o", "page.html"]);
    for (name, more) in [(&b"caf\xe9.txt"[..], ""), (b"b.txt", " and more")] {
        let name = OsStr::from_bytes(name);
        sandbox.write(name, text(1, 40) + more);
        command.arg(name);
    }
    let ran = Ran::of(command.output().unwrap()).expect(0);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
}

/// Starts an add in the folder `a` that has looked at its file and waits until the file `go` exists.
fn slow_add(sandbox: &Sandbox, path: &str) -> Child {
    let script = "#!/bin/sh\ntouch ../met\nuntil [ -e ../go ]; do sleep 0.02; done\ncat\n";
    sandbox.write("slow.sh", script);
    fs::set_permissions(sandbox.path("slow.sh"), Permissions::from_mode(0o700)).unwrap();
    let mut command =
        sandbox.command(&["--store", "../.dedupdb", "add", "--pre", "../slow.sh", path]);
    let command = command.current_dir(sandbox.path("a"));
    let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let add = piped.spawn().unwrap();
    while !sandbox.path("met").exists() {
        thread::sleep(Duration::from_millis(10));
    }
    add
}

#[test]
fn what_came_from_another_folder_meanwhile_is_not_replaced() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init"]).expect(0);
    for (seed, folder) in [(1, "a"), (2, "b")] {
        sandbox.write(format!("{folder}/report.txt"), text(seed, 40));
    }
    let add = slow_add(&sandbox, "report.txt");
    sandbox.run_in("b", &["add", "report.txt"]).expect(0);
    sandbox.write("go", "");
    let ran = Ran::of(add.wait_with_output().unwrap()).expect(2);
    let told = "the key \"report.txt\" is that of ";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("/b/report.txt in the store"),
        "{}",
        ran.stderr
    );
    let ran = sandbox
        .run_in("b", &["--json", "add", "report.txt"])
        .expect(0);
    assert_eq!(ran.objects()[0]["unchanged"], 1, "{}", ran.stderr);
}

#[test]
fn a_choice_that_was_made_meanwhile_is_remembered() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init"]).expect(0);
    sandbox.write("a/report.txt", text(1, 40));
    sandbox.write(
        "r.jsonl",
        format!("{}\n", json!({ "id": 7, "text": text(2, 40) })),
    );
    let add = slow_add(&sandbox, "report.txt");
    let records = ["--json", "add", "r.jsonl"];
    sandbox
        .run(&[&records[..], &["--id-scope", "file"]].concat())
        .expect(0);
    sandbox.write("go", "");
    Ran::of(add.wait_with_output().unwrap()).expect(0);
    let ran = sandbox.run(&records).expect(0);
    assert_eq!(ran.objects()[0]["unchanged"], 1, "{}", ran.stdout);
}
