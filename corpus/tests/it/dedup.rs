//! A corpus without its near-duplicates, by the library alone.

use std::collections::BTreeMap;
use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::time::Duration;

use dedupdb::{Match, Options, Progress, Schema, Store};
use dedupdb_corpus::Source;
use dedupdb_corpus::dedup::{Dedup, DedupEvent, Error, Keep, RowDedup};
use dedupdb_corpus::publish;
use proptest::collection::vec;
use proptest::prelude::*;

/// Lines of JSONL and files of text. Every third one resembles an earlier one.
fn corpus(folder: &Path) {
    let text = |subject: u32| -> String {
        let word = |word| format!("word{subject}x{word} ");
        (0..40).map(word).collect()
    };
    for file in 0..3 {
        let line = |number: u32| {
            let subject = number * 2 / 3;
            let end = if number % 3 == 1 { "more" } else { "" };
            format!(
                "{{\"id\":\"{file}/{number}\",\"text\":\"{}{end}\"}}\n",
                text(subject)
            )
        };
        let lines: String = (0..60).map(line).collect();
        fs::write(folder.join(format!("{file}.jsonl")), lines).unwrap();
    }
    fs::create_dir(folder.join("texts")).unwrap();
    for number in 0..20 {
        let path = folder.join(format!("texts/{number:02}.txt"));
        fs::write(path, text(1000 + number / 2)).unwrap();
    }
    fs::write(folder.join("texts/binary"), "\0").unwrap();
}

/// All files below the folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                found.insert(name, fs::read(path).unwrap());
            }
        }
    }
    found
}

fn all(_: DedupEvent<'_>) {}

/// A folder with a corpus in it, `in`, and with the outputs.
struct Scene(tempfile::TempDir);

impl Scene {
    fn new() -> Scene {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("in")).unwrap();
        corpus(&folder.path().join("in"));
        Scene(folder)
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn dedup(&self, output: &str) -> Dedup {
        let input = self.path("in");
        Dedup::new([input]).output(self.path(output))
    }

    /// The names of all files and folders.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<String> = entries
            .map(|entry| name(entry).into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

#[test]
fn who_was_dropped_for_whose_sake_is_told_and_written() {
    let scene = Scene::new();
    let (mut dropped, mut skipped, mut last) = (Vec::new(), Vec::new(), None);
    let progress = Progress::new();
    let dedup = scene.dedup("out").removed(scene.path("removed"));
    let done = dedup.progress(&progress).run(|event| {
        assert!(last.is_none(), "nothing comes after the end");
        match event {
            DedupEvent::Dropped(one) => dropped.push(format!(
                "{}\t{}\t{:.4}\t{}\t{}\t{}\t{}{}\n",
                one.key,
                one.earlier.key,
                one.earlier.jaccard.unwrap(),
                one.source.display(),
                one.record
                    .map_or_else(String::new, |nth| nth.number().to_string()),
                one.earlier_source.unwrap().display(),
                one.earlier_record
                    .map_or_else(String::new, |nth| nth.number().to_string()),
                if one.earlier.exact_copy {
                    "\texact copy"
                } else {
                    ""
                },
            )),
            DedupEvent::Skipped(one) => skipped.push(one.reason.name()),
            DedupEvent::Publishing => last = Some(scene.names()),
            _ => {}
        }
    });
    let done = done.unwrap();
    assert_eq!(skipped, ["binary"]);
    // The output appears complete, after the last event.
    assert_eq!(last.unwrap(), [".out.dedup", ".removed.dedup", "in"]);
    assert_eq!(scene.names(), ["in", "out", "removed"]);
    assert_eq!(
        fs::read_to_string(scene.path("removed")).unwrap(),
        dropped.concat()
    );
    assert_eq!(done.dropped(), dropped.len() as u64);
    assert_eq!((done.documents, done.kept), (201, 40 + 10));
    assert_eq!(progress.documents(), done.documents);
    assert_eq!(done.of_input.exact_copies, 2 * 40 + 10);
    assert_eq!(done.of_input.near_duplicates, 60);
    assert!(done.is_written);
    let kept = files(&scene.path("out"));
    assert_eq!(kept.len(), 3 + 10);
    assert_eq!(kept["1.jsonl"], b"");
    assert_eq!(
        kept["texts/04.txt"],
        fs::read(scene.path("in/texts/04.txt")).unwrap()
    );
}

#[test]
fn a_stop_leaves_nothing_and_the_same_run_gives_the_same_output() {
    for keep in [Keep::First, Keep::Longest] {
        let scene = Scene::new();
        let expected = scene.dedup("expected").keep(keep).run(all).unwrap();
        let store = Store::create(scene.path("store"), &Schema::default()).unwrap();
        let there = ["expected", "in", "store"];
        let mut stops = 0;
        for at in (0..).step_by(23) {
            let mut steps = 0;
            let progress = Progress::observed(move |progress| {
                steps += 1;
                if steps > at {
                    progress.stop();
                }
            });
            let dedup = scene.dedup("out").keep(keep).store(&store);
            let ran = dedup.progress(&progress).run(all);
            match ran {
                Err(Error::Stopped) => stops += 1,
                ran => {
                    assert_eq!(ran.unwrap(), expected);
                    break;
                }
            }
            assert_eq!(scene.names(), there);
        }
        assert!(stops > 5, "{stops}");
        assert_eq!(files(&scene.path("out")), files(&scene.path("expected")));
        // At the very end everything is stored, and is forgotten again.
        let progress = Progress::new();
        let at_the_end = |event: DedupEvent<'_>| {
            if matches!(event, DedupEvent::Publishing) {
                progress.stop();
            }
        };
        let other = Store::create(scene.path("other"), &Schema::default()).unwrap();
        let dedup = scene.dedup("more").keep(keep).store(&other);
        let stopped = dedup.progress(&progress).run(at_the_end);
        assert!(matches!(stopped, Err(Error::Stopped)));
        assert!(other.stats().unwrap().has_open_run);
        let mut forgotten = 0;
        let dedup = scene.dedup("more").keep(keep).store(&other);
        let again = dedup.run(|event| {
            if let DedupEvent::Forgotten { documents } = event {
                forgotten += documents;
            }
        });
        assert_eq!(again.unwrap().kept, forgotten);
        assert_eq!(files(&scene.path("more")), files(&scene.path("expected")));
        // Published documents are not written again.
        let done = scene.dedup("third").store(&other).run(all).unwrap();
        assert_eq!((done.kept, done.of_history.all()), (0, 200));
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let scene = Scene::new();
    for keep in [Keep::First, Keep::Longest, Keep::Newest] {
        let name = |threads| format!("{keep:?}-{threads}");
        for threads in [1, 8] {
            let options = Options::new().threads(threads);
            let dedup = scene.dedup(&name(threads)).keep(keep);
            let dedup = dedup.removed(scene.path(&format!("removed-{threads}")));
            dedup.replace(true).store_options(options).run(all).unwrap();
        }
        assert_eq!(files(&scene.path(&name(1))), files(&scene.path(&name(8))));
        let removed = |threads| fs::read(scene.path(&format!("removed-{threads}"))).unwrap();
        assert_eq!(removed(1), removed(8));
    }
}

#[test]
fn records_go_to_a_stream_and_nowhere() {
    let scene = Scene::new();
    let input = [scene.path("in/0.jsonl")];
    Dedup::new(&input)
        .output(scene.path("out.jsonl"))
        .run(all)
        .unwrap();
    let file = fs::File::create(scene.path("stream")).unwrap();
    let done = Dedup::new(&input).output_to(file).run(all);
    let expected = fs::read(scene.path("out.jsonl")).unwrap();
    assert_eq!(fs::read(scene.path("stream")).unwrap(), expected);
    let names = scene.names();
    let nowhere = Dedup::new([scene.path("in")]).run(all);
    assert_eq!(nowhere.unwrap().kept, 50);
    assert_eq!(scene.names(), names);
    assert_eq!(done.unwrap().kept, 40);
}

#[test]
fn patterns_and_named_streams_are_inputs_like_files() {
    let scene = Scene::new();
    let lines = fs::read(scene.path("in/2.jsonl")).unwrap();
    let stream = || Source::stream("../far/stream.jsonl", Cursor::new(lines.clone()));
    let pattern = || Source::from(scene.path("in/[01].jsonl"));
    let dedup = Dedup::new([pattern(), stream()]).output(scene.path("out.jsonl"));
    assert_eq!(dedup.run(all).unwrap().kept, 40);
    let first = fs::read(scene.path("in/0.jsonl")).unwrap();
    let kept = fs::read(scene.path("out.jsonl")).unwrap();
    assert!(first.starts_with(&kept[..100]));
    // In a folder, a stream becomes a file with its name, and never one outside.
    let dedup = Dedup::new([stream(), pattern()]).output(scene.path("out"));
    assert_eq!(dedup.run(all).unwrap().kept, 40);
    let written = files(&scene.path("out"));
    let names: Vec<&str> = written.keys().map(String::as_str).collect();
    assert_eq!(names, ["0.jsonl", "1.jsonl", "stream.jsonl"]);
    assert!(written["0.jsonl"].is_empty() && !written["stream.jsonl"].is_empty());
    // A stream of text has no file that could be kept.
    let text = Source::stream("text", Cursor::new("one"));
    let refused = Dedup::new([text]).output(scene.path("text")).run(all);
    assert!(matches!(refused, Err(Error::StreamOfText { name }) if name == "text"));
    let nothing = Dedup::new([scene.path("in/*.none")]).output(scene.path("none"));
    assert!(matches!(nothing.run(all), Err(Error::NotFound { .. })));
}

#[test]
fn what_stands_there_stays() {
    let scene = Scene::new();
    fs::write(scene.path("mine"), "mine").unwrap();
    fs::create_dir(scene.path("folder")).unwrap();
    fs::write(scene.path("folder/mine"), "mine").unwrap();
    let before = files(scene.0.path());
    let refused = |dedup: Dedup| {
        let error = dedup.run(all).unwrap_err();
        assert_eq!(files(scene.0.path()), before, "{error}");
        error
    };
    let exists = refused(scene.dedup("mine"));
    assert!(matches!(
        exists,
        Error::Output(publish::Error::Exists { .. })
    ));
    let exists = refused(scene.dedup("folder"));
    assert!(matches!(
        exists,
        Error::Output(publish::Error::Exists { .. })
    ));
    let overlaps = refused(scene.dedup("in/out"));
    assert!(matches!(
        overlaps,
        Error::Output(publish::Error::Overlaps { .. })
    ));
    let nothing = Dedup::new([scene.path("nothing")]);
    let nothing = refused(nothing.output(scene.path("out")));
    assert!(matches!(nothing, Error::NotFound { .. }));
    let little = scene.dedup("out").keep(Keep::Longest).temporary_limit(1000);
    assert!(matches!(
        refused(little),
        Error::TemporaryLimit { limit: 1000, .. }
    ));
    let begun = scene.dedup("out").begin().unwrap();
    let busy = scene.dedup("out").run(all).unwrap_err();
    assert!(matches!(busy, Error::Output(publish::Error::Busy { .. })));
    drop(begun);
    assert_eq!(files(scene.0.path()), before);
}

#[cfg(unix)]
#[test]
fn files_that_others_must_not_read_stay_so() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::new();
    let modes = [
        ("texts/00.txt", 0o600),
        ("texts/02.txt", 0o640),
        ("0.jsonl", 0o600),
        ("texts", 0o700),
    ];
    for (name, mode) in modes {
        let mode = fs::Permissions::from_mode(mode);
        fs::set_permissions(scene.path("in").join(name), mode).unwrap();
    }
    for keep in [Keep::First, Keep::Longest] {
        let dedup = scene.dedup("out").keep(keep).replace(true);
        dedup.run(all).unwrap();
        for (name, mode) in modes {
            let found = fs::metadata(scene.path("out").join(name)).unwrap();
            assert_eq!(found.permissions().mode() & 0o7777, mode, "{name}");
        }
    }
}

/// What is written in place of a text that was judged must not be published as if it were that text.
#[test]
fn a_file_that_is_rewritten_is_no_file_that_grew() {
    for keep in [Keep::First, Keep::Longest] {
        let scene = Scene::new();
        let letter = scene.path("in/texts/zz.txt");
        fs::write(
            &letter,
            "words that no other text of this corpus has\n".repeat(9),
        )
        .unwrap();
        let done = scene.dedup("out").keep(keep).run(|event| {
            if let DedupEvent::Skipped(_) = event {
                fs::write(
                    &letter,
                    "a longer text in the place of the other\n".repeat(20),
                )
                .unwrap();
            }
        });
        let error = done.unwrap_err().to_string();
        assert!(
            error.contains("zz.txt: it changed while it was read"),
            "{keep:?}: {error}"
        );
        assert!(!scene.path("out").exists());
    }
}

/// Logs may be written to while a corpus is read.
#[test]
fn a_file_that_grows_is_copied_as_it_was_read() {
    use std::io::Write as _;
    for keep in [Keep::First, Keep::Longest] {
        let scene = Scene::new();
        let log = scene.path("in/texts/zz.log");
        let first = "words that no other text of this corpus has\n".repeat(9);
        fs::write(&log, &first).unwrap();
        let done = scene.dedup("out").keep(keep).run(|event| {
            // It is read with the batch of the others.
            if let DedupEvent::Skipped(_) = event {
                let mut file = fs::File::options().append(true).open(&log).unwrap();
                file.write_all(b"more words\n").unwrap();
            }
        });
        assert_eq!(done.unwrap().reading.grown(), 1, "{keep:?}");
        let copy = fs::read_to_string(scene.path("out/texts/zz.log")).unwrap();
        assert_eq!(copy, first, "{keep:?}");
    }
}

/// A dropped row, the kept one that it is dropped for, and their similarity.
type DroppedPair = (usize, usize, Option<f64>);

/// What is dropped from a file with these texts. The ids descend, so that they do not sort as their records do.
fn dropped_from_file(texts: &[String], keep: Keep) -> Vec<DroppedPair> {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in.jsonl");
    let id = |row: usize| 99 - row;
    let line = |(row, text)| format!("{{\"id\":\"{}\",\"text\":\"{text}\"}}\n", id(row));
    let lines: String = texts.iter().enumerate().map(line).collect();
    fs::write(&input, lines).unwrap();
    let row = |key: &str| id(key.parse().unwrap());
    let mut dropped = Vec::new();
    let done = Dedup::new([input]).keep(keep).run(|event| {
        if let DedupEvent::Dropped(one) = event {
            let Match { key, jaccard, .. } = one.earlier;
            dropped.push((row(one.key), row(key), *jaccard));
        }
    });
    done.unwrap();
    dropped
}

/// What is dropped of these rows, in the order of judgement.
fn dropped_of_rows(texts: &[String], keep: Keep) -> Vec<DroppedPair> {
    let (schema, within) = (Schema::default(), std::env::temp_dir());
    let order = RowDedup::order(keep, texts, &schema).unwrap();
    let mut rows = RowDedup::begin(&Options::new(), &schema, within).unwrap();
    rows.push(order.iter().map(|&row| texts[row].clone()).collect());
    rows.close();
    let mut verdicts = Vec::new();
    while rows.under_way() > 0 {
        let judged = rows.wait(Duration::from_millis(50)).unwrap();
        verdicts.extend(judged.unwrap_or_default());
    }
    let dropped = order.iter().zip(verdicts).filter_map(|(&row, verdict)| {
        let why = verdict.unwrap()?;
        let earlier = order[usize::try_from(why.earlier).unwrap()];
        Some((row, earlier, why.jaccard))
    });
    dropped.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// The texts are pieces of one long text, so that one resembles several that do not resemble each other.
    #[test]
    fn files_and_rows_are_dropped_for_the_same_ones(
        pieces in vec((0..24_usize, 58..63_usize), 1..40),
        keep in prop_oneof![Just(Keep::First), Just(Keep::Longest)],
    ) {
        let text = |(start, words): (usize, usize)| {
            let words = (start..start + words).map(|word| format!("w{word}"));
            words.collect::<Vec<_>>().join(" ")
        };
        let texts: Vec<String> = pieces.into_iter().map(text).collect();
        prop_assert_eq!(dropped_from_file(&texts, keep), dropped_of_rows(&texts, keep));
    }
}
