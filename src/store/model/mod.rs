//! Compares the store with a model that keeps texts in a map and compares each with every other.
//!
//! Steps are read from bytes, so that both proptest and a fuzzer can choose them. Other threads may
//! ask questions in the meantime. Each answer must be true of a commit of that time.
#![allow(
    clippy::unwrap_used,
    reason = "a step that fails where it should not has found a defect"
)]

mod answers;
mod calls;
mod documents;
mod linked;
mod readers;
mod rebuilding;
mod run;
mod session;
mod step;

#[cfg(test)]
pub(super) use answers::check as check_answers;
#[cfg(test)]
pub(super) use calls::{apply, make_together};
#[cfg(test)]
pub(super) use documents::Model;
pub(crate) use run::run;
#[cfg(test)]
pub(super) use run::schema;
#[cfg(test)]
pub(super) use step::{SharedCall, Text, key};
pub(crate) use step::{Step, UNIT};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::default()
        })]
        #[test]
        fn the_store_behaves_like_the_model(
            units in prop::collection::vec(prop::array::uniform32(any::<u8>()), 1..24),
            threads in 1..3_usize,
            readers in 0..3_usize,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let steps: Vec<Step> = units.iter().map(|unit: &[u8; UNIT]| Step::read(unit)).collect();
            run(folder.path(), &steps, threads, readers);
        }
    }
}
