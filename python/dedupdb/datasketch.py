"""datasketch's MinHash and MinHashLSH over a store: only the import changes.

    from dedupdb.datasketch import MinHash, MinHashLSH

Answers are exact: a :class:`MinHash` keeps the hashes of its tokens, so ``jaccard`` and ``count`` are not estimates,
and every key from :meth:`MinHashLSH.query` reaches the threshold. Hash values differ from datasketch's, whose scheme
``affine32`` has other arithmetic than dedupdb's family of that name. ``docs/guide/moving.md`` in the repository lists
what else differs.
"""

from __future__ import annotations

import ast
import hashlib
import operator
import os
import shutil
import tempfile
import weakref
from array import array
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

from . import _native, open, sign
from ._native import Store

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["MinHash", "MinHashLSH", "MinHashLSHDeletionSession", "MinHashLSHInsertionSession"]

_MOST_PERMUTATIONS = 16384


def token_hash(token: Any) -> int:
    """The hash of a token, which is bytes or gives them: 64 bits of BLAKE2b."""
    return int.from_bytes(hashlib.blake2b(token, digest_size=8).digest(), "little")


class MinHash:
    """A set of tokens, by the hashes of 64 bits of its tokens.

    Args:
        num_perm: Permutations of :attr:`hashvalues` and of the :class:`MinHashLSH` that takes it, 1 to 16384.
        seed: Random seed of the permutations. MinHashes of different seeds cannot be compared.
        gpu_mode: ``disable`` or ``detect``, of no effect; ``always`` is refused.
        hashfunc: From a token to an integer of at most 64 bits; BLAKE2b of bytes by default.
    """

    def __init__(
        self,
        num_perm: int = 128,
        seed: int = 1,
        gpu_mode: Literal["disable", "detect", "always"] = "disable",
        hashfunc: Callable[[Any], int] | None = None,
    ) -> None:
        if num_perm < 1:
            raise ValueError("num_perm must be positive")
        if num_perm > _MOST_PERMUTATIONS:
            raise ValueError(f"Cannot have more than {_MOST_PERMUTATIONS} number of permutation functions")
        if hashfunc is not None and not callable(hashfunc):
            raise ValueError("The hashfunc must be a callable.")
        if gpu_mode not in ("disable", "detect", "always"):
            raise ValueError("gpu_mode must be 'disable', 'detect' or 'always'")
        if gpu_mode == "always":
            raise RuntimeError("gpu_mode='always': no GPU is used here")
        self.num_perm = num_perm
        self.seed = seed
        self.hashfunc: Callable[[Any], int] = token_hash if hashfunc is None else hashfunc
        self._tokens: set[int] = set()

    def _hashed(self, token: Any) -> int:
        number = int(self.hashfunc(token))
        if not 0 <= number < 1 << 64:
            raise ValueError(f"hashfunc returned {number}, which does not fit into 64 bits")
        return number

    def update(self, b: Any) -> None:
        """Adds a token: bytes, or what the hash function takes."""
        self._tokens.add(self._hashed(b))

    def update_batch(self, b: Iterable[Any]) -> None:
        """Adds tokens."""
        self._tokens.update([self._hashed(token) for token in b])

    def _check(self, other: MinHash, doing: str) -> None:
        if other.seed != self.seed:
            raise ValueError(f"Cannot {doing} MinHash with different seeds")
        if len(self) != len(other):
            raise ValueError(f"Cannot {doing} MinHash with different numbers of permutation functions")

    def jaccard(self, other: MinHash) -> float:
        """The Jaccard similarity of both sets, exactly; 1 of two that are empty."""
        self._check(other, "compute Jaccard given")
        common = len(self._tokens & other._tokens)
        either = len(self._tokens) + len(other._tokens) - common
        return common / either if either else 1.0

    def count(self) -> float:
        """Number of distinct tokens, exactly."""
        return float(len(self._tokens))

    def merge(self, other: MinHash) -> None:
        """Takes the tokens of another one in."""
        self._check(other, "merge")
        self._tokens |= other._tokens

    @classmethod
    def union(cls, *mhs: MinHash) -> MinHash:
        """A new one with the tokens of all."""
        if len(mhs) < 2:
            raise ValueError("Cannot union less than 2 MinHash")
        first = mhs[0]
        if any(one.seed != first.seed or len(one) != len(first) for one in mhs):
            raise ValueError("The unioning MinHash must have the same seed, number of permutation functions")
        made = cls(len(first), first.seed, hashfunc=first.hashfunc)
        made._tokens = set().union(*(one._tokens for one in mhs))
        return made

    @property
    def hashvalues(self) -> Any:
        """The minimum under each permutation: a NumPy array of 32-bit numbers, dedupdb's own."""
        import numpy

        text = " ".join(map(str, sorted(self._tokens)))
        signed = sign([text], shingling="ids", permutations=self.num_perm, seed=self.seed)
        return numpy.asarray(signed)[0]

    def digest(self) -> Any:
        """A copy of :attr:`hashvalues`."""
        return self.hashvalues.copy()

    def is_empty(self) -> bool:
        """Whether there are no tokens."""
        return not self._tokens

    def clear(self) -> None:
        """Forgets all tokens."""
        self._tokens.clear()

    def copy(self) -> MinHash:
        """A copy, which changes on its own."""
        made = MinHash(self.num_perm, self.seed, hashfunc=self.hashfunc)
        made._tokens = self._tokens.copy()
        return made

    def __len__(self) -> int:
        """Number of permutations, as datasketch has it."""
        return self.num_perm

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MinHash):
            return NotImplemented
        return (self.seed, self.num_perm, self._tokens) == (other.seed, other.num_perm, other._tokens)

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def bulk(cls, b: Iterable[Iterable[Any]], **minhash_kwargs: Any) -> list[MinHash]:
        """One for each iterable of tokens."""
        return list(cls.generator(b, **minhash_kwargs))

    @classmethod
    def generator(cls, b: Iterable[Iterable[Any]], **minhash_kwargs: Any) -> Generator[MinHash, None, None]:
        """One for each iterable of tokens, one after another."""
        for tokens in b:
            made = cls(**minhash_kwargs)
            made.update_batch(tokens)
            yield made

    def __repr__(self) -> str:
        return f"<dedupdb.datasketch.MinHash of {len(self._tokens)} tokens, {self.num_perm} permutations>"


def _memory_folder() -> str | None:
    """A folder in memory, if the system has one that is as good as the usual one."""
    shared = "/dev/shm"
    return shared if os.path.isdir(shared) and os.access(shared, os.W_OK | os.X_OK) else None


class _Names:
    """Keys of any kind as the strings that a temporary store has for them."""

    def __init__(self) -> None:
        self._names: dict[Hashable, str] = {}
        self._keys: dict[str, Hashable] = {}
        self._next = 0

    def name(self, key: Hashable) -> str:
        name = self._names.get(key)
        if name is None:
            name = f"{self._next:016x}"
            self._next += 1
            self._names[key], self._keys[name] = name, key
        return name

    def known(self, key: Hashable) -> str | None:
        return self._names.get(key)

    def key(self, name: str) -> Hashable:
        return self._keys[name]

    def forget(self, key: Hashable) -> None:
        del self._keys[self._names.pop(key)]


class _Literals:
    """Keys as the strings that a store on disk has for them, which are read again without the program."""

    def name(self, key: Hashable) -> str:
        if isinstance(key, str):
            return f"s{key}"
        if isinstance(key, SupportsIndex) and not isinstance(key, int):
            # An integer of NumPy.
            key = operator.index(key)
        name = repr(key)
        try:
            is_same = ast.literal_eval(name) == key
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            is_same = False
        if not is_same:
            raise TypeError(
                f"a store on disk takes keys of str, bytes, numbers, None, and tuples of them, not {type(key).__name__}"
            )
        return f"r{name}"

    def known(self, key: Hashable) -> str | None:
        return self.name(key)

    def key(self, name: str) -> Hashable:
        if name[:1] == "s":
            return name[1:]
        literal: Hashable = ast.literal_eval(name[1:])
        return literal

    def forget(self, key: Hashable) -> None:
        pass


class _Closing:
    """What a ``with`` block closes."""

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


class MinHashLSH(_Closing):
    """An index of :class:`MinHash` in a store: exact answers, nothing below the threshold.

    Args:
        threshold: Least Jaccard similarity of what is found. With ``params`` it is the middle of their S-curve,
            as datasketch's candidates have it.
        num_perm: Permutations of every MinHash.
        weights: Of false positives and false negatives: checked, and else of no effect. There are no false
            positives, and of what reaches the threshold at least 98% is found.
        params: Number of bands and of rows.
        storage_config: ``{"type": "dict"}`` for a temporary store, in memory where the system has a folder there,
            or ``{"type": "dedupdb", "path": ...}`` for one that stays.
        prepickle, hashfunc: Accepted and of no effect.
    """

    def __init__(
        self,
        threshold: float = 0.9,
        num_perm: int = 128,
        weights: tuple[float, float] = (0.5, 0.5),
        params: tuple[int, int] | None = None,
        storage_config: dict[str, Any] | None = None,
        prepickle: bool | None = None,
        hashfunc: Callable[[bytes], bytes] | None = None,
    ) -> None:
        config = storage_config if storage_config else {"type": "dict"}
        if threshold > 1.0 or threshold < 0.0:
            raise ValueError("threshold must be in [0.0, 1.0]")
        if num_perm < 2:
            raise ValueError("Too few permutation functions")
        if any(weight < 0.0 or weight > 1.0 for weight in weights):
            raise ValueError("Weight must be in [0.0, 1.0]")
        if sum(weights) != 1.0:
            raise ValueError("Weights must sum to 1.0")
        if params is not None:
            bands, rows = params
            if bands * rows > num_perm:
                raise ValueError(
                    f"The product of b and r in params is {bands} * {rows} = {bands * rows} -- it must be less "
                    f"than num_perm {num_perm}. Did you forget to specify num_perm?"
                )
            if bands < 2:
                raise ValueError("The number of bands are too small (b < 2)")
            threshold = (1 / bands) ** (1 / rows)
        self._begin(num_perm, threshold, params, config)

    def _begin(
        self,
        num_perm: int,
        threshold: float,
        params: tuple[int, int] | None,
        config: dict[str, Any],
    ) -> None:
        self.h = num_perm
        self._waiting: dict[str, list[int]] = {}
        self._sets: dict[str, array[int]] = {}
        """Of an index in memory, what it was given, to be merged and pickled."""
        self._questions: list[set[Hashable]] = []
        self._most_waiting = 50000
        self._names: _Names | _Literals
        self._end: weakref.finalize[..., MinHashLSH]
        parameters: dict[str, Any] = {
            "threshold": threshold,
            "permutations": num_perm,
            "shingling": "ids",
            "bands": params,
        }
        kind = config.get("type")
        if kind == "dict":
            folder = tempfile.mkdtemp(prefix="dedupdb-", dir=_memory_folder())
            self._store: Store = open(os.path.join(folder, "store"), **parameters)
            self._end = weakref.finalize(self, _gone, self._store, folder, os.getpid())
            self._names, self._stays = _Names(), False
        elif kind == "dedupdb":
            if "path" not in config:
                raise ValueError('storage_config: {"type": "dedupdb"} needs a "path"')
            self._store = open(config["path"], **parameters)
            self._end = weakref.finalize(self, self._store.close)
            self._names, self._stays = _Literals(), True
        else:
            raise ValueError(f'storage_config: type {kind!r}; there are "dict" and "dedupdb"')
        bands_by_rows = str(self._store.schema["bands"])
        self.b, self.r = map(int, bands_by_rows.split("x"))

    @property
    def buffer_size(self) -> int:
        """How much waits, at most, to be stored together."""
        return self._most_waiting

    @buffer_size.setter
    def buffer_size(self, value: int) -> None:
        self._most_waiting = value

    @property
    def keys(self) -> Iterator[Hashable]:
        """The keys of all that was inserted."""
        self._flush()
        return (self._names.key(name) for name in self._store)

    def _flush(self) -> None:
        if self._waiting:
            waiting, self._waiting = self._waiting, {}
            _native.add_sets(self._store, list(waiting), list(waiting.values()))

    def _check(self, minhash: MinHash) -> list[int]:
        if len(minhash) != self.h:
            raise ValueError(f"Expecting minhash with length {self.h}, got {len(minhash)}")
        if not isinstance(minhash, MinHash):
            raise TypeError(f"a dedupdb.datasketch.MinHash, not {type(minhash).__module__}'s")
        return list(minhash._tokens)

    def insert(self, key: Hashable, minhash: MinHash, check_duplication: bool = True) -> None:
        """Stores a MinHash under a key.

        With a store that stays it is durable when this returns; in an :meth:`insertion_session`, when that ends.

        Raises:
            ValueError: The key is there, or the MinHash has another number of permutations.
            TypeError: A store on disk takes no such key.
        """
        self._insert(key, minhash, check_duplication)
        if self._stays:
            self._flush()

    def _insert(self, key: Hashable, minhash: MinHash, check_duplication: bool) -> None:
        tokens = self._check(minhash)
        if check_duplication and key in self:
            raise ValueError("The given key already exists")
        name = self._names.name(key)
        self._waiting[name] = tokens
        if not self._stays:
            self._sets[name] = array("Q", tokens)
        if len(self._waiting) >= self._most_waiting:
            self._flush()

    def query(self, minhash: MinHash) -> list[Hashable]:
        """The keys of what reaches the threshold with a MinHash, the most similar first."""
        tokens = self._check(minhash)
        self._flush()
        return [self._names.key(name) for name in _native.query_set(self._store, tokens)]

    def add_to_query_buffer(self, minhash: MinHash) -> None:
        """Asks, and keeps the answer for :meth:`collect_query_buffer`."""
        self._questions.append(set(self.query(minhash)))

    def collect_query_buffer(self) -> list[Hashable]:
        """The keys that all questions since the last call have in common."""
        questions, self._questions = self._questions, []
        return list(set.intersection(*questions)) if questions else []

    def __contains__(self, key: Hashable) -> bool:
        try:
            name = self._names.known(key)
        except TypeError:
            return False
        return name is not None and (name in self._waiting or name in self._store)

    def remove(self, key: Hashable) -> None:
        """Removes a key.

        Raises:
            ValueError: It is not there.
        """
        self._remove([key])

    def _remove(self, keys: list[Hashable]) -> None:
        if not all(key in self for key in keys):
            raise ValueError("The given key does not exist")
        self._flush()
        names = [self._names.name(key) for key in keys]
        self._store.remove(names)
        for key, name in zip(keys, names, strict=True):
            self._sets.pop(name, None)
            self._names.forget(key)

    def is_empty(self) -> bool:
        """Whether nothing was inserted."""
        return not self._waiting and len(self._store) == 0

    def get_counts(self) -> list[dict[int, int]]:
        """For each band, its buckets with the number of keys in each."""
        self._flush()
        return _native.bucket_counts(self._store)

    def get_subset_counts(self, *keys: Hashable) -> list[dict[int, int]]:
        """The same, of these keys alone."""
        self._flush()
        if not all(key in self for key in keys):
            raise ValueError("The given key does not exist")
        return _native.bucket_counts(self._store, [self._names.name(key) for key in dict.fromkeys(keys)])

    def merge(self, other: MinHashLSH, check_overlap: bool = False) -> None:
        """Takes in what another index with the same parameters has.

        Raises:
            ValueError: It has other parameters, or, with ``check_overlap``, keys of both are the same.
        """
        if type(self) is not type(other):
            raise ValueError(f"Cannot merge type MinHashLSH and type {type(other).__name__}.")
        if (self.h, self.b, self.r) != (other.h, other.b, other.r) or self._stays != other._stays:
            raise ValueError("Cannot merge MinHashLSH with different initialization parameters.")
        keys = list(other.keys)
        if check_overlap and any(key in self for key in keys):
            raise ValueError("The keys are overlapping, duplicate key exists.")
        self._flush()
        if self._stays:
            self._store.merge(other._store)
            return
        for name, tokens in other._sets.items():
            self._take(other._names.key(name), tokens)

    def _take(self, key: Hashable, tokens: array[int]) -> None:
        name = self._names.name(key)
        self._waiting[name], self._sets[name] = tokens.tolist(), tokens

    def insertion_session(self, buffer_size: int = 50000) -> MinHashLSHInsertionSession:
        """What is inserted in a ``with`` block is stored together."""
        return MinHashLSHInsertionSession(self, buffer_size)

    def deletion_session(self, buffer_size: int = 50000) -> MinHashLSHDeletionSession:
        """What is removed in a ``with`` block is removed together."""
        return MinHashLSHDeletionSession(self, buffer_size)

    def close(self) -> None:
        """Stores what waits and closes the store; a temporary one is gone."""
        if self._end.alive:
            self._flush()
            self._end()

    def __reduce__(self) -> Any:
        if self._stays:
            raise TypeError(
                "a MinHashLSH with a store that stays belongs to one process and is not pickled; open its path again"
            )
        entries = [(self._names.key(name), tokens) for name, tokens in self._sets.items()]
        return _made_again, (self.h, (self.b, self.r), self._store.threshold, entries)

    def __repr__(self) -> str:
        return f"<dedupdb.datasketch.MinHashLSH: {self.b} bands of {self.r} rows, in {self._store.path}>"


def _made_again(
    num_perm: int, params: tuple[int, int], threshold: float, entries: list[tuple[Hashable, array[int]]]
) -> MinHashLSH:
    """What a pickled index in memory becomes."""
    made = MinHashLSH.__new__(MinHashLSH)
    made._begin(num_perm, threshold, params, {"type": "dict"})
    for key, tokens in entries:
        made._take(key, tokens)
    return made


def _gone(store: Store, folder: str, process: int) -> None:
    """Closes a temporary store and removes it; in a fork it is the other process's."""
    store.close()
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


class MinHashLSHInsertionSession(_Closing):
    """A ``with`` block whose insertions are stored together."""

    def __init__(self, lsh: MinHashLSH, buffer_size: int) -> None:
        self.lsh = lsh
        self.lsh.buffer_size = buffer_size

    def insert(self, key: Hashable, minhash: MinHash, check_duplication: bool = True) -> None:
        """Inserts as :meth:`MinHashLSH.insert` does; it is stored by the end of the block."""
        self.lsh._insert(key, minhash, check_duplication)

    def close(self) -> None:
        """Stores what waits."""
        self.lsh._flush()


class MinHashLSHDeletionSession(_Closing):
    """A ``with`` block whose removals are done together."""

    def __init__(self, lsh: MinHashLSH, buffer_size: int) -> None:
        self.lsh = lsh
        self.buffer_size = buffer_size
        self._keys: dict[Hashable, None] = {}

    def remove(self, key: Hashable) -> None:
        """Removes a key by the end of the block.

        Raises:
            ValueError: It is not there.
        """
        if key in self._keys or key not in self.lsh:
            raise ValueError("The given key does not exist")
        self._keys[key] = None
        if len(self._keys) >= self.buffer_size:
            self.close()

    def close(self) -> None:
        """Removes what waits."""
        keys, self._keys = list(self._keys), {}
        if keys:
            self.lsh._remove(keys)
