//! A store that its user may only read, because of its modes or because it belongs to another user.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::sandbox::{Ran, Sandbox, text};

/// The user who runs the program if the tests run as a superuser, whom no mode stops.
const USER: u32 = 65_534;

fn is_superuser(sandbox: &Sandbox) -> bool {
    fs::metadata(sandbox.path(".")).unwrap().uid() == 0
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

/// A store, the program, and a folder `own` of the user who runs it.
fn sandbox(of_folder: u32, of_files: u32) -> Sandbox {
    let sandbox = Sandbox::new();
    for index in 0..5 {
        sandbox.write(format!("texts/{index}.txt"), text(index, 40));
    }
    sandbox.run(&["add", "texts"]).expect(0);
    sandbox.write("own/tmp/x", "");
    fs::remove_file(sandbox.path("own/tmp/x")).unwrap();
    set_mode(&sandbox.path(""), 0o755);
    if is_superuser(&sandbox) {
        for path in ["own", "own/tmp"] {
            chown(sandbox.path(path), Some(USER), Some(USER)).unwrap();
        }
    }
    let program = env!("CARGO_BIN_EXE_dedupdb");
    fs::hard_link(program, sandbox.path("program"))
        .or_else(|_| fs::copy(program, sandbox.path("program")).map(drop))
        .unwrap();
    set_modes(&sandbox.path(".dedupdb"), of_folder, of_files);
    sandbox
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn set_modes(store: &Path, of_folder: u32, of_files: u32) {
    for file in files(store) {
        set_mode(&file, of_files);
    }
    set_mode(store, of_folder);
}

/// Gives the store to the user.
fn give(sandbox: &Sandbox) {
    if is_superuser(sandbox) {
        let store = sandbox.path(".dedupdb");
        for path in files(&store).iter().chain([&store]) {
            chown(path, Some(USER), Some(USER)).unwrap();
        }
    }
}

/// Opens the folders so that the sandbox can be removed.
fn open_up(sandbox: &Sandbox) {
    for folder in [sandbox.path(".dedupdb")]
        .into_iter()
        .chain(files(&sandbox.path("own")))
    {
        set_mode(&folder, 0o755);
    }
}

/// Runs the program as the user.
fn run(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    let mut command = Command::new(sandbox.path("program"));
    command
        .current_dir(sandbox.path(""))
        .env_remove("DEDUPDB_STORE")
        .env("TMPDIR", sandbox.path("own/tmp"))
        .args(arguments);
    if is_superuser(sandbox) {
        command.uid(USER).gid(USER);
    }
    Ran::of(command.output().unwrap())
}

/// Backs up the store, salvages it, and does a dry run of adding to it. The copies must have these modes.
fn judge(sandbox: &Sandbox, of_folder: u32, of_files: u32) {
    let store = sandbox.path(".dedupdb");
    let before: Vec<_> = files(&store).iter().map(|path| mode(path)).collect();
    for (verb, copy) in [("backup", "own/copy"), ("salvage", "own/saved")] {
        let mut arguments = vec![verb];
        arguments.extend((verb == "salvage").then_some(".dedupdb"));
        arguments.push(copy);
        run(sandbox, &arguments).expect(0);
        let copy = sandbox.path(copy);
        assert_eq!(mode(&copy), of_folder, "{verb}");
        for file in files(&copy) {
            assert_eq!(mode(&file), of_files, "{verb}: {}", file.display());
        }
        let listed = sandbox.run(&["list", "--store", copy.to_str().unwrap()]);
        assert_eq!(listed.lines().len(), 5, "{verb}");
    }
    fs::write(sandbox.path("new.txt"), text(77, 40)).unwrap();
    let ran = run(sandbox, &["--json", "add", "--dry-run", "texts", "new.txt"]).expect(0);
    let summary = ran.objects().pop().unwrap();
    assert_eq!(
        (&summary["added"], &summary["unchanged"]),
        (&1.into(), &5.into())
    );
    assert_eq!(
        files(&sandbox.path("own/tmp")),
        Vec::<std::path::PathBuf>::new()
    );
    assert_eq!(files(&sandbox.path("own")).len(), 3);
    let after: Vec<_> = files(&store).iter().map(|path| mode(path)).collect();
    assert_eq!(before, after);
    open_up(sandbox);
}

#[test]
fn a_store_in_a_folder_that_nobody_may_write_to_is_copied_with_its_modes() {
    for of_files in [0o644, 0o444] {
        let sandbox = sandbox(0o555, of_files);
        give(&sandbox);
        judge(&sandbox, 0o555, of_files);
    }
}

#[test]
fn a_store_that_may_only_be_read_says_what_is_possible() {
    let sandbox = sandbox(0o555, 0o444);
    for arguments in [
        &["add", "texts"][..],
        &["remove", "texts/0.txt"],
        &["compact"],
    ] {
        let ran = run(&sandbox, arguments).expect(2);
        assert!(
            ran.stderr
                .contains("this store can be read but not written")
                && ran.stderr.contains("work on a copy (backup)"),
            "{}",
            ran.stderr
        );
    }
    open_up(&sandbox);
}

#[test]
fn whoever_copies_the_store_of_another_user_may_write_to_the_copy() {
    for of_folder in [0o755, 0o555] {
        let sandbox = sandbox(of_folder, 0o444);
        if !is_superuser(&sandbox) {
            #[expect(clippy::print_stderr, reason = "a test that is left out says so")]
            {
                eprintln!("left out: only a superuser may make a store of another user");
            }
            return;
        }
        judge(&sandbox, 0o755, 0o644);
        run(&sandbox, &["add", "--store", "own/saved", "new.txt"]).expect(0);
    }
}

#[test]
fn a_copy_that_was_killed_when_it_had_its_modes_is_made_anew() {
    let sandbox = sandbox(0o555, 0o444);
    give(&sandbox);
    run(&sandbox, &["backup", "own/copy"]).expect(0);
    fs::rename(
        sandbox.path("own/copy"),
        sandbox.path("own/.copy.dedupdb-backup"),
    )
    .unwrap();
    run(&sandbox, &["backup", "own/copy"]).expect(0);
    assert_eq!(files(&sandbox.path("own")).len(), 2);
    open_up(&sandbox);
}

#[test]
fn a_named_file_that_cannot_be_read_is_an_error_though_it_is_unchanged() {
    let sandbox = sandbox(0o755, 0o644);
    give(&sandbox);
    set_mode(&sandbox.path("texts/0.txt"), 0);
    let named = run(&sandbox, &["add", "texts/0.txt"]).expect(2);
    assert!(named.stderr.contains("texts/0.txt: "), "{}", named.stderr);
    run(&sandbox, &["add", "texts"]).expect(0);
    open_up(&sandbox);
}
