"""Nothing is left of a call: no object, no reference, no memory, no thread, no file."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest
from given import keys, texts

import dedupdb

pa = pytest.importorskip("pyarrow")
psutil = pytest.importorskip("psutil")

CALLS = int(os.environ.get("DEDUPDB_LEAK_CALLS", "1000"))
"""Calls of each door. An object or a kibibyte a call is seen with a thousand."""

KEYS, TEXTS = keys(12), texts(12)
KEY, TEXT = KEYS[0], TEXTS[0]
TABLE = pa.table({"id": KEYS[:2], "text": TEXTS[:2]})
COUNTED: list[object] = [KEY, TEXT, KEYS, TEXTS, TABLE, dedupdb.Match, dedupdb.Verdict, dedupdb.errors.InvalidQuery]


def failing(call: Callable[[], object]) -> None:
    with contextlib.suppress(ValueError, TypeError, KeyError):
        call()
        raise AssertionError("it was to fail")


def half(stream: Any) -> None:
    next(stream)


DOORS: dict[str, Callable[[dedupdb.Store], object]] = {
    "query": lambda store: store.query(TEXT),
    "query of many": lambda store: store.query(TEXTS[:2]),
    "query of Arrow": lambda store: pa.table(store.query(TABLE)),
    "get": lambda store: (store.get(KEY), KEY in store, "nothing" in store, store[KEY]),
    "insert": lambda store: store.insert(KEY, TEXT),
    "insert of Arrow": lambda store: store.insert(TABLE)["verdict"],
    "add of Arrow": lambda store: store.add(TABLE),
    "add of lists": lambda store: store.add(KEYS, TEXTS),
    "pairs, half read": lambda store: half(store.pairs()),
    "pairs, not read": lambda store: store.pairs().__arrow_c_stream__(),
    "clusters, half read": lambda store: half(store.clusters()),
    "documents, half read": lambda store: half(store.documents()),
    "sign": lambda store: dedupdb.sign(TEXTS[:2]),
    "a failed query": lambda store: failing(lambda: store.query(TEXT, threshold=2.0)),
    "a failed row": lambda store: failing(lambda: store.add([KEY, KEY], [TEXT, None])),
    "a failed table": lambda store: failing(lambda: store.insert(TABLE.select(["id"]))),
    "a failed type": lambda store: failing(lambda: store.query(5)),
    "a failed key": lambda store: failing(lambda: store["nothing"]),
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with dedupdb.open(tmp_path_factory.mktemp("leaks") / "store", threads=1) as store:
        store.add(KEYS, TEXTS)
        store.add([f"{key} again" for key in KEYS], TEXTS)
        yield store


def settled(process: Any) -> int:
    """Waits until no thread ends any more, and says how many there are."""
    gc.collect()
    threads = process.num_threads()
    for _ in range(100):
        time.sleep(0.1)
        before, threads = threads, process.num_threads()
        if threads >= before:
            break
    gc.collect()
    return int(threads)


@pytest.mark.parametrize("door", DOORS)
def test_nothing_is_left_of_calls(opened: dedupdb.Store, door: str) -> None:
    process, call = psutil.Process(), DOORS[door]
    for _ in range(100):
        call(opened)
    threads = settled(process)
    files, memory = process.num_fds(), process.memory_info().rss
    blocks, counted = sys.getallocatedblocks(), [sys.getrefcount(thing) for thing in COUNTED]
    for _ in range(CALLS):
        call(opened)
    settled(process)
    left = sys.getallocatedblocks() - blocks
    after = [sys.getrefcount(thing) for thing in COUNTED]
    assert left < CALLS // 10, f"{left} objects are left of {CALLS} calls"
    assert all(b - a < CALLS // 10 for a, b in zip(counted, after, strict=True)), (counted, after)
    # An allocator takes some MiB at once, at any time. A leak takes them with each thousand calls.
    for _ in range(4):
        grown = process.memory_info().rss - memory
        if grown < (6 << 20) + 512 * CALLS:
            break
        memory += grown
        for _ in range(CALLS):
            call(opened)
        settled(process)
    else:
        pytest.fail(f"{grown >> 10} KiB are left of each {CALLS} calls")
    assert process.num_threads() <= threads + 4 and process.num_fds() <= files + 4
