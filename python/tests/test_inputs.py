"""What may be given, and what is refused."""

from __future__ import annotations

import array
import json
import mmap
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from given import CommandLine, keys, texts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dedupdb
from dedupdb import errors

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

KEYS, TEXTS = keys(300), texts(300)


def table(kind: Any = None, rows: slice = slice(None)) -> Any:
    columns = [pa.array(KEYS[rows]), pa.array(TEXTS[rows], kind or pa.string())]
    return pa.table(columns, names=["id", "text"])


def generated() -> Iterator[dict[str, str]]:
    for key, text in zip(KEYS, TEXTS, strict=True):
        yield {"id": key, "text": text}


FORMS: dict[str, Callable[[], tuple[Any, ...]]] = {
    "lists": lambda: (KEYS, TEXTS),
    "tuples": lambda: (tuple(KEYS), tuple(TEXTS)),
    "iterators": lambda: (iter(KEYS), iter(TEXTS)),
    "generator": lambda: (generated(),),
    "dicts": lambda: (list(generated()),),
    "pairs": lambda: (zip(KEYS, TEXTS, strict=True),),
    "table": lambda: (table(),),
    "large_utf8": lambda: (table(pa.large_string()),),
    "utf8_view": lambda: (table(pa.string_view()),),
    "dictionary": lambda: (table().set_column(1, "text", table()["text"].dictionary_encode()),),
    "reader": lambda: (table().to_reader(max_chunksize=7),),
    "batch": lambda: (table().combine_chunks().to_batches()[0],),
    "arrays": lambda: (pa.array(KEYS), pa.chunked_array([TEXTS[:100], TEXTS[100:]])),
    "array and list": lambda: (pa.array(KEYS, pa.string_view()), TEXTS),
    "sliced": lambda: (pa.concat_tables([table(rows=slice(0, 50)), table()]).slice(50),),
}


def dump(store: dedupdb.Store) -> list[tuple[Any, ...]]:
    pairs = [tuple(pair.values()) for pair in store.pairs()]
    return [(found.key, found.hash, found.shingles) for found in store.documents()] + pairs


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, ...]]:
    with dedupdb.open(tmp_path_factory.mktemp("expected") / "store") as store:
        for first in range(0, 300, 50):
            store.add(KEYS[first : first + 50], TEXTS[first : first + 50])
        return dump(store)


@pytest.mark.parametrize("form", FORMS)
def test_any_form_is_the_same(store: dedupdb.Store, expected: list[Any], form: str) -> None:
    added = store.add(*FORMS[form]())
    assert added.documents == 300
    assert dump(store) == expected


def test_other_libraries(store: dedupdb.Store, expected: list[Any]) -> None:
    frames: list[Any] = []
    for name, make in [("pandas", "DataFrame"), ("polars", "DataFrame")]:
        try:
            frames.append(getattr(__import__(name), make)({"id": KEYS, "text": TEXTS}))
        except ImportError:
            continue
    for frame in frames:
        store.remove(KEYS)
        assert store.add(frame).added == 300
        assert dump(store) == expected
    if not frames:
        pytest.skip("neither pandas nor polars is installed")


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sizes=st.lists(st.integers(0, 120), max_size=6), unique=st.booleans())
def test_chunks_make_no_difference(tmp_path_factory: pytest.TempPathFactory, sizes: list[int], unique: bool) -> None:
    folder = tmp_path_factory.mktemp("chunks")
    whole, parts = table(), []
    at = 0
    for size in [*sizes, 300]:
        parts.append(whole.slice(at, size))
        at = min(at + size, 300)
    with dedupdb.open(folder / "one") as one, dedupdb.open(folder / "many") as many:
        first = one.add(KEYS, TEXTS, unique=unique)
        second = many.add(pa.concat_tables(parts), unique=unique)
        assert first == second
        assert dump(one) == dump(many)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=60), max_size=20))
def test_any_text_is_taken(tmp_path_factory: pytest.TempPathFactory, made: list[str]) -> None:
    folder = tmp_path_factory.mktemp("texts")
    numbered = [str(number) for number in range(len(made))]
    with dedupdb.open(folder / "list") as one, dedupdb.open(folder / "arrow") as other:
        assert one.add(numbered, made) == other.add(pa.table({"id": numbered, "text": made}))
        assert dump(one) == dump(other)
        found = one.query(made)
        rows = dict.fromkeys(range(len(made)), False)
        for row, key in zip(found["row"], found["key"], strict=True):
            rows[row] |= key == str(row)
        assert all(rows.values())


def test_the_command_line_says_the_same(tmp_path: Path, command_line: CommandLine) -> None:
    lines = [json.dumps({"id": key, "text": text}) for key, text in zip(KEYS, TEXTS, strict=True)]
    file = tmp_path / "texts.jsonl"
    file.write_text("\n".join(lines) + "\n")
    command_line("--store", tmp_path / "one", "add", file)
    with dedupdb.open(tmp_path / "two") as store:
        store.add(table())
        pairs = [(pair["key_a"], pair["key_b"], pair["jaccard"]) for pair in store.pairs()]
        found = store.query(TEXTS[:50])
        asked = list(zip(found["row"], found["key"], found["jaccard"], strict=True))
        members = sorted((row["representative"], row["key"]) for row in store.clusters())
    theirs = command_line.objects("--store", tmp_path / "one", "pairs")
    assert [(pair["a"], pair["b"], pair["jaccard"]) for pair in map(_named, theirs)] == pairs
    with dedupdb.open(tmp_path / "one", read_only=True) as store:
        again = store.query(TEXTS[:50])
        assert list(zip(again["row"], again["key"], again["jaccard"], strict=True)) == asked
        assert sorted((row["representative"], row["key"]) for row in store.clusters()) == members
    command_line("dedup", file, "-o", tmp_path / "clean.jsonl")
    clean = (tmp_path / "clean.jsonl").read_text().splitlines()
    result = dedupdb.dedup(TEXTS)
    assert [line for line, keep in zip(lines, result.keep, strict=True) if keep] == clean


def _named(pair: dict[str, Any]) -> dict[str, Any]:
    return {
        "a": pair.get("a", pair.get("key_a")),
        "b": pair.get("b", pair.get("key_b")),
        "jaccard": pair["jaccard"],
    }


BAD: dict[str, tuple[tuple[Any, ...], type[Exception], str]] = {
    "null text": (
        (pa.table({"id": ["a", "b"], "text": ["x", None]}),),
        ValueError,
        "row 1: the text is null",
    ),
    "null key": ((pa.table({"id": ["a", None], "text": ["x", "y"]}),), ValueError, "row 1: the key is null"),
    "None in a list": ((["a", "b"], ["x", None]), ValueError, "row 1: the text is null"),
    "all null": ((pa.table({"id": ["a"], "text": pa.nulls(1)}),), ValueError, "row 0: the text is null"),
    "number": ((["a", "b"], ["x", 5]), TypeError, "row 1: the text is int, not a string"),
    "bytes": ((["a"], [b"x"]), TypeError, "row 0: the text is bytes"),
    "bool key": (([True], ["x"]), TypeError, "row 0: the key is bool"),
    "surrogate": ((["a", "b"], ["x", "\ud800"]), ValueError, "row 1: the text has a lone surrogate"),
    "surrogate key": ((["\udc80"], ["x"]), ValueError, "row 0: the key has a lone surrogate"),
    "empty key": ((["a", ""], ["x", "y"]), errors.InvalidKey, "row 1: the key is empty"),
    "long key": ((["k" * 70000], ["x"]), errors.InvalidKey, "row 0: the key has 70000 bytes"),
    "no column": (
        (pa.table({"id": ["a"], "body": ["x"]}),),
        ValueError,
        'text: .* no column "text".*"id", "body"',
    ),
    "numbers": ((pa.table({"id": ["a"], "text": [5]}),), TypeError, 'the column "text" has values of Int64'),
    "no key": (([{"text": "x"}],), ValueError, "row 0: the key is missing"),
    "no text": (([{"id": "x"}],), ValueError, "row 0: the text is missing"),
    "no record": ((["x"],), (ValueError, TypeError), "row 0: the row is str"),  # type: ignore[dict-item]
    "triple": (([("a", "b", "c")],), ValueError, "row 0: the row is a tuple of 3"),
    "null record": (([("a", "x"), None],), ValueError, "row 1: the row is null"),
    "shorter": ((["a", "b"], ["x"]), ValueError, "texts end after 1 row, and keys go on"),
    "longer": ((["a"], ["x", "y"]), ValueError, "keys end after 1 row, and texts go on"),
    "one string": (("abc",), TypeError, "data: one str"),
    "string and list": (("abc", ["x"]), TypeError, "text.* list"),
    "string and bytes": (("abc", b"x"), TypeError, "text.* bytes"),
    "bytes and string": ((b"abc", "x"), TypeError, "key is bytes"),
    "string and None": (("abc", None), TypeError, "data: one str.*give its text"),
    "a dict": (({"a": "x"},), TypeError, "data: a dict"),
    "a number": ((5,), TypeError, "data: int, where a table or an iterable"),
    "an array": ((pa.array(["x"]),), TypeError, "an Arrow array of Utf8, where a table is needed"),
    "array of numbers": ((["a"], pa.array([1.5])), TypeError, "texts: an Arrow array of Float64"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_is_wrong_is_told_with_its_row(store: dedupdb.Store, what: str) -> None:
    store.add("kept", "what is stored is not harmed")
    arguments, kind, message = BAD[what]
    for call in (store.add, store.insert):
        with pytest.raises(kind, match=message):
            call(*arguments)
        assert list(store) == ["kept"]
    assert store.add("after", "a store that refused takes what comes next").added == 1
    assert len(store.query("what is stored is not harmed")) == 1


def test_wrong_rows_may_be_skipped(store: dedupdb.Store) -> None:
    added = store.add(["a", "", "c", "d"], ["x", "y", None, "z"], errors="skip")
    assert added.added == 2
    assert added.skipped == [
        (1, "the key is empty; a key has 1 to 65536 bytes"),
        (2, "the text is null"),
    ]
    verdicts = store.insert(["e", "f"], [None, "x"], errors="skip")
    assert verdicts["verdict"] == ["skipped", "exact_copy"]
    with pytest.raises(ValueError, match="errors"):
        store.add("a", "x", errors="ignore")  # type: ignore[arg-type]


def test_numbers_are_keys(store: dedupdb.Store) -> None:
    store.add(pa.table({"id": pa.array([1, 2**40], pa.int64()), "text": ["x", "y"]}))
    store.add([3], ["z"])
    assert list(store) == ["1", "1099511627776", "3"]
    assert 3 in store and 4 not in store and True not in store and "3" in store
    assert store[3].key == "3" and store.get(4) is None and store.like(3) == []
    assert store.insert(5, "five") and store.add(6, "six").added == 1 and 5 in store and 6 in store
    assert store.remove(5) == 1 and store.remove([6, "7"]) == 1
    del store[3]
    store.add([3], ["z"])
    with pytest.raises(TypeError, match="key is float"):
        store.get(3.0)  # type: ignore[arg-type]
    assert store.remove(pa.array(["1", "3", "nobody"])) == 2
    with pytest.raises(TypeError, match="key is bytearray"):
        store.remove(bytearray(b"6"))
    with pytest.raises(ValueError, match="row 0: the key is null"):
        store.add(pa.table({"id": pa.array([None], pa.int64()), "text": ["x"]}))


def test_integers_of_numpy_are_keys(store: dedupdb.Store) -> None:
    numpy = pytest.importorskip("numpy")
    store.add(numpy.arange(3), ["x", "y", "z"])
    store.add([(numpy.uint8(7), "seven")])
    assert list(store) == ["0", "1", "2", "7"] and numpy.int64(7) in store
    assert store.remove(numpy.arange(2)) == 2
    for wrong in (numpy.array([5]), numpy.float64(5), numpy.bool_(True)):
        with pytest.raises(TypeError):
            store.get(wrong)


def test_records_that_were_read_can_be_added(tmp_path: Path, store: dedupdb.Store) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text('{"id": "a", "text": "x"}\n{"id": "b", "text": "y"}\n')
    store.add(row for row in dedupdb.read(path) if row["key"] != "b")
    store.add([{"key": "c", "id": "d", "text": "z"}, {"key": "e", "text": "z"}])
    assert list(store) == ["a", "d", "e"]
    with pytest.raises(ValueError, match="there is no 'id'"):
        store.add([{"name": "f", "text": "z"}])


def test_an_interrupt_behind_an_arrow_stream_is_one(store: dedupdb.Store) -> None:
    def batches() -> Iterator[Any]:
        yield pa.RecordBatch.from_pydict({"id": ["a"], "text": ["x"]})
        raise KeyboardInterrupt

    schema = pa.schema([("id", pa.string()), ("text", pa.string())])
    with pytest.raises(KeyboardInterrupt):
        store.add(pa.RecordBatchReader.from_batches(schema, batches()))


def test_nothing_is_something_too(store: dedupdb.Store) -> None:
    empty = pa.table({"id": pa.array([], pa.string()), "text": pa.array([], pa.string())})
    for nothing in [([], []), ([],), (iter(()),), (empty,), (empty.to_reader(),)]:
        assert store.add(*nothing).documents == 0
        assert len(store.insert(*nothing)) == 0
    for none in [[], empty, pa.array([], pa.string())]:
        assert len(store.query(none)) == 0
        result = dedupdb.dedup(none)
        assert result.keep == [] and result.groups == []
        assert dedupdb.sign(none).shape == (0, 128)
    assert list(store.pairs()) == list(store.clusters()) == []
    assert pa.table(store.pairs()).num_rows == 0


def test_bytes_that_are_not_utf8_are_refused(store: dedupdb.Store) -> None:
    raw = pa.array([b"\xff\xfe", b"text"])
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        source = raw.cast({pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}.get(kind, pa.binary()))
        if kind == pa.string_view():
            strings = pa.Array.from_buffers(pa.string_view(), 2, source.cast(pa.binary_view()).buffers())
        else:
            strings = pa.Array.from_buffers(kind, 2, source.buffers())
        with pytest.raises(ValueError, match="row 0: the text is not UTF-8"):
            store.add(["a", "b"], strings)
    assert len(store) == 0


def test_what_a_generator_raises_comes_through(store: dedupdb.Store) -> None:
    def broken() -> Iterator[tuple[str, str]]:
        yield "a", "x"
        raise LookupError("the page is gone")

    with pytest.raises(LookupError, match="the page is gone"):
        store.add(broken())
    assert len(store) == 0

    def batches() -> Iterator[Any]:
        yield table().to_batches()[0]
        raise LookupError("the page is gone")

    reader = pa.RecordBatchReader.from_batches(table().schema, batches())
    with pytest.raises(ValueError, match="the page is gone"):
        store.add(reader)
    assert len(store) == 0


def test_what_reads_may_not_write(store: dedupdb.Store) -> None:
    def writing() -> Iterator[tuple[str, str]]:
        yield "a", "x"
        assert store.query("x") == []
        store.add("b", "y")

    with pytest.raises(errors.WriterHeld):
        store.add(writing())
    assert len(store) == 0
    assert store.add("c", "z").added == 1


def test_strings_beyond_two_gigabytes_of_offsets(store: dedupdb.Store) -> None:
    text, begin = b"a text about little", 1 << 31
    # Pages that nobody touches take no memory.
    data = mmap.mmap(-1, begin + len(text))
    data[begin:] = text
    offsets = array.array("q", [0, 0, begin, begin + len(text)])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    strings = pa.Array.from_buffers(pa.large_string(), 3, buffers)
    assert store.add(["a"], strings.slice(2)).added == 1
    assert store.query("a text about little")[0].key == "a"


def test_dedup_takes_the_same_and_gives_the_kind_back() -> None:
    expected = dedupdb.dedup(TEXTS)
    assert expected.kept == [TEXTS[row] for row in expected.indices]
    assert 0 < len(expected.indices) < 300
    dropped = sum(len(group) - 1 for group in expected.groups)
    assert dropped == len(expected.dropped) == 300 - len(expected.indices)
    kept, why = expected
    assert kept is expected.kept and why is expected.dropped
    for row, earlier, verdict, jaccard in (tuple(row.values()) for row in why):
        assert earlier < row and expected.keep[earlier] and not expected.keep[row]
        assert (verdict == "exact_copy") == (TEXTS[row] == TEXTS[earlier])
        assert jaccard >= 0.8
    for data in (
        table(),
        table(pa.string_view()),
        table().to_reader(7),
        list(generated()),
        generated(),
        pa.array(TEXTS),
    ):
        result = dedupdb.dedup(data)
        assert result.keep == expected.keep
        if not isinstance(result.kept, list):
            assert pa.table(result.kept)["text"].to_pylist() == expected.kept
    assert isinstance(dedupdb.dedup(table()).kept, pa.Table)
    looser = dedupdb.dedup(TEXTS, threshold=0.5)
    assert len(looser.indices) < len(expected.indices)
    with pytest.raises(ValueError, match="row 1: the text is null"):
        dedupdb.dedup(["x", None])
    with pytest.raises(TypeError, match="no parameter"):
        dedupdb.dedup(TEXTS, treshold=0.5)  # type: ignore[call-arg]


def test_signatures_are_those_of_matrix(tmp_path: Path, command_line: CommandLine) -> None:
    numpy = pytest.importorskip("numpy")
    file = tmp_path / "texts.jsonl"
    file.write_text(
        "".join(json.dumps({"id": key, "text": text}) + "\n" for key, text in zip(KEYS, TEXTS, strict=True))
    )
    command_line("matrix", file, "-o", tmp_path / "matrix.npy", "--permutations", 64, "--seed", 3)
    signatures = dedupdb.sign(table(), permutations=64, seed=3)
    assert signatures.shape == (300, 64)
    assert (numpy.asarray(signatures) == numpy.load(tmp_path / "matrix.npy")).all()
    assert dedupdb.sign(TEXTS, permutations=64, seed=3) == signatures
    assert list(signatures[-1]) == numpy.asarray(signatures)[-1].tolist()
    assert numpy.asarray(signatures, dtype="u8").dtype == numpy.uint64
    with pytest.raises(IndexError):
        signatures[300]
    with pytest.raises(errors.InvalidColumn, match="row 1"):
        dedupdb.sign(["1 2", "x"], shingling="ids")


def test_reading_files(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(
        '{"id": "one", "text": "first"}\n{"id": "two"}\n{"id": "three", "text": "third"}\n'
    )
    (tmp_path / "b.csv").write_text("id,text\nfour,fourth\n")
    rows = dedupdb.read([tmp_path / "a.jsonl", tmp_path / "b.csv"])
    found = pa.table(rows)
    assert found["key"].to_pylist() == ["one", "three", "four"]
    assert found["text"].to_pylist() == ["first", "third", "fourth"]
    assert found["record"].to_pylist()[:2] == [1, 3]
    [(place, why)] = rows.skipped
    assert "a.jsonl:2" in place + why and "text" in why
    with pytest.raises(ValueError, match="read once"):
        pa.table(rows)
    assert [row["key"] for row in dedupdb.read(tmp_path / "*.csv")] == ["four"]
    with pytest.raises(ValueError, match="format"):
        dedupdb.read(tmp_path, format="docx")
    for missing in (tmp_path / "c.csv", tmp_path / "*.parquet"):
        with pytest.raises(FileNotFoundError, match=re.escape(missing.name)):
            list(dedupdb.read([tmp_path / "b.csv", missing]))
    with dedupdb.open(tmp_path / "store") as store:
        with pytest.raises(FileNotFoundError, match="missing: there is no such file"):
            store.add(dedupdb.read([tmp_path / "b.csv", tmp_path / "missing"]))
        with pytest.raises(FileNotFoundError, match="missing: there is no such file"):
            dedupdb.dedup(dedupdb.read(tmp_path / "missing"))
        assert list(store) == []
        with pytest.warns(UserWarning, match="reading left out 1 file or record"):
            assert store.add(dedupdb.read(tmp_path / "a.jsonl")).added == 2
        assert store.add(dedupdb.read(tmp_path / "b.csv"), key="source").added == 1
        assert list(store) == sorted(["one", "three", str(tmp_path / "b.csv")])
        assert store.add(pa.table({"key": ["k"], "id": ["i"], "text": ["x"]})).added == 1
        assert "i" in store and "k" not in store
        with pytest.raises(ValueError, match='no column "id"'):
            store.add(dedupdb.read(tmp_path / "a.jsonl"), key="id")


def test_files_of_which_none_can_be_read_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "one", "body": "first"}\n{"id": "two", "body": "second"}\n')
    read = partial(dedupdb.read, tmp_path / "a.jsonl")
    for call in (list, dedupdb.dedup):
        with pytest.raises(ValueError, match=r'a.jsonl: none of its 2 records could be read; .*"body"'):
            call(read())
    assert len(list(read(text_field="body"))) == 2
    assert next(iter(dedupdb.read(tmp_path, text_field="body", format="jsonl")))["text"] == "first"
    (tmp_path / "empty").mkdir()
    assert list(dedupdb.read(tmp_path / "empty")) == []


def test_a_page_with_a_wrong_checksum_is_told(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    pq.write_table(table(), file, compression="none", use_dictionary=False, write_page_checksum=True)
    assert len(list(dedupdb.read(file))) == len(TEXTS)
    written = bytearray(file.read_bytes())
    written[written.index(TEXTS[7].encode())] ^= 1
    file.write_bytes(written)
    with pytest.raises(ValueError, match=r"(?i)crc|checksum"):
        list(dedupdb.read(file))


def test_a_key_that_comes_again_with_another_text_is_refused(tmp_path: Path) -> None:
    rows = [("1", "one text"), ("2", "two texts"), ("1", "another text"), ("2", "two texts")]
    for split in (1, 2, 4):
        store = dedupdb.open(tmp_path / f"store-{split}")
        with pytest.raises(ValueError, match=r'row 2: the key "1" came before with another text'):
            store.add(iter(rows))
        assert list(store) == []
        added = store.add(rows, errors="skip")
        assert (added.added, added.unchanged, added.updated) == (2, 1, 0)
        assert [row for row, _ in added.skipped] == [2]
        verdicts = store.insert([("3", "three"), ("3", "quite another")], errors="skip")
        assert verdicts["verdict"] == ["added", "skipped"]
        # In a later call, the text of a key may change.
        assert store.add([("1", "another text")]).updated == 1
        assert store["1"].source is None


def test_ids_may_be_those_of_their_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": 1, "text": f"the text of {name}"}))
    both = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    store = dedupdb.open(tmp_path / "store")
    said = r'b.jsonl:1: the key "1" came before with another text, at .*a.jsonl:1; both rows .* id_scope="file"'
    with pytest.warns(UserWarning, match=said):
        rows = list(dedupdb.read(both))
    assert [row["key"] for row in rows] == ["1", "1"]
    with pytest.warns(UserWarning, match=said):
        assert dedupdb.dedup(dedupdb.read(both)).indices == [0, 1]
    with pytest.warns(UserWarning, match=said):
        added = store.add(dedupdb.read(both), errors="skip")
    assert (added.added, [row for row, _ in added.skipped]) == (1, [1])
    assert store.add(dedupdb.read(both, id_scope="file")).added == 2
    assert sorted(key.rpartition("/")[2] for key in store) == ["1", "a.jsonl#1", "b.jsonl#1"]
    with pytest.raises(ValueError, match="id_scope"):
        dedupdb.read(both, id_scope="each")  # type: ignore[arg-type]
