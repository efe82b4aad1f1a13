"""The other columns of files that are read."""

from __future__ import annotations

import csv
import datetime
import decimal
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from given import CommandLine, texts

import dedupdb

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

OWN = ["key", "text", "source", "record", "attachments_hash"]
ROWS = [
    {"id": "a", "text": "one text", "n": 1, "x": 1, "ok": True, "s": 'a "b"\n', "tags": ["t", None], "meta": {"a": 1}},
    {"id": "b", "text": "two texts", "n": -2, "x": 0.5, "ok": None, "s": None, "tags": [], "meta": {"b": {"c": "d"}}},
    {"id": "c", "text": "three texts", "big": 2**63 + 1},
]
TYPES = {
    "n": pa.int64(),
    "x": pa.float64(),
    "ok": pa.bool_(),
    "s": pa.string(),
    "tags": pa.list_(pa.string()),
    "meta": pa.struct({"a": pa.int64(), "b": pa.struct({"c": pa.string()})}),
    "big": pa.uint64(),
}


def lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def cells(rows: list[dict[str, Any]], dialect: str) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), dialect=dialect, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def written(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def others(paths: Any, columns: Any = "all", **options: Any) -> Any:
    """The columns besides those that every reading has."""
    return pa.table(dedupdb.read(paths, columns=columns, **options)).drop_columns(OWN)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.jsonl", lines(ROWS)),
        ("a.json", json.dumps(ROWS).encode()),
        ("a.jsonl.gz", gzip.compress(lines(ROWS))),
        ("b.jsonl", lines(ROWS).decode().encode("utf-16")),
    ],
)
def test_fields_of_json_have_types(tmp_path: Path, name: str, data: bytes) -> None:
    file = written(tmp_path / name, data)
    found = others(file)
    assert found.schema == pa.schema(TYPES)
    assert found.to_pylist() == pa.Table.from_pylist(ROWS, pa.schema(TYPES)).to_pylist()
    some = others(file, ["meta.b.c", "id", "n"])
    assert some.to_pylist() == [
        {"meta.b.c": None, "id": "a", "n": 1},
        {"meta.b.c": "d", "id": "b", "n": -2},
        {"meta.b.c": None, "id": "c", "n": None},
    ]
    assert dedupdb.read(file).column_names == OWN


@pytest.mark.parametrize(("name", "dialect"), [("a.csv", "excel"), ("a.tsv", "excel-tab")])
def test_cells_are_strings(tmp_path: Path, name: str, dialect: str) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "a", "score": 9.5, "text": "one text"},
        {"id": "b", "score": "", "text": "two texts"},
    ]
    file = written(tmp_path / name, cells(rows, dialect))
    assert others(file).to_pylist() == [{"score": "9.5"}, {"score": ""}]
    written(file, file.read_bytes().replace(b"id", b"score"))
    with pytest.raises(ValueError, match='have the name "score"'):
        others(file, ["score"], id_field="text")


def test_columns_of_parquet_keep_their_types(tmp_path: Path) -> None:
    day = datetime.datetime(1969, 12, 31, 23, 59, 59, 123456)
    big = decimal.Decimal("-12345678901234567890.123456789012345678")
    columns = {
        "i8": pa.array([-128, None], pa.int8()),
        "u32": pa.array([2**32 - 1, 0], pa.uint32()),
        "u64": pa.array([2**64 - 1, None], pa.uint64()),
        "f16": pa.array([0.5, None], pa.float16()),
        "f32": pa.array([0.1, float("inf")], pa.float32()),
        "f64": pa.array([0.1, float("-inf")]),
        "flag": pa.array([True, None]),
        "bytes": pa.array([b"\xff\x00", b""]),
        "fixed": pa.array([b"\xff\x00", None], pa.binary(2)),
        "string": pa.array(["7", None]),
        "decimal": pa.array([big, None], pa.decimal128(38, 18)),
        "wide": pa.array([big, None], pa.decimal256(50, 18)),
        "ms": pa.array([day.replace(microsecond=123000), None], pa.timestamp("ms")),
        "us": pa.array([day, None], pa.timestamp("us", "UTC")),
        "ns": pa.array([-1, None], pa.timestamp("ns")),
        "day": pa.array([day.date(), datetime.date(9999, 12, 31)]),
        "t32": pa.array([day.time().replace(microsecond=123000), None], pa.time32("ms")),
        "t64": pa.array([day.time(), None], pa.time64("us")),
        "list": pa.array([[[1, None], None], []], pa.list_(pa.list_(pa.int16()))),
        "struct": pa.array(
            [{"a": {"b": [day]}}, None], pa.struct({"a": pa.struct({"b": pa.list_(pa.timestamp("us"))})})
        ),
        "map": pa.array([[("k", 1), ("l", None)], None], pa.map_(pa.string(), pa.int32())),
        "none": pa.array([None, None], pa.int32()),
    }
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": [7, 8], "text": ["one text", "two texts"], **columns}), file)
    found = others(file)
    for name, expected in columns.items():
        assert found[name].type == expected.type or name in {"list", "struct", "map"}, name
        assert found[name].to_pylist() == expected.to_pylist(), name
    assert found["list"].type.value_type.value_type == pa.int16()
    assert found["struct"].type.field("a").type.field("b").type.value_type == pa.timestamp("us")
    assert (found["map"].type.key_type, found["map"].type.item_type) == (pa.string(), pa.int32())
    some = others(file, ["struct.a", "id", "map"])
    assert some["struct.a"].to_pylist() == [{"b": [day]}, None]
    assert some["id"].to_pylist() == [7, 8]


def test_folders_have_names_and_values(tmp_path: Path) -> None:
    row = {"text": "one text", "lang": 7}
    written(tmp_path / "lang=en" / "a%20b=c%2Fd" / "a.jsonl", lines([row]))
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "lang=en" / "b.parquet")
    written(tmp_path / "lang=__HIVE_DEFAULT_PARTITION__" / "a.txt", b"three texts")
    found = others(tmp_path)
    assert found.schema.names == ["lang", "a b"]
    assert [row["lang"] for row in found.to_pylist()] == [None, "en", "en"]
    assert others(tmp_path / "lang=en", ["a b"])["a b"].to_pylist() == ["c/d", None]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (
            {"n": 1},
            {"n": "x"},
            r'b\.jsonl:1: the field "n" has .*, and Int64 in .*a\.jsonl:1; name the columns without',
        ),
        ({"n": {"a": [1]}}, {"n": {"a": [True]}}, r'the field "n\.a\[\]" has Boolean, and Int64'),
        ({"n": [1, "x"]}, {}, r'a\.jsonl:1: the field "n\[\]" has Utf8, and Int64'),
        ({"n": []}, {"n": {}}, r'the field "n" has Struct'),
    ],
)
def test_types_that_disagree_are_an_error(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], message: str
) -> None:
    for name, row in (("a", first), ("b", second)):
        written(tmp_path / f"{name}.jsonl", lines([{"text": "a text", **row}]))
    with pytest.raises(ValueError, match=message):
        others(tmp_path)


MANY = [{"text": f"text {row}", "n": row, "m": {"a": 1}, "none": None} for row in range(4096)]


@pytest.mark.parametrize(
    ("last", "message"),
    [
        ({"n": 1.5}, r'a\.jsonl:4097: the field "n" is 1\.5, which does not fit Int64, .* since .*a\.jsonl:1;'),
        ({"n": "1"}, 'the field "n" is "1", which'),
        ({"n": 2**63}, f'the field "n" is {2**63}, which'),
        ({"n": True}, 'the field "n" is true, which'),
        ({"m": {"a": "x"}}, r'a\.jsonl:4097: the field "m\.a" is "x", which does not fit Int64'),
        ({"m": [1]}, r'the field "m" is \[1\], which does not fit Struct'),
    ],
)
def test_a_later_value_that_does_not_fit_is_an_error(tmp_path: Path, last: dict[str, Any], message: str) -> None:
    file = written(tmp_path / "a.jsonl", lines([*MANY, {"text": "the last", **last}]))
    with pytest.raises(pa.ArrowInvalid, match=message):
        others(file)


def test_a_later_field_is_left_out_unless_it_is_named(tmp_path: Path) -> None:
    last = {"text": "the last", "n": 7, "late": 5, "none": [8]}
    file = written(tmp_path / "a.jsonl", lines([*MANY, last]))
    with pytest.warns(UserWarning, match='the field "late" comes only after the first'):
        found = others(file)
    assert found.schema.names == ["n", "m", "none"]
    assert found.to_pylist()[-1] == {"n": 7, "m": None, "none": "[8]"}
    assert others(file, ["late", "n"]).to_pylist()[-1] == {"late": "5", "n": 7}
    written(file, lines([*MANY, {"text": "the last", "m": {"b": 1}}]))
    with pytest.warns(UserWarning, match='the field "b" comes only after'):
        others(file)


def test_names_of_other_columns(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", lines([{"id": 1, "body": "a text", "source": "web", "n": 1}]))
    for wanted in ("all", ["source", "n"]):
        with pytest.warns(UserWarning, match='a.jsonl:1: a field has the name of the column "source"'):
            [row] = dedupdb.read(file, columns=wanted, text_field="body")
        assert (row["source"], row["source_1"], row["n"]) == ("web", str(file), 1)
    file.write_bytes(lines([{"id": 1, "body": "a text", "text": "another"}]))
    with pytest.warns(UserWarning, match='that of the field is "text_1"'):
        [row] = dedupdb.read(file, columns="all", text_field="body")
    assert (row["text"], row["text_1"]) == ("a text", "another")
    file.write_bytes(lines([{"id": 1, "body": "a text", "n": 1}]))
    for columns, message in [
        (["tags[].name"], 'name "tags"'),
        ("score", r'give "all", or a list: \["score"\]'),
        ([], "it names no field"),
        (["m", "n"], 'no record has a field "m"'),
    ]:
        with pytest.raises(ValueError, match=message):
            others(file, columns, text_field="body")


def test_documents_without_fields_have_nulls(tmp_path: Path) -> None:
    written(tmp_path / "a.txt", b"a text of a file")
    written(tmp_path / "b.jsonl", b'{"text": "b", "n": NaN, "s": "\\ud800"}\n{"text": "c", "n": 1.5}\n')
    assert others(tmp_path).to_pylist() == [
        {"n": None, "s": None},
        {"n": None, "s": "\ufffd"},
        {"n": 1.5, "s": None},
    ]


def test_objects_without_an_end_are_their_json(tmp_path: Path) -> None:
    ids = [{"text": f"text {row}", "m": {f"id{row}": row}} for row in range(1001)]
    found = others(written(tmp_path / "a.jsonl", lines(ids)))
    assert found.schema == pa.schema({"m": pa.string()})
    assert found.to_pylist()[7] == {"m": '{"id7": 7}'}
    deep = b"".join([b'{"text": "a text", "m": ', b"[" * 9999, b"]" * 9999, b"}"])
    assert others(written(tmp_path / "a.jsonl", deep))["m"].to_pylist() != [None]
    wide = [{"text": f"text {row}", **{f"id{row}-{at}": at for at in range(5)}} for row in range(4000)]
    with pytest.raises(ValueError, match="columns: the records have 20000 different fields"):
        others(written(tmp_path / "a.jsonl", lines(wide)))


RANKED = [
    {
        "id": f"{row:03}",
        "score": None if row % 7 == 0 else (row * 37 % 101) / 10,
        "big": 2**53 + row * 7919 % 240,
        "day": str(datetime.date(2024, 1, 1) + datetime.timedelta(days=row * 7919 % 200)),
        "site": ["web", "wiki", None, "books"][row % 4],
        "meta": {"rank": row * 17 % 50},
        "text": text,
    }
    for row, text in enumerate(texts(240))
]
FLAT = [{name: value for name, value in row.items() if name != "meta"} for row in RANKED]
FILES: dict[str, Callable[[Path], object]] = {
    "a.jsonl": lambda path: path.write_bytes(lines(RANKED)),
    "a.csv": lambda path: path.write_bytes(cells(FLAT, "excel")),
    "a.parquet": lambda path: pq.write_table(pa.Table.from_pylist(RANKED), path),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({"keep_by": "score"}, "--keep-by score"),
        ({"keep_by": ["day", "-big"]}, "--keep-by day,-big"),
        ({"keep_by": "-meta.rank"}, "--keep-by -meta.rank"),
        ({"prefer": {"site": ["wiki", "books"]}, "keep_by": "-score"}, "--prefer site=wiki,books --keep-by -score"),
    ],
)
def test_files_are_ranked_as_by_the_program(
    tmp_path: Path, command_line: CommandLine, name: str, options: dict[str, Any], arguments: str
) -> None:
    if name == "a.csv" and "meta" in arguments:
        pytest.skip("a table of cells has no nested fields")
    FILES[name](tmp_path / name)
    kept_file = tmp_path / "kept" / name
    kept_file.parent.mkdir()
    command_line("dedup", tmp_path / name, "-o", kept_file, *arguments.split())
    kept = dedupdb.dedup(dedupdb.read(tmp_path / name, columns="all"), **options).kept
    by_program = [row["key"] for row in dedupdb.read(kept_file)]
    assert pa.table(kept)["key"].to_pylist() == by_program
    assert 20 < len(by_program) < 240


def test_other_libraries_take_all_columns(tmp_path: Path, store: dedupdb.Store) -> None:
    file = written(tmp_path / "a.jsonl", lines(ROWS))
    assert store.add(dedupdb.read(file, columns="all")).added == 3
    assert [row["meta"] for row in dedupdb.read(file, columns=["meta"])] == [
        {"a": 1, "b": None},
        {"a": None, "b": {"c": "d"}},
        None,
    ]
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    for frame in (polars.DataFrame, pandas.DataFrame.from_arrow):
        assert list(frame(dedupdb.read(file, columns="all")).columns) == [*OWN, *TYPES]
