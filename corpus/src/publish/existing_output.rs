//! The existing file or folder in the place of an output.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;
use std::time::SystemTime;

use walkdir::WalkDir;

use super::error::{Error, Result, WithPath};

/// What exists in the place of an output.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ExistingOutput {
    Nothing,
    EmptyFolder,
    /// A file, which a file replaces.
    File(FileStamp),
    /// A folder that is not empty. It gets another name when the output gets its place.
    Folder,
}

/// Metadata that reveals a change of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FileStamp {
    bytes: u64,
    modified: Option<SystemTime>,
    #[cfg(unix)]
    node: (u64, u64),
}

impl FileStamp {
    fn of(metadata: &Metadata) -> FileStamp {
        FileStamp {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            #[cfg(unix)]
            node: {
                use std::os::unix::fs::MetadataExt;
                (metadata.dev(), metadata.ino())
            },
        }
    }
}

impl ExistingOutput {
    /// Examines `place`.
    ///
    /// Refuses a file, and a folder that is not empty, unless `force` is set.
    ///
    /// # Errors
    ///
    /// Those of the system, or one for something that must not be replaced.
    pub(crate) fn at(place: &Path, force: bool) -> Result<ExistingOutput> {
        let metadata = match fs::symlink_metadata(place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(ExistingOutput::Nothing);
            }
            found => found.of(place)?,
        };
        if !(metadata.is_file() || metadata.is_dir() || metadata.is_symlink()) {
            let reason = "this is neither a file nor a folder; write to another place";
            return Err(Error::foreign(place, reason));
        }
        if metadata.is_dir() && fs::read_dir(place).of(place)?.next().is_none() {
            return Ok(ExistingOutput::EmptyFolder);
        }
        if !force {
            return Err(Error::Exists {
                path: place.to_owned(),
            });
        }
        if metadata.is_symlink() {
            return Err(Error::foreign(
                place,
                "this is a symbolic link and is left alone; name the place that it leads to, or remove \
                 the link",
            ));
        }
        Ok(if metadata.is_dir() {
            ExistingOutput::Folder
        } else {
            ExistingOutput::File(FileStamp::of(&metadata))
        })
    }

    /// Whether it is a folder, empty or not.
    pub(crate) fn is_folder(&self) -> bool {
        matches!(self, ExistingOutput::EmptyFolder | ExistingOutput::Folder)
    }

    /// Whether any file at `place` has content: losing an empty output is no loss.
    pub(crate) fn has_content(&self, place: &Path) -> bool {
        match self {
            ExistingOutput::Nothing | ExistingOutput::EmptyFolder => false,
            ExistingOutput::File(stamp) => stamp.bytes > 0,
            ExistingOutput::Folder => {
                let metadata = WalkDir::new(place)
                    .into_iter()
                    .map(|entry| entry?.metadata());
                // What cannot be read may have content.
                let mut files =
                    metadata.map(|it| it.map_or(true, |it| it.is_file() && it.len() > 0));
                files.any(|has_content| has_content)
            }
        }
    }

    /// Checks that a file at `place`, which is about to be replaced, is unchanged.
    ///
    /// # Errors
    ///
    /// An error if it changed, or one of the system.
    pub(super) fn check(&self, place: &Path) -> Result<()> {
        let ExistingOutput::File(stamp) = self else {
            return Ok(());
        };
        if FileStamp::of(&fs::symlink_metadata(place).of(place)?) != *stamp {
            let reason = "somebody changed this meanwhile; it is not replaced".to_owned();
            let path = place.to_owned();
            return Err(Error::Changed { path, reason });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_meanwhile_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("out");
        let at = |force| ExistingOutput::at(&place, force);
        assert_eq!(at(false).unwrap(), ExistingOutput::Nothing);
        fs::create_dir(&place).unwrap();
        assert_eq!(at(false).unwrap(), ExistingOutput::EmptyFolder);
        fs::write(place.join("a"), "").unwrap();
        let exists = at(false).unwrap_err();
        assert!(matches!(exists, Error::Exists { .. }), "{exists}");
        let standing = at(true).unwrap();
        assert!(standing == ExistingOutput::Folder && !standing.has_content(&place));
        fs::write(place.join("b"), "mine").unwrap();
        assert!(standing.has_content(&place));
        let file = place.join("a");
        let standing = ExistingOutput::at(&file, true).unwrap();
        standing.check(&file).unwrap();
        fs::write(&file, "longer").unwrap();
        let error = standing.check(&file).unwrap_err().to_string();
        assert!(error.contains("changed this meanwhile"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_pipes_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (place, link) = (folder.path().join("out"), folder.path().join("link"));
        fs::write(&place, "one").unwrap();
        std::os::unix::fs::symlink(&place, &link).unwrap();
        let error = ExistingOutput::at(&link, true).unwrap_err().to_string();
        assert!(error.contains("symbolic link"), "{error}");
        let error = ExistingOutput::at(Path::new("/dev/null"), true).unwrap_err();
        assert!(
            error.to_string().contains("neither a file nor a folder"),
            "{error}"
        );
    }
}
