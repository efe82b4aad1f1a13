"""Files that are read, and keys of columns with types."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import uuid
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import dedupdb

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def test_a_named_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "one", "text": "first"}\n')
    (tmp_path / "p.png").write_bytes(b"\x89PNG\r\n\x1a\nrest")
    paths = [tmp_path / "a.jsonl", tmp_path / "p.png"]
    for call in (list, pa.table, dedupdb.dedup):
        with pytest.raises((ValueError, pa.ArrowInvalid), match=r"p\.png: binary, PNG image"):
            call(dedupdb.read(paths))
    skipping = dedupdb.read(paths, errors="skip")
    assert [row["key"] for row in skipping] == ["one"]
    assert len(skipping.skipped) == 1
    assert [row["key"] for row in dedupdb.read(tmp_path)] == ["one"]
    with pytest.raises(FileNotFoundError, match="absent"):
        list(dedupdb.read([*paths, tmp_path / "absent"], errors="skip"))
    with pytest.raises(ValueError, match='errors: "ignore"'):
        dedupdb.read(paths, errors="ignore")


def test_compressed_files_and_arrays_are_read(tmp_path: Path) -> None:
    rows = [{"id": n, "text": f"text {n}"} for n in range(3)]
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    files = {
        "a.jsonl.xz": lzma.compress(lines),
        "a.jsonl.bz2": bz2.compress(lines),
        "a.json": json.dumps(rows).encode(),
    }
    for name, written in files.items():
        (tmp_path / name).write_bytes(written)
        assert [row["key"] for row in dedupdb.read(tmp_path / name)] == ["0", "1", "2"], name


IDS: dict[str, tuple[Any, list[str]]] = {
    "uuid": (
        pa.ExtensionArray.from_storage(
            pa.uuid(), pa.array([b"\x42\x56\x02\x9c" + b"\xab" * 12, b"\0" * 16], pa.binary(16))
        ),
        ["4256029c-abab-abab-abab-abababababab", "00000000-0000-0000-0000-000000000000"],
    ),
    "fixed": (pa.array([b"\xc4\xe3", b"ab"], pa.binary(2)), ["c4e3", "6162"]),
    "binary": (pa.array([b"\xba\xc3\x00", b"ab"], pa.binary()), ["bac300", "6162"]),
    "uint64": (pa.array([2**64 - 1, 7], pa.uint64()), ["18446744073709551615", "7"]),
    "int8": (pa.array([-1, 7], pa.int8()), ["-1", "7"]),
    "boolean": (pa.array([True, False]), ["true", "false"]),
    "decimal": (pa.array([Decimal("-0.01"), Decimal("7.30")], pa.decimal128(9, 2)), ["-0.01", "7.30"]),
    "date": (pa.array([date(1969, 12, 31), date(2000, 2, 29)]), ["1969-12-31", "2000-02-29"]),
    "time": (pa.array([0, 86_399_007], pa.time32("ms")), ["00:00:00", "23:59:59.007"]),
    "moment": (pa.array([0, 1], pa.timestamp("us", "UTC")), ["1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000001Z"]),
    "zoned": (
        pa.array([0, 1], pa.timestamp("us", "Europe/Oslo")),
        ["1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000001Z"],
    ),
    "clock": (pa.array([0, 1], pa.timestamp("ms")), ["1970-01-01T00:00:00", "1970-01-01T00:00:00.001"]),
    "string": (pa.array(["a", "b"], pa.large_string()), ["a", "b"]),
}


@pytest.mark.parametrize("kind", IDS)
def test_a_typed_key_has_one_text_through_every_door(tmp_path: Path, kind: str) -> None:
    ids, keys = IDS[kind]
    rows = pa.table({"id": ids, "text": ["first text", "second text"]})
    with dedupdb.open(tmp_path / "store") as store:
        assert store.add(rows).added == 2
        assert list(store) == sorted(keys)
        assert store.add(ids, rows["text"]).added == 0
        for key in keys:
            assert store.get(key) is not None
    pq.write_table(rows, tmp_path / "rows.parquet")
    assert [row["key"] for row in dedupdb.read(tmp_path / "rows.parquet")] == keys


def test_keys_of_python_are_those_of_arrow(store: dedupdb.Store) -> None:
    key = uuid.UUID(int=7)
    store.add(key, "a text")
    store.add([{"id": date(2000, 2, 29), "text": "another"}])
    assert list(store) == ["00000000-0000-0000-0000-000000000007", "2000-02-29"]
    with pytest.raises(TypeError, match="bytes"):
        store.add([{"id": b"a", "text": "x"}])
    with pytest.raises(TypeError, match="Float64"):
        store.add(pa.table({"id": [0.5], "text": ["x"]}))


def test_other_libraries_read_all_columns(tmp_path: Path) -> None:
    duckdb, datasets = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow.dataset")
    rows = [{"text": f"a text of its own, number {number}", "score": number} for number in range(4)]
    for lang in ("en", "no"):
        (tmp_path / f"lang={lang}").mkdir()
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / f"lang={lang}" / "a.parquet")
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"lang={lang}" / "a.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    files = [str(file) for file in sorted(tmp_path.glob("*/*.parquet"))]
    reading = f"from read_json('{tmp_path}/*/*.jsonl.gz', hive_partitioning=true) order by lang, score"
    relation = duckdb.sql(reading)
    found = relation if hasattr(relation, "__arrow_c_stream__") else relation.to_arrow_table()
    for data in (datasets.dataset(files, partitioning="hive", partition_base_dir=str(tmp_path)), found):
        kept = pa.table(dedupdb.dedup(data).kept).to_pylist()
        assert kept == [{**row, "lang": "en"} for row in rows]
