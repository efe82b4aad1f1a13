"""Makes sketches of texts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from .. import _native, cluster

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._parameters import Parameters

SIDE = ("hash", "size", "keys", "packed", "file")
"""The columns that are needed to compare two contents."""

_MARK = "dedupdb.parameters"


def _schema(sketcher: _native.ClusterSketcher) -> T.StructType:
    """Returns the columns of sketches. The parameters are known without making a sketch, from files too."""
    schema = T.StructType(
        [
            T.StructField("key", T.StringType()),
            T.StructField("hash", T.BinaryType()),
            T.StructField("code", T.LongType()),
            T.StructField("bytes", T.LongType()),
            T.StructField("size", T.IntegerType()),
            T.StructField("keys", T.ArrayType(T.LongType())),
            T.StructField("packed", T.BinaryType()),
            T.StructField("parameters", T.StringType(), True, {_MARK: sketcher.parameters}),
            T.StructField("flaw", T.StringType()),
        ]
    )
    return schema.add("fingerprints", T.BinaryType()) if sketcher.has_fingerprints else schema


def sketch(
    df: DataFrame, *, key: str = "id", text: str = "text", threads: int = 1, **parameters: Unpack[Parameters]
) -> DataFrame:
    """Sketches texts: computes their hashes, band keys and packed shingles, which the other functions need.

    >>> from dedupdb import spark as dd
    >>> sketches = dd.sketch(df, threshold=0.7)
    >>> sketches.select("key", "size").orderBy("key").collect()
    [Row(key='crane', size=10), Row(key='tram', size=24), Row(key='trams', size=25)]

    The result may be written to Parquet and read again. It is computed again each time that it is used, unless it is
    cached (``.persist()``) or written.

    Args:
        df: The documents, one per row.
        key: The column with the key, which no other document has; it is cast to a string.
        text: The column with the text.
        threads: Threads of each task; Spark runs a task on every core of an executor, so 1 is right.
        parameters: Those of :func:`dedupdb.open`, from ``threshold`` on.

    Returns:
        A row for each document, with the columns ``key``, ``hash``, ``code``, ``bytes`` (of the text in UTF-8),
        ``size`` (number of shingles), ``keys``, ``packed``, ``parameters`` and ``flaw``. With ``passage``, there is a
        column ``fingerprints``, so that stores made of the sketches find passages. A row whose key or text is null has
        no sketch; its ``flaw`` says so.

    Raises:
        ValueError: A parameter is out of its range, a column has bytes, or the frame is a stream.
        TypeError: ``df`` is not a DataFrame of ``pyspark.sql``.
    """
    schema = _schema(_native.ClusterSketcher(1, parameters))
    check_frame(df)
    if df.isStreaming:
        raise ValueError("df is a stream; only frames that end can be deduplicated")
    made = partial(cluster.sketch, parameters=parameters, threads=threads)
    return documents(df, key, text).mapInArrow(made, schema)


def check_frame(df: DataFrame) -> None:
    """Refuses the frames of other packages."""
    if not hasattr(df, "mapInArrow"):
        raise TypeError(f"df is a {type(df).__module__}.{type(df).__name__}, and not a DataFrame of pyspark.sql")


def documents(df: DataFrame, key: str, text: str) -> DataFrame:
    """Returns the columns of the key and the text, as ``key`` and ``text``, as strings."""
    given = df.select(column(df, key).alias("key"), column(df, text).alias("text"))
    for name, what in (("key", key), ("text", text)):
        if isinstance(given.schema[name].dataType, T.BinaryType):
            raise ValueError(f"{name}: the column {what!r} has bytes; cast it, as by hex() or decode()")
    return given.select(F.col("key").cast("string"), F.col("text").cast("string"))


def column(df: DataFrame, name: str) -> Column:
    """Returns a column by its name, which may have dots, or by a path into one."""
    return df[f"`{name}`"] if name in df.columns and "`" not in name else df[name]


def flaws(sketches: DataFrame) -> DataFrame:
    """Counts the documents without shingles by reason: ``flaw`` and ``count``.

    >>> from dedupdb import spark as dd
    >>> without = spark.createDataFrame([("a", None)], "id string, text string")
    >>> dd.flaws(dd.sketch(without)).collect()
    [Row(flaw='null text', count=1)]

    Documents with a null key or text are in no pair and no cluster, and :func:`dedupdb.spark.dedup` keeps them. Empty
    texts match only their copies.
    """
    return sketches.where(F.col("flaw").isNotNull()).groupBy("flaw").count()


def parameters_of(sketches: DataFrame) -> tuple[str, float] | None:
    """Returns the parameters in one line, and the threshold; None if there are no sketches."""
    for name in ("key", "hash", "code", "bytes", "size", "keys", "packed", "parameters"):
        if name not in sketches.columns:
            raise ValueError(f"sketches: there is no column {name!r}; dedupdb.spark.sketch makes them")
    mark = sketches.schema["parameters"].metadata.get(_MARK)
    if mark is None:
        first = sketches.select("parameters").first()
        if first is None:
            return None
        mark = first[0]
        if mark is None:
            raise ValueError("sketches: the column 'parameters' has a null; sketch the texts again")
    try:
        return str(mark), float(str(mark).split(" ")[0])
    except ValueError:
        raise ValueError(f"sketches: {mark!r} are no parameters of sketches; sketch the texts again") from None


def with_file(sketches: DataFrame) -> DataFrame:
    """Returns the sketches with a column ``file``: where they were read, for messages about damaged ones."""
    return sketches if "file" in sketches.columns else sketches.withColumn("file", F.input_file_name())


def refuse_duplicates(documents: DataFrame) -> None:
    """Raises an error if several documents have the same ``key``."""
    hashed = documents.select(F.xxhash64("key").alias("number"), "key")
    again = [row[0] for row in hashed.groupBy("number").count().where("count > 1").limit(1000).collect()]
    if not again:
        return
    twice = hashed.where(F.col("number").isin(again)).groupBy("key").count().where("count > 1")
    first = twice.select(F.min("key"), F.count("*")).first()
    if first is not None and first[0] is not None:
        raise same_key(first[0], first[1])


def same_key(first: str, keys: int) -> ValueError:
    """Returns an error about documents with the same key: the first such key, and the number of such keys."""
    others = f", as are {keys - 1} other keys" if keys > 1 else ""
    return ValueError(f"key: {first!r} is the key of several documents{others}")
