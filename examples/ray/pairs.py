#!/usr/bin/env python3
"""Pairs of near-duplicates with Ray Data: the steps of `dedupdb.cluster` by `map_batches`.

Input is Parquet with the columns "id" and "text". Output is lines ID_A, ID_B, JACCARD with tabs between them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dedupdb import cluster

PARTITIONS = 8


def whole(step: Callable[..., Iterable[pa.RecordBatch]], table: pa.Table, **arguments: Any) -> pa.Table:
    """A step on a table that is all of its batches."""
    return pa.Table.from_batches(step(table.combine_chunks().to_batches(), **arguments))


def sketched(table: pa.Table, threshold: float) -> pa.Table:
    table = table.select(["id", "text"]).rename_columns(["key", "text"])
    return whole(cluster.sketch, table, parameters={"threshold": threshold})


def posted(sketches: pa.Table, parameters: str) -> pa.Table:
    files = pa.array([""] * sketches.num_rows, pa.string())
    rows = whole(cluster.postings, sketches.append_column("file", files), parameters=parameters)
    # The rows of a key come together in a part.
    part = pc.bit_wise_and(rows["key"], pa.scalar(PARTITIONS - 1, pa.int64()))
    return rows.append_column("part", part)


def walked(rows: pa.Table, threshold: float) -> pa.Table:
    rows = rows.sort_by([("key", "ascending"), ("code", "ascending")])
    found = whole(cluster.walk, rows, threshold=threshold)
    return found.group_by(["a", "b"]).aggregate([])


def verified(candidates: pa.Table, contents: pa.Table, threshold: float) -> pa.Table:
    """Joins both contents to each pair, by their places: Arrow does not join lists."""
    places = {code: place for place, code in enumerate(contents["code"].to_pylist())}
    columns = ["hash", "size", "keys", "packed"]
    joined: dict[str, Any] = {}
    for side in "ab":
        rows = contents.take(pa.array([places[code] for code in candidates[side].to_pylist()], pa.int64()))
        joined |= {f"{name}_{side}": rows[name].combine_chunks() for name in columns}
        joined[f"file_{side}"] = pa.array([""] * candidates.num_rows, pa.string())
    return whole(cluster.verify, pa.table(joined), threshold=threshold)


def main() -> None:
    import ray

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("input", help="Parquet files, as ray.data.read_parquet takes them")
    parser.add_argument("--threshold", type=float, default=0.8)
    arguments = parser.parse_args()
    ray.init(log_to_driver=False, include_dashboard=False)
    arrow: dict[str, Any] = {"batch_format": "pyarrow"}

    sketch = partial(sketched, threshold=arguments.threshold)
    sketches = ray.data.read_parquet(arguments.input).map_batches(sketch, batch_size=4096, **arrow).materialize()
    parameters = sketches.take(1)[0]["parameters"]
    posts = sketches.map_batches(partial(posted, parameters=parameters), batch_size=4096, **arrow)
    walk = partial(walked, threshold=arguments.threshold)
    found = posts.groupby("part").map_groups(walk, **arrow)
    # Few rows are left here; a larger run would join with ray.data.Dataset.join.
    candidates = pa.concat_tables(ray.get(found.to_arrow_refs())).group_by(["a", "b"]).aggregate([])
    candidates = candidates.filter(pc.less(candidates["a"], candidates["b"]))
    candidates = candidates.filter(pc.greater_equal(candidates["a"], 0))
    codes = pa.concat_arrays([candidates[side].combine_chunks() for side in "ab"]).unique()

    def chosen(table: pa.Table) -> pa.Table:
        return table.filter(pc.is_in(table["code"], codes))

    contents = pa.concat_tables(ray.get(sketches.map_batches(chosen, **arrow).to_arrow_refs()))
    matches = verified(candidates, contents, arguments.threshold)
    names = pa.concat_tables(ray.get(sketches.select_columns(["key", "hash"]).to_arrow_refs()))
    keys: dict[bytes, list[str]] = {}
    for row in names.to_pylist():
        keys.setdefault(row["hash"], []).append(row["key"])
    for row in matches.to_pylist():
        for one in keys[row["hash_a"]]:
            for other in keys[row["hash_b"]]:
                print(min(one, other), max(one, other), f"{row['jaccard']:.4f}", sep="\t")
    for copies in keys.values():
        copies.sort()
        for at, one in enumerate(copies):
            for other in copies[at + 1 :]:
                print(one, other, "1.0000", sep="\t")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
