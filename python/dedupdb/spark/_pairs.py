"""Candidates, and the pairs that match."""

from __future__ import annotations

import warnings
from functools import partial

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from .. import cluster
from ._components import collected, components
from ._sketches import parameters_of
from ._stages import Stages

MOST = 4000
"""Contents of a bucket that one is paired with, unless another number is asked for."""

_LARGE = 256
"""Contents from which on a bucket is searched by rare shingles."""

_NEAR = 4
"""Contents before it that each content of a large bucket is compared with in any case."""

_COUNTED = 4096
"""Contents that are counted to tell which shingles are rare."""

_BROADCAST = 4_000_000
"""Codes that are sent to all executors rather than shuffling all sketches."""

EDGES = "hash_a binary, hash_b binary, jaccard double"


class Search:
    """A search for the pairs of contents that match, and what came of it."""

    def __init__(
        self, sketches: DataFrame, most: int, edges: int, checkpoint: str | None, report: dict[str, int] | None
    ) -> None:
        known = parameters_of(sketches)
        self.is_empty = known is None
        self.parameters, self.threshold = known or ("", 1.0)
        self.most = most
        self.edges_on_driver = edges
        self.report = {} if report is None else report
        self.stages = Stages(sketches.sparkSession, checkpoint, self.parameters)
        # Where a sketch was read is told if it is damaged.
        if "file" not in sketches.columns:
            sketches = sketches.withColumn("file", F.input_file_name())
        self.sketches = self.stages.kept("sketches", sketches)
        self.documents = self.sketches.where(F.col("hash").isNotNull() & F.col("key").isNotNull()).select("key", "hash")
        self._refuse_duplicates()

    def _refuse_duplicates(self) -> None:
        hashed = self.documents.select(F.xxhash64("key").alias("number"), "key")
        again = [row[0] for row in hashed.groupBy("number").count().where("count > 1").limit(1000).collect()]
        if not again:
            return
        twice = hashed.where(F.col("number").isin(again)).groupBy("key").count().where("count > 1")
        first = twice.select(F.min("key"), F.count("*")).first()
        if first is not None and first[0] is not None:
            raise ValueError(f"key: {first[0]!r} is the key of several documents, as are {first[1] - 1} other keys")

    def postings(self) -> DataFrame:
        """Rows of a band key and a content's code."""
        columns = self.sketches.select("key", "hash", "size", "keys", "parameters", "file")
        made = partial(cluster.postings, parameters=self.parameters)
        return columns.mapInArrow(made, "key bigint, code bigint")

    def walked(self, name: str, rows: DataFrame, large: int | None) -> DataFrame:
        """The distinct pairs of rows of a key and a code, with what was passed over taken note of."""
        walk = partial(cluster.walk, threshold=self.threshold, most=self.most, large=large, near=_NEAR)
        by_key = rows.repartition("key").sortWithinPartitions("key", "code")
        found = by_key.mapInArrow(walk, "a bigint, b bigint").groupBy("a", "b").count()
        return self.stages.kept(name, found)

    def count(self, found: DataFrame) -> tuple[int, int]:
        """Counts pairs, and contents of large buckets."""
        counts = found.select(
            F.sum(F.when(F.col("a") < F.col("b"), 1).otherwise(0) * F.when(F.col("a") >= 0, 1).otherwise(0)),
            F.sum(F.when(F.col("a") == F.col("b"), 1).otherwise(0)),
            F.sum(F.when(F.col("a") < 0, F.col("b") * F.col("count")).otherwise(0)),
        ).first()
        pairs, large, passed_over = (int(value or 0) for value in (counts or (0, 0, 0)))
        for name, number in (("candidates", pairs), ("large_bucket_contents", large), ("passed_over", passed_over)):
            self.report[name] = self.report.get(name, 0) + number
        return pairs, large

    def contents(self, codes: DataFrame, number: int, *columns: str) -> DataFrame:
        """The sketches of contents with these codes, one of each text: that of the first key."""
        if number <= _BROADCAST:
            codes = F.broadcast(codes)
        named = self.sketches.where(F.col("key").isNotNull())
        chosen = named.join(codes, "code", "left_semi").select("code", "hash", "key", *columns)
        first = Window.partitionBy("code", "hash").orderBy("key")
        numbered = chosen.repartition("code").withColumn("copy", F.row_number().over(first))
        return numbered.where("copy = 1").drop("copy")

    def verified(self, name: str, pairs: DataFrame, number: int) -> DataFrame:
        """The pairs of codes whose contents share a bucket and match."""
        codes = pairs.select(F.explode(F.array("a", "b")).alias("code")).distinct()
        contents = self.stages.kept(name, self.contents(codes, 2 * number, "size", "keys", "packed", "file"))
        return matched(pairs, contents, "code", self.threshold, True)

    def edges(self, labelled: bool) -> DataFrame:
        """The pairs of contents that match; where they are to be connected only (``labelled``), some at least of each
        component, so that all are connected."""
        found = self.walked("candidates", self.postings(), _LARGE)
        number, large = self.count(found)
        pairs = found.where("a >= 0 and a < b").select("a", "b")
        edges = self.stages.kept("edges", self.verified("contents", pairs, number))
        if large:
            again = self.walked("rare", self._rare_rows(found, large, edges if labelled else None), None)
            number, _ = self.count(again)
            more = again.where("a >= 0 and a < b").select("a", "b").join(pairs, ["a", "b"], "left_anti")
            edges = self.stages.kept("all_edges", edges.union(self.verified("rare_contents", more, number)))
        passed_over = self.report.get("passed_over", 0)
        if passed_over:
            warnings.warn(
                f"{passed_over} pairs of contents that share a bucket were passed over: more than {self.most} others "
                "fit one of them; most= asks for another number",
                stacklevel=3,
            )
        return edges

    def _rare_rows(self, found: DataFrame, large: int, edges: DataFrame | None) -> DataFrame:
        codes = found.where("a = b").select(F.col("a").alias("code"))
        contents = self.stages.kept("large", self.contents(codes, large, "size", "packed"))
        counted = contents.select("hash", "size", "packed").orderBy("hash").limit(_COUNTED)
        counts = cluster.counts(collected(counted))
        label: Column = F.col("code")
        if edges is not None:
            # What is connected already need not be compared.
            connected = components(edges, self.edges_on_driver)
            contents = contents.join(connected, "hash", "left")
            label = F.coalesce(F.xxhash64("label"), "code")
        contents = contents.select("hash", "size", "packed", label.alias("label"))
        rare = partial(cluster.rare, counts=counts, threshold=self.threshold)
        return contents.mapInArrow(rare, "key bigint, code bigint, label bigint")


def matched(pairs: DataFrame, contents: DataFrame, by: str, threshold: float, share: bool) -> DataFrame:
    """Verifies pairs of the columns ``a`` and ``b``, which are values of a column of the contents."""
    sides = [
        contents.select(*(F.col(name).alias(f"{name}_{side}") for name in dict.fromkeys([by, *_SIDE]))) for side in "ab"
    ]
    joined = pairs.join(sides[0], F.col("a") == F.col(f"{by}_a")).join(sides[1], F.col("b") == F.col(f"{by}_b"))
    columns = [f"{name}_{side}" for side in "ab" for name in _SIDE]
    verify = partial(cluster.verify, threshold=threshold, share=share)
    return joined.select(*columns).mapInArrow(verify, EDGES)


_SIDE = ("hash", "size", "keys", "packed", "file")


def pairs(
    sketches: DataFrame,
    *,
    fold_copies: bool = False,
    most: int = MOST,
    edges_on_driver: int = 50_000_000,
    checkpoint: str | None = None,
    report: dict[str, int] | None = None,
) -> DataFrame:
    """The pairs of documents that are alike: what ``dedupdb pairs`` of a store with the same documents lists.

    Args:
        sketches: What :func:`dedupdb.spark.sketch` made, cached or read from files.
        fold_copies: Names documents with the same text by their first key alone.
        most: Contents of a bucket that one is compared with at most. What is passed over is counted, and warned about.
        edges_on_driver: Matching pairs up to which components are found on the driver.
        checkpoint: A folder of any file system of Spark's, where the result of each stage is written. A run that failed
            goes on there.
        report: A dict that gets the counts: ``candidates``, ``large_bucket_contents`` and ``passed_over``.

    Returns:
        ``key_a``, ``key_b``, the lower key first, ``jaccard``, and ``exact_copy``.

    Raises:
        ValueError: A key is that of several documents, or the sketches are of different parameters.
    """
    search = Search(sketches, most, edges_on_driver, checkpoint, report)
    if search.is_empty:
        return sketches.sparkSession.createDataFrame(
            [], "key_a string, key_b string, jaccard double, exact_copy boolean"
        )
    edges = search.edges(labelled=False)
    names = F.array(F.min("key")) if fold_copies else F.collect_list("key")
    named = search.stages.kept("names", search.documents.groupBy("hash").agg(names.alias("names")))
    a = named.select(F.col("hash").alias("hash_a"), F.col("names").alias("names_a"))
    b = named.select(F.col("hash").alias("hash_b"), F.col("names").alias("names_b"))
    alike = edges.join(a, "hash_a").join(b, "hash_b").withColumn("exact_copy", F.lit(False))
    same = named.where(F.size("names") > 1).select(F.col("names").alias("names_a"), F.col("names").alias("names_b"))
    same = same.withColumns({"jaccard": F.lit(1.0), "exact_copy": F.lit(True)})
    columns = ["names_a", "names_b", "jaccard", "exact_copy"]
    both = alike.select(*columns).union(same.select(*columns))
    both = both.withColumn("one", F.explode("names_a")).withColumn("other", F.explode("names_b"))
    both = both.where("not exact_copy or one < other")
    return both.select(
        F.least("one", "other").alias("key_a"), F.greatest("one", "other").alias("key_b"), "jaccard", "exact_copy"
    )
