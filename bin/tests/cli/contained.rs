//! `--containment`: texts that are in others.

use crate::sandbox::{Sandbox, fields, text};

/// A notice and a copy of it, two articles that contain it, and a short text that is in one of them.
fn articles() -> Sandbox {
    let sandbox = Sandbox::new();
    let notice = text(1, 40);
    let short = text(4, 10);
    sandbox.write("article1", format!("{short} {} {notice}", text(2, 100)));
    sandbox.write("article2", format!("{} {notice}", text(3, 120)));
    sandbox.write("notice", &notice);
    sandbox.write("notice-copy", &notice);
    sandbox.write("short", short);
    let all = ["article1", "article2", "notice", "notice-copy", "short"];
    sandbox.add(&all, 0);
    sandbox
}

#[test]
fn a_line_is_the_contained_text_the_container_and_both_shares() {
    let sandbox = articles();
    let ran = sandbox.run(&["pairs", "--containment", "0.8"]).expect(0);
    let pairs = "\
notice\tnotice-copy\t1.0000\t1.0000\texact copy
notice\tarticle1\t1.0000\t0.2466
notice-copy\tarticle1\t1.0000\t0.2466
notice\tarticle2\t1.0000\t0.2308
notice-copy\tarticle2\t1.0000\t0.2308
";
    assert_eq!(ran.stdout, pairs);
    let note = "left out 1 text shorter than 20 words (fewer than 16 distinct shingles)";
    assert!(ran.stderr.contains(note), "{}", ran.stderr);

    let all = ["pairs", "--containment", "80%", "--shortest", "1"];
    let ran = sandbox.run(&all).expect(0);
    let short = "short\tarticle1\t1.0000\t0.0411";
    assert!(ran.lines().contains(&short), "{}", ran.stdout);
    assert_eq!(ran.stderr, "");

    let json = ["--json", "pairs", "--containment", "1", "--fold-copies"];
    let ran = sandbox.run(&json).expect(0);
    let objects = ran.objects();
    assert_eq!(objects.len(), 2);
    let names = [
        "containment",
        "error",
        "estimate",
        "exact_copy",
        "jaccard",
        "key_a",
        "key_b",
    ];
    assert_eq!(fields(&objects[0]), names);
    assert_eq!(objects[0]["containment"], 1.0);
}

#[test]
fn a_notice_does_not_connect_the_articles_that_contain_it() {
    let sandbox = articles();
    let ran = sandbox.run(&["clusters", "--containment", "0.8"]).expect(0);
    let cluster = "\
1\tarticle2\t1.0000\t1.0000
1\tnotice\t1.0000\t0.2308
1\tnotice-copy\t1.0000\t0.2308
";
    assert_eq!(ran.stdout, cluster);
    assert!(ran.stderr.contains("left out 1 text"), "{}", ran.stderr);
    let flat = ["--linkage", "representative", "--memory", "384MiB"];
    let flat = [&["clusters", "--containment", "0.8"], &flat[..]].concat();
    assert_eq!(sandbox.run(&flat).expect(0).stdout, cluster);
    let json = ["--json", "clusters", "--containment", "0.8"];
    let members = sandbox.run(&json).expect(0).objects();
    assert_eq!(members[1]["containment"], 1.0);
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let sandbox = articles();
    for command in ["pairs", "clusters"] {
        for share in ["0", "1.1", "nan", "-1", "half"] {
            let share = format!("--containment={share}");
            let ran = sandbox.run(&[command, &share]).expect(2);
            assert!(ran.stderr.contains("above 0 and up to 1"), "{}", ran.stderr);
        }
        let both = [command, "--containment", "0.8", "--threshold", "0.8"];
        sandbox.run(&both).expect(2);
        sandbox.run(&[command, "--shortest", "5"]).expect(2);
        let none = ["--store", "bare", command, "--containment", "0.8"];
        if command == "pairs" {
            let bare = ["--store", "bare", "init", "--no-shingles"];
            sandbox.run(&bare).expect(0);
        }
        let ran = sandbox.run(&none).expect(2);
        let advice = "init and without --no-shingles";
        assert!(ran.stderr.contains(advice), "{}", ran.stderr);
    }
    // A search by containment finds every pair.
    let all = ["pairs", "--containment", "0.8", "--exhaustive"];
    sandbox.run(&all).expect(0);
    let little = ["pairs", "--exhaustive", "--memory", "1MiB"];
    let ran = sandbox.run(&little).expect(2);
    assert!(ran.stderr.contains("at least 384MiB"), "{}", ran.stderr);
}
