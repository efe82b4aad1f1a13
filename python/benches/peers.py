"""Times ``dedupdb.spark`` beside text-dedup's Spark job and datatrove, from one Parquet file with "id" and "text".

``python benches/peers.py documents.parquet --text-dedup minhash_spark.py --datatrove venv/bin/python``

All with two cores and a threshold of 0.8, each writes what it keeps as files, and the start of a session is not
counted. Each is run twice in its session where it has one. What text-dedup asks GraphFrames for is done by scipy here,
on the driver, which takes less time; its partitions (4,096 and 8,192, and 256 files) are set to 8, as ours are.
datatrove splits words at spaces, and not by spaCy. So both are faster here than as they come. text-dedup needs numpy,
scipy and xxhash beside pyspark.
"""

from __future__ import annotations

import argparse
import runpy
import subprocess
import sys
import tempfile
import time
import types
import warnings
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pyarrow.parquet as pq
from spark import session

PARTITIONS = {'"8192"': '"8"', '"100"': '"8"', "repartition(4096)": "repartition(8)", "max(256": "max(8"}

DATATROVE = """
import sys
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter, minhash
from datatrove.pipeline.dedup.minhash import MinhashConfig
from datatrove.pipeline.readers import ParquetReader
from datatrove.pipeline.writers import JsonlWriter
from datatrove.utils import word_tokenizers

class Words:
    def word_tokenize(self, text):
        return text.split()

if __name__ == "__main__":
    documents, folder = sys.argv[1:]
    config = MinhashConfig(num_buckets=17, hashes_per_bucket=7, n_grams=5)
    # Words between spaces, which is faster than spaCy.
    word_tokenizers.load_word_tokenizer = minhash.load_word_tokenizer = lambda language: Words()
    stages = [
        (2, [ParquetReader(documents, glob_pattern="*.parquet"),
             minhash.MinhashDedupSignature(f"{folder}/signatures", config)]),
        (17, [MinhashDedupBuckets(f"{folder}/signatures", f"{folder}/buckets", config=config)]),
        (1, [MinhashDedupCluster(f"{folder}/buckets", f"{folder}/removed", config=config)]),
        (2, [ParquetReader(documents, glob_pattern="*.parquet"), MinhashDedupFilter(f"{folder}/removed"),
             JsonlWriter(f"{folder}/kept")]),
    ]
    for number, (tasks, pipeline) in enumerate(stages):
        logs = f"{folder}/logs/{number}"
        LocalPipelineExecutor(pipeline=pipeline, tasks=tasks, workers=2, logging_dir=logs).run()
"""


def told(name: str, call: Any) -> None:
    start = time.perf_counter()
    kept = call()
    print(f"{name:<45}{time.perf_counter() - start:8.2f} s {kept:8} kept", flush=True)


class GraphFrame:
    """What text-dedup asks of GraphFrames."""

    def __init__(self, vertices: Any, edges: Any) -> None:
        self._vertices, self._edges = vertices, edges

    def connectedComponents(self) -> Any:
        import numpy as np
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components

        edges = np.array(self._edges.collect())
        ids, places = np.unique(edges, return_inverse=True)
        ends = places.reshape(edges.shape)
        graph = coo_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(len(ids), len(ids)))
        labels = connected_components(graph, directed=False)[1]
        firsts = ids[np.unique(labels, return_index=True)[1]]
        rows = [(int(place), int(firsts[label])) for place, label in zip(ids, labels, strict=True)]
        return self._edges.sparkSession.createDataFrame(rows, "id bigint, component bigint")


def text_dedup(job: Path, documents: Path, folder: Path) -> int:
    source = job.read_text()
    for old, new in PARTITIONS.items():
        if old not in source:
            raise SystemExit(f"{job} has no {old}: this is another version")
        source = source.replace(old, new)
    copy = folder / "job.py"
    copy.write_text(source)
    shim: Any = types.ModuleType("graphframes")
    shim.GraphFrame = GraphFrame
    sys.modules["graphframes"] = shim
    out = folder / "text-dedup"
    sys.argv = [str(copy), "-i", str(documents), "-o", str(out), "-c", "text", "--index", "__id__"]
    sys.argv += ["--threshold", "0.8", "--checkpoint_dir", str(folder / "checkpoints")]
    runpy.run_path(str(copy), run_name="__main__")
    return sum(pq.read_metadata(path).num_rows for path in out.rglob("*.parquet"))


def halves(documents: Path, folder: Path) -> None:
    """Two files of a file: datatrove shares out files among its workers."""
    folder.mkdir()
    table = pq.read_table(documents, columns=["id", "text"])
    half = table.num_rows // 2
    for number, part in enumerate((table.slice(0, half), table.slice(half))):
        pq.write_table(part, folder / f"{number}.parquet")


def datatrove(python: str, folder: Path) -> int:
    job = folder / "datatrove_job.py"
    job.write_text(DATATROVE)
    out = folder / "datatrove"
    with (folder / "datatrove.log").open("w") as log:
        subprocess.run([python, job, folder / "halves", out], check=True, stdout=log, stderr=log)
    return sum(ds.dataset(path, format="json").count_rows() for path in out.glob("kept/*.jsonl.gz"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", type=Path)
    parser.add_argument("--text-dedup", type=Path, help="minhash_spark.py of text-dedup")
    parser.add_argument("--datatrove", help="a Python that has datatrove")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    from dedupdb import spark as dd

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spark = session(name)
        df = spark.read.parquet(str(given.documents))

        def pairs() -> int:
            return int(dd.pairs(dd.sketch(df)).count())

        def dedup() -> int:
            dd.dedup(df).write.mode("overwrite").parquet(str(folder / "dedup"))
            return int(ds.dataset(folder / "dedup", format="parquet").count_rows())

        for turn in ("first", "second"):
            told(f"dd.pairs, {turn} time", pairs)
            spark.catalog.clearCache()
            told(f"dd.dedup, {turn} time", dedup)
            spark.catalog.clearCache()
            if given.text_dedup:
                told(f"text-dedup, {turn} time", lambda: text_dedup(given.text_dedup, given.documents, folder))
                spark.catalog.clearCache()
        spark.stop()
        if given.datatrove:
            halves(given.documents, folder / "halves")
            told("datatrove, two workers", lambda: datatrove(given.datatrove, folder))


if __name__ == "__main__":
    main()
