//! Names of commands and options in other programs, and what was typed after them.

use dedupdb::sketching::Bands;

use crate::output::shell_word;

/// Each command, and what other programs call it.
pub(super) const COMMANDS: [(&str, &[&str]); 13] = [
    (
        "add",
        &["import", "index", "ingest", "insert", "scan", "update"],
    ),
    (
        "query",
        &["ask", "find", "lookup", "match", "search", "similar"],
    ),
    ("remove", &["del", "delete", "forget", "rm"]),
    ("list", &["keys", "ls"]),
    ("pairs", &["dups", "dupes", "duplicates"]),
    ("clusters", &["cluster", "group", "groups"]),
    ("dedup", &["clean", "dedupe", "deduplicate"]),
    ("init", &["create", "new"]),
    ("compact", &["optimize", "vacuum"]),
    ("stats", &["info", "status"]),
    ("check", &["fsck", "test", "verify"]),
    ("explain", &["compare", "diff"]),
    ("salvage", &["recover", "repair"]),
];

/// Commands of other programs that have no counterpart, and what to do instead.
pub(super) const OTHERS: [(&str, &[&str]); 6] = [
    (
        "a backup is a store: use it with --store BACKUP, or move the store away and run `dedupdb --store BACKUP backup \
         STORE`",
        &["restore"],
    ),
    (
        "to begin again, make another store: `dedupdb --store NEW init`",
        &["reset"],
    ),
    (
        "use `dedupdb --json list` for the documents, or `dedupdb matrix` for signatures",
        &["export"],
    ),
    ("use `dedupdb dedup FOLDER --move-to DIR`", &["move", "mv"]),
    ("use `dedupdb dedup --undo DIR`", &["undo"]),
    ("use `dedupdb --version`", &["version"]),
];

/// Commands that are about the whole store, and so take no names.
pub(super) const OF_STORE: [&str; 9] = [
    "check", "clusters", "compact", "init", "list", "pairs", "reindex", "stats", "tune",
];

/// Each option, a value for it, and what other programs call it.
pub(super) const OPTIONS: [(&str, &str, &[&str]); 10] = [
    (
        "shingling",
        "word:3",
        &[
            "--n",
            "--k",
            "--ngram",
            "--ngram-size",
            "--ngrams",
            "--shingle",
            "--shingle-size",
            "--shingles",
        ],
    ),
    (
        "permutations",
        "128",
        &["--num-hashes", "--num-perm", "--num-perms", "--perm"],
    ),
    (
        "bands",
        "18x7",
        &["--b", "--num-bands", "--num-rows", "--r", "--rows"],
    ),
    (
        "threads",
        "4",
        &["-j", "--jobs", "--num-proc", "--num-workers", "--workers"],
    ),
    (
        "output",
        "OUTPUT",
        &["--out", "--output-dir", "--output-file"],
    ),
    ("store", "DIR", &["-s", "--database", "--db", "--index"]),
    (
        "threshold",
        "0.8",
        &[
            "-t",
            "--jaccard",
            "--jaccard-threshold",
            "--min-similarity",
            "--similarity",
        ],
    ),
    (
        "limit",
        "5",
        &["-k", "-n", "--count", "--max", "--top", "--top-k"],
    ),
    (
        "text-field",
        "NAME",
        &[
            "--column",
            "--field",
            "--text-col",
            "--text-column",
            "--text-key",
        ],
    ),
    (
        "id-field",
        "NAME",
        &[
            "--id",
            "--id-col",
            "--id-column",
            "--id-key",
            "--key-field",
            "--key-column",
        ],
    ),
];

/// The value that was typed for another program's option, in the form of our option.
pub(super) fn value(ours: &str, typed: &str) -> Option<String> {
    let value = typed_value(typed)?;
    match ours {
        "shingling" if value.parse::<u8>().is_ok() => Some(format!("word:{value}")),
        "bands" => {
            let [bands, rows] = [
                ["--b", "--bands", "--num-bands"],
                ["--r", "--rows", "--num-rows"],
            ];
            let both = typed_value("--bands").filter(|both| both.parse::<Bands>().is_ok());
            if both.is_some() {
                return both;
            }
            let number = |names: [&str; 3]| names.into_iter().find_map(typed_value);
            let numbers = [number(bands)?, number(rows)?];
            let are_numbers = numbers.iter().all(|number| number.parse::<u32>().is_ok());
            are_numbers.then(|| numbers.join("x"))
        }
        _ => Some(shell_word(&value)),
    }
}

/// The value after an option on the command line.
pub(super) fn typed_value(option: &str) -> Option<String> {
    let mut words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let is_option = |word: &str| word.replace('_', "-") == option.replace('_', "-");
    while let Some(word) = words.next() {
        match word.split_once('=') {
            Some((name, value)) if is_option(name) => return Some(value.to_owned()),
            None if is_option(&word) => {
                let next = words.next()?;
                return (!next.starts_with('-')).then_some(next);
            }
            // A letter may have its value right behind it.
            _ if option.len() == 2 && word.len() > 2 => {
                if let Some(value) = word.strip_prefix(option) {
                    return Some(value.to_owned());
                }
            }
            _ => {}
        }
    }
    None
}
