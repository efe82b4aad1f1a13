//! Documents that are made from numbers.

use std::ops::Range;

use dedupdb::{Input, Store};

/// A text of `words` words, distinct for each number.
pub(crate) fn text(number: usize, words: usize) -> String {
    let words = (0..words).map(|word| format!("w{}", number * 100 + word));
    words.collect::<Vec<_>>().join(" ")
}

/// Adds and commits the documents with these numbers, whose texts have `words` words.
pub(crate) fn add(store: &Store, numbers: Range<usize>, words: usize) {
    let mut writer = store.writer().unwrap();
    let inputs = numbers.map(|n| Input::new(format!("{n:05}"), text(n, words)));
    writer.add_all(inputs.collect()).unwrap();
    writer.commit().unwrap();
}
