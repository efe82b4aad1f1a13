"""The steps of a cluster, for any engine that moves Arrow batches: Spark's ``mapInArrow``, Ray's ``map_batches``.

Each function takes an iterable of record batches and returns batches, without a call per row. No function depends on
an engine. Between the steps, the engine sorts, joins and removes repeated rows. :mod:`dedupdb.spark` shows how Spark
does it, and ``examples/ray`` how Ray does.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from . import _native
from ._dedup import given

if TYPE_CHECKING:
    from ._parameters import Parameters

_PAIRS = 1 << 20
"""The number of pairs, about, that a call may return."""


_TEXTS = 1024
"""The number of texts that are looked through at a time."""


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


def shingle_counts(batches: Iterable[pa.RecordBatch], parameters: str, shingles: int) -> Iterator[pa.RecordBatch]:
    """Counts in how many contents shingles are, about, in rows of ``part`` and ``counts``, for :func:`sum_counts`.

    The sketches have these parameters, a column ``file``, and on all machines ``shingles`` shingles.
    """
    counted = _native.ClusterShingleCounts(parameters, shingles)
    for batch in batches:
        counted.count(batch)
    yield from _given(counted.parts())


def sum_counts(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Adds up the rows of :func:`shingle_counts` with the same ``part``. The engine moves each row to its part.

    ``counts`` of all parts, in their order, are what :func:`contained_rows` needs.
    """
    summed: list[pa.RecordBatch] = []
    for batch in batches:
        summed = list(_given(_native.cluster_sum_counts([*summed, batch])))
    yield from summed


def contained_rows(
    batches: Iterable[pa.RecordBatch], parameters: str, counts: bytes, containment: float, shortest: int
) -> Iterator[pa.RecordBatch]:
    """Returns rows of ``key``, a shingle, and ``code`` for :func:`contained_walk`. The engine moves rows to their keys.

    The sketches have these parameters and a column ``file``. Contents of fewer than ``shortest`` tokens are left out,
    as :meth:`dedupdb.Store.pairs` leaves them out, and so are shingles that no other content has. A negative code is
    that of a content which may be contained in the others with this shingle.
    """
    made = _native.ClusterContainment(parameters, containment, shortest, counts)
    for batch in batches:
        for start in range(0, batch.num_rows, _TEXTS):
            yield from _given(made.rows(batch.slice(start, _TEXTS)))


def contained_walk(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Returns pairs of codes that may contain each other, in the columns ``a`` and ``b``, ``a < b``.

    A pair that is contained is repeated: at least 9 times, or as often as the share of the shingles of ``a`` if this is
    less. The rows are sorted by ``key`` and ``code``
    over all batches.
    """
    walked = _native.ClusterContainmentWalk()
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            found, start = walked.push(batch, start)
            yield from _given(found)


def verify_contained(batches: Iterable[pa.RecordBatch], containment: float) -> Iterator[pa.RecordBatch]:
    """Returns the pairs of which the second has this share of the shingles of the first, and at least as many.

    These are ``hash_a``, ``hash_b``, ``containment``, ``jaccard`` and whether both have the same number of shingles,
    ``equal``. The columns of the batches are ``hash``, ``size``, ``packed`` and ``file`` of both contents, with the
    suffixes ``_a`` and ``_b``.
    """
    for batch in batches:
        yield from _given(_native.cluster_verify_contained(batch, containment))


def passages(batches: Iterable[pa.RecordBatch], parameters: Parameters) -> Iterator[pa.RecordBatch]:
    """Shingles rows of ``hash`` (32 bytes of the text's hash) and ``text``, to find the passages that they share.

    Returns ``hash``, ``code``, the number of ``tokens``, the ``shingles`` in their order, and ``keys``. The engine
    moves a row of each key and the code to its key, for :func:`walk` with a threshold near 0. A text shorter than a
    passage has no row.
    """
    found = _native.ClusterPassages(parameters)
    for batch in batches:
        for start in range(0, batch.num_rows, _TEXTS):
            yield from _given(found.texts(batch.slice(start, _TEXTS)))


def verify_passages(batches: Iterable[pa.RecordBatch], parameters: Parameters) -> Iterator[pa.RecordBatch]:
    """Returns the pairs that share a passage: ``hash_a``, ``hash_b``, ``longest``, ``coverage_a`` and ``coverage_b``.

    The columns of the batches are ``hash``, ``tokens`` and ``shingles`` of both texts, with the suffixes ``_a`` and
    ``_b``.
    """
    found = _native.ClusterPassages(parameters)
    for batch in batches:
        yield from _given(found.verify(batch))


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


class Benchmark(NamedTuple):
    """The items of a benchmark, to be sent to other machines."""

    items: bytes
    """The items, as an Arrow stream."""
    passage: int
    containment: float
    number: int
    """The number of items, those that cannot be checked included."""
    unchecked: int
    """The number of items that cannot be checked: those of fewer than five words, and rows without a text."""


def benchmark(
    against: Any,
    *,
    against_text: str | Iterable[str] = "text",
    against_key: str | None = None,
    passage: int = 13,
    containment: float = 0.4,
    errors: Literal["raise", "skip"] = "raise",
) -> Benchmark:
    """Reads a benchmark, as :func:`dedupdb.decontaminate` does, for :func:`decontaminate` and :func:`hits`.

    An item is named by the number of its row, from 0, or by its key in the column ``against_key``.
    """
    fields = [against_text] if isinstance(against_text, str) else list(against_text)
    items, flawed = _native.cluster_items(given(against)[1], fields, against_key, errors)
    table = pa.table(items)
    checked = _native.ClusterBenchmark(table.to_batches()[0], passage, containment)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    number, unchecked = len(table) + flawed, checked.unchecked + flawed
    return Benchmark(sink.getvalue().to_pybytes(), passage, containment, number, unchecked)


_indexed: dict[Benchmark, _native.ClusterBenchmark] = {}
"""The benchmark that was used last in this process."""


def _search(benchmark: Benchmark) -> _native.ClusterBenchmark:
    """Indexes a benchmark, unless it was used last."""
    search = _indexed.get(benchmark)
    if search is None:
        items = pa.ipc.open_stream(benchmark.items).read_next_batch()
        search = _native.ClusterBenchmark(items, benchmark.passage, benchmark.containment)
        _indexed.clear()
        _indexed[benchmark] = search
    return search


def decontaminate(
    batches: Iterable[pa.RecordBatch],
    benchmark: Benchmark,
    text: str = "text",
    action: Literal["drop", "cut", "mark"] = "drop",
    margin: int = 0,
    mark: str = "benchmark",
) -> Iterator[pa.RecordBatch]:
    """Returns the rows without items of a benchmark, as :func:`dedupdb.decontaminate` does, or all of them with marks.

    With ``mark``, the columns ``benchmark_keep``, ``benchmark_items``, ``benchmark_item`` and ``benchmark_coverage``
    are added, as by ``dedupdb decontaminate --action mark``. A row whose text is null is kept, with null marks.
    """
    search = _search(benchmark)
    for batch in batches:
        for start in range(0, batch.num_rows, _TEXTS):
            rows = batch.slice(start, _TEXTS)
            texts = pa.record_batch([rows.column(text)], names=["text"])
            for judged in _given(search.judge(texts, margin if action == "cut" else None)):
                if action == "mark":
                    names = [*rows.schema.names, *marks(mark)]
                    columns = [judged.column(name) for name in ("keep", "items", "item", "coverage")]
                    yield pa.record_batch([*rows.columns, *columns], names=names)
                    continue
                if action == "cut":
                    left = pc.coalesce(judged.column("cut").cast(rows.column(text).type), rows.column(text))
                    rows = rows.set_column(rows.schema.get_field_index(text), rows.schema.field(text), left)
                yield rows.filter(pc.fill_null(judged.column("keep"), True))


def marks(name: str) -> list[str]:
    """Returns the names of the columns that :func:`decontaminate` adds."""
    return [f"{name}_{end}" for end in ("keep", "items", "item", "coverage")]


def hits(batches: Iterable[pa.RecordBatch], benchmark: Benchmark) -> Iterator[pa.RecordBatch]:
    """Returns what rows of ``key`` and ``text`` have of a benchmark, a row for each row and item.

    The columns are those of ``hits`` of :func:`dedupdb.decontaminate`, with ``key`` in place of ``row``, and signed.
    """
    search = _search(benchmark)
    for batch in batches:
        for start in range(0, batch.num_rows, _TEXTS):
            found = pa.table(search.hits(batch.slice(start, _TEXTS)))
            signed = [pa.int64() if pa.types.is_uint64(column.type) else column.type for column in found.columns]
            yield from found.cast(pa.schema(zip(found.column_names, signed, strict=True))).to_batches()
