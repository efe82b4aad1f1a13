//! `clusters`: groups of similar documents.

use crate::sandbox::{Sandbox, fields};

/// Five texts, each with a similarity of 16 / 19 to the next, a copy of the first, and a text that resembles none.
fn chain() -> Sandbox {
    let sandbox = Sandbox::new();
    let text = |first: usize, words: usize| {
        let words = (first..first + words).map(|word| format!("word{word}"));
        words.collect::<Vec<_>>().join(" ")
    };
    for number in 0..5 {
        sandbox.write(format!("link{number}"), text(number * 6, 60));
    }
    sandbox.write("copy0", text(0, 60));
    sandbox.write("other", text(1000, 60));
    sandbox.run(&["init", "--recall", "0.9999"]).expect(0);
    sandbox
}

#[test]
fn a_line_is_a_cluster_a_key_and_a_similarity() {
    let sandbox = chain();
    sandbox.run(&["clusters"]).expect(1);
    sandbox.add(&["other"], 0);
    sandbox.run(&["clusters"]).expect(1);
    let all = sandbox.run(&["clusters", "--min-size", "1"]).expect(0);
    assert_eq!(all.stdout, "1\tother\t1.0000\n");
    for link in ["link0", "link1", "copy0", "link2", "link3", "link4"] {
        sandbox.add(&[link], 0);
    }
    let connected = "\
1\tcopy0\t1.0000
1\tlink0\t1.0000\texact copy
1\tlink1\t0.8065
1\tlink2\t0.6471
1\tlink3\t0.5135
1\tlink4\t0.4000
";
    let ran = sandbox.run(&["clusters"]).expect(0);
    assert_eq!(ran.stdout, connected);
    let represented = "\
1\tcopy0\t1.0000
1\tlink0\t1.0000\texact copy
1\tlink1\t0.8065
2\tlink2\t1.0000
2\tlink3\t0.8065
";
    let ran = sandbox
        .run(&["clusters", "--linkage", "representative"])
        .expect(0);
    assert_eq!(ran.stdout, represented);
    let ran = sandbox
        .run(&["clusters", "--linkage", "representative", "--min-size", "3"])
        .expect(0);
    assert_eq!(ran.lines().len(), 3);
    let ran = sandbox.run(&["clusters", "--threshold", "90%"]).expect(0);
    assert_eq!(ran.lines().len(), 2);
    let far = ["clusters", "--exhaustive", "--linkage", "representative"];
    let ran = sandbox.run(&[&far[..], &["--threshold", "0.5"]].concat());
    assert!(ran.stderr.is_empty(), "{}", ran.stderr);
    assert_eq!(
        ran.expect(0).stdout,
        connected.replace("1\tlink4\t0.4000\n", "")
    );
    sandbox.run(&["clusters", "--linkage", "single"]).expect(2);
    sandbox.run(&["clusters", "--threshold", "0"]).expect(2);
}

#[test]
fn an_object_tells_how_far_its_cluster_reaches() {
    let sandbox = chain();
    sandbox.add(&["link0", "link1", "link2", "copy0", "other"], 0);
    let objects = sandbox.run(&["--json", "clusters"]).expect(0).objects();
    assert_eq!(objects.len(), 4);
    let expected = [
        "cluster",
        "error",
        "estimate",
        "exact_copy",
        "jaccard",
        "key",
        "lowest",
        "representative",
    ];
    for object in &objects {
        assert_eq!(fields(object), expected);
        assert_eq!(object["representative"], "copy0");
        let lowest = object["lowest"].as_f64().unwrap();
        assert!((lowest - 44.0 / 68.0).abs() < 1e-9, "{lowest}");
    }
    assert_eq!(objects[1]["key"], "link0");
    assert_eq!(objects[1]["exact_copy"], true);
}

#[test]
fn stats_count_clusters_by_their_sizes() {
    let sandbox = Sandbox::with_testdata();
    sandbox.add(&["folder", "pages.jsonl"], 0);
    let lines = sandbox.run(&["clusters"]).expect(0).lines().len();
    let stats = sandbox.run(&["--json", "stats", "--clusters"]).expect(0);
    let stats = stats.objects().remove(0);
    let ranks = stats["clusters"].as_array().unwrap();
    let documents = ranks.iter().map(|rank| rank["documents"].as_u64().unwrap());
    assert_eq!(documents.sum::<u64>(), lines as u64);
    for rank in ranks {
        let number = |name: &str| rank[name].as_u64().unwrap();
        let (clusters, documents) = (number("clusters"), number("documents"));
        assert!(clusters * number("from") <= documents, "{rank}");
        assert!(documents <= clusters * number("to"), "{rank}");
    }
    let ran = sandbox.run(&["stats", "--clusters"]).expect(0);
    assert!(ran.stdout.contains("\n  of 2 "), "{}", ran.stdout);
    let plain = sandbox.run(&["--json", "stats"]).expect(0).objects();
    assert!(plain[0].get("clusters").is_none());
}
