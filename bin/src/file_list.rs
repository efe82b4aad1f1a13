//! `--files-from`: a list of the files to read.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::inputs::STDIN;
use crate::{keys, parse};

/// Files to read that a list names.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Inputs")]
pub(crate) struct FileListArgs {
    /// Also read the files and folders that LIST names, one per line or each before a NUL byte; - is
    /// standard input
    #[arg(long, value_name = "LIST", value_parser = parse::path())]
    pub(crate) files_from: Option<PathBuf>,
}

/// Adds the paths of a list to those that were named: each followed by a NUL byte, or one per line.
///
/// # Errors
///
/// If the list cannot be read, or has no path.
pub(crate) fn add(listed: &FileListArgs, paths: &mut Vec<PathBuf>) -> Result<()> {
    let Some(list) = &listed.files_from else {
        return Ok(());
    };
    if *list == Path::new(STDIN) && paths.iter().any(|path| path == list) {
        bail!("standard input (-) cannot be an input and the list of --files-from");
    }
    let bytes = keys::read(list)?;
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    let end = if bytes.contains(&0) { 0 } else { b'\n' };
    let named = bytes.split(|&byte| byte == end);
    let named = named.map(|path| match end {
        0 => path,
        _ => path.strip_suffix(b"\r").unwrap_or(path),
    });
    let before = paths.len();
    for path in named.filter(|path| !path.is_empty()) {
        paths.push(path_of(path)?);
    }
    if paths.len() == before {
        bail!("{}: it names no file", keys::name(list));
    }
    Ok(())
}

#[cfg(unix)]
#[expect(
    clippy::unnecessary_wraps,
    reason = "elsewhere, not all bytes are a path"
)]
fn path_of(path: &[u8]) -> Result<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    Ok(OsString::from_vec(path.to_owned()).into())
}

#[cfg(not(unix))]
fn path_of(path: &[u8]) -> Result<PathBuf> {
    let path = std::str::from_utf8(path)?;
    Ok(OsString::from(path).into())
}
