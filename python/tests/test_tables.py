"""Tables and results: indexed, pickled, shown."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from given import keys, texts

import dedupdb

pa = pytest.importorskip("pyarrow")

KEYS, TEXTS = keys(300), texts(300)


@pytest.fixture
def found(store: dedupdb.Store) -> dedupdb.Table:
    store.add(KEYS, TEXTS)
    return store.query(TEXTS)


def test_rows_and_columns_by_index(found: dedupdb.Table) -> None:
    rows = list(found)
    assert found.to_pylist() == rows and len(rows) == len(found) > 300
    assert found[0] == rows[0] and found[len(rows) - 1] == found[-1] == rows[-1] and found[-len(rows)] == rows[0]
    assert found["key"] == [row["key"] for row in rows]
    for row in (len(rows), -len(rows) - 1, 2**62):
        with pytest.raises(IndexError, match=f"row {row} of {len(rows)}"):
            found[row]
    with pytest.raises(KeyError, match="text"):
        found["text"]
    wrong: Any = slice(2)
    with pytest.raises(TypeError, match="not by slice"):
        found[wrong]


def test_schema_and_frames(found: dedupdb.Table) -> None:
    assert list(found.schema) == found.column_names
    assert (found.schema["row"], found.schema["key"], found.schema["exact_copy"]) == ("UInt64", "Utf8", "Boolean")
    pytest.importorskip("pandas")
    assert list(found.to_pandas()["key"]) == found["key"]


def test_tables_pickle(found: dedupdb.Table) -> None:
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert type(again) is dedupdb.Table
        assert pa.table(again).equals(pa.table(found)) and again.schema == found.schema
    with pytest.raises(TypeError, match="data: an Arrow array"):
        dedupdb.Table(pa.array(["x"]))


def test_results_pickle() -> None:
    result = dedupdb.dedup(pa.table({"text": TEXTS}))
    again = pickle.loads(pickle.dumps(result))
    assert again.kept.equals(result.kept) and again.keep == result.keep and again.groups == result.groups
    kept, dropped = result
    assert result[0] is kept and result[1] is dropped and len(result) == 2


def test_a_view_for_notebooks(found: dedupdb.Table) -> None:
    view = found._repr_html_()
    assert view.count("<tr>") == 11 and f"{len(found):,} rows, the first 10 shown" in view
    hostile = dedupdb.Table(pa.table({"<b>": ["<script>", "x" * 1000]}))
    assert "<th>&lt;b&gt;</th>" in hostile._repr_html_() and "<script>" not in hostile._repr_html_()
    assert len(hostile._repr_html_()) < 400
    nested = dedupdb.Table(pa.table({"list": [[1]]}))
    assert "<td>[1]</td>" in nested._repr_html_() and "1 row<" in nested._repr_html_()
    assert "{&#x27;a&#x27;: 1}" in dedupdb.Table(pa.table({"object": [{"a": 1}]}))._repr_html_()
    assert "…" in dedupdb.Table(pa.table({"moment": pa.array([1], pa.timestamp("s"))}))._repr_html_()
    result = dedupdb.dedup([*TEXTS, None], errors="skip")
    assert f"of 301 rows kept, 1 skipped; dropped:</p>{result.dropped._repr_html_()}" in result._repr_html_()
