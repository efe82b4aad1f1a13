"""Warnings that point at the line that called the package."""

from __future__ import annotations

import sys
import warnings


def warn(message: str) -> None:
    """Warns at the innermost line that is not of this package, if this thread has one."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and f"{frame.f_globals.get('__name__')}.".startswith("dedupdb."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)
