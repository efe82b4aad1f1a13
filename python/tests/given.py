"""Texts, their keys, and the command line, for the tests."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from typing import Any

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
