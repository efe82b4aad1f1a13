//! A fresh folder to run the program in, and the results of a run.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, UNIX_EPOCH};

use dedupdb_corpus::number::utc_date;
use serde_json::Value;
use tempfile::TempDir;

/// A folder that is removed after the test.
pub(crate) struct Sandbox {
    folder: TempDir,
}

/// What a run printed, and its exit code.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Sandbox {
    pub(crate) fn new() -> Sandbox {
        let folder = tempfile::tempdir().unwrap();
        Sandbox { folder }
    }

    /// A sandbox whose path is always the same, for files that name it. There can be one at a time.
    pub(crate) fn fixed() -> Sandbox {
        let mut folder = tempfile::Builder::new();
        let folder = folder.prefix("dedupdb-golden").rand_bytes(0);
        Sandbox {
            folder: folder.tempdir_in("/tmp").unwrap(),
        }
    }

    /// A sandbox with a copy of the test data.
    pub(crate) fn with_testdata() -> Sandbox {
        let sandbox = Sandbox::new();
        sandbox.copy_testdata("");
        sandbox
    }

    /// Copies the test data into a folder.
    pub(crate) fn copy_testdata(&self, folder: &str) {
        let testdata = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("testdata");
        for entry in walkdir::WalkDir::new(&testdata) {
            let entry = entry.unwrap();
            if entry.file_type().is_file() {
                let name = entry.path().strip_prefix(&testdata).unwrap();
                let name = Path::new(folder).join(name);
                self.write(name, fs::read(entry.path()).unwrap());
            }
        }
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Names of the files and folders in the sandbox, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// The program, ready to run in the sandbox.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dedupdb"));
        command
            .current_dir(self.folder.path())
            .env_remove("DEDUPDB_STORE")
            .stdin(Stdio::null())
            .args(arguments);
        command
    }

    /// A line for the shell, ready to run in the sandbox.
    #[cfg(unix)]
    pub(crate) fn shell(&self, line: &str) -> Command {
        let mut command = Command::new("sh");
        command
            .current_dir(self.folder.path())
            .env_remove("DEDUPDB_STORE")
            .stdin(Stdio::null())
            .args(["-c", line]);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }

    /// Runs the program in a folder of the sandbox, with the store beside that folder.
    pub(crate) fn run_in(&self, folder: &str, arguments: &[&str]) -> Ran {
        let mut command = self.command(arguments);
        command.args(["--store", "../.dedupdb"]);
        Ran::of(command.current_dir(self.path(folder)).output().unwrap())
    }

    /// Starts the program with pipes to and from it.
    pub(crate) fn piped(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs the program with `input` on standard input.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let mut child = self.piped(arguments);
        // A program that ends with an error does not wait for its input.
        match child.stdin.take().unwrap().write_all(input) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            written => written.unwrap(),
        }
        Ran::of(child.wait_with_output().unwrap())
    }

    /// The summary of an add that must end with `code`. Its counts must add up.
    pub(crate) fn add(&self, arguments: &[&str], code: i32) -> Value {
        let mut all = vec!["--json", "add"];
        all.extend(arguments);
        let ran = self.run(&all).expect(code);
        let summary = ran.objects().pop().unwrap();
        let count = |name: &str| summary[name].as_u64().unwrap();
        let skipped = summary["skipped"].as_object().unwrap().values();
        let skipped: u64 = skipped.map(|count| count.as_u64().unwrap()).sum();
        let parts = ["added", "unchanged", "updated", "kept_out"].map(count);
        assert_eq!(
            count("documents"),
            parts.iter().sum::<u64>() + skipped,
            "{summary}"
        );
        summary
    }

    /// The keys of all documents.
    pub(crate) fn keys(&self) -> Vec<String> {
        let objects = self.run(&["--json", "list"]).objects();
        let keys = objects.iter().map(|object| object["key"].as_str().unwrap());
        keys.map(str::to_owned).collect()
    }

    /// Removes the store.
    pub(crate) fn forget(&mut self) {
        fs::remove_dir_all(self.path(".dedupdb")).unwrap();
    }

    /// Key and hash of all documents.
    pub(crate) fn contents(&self) -> Vec<(String, String)> {
        let field = |object: &Value, name: &str| object[name].as_str().unwrap().to_owned();
        let listed = self.run(&["--json", "list"]).objects();
        let contents = listed.iter();
        contents
            .map(|object| (field(object, "key"), field(object, "hash")))
            .collect()
    }
}

impl Ran {
    pub(crate) fn of(output: Output) -> Ran {
        Ran {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Returns itself, if the exit code is `code`.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Ran {
        assert_eq!(
            self.code,
            Some(code),
            "stdout:\n{}\nstderr:\n{}",
            self.stdout,
            self.stderr
        );
        self
    }

    pub(crate) fn lines(&self) -> Vec<&str> {
        self.stdout.lines().collect()
    }

    /// The JSON objects that were printed, one per line.
    pub(crate) fn objects(&self) -> Vec<Value> {
        let lines = self.stdout.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// The names of an object's fields, sorted.
pub(crate) fn fields(object: &Value) -> Vec<&str> {
    let mut fields: Vec<&str> = object
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    fields.sort_unstable();
    fields
}

/// The date this many days ago, in UTC.
pub(crate) fn date_ago(days: u64) -> String {
    let now = UNIX_EPOCH.elapsed().unwrap().as_secs();
    utc_date(UNIX_EPOCH + Duration::from_secs(now - days * 24 * 60 * 60))
}

/// A text of `words` words, the same for the same seed and unlike that of any other.
pub(crate) fn text(seed: u64, words: u64) -> String {
    let word = |index: u64| {
        let mixed = (seed << 32 | index)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29)
            .wrapping_mul(0xbf58_476d_1ce4_e5b9);
        format!("w{:x}", mixed >> 36)
    };
    (0..words).map(word).collect::<Vec<_>>().join(" ")
}

/// How many times as long a randomized test should run, from `DEDUPDB_PATIENCE`.
pub(crate) fn patience() -> u32 {
    #[expect(
        clippy::disallowed_methods,
        reason = "how long a test is to go on is said from outside"
    )]
    let patience = std::env::var("DEDUPDB_PATIENCE").ok();
    patience.and_then(|times| times.parse().ok()).unwrap_or(1)
}
