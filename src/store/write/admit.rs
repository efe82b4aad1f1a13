//! Admitting documents that resemble no earlier one.

use super::Batch;
use super::judge::Policy;
use super::writer::Writer;
use crate::error::Result;
use crate::store::offer::Outcome;

impl Writer {
    /// Stores the documents of a batch that resemble no earlier one. The result is that of offering one after
    /// another. It never replaces or removes documents. A document that is already stored is a duplicate, also under
    /// its own key.
    ///
    /// For a job that may be interrupted and repeated, use a run ([`Writer::begin_run`]). The next run forgets the
    /// documents of the interrupted one, so it gives the same answers, as long as no search skips candidates
    /// ([`Store::searches_cut_short`](crate::Store::searches_cut_short)).
    ///
    /// The outcome of a document that is kept out ([`Change::KeptOut`](crate::write::Change::KeptOut)) names a document
    /// with the same text or, if there is none, the most similar one; of equally similar ones, the first that was
    /// stored. If the key of a document has another text in the store, the document is stored as well, under the key
    /// `KEY#HASH` with 16 digits of the hash of its text; see [`Outcome::second_key`].
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
        self.settle_batch(batch, Policy::Admit)
    }

    /// Stores the documents of a batch, including near-duplicates of earlier ones. Otherwise it is like
    /// [`Writer::admit_batch`].
    ///
    /// # Errors
    ///
    /// Those of [`Writer::add_all`].
    pub fn admit_distinct(&mut self, batch: Batch) -> Result<Vec<Result<Outcome>>> {
        self.settle_batch(batch, Policy::AdmitDistinct)
    }

    fn settle_batch(&mut self, batch: Batch, policy: Policy) -> Result<Vec<Result<Outcome>>> {
        let _used = self.begin()?;
        let located = self.locate(batch);
        self.settle_all(located, policy)
    }
}
