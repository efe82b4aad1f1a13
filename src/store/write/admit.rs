//! Admitting the documents of a corpus that are like no earlier one.

use super::Batch;
use super::judge::Policy;
use super::writer::Writer;
use crate::error::Result;
use crate::store::offer::Outcome;

impl Writer {
    /// Stores the documents of a batch that are like no earlier one, as if one was offered after
    /// the other, and never replaces or removes any. A document that is stored already is a duplicate,
    /// under its own key, too.
    ///
    /// What is offered may be interrupted and is then to be offered again: give it a run
    /// ([`Writer::begin_run`]). The next run forgets what an interrupted one stored, so it gives the
    /// same answers, as long as no candidates are passed over
    /// ([`Store::searches_cut_short`](crate::Store::searches_cut_short)).
    ///
    /// A document is kept out ([`Change::KeptOut`](crate::write::Change::KeptOut)) for the sake of the first that
    /// it is like, in the order in which they were stored. One whose key has another text in the store is
    /// stored beside it, as `KEY#HASH` with 16 digits of its text's hash; see [`Outcome::second_key`].
    ///
    /// ```
    /// use dedupdb::{Input, Schema, Store, write::{Change, Relation}};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("seen"), &Schema::default())?;
    /// let texts = [
    ///     ("1", "seven swans were swimming on the lake when the snow began to fall at last"),
    ///     ("2", "Seven swans were swimming on the lake when the snow began to fall, at last!"),
    ///     ("1", "nobody had told the ferryman that the bridge would open a whole year early"),
    /// ];
    /// let batch = store.sketch_all(texts.map(|(key, text)| Input::new(key, text)).to_vec());
    /// let mut writer = store.writer()?;
    /// let outcomes = writer.admit_batch(batch)?.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// assert_eq!(outcomes[0].change, Change::Added);
    /// assert_eq!(outcomes[1].relation, Relation::NearDuplicate);
    /// assert_eq!(outcomes[1].duplicate_of().unwrap().key, "1");
    /// assert!(outcomes[1].earlier_is_of_this_writer);
    /// assert!(outcomes[2].second_key.as_ref().unwrap().starts_with("1#"));
    /// writer.commit()?;
    /// assert_eq!(store.stats()?.documents, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Writer::add_all`].
    pub fn admit_batch(&mut self, batch: Batch) -> Result<Vec<Result<Outcome>>> {
        let _used = self.begin()?;
        let located = self.locate(batch);
        self.settle_all(located, Policy::Admit)
    }
}
