#!/usr/bin/env python3
"""Functions for DuckDB, on Arrow: dedup_query(text), dedup_jaccard(a, b) and dedup_containment(a, b).

DuckDB has a jaccard(a, b) of its own, which compares the letters of two strings.

    python functions.py STORE "select dedup_query(text), * from 'pages.parquet'"
"""

from __future__ import annotations

import sys
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

import dedupdb
from dedupdb import cluster


def register(connection: duckdb.DuckDBPyConnection, store: dedupdb.Store) -> None:
    """Makes the functions of a store known. Texts are compared by its shingles."""
    parameters = {"shingling": store.schema["shingling"]}

    def dedup_query(texts: pa.ChunkedArray) -> pa.Array:
        """The key of the stored text that is most similar, if one reaches the threshold."""
        found = pa.table(store.query(pa.table({"text": texts.fill_null("")}), limit=1))
        keys: list[str | None] = [None] * len(texts)
        is_text = texts.is_valid().to_pylist()
        for row, key in zip(found["row"].to_pylist(), found["key"].to_pylist(), strict=True):
            keys[row] = key if is_text[row] else None
        return pa.array(keys, pa.string())

    def common(a: pa.ChunkedArray, b: pa.ChunkedArray) -> tuple[Any, Any, Any]:
        """For each pair, the number of shingles that both have, that A has, and that B has."""
        columns: dict[str, Any] = {}
        for side, texts in zip("ab", (a, b), strict=True):
            rows = pa.table({"key": [str(row) for row in range(len(texts))], "text": texts})
            sketches = pa.Table.from_batches(cluster.sketch(rows.combine_chunks().to_batches(), parameters))
            for name in ("hash", "size", "keys", "packed"):
                columns[f"{name}_{side}"] = sketches[name].combine_chunks()
            columns[f"file_{side}"] = pa.array([""] * len(texts), pa.string())
        pairs = pa.table(columns)
        # Pairs of one text, and pairs without a common shingle, are not returned.
        shares = {}
        for found in cluster.verify(pairs.to_batches(), threshold=1e-9, share=False):
            hashes = zip(found["hash_a"].to_pylist(), found["hash_b"].to_pylist(), strict=True)
            shares.update(zip(map(frozenset, hashes), found["jaccard"].to_pylist(), strict=True))
        both = map(frozenset, zip(pairs["hash_a"].to_pylist(), pairs["hash_b"].to_pylist(), strict=True))
        jaccard = pa.array([1.0 if len(pair) == 1 else shares.get(pair, 0.0) for pair in both])
        sizes = pc.cast(pairs["size_a"], pa.float64()), pc.cast(pairs["size_b"], pa.float64())
        return pc.divide(pc.multiply(jaccard, pc.add(*sizes)), pc.add(jaccard, 1.0)), *sizes

    def share(part: Any, whole: Any) -> Any:
        """0 for texts without shingles. DuckDB takes NaN for more than any number."""
        return pc.if_else(pc.equal(whole, 0), 0.0, pc.divide(part, whole))

    def dedup_jaccard(a: pa.ChunkedArray, b: pa.ChunkedArray) -> pa.Array:
        both, of_a, of_b = common(a, b)
        return share(both, pc.subtract(pc.add(of_a, of_b), both))

    def dedup_containment(a: pa.ChunkedArray, b: pa.ChunkedArray) -> pa.Array:
        """The share of the shingles of A that B has."""
        both, of_a, _ = common(a, b)
        return share(both, of_a)

    # It answers null, so it gets nulls, too.
    arrow: Any = {"type": "arrow", "null_handling": "special"}
    connection.create_function("dedup_query", dedup_query, ["VARCHAR"], "VARCHAR", **arrow)
    for function in (dedup_jaccard, dedup_containment):
        connection.create_function(function.__name__, function, ["VARCHAR", "VARCHAR"], "DOUBLE", type="arrow")


if __name__ == "__main__":
    with dedupdb.open(sys.argv[1], create=False, read_only=True) as store, duckdb.connect() as connection:
        register(connection, store)
        print(connection.sql(sys.argv[2]))
