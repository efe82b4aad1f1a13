//! `init`: makes a store.

use anyhow::{Result, anyhow};
use dedupdb::{Error, Schema, sketching::SchemaBuilder};

use crate::args::{Args, InitArgs, SketchingArgs};
use crate::exit::Exit;
use crate::json;
use crate::number::{counted, percent};
use crate::output::{Output, printable};

/// The approximate number of bytes that a stored shingle takes.
const SHINGLE_BYTES: f64 = 3.2;

/// The similarities at which the S-curve is shown.
const CURVE: [f64; 6] = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// Runs `init`.
pub(crate) fn run(args: &Args, init: &InitArgs, output: &mut Output) -> Result<Exit> {
    let mut schema = schema(&init.sketching).keep_shingles(!init.no_shingles);
    if let Some(passage) = init.passage {
        schema = schema.passage(passage);
    }
    let schema = schema.build()?;
    let store = crate::store::create(args, &schema);
    let store = store.map_err(|error| existing(args, init, error))?;
    if let Some(scope) = init.id_scope {
        let mut writer = store.writer()?;
        writer.set_id_scope(scope);
        writer.commit()?;
    }
    if output.is_json() {
        output.object(&json::InitJson::new(
            &args.store,
            &schema,
            &CURVE,
            SHINGLE_BYTES,
        ))?;
    } else if !args.quiet {
        let place = args.store.display().to_string();
        output.line(format!("made a store in {}", printable(&place)))?;
        for line in describe(&schema) {
            output.prose(&line)?;
        }
    }
    Ok(Exit::Found)
}

/// Explains how to change a store that already exists.
fn existing(args: &Args, init: &InitArgs, error: anyhow::Error) -> anyhow::Error {
    let Some(Error::AlreadyAStore { path }) = error.downcast_ref() else {
        return error;
    };
    let threshold = init.sketching.threshold.unwrap_or(0.7);
    anyhow!(
        "{}: there is a dedupdb store here already; change its parameters with reindex, such as `{} reindex \
         --threshold {threshold}`, or choose another folder",
        path.display(),
        crate::store::command(args)
    )
}

/// A builder with the parameters that the options ask for.
pub(super) fn schema(sketching: &SketchingArgs) -> SchemaBuilder {
    let mut builder = match sketching.preset {
        Some(preset) => preset.builder(),
        None => Schema::builder(),
    };
    builder = builder
        .family(sketching.family)
        .seed(sketching.seed)
        .slot_width(sketching.slot_bits);
    if let Some(shingling) = sketching.shingling {
        builder = builder.shingling(shingling);
    }
    if let Some(permutations) = sketching.permutations {
        builder = builder.permutations(permutations);
    }
    if let Some(threshold) = sketching.threshold {
        builder = builder.threshold(threshold);
    }
    if let Some(recall) = sketching.recall {
        builder = builder.target_recall(recall);
    }
    // The builder refuses to fold if the shingling never folds, so pass on only what is turned off.
    if sketching.no_lowercase {
        builder = builder.lowercase(false);
    }
    if sketching.no_nfkc {
        builder = builder.nfkc(false);
    }
    if sketching.fold.is_some() {
        builder = builder.fold_marks(true);
    }
    if let Some(bands) = sketching.bands {
        builder = builder.bands(bands.bands(), bands.rows());
    }
    builder
}

/// The parameters and their consequences, for people.
pub(super) fn describe(schema: &Schema) -> Vec<String> {
    let mut lines: Vec<String> = schema
        .parameters()
        .iter()
        .map(|(name, value)| format!("  {name:<14}{value}"))
        .collect();
    let bands = schema.bands();
    lines.push(format!(
        "{} of {} find {} of the pairs at the threshold, {}",
        counted(bands.bands().into(), "band", "bands"),
        counted(bands.rows().into(), "row", "rows"),
        percent(schema.recall(schema.threshold())),
        schema.threshold()
    ));
    lines.push("  similarity    found".to_owned());
    for jaccard in CURVE {
        let found = percent(schema.recall(jaccard));
        lines.push(format!("  {jaccard:<10.1}{found:>9}"));
    }
    let shingles = if schema.keeps_shingles() {
        format!(" and about {SHINGLE_BYTES} a shingle (up to 64 of them need no signature)")
    } else {
        String::new()
    };
    lines.push(format!(
        "a distinct text takes {} bytes of signature, about {:.0} of postings{shingles}; its row, key, filters and \
         fingerprints add to that",
        schema.signature_bytes(),
        schema.bands().posting_bytes()
    ));
    lines
}
