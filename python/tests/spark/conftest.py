"""One session for most tests. Without pyspark or Java nothing here runs, and one line says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sessions import missing, session

collect_ignore_glob = ["test_*.py"] if missing() else []


def pytest_report_header() -> str | None:
    return f"dedupdb.spark is not tested: {missing()}" if missing() else None


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    made = session("local[2]", tmp_path_factory.mktemp("spark"))
    yield made
    made.stop()
