//! `dedup` and the library: the same input gives the same output.

use std::fs;
use std::path::Path;

use dedupdb_corpus::dedup::{Dedup, Keep, PathTerminator};
use serde_json::Value;

use crate::dedup::{dedup_and_end, files};
use crate::sandbox::Sandbox;

/// The files at a path and their bytes, by name.
fn contents(root: &Path) -> Vec<(String, Vec<u8>)> {
    if root.is_file() {
        return vec![(String::new(), fs::read(root).unwrap())];
    }
    let read = |name: String| {
        let bytes = fs::read(root.join(&name)).unwrap();
        (name, bytes)
    };
    files(root).into_iter().map(read).collect()
}

#[test]
fn the_command_and_the_library_write_the_same() {
    let testdata = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("testdata");
    let (pages, folder) = (testdata.join("pages.jsonl"), testdata.join("folder"));
    let sandbox = Sandbox::new();
    for (keep, name) in [
        (Keep::First, "first"),
        (Keep::Longest, "longest"),
        (Keep::Newest, "newest"),
    ] {
        for (input, list) in [(&pages, false), (&folder, false), (&folder, true)] {
            let mut arguments = vec![
                input.to_str().unwrap(),
                "-o",
                "command",
                "--removed",
                "command.tsv",
                "--keep",
                name,
                "--force",
            ];
            let mut dedup = Dedup::new([input])
                .output(sandbox.path("library"))
                .removed(sandbox.path("library.tsv"))
                .removed_as_json(true)
                .keep(keep)
                .replace(true);
            if list {
                arguments.push("--list");
                dedup = dedup.list(PathTerminator::Line);
            }
            let summary: Value = dedup_and_end(&sandbox, &arguments, 0);
            let done = dedup.run(|_| {}).unwrap();
            assert_eq!(summary["kept"], done.kept);
            assert_eq!(summary["dropped"], done.dropped());
            assert_eq!(summary["documents"], done.documents);
            assert!(done.dropped() > 0, "{name} {input:?}");
            let [command, library] = ["command", "library"].map(|name| {
                let removed = fs::read_to_string(sandbox.path(format!("{name}.tsv"))).unwrap();
                (contents(&sandbox.path(name)), removed)
            });
            assert!(command == library, "{name} {input:?}");
            for name in ["command", "library"] {
                let path = sandbox.path(name);
                if path.is_dir() {
                    fs::remove_dir_all(path).unwrap();
                } else {
                    fs::remove_file(path).unwrap();
                }
            }
        }
    }
}
