"""Bars for ``progress=True``: tqdm's, where it is installed."""

from __future__ import annotations

from typing import Any


class Bar:
    """A progress bar, as a callable for the progress of a call."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def __call__(self, done: int, total: int | None) -> None:
        """Shows the number of steps that are done, and that of all steps if it is known."""
        self._bar.total = total
        self._bar.n = done
        self._bar.refresh()

    def _dedupdb_close(self) -> None:
        self._bar.close()


def _nothing(done: int, total: int | None) -> None:
    pass


def bar(unit: str) -> Any:
    """A bar that counts in a unit; something that shows nothing where there is no tqdm."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _nothing
    return Bar(tqdm(unit=f" {unit}", leave=False))
