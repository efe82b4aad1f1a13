//! `add` of files that are not text, or cannot be read.

use std::fs;

use serde_json::json;

use crate::sandbox::Sandbox;

#[test]
fn binary_files_are_left_out() {
    let sandbox = Sandbox::new();
    sandbox.write("in/a.bin", b"some text\0");
    sandbox.write("in/b.txt", "some text");
    let mut late = vec![b'x'; 100_000];
    late.push(0);
    sandbox.write("in/late.bin", late);
    let summary = sandbox.add(&["in"], 0);
    assert_eq!(summary["skipped"], json!({ "binary": 2 }));
    assert_eq!(sandbox.keys(), ["in/b.txt"]);
}

#[test]
fn a_pdf_is_binary_without_a_nul_too() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "in/a.pdf",
        b"%PDF-1.4\n1 0 obj\nstream\n\xe2\xe3\xcf\xd3 endstream",
    );
    sandbox.write("in/misnamed.html", b"%PDF-1.7\nstream");
    sandbox.write("in/about.txt", "%PDF- is what a PDF document begins with");
    let summary = sandbox.add(&["in"], 0);
    assert_eq!(summary["skipped"], json!({ "binary": 2 }));
    assert_eq!(sandbox.keys(), ["in/about.txt"]);
}

#[test]
fn folders_of_version_control_are_left_out_unless_they_are_named() {
    let sandbox = Sandbox::new();
    for folder in [".git", ".hg/store", ".svn", ".bzr", ".jj", "_darcs", "CVS"] {
        sandbox.write(format!("in/{folder}/format"), folder);
    }
    sandbox.write("in/deep/CVS/Entries", "entries");
    for file in ["HEAD", "objects/pack/p", "refs/heads/main"] {
        sandbox.write(format!("in/site/{file}"), file);
    }
    sandbox.write("in/.gitignore", "a file");
    sandbox.write("in/module/.git", "gitdir: ../.git/modules/module\n");
    sandbox.write("in/other/.git", "a file that is only called so");
    let summary = sandbox.add(&["in"], 0);
    assert_eq!(summary["skipped"], json!({ "version control": 9 }));
    // A file that only has such a name belongs to a user.
    let keys = ["in/.gitignore", "in/CVS/format", "in/other/.git"];
    assert_eq!(sandbox.keys(), keys);
    assert_eq!(sandbox.add(&["in/.git"], 0)["added"], 1);
}

#[test]
fn what_jobs_keep_beside_their_files_is_left_out_unless_it_is_named() {
    let sandbox = Sandbox::new();
    let left = [
        "_SUCCESS",
        "._SUCCESS.crc",
        "_committed_17",
        ".part-0.txt.crc",
        "_temporary/0/part-0.txt",
        "_delta_log/00.json",
    ];
    for name in left {
        sandbox.write(format!("in/{name}"), "");
    }
    sandbox.write("in/part-0.txt", "");
    // There is no file that this sum belongs to.
    sandbox.write("in/.notes.crc", "what somebody wrote");
    let summary = sandbox.add(&["in"], 0);
    assert_eq!(summary["skipped"], json!({ "job file": left.len() }));
    assert_eq!(sandbox.keys(), ["in/.notes.crc", "in/part-0.txt"]);
    assert_eq!(sandbox.add(&["in/_SUCCESS"], 0)["added"], 1);
    sandbox.run(&["dedup", "in", "-o", "out"]).expect(0);
    let kept = fs::read(sandbox.path("out/part-0.txt")).unwrap();
    assert_eq!(kept, b"");
}

#[test]
fn what_was_decoded_how_is_counted() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", b"caf\xe9 au lait, twice: caf\xe9");
    sandbox.write("b.txt", "café au lait, twice: café");
    sandbox.write(
        "c.txt",
        [&"日本語".repeat(9).into_bytes()[..], b"\xff"].concat(),
    );
    let wide: Vec<u8> = "\u{feff}wide"
        .encode_utf16()
        .flat_map(u16::to_be_bytes)
        .collect();
    sandbox.write("d.txt", &wide);
    let summary = sandbox.add(&["a.txt", "b.txt", "c.txt", "d.txt"], 0);
    assert_eq!(
        (&summary["added"], &summary["exact_copies"]),
        (&json!(4), &json!(1))
    );
    let expected = json!({ "UTF-8": 2, "UTF-16BE": 1, "windows-1252": 1 });
    assert_eq!(summary["encodings"], expected);
    assert_eq!(summary["replaced"], 1);
    let ran = sandbox
        .run(&["add", "--checksum", "a.txt", "d.txt"])
        .expect(0);
    let line = "not in UTF-8                 2   1 UTF-16BE, 1 windows-1252\n";
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
    assert_eq!(sandbox.add(&["a.txt"], 0)["unchanged"], 1);
}

#[test]
fn records_in_every_unicode_encoding_are_the_same() {
    let table = |end: char| {
        let row = |cells: [&str; 2]| cells.join(&end.to_string()) + "\n";
        row(["id", "text"]) + &row(["1", "日本 one"]) + &row(["2", "😀 two"])
    };
    let lines = "{\"id\":1,\"text\":\"日本 one\"}\n{\"id\":2,\"text\":\"😀 two\"}\n";
    for (name, text) in [
        ("in.jsonl", lines.to_owned()),
        ("in.csv", table(',')),
        ("in.tsv", table('\t')),
    ] {
        let marked = format!("\u{feff}{text}");
        let wide = |bytes: fn(u16) -> [u8; 2]| marked.encode_utf16().flat_map(bytes).collect();
        let wider =
            |bytes: fn(u32) -> [u8; 4]| marked.chars().map(u32::from).flat_map(bytes).collect();
        let encoded: [(&str, Vec<u8>); 5] = [
            ("UTF-8", marked.clone().into()),
            ("UTF-16LE", wide(u16::to_le_bytes)),
            ("UTF-16BE", wide(u16::to_be_bytes)),
            ("UTF-32LE", wider(u32::to_le_bytes)),
            ("UTF-32BE", wider(u32::to_be_bytes)),
        ];
        for (encoding, bytes) in encoded {
            let sandbox = Sandbox::new();
            sandbox.write(name, bytes);
            let summary = sandbox.add(&[name], 0);
            assert_eq!(summary["encodings"], json!({ encoding: 2 }), "{name}");
            assert_eq!(sandbox.run(&["list"]).expect(0).stdout, "1\n2\n");
        }
    }
}

#[test]
fn a_given_encoding_holds_for_files_and_records() {
    let sandbox = Sandbox::new();
    let (text, _, _) = encoding_rs::ISO_8859_2.encode("żółw i łódź");
    sandbox.write("a.txt", &text);
    let record = [&b"{\"id\": 1, \"text\": \""[..], &text, b"\"}"].concat();
    sandbox.write("b.jsonl", &record);
    let add = ["--encoding", "latin2", "a.txt", "b.jsonl"];
    let summary = sandbox.add(&add, 0);
    assert_eq!(summary["encodings"], json!({ "ISO-8859-2": 2 }));
    assert_eq!(summary["exact_copies"], 1);
    let wide = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let record = wide("\u{feff}{\"id\": 2, \"text\": \"żółw i łódź\"}\n");
    sandbox.write("c.jsonl", record);
    assert_eq!(sandbox.add(&["c.jsonl"], 0)["exact_copies"], 1);
    let ran = sandbox.run(&["add", "--encoding", "klingon", "a.txt"]);
    assert!(ran.expect(2).stderr.contains("windows-1252"));
}

#[test]
fn a_byte_order_mark_is_not_part_of_the_text() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "the same words");
    sandbox.write("b.txt", "\u{feff}the same words");
    assert_eq!(sandbox.add(&["a.txt", "b.txt"], 0)["exact_copies"], 1);
}

#[test]
fn the_store_is_left_out() {
    let sandbox = Sandbox::with_testdata();
    sandbox
        .run(&["--store", "folder/.dedupdb", "init"])
        .expect(0);
    sandbox.run(&["--store", "folder/other", "init"]).expect(0);
    let store = "folder/.dedupdb";
    let summary = sandbox.add(&["--store", store, "folder"], 0);
    assert_eq!(summary["skipped"], json!({ "dedupdb store": 2 }));
    assert_eq!(summary["added"], 44);
    for named in [
        "folder/./.dedupdb/contents.1",
        "folder/.dedupdb",
        "folder/other",
    ] {
        let summary = sandbox.add(&["--store", store, named], 2);
        assert_eq!(summary["skipped"], json!({ "dedupdb store": 1 }));
    }
    let ran = sandbox.run(&["--store", store, "add", "folder/other"]);
    let said = "folder/other: this is a dedupdb store";
    assert!(ran.expect(2).stderr.contains(said));
    // A store that was found and one that was named count under the same reason.
    let summary = sandbox.add(&["--store", store, "folder", "folder/other"], 2);
    assert_eq!(summary["skipped"], json!({ "dedupdb store": 3 }));
    let ran = sandbox.run(&["--store", store, "add", "folder", "folder/other"]);
    assert!(ran.expect(2).stdout.contains("   3 dedupdb stores\n"));
}

#[test]
fn a_folder_with_the_names_of_a_store_is_read() {
    let sandbox = Sandbox::new();
    sandbox.write("notes/index.redb", "the words of a note");
    sandbox.write("notes/contents.1", "the words of another");
    let summary = sandbox.add(&["notes"], 0);
    assert_eq!(
        (&summary["added"], &summary["skipped"]),
        (&json!(2), &json!({}))
    );
}

#[test]
fn a_folder_of_the_name_of_the_store_is_read() {
    let sandbox = Sandbox::new();
    sandbox.write("folder/more/.dedupdb/index.redb", "the words of a note");
    sandbox.write("folder/more/.dedupdb/a.txt", "the words of another");
    let summary = sandbox.add(&["--store", "folder/.dedupdb", "folder"], 0);
    assert_eq!(summary["added"], 2);
    assert_eq!(summary["skipped"], json!({ "dedupdb store": 1 }));
}

#[test]
fn a_store_is_not_made_beside_files_of_others() {
    let sandbox = Sandbox::new();
    sandbox.write("full/myfile.txt", "some words of mine");
    for verb in [&["init"][..], &["add", "full"]] {
        let mut arguments = vec!["--store", "full"];
        arguments.extend(verb);
        let ran = sandbox.run(&arguments).expect(2);
        assert!(
            ran.stderr.contains("this folder holds \"myfile.txt\""),
            "{}",
            ran.stderr
        );
        assert_eq!(ran.stderr.lines().count(), 1);
    }
    assert_eq!(fs::read_dir(sandbox.path("full")).unwrap().count(), 1);
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    use serde_json::json;

    use crate::sandbox::Sandbox;

    #[test]
    fn links_that_lead_nowhere_or_back_are_left_out() {
        let sandbox = Sandbox::new();
        sandbox.write("in/a.txt", "some text");
        symlink(".", sandbox.path("in/loop")).unwrap();
        symlink("itself", sandbox.path("in/itself")).unwrap();
        symlink("nothing", sandbox.path("in/broken")).unwrap();
        symlink("a.txt", sandbox.path("in/link.txt")).unwrap();
        let summary = sandbox.add(&["in", "--follow"], 0);
        let expected = json!({ "symlink loop": 1, "broken link": 1, "other name": 2 });
        assert_eq!(summary["skipped"], expected);
        assert_eq!(sandbox.keys(), ["in/a.txt"]);
        for (name, told) in [
            ("in/broken", "a symbolic link to nothing"),
            ("in/itself", ""),
        ] {
            let ran = sandbox.run(&["add", "in/a.txt", name]).expect(2);
            assert!(
                ran.stderr.contains(&format!("{name}: {told}")),
                "{}",
                ran.stderr
            );
        }
    }

    #[test]
    fn pipes_sockets_and_devices_are_left_out() {
        let sandbox = Sandbox::new();
        sandbox.write("in/a.txt", "some text");
        let pipe = sandbox.path("in/pipe.jsonl");
        assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
        let _socket = UnixListener::bind(sandbox.path("in/socket")).unwrap();
        let summary = sandbox.add(&["in", "/dev/zero"], 2);
        let expected = json!({ "pipe": 1, "socket": 1, "device": 1 });
        assert_eq!(summary["skipped"], expected);
        assert_eq!(summary["added"], 1);
    }

    #[test]
    fn an_unreadable_file_does_not_hinder_the_others() {
        use std::os::unix::fs::PermissionsExt;
        let sandbox = Sandbox::new();
        sandbox.write("in/a.txt", "some text");
        sandbox.write("in/b.txt", "other text");
        let locked = fs::Permissions::from_mode(0o000);
        fs::set_permissions(sandbox.path("in/a.txt"), locked).unwrap();
        if fs::read(sandbox.path("in/a.txt")).is_ok() {
            // Root can read everything, so a file of /proc that refuses to be read takes its place.
            fs::remove_file(sandbox.path("in/a.txt")).unwrap();
            symlink("/proc/self/mem", sandbox.path("in/a.txt")).unwrap();
        }
        let ran = sandbox.run(&["add", "in", "--follow"]).expect(2);
        assert!(ran.stderr.contains("dedupdb: in/a.txt: "), "{}", ran.stderr);
        assert!(ran.stdout.contains("1 unreadable"), "{}", ran.stdout);
        assert_eq!(sandbox.keys(), ["in/b.txt"]);
    }

    #[test]
    fn names_that_are_no_utf8_are_spelled_out_and_told() {
        let sandbox = Sandbox::new();
        sandbox.write(OsStr::from_bytes(b"in/a\xff.txt"), "one");
        sandbox.write(OsStr::from_bytes(b"in/a\xfe.txt"), "two");
        let ran = sandbox.run(&["add", "in"]).expect(0);
        assert!(
            ran.stderr
                .contains("2 keys have U+FFFD in place of bytes that are not UTF-8"),
            "{}",
            ran.stderr
        );
        assert_eq!(sandbox.keys(), ["in/a\u{fffd}FE.txt", "in/a\u{fffd}FF.txt"]);
        // The key leads to the file, even if another one is gone.
        let of_text = sandbox.run(&["explain", "in/a\u{fffd}FE.txt", "in/a\u{fffd}FF.txt"]);
        assert!(
            !of_text.stdout.contains("not at hand"),
            "{}",
            of_text.stdout
        );
        fs::remove_file(sandbox.path(OsStr::from_bytes(b"in/a\xff.txt"))).unwrap();
        sandbox.run(&["remove", "--missing"]).expect(0);
        assert_eq!(sandbox.keys(), ["in/a\u{fffd}FE.txt"]);
    }

    #[test]
    fn control_characters_in_keys_are_spelled_out() {
        let sandbox = Sandbox::new();
        sandbox.write("in/new\nline\t\u{1b}[31m.txt", "some text");
        sandbox.add(&["in"], 0);
        let listed = sandbox.run(&["list"]).expect(0);
        assert_eq!(listed.stdout, "in/new\\nline\\t\\u{1b}[31m.txt\n");
        assert_eq!(sandbox.keys(), ["in/new\nline\t\u{1b}[31m.txt"]);
    }
}

#[test]
fn of_unmarked_utf_16_the_encoding_to_name_is_told() {
    let line = "{\"id\": 1, \"text\": \"The night tram runs again\"}\n";
    let wide = |bytes: fn(u16) -> [u8; 2]| line.encode_utf16().flat_map(bytes).collect();
    let both: [(&str, Vec<u8>); 2] = [
        ("utf-16le", wide(u16::to_le_bytes)),
        ("utf-16be", wide(u16::to_be_bytes)),
    ];
    for (encoding, bytes) in both {
        for name in ["a.txt", "a.jsonl", "a.csv"] {
            let sandbox = Sandbox::new();
            sandbox.write(name, &bytes);
            let ran = sandbox.run(&["add", name]).expect(2);
            let said = format!("; if it is UTF-16, give --encoding {encoding}\n");
            assert!(ran.stderr.contains(&said), "{}", ran.stderr);
            if name != "a.csv" {
                let add = ["add", name, "--encoding", encoding];
                sandbox.run(&add).expect(0);
            }
        }
    }
}

#[test]
fn a_folder_that_has_utf_16_and_utf_8_is_read_whole() {
    let sandbox = Sandbox::new();
    let text = "The night tram runs again\nfrom Friday on, żółw and łódź.\n";
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    sandbox.write("in/wide.txt", wide);
    sandbox.write("in/plain.txt", text);
    // Nobody named the file, but somebody wants to have its text.
    let ran = sandbox.run(&["add", "in"]).expect(0);
    let said =
        "wide.txt: binary, it has a NUL byte; if it is UTF-16, give --encoding utf-16le; left out";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    let summary = sandbox.add(&["in", "--encoding", "utf-16le"], 0);
    assert_eq!(summary["unchanged"], 1, "{summary}");
    assert_eq!(summary["exact_copies"], 1, "{summary}");
}
