//! Questions for passages.

use crate::error::{Error, Result};
use crate::schema::Schema;
use crate::text::ShingleSet;

/// A query for the passages that a text shares with stored documents.
///
/// ```
/// use dedupdb::overlap::PassageQuery;
///
/// let query = PassageQuery::text("it was the first of many long and cold nights").at_least(8).limit(10);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassageQuery<'a> {
    pub(super) text: &'a str,
    at_least: Option<u32>,
    pub(super) gap: u32,
    pub(super) limit: usize,
    pub(super) except: &'a [String],
    pub(super) all: bool,
    pub(super) ignored: Option<&'a ShingleSet>,
}

impl<'a> PassageQuery<'a> {
    /// Asks what a text shares with stored documents.
    pub fn text(text: &'a str) -> PassageQuery<'a> {
        PassageQuery {
            text,
            at_least: None,
            gap: 0,
            limit: usize::MAX,
            except: &[],
            all: false,
            ignored: None,
        }
    }

    /// The minimum length of a passage in tokens, at least that of a shingle; by default the store's
    /// [`Schema::passage`]. Shorter passages than that may be missed.
    #[must_use]
    pub fn at_least(self, tokens: u32) -> PassageQuery<'a> {
        let at_least = Some(tokens);
        PassageQuery { at_least, ..self }
    }

    /// Joins passages between which the text has at most this many other tokens; 0, none, by default.
    #[must_use]
    pub fn gap(self, tokens: u32) -> PassageQuery<'a> {
        PassageQuery {
            gap: tokens,
            ..self
        }
    }

    /// The maximum number of passages; the longest ones are returned.
    #[must_use]
    pub fn limit(self, limit: usize) -> PassageQuery<'a> {
        PassageQuery { limit, ..self }
    }

    /// Leaves the documents with these keys out of the answer.
    #[must_use]
    pub fn except(self, keys: &'a [String]) -> PassageQuery<'a> {
        PassageQuery {
            except: keys,
            ..self
        }
    }

    /// Compares all documents, however many share a passage with the text, instead of a few of those that share a
    /// [common](crate::overlap::Passage::is_common) one.
    #[must_use]
    pub fn all(self) -> PassageQuery<'a> {
        PassageQuery { all: true, ..self }
    }

    /// Leaves out what the text has of these shingles: a template, a licence, base code. A passage ends where one of them
    /// begins, and has none. [`Passages::ignored`](crate::overlap::Passages::ignored) counts the tokens that are left out.
    ///
    /// ```
    /// use dedupdb::{Schema, Store, overlap::PassageQuery};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("store"), &Schema::builder().passage(5).build()?)?;
    /// let form = "name of the applicant, date and place of birth";
    /// store.insert_unless_duplicate("one", format!("{form}: Ada, in London, on a day in December"))?;
    /// let other = format!("{form}: Emmy, in Erlangen, on a day in March");
    /// let query = PassageQuery::text(&other);
    /// assert_eq!(store.passages(&query)?.passages.len(), 1);
    /// let form = store.schema().shingler()?.shingles(form)?;
    /// let found = store.passages(&query.ignore(&form))?;
    /// assert_eq!((found.passages.len(), found.ignored, found.tokens), (0, 5, 17));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn ignore(self, shingles: &'a ShingleSet) -> PassageQuery<'a> {
        let ignored = Some(shingles);
        PassageQuery { ignored, ..self }
    }

    /// The minimum length of a passage.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidQuery`] if the store finds no passages, or none that are so short.
    pub(super) fn least(&self, schema: &Schema) -> Result<u32> {
        if schema.passage() == 0 {
            let reason = "the store keeps no fingerprints, which passages are found by; a store gets them when it is \
                          made, or by a rebuild with the texts"
                .to_owned();
            let parameter = "passages";
            return Err(Error::InvalidQuery { parameter, reason });
        }
        let at_least = self.at_least.unwrap_or(schema.passage());
        let k = schema.shingling().k();
        if at_least < k.into() {
            let reason = format!("{at_least} is less than {k}, the length of a shingle");
            let parameter = "at-least";
            return Err(Error::InvalidQuery { parameter, reason });
        }
        Ok(at_least)
    }
}
