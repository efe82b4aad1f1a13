//! What the boundaries between crates cannot say: inside the store, a lower module never imports an upper one, and files
//! are reached through one place.

use std::fs;
use std::path::{Path, PathBuf};

/// The modules of `src/`, and the rooms of two of them, from the lowest to the highest.
const ORDERS: [(&str, &[&str]); 3] = [
    (
        "",
        &[
            "error", "clock", "progress", "parallel", "pool", "codec", "text", "sketch", "lsh",
            "schema", "batch", "storage", "store",
        ],
    ),
    (
        "storage::",
        &[
            "format",
            "limits",
            "parallel",
            "disk",
            "names",
            "index",
            "columns",
            "postings",
            "view",
            "folder",
            "commit",
            "generation",
            "salvage",
        ],
    ),
    (
        "store::",
        &[
            "compare", "offer", "handle", "overlap", "find", "groups", "write", "upkeep",
        ],
    ),
];

/// The code of a source file, without its tests and its comments.
fn code(file: &Path) -> String {
    let source = fs::read_to_string(file).unwrap();
    let code = source.split("#[cfg(test)]\nmod tests").next().unwrap();
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
    found
}

/// The first upper module that code of the module `number` of an order names.
fn upper<'a>(code: &str, room: &str, order: &[&'a str], number: usize) -> Option<&'a str> {
    let names = |name: &&&str| {
        let path = format!("crate::{room}{name}");
        let mut after = code.split(path.as_str()).skip(1);
        after.any(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    order[number + 1..].iter().find(names).copied()
}

#[test]
fn lower_modules_do_not_import_upper_ones() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (room, order) in ORDERS {
        let place = src.join(room.trim_end_matches("::"));
        for (number, name) in order.iter().enumerate() {
            let file = place.join(name).with_extension("rs");
            let files = if file.is_file() {
                vec![file]
            } else {
                sources(&place.join(name))
            };
            for file in files {
                // Modules of tests, and entry points of fuzzers.
                let is_test = ["faults", "model", "laws.rs", "bounded.rs", "merging.rs"];
                if is_test
                    .iter()
                    .any(|part| file.ends_with(part) || file.iter().any(|name| name == *part))
                {
                    continue;
                }
                let found = upper(&code(&file), room, order, number);
                assert_eq!(found, None, "{} uses an upper module", file.display());
            }
        }
    }
}

#[test]
fn an_upward_path_is_found() {
    let order = ["text", "store"];
    assert_eq!(
        upper("use crate::store::Store;", "", &order, 0),
        Some("store")
    );
    assert_eq!(upper("use crate::store::Store;", "", &order, 1), None);
    assert_eq!(upper("use crate::storeys::Store;", "", &order, 0), None);
}

/// All calls to the system are in one place, which tests can replace.
#[test]
fn files_are_reached_through_the_disk_only() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let exempt = ["storage/disk", "store/faults", "store/model"].map(|folder| src.join(folder));
    let opens = [
        "std::fs",
        " fs::",
        "builder.open",
        "builder.create",
        "Database::create",
        "Database::open",
        "FileBackend",
        "memmap2",
    ];
    for file in sources(&src) {
        if exempt.iter().any(|exempt| file.starts_with(exempt)) {
            continue;
        }
        let code = code(&file);
        let found = opens.iter().find(|open| code.contains(**open));
        assert_eq!(found, None, "{} opens a file", file.display());
    }
}
