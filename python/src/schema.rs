//! The parameters of a store, by name.

use dedupdb::Schema;
use dedupdb::sketching::{Bands, Family, SchemaBuilder, Shingling, SlotWidth};
use dedupdb_corpus::Preset;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::arguments;
use crate::errors::raised;

/// The parameters of a schema, as the arguments of ``open``.
pub(crate) fn as_arguments<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyDict>> {
    let parameters = PyDict::new(py);
    for (name, text) in schema.parameters() {
        let value = if name == "threshold" {
            schema.threshold().into_bound_py_any(py)?
        } else if let Ok(truth) = text.parse::<bool>() {
            truth.into_bound_py_any(py)?
        } else if let Ok(number) = text.parse::<u64>() {
            number.into_bound_py_any(py)?
        } else {
            text.into_bound_py_any(py)?
        };
        parameters.set_item(name.replace('-', "_"), value)?;
    }
    Ok(parameters)
}

/// Changes a schema by named arguments, which are those of ``open``.
pub(crate) fn changed(
    mut schema: SchemaBuilder,
    parameters: Option<&Bound<'_, PyDict>>,
) -> PyResult<SchemaBuilder> {
    let Some(parameters) = parameters else {
        return Ok(schema);
    };
    if let Some(preset) = parameters.get_item("preset")?
        && !preset.is_none()
    {
        schema = of_preset(schema, named::<Preset>("preset", &preset)?)
            .map_err(|error| raised(preset.py(), &error))?;
    }
    let mut bands = None;
    for (name, value) in parameters {
        if value.is_none() {
            continue;
        }
        let name: String = name.extract()?;
        schema = match name.as_str() {
            "preset" => schema,
            "threshold" => schema.threshold(arguments::named(&name, &value)?),
            "recall" => schema.target_recall(arguments::named(&name, &value)?),
            "shingling" => schema.shingling(named::<Shingling>(&name, &value)?),
            "permutations" => schema.permutations(arguments::named(&name, &value)?),
            "slot_bits" => schema.slot_width(slots(&name, &value)?),
            "family" => schema.family(named::<Family>(&name, &value)?),
            "seed" => schema.seed(arguments::named(&name, &value)?),
            "lowercase" => schema.lowercase(arguments::named(&name, &value)?),
            "nfkc" => schema.nfkc(arguments::named(&name, &value)?),
            "fold" => schema.fold_marks(folded(&name, &value)?),
            "passage" => schema.passage(arguments::named(&name, &value)?),
            "shingles" => schema.keep_shingles(arguments::named(&name, &value)?),
            "bands" => {
                bands = Some(shape(&name, &value)?);
                schema
            }
            _ => {
                return Err(PyTypeError::new_err(format!(
                    "there is no parameter {name:?}; there are preset, threshold, recall, shingling, \
                     permutations, bands, slot_bits, family, seed, lowercase, nfkc, fold, shingles and passage"
                )));
            }
        };
    }
    Ok(match bands {
        Some((bands, rows)) => schema.bands(bands, rows),
        None => schema,
    })
}

/// The schema that a reindex gives a store that has `stored`. New bands are chosen if a parameter that they depend on
/// changes, as in `upkeep::Reindex`.
pub(crate) fn reindexed(
    py: Python<'_>,
    stored: &Schema,
    parameters: Option<&Bound<'_, PyDict>>,
) -> PyResult<Schema> {
    let is_named = |name| parameters.is_some_and(|given| given.contains(name).unwrap_or(false));
    let build = |builder| {
        let schema = changed(builder, parameters)?.build();
        schema.map_err(|error| raised(py, &error))
    };
    if is_named("bands") {
        return build(stored.to_builder());
    }
    let schema = build(stored.to_builder().choose_bands())?;
    let follows = schema.permutations() != stored.permutations()
        || schema.threshold().to_bits() != stored.threshold().to_bits()
        || is_named("recall");
    if follows {
        Ok(schema)
    } else {
        build(stored.to_builder())
    }
}

/// Changes a schema to the parameters of a preset, which other arguments may change further.
fn of_preset(schema: SchemaBuilder, preset: Preset) -> dedupdb::Result<SchemaBuilder> {
    let preset = preset.builder().build()?;
    let bands = preset.bands();
    Ok(schema
        .shingling(preset.shingling())
        .lowercase(preset.lowercase())
        .nfkc(preset.nfkc())
        .permutations(preset.permutations())
        .bands(bands.bands(), bands.rows())
        .threshold(preset.threshold()))
}

/// The schema from named arguments alone.
pub(crate) fn built(py: Python<'_>, parameters: Option<&Bound<'_, PyDict>>) -> PyResult<Schema> {
    let schema = changed(Schema::builder(), parameters)?;
    schema.build().map_err(|error| raised(py, &error))
}

/// The same for signatures alone. They need no bands that reach a recall, unless it is given.
pub(crate) fn of_signatures(py: Python<'_>, parameters: &Bound<'_, PyDict>) -> PyResult<Schema> {
    let mut builder = changed(Schema::builder(), Some(parameters))?;
    if !parameters.contains("recall")? && !parameters.contains("bands")? {
        builder = builder.bands(1, 1);
    }
    builder.build().map_err(|error| raised(py, &error))
}

fn named<T: std::str::FromStr<Err = dedupdb::Error>>(
    name: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<T> {
    let Ok(text) = value.cast::<PyString>() else {
        let class = value.get_type().name()?;
        return Err(PyTypeError::new_err(format!("{name}: a str, not {class}")));
    };
    let parsed = text.to_str()?.parse::<T>();
    parsed.map_err(|error| raised(value.py(), &error))
}

fn slots(name: &str, value: &Bound<'_, PyAny>) -> PyResult<SlotWidth> {
    match arguments::named::<u32>(name, value)? {
        8 => Ok(SlotWidth::Bits8),
        16 => Ok(SlotWidth::Bits16),
        32 => Ok(SlotWidth::Bits32),
        bits => Err(PyValueError::new_err(format!(
            "{name}: {bits}; a slot has 8, 16 or 32 bits"
        ))),
    }
}

/// Whether marks are folded.
fn folded(name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    match arguments::named::<String>(name, value)?.as_str() {
        "marks" => Ok(true),
        "none" => Ok(false),
        other => Err(PyValueError::new_err(format!(
            "{name}: {other:?} is neither \"none\" nor \"marks\""
        ))),
    }
}

/// Bands and rows, as a pair or in a string such as ``"18x7"``.
fn shape(name: &str, value: &Bound<'_, PyAny>) -> PyResult<(u32, u32)> {
    if value.is_instance_of::<PyString>() {
        let bands = named::<Bands>(name, value)?;
        return Ok((bands.bands(), bands.rows()));
    }
    value.extract().map_err(|_| {
        PyTypeError::new_err(format!("{name}: a pair of ints or a str such as \"18x7\""))
    })
}
