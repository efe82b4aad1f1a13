"""The rows that are kept of a table or of texts, and why the others are dropped."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ._native import Store, Table
from ._shown import html


class _KeptRows:
    """The rows that are kept, which a result is taken apart into, and a table about the others."""

    def __init__(self, kept: Any, keep: list[bool], others: Table, skipped: list[tuple[int, str]] | None) -> None:
        self.kept: Any = kept
        """The rows that are kept: a table of the class that was given (pyarrow, polars, pandas, datasets), a
        :class:`Table` of another Arrow table, a list of other rows."""
        self.keep: list[bool] = keep
        """Whether each row is kept."""
        self.skipped: list[tuple[int, str]] = skipped or []
        """The rows that could not be compared, with the reason, with ``errors="skip"``. They are not kept."""
        self._others = others

    @property
    def indices(self) -> list[int]:
        """The numbers of the rows that are kept."""
        return [row for row, keep in enumerate(self.keep) if keep]

    def __iter__(self) -> Iterator[Any]:
        return iter((self.kept, self._others))

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> Any:
        return (self.kept, self._others)[index]

    def __repr__(self) -> str:
        return f"<dedupdb.{type(self).__name__}: {self._counts()}>"

    def _counts(self) -> str:
        skipped = f", {len(self.skipped)} skipped" if self.skipped else ""
        return f"{sum(self.keep)} of {len(self.keep)} rows kept{skipped}"


class Deduplicated(_KeptRows):
    """The result of :func:`dedupdb.dedup`: ``kept, dropped = result``.

    A row is dropped if it resembles a row that is kept, as in ``dedupdb dedup``.

    >>> result = dedupdb.dedup(["It runs again from Friday.", "It runs again from Friday!"])
    >>> result.keep, len(result.kept)
    ([True, False], 1)
    """

    def __init__(
        self,
        kept: Any,
        keep: list[bool],
        dropped: Table,
        skipped: list[tuple[int, str]] | None = None,
        cut: list[int] | None = None,
        without_field: dict[str, int] | None = None,
        marked: list[tuple[int, int, float]] | None = None,
        is_against: bool = False,
    ) -> None:
        super().__init__(kept, keep, dropped, skipped)
        self._marked = marked or []
        self._is_against = is_against
        self.without_field: dict[str, int] = without_field or {}
        """For each field of ``keep_by`` and ``prefer``, the number of rows without a value."""
        self.cut: list[int] = cut or []
        """With ``unit`` or ``cut_passages``, the numbers of the kept rows from whose texts parts are cut."""
        self.dropped: Table = dropped
        """A row for each dropped row: its number ``row``, the number of the kept row that it resembles most
        (``earlier``), ``verdict`` (``near_duplicate``, ``exact_copy`` or ``contained``), and the ``jaccard`` of both
        (with ``shingles=False``, its estimate). If ``containment`` was given, also the share of its shingles that the
        kept row has (``containment``), and which ``measure`` drops it: ``jaccard``, or else ``containment``. If ``key``
        was given, also the keys of both (``key``, ``earlier_key``), without the second with ``against``. With
        ``keep="none"``, ``earlier`` may be a row that is not kept either. With ``against``, ``earlier`` is the number
        of the row there or, in a store, the key.

        With ``unit`` or ``cut_passages``, a row for each part of a text that came before, also of a text that is not
        kept: the ``row``, and the place in its text (``byte_start``, ``byte_end``, in UTF-8). A paragraph or line also
        has its number in the text (``unit``, from 0), the row and the number of the one that it resembles
        (``earlier``, ``earlier_unit``), ``verdict`` and ``jaccard``."""

    @property
    def groups(self) -> list[list[int]]:
        """The numbers of similar rows: in each group the row that represents it, then those that resemble it.

        The first is the row that is kept, or that of several that was judged first. With ``keep="none"``, it is
        dropped.
        """
        if self._is_against:
            raise ValueError("groups: rows were compared with others, and not with each other")
        groups: dict[int, list[int]] = {}
        for row, (representative, _) in sorted(self._representatives("groups").items()):
            if row != representative:
                groups.setdefault(representative, [representative]).append(row)
        return [groups[first] for first in sorted(groups)]

    def marks(self, column: str = "dup") -> dict[str, list[Any]]:
        """Four columns with the verdict on each row, as ``dedupdb dedup --mark`` adds them.

        ``frame.assign(**result.marks())`` adds them to a frame of pandas. They are ``dup_keep``, whether the row is
        kept; ``dup_representative``, the number of the row that it resembles, or its own; ``dup_cluster``, a number
        that only the rows with this representative have; and ``dup_similarity``, the Jaccard similarity of both. With
        ``against``, the representative is what ``dropped`` has as ``earlier``, or None. Of skipped rows, all but
        ``dup_keep`` is None.
        """
        rows = range(len(self.keep))
        found: dict[int, tuple[Any, float | None]] = {row: (None if self._is_against else row, 1.0) for row in rows}
        found |= self._representatives("marks")
        found |= {row: (None, None) for row, _ in self.skipped}
        numbers: dict[Any, int] = {}
        clusters = [
            None if similarity is None else numbers.setdefault(("row", row) if of is None else of, len(numbers))
            for row, (of, similarity) in sorted(found.items())
        ]
        return {
            f"{column}_keep": list(self.keep),
            f"{column}_cluster": clusters,
            f"{column}_representative": [found[row][0] for row in rows],
            f"{column}_similarity": [found[row][1] for row in rows],
        }

    def _representatives(self, what: str) -> dict[int, tuple[Any, float]]:
        """The rows that resemble another one, or represent others that are dropped, each with the representative."""
        if "byte_start" in self.dropped.column_names:
            raise ValueError(f"{what}: parts of texts were judged, so rows have none")
        columns = (self.dropped[name] for name in ("row", "earlier", "jaccard"))
        found = {row: (earlier, jaccard) for row, earlier, jaccard in zip(*columns, strict=True)}
        return found | {row: (representative, jaccard) for row, representative, jaccard in self._marked}

    def _repr_html_(self) -> str:
        return f"<p>{self._counts()}; dropped:</p>{html(self.dropped)}"

    def _counts(self) -> str:
        cut = f", {len(self.cut)} of them cut" if self.cut else ""
        return f"{super()._counts()}{cut}"


class Decontaminated(_KeptRows):
    """The result of :func:`dedupdb.decontaminate`: ``kept, hits = result``.

    A row with an item is not kept, or, with ``action="cut"``, is kept without its items.

    >>> question = "Who painted the crane in the harbour?"
    >>> result = dedupdb.decontaminate([f"It asks: {question}", "The tram runs again."], [question])
    >>> result.keep, result.hits["text"]
    ([False, True], ['Who painted the crane in the harbour'])
    """

    def __init__(
        self,
        kept: Any,
        keep: list[bool],
        hits: Table,
        cut: list[int],
        unchecked: list[tuple[int, str, str]],
        skipped: list[tuple[int, str]],
    ) -> None:
        super().__init__(kept, keep, hits, skipped)
        self.cut: list[int] = cut
        """The numbers of the kept rows from whose texts items are cut."""
        self.hits: Table = hits
        """A row for each row and item that it has: its number ``row``; the number ``item`` and the ``field`` of the
        row of the benchmark; the item's length in ``words``; the words of the ``longest`` passage that both have; the
        share of the item's words (``coverage``) and of the text's words (``share``) in the overlap; where this is in
        the text (``byte_start``, ``byte_end``, in UTF-8) and in the item (``item_start``, ``item_end``, in words from
        0); and its ``text``."""
        self.unchecked: list[tuple[int, str, str]] = unchecked
        """Items that cannot be looked for: the row of the benchmark, the field, and the reason."""

    def marks(self, column: str = "benchmark") -> dict[str, list[Any]]:
        """Four columns with the verdict on each row, as ``dedupdb decontaminate --mark`` adds them.

        These are ``benchmark_keep``, whether the row has no item; ``benchmark_items``, how many it has;
        ``benchmark_item``, the row of the benchmark of the one of which it covers the largest share, or None; and
        ``benchmark_coverage``, this share, or 0. Of skipped rows, all but ``benchmark_keep`` is None.
        """
        items: list[int | None] = [0] * len(self.keep)
        most: list[tuple[int | None, float | None]] = [(None, 0.0)] * len(self.keep)
        for hit in self.hits:
            row = hit["row"]
            items[row] = (items[row] or 0) + 1
            if hit["coverage"] > (most[row][1] or 0.0):
                most[row] = (hit["item"], hit["coverage"])
        for row, _ in self.skipped:
            items[row], most[row] = None, (None, None)
        return {
            f"{column}_keep": [number == 0 for number in items],
            f"{column}_items": items,
            f"{column}_item": [item for item, _ in most],
            f"{column}_coverage": [coverage for _, coverage in most],
        }

    def _repr_html_(self) -> str:
        return f"<p>{self._counts()}; hits:</p>{html(self.hits)}"

    def _counts(self) -> str:
        unchecked = f", {len(self.unchecked)} items not checked" if self.unchecked else ""
        skipped = f", {len(self.skipped)} skipped" if self.skipped else ""
        cut = f", {len(self.cut)} of them cut" if self.cut else ""
        return f"{sum(self.keep)} of {len(self.keep)} rows without an item{cut}{unchecked}{skipped}"


def given(data: Any) -> tuple[Any, Any, bool]:
    """The data, the texts in it, and whether its kept rows are to be collected while they are read."""
    data = as_table(data)
    package = package_of(data)
    is_column = package == "datasets" and not hasattr(data, "select")
    knows_itself = package in ("pandas", "polars", "datasets") and hasattr(data, "__len__") and not is_column
    has_arrow = hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")
    texts = data
    if not (has_arrow or knows_itself) and not isinstance(data, (str, bytes, dict, list, tuple)):
        texts = as_table(listed(data))
        has_arrow = hasattr(texts, "__arrow_c_stream__")
        data = data if package == "numpy" else texts
    return data, texts, has_arrow and not knows_itself


def orders(
    keep_by: str | Iterable[str] | None, prefer: Mapping[str, Iterable[Any]] | None
) -> list[tuple[str, list[str] | None]]:
    """The fields that rank rows, in the order in which they decide, and the values that are preferred of some."""
    ranked: list[tuple[str, list[str] | None]] = []
    if prefer is not None and not isinstance(prefer, Mapping):
        raise TypeError(f"prefer: a mapping of fields to lists of values, not {type(prefer).__name__}")
    for field, values in (prefer or {}).items():
        if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
            raise TypeError(f"prefer: one {type(values).__name__} for {field!r}; put it in a list")
        ranked.append((field, [preferred(field, value) for value in values]))
    fields = [keep_by] if isinstance(keep_by, str) else keep_by or []
    return ranked + [(field, None) for field in fields]


def preferred(field: str, value: object) -> str:
    """A value that is preferred, as a text: of an enumeration of strings, the string."""
    if value is None or isinstance(value, (bytes, bytearray)):
        raise TypeError(f"prefer: {value!r} for {field!r}; a value is a str, a number, a bool, a date or a time")
    return str.__str__(value) if isinstance(value, str) else str(value)


def number_kept(keep: object) -> str:
    """Which rows to keep, in words: a number of them has its digits."""
    if isinstance(keep, bool) or not isinstance(keep, (int, str)):
        raise TypeError(f"keep: a str or a number of rows, not {type(keep).__name__}")
    return str(keep)


def check_against(against: Any, others: dict[str, Any], ignore: Any, parameters: Any) -> None:
    """Refuses what does not go with a comparison with other rows."""
    if isinstance(against, (str, os.PathLike)):
        instead = "dedupdb.open(path, read_only=True), or dedupdb.read(path)"
        raise TypeError(f"against: a {type(against).__name__}; for a store or files, give {instead}")
    for other, value in others.items():
        if value is not None:
            raise ValueError(f"{other}: it does not go with against")
    if isinstance(against, Store):
        if parameters:
            raise ValueError(f"{next(iter(parameters))}: a store has its own parameters")
        if ignore is not None:
            raise ValueError("ignore: texts are stored with what is to be ignored; give their rows as against")


def least_words(
    unit: str | None, min_words: int | None, cut_passages: int | None, others: dict[str, Any], parameters: Any
) -> int:
    """The number of words of the shortest parts that are cut, if nothing else is asked for that does not go with it."""
    name = "unit" if cut_passages is None else "cut_passages"
    if cut_passages is None:
        others = {**others, "false_candidates": None, "ignore": None}
    else:
        others = {"unit": unit, "min_words": min_words, **others, **parameters}
    for other, value in others.items():
        if value is not None:
            raise ValueError(f"{other}: it does not go with {name}")
    least = (13 if min_words is None else min_words) if cut_passages is None else cut_passages
    if least < 0:
        raise ValueError(f"{'min_words' if cut_passages is None else 'cut_passages'}: {least} is below 0")
    return least


def listed(data: Any) -> Any:
    """An iterable that can be gone through again."""
    return list(data) if isinstance(data, Iterable) else data


def package_of(data: Any) -> str:
    """The package that the class of the data or one of its bases is of, if data of that package is known."""
    known = ("pandas", "numpy", "polars", "datasets", "pyarrow")
    packages = (base.__module__.partition(".")[0] for base in type(data).__mro__)
    return next((package for package in packages if package in known), "")


def as_table(data: Any) -> Any:
    """A data set of pyarrow, a scan or a list of record batches as a table or the stream of one; else the data."""
    parts = data if isinstance(data, list) else []
    if parts and all(package_of(part) == "pyarrow" and hasattr(part, "column") for part in parts):
        import pyarrow

        return pyarrow.concat_tables(pyarrow.table(part) for part in parts)
    if package_of(data) != "pyarrow" or hasattr(data, "__arrow_c_stream__"):
        return data
    scan = data.scanner() if hasattr(data, "scanner") else data
    return scan.to_reader() if hasattr(scan, "to_reader") else data


def kept_rows(data: Any, keep: list[bool], table: Table | None) -> Any:
    """The kept rows, as a table of the same class as the data or as what is next to it."""
    package = package_of(data)
    if package == "pandas" and not keep:
        # An empty list names columns.
        return data.iloc[:0]
    if package in ("pandas", "numpy"):
        return data[keep]
    if package == "polars":
        return data.filter(keep)
    if package == "datasets":
        return data.select([row for row, kept in enumerate(keep) if kept])
    if table is not None:
        if package == "pyarrow":
            import pyarrow

            return pyarrow.table(table)
        return table
    if hasattr(data, "to_pylist"):
        data = data.to_pylist()
    return [row for row, kept in zip(data, keep, strict=True) if kept]


def text_names(text: str | Iterable[str]) -> list[str]:
    """The fields of texts as a list."""
    if isinstance(text, str) or not isinstance(text, Iterable):
        return [text]
    return list(text)


def with_texts(kept: Any, text: str, keep: list[bool], changed: list[tuple[int, str]]) -> Any:
    """The kept rows with other texts in these rows of the data, unless a table of Arrow has them already."""
    package = package_of(kept)
    if not changed or isinstance(kept, Table) or package == "pyarrow":
        return kept
    places = {row: place for place, row in enumerate(row for row, is_kept in enumerate(keep) if is_kept)}
    new = {places[row]: other for row, other in changed}
    if package in ("pandas", "polars") and hasattr(kept, "columns"):
        texts = _replaced(kept[text], new)
        if package == "pandas":
            return kept.assign(**{text: kept[text].__class__(texts, index=kept.index, dtype=kept[text].dtype)})
        return kept.with_columns(kept[text].__class__(text, texts, dtype=kept[text].dtype))
    if package == "pandas":
        return kept.__class__(_replaced(kept, new), index=kept.index, name=kept.name, dtype=kept.dtype)
    if package == "polars":
        return kept.__class__(kept.name, _replaced(kept, new), dtype=kept.dtype)
    if package == "datasets":
        return kept.map(lambda row, place: {text: new.get(place, row[text])}, with_indices=True, keep_in_memory=True)
    if package == "numpy":
        kept = kept.copy()
        for place, other in new.items():
            kept[place] = other
        return kept
    return [
        row if place not in new else {**row, text: new[place]} if isinstance(row, dict) else new[place]
        for place, row in enumerate(kept)
    ]


def _replaced(texts: Any, new: dict[int, str]) -> list[Any]:
    return [new.get(place, other) for place, other in enumerate(texts)]
