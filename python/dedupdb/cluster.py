"""The steps of a cluster, for any engine that moves Arrow batches: Spark's ``mapInArrow``, Ray's ``map_batches``.

Each takes an iterable of record batches and gives batches, without a call a row. They know no engine. What an engine
does between them is to sort, to join, and to leave out what comes again; :mod:`dedupdb.spark` is how Spark does it,
and ``examples/ray`` how Ray does.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from . import _native

_PAIRS = 1 << 20
"""Pairs, about, that a call may give."""


def _given(table: Any) -> Iterator[pa.RecordBatch]:
    yield from pa.table(table).to_batches()


def sketch(batches: Iterable[pa.RecordBatch], parameters: dict[str, Any], threads: int = 1) -> Iterator[pa.RecordBatch]:
    """Sketches rows of ``key`` and ``text``, by the parameters of :func:`dedupdb.open` from ``threshold`` on.

    Gives a row for each: ``key``, ``hash``, ``code``, ``bytes``, ``size``, ``keys``, ``packed``, ``parameters`` and
    ``flaw``.
    """
    sketcher = _native.ClusterSketcher(threads, parameters)
    for batch in batches:
        yield from _given(sketcher.sketch(batch))


def postings(batches: Iterable[pa.RecordBatch], parameters: str) -> Iterator[pa.RecordBatch]:
    """Rows of ``key`` and ``code``, one for each band of a sketch, which are to be moved to the key.

    The sketches have these parameters, and a column ``file`` with where they were read, or an empty string.
    """
    made = _native.ClusterPostings(parameters)
    for batch in batches:
        yield from _given(made.rows(batch))


def walk(
    batches: Iterable[pa.RecordBatch],
    threshold: float,
    most: int = 4000,
    large: int | None = None,
    near: int = 0,
    beyond: int = 0,
) -> Iterator[pa.RecordBatch]:
    """Pairs of codes that share a key and fit by size, in the columns ``a`` and ``b``, ``a < b``.

    A pair may come again. The rows are sorted by ``key`` and ``code`` over all batches; those of one ``label`` are not
    paired. ``a = b`` names a content of a bucket of more than ``large``, where each is paired with the ``near`` last
    before it alone, and which :func:`rare` is for. ``a < 0`` says that ``most`` passed over ``-a`` pairs of ``b``: a
    walk with a larger ``most``, ``beyond`` the first one, goes on for those rows where a column ``asks`` is true.
    """
    walked = _native.ClusterWalk(threshold, most, large, near, beyond)
    rows = max(1, _PAIRS // (most if large is None else max(large, near)))
    for batch in batches:
        for start in range(0, batch.num_rows, rows):
            yield from _given(walked.push(batch.slice(start, rows)))


def rare(batches: Iterable[pa.RecordBatch], counts: bytes, threshold: float) -> Iterator[pa.RecordBatch]:
    """Rows of ``key``, ``code`` and ``label`` for :func:`walk`, one for each of the rarest shingles of a content.

    The contents have ``hash``, ``size``, ``packed`` and ``label``; :func:`counts` made the counts.
    """
    rarity = _native.ClusterRarity(counts)
    for batch in batches:
        for start in range(0, batch.num_rows, 1024):
            yield from _given(rarity.rows(batch.slice(start, 1024), threshold))


def counts(batches: Iterable[pa.RecordBatch]) -> bytes:
    """How often shingles are in some contents, of which ``size`` and ``packed`` are given."""
    return _native.ClusterRarity.count(list(batches)).bytes()


def verify(batches: Iterable[pa.RecordBatch], threshold: float, share: bool = True) -> Iterator[pa.RecordBatch]:
    """The pairs that reach the threshold: ``hash_a``, ``hash_b``, ``jaccard`` and ``later``, the larger code of both;
    with ``share`` if they share a key.

    The columns are ``hash``, ``size``, ``keys``, ``packed`` and ``file`` of both, with ``_a`` and ``_b`` behind them.
    """
    for batch in batches:
        yield from _given(_native.cluster_verify(batch, threshold, share))


def components(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """Each ``hash`` of the pairs ``hash_a`` and ``hash_b``, with the lowest that it is connected to as ``label``."""
    return pa.table(_native.cluster_components(list(batches)))


def keep(batches: Iterable[pa.RecordBatch], threshold: float, most: int = 4000) -> Iterator[pa.RecordBatch]:
    """What becomes of documents: ``key``, ``hash``, the ``representative``'s key, the ``jaccard`` with it.

    They are sorted by ``label`` and ``key`` over all batches, and have ``hash``, ``size``, ``keys`` and ``packed``. In
    this order a document of a label is kept unless one that is kept is like it.
    """
    keeper = _native.ClusterKeeper(threshold, most)
    for batch in batches:
        yield from pa.table(keeper.push(batch)).append_column("key", batch.column("key")).to_batches()


def load(batches: Iterable[pa.RecordBatch], path: str | os.PathLike[str], parameters: str, threads: int = 1) -> int:
    """Adds sketches of these parameters to the store in ``path``, which is made if it is not there; says how many.

    They have ``key``, ``hash``, ``bytes``, ``size``, ``packed``, ``parameters`` and ``file``. A commit is made a batch.
    """
    loader: _native.ClusterLoader | None = None
    documents = 0
    for batch in batches:
        if batch.num_rows == 0:
            continue
        if loader is None:
            os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
            loader = _native.ClusterLoader(path, parameters, threads)
        loader.push(batch)
        documents += batch.num_rows
    return documents
