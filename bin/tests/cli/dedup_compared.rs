//! `dedup --against`: what is only compared with.

use std::fs;

use serde_json::json;

use crate::dedup::lines;
use crate::sandbox::Sandbox;

#[test]
fn what_is_only_compared_with_is_not_counted_as_input() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", lines(2).join("\n"));
    sandbox.write(
        "reference.jsonl",
        format!("{}\n{{\nnot JSON\n", lines(1)[0]),
    );
    let dedup = |against: &str, code| {
        let arguments = ["dedup", "in.jsonl", "-o", "out.jsonl", "--force", "--json"];
        let ran = sandbox.run(&[&arguments[..], &["--against", against]].concat());
        let ran = ran.expect(code);
        (ran.objects().remove(0), ran.stderr)
    };
    let (summary, told) = dedup("reference.jsonl", 2);
    let counts = [
        "documents",
        "kept",
        "dropped",
        "compared",
        "compared_skipped",
    ];
    assert_eq!(
        counts.map(|name| summary[name].as_u64().unwrap()),
        [2, 1, 1, 1, 2]
    );
    assert_eq!(summary["skipped"], json!({}));
    let note = "of --against, 2 files and records were skipped: 2 bad records; nothing was compared with these";
    assert!(told.contains(note), "{told}");
    fs::create_dir(sandbox.path("nothing")).unwrap();
    let (summary, told) = dedup("nothing", 0);
    assert_eq!(
        (&summary["kept"], &summary["compared"]),
        (&json!(2), &json!(0))
    );
    assert!(
        told.contains("--against has no document, so nothing was compared with it"),
        "{told}"
    );
    // A quiet command says it, too.
    let quiet = ["dedup", "-q", "in.jsonl", "-o", "x", "--against", "nothing"];
    let ran = sandbox.run(&quiet).expect(0);
    assert!(
        ran.stderr.starts_with("dedupdb: --against has no document"),
        "{}",
        ran.stderr
    );
    let ran = sandbox
        .run(&["dedup", "in.jsonl", "-o", "x", "--against", "-"])
        .expect(2);
    assert!(
        ran.stderr.contains("--against needs the name of a file"),
        "{}",
        ran.stderr
    );
}
