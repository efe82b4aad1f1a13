"""Rows that are no documents, keys of several, sketches that do not go together or are damaged, checkpoints."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from made import Truth, documents, frame, rows

import dedupdb
from dedupdb import spark as dd

DOCUMENTS = documents(120, seed=9)


def test_null_and_empty_rows_are_counted_and_kept(spark: Any, tmp_path: Path) -> None:
    odd: list[tuple[Any, Any]] = [
        ("n/1", None),
        ("n/2", None),
        (None, "no key"),
        (None, None),
        ("e/1", ""),
        ("e/2", "..."),
    ]
    df = frame(spark, [*DOCUMENTS, *odd])
    sketches = dd.sketch(df, key="url", text="body")
    counts = {row["flaw"]: row["count"] for row in dd.flaws(sketches).collect()}
    empty = sum(1 for _, text in DOCUMENTS if not text)
    assert counts == {"null text": 2, "null key": 2, "empty text": empty + 2}
    truth = Truth(tmp_path, [*DOCUMENTS, *odd[4:]])
    assert rows(dd.pairs(sketches)) == truth.pairs
    assert rows(dd.clusters(sketches)) == truth.connected
    gone = {key for key, *_ in truth.dropped}
    kept = {row for row in [*DOCUMENTS, *odd] if row[0] not in gone}
    assert rows(dd.dedup(df, key="url", text="body")) == kept


def test_no_rows_are_no_pairs(spark: Any) -> None:
    sketches = dd.sketch(frame(spark, []), key="url", text="body")
    assert dd.pairs(sketches).collect() == []
    assert dd.clusters(sketches).collect() == []
    assert dd.dropped(sketches).collect() == []


def test_a_key_of_several_documents_is_refused(spark: Any) -> None:
    twice = [*DOCUMENTS, ("doc/00007", "another text"), ("doc/00009", "and another")]
    sketches = dd.sketch(frame(spark, twice), key="url", text="body")
    for function in (dd.pairs, dd.clusters, dd.dropped):
        with pytest.raises(ValueError, match="'doc/00007' is the key of several documents, as are 1 other"):
            function(sketches)


def test_parameters_are_checked_before_anything_runs(spark: Any) -> None:
    df = frame(spark, DOCUMENTS)
    with pytest.raises(dedupdb.errors.InvalidSchema):
        dd.sketch(df, key="url", text="body", threshold=1.5)
    with pytest.raises(TypeError, match=r"there is no parameter .treshold."):
        dd.sketch(df, key="url", text="body", treshold=0.5)
    with pytest.raises(ValueError, match="linkage"):
        dd.clusters(dd.sketch(df, key="url", text="body"), linkage="complete")
    with pytest.raises(ValueError, match="sketches: there is no column"):
        dd.pairs(df)


def test_sketches_of_different_parameters_are_refused(spark: Any) -> None:
    one = dd.sketch(frame(spark, DOCUMENTS[:60]), key="url", text="body", threshold=0.8)
    other = dd.sketch(frame(spark, DOCUMENTS[60:]), key="url", text="body", threshold=0.7)
    with pytest.raises(Exception, match="sketches of different parameters do not go together"):
        dd.pairs(one.union(other)).collect()


@pytest.mark.parametrize("damage", ["packed", "keys"])
def test_damaged_sketches_are_refused_with_their_file(spark: Any, tmp_path: Path, damage: str) -> None:
    from pyspark.sql import functions as F

    sketches = dd.sketch(frame(spark, DOCUMENTS), key="url", text="body")
    broken = {"packed": F.substring("packed", 1, 3), "keys": F.lit(None).cast("array<bigint>")}[damage]
    path = str(tmp_path / "sketches")
    sketches.withColumn(damage, broken).write.parquet(path)
    with pytest.raises(Exception, match=r"sketch.*damaged|sketch.*in file:.*parquet.*damaged") as raised:
        dd.pairs(spark.read.parquet(path)).collect()
    assert ".parquet" in str(raised.value)


def test_sketches_go_to_files_and_back(spark: Any, tmp_path: Path) -> None:
    truth = Truth(tmp_path, DOCUMENTS)
    path = str(tmp_path / "sketches")
    dd.sketch(frame(spark, DOCUMENTS), key="url", text="body").write.parquet(path)
    assert rows(dd.pairs(spark.read.parquet(path))) == truth.pairs


def test_a_run_goes_on_from_its_checkpoint(spark: Any, tmp_path: Path) -> None:
    truth = Truth(tmp_path, DOCUMENTS)
    folder = tmp_path / "run"
    sketches = dd.sketch(frame(spark, DOCUMENTS), key="url", text="body")
    assert rows(dd.pairs(sketches, checkpoint=str(folder))) == truth.pairs
    stages = sorted(path.name for path in folder.iterdir())
    assert {"candidates", "edges", "parameters", "sketches"} <= set(stages)
    # A stage that was half written is made anew, and a whole one is read: nothing is sketched again.
    (folder / "edges" / "_SUCCESS").unlink()
    for part in (folder / "edges").glob("part-*"):
        part.unlink()
    broken = sketches.withColumn("packed", sketches["packed"].substr(1, 0))
    assert rows(dd.pairs(broken, checkpoint=str(folder))) == truth.pairs
    other = dd.sketch(frame(spark, DOCUMENTS), key="url", text="body", threshold=0.6)
    with pytest.raises(ValueError, match="is of other parameters"):
        dd.pairs(other, checkpoint=str(folder))
    shutil.rmtree(folder)


def test_what_a_store_has_seen_is_left_out(spark: Any, tmp_path: Path) -> None:
    seen = dict(DOCUMENTS[:50])
    with dedupdb.open(tmp_path / "seen") as store:
        store.add(list(seen), list(seen.values()))
        texts = [text for _, text in DOCUMENTS]
        known = set(store.query(texts)["row"])
    expected = {row for number, row in enumerate(DOCUMENTS) if number not in known}
    df = frame(spark, [*DOCUMENTS, ("n/1", None)])
    assert 10 < len(expected) < len(DOCUMENTS) - 50
    found = dd.against(df, str(tmp_path / "seen"), text="body")
    assert found.columns == df.columns
    assert rows(found) == {*expected, ("n/1", None)}
    with pytest.raises(dedupdb.errors.NotAStore):
        dd.against(df, str(tmp_path / "nothing"), text="body")
