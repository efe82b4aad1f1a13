//! `common`: the passages that most documents have.

use serde_json::json;

use crate::sandbox::{Sandbox, text};

/// Six letters with a footer of 25 words, as files or as lines.
fn letters() -> Sandbox {
    let sandbox = Sandbox::new();
    let footer = text(9, 25);
    let mut lines = String::new();
    for number in 0..6 {
        let letter = format!("{}\n\n{footer}\n", text(20 + number, 30));
        lines.push_str(&json!({"id": number, "text": &letter}).to_string());
        lines.push('\n');
        sandbox.write(format!("letters/{number}.txt"), letter);
    }
    sandbox.write("letters.jsonl", lines);
    sandbox
}

#[test]
fn a_footer_is_found_and_can_be_ignored() {
    let sandbox = letters();
    for (input, key) in [("letters", "letters/0.txt"), ("letters.jsonl", "0")] {
        let named = ["--store", &format!("of {input}")].map(str::to_owned);
        let store: Vec<&str> = named.iter().map(String::as_str).collect();
        let run = |args: &[&str]| sandbox.run(&[&store[..], args].concat());
        run(&["add", "-q", input]).expect(0);
        let ran = run(&["common"]).expect(0);
        let columns: Vec<&str> = ran.stdout.trim().split('\t').collect();
        assert_eq!(columns[..2], ["6", "25"]);
        assert_eq!((columns.len(), columns[3]), (6, key));
        let found = run(&["--json", "common"]).expect(0);
        assert_eq!(found.objects()[0]["text"], text(9, 25));
        sandbox.write("common.jsonl", found.stdout);
        run(&["pairs", "--containment", "0.3"]).expect(0);
        let ignoring = ["pairs", "--containment", "0.3", "--ignore", "common.jsonl"];
        run(&ignoring).expect(1);
    }
}

#[test]
fn texts_that_are_gone_are_read_from_elsewhere() {
    let sandbox = letters();
    sandbox.run(&["add", "-q", "letters"]).expect(0);
    std::fs::rename(sandbox.path("letters"), sandbox.path("moved")).unwrap();
    let ran = sandbox.run(&["common"]).expect(2);
    assert_eq!(ran.stdout, "");
    let said = "1 of 1 text with common passages cannot be read again";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    for from in ["moved", "letters.jsonl"] {
        let ran = sandbox.run(&["common", "--from", from]).expect(0);
        assert!(ran.stdout.starts_with("6\t25\t"), "{from}: {}", ran.stdout);
    }
    let ran = sandbox.run(&["common", "--from", "nowhere"]).expect(2);
    assert!(
        ran.stderr
            .contains("nowhere: there is no such file or folder")
    );
    let longer = ["common", "--at-least", "26", "--from", "moved"];
    sandbox.run(&longer).expect(1);
    sandbox.run(&["common", "--at-least", "2"]).expect(2);
    let fewer = ["common", "--min-documents", "7", "--from", "moved"];
    sandbox.run(&fewer).expect(1);
}
