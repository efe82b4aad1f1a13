"""What the tests share: stores, and the command line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from given import CommandLine

import dedupdb

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def store(path: Path) -> Iterator[dedupdb.Store]:
    with dedupdb.open(path) as opened:
        yield opened


@pytest.fixture(scope="session")
def command_line() -> CommandLine:
    named = os.environ.get("DEDUPDB_PROGRAM")
    folders = [ROOT / "target" / "debug", ROOT / "target" / "release"]
    programs = [Path(named)] if named else [folder / "dedupdb" for folder in folders]
    for program in programs:
        if program.exists():
            return CommandLine(program)
    pytest.skip("the program dedupdb is not built: cargo build")
