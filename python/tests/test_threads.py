"""Threads, processes, signals, kills."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from given import keys, texts

import dedupdb
from dedupdb import errors

KEYS, TEXTS = keys(400), texts(400)


def test_threads_share_a_store(store: dedupdb.Store) -> None:
    def work(number: int) -> int:
        for row in range(number, 200, 8):
            store.insert(f"one/{row}", TEXTS[row])
            store.query(TEXTS[row], limit=1)
        return store.add([f"many/{number}/{key}" for key in KEYS[:50]], TEXTS[:50]).documents

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == [50] * 8
    assert len([key for key in store if key.startswith("many/")]) == 400
    assert store.check().is_clean


def test_a_page_is_taken_once_however_many_threads_bring_it(store: dedupdb.Store) -> None:
    barrier = threading.Barrier(8)

    def bring(number: int) -> str:
        barrier.wait()
        return store.insert(f"page/{number}", TEXTS[0]).verdict

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        verdicts = sorted(pool.map(bring, range(8)))
    assert verdicts == ["added"] + ["exact_copy"] * 7


def test_threads_change_their_own_documents(store: dedupdb.Store) -> None:
    def work(number: int) -> list[object]:
        one, other = f"one/{number}", f"other/{number}"
        store.insert(one, TEXTS[number])
        replaced = store.replace(one, TEXTS[number + 8]).verdict
        return [replaced, store.rename(one, other), store.remove(other), store.remove(other)]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == [["updated", True, 1, 0]] * 8
    assert not [key for key in store if key.startswith("o")]


def test_other_threads_run_meanwhile(store: dedupdb.Store) -> None:
    counted = 0
    stop = threading.Event()

    def count() -> None:
        nonlocal counted
        while not stop.is_set():
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    store.add(KEYS, TEXTS)
    store.query(TEXTS)
    stop.set()
    thread.join()
    assert counted > 100


def asked(store: dedupdb.Store, text: str) -> list[dedupdb.Match]:
    return store.query(text)


def test_pickling(path: Path) -> None:
    with dedupdb.open(path) as store:
        store.add(KEYS, TEXTS)
        with pytest.raises(TypeError, match="read_only=True"):
            pickle.dumps(store)
        reader = dedupdb.open(path, read_only=True)
        again = pickle.loads(pickle.dumps(reader))
        assert again.query(TEXTS[0]) == reader.query(TEXTS[0])
        for result in (again["doc/00000"], again.query(TEXTS[0]), again.stats(), store.insert("x", "y")):
            assert pickle.loads(pickle.dumps(result)) == result
        pickled = pickle.dumps(reader)
        store.reindex(permutations=256)
        with pytest.raises(errors.SchemaMismatch, match="permutations"):
            pickle.loads(pickled)


def test_processes_that_are_spawned_read(path: Path) -> None:
    with dedupdb.open(path) as store:
        store.add(KEYS, TEXTS)
        expected = [store.query(text) for text in TEXTS[:20]]
    with dedupdb.open(path, read_only=True) as reader:
        context = multiprocessing.get_context("spawn")
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
            assert list(pool.map(asked, [reader] * 20, TEXTS[:20])) == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_fork_opens_a_reader_again(path: Path) -> None:
    script = f"""
    import concurrent.futures, multiprocessing
    import dedupdb
    with dedupdb.open({str(path)!r}) as store:
        store.add("a", "a text in the parent")
    reader = dedupdb.open({str(path)!r}, read_only=True)
    moved = dedupdb.open({str(path)!r}, read_only=True)
    pairs = reader.pairs()
    with dedupdb.open({str(path)!r}) as store:
        store.add("b", "another text, which is of the next commit")

    def asked(text):
        return [match.key for match in reader.query(text)], len(reader)

    def rest(_):
        try:
            return len(list(pairs))
        except dedupdb.errors.OtherProcess:
            return "the stream is the parent's"

    def changed(_):
        try:
            return len(moved)
        except dedupdb.errors.SchemaMismatch as error:
            return error.parameter

    fork = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=fork) as pool:
        print(list(pool.map(asked, ["a text in the parent"] * 4)), list(pool.map(rest, [1])))
    with dedupdb.open({str(path)!r}) as store:
        store.reindex(permutations=256)
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=fork) as pool:
        print(list(pool.map(changed, [1])))
    print(asked("a text in the parent"), len(list(pairs)))
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    expected = [str([(["a"], 2)] * 4) + ' ["the stream is the parent\'s"]', "['permutations']", "(['a'], 1) 0"]
    assert (done.stdout.splitlines(), done.stderr) == (expected, "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_fork_is_told_to_open_the_store_anew(path: Path) -> None:
    script = f"""
    import os, sys
    import dedupdb
    store = dedupdb.open({str(path)!r})
    store.add("a", "a text in the parent")
    dedupdb.sign(["one", "two"] * 100)
    stream = store.pairs()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            store.query("a text in the parent")
        except dedupdb.errors.OtherProcess as error:
            code = 2
        try:
            store.add("b", "another")
        except dedupdb.errors.OtherProcess as error:
            code += 1
        with dedupdb.open({str(path)!r}, read_only=True) as reader:
            code += len(reader)
        code += len(dedupdb.sign(["one", "two"] * 100)) == 200
        os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 5, status
    store.add("b", "the parent goes on")
    print(len(store))
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("2\n", "")


ADDING = """
import sys
import dedupdb

def endless():
    number = 0
    while True:
        number += 1
        if number == 3000:
            print("under way", flush=True)
        yield str(number), f"document {number} " + " ".join(f"word{number * k}" for k in range(30))

with dedupdb.open(sys.argv[1]) as store:
    store.add("first", "the last commit stays")
    try:
        store.add(endless())
    except KeyboardInterrupt:
        import time
        print(time.monotonic(), flush=True)
        print(store.add("after", "the store takes what comes next").added, flush=True)
"""


@pytest.mark.parametrize("kill", [signal.SIGINT, getattr(signal, "SIGKILL", signal.SIGTERM)])
def test_adding_is_stopped_and_killed(path: Path, kill: signal.Signals) -> None:
    process = subprocess.Popen([sys.executable, "-c", ADDING, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "under way\n"
    asked = time.monotonic()
    process.send_signal(kill)
    rest = process.stdout.read().split()
    assert process.wait(60) == (0 if kill == signal.SIGINT else -kill)
    if kill == signal.SIGINT:
        # The time is a matter of the machine; it is printed, and looked at by people.
        print(f"stopped after {float(rest[0]) - asked:.3f} s")
        assert rest[1] == "1"
    with dedupdb.open(path) as store:
        assert "first" in store
        assert store.check().is_clean


BESIDE = """
import sys
import dedupdb

with dedupdb.open(sys.argv[1], wait="5m") as store:
    print("open", flush=True)
    sys.stdin.readline()
    for number in range(20):
        own = f"{sys.argv[2]}/{number}"
        store.add([f"{own}/{row}" for row in range(20)], [f"text {row} of {own}" for row in range(20)])
        store.insert(own, own)
"""


def test_processes_write_by_turns(path: Path) -> None:
    names = ["left", "right"]
    with dedupdb.open(path, wait="5m") as store:
        command = [sys.executable, "-c", BESIDE, str(path)]
        processes = [
            subprocess.Popen([*command, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for name in names
        ]
        for process in processes:
            assert process.stdout is not None and process.stdout.readline() == "open\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        assert store.check().is_clean
        assert store.add("middle", "what this process adds").added == 1
        for process in processes:
            process.communicate(timeout=300)
            assert process.returncode == 0
        assert store.refresh() and not store.refresh()
        assert len(store) == 2 * 20 * 21 + 1
        for name in names:
            assert store.query(f"text 7 of {name}/13")[0].key == f"{name}/13/7"
        assert store.check().is_clean


def test_who_does_not_wait_is_told_who_writes(path: Path) -> None:
    with dedupdb.open(path) as store, dedupdb.open(path, wait=0) as other:

        def adding() -> Iterator[tuple[str, str]]:
            # Enough for the first of them to be stored before the rest is read.
            for number in range(10_000):
                yield str(number), f"text {number}"
            with pytest.raises(errors.Locked, match="another handle of this process is writing") as locked:
                for number in range(1_000):
                    other.add(f"other/{number}", f"other text {number}")
                    time.sleep(0.01)
            assert locked.value.process == os.getpid()

        assert store.add(adding()).added == 10_000
        assert other.add("after", "what comes after").added == 1
        assert other["9999"].key == "9999"
        assert "after" not in store
        assert store.refresh()
        assert "after" in store


def test_ctrl_c_stops_questions_and_streams(store: dedupdb.Store) -> None:
    def interrupted(call: object) -> None:
        timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            call()  # type: ignore[operator]
        timer.join()

    def endless() -> Iterator[str]:
        while True:
            yield "a text that goes on and on"

    store.add(KEYS, TEXTS)
    interrupted(lambda: store.query(endless()))
    interrupted(lambda: store.add((str(number), text) for number, text in enumerate(endless())))
    interrupted(lambda: dedupdb.sign(endless()))
    assert store.add("after", "x").added == 1
    assert store.check().is_clean


def test_progress_is_told_and_may_end_it(store: dedupdb.Store) -> None:
    seen: list[tuple[int, int | None]] = []
    store.add(KEYS, TEXTS, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (400, None)

    class Enough(Exception):
        pass

    def enough(done: int, total: int | None) -> None:
        raise Enough

    with pytest.raises(Enough):
        store.add([f"x{key}" for key in KEYS], TEXTS, progress=enough)
    assert len(store) == 400
    with pytest.raises(TypeError, match="progress"):
        store.add(KEYS, TEXTS, progress="yes")  # type: ignore[arg-type]
    store.add(KEYS, TEXTS, progress=True)
