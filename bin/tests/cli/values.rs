//! Sizes, times and shares as people type them.

use crate::sandbox::{Sandbox, text};

#[test]
fn one_form_of_each_is_as_good_as_another() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", text(1, 40));
    for arguments in [
        "--wait 30 add a.txt --memory 1GiB --max-document 512MB",
        "--wait 30s add a.txt --memory 1.5g --max-document 1048576",
        "--wait 2min add a.txt --memory 512m --max-document 64kB",
        "--wait 500ms add a.txt --memory 1TiB",
        "remove --older-than 90d --dry-run",
        "remove --older-than 1.5h --dry-run",
        "query --key a.txt --threshold 80%",
        "query --key a.txt --threshold .8",
        "pairs --threshold 97.5%",
    ] {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let ran = sandbox.run(&arguments);
        let said = !ran.stderr.contains("invalid value");
        assert!(said, "{arguments:?}: {}", ran.stderr);
    }
    let threshold = |store: &str, share: &str| {
        let arguments = ["--json", "--store", store, "init", "--threshold", share];
        sandbox.run(&arguments).expect(0).objects()[0]["schema"]["threshold"].clone()
    };
    assert_eq!(threshold("x", "70%"), threshold("y", "0.7"));
}

#[test]
fn what_cannot_be_read_is_answered_with_an_example() {
    let sandbox = Sandbox::new();
    for (arguments, example) in [
        ("list --wait soon", "30s"),
        ("list --wait 2m", "2min"),
        ("add x --memory 1e9", "64MiB"),
        ("add x --memory 64MiB", "at least 384MiB"),
        ("compact --memory 383MiB", "at least 384MiB"),
        ("add x --max-document 0", "64MiB"),
        ("query x --threshold 80", "80%"),
        ("init --recall 0", "98%"),
        ("remove --older-than 90", "90d"),
        ("init --bands 20", "'--bands <BxR>': give BANDSxROWS"),
        (
            "init --shingling words",
            "'--shingling <KIND>': \"words\" is not",
        ),
        ("init --slot-bits 12", "'--slot-bits <BITS>': a slot is"),
        ("init --family fnv", "'--family <NAME>': \"fnv\" is no"),
        ("remove --older-than 500ms", "90d"),
    ] {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let ran = sandbox.run(&arguments).expect(2);
        let first = ran.stderr.lines().next().unwrap();
        assert!(first.contains(example), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn more_threads_than_a_machine_has_change_no_answer() {
    let sandbox = Sandbox::new();
    for n in 0..20 {
        sandbox.write(format!("{n}.txt"), text(n, 40));
    }
    let run = |threads: &str, store: &str| {
        let with = |arguments: &[&str]| {
            let options = ["--store", store, "--threads", threads];
            sandbox
                .run(&[&options, arguments].concat())
                .expect(0)
                .stdout
        };
        let files: Vec<String> = (0..20).map(|n| format!("{n}.txt")).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        with(&[&["add"], &files[..]].concat());
        with(&["list"])
    };
    assert_eq!(run("100000", "many"), run("1", "one"));
}
