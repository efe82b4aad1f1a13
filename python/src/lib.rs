//! The extension module `dedupdb._native`: the crate's store for Python, Arrow in and out.
//!
//! This is a thin layer: it converts arguments and results, runs the crate without the interpreter, and checks for
//! Ctrl-C. The crate does the work.

#![expect(
    clippy::needless_pass_by_value,
    reason = "arguments of Python functions come by value"
)]

mod against;
mod arguments;
mod cluster;
mod cut;
mod decontaminate;
mod dedup;
mod documents;
mod errors;
mod fields;
mod file_object;
mod groups;
mod index;
mod opening;
mod passages;
mod query;
mod read;
mod results;
mod row_adder;
mod rows;
mod schema;
mod sets;
mod sign;
mod slot;
mod store;
mod stream;
mod table;
mod tokens;
mod upkeep;
mod warning;
mod watch;

use pyo3::prelude::*;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<store::PyStore>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<stream::Batches>()?;
    module.add_function(wrap_pyfunction!(dedup::dedup, module)?)?;
    module.add_function(wrap_pyfunction!(cut::cut, module)?)?;
    module.add_function(wrap_pyfunction!(decontaminate::decontaminate, module)?)?;
    module.add_function(wrap_pyfunction!(read::read, module)?)?;
    module.add_function(wrap_pyfunction!(sign::sign, module)?)?;
    module.add_function(wrap_pyfunction!(sets::add_sets, module)?)?;
    module.add_function(wrap_pyfunction!(sets::query_set, module)?)?;
    module.add_function(wrap_pyfunction!(sets::bucket_counts, module)?)?;
    module.add_function(wrap_pyfunction!(index::bands_of_recall, module)?)?;
    module.add_function(wrap_pyfunction!(tokens::token_hash, module)?)?;
    module.add_class::<tokens::TokenSet>()?;
    module.add_class::<index::SetIndex>()?;
    cluster::register(module)?;
    file_object::end_with(module.py())?;
    Ok(())
}
