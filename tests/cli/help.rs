//! Help, the version, and mistyped commands.

use crate::sandbox::Sandbox;

const VERBS: [&str; 12] = [
    "init", "add", "query", "remove", "list", "show", "pairs", "stats", "check", "tune", "backup",
    "dedup",
];

#[test]
fn every_verb_has_help_with_examples() {
    let sandbox = Sandbox::new();
    let all = sandbox.run(&["--help"]).expect(0);
    for verb in VERBS {
        assert!(
            all.stdout.contains(&format!("\n  {verb} ")),
            "{verb} is listed"
        );
        let ran = sandbox.run(&[verb, "--help"]).expect(0);
        assert!(ran.stdout.contains("Examples:"), "{verb} has examples");
        assert!(ran.stdout.contains(&format!("dedupdb {verb}")), "{verb}");
        assert!(ran.stderr.is_empty());
        sandbox.run(&[verb, "-h"]).expect(0);
    }
    assert!(
        sandbox
            .run(&["--version"])
            .expect(0)
            .stdout
            .starts_with("dedupdb ")
    );
}

#[test]
fn a_mistyped_command_gets_a_suggestion() {
    let ran = Sandbox::new().run(&["quary", "x"]).expect(2);
    assert!(ran.stderr.contains("'query'"), "{}", ran.stderr);
    assert!(ran.stdout.is_empty());
    Sandbox::new().run(&[]).expect(2);
    Sandbox::new().run(&["list", "--nonsense"]).expect(2);
}

#[test]
fn global_options_fit_before_and_after_the_command() {
    let sandbox = Sandbox::new();
    sandbox
        .run(&[
            "--store",
            "a",
            "--json",
            "--quiet",
            "--threads",
            "1",
            "init",
        ])
        .expect(0);
    sandbox
        .run(&[
            "init",
            "--store",
            "b",
            "--json",
            "--quiet",
            "--threads",
            "1",
        ])
        .expect(0);
    assert!(sandbox.path("a").is_dir() && sandbox.path("b").is_dir());
}
