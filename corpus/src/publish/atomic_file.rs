//! A file that appears complete or not at all.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, IntoInnerError, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, TempPath};

use super::apart::{check_no_store, parts, resolved};
use super::error::{Result, WithPath};

/// A file that is being written.
///
/// If it is dropped before it is finished, an earlier file of this name stays, and nothing else remains.
///
/// ```
/// use dedupdb_corpus::publish::AtomicFile;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("figures.csv");
/// let mut figures = AtomicFile::create(&path)?;
/// figures.write(b"texts,pairs\n")?;
/// assert!(!path.exists());
/// assert_eq!(figures.finish()?, 12);
/// assert!(path.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "the output appears when it is finished"]
pub struct AtomicFile {
    /// The name as given, for messages.
    name: PathBuf,
    file: BufWriter<File>,
    /// The file beside its place, and the place. `None` if the place is a pipe or a device, which is written directly.
    part: Option<(TempPath, PathBuf)>,
}

impl AtomicFile {
    /// Starts to write `path`.
    ///
    /// # Errors
    ///
    /// An error if its folder does not exist, the path is over or in a store, or it cannot be written.
    pub fn create(path: &Path) -> Result<AtomicFile> {
        check_no_store(path, &[])?;
        let place = resolved(path)?;
        let (folder, _) = parts(&place)?;
        let (file, part) = open(&place, folder).of(path)?;
        Ok(AtomicFile {
            name: path.to_owned(),
            file: BufWriter::new(file),
            part: part.map(|part| (part, place)),
        })
    }

    /// Writes a file with these bytes.
    ///
    /// # Errors
    ///
    /// An error if its folder does not exist, it is over or in a store, or it cannot be written.
    pub fn of(path: &Path, bytes: &[u8]) -> Result<()> {
        let mut whole = AtomicFile::create(path)?;
        whole.write(bytes)?;
        whole.finish()?;
        Ok(())
    }

    /// Appends bytes.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.edit(|file| file.write_all(bytes))
    }

    /// Changes the bytes written so far.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn edit(
        &mut self,
        edit: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<()> {
        edit(&mut self.file).of(&self.name)
    }

    /// Publishes the file under its name, and returns its size in bytes.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn finish(self) -> Result<u64> {
        let AtomicFile { name, file, part } = self;
        let file = file.into_inner().map_err(IntoInnerError::into_error);
        let finish = |file: File| {
            let size = file.metadata()?.len();
            if let Some((part, place)) = part {
                file.sync_all()?;
                part.persist(place)?;
            }
            Ok(size)
        };
        let finished: io::Result<u64> = file.and_then(finish);
        finished.of(&name)
    }
}

/// Opens a file to write for a place, and returns its path if that is not the place itself.
fn open(place: &Path, folder: &Path) -> io::Result<(File, Option<TempPath>)> {
    // A file that must not be written must not be replaced either.
    let old = match File::options().write(true).open(place) {
        Ok(file) => Some(file),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let old = match old {
        None => None,
        Some(file) => match file.metadata()? {
            metadata if metadata.is_file() => Some(metadata),
            _ => return Ok((file, None)),
        },
    };
    let mut builder = Builder::new();
    builder.prefix(".dedupdb-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // The error names the temporary file, which means nothing to the user.
    let made = builder.tempfile_in(folder);
    let (file, part) = made
        .map_err(|error| io::Error::from(error.kind()))?
        .into_parts();
    if let Some(old) = old {
        file.set_permissions(old.permissions())?;
    }
    Ok((file, Some(part)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::AtomicFile;

    #[test]
    fn what_is_not_finished_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        AtomicFile::of(&path, b"old").unwrap();
        let mut whole = AtomicFile::create(&path).unwrap();
        whole.write(b"new, and longer").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        drop(whole);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        AtomicFile::of(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(AtomicFile::of(&folder.path().join("no/a"), b"").is_err());
        assert!(AtomicFile::of(folder.path(), b"").is_err());
    }
}
