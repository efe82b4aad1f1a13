//! `reindex`, `compact` and `merge`.

use std::fs;
use std::sync::mpsc;
use std::thread;

use dedupdb::{Error, Progress, Schema, Store, sketching::SchemaBuilder, upkeep::Rebuild};
use serde_json::json;

use crate::sandbox::{Ran, Sandbox, fields, text};
use crate::tune::add_half_alike;

/// A sandbox with files in `in`, every second one a near-copy, and a store of them.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    for number in 0..60 {
        let end = if number % 2 == 0 { "" } else { " at last" };
        let words = text(number / 2, 40) + end;
        sandbox.write(format!("in/{number:02}.txt"), words);
    }
    sandbox.add(&["in"], 0);
    sandbox
}

fn parameter(sandbox: &Sandbox, name: &str) -> serde_json::Value {
    let stats = sandbox.run(&["stats", "--json"]).expect(0);
    stats.objects().remove(0)["schema"][name].clone()
}

#[test]
fn reindex_gives_other_parameters_and_the_same_answers() {
    let sandbox = sandbox();
    let pairs = |sandbox: &Sandbox| sandbox.run(&["pairs"]).expect(0).stdout;
    let before = pairs(&sandbox);
    let ran = sandbox.run(&["reindex", "--permutations", "256"]).expect(0);
    assert_eq!(
        ran.stdout,
        "60 documents: 256 permutations, bands 28x9, which find 98.2% of the pairs at 0.8\n"
    );
    let sorted = |pairs: &str| {
        let mut lines: Vec<String> = pairs.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&pairs(&sandbox)), sorted(&before));
    let ran = sandbox
        .run(&["--json", "reindex", "--threshold", "70%", "--bands", "40x5"])
        .expect(0);
    let object = ran.objects().remove(0);
    assert_eq!(
        fields(&object),
        ["documents", "dropped", "recall", "schema"]
    );
    assert_eq!(object["schema"]["bands"], "40x5");
    assert_eq!(parameter(&sandbox, "threshold"), json!(0.7));
    let ran = sandbox.run(&["reindex", "--bands", "40x5"]).expect(1);
    assert!(ran.stderr.contains("has these parameters already"));
    add_half_alike(&sandbox);
    sandbox.run(&["reindex", "--tuned"]).expect(0);
    sandbox.run(&["check"]).expect(0);
}

#[test]
fn reindex_changes_the_family() {
    let sandbox = sandbox();
    let pairs = |sandbox: &Sandbox| {
        let ran = sandbox.run(&["pairs", "--exhaustive"]).expect(0);
        let found = sandbox.run(&["pairs"]).expect(0);
        (ran.stdout, found.lines().len())
    };
    let (all, _) = pairs(&sandbox);
    for family in ["linear-prime", "modular", "jenkins", "murmur", "affine32"] {
        let ran = sandbox.run(&["reindex", "--family", family]).expect(0);
        assert!(
            ran.stdout.starts_with("60 documents: 128 perm"),
            "{}",
            ran.stdout
        );
        assert_eq!(parameter(&sandbox, "family"), json!(family));
        sandbox.run(&["check"]).expect(0);
        let (exhaustive, found) = pairs(&sandbox);
        assert_eq!(exhaustive, all, "{family}");
        assert!(found >= 25, "{family} finds {found} of 30 pairs");
        let ran = sandbox.run(&["query", "--key", "in/00.txt"]).expect(0);
        assert!(ran.stdout.contains("in/01.txt"), "{family}: {}", ran.stdout);
    }
    let ran = sandbox.run(&["reindex", "--family", "affine32"]).expect(1);
    assert!(ran.stderr.contains("has these parameters already"));
}

#[test]
fn reindex_says_what_it_cannot_do() {
    let sandbox = sandbox();
    for (arguments, message) in [
        (&["reindex"][..], "say what to change"),
        (&["reindex", "--permutations", "0"], "1 to"),
        (&["reindex", "--bands", "50x9"], "bands"),
        (&["reindex", "--family", "md5"], "there are affine32, "),
        (&["reindex", "--status", "--cancel"], "cannot be used"),
        (&["reindex", "--cancel", "--seed", "7"], "cannot be used"),
        (
            &["reindex", "--shingling", "char:5"],
            "init --shingling char:5",
        ),
    ] {
        let ran = sandbox.run(arguments).expect(2);
        assert!(
            ran.stderr.contains(message),
            "{arguments:?}: {}",
            ran.stderr
        );
    }
    for option in ["--status", "--cancel"] {
        // Options of all commands stand beside them.
        let ran = sandbox.run(&["reindex", option, "--store", ".dedupdb", "--threads", "1"]);
        let ran = ran.expect(1);
        let told = "dedupdb: there is no unfinished reindex\n";
        assert_eq!((&*ran.stdout, &*ran.stderr), ("", told));
    }
    assert_eq!(parameter(&sandbox, "permutations"), json!(128));
}

#[test]
fn without_shingles_reindex_reads_the_files_again() {
    let sandbox = Sandbox::new();
    for number in 0..6 {
        sandbox.write(format!("in/{number}.txt"), text(number, 40));
    }
    sandbox.run(&["init", "--no-shingles"]).expect(0);
    sandbox.add(&["in"], 0);
    sandbox.write("in/3.txt", "another text");
    fs::remove_file(sandbox.path("in/4.txt")).unwrap();
    let ran = sandbox.run(&["reindex", "--permutations", "200"]).expect(2);
    assert!(
        ran.stderr.contains("\"in/3.txt\" and 1 more"),
        "{}",
        ran.stderr
    );
    assert_eq!(sandbox.keys().len(), 6);
    let ran = sandbox
        .run(&["reindex", "--permutations", "200", "--drop-missing"])
        .expect(0);
    assert!(
        ran.stderr.contains("2 documents were removed"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        sandbox.keys(),
        ["in/0.txt", "in/1.txt", "in/2.txt", "in/5.txt"]
    );
    sandbox.write("like 5", text(5, 40) + " at last");
    let ran = sandbox.run(&["query", "like 5"]).expect(0);
    assert!(ran.stdout.contains("in/5.txt"), "{}", ran.stdout);
}

#[test]
fn without_shingles_reindex_finds_the_files_from_any_folder() {
    let sandbox = Sandbox::new();
    sandbox.write("p/data/n.txt", text(1, 40));
    sandbox.run(&["init", "--no-shingles"]).expect(0);
    let store = sandbox.path(".dedupdb").to_str().unwrap().to_owned();
    let run = |folder: &str, arguments: &[&str]| {
        let mut command = sandbox.command(&[arguments, &["--store", &store]].concat());
        let ran = command.current_dir(sandbox.path(folder)).output().unwrap();
        Ran::of(ran).expect(0)
    };
    run("p", &["add", "data"]);
    run(".", &["reindex", "--permutations", "200", "--drop-missing"]);
    assert_eq!(sandbox.keys(), ["data/n.txt"]);
    sandbox.write("like", text(1, 40) + " more");
    assert!(run(".", &["query", "like"]).stdout.contains("data/n.txt"));
}

#[test]
fn compact_gives_back_space() {
    let sandbox = sandbox();
    sandbox.run(&["remove", "--prefix", "in/1"]).expect(0);
    let stats = || {
        let ran = sandbox.run(&["stats", "--scan", "--json"]).expect(0);
        ran.objects().remove(0)
    };
    // A header, and 52 bytes per content.
    assert_eq!(stats()["files"]["contents.1"], 64 + 60 * 52);
    let reclaimable = stats()["reclaimable_bytes"].as_u64().unwrap();
    assert!(reclaimable > 10 * 52, "{reclaimable}");
    let ran = sandbox.run(&["compact", "--json"]).expect(0);
    assert_eq!(fields(&ran.objects().remove(0)), ["bytes", "bytes_before"]);
    assert_eq!(stats()["files"]["contents.2"], 64 + 50 * 52);
    assert_eq!(
        (&stats()["documents"], &stats()["removed"]),
        (&json!(50), &json!(0))
    );
    sandbox.run(&["check"]).expect(0);
    let ran = sandbox.run(&["compact"]).expect(0);
    assert!(
        ran.stderr.contains("there was no space to free"),
        "{}",
        ran.stderr
    );
    let [before, now] = sizes(&ran.stdout);
    assert_eq!(before, now, "{}", ran.stdout);
    assert_eq!(stats()["files"]["contents.2"], 64 + 50 * 52);
}

/// A compact that was stopped does not know what was removed since.
#[test]
fn compact_says_that_it_resumes_and_frees_all() {
    let sandbox = sandbox();
    sandbox.run(&["remove", "--prefix", "in/1"]).expect(0);
    let store = Store::open(sandbox.path(".dedupdb")).unwrap();
    let hasty = store.watched(&Progress::observed(Progress::stop));
    let stopped = hasty.rebuild(Rebuild::compact());
    assert!(matches!(stopped, Err(Error::Stopped)));
    drop((store, hasty));
    sandbox.run(&["remove", "--prefix", "in/2"]).expect(0);
    let ran = sandbox.run(&["compact"]).expect(0);
    let told = "resumed the compact that was stopped";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    let ran = sandbox.run(&["stats", "--json"]).expect(0);
    let stats = ran.objects().remove(0);
    assert_eq!(
        (&stats["documents"], &stats["removed"]),
        (&json!(40), &json!(0))
    );
    let ran = sandbox.run(&["compact"]).expect(0);
    assert!(!ran.stderr.contains(told), "{}", ran.stderr);
    sandbox.run(&["check"]).expect(0);
}

/// A rebuild lets others write, so who waits for it learns that it is one, and whose.
#[test]
fn a_rebuild_of_another_process_is_named() {
    let sandbox = sandbox();
    let store = Store::open(sandbox.path(".dedupdb")).unwrap();
    let (begin, begun) = mpsc::channel();
    let (end, ended) = mpsc::channel::<()>();
    let progress = Progress::observed(move |_| {
        // Once the test has ended, nobody listens.
        begin.send(()).unwrap_or_default();
        ended.recv().unwrap_or_default();
    });
    let watched = store.watched(&progress);
    let target = Schema::builder().permutations(96).build().unwrap();
    thread::scope(|scope| {
        let rebuilding = scope.spawn(|| watched.rebuild(Rebuild::reindex(target)));
        begun.recv().unwrap();
        let process = std::process::id();
        let rebuilds = format!("process {process} is rebuilding the store");
        for arguments in [
            &["compact"][..],
            &["reindex"],
            &["reindex", "--permutations", "64"],
            &["reindex", "--cancel"],
        ] {
            let ran = sandbox.run(&[&["--wait", "0"], arguments].concat());
            let ran = ran.expect(75);
            assert!(ran.stderr.contains(&rebuilds), "{}", ran.stderr);
        }
        let ran = sandbox.run(&["reindex", "--status"]).expect(0);
        let works = format!("process {process} is at work on it\n");
        assert!(ran.stdout.ends_with(&works), "{}", ran.stdout);
        let ran = sandbox.run(&["reindex", "--status", "--json"]).expect(0);
        let status = ran.objects().remove(0);
        assert_eq!(
            (&status["running"], &status["process"]),
            (&json!(true), &json!(process))
        );
        sandbox.run(&["remove", "in/01.txt"]).expect(0);
        drop(end);
        assert!(rebuilding.join().unwrap().unwrap());
    });
    assert_eq!(parameter(&sandbox, "permutations"), json!(96));
    sandbox.run(&["check"]).expect(0);
}

/// The two sizes that `compact` prints.
fn sizes(line: &str) -> [&str; 2] {
    let (before, now) = line.trim_end().split_once(" before, ").unwrap();
    [before, now.strip_suffix(" now").unwrap()]
}

#[test]
fn merge_adds_the_documents_of_other_stores() {
    let sandbox = Sandbox::new();
    for (store, number) in [("one", 1), ("two", 2), ("two", 3), ("none", 4)] {
        let file = format!("{number}.txt");
        sandbox.write(&file, text(number, 40));
        let options: &[&str] = if store == "none" {
            &["--no-shingles"]
        } else {
            &[]
        };
        if number != 3 {
            let init = [&["--store", store, "init"], options].concat();
            sandbox.run(&init).expect(0);
        }
        sandbox.add(&["--store", store, &file], 0);
    }
    let ran = sandbox
        .run(&["--store", "all", "merge", "one", "two"])
        .expect(0);
    assert_eq!(
        ran.stdout,
        "one: 1 document: 1 added, 0 updated, 0 unchanged\n\
         two: 2 documents: 2 added, 0 updated, 0 unchanged\n"
    );
    let ran = sandbox
        .run(&["--store", "all", "--json", "merge", "two"])
        .expect(0);
    let object = ran.objects().remove(0);
    assert_eq!(
        fields(&object),
        [
            "added",
            "copies",
            "store",
            "unchanged",
            "unpublished",
            "updated",
            "updated_keys"
        ]
    );
    assert_eq!(object["unchanged"], 2);
    let ran = sandbox.run(&["--store", "all", "merge", "none"]).expect(2);
    assert!(
        ran.stderr.contains("none: the parameters differ: shingles"),
        "{}",
        ran.stderr
    );
    let ran = sandbox.run(&["--store", "all", "merge", "./all"]).expect(2);
    assert!(ran.stderr.contains("the store itself"), "{}", ran.stderr);
    sandbox
        .run(&["--store", "all", "merge", "nowhere"])
        .expect(2);
    sandbox.run(&["--store", "all", "check"]).expect(0);
    // Nothing is made for stores that differ from each other.
    let reindex = ["--store", "one", "reindex", "--permutations", "256"];
    sandbox.run(&reindex).expect(0);
    let ran = sandbox
        .run(&["--store", "both", "merge", "one", "two"])
        .expect(2);
    assert!(
        ran.stderr
            .ends_with("two: the parameters differ: permutations is 128 here, and 256 in one; give both stores the same parameters with `reindex` first\n"),
        "{}",
        ran.stderr
    );
    assert!(!sandbox.path("both").exists());
}

#[test]
fn merge_takes_fingerprints_that_serve_for_a_longer_passage() {
    let sandbox = Sandbox::new();
    for passage in ["20", "36", "50", "0"] {
        let init = ["--store", passage, "init", "--passage", passage];
        sandbox.run(&init).expect(0);
        let file = format!("{passage}.txt");
        sandbox.write(&file, text(passage.parse().unwrap(), 80));
        sandbox.add(&["--store", passage, &file], 0);
    }
    sandbox
        .run(&["--store", "all", "merge", "20", "36"])
        .expect(0);
    let ran = sandbox
        .run(&["--store", "all", "--json", "stats"])
        .expect(0);
    let stats = ran.objects().remove(0);
    assert_eq!(stats["schema"]["passage"], 36);
    assert_eq!(stats["unfingerprinted"], 0);
    for passage in [20, 36] {
        sandbox.write("asked.txt", text(passage, 80));
        let asked = [
            "--store",
            "all",
            "passages",
            "--at-least",
            "80",
            "asked.txt",
        ];
        sandbox.run(&asked).expect(0);
    }
    for (store, others, message) in [
        (
            "new",
            &["20", "50"][..],
            "20: the parameters differ: passage is 20 here, and 50 in 50; `dedupdb --store 20 reindex --passage 50 \
             --from PATH...` first\n",
        ),
        (
            "new",
            &["0", "20"],
            "0: the parameters differ: passage is 0 here, and 20 in 20; `dedupdb --store 0 reindex --passage 20 \
             --from PATH...` first\n",
        ),
        (
            "20",
            &["36"],
            "36: the parameters differ: passage is 36 here, and 20 in 20; `dedupdb --store 20 reindex --passage 36` \
             first\n",
        ),
    ] {
        let ran = sandbox.run(&[&["--store", store, "merge"], others].concat());
        let ran = ran.expect(2);
        assert!(ran.stderr.ends_with(message), "{}", ran.stderr);
    }
    assert!(!sandbox.path("new").exists());
    // What a message names helps. A store that finds no passages takes all.
    sandbox
        .run(&["--store", "20", "reindex", "--passage", "36"])
        .expect(0);
    sandbox.run(&["--store", "20", "merge", "36"]).expect(0);
    sandbox
        .run(&["--store", "0", "merge", "36", "50"])
        .expect(0);
    sandbox.run(&["--store", "0", "check"]).expect(0);
}

/// Leaves a stopped reindex.
fn begin(sandbox: &Sandbox, target: SchemaBuilder) {
    let store = Store::open(sandbox.path(".dedupdb")).unwrap();
    let store = store.watched(&Progress::observed(Progress::stop));
    let stopped = store.rebuild(Rebuild::reindex(target.build().unwrap()));
    assert!(matches!(stopped, Err(Error::Stopped)));
}

#[test]
fn a_rebuild_to_another_end_is_forgotten_and_told() {
    let sandbox = sandbox();
    for arguments in [&["reindex", "--permutations", "64"][..], &["compact"]] {
        begin(&sandbox, Schema::builder().permutations(96));
        let ran = sandbox.run(arguments).expect(0);
        let told = "reindex to permutations 96, ";
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
        assert!(
            ran.stderr.contains("this command cannot continue"),
            "{}",
            ran.stderr
        );
        sandbox.run(&["reindex", "--status"]).expect(1);
    }
    assert_eq!(parameter(&sandbox, "permutations"), json!(64));
    sandbox.run(&["check"]).expect(0);
}

#[test]
fn a_reindex_goes_on_with_the_seed_that_it_drew() {
    let sandbox = sandbox();
    begin(&sandbox, Schema::builder().seed(777));
    let ran = sandbox.run(&["reindex", "--seed", "random"]).expect(0);
    assert_eq!(ran.stderr, "");
    assert_eq!(parameter(&sandbox, "seed"), json!(777));
    // With other parameters, it draws another seed.
    begin(&sandbox, Schema::builder().seed(778));
    let arguments = ["reindex", "--seed", "random", "--permutations", "64"];
    let ran = sandbox.run(&arguments).expect(0);
    assert!(
        ran.stderr.contains("this command cannot continue"),
        "{}",
        ran.stderr
    );
    assert_ne!(parameter(&sandbox, "seed"), json!(778));
}

#[test]
fn bands_that_stay_with_more_permutations_are_told() {
    let sandbox = Sandbox::with_testdata();
    sandbox.run(&["init", "--permutations", "512"]).expect(0);
    let ran = sandbox
        .run(&["reindex", "--permutations", "1024"])
        .expect(0);
    let note = "the bands are still 44x11: they reach the recall with 484 of the permutations";
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    let ran = sandbox.run(&["reindex", "--permutations", "256"]).expect(0);
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_new_store_takes_over_what_ids_are_and_another_one_says_that_it_does_not() {
    let sandbox = Sandbox::new();
    let export = |text: &str| {
        let record = format!("{{\"id\": 1, \"text\": {text:?}}}\n");
        sandbox.write("e.jsonl", record);
    };
    export("the night tram runs again");
    let add = ["--store", "a", "add", "--id-scope", "file", "e.jsonl"];
    sandbox.run(&add).expect(0);
    sandbox.run(&["--store", "b", "merge", "a"]).expect(0);
    export("the night tram runs again from Friday on");
    sandbox.run(&["--store", "b", "add", "e.jsonl"]).expect(0);
    let listed = sandbox.run(&["--store", "b", "list"]).expect(0);
    assert_eq!(listed.stdout, "e.jsonl#1\n");
    sandbox.write("note.txt", "a harbour bridge");
    let add = ["--store", "c", "add", "note.txt"];
    sandbox.run(&add).expect(0);
    let ran = sandbox.run(&["--store", "c", "merge", "a"]).expect(0);
    let told = "dedupdb: a: c makes other keys of ids (--id-scope)";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
}

#[test]
fn a_merge_that_replaces_texts_says_so() {
    let sandbox = Sandbox::new();
    for (store, said) in [("a", "one text"), ("b", "another text")] {
        sandbox.write("same.txt", said);
        sandbox
            .run(&["--store", store, "add", "same.txt"])
            .expect(0);
    }
    let ran = sandbox.run(&["--store", "a", "merge", "b"]).expect(0);
    assert_eq!(
        ran.stdout,
        "b: 1 document: 0 added, 1 updated, 0 unchanged\n"
    );
    assert_eq!(
        ran.stderr,
        "dedupdb: b: same.txt replaced another text\ndedupdb: b: 1 document replaced another text under the same key\n"
    );
    let ran = sandbox.run(&["--store", "a", "merge", "b"]).expect(0);
    assert_eq!(ran.stderr, "");
}
