//! Stored contents that contain a text, or that a text contains.

use super::lookup::SharedFingerprints;
use crate::error::{Error, Result};
use crate::schema::{Schema, check_share};
use crate::storage::Snapshot;
use crate::store::compare::{Allowance, Matcher, Probe, VerifiedContent};

/// A threshold that every content with a common shingle reaches.
const ANY: f64 = f64::MIN_POSITIVE;

/// Shorter texts are left out, unless a query says otherwise: in tokens.
const SHORTEST: usize = 20;

/// A query by containment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Containment {
    /// The least share of a text's shingles that the other one has; `None` for a query by Jaccard similarity.
    pub(crate) least: Option<f64>,
    /// The number of tokens of the shortest texts.
    pub(crate) shortest: usize,
}

impl Default for Containment {
    fn default() -> Containment {
        Containment {
            least: None,
            shortest: SHORTEST,
        }
    }
}

impl Containment {
    /// The number of shingles of a text of the shortest length that does not repeat itself.
    pub(crate) fn shingles(self, schema: &Schema) -> usize {
        let k = usize::from(schema.shingling().k());
        self.shortest.saturating_add(1).saturating_sub(k)
    }

    /// What one text is to have of another, if this is a query by containment.
    pub(crate) fn bounds(self, schema: &Schema) -> Option<ContainmentBounds> {
        let shingles = self.shingles(schema);
        self.least
            .map(|least| ContainmentBounds { least, shingles })
    }
}

/// How much of one text is to be in the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContainmentBounds {
    /// The least share of the shingles of the shorter text.
    pub(crate) least: f64,
    /// A shorter text has at least as many shingles.
    pub(crate) shingles: usize,
}

/// The contents that contain the probe, or that it contains, by id. Some may be removed already.
///
/// Fingerprints are counted before sets are compared (Sarawagi and Kirpal, "Efficient set joins on similarity predicates",
/// 2004). One shingle in w is a fingerprint, so of n shingles that both have, n / w are, more or less. A content with
/// fewer than half of that is not compared. Of a query, `allowance` bounds the number of contents that are compared.
pub(crate) fn contained(
    snapshot: &Snapshot,
    allowance: &Allowance,
    probe: Probe<'_>,
    bounds: ContainmentBounds,
) -> Result<Vec<VerifiedContent>> {
    check_share("containment", bounds.least)?;
    if snapshot.schema.passage() == 0 {
        let reason = "the store keeps no fingerprints, which it is found by; a store gets them when it is made, or by \
                      a rebuild with the texts. PairQuery::containment needs none"
            .to_owned();
        let parameter = "containment";
        return Err(Error::InvalidQuery { parameter, reason });
    }
    let distinct = probe.shingles.as_slice();
    let most = allowance.false_candidates().saturating_add(distinct.len());
    let shared = SharedFingerprints::find(snapshot, distinct, most)?;
    if !shared.common.is_empty() {
        allowance.cut();
    }
    let mut matcher = Matcher::new(snapshot, probe, ANY);
    let step = snapshot.schema.fingerprint_step().unwrap_or(1) as usize;
    let mut found = Vec::new();
    for &(content, common) in &shared.contents {
        let row = snapshot.content(content)?;
        let shorter = distinct.len().min(row.shingle_count as usize);
        let is_long = shorter >= bounds.shingles || row.hash == *probe.hash;
        if !is_long || common < least_common(shorter, step, bounds.least) {
            continue;
        }
        let Some(verified) = matcher.verify(content)? else {
            continue;
        };
        if verified.likeness.larger_containment() >= Some(bounds.least) {
            found.push(verified);
        }
    }
    Ok(found)
}

/// The least number of common fingerprints with which a content is compared: half of those that a share of `shingles` has
/// on average, and 1 at least.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a number is neither negative nor larger"
)]
fn least_common(shingles: usize, step: usize, share: f64) -> u32 {
    let average = share * shingles as f64 / step as f64;
    ((average / 2.0).ceil() as u32).max(1)
}
