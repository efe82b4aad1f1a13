//! The next steps for the reader of a page.

/// The commands that a page and its summary name, in the syntax of the program that makes the page. By default, no
/// command is named.
///
/// ```
/// use dedupdb_corpus::report::{Commands, Report};
/// use dedupdb::{Schema, Store};
///
/// # let folder = tempfile::tempdir()?;
/// let store = Store::create(folder.path().join("store"), &Schema::default())?;
/// let mut commands = Commands::default();
/// commands.forget_keys = "Tools > Forget > drop.keys".to_owned();
/// let page = Report::new().commands(commands).make(&store)?;
/// assert!(page.html().contains("Tools &gt; Forget &gt; drop.keys"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Commands {
    /// Removes documents whose files are gone.
    pub forget_gone: String,
    /// Reads changed files again.
    pub add_changed: String,
    /// Reads all files again, even if their sizes and modification times have not changed.
    pub add_all: String,
    /// Names files with texts whose keys do not name a file.
    pub show_texts: String,
    /// The option that allows a larger page, and how large it may be now.
    pub more_bytes: String,
    /// The option that compares a text with all documents, however many share a part of it.
    pub compare_all: String,
    /// Moves the files of the list `drop.keys` to another folder.
    pub move_files: String,
    /// Writes a file of records again, without those of the list `drop.keys`.
    pub write_others: String,
    /// Removes the documents of the list `drop.keys`, whose keys end with NUL bytes.
    pub forget_keys: String,
    /// Removes the documents of the list `drop.txt`, which has one escaped key per line.
    pub forget_lines: String,
}

/// Formats a finding, and what a command does about it.
pub(super) fn with(what: &str, command: &str, does: &str) -> String {
    advised(what, command, |command| format!(": `{command}` {does}"))
}

/// Formats a finding, and the advice that names `words` of the program, if it has them.
pub(super) fn advised(what: &str, words: &str, advice: impl FnOnce(&str) -> String) -> String {
    if words.is_empty() {
        what.to_owned()
    } else {
        what.to_owned() + &advice(words)
    }
}
