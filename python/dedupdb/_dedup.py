"""The rows that are kept of a table or of texts, and why the others are dropped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ._native import Table


class Deduplicated:
    """The result of :func:`dedupdb.dedup`: ``kept, dropped = result``.

    A row is dropped if it resembles a row that is kept, as in ``dedupdb dedup``.
    """

    def __init__(self, kept: Any, keep: list[bool], dropped: Table) -> None:
        self.kept: Any = kept
        """The rows that are kept: a table of the class that was given (pyarrow, polars, pandas, datasets), a
        :class:`Table` of another Arrow table, a list of other rows."""
        self.keep: list[bool] = keep
        """Whether each row is kept."""
        self.dropped: Table = dropped
        """A row for each dropped row: its number ``row``, the number of the kept row that it resembles
        (``earlier``), ``verdict`` (``near_duplicate`` or ``exact_copy``), and the ``jaccard`` of both (with
        ``shingles=False``, its estimate)."""

    @property
    def indices(self) -> list[int]:
        """The numbers of the rows that are kept."""
        return [row for row, keep in enumerate(self.keep) if keep]

    @property
    def groups(self) -> list[list[int]]:
        """The numbers of similar rows: in each group the kept row, then the dropped rows that resemble it."""
        groups: dict[int, list[int]] = {}
        for row, earlier in zip(self.dropped["row"], self.dropped["earlier"], strict=True):
            groups.setdefault(earlier, [earlier]).append(row)
        return [groups[first] for first in sorted(groups)]

    def __iter__(self) -> Iterator[Any]:
        return iter((self.kept, self.dropped))

    def __repr__(self) -> str:
        kept = sum(self.keep)
        return f"<dedupdb.Deduplicated: {kept} of {len(self.keep)} rows kept>"


def package_of(data: Any) -> str:
    """The package that the class of the data or one of its bases is of, if data of that package is known."""
    known = ("pandas", "numpy", "polars", "datasets", "pyarrow")
    packages = (base.__module__.partition(".")[0] for base in type(data).__mro__)
    return next((package for package in packages if package in known), "")


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
