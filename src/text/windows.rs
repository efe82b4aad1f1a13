//! Runs of K tokens, hashed as they pass.

use super::hash;
use super::sink::ShingleSink;

/// A window of K tokens that rolls along a text and turns every position into a shingle.
#[derive(Debug)]
pub(super) struct Windows {
    k: usize,
    power: u64,
    sum: u64,
    /// The last K tokens already rolled over (zeros before the text), then the tokens to roll over
    /// next.
    tokens: Vec<u64>,
    /// The number of tokens that are missing until the window is full.
    missing: usize,
}

impl Windows {
    /// Makes a window of `k` tokens at the start of a text, in the memory of `tokens`.
    pub(super) fn new(k: u8, mut tokens: Vec<u64>) -> Windows {
        let power = hash::power(k);
        let k = usize::from(k);
        tokens.clear();
        tokens.resize(k, 0);
        Windows {
            k,
            power,
            sum: 0,
            tokens,
            missing: k,
        }
    }

    /// Where to append the text's next tokens; those already there must stay.
    pub(super) fn tokens(&mut self) -> &mut Vec<u64> {
        &mut self.tokens
    }

    /// Rolls over all tokens given so far and passes each complete window to the sink.
    pub(super) fn roll(&mut self, sink: &mut ShingleSink<'_>) {
        let count = self.tokens.len() - self.k;
        // The first K - 1 tokens of a text fill the window, and complete none.
        let unfilled = count.min(self.missing.saturating_sub(1));
        self.missing -= count.min(self.missing);
        let mut sum = self.sum;
        let mut steps = self.tokens[self.k..]
            .iter()
            .zip(&self.tokens)
            .map(|(&new, &old)| {
                sum = hash::append(sum, new).wrapping_sub(old.wrapping_mul(self.power));
                sum
            });
        for _ in steps.by_ref().take(unfilled) {}
        sink.extend(steps);
        self.sum = sum;
        self.tokens.copy_within(count.., 0);
        self.tokens.truncate(self.k);
    }

    /// Ends the text: fewer than K tokens, if any, become one shingle. Returns the memory.
    pub(super) fn end(&mut self, sink: &mut ShingleSink<'_>) -> Vec<u64> {
        self.roll(sink);
        if self.missing > 0 && self.missing < self.k {
            sink.extend(std::iter::once(self.sum));
        }
        std::mem::take(&mut self.tokens)
    }
}
