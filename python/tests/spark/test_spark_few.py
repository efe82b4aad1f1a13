"""Few documents: the pairs that the driver finds are those of a store, and of Spark's stages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made import Truth, documents, frame, rows

from dedupdb import spark as dd
from dedupdb.spark import _few, _pairs

THRESHOLD = 0.7
DOCUMENTS = documents(300, seed=17)


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The walks that Spark is asked for."""
    asked: list[str] = []
    walked: Callable[..., Any] = _pairs.Search.walked

    def noted(self: Any, name: str, *arguments: Any) -> Any:
        asked.append(name)
        return walked(self, name, *arguments)

    monkeypatch.setattr(_pairs.Search, "walked", noted)
    return asked


def test_the_driver_finds_the_pairs_of_a_store(sketches: Any, truth: Truth, walks: list[str]) -> None:
    report: dict[str, int] = {}
    assert rows(dd.pairs(sketches, report=report)) == truth.pairs
    assert any(exact_copy for *_, exact_copy in truth.pairs)
    assert report["candidates"] > 100
    assert (report["large_bucket_contents"], report["passed_over"]) == (0, 0)
    folded = rows(dd.pairs(sketches, fold_copies=True))
    assert rows(dd.clusters(sketches)) == truth.connected
    assert rows(dd.clusters(sketches, linkage="representative")) == truth.representative
    assert rows(dd.dropped(sketches)) == truth.dropped
    assert walks == []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_few, "KEYS", 0)
        assert rows(dd.pairs(sketches, fold_copies=True)) == folded
    assert walks == ["candidates"]


@pytest.mark.parametrize(
    ("module", "limit", "number", "stages"),
    [
        (_few, "KEYS", 17 * len(DOCUMENTS) // 2, 1),
        (_few, "BYTES", 10_000, 1),
        (_few, "PAIRS", 50, 1),
        (_pairs, "_LARGE", 8, 2),
    ],
)
def test_what_is_too_much_for_the_driver_is_left_to_spark(
    sketches: Any,
    truth: Truth,
    walks: list[str],
    monkeypatch: pytest.MonkeyPatch,
    module: Any,
    limit: str,
    number: int,
    stages: int,
) -> None:
    monkeypatch.setattr(module, limit, number)
    report: dict[str, int] = {}
    assert rows(dd.pairs(sketches, report=report)) == truth.pairs
    assert len(walks) == stages
    assert report["candidates"] > 100


def test_many_copies_of_few_texts_are_named_by_spark(
    spark: Any, tmp_path: Path, walks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"{' '.join(f'w{number}' for number in range(60))} end{number % 2}" for number in range(40)]
    made = [(f"doc/{number:02}", text) for number, text in enumerate(texts)]
    truth = Truth(tmp_path, made)
    assert len(truth.pairs) == 40 * 39 // 2
    monkeypatch.setattr(_few, "PAIRS", 39)
    tables: list[Any] = []
    named = _few.Few.named

    def noted(*given: Any) -> Any:
        tables.append(named(*given))
        return tables[-1]

    monkeypatch.setattr(_few.Few, "named", noted)
    assert rows(dd.pairs(dd.sketch(frame(spark, made), key="url", text="body"))) == truth.pairs
    # The one pair of texts was found on the driver.
    assert walks == []
    assert tables == [None]


def test_shingles_that_are_too_much_for_the_driver_are_compared_by_spark(
    sketches: Any, truth: Truth, walks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    verified = _few.Few.verified

    def with_less(*arguments: Any) -> Any:
        monkeypatch.setattr(_few, "BYTES", 1000)
        return verified(*arguments)

    monkeypatch.setattr(_few.Few, "verified", with_less)
    assert rows(dd.pairs(sketches)) == truth.pairs
    assert walks == ["candidates"]


def test_nothing_stays_cached_of_pairs_of_few(spark: Any) -> None:
    cached: Any = spark.sparkContext._jsc
    before = len(cached.getPersistentRDDs())
    found = dd.pairs(dd.sketch(frame(spark, DOCUMENTS), key="url", text="body", threshold=THRESHOLD))
    assert len(cached.getPersistentRDDs()) == before
    assert found.count() > 0
