"""The package beside the command line, the crate and other libraries, on a corpus of yours.

    python benches/compare.py CORPUS.jsonl --program ../target/release/dedupdb --ask ASK --wheel WHEEL

CORPUS.jsonl has an object a line with the fields ``id`` (unique) and ``text``. Each figure is the median of the
ratios of both sides, which take turns in one run, of wall time and of processor time; the latter is what to look
at while the machine does other work. What is not there is left out: a library that is not installed,
the program, the crate's bench ``ask`` (``cargo bench --bench ask --no-run`` tells where it is), the wheel. Install
the wheel of ``maturin build --release`` first. The peers are called as their own benchmarks call them, on word
5-shingles that Python makes, as their users do.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import dedupdb

CALLS, BLOCKS = 500, 20


def shingles(text: str) -> list[str]:
    """The distinct word 5-shingles of a text; below 5 words, one."""
    words = re.findall(r"\w+", text.lower())
    if len(words) < 5:
        return [" ".join(words)]
    return list(dict.fromkeys(map(" ".join, zip(words, words[1:], words[2:], words[3:], words[4:], strict=False))))


class Taken(NamedTuple):
    """Seconds that something takes."""

    wall: float
    processor: float
    """Of all threads, and of processes that were waited for."""


def processor() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def clocked(work: Callable[[], object]) -> Taken:
    """What work takes."""
    start = time.perf_counter(), processor()
    work()
    return Taken(time.perf_counter() - start[0], processor() - start[1])


def rensa(texts: list[str]) -> int:
    """The pipeline of rensa's own benchmark: a rho matrix and flags. It says which texts have a duplicate."""
    import rensa

    documents = [shingles(text) for text in texts]
    matrix = rensa.RMinHash.digest_matrix_from_token_sets_rho(documents, num_perm=128, seed=42)
    index = rensa.RMinHashLSH(threshold=0.8, num_perm=128, num_bands=16)
    return sum(index.query_duplicate_flags_matrix_one_shot(matrix))


def datasketch(texts: list[str]) -> int:
    """The loop of its documentation: ask, and insert what is new."""
    import datasketch

    index = datasketch.MinHashLSH(threshold=0.8, num_perm=128)
    sets = ([token.encode() for token in shingles(text)] for text in texts)
    dropped = 0
    for row, minhash in enumerate(datasketch.MinHash.generator(sets, num_perm=128)):
        if index.query(minhash):
            dropped += 1
        else:
            index.insert(row, minhash, check_duplication=False)
    return dropped


class Bench:
    """Both sides of each figure, on one corpus."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.corpus: Path = arguments.corpus
        self.program: str | None = arguments.program
        self.ask: str | None = arguments.ask
        with self.corpus.open(encoding="utf-8") as lines:
            documents = [json.loads(line) for line in lines]
        self.keys: list[str] = [str(document["id"]) for document in documents]
        self.texts: list[str] = [document["text"] for document in documents]
        try:
            import pyarrow

            self.table: Any = pyarrow.table({"id": self.keys, "text": self.texts})
        except ImportError:
            self.table = None

    def command_line(self, folder: Path) -> Taken:
        """`dedupdb add` of the same file."""
        command = [str(self.program), "--store", str(folder / "store"), "--quiet", "add", str(self.corpus)]
        return clocked(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))

    def adding(self, folder: Path, *documents: Any) -> Taken:
        """Making a store, adding, closing."""

        def add() -> None:
            with dedupdb.open(folder / "store") as store:
                store.add(*documents)

        return clocked(add)

    def filled(self, folder: Path) -> Path:
        with dedupdb.open(folder / "store") as store:
            store.add(self.keys, self.texts)
        return folder / "store"

    def crate(self, folder: Path) -> dict[str, Taken]:
        """What the crate takes for a text: ``many`` in one call, the first ``one`` again and again."""
        command = [str(self.ask), str(folder / "store"), str(self.corpus)]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        numbers = [float(number) * 1e-6 for number in re.findall(r"([\d.]+) us", told)]
        return {"many": Taken(*numbers[:2]), "one": Taken(*numbers[2:])}

    def package(self, folder: Path) -> dict[str, Taken]:
        """The same of the package."""
        with dedupdb.open(folder / "store", read_only=True) as store:
            many = clocked(lambda: store.query(self.texts))
            first = self.texts[0]

            def block() -> None:
                for _ in range(CALLS):
                    store.query(first)

            one = min(clocked(block) for _ in range(BLOCKS))
        texts = len(self.texts)
        return {"many": Taken(*(part / texts for part in many)), "one": Taken(*(part / CALLS for part in one))}


def in_turns(one: Callable[[], Taken], other: Callable[[], Taken], runs: int) -> list[tuple[Taken, Taken]]:
    """What both sides take; each begins every other turn."""
    taken = []
    for turn in range(runs):
        if turn % 2:
            second = other()
            taken.append((one(), second))
        else:
            taken.append((one(), other()))
    return taken


def show(name: str, beside: str, pairs: list[tuple[Taken, Taken]], unit: float = 1.0) -> None:
    """Prints a row: the wall times of both sides, and medians of both kinds of ratios with the range.

    Of seconds it is the medians. Of a call of microseconds it is the fastest: a core that others share runs at one
    speed for minutes and at another then, and what is asked is what a call adds.
    """
    pick = statistics.median if unit == 1.0 else min
    mine, other = (pick(taken.wall for taken in side) / unit for side in zip(*pairs, strict=True))
    name_of_unit = {1.0: "s", 1e-3: "ms", 1e-6: "us"}[unit]
    cells = [name, beside, f"{mine:.3g} {name_of_unit}", f"{other:.3g} {name_of_unit}"]
    for kind in (0, 1):
        ratios = sorted(one[kind] / another[kind] for one, another in pairs)
        cells.append(f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")
    print(f"| {' | '.join(cells)} |", flush=True)


def import_times(runs: int) -> list[tuple[Taken, Taken]]:
    """What a fresh interpreter that imports the package takes, and one that does not."""

    def run(code: str) -> Taken:
        return clocked(lambda: subprocess.run([sys.executable, "-c", code], check=True))

    return in_turns(lambda: run("import dedupdb"), lambda: run(""), runs * 4)


def is_installed(library: str) -> bool:
    try:
        __import__(library)
    except ImportError:
        print(f"{library} is not installed", file=sys.stderr)
        return False
    return True


def main() -> None:
    """Measures all rows and prints a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--program", help="the program dedupdb, built for release")
    parser.add_argument("--ask", help="the crate's bench ask, built")
    parser.add_argument("--wheel", type=Path, help="the wheel, to tell its size")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="", help="rows whose names have this in them")
    parser.add_argument("--scratch", help="folder for the stores; a real disk, where durable costs something")
    arguments = parser.parse_args()
    bench, runs = Bench(arguments), arguments.runs

    def fresh(work: Callable[..., Taken], *more: Any) -> Callable[[], Taken]:
        def run() -> Taken:
            with tempfile.TemporaryDirectory(dir=arguments.scratch) as folder:
                return work(Path(folder), *more)

        return run

    def wanted(name: str) -> bool:
        return arguments.only in name

    print(f"{len(bench.texts)} texts, {os.cpu_count()} cores, medians of {runs} turns\n")
    print("| what | beside | takes | the other | ratio, wall | ratio, processor |\n" + "| --- " * 6 + "|", flush=True)
    command, table = fresh(bench.command_line), bench.table
    if bench.program is not None:
        if table is not None and wanted("store.add(table)"):
            show("`store.add(table)`", "`dedupdb add`", in_turns(fresh(bench.adding, table), command, runs))
        if wanted("store.add(lists)"):
            mine = fresh(bench.adding, bench.keys, bench.texts)
            show("`store.add(keys, texts)`", "`dedupdb add`", in_turns(mine, command, runs))
    data = bench.texts if table is None else table
    for library, work in {"rensa": rensa, "datasketch": datasketch}.items():
        if wanted(library) and is_installed(library):
            other = functools.partial(work, bench.texts)
            taken = in_turns(functools.partial(clocked, other), lambda: clocked(lambda: dedupdb.dedup(data)), runs)
            show(f"{library}", "`dedupdb.dedup(table)`", taken)
    if bench.ask is not None and wanted("query"):
        with tempfile.TemporaryDirectory(dir=arguments.scratch) as folder:
            bench.filled(Path(folder))
            both = [(bench.package(Path(folder)), bench.crate(Path(folder))) for _ in range(runs)]
        for what, name in {"many": "`store.query(texts)`, a text", "one": "`store.query(text)`"}.items():
            show(name, "the crate", [(mine[what], other[what]) for mine, other in both], 1e-6)
    if wanted("import"):
        show("`import dedupdb`", "an interpreter alone", import_times(runs), 1e-3)
    if arguments.wheel is not None:
        print(f"\nThe wheel has {arguments.wheel.stat().st_size / 1e6:.1f} MB.")


if __name__ == "__main__":
    main()
