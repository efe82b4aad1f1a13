"""The connected components of matching pairs."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema

from .. import cluster

_ROUNDS = 100

SENT = 500_000
"""The number of hashes, or edges, up to which they are sent to all executors, instead of shuffling all sketches."""


def components(edges: DataFrame, on_driver: int) -> DataFrame:
    """Returns each hash of an edge as ``hash``, and the lowest hash of its component as ``label``.

    Up to ``on_driver`` edges are connected on the driver, with 128 bytes per edge. For more, Spark runs several rounds.
    """
    edges = edges.select("hash_a", "hash_b")
    number = edges.count()
    if number > on_driver:
        return stars(edges)
    labels = sent(edges, cluster.components(collected(edges)), "hash binary, label binary")
    return F.broadcast(labels) if number <= SENT else labels


def collected(df: DataFrame) -> list[pa.RecordBatch]:
    """Returns the rows on the driver."""
    frame: Any = df
    return list(frame.toArrow().to_batches() if hasattr(frame, "toArrow") else frame._collect_as_arrow())


def arrow(df: DataFrame) -> pa.Table:
    """Returns the rows on the driver, with their schema."""
    frame: Any = df
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    batches = frame._collect_as_arrow()
    return pa.Table.from_batches(batches, None if batches else to_arrow_schema(df.schema))


def sent(df: DataFrame, table: pa.Table, schema: str) -> DataFrame:
    """Returns a table of the driver as a frame in the same session as ``df``."""
    spark: Any = df.sparkSession
    made: DataFrame
    if hasattr(df, "toArrow"):
        made = spark.createDataFrame(table, schema)
    else:
        # Spark 3 takes no Arrow here.
        columns = (column.to_pylist() for column in table.columns)
        made = spark.createDataFrame(list(zip(*columns, strict=True)), schema)
    return made


def stars(edges: DataFrame) -> DataFrame:
    """The same by large and small stars (Kiveris and others, "Connected Components in MapReduce and Beyond", 2014)."""
    edges = edges.select(F.greatest("hash_a", "hash_b").alias("u"), F.least("hash_a", "hash_b").alias("v")).distinct()
    edges = edges.where("u != v").localCheckpoint()
    before: Any = None
    for _ in range(_ROUNDS):
        both = edges.union(edges.select(F.col("v").alias("u"), F.col("u").alias("v")))
        lowest = both.groupBy("u").agg(F.min("v").alias("m")).select("u", F.least("m", "u").alias("m"))
        large = both.join(lowest, "u").where("v > u").select(F.col("v").alias("u"), F.col("m").alias("v")).distinct()
        large = large.where("u != v")
        lowest = large.groupBy("u").agg(F.min("v").alias("m"))
        small = large.join(lowest, "u")
        moved = small.select(F.col("v").alias("u"), F.col("m").alias("v"))
        moved = moved.union(lowest.select("u", F.col("m").alias("v")))
        edges = moved.where("u != v").distinct().localCheckpoint()
        after = edges.select(F.count("*"), F.sum(F.xxhash64("u", "v").cast("decimal(38,0)"))).first()
        if after == before:
            break
        before = after
    else:
        raise RuntimeError(f"the components are not found after {_ROUNDS} rounds")
    labels = edges.select(F.col("v").alias("hash"), F.col("v").alias("label")).distinct()
    return edges.select(F.col("u").alias("hash"), F.col("v").alias("label")).union(labels)
