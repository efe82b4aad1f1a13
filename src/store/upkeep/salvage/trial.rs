//! Finds the parameters of a damaged store: those that reproduce its signatures.

use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::schema::Schema;
use crate::storage::Wreck;
use crate::store::compare::StoreSketcher;
use crate::text::ShingleSet;

/// The number of contents that are tried to find out whether a schema is the right one.
const TRIED: u32 = 1000;

/// The schema in the index, if it reproduces the stored signatures. Otherwise the given one, or the
/// default one if none is given, if that one reproduces them.
pub(super) fn known_schema(wreck: &Wreck, given: Option<&Schema>, source: &Path) -> Result<Schema> {
    let signature_bytes = wreck.signature_bytes();
    let fits = |schema: &Schema| signature_bytes == Some(schema.signature_bytes());
    if let Some(stored) = &wreck.schema
        && (fits(stored) || signature_bytes.is_none())
        && SchemaTrial::of(stored, wreck)?.is_passed().unwrap_or(true)
    {
        if let Some(given) = given {
            stored.check_same(given)?;
        }
        return Ok(stored.clone());
    }
    let default = Schema::default();
    let other = given.unwrap_or(&default);
    let trial = SchemaTrial::of(other, wreck)?;
    // If nothing can be tried, a given schema with signatures of the right size is believed.
    let may_be =
        || given.is_some() && fits(other) && !(other.keeps_shingles() && trial.contents > 0);
    if trial.is_passed().unwrap_or_else(may_be) {
        return Ok(other.clone());
    }
    let why = match (&wreck.no_index, &wreck.schema) {
        (Some(error), _) => {
            format!("the index cannot be read, nor the store's parameters ({error})")
        }
        (None, Some(_)) => "the store's parameters are not those of its signatures".to_owned(),
        (None, None) => "the store's parameters cannot be read".to_owned(),
    };
    let reason = format!("{why}; name a store that has the same ones");
    Err(Error::damaged(source, reason))
}

/// The outcome of signing the shingles of stored contents with a schema.
#[derive(Debug, Default)]
struct SchemaTrial {
    keeps_shingles: bool,
    /// The number of contents that have shingles.
    contents: u32,
    /// The number of those whose shingles and signature, if one is kept, exist and, if that can be checked, are
    /// intact.
    tried: u32,
    /// The number of those that have the computed signature, or none because they are small.
    fit: u32,
}

impl SchemaTrial {
    fn of(schema: &Schema, wreck: &Wreck) -> Result<SchemaTrial> {
        let sketcher = StoreSketcher::new(schema, &Arc::default())?;
        let mut shingles = ShingleSet::default();
        let mut trial = SchemaTrial {
            keeps_shingles: schema.keeps_shingles(),
            ..SchemaTrial::default()
        };
        for id in 0..wreck.len().min(TRIED) {
            let content = wreck.content(id, schema);
            let Some(content) = content.filter(|content| content.row.shingle_count > 0) else {
                continue;
            };
            trial.contents += 1;
            // Of a small content, only the shingles are kept.
            let is_signed = schema.keeps_signature(content.row.shingle_count);
            let is_sound = content.is_row_sound
                && content.are_shingles_sound
                && (content.is_signature_sound || !is_signed);
            // Damage would speak against the right schema.
            if wreck.has_catalog() && !is_sound {
                continue;
            }
            let fits = match (&content.signature, content.unpack(&mut shingles)) {
                (Some(stored), true) => *stored == sketcher.signature(shingles.as_slice()),
                (_, is_set) if !is_signed => is_set,
                _ => continue,
            };
            trial.tried += 1;
            trial.fit += u32::from(fits);
        }
        Ok(trial)
    }

    /// Whether the schema may be the store's; `None` if no content could be tried.
    fn is_passed(&self) -> Option<bool> {
        (self.tried > 0).then_some(self.keeps_shingles && self.fit * 2 > self.tried)
    }
}
