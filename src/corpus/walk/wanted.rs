//! Which files below a folder are wanted, by their names.

use std::path::Path;

use ignore::Match;
use ignore::gitignore::Gitignore;

use crate::corpus::glob::{Glob, below};

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Globs {
    pub(crate) include: Vec<Glob>,
    pub(crate) exclude: Vec<Glob>,
    /// Whether files `.gitignore` count.
    pub(crate) gitignore: bool,
}

/// What is wanted below one folder.
#[derive(Debug)]
pub(crate) struct Wanted {
    include: Option<Gitignore>,
    exclude: Option<Gitignore>,
    /// Those of the folders that the walk is in, with their depths; None if none counts.
    files: Option<Vec<(usize, Gitignore)>>,
}

impl Wanted {
    /// What `globs` want below a folder, which the walk begins with.
    pub(crate) fn below(folder: &Path, globs: &Globs) -> Wanted {
        let mut wanted = Wanted {
            include: below(folder, &globs.include),
            exclude: below(folder, &globs.exclude),
            files: globs.gitignore.then(Vec::new),
        };
        wanted.enter(folder, 0);
        wanted
    }

    /// Whether an entry so many folders below is left out. Entries come in the order of the walk.
    pub(crate) fn leaves_out(&mut self, path: &Path, depth: usize, is_folder: bool) -> bool {
        if let Some(files) = &mut self.files {
            while files.last().is_some_and(|(above, _)| *above >= depth) {
                files.pop();
            }
        }
        let is_excluded = |globs: &Gitignore| globs.matched(path, is_folder).is_ignore();
        if self.exclude.as_ref().is_some_and(is_excluded) || self.is_ignored(path, is_folder) {
            return true;
        }
        if is_folder {
            self.enter(path, depth);
            return false;
        }
        let include = self.include.as_ref();
        include.is_some_and(|globs| !globs.matched(path, false).is_ignore())
    }

    /// Takes note of the file `.gitignore` of a folder.
    fn enter(&mut self, folder: &Path, depth: usize) {
        let Some(files) = &mut self.files else {
            return;
        };
        let file = folder.join(".gitignore");
        if file.is_file() {
            // Lines that are no patterns are passed over, as by git.
            let (globs, _) = Gitignore::new(file);
            files.push((depth, globs));
        }
    }

    /// Whether the nearest `.gitignore` that says something says so.
    fn is_ignored(&self, path: &Path, is_folder: bool) -> bool {
        let files = self.files.iter().flatten().rev();
        let mut said = files.map(|(_, globs)| globs.matched(path, is_folder));
        matches!(said.find(|said| !said.is_none()), Some(Match::Ignore(_)))
    }
}
