"""Pairs of documents of which one contains the other."""

from __future__ import annotations

from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from .. import _native, cluster
from ._components import arrow
from ._pairs import MOST, Search, exploded, side_by_side

_COUNTING = 16
"""The number of tasks that count shingles; each makes up to 64 MiB of counters."""

_NO_COUNTS = bytes(1 << 16)
"""Counters by which each shingle is in no content."""

_SKETCH = ("key", "hash", "code", "size", "packed", "parameters", "file")
_CONTENT = ("hash", "size", "packed", "file")
_EDGES = "hash_a binary, hash_b binary, containment double, jaccard double, equal boolean"
_PAIRS = "key_a string, key_b string, jaccard double, exact_copy boolean, containment double"


def contained(
    sketches: DataFrame,
    *,
    containment: float = 0.8,
    shortest: int = 20,
    fold_copies: bool = False,
    checkpoint: str | None = None,
    report: dict[str, int] | None = None,
) -> DataFrame:
    """Returns every pair of documents of which the second has a share of the shingles of the first, and no fewer.

    >>> from dedupdb import spark as dd
    >>> dd.contained(dd.sketch(df)).select("key_a", "key_b", "containment").collect()
    [Row(key_a='tram', key_b='trams', containment=1.0)]

    They are those that ``store.pairs(containment=...)`` and ``dedupdb pairs --containment`` list for a store to which
    the documents were added in the order of their keys. The search is exact: no pair is missing. Of two texts with the
    same number of shingles, the one whose first key is lower contains the other one. Copies of a text, however short,
    contain each other, and are listed once, the lower key first.

    Each document sends rows of 16 bytes for those of its shingles that another one seems to have, and no text. This is
    seen by counters, 64 Mi at most. So up to some 30 million distinct shingles, few rows are sent; beyond that, the
    number of rows comes near to the number of all shingles.

    Args:
        sketches: The result of :func:`dedupdb.spark.sketch`, cached or read from files.
        containment: The least share of the shingles of the first text, above 0 and at most 1.
        shortest: Texts of fewer tokens (words) are left out, unless they are copies; see :meth:`dedupdb.Store.pairs`.
        fold_copies: Names documents with the same text only by their first key.
        checkpoint: As for :func:`dedupdb.spark.pairs`.
        report: A dict that receives the number of pairs of texts that were compared, ``candidates``, and of distinct
            texts that are left out, ``short``.

    Returns:
        ``key_a``, that of the contained document, ``key_b``, ``jaccard``, ``exact_copy`` and ``containment``.

    Raises:
        ValueError: ``containment`` is out of its range, or as :func:`dedupdb.spark.pairs`.
    """
    containment = float(containment)
    if not 0 < containment <= 1:
        raise ValueError(f"containment: {containment} is not above 0 and at most 1")
    if shortest < 0:
        raise ValueError(f"shortest: {shortest} is below 0")
    asked = f" containment {containment} shortest {shortest}"
    search = Search(sketches, MOST, 0, checkpoint, report, asked)
    if search.is_empty:
        return sketches.sparkSession.createDataFrame([], _PAIRS)
    least = _native.ClusterContainment(search.parameters, containment, shortest, _NO_COUNTS).shortest
    if report is not None:
        short = search.documents.where(F.col("size").between(1, least - 1)).select("hash").distinct().count()
        report["short"] = short
    edges = search.stages.kept("edges", _edges(search, containment, shortest, least))
    names = F.array(F.min("key")) if fold_copies else F.collect_list("key")
    firsts = search.documents.groupBy("hash").agg(names.alias("names"), F.min("key").alias("first"))
    named = search.stages.kept("names", firsts)
    sides = [named.select(*(F.col(name).alias(f"{name}_{side}") for name in named.columns)) for side in "ab"]
    both = edges.join(sides[0], "hash_a").join(sides[1], "hash_b").withColumn("exact_copy", F.lit(False))
    # Of texts with the same number of shingles, the first one contains the other one.
    is_turned = F.col("equal") & (F.col("first_a") < F.col("first_b"))
    turned = {
        f"names_{side}": F.when(is_turned, F.col(f"names_{other}")).otherwise(F.col(f"names_{side}"))
        for side, other in ("ab", "ba")
    }
    columns = ["names_a", "names_b", "jaccard", "exact_copy", "containment"]
    same = named.where(F.size("names") > 1).select(F.col("names").alias("names_a"), F.col("names").alias("names_b"))
    same = same.withColumns({"jaccard": F.lit(1.0), "exact_copy": F.lit(True), "containment": F.lit(1.0)})
    found = exploded(both.withColumns(turned).select(*columns).union(same.select(*columns)))
    return found.select(F.col("one").alias("key_a"), F.col("other").alias("key_b"), *columns[2:])


def _edges(search: Search, containment: float, shortest: int, least: int) -> DataFrame:
    """Returns the pairs of contents of which the second contains the first, or has as many shingles."""
    made = partial(
        cluster.contained_rows,
        parameters=search.parameters,
        counts=_counts(search, least),
        containment=containment,
        shortest=shortest,
    )
    rows = search.sketches.select(*_SKETCH).mapInArrow(made, "key bigint, code bigint")
    by_key = rows.repartition("key").sortWithinPartitions("key", "code")
    found = by_key.mapInArrow(cluster.contained_walk, "a bigint, b bigint").groupBy("a", "b").count()
    # A code begins with the number of shingles. Nothing that is rounded makes this more than the true number.
    repeats = F.expr(f"least(9, greatest(1, floor({containment!r}D * shiftright(a, 40))))")
    pairs = search.stages.kept("candidates", found.where(F.col("count") >= repeats).select("a", "b"))
    number = pairs.count()
    search.report["candidates"] = number
    codes = pairs.select(F.explode(F.array("a", "b")).alias("code")).distinct()
    contents = search.stages.kept("contents", search.contents(codes, 2 * number, "size", "packed", "file"))
    verify = partial(cluster.verify_contained, containment=containment)
    return side_by_side(pairs, contents, "code", _CONTENT).mapInArrow(verify, _EDGES)


def _counts(search: Search, least: int) -> bytes:
    """Counts in how many contents shingles are, about."""
    contents = search.sketches.where(F.col("key").isNotNull() & (F.col("size") >= least))
    total = contents.select(F.sum("size")).first()
    shingles = int((total and total[0]) or 0)
    if shingles == 0:
        return _NO_COUNTS
    count = partial(cluster.shingle_counts, parameters=search.parameters, shingles=shingles)
    counted = contents.select(*_SKETCH).coalesce(_COUNTING)
    parts = counted.mapInArrow(count, "part bigint, counts binary").repartition("part")
    summed = arrow(parts.mapInArrow(cluster.sum_counts, "part bigint, counts binary")).sort_by("part")
    return b"".join(summed["counts"].to_pylist())
