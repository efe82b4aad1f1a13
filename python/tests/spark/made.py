"""Documents, and what a store says of them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import dedupdb

WORDS = [f"w{number}" for number in range(3000)]


def documents(count: int = 600, seed: int = 3) -> list[tuple[str, str]]:
    """Documents with near-copies, copies, chains, short and empty texts, and a template of which some match."""
    draw = random.Random(seed)
    template = draw.choices(WORDS, k=120)
    texts: list[str] = []
    for number in range(count):
        kind = draw.random()
        if texts and kind < 0.3:
            words = draw.choice(texts).split() or ["w"]
            for _ in range(draw.randint(1, 3)):
                words[draw.randrange(len(words))] = f"changed{number}"
            texts.append(" ".join(words))
        elif texts and kind < 0.36:
            texts.append(draw.choice(texts))
        elif kind < 0.56:
            texts.append(" ".join(template + draw.choices(WORDS, k=draw.randint(1, 60))))
        elif kind < 0.58:
            texts.append("")
        else:
            texts.append(" ".join(draw.choices(WORDS, k=draw.randint(3, 120))))
    return [(f"doc/{number:05}", text) for number, text in enumerate(texts)]


class Truth:
    """The answers of a store with the documents, added in the order of their keys."""

    def __init__(self, folder: Path, rows: list[tuple[str, str]], **parameters: Any) -> None:
        rows = sorted(rows)
        with dedupdb.open(folder / "truth", **parameters) as store:
            store.add([key for key, _ in rows], [text for _, text in rows])
            self.pairs = {(row["key_a"], row["key_b"], row["jaccard"], row["exact_copy"]) for row in store.pairs()}
            self.connected = _clusters(store.clusters())
            self.representative = _clusters(store.clusters(linkage="representative"))
        judged = dedupdb.dedup([text for _, text in rows], **parameters)
        self.dropped = {
            (rows[row["row"]][0], rows[row["earlier"]][0], row["verdict"], row["jaccard"]) for row in judged.dropped
        }


def _clusters(found: Any) -> set[tuple[str, str, bool, float]]:
    return {(row["key"], row["representative"], row["key"] == row["representative"], row["jaccard"]) for row in found}


def frame(spark: Any, rows: list[Any], partitions: int = 2) -> Any:
    return spark.createDataFrame(rows, "url string, body string").repartition(partitions)


def rows(df: Any) -> set[Any]:
    found = [tuple(row) for row in df.collect()]
    assert len(found) == len(set(found)), "rows come twice"
    return set(found)
