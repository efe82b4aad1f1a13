"""datasketch's MinHash, LeanMinHash, MinHashLSH and MinHashLSHForest, with exact answers: only the import changes.

    from dedupdb.datasketch import MinHash, MinHashLSH

Answers are exact: a :class:`MinHash` keeps the hashes of its tokens, so ``jaccard`` and ``count`` are not estimates,
and every key from :meth:`MinHashLSH.query` reaches the threshold. Hash values differ from datasketch's, whose scheme
``affine32`` has other arithmetic than dedupdb's family of that name. ``docs/guide/moving.md`` in the repository lists
what else differs.
"""

from __future__ import annotations

import ast
import operator
import struct
import sys
import weakref
from array import array
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, KeysView
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

from . import _native, open
from ._native import SetIndex, TokenSet, token_hash
from ._warning import warn

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "LeanMinHash",
    "MinHash",
    "MinHashLSH",
    "MinHashLSHDeletionSession",
    "MinHashLSHForest",
    "MinHashLSHInsertionSession",
]

_MOST_PERMUTATIONS = 16384
_RECALL = 0.98
"""Least share of the pairs at the threshold that bands are chosen to find."""
_SCHEMES = ("affine32", "affine64", "legacy")


@dataclass(frozen=True)
class _Permutations:
    """What decides the permutations of a MinHash."""

    num_perm: int
    seed: int


class MinHash:
    """A set of tokens, by the hashes of 64 bits of its tokens.

    >>> from dedupdb.datasketch import MinHash
    >>> one, other = MinHash(), MinHash()
    >>> one.update_batch([b"night", b"tram", b"runs"])
    >>> other.update_batch([b"night", b"tram", b"stops"])
    >>> one.jaccard(other)
    0.5

    Args:
        num_perm: Permutations of :attr:`hashvalues` and of the :class:`MinHashLSH` that takes it, 1 to 16384.
        seed: Random seed of the permutations. MinHashes of different seeds cannot be compared.
        gpu_mode: ``disable`` or ``detect``, of no effect; ``always`` is refused.
        hashfunc: From a token to an integer of at most 64 bits; BLAKE3 of bytes by default.
        permutations: Those of another MinHash with the same ``num_perm`` and ``seed``, of no effect.
        scheme: ``affine32``, ``affine64`` or ``legacy``. MinHashes of different schemes cannot be compared; else it has
            no effect: the hash values are dedupdb's.
    """

    def __init__(
        self,
        num_perm: int = 128,
        seed: int = 1,
        gpu_mode: Literal["disable", "detect", "always"] = "disable",
        hashfunc: Callable[[Any], int] | None = None,
        *,
        permutations: Any = None,
        scheme: str | None = None,
    ) -> None:
        if scheme is not None and scheme not in _SCHEMES:
            raise ValueError(f"scheme must be one of {', '.join(_SCHEMES)}, got {scheme!r}")
        if num_perm < 1:
            raise ValueError("num_perm must be positive")
        if num_perm > _MOST_PERMUTATIONS:
            raise ValueError(f"Cannot have more than {_MOST_PERMUTATIONS} number of permutation functions")
        if not 0 <= seed < 1 << 64:
            raise ValueError("seed must be a number of 64 bits, 0 or more")
        if hashfunc is not None and not callable(hashfunc):
            raise ValueError("The hashfunc must be a callable.")
        if gpu_mode not in ("disable", "detect", "always"):
            raise ValueError("gpu_mode must be 'disable', 'detect' or 'always'")
        if gpu_mode == "always":
            raise RuntimeError("gpu_mode='always': no GPU is used here")
        if permutations is not None and permutations != _Permutations(num_perm, seed):
            raise ValueError("permutations must be those of a MinHash with the same num_perm and seed")
        self.num_perm = num_perm
        self.seed = seed
        self.scheme: str = scheme or "affine32"
        self._kind = (self.scheme, seed, num_perm)
        self.hashfunc: Callable[[Any], int] = token_hash if hashfunc is None else hashfunc
        self._set = TokenSet(num_perm, seed)

    def update(self, b: Any) -> None:
        """Adds a token: bytes, or what the hash function takes."""
        self.update_batch((b,))

    def update_batch(self, b: Iterable[Any]) -> None:
        """Adds tokens."""
        self._set.update(b, None if self.hashfunc is token_hash else self.hashfunc)

    def _refuse(self, other: MinHash, doing: str) -> None:
        """Says why another one does not go with this one."""
        if not hasattr(other, "_kind"):
            found = f"{type(other).__module__}.{type(other).__qualname__}"
            raise ValueError(f"Cannot {doing} a MinHash of another library: {found}, not dedupdb.datasketch.MinHash")
        if getattr(other, "scheme", None) != self.scheme:
            raise ValueError(f"Cannot {doing} MinHash with different permutation schemes")
        if other.seed != self.seed:
            raise ValueError(f"Cannot {doing} MinHash with different seeds")
        raise ValueError(f"Cannot {doing} MinHash with different numbers of permutation functions")

    def jaccard(self, other: MinHash) -> float:
        """The Jaccard similarity of both sets, exactly; 1 of two that are empty."""
        if getattr(other, "_kind", None) != self._kind:
            self._refuse(other, "compute Jaccard given")
        return self._set.jaccard(other._set)

    def count(self) -> float:
        """Number of distinct tokens, exactly."""
        return float(len(self._set))

    def merge(self, other: MinHash) -> None:
        """Takes the tokens of another one in."""
        if getattr(other, "_kind", None) != self._kind:
            self._refuse(other, "merge")
        self._set.merge(other._set)

    @classmethod
    def union(cls, *mhs: MinHash) -> MinHash:
        """A new one with the tokens of all."""
        if len(mhs) < 2:
            raise ValueError("Cannot union less than 2 MinHash")
        first = mhs[0]
        if any(one._kind != first._kind for one in mhs):
            raise ValueError("The unioning MinHash must have the same seed, number of permutation functions and scheme")
        made = first.copy()
        for one in mhs[1:]:
            made._set.merge(one._set)
        return made

    @property
    def permutations(self) -> Any:
        """What another MinHash takes as its ``permutations``, and equal if they are."""
        return _Permutations(self.num_perm, self.seed)

    @property
    def hashvalues(self) -> Any:
        """The minimum under each permutation: a NumPy array of 32-bit numbers, dedupdb's own."""
        return self._set.minima()

    def digest(self) -> Any:
        """A copy of :attr:`hashvalues`."""
        return self._set.digest()

    def is_empty(self) -> bool:
        """Whether there are no tokens."""
        return len(self._set) == 0

    def clear(self) -> None:
        """Forgets all tokens."""
        self._set.clear()

    def copy(self) -> MinHash:
        """A copy, which changes on its own."""
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__, _set=self._set.copy())
        return made

    def __len__(self) -> int:
        """Number of permutations, as datasketch has it."""
        return self.num_perm

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MinHash):
            return NotImplemented
        return type(self) is type(other) and self._kind == other._kind and self._set.jaccard(other._set) == 1.0

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
        return f"<dedupdb.datasketch.MinHash of {len(self._set)} tokens, {self.num_perm} permutations>"


class LeanMinHash(MinHash):
    """A :class:`MinHash` that takes no more tokens, has a hash, and is written to a buffer.

    It is written with its tokens, so answers stay exact. Its size is 24 bytes and 8 for each token.

    >>> from dedupdb.datasketch import LeanMinHash, MinHash
    >>> night = MinHash()
    >>> night.update_batch([b"night", b"tram", b"runs"])
    >>> lean = LeanMinHash(night)
    >>> lean.bytesize(), lean.jaccard(night)
    (48, 1.0)

    Args:
        minhash: What it is made of.
        seed, hashvalues: Not supported: a set is not known from its hash values.
        scheme: That of ``minhash``.
    """

    def __init__(
        self, minhash: MinHash | None = None, seed: int | None = None, hashvalues: Any = None, scheme: str | None = None
    ) -> None:
        if minhash is None:
            raise ValueError("a LeanMinHash is made of a MinHash, not of hash values")
        if scheme is not None and scheme != minhash.scheme:
            raise ValueError(f"scheme {scheme!r} conflicts with the scheme {minhash.scheme!r} of the given MinHash")
        self._take(minhash._kind, minhash._set.copy())

    def _take(self, kind: tuple[str, int, int], tokens: TokenSet) -> None:
        self._kind, self._set = kind, tokens
        self.scheme, self.seed, self.num_perm = kind

    def update(self, b: Any) -> None:
        """Raises a TypeError."""
        raise TypeError("Cannot update a LeanMinHash")

    update_batch = update

    @classmethod
    def union(cls, *mhs: MinHash) -> LeanMinHash:
        """A new one with the tokens of all."""
        return cls(super().union(*mhs))

    def bytesize(self, byteorder: str = "@") -> int:
        """Number of bytes that :meth:`serialize` writes."""
        return struct.calcsize(_lean_format(byteorder, len(self._set)))

    def serialize(self, buf: Any, byteorder: str = "@") -> None:
        """Writes it to the beginning of a buffer, in a byte order of :mod:`struct`.

        Raises:
            ValueError: The buffer is smaller than :meth:`bytesize`.
        """
        tokens = self._tokens()
        count = len(tokens) // 8
        layout, scheme = _lean_format(byteorder, count), _SCHEMES.index(self.scheme)
        if len(buf) < struct.calcsize(layout):
            raise ValueError("The buffer does not have enough space for holding this MinHash.")
        tokens = _ordered(tokens, byteorder)
        struct.pack_into(layout, buf, 0, self.seed, self.num_perm, scheme, count, tokens)

    @classmethod
    def deserialize(cls, buf: Any, byteorder: str = "@") -> LeanMinHash:
        """The one at the beginning of a buffer.

        Raises:
            ValueError: It is not one.
            struct.error: The buffer is too short.
        """
        seed, num_perm, scheme, count, _ = struct.unpack_from(_lean_format(byteorder, 0), buf)
        if not (0 < num_perm <= _MOST_PERMUTATIONS and scheme < len(_SCHEMES)):
            raise ValueError("these bytes are not of a LeanMinHash")
        tokens = struct.unpack_from(_lean_format(byteorder, count), buf)[4]
        made = cls.__new__(cls)
        made._take((_SCHEMES[scheme], seed, num_perm), TokenSet(num_perm, seed, _ordered(tokens, byteorder)))
        return made

    def _tokens(self) -> bytes:
        """The hashes of the tokens, ascending, little-endian."""
        tokens: bytes = self._set.__reduce__()[1][2]
        return tokens

    def __hash__(self) -> int:  # type: ignore[override]
        return hash((self._kind, self._tokens()))


def _lean_format(byteorder: str, tokens: int) -> str:
    """A seed, the number of permutations, the place of the scheme, the number of tokens, and the tokens."""
    return f"{byteorder}QIIQ{8 * tokens}s"


def _ordered(tokens: bytes, byteorder: str) -> bytes:
    """Numbers of 64 bits from little-endian into this byte order, or from it."""
    if byteorder == "<" or (byteorder in "@=" and sys.byteorder == "little"):
        return tokens
    numbers = array("Q", tokens)
    numbers.byteswap()
    return numbers.tobytes()


def _recall(weights: tuple[float, float]) -> float:
    """Least share of the pairs at the threshold that bands find by these weights of false positives and negatives."""
    positive, negative = weights
    return min(max(1 - (1 - _RECALL) * positive / negative, 0.5), 0.9999) if negative else 0.5


def _bands(num_perm: int, threshold: float, recall: float) -> tuple[int, int]:
    """The bands and rows that find this share of the pairs at the threshold with the least work, as a store chooses."""
    default = _native.bands_of_recall(num_perm, threshold)
    if recall == _RECALL:
        return default

    def found(jaccard: float, bands: int, rows: int) -> float:
        return 1 - (1 - jaccard**rows) ** bands

    def work(shape: tuple[int, int]) -> float:
        """Look-ups, and candidates below the threshold among 1000 sets of all similarities."""
        return shape[0] + 1000 / 64 * threshold * sum(found(threshold * step / 64, *shape) for step in range(64))

    shapes = []
    for rows in range(1, num_perm // 2 + 1):
        enough = (bands for bands in range(2, num_perm // rows + 1) if found(threshold, bands, rows) >= recall)
        if fewest := next(enough, None):
            shapes.append((fewest, rows))
    return min(shapes, key=work, default=(num_perm, 1))


class _Memory:
    """Sets in memory, under keys of any kind."""

    def __init__(self, threshold: float, bands: tuple[int, int]) -> None:
        self._index = SetIndex(bands, threshold)
        self._numbers: dict[Hashable, int] = {}
        self.known = self._numbers
        self._keys: dict[int, Hashable] = {}
        self.bands, self.recall = self._index.bands, self._index.recall(threshold)

    def insert(self, key: Hashable, tokens: TokenSet, waiting: int) -> None:
        self._put(key, self._index.insert(tokens))

    def _put(self, key: Hashable, number: int) -> None:
        if key in self._numbers:
            self.remove([key])
        self._numbers[key], self._keys[number] = number, key

    def query(self, tokens: TokenSet) -> list[Hashable]:
        return [self._keys[number] for number in self._index.query(tokens)]

    def remove(self, keys: list[Hashable]) -> None:
        for key in keys:
            number = self._numbers.pop(key)
            del self._keys[number]
            self._index.remove(number)

    def merge(self, other: _Memory) -> None:
        for key, number in list(other._numbers.items()):
            self._put(key, self._index.take(other._index, number))

    def counts(self, keys: Iterable[Hashable] | None = None) -> list[dict[int, int]]:
        return self._index.counts(None if keys is None else [self._numbers[key] for key in keys])

    def flush(self) -> None:
        pass

    close = flush

    def __contains__(self, key: Hashable) -> bool:
        return key in self._numbers

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)


def _name(key: Hashable) -> str:
    """The string that a store on disk has for a key, which is read again without the program."""
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


def _key(name: str) -> Hashable:
    key: Hashable = name[1:] if name[:1] == "s" else ast.literal_eval(name[1:])
    return key


class _Disk:
    """Sets in a store that stays."""

    def __init__(self, path: Any, num_perm: int, threshold: float, bands: tuple[int, int], is_chosen: bool) -> None:
        asked: dict[str, Any] = {"threshold": threshold, "permutations": num_perm, "shingling": "ids"}
        expect: Any = asked if is_chosen else {**asked, "bands": bands}
        self._store = open(path, **asked, bands=bands, expect=expect)
        self._end = weakref.finalize(self, self._store.close)
        self._waiting: dict[str, TokenSet] = {}
        self.known = self
        schema: Any = self._store.schema
        self._seed: int = schema["seed"]
        count, rows = map(int, schema["bands"].split("x"))
        self.bands, self.recall = (count, rows), self._store.recall(threshold)

    def _check(self, tokens: TokenSet) -> None:
        if tokens.seed != self._seed and len(self):
            raise ValueError(f"Expecting minhash with seed {self._seed}, as those in the index have, got {tokens.seed}")

    def insert(self, key: Hashable, tokens: TokenSet, waiting: int) -> None:
        self._check(tokens)
        name = _name(key)
        if tokens.seed != self._seed:
            self._store.reindex(seed=tokens.seed)
            self._seed = tokens.seed
        self._waiting[name] = tokens.copy()
        if len(self._waiting) >= waiting:
            self.flush()

    def query(self, tokens: TokenSet) -> list[Hashable]:
        self._check(tokens)
        self.flush()
        return [_key(name) for name in _native.query_set(self._store, tokens)]

    def remove(self, keys: list[Hashable]) -> None:
        self.flush()
        self._store.remove([_name(key) for key in keys])

    def merge(self, other: _Disk) -> None:
        self.flush()
        other.flush()
        self._store.merge(other._store)

    def counts(self, keys: Iterable[Hashable] | None = None) -> list[dict[int, int]]:
        self.flush()
        return _native.bucket_counts(self._store, None if keys is None else [_name(key) for key in keys])

    def flush(self) -> None:
        if self._waiting:
            waiting, self._waiting = self._waiting, {}
            _native.add_sets(self._store, list(waiting), list(waiting.values()))

    def close(self) -> None:
        if self._end.alive:
            self.flush()
            self._end()

    def __contains__(self, key: Hashable) -> bool:
        try:
            name = _name(key)
        except TypeError:
            return False
        return name in self._waiting or name in self._store

    def __iter__(self) -> Iterator[Hashable]:
        self.flush()
        return map(_key, self._store)

    def __len__(self) -> int:
        self.flush()
        return len(self._store)

    def __reduce__(self) -> Any:
        raise TypeError(
            "a MinHashLSH with a store that stays belongs to one process and is not pickled; open its path again"
        )


class _Closing:
    """What a ``with`` block closes."""

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def _tokens(minhash: MinHash, num_perm: int, scheme: str | None) -> TokenSet:
    """The set of a MinHash that has this number of permutations, and this scheme if there is one."""
    if not isinstance(minhash, MinHash):
        raise TypeError(f"a dedupdb.datasketch.MinHash, not {type(minhash).__module__}'s")
    if minhash.num_perm != num_perm:
        raise ValueError(f"Expecting minhash with length {num_perm}, got {minhash.num_perm}")
    if scheme not in (None, minhash.scheme):
        raise ValueError(f"Expecting minhash with scheme {scheme!r}, as those in the index, got {minhash.scheme!r}")
    return minhash._set


class MinHashLSH(_Closing):
    """An index of :class:`MinHash`, in memory or in a store: exact answers, nothing below the threshold.

    >>> from dedupdb.datasketch import MinHash, MinHashLSH
    >>> night = MinHash()
    >>> night.update_batch([b"night", b"tram", b"runs"])
    >>> index = MinHashLSH(threshold=0.5)
    >>> index.insert("tram", night)
    >>> index.query(night)
    ['tram']

    Args:
        threshold: Least Jaccard similarity of what is found. With ``params`` it is the middle of their S-curve,
            as datasketch's candidates have it.
        num_perm: Permutations of every MinHash.
        weights: Of false positives and false negatives. There are no false positives, but candidates to compare. If
            both are equal, at most 2% of the pairs at the threshold are missed; else 2% times their ratio: 0.5% with
            ``(0.2, 0.8)``. If there are too few permutations for that, a warning says how many are found.
        params: Number of bands and of rows.
        storage_config: ``{"type": "dict"}`` for an index in memory, or ``{"type": "dedupdb", "path": ...}`` for a
            store on disk.
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
        self.h = num_perm
        self.buffer_size = 50000
        self._index: _Memory | _Disk
        self._scheme: str | None = None
        self._questions: list[set[Hashable]] = []
        kind, recall = config.get("type"), _recall(weights)
        chosen = params or _bands(num_perm, threshold, recall)
        if kind == "dict":
            self._index = _Memory(threshold, chosen)
        elif kind == "dedupdb":
            if "path" not in config:
                raise ValueError('storage_config: {"type": "dedupdb"} needs a "path"')
            self._index = _Disk(config["path"], num_perm, threshold, chosen, is_chosen=params is None)
        else:
            raise ValueError(f'storage_config: type {kind!r}; there are "dict" and "dedupdb"')
        self.b, self.r = self._index.bands
        if params is None and self._index.recall < recall:
            warn(
                f"{num_perm} permutations find {self._index.recall:.1%} of the pairs at the threshold {threshold}, in "
                f"{self.b} bands; more permutations find more"
            )

    @property
    def keys(self) -> KeysView[Hashable]:
        """The keys of all that was inserted."""
        return KeysView(self._index)

    def _check(self, minhash: MinHash) -> TokenSet:
        return _tokens(minhash, self.h, self._scheme)

    def insert(self, key: Hashable, minhash: MinHash, check_duplication: bool = True) -> None:
        """Stores a MinHash under a key.

        With a store that stays it is durable when this returns; in an :meth:`insertion_session`, when that ends.

        Raises:
            ValueError: The key is there, or the MinHash has another number of permutations, or another seed than those
                in the index.
            TypeError: A store on disk takes no such key.
        """
        self._insert(key, minhash, check_duplication, 0)

    def _insert(self, key: Hashable, minhash: MinHash, check_duplication: bool, waiting: int) -> None:
        tokens = self._check(minhash)
        if check_duplication and key in self:
            raise ValueError("The given key already exists")
        self._index.insert(key, tokens, waiting)
        self._scheme = minhash.scheme

    def query(self, minhash: MinHash) -> list[Hashable]:
        """The keys of what reaches the threshold with a MinHash, the most similar first."""
        return self._index.query(self._check(minhash))

    def add_to_query_buffer(self, minhash: MinHash) -> None:
        """Asks, and keeps the answer for :meth:`collect_query_buffer`."""
        self._questions.append(set(self.query(minhash)))

    def collect_query_buffer(self) -> list[Hashable]:
        """The keys that all questions since the last call have in common."""
        questions, self._questions = self._questions, []
        return list(set.intersection(*questions)) if questions else []

    def __contains__(self, key: Hashable) -> bool:
        return key in self._index.known

    def remove(self, key: Hashable) -> None:
        """Removes a key.

        Raises:
            ValueError: It is not there.
        """
        self._remove([key])

    def _remove(self, keys: list[Hashable]) -> None:
        self._check_keys(keys)
        self._index.remove(keys)

    def _check_keys(self, keys: Iterable[Hashable]) -> None:
        if not all(key in self for key in keys):
            raise ValueError("The given key does not exist")

    def is_empty(self) -> bool:
        """Whether nothing was inserted."""
        return len(self._index) == 0

    def get_counts(self) -> list[dict[int, int]]:
        """For each band, its buckets with the number of keys in each."""
        return self._index.counts()

    def get_subset_counts(self, *keys: Hashable) -> list[dict[int, int]]:
        """The same, of these keys alone; keys that are not there count nothing."""
        return self._index.counts([key for key in dict.fromkeys(keys) if key in self])

    def merge(self, other: MinHashLSH, check_overlap: bool = False) -> None:
        """Takes in what another index with the same parameters has.

        Raises:
            ValueError: It has other parameters, or, with ``check_overlap``, keys of both are the same.
        """
        if type(self) is not type(other):
            raise ValueError(f"Cannot merge type MinHashLSH and type {type(other).__name__}.")
        own, index = self._index, other._index
        if (self.h, own.bands, type(own)) != (other.h, index.bands, type(index)):
            raise ValueError("Cannot merge MinHashLSH with different initialization parameters.")
        if None not in (self._scheme, other._scheme) and self._scheme != other._scheme:
            raise ValueError(f"Cannot merge MinHash of scheme {other._scheme!r} into those of {self._scheme!r}")
        if check_overlap and any(key in self for key in index):
            raise ValueError("The keys are overlapping, duplicate key exists.")
        own.merge(index)  # type: ignore[arg-type]
        self._scheme = self._scheme or other._scheme

    def insertion_session(self, buffer_size: int = 50000) -> MinHashLSHInsertionSession:
        """What is inserted in a ``with`` block is stored together."""
        return MinHashLSHInsertionSession(self, buffer_size)

    def deletion_session(self, buffer_size: int = 50000) -> MinHashLSHDeletionSession:
        """What is removed in a ``with`` block is removed together."""
        return MinHashLSHDeletionSession(self, buffer_size)

    def close(self) -> None:
        """Stores what waits and closes the store."""
        self._index.close()

    def __repr__(self) -> str:
        return f"<dedupdb.datasketch.MinHashLSH of {len(self._index)} keys, {self.b} bands of {self.r} rows>"


class MinHashLSHForest:
    """The most similar of the sets in memory, whatever their similarity, by exact Jaccard similarity.

    Compared are the sets that share a minimum with the one that is asked about: of those with similarity s, a share of
    1 - (1 - s)**num_perm. So more are compared than by datasketch's trees.

    >>> from dedupdb.datasketch import MinHash, MinHashLSHForest
    >>> night = MinHash()
    >>> night.update_batch([b"night", b"tram", b"runs"])
    >>> forest = MinHashLSHForest()
    >>> forest.add("tram", night)
    >>> forest.index()
    >>> forest.query(night, 1)
    ['tram']

    Args:
        num_perm: Permutations of every MinHash.
        l: Number of prefix trees: checked, and else of no effect.
    """

    def __init__(self, num_perm: int = 128, l: int = 8) -> None:  # noqa: E741
        if l <= 0 or num_perm <= 0:
            raise ValueError("num_perm and l must be positive")
        if l > num_perm:
            raise ValueError("l cannot be greater than num_perm")
        self.num_perm, self.l, self.k = num_perm, l, num_perm // l
        self._scheme: str | None = None
        self._sets: dict[Hashable, TokenSet] = {}
        self._index = _Memory(sys.float_info.min, (num_perm, 1))

    def add(self, key: Hashable, minhash: MinHash) -> None:
        """Adds a MinHash under a key. It is found after :meth:`index`."""
        tokens = _tokens(minhash, self.num_perm, self._scheme)
        if key in self:
            raise ValueError("The given key has already been added")
        if self._sets and tokens.seed != next(iter(self._sets.values())).seed:
            raise ValueError("The given MinHash has another seed than those in the forest")
        self._sets[key] = tokens.copy()
        self._scheme = minhash.scheme

    def index(self) -> None:
        """Makes all that was added known to :meth:`query`."""
        for key, tokens in list(self._sets.items())[len(self._index) :]:
            self._index.insert(key, tokens, 0)

    def query(self, minhash: MinHash, k: int) -> list[Hashable]:
        """The keys of at most ``k`` sets, the most similar first, of equal ones the first added."""
        if k <= 0:
            raise ValueError("k must be positive")
        return self._index.query(_tokens(minhash, self.num_perm, self._scheme))[:k]

    def get_minhash_hashvalues(self, key: Hashable) -> Any:
        """A copy of the hash values of a set.

        Raises:
            KeyError: It is not there.
        """
        return self._sets[key].digest()

    def is_empty(self) -> bool:
        """Whether :meth:`query` finds nothing, as before :meth:`index`."""
        return len(self._index) == 0

    def __contains__(self, key: Hashable) -> bool:
        return key in self._sets


class MinHashLSHInsertionSession(_Closing):
    """A ``with`` block whose insertions are stored together.

    >>> from dedupdb.datasketch import MinHash, MinHashLSH
    >>> index = MinHashLSH(threshold=0.5)
    >>> with index.insertion_session() as session:
    ...     session.insert("empty", MinHash())
    >>> "empty" in index
    True
    """

    def __init__(self, lsh: MinHashLSH, buffer_size: int) -> None:
        self.lsh = lsh
        self.lsh.buffer_size = buffer_size

    def insert(self, key: Hashable, minhash: MinHash, check_duplication: bool = True) -> None:
        """Inserts as :meth:`MinHashLSH.insert` does; it is stored by the end of the block."""
        self.lsh._insert(key, minhash, check_duplication, self.lsh.buffer_size)

    def close(self) -> None:
        """Stores what waits."""
        self.lsh._index.flush()


class MinHashLSHDeletionSession(_Closing):
    """A ``with`` block whose removals are done together.

    >>> from dedupdb.datasketch import MinHash, MinHashLSH
    >>> index = MinHashLSH(threshold=0.5)
    >>> index.insert("empty", MinHash())
    >>> with index.deletion_session() as session:
    ...     session.remove("empty")
    >>> index.is_empty()
    True
    """

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
