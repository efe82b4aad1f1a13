"""Which of several similar rows is kept, by the values of their fields: as the command line has it."""

from __future__ import annotations

import datetime
import decimal
import json
import re
import subprocess
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from given import CommandLine, texts

import dedupdb

pa = pytest.importorskip("pyarrow")

TEXTS = texts(240)
UTC = datetime.timezone.utc
DAY = datetime.datetime(2024, 1, 1, tzinfo=UTC)


def scores() -> list[float | None]:
    return [None if row % 7 == 0 else float("nan") if row % 11 == 0 else (row * 37 % 101) / 10 for row in range(240)]


def table() -> Any:
    big = [None if row % 5 == 0 else 2**53 + row * 7919 % 240 for row in range(240)]
    return pa.table(
        {
            "id": [f"{row:03}" for row in range(240)],
            "score": scores(),
            "big": pa.array(big, pa.int64()),
            "price": pa.array([decimal.Decimal(row * 31 % 97) / 4 - 9 for row in range(240)], pa.decimal128(30, 2)),
            "seen": pa.array([DAY + datetime.timedelta(milliseconds=row * 7919 % 240 * 500) for row in range(240)]),
            "day": pa.array([(DAY + datetime.timedelta(days=row * 7919 % 200)).date() for row in range(240)]),
            "source": pa.array([["web", "wiki", None, "books"][row % 4] for row in range(240)]).dictionary_encode(),
            "flag": [row % 3 == 0 for row in range(240)],
            "meta": [None if row % 13 == 0 else {"rank": row * 17 % 50, "tags": [row]} for row in range(240)],
            "text": TEXTS,
        }
    )


QUESTIONS: list[tuple[str | list[str] | None, dict[str, list[Any]] | None, str]] = [
    ("score", None, "--keep-by score"),
    ("-score", None, "--keep-by -score"),
    ("big", None, "--keep-by big"),
    ("-price", None, "--keep-by -price"),
    ("seen", None, "--keep-by seen"),
    ("-seen", None, "--keep-by -seen"),
    (["day", "-score"], None, "--keep-by day,-score"),
    ("-meta.rank", None, "--keep-by -meta.rank"),
    (["flag"], {"source": ["wiki", "books"]}, "--prefer source=wiki,books --keep-by flag"),
    (None, {"meta.rank": [7, 8, 9], "source": ["web"]}, "--prefer meta.rank=7,8,9 --prefer source=web"),
    (["seen"], {"score": [9, 8.0, "7.0"], "flag": [True]}, "--prefer score=9.0,8,7 --prefer flag=true --keep-by seen"),
    (
        "-score",
        {"day": [DAY.date() + datetime.timedelta(days=day) for day in range(1, 30)] + [DAY]},
        f"--prefer day={','.join(f'2024-01-{day:02}T00:00' for day in range(2, 31))},2024-01-01 --keep-by -score",
    ),
]


def rows_of(library: str) -> Callable[[], Any]:
    return lambda: pytest.importorskip(library).from_arrow(table())


WAYS: dict[str, Callable[[], Any]] = {
    "table": table,
    "reader": lambda: table().to_reader(max_chunksize=11),
    "pandas": lambda: pytest.importorskip("pandas") and table().to_pandas(types_mapper=None),
    "polars": rows_of("polars"),
    "dicts": lambda: table().to_pylist(),
    "generator": lambda: (row for row in table().to_pylist()),
    "batches": lambda: table().to_batches(max_chunksize=50),
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory, command_line: CommandLine) -> dict[str, tuple[list[str], Any]]:
    """The ids that the program keeps, and the rows without a value."""
    from pyarrow import parquet

    folder: Path = tmp_path_factory.mktemp("keep_by")
    pages = folder / "pages.parquet"
    parquet.write_table(table(), pages)
    found = {}
    for number, (*_, arguments) in enumerate(QUESTIONS):
        kept = folder / f"{number}.jsonl"
        said = command_line("--json", "dedup", pages, "-o", kept, *arguments.split())
        ids = [json.loads(line)["id"] for line in kept.read_text().splitlines()]
        found[arguments] = (ids, json.loads(said)["without_field"])
    return found


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("keep_by", "prefer", "arguments"), QUESTIONS)
def test_the_rows_that_the_program_keeps_are_kept(
    way: str,
    keep_by: str | Iterable[str] | None,
    prefer: Mapping[str, list[Any]] | None,
    arguments: str,
    answers: dict[str, tuple[list[str], Any]],
) -> None:
    found = dedupdb.dedup(WAYS[way](), keep_by=keep_by, prefer=prefer)
    ids, without = answers[arguments]
    assert [f"{row:03}" for row in found.indices] == ids
    assert found.without_field == without
    assert 20 < len(ids) < 240


def test_the_questions_have_different_answers(answers: dict[str, tuple[list[str], Any]]) -> None:
    assert len({tuple(ids) for ids, _ in answers.values()}) == len(QUESTIONS)


def test_keep_decides_between_equal_rows() -> None:
    rows = [{"text": TEXTS[0], "n": 1}, {"text": TEXTS[0], "n": "1.0"}, {"text": TEXTS[0], "n": 0}]
    assert dedupdb.dedup(rows, keep_by="n").indices == [0]
    assert dedupdb.dedup(rows, keep_by="n", keep="newest").indices == [1]


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (table, {"keep_by": "scor"}, '"scor"; the first one has "id", "score", "big"'),
        (lambda: table().to_pylist(), {"keep_by": "scor"}, '"scor"; the first one has "id", "score", "big"'),
        (lambda: table().to_pandas(), {"keep_by": "scor"}, '"scor"; the first one has "id", "score", "big"'),
        (lambda: TEXTS, {"keep_by": "score"}, "these documents have no fields"),
        (table, {"keep_by": "meta"}, 'keep_by: "meta" has nested fields'),
        (table, {"prefer": {"meta.tags": [1]}}, 'keep_by: "meta.tags" has values of List'),
        (lambda: table().to_pylist(), {"keep_by": "meta"}, 'keep_by: "meta" has a value of dict'),
        (table, {"keep_by": ""}, "names no field"),
        (table, {"keep_by": "score", "containment": 0.8}, "keep_by: it does not go with containment"),
        (table, {"keep_by": "score", "unit": "line"}, "keep_by: it does not go with unit"),
        (table, {"prefer": {"source": ["a"]}, "cut_passages": 20}, "prefer: it does not go with cut_passages"),
    ],
)
def test_what_cannot_be_ranked_is_refused(data: Callable[[], Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        dedupdb.dedup(data(), **options)


@pytest.mark.parametrize("prefer", ["source=wiki", {"source": "wiki"}])
def test_preferred_values_are_lists_of_fields(prefer: Any) -> None:
    with pytest.raises(TypeError, match="prefer: "):
        dedupdb.dedup(table(), prefer=prefer)


def test_bytes_and_maps_have_no_rank(tmp_path: Path, command_line: CommandLine) -> None:
    from pyarrow import parquet

    of_map = pa.map_(pa.string(), pa.int64())
    rows = pa.table(
        {
            "raw": pa.array([b"a", b"b"]),
            "meta": pa.array([[("score", 1)], [("score", 2)]], of_map),
            "outer": pa.array([{"map": [("score", 1)]}] * 2, pa.struct([("map", of_map)])),
            "text": TEXTS[:2],
        }
    )
    parquet.write_table(rows, tmp_path / "in.parquet")
    for field in ("raw", "meta.score", "outer.map.score"):
        with pytest.raises(ValueError, match=f'keep_by: "{field}" has .* no rank'):
            dedupdb.dedup(rows, keep_by=field)
        command = [str(command_line.program), "dedup", str(tmp_path / "in.parquet"), "-o", "-", "--keep-by", field]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 2 and f'"{field}" has ' in done.stderr and "no rank" in done.stderr, done.stderr


def test_a_name_with_a_dot_comes_before_nested_fields(tmp_path: Path, command_line: CommandLine) -> None:
    nested, text = {"x": {"y": 9}}, {"text": TEXTS[0]}
    rows: list[dict[str, Any]] = [{"x.y": 1} | nested | text, nested | {"x.y": 2} | text, nested | {"x.y": 3} | text]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for data in (rows, pa.Table.from_pylist(rows)):
        assert dedupdb.dedup(data, keep_by="x.y").indices == [2]
    kept = command_line("dedup", tmp_path / "in.jsonl", "-o", "-", "--keep-by", "x.y")
    assert [json.loads(line)["x.y"] for line in kept.splitlines()] == [3]
