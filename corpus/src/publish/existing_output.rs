//! The existing file or folder in the place of an output.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::error::{Error, Result, WithPath};
use super::manifest;

/// What exists in the place and may be replaced.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ExistingOutput {
    Nothing,
    File(FileStamp),
    /// An output of dedupdb, with all its entries.
    Folder(Vec<(PathBuf, FileStamp)>),
}

/// Metadata that reveals a change of a file or folder.
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

    fn at(path: &Path) -> Result<FileStamp> {
        Ok(FileStamp::of(&fs::symlink_metadata(path).of(path)?))
    }
}

impl ExistingOutput {
    /// Examines `place`.
    ///
    /// Refuses an existing file or folder unless `force` is set.
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
        if metadata.is_dir() {
            // The stamp is taken before the comparison with the manifest, so any later change is noticed.
            return Ok(ExistingOutput::Folder(manifest::verify(
                place,
                FileStamp::at,
            )?));
        }
        Ok(ExistingOutput::File(FileStamp::of(&metadata)))
    }

    /// Whether any file has content: losing an empty output is no loss.
    pub(crate) fn has_content(&self) -> bool {
        match self {
            ExistingOutput::Nothing => false,
            ExistingOutput::File(stamp) => stamp.bytes > 0,
            ExistingOutput::Folder(there) => there.iter().any(|(path, stamp)| {
                stamp.bytes > 0 && path.is_file() && !manifest::is_manifest(path)
            }),
        }
    }

    /// Checks that `place` is unchanged.
    ///
    /// # Errors
    ///
    /// An error if it changed, or one of the system.
    pub(super) fn check(&self, place: &Path) -> Result<()> {
        let changed = match self {
            ExistingOutput::Nothing => None,
            ExistingOutput::File(stamp) => {
                (FileStamp::at(place)? != *stamp).then(|| place.to_owned())
            }
            ExistingOutput::Folder(was) => {
                let mut now = walkdir::WalkDir::new(place).sort_by_file_name().into_iter();
                let mut now = || {
                    now.next()
                        .map(|entry| manifest::found(entry, place))
                        .transpose()
                };
                let mut was = was.iter();
                loop {
                    match (now()?, was.next()) {
                        (None, None) => break None,
                        (Some(entry), Some((path, stamp)))
                            if entry.path() == path && FileStamp::at(path)? == *stamp => {}
                        (Some(entry), _) => break Some(entry.into_path()),
                        (None, Some((path, _))) => break Some(path.clone()),
                    }
                }
            }
        };
        if let Some(path) = changed {
            let place = place.display();
            let reason = format!("somebody changed this meanwhile; {place} is not replaced");
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
        assert_eq!(
            ExistingOutput::at(&place, false).unwrap(),
            ExistingOutput::Nothing
        );
        fs::create_dir(&place).unwrap();
        fs::write(place.join("a"), "one").unwrap();
        assert!(
            ExistingOutput::at(&place, true).is_err(),
            "it has no manifest"
        );
        manifest::seal(&place, &manifest::WrittenFiles::new()).unwrap();
        let exists = ExistingOutput::at(&place, false).unwrap_err();
        assert!(matches!(exists, Error::Exists { .. }), "{exists}");
        let standing = ExistingOutput::at(&place, true).unwrap();
        standing.check(&place).unwrap();
        fs::write(place.join("b"), "mine").unwrap();
        assert!(standing.check(&place).is_err());
        fs::remove_file(place.join("b")).unwrap();
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
