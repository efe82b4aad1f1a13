"""Warnings point at the line of the caller, and say what the command line says."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from given import CommandLine, keys, texts

import dedupdb

if TYPE_CHECKING:
    from dedupdb._parameters import Parameters

TEXTS = texts(300)


def test_a_threshold_below_the_store_s(store: dedupdb.Store) -> None:
    store.add(keys(300), TEXTS)
    calls: dict[str, Callable[[float | None], object]] = {
        "pairs": lambda threshold: store.pairs(threshold=threshold),
        "clusters": lambda threshold: store.clusters(threshold=threshold),
        "query": lambda threshold: store.query(TEXTS[0], threshold=threshold),
        "queries": lambda threshold: store.query(TEXTS[:9], threshold=threshold),
        "like": lambda threshold: store.like("doc/00000", threshold=threshold),
    }
    what = r"0.5 is below the store's threshold, 0.8: [\d.]+% of the pairs at 0.5 share a bucket; the others are missed"
    for name, call in calls.items():
        is_of_all = name in ("pairs", "clusters")
        remedy = "exhaustive=True finds all of them" if is_of_all else r"store.reindex\(threshold=...\)"
        with pytest.warns(UserWarning, match=f"{what}; .*{remedy}"):
            call(0.5)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            call(None)
            call(0.8)
            store.pairs(threshold=0.5, exhaustive=True)
            store.clusters(threshold=0.5, exhaustive=True)
            with pytest.raises(dedupdb.errors.InvalidQuery):
                call(-0.5)


def test_the_words_are_those_of_the_command(store: dedupdb.Store, path: Path, command_line: CommandLine) -> None:
    store.add(keys(300), TEXTS)
    with pytest.warns(UserWarning) as told:
        store.pairs(threshold=0.5)
    store.close()
    command = [str(command_line.program), "--store", str(path), "pairs", "--threshold", "0.5"]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    assert str(told[0].message).partition("; exhaustive")[0] in said


def test_rows_kept_out_because_of_a_replaced_text(store: dedupdb.Store) -> None:
    store.add("x", TEXTS[0])
    with pytest.warns(UserWarning, match="1 row was kept out because of documents that later rows replaced"):
        table = store.insert(["y", "x"], [TEXTS[0], TEXTS[1]])
    assert table["verdict"] == ["exact_copy", "updated"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert store.add(["y", "z"], [TEXTS[0], TEXTS[0]], unique=True).added == 1


def test_warnings_point_at_the_caller(store: dedupdb.Store, tmp_path: Path) -> None:
    file = tmp_path / "texts.jsonl"
    file.write_text('{"id": "a", "text": "one two three"}\nbroken\n')
    crowd = [f"{' '.join(f'common{word}' for word in range(60))} own{row} own{row + 1000}" for row in range(60)]
    alike: Parameters = {"threshold": 0.99, "bands": "128x1", "shingling": "word:1"}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        before = sys._getframe().f_lineno
        store.pairs(threshold=0.5)
        store.add(dedupdb.read(file))
        dedupdb.dedup(dedupdb.read(file))
        dedupdb.sign(dedupdb.read(file))
        dedupdb.dedup(crowd, false_candidates=1, **alike)
    assert [(warning.filename, warning.lineno - before) for warning in told] == [(__file__, at) for at in range(1, 6)]


def test_records_read_as_one_text(tmp_path: Path) -> None:
    for text, what in [("[1, 2]", "a JSON array is read.* format=.json."), ("[null, {}]", None)]:
        file = tmp_path / "a.json"
        file.write_text(text)
        if what is None:
            with pytest.raises(ValueError, match="not a JSON object"):
                list(dedupdb.read(file))
        else:
            with pytest.warns(UserWarning, match=what):
                assert len(list(dedupdb.read(file))) == 1
