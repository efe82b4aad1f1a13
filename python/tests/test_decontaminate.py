"""Which rows have items of a benchmark: as the command line finds them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from given import CommandLine, keys, texts

import dedupdb

pa = pytest.importorskip("pyarrow")

KEYS, TEXTS = keys(200), texts(200)


def benchmark() -> list[dict[str, str]]:
    """Parts of some of the texts, and others."""
    sources = [text for text in TEXTS if len(text.split()) > 40][::9]
    parts = [" ".join(text.split()[3:30]).upper() for text in sources]
    answers = [" ".join(text.split()[5:15]) for text in sources]
    nowhere = "a question about nothing that is in any of these texts at all"
    rows = [{"q": part, "a": answer} for part, answer in zip(parts, answers, strict=True)]
    return [*rows, {"q": nowhere, "a": "no"}, {"q": rows[2]["q"], "a": "yes, for sure"}]


def test_the_rows_are_those_of_the_command_line(tmp_path: Path, command_line: CommandLine) -> None:
    items = benchmark()
    table = pa.table({"id": KEYS, "text": TEXTS})
    found = dedupdb.decontaminate(table, pa.Table.from_pylist(items), against_text=["q", "a"])
    assert 10 < found.keep.count(False) < 180
    assert found.kept == table.filter(pa.array(found.keep))
    reasons = {(row, field) for row, field, _ in found.unchecked}
    assert reasons == {(len(items) - 2, "a"), (len(items) - 1, "a")}

    lines = [json.dumps({"id": row, **item}) for row, item in enumerate(items)]
    (tmp_path / "bench.jsonl").write_text("\n".join(lines))
    rows = zip(KEYS, TEXTS, strict=True)
    (tmp_path / "train.jsonl").write_text("\n".join(json.dumps({"id": key, "text": text}) for key, text in rows))
    fields = ["--against-field", "q", "--against-field", "a"]
    paths = [tmp_path / "train.jsonl", "--against", tmp_path / "bench.jsonl"]
    ran = command_line("--json", "decontaminate", *paths, *fields)
    expected = [json.loads(line) for line in ran.splitlines()]
    names = ["field", "words", "longest", "coverage", "share", "byte_start", "byte_end", "text"]
    columns = [found.hits[name] for name in names]
    row, item = found.hits["row"], found.hits["item"]
    hits = zip([KEYS[number] for number in row], map(str, item), *columns, strict=True)
    fields = ["document", "item", "field", "words", "longest", "coverage", "share", "start", "end", "text"]
    assert sorted(hits) == sorted(tuple(hit[field] for field in fields) for hit in expected)


def test_other_classes_of_rows_and_benchmarks() -> None:
    items = [item["q"] for item in benchmark()]
    kept, hits = dedupdb.decontaminate(TEXTS, items)
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"id": KEYS, "body": TEXTS})
    other = dedupdb.decontaminate(frame, iter(items), text="body")
    assert other.kept["body"].to_list() == kept
    assert other.hits["text"] == hits["text"]
    generated: Any = ({"text": text} for text in TEXTS)
    assert dedupdb.decontaminate(generated, polars.DataFrame({"text": items})).keep == other.keep
    assert [TEXTS[row] for row in other.indices] == kept
    assert dedupdb.decontaminate([], items).keep == []


def test_each_string_of_a_list_is_an_item() -> None:
    first, second, third = [" ".join(text.split()[:20]) for text in TEXTS if len(text.split()) > 40][:3]
    rows: list[dict[str, Any]] = [{"choices": ["no", first]}, {"choices": []}, {"choices": [second, "yes", third]}]
    polars = pytest.importorskip("polars")
    pandas = pytest.importorskip("pandas")
    for benchmark in (rows, pa.Table.from_pylist(rows), polars.DataFrame(rows), pandas.DataFrame(rows)):
        found = dedupdb.decontaminate([third, first, second], benchmark, against_text="choices")
        hits = zip(found.hits["row"], found.hits["item"], found.hits["field"], strict=True)
        assert sorted(hits) == [(0, 2, "choices[2]"), (1, 0, "choices[1]"), (2, 2, "choices[0]")]
        assert [(row, field) for row, field, _ in found.unchecked] == [(0, "choices[0]"), (2, "choices[1]")]
    with pytest.raises(ValueError, match='row 0, "choices": the text is a list of other values, not a string'):
        dedupdb.decontaminate([first], [{"choices": [first, 1]}], against_text="choices")
    with pytest.raises(ValueError, match="a list of other values"):
        dedupdb.decontaminate([first], pa.table({"choices": [[1, 2]]}), against_text="choices")


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="no text of 5 words or more"):
        dedupdb.decontaminate(TEXTS, ["only three words"])
    with pytest.raises(ValueError, match="no text of 5 words or more"):
        dedupdb.decontaminate(TEXTS, [])
    with pytest.raises(ValueError, match="a passage has at least 5 words, not 4"):
        dedupdb.decontaminate(TEXTS, TEXTS[:3], passage=4)
    for containment in [0.0, 1.5, float("nan")]:
        with pytest.raises(ValueError, match="containment is above 0 and at most 1"):
            dedupdb.decontaminate(TEXTS, TEXTS[:3], containment=containment)
    items: Any = [{"q": TEXTS[0], "a": None}]
    message = r"against: row 0, .text.: .* there is no .text.; there are 'q', 'a' \(against_text names the fields\)"
    with pytest.raises(ValueError, match=message):
        dedupdb.decontaminate(TEXTS, items)
    with pytest.raises(ValueError, match=r"against: row 0, .a.: the text is null"):
        dedupdb.decontaminate(TEXTS, items, against_text=["q", "a"])
    found = dedupdb.decontaminate(TEXTS, items, against_text=["q", "a"], errors="skip")
    assert [row for row, _, _ in found.unchecked] == [0]
    reader = pa.table({"q": TEXTS[:3], "a": TEXTS[3:6]}).to_reader()
    with pytest.raises(ValueError, match="can be read only once"):
        dedupdb.decontaminate(TEXTS, reader, against_text=["q", "a"])


def test_items_are_cut_as_on_the_command_line(tmp_path: Path, command_line: CommandLine) -> None:
    items = [item["q"] for item in benchmark()]
    rows = [{"id": key, "body": f"{text}.\nAnother line stays."} for key, text in zip(KEYS, TEXTS, strict=True)]
    (tmp_path / "bench.jsonl").write_text("\n".join(json.dumps({"text": item}) for item in items))
    (tmp_path / "train.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    paths = [tmp_path / "train.jsonl", "--against", tmp_path / "bench.jsonl", "-o", "-"]
    fields = ["--text-field", "body", "--against-field", "text", "--action", "cut", "--margin", "2"]
    written = command_line("-q", "decontaminate", *paths, *fields)
    expected = [json.loads(line) for line in written.splitlines()]

    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    datasets = pytest.importorskip("datasets")
    table = pa.Table.from_pylist(rows)
    texts = table["body"].cast(pa.large_string())
    for data in (
        rows,
        table,
        table.set_column(1, "body", texts.dictionary_encode()),
        polars.DataFrame(rows),
        pandas.DataFrame(rows),
        datasets.Dataset.from_list(rows),
    ):
        found = dedupdb.decontaminate(data, items, text="body", action="cut", margin=2)
        as_rows = getattr(found.kept, "to_dicts", None) or getattr(found.kept, "to_pylist", None)
        if isinstance(found.kept, pandas.DataFrame):
            kept = found.kept.to_dict("records")
        else:
            kept = as_rows() if as_rows else list(found.kept)
        assert kept == expected
        assert type(found.kept) is type(data)
        assert 10 < len(found.cut) < 180 and all(found.keep[row] for row in found.cut)
        assert set(found.cut) <= set(found.hits["row"])
    bodies = [row["body"] for row in rows]
    left = [row["body"] for row in expected]
    assert dedupdb.decontaminate(bodies, items, action="cut", margin=2).kept == left
    series = pandas.Series(bodies, index=KEYS)
    assert list(dedupdb.decontaminate(series, items, action="cut", margin=2).kept) == left
    with pytest.raises(ValueError, match="margin"):
        dedupdb.decontaminate(rows, items, text="body", margin=2)
    with pytest.raises(ValueError, match="action"):
        dedupdb.decontaminate(rows, items, text="body", action="mark")  # type: ignore[arg-type]


def test_what_is_ignored_is_no_part_of_an_item() -> None:
    form = "answer the following question about the harbour with a single word and give no reasons at all"
    items = [f"{form}: who painted the crane in the harbour in the colours of a parrot?", f"{form}: why?"]
    rows = [f"{form}: and something else", "It asks who painted the crane in the harbour in the colours of a parrot."]
    assert dedupdb.decontaminate(rows, items).keep == [False, False]
    for ignore in (form, [form], [{"text": form}]):
        found = dedupdb.decontaminate(rows, items, ignore=ignore)
        assert found.keep == [True, False]
        assert found.unchecked == [(1, "text", "without what is ignored, it has fewer than 5 words")]
    with pytest.raises(ValueError, match="it has no text of 5 words"):
        dedupdb.decontaminate(rows, items[1:], ignore=form)
    wrong: Any = 5
    with pytest.raises(TypeError, match="ignore"):
        dedupdb.decontaminate(rows, items, ignore=wrong)
