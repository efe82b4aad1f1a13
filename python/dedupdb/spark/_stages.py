"""Results that are used more than once: cached, or in files of a checkpoint."""

from __future__ import annotations

from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


class Stages:
    """Keeps the results of the stages of one call.

    With a checkpoint, a stage that is completely written is read; Spark marks such a stage by a file ``_SUCCESS``. Any
    other stage is made and written.
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
        """Returns a result that can be used more than once."""
        if self._checkpoint is None:
            if made.is_cached:
                return made
            self._cached.append(_with_short_plan(made).persist(StorageLevel.MEMORY_AND_DISK))
            return self._cached[-1]
        path = f"{self._checkpoint}/{name}"
        if not self._exists(f"{path}/_SUCCESS"):
            made.write.mode("overwrite").parquet(path)
        return self._spark.read.schema(made.schema).parquet(path)

    def sketches(self, given: DataFrame) -> DataFrame:
        """Returns the sketches; those of a checkpoint only if they are of the same documents."""
        path = f"{self._checkpoint}/sketches"
        is_there = self._checkpoint is not None and self._exists(f"{path}/_SUCCESS")
        if is_there and _which(given) != _which(self._spark.read.schema(given.schema).parquet(path)):
            raise ValueError(f"checkpoint: {self._checkpoint} is of other documents; remove it or name another folder")
        return self.kept("sketches", given)

    def free(self) -> None:
        """Frees the results that were cached here and are no longer used."""
        for made in self._cached:
            made.unpersist()
        self._cached.clear()

    def _claim(self, parameters: str) -> None:
        """Claims the checkpoint for these parameters, or checks its claim."""
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
        """Returns whether the folder has more than a half-written claim."""
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


def _with_short_plan(made: DataFrame) -> DataFrame:
    """The same rows, with a plan that reads them and no more.

    Spark writes the plan of a cached frame into each plan that uses it: those of later stages would have many
    megabytes, and the driver keeps those of the last thousand queries.
    """
    frame: Any = made
    spark: Any = made.sparkSession
    return DataFrame(spark._jsparkSession.createDataFrame(frame._jdf.javaRDD(), frame._jdf.schema()), spark)


def _which(sketches: DataFrame) -> Any:
    """Returns what distinguishes documents from others: their number, and a sum of hashes of their keys and texts."""
    number = F.xxhash64("key", "hash").cast("decimal(38,0)")
    return sketches.select(F.count("*"), F.sum(number)).first()
