"""Documents that have items of a benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Literal

import pyarrow as pa
from pyspark import Broadcast
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from .. import cluster
from ._components import arrow
from ._sketches import check_frame, documents

_HITS = (
    "key string, item string, field string, words bigint, longest bigint, coverage double, share double, "
    "byte_start bigint, byte_end bigint, item_start bigint, item_end bigint, text string"
)
_MARKS = (T.BooleanType(), T.LongType(), T.StringType(), T.DoubleType())


def decontaminate(
    df: DataFrame,
    against: Any,
    *,
    text: str = "text",
    against_text: str | Iterable[str] = "text",
    against_key: str | None = None,
    passage: int = 13,
    containment: float = 0.4,
    action: Literal["drop", "cut", "mark"] = "drop",
    margin: int | None = None,
    mark: str = "benchmark",
    errors: Literal["raise", "skip"] = "raise",
    report: dict[str, int] | None = None,
) -> DataFrame:
    """Returns the rows without items of a benchmark, such as its questions: those that :func:`dedupdb.decontaminate`
    returns.

    >>> from dedupdb import spark as dd
    >>> clean = dd.decontaminate(df, ["Who painted the crane in the harbour?"])
    >>> sorted(row["id"] for row in clean.collect())
    ['tram', 'trams']

    The benchmark is sent to all executors, and each of their Python processes makes one index of it, of about 40 bytes
    for each of its words. No row is moved, and a row is compared with nothing but the benchmark, so nothing depends on
    partitions. :func:`dedupdb.spark.hits` says which row has which item.

    Args:
        df: The documents. All columns are returned.
        against: The benchmark: a DataFrame, whose rows are collected, or what :func:`dedupdb.decontaminate` takes.
        text: The column of ``df`` with the text, a string. A row where it is null is kept.
        against_text: The columns or fields of the benchmark whose texts are items, each of its own. Each
            string of a list is one, in the field ``choices[0]`` and so on.
        against_key: The column or field of the benchmark by which an item is named; by default, it is named by the
            number of its row, from 0.
        passage: Number of words in a row that are a hit, at least 5.
        containment: Share of an item's shingles in a stretch of a text that is a hit.
        action: ``drop`` rows with an item; ``cut`` the items from their texts, as :func:`dedupdb.decontaminate` does;
            or ``mark`` all rows, with four more columns: ``benchmark_keep``, whether the row has no item;
            ``benchmark_items``, how many it has; ``benchmark_item``, the name of the one of which it has the largest
            share, or an empty string; and ``benchmark_coverage``, this share. Those of a null text are null.
        margin: With ``cut``, this number of words on each side is cut as well; 0.
        mark: With ``mark``, how the names of these columns begin.
        errors: ``raise`` or ``skip``: what to do about a row of the benchmark that has no text.
        report: A dict that receives the counts ``items`` and ``unchecked``: items of fewer than five words, and rows
            without a text, cannot be looked for.

    Raises:
        ValueError: A column is not there, or not of strings; a text of the benchmark is null; a number is out of its
            range; or no item can be looked for.
        TypeError: ``df`` is not a DataFrame of ``pyspark.sql``.
    """
    check_frame(df)
    if action not in ("drop", "cut", "mark"):
        raise ValueError(f'action: {action!r}; there are "drop", "cut" and "mark"')
    if margin is not None and action != "cut":
        raise ValueError('margin: it goes with action="cut", which is not given')
    if margin is not None and margin < 0:
        raise ValueError(f"margin: {margin} is below 0")
    if text not in df.columns:
        raise ValueError(f"text: there is no column {text!r}; there are {', '.join(map(repr, df.columns))}")
    kind = df.schema[text].dataType
    if not isinstance(kind, T.StringType):
        raise ValueError(f"text: the column {text!r} has values of {kind.simpleString()}, not strings")
    names = df.columns
    if action == "mark":
        names = [*names, *cluster.marks(mark)]
        again = next((name for name in names[len(df.columns) :] if name in df.columns), None)
        if again is not None:
            raise ValueError(f"mark: there is a column {again!r}; choose another name")
    sent = _sent(df, against, against_text, against_key, passage, containment, errors, report)
    # Spark does not take columns with dots in their names here.
    plain = df.toDF(*(f"c{number}" for number in range(len(df.columns))))
    schema = T.StructType(list(plain.schema.fields))
    for name, of in zip(names[len(df.columns) :], _MARKS, strict=False):
        schema = schema.add(name, of)
    place = plain.columns[df.columns.index(text)]
    made = partial(_decontaminated, sent=sent, text=place, action=action, margin=margin or 0, mark=mark)
    return plain.mapInArrow(made, schema).toDF(*names)


def hits(
    df: DataFrame,
    against: Any,
    *,
    key: str = "id",
    text: str = "text",
    against_text: str | Iterable[str] = "text",
    against_key: str | None = None,
    passage: int = 13,
    containment: float = 0.4,
    errors: Literal["raise", "skip"] = "raise",
    report: dict[str, int] | None = None,
) -> DataFrame:
    """Returns the items of a benchmark that documents have: why :func:`dedupdb.spark.decontaminate` drops them.

    >>> from dedupdb import spark as dd
    >>> found = dd.hits(df, ["Who painted the crane in the harbour?"])
    >>> found.select("key", "item", "words").collect()
    [Row(key='crane', item='0', words=7)]

    Args:
        df: The documents.
        against: The benchmark, as for :func:`dedupdb.spark.decontaminate`, and so the other arguments.
        key: The column with the key of a document; it is cast to a string.
        text: The column with the text, as for :func:`dedupdb.spark.sketch`. A row where it is null has no item.

    Returns:
        A row for each document and item that it has. ``key`` and ``item`` name them; the others are those of ``hits``
        of :func:`dedupdb.decontaminate`: ``field``, ``words``, ``longest``, ``coverage``, ``share``, ``byte_start``,
        ``byte_end``, ``item_start``, ``item_end`` and ``text``.

    Raises:
        ValueError, TypeError: As for :func:`dedupdb.spark.decontaminate`.
    """
    check_frame(df)
    rows = documents(df, key, text)
    sent = _sent(df, against, against_text, against_key, passage, containment, errors, report)
    return rows.mapInArrow(partial(_hits, sent=sent), _HITS)


def _sent(
    df: DataFrame,
    against: Any,
    against_text: str | Iterable[str],
    against_key: str | None,
    passage: int,
    containment: float,
    errors: Literal["raise", "skip"],
    report: dict[str, int] | None,
) -> Broadcast[cluster.Benchmark]:
    """Reads a benchmark and sends it to the executors."""
    made = cluster.benchmark(
        arrow(against) if isinstance(against, DataFrame) else against,
        against_text=against_text,
        against_key=against_key,
        passage=passage,
        containment=containment,
        errors=errors,
    )
    if report is not None:
        report.update(items=made.number, unchecked=made.unchecked)
    return df.sparkSession.sparkContext.broadcast(made)


def _decontaminated(
    batches: Iterable[pa.RecordBatch], sent: Broadcast[cluster.Benchmark], **options: Any
) -> Iterator[pa.RecordBatch]:
    return cluster.decontaminate(batches, sent.value, **options)


def _hits(batches: Iterable[pa.RecordBatch], sent: Broadcast[cluster.Benchmark]) -> Iterator[pa.RecordBatch]:
    return cluster.hits(batches, sent.value)
