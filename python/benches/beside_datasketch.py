"""Each operation of ``dedupdb.datasketch`` beside datasketch's, and its loop beside ``dedupdb.dedup``.

    python benches/beside_datasketch.py

The sets are of random tokens, half of them near-copies of earlier ones. Both libraries take turns, and each figure is
the fastest of the turns, in microseconds of processor time an operation. Install the wheel of
``maturin build --release`` first, and datasketch.
"""

from __future__ import annotations

import argparse
import pickle
import random
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import datasketch

import dedupdb.datasketch


def token_sets(count: int, tokens: int) -> list[list[bytes]]:
    draw = random.Random(7)
    made: list[list[bytes]] = []
    for _ in range(count):
        if made and draw.random() < 0.5:
            near = list(draw.choice(made))
            near[draw.randrange(tokens)] = draw.randbytes(30)
            made.append(near)
        else:
            made.append([draw.randbytes(30) for _ in range(tokens)])
    return made


def each(work: Callable[..., object], *columns: Any) -> Callable[[], None]:
    def run() -> None:
        for row in zip(*columns, strict=True):
            work(*row)

    return run


def operations(module: Any, sets: list[list[bytes]]) -> Iterator[tuple[str, int, Callable[[], object]]]:
    """Each operation with how often it is done; every one finds what those before it left."""
    count, (minhash, lsh) = len(sets), (module.MinHash, module.MinHashLSH)
    made: list[Any] = []
    yield "MinHash()", count, lambda: made.extend(minhash() for _ in range(count))
    yield "update", count, each(lambda one, tokens: one.update(tokens[0]), made, sets)
    yield "update_batch", count, each(minhash.update_batch, made, sets)
    yield "bulk", count, lambda: minhash.bulk(sets)
    yield "digest, first", count, each(minhash.digest, made)
    yield "digest", count, each(minhash.digest, made)
    others = made[1:] + made[:1]
    yield "jaccard", count, each(minhash.jaccard, made, others)
    yield "count", count, each(minhash.count, made)
    yield "union", count, each(minhash.union, made, others)
    yield "==", count, each(minhash.__eq__, made, others)
    copies: list[Any] = []
    yield "copy", count, lambda: copies.extend(one.copy() for one in made)
    yield "merge", count, each(minhash.merge, copies, others)
    yield "pickle and load", count, each(lambda one: pickle.loads(pickle.dumps(one)), made)
    lean: list[Any] = []
    yield "LeanMinHash()", count, lambda: lean.extend(map(module.LeanMinHash, made))
    buffers = [bytearray(one.bytesize()) for one in lean]
    yield "serialize", count, each(module.LeanMinHash.serialize, lean, buffers)
    yield "deserialize", count, each(module.LeanMinHash.deserialize, buffers)
    yield "hash", count, each(hash, lean)
    numbers = range(count)
    index, other, looped = (lsh(threshold=0.8) for _ in range(3))
    yield "insert", count, each(index.insert, numbers, made)
    yield "query", count, each(index.query, made)
    yield "in", count, each(lambda key: key in index, numbers)

    def loop() -> None:
        for number, one in enumerate(minhash.bulk(sets)):
            if not looped.query(one):
                looped.insert(number, one)

    yield "bulk, query, insert if new", count, loop

    def session() -> None:
        with other.insertion_session() as inserting:
            for number, one in enumerate(made):
                inserting.insert(("other", number), one)

    yield "insertion_session", count, session
    yield "merge of indexes", count, lambda: index.merge(other)
    yield "get_counts", count, index.get_counts
    yield "pickle and load of an index", count, lambda: pickle.loads(pickle.dumps(index))
    yield "remove", count, each(index.remove, numbers)

    def deletion() -> None:
        with index.deletion_session() as deleting:
            for number in numbers:
                deleting.remove(("other", number))

    yield "deletion_session", count, deletion
    forest = module.MinHashLSHForest()

    def planted() -> None:
        for number, one in enumerate(made):
            forest.add(number, one)
        forest.index()

    yield "forest, add and index", count, planted
    yield "forest, query of 10", count, each(lambda one: forest.query(one, 10), made)


def shingles(text: str) -> list[bytes]:
    words = text.split()
    return [" ".join(words[at : at + 5]).encode() for at in range(len(words) - 4)]


def kept(texts: list[str]) -> list[bool]:
    """Which texts the loop of a program for datasketch keeps, as ``dedupdb.dedup`` does."""
    lsh, told = dedupdb.datasketch.MinHashLSH(threshold=0.8), []
    for number, one in enumerate(dedupdb.datasketch.MinHash.generator(map(shingles, texts))):
        told.append(not lsh.query(one))
        if told[-1]:
            lsh.insert(number, one)
    return told


def beside_native(sets: list[list[bytes]], turns: int) -> None:
    """Prints the ratio for texts of as many words as the sets have tokens."""
    texts = [" ".join(token.hex()[:8] for token in tokens) for tokens in sets]
    ratios = []
    for _ in range(turns):
        start = time.process_time()
        ours = kept(texts)
        middle = time.process_time()
        native = dedupdb.dedup(texts).keep
        ratios.append((middle - start) / (time.process_time() - middle))
    differ = sum(one != other for one, other in zip(ours, native, strict=True))
    print(f"\nThe loop on texts takes {median(ratios):.1f} times as long as dedupdb.dedup(texts), the median of")
    print(f"{turns} turns; {sum(native)} of {len(texts)} texts are kept, and {differ} are judged otherwise")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000, help="sets")
    parser.add_argument("--tokens", type=int, default=100, help="tokens of a set")
    parser.add_argument("--turns", type=int, default=5)
    given = parser.parse_args()
    sets = token_sets(given.count, given.tokens)
    best: dict[str, list[float]] = {}
    for _ in range(given.turns):
        for side, module in enumerate((datasketch, dedupdb.datasketch)):
            for name, count, work in operations(module, sets):
                start = time.process_time()
                work()
                taken = (time.process_time() - start) / count * 1e6
                figures = best.setdefault(name, [float("inf")] * 2)
                figures[side] = min(figures[side], taken)
    print("| operation | datasketch, us | dedupdb, us | ratio |\n| --- | --- | --- | --- |")
    for name, (theirs, ours) in best.items():
        print(f"| {name} | {theirs:.3g} | {ours:.3g} | {theirs / ours:.1f} |")
    beside_native(sets, given.turns)


if __name__ == "__main__":
    main()
