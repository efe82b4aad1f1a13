//! The order of the layers: a lower one never imports an upper one.

use std::fs;
use std::path::Path;

use crate::imports::Modules;

/// The order of the modules of the crate and of some rooms, from the lowest to the highest. A module may use those
/// before it, its own, and what the rooms that contain it define themselves.
const ORDERS: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "error",
            "clock",
            "progress",
            "parallel",
            "pool",
            "diff",
            "number",
            "plot",
            "codec",
            "text",
            "sketch",
            "lsh",
            "schema",
            "preset",
            "batch",
            "collection",
            "storage",
            "store",
            "eval",
            "mapreduce",
            "publish",
            "corpus",
            "report",
            "dedup",
        ],
    ),
    (
        "storage",
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
        "store",
        &[
            "lock", "compare", "offer", "handle", "find", "groups", "write", "upkeep",
        ],
    ),
];

/// The order of the files in rooms inside of those, if there is one.
const INNER_ORDERS: &[(&str, &[&str])] = &[
    (
        "storage::index",
        &[
            "append", "guard", "runs", "scope", "sources", "levels", "document", "meta", "open",
            "catalog", "journal",
        ],
    ),
    (
        "storage::postings",
        &[
            "fault", "leaf", "list", "filter", "filters", "recent", "order", "runs", "buckets",
            "posted", "update",
        ],
    ),
    (
        "store::compare",
        &[
            "allowance",
            "seen",
            "sets",
            "matching",
            "found",
            "search",
            "sketch",
            "published",
        ],
    ),
    (
        "store::offer",
        &["body", "input", "keyed", "outcome", "prepared", "queue"],
    ),
    (
        "store::find",
        &["documents", "query", "query_all", "explain"],
    ),
    (
        "store::groups",
        &[
            "buckets",
            "comparisons",
            "met",
            "alike",
            "names",
            "join",
            "exhaustive",
            "pair",
            "pairs",
            "clusters",
            "sizes",
        ],
    ),
    (
        "store::groups::join",
        &["bounds", "index", "rarity", "exact"],
    ),
    (
        "store::groups::clusters",
        &[
            "cluster",
            "query",
            "prefixes",
            "candidates",
            "connect",
            "representatives",
            "found",
        ],
    ),
];

/// A link in documentation may lead up. It is not an import.
fn is_code(line: &str) -> bool {
    !line.trim_start().starts_with("//")
}

/// The imports of upper modules, one per line, and modules without a place in an order.
fn upward(modules: &Modules, orders: &[(&str, &[&str])]) -> Vec<String> {
    let mut found = Vec::new();
    for (room, order) in orders {
        let room: Vec<&str> = room.split("::").filter(|name| !name.is_empty()).collect();
        let level = |path: &[String]| {
            let is_inside = path.len() > room.len() && path.iter().zip(&room).all(|(a, b)| a == b);
            let name = is_inside.then(|| path[room.len()].as_str())?;
            Some(order.iter().position(|module| *module == name))
        };
        for path in modules.paths() {
            let Some(own) = level(path) else {
                continue;
            };
            let Some(own) = own else {
                found.push(format!("{} has no place", path.join("::")));
                continue;
            };
            for (used, written) in modules.used_by(path) {
                if level(&used).flatten().is_some_and(|used| used > own) {
                    found.push(format!("{} imports {written}", path.join("::")));
                }
            }
        }
    }
    found
}

#[test]
fn lower_layers_do_not_import_upper_ones() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let modules = Modules::read(&src);
    assert!(modules.paths().count() > 100);
    let found = upward(&modules, &[ORDERS, INNER_ORDERS].concat());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_map_shows_all_layers_in_their_order() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let (_, map) = page.split_once("```\nsrc/").unwrap();
    let (map, _) = map.split_once("\nbin/").unwrap();
    let mut lines = map.lines();
    let lowest = lines.next().unwrap().split_whitespace();
    let mut shown: Vec<Vec<&str>> = vec![lowest.collect()];
    let mut rooms = vec![""];
    for line in lines {
        let name = line
            .split_whitespace()
            .next()
            .unwrap()
            .trim_end_matches('/');
        if line.starts_with("        ") {
            if rooms.last() != shown[0].last() {
                rooms.push(shown[0].last().unwrap());
                shown.push(Vec::new());
            }
            shown.last_mut().unwrap().push(name);
        } else {
            shown[0].push(name);
        }
    }
    assert_eq!(rooms.len(), ORDERS.len());
    for ((room, order), (shown_room, names)) in ORDERS.iter().zip(rooms.iter().zip(&shown)) {
        assert_eq!(room, shown_room);
        // The map shows only the folders of a room.
        let is_shown = |name: &&&str| {
            let folder = root.join("src").join(room).join(name);
            room.is_empty() || folder.is_dir()
        };
        let expected: Vec<&str> = order.iter().filter(is_shown).copied().collect();
        assert_eq!(*names, expected, "{room}");
    }
}

#[test]
fn every_form_of_an_upward_import_is_found() {
    let orders: &[(&str, &[&str])] = &[("", &["low", "high"]), ("low", &["one", "two"])];
    let plant = |source: &str| {
        let mut modules = Modules::default();
        let add = |modules: &mut Modules, path: &str, source| {
            let path: Vec<String> = path.split_whitespace().map(str::to_owned).collect();
            modules.add(&path, source);
        };
        add(&mut modules, "", "mod high; mod low; pub use high::Thing;");
        add(&mut modules, "high", "pub struct Thing; pub mod deep;");
        add(&mut modules, "high deep", "pub struct Other;");
        add(
            &mut modules,
            "low",
            "mod one; mod two; pub use two::Second; pub struct Own;",
        );
        add(
            &mut modules,
            "low two",
            "use super::one::First; pub struct Second;",
        );
        add(&mut modules, "low one", source);
        upward(&modules, orders)
    };
    let upwards = [
        "use crate::high::Thing;",
        "pub(crate) use crate::high::Thing as Renamed;",
        "use crate::{low::Own, high::deep::{self, Other}};",
        "use crate::{self as root, high};",
        "use super::super::high::Thing;",
        "use super::two::Second;",
        "use super::{Own, two::{Second}};",
        "use super::two;",
        "use self::super::two::*;",
        // Through a re-export.
        "use crate::Thing;",
        "use super::Second;",
        "use crate::low::{Own, Second};",
        // Without an import.
        "fn f() -> u32 { crate::high::g() }",
        "fn f(thing: &super::super::high::Thing) {}",
        "impl Trait for super::two::Second {}",
    ];
    for source in upwards {
        assert!(!plant(source).is_empty(), "{source}");
    }
    let others = [
        "use super::Own; use std::fmt; use crate::low::Own as Mine;",
        "pub(in crate::low) struct First; // use crate::high::Thing;",
        "/* use super::two; */ const A: &str = \"use crate::high;\"; const B: char = '\"';",
        "const A: &str = r#\"\" crate::high::Thing\"#;",
        "fn f(a: &[u8]) -> impl Iterator + use<'_> { let a = 1; a }",
        "#[cfg(test)] use crate::high::Thing;",
        "#[cfg(test)] mod tests { use super::*; use crate::high::Thing; } use super::Own;",
        "#[cfg(test)] fn f(a: u8, b: u8) -> u8 { crate::high::g() } fn g<'a>(x: &'a str) {}",
    ];
    for source in others {
        assert_eq!(plant(source), [""; 0], "{source}");
    }
    let unplaced = upward(
        &{
            let mut modules = Modules::default();
            modules.add(&[], "mod new;");
            modules.add(&["new".to_owned()], "");
            modules
        },
        orders,
    );
    assert_eq!(unplaced, ["new has no place"]);
}

/// All calls to the system are in one place, which tests can replace.
#[test]
fn files_are_reached_through_the_disk_only() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&src, &mut files);
    // Except for the disk, files of users and modules of tests.
    let exempt = [
        src.join("storage/disk"),
        src.join("publish"),
        src.join("report"),
        src.join("dedup"),
        src.join("corpus"),
        src.join("store/faults"),
        src.join("store/model"),
    ];
    files.retain(|file| exempt.iter().all(|exempt| !file.starts_with(exempt)));
    assert!(files.len() > 100, "{} files", files.len());
    for file in files {
        let source = fs::read_to_string(&file).unwrap();
        let code = source.split("#[cfg(test)]\nmod tests").next().unwrap();
        let mut lines = code.lines().filter(|line| is_code(line));
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
        let line = lines.find(|line| opens.iter().any(|open| line.contains(open)));
        assert_eq!(line, None, "{}", file.display());
    }
}

/// Unsafe code is in few files, so that it can be read in one sitting.
#[test]
fn unsafe_code_is_in_five_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    collect(&root.join("src"), &mut files);
    collect(&root.join("bin"), &mut files);
    files.retain(|file| {
        let is_source = file.extension().is_some_and(|extension| extension == "rs");
        is_source && fs::read_to_string(file).unwrap().contains("unsafe_code")
    });
    files.sort();
    let expected = [
        "bin/allocator.rs",
        "bin/closed.rs",
        "src/sketch/simd.rs",
        "src/storage/columns/column.rs",
        "src/storage/disk/map.rs",
    ];
    assert_eq!(files, expected.map(|file| root.join(file)));
}

fn collect(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}
