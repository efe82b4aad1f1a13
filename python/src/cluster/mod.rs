//! The steps of `dedupdb.spark` and of other engines: a batch in, a batch out. They depend on no engine.

mod benchmark;
mod columns;
mod connecting;
mod containing;
mod keeping;
mod loading;
mod posting;
mod rare;
mod sharing;
mod sketching;
mod verifying;
mod walking;

use pyo3::prelude::*;

/// Adds the classes and functions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<sketching::ClusterSketcher>()?;
    module.add_class::<posting::ClusterPostings>()?;
    module.add_class::<walking::ClusterWalk>()?;
    module.add_class::<rare::ClusterRarity>()?;
    module.add_class::<keeping::ClusterKeeper>()?;
    module.add_class::<loading::ClusterLoader>()?;
    module.add_class::<benchmark::ClusterBenchmark>()?;
    module.add_function(wrap_pyfunction!(benchmark::cluster_items, module)?)?;
    module.add_class::<containing::ClusterShingleCounts>()?;
    module.add_class::<containing::ClusterContainment>()?;
    module.add_class::<containing::ClusterContainmentWalk>()?;
    module.add_function(wrap_pyfunction!(containing::cluster_sum_counts, module)?)?;
    module.add_function(wrap_pyfunction!(
        containing::cluster_verify_contained,
        module
    )?)?;
    module.add_class::<sharing::ClusterPassages>()?;
    module.add_function(wrap_pyfunction!(verifying::cluster_verify, module)?)?;
    module.add_function(wrap_pyfunction!(connecting::cluster_components, module)?)?;
    Ok(())
}
