"""The recipes of docs/python.md, each for the library that it is about."""

from __future__ import annotations

import concurrent.futures
import importlib.util
import json
import multiprocessing
import queue
import string
import threading
from pathlib import Path
from typing import Any

import pytest
from given import keys, texts

import dedupdb

KEYS, TEXTS = keys(120), texts(120)


@pytest.fixture(scope="module")
def expected() -> dedupdb.Deduplicated:
    return dedupdb.dedup(TEXTS)


def test_datasets(expected: dedupdb.Deduplicated, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    dataset = datasets.Dataset.from_dict({"id": KEYS, "text": TEXTS})
    mask = dedupdb.dedup(dataset).keep
    clean = dataset.filter(lambda row, number: mask[number], with_indices=True)
    assert clean["text"][:] == expected.kept
    kept, _ = dedupdb.dedup(dataset)
    assert kept["text"][:] == expected.kept
    with dedupdb.open(tmp_path / "store") as store:
        assert store.add(dataset).added == 120


def test_pandas(expected: dedupdb.Deduplicated, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": KEYS, "text": TEXTS}, index=[f"row{number}" for number in range(120)])
    kept, dropped = dedupdb.dedup(frame)
    assert kept["text"].tolist() == expected.kept
    why = pandas.DataFrame(list(dropped))
    assert why["row"].tolist() == expected.dropped["row"]
    with dedupdb.open(tmp_path / "store") as store:
        store.add(frame)
        found = pandas.DataFrame(list(store.query(frame, limit=1)))
        assert (found["jaccard"] == 1.0).all()


def test_polars(expected: dedupdb.Deduplicated, tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"id": KEYS, "text": TEXTS})
    kept, dropped = dedupdb.dedup(frame)
    assert kept["text"].to_list() == expected.kept
    assert polars.DataFrame(dropped)["row"].to_list() == expected.dropped["row"]
    assert dedupdb.dedup(frame["text"]).keep == expected.keep
    with dedupdb.open(tmp_path / "store") as store:
        store.add(frame)
        pairs = polars.DataFrame(store.pairs())
        assert pairs.height == len(list(store.pairs()))


def test_duckdb(expected: dedupdb.Deduplicated, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    pyarrow = pytest.importorskip("pyarrow")
    pages = pyarrow.table({"id": KEYS, "text": TEXTS})
    connection = duckdb.connect()
    connection.register("pages", pages)
    relation = connection.sql("select * from pages order by id")
    with dedupdb.open(tmp_path / "store") as store:
        source = relation if hasattr(relation, "__arrow_c_stream__") else relation.to_arrow_table()
        assert store.add(source).added == 120
        members = pyarrow.table(store.clusters())
    connection.register("members", members)
    [(largest,)] = connection.sql("select max(size) from members").fetchall()
    assert largest == max(members["size"].to_pylist())


def example(name: str) -> Any:
    """A program in the folder of examples, as a module."""
    path = Path(__file__).parents[2] / "examples" / name
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_functions_of_duckdb(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    pyarrow = pytest.importorskip("pyarrow")
    functions = example("duckdb/functions.py")
    with dedupdb.open(tmp_path / "store") as store, duckdb.connect() as connection:
        store.insert("swans", "seven swans were swimming on the lake when the snow began to fall")
        functions.register(connection, store)
        text = "'Seven swans were swimming on the lake when the snow began to fall!'"
        asked = f"select dedup_query({text}), dedup_query('nobody knows'), dedup_query(null)"
        assert connection.sql(asked).fetchall() == [("swans", None, None)]
        pairs = [("a b c d e f", "B C D E F"), ("b c d e f", "a b c d e f"), ("a", "b"), ("a b", "a b"), ("", None)]
        connection.register("pairs", pyarrow.table({"a": [a for a, _ in pairs], "b": [b for _, b in pairs]}))
        empty = "select dedup_containment('', 'any text'), dedup_jaccard('', '!'), dedup_containment('a b', '')"
        assert connection.sql(empty).fetchall() == [(0, 0, 0)]
        found = connection.sql("select dedup_jaccard(a, b), dedup_containment(a, b) from pairs").fetchall()
        assert found == [(0.5, 0.5), (0.5, 1.0), (0.0, 0.0), (1.0, 1.0), (None, None)]


def test_a_step_of_datatrove(expected: dedupdb.Deduplicated, tmp_path: Path) -> None:
    data = pytest.importorskip("datatrove.data")
    unseen = example("datatrove/unseen.py").Unseen(str(tmp_path / "seen"), batch=50)
    documents = [data.Document(text=text, id=key) for key, text in zip(KEYS, TEXTS, strict=True)]
    assert [document.text for document in unseen.run(documents)] == expected.kept
    assert list(unseen.run(documents)) == []


def test_functions_of_daft(expected: dedupdb.Deduplicated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DO_NOT_TRACK", "1")
    daft = pytest.importorskip("daft", reason="Daft takes 150 MB: pip install daft")
    pyarrow = pytest.importorskip("pyarrow")
    recipe = example("daft/pages.py")
    pages = daft.from_pydict({"id": [*KEYS, "none"], "text": [*TEXTS, None]})
    first = pages.limit(120)
    assert recipe.unseen(first, str(tmp_path / "seen")).to_pydict()["text"] == expected.kept
    assert recipe.unseen(first.into_batches(7), str(tmp_path / "seen")).to_pydict()["id"] == []
    new = recipe.unseen(first.into_batches(7), str(tmp_path / "new")).to_pydict()["text"]
    assert dedupdb.dedup(new).keep == [True] * len(new) and len(new) > 50
    with dedupdb.open(tmp_path / "store") as store:
        store.add(KEYS, TEXTS)
        pairs = sorted(pyarrow.table(store.pairs()).to_pylist(), key=str)
    assert len(pairs) > 10
    for number, frame in enumerate([pages, pages.into_batches(1)]):
        found = recipe.pairs(frame, str(tmp_path / f"pairs{number}")).to_pylist()
        assert sorted(found, key=str) == pairs


class Letters:
    """Stands in for a model: texts of the same letters, in any order, are the same to it."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode(self, inputs: list[str], **_: Any) -> Any:
        self.seen += inputs
        numpy = importlib.import_module("numpy")
        counts = [[text.lower().count(letter) for letter in string.ascii_lowercase] for text in inputs]
        return numpy.array(counts, "float32")


def test_semhash_gets_what_is_left() -> None:
    pytest.importorskip("semhash")
    texts = [
        "Seven swans were swimming on the lake when the snow began to fall.",
        "From Friday on, the night tram runs again every half hour.",
        "SEVEN SWANS were swimming on the lake, when the snow began to fall!",
        "Every half hour the night tram runs again, from Friday on.",
        "Nobody knows who painted the old harbour crane red and white.",
    ]
    pages = [{"id": number, "text": text} for number, text in enumerate(texts)]
    model = Letters()
    kept = example("semhash/survivors.py").survivors(pages, model, threshold=0.99)
    assert [page["id"] for page in kept] == [0, 1, 4]
    assert model.seen == [texts[0], texts[1], texts[3], texts[4]]


def test_a_pipeline_in_threads(tmp_path: Path) -> None:
    """As Scrapy's pipelines are: items come from many threads, and each is dropped or goes on."""

    class DropItem(Exception):
        pass

    class NearDuplicates:
        def open_spider(self, folder: Path) -> None:
            self.store = dedupdb.open(folder)

        def process_item(self, item: dict[str, str]) -> dict[str, str]:
            verdict = self.store.insert(item["url"], item["body"])
            if verdict.earlier is not None:
                raise DropItem(f"like {verdict.earlier.key}, {verdict.earlier.jaccard:.2f}")
            return item

        def close_spider(self) -> None:
            self.store.close()

    pipeline = NearDuplicates()
    pipeline.open_spider(tmp_path / "seen")
    items: queue.Queue[dict[str, str]] = queue.Queue()
    for key, text in zip(KEYS, TEXTS, strict=True):
        items.put({"url": key, "body": text})
    passed: list[str] = []
    dropped: list[str] = []

    def crawl() -> None:
        while True:
            try:
                item = items.get_nowait()
            except queue.Empty:
                return
            try:
                passed.append(pipeline.process_item(item)["url"])
            except DropItem as why:
                dropped.append(str(why))

    crawlers = [threading.Thread(target=crawl) for _ in range(4)]
    for crawler in crawlers:
        crawler.start()
    for crawler in crawlers:
        crawler.join()
    assert len(passed) + len(dropped) == 120 and dropped
    assert sorted(pipeline.store) == sorted(passed)
    pipeline.close_spider()


def best(store: dedupdb.Store, text: str) -> str | None:
    matches = store.query(text, limit=1)
    return matches[0].key if matches else None


def test_readers_in_processes(tmp_path: Path) -> None:
    with dedupdb.open(tmp_path / "store") as store:
        store.add(KEYS, TEXTS)
    with dedupdb.open(tmp_path / "store", read_only=True) as reader:
        context = multiprocessing.get_context("spawn")
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
            found = list(pool.map(best, [reader] * 120, TEXTS, chunksize=20))
        assert found == [best(reader, text) for text in TEXTS]


NOTEBOOK = [
    "import dedupdb, matplotlib\nmatplotlib.use('agg')\nimport matplotlib.pyplot as plt",
    "store = dedupdb.open(PATH, read_only=True)\nstore",
    "similarities = [number / 100 for number in range(101)]\n"
    "found = [store.recall(similarity) for similarity in similarities]",
    "figure, axes = plt.subplots()\n"
    "axes.plot(similarities, found)\n"
    "axes.axvline(store.threshold, linestyle=':')\n"
    "axes.set(xlabel='Jaccard similarity', ylabel='found')\n"
    "figure.savefig(PICTURE)",
    "assert found[100] == 1.0 and found[int(store.threshold * 100)] >= 0.98",
]


def test_a_notebook_draws_the_curve_of_a_store(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    with dedupdb.open(tmp_path / "store") as store:
        store.add(KEYS, TEXTS)
    picture = tmp_path / "curve.png"
    begin = f"PATH = {json.dumps(str(tmp_path / 'store'))}\nPICTURE = {json.dumps(str(picture))}"
    cells = [nbformat.v4.new_code_cell(code) for code in [begin, *NOTEBOOK]]
    notebook: Any = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "dedupdb.Store" in str(notebook.cells[2].outputs)


def test_every_call_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The calls of a whole session, as they are typed."""
    pa = pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    table = pa.table({"url": ["key", *KEYS], "body": ["some text", *TEXTS], "text": ["some text", *TEXTS]})
    lines = [json.dumps({"id": key, "text": text}) for key, text in zip(KEYS, TEXTS, strict=True)]
    for number, part in enumerate((lines[:50], lines[50:])):
        file = tmp_path / "crawl" / f"{number}.jsonl.zst"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(pa.compress("\n".join(part).encode(), codec="zstd", asbytes=True))
    texts = TEXTS

    with dedupdb.open("seen", threshold=0.8) as store:
        assert store.add(table, key="url", text="body").added == 121
        verdicts = store.insert(table, key="url", text="body")
        assert verdicts.column_names == ["row", "verdict", "earlier", "jaccard"]
        matches = [(match.key, match.jaccard, match.containment) for match in store.query("some text")]
        assert matches == [("key", 1.0, 1.0)]
        found = pa.table(store.query(texts, limit=5))
        assert found.num_rows > 120 and max(found["row"].to_pylist()) == 119
        assert pa.table(store.pairs()).num_rows > 10
        assert pa.table(store.clusters(linkage="representative")).num_rows > 10
        assert "key" in store and len(store) == 121
        del store["key"]
        assert store.get("key") is None and store.stats().documents == 120
        assert store.reindex(permutations=256) and store.compact()
        assert store.backup("copy").documents == 120
        assert store.check().is_clean

    kept, dropped = dedupdb.dedup(table, text="text", threshold=0.8)
    assert kept.num_rows + len(dropped) == 121 and kept.column_names == table.column_names
    mask = dedupdb.dedup(texts).keep
    assert mask.count(True) == kept.num_rows - 1
    signatures = dedupdb.sign(texts, permutations=128)
    assert signatures.shape == (120, 128)
    assert pa.table(dedupdb.read("crawl/*.jsonl.zst"))["key"].to_pylist() == KEYS
