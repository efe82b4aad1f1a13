//! The order of the layers: a lower one never imports an upper one.

use std::fs;
use std::path::Path;

/// From the lowest to the highest; a module may use those before it, and its own.
const LAYERS: &[&str] = &[
    "error",
    "clock",
    "progress",
    "diff",
    "plot",
    "text",
    "sketch",
    "lsh",
    "schema",
    "batch",
    "collection",
    "storage",
    "store",
    "eval",
    "publish",
    "corpus",
    "dedup",
];

/// A link in documentation leads up for the reader; it is not an import.
fn is_code(line: &str) -> bool {
    !line.trim_start().starts_with("//")
}

#[test]
fn lower_layers_do_not_import_upper_ones() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut checked = 0;
    for (level, layer) in LAYERS.iter().enumerate() {
        let mut files = Vec::new();
        collect(&src.join(layer), &mut files);
        files.push(src.join(format!("{layer}.rs")));
        for file in files.iter().filter(|file| file.is_file()) {
            checked += 1;
            let source = fs::read_to_string(file).unwrap();
            for upper in &LAYERS[level + 1..] {
                let import = format!("crate::{upper}");
                let line = source
                    .lines()
                    .find(|line| is_code(line) && line.contains(&import));
                assert_eq!(line, None, "{} imports {upper}", file.display());
            }
        }
    }
    assert!(checked > 30, "{checked} files");
}

/// What the system is asked for is asked in one place, which tests can stand in.
#[test]
fn files_are_reached_through_the_disk_only() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&src, &mut files);
    // Beside the disk, files of users and modules of tests.
    let exempt = [
        src.join("storage/disk"),
        src.join("publish"),
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

/// Where unsafe code is, so that it can be read in one sitting.
#[test]
fn unsafe_code_is_in_three_files() {
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
