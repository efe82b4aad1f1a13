"""Makes stores from sketches."""

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
    """Makes stores from sketches, one per partition; ``dedupdb merge`` joins them.

    >>> from dedupdb import spark as dd
    >>> dd.load(dd.sketch(df), "part-{}", stores=1)
    ['.../part-00000']

    The documents are divided by their keys: the first store has the first keys, and in each store they are added in the
    order of the keys. If the stores are merged in the order of their names, as with
    ``dedupdb --store all merge stores/part-*``, the result answers as a store to which all texts were added in the
    order of their keys.

    If a store exists, documents are added to it, so a task that Spark runs again continues where it stopped. The stores
    are in folders of the executors: of this machine, or folders that all of them mount.

    Args:
        sketches: The result of :func:`dedupdb.spark.sketch`, cached or read from files.
        path: The folders. The number of the store, with five digits, replaces ``{}``.
        stores: The number of stores; by default, the number of partitions of the sketches. Stores without documents are
            not made.

    Returns:
        The folders, in the order in which to merge them.

    Raises:
        ValueError: Several documents have the same key, or the sketches have different parameters.
    """
    if path.count("{}") != 1:
        raise ValueError(f"path: {path!r}; the number of the store goes where it has {{}}, once")
    known = parameters_of(sketches)
    if known is None:
        return []
    # Sketches with a passage have fingerprints.
    columns = [*_COLUMNS, *(name for name in sketches.columns if name == "fingerprints")]
    rows = with_file(sketches).where(F.col("key").isNotNull() & F.col("hash").isNotNull()).select(*columns)
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
