//! Columns with arbitrary bytes: a read gives an error, or a result that is right as far as it goes.
#![no_main]

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use dedupdb::{Error, Input, Query, Schema, Store, groups::PairQuery};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

const COLUMNS: [&str; 3] = ["contents.1", "shingles.1", "signatures.1"];

fn text(number: usize) -> String {
    let words = (0..20).map(|word| format!("w{}", number / 2 * 100 + word));
    words.collect::<Vec<_>>().join(" ") + ["", " more"][number % 2]
}

/// A store, and its columns before any change.
struct Made {
    folder: TempDir,
    columns: [Vec<u8>; 3],
}

fn made() -> &'static Made {
    static MADE: OnceLock<Made> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let schema = Schema::builder().permutations(16).bands(4, 4);
        let store = Store::create(folder.path(), &schema.build().unwrap()).unwrap();
        let mut writer = store.writer().unwrap();
        let inputs = (0..12).map(|n| Input::new(n.to_string(), text(n)));
        writer.add_all(inputs.collect()).unwrap();
        writer.commit().unwrap();
        drop(writer);
        drop(store);
        let columns = COLUMNS.map(|name| fs::read(folder.path().join(name)).unwrap());
        Made { folder, columns }
    })
}

fn use_store(folder: &Path) {
    let Ok(store) = Store::open(folder) else {
        return;
    };
    for number in 0..4 {
        if let Ok(found) = store.query(&Query::text(&text(number))) {
            assert!(found.len() <= 2);
        }
        let _ = store.get(&number.to_string());
        let _ = store.query(&Query::key(&number.to_string()));
    }
    for exhaustive in [false, true] {
        let pairs = store.pairs(PairQuery::new().exhaustive(exhaustive));
        pairs.unwrap().take_while(Result::is_ok).for_each(drop);
    }
}

fuzz_target!(|bytes: &[u8]| {
    let made = made();
    let mut columns = made.columns.clone();
    // Each change has a column, a place of two bytes, and a byte. The last three bytes may cut a column.
    let (changes, cut) = bytes.as_chunks::<4>();
    for &[column, high, low, byte] in changes {
        let column = &mut columns[usize::from(column) % 3];
        let at = (usize::from(high) << 8 | usize::from(low)) % column.len();
        column[at] ^= byte;
    }
    if let &[column, high, low] = cut {
        let column = &mut columns[usize::from(column) % 3];
        let len = (usize::from(high) << 8 | usize::from(low)) % column.len();
        column.truncate(len);
    }
    for (name, column) in COLUMNS.iter().zip(&columns) {
        fs::write(made.folder.path().join(name), column).unwrap();
    }
    use_store(made.folder.path());
    let is_whole = match Store::check(made.folder.path()) {
        Ok(report) => report.is_clean(),
        Err(
            Error::Damaged { .. }
            | Error::NewerFormat { .. }
            | Error::OlderFormat { .. }
            | Error::Io { .. },
        ) => false,
        Err(error) => panic!("{error}"),
    };
    assert_eq!(is_whole, columns == made.columns);
});
