"""Stores of sketches."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import partial

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from .. import cluster
from ._sketches import parameters_of, refuse_duplicates, with_file

_COLUMNS = ("key", "hash", "bytes", "size", "packed", "parameters", "file")


def load(sketches: DataFrame, path: str, *, stores: int | None = None) -> list[str]:
    """Makes stores of sketches, one a partition, which ``dedupdb merge`` joins.

    The documents are divided by their keys: the first store has the first keys, and in each they are added in the order
    of the keys. So the stores merged in the order of their names, as ``dedupdb --store all merge stores/part-*`` does,
    answer as one to which all texts were added in the order of their keys.

    A store that is there is added to; so a task that Spark runs again goes on where it was. The stores are in folders
    of the executors: of this machine, or such as all of them mount.

    Args:
        sketches: What :func:`dedupdb.spark.sketch` made, cached or read from files.
        path: The folders. The number of the store, of five digits, takes the place of ``{}``.
        stores: How many; as many as the sketches have partitions. Those without documents are not made.

    Returns:
        The folders, in the order in which they are to be merged.

    Raises:
        ValueError: A key is that of several documents, or the sketches are of different parameters.
    """
    if path.count("{}") != 1:
        raise ValueError(f"path: {path!r}; the number of the store goes where it has {{}}, once")
    known = parameters_of(sketches)
    if known is None:
        return []
    rows = with_file(sketches).where(F.col("key").isNotNull() & F.col("hash").isNotNull()).select(*_COLUMNS)
    refuse_duplicates(rows)
    number = max(1, sketches.rdd.getNumPartitions()) if stores is None else stores
    ordered = rows.repartitionByRange(number, "key").sortWithinPartitions("key")
    made = partial(_loaded, path=os.path.abspath(path), parameters=known[0])
    return sorted(row[0] for row in ordered.mapInArrow(made, "store string").collect())


def _loaded(batches: Iterable[pa.RecordBatch], path: str, parameters: str) -> Iterator[pa.RecordBatch]:
    context = TaskContext.get()
    number = 0 if context is None else context.partitionId()
    folder = path.replace("{}", f"{number:05}")
    if cluster.load(batches, folder, parameters):
        yield pa.record_batch([pa.array([folder])], names=["store"])
