//! The kinds of shingle.

use crate::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// The longest shingle, in tokens.
const MAX_K: u8 = 64;

/// What a shingle is made of.
///
/// It is spelled `word:5`, `code:5`, `char:24`, `char-nospace:24`, `byte:8`, `term` or `ids`. A shingle has 1
/// to 64 tokens. A text with fewer tokens is one shingle of all of them.
///
/// # Examples
///
/// ```
/// use dedupdb::sketching::Shingling;
///
/// let shingling: Shingling = "char:24".parse()?;
/// assert_eq!(shingling, Shingling::Char(24));
/// assert_eq!(Shingling::default().to_string(), "word:5");
/// # Ok::<(), dedupdb::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shingling {
    /// This many consecutive words.
    ///
    /// A word is a run of letters, marks, numbers and connector punctuation (`_`). In
    /// scripts written without spaces (Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar) each
    /// such character is a word.
    Word(u8),
    /// This many consecutive words and symbols: as [`Word`](Shingling::Word), but each character that is neither of a
    /// word nor white space is a token, so that `C++` is three and `a + b` differs from `a - b`.
    Code(u8),
    /// This many consecutive characters. A run of white space counts as one space, and at either
    /// end as none.
    Char(u8),
    /// This many consecutive characters, without white space.
    CharNoSpace(u8),
    /// This many consecutive bytes of the text as it is.
    Byte(u8),
    /// Single terms: the characters `. , : ; '` are dropped, the rest is split at white space, and
    /// every piece counts except `the` and those of fewer than three characters.
    Term,
    /// Integers below 2^64 in decimal, split at white space, for sets hashed or numbered elsewhere.
    Ids,
}

impl Shingling {
    /// Returns whether lowercasing and normalization apply. They do not apply to bytes and ids.
    pub fn folds(&self) -> bool {
        !matches!(self, Shingling::Byte(_) | Shingling::Ids)
    }

    /// Returns the number of tokens in a shingle.
    pub fn k(&self) -> u8 {
        match *self {
            Self::Word(k)
            | Self::Code(k)
            | Self::Char(k)
            | Self::CharNoSpace(k)
            | Self::Byte(k) => k,
            Self::Term | Self::Ids => 1,
        }
    }

    /// The shingling itself, if its length is in range.
    pub(super) fn checked(self) -> Result<Shingling> {
        if (1..=MAX_K).contains(&self.k()) {
            Ok(self)
        } else {
            Err(misfit(&self.to_string()))
        }
    }
}

impl Default for Shingling {
    /// Five words.
    fn default() -> Shingling {
        Shingling::Word(5)
    }
}

impl fmt::Display for Shingling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shingling::Word(k) => write!(f, "word:{k}"),
            Shingling::Code(k) => write!(f, "code:{k}"),
            Shingling::Char(k) => write!(f, "char:{k}"),
            Shingling::CharNoSpace(k) => write!(f, "char-nospace:{k}"),
            Shingling::Byte(k) => write!(f, "byte:{k}"),
            Shingling::Term => write!(f, "term"),
            Shingling::Ids => write!(f, "ids"),
        }
    }
}

impl FromStr for Shingling {
    type Err = Error;

    /// Reads what [`Display`](fmt::Display) writes.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSchema`] for anything else, which says what fits.
    fn from_str(text: &str) -> Result<Shingling> {
        let parsed = match text.split_once(':') {
            None if text == "term" => Some(Shingling::Term),
            None if text == "ids" => Some(Shingling::Ids),
            None => None,
            Some((kind, k)) => k.parse().ok().and_then(|k| match kind {
                "word" => Some(Shingling::Word(k)),
                "code" => Some(Shingling::Code(k)),
                "char" => Some(Shingling::Char(k)),
                "char-nospace" => Some(Shingling::CharNoSpace(k)),
                "byte" => Some(Shingling::Byte(k)),
                _ => None,
            }),
        };
        // One spelling each: `word:+5` and `word:05` are refused.
        let spelled = parsed.filter(|parsed| parsed.to_string() == text);
        spelled.ok_or_else(|| misfit(text))?.checked()
    }
}

fn misfit(found: &str) -> Error {
    Error::InvalidSchema {
        parameter: "shingling",
        reason: format!(
            "\"{}\" is not a kind of shingle: give word:K, code:K, char:K, char-nospace:K or \
             byte:K with K from 1 to {MAX_K}, or term, or ids",
            super::quote(found)
        ),
    }
}
