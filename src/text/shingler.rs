//! The way from text to shingle set.

use super::block::SymbolRule;
use super::chars::{self, SpaceRule};
use super::fingerprints::Fingerprints;
use super::fold::Fold;
use super::sink::{self, ShingleSink};
use super::sort::Sorter;
use super::windows::Windows;
use super::words::{self, WordMemory};
use super::{ShingleSet, Shingling, ids, places, terms};
use crate::error::{Error, Result};
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

/// Working memory of more than this many bytes is not kept between texts.
const KEPT: usize = 4 << 20;

/// Turns texts into shingle sets. A set depends only on the text and the three parameters, never on
/// machine, thread, toolchain or Unicode version.
///
/// # Examples
///
/// ```
/// use dedupdb::sketching::{Shingler, Shingling};
///
/// let shingler = Shingler::new(Shingling::Word(2), true, true)?;
/// let a = shingler.shingles("The quick brown fox")?;
/// let b = shingler.shingles("the QUICK, brown dog!")?;
/// assert_eq!(a.len(), 3); // the quick, quick brown, brown fox
/// assert_eq!(a.jaccard(&b), 0.5);
/// # Ok::<(), dedupdb::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shingler {
    shingling: Shingling,
    fold: Fold,
    /// The distance between two fingerprints of a text, if sets get any.
    fingerprint_step: Option<u32>,
    /// The shingles that sets do not get.
    ignored: Option<Arc<ShingleSet>>,
}

impl Shingler {
    /// Makes a shingler that first normalizes to NFKC, then lowercases, each if asked to.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSchema`] if the shingle's length is not 1 to 64, or if lowercasing or
    /// normalization is asked for where it does not apply ([`Shingling::folds`]).
    pub fn new(shingling: Shingling, lowercase: bool, nfkc: bool) -> Result<Shingler> {
        let shingling = shingling.checked()?;
        for (parameter, asked) in [("lowercase", lowercase), ("nfkc", nfkc)] {
            if asked && !shingling.folds() {
                let reason = format!("does not apply to {shingling} shingles: give false");
                return Err(Error::InvalidSchema { parameter, reason });
            }
        }
        Ok(Shingler {
            shingling,
            fold: Fold {
                lowercase,
                nfkc,
                marks: false,
            },
            fingerprint_step: None,
            ignored: None,
        })
    }

    /// Makes sets without these shingles, and without fingerprints, which would have gaps.
    pub(crate) fn ignoring(mut self, shingles: &Arc<ShingleSet>) -> Shingler {
        self.ignored = Some(shingles.clone());
        self
    }

    /// The shingler that makes all shingles of a text.
    fn of_all(&self) -> Shingler {
        Shingler {
            ignored: None,
            ..*self
        }
    }

    /// Makes sets with a fingerprint for each `step` shingles of the text.
    pub(crate) fn fingerprinted(mut self, step: Option<u32>) -> Shingler {
        self.fingerprint_step = step;
        self
    }

    /// Chooses whether to drop marks that some writers leave out: the harakat and the tatweel of Arabic, the niqqud of
    /// Hebrew, the diacritics of Latin letters. Letters of their own, such as ø, й and آ, stay.
    ///
    /// ```
    /// use dedupdb::sketching::{Shingler, Shingling};
    ///
    /// let shingler = Shingler::new(Shingling::Word(1), true, true)?.fold_marks(true)?;
    /// assert_eq!(shingler.shingles("Café")?, shingler.shingles("cafe")?);
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSchema`] if marks are to be dropped from texts that are not normalized.
    pub fn fold_marks(mut self, fold: bool) -> Result<Shingler> {
        if fold && !self.fold.nfkc {
            return Err(Error::InvalidSchema {
                parameter: "fold",
                reason:
                    "marks can be dropped only from words or characters that are normalized to NFKC"
                        .to_owned(),
            });
        }
        self.fold.marks = fold;
        Ok(self)
    }

    /// The parameters, by their names in the schema.
    pub(crate) fn parameters(&self) -> [(&'static str, String); 4] {
        let Fold {
            lowercase,
            nfkc,
            marks,
        } = self.fold;
        [
            ("shingling", self.shingling.to_string()),
            ("lowercase", lowercase.to_string()),
            ("nfkc", nfkc.to_string()),
            ("fold", folded(marks).to_owned()),
        ]
    }

    /// The shingler of integer ids.
    pub(super) fn of_ids() -> Shingler {
        Shingler {
            shingling: Shingling::Ids,
            fold: Fold {
                lowercase: false,
                nfkc: false,
                marks: false,
            },
            fingerprint_step: None,
            ignored: None,
        }
    }

    /// Returns the text's shingles: every run of K tokens, or one shingle of all tokens if there
    /// are fewer, or the empty set if there are none.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidText`] if the shingling is [`Shingling::Ids`] and a token is not a decimal
    /// integer below 2^64.
    pub fn shingles(&self, text: &str) -> Result<ShingleSet> {
        let mut memory = MEMORY.take();
        let set = self.shingles_in(&mut memory, text);
        if memory.capacity() <= KEPT {
            MEMORY.set(memory);
        }
        set
    }

    fn shingles_in(&self, memory: &mut ShinglerMemory, text: &str) -> Result<ShingleSet> {
        let ShinglerMemory {
            reading,
            shingles,
            sorter,
        } = memory;
        shingles.clear();
        self.read(text, reading, &mut ShingleSink::Hashes(shingles))?;
        let step = self.fingerprint_step.filter(|_| self.ignored.is_none());
        let fingerprints = step.map(|step| Fingerprints::of(shingles, step));
        let mut hashes = sorter.distinct(shingles);
        if let Some(ignored) = &self.ignored {
            hashes.retain(|shingle| ignored.as_slice().binary_search(shingle).is_err());
        }
        let mut again = Ok(());
        let tails = sink::tails(&hashes, |sink| again = self.read(text, reading, sink));
        again?;
        let set = ShingleSet::from_parts(hashes, tails).made_by(self.of_all());
        Ok(set.with_fingerprints(fingerprints))
    }

    /// Returns the hashes of the text's shingles in its order, each as often as it comes. The `n`-th one begins with the
    /// `n`-th of the [places](Shingler::places).
    ///
    /// # Errors
    ///
    /// Those of [`Shingler::shingles`].
    pub fn in_order(&self, text: &str) -> Result<Vec<u32>> {
        let mut memory = MEMORY.take();
        let mut shingles = Vec::new();
        let sink = &mut ShingleSink::Hashes(&mut shingles);
        let read = self.read(text, &mut memory.reading, sink);
        if memory.capacity() <= KEPT {
            MEMORY.set(memory);
        }
        read.map(|()| shingles)
    }

    /// Returns the bytes of each token of a text, in order. Tokens without an order, terms and ids, have no places.
    ///
    /// ```
    /// use dedupdb::sketching::{Shingler, Shingling};
    ///
    /// let shingler = Shingler::new(Shingling::Word(2), true, true)?;
    /// let text = "So it goes, so it goes.";
    /// let (shingles, places) = (shingler.in_order(text)?, shingler.places(text));
    /// assert_eq!((shingles.len(), places.len()), (5, 6));
    /// assert_eq!(shingles[0], shingles[3]); // so it
    /// assert_eq!(&text[places[3].start..places[4].end], "so it");
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    pub fn places(&self, text: &str) -> Vec<Range<usize>> {
        match self.shingling {
            Shingling::Word(_) => places::words(self.fold, SymbolRule::Separate, text),
            Shingling::Code(_) => places::words(self.fold, SymbolRule::Words, text),
            Shingling::Char(_) => places::chars(self.fold, SpaceRule::Single, text),
            Shingling::CharNoSpace(_) => places::chars(self.fold, SpaceRule::Dropped, text),
            Shingling::Byte(_) => (0..text.len()).map(|at| at..at + 1).collect(),
            Shingling::Term | Shingling::Ids => Vec::new(),
        }
    }

    /// Reads a text into a sink.
    fn read(
        &self,
        text: &str,
        reading: &mut TokenMemory,
        sink: &mut ShingleSink<'_>,
    ) -> Result<()> {
        let TokenMemory {
            tokens,
            words,
            term,
        } = reading;
        let windows = &mut Windows::new(self.shingling.k(), std::mem::take(tokens));
        match self.shingling {
            Shingling::Word(_) => {
                words::read(self.fold, SymbolRule::Separate, text, words, windows, sink);
            }
            Shingling::Code(_) => {
                words::read(self.fold, SymbolRule::Words, text, words, windows, sink);
            }
            Shingling::Char(_) => chars::read(self.fold, SpaceRule::Single, text, windows, sink),
            Shingling::CharNoSpace(_) => {
                chars::read(self.fold, SpaceRule::Dropped, text, windows, sink);
            }
            Shingling::Byte(_) => chars::read_bytes(text, windows, sink),
            Shingling::Term => terms::read(self.fold, text, term, windows, sink),
            Shingling::Ids => ids::read(text, sink)?,
        }
        *tokens = windows.end(sink);
        Ok(())
    }
}

/// The name of what is folded besides case and compatibility variants.
pub(crate) fn folded(marks: bool) -> &'static str {
    if marks { "marks" } else { "none" }
}

/// The working memory of a thread, kept between texts.
#[derive(Debug, Default)]
struct ShinglerMemory {
    reading: TokenMemory,
    shingles: Vec<u32>,
    sorter: Sorter,
}

/// The working memory for reading a text.
#[derive(Debug, Default)]
struct TokenMemory {
    tokens: Vec<u64>,
    words: WordMemory,
    term: String,
}

impl ShinglerMemory {
    /// The number of bytes held.
    fn capacity(&self) -> usize {
        8 * self.reading.tokens.capacity()
            + self.reading.words.capacity()
            + self.reading.term.capacity()
            + 4 * self.shingles.capacity()
            + self.sorter.capacity()
    }
}

thread_local! {
    static MEMORY: Cell<ShinglerMemory> = Cell::default();
}
