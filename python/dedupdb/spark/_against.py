"""Compares documents with stores of earlier ones."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark import SparkFiles
from pyspark.sql import DataFrame

import dedupdb


def against(df: DataFrame, stores: str | Sequence[str], *, text: str = "text", ship: bool = True) -> DataFrame:
    """Returns the rows whose text resembles no document of some stores.

    >>> import dedupdb
    >>> from dedupdb import spark as dd
    >>> with dedupdb.open("seen") as store:
    ...     added = store.add(["old"], [df.first()["text"]])
    >>> [row["id"] for row in dd.against(df, "seen").collect()]
    ['crane']

    Args:
        df: The documents.
        stores: The folders of stores, which are opened for reading only.
        text: The column with the text; rows where it is null are kept.
        ship: Sends copies of the stores, as of their last commits, to the executors. If false, each executor must have
            them in the same folder, such as one that all of them mount.

    Raises:
        ValueError: No store is given.
        dedupdb.errors.NotAStore: A folder has no store.
    """
    paths = [stores] if isinstance(stores, str) else list(stores)
    if not paths:
        raise ValueError("stores: none is given")
    if ship:
        paths = [_shipped(df.sparkSession.sparkContext, path) for path in paths]
    return df.mapInArrow(partial(_unlike, stores=paths, text=text, ship=ship), df.schema)


def _shipped(context: Any, path: str) -> str:
    """Sends a copy of a store to the executors, under a unique name, and returns the name."""
    folder = tempfile.mkdtemp(prefix="dedupdb-")
    # Executors may ask for it as long as the session lasts.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    name = os.path.basename(folder)
    with dedupdb.open(path, read_only=True, create=False) as store:
        store.backup(os.path.join(folder, name))
    context.addFile(os.path.join(folder, name), recursive=True)
    return name


def _unlike(
    batches: Iterable[pa.RecordBatch], stores: Sequence[str], text: str, ship: bool
) -> Iterator[pa.RecordBatch]:
    folders = [SparkFiles.get(path) if ship else path for path in stores]
    opened = [dedupdb.open(folder, read_only=True, create=False, threads=1) for folder in folders]
    try:
        for batch in batches:
            for store in opened:
                given = [row for row, value in enumerate(batch.column(text)) if value.is_valid]
                texts = batch.column(text).take(pa.array(given, pa.int64()))
                found = {given[row] for row in store.query(texts, limit=1)["row"]}
                batch = batch.filter(pa.array([row not in found for row in range(batch.num_rows)], pa.bool_()))
            yield batch
    finally:
        for store in opened:
            store.close()
