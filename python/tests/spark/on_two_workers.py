"""A program for ``local-cluster``: pairs and clusters on two worker processes, one of which is killed meanwhile.

Its arguments are the folder to work in and the documents, as JSON. It prints what it found, as JSON.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import psutil
from made import frame, rows
from sessions import session

from dedupdb import spark as dd
from dedupdb.spark import _few


def slowly(batches: Iterable[Any]) -> Iterator[Any]:
    """Takes its time."""
    yield from batches
    time.sleep(2)


def is_executor(process: psutil.Process) -> bool:
    try:
        return "CoarseGrainedExecutorBackend" in " ".join(process.cmdline())
    except psutil.Error:  # It is gone.
        return False


def executors() -> list[psutil.Process]:
    """The processes of Spark's executors that this program started."""
    return [child for child in psutil.Process().children(recursive=True) if is_executor(child)]


def main() -> None:
    # All stages are Spark's.
    _few.KEYS = 0
    folder, documents = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text())
    spark = session("local-cluster[2,1,1024]", folder, **{"spark.executor.memory": "512m"})
    try:
        df = frame(spark, [tuple(row) for row in documents], 4)
        sketches = dd.sketch(df.mapInArrow(slowly, df.schema), key="url", text="body", threshold=0.7)
        killed: list[int] = []

        def kill() -> None:
            # Both executors are there, and tasks, which take two seconds each, are under way.
            deadline = time.monotonic() + 60
            tracker = spark.sparkContext.statusTracker()
            while time.monotonic() < deadline:
                stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
                found = executors()
                if len(found) == 2 and any(stage is not None and stage.numActiveTasks > 0 for stage in stages):
                    time.sleep(0.5)
                    found[0].kill()
                    killed.append(found[0].pid)
                    return
                time.sleep(0.05)

        killer = threading.Thread(target=kill)
        killer.start()
        pairs = sorted(rows(dd.pairs(sketches)))
        killer.join()
        clusters = sorted(rows(dd.clusters(sketches)))
        print(json.dumps({"killed": len(killed), "pairs": pairs, "clusters": clusters}))
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
