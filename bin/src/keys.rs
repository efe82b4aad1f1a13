//! Lists of keys.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::args::EscapedArgs;
use crate::closed_input;
use crate::inputs::STDIN;

/// The number of listed keys with a problem that are named. The others are counted.
pub(crate) const NAMED: u64 = 10;

/// The maximum number of bytes in a list. A longer file is not a list.
const MOST: u64 = 1 << 30;

/// What a list is called in messages.
pub(crate) fn name(list: &Path) -> Cow<'_, str> {
    if list == Path::new(STDIN) {
        "standard input".into()
    } else {
        list.to_string_lossy()
    }
}

/// The bytes of a list.
///
/// # Errors
///
/// If it cannot be read, or is larger than a list is.
pub(crate) fn read(list: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = if list == Path::new(STDIN) {
        closed_input::stdin().take(MOST).read_to_end(&mut bytes)
    } else {
        File::open(list).and_then(|file| file.take(MOST).read_to_end(&mut bytes))
    };
    let name = name(list);
    if list != Path::new(STDIN) && list.symlink_metadata().is_err() {
        bail!("{name}: there is no such file");
    }
    read.with_context(|| format!("{name}: it cannot be read"))?;
    if bytes.len() as u64 == MOST {
        bail!("{name}: it has 1 GiB or more, and no list does");
    }
    Ok(bytes)
}

/// The keys of a list: each followed by a NUL byte, or one per line.
///
/// # Errors
///
/// If the list cannot be read, or is not a list of keys.
pub(crate) fn listed(list: &Path, escaped: EscapedArgs) -> Result<Vec<String>> {
    let Ok(text) = String::from_utf8(read(list)?) else {
        bail!("{}: it is not UTF-8, as keys are", name(list));
    };
    if text.contains('\0') {
        let keys = text.split_terminator('\0');
        return Ok(keys.map(str::to_owned).collect());
    }
    // Some editors begin a file with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let keys = text.lines().map(|line| escaped.key(line));
    keys.map(|key| Ok(key?.into_owned())).collect()
}
