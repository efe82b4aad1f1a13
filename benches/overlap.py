#!/usr/bin/env python3
"""Prints what containment and passages cost on a corpus, what of the truth they find, and the time of suffix arrays.

    cargo build --release && benches/overlap.py mixed_34k.jsonl --truth FOLDER --suffix-arrays dedup_dataset

The corpus has the fields `id` and `text`; with --copies N, N - 1 copies follow, each with its letters shifted. FOLDER
has the pairs with containment from 0.8 on and those of every 17th text with runs of 20 and 50 words. `dedup_dataset` is
the program of google-research/deduplicate-text-datasets, which finds the repeated strings of the same texts.
"""

import argparse
import json
import multiprocessing
import os
import random
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent.parent / "target/release/dedupdb"
NOVEL = {300: 1000, 30_000: 50}
KEYS = {"c80": ("key_a", "key_b"), "run20": ("query", "key"), "run50": ("query", "key")}


def run(*command: object, output: Path = Path(os.devnull)) -> tuple[float, float, float]:
    """The wall time and the user time of a program in seconds, and its peak memory in MB."""
    begin = time.monotonic()
    with output.open("wb") as file:
        child = subprocess.Popen(list(map(str, command)), stdout=file)
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):
        sys.exit(f"{' '.join(map(str, command))}: exit code {child.returncode}")
    return time.monotonic() - begin, usage.ru_utime, usage.ru_maxrss / 1024


def in_turns(turns: int, commands: dict[str, list]) -> dict[str, tuple[float, ...]]:
    """Runs each command in each turn, and prints and returns the medians."""
    spent = defaultdict(list)
    for _ in range(turns):
        for name, command in commands.items():
            spent[name].append(run(*command))
    medians = {name: tuple(map(statistics.median, zip(*each, strict=True))) for name, each in spent.items()}
    for name, (wall, user, memory) in medians.items():
        print(f"{name:36}{wall:9.3f} s, {user:.2f} s of user time, at most {memory:.0f} MB", flush=True)
    return medians


def shifted(number: int) -> dict[int, int]:
    """A table that moves the Latin letters of ASCII in a circle, and others by their codes."""
    factor = (1, 3, 5, 7)[number // 26 % 4]
    latin = {first + at: first + (factor * at + number) % 26 for first in map(ord, "aA") for at in range(26)}
    others = (at for at in range(0x80, 0x20000) if chr(at).isalpha() and chr(at + number).isalpha())
    return latin | {at: at + number for at in others}


def write(path: Path, documents: list[tuple[str, str]]) -> None:
    with path.open("a") as file:
        file.writelines(json.dumps({"id": key, "text": text}, ensure_ascii=False) + "\n" for key, text in documents)


def prepare(corpus: Path, copies: int, folder: Path) -> int:
    """Writes all texts, and returns the bytes of 50 words. In the main process, they would count as the programs'."""
    with corpus.open() as file:
        documents = [(line["id"], line["text"]) for line in map(json.loads, file)]
    write(folder / "asked.jsonl", documents[::17])
    for number in range(copies):
        table, end = (shifted(number), f"~{number}") if number else ({}, "")
        write(folder / "corpus.jsonl", [(key + end, text.translate(table)) for key, text in documents])
    for length, texts in NOVEL.items():
        novel = [" ".join(f"v{random.randrange(100_000)}" for _ in range(length)) for _ in range(texts)]
        write(folder / f"many{length}.jsonl", list(enumerate(novel)))
        write(folder / f"one{length}.jsonl", [("0", novel[0])])
    with (folder / "texts").open("wb") as file:
        for number, (_, text) in enumerate(documents):
            file.write(b"\xff\xff" + struct.pack("<I", number) + text.encode())
        return round(50 * file.tell() / sum(len(text.split()) for _, text in documents))


def found(lines: Path, kind: str, folder: Path) -> str:
    """How many of the true pairs are in lines of JSON; of two texts that contain each other, in either order."""
    with lines.open() as file:
        have = {tuple(map(json.loads(line).get, KEYS[kind])) for line in file}
    true = subprocess.run(["zstd", "-dc", folder / f"mixed_34k_truth_{kind}.tsv.zst"], stdout=-1, check=True).stdout
    true = [tuple(line.split("\t")[:2]) for line in true.decode().splitlines()]
    count = sum(pair in have or (kind == "c80" and pair[::-1] in have) for pair in true)
    return f"{kind}: {count} of {len(true)} true pairs ({count / len(true):.3%})"


def add(at: dict[int, list], corpus: Path, turns: int) -> dict[int, list[float]]:
    """Adds the corpus in turns to new stores, and prints and returns the medians by the length of passages."""
    spent = defaultdict(list)
    for _ in range(turns):
        for passage, store in at.items():
            shutil.rmtree(store[-1], ignore_errors=True)
            run(*store, "init", "--passage", passage)
            spent[passage].append(run(*store, "add", corpus))
    medians = {}
    for passage, each in spent.items():
        disk = sum(file.stat().st_size for file in at[passage][-1].iterdir())
        medians[passage] = [*map(statistics.median, zip(*each, strict=True)), disk / 1e6]
        ratios = ", ".join(f"{a:.2f} ({a / b:.2f})" for a, b in zip(medians[passage], medians[0], strict=True))
        print(f"add, passage {passage}: time, user time, peak memory, disk (by those of 0): {ratios}", flush=True)
    return medians


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--truth", type=Path)
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--program", default=PROGRAM)
    parser.add_argument("--suffix-arrays", metavar="PROGRAM")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, turns = Path(name), asked.turns
        queries, lines, cache = folder / "asked.jsonl", folder / "lines", folder / "cache"
        with multiprocessing.Pool(1) as pool:
            length = pool.apply(prepare, (asked.corpus, asked.copies, folder))
        at = {passage: [asked.program, "-q", "--store", folder / f"store{passage}"] for passage in (0, 20, 50)}
        added = add(at, folder / "corpus.jsonl", turns)[50]
        commands = {"pairs --exhaustive": [*at[0], "pairs", "--exhaustive"]}
        commands |= {"pairs --containment 0.8": [*at[0], "pairs", "--containment", 0.8]}
        commands |= {"query --containment 0.8, each 17th": [*at[20], "query", "--containment", 0.8, queries]}
        commands |= {f"passages of {words} words, each 17th": [*at[words], "passages", queries] for words in (20, 50)}
        in_turns(turns, commands)
        clean = [asked.program, "-q", "dedup", folder / "corpus.jsonl", "-o", folder / "clean.jsonl", "--force"]
        cuts = {"": [], "--unit paragraph": ["--unit", "paragraph"], "--cut-passages 50": ["--cut-passages", 50]}
        in_turns(turns, {f"dedup {name}": [*clean, *more] for name, more in cuts.items()})
        for words, texts in NOVEL.items():
            one, many = ([*at[20], "--threads", 1, "passages", folder / f"{it}{words}.jsonl"] for it in ("one", "many"))
            each = [(run(*many)[0] - run(*one)[0]) / (texts - 1) for _ in range(5)]
            print(f"passages of a novel text of {words} words: {statistics.median(each) * 1e6:.0f} us")
        if asked.suffix_arrays:
            cache.mkdir()
            make = [asked.suffix_arrays, "make", "--data-file", folder / "texts"]
            similar = [asked.suffix_arrays, "self-similar", "--data-file", folder / "texts", "--cache-dir", cache]
            similar += ["--num-threads", os.cpu_count(), "--length-threshold", length]
            all_texts = [*at[50], "passages", folder / "corpus.jsonl"]
            commands = {"passages of all texts": all_texts, "make": make, f"self-similar, {length} bytes": similar}
            found_all, made, found_similar = in_turns(turns, commands).values()
            for what, join, n in (("time", sum, 0), ("user time", sum, 1), ("peak memory", max, 2)):
                ratio = join((made[n], found_similar[n])) / join((added[n], found_all[n]))
                print(f"suffix arrays by adding and finding all passages, {what}: {ratio:.2f}")
        if asked.truth:
            searches = {"c80": [*at[0], "--json", "pairs", "--containment", 0.8]}
            searches |= {f"run{words}": [*at[words], "--json", "passages", "--all", queries] for words in (20, 50)}
            for kind, command in searches.items():
                run(*command, output=lines)
                print(found(lines, kind, asked.truth))


if __name__ == "__main__":
    main()
