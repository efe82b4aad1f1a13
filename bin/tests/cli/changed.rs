//! Files that change or vanish after they were read.

use std::fs;
#[cfg(unix)]
use std::path::Path;

use dedupdb_corpus::dedup::{Dedup, DedupEvent, DedupSummary, Error, Keep, PathTerminator};

use crate::sandbox::{Sandbox, text};

/// Two files with the same text, of which the second is dropped, another file, and a third copy elsewhere.
fn copies() -> Sandbox {
    let sandbox = Sandbox::new();
    for name in ["in/kept.txt", "in/the-dropped.txt", "arch/kept.txt"] {
        sandbox.write(name, text(1, 50));
    }
    sandbox.write("in/other.txt", text(2, 50));
    sandbox
}

/// Runs, and changes or removes a file when all files are read and the first one is dropped.
fn changing(
    sandbox: &Sandbox,
    dedup: Dedup,
    name: &str,
    now: Option<&str>,
) -> Result<DedupSummary, Error> {
    let mut is_first = true;
    dedup.run(|event| {
        if matches!(event, DedupEvent::Dropped(_)) && std::mem::take(&mut is_first) {
            match now {
                Some(text) => sandbox.write(name, text),
                None => fs::remove_file(sandbox.path(name)).unwrap(),
            }
        }
    })
}

/// Checks that the run noticed the change, and left nothing.
fn noticed(sandbox: &Sandbox, done: Result<DedupSummary, Error>, name: &str) {
    let error = done.unwrap_err().to_string();
    let told = format!("{name}: it changed while it was read; try again");
    assert!(error.ends_with(&told), "{error}");
    assert_eq!(sandbox.names(), ["arch", "in"]);
}

#[test]
fn a_list_does_not_name_a_kept_file_with_another_text() {
    for keep in [Keep::First, Keep::Longest] {
        for (name, now) in [
            ("in/kept.txt", Some("shorter")),
            ("in/kept.txt", Some(&*text(3, 500))),
            ("in/other.txt", None),
        ] {
            let sandbox = copies();
            let dedup = Dedup::new([sandbox.path("in")]).keep(keep);
            let dedup = dedup
                .output(sandbox.path("list"))
                .list(PathTerminator::Line);
            noticed(&sandbox, changing(&sandbox, dedup, name, now), name);
        }
        // The list does not name what is dropped.
        let sandbox = copies();
        let dedup = Dedup::new([sandbox.path("in")]).keep(keep);
        let dedup = dedup
            .output(sandbox.path("list"))
            .list(PathTerminator::Line);
        let done = changing(&sandbox, dedup, "in/the-dropped.txt", Some("new"));
        assert_eq!(done.unwrap().kept, 2);
    }
}

#[test]
fn what_is_listed_as_dropped_still_has_its_text() {
    let name = "in/the-dropped.txt";
    for keep in [Keep::First, Keep::Longest, Keep::None] {
        for is_list in [false, true] {
            for now in [Some("shorter"), None] {
                let sandbox = copies();
                let dedup = Dedup::new([sandbox.path("in")]).keep(keep);
                let dedup = dedup.output(sandbox.path("out"));
                let dedup = dedup.removed(sandbox.path("gone.tsv"));
                let dedup = if is_list {
                    dedup.list(PathTerminator::Nul)
                } else {
                    dedup
                };
                let done = changing(&sandbox, dedup, name, now);
                noticed(&sandbox, done, name);
            }
        }
    }
}

#[test]
fn what_is_listed_as_dropped_resembles_a_file_that_is_unchanged() {
    for now in [Some("shorter"), None] {
        let sandbox = copies();
        let dedup = Dedup::new([sandbox.path("in")]).against_corpus([sandbox.path("arch")]);
        let dedup = dedup.output(sandbox.path("out"));
        let dedup = dedup.removed(sandbox.path("gone.tsv"));
        let done = changing(&sandbox, dedup, "arch/kept.txt", now);
        noticed(&sandbox, done, "arch/kept.txt");
    }
}

#[test]
fn a_file_of_records_that_a_list_of_what_is_dropped_names_is_unchanged() {
    let record = |id: &str| serde_json::json!({"id": id, "text": text(1, 50)}).to_string() + "\n";
    // What the archive has may be the last copy of the text.
    for now in [Some("{}"), None] {
        let sandbox = copies();
        fs::remove_file(sandbox.path("arch/kept.txt")).unwrap();
        sandbox.write("arch/records.jsonl", record("one") + &record("two"));
        let dedup = Dedup::new([sandbox.path("in")]).against_corpus([sandbox.path("arch")]);
        let dedup = dedup.output(sandbox.path("out"));
        let dedup = dedup.removed(sandbox.path("gone.tsv"));
        let done = changing(&sandbox, dedup, "arch/records.jsonl", now);
        noticed(&sandbox, done, "arch/records.jsonl");
    }
    for keep in [Keep::First, Keep::Longest] {
        let sandbox = copies();
        // The file was read to its end when a record of the next one is dropped.
        sandbox.write("in/records.jsonl", record("one"));
        sandbox.write("in/repeated.jsonl", record("two"));
        let inputs = ["in/records.jsonl", "in/repeated.jsonl"].map(|name| sandbox.path(name));
        let dedup = Dedup::new(inputs).keep(keep);
        let dedup = dedup.output(sandbox.path("out.jsonl"));
        let dedup = dedup.removed(sandbox.path("gone.tsv"));
        let done = changing(&sandbox, dedup, "in/records.jsonl", Some("{}"));
        noticed(&sandbox, done, "in/records.jsonl");
    }
}

#[test]
fn what_a_near_duplicate_resembles_is_unchanged_if_a_list_names_it() {
    for keep in [Keep::First, Keep::Longest] {
        let sandbox = copies();
        sandbox.write("in/the-dropped.txt", text(1, 49));
        let dedup = Dedup::new([sandbox.path("in")]).keep(keep);
        let dedup = dedup.output(sandbox.path("out"));
        let dedup = dedup.removed(sandbox.path("gone.tsv"));
        let done = changing(&sandbox, dedup, "in/kept.txt", Some(&*text(3, 500)));
        noticed(&sandbox, done, "in/kept.txt");
    }
}

#[cfg(unix)]
#[test]
fn a_list_goes_to_standard_output_once_all_files_are_known_to_be_unchanged() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = copies();
    sandbox.write(
        "hook",
        "#!/bin/sh\ncase $1 in *other.txt) rm in/kept.txt;; esac; cat\n",
    );
    fs::set_permissions(sandbox.path("hook"), fs::Permissions::from_mode(0o755)).unwrap();
    let list = ["dedup", "in", "-o", "-", "--list", "--threads", "1"];
    let ran = sandbox.run(&list).expect(0);
    assert_eq!(ran.stdout, "in/kept.txt\nin/other.txt\n");
    let ran = sandbox
        .run(&[&list[..], &["--pre", "./hook"]].concat())
        .expect(2);
    assert_eq!(ran.stdout, "");
    assert!(
        ran.stderr
            .contains("in/kept.txt: it changed while it was read"),
        "{}",
        ran.stderr
    );
    // What is dropped may have changed, too.
    let sandbox = copies();
    let hook = "#!/bin/sh\ncase $1 in */dropped.txt) echo more >> in/b.txt;; esac; cat\n";
    sandbox.write("hook", hook);
    fs::set_permissions(sandbox.path("hook"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(sandbox.path("in/the-dropped.txt"), sandbox.path("in/b.txt")).unwrap();
    fs::rename(sandbox.path("in/kept.txt"), sandbox.path("in/a.txt")).unwrap();
    sandbox.write("in/dropped.txt", text(5, 50));
    let more = ["--pre", "./hook", "--removed", "gone.tsv"];
    let ran = sandbox.run(&[&list[..], &more].concat()).expect(2);
    assert_eq!(ran.stdout, "");
    assert!(
        ran.stderr
            .contains("in/b.txt: it changed while it was read"),
        "{}",
        ran.stderr
    );
    assert_eq!(sandbox.names(), ["arch", "hook", "in"]);
}

#[cfg(unix)]
#[test]
fn another_file_of_the_same_size_and_time_is_not_the_one_that_was_read() {
    let names = [
        ("in/kept.txt", true),
        ("in/the-dropped.txt", true),
        ("in/other.txt", false),
    ];
    for ((name, is_list), replace) in names
        .into_iter()
        .flat_map(|name| [(name, exchange as fn(&Path)), (name, overwrite)])
    {
        for keep in [Keep::First, Keep::Longest] {
            let sandbox = copies();
            let dedup = Dedup::new([sandbox.path("in")]).keep(keep);
            let dedup = dedup.output(sandbox.path("out"));
            let dedup = if is_list {
                dedup
                    .list(PathTerminator::Line)
                    .removed(sandbox.path("gone.tsv"))
            } else {
                dedup
            };
            let mut is_first = true;
            let done = dedup.run(|event| {
                if matches!(event, DedupEvent::Dropped(_)) && std::mem::take(&mut is_first) {
                    replace(&sandbox.path(name));
                }
            });
            // A file may have been copied before it was exchanged.
            if is_list || done.is_err() {
                noticed(&sandbox, done, name);
            } else {
                assert_ne!(keep, Keep::Longest);
            }
        }
    }
}

/// Puts another file of the same size and time in the place of a file.
#[cfg(unix)]
fn exchange(file: &Path) {
    let metadata = fs::metadata(file).unwrap();
    let other = file.with_extension("other");
    let length = usize::try_from(metadata.len()).unwrap();
    fs::write(&other, "x".repeat(length)).unwrap();
    let written = fs::File::options().write(true).open(&other).unwrap();
    written.set_modified(metadata.modified().unwrap()).unwrap();
    fs::rename(&other, file).unwrap();
}

/// Writes another text of the same size into a file, and sets its time back.
#[cfg(unix)]
fn overwrite(file: &Path) {
    // Clocks of file systems tick slowly.
    std::thread::sleep(std::time::Duration::from_millis(30));
    let metadata = fs::metadata(file).unwrap();
    let length = usize::try_from(metadata.len()).unwrap();
    fs::write(file, "x".repeat(length)).unwrap();
    let written = fs::File::options().write(true).open(file).unwrap();
    written.set_modified(metadata.modified().unwrap()).unwrap();
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_file_is_not_waited_for() {
    use std::os::unix::fs::PermissionsExt;
    // The file is exchanged before it is read, or before it is copied.
    for (when, name) in [("kept", "in/other.txt"), ("dropped", "in/kept.txt")] {
        let sandbox = copies();
        let exchange = format!("rm {name}; mkfifo {name}");
        let hook = format!("#!/bin/sh\ncase $1 in *{when}.txt) {exchange};; esac; cat\n");
        sandbox.write("hook", hook);
        fs::set_permissions(sandbox.path("hook"), fs::Permissions::from_mode(0o755)).unwrap();
        let read = ["dedup", "in", "--pre", "./hook", "--threads", "1"];
        let ran = sandbox.run(&[&read[..], &["-o", "out"]].concat());
        let told = ran.expect(2).stderr;
        assert!(told.contains("replaced by what is no file"), "{told}");
    }
}

#[cfg(unix)]
#[test]
fn a_reader_that_closes_early_leaves_no_list_of_what_is_dropped_and_that_is_said() {
    let sandbox = Sandbox::new();
    for number in 0..3000 {
        sandbox.write(
            format!("in/a-long-name-of-a-file-{number}.txt"),
            number.to_string(),
        );
    }
    let list = "dedup in -o - --list --removed gone.tsv";
    let program = env!("CARGO_BIN_EXE_dedupdb");
    let mut shell = sandbox.shell(&format!("({program} {list}; echo $? > code) | head -n 1"));
    let ran = crate::sandbox::Ran::of(shell.output().unwrap());
    assert_eq!(sandbox.names(), ["code", "in"]);
    assert_eq!(fs::read_to_string(sandbox.path("code")).unwrap(), "2\n");
    let said = "the reader of the output closed it early, so --removed is not written";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
}
