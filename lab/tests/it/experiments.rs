//! Experiments: the same figures with any number of threads, an end when asked for, no panic.

use dedupdb::{
    Error, Input, Progress, Result, Schema, Store,
    sketching::{Bands, Family, ShingleSet, Shingling, Signer, SlotWidth},
};
use dedupdb_lab::eval::{
    AccuracyQuery, RecallQuery, ShingleKind, accuracy, bands, recall, shingles, time,
};

/// Texts in groups of three similar ones.
fn texts() -> Vec<String> {
    let word = |i: u32| format!("w{}", i.wrapping_mul(0x9E37_79B1) >> 20);
    let text = |text: u32| {
        let words = (0..60).map(|at| {
            if at == text % 3 * 7 {
                format!("own{text}")
            } else {
                word(text / 3 * 1000 + at)
            }
        });
        words.collect::<Vec<String>>().join(" ")
    };
    (0..45).map(text).collect()
}

fn sets() -> Vec<ShingleSet> {
    let shingler = Schema::default().shingler().unwrap();
    texts()
        .iter()
        .map(|text| shingler.shingles(text).unwrap())
        .collect()
}

fn signer() -> Signer {
    Signer::new(Family::default(), 1, 64, SlotWidth::Bits16).unwrap()
}

fn shape() -> Bands {
    Bands::new(16, 4, 64).unwrap()
}

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let schema = Schema::builder()
        .threshold(0.5)
        .bands(16, 8)
        .build()
        .unwrap();
    let store = Store::create(folder.path().join("store"), &schema).unwrap();
    let mut writer = store.writer().unwrap();
    let inputs = texts().into_iter().enumerate();
    let inputs = inputs.map(|(key, text)| Input::new(key.to_string(), text));
    writer.add_all(inputs.collect()).unwrap();
    writer.commit().unwrap();
    drop(writer);
    (folder, store)
}

#[test]
fn an_exact_recall_has_two_parts() {
    let (_folder, store) = store();
    let progress = Progress::new();
    recall(&store, &RecallQuery::new(), &progress).unwrap();
    assert_eq!(progress.begun(), 2);
}

/// An experiment, and its figures.
type Experiment<'a> = Box<dyn Fn(&Progress) -> Result<String> + Sync + Send + 'a>;

/// All experiments, and the figures of each except for the times.
fn all(store: &Store) -> Vec<(&'static str, Experiment<'_>)> {
    let kinds = [1, 5].map(|k| ShingleKind::new(Shingling::Word(k), true));
    vec![
        (
            "accuracy",
            Box::new(|progress| {
                let query = AccuracyQuery::new().permutations(vec![64, 32, 64]).runs(3);
                let rows = accuracy(&sets(), &query, progress)?;
                let figures = rows
                    .iter()
                    .map(|row| (row.permutations, row.error, row.off.clone()));
                Ok(format!("{:?}", figures.collect::<Vec<_>>()))
            }),
        ),
        (
            "bands",
            Box::new(|progress| {
                let queries = [3, 1, 7, 1];
                let found = bands(&sets(), &queries, &signer(), &[shape()], 0.7, progress)?;
                assert_eq!((found.queries, found.texts), (3, 45));
                Ok(format!("{found:?}"))
            }),
        ),
        (
            "recall",
            Box::new(|progress| {
                Ok(format!(
                    "{:?}",
                    recall(store, &RecallQuery::new(), progress)?
                ))
            }),
        ),
        (
            "recall of a sample",
            Box::new(|progress| {
                let query = RecallQuery::new().threshold(0.3).sample(20, 7);
                Ok(format!("{:?}", recall(store, &query, progress)?))
            }),
        ),
        (
            "shingles",
            Box::new(move |progress| {
                let found = shingles(&texts(), &kinds, 0.8, progress)?;
                assert_eq!((found.near, found.cut), (45, 0));
                let kinds = found.kinds.iter();
                let figures = kinds.map(|kind| (kind.jaccard, kind.near, kind.others, kind.gap()));
                Ok(format!("{:?}", figures.collect::<Vec<_>>()))
            }),
        ),
        (
            "time",
            Box::new(|progress| {
                let parts = time(&sets(), &[(signer(), shape())], 0.7, 20, progress)?;
                let figures = parts.iter().map(|part| (part.texts, part.signed[0].found));
                Ok(format!("{:?}", figures.collect::<Vec<_>>()))
            }),
        ),
    ]
}

#[test]
fn figures_do_not_depend_on_the_number_of_threads() {
    let (_folder, store) = store();
    for (name, run) in all(&store) {
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let progress = Progress::new();
            let found = pool.unwrap().install(|| run(&progress));
            assert_eq!(progress.done(), progress.total(), "{name}");
            found.unwrap()
        };
        assert_eq!(on(1), on(4), "{name}");
    }
}

#[test]
fn experiments_end_when_they_are_asked_to() {
    let (_folder, store) = store();
    for (name, run) in all(&store) {
        let stopped = run(&Progress::observed(Progress::stop));
        assert!(
            matches!(stopped, Err(Error::Stopped)),
            "{name}: {stopped:?}"
        );
    }
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let (sets, progress) = (sets(), Progress::new());
    let is_of = |error: Error, name: &str| match error {
        Error::InvalidQuery { parameter, .. } | Error::InvalidSchema { parameter, .. } => {
            assert_eq!(parameter, name, "{error}");
        }
        Error::InvalidColumn { column, .. } => assert_eq!(column, name, "{error}"),
        error => panic!("{error}"),
    };
    let query = AccuracyQuery::new;
    let accuracy = |sets: &[ShingleSet], query| accuracy(sets, &query, &progress).unwrap_err();
    is_of(accuracy(&sets[..1], query()), "texts");
    is_of(accuracy(&sets, query().runs(0)), "runs");
    is_of(
        accuracy(&sets, query().permutations(vec![0])),
        "permutations",
    );
    for epsilon in [-0.1, f64::NAN] {
        is_of(accuracy(&sets, query().epsilons(vec![epsilon])), "epsilons");
    }
    let bands = |queries: &[usize], shape, threshold| {
        bands(&sets, queries, &signer(), &[shape], threshold, &progress).unwrap_err()
    };
    is_of(bands(&[], shape(), 0.7), "queries");
    is_of(bands(&[45], shape(), 0.7), "queries");
    is_of(bands(&[0], Bands::new(13, 5, 128).unwrap(), 0.7), "bands");
    is_of(bands(&[0], shape(), 0.0), "threshold");
    let kind = ShingleKind::new(Shingling::Word(65), true);
    is_of(
        shingles(&texts(), &[kind], 0.7, &progress).unwrap_err(),
        "shingling",
    );
    is_of(shingles(&["a"], &[], 0.7, &progress).unwrap_err(), "texts");
    let large = (signer(), Bands::new(13, 5, 128).unwrap());
    is_of(
        time(&sets, &[large], 0.7, 20, &progress).unwrap_err(),
        "bands",
    );
    let (_folder, store) = store();
    let recall = |query: RecallQuery| recall(&store, &query, &progress).unwrap_err();
    is_of(recall(RecallQuery::new().sample(0, 1)), "sample");
    is_of(recall(RecallQuery::new().threshold(1.5)), "threshold");
    is_of(recall(RecallQuery::new().most_pairs(3)), "most pairs");
}
