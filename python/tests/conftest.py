"""What the tests share: texts, stores, and the command line."""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dedupdb

ROOT = Path(__file__).resolve().parents[2]
WORDS = [f"word{number}" for number in range(500)]


def texts(count: int, seed: int = 1) -> list[str]:
    """Texts of which about a third are near-copies of others, and some are copies."""
    draw = random.Random(seed)
    made: list[str] = []
    for number in range(count):
        kind = draw.random()
        if made and kind < 0.3:
            words = draw.choice(made).split()
            words[draw.randrange(len(words))] = f"changed{number}"
            made.append(" ".join(words))
        elif made and kind < 0.35:
            made.append(draw.choice(made))
        else:
            made.append(" ".join(draw.choices(WORDS, k=draw.randint(3, 80))))
    return made


def keys(count: int) -> list[str]:
    return [f"doc/{number:05}" for number in range(count)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def store(path: Path) -> Iterator[dedupdb.Store]:
    with dedupdb.open(path) as opened:
        yield opened


class CommandLine:
    """The program `dedupdb`."""

    def __init__(self, program: Path) -> None:
        self.program = program

    def __call__(self, *arguments: object) -> str:
        command = [str(self.program), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), done.stderr
        return done.stdout

    def objects(self, *arguments: object) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self("--json", *arguments).splitlines()]


@pytest.fixture(scope="session")
def command_line() -> CommandLine:
    named = os.environ.get("DEDUPDB_PROGRAM")
    folders = [ROOT / "target" / "debug", ROOT / "target" / "release"]
    programs = [Path(named)] if named else [folder / "dedupdb" for folder in folders]
    for program in programs:
        if program.exists():
            return CommandLine(program)
    pytest.skip("the program dedupdb is not built: cargo build")
