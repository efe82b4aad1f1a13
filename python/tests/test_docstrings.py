"""The examples in docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from given import run_examples

import dedupdb
import dedupdb.datasketch

NIGHT = "The night tram runs again from Friday on"


def documented() -> Iterator[tuple[str, Any]]:
    """Each public function, class and method, by its name."""
    for module in (dedupdb, dedupdb.datasketch):
        for name in module.__all__:
            member = getattr(module, name)
            if not callable(member) or (inspect.isclass(member) and issubclass(member, (tuple, Exception))):
                continue
            yield f"{module.__name__}.{name}", member
    for name, member in vars(dedupdb.Store).items():
        if not name.startswith("_") and callable(member):
            yield f"dedupdb.Store.{name}", member


@pytest.mark.parametrize(("name", "member"), [pytest.param(*each, id=each[0]) for each in documented()])
def test_an_example(name: str, member: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with dedupdb.open("store", passage=5) as store:
        store.add(["tram", "trams"], [f"{NIGHT}.", f"{NIGHT}!"])
        run_examples(name, member, {"dedupdb": dedupdb, "store": store})
