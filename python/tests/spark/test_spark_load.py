"""Stores that are made of sketches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from given import CommandLine
from made import Truth, documents, frame

import dedupdb
from dedupdb import spark as dd

DOCUMENTS = documents(300, seed=11)


def asked(store: dedupdb.Store) -> list[Any]:
    """What a store answers, but for times."""
    found = store.query([text for _, text in DOCUMENTS])
    known = [(key, *store[key][1:4]) for key in store]
    return [known, [tuple(row.values()) for row in found], list(store.pairs()), list(store.clusters())]


def test_stores_of_partitions_are_merged_to_that_of_all_texts(
    spark: Any, tmp_path: Path, command_line: CommandLine
) -> None:
    sketches = dd.sketch(frame(spark, DOCUMENTS, 3), key="url", text="body", threshold=0.7).persist()
    made = dd.load(sketches, str(tmp_path / "stores" / "part-{}"), stores=4)
    assert [Path(path).name for path in made] == ["part-00000", "part-00001", "part-00002", "part-00003"]
    # What Spark runs again, and what is loaded again, changes nothing.
    assert dd.load(sketches, str(tmp_path / "stores" / "part-{}"), stores=4) == made
    command_line("--store", tmp_path / "all", "merge", *made)
    with dedupdb.open(tmp_path / "texts", threshold=0.7) as store:
        store.add(sorted(DOCUMENTS))
        expected = asked(store)
    assert len(expected[2]) > 300
    with dedupdb.open(tmp_path / "all") as store:
        assert asked(store) == expected
        assert store.check().is_clean
    truth = Truth(tmp_path, DOCUMENTS, threshold=0.7)
    assert {tuple(row) for row in dd.clusters(sketches).collect()} == truth.connected
    sketches.unpersist()


def test_the_command_line_loads_files_of_sketches(spark: Any, tmp_path: Path, command_line: CommandLine) -> None:
    df = frame(spark, [*DOCUMENTS], 3).sortWithinPartitions("url")
    dd.sketch(df, key="url", text="body").write.parquet(str(tmp_path / "sketches"))
    command_line("--store", tmp_path / "loaded", "load", tmp_path / "sketches")
    pq = pytest.importorskip("pyarrow.parquet")
    files = sorted((tmp_path / "sketches").glob("*.parquet"))
    order = [key for file in files for key in pq.read_table(file)["key"].to_pylist()]
    texts = dict(DOCUMENTS)
    with dedupdb.open(tmp_path / "texts") as store:
        store.add(order, [texts[key] for key in order])
        expected = asked(store)
    with dedupdb.open(tmp_path / "loaded", read_only=True) as store:
        assert asked(store) == expected


def test_sketches_with_a_passage_make_stores_that_find_passages(
    spark: Any, tmp_path: Path, command_line: CommandLine
) -> None:
    def shared(store: dedupdb.Store) -> list[Any]:
        texts = [text for _, text in DOCUMENTS[:60]]
        tables = store.passages(texts, at_least=5), store.query(texts, containment=0.5)
        return [[tuple(row.values()) for row in table] for table in tables]

    sketches = dd.sketch(frame(spark, DOCUMENTS, 3), key="url", text="body", passage=20)
    assert sketches.columns[-1] == "fingerprints"
    sketches.write.parquet(str(tmp_path / "sketches"))
    command_line("--store", tmp_path / "loaded", "load", tmp_path / "sketches")
    made = dd.load(spark.read.parquet(str(tmp_path / "sketches")), str(tmp_path / "stores" / "{}"), stores=3)
    command_line("--store", tmp_path / "merged", "merge", *made)
    with dedupdb.open(tmp_path / "texts", passage=20) as store:
        store.add(sorted(DOCUMENTS))
        expected, answers = shared(store), asked(store)
    assert len(expected[0]) > 100
    for name in ("loaded", "merged"):
        with dedupdb.open(tmp_path / name) as store:
            assert shared(store) == expected
            assert store.check().is_clean
    with dedupdb.open(tmp_path / "merged") as store:
        assert asked(store) == answers
    # A store without a passage needs no fingerprints, and one with a passage refuses sketches that have none.
    dedupdb.open(tmp_path / "bare-00000", passage=0).close()
    dd.load(sketches, str(tmp_path / "bare-{}"), stores=1)
    bare = dd.sketch(frame(spark, DOCUMENTS), key="url", text="body", passage=0)
    assert "fingerprints" not in bare.columns
    with pytest.raises(Exception, match="passage is 20 in the store, not 0"):
        dd.load(bare, str(tmp_path / "stores" / "{}"), stores=1)
    with pytest.raises(Exception, match='the batch has no column "fingerprints"'):
        dd.load(sketches.drop("fingerprints"), str(tmp_path / "lost-{}"), stores=1)


def test_what_cannot_be_loaded_is_refused(spark: Any, tmp_path: Path) -> None:
    from pyspark.sql import functions as F

    sketches = dd.sketch(frame(spark, DOCUMENTS), key="url", text="body")
    with pytest.raises(ValueError, match=r"path: .*the number of the store"):
        dd.load(sketches, str(tmp_path / "store"))
    twice = dd.sketch(frame(spark, [*DOCUMENTS, ("doc/00007", "another text")]), key="url", text="body")
    with pytest.raises(ValueError, match="'doc/00007' is the key of several documents"):
        dd.load(twice, str(tmp_path / "{}"))
    path = str(tmp_path / "sketches")
    sketches.withColumn("packed", F.substring("packed", 1, 3)).write.parquet(path)
    with pytest.raises(Exception, match=r"the sketch of .* is damaged .*parquet.*: sketch its text again"):
        dd.load(spark.read.parquet(path), str(tmp_path / "damaged-{}"))
    other = dd.sketch(frame(spark, [("x", "a text")]), key="url", text="body", threshold=0.7)
    with pytest.raises(Exception, match="sketches of different parameters"):
        dd.load(sketches.union(other), str(tmp_path / "mixed-{}"), stores=1)
    empty = dd.sketch(frame(spark, []), key="url", text="body")
    assert dd.load(empty, str(tmp_path / "none-{}")) == []


def test_rows_without_a_sketch_are_in_no_store(spark: Any, tmp_path: Path) -> None:
    odd = [("n/1", None), (None, "no key"), ("e/1", "")]
    sketches = dd.sketch(frame(spark, [*DOCUMENTS[:20], *odd]), key="url", text="body")
    [made] = dd.load(sketches, str(tmp_path / "{}"), stores=1)
    with dedupdb.open(made, read_only=True) as store:
        assert set(store) == {key for key, _ in [*DOCUMENTS[:20], ("e/1", "")]}
