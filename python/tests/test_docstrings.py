"""The examples in docstrings."""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

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
    # Markdown marks the examples of native methods as code.
    docstring = re.sub(r"^ *```.*$", "", inspect.getdoc(member) or "", flags=re.MULTILINE)
    assert ">>>" in docstring, f"the docstring of {name} has no example"
    with dedupdb.open("store", passage=5) as store:
        store.add(["tram", "trams"], [f"{NIGHT}.", f"{NIGHT}!"])
        names: dict[str, Any] = {"dedupdb": dedupdb, "store": store}
        test = doctest.DocTestParser().get_doctest(docstring, names, name, None, 0)
        said: list[str] = []
        failures, _ = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert not failures, "".join(said)
