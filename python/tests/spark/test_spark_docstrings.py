"""The examples in docstrings of ``dedupdb.spark``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from given import run_examples

from dedupdb import spark as dd

TRAM = (
    "The night tram runs again from Friday on, every half hour until the first train in the morning, and it stops at "
    "each corner of the old town."
)
DOCUMENTS = [
    ("tram", TRAM),
    ("trams", f"{TRAM} Really."),
    ("crane", "Nobody in the town remembers who painted the crane in the harbour, or when."),
]


@pytest.mark.parametrize("name", dd.__all__)
def test_an_example(name: str, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    df = spark.createDataFrame(DOCUMENTS, "id string, text string")
    run_examples(f"dedupdb.spark.{name}", getattr(dd, name), {"spark": spark, "df": df})
