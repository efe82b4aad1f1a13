"""Results that are used more than once: cached, or files of a checkpoint."""

from __future__ import annotations

from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession


class Stages:
    """Keeps the results of the stages of one call.

    With a checkpoint, a stage that is written whole (Spark says so by a file ``_SUCCESS``) is read, and any other
    is made and written.
    """

    def __init__(self, spark: SparkSession, checkpoint: str | None, parameters: str) -> None:
        self._spark = spark
        self._checkpoint = checkpoint
        if checkpoint is not None:
            self._claim(parameters)

    def kept(self, name: str, made: DataFrame) -> DataFrame:
        """What was made, to be used more than once."""
        if self._checkpoint is None:
            return made if made.is_cached else made.persist(StorageLevel.MEMORY_AND_DISK)
        path = f"{self._checkpoint}/{name}"
        if not self._exists(f"{path}/_SUCCESS"):
            made.write.mode("overwrite").parquet(path)
        return self._spark.read.schema(made.schema).parquet(path)

    def _claim(self, parameters: str) -> None:
        """Says whose the checkpoint is, or checks it."""
        path = f"{self._checkpoint}/parameters"
        if self._exists(f"{path}/_SUCCESS"):
            rows = self._spark.read.text(path).collect()
            if [row[0] for row in rows] != [parameters]:
                raise ValueError(
                    f"checkpoint: {self._checkpoint} is of other parameters, {rows[0][0]!r} and not {parameters!r}; "
                    "remove it or name another folder"
                )
            return
        self._spark.createDataFrame([(parameters,)], "value string").coalesce(1).write.mode("overwrite").text(path)

    def _exists(self, path: str) -> bool:
        context: Any = self._spark.sparkContext
        file = context._jvm.org.apache.hadoop.fs.Path(path)
        return bool(file.getFileSystem(context._jsc.hadoopConfiguration()).exists(file))
