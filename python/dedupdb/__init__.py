"""dedupdb: have I seen something like this before, what was it, and how alike are they?

A store of near-duplicate text on disk, and what it is made of::

    import dedupdb

    with dedupdb.open("seen", threshold=0.8) as store:
        store.add(table, key="url", text="body")
        for match in store.query("some text"):
            print(match.key, match.jaccard)

    kept, dropped = dedupdb.dedup(table, text="body")

Tables come and go by the Arrow PyCapsule interface: pyarrow, polars, DuckDB, pandas and datasets give and take
them. Long calls run without the interpreter's lock; Ctrl-C ends them and leaves the last commit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, Literal

from . import _native, errors
from ._dedup import Deduplicated, kept_rows
from ._native import Batches, Store, Table, __version__
from ._signatures import Signatures
from .errors import Error
from .results import Added, Document, Match, Problem, Report, Stats, Verdict

__all__ = [
    "Added",
    "Batches",
    "Deduplicated",
    "Document",
    "Error",
    "Match",
    "Problem",
    "Report",
    "Signatures",
    "Stats",
    "Store",
    "Table",
    "Verdict",
    "__version__",
    "dedup",
    "errors",
    "open",
    "read",
    "sign",
]

Progress = bool | Callable[[int, int | None], object] | None

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


def _seconds(wait: float | str) -> float:
    """A time to wait: a number of seconds, or a string such as ``"30s"`` or ``"500ms"``."""
    if isinstance(wait, str):
        # Here, and so is what else few calls need: a program starts sooner.
        import re

        match = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*(ms|s|m|h|d|w)\s*", wait)
        if match is None:
            raise ValueError(f'wait: {wait!r}; a time is seconds, or such as "30s", "500ms", "1.5h"')
        return float(match[1]) * _UNITS[match[2]]
    if isinstance(wait, bool) or not isinstance(wait, (int, float)):
        raise TypeError(f'wait: seconds or a str such as "30s", not {type(wait).__name__}')
    return float(wait)


def open(
    path: str | os.PathLike[str],
    *,
    read_only: bool = False,
    create: bool = True,
    wait: float | str = 0.0,
    threads: int = 0,
    false_candidates: int | None = None,
    preset: Literal["fineweb", "nemo", "refinedweb", "text-dedup"] | None = None,
    threshold: float | None = None,
    recall: float | None = None,
    shingling: str | None = None,
    permutations: int | None = None,
    bands: tuple[int, int] | str | None = None,
    slot_bits: int | None = None,
    family: str | None = None,
    seed: int | None = None,
    lowercase: bool | None = None,
    nfkc: bool | None = None,
    shingles: bool | None = None,
) -> Store:
    """Opens the store in a folder, or makes one if there is none.

    Args:
        path: The folder.
        read_only: Opens it beside a writer and other readers, as of the last commit.
        create: Whether to make a store if there is none.
        wait: How long to wait while another process has it open for writing: seconds, or such as ``"30s"``.
        threads: Number of threads that work on batches; 0 for as many as the machine has cores.
        false_candidates: Candidates that do not match after which a search passes over the others; 4,000.
        preset: The parameters of another tool, which those that follow change: ``fineweb``, ``nemo``,
            ``refinedweb`` or ``text-dedup``. ``dedupdb init --help`` tells what each is.
        threshold: Least Jaccard similarity of near-duplicates, above 0 and up to 1; 0.8.
        recall: Share of the pairs at the threshold that are to be found; 0.98.
        shingling: Pieces that are compared: ``word:K``, ``char:K``, ``char-nospace:K``, ``byte:K``, ``term`` or
            ``ids``; ``word:5``.
        permutations: Slots of a signature, 1 to 16384; 128.
        bands: Bands and rows by hand, ``(18, 7)`` or ``"18x7"``, instead of by ``recall``.
        slot_bits: Bits that a slot keeps: 8, 16 or 32.
        family: Family of the permutations; ``affine32``, the fastest. It has other arithmetic than
            datasketch's scheme of the same name.
        seed: Number that the permutations are drawn with; 1.
        lowercase: Whether capital letters are like small ones; True.
        nfkc: Whether characters that Unicode NFKC makes the same are; True.
        shingles: Whether to keep shingles, without which similarities are estimates; True.

    The parameters from ``preset`` on are those of a new store; of one that is there they are compared.

    Raises:
        dedupdb.errors.NotAStore: There is none, and none is to be made.
        dedupdb.errors.Locked: Another process has it open for writing.
        dedupdb.errors.SchemaMismatch: It was made with another value of a parameter.
        dedupdb.errors.InvalidSchema: A parameter is out of its range (a ``ValueError``).
    """
    return Store(
        path,
        read_only=read_only,
        create=create,
        wait=_seconds(wait),
        threads=threads,
        false_candidates=false_candidates,
        parameters={
            "preset": preset,
            "threshold": threshold,
            "recall": recall,
            "shingling": shingling,
            "permutations": permutations,
            "bands": bands,
            "slot_bits": slot_bits,
            "family": family,
            "seed": seed,
            "lowercase": lowercase,
            "nfkc": nfkc,
            "shingles": shingles,
        },
    )


def _opened_again(path: str, schema: dict[str, str]) -> Store:
    """What a pickled handle becomes: the store, opened for reading, if it is still the same."""
    store = Store(path, read_only=True)
    for name, stored in store.schema.items():
        if schema.get(name) != stored:
            store.close()
            raise errors.SchemaMismatch(
                f"{name}: the store in {os.fspath(path)} has {stored} now, and had {schema.get(name)} when its "
                "handle was pickled"
            )
    return store


def dedup(
    data: Any,
    *,
    text: str = "text",
    keep: Literal["first", "longest", "newest"] = "first",
    progress: Progress = None,
    temporary: str | os.PathLike[str] | None = None,
    **parameters: Any,
) -> Deduplicated:
    """Leaves out near-duplicates: a row is dropped for the sake of another one that is kept and that it is like.

    Args:
        data: A table that gives Arrow (pyarrow, polars, DuckDB, pandas, datasets), an Arrow array of strings, or
            an iterable of strings or dicts.
        text: The column of a table, or the field of a dict, with the text.
        keep: Which of the rows that are alike is kept: the ``first``, the ``longest`` (of the same length the
            first) or the ``newest``, which is the last. The latter two take a copy of all texts in memory.
        progress: True for a bar (tqdm's, if it is there), or a callable of ``(done, total)``.
        temporary: Folder for shingles and signatures meanwhile; the system's.
        parameters: Those of :func:`open`, from ``preset`` on.

    Returns:
        The rows to keep and why the others are dropped: ``kept, dropped = dedup(...)``. Also ``.keep``, a list of
        bool, ``.indices`` and ``.groups``.

    Raises:
        ValueError: A text is null, or a parameter is out of its range; the row is named.
        TypeError: A text is not a string; the row is named.
    """
    package = type(data).__module__.partition(".")[0]
    knows_itself = package in ("pandas", "polars", "datasets") and hasattr(data, "__len__")
    has_arrow = hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")
    texts = data
    if knows_itself and package != "datasets" and text in getattr(data, "columns", ()):
        # Other columns of a frame may have what Arrow has not.
        texts = data[[text]]
    elif not (has_arrow or knows_itself) and not isinstance(data, (str, bytes, dict, list, tuple)):
        texts = _listed(data)
        data = data if package == "numpy" else texts
    if temporary is None:
        import tempfile

        temporary = tempfile.gettempdir()
    keep_rows = has_arrow and not knows_itself
    mask, dropped, table = _native.dedup(texts, text, keep, keep_rows, os.fspath(temporary), progress, parameters)
    return Deduplicated(kept_rows(data, mask, table), mask, dropped)


def _listed(data: Any) -> Any:
    """An iterable that can be gone through again."""
    return list(data) if isinstance(data, Iterable) else data


def sign(texts: Any, *, text: str = "text", progress: Progress = None, **parameters: Any) -> Signatures:
    """Signs texts: the minima of their shingles under each permutation, the bits that ``dedupdb matrix`` writes.

    Args:
        texts: A table that gives Arrow, an Arrow array of strings, or an iterable of strings or dicts.
        text: The column of a table, or the field of a dict, with the text.
        progress: True for a bar, or a callable of ``(done, total)``.
        parameters: Those of :func:`open`: ``permutations``, ``shingling``, ``seed``, ``family`` and so on.

    Returns:
        A matrix of 32-bit numbers, a row a text, a column a permutation; ``numpy.asarray`` takes it.
    """
    rows, permutations, data = _native.sign(texts, text, progress, parameters)
    return Signatures(rows, permutations, data)


def read(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    format: str | None = None,
    text_field: str | None = None,
    id_field: str | None = None,
    encoding: str | None = None,
    follow: bool = False,
    max_document: int | None = None,
) -> Batches:
    """Reads files, folders and patterns such as ``crawl/*.jsonl.zst`` as documents, as ``dedupdb add`` does.

    Args:
        paths: One or many.
        format: ``jsonl``, ``csv``, ``tsv``, ``parquet``, ``text``, ``html``, ``warc`` or ``shingles``; else it is
            that the name of each file implies.
        text_field: Field or column with the text; ``text``.
        id_field: Field or column with the key; ``id``.
        encoding: Encoding of the text; else it is detected.
        follow: Whether symbolic links are followed.
        max_document: Most bytes of a document.

    Returns:
        A stream of record batches with the columns ``key``, ``text``, ``source`` (the file) and ``record`` (its
        number in the file, or null). ``.skipped`` has what could not be read, with the reason. The stream raises
        ``FileNotFoundError`` where it comes to a path that does not exist.
    """
    listed: Any = [paths] if isinstance(paths, (str, os.PathLike)) or not isinstance(paths, Iterable) else list(paths)
    return _native.read(
        listed,
        format=format,
        text_field=text_field,
        id_field=id_field,
        encoding=encoding,
        follow=follow,
        max_document=max_document,
    )
