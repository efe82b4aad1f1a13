//! A store of format 1, which was never released: a real one, in `testdata/stores/format-1`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::sandbox::Sandbox;

/// Commands that open a store, with the one of format 1 in its place.
const VERBS: [&str; 20] = [
    "add a.txt",
    "add --dry-run a.txt",
    "query a.txt",
    "remove a.txt",
    "list",
    "pairs",
    "pairs --exhaustive",
    "clusters",
    "explain a.txt b.txt",
    "show a.txt",
    "stats",
    "check",
    "tune",
    "backup copy",
    "reindex --threshold 0.7",
    "compact",
    "salvage .dedupdb saved",
    "merge other",
    "merge --store other .dedupdb",
    "dedup --store .dedupdb --output out a.txt",
];

/// The names and bytes in a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let name = |entry: &fs::DirEntry| entry.file_name().into_string().unwrap();
    let files = entries.map(|entry| (name(&entry), fs::read(entry.path()).unwrap()));
    files.collect()
}

#[test]
fn every_verb_refuses_a_store_of_format_1_and_leaves_it_as_it_is() {
    let sandbox = Sandbox::new();
    let committed = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .join("testdata/stores/format-1/store");
    let committed = files(&committed);
    for (name, bytes) in &committed {
        sandbox.write(format!(".dedupdb/{name}"), bytes);
    }
    sandbox.write("a.txt", "a text");
    sandbox.write("b.txt", "another text");
    sandbox.run(&["add", "--store", "other", "b.txt"]).expect(0);
    let names = sandbox.names();
    for verb in VERBS {
        let arguments: Vec<&str> = verb.split(' ').collect();
        let ran = sandbox.run(&arguments).expect(2);
        let refused = "index.redb: written in format 1 by an earlier dedupdb; this one reads format 2, so make a new store and add the texts again\n";
        assert!(ran.stderr.ends_with(refused), "{verb}: {}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{verb}: {}", ran.stderr);
        assert!(files(&sandbox.path(".dedupdb")) == committed, "{verb}");
        assert_eq!(sandbox.names(), names, "{verb}");
    }
    let ran = sandbox.run(&["init"]).expect(2);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert!(files(&sandbox.path(".dedupdb")) == committed);
}
