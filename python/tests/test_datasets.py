"""Record batches, data sets and streams of rows, in every call that takes rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from given import keys, texts

import dedupdb

pa = pytest.importorskip("pyarrow")

KEYS, TEXTS = keys(300), texts(300)


def table() -> Any:
    # A column that is not read comes first.
    return pa.table({"other": [[1]] * 300, "id": KEYS, "text": TEXTS})


def dataset(folder: Path) -> Any:
    """A data set of two files."""
    parquet = pytest.importorskip("pyarrow.parquet")
    for number, (start, rows) in enumerate([(0, 7), (7, 293)]):
        parquet.write_table(table().slice(start, rows), folder / f"{number}.parquet")
    return pytest.importorskip("pyarrow.dataset").dataset(folder)


def streamed(**how: Any) -> Any:
    """A streamed data set of Hugging Face."""
    data = pytest.importorskip("datasets").Dataset(table()).to_iterable_dataset(num_shards=3)
    return data.with_format(**how) if how else data


WAYS: dict[str, Callable[[Path], Any]] = {
    "batch": lambda _: table().combine_chunks().to_batches()[0],
    "batches": lambda _: table().to_batches(max_chunksize=11),
    "iterator of batches": lambda _: iter(table().to_batches(max_chunksize=11)),
    "iterator of tables": lambda _: (table().slice(row, 50) for row in range(0, 300, 50)),
    "data set": dataset,
    "scanner": lambda folder: dataset(folder).scanner(batch_size=13),
    "batches of a data set": lambda folder: dataset(folder).to_batches(),
    "streamed": lambda _: streamed(),
    "streamed as Arrow": lambda _: streamed(type="arrow"),
    "streamed as frames": lambda _: streamed(type="pandas"),
}


@pytest.mark.parametrize("way", WAYS)
def test_rows_of_every_kind(store: dedupdb.Store, tmp_path: Path, way: str) -> None:
    folder = tmp_path / "data"
    folder.mkdir()

    def data() -> Any:
        return WAYS[way](folder)

    expected = dedupdb.dedup(TEXTS)
    assert store.add(data()).documents == 300
    assert list(store) == sorted(KEYS)
    assert pa.table(store.query(data())).equals(pa.table(store.query(TEXTS)))
    assert store.insert(data())["verdict"] == ["unchanged"] * 300
    assert dedupdb.sign(data()) == dedupdb.sign(TEXTS)
    result = dedupdb.dedup(data())
    assert result.keep == expected.keep
    kept = result.kept
    if way == "streamed as frames":
        kept = [row for frame in kept for row in frame.to_dict("records")]
    rows = kept if isinstance(kept, list) else kept.to_pylist()
    assert [row["id"] for row in rows] == [KEYS[row] for row in expected.indices]


def test_only_the_columns_that_are_read_are_decoded(store: dedupdb.Store) -> None:
    datasets = pytest.importorskip("datasets")
    pytest.importorskip("PIL")
    kinds = {"image": datasets.Image(), "id": datasets.Value("int64"), "text": datasets.Value("string")}
    broken = {"image": [{"bytes": b"broken", "path": None}], "id": [1], "text": ["some words"]}
    data = datasets.Dataset.from_dict(broken, features=datasets.Features(kinds))
    for given in (data, data.to_iterable_dataset()):
        assert store.add(given).documents == 1
        assert len(store.query(given)) == 1
    assert dedupdb.dedup(data).kept.num_rows == 1


def test_parts_of_data_sets(store: dedupdb.Store) -> None:
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset(table())
    for whole in (datasets.DatasetDict(train=data), datasets.IterableDatasetDict(train=data.to_iterable_dataset())):
        message = f"data: a {type(whole).__name__}, where a table .* is needed; choose one of its splits"
        for call in (store.add, store.insert, dedupdb.dedup):
            with pytest.raises(TypeError, match=message):
                call(whole)
        assert store.add(whole["train"]).documents == 300
    expected = dedupdb.dedup(TEXTS)
    result = dedupdb.dedup(data["text"])
    assert (result.keep, result.kept) == (expected.keep, expected.kept)


def test_flawed_rows_of_batches_are_numbered(store: dedupdb.Store) -> None:
    batches = [pa.record_batch({"id": [str(row), None], "text": ["a", "b"]}) for row in range(3)]
    assert store.add(batches, errors="skip").skipped == [(row, "the key is null") for row in (1, 3, 5)]
    with pytest.raises(ValueError, match="row 1: the key is null"):
        store.add(iter(batches))
    with pytest.raises(ValueError, match='text: there is no column "text"; there are "id"'):
        store.add(iter([batches[0].select(["id"])]))
    mixed = [("x", "a pair"), batches[0], {"id": "y", "text": "a dict"}]
    assert store.add(mixed, errors="skip").skipped == [(2, "the key is null")]
    assert {"x", "y", "0"} <= set(store)


def test_a_column_that_is_not_there(store: dedupdb.Store, tmp_path: Path) -> None:
    data = dataset(tmp_path)
    for given in (data, data.scanner(columns=["id", "text"])):
        with pytest.raises(ValueError, match='text: there is no column "body"'):
            store.add(given, text="body")
    with pytest.raises(ValueError, match=r"row 0: the text is missing: there is no .body."):
        store.add(streamed(), text="body")
