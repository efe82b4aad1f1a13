"""The steps of a cluster, without one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from given import keys, texts

import dedupdb
from dedupdb import cluster, errors

pa = pytest.importorskip("pyarrow")

TEXTS = [*texts(80), ""]
KEYS = keys(len(TEXTS))


def sketched(passage: int) -> Any:
    """The sketches of the texts, with a row that has none."""
    batches = pa.table({"key": [*KEYS, "none"], "text": [*TEXTS, None]}).to_batches(30)
    found = pa.Table.from_batches(list(cluster.sketch(batches, {"passage": passage})))
    return found.append_column("file", pa.array([""] * len(found)))


def loaded(path: Path, sketches: Any) -> int:
    rows = sketches.filter(sketches["hash"].is_valid())
    return cluster.load(rows.to_batches(20), path, sketches["parameters"][0].as_py())


def shared(path: Path) -> list[Any]:
    with dedupdb.open(path, read_only=True) as store:
        tables = store.passages(TEXTS, at_least=5), store.query(TEXTS, containment=0.5)
        return [[tuple(row.values()) for row in table] for table in tables]


def test_sketches_carry_their_fingerprints(tmp_path: Path) -> None:
    sketches = sketched(20)
    assert sketches.column_names[-2:] == ["fingerprints", "file"]
    assert "fingerprints" not in sketched(0).column_names
    assert loaded(tmp_path / "sketches", sketches) == len(TEXTS)
    with dedupdb.open(tmp_path / "texts", passage=20) as store:
        store.add(KEYS, TEXTS)
    expected = shared(tmp_path / "texts")
    assert len(expected[0]) > len(TEXTS) // 2
    assert shared(tmp_path / "sketches") == expected
    with dedupdb.open(tmp_path / "sketches") as store:
        assert store.add(KEYS, TEXTS).unchanged == len(TEXTS)
        assert store.check().is_clean


def test_a_store_takes_fingerprints_that_serve(tmp_path: Path) -> None:
    sketches = sketched(20)
    for passage in (0, 36):
        path = tmp_path / str(passage)
        with dedupdb.open(path, passage=passage) as store:
            assert store.schema["passage"] == passage
        assert loaded(path, sketches) == len(TEXTS)
    with dedupdb.open(tmp_path / "texts", passage=36) as store:
        store.add(KEYS, TEXTS)
    assert shared(tmp_path / "36") == shared(tmp_path / "texts")
    dedupdb.open(tmp_path / "50", passage=50).close()
    with pytest.raises(errors.SchemaMismatch, match="passage is 50 in the store, not 20"):
        loaded(tmp_path / "50", sketches)
    with pytest.raises(ValueError, match='the batch has no column "fingerprints"'):
        loaded(tmp_path / "lost", sketches.drop_columns("fingerprints"))
    row = sketches.column_names.index("fingerprints")
    other = sketches.set_column(row, "fingerprints", pa.array([b"tram"] * len(sketches), pa.binary()))
    with pytest.raises(ValueError, match='the sketch of "doc/00000" is damaged: sketch its text again'):
        loaded(tmp_path / "damaged", other)
