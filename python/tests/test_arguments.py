"""A wrong argument is a TypeError or a ValueError that names it."""

# mypy: disable-error-code="arg-type"

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dedupdb

Call = Callable[[Any, Path], object]

WRONG: dict[str, list[Call]] = {
    "threshold": [
        lambda store, _: store.pairs(threshold="0.9"),
        lambda store, _: store.pairs(threshold=1.5),
        lambda store, _: store.clusters(threshold="0.9"),
        lambda store, _: store.clusters(threshold=0.0),
        lambda store, _: store.query("x", threshold="0.9"),
        lambda store, _: store.query(["x"], threshold=[0.9]),
        lambda store, _: store.query(["x"], threshold=-1.0),
        lambda store, _: store.like("a", threshold="0.9"),
        lambda store, _: store.reindex(threshold="0.9"),
        lambda store, _: dedupdb.dedup(["x"], threshold="0.9"),
        lambda store, _: dedupdb.sign(["x"], threshold=7),
        lambda store, path: dedupdb.open(path, threshold="0.9"),
        lambda store, path: dedupdb.open(path, threshold=float("nan")),
    ],
    "limit": [
        lambda store, _: store.query("x", limit="5"),
        lambda store, _: store.query("x", limit=-1),
        lambda store, _: store.query(["x"], limit=1.5),
        lambda store, _: store.like("a", limit=-1),
        lambda store, _: store.query("x", limit=0),
        lambda store, _: store.passages("x", limit=0),
        lambda store, _: store.common(limit=0),
    ],
    "between": [lambda store, _: store.pairs(between="ab"), lambda store, _: store.pairs(between=("a",))],
    "linkage": [lambda store, _: store.clusters(linkage="complete"), lambda store, _: store.clusters(linkage=1)],
    "min_size": [lambda store, _: store.clusters(min_size="2"), lambda store, _: store.clusters(min_size=-1)],
    "fold_copies": [lambda store, _: store.pairs(fold_copies="no")],
    "containment": [
        lambda store, _: store.pairs(containment="0.8"),
        lambda store, _: store.pairs(containment=0.0),
        lambda store, _: store.clusters(containment=float("nan")),
        lambda store, _: dedupdb.dedup(["x"], containment="0.8"),
    ],
    "shortest": [
        lambda store, _: store.pairs(containment=0.8, shortest=-1),
        lambda store, _: dedupdb.dedup(["x"], containment=0.8, shortest=-1),
    ],
    "exhaustive": [lambda store, _: store.pairs(exhaustive="no")],
    "jaccard": [lambda store, _: store.recall("0.5"), lambda store, _: store.recall(1.5)],
    "key": [
        lambda store, _: store.get(5.0),
        lambda store, _: store.get(None),
        lambda store, _: store[True],
        lambda store, _: store.__delitem__(b"a"),
        lambda store, _: store.remove(["a", 5.0]),
        lambda store, _: store.remove(b"a"),
        lambda store, _: store.remove("a\ud800"),
        lambda store, _: store.insert("\ud800", "x"),
        lambda store, _: store.replace(5.0, "x"),
        lambda store, _: store.rename("a", None),
        lambda store, _: store.add([("a", "x")], key=5),
        lambda store, _: store.insert([("a", "x")], key=5),
    ],
    "keys": [
        lambda store, _: store.remove(5.0),
    ],
    "prefix": [lambda store, _: store.documents(5), lambda store, _: store.documents("\ud800")],
    "text": [
        lambda store, _: store.add([("a", "x")], text=5),
        lambda store, _: store.query(["x"], text=5),
        lambda store, _: dedupdb.dedup(["x"], text=5),
        lambda store, _: dedupdb.dedup(["x"], text=["a", 5]),  # type: ignore[list-item]
        lambda store, _: dedupdb.dedup(["x"], text=[]),
        lambda store, _: store.query("\ud800"),
        lambda store, _: store.insert("b", "\ud800"),
        lambda store, _: store.replace("b", 5),
    ],
    "nearest": [lambda store, _: store.query("x", nearest=0), lambda store, _: store.like("a", nearest=0)],
    "prefer": [lambda store, _: dedupdb.dedup(["x"], prefer={"a": 1.0})],  # type: ignore[dict-item]
    "texts": [lambda store, _: store.query(5), lambda store, _: dedupdb.sign(5)],
    "unique": [lambda store, _: store.add([("a", "x")], unique="yes")],
    "errors": [lambda store, _: store.add([("a", "x")], errors=None), lambda store, _: store.add([], errors="x")],
    "progress": [lambda store, _: store.add([], progress=5), lambda store, _: store.check(progress="x")],
    "other": [lambda store, _: store.merge("a")],
    "path": [
        lambda store, _: store.backup(5),
        lambda store, _: dedupdb.open(5),
        lambda store, _: dedupdb.open(""),
    ],
    "paths": [
        lambda store, _: dedupdb.read(5),
        lambda store, _: dedupdb.read(["a", 5]),  # type: ignore[list-item]
        lambda store, _: dedupdb.read(b"a"),
        lambda store, _: dedupdb.read([b"a"]),  # type: ignore[list-item]
        lambda store, _: dedupdb.read([]),
        lambda store, _: dedupdb.read(["-", "-"]),
        lambda store, _: dedupdb.read([sys.stdin.buffer, "-"]),
    ],
    "text_field": [
        lambda store, path: dedupdb.read(path, text_field=5),
        lambda store, path: dedupdb.read(path, text_field=[]),
    ],
    "id_field": [lambda store, path: dedupdb.read(path, id_field=5)],
    "permutations": [
        lambda store, path: dedupdb.open(path, permutations=-1),
        lambda store, path: dedupdb.open(path, permutations="128"),
        lambda store, path: dedupdb.open(path, permutations=2**70),
        lambda store, _: dedupdb.sign(["x"], permutations=0),
    ],
    "bands": [lambda store, path: dedupdb.open(path, bands="7"), lambda store, path: dedupdb.open(path, bands=(1,))],
    "shingling": [lambda store, path: dedupdb.open(path, shingling="words"), lambda s, p: dedupdb.open(p, shingling=5)],
    "preset": [lambda store, path: dedupdb.open(path, preset="none"), lambda s, p: dedupdb.open(p, preset=5)],
    "wait": [lambda store, path: dedupdb.open(path, wait="soon"), lambda s, path: dedupdb.open(path, wait=-1.0)],
    "threads": [lambda store, path: dedupdb.open(path, threads=-1), lambda s, path: dedupdb.open(path, threads="2")],
    "false_candidates": [
        lambda store, path: dedupdb.open(path, false_candidates=-1),
        lambda store, path: dedupdb.open(path, false_candidates="all"),
    ],
    "keep": [lambda store, _: dedupdb.dedup(["x"], keep="last"), lambda store, _: dedupdb.dedup(["x"], keep=1.5)],
    "format": [lambda store, path: dedupdb.read(path, format="docx"), lambda s, path: dedupdb.read(path, format=5)],
    "encoding": [lambda store, path: dedupdb.read(path, encoding="utf9")],
    "max_document": [
        lambda store, path: dedupdb.read(path, max_document=-1),
        lambda store, path: dedupdb.read(path, max_document="1MB"),
    ],
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_argument_is_named(store: dedupdb.Store, tmp_path: Path, name: str) -> None:
    store.add("a", "a text")
    for number, call in enumerate(WRONG[name]):
        try:
            call(store, tmp_path / f"other{number}")
        except (TypeError, ValueError) as error:
            assert name in str(error), error
        else:
            raise AssertionError(f"{number}: it was taken")
    assert list(store) == ["a"]
