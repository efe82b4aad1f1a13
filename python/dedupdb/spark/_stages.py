"""Results that are used more than once: cached, or files of a checkpoint."""

from __future__ import annotations

from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


class Stages:
    """Keeps the results of the stages of one call.

    With a checkpoint, a stage that is written whole (Spark says so by a file ``_SUCCESS``) is read, and any other
    is made and written.
    """

    def __init__(self, spark: SparkSession, checkpoint: str | None, parameters: str) -> None:
        self._spark = spark
        if checkpoint == "":
            raise ValueError("checkpoint: the name of the folder is empty")
        self._checkpoint = checkpoint
        self._cached: list[DataFrame] = []
        if checkpoint is not None:
            self._claim(parameters)

    def kept(self, name: str, made: DataFrame) -> DataFrame:
        """What was made, to be used more than once."""
        if self._checkpoint is None:
            if not made.is_cached:
                self._cached.append(made.persist(StorageLevel.MEMORY_AND_DISK))
            return made
        path = f"{self._checkpoint}/{name}"
        if not self._exists(f"{path}/_SUCCESS"):
            made.write.mode("overwrite").parquet(path)
        return self._spark.read.schema(made.schema).parquet(path)

    def sketches(self, given: DataFrame) -> DataFrame:
        """The sketches; those of a checkpoint only if they are of the same documents."""
        path = f"{self._checkpoint}/sketches"
        is_there = self._checkpoint is not None and self._exists(f"{path}/_SUCCESS")
        if is_there and _which(given) != _which(self._spark.read.schema(given.schema).parquet(path)):
            raise ValueError(f"checkpoint: {self._checkpoint} is of other documents; remove it or name another folder")
        return self.kept("sketches", given)

    def free(self) -> None:
        """Frees the results that were cached here, which nothing uses any more."""
        for made in self._cached:
            made.unpersist()
        self._cached.clear()

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
        if self._has_others():
            raise ValueError(f"checkpoint: {self._checkpoint} has files of something else; name a new folder")
        self._spark.createDataFrame([(parameters,)], "value string").coalesce(1).write.mode("overwrite").text(path)

    def _has_others(self) -> bool:
        """Whether there is more in the folder than a claim that was half written."""
        system, folder = self._path(str(self._checkpoint))
        files = system.listStatus(folder) if system.exists(folder) else []
        return any(file.getPath().getName() != "parameters" for file in files)

    def _exists(self, path: str) -> bool:
        system, file = self._path(path)
        return bool(system.exists(file))

    def _path(self, path: str) -> tuple[Any, Any]:
        context: Any = self._spark.sparkContext
        file = context._jvm.org.apache.hadoop.fs.Path(path)
        return file.getFileSystem(context._jsc.hadoopConfiguration()), file


def _which(sketches: DataFrame) -> Any:
    """Tells documents from others: their number, and a sum of hashes of their keys and texts."""
    number = F.xxhash64("key", "hash").cast("decimal(38,0)")
    return sketches.select(F.count("*"), F.sum(number)).first()
