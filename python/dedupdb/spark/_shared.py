"""Pairs of documents that share a passage."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from .. import _native, cluster
from .._warning import warn
from ._pairs import _IS_PAIR, exploded, side_by_side
from ._sketches import check_frame, documents, refuse_duplicates
from ._stages import Stages

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._parameters import Parameters

_TEXTS = "hash binary, code bigint, tokens int, shingles binary, keys array<bigint>"
_EDGES = "hash_a binary, hash_b binary, longest bigint, coverage_a double, coverage_b double"
_ALL_SIZES = 1e-300
"""A similarity that texts of any sizes may reach."""


def shared(
    df: DataFrame,
    *,
    key: str = "id",
    text: str = "text",
    most: int = 1000,
    report: dict[str, int] | None = None,
    **parameters: Unpack[Parameters],
) -> DataFrame:
    """Returns the pairs of documents that share a passage, a run of words, as ``dedupdb pairs --passages`` lists them.

    >>> from dedupdb import spark as dd
    >>> dd.shared(df).select("key_a", "key_b", "longest").collect()
    [Row(key_a='tram', key_b='trams', longest=28)]

    A passage has at least 20 words, or what ``passage=`` says. A pair is listed if both texts have the same run of that
    many words. No such pair is missing, unless it is passed over (``most``). As in a store, the passages of a text are
    runs whose shingles the other text has, in whatever order; the command line also lists pairs that have no run in
    common, as far as it finds them.

    This needs the texts: sketches do not have the order of their shingles. Of each run of shingles as long as a
    passage, one part of half the length is sent as 16 bytes: by default, one for each five words or so. Texts that
    meet are compared by their shingles in order, of four bytes each. No text is moved. The result is not sorted;
    ``longest`` ranks it.

    Args:
        df: The documents, one per row.
        key, text: The columns, as for :func:`dedupdb.spark.sketch`.
        most: A text is compared with at most this number of texts of the same run, the nearest in size first. A run
            that more texts share, such as a licence, is in nearly all pairs of these. Pairs that are passed over are
            counted, and a warning is given.
        report: A dict that receives the counts ``candidates`` and ``passed_over``.
        parameters: Those of :func:`dedupdb.open` that say what a shingle is, and ``passage``.

    Returns:
        ``key_a``, ``key_b``, the lower key first, ``longest``, the number of words of the longest passage, and the
        shares of the words of both texts that are in passages, ``coverage_a`` and ``coverage_b``.

    Raises:
        ValueError: ``passage`` is 0, ``most`` is below 1, several documents have the same key, or as
            :func:`dedupdb.spark.sketch`.
        TypeError: ``df`` is not a DataFrame of ``pyspark.sql``.
    """
    check_frame(df)
    if most < 1:
        raise ValueError(f"most: {most} is below 1")
    _native.ClusterPassages(parameters)
    given = documents(df, key, text).where(F.col("key").isNotNull() & F.col("text").isNotNull())
    hashed = given.select("key", F.unhex(F.sha2("text", 256)).alias("hash"), "text")
    stages = Stages(df.sparkSession, None, "")
    names = stages.kept("documents", hashed.select("key", "hash"))
    refuse_duplicates(names)
    made = partial(cluster.passages, parameters=parameters)
    texts = stages.kept("texts", hashed.select("hash", "text").mapInArrow(made, _TEXTS))
    rows = texts.select(F.explode("keys").alias("key"), "code").repartition("key").sortWithinPartitions("key", "code")
    walk = partial(cluster.walk, threshold=_ALL_SIZES, most=most)
    walked = rows.mapInArrow(walk, "a bigint, b bigint").groupBy("a", "b").count()
    found = stages.kept("candidates", walked)
    pairs = found.where(_IS_PAIR).select("a", "b")
    _count(found, most, {} if report is None else report)
    codes = pairs.select(F.explode(F.array("a", "b")).alias("code")).distinct()
    contents = stages.kept("contents", texts.join(codes, "code", "left_semi").dropDuplicates(["hash"]))
    verify = partial(cluster.verify_passages, parameters=parameters)
    edges = side_by_side(pairs, contents, "code", ("hash", "tokens", "shingles")).mapInArrow(verify, _EDGES)
    return _named(edges, names, texts)


def _count(found: DataFrame, most: int, report: dict[str, int]) -> None:
    counts = found.select(F.expr(f"count_if({_IS_PAIR})"), F.expr("sum(if(a < 0, -a * count, 0))")).first()
    report["candidates"], report["passed_over"] = (int(value or 0) for value in counts or (0, 0))
    if report["passed_over"]:
        warn(
            f"{report['passed_over']} pairs of texts that share a run of words were passed over: more than {most} "
            "others have it; a larger most= compares more"
        )


def _named(edges: DataFrame, documents: DataFrame, texts: DataFrame) -> DataFrame:
    """Returns the pairs of documents of pairs of texts, and of the same text."""
    named = documents.groupBy("hash").agg(F.collect_list("key").alias("names"))
    sides = [named.select(F.col("hash").alias(f"hash_{side}"), F.col("names").alias(f"names_{side}")) for side in "ab"]
    columns = ["names_a", "names_b", "exact_copy", "longest", "coverage_a", "coverage_b"]
    others = edges.join(sides[0], "hash_a").join(sides[1], "hash_b").withColumn("exact_copy", F.lit(False))
    copies = named.where(F.size("names") > 1).join(texts.select("hash", "tokens").dropDuplicates(["hash"]), "hash")
    whole = {"exact_copy": F.lit(True), "coverage_a": F.lit(1.0), "coverage_b": F.lit(1.0)}
    same = {"names_a": F.col("names"), "names_b": F.col("names"), "longest": F.col("tokens").cast("bigint")}
    pairs = exploded(others.select(*columns).union(copies.withColumns({**whole, **same}).select(*columns)))
    is_first = F.col("one") <= F.col("other")
    a = F.when(is_first, F.col("coverage_a")).otherwise(F.col("coverage_b"))
    b = F.when(is_first, F.col("coverage_b")).otherwise(F.col("coverage_a"))
    return pairs.select(
        F.least("one", "other").alias("key_a"),
        F.greatest("one", "other").alias("key_b"),
        "longest",
        a.alias("coverage_a"),
        b.alias("coverage_b"),
    )
