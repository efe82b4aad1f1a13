//! Back to where they were.

use std::fs;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::manifest::{Listed, Manifest, NAME};
use super::run::clear;
use super::{Left, MoveEvent, Moved, Told, rename};
use crate::dedup::error::{Error, Result};
use crate::publish::error::Of as _;

/// Files that were moved by a [`Move`](super::Move) and are to be moved back.
///
/// The list that the move wrote lies in the folder that they were moved to, wherever that is now. What is back already
/// stays, so that an undo that was killed goes on when it is repeated. A file is moved by a rename that replaces nothing.
/// When all are back, the list goes, and the folders that are empty then.
#[derive(Clone, Debug)]
#[must_use = "nothing is done before it is run"]
pub struct Undo {
    manifest: PathBuf,
    pretend: bool,
}

impl Undo {
    /// Undoes what this list says, which is called `.dedupdb-moved`, or the one in this folder.
    pub fn new(manifest: impl Into<PathBuf>) -> Undo {
        Undo {
            manifest: manifest.into(),
            pretend: false,
        }
    }

    /// Whether everything is reported and nothing is changed.
    pub fn pretend(self, pretend: bool) -> Undo {
        Undo { pretend, ..self }
    }

    /// Moves the files back, and tells the observer, who may stop it. The list stays where a file could not be moved.
    ///
    /// # Errors
    ///
    /// [`Error::BadManifest`] and [`Error::NoFolder`], and nothing is moved; [`Error::Stopped`], and the same undo goes on.
    pub fn run(
        mut self,
        mut observe: impl FnMut(MoveEvent<'_>) -> ControlFlow<()>,
    ) -> Result<Moved, Error> {
        let path = self.list()?;
        let manifest = Manifest::read(&path, &self.manifest)?;
        let (root, target) = (&manifest.from, path.parent().unwrap_or(Path::new("/")));
        if fs::canonicalize(root).ok().as_ref() != Some(root) || !root.is_dir() {
            return Err(Error::NoFolder { path: root.clone() });
        }
        let mut told = Told {
            moved: Moved::default(),
            observe: &mut observe,
        };
        for file in &manifest.files {
            let (from, to) = (target.join(&file.path), root.join(&file.path));
            match self.put_back(&from, &to, root, target) {
                Ok(None) => {}
                Ok(Some(bytes)) => {
                    told.moved.files += 1;
                    told.moved.bytes += bytes;
                    told.returned(file, &from, &to)?;
                }
                Err(left) => told.left(&from, &left)?,
            }
        }
        if told.moved.failed > 0 || self.pretend {
            told.moved.manifest = Some(self.manifest.clone());
        } else {
            clear(target, &manifest);
            fs::remove_file(&path).of(&path)?;
            // It stays if something else is in it.
            fs::remove_dir(target).unwrap_or_default();
        }
        Ok(told.moved)
    }

    /// The list without symbolic links; a folder becomes the list in it.
    fn list(&mut self) -> Result<PathBuf> {
        if self.manifest.is_dir() {
            self.manifest.push(NAME);
        }
        match fs::canonicalize(&self.manifest) {
            Err(error) if error.kind() == ErrorKind::NotFound => Err(Error::BadManifest {
                path: self.manifest.clone(),
                reason: "there is no such list; it was undone already, or is in another folder"
                    .to_owned(),
            }),
            found => Ok(found.of(&self.manifest)?),
        }
    }

    /// Moves a file back; none if it is there already.
    fn put_back(
        &self,
        from: &Path,
        to: &Path,
        root: &Path,
        target: &Path,
    ) -> Result<Option<u64>, Left> {
        let there = fs::symlink_metadata(to);
        let Ok(moved) = fs::symlink_metadata(from) else {
            return match there {
                Ok(_) => Ok(None),
                Err(_) => Err(Left::failure(format!(
                    "it is neither here nor at {}",
                    to.display()
                ))),
            };
        };
        // Two names of one file: a move that was killed between them.
        let has_both = there.as_ref().is_ok_and(|there| {
            there.nlink() > 1 && (there.dev(), there.ino()) == (moved.dev(), moved.ino())
        });
        if there.is_ok() && !has_both {
            return Err(Left::failure(format!("{} exists already", to.display())));
        }
        if !moved.is_file() || !is_inside(from, target) {
            return Err(Left::failure("it is no file of this folder any more"));
        }
        if !is_inside(to, root) {
            let to = to.display();
            return Err(Left::failure(format!(
                "a symbolic link is on the way to {to}"
            )));
        }
        if self.pretend {
            return Ok(Some(moved.len()));
        }
        if has_both && from != to {
            let removed = fs::remove_file(from);
            removed.map_err(|error| Left::failure(format!("it cannot be moved: {error}")))?;
        } else {
            rename(from, to)?;
        }
        Ok(Some(moved.len()))
    }
}

impl Told<'_> {
    fn returned(&mut self, file: &Listed, from: &Path, to: &Path) -> Result<()> {
        self.tell(MoveEvent::Moved {
            from,
            to,
            like: &file.like,
            similarity: file.similarity,
        })
    }
}

/// Whether what there is of the way to `path` is below `root`, without symbolic links.
fn is_inside(path: &Path, root: &Path) -> bool {
    let ways = path
        .ancestors()
        .skip(1)
        .take_while(|way| way.starts_with(root));
    let mut ways = ways.filter(|way| way.symlink_metadata().is_ok());
    ways.all(|way| fs::canonicalize(way).ok().as_deref() == Some(way))
}
