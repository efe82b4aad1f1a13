"""The steps of a cluster, for any engine that moves Arrow batches: Spark's ``mapInArrow``, Ray's ``map_batches``.

Each function takes an iterable of record batches and returns batches, without a call per row. No function depends on
an engine. Between the steps, the engine sorts, joins and removes repeated rows. :mod:`dedupdb.spark` shows how Spark
does it, and ``examples/ray`` how Ray does.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from . import _native

if TYPE_CHECKING:
    from ._parameters import Parameters

_PAIRS = 1 << 20
"""The number of pairs, about, that a call may return."""


def _given(table: Any) -> Iterator[pa.RecordBatch]:
    yield from pa.table(table).to_batches()


def sketch(batches: Iterable[pa.RecordBatch], parameters: Parameters, threads: int = 1) -> Iterator[pa.RecordBatch]:
    """Sketches rows of ``key`` and ``text``, with the parameters of :func:`dedupdb.open` from ``threshold`` on.

    Returns a row for each, with ``key``, ``hash``, ``code``, ``bytes``, ``size``, ``keys``, ``packed``, ``parameters``
    and ``flaw``, and with ``fingerprints`` if there is a ``passage``.
    """
    sketcher = _native.ClusterSketcher(threads, parameters)
    for batch in batches:
        yield from _given(sketcher.sketch(batch))


def postings(batches: Iterable[pa.RecordBatch], parameters: str) -> Iterator[pa.RecordBatch]:
    """Returns rows of ``key`` and ``code``, one for each band of a sketch. The engine moves each row to its key.

    The sketches have these parameters, and a column ``file`` that says where they were read, or an empty string.
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
    """Returns pairs of codes that share a key and fit by size, in the columns ``a`` and ``b``, ``a < b``.

    A pair may be repeated. The rows are sorted by ``key`` and ``code`` over all batches. Rows with the same ``label``
    are not paired. If ``a = b``, the row names a content of a bucket of more than ``large`` contents. In such a bucket,
    each content after the first ``large`` is paired only with the ``near`` last before it; use :func:`rare` for the
    others. If ``a < 0``,
    ``most`` passed over ``-a`` pairs of ``b``. A walk with a larger ``most``, and with the first one as ``beyond``,
    continues with the rows where a column ``asks`` is true.
    """
    walked = _native.ClusterWalk(threshold, most, large, near, beyond)
    rows = max(1, _PAIRS // (most if large is None else max(large, near)))
    for batch in batches:
        for start in range(0, batch.num_rows, rows):
            yield from _given(walked.push(batch.slice(start, rows)))


def rare(batches: Iterable[pa.RecordBatch], counts: bytes, threshold: float) -> Iterator[pa.RecordBatch]:
    """Returns rows of ``key``, ``code`` and ``label`` for :func:`walk`, one for each of a content's rarest shingles.

    The contents have ``hash``, ``size``, ``packed`` and ``label``. The counts come from :func:`counts`.
    """
    rarity = _native.ClusterRarity(counts)
    for batch in batches:
        for start in range(0, batch.num_rows, 1024):
            yield from _given(rarity.rows(batch.slice(start, 1024), threshold))


def counts(batches: Iterable[pa.RecordBatch]) -> bytes:
    """Counts how often shingles occur in some contents, which have ``size`` and ``packed``."""
    return _native.ClusterRarity.count(list(batches)).bytes()


def verify(batches: Iterable[pa.RecordBatch], threshold: float, share: bool = True) -> Iterator[pa.RecordBatch]:
    """Returns the pairs that reach the threshold: ``hash_a``, ``hash_b``, ``jaccard`` and the larger code as ``later``.

    With ``share``, only pairs that share a key are returned. The columns are ``hash``, ``size``, ``keys``, ``packed``
    and ``file`` of both contents, with the suffixes ``_a`` and ``_b``.
    """
    for batch in batches:
        yield from _given(_native.cluster_verify(batch, threshold, share))


def components(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """Returns each ``hash`` of the pairs ``hash_a`` and ``hash_b``, with the lowest of its component as ``label``."""
    return pa.table(_native.cluster_components(list(batches)))


def keep(batches: Iterable[pa.RecordBatch], threshold: float, most: int = 4000) -> Iterator[pa.RecordBatch]:
    """Returns the outcome for documents: ``key``, ``hash``, the ``representative``'s key, and ``jaccard`` with it.

    The documents are sorted by ``label`` and ``key`` over all batches, and have ``hash``, ``size``, ``keys`` and
    ``packed``. In this order, a document of a label is kept unless it is similar to a kept one.
    """
    keeper = _native.ClusterKeeper(threshold, most)
    for batch in batches:
        yield from pa.table(keeper.push(batch)).append_column("key", batch.column("key")).to_batches()


def load(batches: Iterable[pa.RecordBatch], path: str | os.PathLike[str], parameters: str, threads: int = 1) -> int:
    """Adds sketches of these parameters to the store in ``path`` and returns how many. Creates the store if necessary.

    The sketches have ``key``, ``hash``, ``bytes``, ``size``, ``packed``, ``parameters`` and ``file``, and
    ``fingerprints`` if the parameters have a passage. Each batch is committed.
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
