//! A file that is named and cannot be read is an error, wherever it is named; in a folder, it is counted.

use serde_json::json;

use crate::compressed::gz;
use crate::sandbox::{Sandbox, text};

/// Files that cannot be read, with their contents.
fn unreadable() -> Vec<(&'static str, Vec<u8>)> {
    let mut damaged = gz(text(3, 400).as_bytes());
    damaged.truncate(40);
    vec![
        ("picture.png", b"\x89PNG\r\n\x1a\nrest".to_vec()),
        ("records.jsonl", b"binary\0\n".to_vec()),
        (
            "chat.jsonl",
            b"{\"user\": \"a\", \"message\": \"hi\"}\n".repeat(4),
        ),
        ("table.csv", b"user,message\na,hi\n".to_vec()),
        ("table.parquet", b"PAR1 is how it begins".to_vec()),
        ("letter.txt.gz", damaged),
        (
            "secret.age",
            b"age-encryption.org/v1\n-> X25519 abc\n".to_vec(),
        ),
        (
            "secret.asc",
            b"-----BEGIN PGP MESSAGE-----\n\nhQEMA+o=\n-----END PGP MESSAGE-----\n".to_vec(),
        ),
        ("list.json", b"[{\"text\": \"a\"}, {".to_vec()),
        ("large.txt", vec![b'a'; 2 << 20]),
    ]
}

/// A sandbox with records that can be read, and one file that cannot.
fn sandbox(name: &str, bytes: &[u8]) -> Sandbox {
    let sandbox = Sandbox::new();
    let line = |id| json!({ "id": format!("r{id}"), "text": text(id, 40) }).to_string() + "\n";
    sandbox.write("good.jsonl", (0..3).map(line).collect::<String>());
    sandbox.write(name, bytes);
    sandbox
}

#[test]
fn named_files_that_cannot_be_read_fail_in_every_command() {
    for (name, bytes) in unreadable() {
        let sandbox = sandbox(name, &bytes);
        let large = ["--max-document", "1MiB"];
        sandbox.run(&["add", "good.jsonl"]).expect(0);
        for command in [
            &["add", "good.jsonl", name][..],
            &["-q", "add", "--dry-run", name],
            &["query", name, "good.jsonl"],
            &["-q", "report", "good.jsonl", name, "-o", "r.html"],
            &["map", "good.jsonl", name],
            &["-q", "dedup", "good.jsonl", name, "-o", "out.jsonl"],
            &[
                "dedup",
                name,
                "good.jsonl",
                "-o",
                "out/",
                "--keep",
                "longest",
            ],
            &["dedup", "good.jsonl", "-o", "out.jsonl", "--against", name],
        ] {
            let ran = sandbox.run(&[command, &large].concat()).expect(2);
            assert!(ran.stderr.contains(name), "{command:?}: {}", ran.stderr);
            assert!(!sandbox.path("out.jsonl").exists(), "{command:?}");
            assert!(!sandbox.path("out").exists(), "{command:?}");
        }
    }
}

#[test]
fn dedup_goes_on_without_them_if_it_is_told_to() {
    for (name, bytes) in unreadable() {
        let sandbox = sandbox(name, &bytes);
        let ran = sandbox.run(&[
            "--json",
            "dedup",
            "good.jsonl",
            name,
            "-o",
            "out/",
            "--skip-unreadable",
            "--max-document",
            "1MiB",
        ]);
        let summary = ran.expect(2).objects().pop().unwrap();
        let skipped = summary["skipped"].as_object().unwrap();
        assert!(!skipped.is_empty(), "{name}: {summary}");
        let kept = 3 + u64::from(name == "list.json");
        assert_eq!(summary["kept"], kept, "{name}");
    }
}

#[test]
fn what_does_not_exist_is_not_gone_on_without() {
    let sandbox = sandbox("notes.txt", text(7, 50).as_bytes());
    sandbox.write("bench.txt", text(8, 50));
    for command in [
        &["dedup", "notes.txt", "absent.txt", "-o", "out/"][..],
        &[
            "decontaminate",
            "notes.txt",
            "absent.txt",
            "--against",
            "bench.txt",
            "-o",
            "out/",
        ],
    ] {
        let ran = sandbox.run(&[command, &["--skip-unreadable"]].concat());
        let told = "dedupdb: absent.txt: there is no such file or folder\n";
        assert_eq!(ran.expect(2).stderr, told);
        assert!(!sandbox.path("out").exists(), "{command:?}");
    }
    let ran = sandbox.run(&["add", "s3://crawls/a.jsonl"]);
    assert!(ran.expect(2).stderr.contains("this is an address"));
}

#[test]
fn in_a_folder_they_are_counted_and_leave_no_empty_file() {
    let sandbox = sandbox("in/picture.png", b"\x89PNG\r\n\x1a\nrest");
    sandbox.write("in/notes.txt", text(7, 50));
    let summary = sandbox.add(&["in"], 0);
    assert_eq!(summary["skipped"], json!({ "binary": 1 }));
    sandbox.write(
        "in/chat.jsonl",
        "{\"user\": \"a\", \"message\": \"hi\"}\n".repeat(4),
    );
    sandbox.write(
        "in/dropped.jsonl",
        json!({ "text": text(7, 50) }).to_string(),
    );
    let summary = sandbox.add(&["in"], 2);
    let expected = json!({ "all records bad": 1, "bad record": 4, "binary": 1 });
    assert_eq!(summary["skipped"], expected);
    // The only record of dropped.jsonl is a duplicate if the text is protected.
    for (more, size) in [
        (&["--keep", "first"][..], None),
        (&["--protect", "notes.txt"], Some(0)),
    ] {
        let dedup = ["dedup", "in", "-o", "out", "--force"];
        let ran = sandbox.run(&[&dedup, more].concat()).expect(2);
        let told = "chat.jsonl: none of its 4 records could be read\n";
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
        assert_eq!(ran.stderr.matches("no field \"text\"").count(), 1);
        assert!(!sandbox.path("out/chat.jsonl").exists());
        let written = std::fs::metadata(sandbox.path("out/dropped.jsonl")).unwrap();
        assert_eq!(size.unwrap_or(written.len()), written.len());
        assert_eq!(sandbox.path("out/notes.txt").exists(), size.is_some());
    }
    let ran = sandbox.run(&["report", "in", "-o", "r.html"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let page = std::fs::read_to_string(sandbox.path("r.html")).unwrap();
    assert!(page.contains("1 all records bad"), "{}", ran.stderr);
}

#[test]
fn the_same_file_named_twice_or_by_a_link_is_no_failure() {
    let sandbox = sandbox("notes.txt", text(7, 50).as_bytes());
    sandbox.add(&["notes.txt", "notes.txt"], 0);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("notes.txt", sandbox.path("link.txt")).unwrap();
        sandbox.add(&["notes.txt", "link.txt"], 0);
    }
}

#[test]
fn a_named_file_of_records_without_a_record_is_named_and_no_error() {
    for (name, bytes) in [
        ("day.jsonl", ""),
        ("blank.jsonl", "\n\n \n"),
        ("day.csv", "id,text\n"),
        ("day.mbox", ""),
    ] {
        let sandbox = sandbox(name, bytes.as_bytes());
        let line = format!("{name}: no records; left out");
        for command in [
            &["add", name][..],
            &["add", "--strict", "good.jsonl", name],
            &["dedup", "good.jsonl", name, "-o", "out/"],
        ] {
            let ran = sandbox.run(command).expect(0);
            let lines = ran.stderr.matches(&line).count();
            assert_eq!(lines, 1, "{command:?}: {}", ran.stderr);
        }
        sandbox.run(&["query", name]).expect(1);
        let against = ["dedup", "good.jsonl", "--against", name, "-o", "rest.jsonl"];
        sandbox.run(&against).expect(0);
        let ran = sandbox.run(&["add", "."]).expect(0);
        assert!(!ran.stderr.contains("no records"), "{}", ran.stderr);
    }
}
