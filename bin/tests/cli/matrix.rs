//! `matrix` and `jaccard`: texts without a store.

use std::fs;

use crate::sandbox::{Sandbox, fields};

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("in/a", "one two three four");
    sandbox.write("in/b, \"c\"", "one two three five");
    sandbox.write("in/empty", "");
    sandbox
}

const MATRIX: [&str; 8] = [
    "matrix",
    "in",
    "--shingling",
    "word:1",
    "--permutations",
    "300",
    "--family",
    "murmur",
];

/// The slots of a row of CSV, which begins with the key.
fn slots(row: &str, key: &str) -> Vec<u32> {
    let slots = row.strip_prefix(key).unwrap().strip_prefix(',').unwrap();
    slots.split(',').map(|slot| slot.parse().unwrap()).collect()
}

#[test]
fn both_forms_hold_the_same_slots_which_agree_as_the_texts_are_alike() {
    let sandbox = sandbox();
    let to = |file: &str, more: &[&str]| {
        let ran = sandbox.run(&[&MATRIX[..], &["-o", file], more].concat());
        ran.expect(0).stdout
    };
    let said = to("m.csv", &[]);
    assert!(
        said.starts_with("3 documents of 300 permutations, "),
        "{said}"
    );
    let csv = fs::read_to_string(sandbox.path("m.csv")).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(lines[0].starts_with("document,0,1,2,") && lines[0].ends_with(",299"));
    let rows = [
        slots(lines[1], "in/a"),
        slots(lines[2], "\"in/b, \"\"c\"\"\""),
        slots(lines[3], "in/empty"),
    ];
    assert_eq!(rows[2], [u32::MAX; 300]);
    let equal = rows[0].iter().zip(&rows[1]).filter(|(a, b)| a == b).count();
    // 0.6 of 300 with a standard deviation of 8.5.
    assert!((140..220).contains(&equal), "{equal}");

    let json = to("m.npy", &["--json", "--keys", "keys"]);
    let object: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        fields(&object),
        [
            "bytes",
            "documents",
            "family",
            "permutations",
            "seconds",
            "seed",
            "shingling"
        ]
    );
    let npy = fs::read(sandbox.path("m.npy")).unwrap();
    assert_eq!(object["bytes"], npy.len());
    let (header, data) = npy.split_at(128);
    assert_eq!(header[..8], *b"\x93NUMPY\x01\x00");
    let header = String::from_utf8_lossy(header);
    assert!(header.contains("'descr': '<u4', 'fortran_order': False, 'shape': (3, 300), }"));
    let numbers: Vec<u32> = data
        .as_chunks::<4>()
        .0
        .iter()
        .map(|bytes| u32::from_le_bytes(*bytes))
        .collect();
    assert_eq!(numbers, rows.concat());
    let keys = fs::read_to_string(sandbox.path("keys")).unwrap();
    assert_eq!(keys, "in/a\nin/b, \"c\"\nin/empty\n");
    assert_eq!(sandbox.names(), ["in", "keys", "m.csv", "m.npy"]);

    let object = sandbox.run(&[
        "--json",
        "jaccard",
        "in/a",
        "in/b, \"c\"",
        "--shingling",
        "word:1",
        "--permutations",
        "300",
        "--family",
        "murmur",
    ]);
    let object = object.expect(0).objects().remove(0);
    assert_eq!((&object["both"], &object["either"]), (&3.into(), &5.into()));
    assert_eq!(
        (&object["agreeing"], &object["slots"]),
        (&equal.into(), &300.into())
    );
}

#[test]
fn a_table_that_fails_leaves_what_was_there() {
    let sandbox = sandbox();
    sandbox.write("bad.jsonl", "{\"text\": \"a b c\"}\nno JSON\n");
    let kept = ["old.csv", "old.npy", "old.csv.part", "keys"];
    for name in kept {
        sandbox.write(name, name);
    }
    sandbox.write("file", "");
    for (asked, said) in [
        // Nothing could be read.
        (&["matrix", "nowhere", "-o", "old.csv"][..], "nowhere"),
        (
            &["matrix", "nowhere", "-o", "old.npy", "--keys", "keys"],
            "nowhere",
        ),
        // The rows before the failure are not all rows.
        (
            &["matrix", "in", "bad.jsonl", "-o", "old.csv", "--strict"],
            "bad.jsonl:2",
        ),
        // Outputs that cannot be written are reported before anything is read.
        (
            &["matrix", "in", "-o", "old.csv", "--keys", "no/keys"],
            "no/keys",
        ),
        (
            &["matrix", "in", "-o", "old.csv", "--keys", "file/keys"],
            "file/keys",
        ),
    ] {
        let ran = sandbox.run(asked).expect(2);
        assert!(ran.stderr.contains(said), "{asked:?}: {}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        for name in kept {
            let now = fs::read_to_string(sandbox.path(name)).unwrap();
            assert_eq!(now, name, "{asked:?}");
        }
    }
    assert_eq!(
        sandbox.names(),
        [
            "bad.jsonl",
            "file",
            "in",
            "keys",
            "old.csv",
            "old.csv.part",
            "old.npy"
        ]
    );
    // Without --strict, what could be read is written.
    sandbox
        .run(&["matrix", "in", "bad.jsonl", "-o", "old.csv"])
        .expect(2);
    let csv = fs::read_to_string(sandbox.path("old.csv")).unwrap();
    assert_eq!(csv.lines().count(), 5);
    assert_eq!(
        fs::read_to_string(sandbox.path("old.csv.part")).unwrap(),
        "old.csv.part"
    );
}

#[test]
fn nothing_is_written_over_what_is_read() {
    let sandbox = sandbox();
    sandbox.write("a.csv", "id,text\n1,one two three\n");
    for (asked, said) in [
        (&["matrix", "a.csv", "-o", "a.csv"][..], "this is an input"),
        (&["matrix", "a.csv", "-o", "./a.csv"], "this is an input"),
        (
            &["matrix", "a.csv", "-o", "b.npy", "--keys", "a.csv"],
            "this is an input",
        ),
        (
            &["matrix", "in", "-o", "in/m.csv"],
            "inside the input in; write to a place outside",
        ),
        (
            &["matrix", "in", "-o", "m.npy", "--keys", "in/keys"],
            "inside the input in",
        ),
        (
            &["matrix", "in", "-o", "m.csv", "--keys", "./m.csv"],
            "--keys and --output name the same file",
        ),
    ] {
        let ran = sandbox.run(asked).expect(2);
        assert!(ran.stderr.contains(said), "{asked:?}: {}", ran.stderr);
    }
    assert_eq!(sandbox.names(), ["a.csv", "in"]);
    let csv = fs::read_to_string(sandbox.path("a.csv")).unwrap();
    assert_eq!(csv, "id,text\n1,one two three\n");
    assert_eq!(fs::read_dir(sandbox.path("in")).unwrap().count(), 3);
}

#[cfg(unix)]
#[test]
fn links_and_modes_of_what_is_replaced_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let sandbox = sandbox();
    sandbox.write("real.csv", "old");
    fs::set_permissions(sandbox.path("real.csv"), PermissionsExt::from_mode(0o640)).unwrap();
    symlink("real.csv", sandbox.path("link.csv")).unwrap();
    sandbox.write("plain", "");
    let mode = |name: &str| {
        fs::metadata(sandbox.path(name))
            .unwrap()
            .permissions()
            .mode()
    };
    sandbox
        .run(&["matrix", "in", "-o", "link.csv", "--keys", "/dev/null"])
        .expect(0);
    assert!(
        fs::symlink_metadata(sandbox.path("link.csv"))
            .unwrap()
            .is_symlink()
    );
    let csv = fs::read_to_string(sandbox.path("real.csv")).unwrap();
    assert_eq!((csv.lines().count(), mode("real.csv") & 0o777), (4, 0o640));
    sandbox.run(&["matrix", "in", "-o", "new.csv"]).expect(0);
    assert_eq!(mode("new.csv"), mode("plain"));
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn two_files_are_compared() {
    let sandbox = sandbox();
    let ran = sandbox
        .run(&["jaccard", "--shingling", "word:1", "in/a", "in/a"])
        .expect(0);
    assert_eq!(
        ran.stdout,
        "jaccard   1.0000: 4 of 4 shingles (word:1) are in both; the texts are the same\n\
         estimate  1.0000: 128 of 128 slots agree\n"
    );
    let ran = sandbox.run(&["jaccard", "in/empty", "in/empty"]).expect(0);
    assert!(
        ran.stdout.contains(
            "1.0000: 0 of 0 shingles (word:5) are in both; the texts are the same\nestimate  0.0000: 0 of"
        ),
        "{}",
        ran.stdout
    );
}

#[test]
fn what_cannot_be_done_is_said_in_one_line() {
    let sandbox = sandbox();
    for (asked, said) in [
        (&["matrix", "in", "-o", "m.txt"][..], ".csv or .npy"),
        (&["matrix", "in", "-o", "no/m.csv"], "no/m.csv"),
        (
            &["matrix", "in", "-o", "m.csv", "--permutations", "0"],
            "1 to 16384",
        ),
        (
            &["matrix", "in", "-o", "m.csv", "--shingling", "ids"],
            "in/a: ",
        ),
        (&["matrix", "nowhere", "-o", "m.csv"], "nowhere"),
        (
            &["jaccard", "in/a", "nowhere"],
            "nowhere: there is no such file",
        ),
        (&["jaccard", "-", "-"], "more than once"),
        (&["jaccard", "in", "in/a"], "it is a folder"),
    ] {
        let ran = sandbox.run(asked).expect(2);
        assert!(ran.stderr.contains(said), "{asked:?}: {}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    }
}
