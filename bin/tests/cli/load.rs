//! `load`: sketches into a store.

use std::collections::BTreeMap;
use std::sync::Arc;

use dedupdb::Schema;
use dedupdb::batch::{KeyWidth, Mark, Sketcher, TextSketch};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use crate::sandbox::{Sandbox, text};

const SCHEMA: &str = "message m { optional binary key (UTF8); optional binary hash; optional int64 bytes; \
                      required int32 size; optional binary packed; required binary parameters (UTF8);";

/// The column that only sketches with a passage have.
const FINGERPRINTS: &str = "optional binary fingerprints;";

/// Sketches, one per row. A changed row is not a sketch of its text.
#[derive(Clone)]
struct MadeSketches {
    keys: Vec<Option<String>>,
    hashes: Vec<Option<Vec<u8>>>,
    bytes: Vec<i64>,
    sizes: Vec<i32>,
    packed: Vec<Vec<u8>>,
    mark: String,
    fingerprints: Option<Vec<Vec<u8>>>,
}

impl MadeSketches {
    fn of(documents: &[(String, String)], schema: &Schema) -> MadeSketches {
        let sketcher = Sketcher::new(schema, KeyWidth::Bits64).unwrap();
        let texts: Vec<&str> = documents.iter().map(|(_, text)| text.as_str()).collect();
        let sketches = sketcher.sketch_all(&texts).into_iter();
        let sketches: Vec<TextSketch> = sketches.map(Result::unwrap).collect();
        let fingerprints = sketches.iter().map(|sketch| sketch.fingerprints.clone());
        let hashes = sketches.iter().map(|sketch| Some(sketch.hash.to_vec()));
        let sizes = sketches.iter().map(|sketch| sketch.size);
        MadeSketches {
            keys: documents.iter().map(|(key, _)| Some(key.clone())).collect(),
            hashes: hashes.collect(),
            bytes: texts
                .iter()
                .map(|text| i64::try_from(text.len()).unwrap())
                .collect(),
            sizes: sizes.map(|size| i32::try_from(size).unwrap()).collect(),
            packed: sketches
                .iter()
                .map(|sketch| sketch.packed.clone())
                .collect(),
            mark: Mark::new(schema).to_string(),
            fingerprints: (schema.passage() > 0).then(|| fingerprints.collect()),
        }
    }

    /// A file with a group for every `group` rows.
    fn file(&self, group: usize) -> Vec<u8> {
        let last = self.fingerprints.as_ref().map_or("", |_| FINGERPRINTS);
        let schema = parse_message_type(&format!("{SCHEMA} {last} }}")).unwrap();
        let schema = Arc::new(schema);
        let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
        for start in (0..self.keys.len()).step_by(group) {
            let rows = start..(start + group).min(self.keys.len());
            let mut columns = file.next_row_group().unwrap();
            let keys = self.keys[rows.clone()].iter();
            bytes(
                &mut columns,
                keys.map(|key| key.as_deref().map(str::as_bytes)),
                true,
            );
            let hashes = self.hashes[rows.clone()].iter();
            bytes(&mut columns, hashes.map(|hash| hash.as_deref()), true);
            let mut column = columns.next_column().unwrap().unwrap();
            let levels = vec![1; rows.len()];
            let typed = column.typed::<Int64Type>();
            typed
                .write_batch(&self.bytes[rows.clone()], Some(&levels), None)
                .unwrap();
            column.close().unwrap();
            let mut column = columns.next_column().unwrap().unwrap();
            let typed = column.typed::<Int32Type>();
            typed
                .write_batch(&self.sizes[rows.clone()], None, None)
                .unwrap();
            column.close().unwrap();
            let packed = self.packed[rows.clone()].iter();
            bytes(&mut columns, packed.map(|set| Some(set.as_slice())), true);
            let marks = rows.clone().map(|_| Some(self.mark.as_bytes()));
            bytes(&mut columns, marks, false);
            if let Some(fingerprints) = &self.fingerprints {
                let values = fingerprints[rows].iter();
                bytes(
                    &mut columns,
                    values.map(|value| Some(value.as_slice())),
                    true,
                );
            }
            columns.close().unwrap();
        }
        file.into_inner().unwrap()
    }
}

/// Writes the next column.
fn bytes<'a>(
    columns: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: impl Iterator<Item = Option<&'a [u8]>>,
    is_optional: bool,
) {
    let values: Vec<Option<&[u8]>> = values.collect();
    let levels: Vec<i16> = values
        .iter()
        .map(|value| i16::from(value.is_some()))
        .collect();
    let there: Vec<ByteArray> = values
        .into_iter()
        .flatten()
        .map(|value| ByteArray::from(value.to_vec()))
        .collect();
    let mut column = columns.next_column().unwrap().unwrap();
    let typed = column.typed::<ByteArrayType>();
    typed
        .write_batch(&there, is_optional.then_some(&levels), None)
        .unwrap();
    column.close().unwrap();
}

/// Documents with near-copies, copies, and texts of few words and of none.
fn documents() -> Vec<(String, String)> {
    let body = |n: u64| match n % 10 {
        0 => "few words".to_owned(),
        1 => String::new(),
        2 => text(n / 40, 30),
        _ => format!("{} and {n}", text(n / 5, 60)),
    };
    (0..300)
        .map(|n| (format!("doc/{:03}", n * 7 % 300), body(n)))
        .collect()
}

/// The answers of a store, and what it knows about each document.
fn answers(sandbox: &Sandbox, store: &str) -> [Vec<String>; 3] {
    let ask = |arguments: &[&str]| {
        let ran = sandbox.run(&[&["--store", store, "--json"], arguments].concat());
        let of_time = |line: &str| {
            let mut object: BTreeMap<String, serde_json::Value> =
                serde_json::from_str(line).unwrap();
            object.remove("added");
            // A sketch does not say where its text came from.
            object.retain(|name, _| !name.starts_with("source"));
            serde_json::to_string(&object).unwrap()
        };
        ran.expect(0).stdout.lines().map(of_time).collect()
    };
    [
        ask(&["list"]),
        ask(&["pairs"]),
        ask(&["clusters", "--linkage", "representative"]),
    ]
}

#[test]
fn sketches_make_the_store_that_their_texts_make() {
    let sandbox = Sandbox::new();
    let schema = Schema::builder().threshold(0.7).build().unwrap();
    let documents = documents();
    let lines = documents
        .iter()
        .map(|(key, text)| format!("{}\n", serde_json::json!({ "id": key, "text": text })));
    sandbox.write("all.jsonl", lines.collect::<String>());
    sandbox
        .run(&["--store", "texts", "init", "--threshold", "0.7"])
        .expect(0);
    sandbox
        .run(&["--store", "texts", "add", "all.jsonl"])
        .expect(0);
    let files = [
        "sketches/part-0.parquet",
        "sketches/part-1.PARQUET",
        "sketches/year=2/part-2.parquet",
    ];
    for (file, part) in files.iter().zip(documents.chunks(110)) {
        sandbox.write(file, MadeSketches::of(part, &schema).file(70));
    }
    sandbox.write("sketches/_SUCCESS", "");
    sandbox.write("sketches/_temporary/part-3.parquet", "not yet one");
    let ran = sandbox
        .run(&["--store", "sketched", "--json", "load", "sketches"])
        .expect(0);
    let summary = ran.objects().remove(0);
    assert_eq!(
        (&summary["added"], &summary["documents"]),
        (&300.into(), &300.into())
    );
    assert!(summary["exact_copies"].as_u64() > Some(50), "{summary}");
    let expected = answers(&sandbox, "texts");
    assert!(expected[1].len() > 100);
    assert_eq!(answers(&sandbox, "sketched"), expected);
    sandbox.run(&["--store", "sketched", "check"]).expect(0);

    // One store per part, merged.
    for (part, file) in files.iter().enumerate() {
        let store = format!("part-{part}");
        sandbox.run(&["--store", &store, "load", file]).expect(0);
    }
    sandbox
        .run(&["--store", "merged", "merge", "part-0", "part-1", "part-2"])
        .expect(0);
    assert_eq!(answers(&sandbox, "merged"), expected);

    // The same texts, added later, are unchanged.
    let ran = sandbox
        .run(&["--store", "sketched", "--json", "add", "all.jsonl"])
        .expect(0);
    assert_eq!(ran.objects().remove(0)["unchanged"], 300);
    let load = ["--store", "sketched", "--json", "load", "sketches/part-*"];
    let ran = sandbox.run(&load).expect(0);
    assert_eq!(ran.objects().remove(0)["unchanged"], 220);
}

#[test]
fn what_is_no_sketch_is_named_with_its_file() {
    let sandbox = Sandbox::new();
    let (documents, schema) = (documents(), Schema::default());
    let sound = MadeSketches::of(&documents[..40], &schema);
    sandbox.write("sketches/a.parquet", sound.file(40));
    let refused = |file: Vec<u8>, message: &str| {
        sandbox.write("sketches/b.parquet", file);
        let ran = sandbox.run(&["load", "sketches"]).expect(2);
        assert!(
            ran.stderr.contains("b.parquet: ") && ran.stderr.contains(message),
            "{}",
            ran.stderr
        );
    };
    let mut cut = sound.clone();
    cut.packed[33].truncate(9);
    refused(cut.file(20), "row 34: the sketch of \"doc/231\" is damaged");
    let mut short = sound.clone();
    short.hashes[2] = Some(vec![1; 31]);
    refused(
        short.file(20),
        "row 3: the sketch of \"doc/014\" is damaged",
    );
    let mut other = sound.clone();
    other.mark = Mark::new(&Schema::builder().seed(2).build().unwrap()).to_string();
    refused(other.file(20), "the parameters differ: seed");
    other.mark = "x".to_owned();
    refused(other.file(20), "is no line of parameters");
    refused(sound.file(20)[..2000].to_vec(), "damaged");
    refused(
        crate::parquet::parquet(
            "message m { optional binary key (UTF8); required binary text (UTF8); }",
            &[(Some("a"), "text".to_owned())],
            9,
            parquet::basic::Compression::UNCOMPRESSED,
        ),
        "these are no sketches: there is no column \"hash\"",
    );
    sandbox.write("empty/_SUCCESS", "");
    for (path, message) in [
        ("nothing", "nothing: "),
        ("*.none", "nothing matches this pattern"),
        ("empty", "no file of sketches"),
    ] {
        let ran = sandbox.run(&["load", path]).expect(2);
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    }

    // MadeSketches without a sketch are left out and reported, and the rest is stored.
    let mut odd = sound;
    odd.hashes[5] = None;
    odd.keys[7] = None;
    odd.keys[9] = Some(String::new());
    sandbox.write("sketches/b.parquet", odd.file(11));
    sandbox.run(&["init", "--store", "odd"]).expect(0);
    let ran = sandbox
        .run(&["--store", "odd", "--json", "load", "sketches/b.parquet"])
        .expect(2);
    assert!(
        ran.stderr.contains("b.parquet#6: it has no sketch"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("b.parquet#10: the key is empty"),
        "{}",
        ran.stderr
    );
    let summary = ran.objects().remove(0);
    assert_eq!(
        (&summary["added"], &summary["skipped"]["bad record"]),
        (&37.into(), &3.into())
    );
}

fn with_passage(passage: u32) -> Schema {
    Schema::builder().passage(passage).build().unwrap()
}

/// What a store with a passage answers, besides.
fn passages(sandbox: &Sandbox, store: &str) -> [Vec<String>; 2] {
    let ask = |arguments: &[&str]| {
        let asked = [&["--store", store, "--json"], arguments, &["asked.jsonl"]].concat();
        let ran = sandbox.run(&asked).expect(0);
        assert!(!ran.stderr.contains("fingerprints"), "{}", ran.stderr);
        let told = ran.objects().into_iter().map(|mut object| {
            // A sketch does not say where its text came from.
            object.as_object_mut().unwrap().remove("source");
            object.to_string()
        });
        told.collect()
    };
    [
        ask(&["passages", "--at-least", "5"]),
        ask(&["query", "--containment", "0.5"]),
    ]
}

#[test]
fn sketches_with_a_passage_make_the_store_that_their_texts_make() {
    let sandbox = Sandbox::new();
    let documents = documents();
    let lines = documents
        .iter()
        .map(|(key, text)| format!("{}\n", serde_json::json!({ "id": key, "text": text })));
    sandbox.write("all.jsonl", lines.collect::<String>());
    let asked = documents.iter().map(|(key, text)| {
        format!(
            "{}\n",
            serde_json::json!({ "id": format!("asked {key}"), "text": text })
        )
    });
    sandbox.write("asked.jsonl", asked.take(60).collect::<String>());
    let sketches = MadeSketches::of(&documents, &with_passage(20));
    sandbox.write("20.parquet", sketches.file(70));
    for passage in ["20", "36"] {
        let texts = format!("texts-{passage}");
        let init = ["--store", &texts, "init", "--passage", passage];
        sandbox.run(&init).expect(0);
        sandbox
            .run(&["--store", &texts, "add", "all.jsonl"])
            .expect(0);
        let loaded = format!("loaded-{passage}");
        if passage == "36" {
            let init = ["--store", &loaded, "init", "--passage", passage];
            sandbox.run(&init).expect(0);
        }
        sandbox
            .run(&["--store", &loaded, "load", "20.parquet"])
            .expect(0);
        assert_eq!(answers(&sandbox, &loaded), answers(&sandbox, &texts));
        let expected = passages(&sandbox, &texts);
        assert!(expected.iter().all(|told| told.len() > 200));
        assert!(passages(&sandbox, &loaded) == expected, "{passage}");
        sandbox.run(&["--store", &loaded, "check"]).expect(0);
        let ran = sandbox.run(&["--store", &loaded, "--json", "add", "all.jsonl"]);
        assert_eq!(ran.expect(0).objects().remove(0)["unchanged"], 300);
    }

    // Stores that keep no fingerprints take the rest.
    for (store, options) in [
        ("none", &["--passage", "0"][..]),
        ("small", &["--no-shingles"]),
    ] {
        let init = [&["--store", store, "init"], options].concat();
        sandbox.run(&init).expect(0);
        sandbox
            .run(&["--store", store, "load", "20.parquet"])
            .expect(0);
        sandbox.run(&["--store", store, "check"]).expect(0);
    }
}

#[test]
fn fingerprints_that_do_not_serve_are_refused_with_what_to_do() {
    let sandbox = Sandbox::new();
    let documents = &documents()[..20];
    let refused = |store: &str, rows: &MadeSketches, message: &str| {
        sandbox.write("b.parquet", rows.file(9));
        let ran = sandbox
            .run(&["--store", store, "load", "b.parquet"])
            .expect(2);
        assert!(ran.stderr.contains("b.parquet: "), "{}", ran.stderr);
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    };
    let init = ["--store", "50", "init", "--passage", "50"];
    sandbox.run(&init).expect(0);
    let sketches = MadeSketches::of(documents, &with_passage(20));
    refused(
        "50",
        &sketches,
        "the parameters differ: passage is 50 in the store, not 20; `dedupdb reindex --passage 20 --from PATH...` \
         changes the store's, or sketch the texts again with passage=50\n",
    );
    let bare = MadeSketches::of(documents, &with_passage(0));
    let message = "`dedupdb reindex --passage 0` changes the store's, or sketch the texts again with passage=50\n";
    refused("50", &bare, message);
    let mut lost = sketches.clone();
    lost.fingerprints = None;
    refused(
        "new",
        &lost,
        "there is no column \"fingerprints\" as dedupdb.spark.sketch makes it",
    );
    let mut damaged = sketches.clone();
    damaged.fingerprints.as_mut().unwrap()[13][2] ^= 1;
    refused(
        "new",
        &damaged,
        "row 14: the sketch of \"doc/091\" is damaged: sketch its text again",
    );
}
