//! Lists of keys.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::args::Escaped;
use crate::inputs::STDIN;

/// Listed keys that are not as they should be are named, so many; the others are counted.
pub(crate) const NAMED: u64 = 10;

/// Bytes that a list has at most; what goes on is no list.
const MOST: u64 = 1 << 30;

/// The keys of a list: each with a NUL byte behind it, or one a line.
///
/// # Errors
///
/// The list cannot be read, or is no such list.
pub(crate) fn listed(list: &Path, escaped: Escaped) -> Result<Vec<String>> {
    let mut bytes = Vec::new();
    let read = if list == Path::new(STDIN) {
        std::io::stdin().take(MOST).read_to_end(&mut bytes)
    } else {
        File::open(list).and_then(|file| file.take(MOST).read_to_end(&mut bytes))
    };
    let name = list.display();
    read.with_context(|| format!("{name}: it cannot be read"))?;
    if bytes.len() as u64 == MOST {
        bail!("{name}: it has 1 GiB or more, and no list of keys does");
    }
    let Ok(text) = String::from_utf8(bytes) else {
        bail!("{name}: it is not UTF-8, as keys are");
    };
    if text.contains('\0') {
        let keys = text.split_terminator('\0');
        return Ok(keys.map(str::to_owned).collect());
    }
    // Some editors begin a file with a mark of its byte order.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let keys = text.lines().map(|line| escaped.key(line));
    keys.map(|key| Ok(key?.into_owned())).collect()
}
