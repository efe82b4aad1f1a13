//! Pairs and clusters as streams.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, StringBuilder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use dedupdb::Progress;
use dedupdb::groups::{Cluster, ClusterQuery, Linkage, Member, Pair, PairQuery};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::raised;
use crate::stream::{Batches, DeferredError, ROWS};
use crate::table::{defect, schema};
use crate::watch::waited;

fn failure(error: dedupdb::Error) -> DeferredError {
    Box::new(move |py| raised(py, &error))
}

fn batch(schema: &SchemaRef, columns: Vec<ArrayRef>) -> Result<Option<RecordBatch>, DeferredError> {
    let batch = RecordBatch::try_new(schema.clone(), columns);
    batch
        .map(Some)
        .map_err(|error| -> DeferredError { Box::new(move |_| defect(&error)) })
}

/// Similarities. The exact one may be unknown. The containment is a column if it was asked for.
struct SimilarityColumns {
    containment: Option<Float64Builder>,
    jaccard: Float64Builder,
    estimate: Float64Builder,
    error: Float64Builder,
    exact_copy: BooleanBuilder,
}

impl SimilarityColumns {
    const COLUMNS: [crate::table::FieldSpec; 4] = [
        ("jaccard", DataType::Float64, true),
        ("estimate", DataType::Float64, false),
        ("error", DataType::Float64, false),
        ("exact_copy", DataType::Boolean, false),
    ];

    fn columns(by_containment: bool) -> impl Iterator<Item = crate::table::FieldSpec> {
        let containment = ("containment", DataType::Float64, true);
        let more = by_containment.then_some(containment);
        SimilarityColumns::COLUMNS.into_iter().chain(more)
    }

    fn new(by_containment: bool) -> SimilarityColumns {
        SimilarityColumns {
            containment: by_containment.then(Float64Builder::new),
            jaccard: Float64Builder::new(),
            estimate: Float64Builder::new(),
            error: Float64Builder::new(),
            exact_copy: BooleanBuilder::new(),
        }
    }

    fn push(
        &mut self,
        jaccard: Option<f64>,
        estimate: dedupdb::sketching::Estimate,
        exact_copy: bool,
        containment: Option<f64>,
    ) {
        if let Some(column) = &mut self.containment {
            column.append_option(containment);
        }
        self.jaccard.append_option(jaccard);
        self.estimate.append_value(estimate.jaccard);
        self.error.append_value(estimate.error);
        self.exact_copy.append_value(exact_copy);
    }

    fn finish(&mut self) -> impl Iterator<Item = ArrayRef> {
        let columns: [ArrayRef; 4] = [
            Arc::new(self.jaccard.finish()),
            Arc::new(self.estimate.finish()),
            Arc::new(self.error.finish()),
            Arc::new(self.exact_copy.finish()),
        ];
        let containment = self.containment.as_mut();
        let more = containment.map(|column| Arc::new(column.finish()) as ArrayRef);
        columns.into_iter().chain(more)
    }
}

/// The pairs of a store.
pub(crate) fn pairs(
    py: Python<'_>,
    store: dedupdb::Store,
    query: PairQuery,
    by_containment: bool,
) -> PyResult<Batches> {
    let found = waited(py, move |progress| store.watched(progress).pairs(query))?;
    let mut found = found.map_err(|error| raised(py, &error))?;
    let mut columns = vec![
        ("key_a", DataType::Utf8, false),
        ("key_b", DataType::Utf8, false),
    ];
    columns.extend(SimilarityColumns::columns(by_containment));
    let schema = schema(&columns);
    let of = schema.clone();
    let make = move |progress: &Progress| {
        let (mut keys, mut alike) = (
            [StringBuilder::new(), StringBuilder::new()],
            SimilarityColumns::new(by_containment),
        );
        let mut rows = 0;
        while rows < ROWS && !progress.is_stopped() {
            let Some(pair) = found.next() else { break };
            let Pair {
                key_a,
                key_b,
                jaccard,
                estimate,
                exact_copy,
                containment,
                ..
            } = pair.map_err(failure)?;
            keys[0].append_value(key_a);
            keys[1].append_value(key_b);
            alike.push(jaccard, estimate, exact_copy, containment);
            rows += 1;
        }
        if rows == 0 {
            return Ok(None);
        }
        let keys = keys
            .iter_mut()
            .map(|keys| Arc::new(keys.finish()) as ArrayRef);
        batch(&of, keys.chain(alike.finish()).collect())
    };
    Ok(Batches::new("pairs", schema, Box::new(make)))
}

/// A cluster whose members are being returned, in as many batches as they need.
struct CurrentCluster {
    number: u64,
    size: u64,
    representative: String,
    members: std::vec::IntoIter<Member>,
}

impl CurrentCluster {
    fn of(number: u64, cluster: Cluster) -> CurrentCluster {
        CurrentCluster {
            number,
            size: cluster.members.len() as u64,
            representative: cluster.representative,
            members: cluster.members.into_iter(),
        }
    }
}

/// A query for clusters that are linked in this way.
pub(crate) fn query(linkage: &str) -> PyResult<ClusterQuery> {
    let linkage = match linkage {
        "connected" => Linkage::Connected,
        "representative" => Linkage::Representative,
        other => {
            return Err(PyValueError::new_err(format!(
                "linkage: {other:?}; there are \"connected\" and \"representative\""
            )));
        }
    };
    Ok(ClusterQuery::new().linkage(linkage))
}

/// The clusters of a store, one row for each member.
pub(crate) fn clusters(
    py: Python<'_>,
    store: dedupdb::Store,
    query: ClusterQuery,
    by_containment: bool,
) -> PyResult<Batches> {
    let found = waited(py, move |progress| store.watched(progress).clusters(query))?;
    let found = found.map_err(|error| raised(py, &error))?;
    let mut columns = vec![
        ("cluster", DataType::UInt64, false),
        ("size", DataType::UInt64, false),
        ("representative", DataType::Utf8, false),
        ("key", DataType::Utf8, false),
    ];
    columns.extend(SimilarityColumns::columns(by_containment));
    let schema = schema(&columns);
    let of = schema.clone();
    let mut numbered = (1..).zip(found);
    let mut now: Option<CurrentCluster> = None;
    let make = move |progress: &Progress| {
        let (mut numbers, mut sizes) = (UInt64Builder::new(), UInt64Builder::new());
        let (mut representatives, mut keys) = (StringBuilder::new(), StringBuilder::new());
        let mut alike = SimilarityColumns::new(by_containment);
        let mut rows = 0;
        while rows < ROWS && !progress.is_stopped() {
            let Some(cluster) = &mut now else {
                let Some((number, cluster)) = numbered.next() else {
                    break;
                };
                now = Some(CurrentCluster::of(number, cluster.map_err(failure)?));
                continue;
            };
            let Some(member) = cluster.members.next() else {
                now = None;
                continue;
            };
            numbers.append_value(cluster.number);
            sizes.append_value(cluster.size);
            representatives.append_value(&cluster.representative);
            keys.append_value(&member.key);
            let (jaccard, containment) = (member.jaccard, member.containment);
            alike.push(jaccard, member.estimate, member.exact_copy, containment);
            rows += 1;
        }
        if rows == 0 {
            return Ok(None);
        }
        let columns: [ArrayRef; 4] = [
            Arc::new(numbers.finish()),
            Arc::new(sizes.finish()),
            Arc::new(representatives.finish()),
            Arc::new(keys.finish()),
        ];
        batch(&of, columns.into_iter().chain(alike.finish()).collect())
    };
    Ok(Batches::new("clusters", schema, Box::new(make)))
}
