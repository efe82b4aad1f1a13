"""Tables in notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._native import Table

_ROWS, _CHARACTERS = 10, 100


def html(table: Table) -> str:
    """The first rows of a table."""
    lines = [_line("th", table.column_names)]
    for row in range(min(len(table), _ROWS)):
        try:
            values = [_short(value) for value in table[row].values()]
        except TypeError:  # a column for Arrow libraries
            values = ["…"] * len(table.column_names)
        lines.append(_line("td", values))
    count = f"{len(table):,} row{'' if len(table) == 1 else 's'}"
    more = f", the first {_ROWS} shown" if len(table) > _ROWS else ""
    return f"<table>{''.join(lines)}</table><small>{count}{more}</small>"


def _short(value: object) -> str:
    text = f"{value:.4f}" if isinstance(value, float) else str(value)
    return text if len(text) <= _CHARACTERS else f"{text[: _CHARACTERS - 1]}…"


def _line(tag: str, cells: list[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
