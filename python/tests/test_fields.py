"""Texts of several fields: the same ones as on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from given import CommandLine, keys, texts

import dedupdb

pa = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")
pq = pytest.importorskip("pyarrow.parquet")

FIELDS = ["title", "body"]


def rows(count: int = 300) -> list[dict[str, Any]]:
    """Records whose title or body is null or empty, but not both."""
    made = []
    for number, (key, text) in enumerate(zip(keys(count), texts(count), strict=True)):
        words = text.split()
        title, body = " ".join(words[:2]), " ".join(words[2:])
        absent = None if number % 2 else ""
        made.append({"id": key, "title": absent if number % 5 == 0 else title, "body": body or None})
    return made


ROWS = rows()
TEXTS = ["\n".join(text for text in (row["title"], row["body"]) if text) for row in ROWS]


def written(folder: Path) -> list[Path]:
    """Files of the rows in several formats. In JSON, nulls are missing."""
    table = pa.Table.from_pylist(ROWS)
    sparse = [{name: value for name, value in row.items() if value is not None} for row in ROWS]
    (folder / "a.jsonl").write_text("\n".join(map(json.dumps, sparse)))
    (folder / "a.json").write_text(json.dumps(sparse))
    csv.write_csv(table, folder / "a.csv")
    pq.write_table(table, folder / "a.parquet")
    return [folder / f"a.{end}" for end in ("jsonl", "json", "csv", "parquet")]


def test_texts_of_several_fields_are_joined_wherever_they_are(tmp_path: Path) -> None:
    for file in written(tmp_path):
        found = [row["text"] for row in dedupdb.read(file, text_field=FIELDS)]
        assert found == TEXTS, file
    other = [row["text"] for row in dedupdb.read(tmp_path / "a.csv", text_field=("body", "3", "title"))]
    assert other[1:4] == [f"{row['body']}\n{row['title']}" for row in ROWS[1:4]]


def test_rows_are_judged_as_on_the_command_line(tmp_path: Path, command_line: CommandLine) -> None:
    expected = dedupdb.dedup(TEXTS)
    assert 50 < len(expected.kept) < 280
    sparse = [{name: value for name, value in row.items() if value is not None} for row in ROWS]
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    datasets = pytest.importorskip("datasets")
    table = pa.Table.from_pylist(ROWS)
    for data in (
        ROWS,
        sparse,
        table,
        table.to_reader(),
        table.to_batches(),
        pandas.DataFrame(ROWS),
        polars.DataFrame(ROWS),
        datasets.Dataset.from_list(ROWS),
    ):
        assert dedupdb.dedup(data, text=FIELDS).keep == expected.keep, type(data)
    ids = [row["id"] for row, kept in zip(ROWS, expected.keep, strict=True) if kept]
    for file in written(tmp_path):
        out = tmp_path / f"out{file.suffix}"
        command_line("-q", "dedup", file, "-o", out, "--text-field", "title", "--text-field", "body")
        assert [row["key"] for row in dedupdb.read(out, text_field=FIELDS)] == ids, file


def test_stores_take_several_fields(store: dedupdb.Store) -> None:
    assert store.add(ROWS, text=FIELDS).added == len(ROWS)
    found = store.query(pa.Table.from_pylist(ROWS), text=iter(FIELDS), limit=1)
    assert found["row"] == list(range(len(ROWS))) and set(found["exact_copy"]) == {True}
    verdicts = store.insert([{"id": "new", "body": ROWS[1]["body"], "title": ROWS[1]["title"]}], text=FIELDS)
    assert verdicts["verdict"] == ["exact_copy"]
    assert store.passages([ROWS[1]], text=FIELDS)["row"][0] == 0


def test_items_are_found_in_several_fields() -> None:
    item = "Who painted the crane in the harbour of the town?"
    data = [{"title": "Who painted the crane in", "body": "the harbour of the town? Nobody knows."}, {"body": "x"}]
    assert dedupdb.decontaminate(data, [item], text=FIELDS).keep == [False, True]
    assert dedupdb.decontaminate(data, [item], text="body", errors="raise").keep == [True, True]


def test_what_is_no_text_of_several_fields_is_named() -> None:
    for wrong, message in [
        ([{"x": 1}], r"row 0: the text is missing: there is no 'title' or 'body'; there are 'x'"),
        ([{"title": None}], r"row 0: the text is null"),
        ([{"title": "a", "body": 5}], r"row 0: the text is int, not a string"),
        (pa.table({"title": ["a"], "x": ["b"]}), r"text: there is no column \"body\""),
        (pa.table({"title": ["a"], "body": [5]}), r"\"body\" has values of Int64"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            dedupdb.dedup(wrong, text=FIELDS)
    assert dedupdb.dedup([{"title": None}, {"body": "b"}], text=FIELDS, errors="skip").kept == [{"body": "b"}]


def test_nothing_is_cut_from_the_text_of_several_fields() -> None:
    with pytest.raises(ValueError, match="name one text field"):
        dedupdb.dedup(ROWS, text=FIELDS, unit="line")
    with pytest.raises(ValueError, match="name one text field"):
        dedupdb.dedup(ROWS, text=FIELDS, cut_passages=20)
    with pytest.raises(ValueError, match="name one text field"):
        dedupdb.decontaminate(ROWS, TEXTS, text=FIELDS, action="cut")
    one = [{"body": "The first line of the two.\nThe first line of the two."}]
    kept = dedupdb.dedup(one, text=["body", "body"], unit="line", min_words=2).kept
    assert kept == [{"body": "The first line of the two."}]


CHATS: list[dict[str, Any]] = [
    {
        "id": row["id"],
        "messages": [
            {"role": "system", "content": "Answer in one sentence."},
            {"role": "user", "content": row["title"]},
            {"role": "bot", "content": f"Answer {number}."},
            {"role": "user", "content": row["body"]},
        ],
        "parts": [row["title"], row["body"]],
        "meta": {"text": text},
    }
    for number, (row, text) in enumerate(zip(ROWS, TEXTS, strict=True))
]
PATHS = ["messages[role=user].content", "parts", "parts[]", "meta.text"]


def test_texts_in_lists_are_found_wherever_they_are(tmp_path: Path, store: dedupdb.Store) -> None:
    table = pa.Table.from_pylist(CHATS)
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, CHATS)))
    pq.write_table(table, tmp_path / "a.parquet")
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    datasets = pytest.importorskip("datasets")
    expected = dedupdb.dedup(TEXTS).keep
    assert store.add(zip(keys(len(TEXTS)), TEXTS, strict=True)).added == len(TEXTS)
    for path in PATHS:
        for file in ("a.jsonl", "a.parquet"):
            found = [row["text"] for row in dedupdb.read(tmp_path / file, text_field=path)]
            assert found == TEXTS, (file, path)
        kind = pa.struct([("role", pa.dictionary(pa.int8(), pa.string())), ("content", pa.string())])
        large = pa.large_list(table.schema.field("parts").type.value_type)
        for data in (
            CHATS,
            table,
            table.set_column(2, "parts", table["parts"].cast(large)),
            table.slice(0).to_batches(),
            table.set_column(1, "messages", table["messages"].cast(pa.list_(kind))),
            pandas.DataFrame(CHATS),
            polars.DataFrame(CHATS),
            datasets.Dataset.from_list(CHATS),
        ):
            assert dedupdb.dedup(data, text=path).keep == expected, (type(data), path)
        found = store.query(table.slice(100, 50), text=path, limit=1)
        assert found["row"] == list(range(50)) and set(found["exact_copy"]) == {True}, path


def test_what_is_no_list_of_strings_is_named() -> None:
    for wrong, path, message in [
        ([{"a": [1]}], "a", r"row 0: the text is a list of other values, not a string"),
        ([{"a": [{"b": 1}]}], "a[].b", r"row 0: the text is a list of other values, not a string"),
        ([{"a": [{"b": "x"}]}], "a[].c", r"row 0: the text is missing: there is no 'a\[\].c'"),
        ([{"a": [{"b": "x"}]}], "a[d=1].b", r"row 0: the text is missing"),
        (pa.table({"a": [[{"b": "x"}]]}), "a[].c", r"row 0: the text is missing: there is no 'a\[\].c'"),
        ([{"a": None}], "a[].c", r"row 0: the text is null"),
        ([{"a": "x"}], "b[].c", r"row 0: the text is missing: there is no [\"']b\[\].c"),
        (pa.table({"a": [[1]]}), "a", r"row 0: the text is a list of other values"),
        (pa.table({"a": ["x"]}), "b[]", r"text: there is no column \"b\[\]\""),
        (pa.table({"a": [None]}, schema=pa.schema([("a", pa.list_(pa.string()))])), "a", r"row 0: the text is null"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            dedupdb.dedup(wrong, text=path)
    for data in ([{"a": ["x y", "x y"]}], pa.table({"a": [["x y", "x y"]]})):
        with pytest.raises(TypeError, match=r"not (a )?string"):
            dedupdb.dedup(data, text="a", unit="line", min_words=2)
        with pytest.raises(TypeError, match=r"not (a )?string"):
            dedupdb.decontaminate(data, ["who painted the crane in the harbour"], text="a", action="cut")
    for path in ("a[]", "m.a"):
        with pytest.raises(ValueError, match="is in a list or a nested field"):
            dedupdb.dedup([{"a": ["x"], "m": {"a": "y"}}], text=path, unit="line")
        with pytest.raises(ValueError, match="is in a list or a nested field"):
            dedupdb.dedup(pa.table({"a": [["x"]], "m": [{"a": "y"}]}), text=path, unit="line")
    with pytest.raises(ValueError, match=r'text: there is no column "m\.b"; there are "a", "m"'):
        dedupdb.dedup(pa.table({"a": [["x"]], "m": [{"a": "y"}]}), text="m.b", unit="line")


def test_a_null_object_adds_nothing() -> None:
    rows = [{"title": "The night tram runs again", "meta": {"x": "z"}}, {"title": "To the harbour", "meta": None}]
    for data in (rows, pa.Table.from_pylist(rows)):
        kept = dedupdb.dedup(data, text=["title", "meta.x"], errors="raise")
        assert kept.keep == [True, True]


def test_paths_that_lead_nowhere_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"a": "x"}')
    for path in ("", "a.", "a..b", "a[", "a[0].b", "a[c=].b", "a[]b", "a[].", "[c=].b"):
        for field in (path, ["a", path]):
            with pytest.raises(ValueError, match="is not the path of a text; paths are like"):
                dedupdb.dedup([{"a": "x"}], text=field)
            with pytest.raises(ValueError, match="is not the path of a text; paths are like"):
                dedupdb.read(tmp_path / "a.jsonl", text_field=field)
