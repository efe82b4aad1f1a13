"""The package beside the command line and other libraries, on a corpus of yours.

    python benches/compare.py CORPUS.jsonl --program ../target/release/dedupdb

CORPUS.jsonl has an object a line with the fields ``id`` (unique) and ``text``. Each row is the median of some
runs, which take turns; times are wall clock. Everything runs in this process but for the command line. A library
that is not installed is left out. Build the package for release first (``pip install ./python``).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dedupdb


def shingles(text: str) -> list[str]:
    """The distinct word 5-shingles of a text; below 5 words, one."""
    words = re.findall(r"\w+", text.lower())
    if len(words) < 5:
        return [" ".join(words)]
    return list(dict.fromkeys(map(" ".join, zip(*(words[at:] for at in range(5)), strict=False))))


def clocked(work: Callable[[], object]) -> float:
    """Seconds that work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


class Bench:
    """The rows that are measured."""

    def __init__(self, corpus: Path, program: str | None, scratch: str | None) -> None:
        with corpus.open(encoding="utf-8") as lines:
            documents = [json.loads(line) for line in lines]
        self.corpus = corpus
        self.keys: list[str] = [str(document["id"]) for document in documents]
        self.texts: list[str] = [document["text"] for document in documents]
        self.program = program
        self.scratch = scratch

    def rows(self) -> dict[str, Callable[[Path], float]]:
        """The rows by name: each takes a fresh folder and gives seconds."""
        rows: dict[str, Callable[[Path], float]] = {}
        if self.program is not None:
            rows["dedupdb add"] = self.command_line
        try:
            import pyarrow

            table = pyarrow.table({"id": self.keys, "text": self.texts})
            rows["store.add(table)"] = lambda folder: self.adding(folder, table)
            rows["dedupdb.dedup(table)"] = lambda folder: clocked(lambda: dedupdb.dedup(table))
        except ImportError:
            print("pyarrow is not installed: no tables are measured", file=sys.stderr)
        rows["store.add(lists)"] = lambda folder: self.adding(folder, self.keys, self.texts)
        rows["dedupdb.dedup(list)"] = lambda folder: clocked(lambda: dedupdb.dedup(self.texts))
        rows["store.query(texts), all"] = self.asking
        rows["store.query(text), each"] = self.asking_each
        for name, row in {"rensa": self.rensa, "datasketch": self.datasketch}.items():
            try:
                __import__(name)
                rows[name] = row
            except ImportError:
                print(f"{name} is not installed", file=sys.stderr)
        rows["import dedupdb"] = self.importing
        return rows

    def command_line(self, folder: Path) -> float:
        """`dedupdb add` of the same file."""
        command = [str(self.program), "--store", str(folder / "store"), "--quiet", "add", str(self.corpus)]
        return clocked(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))

    def adding(self, folder: Path, *documents: Any) -> float:
        """Making a store, adding, closing."""

        def add() -> None:
            with dedupdb.open(folder / "store") as store:
                store.add(*documents)

        return clocked(add)

    def asking(self, folder: Path) -> float:
        """All texts in one call."""
        with dedupdb.open(folder / "store") as store:
            store.add(self.keys, self.texts)
            return clocked(lambda: store.query(self.texts))

    def asking_each(self, folder: Path) -> float:
        """Each of the texts in a call of its own."""
        with dedupdb.open(folder / "store") as store:
            store.add(self.keys, self.texts)
            return clocked(lambda: [store.query(text) for text in self.texts])

    def rensa(self, folder: Path) -> float:
        """Its batch calls: token sets, signatures, an index, and the first of each group kept."""
        import rensa

        def work() -> None:
            sets = [shingles(text) for text in self.texts]
            signatures = rensa.RMinHash.from_token_sets(sets, num_perm=128, seed=42)
            index = rensa.RMinHashLSH(threshold=0.8, num_perm=128, num_bands=16)
            index.insert_many(signatures)
            dropped: set[int] = set()
            for row, found in enumerate(index.query_all(signatures)):
                if row not in dropped:
                    dropped.update(other for other in found if other > row)

        return clocked(work)

    def datasketch(self, folder: Path) -> float:
        """The loop of its users: ask, and insert what is new."""
        import datasketch

        def work() -> None:
            index = datasketch.MinHashLSH(threshold=0.8, num_perm=128)
            sets = ([token.encode() for token in shingles(text)] for text in self.texts)
            for row, minhash in enumerate(datasketch.MinHash.generator(sets, num_perm=128)):
                if not index.query(minhash):
                    index.insert(row, minhash, check_duplication=False)

        return clocked(work)

    def importing(self, folder: Path) -> float:
        """A fresh interpreter that imports the package, less one that does not."""
        with_it = clocked(lambda: subprocess.run([sys.executable, "-c", "import dedupdb"], check=True))
        without = clocked(lambda: subprocess.run([sys.executable, "-c", ""], check=True))
        return with_it - without


def main() -> None:
    """Measures all rows and prints a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--program", help="the program dedupdb, built for release")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="", help="rows whose names have this in them")
    parser.add_argument("--scratch", help="folder for the stores; a real disk, where durable costs something")
    arguments = parser.parse_args()
    bench = Bench(arguments.corpus, arguments.program, arguments.scratch)
    rows = {name: row for name, row in bench.rows().items() if arguments.only in name}
    seconds: dict[str, list[float]] = {name: [] for name in rows}
    for _ in range(arguments.runs):
        for name, row in rows.items():
            try:
                with tempfile.TemporaryDirectory(dir=arguments.scratch) as folder:
                    seconds[name].append(row(Path(folder)))
            except Exception as error:
                # Another release of a peer may have other calls: the other rows are measured all the same.
                print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
    print(f"{len(bench.texts)} texts, {os.cpu_count()} cores, medians of {arguments.runs} runs\n")
    print("| what | seconds | a text, microseconds |\n| --- | --- | --- |")
    for name, taken in seconds.items():
        if taken:
            median = statistics.median(taken)
            print(f"| `{name}` | {median:.3f} | {median / max(len(bench.texts), 1) * 1e6:.1f} |")


if __name__ == "__main__":
    main()
