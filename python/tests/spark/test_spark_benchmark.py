"""Rows that have items of a benchmark are those that one machine finds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from given import CommandLine
from made import documents, frame, rows

import dedupdb
from dedupdb import _native, cluster
from dedupdb import spark as dd

DOCUMENTS = [(key, text) for key, text in documents(400, seed=5) if text]
KEYS, TEXTS = [key for key, _ in DOCUMENTS], [text for _, text in DOCUMENTS]


def questions() -> pa.Table:
    """Parts of some of the texts, some of them with other words, and others."""
    sources = [text.split() for text in TEXTS if len(text.split()) > 45][::7]
    parts = [" ".join(["why", *words[2:9], "Other", *words[10:24], "?"]) for words in sources]
    answers = [" ".join(words[5:15]) for words in sources]
    return pa.table(
        {
            "name": [*(f"q{number}" for number in range(len(parts))), "none", "same"],
            "q": [*parts, "a question about nothing that is in any of the texts", parts[1]],
            "a": [*answers, "no", "yes, for sure"],
        }
    )


QUESTIONS = questions()
FIELDS = ["q", "a"]


def expected(**options: Any) -> Any:
    table = pa.table({"url": KEYS, "body": TEXTS})
    return dedupdb.decontaminate(table, QUESTIONS, text="body", against_text=FIELDS, **options)


@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_rows_and_hits_are_those_of_one_machine(spark: Any, partitions: int) -> None:
    truth = expected()
    assert 20 < truth.keep.count(False) < len(TEXTS) - 20
    df = frame(spark, DOCUMENTS, partitions)
    report: dict[str, int] = {}
    kept = dd.decontaminate(df, QUESTIONS, text="body", against_text=FIELDS, report=report)
    assert (kept.schema, report) == (df.schema, {"items": 2 * len(QUESTIONS), "unchecked": 2})
    # Rows of the same text are rows nevertheless.
    assert sorted(map(tuple, kept.collect())) == sorted(zip(*truth.kept.to_pydict().values(), strict=True))
    found = dd.hits(df, QUESTIONS, key="url", text="body", against_text=FIELDS)
    assert sorted(map(tuple, found.collect())) == sorted(named(truth))
    cut = dd.decontaminate(df, QUESTIONS, text="body", against_text=FIELDS, action="cut", margin=1)
    truth = expected(action="cut", margin=1)
    assert len(truth.cut) > 20
    assert sorted(map(tuple, cut.collect())) == sorted(zip(*truth.kept.to_pydict().values(), strict=True))


def named(truth: Any) -> list[tuple[Any, ...]]:
    """The hits of one machine, with the keys of the rows and the numbers of the items as text."""
    hits = (tuple(hit.values()) for hit in truth.hits)
    return [(KEYS[row], str(item), *others) for row, item, *others in hits]


def test_marks_are_those_of_the_command_line(spark: Any, tmp_path: Path, command_line: CommandLine) -> None:
    lines = [json.dumps({"id": row.pop("name"), **row}) for row in QUESTIONS.to_pylist()]
    (tmp_path / "bench.jsonl").write_text("\n".join(lines))
    (tmp_path / "train.jsonl").write_text("\n".join(json.dumps({"id": key, "text": text}) for key, text in DOCUMENTS))
    paths = [tmp_path / "train.jsonl", "--against", tmp_path / "bench.jsonl", "-o", "-", "--action", "mark"]
    fields = ["--against-field", "q", "--against-field", "a"]
    written = command_line("-q", "decontaminate", *paths, *fields)
    names = ["id", *cluster.marks("benchmark")]
    truth = sorted(tuple(json.loads(line)[name] for name in names) for line in written.splitlines())
    df = frame(spark, [*DOCUMENTS, ("null", None)])
    options: dict[str, Any] = {"text": "body", "against_text": FIELDS, "against_key": "name"}
    marked = dd.decontaminate(df, QUESTIONS, action="mark", **options)
    assert marked.columns == ["url", "body", *names[1:]]
    found = sorted(tuple(row) for row in marked.drop("body").collect())
    assert found == sorted([*truth, ("null", None, None, None, None)])
    assert {keep for _, keep, *_ in truth} == {True, False}
    other = dd.decontaminate(df, QUESTIONS, action="mark", mark="exam", **options)
    assert other.columns[2:] == cluster.marks("exam")
    with pytest.raises(ValueError, match="mark: there is a column 'exam_keep'"):
        dd.decontaminate(other, QUESTIONS, action="mark", mark="exam", **options)


def test_the_benchmark_may_be_any_table(spark: Any) -> None:
    df = frame(spark, DOCUMENTS)
    items = QUESTIONS["q"].to_pylist()
    truth = rows(dd.hits(df, QUESTIONS, key="url", text="body", against_text="q", against_key="name"))
    options: dict[str, Any] = {"key": "url", "text": "body"}
    for bench in (QUESTIONS.to_pandas(), spark.createDataFrame(QUESTIONS.to_pandas()), QUESTIONS.to_pylist()):
        assert rows(dd.hits(df, bench, against_text="q", against_key="name", **options)) == truth
    numbers = {name: str(number) for number, name in enumerate(QUESTIONS["name"].to_pylist())}
    numbered = {(key, numbers[item], "text", *others) for key, item, _, *others in truth}
    assert rows(dd.hits(df, items, **options)) == numbered
    assert rows(dd.hits(df, pd.Series(items), **options)) == numbered


def test_other_columns_and_null_texts_stay(spark: Any) -> None:
    from pyspark.sql import functions as F

    odd = [*DOCUMENTS, ("null", None), (None, QUESTIONS["q"][0].as_py()), ("empty", "")]
    df = frame(spark, odd).select(
        F.map_from_arrays(F.array(F.lit("k")), F.array("url")).alias("map"),
        F.col("body").alias("the.text"),
        F.current_timestamp().alias("at"),
        "url",
    )
    kept = dd.decontaminate(df, QUESTIONS, text="the.text", against_text=FIELDS, action="cut")
    assert kept.schema == df.schema
    keys = {row["url"] for row in kept.collect()}
    assert {"null", "empty"} < keys and None not in keys
    assert all(row["map"] == {"k": row["url"]} for row in kept.collect())
    found = dd.hits(df, QUESTIONS, key="url", text="the.text", against_text=FIELDS)
    assert None in {row["key"] for row in found.collect()}


def test_a_process_makes_one_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not one for each batch or partition."""
    benchmark = cluster.benchmark(QUESTIONS, against_text=FIELDS)
    made: list[Any] = []
    index = _native.ClusterBenchmark

    def noted(*given: Any) -> Any:
        made.append(index(*given))
        return made[-1]

    monkeypatch.setattr(_native, "ClusterBenchmark", noted)
    batches = pa.table({"key": KEYS, "text": TEXTS}).to_batches(max_chunksize=50)
    for _ in range(3):
        found = pa.Table.from_batches(cluster.hits(batches, benchmark))
    assert len(made) == 1
    assert [tuple(hit.values()) for hit in found.to_pylist()] == named(expected())


def test_large_batches_are_looked_through_in_parts() -> None:
    benchmark = cluster.benchmark(["one two three four five six"])
    texts = ["one two three four five six seven" if row % 3 else "one two" for row in range(5000)]
    batch = pa.record_batch({"key": [str(row) for row in range(5000)], "text": texts})
    parts = list(cluster.hits([batch], benchmark))
    assert max(part.num_rows for part in parts) <= 1024
    assert [int(key) for part in parts for key in part["key"].to_pylist()] == [row for row in range(5000) if row % 3]


def test_what_is_refused(spark: Any) -> None:
    df = frame(spark, DOCUMENTS)
    refused: list[tuple[dict[str, Any], str]] = [
        ({"text": "content"}, "text: there is no column 'content'; there are 'url', 'body'"),
        ({"action": "list"}, 'action: .list.; there are "drop", "cut" and "mark"'),
        ({"margin": 3}, 'margin: it goes with action="cut"'),
        ({"margin": -1, "action": "cut"}, "margin: -1 is below 0"),
        ({"passage": 4}, "a passage has at least 5 words, not 4"),
        ({"containment": 0.0}, "containment is above 0 and at most 1"),
        ({"against_text": "question"}, 'there is no column "question"'),
        ({"against_key": "id"}, 'there is no column "id"'),
    ]
    for options, message in refused:
        given: Any = {"text": "body", "against_text": "q", **options}
        with pytest.raises(ValueError, match=message):
            dd.decontaminate(df, QUESTIONS, **given)
    with pytest.raises(ValueError, match="no text of 5 words or more to look for"):
        dd.decontaminate(df, ["too short"], text="body")
    with pytest.raises(ValueError, match="no text of 5 words or more to look for"):
        dd.hits(df, spark.createDataFrame([], "text string"), key="url", text="body")
    with pytest.raises(ValueError, match=r"against: row 1, .text.: the text is null"):
        dd.decontaminate(df, [TEXTS[0], None], text="body")
    report: dict[str, int] = {}
    skipping = dd.decontaminate(df, [TEXTS[0], None, "no"], text="body", errors="skip", report=report)
    assert report == {"items": 3, "unchecked": 2}
    assert skipping.count() < len(DOCUMENTS)
    numbers = df.selectExpr("url", "length(body) as body")
    with pytest.raises(ValueError, match="text: the column 'body' has values of int, not strings"):
        dd.decontaminate(numbers, QUESTIONS, text="body", against_text="q")
    with pytest.raises(TypeError, match=r"and not a DataFrame of pyspark\.sql"):
        dd.decontaminate(df.toPandas(), QUESTIONS, text="body")
