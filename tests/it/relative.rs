//! A store that was opened by a relative path, in a process that moves to another folder.
//!
//! A process has one current folder, so the store is used in a separate process: this test program, as its environment
//! says.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use dedupdb::upkeep::Rebuild;
use dedupdb::{Error, Options, Query, Schema, Store};

const CHILD: &str = "DEDUPDB_RELATIVE";

const TEXT: &str = "it was the first of many long and cold nights in the old lighthouse";

/// Not a test by itself: works in the current folder.
#[test]
#[ignore = "it is run by another test"]
fn child() {
    #[expect(
        clippy::disallowed_methods,
        reason = "the parent tells its child what to do"
    )]
    if std::env::var(CHILD).is_err() {
        return;
    }
    let error = Store::open("none/store").unwrap_err().to_string();
    assert!(error.starts_with("none/store: "), "{error}");
    let store = Store::create("store", &Schema::default()).unwrap();
    for number in 0..10 {
        let text = format!("{TEXT} {}", format!("number{number} ").repeat(50));
        store
            .insert_unless_duplicate(number.to_string(), text)
            .unwrap();
    }
    let reader = Options::new().read_only(true).open("store").unwrap();
    let mut writer = store.writer().unwrap();
    writer.remove("0").unwrap();
    let impatient = Options::new().wait(Duration::ZERO);
    let again = impatient.open("store").unwrap_err().to_string();
    assert!(again.starts_with("store: "), "{again}");
    drop(writer);
    std::fs::create_dir("elsewhere").unwrap();
    std::env::set_current_dir("elsewhere").unwrap();
    assert_eq!(store.folder(), Path::new("store"));
    let added = store.insert_unless_duplicate("one", TEXT).unwrap();
    assert_eq!(format!("{:?}", added.change), "Added");
    assert!(
        store
            .stats()
            .unwrap()
            .files
            .iter()
            .all(|(_, bytes)| *bytes > 0)
    );
    assert_eq!(store.backup("copy").unwrap().documents, 11);
    assert!(store.rebuild(Rebuild::compact()).unwrap());
    assert!(store.unfinished_rebuild().unwrap().is_none());
    let held = store.query(&Query::text(TEXT)).unwrap();
    assert_eq!(held[0].key, "one");
    reader.refresh().unwrap();
    assert_eq!(reader.stats().unwrap().documents, 11);
    assert!(matches!(Store::open("store"), Err(Error::NotAStore { .. })));
    assert!(!Path::new("store").exists());
    drop(store);
    assert!(!Path::new("../store/holder").exists());
    assert_eq!(Store::open("copy").unwrap().stats().unwrap().documents, 11);
}

#[test]
fn a_store_stays_where_it_is_wherever_the_process_goes() {
    let folder = tempfile::tempdir().unwrap();
    let run = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "relative::child", "--ignored"])
        .env(CHILD, "1")
        .current_dir(folder.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && told.contains("1 passed"), "{told}");
}
