//! Turning documents into lines.

use super::bucket::{BucketId, BucketNames};
use super::{WIDTH, line, parameters};
use dedupdb::Schema;
use dedupdb::batch::Sketcher;
use dedupdb::write::MAX_KEY_BYTES;
use dedupdb::{Error, Result};

/// The number of hash bytes in the name of a bucket of copies.
const COPY: usize = 16;

/// Makes the lines of documents.
#[derive(Debug)]
pub struct Mapper {
    sketcher: Sketcher,
    names: BucketNames,
    mark: String,
}

/// The lines of a document.
#[derive(Debug)]
pub struct Lines {
    buckets: Vec<BucketId>,
    names: BucketNames,
    /// The part of the lines after the bucket, including the line break.
    columns: String,
}

impl Mapper {
    /// Creates a mapper for a schema.
    ///
    /// # Errors
    ///
    /// None: the schema was checked when it was built.
    pub fn new(schema: &Schema) -> Result<Mapper> {
        Ok(Mapper {
            sketcher: Sketcher::new(schema, WIDTH)?,
            names: BucketNames::new(schema.bands().bands()),
            mark: parameters::mark(schema),
        })
    }

    /// Returns the lines of a document.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] and [`Error::InvalidText`], as for a store.
    pub fn lines(&self, id: &str, text: &str) -> Result<Lines> {
        if id.is_empty() || id.len() > MAX_KEY_BYTES {
            return Err(Error::InvalidKey { bytes: id.len() });
        }
        let shingles = self.sketcher.shingles(text)?;
        let buckets = if shingles.is_empty() {
            vec![copies(text)]
        } else {
            let keys = (0..).zip(self.sketcher.keys(&shingles));
            keys.map(|(band, key)| BucketId::Band { band, key })
                .collect()
        };
        let mut columns = line::columns(id, &self.mark, &shingles);
        columns.push('\n');
        Ok(Lines {
            buckets,
            names: self.names,
            columns,
        })
    }
}

/// The bucket of the copies of a text.
fn copies(text: &str) -> BucketId {
    let hash = blake3::hash(text.as_bytes());
    let bytes = hash.as_bytes().iter().take(COPY);
    BucketId::Copies(bytes.fold(0, |all, &byte| all << 8 | u128::from(byte)))
}

impl Lines {
    /// Returns the number of lines, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "a document has a line")]
    pub fn len(&self) -> usize {
        self.buckets.len()
    }

    /// Returns the lines in two parts each: the name of the bucket, and the rest from the first tab to the line break.
    pub fn parts(&self) -> impl Iterator<Item = (String, &str)> {
        let names = self.buckets.iter().map(|&bucket| self.names.name(bucket));
        names.map(|name| (name, self.columns.as_str()))
    }
}
