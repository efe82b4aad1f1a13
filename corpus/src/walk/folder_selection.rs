//! Selects the files below a folder by their names.

use std::path::Path;

use ignore::Match;
use ignore::gitignore::Gitignore;

use crate::glob::{Globs, below};

/// The selection below one folder.
#[derive(Debug)]
pub(crate) struct FolderSelection {
    include: Option<Gitignore>,
    exclude: Option<Gitignore>,
    /// The `.gitignore` files of the folders that the walk is in, with their depths. `None` if they are not obeyed.
    files: Option<Vec<(usize, Gitignore)>>,
}

impl FolderSelection {
    /// Returns the selection of `globs` below a folder, with which the walk begins.
    pub(crate) fn below(folder: &Path, globs: &Globs) -> FolderSelection {
        let mut wanted = FolderSelection {
            include: below(folder, &globs.include),
            exclude: below(folder, &globs.exclude),
            files: globs.gitignore.then(Vec::new),
        };
        wanted.enter(folder, 0);
        wanted
    }

    /// Whether to skip an entry at this depth below the folder. Entries come in the order of the walk.
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

    /// Reads the `.gitignore` file of a folder.
    fn enter(&mut self, folder: &Path, depth: usize) {
        let Some(files) = &mut self.files else {
            return;
        };
        let file = folder.join(".gitignore");
        if file.is_file() {
            // Invalid lines are skipped, as git does.
            let (globs, _) = Gitignore::new(file);
            files.push((depth, globs));
        }
    }

    /// Whether the nearest `.gitignore` that decides ignores the path.
    fn is_ignored(&self, path: &Path, is_folder: bool) -> bool {
        let files = self.files.iter().flatten().rev();
        let mut said = files.map(|(_, globs)| globs.matched(path, is_folder));
        matches!(said.find(|said| !said.is_none()), Some(Match::Ignore(_)))
    }
}
