//! What errors say.

use std::error::Error as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use dedupdb::{Error, Options, Schema, Store};

/// The messages of an error and of all its causes.
fn chain(error: &Error) -> String {
    let mut chain = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        chain = format!("{chain}: {cause}");
        source = cause.source();
    }
    chain
}

#[test]
fn a_cause_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "a file").unwrap();
    let refused = Store::create(file.join("store"), &Schema::default()).unwrap_err();
    let Error::Io { source, .. } = &refused else {
        panic!("{refused:?}");
    };
    let told = chain(&refused);
    assert_eq!(told.matches(&source.to_string()).count(), 1, "{told}");
}

#[cfg(unix)]
#[test]
fn the_kind_and_the_place_of_a_system_error_can_be_had() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "a file").unwrap();
    let refused = Store::create(file.join("store"), &Schema::default()).unwrap_err();
    assert_eq!(refused.io_kind(), Some(std::io::ErrorKind::AlreadyExists));
    assert!(refused.path().is_some_and(|path| path.starts_with(&file)));
    let absent = Store::open(folder.path().join("none")).unwrap_err();
    assert_eq!(absent.io_kind(), None);
    assert_eq!(absent.path(), Some(&*folder.path().join("none")));
    assert_eq!(Error::Full.path(), None);
}

#[test]
fn a_process_that_writes_is_told_that_it_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let options = Options::new().exclusive(true);
    let _store = options.create(&path, &Schema::default()).unwrap();
    let second = Options::new().wait(Duration::ZERO).open(&path);
    let told = second.unwrap_err().to_string();
    assert!(
        told.ends_with("another handle of this process is writing to the store"),
        "{told}"
    );
}

/// Programs without a command line use the library, too.
#[test]
fn no_message_of_the_library_names_an_option() {
    fn look(folder: &Path) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                look(&path);
                continue;
            }
            if path.extension().is_none_or(|end| end != "rs") {
                continue;
            }
            let source = fs::read_to_string(&path).unwrap();
            let code = source.split("#[cfg(test)]\nmod tests").next().unwrap();
            let lines = code.lines().map(str::trim_start);
            let mut code = lines.filter(|line| !line.starts_with("//"));
            let names_one = |line: &&str| {
                let mut after = line.split("--").skip(1);
                after.any(|option| option.starts_with(|c: char| c.is_ascii_lowercase()))
            };
            assert_eq!(code.find(names_one), None, "{}", path.display());
        }
    }
    look(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
}
