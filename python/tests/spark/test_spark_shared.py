"""Pairs of documents that share a passage are those of a store."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest
from given import CommandLine
from made import documents, frame, rows

from dedupdb import spark as dd

WORDS = [f"w{number}" for number in range(3000)]


def quoting(count: int = 300, seed: int = 2) -> list[tuple[str, str]]:
    """Documents that quote others at any place, themselves, and in other case."""
    draw = random.Random(seed)
    made = documents(count // 3, seed)
    while len(made) < count:
        parts: list[str] = []
        for _ in range(draw.randint(1, 4)):
            words = draw.choice(made)[1].split() or ["w"]
            start = draw.randrange(len(words))
            quoted = words[start : start + draw.randint(10, 60)]
            parts += draw.choices(WORDS, k=draw.randint(1, 30))
            parts += [word.upper() for word in quoted] if draw.random() < 0.3 else quoted
        made.append((f"{'ba'[len(made) % 2]}/{len(made):05}", " ".join(parts)))
    return made


DOCUMENTS = quoting()


def truth(folder: Path, command_line: CommandLine, made: list[tuple[str, str]], passage: int = 20) -> Any:
    """What the command line ranks, without pairs by chance, whose texts have no run of words in common."""
    lines = [json.dumps({"id": key, "text": text}) for key, text in made]
    (folder / "in.jsonl").write_text("\n".join(lines))
    store = ("--store", folder / "truth")
    command_line(*store, "init", "--passage", passage)
    command_line(*store, "add", "-q", folder / "in.jsonl")
    listed = command_line.objects(*store, "pairs", "-q", "--passages", "--all", "--from", folder / "in.jsonl")
    names = ("key_a", "key_b", "longest", "coverage_a", "coverage_b")
    runs = {key: runs_of(text, passage) for key, text in made}
    common = [pair for pair in listed if runs[pair["key_a"]] & runs[pair["key_b"]]]
    assert len(common) > 0.95 * len(listed)
    pairs = itertools.combinations(sorted(runs), 2)
    assert len(common) == sum(not runs[a].isdisjoint(runs[b]) for a, b in pairs)
    return {tuple(pair[name] for name in names) for pair in common}


def runs_of(text: str, words: int) -> set[str]:
    """The runs of this number of words."""
    tokens = text.lower().split()
    return {" ".join(tokens[start : start + words]) for start in range(len(tokens) - words + 1)}


@pytest.mark.parametrize("passage", [20, 8])
def test_pairs_are_those_of_a_store(spark: Any, tmp_path: Path, command_line: CommandLine, passage: int) -> None:
    expected = truth(tmp_path, command_line, DOCUMENTS, passage)
    report: dict[str, int] = {}
    found = dd.shared(frame(spark, DOCUMENTS), key="url", text="body", passage=passage, report=report)
    assert rows(found) == expected
    assert 300 < len(expected) < len(DOCUMENTS) ** 2 // 4
    assert report["candidates"] < 2 * len(expected) and report["passed_over"] == 0
    assert any(longest < 30 for _, _, longest, *_ in expected)


@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_answers_do_not_depend_on_partitions(
    spark: Any, tmp_path: Path, command_line: CommandLine, partitions: int
) -> None:
    made = DOCUMENTS[:150]
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    try:
        found = rows(dd.shared(frame(spark, made, partitions), key="url", text="body"))
        assert found == truth(tmp_path, command_line, made)
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)


def test_copies_short_and_null_texts(spark: Any, tmp_path: Path, command_line: CommandLine) -> None:
    text = " ".join(WORDS[:25])
    made = [("b", text), ("a", text), ("c", f"x {text}"), ("d", " ".join(WORDS[:19])), ("e", " ".join(WORDS[:19]))]
    made += [("f", ""), ("g", ""), ("h", " ".join(WORDS[5:25]))]
    expected = truth(tmp_path, command_line, made)
    assert ("a", "b", 25, 1.0, 1.0) in expected and len(expected) == 6
    odd: list[Any] = [("n", None), (None, text)]
    assert rows(dd.shared(frame(spark, [*made, *odd]), key="url", text="body")) == expected
    assert dd.shared(frame(spark, []), key="url", text="body").collect() == []


def test_what_many_texts_share_is_passed_over_and_counted(spark: Any) -> None:
    licence = " ".join(WORDS[:40])
    made = [
        (f"{number:03}", f"{licence} {' '.join(f'x{number}y{place}' for place in range(number))}")
        for number in range(60)
    ]
    report: dict[str, int] = {}
    with pytest.warns(UserWarning, match="were passed over: more than 5 others have it; a larger most="):
        found = rows(dd.shared(frame(spark, made), key="url", text="body", most=5, report=report))
    assert len(found) == report["candidates"] < 60 * 6
    assert report["passed_over"] > 0
    assert len(rows(dd.shared(frame(spark, made), key="url", text="body"))) == 60 * 59 // 2


def test_what_is_refused(spark: Any) -> None:
    df = frame(spark, DOCUMENTS)
    with pytest.raises(ValueError, match="passage: it is 0, so no passage is looked for"):
        dd.shared(df, key="url", text="body", passage=0)
    with pytest.raises(ValueError, match="most: 0 is below 1"):
        dd.shared(df, key="url", text="body", most=0)
    with pytest.raises(TypeError, match=r"there is no parameter .pasage."):
        dd.shared(df, key="url", text="body", pasage=30)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="'a/00201' is the key of several documents"):
        dd.shared(frame(spark, [*DOCUMENTS, ("a/00201", "x")]), key="url", text="body")
    with pytest.raises(TypeError, match=r"and not a DataFrame of pyspark\.sql"):
        dd.shared(df.toPandas(), key="url", text="body")
