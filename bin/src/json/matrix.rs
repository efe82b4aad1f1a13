//! A table of signatures.

use dedupdb::Schema;
use serde::Serialize;

/// `matrix`.
#[derive(Serialize)]
pub(crate) struct MatrixJson {
    documents: u64,
    permutations: u32,
    shingling: String,
    family: String,
    seed: u64,
    bytes: u64,
    seconds: f64,
}

impl MatrixJson {
    /// A table with `documents` rows and `bytes` bytes.
    pub(crate) fn new(schema: &Schema, documents: u64, bytes: u64, seconds: f64) -> MatrixJson {
        MatrixJson {
            documents,
            permutations: schema.permutations(),
            shingling: schema.shingling().to_string(),
            family: schema.family().to_string(),
            seed: schema.seed(),
            bytes,
            seconds,
        }
    }
}
