//! Patterns of names.

use std::fs;
use std::path::{Path, PathBuf};

use glob::MatchOptions;

use crate::skipped::{Reason, Skipped};
use crate::source::{Source, SourceKind};

/// Expands each pattern among the sources to the paths that match it, sorted by name.
pub(crate) fn expanded(sources: Vec<Source>) -> Vec<Source> {
    let mut all = Vec::with_capacity(sources.len());
    for source in sources {
        match source.kind {
            SourceKind::Pattern(ref path) if is_pattern(path) => all.extend(matches(path)),
            SourceKind::Pattern(path) => all.push(Source {
                kind: SourceKind::Path(path),
                ..source
            }),
            SourceKind::Path(_) | SourceKind::Stream(_) | SourceKind::Skipped(_) => {
                all.push(source);
            }
        }
    }
    all
}

/// Whether no file has this name, and it could match several.
fn is_pattern(path: &Path) -> bool {
    let has_wildcards = path
        .to_str()
        .is_some_and(|name| name.contains(['*', '?', '[']));
    has_wildcards && fs::symlink_metadata(path).is_err()
}

/// Returns the matches of a pattern, or at least the reason why there are none.
fn matches(pattern: &Path) -> Vec<Source> {
    let options = MatchOptions {
        case_sensitive: true,
        require_literal_separator: true,
        require_literal_leading_dot: true,
    };
    let name = pattern.to_string_lossy();
    let paths = match glob::glob_with(&name, options) {
        Ok(paths) => paths,
        Err(wrong) => {
            let detail = format!("there is no such file, and it is no pattern: {}", wrong.msg);
            return vec![nothing(pattern, detail)];
        }
    };
    let (mut found, mut skipped) = (Vec::<PathBuf>::new(), Vec::new());
    for path in paths {
        match path {
            Ok(path) => found.push(path),
            Err(error) => skipped.push(Skipped::unreadable(error.path(), error.error())),
        }
    }
    if found.is_empty() && skipped.is_empty() {
        return vec![nothing(pattern, "nothing matches this pattern".to_owned())];
    }
    found.sort_unstable();
    let skipped = skipped.into_iter().map(SourceKind::Skipped).map(Source::of);
    let found = found.into_iter().map(Source::path);
    skipped.chain(found).collect()
}

fn nothing(pattern: &Path, detail: String) -> Source {
    Source::of(SourceKind::Skipped(Skipped {
        detail,
        ..Skipped::file(Reason::NotFound, pattern)
    }))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::expanded;
    use crate::source::{Source, SourceKind};

    /// Returns the names of the matches of a pattern below a folder.
    fn names(folder: &Path, pattern: &str) -> Vec<String> {
        let sources = expanded(vec![Source::from(folder.join(pattern))]);
        let name = |source: Source| match source.kind {
            SourceKind::Path(path) => {
                let below = path.strip_prefix(folder).unwrap();
                below.to_string_lossy().replace('\\', "/")
            }
            SourceKind::Skipped(skipped) => skipped.detail,
            kind => format!("{kind:?}"),
        };
        sources.into_iter().map(name).collect()
    }

    #[test]
    fn names_that_match_come_sorted() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        fs::create_dir_all(at.join("in/deep")).unwrap();
        for name in [
            "b.txt",
            "a.txt",
            ".hidden.txt",
            "in/c.txt",
            "in/deep/d.txt",
            "[x].txt",
            "e.md",
        ] {
            fs::write(at.join(name), "").unwrap();
        }
        assert_eq!(names(at, "*.txt"), ["[x].txt", "a.txt", "b.txt"]);
        assert_eq!(names(at, "[ab].txt"), ["a.txt", "b.txt"]);
        assert_eq!(names(at, "[x].txt"), ["[x].txt"], "a file has this name");
        assert_eq!(names(at, "in/**/*.txt"), ["in/c.txt", "in/deep/d.txt"]);
        assert_eq!(names(at, "*.csv"), ["nothing matches this pattern"]);
        assert_eq!(names(at, "a.csv"), ["a.csv"], "this is no pattern");
        let wrong = names(at, "[a.csv");
        assert!(wrong[0].contains("it is no pattern"), "{wrong:?}");
    }
}
