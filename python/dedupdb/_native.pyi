"""The extension module: the crate's store, Arrow in and out."""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, SupportsIndex, final, overload

from typing_extensions import CapsuleType, Self, Unpack

from ._parameters import Parameters
from .results import Added, Document, Match, Report, Stats, Verdict

__all__ = [
    "Batches",
    "ClusterBenchmark",
    "ClusterContainment",
    "ClusterContainmentWalk",
    "ClusterKeeper",
    "ClusterLoader",
    "ClusterPassages",
    "ClusterPostings",
    "ClusterRarity",
    "ClusterShingleCounts",
    "ClusterSketcher",
    "ClusterWalk",
    "SetIndex",
    "Store",
    "Table",
    "TokenSet",
    "__version__",
    "add_sets",
    "bands_of_recall",
    "bucket_counts",
    "cluster_components",
    "cluster_items",
    "cluster_sum_counts",
    "cluster_verify",
    "cluster_verify_contained",
    "cut",
    "decontaminate",
    "dedup",
    "query_set",
    "read",
    "sign",
    "token_hash",
]

__version__: str

_Progress = bool | Callable[[int, int | None], object] | None
_Path = str | os.PathLike[str]
_Errors = Literal["raise", "skip"]

@final
class Store:
    """A near-duplicate store in a folder; :func:`dedupdb.open` returns one.

    Threads share it. Any number of processes have a store open, and write by turns.
    """

    def __new__(
        cls,
        path: _Path,
        *,
        read_only: bool = False,
        create: bool = True,
        wait: float = 5.0,
        threads: int = 0,
        false_candidates: int | None = None,
        containment: float | None = None,
        parameters: Parameters | None = None,
        expect: Parameters | None = None,
    ) -> Self: ...
    @property
    def path(self) -> Path:
        """The store's folder, absolute."""

    @property
    def read_only(self) -> bool:
        """Whether it was opened for reading only."""

    @property
    def closed(self) -> bool:
        """Whether it was closed."""

    @property
    def schema(self) -> Parameters:
        """The parameters of the store, as the arguments of :func:`dedupdb.open`."""

    @property
    def threshold(self) -> float:
        """Minimum Jaccard similarity of near-duplicates, above 0 and up to 1."""

    @property
    def searches_cut_short(self) -> int:
        """Number of searches that ended before every candidate was compared."""

    def recall(self, jaccard: float) -> float:
        """The share of the pairs of this similarity that are found, 0 to 1: the store's S-curve."""

    def add(
        self,
        data: Any,
        texts: Any = None,
        /,
        *,
        key: str | None = None,
        text: str | Iterable[str] | None = None,
        unique: bool = False,
        errors: _Errors = "raise",
        progress: _Progress = None,
        memory: int | None = None,
    ) -> Added:
        """Stores documents, each under its key, replacing the text that the key had before."""

    @overload
    def insert(
        self,
        data: str | SupportsIndex,
        texts: str,
        /,
        *,
        key: str | None = None,
        text: str | Iterable[str] | None = None,
        errors: _Errors = "raise",
        progress: _Progress = None,
    ) -> Verdict: ...
    @overload
    def insert(
        self,
        data: Any,
        texts: Any = None,
        /,
        *,
        key: str | None = None,
        text: str | Iterable[str] | None = None,
        errors: _Errors = "raise",
        progress: _Progress = None,
    ) -> Table: ...
    @overload
    def query(
        self,
        texts: str,
        /,
        *,
        text: str | Iterable[str] | None = None,
        threshold: float | None = None,
        limit: int | None = None,
        progress: _Progress = None,
        containment: float | None = None,
        shortest: int = 20,
        ignore: Any = None,
        nearest: int | None = None,
        exhaustive: bool = False,
    ) -> list[Match]: ...
    @overload
    def query(
        self,
        texts: Any,
        /,
        *,
        text: str | Iterable[str] | None = None,
        threshold: float | None = None,
        limit: int | None = None,
        progress: _Progress = None,
        containment: float | None = None,
        shortest: int = 20,
        ignore: Any = None,
        nearest: int | None = None,
        exhaustive: bool = False,
    ) -> Table: ...
    def passages(
        self,
        texts: Any,
        /,
        *,
        text: str | Iterable[str] | None = None,
        at_least: int | None = None,
        gap: int = 0,
        limit: int | None = None,
        all: bool = False,
        progress: _Progress = None,
        ignore: Any = None,
    ) -> Table:
        """The passages that texts share with stored documents, word for word: for each text the longest first.

        The store must find passages, as one does by default.
        """

    def common(
        self, *, limit: int = 20, at_least: int | None = None, min_documents: int = 5, texts: Any = None
    ) -> Table:
        """The passages that most documents have: their number, the words, and the keys of at most three.

        The store keeps no texts: they are looked up in ``texts``, or in the files that the store names.
        """

    def like(
        self,
        key: str | SupportsIndex,
        /,
        *,
        threshold: float | None = None,
        limit: int | None = None,
        containment: float | None = None,
        shortest: int = 20,
        ignore: Any = None,
        nearest: int | None = None,
        exhaustive: bool = False,
    ) -> list[Match]:
        """Documents similar to a stored one, without that document, the most similar first, as :meth:`query` finds
        them."""

    def get(self, key: str | SupportsIndex) -> Document | None:
        """The document of a key, or None."""

    def __getitem__(self, key: str | SupportsIndex, /) -> Document: ...
    def __contains__(self, key: object, /) -> bool: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __delitem__(self, key: str | SupportsIndex, /) -> None: ...
    def __iter__(self) -> Iterator[str]: ...
    def documents(self, prefix: str = "") -> Iterator[Document]:
        """All documents whose keys begin with ``prefix``, in the order of their keys."""

    def remove(self, keys: str | SupportsIndex | Iterable[str | SupportsIndex]) -> int:
        """Removes documents, with one commit; returns how many of them were stored."""

    def touch(self, key: str | SupportsIndex, /) -> bool:
        """Notes that a document was met again today, unchanged; returns whether it is stored."""

    def replace(self, key: str | SupportsIndex, text: str, /) -> Verdict:
        """Stores a text in place of the key's earlier one, whatever it resembles; durable when this returns."""

    def rename(self, old: str | SupportsIndex, new: str | SupportsIndex, /) -> bool:
        """Gives a document another key, replacing the document that had it; returns whether ``old`` was stored."""

    def holder(self) -> int | None:
        """The number of the process that has the right to write now, if one has it and that is known."""

    def stats(self) -> Stats:
        """Counts and sizes."""

    def pairs(
        self,
        *,
        threshold: float | None = None,
        between: tuple[str, str] | None = None,
        fold_copies: bool = False,
        exhaustive: bool = False,
        containment: float | None = None,
        shortest: int = 20,
        ignore: Any = None,
        memory: int | None = None,
    ) -> Batches:
        """Every pair of similar documents, as a stream; below the store's threshold, ``exhaustive`` misses none.

        With ``containment``, the first text of each pair has at least this share of its shingles in the second; a last
        column says which share. Texts of fewer than ``shortest`` tokens are left out. No pair is missed. ``memory`` is
        the number of bytes for this and for ``exhaustive``, besides 30 a text, 1 GiB by default.
        """

    def clusters(
        self,
        *,
        threshold: float | None = None,
        linkage: Literal["connected", "representative"] = "connected",
        min_size: int = 2,
        exhaustive: bool = False,
        containment: float | None = None,
        shortest: int = 20,
        memory: int | None = None,
    ) -> Batches:
        """Groups of similar documents, as a stream of their members; clusters are numbered from 1.

        With ``exhaustive``, every pair that reaches the threshold is a link, also below the store's threshold. With
        ``containment``, each text is below the largest one that contains this share of it.
        """

    def refresh(self) -> bool:
        """Moves the store to the last commit of all processes; returns whether there was a newer one."""

    def reindex(self, *, progress: _Progress = None, **parameters: Unpack[Parameters]) -> bool:
        """Changes the parameters, while the store is in use; returns whether there was anything to change."""

    def cancel_rebuild(self) -> bool:
        """Discards an unfinished ``reindex`` or ``compact``; returns whether there was one."""

    def compact(self, *, progress: _Progress = None) -> bool:
        """Frees the space of removed documents."""

    def merge(self, other: Store) -> int:
        """Adds all documents of another store with the same parameters; returns how many it has."""

    def backup(self, path: _Path, *, progress: _Progress = None) -> Stats:
        """Copies the store into a folder, as of its last commit; returns the copy's counts and sizes."""

    def check(self, *, progress: _Progress = None) -> Report:
        """Checks every byte that holds data, as of the last commit. The store may be in use."""

    def close(self) -> None:
        """Closes the store: the last commit stays."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_raised: object) -> None: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Table:
    """Rows with named columns, for any Arrow library."""

    def __new__(cls, data: Any) -> Self: ...
    def __arrow_c_stream__(self, requested_schema: CapsuleType | None = None) -> CapsuleType: ...
    def __arrow_c_schema__(self) -> CapsuleType: ...
    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""

    @property
    def schema(self) -> dict[str, str]:
        """The names of the columns, with their Arrow types."""

    def to_pylist(self) -> list[dict[str, Any]]:
        """The rows, as dicts."""

    def to_pandas(self) -> Any:
        """A frame of pandas, by pyarrow."""

    def _repr_html_(self) -> str: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, name: str, /) -> list[Any]: ...
    @overload
    def __getitem__(self, name: SupportsIndex, /) -> dict[str, Any]: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...

@final
class Batches:
    """A stream of record batches, which is read once."""

    def __arrow_c_stream__(self, requested_schema: CapsuleType | None = None) -> CapsuleType: ...
    def __arrow_c_schema__(self) -> CapsuleType: ...
    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""

    @property
    def skipped(self) -> list[tuple[str, str]]:
        """What was left out so far, each with its place and the reason."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> dict[str, Any]: ...

def cut(
    data: Any,
    text: list[str],
    keep_rows: bool,
    within: _Path,
    unit: str | None,
    least: int,
    min_count: int,
    drop_above: float,
    false_candidates: int | None,
    errors: str,
    progress: _Progress,
    ignore: Any,
    parameters: Parameters,
) -> tuple[list[bool], Table, list[tuple[int, str]], list[tuple[int, str]], Table | None]:
    """Which rows to keep, the parts that are cut, texts without them, skipped rows, and the kept ones."""

def decontaminate(
    data: Any,
    text: list[str],
    keep_rows: bool,
    against: Any,
    fields: list[str],
    passage: int,
    containment: float,
    margin: int | None,
    errors: str,
    progress: _Progress,
    ignore: Any,
) -> tuple[list[bool], Table, list[tuple[int, str]], list[tuple[int, str, str]], list[tuple[int, str]], Table | None]:
    """Which rows to keep, items, texts without them, items that cannot be checked, skipped rows, and the kept ones."""

def dedup(
    data: Any,
    text: list[str],
    key: str | None,
    keep: str,
    ranked: list[tuple[str, list[str] | None]],
    keep_rows: bool,
    within: str,
    against: Any,
    containment: float | None,
    shortest: int,
    false_candidates: int | None,
    errors: str,
    progress: _Progress,
    ignore: Any,
    parameters: Parameters,
) -> tuple[list[bool], Table, list[tuple[int, str]], Table | None, list[tuple[str, int]], list[tuple[int, int, float]]]:
    """Which rows to keep, why the others are dropped, skipped rows, the kept ones, those without a field, and those
    with other marks."""

def read(
    paths: list[Any],
    *,
    format: str | None = None,
    text_field: str | Iterable[str] | None = None,
    id_field: str | None = None,
    id_scope: str | None = None,
    encoding: str | None = None,
    follow: bool = False,
    max_document: int | None = None,
    include: list[str] = ...,
    exclude: list[str] = ...,
    gitignore: bool = False,
    quoted: bool = True,
    errors: str = "raise",
    columns: str | Iterable[str] | None = None,
) -> Batches:
    """Reads files, folders, patterns and streams as documents. A stream is its name, its key, and its reader."""

def sign(texts: Any, text: str | Iterable[str], progress: _Progress, parameters: Parameters) -> tuple[int, int, bytes]:
    """The minima of texts: rows, columns, and the matrix as bytes."""

def token_hash(token: Any) -> int:
    """The hash of a token, which is bytes or gives them: the first 64 bits of BLAKE3."""

@final
class TokenSet:
    """A set of tokens, by their hashes, and its minimum under each permutation."""

    def __new__(cls, permutations: int, seed: int, tokens: bytes | None = None) -> Self: ...
    @property
    def seed(self) -> int:
        """The seed of the permutations."""

    def update(self, tokens: Iterable[Any], function: Callable[[Any], int] | None = None) -> None:
        """Adds tokens, hashed by a function, or by ``token_hash`` if it is None."""

    def jaccard(self, other: TokenSet) -> float:
        """The Jaccard similarity of both sets; 1 of two that are empty."""

    def merge(self, other: TokenSet) -> None:
        """Adds the tokens of another set."""

    def copy(self) -> TokenSet:
        """A copy, which changes on its own."""

    def clear(self) -> None:
        """Removes all tokens."""

    def minima(self) -> Any:
        """The minima, as a NumPy array that cannot be changed."""

    def digest(self) -> Any:
        """The minima, as a NumPy array of its own."""

    def __len__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class SetIndex:
    """Token sets by number, found through the buckets in which a store has them."""

    def __new__(cls, bands: tuple[int, int], threshold: float) -> Self: ...
    @property
    def bands(self) -> tuple[int, int]:
        """Number of bands and of rows."""

    def recall(self, jaccard: float) -> float:
        """The share of the pairs of this similarity that are found."""

    def insert(self, set: TokenSet) -> int:
        """Adds a set, and returns its number."""

    def take(self, other: SetIndex, number: int) -> int:
        """Adds a set of another index, and returns its number here."""

    def query(self, set: TokenSet) -> list[int]:
        """The numbers of the sets that reach the threshold, the most similar first."""

    def remove(self, number: int) -> None:
        """Removes a set."""

    def counts(self, numbers: list[int] | None = None) -> list[dict[int, int]]:
        """For each band, its buckets with the number of sets in each: of these sets, or of all."""

    def __len__(self) -> int: ...
    def __getnewargs__(self) -> tuple[Any, ...]: ...
    def __getstate__(self) -> tuple[int, bytes, bytes]: ...
    def __setstate__(self, state: tuple[int, bytes, bytes]) -> None: ...

def bands_of_recall(permutations: int, threshold: float) -> tuple[int, int]:
    """The bands and rows that a store chooses, or the bands that find most if there are too few permutations."""

def add_sets(store: Store, keys: list[str], sets: list[TokenSet]) -> None:
    """Stores sets under keys, with one commit."""

def query_set(store: Store, set: TokenSet) -> list[str]:
    """The keys of the documents similar to a set, the most similar first."""

def bucket_counts(store: Store, keys: list[str] | None = None) -> list[dict[int, int]]:
    """The buckets of each band with the number of documents in them."""

@final
class ClusterSketcher:
    """Sketches batches of documents, for :mod:`dedupdb.spark` and other engines."""

    def __new__(cls, threads: int, parameters: Parameters) -> Self: ...
    @property
    def parameters(self) -> str:
        """The parameters in one line."""

    @property
    def has_fingerprints(self) -> bool:
        """Whether sketches have a column ``fingerprints``."""

    @property
    def threshold(self) -> float:
        """Minimum Jaccard similarity of near-duplicates."""

    def sketch(self, batch: Any) -> Table:
        """A row for each of a batch's, whose columns are ``key`` and ``text``."""

@final
class ClusterBenchmark:
    """The items of a benchmark, which are looked for in batches of texts."""

    def __new__(cls, items: Any, passage: int, containment: float) -> Self: ...
    @property
    def unchecked(self) -> int:
        """The number of items that have too few words to be looked for."""

    def judge(self, batch: Any, margin: int | None) -> Table:
        """``keep``, ``items``, ``item``, ``coverage`` and ``cut`` for each row of a batch, whose text is ``text``."""

    def hits(self, batch: Any) -> Table:
        """What the texts of a batch, whose columns are ``key`` and ``text``, have of items."""

@final
class ClusterPassages:
    """Finds the passages that texts share."""

    def __new__(cls, parameters: Parameters) -> Self: ...
    def texts(self, batch: Any) -> Table:
        """The shingles of texts in their order, and the keys under which they are posted."""

    def verify(self, batch: Any) -> Table:
        """The pairs of a batch that share a passage."""

@final
class ClusterPostings:
    """Makes a row of ``key`` and ``code`` for each band of a sketch."""

    def __new__(cls, parameters: str) -> Self: ...
    def rows(self, batch: Any) -> Table:
        """The rows of a batch of sketches, with a column ``file``."""

@final
class ClusterShingleCounts:
    """Counts in how many contents shingles are, about."""

    def __new__(cls, parameters: str, shingles: int) -> Self: ...
    def count(self, batch: Any) -> None:
        """Counts the shingles of a batch of sketches, with a column ``file``."""

    def parts(self) -> Table:
        """The counters in rows of ``part`` and ``counts``."""

@final
class ClusterContainment:
    """Makes rows of ``key`` and ``code`` for the shingles that contents offer and request."""

    def __new__(cls, parameters: str, containment: float, shortest: int, counts: bytes) -> Self: ...
    @property
    def shortest(self) -> int:
        """The number of shingles of the smallest content that counts."""

    def rows(self, batch: Any) -> Table:
        """The rows of a batch of sketches, with a column ``file``."""

@final
class ClusterContainmentWalk:
    """Walks through the shingles of a partition."""

    def __new__(cls) -> Self: ...
    def push(self, batch: Any, start: int) -> tuple[Table, int]:
        """The pairs of the next rows, in the columns ``a`` and ``b``, and the row before which it stopped."""

@final
class ClusterWalk:
    """Walks through the buckets of a partition."""

    def __new__(cls, threshold: float, most: int, large: int | None = None, near: int = 0, beyond: int = 0) -> Self: ...
    def push(self, batch: Any) -> Table:
        """The pairs of the next rows, in the columns ``a`` and ``b``."""

@final
class ClusterRarity:
    """How often shingles are in some contents."""

    def __new__(cls, counts: bytes) -> Self: ...
    @staticmethod
    def count(batches: list[Any]) -> ClusterRarity:
        """Counts the shingles of batches with the columns ``size`` and ``packed``."""

    def bytes(self) -> bytes:
        """The counts, to be sent to other machines."""

    def rows(self, batch: Any, threshold: float) -> Table:
        """Rows of ``key``, which is a shingle, ``code`` and ``label``."""

@final
class ClusterKeeper:
    """Judges the contents of groups that come one after the other."""

    def __new__(cls, threshold: float, most: int) -> Self: ...
    def push(self, batch: Any) -> Table:
        """What becomes of the next contents: ``hash``, ``representative``, ``jaccard`` and ``cut_short``."""

@final
class ClusterLoader:
    """Adds sketches to a store, which is made if it is not there."""

    def __new__(cls, path: _Path, parameters: str, threads: int) -> Self: ...
    def push(self, batch: Any) -> None:
        """Adds the next sketches, with a commit."""

def cluster_verify(batch: Any, threshold: float, share: bool) -> Table:
    """The pairs of a batch that reach the threshold, with ``share`` those that share a band key."""

def cluster_components(batches: list[Any]) -> Table:
    """Each ``hash`` of the pairs ``hash_a`` and ``hash_b``, with the lowest that it is connected to as ``label``."""

def cluster_items(against: Any, fields: list[str], key: str | None, errors: str) -> tuple[Table, int]:
    """The items of a benchmark: ``item``, ``field`` and ``text``, and the number of rows without a text."""

def cluster_sum_counts(batches: list[Any]) -> Table:
    """Adds up the counters of rows with the same ``part``."""

def cluster_verify_contained(batch: Any, containment: float) -> Table:
    """The pairs of a batch of which one contains this share of the other."""
