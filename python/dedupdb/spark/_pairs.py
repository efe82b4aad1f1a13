"""Candidates, and matching pairs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial, reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from .. import cluster
from .._warning import warn
from ._components import collected, components, sent
from ._few import few
from ._sketches import SIDE, parameters_of, refuse_duplicates, with_file
from ._stages import Stages

MOST = 4000
"""By default, a content is compared with at most this number of contents that do not match."""

_LARGE = 256
"""The number of contents above which a bucket is searched by rare shingles."""

_NEAR = 4
"""The number of contents before it that each content of a large bucket is always compared with."""

_COUNTED = 4096
"""The number of contents in which shingles are counted to find the rare ones."""

_FURTHER = 4
"""The factor by which each further walk looks at more contents."""

_IS_PAIR = "a >= 0 and a < b"
"""The condition for a row of a walk to be a pair."""

_BROADCAST = 4_000_000
"""The number of codes up to which they are sent to all executors, instead of shuffling all sketches."""

EDGES = "hash_a binary, hash_b binary, jaccard double, later bigint"

_NAMED = "names_a array<string>, names_b array<string>, jaccard double, exact_copy boolean"


class Search:
    """A search for matching pairs of contents, and its results."""

    def __init__(
        self,
        sketches: DataFrame,
        most: int,
        edges: int,
        checkpoint: str | None,
        report: dict[str, int] | None,
        asked: str = "",
    ) -> None:
        """``asked`` tells searches apart that are not by similarity."""
        known = parameters_of(sketches)
        self.is_empty = known is None
        self.parameters, self.threshold = known or ("", 1.0)
        self.most = most
        self.edges_on_driver = edges
        self.report = {} if report is None else report
        self.stages = Stages(sketches.sparkSession, checkpoint, self.parameters + asked)
        self.sketches = with_file(sketches)
        if checkpoint is not None or not sketches.is_cached:
            self.sketches = self.stages.sketches(self.sketches)
        named = self.sketches.where(F.col("hash").isNotNull() & F.col("key").isNotNull())
        self.documents = named.select("key", "hash", "size")
        # A checkpoint is of the stages of Spark, and the driver searches only by similarity.
        self.few = few(self.sketches) if checkpoint is None and not asked and not self.is_empty else None
        if self.few is None:
            refuse_duplicates(self.documents)
        else:
            self.few.refuse_duplicates()

    def postings(self) -> DataFrame:
        """Returns rows of a band key and a content's code."""
        columns = self.sketches.select("key", "hash", "code", "size", "keys", "parameters", "file")
        made = partial(cluster.postings, parameters=self.parameters)
        return columns.mapInArrow(made, "key bigint, code bigint")

    def walked(self, name: str, rows: DataFrame, large: int | None, beyond: int, most: int) -> DataFrame:
        """Returns the distinct pairs from rows of a key and a code, with rows about what was passed over."""
        walk = partial(cluster.walk, threshold=self.threshold, most=most, large=large, near=_NEAR, beyond=beyond)
        by_key = rows.repartition("key").sortWithinPartitions("key", "code")
        found = by_key.mapInArrow(walk, "a bigint, b bigint").groupBy("a", "b").count()
        return self.stages.kept(name, found)

    def count(self, found: DataFrame) -> tuple[int, int, int]:
        """Counts pairs, contents of large buckets, and contents for which pairs were passed over, once per bucket."""
        kinds = (_IS_PAIR, "a = b", "a < 0")
        counts = found.select(*(F.expr(f"count_if({kind})") for kind in kinds)).first()
        pairs, large, cut = (int(value) for value in (counts or (0, 0, 0)))
        self._note("candidates", pairs)
        self._note("large_bucket_contents", large)
        return pairs, large, cut

    def _note(self, name: str, number: int) -> None:
        self.report[name] = self.report.get(name, 0) + number

    def contents(self, codes: DataFrame, number: int, *columns: str) -> DataFrame:
        """Returns the sketches of contents with these codes, one for each text: that of the first key."""
        if number <= _BROADCAST:
            codes = F.broadcast(codes)
        named = self.sketches.where(F.col("key").isNotNull())
        chosen = named.join(codes, "code", "left_semi").select("code", "hash", "key", *columns)
        first = Window.partitionBy("code", "hash").orderBy("key")
        numbered = chosen.repartition("code").withColumn("copy", F.row_number().over(first))
        return numbered.where("copy = 1").drop("copy")

    def verified(self, name: str, pairs: DataFrame, number: int) -> DataFrame:
        """Returns the pairs of codes whose contents share a bucket and match."""
        codes = pairs.select(F.explode(F.array("a", "b")).alias("code")).distinct()
        contents = self.stages.kept(name, self.contents(codes, 2 * number, "size", "keys", "packed", "file"))
        return matched(pairs, contents, "code", self.threshold, True)

    @cached_property
    def edges_of_few(self) -> pa.Table | None:
        """Returns the matching pairs of contents, found on the driver; None if that is too much for it."""
        pairs = None
        if self.few is not None:
            pairs = self.few.candidates(self.parameters, self.threshold, self.most, _LARGE)
        if self.few is None or pairs is None:
            return None
        edges = self.few.verified(pairs, self.threshold)
        if edges is not None:
            for name, number in (("candidates", pairs.num_rows), ("large_bucket_contents", 0), ("passed_over", 0)):
                self._note(name, number)
        return edges

    def edges(self, labelled: bool) -> DataFrame:
        """Returns the matching pairs of contents.

        If they only serve to connect contents (``labelled``), some of them may be left out, but all contents of a
        component are connected.
        """
        if self.edges_of_few is not None:
            return sent(self.sketches, self.edges_of_few, EDGES)
        found = self.walked("candidates", self.postings(), _LARGE, 0, self.most)
        number, large, cut = self.count(found)
        pairs = found.where(_IS_PAIR).select("a", "b")
        edges = self.stages.kept("edges", self.verified("contents", pairs, number))
        if cut:
            edges = self._further("", self.postings(), _LARGE, found, pairs, edges)
        if large:
            rows = self.stages.kept("rare_rows", self._rare_rows(found, large, edges if labelled else None))
            again = self.walked("rare", rows, None, 0, self.most)
            number, _, cut = self.count(again)
            more = again.where(_IS_PAIR).select("a", "b").join(pairs, ["a", "b"], "left_anti")
            others = self.stages.kept("rare_edges", self.verified("rare_contents", more, number))
            if cut:
                others = self._further("rare_", rows, None, again, more, others)
            edges = self.stages.kept("all_edges", edges.union(others).dropDuplicates(["hash_a", "hash_b"]))
        passed_over = self.report.setdefault("passed_over", 0)
        if passed_over:
            warn(
                f"{passed_over} pairs of contents that share a bucket were passed over: more than {self.most} others "
                "that turned out not to be like one of them; most= asks for another number"
            )
        return edges

    def _further(
        self, name: str, rows: DataFrame, large: int | None, found: DataFrame, pairs: DataFrame, edges: DataFrame
    ) -> DataFrame:
        """Continues with contents that were not compared with all others, and that match most of those compared.

        Between rounds, only the codes of these contents go through the driver, so plans stay as small as for one round.
        """
        reach, parts = self.most, [edges]
        before = sent(rows, pa.table({"later": [0], "before": [0]}), "later bigint, before bigint")
        while True:
            passed = F.sum(-F.col("a") * F.col("count")).alias("passed")
            cut = found.where("a < 0").groupBy(F.col("b").alias("later")).agg(passed)
            tried = pairs.groupBy(F.col("b").alias("later")).agg(F.count("*").alias("tried"))
            alike = parts[-1].groupBy("later").agg(F.count("*").alias("alike"))
            judged = cut.join(tried, "later", "left").join(alike, "later", "left").join(before, "later", "left")
            false = F.expr("coalesce(before, 0) + coalesce(tried, 0) - coalesce(alike, 0)")
            judged = self.stages.kept(f"{name}cut_{reach}", judged.select("later", "passed", false.alias("before")))
            closed = judged.where(F.col("before") >= self.most).select(F.sum("passed")).first()
            self._note("passed_over", int((closed and closed[0]) or 0))
            asking = judged.where(F.col("before") < self.most).select("later", "before")
            batches = [batch for batch in collected(asking) if batch.num_rows > 0]
            if not batches:
                break
            before = sent(rows, pa.Table.from_batches(batches), "later bigint, before bigint")
            who = before.select(F.col("later").alias("code"), F.lit(True).alias("asks"))
            asked = rows.join(F.broadcast(who), "code", "left").withColumn("asks", F.col("asks").isNotNull())
            beyond, reach = reach, _FURTHER * reach
            found = self.walked(f"{name}further_{reach}", asked, large, beyond, reach)
            number, _, _ = self.count(found.where("a != b"))  # large buckets are known
            pairs = found.where(_IS_PAIR).select("a", "b")
            verified = self.verified(f"{name}contents_{reach}", pairs, number)
            parts.append(self.stages.kept(f"{name}edges_{reach}", verified))
        return reduce(DataFrame.union, parts).dropDuplicates(["hash_a", "hash_b"])

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
    """Verifies pairs of the columns ``a`` and ``b``, which are values of the column ``by`` of the contents."""
    verify = partial(cluster.verify, threshold=threshold, share=share)
    return side_by_side(pairs, contents, by, SIDE).mapInArrow(verify, EDGES)


def side_by_side(pairs: DataFrame, contents: DataFrame, by: str, names: Sequence[str]) -> DataFrame:
    """Returns columns of both contents of each pair, with the suffixes ``_a`` and ``_b``."""
    sides = [
        contents.select(*(F.col(name).alias(f"{name}_{side}") for name in dict.fromkeys([by, *names]))) for side in "ab"
    ]
    joined = pairs.join(sides[0], F.col("a") == F.col(f"{by}_a")).join(sides[1], F.col("b") == F.col(f"{by}_b"))
    return joined.select(*(f"{name}_{side}" for side in "ab" for name in names))


def pairs(
    sketches: DataFrame,
    *,
    fold_copies: bool = False,
    most: int = MOST,
    edges_on_driver: int = 50_000_000,
    checkpoint: str | None = None,
    report: dict[str, int] | None = None,
) -> DataFrame:
    """Returns the pairs of similar documents: those that ``dedupdb pairs`` lists for a store with the same documents.

    >>> from dedupdb import spark as dd
    >>> dd.pairs(dd.sketch(df)).collect()
    [Row(key_a='tram', key_b='trams', jaccard=0.96, exact_copy=False)]

    Args:
        sketches: The result of :func:`dedupdb.spark.sketch`, cached or read from files.
        fold_copies: Names documents with the same text only by their first key.
        most: A content is compared with at most this number of contents that do not match, the nearest in size first.
            Pairs that are passed over are counted, and a warning is given.
        edges_on_driver: Matching pairs up to which components are found on the driver.
        checkpoint: A folder in any file system that Spark supports, to which the result of each stage is written. A run
            that failed continues from there. It first checks that the keys and texts are the same, so texts are
            sketched again unless the sketches were written to files.
        report: A dict that receives the counts: ``candidates``, ``large_bucket_contents`` and ``passed_over``.

    Returns:
        ``key_a``, ``key_b``, the lower key first, ``jaccard``, and ``exact_copy``.

    Raises:
        ValueError: Several documents have the same key, or the checkpoint is of something else. Sketches of different
            parameters, and damaged ones, raise it too, or make a Spark task fail with it.
    """
    search = Search(sketches, most, edges_on_driver, checkpoint, report)
    if search.is_empty:
        return sketches.sparkSession.createDataFrame(
            [], "key_a string, key_b string, jaccard double, exact_copy boolean"
        )
    both = _named(search, fold_copies)
    both = exploded(both)
    return both.select(
        F.least("one", "other").alias("key_a"), F.greatest("one", "other").alias("key_b"), "jaccard", "exact_copy"
    )


def exploded(both: DataFrame) -> DataFrame:
    """Returns the pairs of documents, ``one`` and ``other``, of pairs of contents with names on both sides."""
    both = both.withColumn("one", F.explode("names_a")).withColumn("other", F.explode("names_b"))
    return both.where("not exact_copy or one < other")


def _named(search: Search, fold_copies: bool) -> DataFrame:
    """Returns the matching pairs of contents, and copies, with the keys of the documents that have them."""
    if search.few is not None and search.edges_of_few is not None:
        few = search.few.named(search.edges_of_few, fold_copies)
        if few is not None:
            search.stages.free()
            return sent(search.sketches, few, _NAMED)
    edges = search.edges(labelled=False)
    names = F.array(F.min("key")) if fold_copies else F.collect_list("key")
    named = search.stages.kept("names", search.documents.groupBy("hash").agg(names.alias("names")))
    a = named.select(F.col("hash").alias("hash_a"), F.col("names").alias("names_a"))
    b = named.select(F.col("hash").alias("hash_b"), F.col("names").alias("names_b"))
    alike = edges.join(a, "hash_a").join(b, "hash_b").withColumn("exact_copy", F.lit(False))
    same = named.where(F.size("names") > 1).select(F.col("names").alias("names_a"), F.col("names").alias("names_b"))
    same = same.withColumns({"jaccard": F.lit(1.0), "exact_copy": F.lit(True)})
    columns = ["names_a", "names_b", "jaccard", "exact_copy"]
    return alike.select(*columns).union(same.select(*columns))
