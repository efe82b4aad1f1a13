"""Rows that are no documents, keys of several, sketches that do not go together or are damaged, checkpoints.

Few sketches are searched on the driver, and any number in Spark: both refuse the same.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from made import Truth, documents, frame, rows

import dedupdb
from dedupdb import spark as dd
from dedupdb.spark import _few

DOCUMENTS = documents(120, seed=9)


@pytest.fixture(params=["driver", "spark"])
def where(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "spark":
        monkeypatch.setattr(_few, "KEYS", -1)
    return str(request.param)


def test_null_and_empty_rows_are_counted_and_kept(spark: Any, tmp_path: Path, where: str) -> None:
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


def test_no_rows_are_no_pairs(spark: Any, where: str) -> None:
    sketches = dd.sketch(frame(spark, []), key="url", text="body")
    assert dd.pairs(sketches).collect() == []
    assert dd.clusters(sketches).collect() == []
    assert dd.dropped(sketches).collect() == []


def test_a_key_of_several_documents_is_refused(spark: Any, where: str) -> None:
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
        dd.sketch(df, key="url", text="body", treshold=0.5)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="linkage"):
        dd.clusters(dd.sketch(df, key="url", text="body"), linkage="complete")
    with pytest.raises(ValueError, match="sketches: there is no column"):
        dd.pairs(df)


def test_sketches_of_different_parameters_are_refused(spark: Any, where: str) -> None:
    one = dd.sketch(frame(spark, DOCUMENTS[:60]), key="url", text="body", threshold=0.8)
    other = dd.sketch(frame(spark, DOCUMENTS[60:]), key="url", text="body", threshold=0.7)
    with pytest.raises(Exception, match="sketches of different parameters do not go together"):
        dd.pairs(one.union(other)).collect()


@pytest.mark.parametrize(
    ("damage", "broken"),
    [
        ("packed", "substring(packed, 1, 3)"),
        ("keys", "cast(null as array<bigint>)"),
        ("keys", "slice(keys, 1, 3)"),
        ("size", "size + 1"),
        ("size", "0"),
        ("code", "code + 1"),
        ("code", "cast(null as bigint)"),
        ("hash", "unhex(sha2(key, 256))"),
    ],
)
def test_damaged_sketches_are_refused_with_their_file(
    spark: Any, tmp_path: Path, damage: str, broken: str, where: str
) -> None:
    from pyspark.sql import functions as F

    sketches = dd.sketch(frame(spark, DOCUMENTS), key="url", text="body")
    path = str(tmp_path / "sketches")
    sketches.withColumn(damage, F.expr(broken)).write.parquet(path)
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
    # Nor does it answer for other documents, such as those of the next night.
    key, text = DOCUMENTS[0]
    changed = [(key, f"{text} and more"), *DOCUMENTS[1:]]
    renamed = [(f"x{key}", text), *DOCUMENTS[1:]]
    for another in (DOCUMENTS[:60], changed, renamed):
        with pytest.raises(ValueError, match=f"{folder.name} is of other documents; remove it"):
            dd.pairs(dd.sketch(frame(spark, another), key="url", text="body"), checkpoint=str(folder))
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
    with pytest.raises(ValueError, match="stores: none is given"):
        dd.against(df, [], text="body")


def test_stores_of_one_name_and_later_commits_are_told_apart(spark: Any, tmp_path: Path) -> None:
    df = frame(spark, [("1", "one two three four five six"), ("2", "a b c d e f g"), ("3", "u v w x y z")])
    paths = [str(tmp_path / night / "seen") for night in ("first", "second")]
    for path, text in zip(paths, ("one two three four five six", "a b c d e f g"), strict=True):
        Path(path).parent.mkdir()
        with dedupdb.open(path) as store:
            store.add(["key"], [text])
    assert {row[0] for row in rows(dd.against(df, paths[0], text="body"))} == {"2", "3"}
    assert {row[0] for row in rows(dd.against(df, paths[1], text="body"))} == {"1", "3"}
    assert {row[0] for row in rows(dd.against(df, paths, text="body"))} == {"3"}
    with dedupdb.open(paths[0]) as store:
        store.add(["later"], ["u v w x y z"])
    assert {row[0] for row in rows(dd.against(df, paths[0], text="body"))} == {"2"}


def test_columns_with_dots_are_found_and_bytes_streams_and_other_frames_are_refused(spark: Any, tmp_path: Path) -> None:
    from pyspark.sql import functions as F

    texts = [("a", "one two three four"), ("b", "one two three four"), ("c", "u v w x y z")]
    df = spark.createDataFrame(texts, ["my.id", "the text"])
    assert rows(dd.dedup(df, key="my.id", text="the text")) == {texts[0], texts[2]}
    nested = df.select(F.struct(F.col("`my.id`").alias("id"), "the text").alias("doc"))
    assert dd.pairs(dd.sketch(nested, key="doc.id", text="doc.the text")).count() == 1
    with pytest.raises(ValueError, match=r"key: the column 'key' has bytes"):
        dd.sketch(df.select(F.encode("`my.id`", "UTF-8").alias("key"), "the text"), key="key", text="the text")
    stream = spark.readStream.format("rate").load()
    with pytest.raises(ValueError, match="df is a stream"):
        dd.sketch(stream, key="value", text="value")
    with pytest.raises(TypeError, match=r"and not a DataFrame of pyspark\.sql"):
        dd.sketch(df.toPandas(), key="my.id", text="the text")


def test_a_folder_of_something_else_is_no_checkpoint(spark: Any, tmp_path: Path) -> None:
    df = frame(spark, DOCUMENTS)
    df.write.parquet(str(tmp_path / "mine"))
    sketches = dd.sketch(df, key="url", text="body")
    with pytest.raises(ValueError, match="mine has files of something else; name a new folder"):
        dd.pairs(sketches, checkpoint=str(tmp_path / "mine"))
    with pytest.raises(ValueError, match="checkpoint: the name of the folder is empty"):
        dd.pairs(sketches, checkpoint="")
