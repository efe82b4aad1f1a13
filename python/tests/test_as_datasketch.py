"""What datasketch's own tests ask of its classes, asked of both libraries.

Left out are the tests of hash values and hash tables, of storages, and of weighted sets.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

import dedupdb.datasketch

numpy = pytest.importorskip("numpy")


@pytest.fixture(params=["dedupdb", "datasketch"])
def module(request: pytest.FixtureRequest) -> Any:
    return dedupdb.datasketch if request.param == "dedupdb" else pytest.importorskip("datasketch")


def itself(token: int) -> int:
    return token


def minhash(module: Any, *tokens: int, num_perm: int = 16, **arguments: Any) -> Any:
    made = module.MinHash(num_perm, hashfunc=itself, **arguments)
    made.update_batch(tokens)
    return made


def of_words(module: Any, words: str, num_perm: int = 32) -> Any:
    made = module.MinHash(num_perm=num_perm)
    made.update_batch(word.encode() for word in words.split())
    return made


def index(module: Any, **arguments: Any) -> tuple[Any, dict[Any, Any]]:
    """An index of two sets that share nothing, and the sets."""
    lsh = module.MinHashLSH(**{"threshold": 0.5, "num_perm": 32, **arguments})
    made = {"swan": of_words(module, "swan"), ("tram", 4): of_words(module, "tram")}
    for key, one in made.items():
        lsh.insert(key, one)
    return lsh, made


def is_same(one: Any, other: Any) -> bool:
    return bool(one == other) and bool(numpy.array_equal(one.hashvalues, other.hashvalues))


def test_a_minhash_begins_empty(module: Any) -> None:
    one, other = minhash(module), minhash(module)
    assert one.is_empty() and is_same(one, other)
    assert numpy.array_equal(one.permutations, other.permutations)
    assert not numpy.array_equal(one.permutations, minhash(module, seed=2).permutations)
    assert one.scheme == "affine32" and len(one) == 16


def test_tokens_lower_hash_values(module: Any) -> None:
    empty, one, other = minhash(module), minhash(module, 12, 24), minhash(module)
    assert (one.hashvalues < empty.hashvalues).all()
    other.update(24)
    other.update(12)
    assert is_same(one, other) and not other.is_empty()
    other.clear()
    assert is_same(empty, other)
    one, other = module.MinHash.bulk([[8, 4]] * 2, num_perm=16, hashfunc=itself)
    assert is_same(one, minhash(module, 4, 8)) and is_same(one, other)


def test_similarity_of_a_minhash(module: Any) -> None:
    one, other = minhash(module), minhash(module)
    assert one.jaccard(other) == 1.0
    other.update(12)
    assert one.jaccard(other) == 0.0
    one.update(13)
    assert one.jaccard(other) < 1.0
    assert minhash(module, 11, 123, 92).count() > 0


def test_a_minhash_takes_in_another(module: Any) -> None:
    one, other = minhash(module, gpu_mode="detect"), minhash(module, 12, gpu_mode="detect")
    union = module.MinHash.union(one, other)
    assert union.jaccard(other) == 1.0 and one.is_empty() and union.hashfunc is itself
    union.update(13)
    assert union.jaccard(other) < 1.0
    one.merge(other)
    assert one.jaccard(other) == 1.0


def test_a_minhash_is_pickled(module: Any) -> None:
    one = minhash(module, 123, 45, seed=3)
    again = pickle.loads(pickle.dumps(one))
    assert is_same(one, again) and (again.seed, again.scheme) == (3, one.scheme)
    assert numpy.array_equal(one.permutations, again.permutations)
    again.update(7)
    assert one != again


def test_equality_of_a_minhash(module: Any) -> None:
    one = minhash(module, 11)
    assert one == minhash(module, 11)
    assert one != minhash(module, 12)
    assert one != minhash(module, 11, seed=2)
    assert one != minhash(module, 11, num_perm=8)
    assert one != minhash(module, 11, scheme="affine64")
    assert one != module.LeanMinHash(one)
    assert minhash(module, 11, 12) == minhash(module, 12, 11)


@pytest.mark.parametrize("scheme", ["affine32", "affine64", "legacy"])
def test_schemes_and_permutations(module: Any, scheme: str) -> None:
    one = minhash(module, 1, 2, seed=5, scheme=scheme)
    shared = module.MinHash(16, 5, hashfunc=itself, permutations=one.permutations, scheme=one.scheme)
    shared.update_batch([1, 2])
    assert is_same(one, shared) and shared.scheme == one.copy().scheme == scheme
    assert module.LeanMinHash(one).scheme == scheme


def test_a_lean_minhash_is_like_its_minhash(module: Any) -> None:
    one, other = minhash(module, 1, 2, 3), minhash(module, 4)
    lean = module.LeanMinHash(one)
    assert isinstance(lean, module.MinHash) and lean.seed == one.seed and len(lean) == 16
    assert numpy.array_equal(lean.hashvalues, one.hashvalues)
    assert lean.jaccard(one) == one.jaccard(lean) == 1.0
    assert lean.jaccard(module.LeanMinHash(other)) == one.jaccard(other)
    assert lean.count() == one.count() and not lean.is_empty()
    assert module.LeanMinHash(minhash(module)).is_empty()
    one.update(9)
    assert lean.jaccard(one) < 1.0


def test_a_lean_minhash_takes_in_another(module: Any) -> None:
    empty, lean = module.LeanMinHash(minhash(module)), module.LeanMinHash(minhash(module, 12))
    union, copy = module.LeanMinHash.union(empty, lean), empty.copy()
    assert type(union) is type(copy) is module.LeanMinHash and union == lean
    empty.merge(lean)
    assert empty == lean and copy.is_empty()


def test_a_lean_minhash_is_hashed_and_pickled(module: Any) -> None:
    one = module.MinHash(16, hashfunc=lambda token: token)
    one.update_batch([11, 123])
    lean, same = module.LeanMinHash(one), module.LeanMinHash(one)
    one.update(444)
    other = module.LeanMinHash(one)
    assert {lean: 1, same: 2, other: 3} == {lean: 2, other: 3}
    assert hash(lean) == hash(same) == hash(pickle.loads(pickle.dumps(lean))) != hash(other)
    assert is_same(lean, pickle.loads(pickle.dumps(lean)))


@pytest.mark.parametrize("byteorder", ["@", "=", "<", ">", "!"])
def test_lean_minhashes_in_a_buffer(module: Any, byteorder: str) -> None:
    made = [module.LeanMinHash(minhash(module, number, 7, seed=3, scheme="affine64")) for number in (1, 2)]
    size = made[0].bytesize(byteorder)
    buffer = bytearray(size * 2)
    for number, lean in enumerate(made):
        lean.serialize(memoryview(buffer)[number * size :], byteorder)
    for given in (bytes(buffer), buffer, memoryview(buffer)):
        again = [module.LeanMinHash.deserialize(given[number * size :], byteorder) for number in (0, 1)]
        assert again == made and is_same(again[1], made[1]) and again[0].scheme == "affine64"
    with pytest.raises(ValueError, match="space"):
        made[0].serialize(bytearray(size - 1), byteorder)


def test_weights_move_the_bands(module: Any) -> None:
    shapes = []
    for weights in ((0.8, 0.2), (0.5, 0.5), (0.2, 0.8)):
        lsh = module.MinHashLSH(threshold=0.8, weights=weights)
        shapes.append((lsh.b, lsh.r))
    assert [b for b, _ in shapes] == sorted({b for b, _ in shapes})
    assert [r for _, r in shapes] == sorted({r for _, r in shapes}, reverse=True)
    lsh = module.MinHashLSH(num_perm=64, params=(8, 4), weights=(0.2, 0.8))
    assert (lsh.b, lsh.r, lsh.h) == (8, 4, 64)


def test_an_index_has_what_was_inserted(module: Any) -> None:
    assert module.MinHashLSH(threshold=0.5, num_perm=32).is_empty()
    lsh, made = index(module)
    assert not lsh.is_empty() and set(lsh.keys) == set(made) and len(lsh.keys) == 2
    for key, one in made.items():
        assert key in lsh and key in lsh.keys
        assert lsh.query(one) == lsh.query(module.LeanMinHash(one)) == [key]
    lsh.remove("swan")
    assert "swan" not in lsh and "swan" not in lsh.keys and lsh.query(made["swan"]) == []
    lsh.insert("swan", module.LeanMinHash(made["swan"]))
    lsh.insert("swan", made["swan"], check_duplication=False)
    assert lsh.query(made["swan"]) == ["swan"]


@pytest.mark.parametrize("bands", [2, 3, 64, 256])
def test_an_index_of_any_shape(module: Any, bands: int) -> None:
    lsh, one = module.MinHashLSH(num_perm=bands * 4, params=(bands, 4)), of_words(module, "a b c", bands * 4)
    lsh.insert("key", one)
    assert lsh.query(one) == ["key"] and [sum(band.values()) for band in lsh.get_counts()] == [1] * bands


def test_questions_in_a_buffer(module: Any) -> None:
    lsh, made = index(module)
    lsh.insert("both", of_words(module, "swan tram"))
    assert lsh.collect_query_buffer() == []
    lsh.add_to_query_buffer(made["swan"])
    assert set(lsh.collect_query_buffer()) == set(lsh.query(made["swan"])) >= {"swan"}
    lsh.add_to_query_buffer(made["swan"])
    lsh.add_to_query_buffer(of_words(module, "neither"))
    assert lsh.collect_query_buffer() == []


def test_sessions_and_counts(module: Any) -> None:
    lsh, made = index(module)
    with lsh.insertion_session(buffer_size=10) as session:
        session.insert("more", of_words(module, "more"))
        session.insert("swan", made["swan"], check_duplication=False)
    assert "more" in lsh and [sum(band.values()) for band in lsh.get_counts()] == [3] * lsh.b
    some = lsh.get_subset_counts("more", "swan", "swan", "nobody")
    assert [sum(band.values()) for band in some] == [2] * lsh.b
    with lsh.deletion_session() as deletion:
        deletion.remove("more")
        deletion.remove("swan")
    assert set(lsh.keys) == {("tram", 4)}


def test_an_index_is_pickled_and_merged(module: Any) -> None:
    lsh, made = index(module)
    again = pickle.loads(pickle.dumps(lsh))
    assert [again.query(one) for one in made.values()] == [[key] for key in made]
    other = module.MinHashLSH(threshold=0.5, num_perm=32)
    other.insert("more", of_words(module, "swan"))
    lsh.merge(other, check_overlap=True)
    assert set(lsh.query(made["swan"])) == {"swan", "more"} and set(other.keys) == {"more"}
    lsh.merge(other)
    assert len(lsh.keys) == 3


def test_a_forest(module: Any) -> None:
    letters = "abcdefghijklmnop"
    made = {letter: of_words(module, " ".join(letters[at : at + 3]), 128) for at, letter in enumerate(letters[:-2])}
    forest = module.MinHashLSHForest()
    for key, one in made.items():
        forest.add(key, one)
    assert forest.is_empty() and all(key in forest for key in made) and "z" not in forest
    assert forest.query(made["a"], 10) == []
    forest.index()
    assert not forest.is_empty() and (forest.l, forest.k) == (8, 16)
    again = pickle.loads(pickle.dumps(forest))
    for key, one in made.items():
        assert key in forest.query(one, 10) and key in again.query(one, 10)
        assert numpy.array_equal(forest.get_minhash_hashvalues(key), one.hashvalues)
    forest.add("late", made["a"])
    forest.index()
    assert "late" in forest.query(made["a"], 2)


def refusals(module: Any) -> dict[str, Callable[[], object]]:
    """Calls that are refused, by what is wrong about them."""
    one, lsh, forest = minhash(module, 1), index(module)[0], module.MinHashLSHForest()
    forest.add("a", of_words(module, "a", 128))
    other = module.MinHashLSH(threshold=0.5, num_perm=32)
    other.insert("swan", of_words(module, "e"))
    schemes = module.MinHash(num_perm=32, scheme="legacy")
    legacy, merged = (module.MinHashLSH(threshold=0.5, num_perm=32) for _ in range(2))
    legacy.insert("legacy", schemes)
    merged.merge(lsh)
    calls: dict[str, Callable[[], object]] = {
        "no permutations": lambda: module.MinHash(0),
        "too many permutations": lambda: module.MinHash(2**33),
        "a negative seed": lambda: module.MinHash(seed=-1),
        "another scheme": lambda: module.MinHash(scheme="affine16"),
        "no function": lambda: module.MinHash(hashfunc=5),
        "a hash that is negative": lambda: module.MinHash(hashfunc=itself).update(-1),
        "a hash that is large": lambda: module.MinHash(hashfunc=itself).update(2**64),
        "a token of text": lambda: module.MinHash().update("text"),
        "a token of None": lambda: module.MinHash().update(None),
        "tokens of None": lambda: module.MinHash().update_batch(None),
        "permutations of another number": lambda: module.MinHash(8, permutations=one.permutations, scheme="affine32"),
        "similarity of other seeds": lambda: one.jaccard(minhash(module, seed=2)),
        "similarity of other numbers": lambda: one.jaccard(minhash(module, num_perm=8)),
        "similarity of other schemes": lambda: one.jaccard(minhash(module, scheme="legacy")),
        "similarity of no MinHash": lambda: one.jaccard("text"),
        "merging other seeds": lambda: one.merge(minhash(module, seed=2)),
        "merging other schemes": lambda: one.merge(minhash(module, scheme="legacy")),
        "a union of one": lambda: module.MinHash.union(one),
        "a union of other schemes": lambda: module.MinHash.union(one, minhash(module, scheme="legacy")),
        "the hash of a MinHash": lambda: hash(one),
        "a token for a lean one": lambda: module.LeanMinHash(one).update(1),
        "a lean one of nothing": lambda: module.LeanMinHash(),
        "a lean one of a seed": lambda: module.LeanMinHash(seed=1),
        "a lean one of another scheme": lambda: module.LeanMinHash(one, scheme="legacy"),
        "a lean union of one": lambda: module.LeanMinHash.union(module.LeanMinHash(one)),
        "a lean one in no bytes": lambda: module.LeanMinHash.deserialize(b""),
        "a threshold above 1": lambda: module.MinHashLSH(threshold=1.1),
        "one permutation": lambda: module.MinHashLSH(num_perm=1),
        "negative weights": lambda: module.MinHashLSH(weights=(2.0, -1.0)),
        "small weights": lambda: module.MinHashLSH(weights=(0.1, 0.1)),
        "bands beyond the permutations": lambda: module.MinHashLSH(params=(64, 64)),
        "one band": lambda: module.MinHashLSH(params=(1, 64)),
        "an unknown storage": lambda: module.MinHashLSH(storage_config={"type": "tape"}),
        "a key that is there": lambda: lsh.insert("swan", of_words(module, "a")),
        "a key that cannot be hashed": lambda: lsh.insert([], of_words(module, "a")),
        "inserting other numbers": lambda: lsh.insert("c", one),
        "inserting another scheme": lambda: lsh.insert("c", schemes),
        "inserting another scheme than was merged": lambda: merged.insert("c", schemes),
        "merging another scheme": lambda: lsh.merge(legacy),
        "asking for other numbers": lambda: lsh.query(one),
        "asking for another scheme": lambda: lsh.query(schemes),
        "a question of other numbers": lambda: lsh.add_to_query_buffer(one),
        "removing nobody": lambda: lsh.remove("nobody"),
        "removing in a session": lambda: lsh.deletion_session().remove("nobody"),
        "merging other parameters": lambda: lsh.merge(module.MinHashLSH()),
        "merging a dict": lambda: lsh.merge({}),
        "merging the same keys": lambda: lsh.merge(other, check_overlap=True),
        "a forest without permutations": lambda: module.MinHashLSHForest(0),
        "a forest without trees": lambda: module.MinHashLSHForest(l=0),
        "a forest of many trees": lambda: module.MinHashLSHForest(4, 5),
        "a key of the forest": lambda: forest.add("a", of_words(module, "a", 128)),
        "other numbers in the forest": lambda: forest.add("b", one),
        "another scheme in the forest": lambda: forest.add("b", module.MinHash(scheme="legacy")),
        "none of the forest": lambda: forest.query(of_words(module, "a", 128), 0),
        "asking the forest for other numbers": lambda: forest.query(one, 1),
        "hash values of nobody": lambda: forest.get_minhash_hashvalues("nobody"),
    }
    return calls


def refused(module: Any) -> dict[str, str]:
    """The type of error of each call."""
    told = {}
    for what, call in refusals(module).items():
        try:
            call()
        except Exception as error:
            told[what] = type(error).__name__
        else:
            told[what] = "not refused"
    return told


def test_errors_are_of_the_same_type() -> None:
    assert refused(dedupdb.datasketch) == refused(pytest.importorskip("datasketch"))
