"""One session for most tests. Without pyspark or Java nothing here runs, and one line says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from made import Truth, frame
from sessions import missing, session

collect_ignore_glob = ["test_*.py"] if missing() else []


def pytest_report_header() -> str | None:
    return f"dedupdb.spark is not tested: {missing()}" if missing() else None


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    made = session("local[2]", tmp_path_factory.mktemp("spark"))
    yield made
    made.stop()


@pytest.fixture(scope="module")
def truth(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Truth:
    """What a store says of a module's ``DOCUMENTS`` at its ``THRESHOLD``."""
    return Truth(tmp_path_factory.mktemp("truth"), request.module.DOCUMENTS, threshold=request.module.THRESHOLD)


@pytest.fixture(scope="module")
def sketches(request: pytest.FixtureRequest, spark: Any) -> Any:
    """The sketches of the same documents, cached."""
    from dedupdb import spark as dd

    documents = frame(spark, request.module.DOCUMENTS)
    return dd.sketch(documents, key="url", text="body", threshold=request.module.THRESHOLD).persist()
