//! The bodies of documents to add.

use crate::store::compare::BodyRef;
use crate::text::ShingleSet;

/// What a document contains: a text, or shingles instead of a text.
///
/// A program that has shingles, from another engine or from its own hashes, does not need the text. A set gets
/// exactly the same answers as a text with these shingles. Documents that were given as equal sets are copies of
/// one another; a text with the same shingles is a near-duplicate of them, with a similarity of 1.
///
/// A store refuses a set that another shingling made ([`Error::InvalidShingles`]). Your own integers
/// ([`ShingleSet::from_ids`]) need a store of [`Shingling::Ids`]. A store that finds passages takes only sets that its
/// own shingler made of a text, or those of [sketches](crate::batch::Mark::shingles), because they have fingerprints. A
/// set from [packed bytes](ShingleSet::from_packed) or [32-bit hashes](ShingleSet::from_hashes) does not know what made
/// it. The caller must ensure that its shingles are those that the store's
/// [`Schema::shingler`](crate::Schema::shingler) makes.
///
/// ```
/// use dedupdb::sketching::{ShingleSet, Shingling};
/// use dedupdb::{Query, Schema, Store, write::Relation};
///
/// # let folder = tempfile::tempdir()?;
/// // Tokens, hashed to 64 bits by the program itself.
/// let schema = Schema::builder().shingling(Shingling::Ids).build()?;
/// let store = Store::create(folder.path().join("store"), &schema)?;
/// let ids: Vec<u64> = (0..100).map(|token| token * token).collect();
/// let mut writer = store.writer()?;
/// let one = writer.add("one", ShingleSet::from_ids(&ids[..95]))?;
/// let two = writer.add("two", ShingleSet::from_ids(&ids))?;
/// assert_eq!((one.relation, two.relation), (Relation::Novel, Relation::NearDuplicate));
/// writer.commit()?;
/// drop(writer);
/// let matches = store.query(&Query::shingles(&ShingleSet::from_ids(&ids[5..])))?;
/// assert_eq!((matches[0].key.as_str(), matches[0].jaccard), ("two", Some(0.95)));
///
/// // Shingles that were made before, as a store of this schema makes them.
/// let schema = Schema::default();
/// let store = Store::create(folder.path().join("other"), &schema)?;
/// let shingles = schema.shingler()?.shingles("seven swans were swimming on the lake")?;
/// store.insert_unless_duplicate("1", shingles)?;
/// let outcome = store.insert_unless_duplicate("2", "Seven swans were swimming on the lake!")?;
/// assert_eq!(outcome.relation, Relation::NearDuplicate);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`Error::InvalidShingles`]: crate::Error::InvalidShingles
/// [`Shingling::Ids`]: crate::sketching::Shingling::Ids
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Body {
    /// A text.
    Text(String),
    /// Shingles instead of a text.
    Shingles(ShingleSet),
}

impl Body {
    pub(crate) fn borrowed(&self) -> BodyRef<'_> {
        match self {
            Body::Text(text) => BodyRef::Text(text),
            Body::Shingles(shingles) => BodyRef::Shingles(shingles),
        }
    }
}

impl<T: Into<String>> From<T> for Body {
    fn from(text: T) -> Body {
        Body::Text(text.into())
    }
}

impl From<ShingleSet> for Body {
    fn from(shingles: ShingleSet) -> Body {
        Body::Shingles(shingles)
    }
}
