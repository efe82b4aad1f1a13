"""dedupdb finds near-duplicate texts: copies, new versions and reposts of the same text.

A store on disk reports which earlier documents a text resembles, with the exact similarity of each::

    import dedupdb

    with dedupdb.open("seen", threshold=0.8) as store:
        store.add(table, key="url", text="body")
        for match in store.query("some text"):
            print(match.key, match.jaccard)

    kept, dropped = dedupdb.dedup(table, text="body")

Tables are exchanged through the Arrow PyCapsule interface, which pyarrow, polars, DuckDB, pandas and datasets have.
Long calls release the interpreter's lock. Ctrl-C ends them, and the store keeps its last commit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import IO, TYPE_CHECKING, Any, Literal

from . import _native, errors
from ._dedup import (
    Decontaminated,
    Deduplicated,
    check_against,
    given,
    kept_rows,
    least_words,
    number_kept,
    orders,
    text_names,
    with_texts,
)
from ._native import Batches, Store, Table, __version__
from ._signatures import Signatures
from .errors import Error
from .results import Added, Document, Match, Problem, Report, Stats, Verdict

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._parameters import Parameters

__all__ = [
    "Added",
    "Batches",
    "Decontaminated",
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
    "decontaminate",
    "dedup",
    "errors",
    "open",
    "read",
    "sign",
]


def __dir__() -> list[str]:
    modules = ("cluster", "datasketch", "results", "spark")
    return [*__all__, *(name for name in modules if name in globals())]


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
    wait: float | str = 5.0,
    threads: int = 0,
    false_candidates: int | None = None,
    containment: float | None = None,
    expect: Parameters | None = None,
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
    fold: Literal["none", "marks"] | None = None,
    shingles: bool | None = None,
    passage: int | None = None,
) -> Store:
    """Opens the store in a folder, or makes one if there is none.

    >>> import dedupdb
    >>> with dedupdb.open("pages", threshold=0.7) as pages:
    ...     pages.insert("https://example.org/tram", "The night tram runs again from Friday on.").verdict
    'added'

    Args:
        path: The folder. Addresses such as ``s3://`` are refused.
        read_only: Whether to open it for reading, as of the last commit, while another process may write. A forked
            process opens such a handle again, as of the last commit then.
        create: Whether to make a store if there is none.
        wait: How long to wait, now and at each write, while another process writes: seconds, or a string such as
            ``"30s"``; 5.
        threads: Number of threads that work on batches; 0 for one per core.
        false_candidates: Number of candidates that do not match after which a search ends; 4,000.
        containment: :meth:`Store.insert` and :meth:`Store.add` with ``unique=True`` also keep out a text if a stored
            one has at least this share of its shingles. The store must find passages.
        expect: Parameters that a store must have, such as ``{"threshold": 0.8}``.
        preset: The parameters of another tool: ``fineweb``, ``nemo``, ``refinedweb`` or ``text-dedup``. The parameters
            below override it. ``dedupdb init --help`` describes each.
        threshold: Least Jaccard similarity of near-duplicates, above 0 and up to 1; 0.8.
        recall: Least share of the pairs at the threshold that is found, above 0 and below 1; 0.98.
        shingling: What texts are cut into: ``word:K``, ``code:K``, ``char:K``, ``char-nospace:K``, ``byte:K``,
            ``term`` or ``ids``; ``word:5``.
        permutations: Slots of a signature, 1 to 16384; 128.
        bands: Bands and rows, such as ``(18, 7)`` or ``"18x7"``, instead of those that ``recall`` chooses.
        slot_bits: Bits of a slot: 8, 16 or 32.
        family: Family of the permutations; ``affine32``, the fastest. datasketch has a scheme of the same name with
            other arithmetic.
        seed: Random seed of the permutations; 1.
        lowercase: Whether to ignore case; True.
        nfkc: Whether to normalize texts to Unicode NFKC; True.
        fold: ``marks`` treats words as equal that differ in marks only: the vowel signs and the tatweel of Arabic, the
            points of Hebrew, the diacritics of Latin letters; ``none``.
        shingles: Whether to store shingles; without them, similarities are estimates; True.
        passage: Length in words of the passages that :meth:`Store.passages` always finds, 0 for none; 20, or 100 for
            shingles of characters or bytes.

    The parameters from ``preset`` on are for a new store; ``open(path, **store.schema)`` takes those of another one. A
    store that exists keeps its own, also those that a ``reindex`` gave it, unless they are not as ``expect`` says.

    Raises:
        dedupdb.errors.NotAStore: There is no store, and ``create`` is False.
        dedupdb.errors.Locked: Another process kept writing for longer than ``wait``.
        dedupdb.errors.SchemaMismatch: The store does not have a parameter of ``expect``.
        dedupdb.errors.InvalidSchema: A parameter is out of its range (a ``ValueError``).
    """
    return Store(
        path,
        read_only=read_only,
        create=create,
        wait=_seconds(wait),
        threads=threads,
        false_candidates=false_candidates,
        containment=containment,
        expect=expect,
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
            "fold": fold,
            "shingles": shingles,
            "passage": passage,
        },
    )


def _opened_again(path: str, schema: Parameters) -> Store:
    """What a pickled handle becomes: the store, opened for reading, if it still has the same parameters."""
    return Store(path, read_only=True, expect=schema)


def dedup(
    data: Any,
    *,
    text: str | Iterable[str] = "text",
    key: str | None = None,
    keep: Literal["first", "longest", "newest", "none"] | int | None = None,
    keep_by: str | Iterable[str] | None = None,
    prefer: Mapping[str, Iterable[Any]] | None = None,
    against: Any = None,
    containment: float | None = None,
    shortest: int | None = None,
    unit: Literal["paragraph", "line"] | None = None,
    min_words: int | None = None,
    cut_passages: int | None = None,
    min_count: int | None = None,
    drop_above: float | None = None,
    progress: Progress = None,
    temporary: str | os.PathLike[str] | None = None,
    false_candidates: int | None = None,
    errors: Literal["raise", "skip"] = "raise",
    ignore: Any = None,
    **parameters: Unpack[Parameters],
) -> Deduplicated:
    """Removes near-duplicates: a row is dropped if it resembles a row that is kept.

    A text without tokens is never dropped, and neither is a row whose ``attachments_hash``, as :func:`read` gives it to
    messages, no kept row of the same text has. With ``unit`` or ``cut_passages``, only parts of texts that came before
    are cut, as by ``dedupdb dedup --unit`` and ``--cut-passages``, and the first copy of each stays.

    >>> import dedupdb
    >>> kept, dropped = dedupdb.dedup(["It runs again from Friday.", "It runs again from Friday!", "Who painted it?"])
    >>> kept, dropped["row"]
    (['It runs again from Friday.', 'Who painted it?'], [1])
    >>> notice = "Letters to the editor are printed with the name and the town of their author."
    >>> rows = [f"The tram runs again.\\n\\n{notice}", f"The crane is a parrot now.\\n\\n{notice}"]
    >>> kept, dropped = dedupdb.dedup(rows, unit="paragraph")
    >>> kept[1], dropped["row"], dropped["earlier"]
    ('The crane is a parrot now.', [1], [0])

    Args:
        data: A table that gives Arrow (pyarrow, polars, DuckDB, pandas, datasets), a data set of pyarrow, record
            batches, an Arrow array of strings, or an iterable of strings or dicts, also a streamed data set.
        text: The column of a table, or the field of a dict, with the text. The texts of several, in a list, are joined
            by line breaks; one that is null, empty or, in a dict, missing adds nothing. A text may be a list of
            strings, and ``messages[].content`` or ``messages[role=user].content`` leads into lists. With ``unit`` or
            ``cut_passages``, it is a string in one field, which is not nested.
        key: The column or field with keys, which ``dropped`` then names beside the numbers of rows. It does not go with
            ``unit`` and ``cut_passages``.
        keep: Which of several similar rows to keep: the ``first``, the ``longest`` (the one with more distinct
            shingles, then the longer text, then the first), the ``newest``, which is the last, a number of them (the
            first, and those that resemble it), or ``none``; ``first``, and with ``containment`` always ``longest``.
            ``longest`` and ``newest`` need memory for a copy of all texts.
        keep_by: Keep the row with the largest value of a field, or with ``"-field"`` the smallest; of several fields,
            the next one decides between equal rows, and then ``keep``. Numbers, dates and texts are compared as
            ``dedupdb dedup --keep-by`` does; rows without a value (null, empty, NaN, infinite) come last, and
            ``.without_field`` of the result counts them. Dots lead into structs and nested dicts.
        prefer: Before ``keep_by``, keep a row with the first of these values of a field, or else with the second, and
            so on: ``{"source": ["wiki", "books"]}``.
        against: A :class:`Store`, or rows as ``data``: drop the rows that resemble one there, and do not compare the
            rows with each other. A store has its own parameters.
        containment: Also drop a row if a longer one that is kept has this share of its shingles (runs of five words),
            above 0 and up to 1, such as an excerpt, or a page that was cut off.
        shortest: With ``containment``, texts of fewer tokens are dropped only as near-duplicates; 20.
        unit: Judge each ``paragraph``, which blank lines are between, or each ``line`` instead of whole texts, and cut
            those that resemble an earlier one, in another row or in the same one.
        min_words: With ``unit``, shorter units stay; 13.
        cut_passages: Cut each run of this number of words or more, 8 at least, that stands before, word for word, in
            what is kept of another row or of the same one.
        min_count: With ``cut_passages``, cut only runs that stand at this number of places of all texts or more, the
            first copy included. With more than 2, the texts are in memory meanwhile; 2.
        drop_above: With ``unit`` or ``cut_passages``, drop rows that lost a larger share of their characters, and those
            without a word left; 0.8.
        progress: True for a bar (tqdm's, if it is there), or a callable of ``(done, total)``.
        temporary: Folder for temporary files; that of the system.
        false_candidates: Number of candidates that do not match after which a search ends; 4,000. A warning says how
            many searches ended so.
        errors: ``raise`` or ``skip``: what to do about a row that cannot be compared. A skipped row is not among the
            kept ones; ``.skipped`` of the result lists it.
        ignore: A text, or several as ``data``, of which nothing counts, such as a template. A row with nothing else is
            nobody's duplicate, and stays.
        parameters: Those of :func:`open`, from ``preset`` on.

    Returns:
        The rows to keep, and why the others are dropped: ``kept, dropped = dedup(...)``. It also has ``.keep``, a list
        of bool, ``.indices``, ``.groups``, ``.marks()`` and ``.skipped``. With ``unit`` or ``cut_passages``, the rows
        are kept with what is left of their texts, ``dropped`` is about the parts that came before, and ``.cut`` has the
        numbers of the kept rows that lost some.

    Raises:
        ValueError: A text is null, or a parameter is out of its range or goes with another one; the row is named.
        TypeError: A text is not a string; the row is named.
    """
    data, texts, keep_rows = given(data)
    names = text_names(text)
    if temporary is None:
        import tempfile

        temporary = tempfile.gettempdir()
    elif not isinstance(temporary, (str, os.PathLike)):
        raise TypeError(f"temporary: a path, not {type(temporary).__name__}")
    if shortest is not None and containment is None:
        raise ValueError("shortest: it goes with containment, which is not given")
    if min_count is not None and cut_passages is None:
        raise ValueError("min_count: it goes with cut_passages, which is not given")
    if unit is not None or cut_passages is not None:
        others: dict[str, Any] = {"keep": None if keep == "first" else keep, "keep_by": keep_by, "prefer": prefer}
        others |= {"containment": containment, "shortest": shortest, "against": against, "key": key}
        others |= {"false_candidates": false_candidates, "ignore": ignore}
        least = least_words(unit, min_words, cut_passages, others, parameters)
        if min_count is not None and min_count < 2:
            raise ValueError(f"min_count: {min_count}; a passage that is cut stands at 2 places at least")
        share = 0.8 if drop_above is None else drop_above
        mask, parts, changed, skipped, table = _native.cut(
            texts,
            names,
            keep_rows,
            os.fspath(temporary),
            unit,
            least,
            2 if min_count is None else min_count,
            share,
            false_candidates,
            errors,
            progress,
            ignore,
            parameters,
        )
        kept = with_texts(kept_rows(data, mask, table), names[0], mask, changed)
        return Deduplicated(kept, mask, parts, skipped, [row for row, _ in changed])
    for name, value in (("min_words", min_words), ("drop_above", drop_above)):
        if value is not None:
            raise ValueError(f"{name}: it goes with unit or cut_passages, which is not given")
    ranked = orders(keep_by, prefer)
    if ranked and containment is not None:
        raise ValueError("keep_by: it does not go with containment, which always keeps the longer text")
    if against is not None:
        others = {"keep": keep, "keep_by": ranked or None, "containment": containment}
        check_against(against, others, ignore, parameters)
    if keep is None:
        keep = "first" if containment is None else "longest"
    if shortest is None:
        shortest = 20
    within = os.fspath(temporary)
    mask, dropped, skipped, table, without, marked = _native.dedup(
        texts,
        names,
        key,
        number_kept(keep),
        ranked,
        keep_rows,
        within,
        against if against is None or isinstance(against, Store) else given(against)[1],
        containment,
        shortest,
        false_candidates,
        errors,
        progress,
        ignore,
        parameters,
    )
    kept = kept_rows(data, mask, table)
    return Deduplicated(
        kept,
        mask,
        dropped,
        skipped,
        without_field=dict(without),
        marked=marked,
        is_against=against is not None,
    )


def decontaminate(
    data: Any,
    against: Any,
    *,
    text: str | Iterable[str] = "text",
    against_text: str | Iterable[str] = "text",
    passage: int = 13,
    containment: float = 0.4,
    action: Literal["drop", "cut"] = "drop",
    margin: int | None = None,
    progress: Progress = None,
    errors: Literal["raise", "skip"] = "raise",
    ignore: Any = None,
) -> Decontaminated:
    """Finds rows that have items of a benchmark, such as its questions, and returns the others.

    A row has an item if both have 13 words in a row, or if a stretch of its text that is twice as long as the item has
    40% of the item's shingles (runs of five words), in 70% of its words, and in ten of them or all of an item with
    fewer. A character of a script without spaces is a word. The rows are those that ``dedupdb decontaminate`` finds.

    >>> import dedupdb
    >>> rows = ["It asks who painted the crane in the harbour.", "The night tram runs again from Friday on."]
    >>> kept, hits = dedupdb.decontaminate(rows, ["Who painted the crane in the harbour?"])
    >>> kept, hits["row"], hits["text"]
    (['The night tram runs again from Friday on.'], [0], ['who painted the crane in the harbour'])

    Args:
        data: Rows with texts, as :func:`dedup` takes them.
        against: The benchmark: a table, or an iterable of strings or dicts.
        text: The column of a table, or the field of a dict, with the text. The texts of several, in a list, are joined
            by line breaks; one that is null, empty or, in a dict, missing adds nothing. With ``action="cut"``,
            it is a string in one field, which is not nested.
        against_text: The columns or fields of the benchmark whose texts are items, each of its own. Each
            string of a list is one, in the field ``choices[0]`` and so on.
        passage: Number of words in a row that are a hit, at least 5.
        containment: Share of an item's shingles in a stretch of a text that is a hit.
        action: ``drop`` rows with an item, or ``cut`` the items from their texts, to the ends of sentences or lines. A
            row of which more than ten parts would have to be cut, or no word would be left, is dropped.
        margin: With ``cut``, this number of words on each side is cut as well; 0.
        progress: True for a bar (tqdm's, if it is there), or a callable of ``(done, total)``.
        errors: ``raise`` or ``skip``: what to do about a row, also of the benchmark, that has no text.
        ignore: A text, or several, without which items are taken, such as an instruction that stands before each.

    Returns:
        The rows without an item, and the hits: ``kept, hits = decontaminate(...)``. It also has ``.keep``,
        ``.indices``, ``.cut`` (the kept rows that had items), ``.unchecked`` (items of which fewer than five words
        count) and ``.skipped``.

    Raises:
        ValueError: A text is null, a number is out of its range, or no item of the benchmark can be checked.
        TypeError: A text is not a string; the row is named.
    """
    data, texts, keep_rows = given(data)
    names = text_names(text)
    fields = [against_text] if isinstance(against_text, str) else list(against_text)
    items = given(against)[1]
    if action not in ("drop", "cut"):
        raise ValueError(f'action: {action!r}; there are "drop" and "cut"')
    if margin is not None and action != "cut":
        raise ValueError('margin: it goes with action="cut", which is not given')
    words = (margin or 0) if action == "cut" else None
    mask, hits, changed, unchecked, skipped, table = _native.decontaminate(
        texts, names, keep_rows, items, fields, passage, containment, words, errors, progress, ignore
    )
    kept = with_texts(kept_rows(data, mask, table), names[0], mask, changed)
    return Decontaminated(kept, mask, hits, [row for row, _ in changed], unchecked, skipped)


def sign(
    texts: Any,
    *,
    text: str | Iterable[str] = "text",
    progress: Progress = None,
    **parameters: Unpack[Parameters],
) -> Signatures:
    """Signs texts: the minima of their shingles under each permutation, the bits that ``dedupdb matrix`` writes.

    >>> import dedupdb
    >>> dedupdb.sign(["The night tram runs again from Friday on."], permutations=64).shape
    (1, 64)

    Args:
        texts: A table that gives Arrow, an Arrow array of strings, or an iterable of strings or dicts.
        text: The column of a table, or the field of a dict, with the text, or several, as for :func:`dedup`.
        progress: True for a bar, or a callable of ``(done, total)``.
        parameters: Those of :func:`open`: ``permutations``, ``shingling``, ``seed``, ``family`` and so on.

    Returns:
        A matrix of 32-bit numbers with a row per text and a column per permutation, for ``numpy.asarray``.
    """
    rows, permutations, data = _native.sign(texts, text, progress, parameters)
    return Signatures(rows, permutations, data)


def read(
    paths: str | os.PathLike[str] | IO[bytes] | Iterable[str | os.PathLike[str] | IO[bytes]],
    *,
    format: str | None = None,
    text_field: str | Iterable[str] | None = None,
    id_field: str | None = None,
    id_scope: Literal["all", "file"] | None = None,
    encoding: str | None = None,
    follow: bool = False,
    max_document: int | None = None,
    include: str | Iterable[str] = (),
    exclude: str | Iterable[str] = (),
    gitignore: bool = False,
    quoted: bool = True,
    errors: str = "raise",
    columns: Literal["all"] | Iterable[str] | None = None,
) -> Batches:
    """Reads files, folders and patterns such as ``crawl/*.jsonl.zst`` as documents, as ``dedupdb add`` does.

    >>> import dedupdb, pathlib
    >>> _ = pathlib.Path("pages.jsonl").write_text('{"id": "tram", "text": "The night tram runs again."}\\n')
    >>> [(row["key"], row["record"]) for row in dedupdb.read("pages.jsonl")]
    [('tram', 1)]
    >>> lines = '{"text": "A tram.", "score": 5}\\n{"text": "A tram!", "score": 7}\\n'
    >>> _ = pathlib.Path("ranked.jsonl").write_text(lines)
    >>> pages = dedupdb.read("ranked.jsonl", columns=["score"])
    >>> dedupdb.dedup(pages, keep_by="score").kept["score"]
    [7]

    Args:
        paths: One or many: paths, patterns, ``-`` for standard input, files that are open for reading bytes, and
            addresses such as ``s3://bucket/crawl/*.jsonl.zst`` or ``https://example.org/pages.parquet`` of whatever
            ``fsspec`` reads. Its name gives an open file its format and key. Open files and addresses are read as
            streams; Parquet is copied to a temporary file first.
        format: ``jsonl``, ``json``, ``csv``, ``tsv``, ``parquet``, ``text``, ``html``, ``warc``, ``eml``, ``mbox`` or
            ``shingles``; by default, what the name of each file says.
        text_field: Field or column with the text, or several in a list, whose texts are joined by line breaks;
            ``text``.
        id_field: Field or column with the key; ``id``.
        id_scope: Where ids are unique: ``all`` files, or each ``file``, so that keys are ``PATH#ID``. By default, if
            an id comes again with another text, both rows have this key, and a warning names the first.
        encoding: Encoding of the text; by default, it is detected.
        follow: Whether symbolic links are followed.
        max_document: Most bytes of a document.
        include: In folders, read only files whose names match one of these patterns, as in ``.gitignore``: ``"*.md"``.
            This, ``exclude`` and ``gitignore`` are for folders of this machine; that of a bucket is refused.
        exclude: In folders, leave out files and folders whose names match one of these.
        gitignore: Whether to leave out what ``.gitignore`` files in the folders exclude.
        quoted: Whether lines of mail that begin with ``>``, which quote an earlier message, are read.
        errors: ``raise`` or ``skip``: what to do about a file of ``paths`` that cannot be read, such as a picture. A
            path that does not exist is an error in any case. What cannot be read in a folder is skipped, and so are
            broken records.
        columns: Further columns: ``"all"`` other fields of the records and ``NAME=VALUE`` of folders, or a list of
            names, in which dots lead into nested fields: ``["score", "meta.date"]``. A record without the field, and a
            file that is one document, have null. Parquet keeps its types; JSON is typed by the values of the first
            4,096 documents or 32 MiB, and cells of CSV and TSV and values of folders are strings. Then, the first
            documents are read in this call.

    Returns:
        A stream of record batches with the columns ``key``, ``text``, ``source`` (the file), ``record`` (its number in
        the file, or null) and ``attachments_hash`` (of a message with attachments, or null), and then those of
        ``columns``. ``.skipped`` lists what was left out, with the reason. The stream raises ``FileNotFoundError`` for
        a path that does not exist, and ``ValueError`` for one that cannot be read, for a value that does not fit the
        type of its column, for a column that is in no record, or if nothing could be read. Arrow libraries raise errors
        of their own with the same message.
    """
    from ._files import sources

    return _native.read(
        sources(paths, {"include": include, "exclude": exclude, "gitignore": gitignore}),
        format=format,
        text_field=text_field,
        id_field=id_field,
        id_scope=id_scope,
        encoding=encoding,
        follow=follow,
        max_document=max_document,
        include=[include] if isinstance(include, str) else list(include),
        exclude=[exclude] if isinstance(exclude, str) else list(exclude),
        gitignore=gitignore,
        quoted=quoted,
        errors=errors,
        columns=columns,
    )
