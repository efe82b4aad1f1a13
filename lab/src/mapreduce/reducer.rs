//! Turning the lines of a bucket into its pairs.

use std::collections::HashSet;

use super::bucket::BucketId;
use super::error::{Error, Result};
use super::groups::Group;
use super::line::{self, BucketDocument};
use super::rows::BucketComparer;
use dedupdb::Schema;

/// Finds the pairs of buckets.
#[derive(Debug)]
pub struct Reducer {
    schema: Schema,
    /// The comparer of the current band, kept because drawing its permutations is costly.
    comparer: Option<BucketComparer>,
    /// The number of documents that share their id with another document of their bucket, and one such id.
    repeated: (u64, Option<String>),
}

impl Reducer {
    /// Creates a reducer for a schema.
    pub fn new(schema: Schema) -> Reducer {
        Reducer {
            schema,
            comparer: None,
            repeated: (0, None),
        }
    }

    /// Returns the number of documents that share their id with another document of their bucket, and one such id.
    pub fn repeated(&self) -> (u64, Option<&str>) {
        (self.repeated.0, self.repeated.1.as_deref())
    }

    /// Calls `take` for each pair of a bucket, with the ids in ascending order and their Jaccard similarity.
    ///
    /// Pairs are sorted by the sizes and ids of the documents, regardless of the order of the lines.
    ///
    /// # Errors
    ///
    /// Those of `take`, or one for a damaged line.
    pub fn pairs<E: From<Error>>(
        &mut self,
        group: &Group,
        mut take: impl FnMut(&str, &str, f64) -> Result<(), E>,
    ) -> Result<(), E> {
        if group.len() < 2 {
            return Ok(whole(group)?);
        }
        let mut members = members(group)?;
        members.sort_unstable();
        members.dedup_by(|one, other| one.is_again(other));
        self.note_repeated(&members);
        let take = &mut |one: &BucketDocument<'_>, other: &BucketDocument<'_>, jaccard| {
            let (one, other) = (one.id.as_str(), other.id.as_str());
            match one.cmp(other) {
                std::cmp::Ordering::Less => take(one, other, jaccard),
                // A document is not a pair with itself.
                std::cmp::Ordering::Equal => Ok(()),
                std::cmp::Ordering::Greater => take(other, one, jaccard),
            }
        };
        match group.bucket {
            BucketId::Band { band, key } => {
                let in_hand = self.comparer.take();
                let comparer = match in_hand.filter(|comparer| comparer.band() == band) {
                    Some(comparer) => comparer,
                    None => BucketComparer::new(&self.schema, band).map_err(Error::from)?,
                };
                let comparer = self.comparer.insert(comparer);
                comparer.compare(group, key, &members, take)
            }
            BucketId::Copies(_) => {
                for (at, one) in members.iter().enumerate() {
                    for other in &members[at + 1..] {
                        take(one, other, 1.0)?;
                    }
                }
                Ok(())
            }
        }
    }

    fn note_repeated(&mut self, members: &[BucketDocument<'_>]) {
        let mut ids = HashSet::with_capacity(members.len());
        for member in members {
            if !ids.insert(member.id.as_str()) && self.repeated.1.is_none() {
                self.repeated.1 = Some(member.id.clone());
            }
        }
        self.repeated.0 += (members.len() - ids.len()) as u64;
    }
}

/// Refuses a damaged line of a group.
fn whole(group: &Group) -> Result<()> {
    for (number, line) in (group.first..).zip(group.lines()) {
        if line::checked(line).is_none() {
            return Err(Error::NoLine {
                place: group.place(number),
            });
        }
    }
    Ok(())
}

/// The documents of a group.
fn members(group: &Group) -> Result<Vec<BucketDocument<'_>>> {
    let numbered = (group.first..).zip(group.lines());
    numbered
        .map(|(number, line)| {
            BucketDocument::of(line, number).ok_or_else(|| Error::NoLine {
                place: group.place(number),
            })
        })
        .collect()
}
