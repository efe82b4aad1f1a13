//! A pattern of names, as in `.gitignore`.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::error::Error;

/// A pattern of file and folder names, as in `.gitignore`.
///
/// `*.pdf` matches at any depth, `/drafts` and `notes/*.md` match from the folder that is read, `old/` matches only
/// folders, and `**` matches any folders.
///
/// ```
/// use dedupdb_corpus::Glob;
///
/// assert!("*.{pdf,docx}".parse::<Glob>().is_ok());
/// let error = "a[".parse::<Glob>().unwrap_err();
/// assert!(error.to_string().starts_with("a[: "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(String);

/// The requested patterns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Globs {
    pub(crate) include: Vec<Glob>,
    pub(crate) exclude: Vec<Glob>,
    /// Whether `.gitignore` files are obeyed.
    pub(crate) gitignore: bool,
}

impl FromStr for Glob {
    type Err = Error;

    fn from_str(glob: &str) -> Result<Glob, Error> {
        let invalid = |detail: String| Error::InvalidGlob {
            glob: glob.to_owned(),
            detail,
        };
        if glob.trim().is_empty() || glob.starts_with(['!', '#']) {
            let detail = "a pattern is not empty and does not begin with ! or #";
            return Err(invalid(detail.to_owned()));
        }
        let mut builder = builder(Path::new(""));
        match builder.add_line(None, glob) {
            Ok(_) => Ok(Glob(glob.to_owned())),
            Err(ignore::Error::Glob { err, .. }) => Err(invalid(err)),
            Err(error) => Err(invalid(error.to_string())),
        }
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Compiles patterns relative to a folder. Returns `None` if there are none.
pub(crate) fn below(folder: &Path, globs: &[Glob]) -> Option<Gitignore> {
    built(builder(folder), globs)
}

/// Compiles case-insensitive patterns. Returns `None` if there are none.
pub(crate) fn of_any_case(globs: &[Glob]) -> Option<Gitignore> {
    let mut builder = builder(Path::new(""));
    builder.case_insensitive(true).ok()?;
    built(builder, globs)
}

fn built(mut builder: GitignoreBuilder, globs: &[Glob]) -> Option<Gitignore> {
    if globs.is_empty() {
        return None;
    }
    for Glob(glob) in globs {
        // Each pattern has been parsed before.
        builder.add_line(None, glob).ok()?;
    }
    builder.build().ok()
}

fn builder(folder: &Path) -> GitignoreBuilder {
    let mut builder = GitignoreBuilder::new(folder);
    builder.allow_unclosed_class(false);
    builder
}
