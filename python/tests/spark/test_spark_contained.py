"""Pairs of which one contains the other are those of a store."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest
from made import documents, frame, rows

import dedupdb
from dedupdb import cluster
from dedupdb import spark as dd


def nested(count: int = 400, seed: int = 7) -> list[tuple[str, str]]:
    """Documents that have parts of others, the same words with other punctuation, copies, and templates."""
    draw = random.Random(seed)
    made = documents(count // 2, seed)
    template = " ".join(draw.choices([text for _, text in made if len(text.split()) > 80], k=1))
    while len(made) < count:
        words = draw.choice(made)[1].split() or ["w"]
        kind, number = draw.random(), len(made)
        start = draw.randrange(len(words))
        part = words[start : start + draw.randint(1, 90)]
        if kind < 0.35:
            text = " ".join(part)
        elif kind < 0.5:
            text = " ".join([*part, *(f"own{number}x{place}" for place in range(draw.randint(1, 30)))])
        elif kind < 0.65:
            text = ", ".join(words)
        elif kind < 0.75:
            text = " ".join(words)
        elif kind < 0.9:
            text = f"{template} {' '.join(part)}"
        else:
            text = " ".join(part * 3)
        made.append((f"{'ba'[number % 2]}/{number:05}", text))
    return made


DOCUMENTS = nested()


def truth(folder: Path, made: list[tuple[str, str]], fold_copies: bool = False, **options: Any) -> Any:
    """What a store says to which the documents were added in the order of their keys."""
    made = sorted(made)
    with dedupdb.open(folder / "truth") as store:
        store.add([key for key, _ in made], [text for _, text in made])
        pairs = store.pairs(fold_copies=fold_copies, **options)
        names = ("key_a", "key_b", "jaccard", "exact_copy", "containment")
        return {tuple(row[name] for name in names) for row in pairs}


@pytest.fixture(scope="module")
def sketched(spark: Any) -> Any:
    return dd.sketch(frame(spark, DOCUMENTS, 3), key="url", text="body").persist()


@pytest.mark.parametrize(("containment", "shortest"), [(0.8, 20), (1 / 3, 6), (1.0, 0), (0.05, 5), (0.8, 1000)])
def test_pairs_are_those_of_a_store(sketched: Any, tmp_path: Path, containment: float, shortest: int) -> None:
    expected = truth(tmp_path, DOCUMENTS, containment=containment, shortest=shortest)
    report: dict[str, int] = {}
    found = rows(dd.contained(sketched, containment=containment, shortest=shortest, report=report))
    assert found == expected
    assert len(expected) > (200 if shortest < 1000 else 20)
    # There are more pairs with something in common.
    assert len(expected) < 2 * report["candidates"] + 400 < len(DOCUMENTS) ** 2 // 2
    assert (report["short"] > 40) == (shortest >= 20)


@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_answers_do_not_depend_on_partitions(spark: Any, tmp_path: Path, partitions: int) -> None:
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    try:
        sketches = dd.sketch(frame(spark, DOCUMENTS, partitions), key="url", text="body")
        assert rows(dd.contained(sketches)) == truth(tmp_path, DOCUMENTS, containment=0.8)
        folded = rows(dd.contained(sketches, fold_copies=True))
        assert folded == truth(tmp_path, DOCUMENTS, containment=0.8, fold_copies=True)
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)


def test_of_equal_sets_the_first_one_contains_the_other_one(spark: Any, tmp_path: Path) -> None:
    words = [f"w{number}" for number in range(30)]
    made = [(str(number), f"{'.' * number}".join(f"{word} " for word in words)) for number in range(6)]
    made += [("a copy", made[3][1]), ("another", " ".join(words[:25]))]
    expected = truth(tmp_path, made, containment=0.8)
    assert len(expected) == 21 + 7
    assert rows(dd.contained(dd.sketch(frame(spark, made), key="url", text="body"))) == expected


def test_a_run_goes_on_from_its_checkpoint(spark: Any, tmp_path: Path) -> None:
    expected = truth(tmp_path, DOCUMENTS, containment=0.8)
    folder = str(tmp_path / "run")
    sketches = dd.sketch(frame(spark, DOCUMENTS), key="url", text="body")
    assert rows(dd.contained(sketches, checkpoint=folder)) == expected
    assert {"candidates", "contents", "edges", "names"} <= {path.name for path in Path(folder).iterdir()}
    assert rows(dd.contained(sketches, checkpoint=folder)) == expected
    with pytest.raises(ValueError, match="is of other parameters"):
        dd.contained(sketches, containment=0.7, checkpoint=folder)
    with pytest.raises(ValueError, match="is of other parameters"):
        dd.pairs(sketches, checkpoint=folder)


def test_rows_without_a_sketch_and_no_rows(spark: Any, tmp_path: Path) -> None:
    odd: list[Any] = [("n/1", None), (None, "no key"), ("e/1", ""), ("e/2", "...")]
    sketches = dd.sketch(frame(spark, [*DOCUMENTS[:90], *odd]), key="url", text="body")
    assert rows(dd.contained(sketches)) == truth(tmp_path, [*DOCUMENTS[:90], *odd[2:]], containment=0.8)
    assert dd.contained(dd.sketch(frame(spark, []), key="url", text="body")).collect() == []
    assert dd.contained(dd.sketch(frame(spark, odd), key="url", text="body")).collect() == []


def test_what_is_refused(spark: Any, tmp_path: Path, sketched: Any) -> None:
    from pyspark.sql import functions as F

    for wrong in (0, -0.5, 1.5, float("nan")):
        with pytest.raises(ValueError, match=r"containment: .* is not above 0 and at most 1"):
            dd.contained(sketched, containment=wrong)
    with pytest.raises(ValueError, match="shortest: -1 is below 0"):
        dd.contained(sketched, shortest=-1)
    with pytest.raises(ValueError, match="sketches: there is no column"):
        dd.contained(frame(spark, DOCUMENTS))
    twice = dd.sketch(frame(spark, [*DOCUMENTS, DOCUMENTS[7]]), key="url", text="body")
    with pytest.raises(ValueError, match="is the key of several documents"):
        dd.contained(twice)
    other = dd.sketch(frame(spark, [("x", "a text")]), key="url", text="body", threshold=0.7)
    with pytest.raises(Exception, match="sketches of different parameters do not go together"):
        dd.contained(sketched.union(other)).collect()
    for name, broken in (("packed", F.expr("substring(packed, 1, 3)")), ("code", F.col("code") + 1)):
        path = str(tmp_path / name)
        sketched.withColumn(name, broken).write.parquet(path)
        with pytest.raises(Exception, match=r"the sketch of .* is damaged .*\.parquet.*: sketch its text again"):
            dd.contained(spark.read.parquet(path)).collect()


def test_rows_that_are_not_sorted_are_refused() -> None:
    import pyarrow as pa

    batch = pa.record_batch({"key": [7, 7, 3], "code": [-5, 4, 4]})
    with pytest.raises(ValueError, match="not sorted by key and code"):
        list(cluster.contained_walk([batch]))


def test_many_pairs_of_a_shingle_come_in_parts() -> None:
    import pyarrow as pa

    codes = [number << 40 for number in range(2000)]
    offers = sorted(~code for code in codes)
    batches = pa.table({"key": [1] * len(offers), "code": offers}).to_batches(max_chunksize=700)
    parts = list(cluster.contained_walk(batches))
    assert sum(part.num_rows for part in parts) == len(codes) * (len(codes) - 1) // 2
    assert max(part.num_rows for part in parts) < (1 << 20) + len(codes)
    assert set(zip(*pa.Table.from_batches(parts).to_pydict().values(), strict=True)) == {
        *itertools.combinations(codes, 2)
    }
