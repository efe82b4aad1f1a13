"""Times ``dedupdb.spark`` on ``local[2]``: ``python benches/spark.py documents.parquet``, with "id" and "text".

All in one run, session start not counted: a store of the same documents first, then pairs, clusters, dedup and the
other verbs, the bytes that were shuffled for candidates, the memory of the workers, and the same with a template in a
fifth of the documents. Each is done twice, and the second time counts, for the first is mostly the compiler's. Figures
of one machine are of use as ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import threading
import time
import unittest.mock
import urllib.request
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pyarrow.parquet as pq

import dedupdb


def session(folder: str) -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("dedupdb bench").config("spark.driver.memory", "3g")
    settings = {"spark.sql.shuffle.partitions": "8", "spark.ui.showConsoleProgress": "false", "spark.local.dir": folder}
    for name, value in settings.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    made.range(1000).count()
    return made


class Workers:
    """The largest memory of a Python worker so far."""

    def __init__(self) -> None:
        self.peak = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._ended.wait(0.1):
            for child in psutil.Process().children(recursive=True):
                try:
                    if "python" in child.name():
                        self.peak = max(self.peak, child.memory_info().rss)
                except psutil.Error:
                    continue

    def end(self) -> int:
        self._ended.set()
        self._thread.join()
        return self.peak


def shuffled(spark: Any) -> dict[int, int]:
    """Bytes that each stage wrote to a shuffle."""
    context = spark.sparkContext
    address = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages?status=complete"
    with urllib.request.urlopen(address) as answer:
        return {stage["stageId"]: stage["shuffleWriteBytes"] for stage in json.load(answer)}


def worked() -> float:
    """Seconds of processor time of this process, of Spark's, and of the workers'."""
    own = psutil.Process()
    seconds = 0.0
    for process in [own, *own.children(recursive=True)]:
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        seconds += times.user + times.system + times.children_user + times.children_system
    return seconds


def timed(name: str, call: Callable[[], int], documents: int, cold: bool = False) -> None:
    """Prints what a call takes, and what it takes for the first time if that is wanted (``cold``)."""
    start, before = time.perf_counter(), worked()
    count = call()
    seconds, work = time.perf_counter() - start, worked() - before
    rate = documents / max(work, 0.01)
    name += ", the first time" if cold else ""
    print(f"{name:<40}{seconds:8.2f} s {work:8.2f} core s {rate:8.0f} documents a core s {count:8} rows", flush=True)


def with_template(documents: pa.Table) -> pa.Table:
    """A fifth of the documents begin with the same 300 words, and go on with as many of their own."""
    draw = random.Random(1)
    words = [f"word{number}" for number in range(50_000)]
    template = " ".join(draw.choices(words, k=300))
    made = [
        f"{template} {' '.join(draw.choices(words, k=60 + number % 300))}" if number % 5 == 0 else text
        for number, text in enumerate(documents["text"].to_pylist())
    ]
    return documents.set_column(documents.schema.get_field_index("text"), "text", pa.array(made))


def of_one_template(count: int) -> pa.Table:
    """Documents of a hundred words in common, and two of their own."""
    template = " ".join(f"word{number}" for number in range(100))
    texts = [f"{template} one{number} other{number}" for number in range(count)]
    return pa.table({"id": [f"document {number:09}" for number in range(count)], "text": texts})


def verbs(df: Any, documents: pa.Table) -> dict[str, Callable[[], int]]:
    """What is timed, by its name. The benchmark has 30 words of each tenth document."""
    from dedupdb import spark as dd

    words = [text.split() for text in documents["text"].to_pylist()[::10]]
    questions = [" ".join(text[5:35]) for text in words if len(text) > 40]
    return {
        "pairs": lambda: int(dd.pairs(dd.sketch(df)).count()),
        "clusters": lambda: int(dd.clusters(dd.sketch(df)).count()),
        "dedup": lambda: int(dd.dedup(df).count()),
        "contained": lambda: int(dd.contained(dd.sketch(df)).count()),
        "shared": lambda: int(dd.shared(df).count()),
        "decontaminate": lambda: int(dd.decontaminate(df, questions).count()),
    }


def bucket(spark: Any, folder: str, count: int) -> None:
    """Prints the memory of the largest worker for a bucket of nearly so many contents."""
    from pyspark.sql import functions as F

    from dedupdb import spark as dd
    from dedupdb.spark import _few

    path = str(Path(folder) / f"template-{count}.parquet")
    pq.write_table(of_one_template(count), path, row_group_size=4096)
    sketches = dd.sketch(spark.read.parquet(path))
    keys = sketches.select(F.explode("keys").alias("band_key")).groupBy("band_key").count()
    [(largest,)] = keys.select(F.max("count")).collect()
    workers = Workers()
    with unittest.mock.patch.object(_few, "KEYS", 0):
        timed(f"dd.clusters, a bucket of {largest}", lambda: int(dd.clusters(sketches).count()), count)
    print(f"  the largest worker had {workers.end() / 1e6:.0f} MB", flush=True)
    spark.catalog.clearCache()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("documents", type=Path, nargs="?")
    parser.add_argument("--buckets", type=int, nargs="+", help="instead: documents of one template, so many each time")
    parser.add_argument("--only", default="", help="verbs with this in their names")
    parser.add_argument("--plain", action="store_true", help="not with a template, and without the store")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.buckets:
        with tempfile.TemporaryDirectory() as folder:
            spark = session(folder)
            for count in given.buckets:
                bucket(spark, folder, count)
            spark.stop()
        return
    if given.documents is None:
        parser.error("there are no documents")

    with tempfile.TemporaryDirectory() as folder:
        plain = pq.read_table(given.documents, columns=["id", "text"])
        count = plain.num_rows
        template = str(Path(folder) / "template.parquet")
        spark = session(folder)

        def store() -> int:
            with dedupdb.open(Path(folder) / "store") as made:
                made.add(plain)
                return sum(1 for _ in made.pairs())

        inputs = [("", str(given.documents))]
        if not given.plain:
            timed("a store, and its pairs", store, count)
            pq.write_table(with_template(plain), template, row_group_size=4096)
            inputs.append((", a fifth of one template", template))
        for name, path in inputs:
            df = spark.read.parquet(path)
            for verb, call in verbs(df, plain).items():
                if given.only not in verb:
                    continue
                timed(f"dd.{verb}{name}", call, count, cold=True)
                spark.catalog.clearCache()
                before = shuffled(spark)
                workers = Workers()
                timed(f"dd.{verb}{name}", call, count)
                wrote = [size for stage, size in shuffled(spark).items() if stage not in before]
                peak = workers.end() / 1e6
                largest = max(wrote, default=0)
                print(f"  shuffled {sum(wrote) / count:.0f} bytes a document in all, the largest {largest / count:.0f}")
                print(f"  the largest worker had {peak:.0f} MB")
                # Else the next one would find the candidates of this one.
                spark.catalog.clearCache()
        spark.stop()


if __name__ == "__main__":
    main()
