//! Restricts access to the output: only those who may read the input may read it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Creates a new file for the contents of `source`, with the mode of `source` as far as the process allows.
///
/// # Errors
///
/// Those of the system.
pub(crate) fn create_file(path: &Path, source: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    restrict_file(&mut options, source);
    options.open(path)
}

/// Creates a new folder for the contents of the folder `source`, with its mode.
///
/// # Errors
///
/// Those of the system.
pub(crate) fn create_folder(path: &Path, source: Option<&Path>) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    if let Some(source) = source {
        restrict_folder(&mut builder, source);
    }
    builder.create(path)
}

/// Creates a folder and its parents. Those named like the corresponding folders of `source` get their modes. Existing
/// folders stay as they are.
///
/// # Errors
///
/// Those of the system.
pub(crate) fn create_folders(path: &Path, source: Option<&Path>) -> io::Result<()> {
    let source = source.filter(|source| source.file_name() == path.file_name());
    match (create_folder(path, source), path.parent()) {
        (Err(error), Some(parent)) if error.kind() == ErrorKind::NotFound => {
            create_folders(parent, source.and_then(Path::parent))?;
            create_folder(path, source)
        }
        (Err(_), _) if path.is_dir() => Ok(()),
        (created, _) => created,
    }
}

#[cfg(unix)]
fn restrict_file(options: &mut OpenOptions, source: &Path) {
    if let Some(mode) = mode(source, fs::Metadata::is_file) {
        std::os::unix::fs::OpenOptionsExt::mode(options, mode);
    }
}

#[cfg(unix)]
fn restrict_folder(builder: &mut DirBuilder, source: &Path) {
    if let Some(mode) = mode(source, fs::Metadata::is_dir) {
        // Files are to be created in it.
        std::os::unix::fs::DirBuilderExt::mode(builder, mode | 0o700);
    }
}

/// Returns the permissions of a path if it is of this kind.
#[cfg(unix)]
fn mode(source: &Path, is_of_kind: fn(&fs::Metadata) -> bool) -> Option<u32> {
    let metadata = fs::metadata(source).ok().filter(is_of_kind)?;
    Some(std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777)
}

#[cfg(not(unix))]
fn restrict_file(_: &mut OpenOptions, _: &Path) {}

#[cfg(not(unix))]
fn restrict_folder(_: &mut DirBuilder, _: &Path) {}
