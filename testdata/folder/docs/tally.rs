//! Counts how often each word of a text occurs, and prints the most frequent.
//!
//! Usage: `tally < some.txt`. Written as an exercise: it reads everything into
//! memory, which is fine for a diary and wrong for an encyclopedia.

use std::collections::BTreeMap;
use std::io::{self, Read};

/// How many words to print.
const TOP: usize = 12;

/// Splits at everything that is not a letter or a digit. Words are compared in
/// lower case, so that the first word of a sentence is not a word of its own.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// Most frequent first; words with the same count in alphabetical order, which
/// the map has already given us and a stable sort keeps.
fn ranking(text: &str) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for word in words(text) {
        *counts.entry(word).or_default() += 1;
    }
    let mut ranked: Vec<_> = counts.into_iter().collect();
    ranked.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    ranked
}

fn main() -> io::Result<()> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    for (word, count) in ranking(&text).iter().take(TOP) {
        println!("{count:>6}  {word}");
    }
    Ok(())
}
