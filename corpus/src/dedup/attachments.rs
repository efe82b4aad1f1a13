//! What messages have besides their texts.

use std::collections::{HashMap, HashSet};

use crate::short_hash;

/// The attachments of messages that are judged. A message that resembles a kept one is kept, too, if no message that was met
/// before and resembles the same one has its attachments.
///
/// ```
/// use dedupdb_corpus::dedup::Attachments;
///
/// let mut known = Attachments::default();
/// assert!(known.are_new("letter", b"invoice of May"));
/// assert!(known.are_new("letter", b"invoice of June"));
/// assert!(!known.are_new("letter", b"invoice of May"));
/// ```
#[derive(Debug, Default)]
pub struct Attachments {
    /// The hashes of the attachments, by the hash of the kept message's key.
    known: HashMap<u64, HashSet<[u8; 32]>>,
}

impl Attachments {
    /// Returns whether no message so far that resembles the one kept as `key`, or is that one, has these attachments. From
    /// now on, one has.
    ///
    /// `attachments` are their bytes or what stands for them, such as [`Origin::attachments`](crate::Origin::attachments).
    pub fn are_new(&mut self, key: &str, attachments: &[u8]) -> bool {
        let known = self.known.entry(short_hash(key)).or_default();
        known.insert(*blake3::hash(attachments).as_bytes())
    }
}
