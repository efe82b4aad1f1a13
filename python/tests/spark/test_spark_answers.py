"""Pairs, clusters and what is dropped are those of a store, with all stages in Spark."""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from made import Truth, documents, frame, rows

from dedupdb import spark as dd
from dedupdb.spark import _components, _few, _groups, _pairs

THRESHOLD = 0.7
DOCUMENTS = documents()


@pytest.fixture(scope="module", autouse=True)
def small_buckets_are_large() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_pairs, "_LARGE", 32)
        patch.setattr(_few, "KEYS", 0)
        yield


def test_pairs_are_those_of_a_store(sketches: Any, truth: Truth) -> None:
    report: dict[str, int] = {}
    assert rows(dd.pairs(sketches, report=report)) == truth.pairs
    assert len(truth.pairs) > 1000
    # The template filled buckets, and nothing was left out for it.
    assert report["large_bucket_contents"] > 100
    assert report["passed_over"] == 0


def test_copies_are_folded(sketches: Any, truth: Truth) -> None:
    found = rows(dd.pairs(sketches, fold_copies=True))
    assert found < truth.pairs
    assert not any(exact_copy for *_, exact_copy in found)


@pytest.mark.parametrize("linkage", ["connected", "representative"])
def test_clusters_are_those_of_a_store(sketches: Any, truth: Truth, linkage: str) -> None:
    assert rows(dd.clusters(sketches, linkage=linkage)) == getattr(truth, linkage)


def test_components_of_the_engine_are_those_of_the_driver(sketches: Any, truth: Truth) -> None:
    assert rows(dd.clusters(sketches, edges_on_driver=0)) == truth.connected


def test_chains_are_connected_by_stars(spark: Any) -> None:
    def number(n: int) -> bytes:
        return n.to_bytes(32, "big")

    chain = [(number(n * 37 % 101), number((n + 1) * 37 % 101)) for n in range(100)]
    edges = spark.createDataFrame([*chain, (number(500), number(400))], "hash_a binary, hash_b binary")
    expected = {(number(n), number(0)) for n in range(101)} | {(number(n), number(400)) for n in (400, 500)}
    for on_driver in (0, 1000):
        found = _components.components(edges, on_driver).collect()
        assert {(bytes(a), bytes(b)) for a, b in found} == expected


def test_dropped_are_those_of_dedup(spark: Any, sketches: Any, truth: Truth) -> None:
    assert rows(dd.dropped(sketches)) == truth.dropped
    df = frame(spark, DOCUMENTS)
    kept = dd.dedup(df, key="url", text="body", threshold=THRESHOLD)
    assert kept.columns == ["url", "body"]
    gone = {key for key, *_ in truth.dropped}
    assert rows(kept) == {row for row in DOCUMENTS if row[0] not in gone}


@pytest.mark.parametrize("partitions", [1, 3, 16])
def test_answers_do_not_depend_on_partitions(spark: Any, truth: Truth, partitions: int) -> None:
    before = spark.conf.get("spark.sql.shuffle.partitions")
    adaptive = spark.conf.get("spark.sql.adaptive.enabled")
    spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    try:
        sketched = dd.sketch(frame(spark, DOCUMENTS, partitions), key="url", text="body", threshold=THRESHOLD)
        assert rows(dd.pairs(sketched)) == truth.pairs
        assert rows(dd.clusters(sketched)) == truth.connected
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)
        spark.conf.set("spark.sql.adaptive.enabled", adaptive)


def test_what_a_bucket_passes_over_is_counted_and_warned_about(sketches: Any, truth: Truth) -> None:
    report: dict[str, int] = {}
    with pytest.warns(UserWarning, match="were passed over"):
        found = rows(dd.pairs(sketches, most=2, report=report))
    assert found < truth.pairs
    assert report["passed_over"] > 0


def test_a_bucket_of_all_documents_is_searched_in_near_linear_work(spark: Any, tmp_path: Path) -> None:
    # All share a template, half of them all of it but a few words, and the others match nothing.
    words = [f"t{number}" for number in range(200)]

    def tail(n: int, count: int) -> list[str]:
        return [f"u{n}x{i}" for i in range(count)]

    alike = [(f"a/{n:04}", " ".join(words + tail(n, 3))) for n in range(400)]
    apart = [(f"b/{n:04}", " ".join(words + tail(n + 1000, 70 + n % 9))) for n in range(400)]
    made = [*alike, *apart]
    truth = Truth(tmp_path, made)
    sketched = dd.sketch(frame(spark, made), key="url", text="body").persist()
    report: dict[str, int] = {}
    assert rows(dd.clusters(sketched, report=report)) == truth.connected
    # Pairs of 800 contents are 319,600, and those that match 79,800.
    assert report["candidates"] < 30 * len(made)
    assert rows(dd.dropped(sketched)) == truth.dropped
    sketched.unpersist()


def test_what_is_alike_does_not_count_against_a_bucket(spark: Any, tmp_path: Path) -> None:
    # A bucket of near-copies, in which each is like many more than it may be compared with in vain.
    words = [f"t{number}" for number in range(200)]
    made = [(f"a/{n:03}", " ".join([*words, f"u{n}", f"v{n}"])) for n in range(150)]
    made += [(f"b/{n:03}", " ".join(f"x{n}y{i}" for i in range(50))) for n in range(20)]
    truth = Truth(tmp_path, made)
    assert len(truth.pairs) == 150 * 149 // 2
    sketched = dd.sketch(frame(spark, made), key="url", text="body").persist()
    report: dict[str, int] = {}
    assert rows(dd.pairs(sketched, most=40, report=report)) == truth.pairs
    assert report["passed_over"] == 0
    sketched.unpersist()


def test_a_bucket_that_most_cuts_short_is_shown_and_a_larger_number_finds_all(spark: Any, tmp_path: Path) -> None:
    # Sixteen texts share a template and do not match; each of the last four is like the first alone.
    words = [f"t{number}" for number in range(200)]
    own = [[f"u{n}x{i}" for i in range(60)] for n in range(16)]
    apart = [(f"a/{n:02}", " ".join(words + own[n])) for n in range(16)]
    alike = [(f"b/{n}", " ".join(words + own[0] + [f"v{n}x{i}" for i in range(12)])) for n in range(4)]
    made = apart + alike
    # 48 bands of 3 rows: the template alone brings all into the same buckets.
    parameters: dict[str, Any] = {"permutations": 144, "bands": (48, 3)}
    truth = Truth(tmp_path, made, **parameters)
    like = ["a/00", *(f"b/{n}" for n in range(4))]
    assert {(a, b) for a, b, *_ in truth.pairs} == set(itertools.combinations(like, 2))
    sketched = dd.sketch(frame(spark, made), key="url", text="body", **parameters).persist()
    report: dict[str, int] = {}
    with pytest.warns(UserWarning) as shown:
        found = rows(dd.pairs(sketched, most=8, report=report))
    # What shares another bucket is found in that one.
    assert found <= truth.pairs
    assert report["passed_over"] > 0
    told = f"{report['passed_over']} pairs of contents that share a bucket were passed over: more than 8 others"
    assert any(str(warning.message).startswith(told) for warning in shown)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        report = {}
        assert rows(dd.pairs(sketched, most=1000, report=report)) == truth.pairs
    assert report["passed_over"] == 0
    sketched.unpersist()


def removal(df: Any) -> list[str]:
    """The joins by which rows are left out."""
    return re.findall(r"(\w+Join) .*LeftAnti", df._jdf.queryExecution().executedPlan().toString())


def test_the_rows_of_dedup_are_not_moved_while_dropped_keys_are_small(
    spark: Any, truth: Truth, monkeypatch: pytest.MonkeyPatch
) -> None:
    df = frame(spark, DOCUMENTS).persist()
    before = spark.conf.get("spark.sql.autoBroadcastJoinThreshold")
    # Spark would not do it by itself.
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    gone = {key for key, *_ in truth.dropped}
    kept = {row for row in DOCUMENTS if row[0] not in gone}
    try:
        found = dd.dedup(df, key="url", text="body", threshold=THRESHOLD)
        assert removal(found) == ["BroadcastHashJoin"]
        assert rows(found) == kept
        size = sum(len(key.encode()) for key in gone)
        monkeypatch.setattr(_groups, "BROADCAST", size)
        assert removal(dd.dedup(df, key="url", text="body", threshold=THRESHOLD)) == ["BroadcastHashJoin"]
        monkeypatch.setattr(_groups, "BROADCAST", size - 1)
        moved = dd.dedup(df, key="url", text="body", threshold=THRESHOLD)
        assert removal(moved) == ["SortMergeJoin"]
        assert rows(moved) == kept
    finally:
        spark.conf.set("spark.sql.autoBroadcastJoinThreshold", before)
        df.unpersist()
