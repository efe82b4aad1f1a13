//! Picture files.

use std::ffi::OsStr;
use std::path::Path;

use anyhow::{Result, bail};
use dedupdb_corpus::publish::AtomicFile;
use dedupdb_lab::plot::Picture;

/// Checks that the file name is that of a picture.
pub(crate) fn check_name(path: &Path) -> Result<()> {
    if !is(path, "svg") && !is(path, "png") {
        bail!(
            "{}: a picture is an SVG or PNG file; give it a name that ends in .svg or .png",
            path.display()
        );
    }
    Ok(())
}

/// Draws the picture into a file, in the format that its name implies.
pub(crate) fn write(picture: &Picture, path: &Path) -> Result<()> {
    let bytes = if is(path, "png") {
        picture.to_png()?
    } else {
        picture.to_svg()?.into_bytes()
    };
    Ok(AtomicFile::of(path, &bytes)?)
}

fn is(path: &Path, extension: &str) -> bool {
    path.extension() == Some(OsStr::new(extension))
}
