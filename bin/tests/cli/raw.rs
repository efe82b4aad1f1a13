//! Output for scripts: unescaped keys, no colours, and pipes that close early.

use serde_json::json;

use crate::sandbox::Sandbox;

/// A store with keys that no line could hold.
fn odd_keys() -> Sandbox {
    let sandbox = Sandbox::new();
    let records = ["a\nb", "a\tc", "a\u{1b}[31md", "plain"];
    let records = records.map(|id| json!({ "id": id, "text": id }).to_string());
    sandbox.write("x.jsonl", records.join("\n"));
    sandbox.add(&["x.jsonl"], 0);
    sandbox
}

#[test]
fn keys_are_spelled_out_on_lines_and_raw_with_print0() {
    let sandbox = odd_keys();
    let ran = sandbox.run(&["list"]).expect(0);
    assert_eq!(ran.lines(), ["a\\tc", "a\\nb", "a\\u{1b}[31md", "plain"]);
    let raw = "a\tc\0a\nb\0a\u{1b}[31md\0plain\0";
    assert_eq!(sandbox.run(&["list", "-0"]).expect(0).stdout, raw);
    let dry = ["remove", "--dry-run", "--print0", "--prefix", "a"];
    let ran = sandbox.run(&dry).expect(0);
    assert_eq!(ran.stdout, raw.strip_suffix("plain\0").unwrap());
    assert_eq!(ran.stderr, "would remove 3 documents\n");
}

#[test]
fn print0_goes_with_nothing_that_prints_otherwise() {
    let sandbox = odd_keys();
    for arguments in [
        &["list", "-0", "--json"][..],
        &["--json", "list", "-0"],
        &["list", "-0", "--long"],
        &["remove", "-0", "--prefix", "a"],
        &["remove", "-0", "--dry-run", "--json", "--prefix", "a"],
    ] {
        let ran = sandbox.run(arguments).expect(2);
        assert!(ran.stdout.is_empty(), "{arguments:?}");
    }
    assert_eq!(sandbox.keys().len(), 4);
    sandbox.write(
        "nul.jsonl",
        json!({ "id": "a\0b", "text": "x" }).to_string(),
    );
    sandbox.add(&["nul.jsonl"], 0);
    let ran = sandbox.run(&["list", "-0"]).expect(2);
    assert!(ran.stderr.contains("use --json"), "{}", ran.stderr);
}

#[test]
fn nothing_is_coloured_where_nobody_looks_or_nobody_wants_it() {
    let sandbox = Sandbox::new();
    let coloured = |variables: &[(&str, &str)], arguments: &[&str]| {
        let mut command = sandbox.command(arguments);
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        let output = command.envs(variables.iter().copied()).output().unwrap();
        [output.stdout, output.stderr].concat().contains(&0x1b)
    };
    for arguments in [&["--help"][..], &["lisst"], &["list"]] {
        assert!(!coloured(&[], arguments), "{arguments:?}");
        let never = [("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")];
        assert!(!coloured(&never, arguments), "{arguments:?}");
    }
    assert!(coloured(&[("CLICOLOR_FORCE", "1")], &["--help"]));
}
