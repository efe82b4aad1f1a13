//! Stored texts, read again from their files.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::PathBuf;

use dedupdb::Store;
use dedupdb::overlap::SampledText;

use crate::{Error, Key, Options, Repeats, Source};

/// Reads stored texts again: from the files that the store names, and, as long as one is missing, from the files and
/// folders in `from`. A text is known by its hash, so one that has changed since is not taken. The result has a text, or
/// `None`, for each that is wanted.
///
/// # Errors
///
/// Those of the store; the system allows no further thread; [`Error::Store`] with
/// [`Stopped`](dedupdb::Error::Stopped) if `go_on` breaks. What cannot be read is missing.
pub fn read_again(
    store: &Store,
    wanted: &[SampledText],
    from: &[PathBuf],
    options: &Options,
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Vec<Option<String>>, Error> {
    let mut texts = vec![None; wanted.len()];
    let hashes = wanted.iter().map(|text| text.hash);
    let mut numbers: HashMap<[u8; 32], usize> = hashes.zip(0..).collect();
    let mut files = Vec::new();
    for key in wanted.iter().flat_map(|text| &text.keys) {
        let Some(document) = store.get(key)? else {
            continue;
        };
        let own = document.modified.map(|_| key);
        let named = document.source.as_ref().or(own);
        files.extend(named.and_then(|name| Key::path(name)));
    }
    files.retain(|path| path.is_file());
    files.extend_from_slice(from);
    let mut met = HashSet::new();
    files.retain(|path| met.insert(path.clone()));
    let options = options.clone().repeats(Repeats::Allow).strict(false);
    for read in options.open(files.iter().map(Source::path))? {
        if numbers.is_empty() {
            break;
        }
        if go_on().is_break() {
            return Err(dedupdb::Error::Stopped.into());
        }
        if let Ok(document) = read
            && let Some(number) = numbers.remove(&document.hash())
        {
            texts[number] = Some(document.text().to_owned());
        }
    }
    Ok(texts)
}
