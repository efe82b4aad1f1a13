//! What a reader of a page does next.

/// The commands that a page and its summary name, as the program that makes it spells them. None is named by default.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use dedupdb::report::{Commands, Report};
/// use dedupdb::{Schema, Store};
///
/// # let folder = tempfile::tempdir()?;
/// let store = Store::create(folder.path().join("store"), &Schema::default())?;
/// let mut commands = Commands::default();
/// commands.forget_keys = "Tools > Forget > drop.keys".to_owned();
/// let page = Report::new().commands(commands).make(&store, || ControlFlow::Continue(()))?;
/// assert!(page.html().contains("Tools &gt; Forget &gt; drop.keys"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Commands {
    /// Forgets documents whose files are gone.
    pub forget_gone: String,
    /// Reads the files that have changed again.
    pub add_changed: String,
    /// Reads all files again, whatever their sizes and times say.
    pub add_all: String,
    /// Says where texts are that no key names.
    pub show_texts: String,
    /// Forgets the documents of the list `drop.keys`, whose keys end with NUL bytes.
    pub forget_keys: String,
    /// Forgets the documents of the list `drop.txt`, a key a line, escaped.
    pub forget_lines: String,
}

/// What there is to say, and what a command does about it.
pub(super) fn with(what: &str, command: &str, does: &str) -> String {
    if command.is_empty() {
        what.to_owned()
    } else {
        format!("{what}: `{command}` {does}")
    }
}
