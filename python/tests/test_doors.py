"""`docs/reference/doors.md` names calls and parameters that exist, and every parameter that answers depend on."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import dedupdb
from dedupdb._parameters import Parameters

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "doors.md"

ANSWERING = ["dedup", "decontaminate", "read"]
ANSWERING += [f"Store.{name}" for name in ("add", "query", "like", "passages", "pairs", "clusters")]

# What is judged, and how it is watched.
OF_CALLS = {"self", "data", "texts", "text", "progress", "parameters"}


def calls(column: int) -> list[tuple[str, list[str]]]:
    """The calls in the cells of a column, each with its parameters."""
    rows = [line.strip("|").split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    spans = [span for row in rows for span in re.findall("`([^`]+)`", row[column])]
    found = []
    for span in spans:
        call = re.fullmatch(r"([\w.]+)(?:\((.*)\))?", span)
        assert call, span
        parameters = call[2].split(", ") if call[2] else []
        assert all(parameter.endswith("=") for parameter in parameters), span
        found.append((call[1], [parameter[:-1] for parameter in parameters]))
    assert len(found) > 30
    return found


def resolved(module: Any, name: str) -> Any:
    for part in name.split("."):
        # An attribute that only instances have stands in the source of its class.
        if inspect.isclass(module) and not hasattr(module, part):
            assert f"self.{part}:" in inspect.getsource(module), name
            return None
        module = getattr(module, part)
    return module


def check(module: Any, column: int) -> dict[str, set[str]]:
    """Checks the names of a column, and returns the parameters that it names for each call."""
    named: dict[str, set[str]] = {}
    for name, parameters in calls(column):
        call = resolved(module, name)
        named.setdefault(name, set()).update(parameters)
        if not parameters:
            continue
        known = inspect.signature(call).parameters
        takes_others = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
        for parameter in parameters:
            is_of_schema = takes_others and parameter in Parameters.__annotations__
            assert parameter in known or is_of_schema, f"{name} has no {parameter}"
    return named


def test_calls_of_the_table_exist_and_no_parameter_is_missing() -> None:
    named = check(dedupdb, 3)
    for name in ANSWERING:
        for parameter in set(inspect.signature(resolved(dedupdb, name)).parameters) - OF_CALLS:
            assert parameter in named[name], f"docs/reference/doors.md has no row for {name}({parameter}=)"


def test_functions_of_spark_in_the_table_exist() -> None:
    for module in ("pyspark", "pandas"):
        pytest.importorskip(module)
    check(importlib.import_module("dedupdb.spark"), 4)
