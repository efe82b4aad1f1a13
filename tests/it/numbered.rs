//! Documents that are made from their numbers.

use std::ops::Range;

use dedupdb::{Input, Store};

/// A text of so many words, of its own for each number.
pub(crate) fn text(number: usize, words: usize) -> String {
    let words = (0..words).map(|word| format!("w{}", number * 100 + word));
    words.collect::<Vec<_>>().join(" ")
}

/// Adds and commits the documents of these numbers, whose texts have so many words.
pub(crate) fn add(store: &Store, numbers: Range<usize>, words: usize) {
    let mut writer = store.writer().unwrap();
    let inputs = numbers.map(|n| Input::new(format!("{n:05}"), text(n, words)));
    writer.add_all(inputs.collect()).unwrap();
    writer.commit().unwrap();
}
