"""Clusters, and dropped documents."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from .. import cluster
from ._components import SENT, components
from ._pairs import MOST, Search, matched
from ._sketches import column, sketch

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._parameters import Parameters

BROADCAST = 64 << 20
"""Bytes of dropped keys up to which they are sent to all executors, instead of moving the rows."""

_CLUSTERS = "key string, cluster string, representative boolean, jaccard double"
_JUDGED = "hash binary, representative string, jaccard double, cut_short bigint, key string"
_DROPPED = "key string, earlier string, verdict string, jaccard double"


def clusters(
    sketches: DataFrame,
    *,
    linkage: str = "connected",
    most: int = MOST,
    edges_on_driver: int = 50_000_000,
    checkpoint: str | None = None,
    report: dict[str, int] | None = None,
) -> DataFrame:
    """Returns the clusters of similar documents, of at least two documents each.

    >>> from dedupdb import spark as dd
    >>> dd.clusters(dd.sketch(df)).select("key", "cluster").orderBy("key").collect()
    [Row(key='tram', cluster='tram'), Row(key='trams', cluster='tram')]

    They are those of a store with the same documents, added in the order of their keys. The name of a cluster is its
    first key, so it does not depend on partitions, executors or retries.

    Args:
        sketches: The result of :func:`dedupdb.spark.sketch`, cached or read from files.
        linkage: ``"connected"`` for everything that pairs connect, or ``"representative"`` if every member must match
            the first one. In the order of the keys, a document then joins the most similar representative, or becomes
            one.
        most, edges_on_driver, checkpoint, report: As for :func:`dedupdb.spark.pairs`.

    Returns:
        ``key``, ``cluster`` (the first key), ``representative`` (whether this is it), and ``jaccard`` with it.

    Raises:
        ValueError: As :func:`dedupdb.spark.pairs`.
    """
    if linkage not in ("connected", "representative"):
        raise ValueError(f'linkage: {linkage!r}; there are "connected" and "representative"')
    search = Search(sketches, most, edges_on_driver, checkpoint, report)
    if search.is_empty:
        return sketches.sparkSession.createDataFrame([], _CLUSTERS)
    if linkage == "representative":
        named = search.stages.kept("named", _named(search, copies=False))
    else:
        named = _connected(search)
    several = named.groupBy("cluster").count().where("count > 1").select("cluster")
    members = named.join(several, "cluster", "left_semi")
    return members.select("key", "cluster", (F.col("key") == F.col("cluster")).alias("representative"), "jaccard")


def _connected(search: Search) -> DataFrame:
    """Returns the documents of connected clusters and of copies, with the name of the cluster and the similarity."""
    connected = components(search.edges(labelled=True), search.edges_on_driver)
    group = F.coalesce("label", "hash").alias("group")
    grouped = search.documents.join(connected, "hash", "left").select("key", "hash", group)
    firsts = grouped.groupBy("group").agg(
        F.min("key").alias("cluster"), F.min_by("hash", "key").alias("first"), F.count("*").alias("documents")
    )
    named = search.stages.kept("connected", grouped.join(firsts.where("documents > 1"), "group"))
    pairs = named.where("hash != first").select(F.col("hash").alias("a"), F.col("first").alias("b")).distinct()
    hashes = pairs.select(F.explode(F.array("a", "b")).alias("hash")).distinct()
    if pairs.count() <= SENT:
        hashes = F.broadcast(hashes)
    chosen = search.sketches.where(F.col("key").isNotNull()).join(hashes, "hash", "left_semi")
    contents = chosen.select("hash", "size", "keys", "packed", "file").dropDuplicates(["hash"])
    alike = matched(pairs, contents, "hash", 0.0, False)
    low, high = F.least("hash", "first"), F.greatest("hash", "first")
    joined = named.join(alike, (F.col("hash_a") == low) & (F.col("hash_b") == high), "left")
    jaccard = F.when(F.col("hash") == F.col("first"), 1.0).otherwise(F.col("jaccard"))
    return joined.select("key", "cluster", jaccard.alias("jaccard"))


def _kept(search: Search, copies: bool) -> DataFrame:
    """Returns the outcome for the documents of connected groups.

    Of several copies, only the first is included, or all with ``copies``. The columns are ``key``, ``hash``, the kept
    one's key as ``representative``, and ``jaccard`` with it.
    """
    connected = components(search.edges(labelled=True), search.edges_on_driver)
    documents = search.sketches.where(F.col("key").isNotNull()).join(connected, "hash")
    if not copies:
        documents = documents.join(documents.groupBy("hash").agg(F.min("key").alias("key")), ["hash", "key"])
    contents = documents.select("label", "key", "hash", "size", "keys", "packed")
    ordered = contents.repartition("label").sortWithinPartitions("label", "key")
    keep = partial(cluster.keep, threshold=search.threshold, most=search.most)
    judged = ordered.mapInArrow(keep, _JUDGED)
    return search.stages.kept("judged" if copies else "representatives", judged)


def _named(search: Search, copies: bool) -> DataFrame:
    """Returns all documents: ``key``, ``hash``, the kept key or its own as ``cluster``, and ``jaccard``.

    With ``copies``, a text without tokens has its own key.
    """
    kept = _kept(search, copies).drop("cut_short")
    kept = kept.drop("hash") if copies else kept.drop("key")
    again = search.documents.groupBy("hash").agg(F.min("key").alias("first"), F.count("*").alias("documents"))
    joined = search.documents.join(kept, "key" if copies else "hash", "left")
    joined = joined.join(again.where("documents > 1").select("hash", "first"), "hash", "left")
    cluster = F.coalesce("representative", "first", "key")
    if copies:
        cluster = F.when(F.col("size") == 0, F.col("key")).otherwise(cluster)
    return joined.select("key", "hash", cluster.alias("cluster"), F.coalesce("jaccard", F.lit(1.0)).alias("jaccard"))


def dropped(
    sketches: DataFrame,
    *,
    most: int = MOST,
    edges_on_driver: int = 50_000_000,
    checkpoint: str | None = None,
    report: dict[str, int] | None = None,
) -> DataFrame:
    """Returns the dropped documents, each with the one that it resembles.

    >>> from dedupdb import spark as dd
    >>> dd.dropped(dd.sketch(df)).collect()
    [Row(key='trams', earlier='tram', verdict='near_duplicate', jaccard=0.96)]

    In the order of the keys, a document is dropped if it is similar to an earlier one that is kept. A text without
    tokens is never dropped. ``dedupdb dedup``
    drops the same records of input in that order. ``earlier`` is the most similar of the kept ones, or the first of
    several, as in :func:`dedupdb.dedup`; the command may name another one.

    Args:
        sketches: The result of :func:`dedupdb.spark.sketch`, cached or read from files.
        most, edges_on_driver, checkpoint, report: As for :func:`dedupdb.spark.pairs`.

    Returns:
        ``key``, ``earlier`` (the key that is kept), ``verdict`` (``near_duplicate`` or ``exact_copy``) and ``jaccard``.

    Raises:
        ValueError: As :func:`dedupdb.spark.pairs`.
    """
    search = Search(sketches, most, edges_on_driver, checkpoint, report)
    if search.is_empty:
        return sketches.sparkSession.createDataFrame([], _DROPPED)
    kept = search.documents.select(F.col("key").alias("cluster"), F.col("hash").alias("kept_hash"))
    joined = _gone(search).join(kept, "cluster")
    verdict = F.when(F.col("hash") == F.col("kept_hash"), "exact_copy").otherwise("near_duplicate")
    return joined.select("key", F.col("cluster").alias("earlier"), verdict.alias("verdict"), "jaccard")


def _gone(search: Search) -> DataFrame:
    """Returns the dropped documents: ``key``, ``hash``, the kept one's key as ``cluster``, and ``jaccard``."""
    return search.stages.kept("gone", _named(search, copies=True).where("key != cluster"))


def dedup(
    df: DataFrame,
    *,
    key: str = "id",
    text: str = "text",
    most: int = MOST,
    edges_on_driver: int = 50_000_000,
    checkpoint: str | None = None,
    report: dict[str, int] | None = None,
    **parameters: Unpack[Parameters],
) -> DataFrame:
    """Returns the rows without those that :func:`dedupdb.spark.dropped` names, with all columns.

    >>> from dedupdb import spark as dd
    >>> sorted(row["id"] for row in dd.dedup(df, threshold=0.7).collect())
    ['crane', 'tram']

    Rows with a null key or text are kept. If the dropped keys have no more than 64 MiB, they are sent to all executors,
    and no text is moved. If they have more, rows are moved to them by their key.

    Args:
        df: The documents.
        key, text: The columns, as for :func:`dedupdb.spark.sketch`.
        most, edges_on_driver, checkpoint, report: As for :func:`dedupdb.spark.pairs`.
        parameters: Those of :func:`dedupdb.open`, from ``threshold`` on.
    """
    sketches = sketch(df, key=key, text=text, **parameters)
    search = Search(sketches, most, edges_on_driver, checkpoint, report)
    if search.is_empty:
        return df
    keys = _gone(search).select(F.col("key").alias("__dropped"))
    size = keys.select(F.sum(F.octet_length("__dropped"))).first()
    if int((size and size[0]) or 0) <= BROADCAST:
        keys = F.broadcast(keys)
    return df.join(keys, column(df, key).cast("string") == keys["__dropped"], "left_anti")
