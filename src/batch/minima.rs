//! Makes rows of minima from texts.

use crate::error::{Error, Result};
use crate::parallel;
use crate::schema::Schema;
use crate::sketch::{Signer, SlotWidth};

/// Texts per task.
const CHUNK: usize = 64;

/// Returns the minima of each text's shingles: one row of [`Schema::permutations`] numbers per text. The rows are
/// signatures of 32-bit slots, whatever the schema's slot width, as `dedupdb matrix` writes them. The row of a text
/// without shingles holds only the largest number. Uses the threads of the current rayon pool.
///
/// ```
/// use dedupdb::Schema;
///
/// let schema = Schema::builder().permutations(64).build()?;
/// let rows = dedupdb::batch::minima(&schema, &["the night tram runs again", ""])?;
/// assert_eq!(rows.len(), 2 * 64);
/// assert!(rows[64..].iter().all(|&slot| slot == u32::MAX));
/// # Ok::<(), dedupdb::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::InvalidColumn`] for the first row that the schema's shingling cannot read.
pub fn minima<T: AsRef<str> + Sync>(schema: &Schema, texts: &[T]) -> Result<Vec<u32>> {
    let permutations = schema.permutations();
    let signer = Signer::new(
        schema.family(),
        schema.seed(),
        permutations,
        SlotWidth::Bits32,
    )?;
    let shingler = schema.shingler()?;
    let rows = |(chunk, texts): (usize, &[T])| -> Result<Vec<u32>> {
        let mut minima = Vec::with_capacity(texts.len() * permutations as usize);
        for (index, text) in texts.iter().enumerate() {
            let shingles = shingler.shingles(text.as_ref());
            let shingles = shingles.map_err(|error| Error::InvalidColumn {
                column: "text",
                row: chunk * CHUNK + index,
                reason: error.to_string(),
            })?;
            minima.extend(signer.minima(shingles.as_slice()));
        }
        Ok(minima)
    };
    let mut minima = Vec::with_capacity(texts.len() * permutations as usize);
    // Reports the first error in the order of rows, whichever thread finds one first.
    for chunk in parallel::map(texts.chunks(CHUNK).enumerate().collect(), rows) {
        minima.extend(chunk?);
    }
    Ok(minima)
}
