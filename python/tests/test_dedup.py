"""Which rows are kept: as the command line has it, through every way in."""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from given import CommandLine, keys, texts

import dedupdb

pa = pytest.importorskip("pyarrow")

Keep = Literal["first", "longest", "newest"]
KEEPS: list[Keep] = ["first", "longest", "newest"]
KEYS, TEXTS = keys(300), texts(300)


def table() -> Any:
    return pa.table({"id": KEYS, "text": TEXTS})


def frame_of(library: str) -> Any:
    return pytest.importorskip(library).DataFrame({"id": KEYS, "text": TEXTS})


def relation() -> Any:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("pages", table())
    found = connection.sql("select * from pages order by id")
    return found if hasattr(found, "__arrow_c_stream__") else found.to_arrow_table()


def records() -> list[dict[str, str]]:
    return [{"id": key, "text": text} for key, text in zip(KEYS, TEXTS, strict=True)]


WAYS: dict[str, Callable[[], Any]] = {
    "list": lambda: TEXTS,
    "generator": lambda: (text for text in TEXTS),
    "dicts": records,
    "table": table,
    "chunked": lambda: pa.concat_tables([table().slice(0, 7), table().slice(7)]),
    "reader": lambda: table().to_reader(max_chunksize=11),
    "view": lambda: pa.table({"text": pa.array(TEXTS, pa.string_view())}),
    "dictionary": lambda: pa.table({"text": pa.array(TEXTS).dictionary_encode()}),
    "pandas": lambda: frame_of("pandas"),
    "polars": lambda: frame_of("polars"),
    "duckdb": relation,
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory, command_line: CommandLine) -> dict[str, set[str]]:
    """The keys that the command keeps."""
    folder = tmp_path_factory.mktemp("kept")
    file = folder / "texts.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records()))
    found: dict[str, set[str]] = {}
    for keep in KEEPS:
        command_line("dedup", file, "-o", folder / f"{keep}.jsonl", "--keep", keep)
        lines = (folder / f"{keep}.jsonl").read_text().splitlines()
        found[keep] = {json.loads(line)["id"] for line in lines}
    assert len({frozenset(keys) for keys in found.values()}) == 3
    return found


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("way", WAYS)
def test_the_command_keeps_the_same(kept: dict[str, set[str]], way: str, keep: Keep) -> None:
    result = dedupdb.dedup(WAYS[way](), keep=keep)
    assert {KEYS[row] for row in result.indices} == kept[keep]
    rows = list(result.dropped)
    assert [row["row"] for row in rows] == [row for row, keep in enumerate(result.keep) if not keep]
    for row in rows:
        assert result.keep[row["earlier"]] and row["jaccard"] >= 0.8
        if keep == "longest":
            assert len(TEXTS[row["earlier"]]) >= len(TEXTS[row["row"]])
        else:
            assert (row["earlier"] < row["row"]) == (keep == "first")
    assert sorted(row for group in result.groups for row in group[1:]) == [row["row"] for row in rows]
    assert all(result.keep[group[0]] for group in result.groups)
    assert len(result.kept) == len(result.indices)


def excerpts() -> list[str]:
    """Texts, parts of some, which begin in the middle, texts without words, and what nobody sees in copies."""
    draw = random.Random(5)
    made = texts(120, 2)
    for text in made[:80:2]:
        words = text.split()
        first = draw.randrange(len(words))
        made.append(" ".join(words[first : first + draw.randint(10, 50)]))
    made += [f"{text} \u200b\u200b\u200b" for text in made[:8]] + [f"{text}!" for text in made[4:12]]
    made += ["", "-- ", "", "-- ", "---"]
    draw.shuffle(made)
    return made


def removed(command_line: CommandLine, folder: Path, rows: list[str], *options: object) -> list[dict[str, Any]]:
    """What the command drops: the lines of --removed, with the numbers of rows instead of keys."""
    file, list_ = folder / "rows.jsonl", folder / "removed.jsonl"
    file.write_text("".join(json.dumps({"id": str(row), "text": text}) + "\n" for row, text in enumerate(rows)))
    command_line("dedup", file, "-o", folder / "kept.jsonl", "--removed", list_, "--force", *options)
    lines = [json.loads(line) for line in list_.read_text().splitlines()]
    return [line | {"row": int(line["key"]), "earlier": int(line["earlier"])} for line in lines]


@pytest.mark.parametrize("options", [{}, {"shortest": 30}, {"shortest": 1, "keep": "longest"}, {"threshold": 0.5}])
def test_the_command_drops_the_same_contained_rows(
    tmp_path: Path, command_line: CommandLine, options: dict[str, Any]
) -> None:
    rows = excerpts()
    given = [argument for name, value in options.items() for argument in (f"--{name}", value)]
    lines = removed(command_line, tmp_path, rows, "--containment", "0.7", *given)
    expected = [
        {
            "row": line["row"],
            "earlier": line["earlier"],
            "verdict": "exact_copy" if line["exact_copy"] else verdict[line["measure"]],
            "jaccard": line["jaccard"],
            "containment": line["containment"],
            "measure": line["measure"],
        }
        for verdict in [{"jaccard": "near_duplicate", "containment": "contained"}]
        for line in sorted(lines, key=lambda line: line["row"])
    ]
    result = dedupdb.dedup(rows, containment=0.7, **options)
    assert list(result.dropped) == expected
    assert result.keep == [row not in {line["row"] for line in expected} for row in range(len(rows))]
    verdicts = {line["verdict"] for line in expected}
    assert verdicts >= {"near_duplicate", "contained"}
    flawed: list[Any] = [None, *rows[:50], 5, *rows[50:]]
    again = dedupdb.dedup(flawed, containment=0.7, errors="skip", **options)
    assert again.kept == result.kept and len(again.skipped) == 2


@pytest.mark.parametrize("keep", KEEPS)
def test_a_text_without_words_is_never_dropped(tmp_path: Path, command_line: CommandLine, keep: Keep) -> None:
    rows = excerpts()
    lines = removed(command_line, tmp_path, rows, "--keep", keep)
    result = dedupdb.dedup(rows, keep=keep)
    assert result.dropped["row"] == sorted(line["row"] for line in lines)
    assert result.dropped.column_names == ["row", "earlier", "verdict", "jaccard"]
    assert all(keep for text, keep in zip(rows, result.keep, strict=True) if text.strip("- ") == "")


def test_what_does_not_go_with_containment_is_refused() -> None:
    for share in (0.0, 1.5, float("nan")):
        with pytest.raises(ValueError, match="containment: its share is above 0 and at most 1"):
            dedupdb.dedup(TEXTS, containment=share)
    for keep in ("first", "newest"):
        with pytest.raises(ValueError, match="containment: the longer text is always kept"):
            dedupdb.dedup(TEXTS, containment=0.8, keep=keep)
    with pytest.raises(ValueError, match="containment: it compares shingles, and the parameters keep none"):
        dedupdb.dedup(TEXTS, containment=0.8, shingles=False)
    with pytest.raises(ValueError, match="shortest: it goes with containment"):
        dedupdb.dedup(TEXTS, shortest=5)
    with pytest.raises(dedupdb.errors.InvalidText, match="row 1: "):
        dedupdb.dedup(["1 2", "x", "3 4 5"], containment=0.8, shingling="ids")
    result = dedupdb.dedup(["1 2", "x", "1 2"], containment=0.8, shingling="ids", errors="skip")
    assert result.keep == [True, False, False] and [row for row, _ in result.skipped] == [1]


def test_what_is_kept_is_of_the_class_that_was_given() -> None:
    kept = [TEXTS[row] for row in dedupdb.dedup(TEXTS).indices]
    for library, column in [("pandas", "Series"), ("polars", "Series"), ("numpy", "array")]:
        module = pytest.importorskip(library)
        given = getattr(module, column)(TEXTS)
        found = dedupdb.dedup(given).kept
        assert type(found) is type(given) and list(found) == kept, library
    assert dedupdb.dedup(TEXTS).kept == kept


def test_other_columns_of_a_frame_may_have_anything() -> None:
    frame = frame_of("pandas")
    frame["object"] = [object() for _ in KEYS]
    kept, _ = dedupdb.dedup(frame)
    assert list(kept["object"]) == [frame["object"][row] for row in dedupdb.dedup(TEXTS).indices]


def test_a_frame_that_is_not_computed_is_refused() -> None:
    with pytest.raises(TypeError, match=r"data: LazyFrame, where a table .*; call its collect\(\)"):
        dedupdb.dedup(frame_of("polars").lazy())


def test_what_is_wrong_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match='keep: "best"; there are "first", "longest", "newest", "none" and'):
        dedupdb.dedup(TEXTS, keep="best")  # type: ignore[arg-type]
    for keep in KEEPS:
        with pytest.raises(ValueError, match="row 5000: the text is null"):
            dedupdb.dedup(["x"] * 5000 + [None], keep=keep)
        with pytest.raises(dedupdb.errors.InvalidText, match="row 1: "):
            dedupdb.dedup(["1 2", "x", "3 4 5"], keep=keep, shingling="ids")
    with pytest.raises(dedupdb.errors.Io, match="nowhere: the temporary texts and records cannot be kept there"):
        dedupdb.dedup(TEXTS, temporary=tmp_path / "nowhere")


@pytest.mark.parametrize("keep", KEEPS)
def test_flawed_rows_are_skipped(keep: Keep) -> None:
    """The other rows have the answers that they have without them."""
    flawed: list[Any] = []
    numbers = []
    for row, text in enumerate(TEXTS):
        if row % 7 == 0:
            flawed.append((None, 5, "\ud800")[row % 3])
        if row % 50 == 0:
            flawed += [None] * 3
        numbers.append(len(flawed))
        flawed.append(text)
    flawed.append(None)
    expected = dedupdb.dedup(TEXTS, keep=keep)
    result = dedupdb.dedup(flawed, keep=keep, errors="skip")
    assert result.indices == [numbers[row] for row in expected.indices]
    assert result.groups == [[numbers[row] for row in group] for group in expected.groups]
    assert result.kept == expected.kept
    assert [row for row, _ in result.skipped] == sorted(set(range(len(flawed))) - set(numbers))
    assert {why for _, why in result.skipped} == {
        "the text is null",
        "the row is int, not a string or a mapping",
        "the text has a lone surrogate, which no UTF-8 text has",
    }
    assert "skipped" in repr(result) and "skipped" not in repr(expected)


def test_what_the_store_refuses_is_skipped() -> None:
    for keep in KEEPS:
        result = dedupdb.dedup([None, "1 2", "x", "1 2", None, "3 4 5"], keep=keep, shingling="ids", errors="skip")
        assert [row for row, _ in result.skipped] == [0, 2, 4]
        assert sum(result.keep) == 2 and result.groups in ([[1, 3]], [[3, 1]])
    table = pa.table({"id": [1, 2, 3], "text": ["a b c", None, "A b c"]})
    result = dedupdb.dedup(table, errors="skip")
    assert result.kept.to_pylist() == [{"id": 1, "text": "a b c"}] and result.skipped == [(1, "the text is null")]
    wrong: Any = "ignore"
    with pytest.raises(ValueError, match='errors: "ignore"; there are "raise" and "skip"'):
        dedupdb.dedup(TEXTS, errors=wrong)


@pytest.mark.parametrize("preset", ["fineweb", "nemo", "refinedweb", "text-dedup"])
def test_presets_are_those_of_the_command(tmp_path: Path, command_line: CommandLine, preset: Any) -> None:
    command_line("--store", tmp_path / "one", "init", "--preset", preset, "--threshold", "0.85", "--seed", 5)
    with dedupdb.open(tmp_path / "one", preset=preset, threshold=0.85, seed=5) as one:
        expected = one.schema
    with dedupdb.open(tmp_path / "two", preset=preset, threshold=0.85, seed=5) as two:
        assert two.schema == expected
    with dedupdb.open(tmp_path / "two", preset=preset) as two:
        assert two.schema == expected, "a store that exists keeps its own"
    with pytest.raises(dedupdb.errors.SchemaMismatch):
        dedupdb.open(tmp_path / "two", preset=preset, expect={"threshold": 0.8})
    result = dedupdb.dedup(TEXTS[:50], preset=preset)
    assert result.keep == dedupdb.dedup(TEXTS[:50], keep="first", preset=preset).keep
    with pytest.raises(dedupdb.errors.InvalidSchema, match="preset"):
        dedupdb.open(tmp_path / "three", preset="c4")  # type: ignore[arg-type]


def test_searches_that_were_cut_short_are_warned_of() -> None:
    crowd = [f"{' '.join(f'common{word}' for word in range(60))} own{row} own{row + 1000}" for row in range(60)]
    alike: dict[str, Any] = {"threshold": 0.99, "permutations": 128, "bands": "128x1", "shingling": "word:1"}
    with pytest.warns(UserWarning, match=r"\d+ times, a search skipped candidates .* false_candidates"):
        assert all(dedupdb.dedup(crowd, false_candidates=1, **alike).keep)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all(dedupdb.dedup(crowd, **alike).keep)


def test_what_is_ignored_does_not_make_rows_alike() -> None:
    form = " ".join(f"form{number}" for number in range(60))
    rows = [f"{form} own{number} words{number} of{number} a{number} text{number}" for number in range(3)]
    rows += [rows[1], form, form]
    assert dedupdb.dedup(rows).keep.count(True) == 1
    for ignore in (form, [form], [{"text": form}]):
        assert dedupdb.dedup(rows, ignore=ignore).keep == [True, True, True, False, True, True]
    longest = dedupdb.dedup([*rows, rows[2] + " and more"], ignore=form, containment=0.5, shortest=1)
    assert longest.keep == [True, True, False, False, True, True, True]
    assert dedupdb.dedup(rows[:3], unit="line", ignore=form).cut == []
    with pytest.raises(ValueError, match="ignore: it does not go with cut_passages"):
        dedupdb.dedup(rows, cut_passages=50, ignore=form)


@pytest.mark.parametrize("keep", ["first", "longest", "3", "none"])
def test_the_command_names_the_same_rows(tmp_path: Path, command_line: CommandLine, keep: Any) -> None:
    rows = texts(600)[::-1]
    lines = removed(command_line, tmp_path, rows, "--keep", keep)
    found = dedupdb.dedup(rows, keep=keep).dropped
    dropped = zip(found["row"], found["earlier"], found["jaccard"], strict=True)
    assert list(dropped) == sorted((line["row"], line["earlier"], line["jaccard"]) for line in lines)
