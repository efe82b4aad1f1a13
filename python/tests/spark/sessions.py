"""Sessions of Spark."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
# Of a machine that runs for minutes: the last compiler and the parallel collector take longer than they save.
BRIEFLY = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def missing() -> str:
    """What Spark needs and is not there."""
    if importlib.util.find_spec("pyspark") is None:
        return "pyspark is not installed"
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return "there is no Java"
    return ""


def session(master: str, folder: Path, **settings: str) -> Any:
    from pyspark.sql import SparkSession

    # Workers are of the Python that runs the tests.
    os.environ["PYSPARK_PYTHON"] = sys.executable

    builder = SparkSession.builder.master(master).appName("dedupdb tests")
    # Workers import this folder's helpers from anywhere.
    chosen = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "3",
        "spark.default.parallelism": "3",
        # With so little data, to compile a query takes longer than to run it.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.driver.extraJavaOptions": BRIEFLY,
        "spark.executor.extraJavaOptions": BRIEFLY,
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.executorEnv.PYTHONPATH": str(HERE),
        **settings,
    }
    for name, value in chosen.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    return made
