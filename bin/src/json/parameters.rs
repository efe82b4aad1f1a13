//! The parameters of a store, and their consequences.

use std::path::Path;

use dedupdb::Schema;
use serde::Serialize;

/// Parameters of a store.
#[derive(Serialize)]
pub(crate) struct ParametersJson {
    shingling: String,
    lowercase: bool,
    nfkc: bool,
    fold: &'static str,
    family: String,
    seed: u64,
    permutations: u32,
    slot_bits: usize,
    bands: String,
    threshold: f64,
    shingles: bool,
    passage: u32,
}

impl ParametersJson {
    /// All parameters, as `Schema::parameters` lists them.
    pub(crate) fn new(schema: &Schema) -> ParametersJson {
        ParametersJson {
            shingling: schema.shingling().to_string(),
            lowercase: schema.lowercase(),
            nfkc: schema.nfkc(),
            fold: if schema.fold_marks() { "marks" } else { "none" },
            family: schema.family().to_string(),
            seed: schema.seed(),
            permutations: schema.permutations(),
            slot_bits: 8 * schema.slot_width().bytes(),
            bands: schema.bands().to_string(),
            threshold: schema.threshold(),
            shingles: schema.keeps_shingles(),
            passage: schema.passage(),
        }
    }
}

/// In `init` and `tune`: a point of the S-curve.
#[derive(Serialize)]
pub(super) struct CurvePointJson {
    pub(super) jaccard: f64,
    pub(super) found: f64,
}

/// `init`.
#[derive(Serialize)]
pub(crate) struct InitJson {
    store: String,
    schema: ParametersJson,
    bands: u32,
    rows: u32,
    recall: f64,
    curve: Vec<CurvePointJson>,
    signature_bytes: usize,
    posting_bytes: f64,
    shingle_bytes: Option<f64>,
}

impl InitJson {
    /// A new store, and its S-curve at some similarities. A stored shingle takes `shingle_bytes`.
    pub(crate) fn new(
        store: &Path,
        schema: &Schema,
        curve: &[f64],
        shingle_bytes: f64,
    ) -> InitJson {
        let point = |&jaccard| CurvePointJson {
            jaccard,
            found: schema.recall(jaccard),
        };
        InitJson {
            store: store.display().to_string(),
            schema: ParametersJson::new(schema),
            bands: schema.bands().bands(),
            rows: schema.bands().rows(),
            recall: schema.recall(schema.threshold()),
            curve: curve.iter().map(point).collect(),
            signature_bytes: schema.signature_bytes(),
            posting_bytes: schema.bands().posting_bytes(),
            shingle_bytes: schema.keeps_shingles().then_some(shingle_bytes),
        }
    }
}
