"""Rows without paragraphs, lines and passages that came before: as the command line cuts them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from given import CommandLine

import dedupdb

pa = pytest.importorskip("pyarrow")

NOTICES = [json.loads(line) for line in (Path(__file__).parents[2] / "testdata/notices.jsonl").read_text().splitlines()]


def pages(count: int = 150, seed: int = 1) -> list[dict[str, str]]:
    """Texts of paragraphs that come again, changed or not, of lines and of long sentences of the same words."""
    draw = random.Random(seed)
    words = [f"w{number}" for number in range(400)]
    paragraphs = [" ".join(draw.choices(words, k=draw.randint(2, 60))) for _ in range(60)]
    made = []
    for number in range(count):
        parts = []
        for _ in range(draw.randint(0, 7)):
            part = draw.choice(paragraphs).split()
            if draw.random() < 0.5:
                part[draw.randrange(len(part))] = f"x{number}"
            if draw.random() < 0.2:
                part = [word.upper() for word in part]
            middle = len(part) // 2
            parts.append(" ".join(part[:middle]) + draw.choice([" ", "\n"]) + " ".join(part[middle:]) + ".")
        made.append({"id": f"p{number:03}", "text": draw.choice(["\n\n", "\n \n\n", "\n"]).join(parts)})
    return made


PAGES = pages()

OPTIONS: list[dict[str, Any]] = [
    {"unit": "paragraph"},
    {"unit": "line"},
    {"unit": "line", "min_words": 3, "drop_above": 1.0, "threshold": 0.6},
    {"unit": "paragraph", "min_words": 30, "drop_above": 0.3},
    {"cut_passages": 20},
    {"cut_passages": 8, "drop_above": 0.5},
    {"cut_passages": 8, "min_count": 30},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("records", [NOTICES, PAGES], ids=["notices", "random"])
def test_rows_are_those_of_the_command_line(
    tmp_path: Path, command_line: CommandLine, records: list[dict[str, str]], options: dict[str, Any]
) -> None:
    (tmp_path / "in.jsonl").write_text("\n".join(json.dumps(record) for record in records))
    flags = [str(part) for name, value in options.items() for part in (f"--{name.replace('_', '-')}", value)]
    written = command_line("-q", "dedup", tmp_path / "in.jsonl", "-o", "-", *flags)
    expected = [json.loads(line) for line in written.splitlines()]
    found = dedupdb.dedup(records, **options)
    assert found.kept == expected
    assert [records[row]["id"] for row in found.indices] == [record["id"] for record in expected]
    changed = [records[row]["id"] for row in found.cut]
    texts = {record["id"]: record["text"] for record in records}
    assert changed == [record["id"] for record in expected if texts[record["id"]] != record["text"]]


def test_parts_are_listed_with_their_copies(tmp_path: Path, command_line: CommandLine) -> None:
    (tmp_path / "in.jsonl").write_text("\n".join(json.dumps(record) for record in PAGES))
    command_line(
        "-q", "dedup", tmp_path / "in.jsonl", "-o", tmp_path / "out.jsonl", "--unit", "paragraph", "--removed",
        tmp_path / "cut.jsonl",
    )  # fmt: skip
    listed = [json.loads(line) for line in (tmp_path / "cut.jsonl").read_text().splitlines()]
    found = dedupdb.dedup(PAGES, unit="paragraph")
    kept, cuts = found
    assert kept == found.kept and cuts is found.dropped
    with pytest.raises(ValueError, match="groups: parts of texts were judged"):
        _ = found.groups
    names = [
        (f"{PAGES[cut['row']]['id']}@{cut['unit'] + 1}", f"{PAGES[cut['earlier']]['id']}@{cut['earlier_unit'] + 1}")
        for cut in cuts
    ]
    assert len(names) > 50
    assert sorted(names) == sorted((line["key"], line["earlier"]) for line in listed)
    for cut in cuts:
        sides = [(cut["row"], cut["unit"]), (cut["earlier"], cut["earlier_unit"])]
        texts = [paragraphs(PAGES[row]["text"])[unit] for row, unit in sides]
        text = PAGES[cut["row"]]["text"].encode()
        assert text[cut["byte_start"] : cut["byte_end"]].decode() == texts[0]
        assert (cut["verdict"] == "exact_copy") == (texts[0] == texts[1])
        assert cut["jaccard"] >= 0.8
    passages = dedupdb.dedup(PAGES, cut_passages=20)
    assert passages.dropped.column_names == ["row", "byte_start", "byte_end"]
    assert set(passages.cut) <= set(passages.dropped["row"])
    assert "rows kept" in repr(found) and "of them cut" in repr(found)


def paragraphs(text: str) -> list[str]:
    found: list[list[str]] = [[]]
    for line in text.split("\n"):
        if line.strip():
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return ["\n".join(lines).strip() for lines in found if lines]


@pytest.mark.parametrize("options", [{"unit": "paragraph"}, {"cut_passages": 12}], ids=str)
def test_other_classes_of_rows(options: dict[str, Any]) -> None:
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    datasets = pytest.importorskip("datasets")
    rows = [{"id": page["id"], "body": page["text"], "n": number} for number, page in enumerate(PAGES)]
    expected = dedupdb.dedup(rows, text="body", **options).kept
    assert len(expected) < len(rows) and expected != rows[: len(expected)]
    table = pa.Table.from_pylist(rows)
    for data in (
        table,
        table.set_column(1, "body", table["body"].dictionary_encode()),
        polars.DataFrame(rows),
        pandas.DataFrame(rows),
        datasets.Dataset.from_list(rows),
    ):
        kept = dedupdb.dedup(data, text="body", **options).kept
        assert type(kept) is type(data)
        if isinstance(kept, pandas.DataFrame):
            assert kept.to_dict("records") == expected
        else:
            assert list((getattr(kept, "to_dicts", None) or getattr(kept, "to_pylist", None) or kept.to_list)()) == (
                expected
            )
    texts = [row["body"] for row in rows]
    assert dedupdb.dedup(texts, **options).kept == [row["body"] for row in expected]
    series = pandas.Series(texts)
    assert list(dedupdb.dedup(series, **options).kept) == [row["body"] for row in expected]
    assert dedupdb.dedup([], **options).keep == []


def test_rows_without_a_text_are_skipped() -> None:
    rows: list[Any] = [None, *[page["text"] for page in PAGES[:40]], 7, *[page["text"] for page in PAGES[40:]]]
    whole = dedupdb.dedup([page["text"] for page in PAGES], unit="paragraph")
    found = dedupdb.dedup(rows, unit="paragraph", errors="skip")
    assert [row for row, _ in found.skipped] == [0, 41]
    assert found.kept == whole.kept
    moved = [row + 1 + (row >= 40) for row in range(len(PAGES))]
    for name in ("row", "earlier"):
        assert found.dropped[name] == [moved[row] for row in whole.dropped[name]]
    with pytest.raises(ValueError, match="row 0: the text is null"):
        dedupdb.dedup(rows, unit="paragraph")


def test_what_is_refused() -> None:
    texts = [page["text"] for page in PAGES]
    refused: list[tuple[dict[str, Any], str]] = [
        ({"unit": "page"}, 'unit: "page"; there are "paragraph" and "line"'),
        ({"unit": "line", "cut_passages": 20}, "unit: it does not go with cut_passages"),
        ({"cut_passages": 7}, "a passage that is cut has at least 8 words"),
        ({"cut_passages": 20, "min_words": 3}, "min_words: it does not go with cut_passages"),
        ({"cut_passages": 20, "threshold": 0.9}, "threshold: it does not go with cut_passages"),
        ({"unit": "line", "keep": "longest"}, "keep: it does not go with unit"),
        ({"unit": "line", "containment": 0.8}, "containment: it does not go with unit"),
        ({"unit": "line", "min_words": -1}, "min_words: -1 is below 0"),
        ({"min_words": 3}, "min_words: it goes with unit"),
        ({"drop_above": 0.5}, "drop_above: it goes with unit or cut_passages"),
        ({"unit": "line", "min_count": 3}, "min_count: it goes with cut_passages"),
        ({"cut_passages": 8, "min_count": 1}, "min_count: 1; a passage that is cut stands at 2 places"),
    ]
    for options, message in refused:
        with pytest.raises(ValueError, match=message):
            dedupdb.dedup(texts, **options)
    parts: list[dict[str, Any]] = [{"unit": "line"}, {"cut_passages": 20}]
    for share in (0.0, 1.5, float("nan")):
        for part in parts:
            with pytest.raises(ValueError, match="the share that a document may lose is above 0 and at most 1"):
                dedupdb.dedup(texts, drop_above=share, **part)


@pytest.mark.parametrize("options", [{"unit": "line"}, {"cut_passages": 20}], ids=str)
def test_a_text_in_a_nested_field_is_not_cut(options: dict[str, Any]) -> None:
    nested = [{"m": {"t": page["text"]}} for page in PAGES]
    for data in (nested, pa.Table.from_pylist(nested), pytest.importorskip("polars").DataFrame(nested)):
        with pytest.raises(ValueError, match=r"text.* is in a list or a nested field"):
            dedupdb.dedup(data, text="m.t", **options)
        with pytest.raises(ValueError, match=r"text.* is in a list or a nested field"):
            dedupdb.decontaminate(data, [PAGES[0]["text"]], text="m.t", action="cut")
    with pytest.raises(ValueError, match=r"there is no 'm\.x'"):
        dedupdb.dedup(nested, text="m.x", **options)
    named = [{"m.t": page["text"]} for page in PAGES]
    assert dedupdb.dedup(named, text="m.t", **options).cut
