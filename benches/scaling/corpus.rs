//! Generates any number of texts like those of a crawl, from a seed.

use std::fmt::Write;

/// The number of distinct words.
const WORDS: u64 = 60_000;

/// The number of words of the template. A tenth of the texts are pages of it.
const TEMPLATE_WORDS: u64 = 400;

/// Per hundred texts: copies of an earlier text, near-copies of one, and pages of the template.
const COPIES: u64 = 4;
const NEAR_COPIES: u64 = 8;
const PAGES: u64 = 10;

/// On average, one in this many words of a near-copy differs from its original.
const NEAR_COPY_CHANGES: u64 = 60;

/// Texts whose words follow Zipf's law. Their lengths are log-normal, with a median of 250 words; one in forty has more
/// than 1,800.
#[derive(Debug)]
pub(crate) struct Corpus {
    seed: u64,
    /// For each rank, the share of words with this or an earlier rank, times 2^32.
    shares: Vec<u32>,
    words: Vec<String>,
}

impl Corpus {
    pub(crate) fn new(seed: u64) -> Corpus {
        // Mandelbrot's form of the law.
        let weight = |rank: u64| 1.0 / (rank as f64 + 2.7);
        let total: f64 = (0..WORDS).map(weight).sum();
        let mut sum = 0.0;
        let shares = (0..WORDS).map(|rank| {
            sum += weight(rank) / total;
            (sum * f64::from(u32::MAX)) as u32
        });
        Corpus {
            seed,
            shares: shares.collect(),
            words: (0..WORDS).map(word).collect(),
        }
    }

    /// The text of a number.
    pub(crate) fn text(&self, number: u64) -> String {
        let kind = mix(self.seed ^ mix(number)) % 100;
        // The original is usually not a copy itself.
        let earlier = mix(number) % number.max(1);
        if kind < COPIES {
            self.own(earlier, None)
        } else if kind < COPIES + NEAR_COPIES {
            self.own(earlier, Some(number))
        } else if kind < COPIES + NEAR_COPIES + PAGES {
            let mut text = self.words_of(self.seed, TEMPLATE_WORDS, None);
            text.push(' ');
            text.push_str(&self.words_of(number, TEMPLATE_WORDS / 32, None));
            text
        } else {
            self.own(number, None)
        }
    }

    /// The text that belongs to `number`. If `changed` is given, it decides which words differ.
    fn own(&self, number: u64, changed: Option<u64>) -> String {
        let normal: f64 = (0..12_u64)
            .map(|part| unit(mix(self.seed ^ (number * 12 + part))))
            .sum::<f64>()
            - 6.0;
        let words = (250.0 * normal.exp()).clamp(1.0, 100_000.0);
        self.words_of(number, words as u64, changed)
    }

    fn words_of(&self, number: u64, count: u64, changed: Option<u64>) -> String {
        let mut text = String::new();
        for place in 0..count {
            let random = mix(self.seed.wrapping_add(number) ^ mix(place));
            let random = match changed {
                Some(by) if mix(by ^ place).is_multiple_of(NEAR_COPY_CHANGES) => mix(random ^ by),
                _ => random,
            };
            let share = (random >> 32) as u32;
            let rank = self.shares.partition_point(|&end| end < share);
            let word = &self.words[rank.min(self.words.len() - 1)];
            let end = if place % 12 == 11 { ".\n" } else { " " };
            // Writing to a string cannot fail.
            let _ = write!(text, "{word}{end}");
        }
        text
    }
}

/// The word of a rank. More frequent words are shorter.
fn word(rank: u64) -> String {
    let letters = 2 + rank.checked_ilog2().unwrap_or(0) / 2;
    let random = mix(rank);
    (0..letters)
        .map(|place| char::from(b'a' + (random >> (5 * place) & 31).min(25) as u8))
        .collect()
}

fn unit(random: u64) -> f64 {
    (random >> 11) as f64 / (1_u64 << 53) as f64
}

fn mix(value: u64) -> u64 {
    let value = (value.wrapping_add(0x9e37_79b9_7f4a_7c15) ^ value >> 30)
        .wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}
