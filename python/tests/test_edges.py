"""Arrays as Arrow may have them, calls that are stopped at any point, handles that are closed under others."""

from __future__ import annotations

import _thread
import concurrent.futures
import contextlib
import gc
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from given import keys, texts

import dedupdb
from dedupdb import errors
from dedupdb.datasketch import MinHash, MinHashLSH

pa = pytest.importorskip("pyarrow")

KEYS, TEXTS = keys(400), texts(400)

KINDS: dict[str, Any] = {
    "utf8": lambda array: array,
    "large_utf8": lambda array: array.cast(pa.large_string()),
    "utf8_view": lambda array: array.cast(pa.string_view()),
    "dictionary": lambda array: array.dictionary_encode(),
    "dictionary of large_utf8": lambda array: array.cast(pa.large_string()).dictionary_encode(),
    "dictionary of small indices": lambda array: pa.DictionaryArray.from_arrays(
        pa.array([value.as_py() for value in array.dictionary_encode().indices], pa.int16()),
        array.dictionary_encode().dictionary,
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_slices_begin_where_they_say(store: dedupdb.Store, kind: str) -> None:
    """Of strings, of tables and of batches, with a null before the slice and one in it."""
    values: list[str | None] = list(TEXTS[:100])
    values[3] = None
    whole = KINDS[kind](pa.array(values))
    part, rows = whole.slice(7, 50), TEXTS[7:57]
    assert dedupdb.sign(part) == dedupdb.sign(rows)
    assert dedupdb.dedup(part).keep == dedupdb.dedup(rows).keep
    batch = pa.record_batch([pa.array(KEYS[:100]), whole], names=["id", "text"])
    assert store.add(batch.slice(7, 50)).documents == 50
    assert list(store) == KEYS[7:57]
    assert store.query(part)["row"] == store.query(rows)["row"]
    kept, _ = dedupdb.dedup(pa.table(batch).slice(7, 50))
    assert kept["id"].to_pylist() == [KEYS[7 + row] for row in dedupdb.dedup(rows).indices]
    for call in (store.query, dedupdb.sign, dedupdb.dedup):
        with pytest.raises(ValueError, match="row 2: the text is null"):
            call(whole.slice(1, 50))
    with pytest.raises(ValueError, match="row 2: the text is null"):
        store.add(batch.slice(1, 50))
    skipped = store.add(batch.slice(1, 50), errors="skip").skipped
    assert skipped == [(2, "the text is null")]


def test_rows_of_batches_may_be_null(store: dedupdb.Store) -> None:
    rows = [{"id": "a", "text": "x"}, None, {"id": "c", "text": "z"}]
    array = pa.array(rows, pa.struct([("id", pa.string()), ("text", pa.string())]))
    with pytest.raises(ValueError, match="row 1: the row is null"):
        store.add(array)
    assert store.add(array.slice(2)).added == 1


def test_a_null_in_a_dictionary_is_a_null(store: dedupdb.Store) -> None:
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, None], pa.int8()), pa.array(["x", None]))
    for row, part in [(1, array), (0, array.slice(1)), (0, array.slice(2))]:
        with pytest.raises(ValueError, match=f"row {row}: the text is null"):
            dedupdb.sign(part)
    first = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["x", "y"]))
    chunks = pa.chunked_array([first, array.slice(2)])
    with pytest.raises(ValueError, match="row 2: the text is null"):
        store.add(["a", "b", "c"], chunks)


def test_tables_without_columns_or_rows(store: dedupdb.Store) -> None:
    for table in (pa.table({}), pa.table({"id": ["a"]}).select([]), pa.record_batch([], names=[])):
        for call in (store.add, store.insert, store.query, dedupdb.dedup, dedupdb.sign):
            with pytest.raises(ValueError, match=r'there is no column "(id|text)"; there are none'):
                call(table)
    empty = pa.chunked_array([], pa.string())
    assert store.add(empty, empty).documents == 0
    assert dedupdb.dedup(pa.table({"text": empty})).keep == []
    chunks = pa.chunked_array([pa.array([], pa.string()), pa.array(TEXTS), pa.array([], pa.string())])
    assert dedupdb.sign(chunks) == dedupdb.sign(TEXTS)


def test_a_stream_that_breaks_in_the_middle(store: dedupdb.Store) -> None:
    batch = pa.record_batch([pa.array(KEYS), pa.array(TEXTS)], names=["id", "text"])

    def broken() -> Iterator[Any]:
        yield batch
        yield batch.slice(0, 10)
        raise OSError("the network is gone")

    store.add("kept", "what was there stays")
    for call in (store.add, store.insert, store.query, dedupdb.dedup, dedupdb.sign):
        reader = pa.RecordBatchReader.from_batches(batch.schema, broken())
        with pytest.raises(ValueError, match="the network is gone"):
            call(reader)
        assert list(store) == ["kept"]


class Enough(Exception):
    """What a callable of progress raises."""


def enough(done: int, total: int | None) -> None:
    raise Enough


def calls(store: dedupdb.Store, folder: Path) -> dict[str, Callable[..., object]]:
    """Calls that tell how far they are."""
    return {
        "add": lambda **told: store.add([f"new/{key}" for key in KEYS], TEXTS, **told),
        "insert": lambda **told: store.insert([f"new/{key}" for key in KEYS], TEXTS, **told),
        "query": lambda **told: store.query(TEXTS * 20, **told),
        "dedup": lambda **told: dedupdb.dedup(TEXTS, **told),
        "dedup, longest": lambda **told: dedupdb.dedup(TEXTS, keep="longest", **told),
        "sign": lambda **told: dedupdb.sign(TEXTS * 20, permutations=4096, **told),
        "reindex": lambda **told: store.reindex(permutations=2048, **told),
        "compact": lambda **told: store.compact(**told),
        "backup": lambda **told: store.backup(folder / "copy", **told),
        "check": lambda **told: store.check(**told),
    }


def test_what_a_progress_callable_raises_comes_through(store: dedupdb.Store, tmp_path: Path) -> None:
    store.add(KEYS, TEXTS)
    raised = set()
    for name, call in calls(store, tmp_path).items():
        # A call that is done before anybody looks tells nothing.
        try:
            call(progress=enough)
        except Enough:
            raised.add(name)
        if name == "reindex":
            store.reindex(permutations=2048)
        deadline = time.monotonic() + 60
        while True:
            # What was under way comes to its end first.
            try:
                assert store.add("after", f"the store takes what comes after {name}").documents == 1
                break
            except (errors.Blocked, errors.Locked, errors.Unfinished):
                assert time.monotonic() < deadline
                time.sleep(0.05)
        assert len(store) >= 401
    assert {"add", "insert", "dedup", "dedup, longest", "query", "sign"} <= raised
    assert store.check().is_clean


INTERRUPTED = """
import itertools, json, os, signal, sys, threading, time
import pyarrow
import dedupdb
from dedupdb import cluster

texts = [" ".join(f"word{number * k % 1009}" for k in range(200)) for number in range(4000)]
keys = [str(number) for number in range(4000)]
# What was stopped comes to its end first, and a check waits for that.
store = dedupdb.open(sys.argv[1], wait=60.0)
store.add(keys, texts)
other = dedupdb.open(sys.argv[1] + ".other")
with open(sys.argv[1] + ".jsonl", "w") as lines:
    for key, text in zip(keys, texts):
        print(json.dumps({"id": key, "text": text}), file=lines)
table = pyarrow.record_batch([keys[:500], texts[:500]], names=["key", "text"])
[sketches] = cluster.sketch([table], {})
parameters = sketches["parameters"][0].as_py()
sketches = sketches.append_column("file", pyarrow.array([""] * 500))
long = " ".join(str(number) for number in range(8_000_000))
calls = {
    "a long text": lambda: [store.query(long) for _ in range(10**6)],
    "read": lambda: [row for _ in range(10**6) for row in dedupdb.read(sys.argv[1] + ".jsonl")],
    "add of files": lambda: [store.add(dedupdb.read(sys.argv[1] + ".jsonl")) for _ in range(10**6)],
    "load": lambda: cluster.load(itertools.repeat(sketches), sys.argv[1] + ".loaded", parameters),
    "add": lambda: store.add([f"x{number}" for number in range(200_000)], texts * 50),
    "insert": lambda: store.insert([f"y{number}" for number in range(200_000)], texts * 50),
    "query": lambda: store.query(texts * 50),
    "dedup": lambda: dedupdb.dedup(texts * 50),
    "sign": lambda: dedupdb.sign(texts * 50, permutations=1024),
    "pairs": lambda: [pair for _ in range(10**6) for pair in store.pairs(threshold=0.01, exhaustive=True)],
    "clusters": lambda: [None for _ in range(10**6) for _ in store.clusters()],
    "merge": lambda: [other.merge(store) for _ in range(10**6)],
    "check": lambda: [store.check() for _ in range(10**6)],
    "backup": lambda: [store.backup(f"{sys.argv[1]}.{number}") for number in range(10**6)],
    "compact": lambda: [(store.remove(keys[:9]), store.add(keys, texts), store.compact()) for _ in range(10**6)],
    "reindex": lambda: [(store.cancel_rebuild(), store.reindex(permutations=n)) for n in range(512, 10**6)],
}
for name, call in calls.items():
    asked = []

    def interrupt():
        asked.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.4, interrupt)
    timer.start()
    try:
        call()
        print(name, "ended before")
    except KeyboardInterrupt:
        print(name, time.monotonic() - asked[0])
    timer.join()
    before = time.monotonic()
    while True:
        try:
            store.add("after", f"the store takes what comes after {name}")
            break
        except (dedupdb.errors.Locked, dedupdb.errors.Blocked, dedupdb.errors.WriterHeld) as error:
            if time.monotonic() - before > 60:
                raise
            time.sleep(0.05)
    assert store.query(f"the store takes what comes after {name}")[0].key == "after", name
    assert all(key in store for key in keys[9::100]), name
assert store.check().is_clean
loaded = dedupdb.open(sys.argv[1] + ".loaded", wait=60.0)
assert set(loaded) == set(keys[:500]) and loaded.check().is_clean
"""


def test_ctrl_c_ends_every_long_call(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(path)], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    # The times are a matter of the machine; they are printed, and looked at by people.
    print(done.stdout)
    assert [line.rsplit(" ", 1)[0] for line in done.stdout.splitlines() if "ended" not in line] == [
        *("a long text", "read", "add of files", "load", "add", "insert", "query", "dedup", "sign", "pairs"),
        *("clusters", "merge", "check", "backup", "compact", "reindex"),
    ]


def test_a_store_may_be_closed_while_others_ask(path: Path) -> None:
    for _ in range(5):
        # What was asked last may go on for a moment after it was closed.
        store = dedupdb.open(path, wait="30s")
        store.add(KEYS, TEXTS)
        begun = threading.Barrier(5)

        def ask(store: dedupdb.Store = store, begun: threading.Barrier = begun) -> str:
            begun.wait()
            try:
                while True:
                    store.query(TEXTS[:40])
                    store.query(TEXTS[0])
                    list(store.pairs())
                    len(store)
                    store.insert("new", TEXTS[5])
            except ValueError as error:
                return str(error)

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            asking = [pool.submit(ask) for _ in range(4)]
            begun.wait()
            time.sleep(0.1)
            store.close()
            assert {future.result(60) for future in asking} == {"the store is closed"}
    with dedupdb.open(path, wait="30s") as again:
        assert again.check().is_clean


def test_a_check_is_in_nobodys_way(store: dedupdb.Store) -> None:
    store.add(KEYS, TEXTS)
    # More pairs than are made ahead.
    store.add((f"x{number}", "a text that has many copies") for number in range(300))
    uses: list[Callable[[], Iterator[Any]]] = [store.pairs, store.documents, lambda: iter(store)]
    for use in uses:
        expected = list(use())
        began = use()
        first = next(began)
        assert store.check().is_clean
        assert [first, *began] == expected
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        asking = [pool.submit(store.query, TEXTS[0]) for _ in range(20)]
        adding = [pool.submit(store.add, f"new/{number}", f"a new text {number}") for number in range(20)]
        assert store.check().is_clean
        assert all(future.result(60)[0].key == KEYS[0] for future in asking)
        assert all(future.result(60).added == 1 for future in adding)
    assert store.check().is_clean


def test_a_rebuild_that_is_not_finished_is_forgotten(store: dedupdb.Store) -> None:
    store.add([str(number) for number in range(1000)], texts(1000))
    with pytest.raises(Enough):
        store.reindex(permutations=16384, progress=enough)
    # What was under way comes to its end first; then another rebuild is refused, or the first was done.
    with contextlib.suppress(errors.Unfinished):
        store.compact()
    store.cancel_rebuild()
    assert not store.cancel_rebuild()
    assert store.compact()


def test_a_generator_may_call_back(store: dedupdb.Store) -> None:
    store.add(KEYS, TEXTS)
    seen: list[object] = []

    def asking() -> Iterator[tuple[str, str]]:
        seen.append(len(store))
        seen.append(store.query(TEXTS[0])[0].key)
        seen.append(len(store.query(TEXTS[:5])))
        seen.append(dedupdb.dedup(TEXTS[:5]).keep)
        seen.append(next(store.pairs())["key_a"])
        seen.append(next(iter(store)))
        with pytest.raises(errors.WriterHeld):
            store.insert("one", "text")
        with pytest.raises(errors.WriterHeld):
            store.compact()
        with pytest.raises(errors.WriterHeld):
            store.check()
        with pytest.raises(errors.WriterHeld):
            del store[KEYS[0]]
        yield "new", "what the generator gives"

    for call in (store.add, store.insert):
        call(asking())
        assert "new" in store
    assert len(seen) == 12


def test_a_generator_may_close_the_store(path: Path) -> None:
    store = dedupdb.open(path)

    def closing() -> Iterator[tuple[str, str]]:
        yield "a", "what comes before"
        store.close()
        yield "b", "what comes after"

    # The call has the store until its end.
    assert store.add(closing()).added == 2
    assert store.closed
    with dedupdb.open(path, wait="10s") as again:
        assert list(again) == ["a", "b"]


def test_a_generator_may_wait_for_another_thread(store: dedupdb.Store) -> None:
    """Of two threads that wait for each other, Ctrl-C frees both."""
    outcome: list[object] = []

    def write() -> None:
        outcome.append(store.add("other", "from another thread").added)

    def waiting() -> Iterator[tuple[str, str]]:
        yield from ((f"first/{key}", text) for key, text in zip(KEYS, TEXTS, strict=True))
        thread = threading.Thread(target=write)
        thread.start()
        threading.Timer(0.3, _thread.interrupt_main).start()
        while thread.is_alive():
            time.sleep(0.01)
        yield "last", "text"

    try:
        assert store.add(waiting()).added == 401
        with pytest.raises(KeyboardInterrupt):
            time.sleep(60)
    except KeyboardInterrupt:
        pass
    deadline = time.monotonic() + 60
    while not outcome and time.monotonic() < deadline:
        time.sleep(0.01)
    assert outcome == [1] and "other" in store


def test_huge_strings(store: dedupdb.Store) -> None:
    huge = " ".join(f"w{number}" for number in range(400_000))
    assert store.add(["huge", "small"], [huge, "a small one"]).added == 2
    [match] = store.query(huge)
    assert match.exact_copy
    assert dedupdb.dedup([huge, "x", huge + "!"]).keep == [True, True, False]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="nobody tells the memory here")
def test_streams_are_never_in_memory_as_a_whole(store: dedupdb.Store) -> None:
    """Three million pairs, 60 bytes each, and a cluster of all."""

    def held() -> int:
        """Kilobytes that are no file's."""
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))

    store.add((f"{number:020}", TEXTS[0]) for number in range(2500))
    for stream, rows in [(store.pairs(), 2500 * 2499 // 2), (store.clusters(), 2500)]:
        before, most, taken = held(), 0, 0
        for batch in pa.RecordBatchReader.from_stream(stream):
            assert batch.num_rows <= 4096
            taken += batch.num_rows
            most = max(most, held())
        assert taken == rows
        assert most - before < 60_000, f"{most - before} kB"


def test_streams_and_tables_that_nobody_reads_go(path: Path) -> None:
    psutil = pytest.importorskip("psutil")
    process = psutil.Process()
    table = pa.table({"id": KEYS[:20], "text": TEXTS[:20]})
    with dedupdb.open(path) as store:
        store.add(KEYS, TEXTS)

        def round() -> None:
            for _ in range(20):
                store.pairs().__arrow_c_stream__()
                next(store.clusters())
                store.query(TEXTS[:3]).__arrow_c_stream__()
                store.query(TEXTS[:3]).__arrow_c_schema__()
                store.insert(table)
                with pytest.raises(ValueError):
                    store.add(["a"], pa.array([None], pa.string()))
                list(store.documents("doc/0000"))
            dedupdb.dedup(table)
            lsh = MinHashLSH(threshold=0.5, num_perm=16)
            for number in range(20):
                minhash = MinHash(num_perm=16)
                minhash.update_batch([f"{number}".encode(), b"x"])
                lsh.insert(number, minhash)
                lsh.query(minhash)

        round()
        gc.collect()
        counted, before = sys.getrefcount(table), process.memory_info().rss
        for _ in range(10):
            round()
        gc.collect()
        deadline = time.monotonic() + 30
        while process.num_threads() > 60 and time.monotonic() < deadline:
            time.sleep(0.1)
        assert sys.getrefcount(table) == counted
        grown = process.memory_info().rss - before
    assert grown < 40 << 20, f"{grown >> 20} MiB"
    assert process.num_threads() < 60 and process.num_fds() < 200


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="there are no such signals here")
def test_threads_that_are_no_main_thread_are_not_interrupted(store: dedupdb.Store) -> None:
    """A signal is the main thread's: what others do goes on."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        adding = pool.submit(lambda: store.add(KEYS, TEXTS))
        try:
            _thread.interrupt_main()
            time.sleep(5)
        except KeyboardInterrupt:
            pass
        assert adding.result(60).added == 400


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="there are no forks here")
def test_a_fork_in_the_middle_of_a_stream(path: Path) -> None:
    script = f"""
    import os
    import dedupdb
    store = dedupdb.open({str(path)!r})
    store.add([str(number) for number in range(20_000)], ["the same text"] * 20_000)
    stream = store.clusters()
    documents = store.documents()
    next(stream), next(documents)
    child = os.fork()
    if child == 0:
        code = 0
        for rest in (documents,):
            try:
                list(rest)
                code += 10
            except dedupdb.errors.OtherProcess:
                code += 1
        os._exit(code)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), len(list(stream)), len(list(documents)))
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("1 19999 19999\n", "")
