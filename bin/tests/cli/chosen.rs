//! Which files are read, and programs that convert them to text.

use serde_json::json;

use crate::sandbox::{Sandbox, text};

fn files(sandbox: &Sandbox) {
    for (seed, name) in (1..).zip([
        "in/a.txt",
        "in/b.md",
        "in/.hidden.txt",
        "in/old/c.txt",
        "in/notes/d.txt",
        "in/notes/deep/e.md",
        "in/notes/skip.log",
    ]) {
        sandbox.write(name, text(seed, 20));
    }
    sandbox.write("in/.git/config", "[core]");
}

#[test]
fn patterns_choose_files_below_folders() {
    let cases: &[(&[&str], &[&str], u64)] = &[
        (
            &["--include", "*.md"],
            &["in/b.md", "in/notes/deep/e.md"],
            5,
        ),
        (
            &["--include", "notes/**", "--exclude", "*.log"],
            &["in/notes/d.txt", "in/notes/deep/e.md"],
            5,
        ),
        (
            &["--exclude", "old/", "--exclude", "/notes"],
            &["in/.hidden.txt", "in/a.txt", "in/b.md"],
            2,
        ),
        (
            &["--exclude", "*.txt", "--exclude", "*.log"],
            &["in/b.md", "in/notes/deep/e.md"],
            5,
        ),
    ];
    for (arguments, keys, excluded) in cases {
        let sandbox = Sandbox::new();
        files(&sandbox);
        let summary = sandbox.add(&[&["in"], *arguments].concat(), 0);
        assert_eq!(sandbox.keys(), *keys, "{arguments:?}");
        let skipped = json!({ "excluded": excluded, "version control": 1 });
        assert_eq!(summary["skipped"], skipped, "{arguments:?}");
    }
}

#[test]
fn gitignore_counts_on_request_alone() {
    let sandbox = Sandbox::new();
    files(&sandbox);
    sandbox.write("in/.gitignore", "*.log\nold/\n*.md\n");
    sandbox.write("in/notes/.gitignore", "!e.md\nd.txt\n");
    sandbox.add(&["in", "--gitignore"], 0);
    let files = [
        "in/.gitignore",
        "in/.hidden.txt",
        "in/a.txt",
        "in/notes/.gitignore",
    ];
    assert_eq!(
        sandbox.keys(),
        [&files[..], &["in/notes/deep/e.md"]].concat()
    );
    sandbox.add(&["in"], 0);
    assert_eq!(sandbox.keys().len(), 9);
}

#[test]
fn a_pattern_that_matches_nothing_or_is_none_is_named() {
    let sandbox = Sandbox::new();
    files(&sandbox);
    let no_match = "no file matches --include *.pdf";
    for (globs, message) in [
        (&["--include", "*.pdf"][..], no_match),
        (&["--include=*.pdf", "--exclude=a.txt"], no_match),
        (&["--exclude", "*"], "--exclude * leaves no file"),
    ] {
        let before = sandbox.names();
        for command in [
            &["add", "in"][..],
            &["add", "in", "--dry-run"],
            &["dedup", "in", "-o", "out"],
            &["dedup", "in", "-o", "out.jsonl", "--removed", "gone.tsv"],
            &["dedup", "in", "-o", "-", "--store", "s"],
            &["move", "in", "out"],
            &["report", "in", "-o", "out.html"],
        ] {
            let ran = sandbox.run(&[command, globs].concat()).expect(2);
            assert!(ran.stderr.contains(message), "{}", ran.stderr);
            let said = (ran.stdout.as_str(), ran.stderr.lines().count());
            assert_eq!(said, ("", 1), "{command:?}");
            assert_eq!(sandbox.names(), before, "{command:?}");
        }
    }
    // An input that cannot be read is reported as such, and a folder may be empty.
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    let gone = ["dedup", "gone", "-o", "out", "--include", "*.pdf"];
    let ran = sandbox.run(&gone).expect(2);
    assert!(ran.stderr.contains("gone: there is no"), "{}", ran.stderr);
    sandbox.run(&["dedup", "empty", "-o", "none"]).expect(0);
    for wrong in ["a[", "", "!x"] {
        let ran = sandbox.run(&["add", "in", "--include", wrong]).expect(2);
        assert!(ran.stderr.contains("--include"), "{}", ran.stderr);
    }
    // A file that is named is read.
    sandbox.add(&["in/a.txt", "--include", "*.pdf"], 0);
    assert_eq!(sandbox.keys(), ["in/a.txt"]);
    // If a folder has no file for the program, a note says so, and it is no error.
    for (glob, said) in [("*.pdf", 1), ("*.MD", 0)] {
        let ran = sandbox.run(&["query", "in", "--pre", "cat", "--pre-glob", glob]);
        let note = format!("no file matches --pre-glob {glob}\n");
        assert_eq!(ran.stderr.matches(&note).count(), said, "{}", ran.stderr);
    }
}

/// A program that runs these lines.
#[cfg(unix)]
fn program(sandbox: &Sandbox, lines: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    sandbox.write("convert", format!("#!/bin/sh\n{lines}\n"));
    let path = sandbox.path("convert");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

#[cfg(unix)]
#[test]
fn stored_files_that_are_left_out_later_are_told() {
    let sandbox = Sandbox::new();
    let convert = program(&sandbox, "tail -c +9");
    let pdf = |seed| format!("%PDF-1.4{}", text(seed, 30));
    sandbox.write("in/a.pdf", pdf(1));
    sandbox.write("in/b.pdf", pdf(2));
    let first = sandbox.add(&["in", "--exclude", "b.pdf", "--pre", &convert], 0);
    assert_eq!((&first["added"], &first["stale"]), (&1.into(), &0.into()));
    sandbox.write("in/a.pdf", pdf(3));
    let ran = sandbox.run(&["--json", "add", "in"]).expect(0);
    let note = "1 file that was left out is stored as it was before (first: in/a.pdf); use the options that were \
                used then, such as --pre, or forget the old text with `dedupdb remove in/a.pdf`\n";
    assert!(ran.stderr.ends_with(note), "{}", ran.stderr);
    assert_eq!(ran.objects()[0]["stale"], 1);
    assert_eq!(sandbox.keys(), ["in/a.pdf"]);
}

#[cfg(unix)]
#[test]
fn a_program_makes_text_of_files() {
    let sandbox = Sandbox::new();
    let convert = program(&sandbox, "echo \"$1:\"; tail -c +6");
    sandbox.write("in/a.pdf", format!("%PDF-{}", text(1, 30)));
    sandbox.write("in/b.pdf", format!("%PDF-{}", text(2, 30)));
    sandbox.write("in/c.txt", text(1, 30));
    let arguments = ["in", "--pre", &convert, "--pre-glob", "*.pdf"];
    let summary = sandbox.add(&arguments, 0);
    assert_eq!(
        (&summary["added"], &summary["near_duplicates"]),
        (&json!(3), &json!(1))
    );
    assert_eq!(sandbox.keys(), ["in/a.pdf", "in/b.pdf", "in/c.txt"]);
    let again = sandbox.add(&arguments, 0);
    assert_eq!(again["unchanged"], 3, "{again}");
    // The files themselves are kept.
    let dedup = [
        "dedup",
        "in",
        "-o",
        "out",
        "--pre",
        &convert,
        "--pre-glob",
        "*.pdf",
    ];
    sandbox.run(&dedup).expect(0);
    let kept = std::fs::read(sandbox.path("out/a.pdf")).unwrap();
    assert_eq!(kept, std::fs::read(sandbox.path("in/a.pdf")).unwrap());
    assert!(!sandbox.path("out/c.txt").exists());
}

/// The processes that were started with this argument.
#[cfg(target_os = "linux")]
fn running(argument: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines =
        entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).ok());
    lines
        .filter(|line| line.split('\0').any(|found| found == argument))
        .count()
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_that_fails_or_hangs_is_named_and_ended() {
    let sandbox = Sandbox::new();
    let seconds = format!("{}.25", 3_000_000 + std::process::id());
    let lines = format!(
        "case $(cat) in\nfail) echo half; echo 'no such  font' >&2; exit 3;;\n\
         hang) echo half; sleep {seconds} & sleep {seconds};;\nlarge) yes;;\nesac\necho whole"
    );
    let convert = program(&sandbox, &lines);
    for name in ["fail", "hang", "large", "fine"] {
        sandbox.write(format!("in/{name}"), name);
    }
    let arguments = [
        "in",
        "--pre",
        &convert,
        "--pre-time",
        "1s",
        "--max-document",
        "1MiB",
    ];
    let ran = sandbox.run(&[&["add"][..], &arguments].concat()).expect(2);
    let (fail, hang) = (
        format!("in/fail: {convert}: exit status: 3: no such font"),
        format!("in/hang: {convert}: it did not end within 1 s"),
    );
    for line in [fail, hang] {
        assert!(ran.stderr.contains(&line), "{}", ran.stderr);
    }
    assert_eq!(sandbox.keys(), ["in/fine"]);
    assert_eq!(running(&seconds), 0);
}

#[cfg(unix)]
#[test]
fn a_program_that_cannot_be_started_is_told_before_anything_is_read() {
    let sandbox = Sandbox::new();
    sandbox.write("in/a", "a text");
    sandbox.write("in/b", "another text");
    sandbox.write("convert.sh", "#!/bin/sh\ncat\n");
    for (program, told) in [
        ("/nowhere/at all", "there is no such program"),
        ("cat -v", "name one without arguments"),
        ("no-such-program-anywhere", "there is no such program"),
        ("./convert.sh", "chmod +x ./convert.sh"),
        (".", "there is no such program"),
        ("pdftotext", "writes a file beside PATH"),
        (
            "/usr/bin/pdftohtml",
            "put `/usr/bin/pdftohtml - -` into a script",
        ),
    ] {
        for command in [&["add", "in"][..], &["dedup", "in", "-o", "out"]] {
            let ran = sandbox.run(&[command, &["--pre", program]].concat());
            let ran = ran.expect(2);
            assert!(ran.stderr.contains(told), "{program}: {}", ran.stderr);
            assert_eq!(sandbox.names(), ["convert.sh", "in"], "{program}");
        }
    }
    let ran = sandbox.run(&["add", "in", "--pre", "cat"]).expect(0);
    assert_eq!(sandbox.keys(), ["in/a", "in/b"], "{}", ran.stderr);
}

#[cfg(unix)]
#[test]
fn files_in_which_a_program_finds_no_text_are_told_and_no_copies() {
    let sandbox = Sandbox::new();
    let convert = program(&sandbox, "printf ' \\f\\n'");
    for name in ["in/a.pdf", "in/b.pdf"] {
        sandbox.write(name, format!("%PDF-1.7 {name}"));
    }
    let arguments = ["move", "in", "aside", "--pre", &convert];
    let ran = sandbox.run(&arguments).expect(2);
    let told = |line: &str| line.contains(".pdf: ") && line.ends_with("convert: it found no text");
    let lines = ran.stderr.lines().filter(|line| told(line));
    assert_eq!(lines.count(), 2, "{}", ran.stderr);
    assert!(sandbox.path("in/a.pdf").exists() && sandbox.path("in/b.pdf").exists());
}

#[cfg(unix)]
#[test]
fn capital_letters_of_names_are_as_small_ones_for_a_program() {
    let sandbox = Sandbox::new();
    let convert = program(&sandbox, "echo a text of letters");
    for name in ["in/a.pdf", "in/B.PDF", "in/c.txt"] {
        sandbox.write(name, "%PDF-1.7");
    }
    let arguments = ["add", "in", "--pre", &convert, "--pre-glob", "*.pdf"];
    sandbox.run(&arguments).expect(0);
    assert_eq!(sandbox.keys(), ["in/B.PDF", "in/a.pdf"]);
}
