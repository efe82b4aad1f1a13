//! `init`: parameters and what is said about them.

use serde_json::json;

use crate::sandbox::Sandbox;

#[test]
fn the_defaults_are_explained() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["init"]).expect(0);
    assert!(
        ran.stdout.contains("17 bands of 7 rows find 98.2%"),
        "{}",
        ran.stdout
    );
    for similarity in ["0.5", "0.6", "0.7", "0.8", "0.9", "1.0"] {
        assert!(
            ran.lines()
                .iter()
                .any(|line| line.trim().starts_with(similarity))
        );
    }
    assert!(
        ran.stdout.contains("256 bytes of signature"),
        "{}",
        ran.stdout
    );
    let one = ["--store", "one", "init", "--bands", "3x1"];
    let ran = sandbox.run(&one).expect(0);
    let told = "\n3 bands of 1 row find ";
    assert!(ran.stdout.contains(told), "{}", ran.stdout);
    let ran = sandbox.run(&["init", "--threshold", "60%"]).expect(2);
    let told =
        "already; change its parameters with reindex, such as `dedupdb reindex --threshold 0.6`";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
}

#[test]
fn every_parameter_is_stored() {
    let sandbox = Sandbox::new();
    let arguments = "--json init --shingling char:9 --no-lowercase --no-nfkc --family affine32 \
                     --seed 7 --permutations 64 --slot-bits 32 --bands 8x8 --threshold 75% \
                     --no-shingles";
    let arguments: Vec<&str> = arguments.split_whitespace().collect();
    let made = sandbox.run(&arguments).expect(0).objects().remove(0);
    let schema = json!({
        "shingling": "char:9", "lowercase": false, "nfkc": false, "fold": "none", "family": "affine32", "seed": 7,
        "permutations": 64, "slot_bits": 32, "bands": "8x8", "threshold": 0.75, "shingles": false, "passage": 0,
    });
    assert_eq!(made["schema"], schema);
    assert_eq!(made["signature_bytes"], 256);
    assert_eq!(made["posting_bytes"], 44.0);
    assert_eq!(made["shingle_bytes"], json!(null));
    let recall = made["recall"].as_f64().unwrap();
    assert!((recall - (1.0 - (1.0 - 0.75_f64.powi(8)).powi(8))).abs() < 1e-6);
    assert_eq!(made["curve"].as_array().unwrap().len(), 6);
    let stats = sandbox
        .run(&["--json", "stats"])
        .expect(0)
        .objects()
        .remove(0);
    assert_eq!(stats["schema"], schema);
}

#[test]
fn recall_leads_to_more_bands() {
    let sandbox = Sandbox::new();
    let bands = |store: &str, recall: &str| {
        let arguments = ["--json", "--store", store, "init", "--recall", recall];
        let made = sandbox.run(&arguments).expect(0).objects().remove(0);
        assert!(made["recall"].as_f64().unwrap() >= 0.9);
        (
            made["bands"].as_u64().unwrap(),
            made["rows"].as_u64().unwrap(),
        )
    };
    assert_ne!(bands("a", "90%"), bands("b", "0.999"));
}

#[test]
fn what_contradicts_itself_is_refused() {
    let sandbox = Sandbox::new();
    for arguments in [
        "--bands 18x7 --recall 0.9",
        "--bands 18x8",
        "--bands 18",
        "--threshold 1.1",
        "--slot-bits 12",
        "--shingling words",
        "--seed x",
        "--permutations 0",
    ] {
        let mut all = vec!["init"];
        all.extend(arguments.split(' '));
        let ran = sandbox.run(&all).expect(2);
        assert!(ran.stderr.len() > 20, "{arguments}: {}", ran.stderr);
    }
    assert!(!sandbox.path(".dedupdb").exists());
}

#[test]
fn a_random_seed_is_told() {
    let sandbox = Sandbox::new();
    let seed = |store: &str| {
        let arguments = ["--json", "--store", store, "init", "--seed", "random"];
        let made = sandbox.run(&arguments).expect(0).objects().remove(0);
        made["schema"]["seed"].as_u64().unwrap()
    };
    assert_ne!(seed("a"), seed("b"));
}

#[test]
fn shinglings_that_fold_nothing_can_be_chosen() {
    let sandbox = Sandbox::new();
    sandbox
        .run(&["--store", "a", "init", "--shingling", "byte:8"])
        .expect(0);
    sandbox
        .run(&["--store", "b", "init", "--shingling", "ids"])
        .expect(0);
    sandbox.write("x.txt", "1 2 3 4");
    sandbox.write("y.txt", "1 2 three");
    let summary = sandbox.add(&["--store", "b", "x.txt", "y.txt"], 2);
    assert_eq!(summary["skipped"], json!({ "bad text": 1 }));
    assert_eq!(summary["added"], 1);
}

/// The parameters that `init` stores with these options, and the recall at the threshold.
fn made(arguments: &str) -> (serde_json::Value, f64) {
    let sandbox = Sandbox::new();
    let all: Vec<&str> = "--json init"
        .split(' ')
        .chain(arguments.split(' '))
        .collect();
    let made = sandbox.run(&all).expect(0).objects().remove(0);
    (made["schema"].clone(), made["recall"].as_f64().unwrap())
}

#[test]
fn presets_are_what_the_tools_published() {
    let help = Sandbox::new().run(&["init", "--help"]).expect(0).stdout;
    for (preset, shingling, permutations, (bands, rows), threshold) in [
        ("fineweb", "word:5", 112, (14, 8), 0.75),
        ("nemo", "char:24", 260, (20, 13), 0.8),
        ("refinedweb", "word:5", 9000, (450, 20), 0.8),
        ("text-dedup", "word:5", 250, (25, 10), 0.7),
    ] {
        let (schema, recall) = made(&format!("--preset {preset}"));
        assert_eq!(schema["shingling"], shingling);
        assert_eq!(schema["permutations"], permutations);
        assert_eq!(schema["bands"], format!("{bands}x{rows}"));
        assert_eq!(schema["threshold"], threshold);
        assert_eq!(schema["lowercase"], preset != "nemo");
        let expected = 1.0 - (1.0 - f64::powi(threshold, rows)).powi(bands);
        assert!((recall - expected).abs() < 1e-4, "{preset}: {recall}");
        // Help has the same figures.
        let line = help.lines().find(|line| {
            let mut words = line.split_whitespace();
            words.next() == Some(preset) && words.next() == Some(shingling)
        });
        let line = line.unwrap_or_else(|| panic!("{preset} is in the help:\n{help}"));
        let shown = format!("{bands}x{rows}");
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[2], shown);
        assert_eq!(words[3], threshold.to_string());
        assert_eq!(words[4], format!("{:.1}%", recall * 100.0));
    }
}

#[test]
fn options_change_a_preset() {
    let (schema, _) = made("--preset fineweb --threshold 80% --shingling word:3 --seed 9");
    assert_eq!(schema["bands"], "14x8");
    assert_eq!(
        (&schema["threshold"], &schema["shingling"]),
        (&json!(0.8), &json!("word:3"))
    );
    assert_eq!(
        (&schema["permutations"], &schema["seed"]),
        (&json!(112), &json!(9))
    );
    let (schema, _) = made("--preset nemo --bands 10x26 --no-shingles");
    assert_eq!(
        (&schema["bands"], &schema["shingles"]),
        (&json!("10x26"), &json!(false))
    );
    let (schema, recall) = made("--preset nemo --recall 99%");
    assert_ne!(schema["bands"], "20x13");
    assert!(recall >= 0.99);
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["init", "--preset", "fineweb", "--permutations", "64"]);
    assert!(ran.expect(2).stderr.contains("112 permutations"));
}

#[test]
fn a_store_of_the_largest_preset_works() {
    let sandbox = Sandbox::with_testdata();
    sandbox.run(&["init", "--preset", "refinedweb"]).expect(0);
    sandbox.add(&["folder"], 0);
    let ran = sandbox.run(&["query", "query.txt"]).expect(0);
    assert_eq!(
        ran.stdout,
        "query.txt\tfolder/news/library-night.txt\t0.8561\n"
    );
    sandbox.run(&["check"]).expect(0);
}

#[test]
fn no_store_is_made_with_masks() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["init", "--family", "xor"]).expect(2);
    assert!(ran.stderr.contains("xor does not find"), "{}", ran.stderr);
    assert!(!sandbox.path("store").exists());
    sandbox.run(&["init"]).expect(0);
    let ran = sandbox.run(&["reindex", "--family", "xor"]).expect(2);
    assert!(ran.stderr.contains("xor does not find"), "{}", ran.stderr);
    sandbox.run(&["check"]).expect(0);
}
