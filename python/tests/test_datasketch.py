"""The classes of datasketch, beside datasketch itself where that is installed."""

from __future__ import annotations

import os
import pickle
import random
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dedupdb
from dedupdb.datasketch import LeanMinHash, MinHash, MinHashLSH, MinHashLSHForest

TOKENS = st.lists(st.integers(0, 300), max_size=200)


def tokens(numbers: Any) -> list[bytes]:
    return [f"token{number}".encode() for number in numbers]


def minhash(numbers: Any, **arguments: Any) -> MinHash:
    made = MinHash(**arguments)
    made.update_batch(tokens(numbers))
    return made


@given(TOKENS, TOKENS)
def test_answers_are_exact(a: list[int], b: list[int]) -> None:
    one, other = minhash(a), minhash(b)
    both, either = set(a) & set(b), set(a) | set(b)
    assert one.jaccard(other) == other.jaccard(one) == (len(both) / len(either) if either else 1.0)
    assert one.count() == len(set(a))
    assert one.is_empty() == (not a)
    union = MinHash.union(one, other)
    one.merge(other)
    assert one == union
    one.merge(one)
    assert one == union
    assert union.count() == len(either)


@given(st.lists(st.tuples(st.sampled_from(["update", "merge", "copy", "count", "clear"]), TOKENS), max_size=12))
def test_a_set_has_the_tokens_of_all_steps(steps: list[tuple[str, list[int]]]) -> None:
    one, other = MinHash(num_perm=16), MinHash(num_perm=16)
    expected: set[int] = set()
    others: set[int] = set()
    for step, numbers in steps:
        if step == "update":
            one.update_batch(tokens(numbers))
            expected |= set(numbers)
        elif step == "merge":
            other.update_batch(tokens(numbers))
            others |= set(numbers)
            one.merge(other)
            expected |= others
        elif step == "copy":
            # What the first one takes in afterwards is not in the copy.
            one, before = one.copy(), one
            before.merge(minhash(numbers, num_perm=16))
        elif step == "count":
            assert one.count() == len(expected)
        else:
            one.clear()
            expected.clear()
    assert one == minhash(expected, num_perm=16) and one.count() == len(expected)
    assert list(one.hashvalues) == list(minhash(expected, num_perm=16).hashvalues)
    assert other.count() == len(others)


def test_a_minhash_is_what_it_was() -> None:
    one = minhash(range(50), num_perm=64, seed=3)
    assert len(one) == 64 and one.seed == 3
    again = pickle.loads(pickle.dumps(one))
    copy = one.copy()
    assert one == again == copy
    copy.update(b"another")
    assert one != copy and copy.count() == 51
    assert MinHash.bulk([tokens(range(50))] * 2, num_perm=64, seed=3) == [one, one]
    copy.clear()
    assert copy.is_empty()
    assert MinHash(hashfunc=hash).hashfunc is hash
    own = MinHash(hashfunc=lambda token: len(token))
    own.update("abc")
    assert own.count() == 1


def test_hash_values_estimate_what_is_exact() -> None:
    numpy = pytest.importorskip("numpy")
    one, other = minhash(range(100), num_perm=1024), minhash(range(20, 100), num_perm=1024)
    assert one.hashvalues.shape == (1024,)
    assert abs(numpy.mean(one.hashvalues == other.hashvalues) - 0.8) < 0.06
    assert (one.digest() == one.hashvalues).all()
    digest = one.digest()
    digest[0] ^= 1
    assert digest[0] != one.hashvalues[0] == one.digest()[0]
    with pytest.raises(ValueError, match="read-only"):
        one.hashvalues[0] = 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"gpu_mode": "maybe"}, "gpu_mode"),
        ({"num_perm": 0}, "positive"),
        ({"num_perm": 2**20}, "more than"),
        ({"hashfunc": 5}, "callable"),
    ],
)
def test_what_a_minhash_refuses(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MinHash(**arguments)


def test_what_is_not_compared() -> None:
    assert MinHash(gpu_mode="detect").is_empty()
    with pytest.raises(RuntimeError, match="gpu_mode"):
        MinHash(gpu_mode="always")
    with pytest.raises(ValueError, match="different seeds"):
        MinHash().jaccard(MinHash(seed=2))
    with pytest.raises(ValueError, match="different numbers"):
        MinHash().merge(MinHash(64))
    with pytest.raises(ValueError, match="less than 2"):
        MinHash.union(MinHash())
    with pytest.raises(ValueError, match="64 bits"):
        MinHash(hashfunc=lambda token: 1 << 64).update(b"")
    with pytest.raises(TypeError):
        MinHash().update("a string")


def sets(count: int) -> list[list[int]]:
    draw = random.Random(7)
    made: list[list[int]] = []
    for _ in range(count):
        if made and draw.random() < 0.5:
            near = list(draw.choice(made))
            near[draw.randrange(len(near))] = draw.randrange(10**6)
            made.append(near)
        else:
            made.append([draw.randrange(10**6) for _ in range(draw.randint(3, 120))])
    return made


@pytest.mark.parametrize("kind", ["dict", "dedupdb"])
def test_what_is_found_reaches_the_threshold(tmp_path: Path, kind: str) -> None:
    config = {"type": kind, "path": tmp_path / "lsh"}
    made = [minhash(numbers) for numbers in sets(200)]
    with MinHashLSH(threshold=0.8, storage_config=config) as lsh:
        assert lsh.is_empty()
        with lsh.insertion_session() as session:
            for number, one in enumerate(made):
                session.insert(number, one)
        assert not lsh.is_empty()
        missed = expected = 0
        for one in made:
            found = lsh.query(one)
            assert all(one.jaccard(made[key]) >= 0.8 for key in found)  # type: ignore[call-overload]
            jaccards = [one.jaccard(made[key]) for key in found]  # type: ignore[call-overload]
            assert jaccards == sorted(jaccards, reverse=True)
            near = [key for key, other in enumerate(made) if one.jaccard(other) >= 0.8]
            missed += len(set(near) - set(found))
            expected += len(near)
        assert missed <= 0.02 * expected
        counts = lsh.get_counts()
        assert len(counts) == lsh.b
        assert all(sum(band.values()) == 200 for band in counts)
        subset = lsh.get_subset_counts(3, 4)
        assert all(sum(band.values()) == 2 for band in subset)
        assert all(set(some) <= set(every) for some, every in zip(subset, counts, strict=True))
        lsh.remove(7)
        assert 7 not in lsh and 8 in lsh
        assert 7 not in lsh.query(made[7])
        with lsh.deletion_session() as deletion:
            for number in range(10, 20):
                deletion.remove(number)
        assert len(list(lsh.keys)) == 189
        lsh.add_to_query_buffer(made[0])
        lsh.add_to_query_buffer(made[0])
        assert set(lsh.collect_query_buffer()) == set(lsh.query(made[0]))
    if kind == "dedupdb":
        with MinHashLSH(threshold=0.8, storage_config=config) as again:
            assert len(list(again.keys)) == 189
            assert 0 in again.query(made[0])


def test_keys_of_any_kind(tmp_path: Path) -> None:
    one = minhash(range(20))
    kinds: list[Any] = ["a", 5, b"\xff", ("a", 1), None, 2.5, frozenset({1}), MinHash, True]
    lsh = MinHashLSH(threshold=0.9)
    for key in kinds:
        lsh.insert(key, one)
    assert set(lsh.query(one)) == set(kinds)
    with MinHashLSH(threshold=0.9, storage_config={"type": "dedupdb", "path": tmp_path / "lsh"}) as stays:
        for key in ["a", 5, b"\xff", ("a", 1), None, 2.5, "5", "sa"]:
            stays.insert(key, one)
        assert set(stays.query(one)) == {"a", 5, b"\xff", ("a", 1), None, 2.5, "5", "sa"}
        with pytest.raises(TypeError, match="takes keys of str"):
            stays.insert(MinHash, one)
        assert MinHash not in stays
        numpy = pytest.importorskip("numpy")
        stays.insert(numpy.int64(7), one)
        assert 7 in stays and numpy.int64(5) in stays
        with pytest.raises(TypeError, match="open its path again"):
            pickle.dumps(stays)


def test_what_an_index_refuses() -> None:
    for arguments, message in [
        ({"threshold": 1.5}, "threshold must be in"),
        ({"num_perm": 1}, "Too few"),
        ({"weights": (2.0, -1.0)}, "Weight must be"),
        ({"weights": (0.5, 0.6)}, "sum to 1.0"),
        ({"params": (64, 64)}, "must be less than num_perm 128"),
        ({"params": (1, 64)}, "too small"),
        ({"storage_config": {"type": "redis"}}, "redis"),
        ({"storage_config": {"type": "dedupdb"}}, "path"),
    ]:
        with pytest.raises(ValueError, match=message):
            MinHashLSH(**arguments)  # type: ignore[arg-type]
    lsh = MinHashLSH()
    lsh.insert("a", minhash(range(9)))
    with pytest.raises(ValueError, match="already exists"):
        lsh.insert("a", minhash(range(9)))
    lsh.insert("a", minhash(range(8)), check_duplication=False)
    with pytest.raises(ValueError, match="does not exist"):
        lsh.remove("b")
    with pytest.raises(ValueError, match="Expecting minhash with length 128, got 64"):
        lsh.query(MinHash(64))
    assert (MinHashLSH(params=(16, 8)).b, MinHashLSH(params=(16, 8)).r) == (16, 8)


def test_merging_and_pickling(tmp_path: Path) -> None:
    one, other = MinHashLSH(threshold=0.8), MinHashLSH(threshold=0.8)
    one.insert("a", minhash(range(50)))
    other.insert(("b", 1), minhash(range(49)))
    again = pickle.loads(pickle.dumps(one))
    assert again.query(minhash(range(50))) == ["a"]
    one.merge(other, check_overlap=True)
    assert one.query(minhash(range(50))) == ["a", ("b", 1)]
    with pytest.raises(ValueError, match="overlapping"):
        one.merge(other, check_overlap=True)
    with pytest.raises(ValueError, match="different initialization"):
        one.merge(MinHashLSH(threshold=0.8, num_perm=256))
    paths = [{"type": "dedupdb", "path": tmp_path / name} for name in "ab"]
    with MinHashLSH(storage_config=paths[0]) as first, MinHashLSH(storage_config=paths[1]) as second:
        second.insert("b", minhash(range(50)))
        first.merge(second)
        assert first.query(minhash(range(50))) == ["b"]


def test_nothing_is_left_of_a_killed_process(tmp_path: Path) -> None:
    program = """
import os, signal
from dedupdb.datasketch import MinHash, MinHashLSH
lsh = MinHashLSH()
lsh.insert("a", MinHash())
assert lsh.query(MinHash()) == ["a"]
os.kill(os.getpid(), signal.SIGTERM)
"""
    shared = Path("/dev/shm")
    before = set(shared.glob("dedupdb*"))
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "TMPDIR": str(tmp_path)}, cwd=tmp_path)
    assert done.returncode != 0
    assert not list(tmp_path.iterdir())
    assert set(shared.glob("dedupdb*")) <= before


@pytest.mark.parametrize("kind", ["dict", "dedupdb"])
def test_an_index_signs_with_the_seed_of_its_sets(tmp_path: Path, kind: str) -> None:
    config = {"type": kind, "path": tmp_path / "lsh"}
    one, other = minhash(range(9), seed=7), minhash(range(9))
    with MinHashLSH(storage_config=config) as lsh:
        assert lsh.query(other) == []
        lsh.insert("a", one)
        for call in (lambda: lsh.insert("b", other), lambda: lsh.query(other)):
            with pytest.raises(ValueError, match="Expecting minhash with seed 7"):
                call()
        assert lsh.query(one) == ["a"] and "b" not in lsh
    if kind == "dedupdb":
        with dedupdb.open(tmp_path / "lsh") as store:
            assert store.schema["seed"] == 7
        return
    counts = lsh.get_counts()
    elsewhere = MinHashLSH()
    elsewhere.insert("b", other)
    assert counts != elsewhere.get_counts()
    with pytest.raises(ValueError, match="Expecting minhash with seed 7"):
        lsh.merge(elsewhere)
    lsh.remove("a")
    lsh.insert("b", other)
    assert lsh.query(other) == ["b"] and lsh.get_counts() == elsewhere.get_counts()


def test_both_kinds_have_the_same_buckets(tmp_path: Path) -> None:
    with MinHashLSH(threshold=0.8, storage_config={"type": "dedupdb", "path": tmp_path / "lsh"}) as stays:
        lsh = MinHashLSH(threshold=0.8)
        for number, numbers in enumerate(sets(40)):
            for index in (lsh, stays):
                index.insert(number, minhash(numbers, seed=3))
        assert lsh.get_counts() == stays.get_counts()
        assert (lsh.b, lsh.r) == (stays.b, stays.r)


def test_few_permutations_warn_of_what_they_find(tmp_path: Path) -> None:
    stays: dict[str, Any] = {"type": "dedupdb", "path": tmp_path / "lsh"}
    for config in ({"type": "dict"}, stays, stays):
        with pytest.warns(UserWarning, match=r"4 permutations find 93\.8% of the pairs at the threshold 0\.5"):
            lsh = MinHashLSH(threshold=0.5, num_perm=4, storage_config=config)
        with lsh:
            assert (lsh.b, lsh.r) == (4, 1)
            lsh.insert("a", minhash(range(9), num_perm=4), check_duplication=False)
            assert lsh.query(minhash(range(9), num_perm=4)) == ["a"]


@pytest.mark.parametrize("threshold", [0.4, 0.6, 0.8, 0.9])
@pytest.mark.parametrize("num_perm", [64, 256])
def test_weights_are_the_share_that_is_missed(tmp_path: Path, threshold: float, num_perm: int) -> None:
    rows = []
    for weights, missed in [((1, 0), 0.5), ((0.8, 0.2), 0.08), ((0.5, 0.5), 0.02), ((0.2, 0.8), 0.005), ((0, 1), 1e-4)]:
        lsh = MinHashLSH(threshold, num_perm, weights=weights)
        assert missed / 12 < (1 - threshold**lsh.r) ** lsh.b <= missed
        rows.append(lsh.r)
        stays = {"type": "dedupdb", "path": tmp_path / str(missed)}
        with MinHashLSH(threshold, num_perm, weights=weights, storage_config=stays) as disk:
            assert (disk.b, disk.r) == (lsh.b, lsh.r)
    assert rows == sorted(rows, reverse=True)
    with pytest.warns(UserWarning, match=r"8 permutations find 99\.6%"):
        MinHashLSH(0.5, 8, weights=(0, 1))


def test_a_lean_minhash_needs_its_tokens(tmp_path: Path) -> None:
    lean = LeanMinHash(minhash(range(30), seed=9))
    assert lean.bytesize("<") == 24 + 8 * 30
    read = []
    for byteorder in "<>":
        lean.serialize(ordered := bytearray(264), byteorder)
        read.append(struct.unpack(f"{byteorder}QIIQ30Q", ordered))
    assert read[0] == read[1] and read[0][:4] == (9, 128, 0, 30)
    buffer = bytearray(lean.bytesize())
    lean.serialize(buffer)
    again = LeanMinHash.deserialize(buffer)
    assert again.count() == 30 and again.jaccard(minhash(range(40), seed=9)) == 0.75
    with MinHashLSH(storage_config={"type": "dedupdb", "path": tmp_path / "lsh"}) as lsh:
        lsh.insert("a", again)
        assert lsh.query(minhash(range(30), seed=9)) == ["a"]
    made = MinHash(seed=9)
    made.merge(again)
    made.update(b"another")
    assert made.count() == 31
    with pytest.raises(ValueError, match="not of hash values"):
        LeanMinHash(seed=1, hashvalues=lean.hashvalues, scheme="affine32")
    with pytest.raises(ValueError, match="permutations must be"):
        MinHash(permutations=lean.permutations)
    for damaged in (struct.pack("@QIIQ", 1, 1 << 20, 0, 0), struct.pack("@QIIQ", 1, 128, 9, 0)):
        with pytest.raises(ValueError, match="not of a LeanMinHash"):
            LeanMinHash.deserialize(damaged)
    for short in (buffer[:-1], struct.pack("@QIIQ", 1, 128, 0, 1 << 62)):
        with pytest.raises(struct.error):
            LeanMinHash.deserialize(short)


def test_what_was_removed_is_gone_and_its_place_is_taken() -> None:
    lsh = MinHashLSH()
    made = [minhash(range(number, number + 20)) for number in range(0, 6000, 20)]
    for key, one in enumerate(made):
        lsh.insert(key, one)
    for key in range(1, 300):
        lsh.remove(key)
    again = pickle.loads(pickle.dumps(lsh))
    for index in (lsh, again):
        index.insert("new", made[5])
        assert [index.query(one) for one in made[:7]] == [[0], [], [], [], [], ["new"], []]
        assert index.get_counts() == index.get_subset_counts(0, "new") and len(index.get_counts()[0]) == 2


def test_an_index_keeps_what_it_was_given() -> None:
    lsh, one = MinHashLSH(), minhash(range(20))
    lsh.insert("a", one)
    one.update_batch(tokens(range(20, 60)))
    assert lsh.query(minhash(range(20))) == ["a"] and lsh.query(one) == []
    for number in [*range(3000), 5]:
        one.update(f"token{number}".encode())
    assert one.count() == 3000 and one == minhash(range(3000))
    assert (one.digest() == minhash(range(3000)).digest()).all()


HARBOUR = "the old harbour crane was painted red and white by nobody that anyone in the town can name"
CRANE = "the old harbour crane was painted red and white by somebody whom anyone in the town can name"
TRAM = "from friday on the night tram runs again every half hour until four in the morning"


def encoded(text: str) -> list[bytes]:
    return [word.encode("utf8") for word in text.split()]


def documented_jaccard(module: Any) -> list[float]:
    """Two sets, token by token, and the real similarity."""
    one, other = module.MinHash(), module.MinHash()
    for word in HARBOUR.split():
        one.update(word.encode("utf8"))
    for word in CRANE.split():
        other.update(word.encode("utf8"))
    both, either = set(HARBOUR.split()) & set(CRANE.split()), set(HARBOUR.split()) | set(CRANE.split())
    return [one.jaccard(other), float(len(both)) / float(len(either))]


def documented_merge(module: Any) -> list[float]:
    """The union of two sets, its size, and more permutations."""
    one, other = module.MinHash(num_perm=256), module.MinHash(num_perm=256)
    one.update_batch(encoded(HARBOUR))
    other.update_batch(encoded(TRAM))
    before = one.jaccard(other)
    one.merge(other)
    again = module.MinHash.union(one, other)
    return [before, one.count(), again.jaccard(one), float(len(one)), float(one.is_empty())]


def documented_hashfunc(module: Any) -> list[float]:
    """A hash function of 32 bits, and many sets at once."""

    def hash_func(data: bytes) -> int:
        return zlib.crc32(data)

    one, other = module.MinHash.bulk([encoded(HARBOUR), encoded(CRANE)], num_perm=512, hashfunc=hash_func)
    return [one.jaccard(other), float(one.copy() == one)]


def documented_index(module: Any) -> list[Any]:
    """What is like a set in an index."""
    made = module.MinHash.bulk(map(encoded, [HARBOUR, CRANE, TRAM]), num_perm=128)
    lsh = module.MinHashLSH(threshold=0.5, num_perm=128)
    lsh.insert("crane", made[1])
    lsh.insert("tram", made[2])
    found = [sorted(lsh.query(minhash)) for minhash in made]
    lsh.remove("crane")
    return [found, lsh.query(made[0]), "crane" in lsh, "tram" in lsh, lsh.is_empty()]


def documented_session(module: Any) -> list[Any]:
    """Many inserted in a session, the index pickled for another process, keys twice and keys that are not there."""
    made = module.MinHash.bulk(map(encoded, [HARBOUR, CRANE, TRAM]), num_perm=128)
    lsh = module.MinHashLSH(threshold=0.5, num_perm=128)
    with lsh.insertion_session() as session:
        for key, minhash in zip([("a", 1), ("b", 2), ("c", 3)], made, strict=True):
            session.insert(key, minhash)
    again = pickle.loads(pickle.dumps(lsh))
    told: list[Any] = [sorted(again.query(minhash)) for minhash in made]
    refused: list[Callable[[], object]] = [
        lambda: lsh.insert(("a", 1), made[0]),
        lambda: lsh.remove("nobody"),
        lambda: lsh.query(module.MinHash(64)),
    ]
    for wrong in refused:
        try:
            wrong()
        except ValueError as error:
            told.append(str(error))
    return told


@pytest.mark.parametrize(
    "program",
    [documented_jaccard, documented_merge, documented_hashfunc, documented_index, documented_session],
)
def test_programs_in_the_manner_of_its_documentation(program: Any) -> None:
    """Estimates are near what is exact; all else is the same."""
    theirs = program(pytest.importorskip("datasketch"))
    ours = program(dedupdb.datasketch)
    if program in (documented_index, documented_session):
        assert ours == theirs
    else:
        assert ours == pytest.approx(theirs, rel=0.2, abs=0.1)


def test_the_same_program_with_both() -> None:
    datasketch = pytest.importorskip("datasketch")

    def program(module: Any) -> tuple[list[bool], int]:
        lsh = module.MinHashLSH(threshold=0.7, num_perm=256)
        made = []
        for number, numbers in enumerate(sets(60)):
            one = module.MinHash(num_perm=256)
            for token in tokens(numbers):
                one.update(token)
            made.append(one)
            lsh.insert(f"set{number}", one)
        lsh.remove("set0")
        found = [f"set{number}" in lsh.query(one) for number, one in enumerate(made)]
        return found, sum(len(lsh.query(one)) for one in made)

    theirs, ours = program(datasketch), program(dedupdb.datasketch)
    assert ours[0] == theirs[0]
    assert abs(ours[1] - theirs[1]) < 0.2 * theirs[1]


@given(st.lists(TOKENS, max_size=12), TOKENS, st.integers(1, 14))
def test_a_forest_finds_the_most_similar(sets: list[list[int]], asked: list[int], k: int) -> None:
    forest, question = MinHashLSHForest(num_perm=32), minhash(asked, num_perm=32)
    assert forest.is_empty()
    likeness = []
    for key, numbers in enumerate(sets):
        one = minhash(numbers, num_perm=32)
        forest.add(key, one)
        if (one.hashvalues == question.hashvalues).any():
            likeness.append((-question.jaccard(one), key))
    forest.index()
    likeness = [found for found in likeness if found[0] < 0]
    assert forest.query(question, k) == [key for _, key in sorted(likeness)[:k]]
    assert all(key in forest for key in range(len(sets)))


def test_a_forest_refuses_what_datasketch_refuses() -> None:
    forest = MinHashLSHForest()
    forest.add("a", minhash([1, 2]))
    for refused in (
        lambda: forest.add("a", minhash([1])),
        lambda: forest.add("b", minhash([1], num_perm=64)),
        lambda: forest.query(minhash([1], num_perm=64), 1),
        lambda: forest.query(minhash([1]), 0),
        lambda: MinHashLSHForest(num_perm=4, l=8),
        lambda: MinHashLSHForest(l=0),
    ):
        with pytest.raises(ValueError, match=r"key|length|positive|greater"):
            refused()
    assert "b" not in forest
