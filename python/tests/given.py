"""Texts, their keys, the command line, and examples, for the tests."""

from __future__ import annotations

import doctest
import inspect
import json
import random
import re
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


def run_examples(name: str, member: Any, names: dict[str, Any]) -> None:
    """Runs the examples of a docstring, in which these names are known."""
    # Markdown marks the examples of native methods as code.
    docstring = re.sub(r"^ *```.*$", "", inspect.getdoc(member) or "", flags=re.MULTILINE)
    assert ">>>" in docstring, f"the docstring of {name} has no example"
    test = doctest.DocTestParser().get_doctest(docstring, names, name, None, 0)
    said: list[str] = []
    failures, _ = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert not failures, "".join(said)


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
