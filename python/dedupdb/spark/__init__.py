"""Near-duplicates past one machine: the pairs and clusters of a store, with Spark.

::

    from dedupdb import spark as dd

    sketches = dd.sketch(df, key="url", text="body", threshold=0.8)
    pairs = dd.pairs(sketches)  # key_a, key_b, jaccard
    parts = dd.contained(sketches)  # key_a, of which key_b has most, jaccard, exact_copy, containment
    quotes = dd.shared(df, key="url", text="body")  # key_a, key_b, longest shared passage, coverage_a, coverage_b
    groups = dd.clusters(sketches)  # key, cluster, representative, jaccard
    clean = dd.dedup(df, key="url", text="body")
    unseen = dd.decontaminate(df, questions, text="body")  # without the questions of a benchmark
    stores = dd.load(sketches, "stores/part-{}")  # to be joined by dedupdb merge

Spark sorts, joins and moves rows. The code of a store does the rest, with one call per batch. The package must be
installed on every machine. Workers run the ``python3`` on the path unless ``PYSPARK_PYTHON`` names another one.
"""

from __future__ import annotations

from ._against import against
from ._benchmark import decontaminate, hits
from ._contained import contained
from ._groups import clusters, dedup, dropped
from ._load import load
from ._pairs import pairs
from ._shared import shared
from ._sketches import flaws, sketch

__all__ = [
    "against",
    "clusters",
    "contained",
    "decontaminate",
    "dedup",
    "dropped",
    "flaws",
    "hits",
    "load",
    "pairs",
    "shared",
    "sketch",
]
