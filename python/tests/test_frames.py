"""Frames of pandas and Polars, and what a reader leaves out."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest
from given import keys, texts

import dedupdb

KEYS, TEXTS = keys(20), texts(20)


def test_only_the_columns_that_are_read_have_to_be_arrow(store: dedupdb.Store) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    columns = {"id": KEYS, "text": TEXTS}
    mixed = pandas.DataFrame(columns | {"other": [object() for _ in KEYS]})
    null = polars.DataFrame(columns | {"other": [None] * len(KEYS), "lists": [[]] * len(KEYS)})
    for frame in (mixed, null):
        assert store.add(frame).documents == len(KEYS)
        assert len(store.insert(frame)) == len(KEYS)
        assert len(store.query(frame)) >= len(KEYS)
        assert len(dedupdb.sign(frame)) == len(KEYS)
    renamed = null.rename({"id": "key"})
    assert store.add(renamed).unchanged == len(KEYS)


def test_a_column_without_a_type_is_one_of_nulls(store: dedupdb.Store) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"id": ["a"], "text": [None]})
    with pytest.raises(ValueError, match="row 0: the text is null"):
        store.add(frame)
    with pytest.raises(ValueError, match="row 0: the text is null"):
        dedupdb.dedup(polars.Series([None]))
    assert dedupdb.dedup(polars.DataFrame({"text": []})).keep == []
    with pytest.raises(ValueError, match='no column "body"'):
        store.add(frame, text="body")


def test_a_type_that_arrow_does_not_have_is_refused(store: dedupdb.Store) -> None:
    polars = pytest.importorskip("polars")
    for key in (polars.Series([object()], dtype=polars.Object), polars.Series([7], dtype=polars.Int128)):
        frame = polars.DataFrame({"id": key, "text": ["a text"]})
        with pytest.raises(TypeError, match=f'the column "id" has values of {key.dtype}'):
            store.add(frame)
        assert dedupdb.dedup(frame).keep == [True]


def test_empty_frames_keep_their_columns() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for frame in (
        pandas.DataFrame({"text": ["x"], "number": [1]}).iloc[:0],
        polars.DataFrame({"text": ["x"], "number": [1]})[:0],
    ):
        assert list(dedupdb.dedup(frame).kept.columns) == ["text", "number"]


def test_a_class_of_ones_own_is_given_back() -> None:
    pandas = pytest.importorskip("pandas")

    class Frame(pandas.DataFrame):  # type: ignore[misc, name-defined]
        @property
        def _constructor(self) -> type:
            return Frame

    kept = dedupdb.dedup(Frame({"text": ["a b", "a b"], "number": [1, 2]}, index=["p", "q"])).kept
    assert type(kept) is Frame and list(kept.index) == ["p"]


def test_two_columns_of_one_name_are_refused(store: dedupdb.Store) -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table([["a"], ["b"], ["x y"]], names=["id", "id", "text"])
    with pytest.raises(ValueError, match='key: several columns are named "id"'):
        store.add(table)
    assert len(store.query(table)) == 0


def test_rows_of_numbers_can_be_looped_over() -> None:
    pa = pytest.importorskip("pyarrow")
    kinds = [pa.int8(), pa.int32(), pa.int64(), pa.uint16(), pa.float32(), pa.string_view()]

    class Stream:
        """A table that is none of pyarrow's classes."""

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            values = [pa.array(["7"] if kind == pa.string_view() else [7], kind) for kind in kinds]
            names = [str(kind) for kind in kinds]
            return pa.table([["a b"], *values], names=["text", *names]).__arrow_c_stream__(requested_schema)

    (row,) = dedupdb.dedup(Stream()).kept
    assert list(row.values()) == ["a b", 7, 7, 7, 7, 7.0, "7"]


def test_what_a_reader_left_out_is_warned_of(tmp_path: Path, store: dedupdb.Store) -> None:
    whole, other = tmp_path / "whole.jsonl", tmp_path / "other.jsonl"
    records = [{"id": key, "text": text} for key, text in zip(KEYS, TEXTS, strict=True)]
    whole.write_text("\n".join(map(json.dumps, records)))
    other.write_text('{"id": "z", "body": "x y"}\n')
    message = r"reading left out 1 file or record \(first: .*other\.jsonl.*"
    with pytest.warns(UserWarning, match=message):
        assert store.add(dedupdb.read([whole, other], errors="skip")).added == len(KEYS)
    with pytest.warns(UserWarning, match=message):
        dedupdb.dedup(dedupdb.read([other, whole], errors="skip"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.add(dedupdb.read(whole))


def test_a_dict_is_no_list_of_keys(store: dedupdb.Store) -> None:
    store.add([("id", "x y z")])
    with pytest.raises(TypeError, match="keys: a dict"):
        store.remove({"id": "other"})
    assert "id" in store


def test_signatures_need_no_recall() -> None:
    assert len(dedupdb.sign(TEXTS, permutations=2)) == len(TEXTS)
    with pytest.raises(ValueError, match="recall"):
        dedupdb.sign(TEXTS, permutations=2, recall=0.98)


def test_rows_of_a_walk_are_sorted() -> None:
    pa = pytest.importorskip("pyarrow")
    from dedupdb import cluster

    def rows(*rows: tuple[int, int]) -> object:
        return pa.RecordBatch.from_pylist([{"key": key, "code": code} for key, code in rows])

    for batches in ([rows((2, 1), (1, 1))], [rows((1, 2), (1, 1))], [rows((3, 1)), rows((1, 1))]):
        with pytest.raises(ValueError, match="not sorted by key and code"):
            list(cluster.walk(batches, 0.8))
