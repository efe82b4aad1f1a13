"""The search for pairs on the driver: if there are few documents, Spark's stages take longer than the work."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from .. import cluster
from ._components import arrow, sent
from ._sketches import SIDE, same_key

KEYS = 1 << 21
"""The number of band keys, 17 per document by default, up to which the driver searches for pairs."""

PAIRS = 1 << 20
"""The number of candidates, and of documents in matching pairs, that the driver takes."""

BYTES = 256 << 20
"""Bytes of all sketches without their shingles, and of the shingles to compare, that the driver takes."""

_AT_ONCE = 1024
"""Pairs whose shingles are put side by side at a time."""

_EDGES = pa.schema([("hash_a", pa.binary()), ("hash_b", pa.binary()), ("jaccard", pa.float64()), ("later", pa.int64())])


def few(sketches: DataFrame) -> Few | None:
    """Returns the sketches without their shingles, if they are few enough for the driver."""
    strings = F.sum(sum((F.octet_length(name) for name in ("key", "parameters", "file")), F.lit(0)))
    counts = sketches.select(F.count("*"), F.sum(F.greatest(F.size("keys"), F.lit(0))), strings).first()
    rows, keys, size = (int(value or 0) for value in counts or (0, 0, 0))
    if rows == 0 or keys > KEYS or size + 64 * rows + 8 * keys > BYTES:
        return None
    columns = ("key", "hash", "code", "size", "keys", "parameters", "file")
    return Few(sketches, arrow(sketches.select(*columns, F.octet_length("packed").alias("bytes"))))


class Few:
    """A small number of sketches."""

    def __init__(self, sketches: DataFrame, rows: pa.Table) -> None:
        self._sketches = sketches
        self._rows = rows
        self._documents = rows.filter(pc.and_(rows["key"].is_valid(), rows["hash"].is_valid())).sort_by("key")

    def refuse_duplicates(self) -> None:
        """Raises an error if several documents have the same key."""
        counts = self._documents.group_by("key").aggregate([([], "count_all")])
        again = counts.filter(pc.greater(counts["count_all"], 1))["key"]
        if len(again) > 0:
            raise same_key(pc.min(again).as_py(), len(again))

    def candidates(self, parameters: str, threshold: float, most: int, large: int) -> pa.Table | None:
        """Returns the distinct pairs of codes ``a`` and ``b`` that share a bucket.

        None if there are too many, if ``most`` passes one over, or if a bucket has more than ``large`` contents.
        """
        posted = list(cluster.postings(self._rows.to_batches(), parameters))
        rows = pa.Table.from_batches(posted).sort_by([("key", "ascending"), ("code", "ascending")])
        found: list[pa.RecordBatch] = []
        number = 0
        for batch in cluster.walk(rows.to_batches(), threshold, most, large):
            number += batch.num_rows
            is_pair = pc.and_(pc.greater_equal(batch["a"], 0), pc.less(batch["a"], batch["b"]))
            if number > PAIRS or not pc.all(is_pair, min_count=0).as_py():
                return None
            found.append(batch)
        pairs = _whole(found, pa.schema([("a", pa.int64()), ("b", pa.int64())]))
        return pairs.group_by(["a", "b"], use_threads=False).aggregate([])

    def verified(self, pairs: pa.Table, threshold: float) -> pa.Table | None:
        """Returns the pairs that share a bucket and match, like :func:`dedupdb.cluster.verify`.

        None if they have too many bytes of shingles.
        """
        codes = pa.chunked_array([*pairs["a"].chunks, *pairs["b"].chunks], pa.int64()).unique()
        chosen = self._documents.filter(pc.is_in(self._documents["code"], codes))
        # One of each text: that of the first key.
        chosen = chosen.take(_firsts(chosen["hash"]))
        if (pc.sum(chosen["bytes"]).as_py() or 0) > BYTES:
            return None
        wanted = F.broadcast(sent(self._sketches, chosen.select(["key"]), "key string"))
        shingles = arrow(self._sketches.join(wanted, "key", "left_semi").select("key", "packed"))
        packed = shingles["packed"].take(pc.index_in(chosen["key"], shingles["key"].combine_chunks()))
        contents = chosen.append_column("packed", packed)
        places = pa.table({"code": contents["code"], "at": pa.array(range(contents.num_rows), pa.int64())})
        for side in "ab":
            there = places.rename_columns([side, f"at_{side}"])
            pairs = pairs.join(there, side, join_type="inner", use_threads=False)
        pairs = pairs.sort_by([("at_a", "ascending"), ("at_b", "ascending")])
        return _whole(list(cluster.verify(_side_by_side(pairs, contents), threshold)), _EDGES)

    def named(self, edges: pa.Table, fold_copies: bool) -> pa.Table | None:
        """Returns edges, and copies, with the keys of the documents on both sides.

        The columns are ``names_a``, ``names_b``, ``jaccard`` and ``exact_copy``. None if there are too many.
        """
        grouped = self._documents.select(["hash", "key"]).group_by("hash", use_threads=False)
        names = grouped.aggregate([("key", "list")]).rename_columns({"key_list": "names"})
        if fold_copies:
            names = names.set_column(1, "names", pc.list_slice(names["names"], 0, 1))
        number = pc.list_value_length(names["names"])
        hashes = names["hash"].combine_chunks()
        sides = [pc.index_in(edges[f"hash_{side}"], hashes) for side in "ab"]
        if sum(pc.sum(number.take(side)).as_py() or 0 for side in sides) > PAIRS:
            return None
        copies = names.filter(pc.greater(number, 1))["names"]
        exact = pa.array([False] * edges.num_rows + [True] * len(copies), pa.bool_())
        jaccard = pa.chunked_array([*edges["jaccard"].chunks, pa.array([1.0] * len(copies), pa.float64())])
        named = [pa.chunked_array([*names["names"].take(side).chunks, *copies.chunks]) for side in sides]
        return pa.table({"names_a": named[0], "names_b": named[1], "jaccard": jaccard, "exact_copy": exact})


def _whole(batches: list[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    """Returns all batches as a table. If there are none, the table has this schema and no rows."""
    return pa.Table.from_batches(batches, batches[0].schema if batches else schema)


def _firsts(values: pa.ChunkedArray) -> pa.Array:
    """Returns the first place of each value, ascending."""
    places = pa.table({"value": values, "at": pa.array(range(len(values)), pa.int64())})
    firsts = places.group_by("value").aggregate([("at", "min")])["at_min"]
    return firsts.combine_chunks().sort()


def _side_by_side(pairs: pa.Table, contents: pa.Table) -> Iterator[pa.RecordBatch]:
    """Returns both contents of each pair, in columns with the suffixes ``_a`` and ``_b``."""
    for start in range(0, pairs.num_rows, _AT_ONCE):
        part = pairs.slice(start, _AT_ONCE)
        sides = {
            f"{name}_{side}": contents[name].take(part[f"at_{side}"]).combine_chunks() for side in "ab" for name in SIDE
        }
        yield from pa.table(sides).to_batches()
