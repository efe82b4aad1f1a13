"""Daft: pages that are new to a store, and all pairs of similar pages. They have an "id" and a "text"."""

import daft
import pyarrow as pa
from daft import DataType, Series, col, lit

import dedupdb
from dedupdb import cluster

SKETCH = dict.fromkeys(["key", "parameters"], DataType.string()) | {"bytes": DataType.int64(), "size": DataType.int32()}
SKETCH |= dict.fromkeys(["hash", "packed", "fingerprints"], DataType.binary())


@daft.func.batch(return_dtype=DataType.bool())
def insert(ids: Series, texts: Series, path: str) -> list[bool]:
    with dedupdb.open(path, wait="1h") as store:
        verdicts = store.insert(pa.table({"id": ids.to_arrow(), "text": texts.to_arrow()}))
    return [row["verdict"] in ("added", "updated") for row in verdicts]


def unseen(pages: daft.DataFrame, path: str) -> daft.DataFrame:
    """The pages that resemble none of a store and none of each other. They are stored."""
    return pages.where(insert(col("id"), col("text"), path)).collect()


@daft.func.batch(return_dtype=DataType.struct(SKETCH), unnest=True)
def sketch(ids: Series, texts: Series, threshold: float) -> pa.Array:
    rows = pa.record_batch({"key": ids.to_arrow(), "text": texts.to_arrow()})
    sketches = pa.Table.from_batches(cluster.sketch([rows], {"threshold": threshold}))
    return sketches.select(list(SKETCH)).to_struct_array()


def pairs(pages: daft.DataFrame, path: str, threshold: float = 0.8) -> daft.DataFrame:
    """The pairs of a new store. Daft sketches the pages, and the store compares the sketches."""
    sketches = pages.select(sketch(col("id"), col("text"), threshold), lit("").alias("file"))
    for batch in sketches.where(col("hash").not_null()).to_arrow_iter():
        if batch.num_rows:
            cluster.load([batch], path, batch["parameters"][0].as_py())
    with dedupdb.open(path, create=False, read_only=True) as store:
        return daft.from_arrow(pa.table(store.pairs()))
