"""What can go wrong: a class for each situation that a caller can act on, all of them a :class:`Error`.

The message of each is one line that says what is wrong and, where there is something to do, what to do.
Classes that stand for a wrong argument are a :class:`ValueError` as well, a missing document is a
:class:`KeyError`, and what the operating system refused is an :class:`OSError`.
"""

from __future__ import annotations

__all__ = [
    "AlreadyAStore",
    "Blocked",
    "Damaged",
    "Error",
    "Full",
    "Index",
    "InsideStore",
    "InvalidColumn",
    "InvalidKey",
    "InvalidQuery",
    "InvalidSchema",
    "InvalidShingles",
    "InvalidText",
    "Io",
    "Locked",
    "MissingSources",
    "Moved",
    "NewerFormat",
    "NoShingles",
    "NoSuchDocument",
    "NotAStore",
    "NotEmpty",
    "Occupied",
    "OldDocument",
    "OlderFormat",
    "OtherProcess",
    "Poisoned",
    "ReadOnly",
    "Rebuilding",
    "SchemaMismatch",
    "Stopped",
    "Unfinished",
    "WriterHeld",
]


class Error(Exception):
    """Anything that a store, a corpus or a question refuses."""

    def __str__(self) -> str:
        # As it is, where KeyError would quote it.
        return Exception.__str__(self)


class InvalidSchema(Error, ValueError):
    """A parameter of a store is outside its range, or two of them contradict each other."""

    parameter: str


class InvalidQuery(Error, ValueError):
    """A parameter of a question is outside its range."""

    parameter: str


class SchemaMismatch(Error, ValueError):
    """The store was made with another value of a parameter."""

    parameter: str
    stored: str
    given: str


class InvalidText(Error, ValueError):
    """A text does not have the form that the store's shingling asks for."""


class InvalidShingles(Error, ValueError):
    """A set of shingles is not of the kind that the store's schema makes."""


class InvalidColumn(Error, ValueError):
    """A row of a column does not have the form that is needed."""

    column: str
    row: int


class InvalidKey(Error, ValueError):
    """A key is empty or longer than 65,536 bytes."""


class NoSuchDocument(Error, KeyError):
    """No document of the store has this key."""

    key: str


class NoShingles(Error):
    """The call compares shingles, and the store keeps none."""


class NotAStore(Error):
    """There is no store in the folder."""

    path: str


class AlreadyAStore(Error):
    """There is a store in the folder already."""

    path: str


class NotEmpty(Error):
    """There is something in the folder that a store was to be made in."""

    path: str


class Occupied(Error):
    """Something that is not part of a store has a name that a store needs."""

    path: str


class InsideStore(Error):
    """A new store would be inside the folder of another one."""

    path: str


class Locked(Error):
    """Another process writes to the store, or another handle of this one, and did not finish within ``wait``.

    ``process`` is the number of that process and ``since`` when it began, in seconds since 1970; either is None if
    it is not known.
    """

    path: str
    process: int | None
    since: float | None


class Rebuilding(Error):
    """Another process rebuilds the store, and did not finish within ``wait``. Writing goes on beside it.

    ``process`` is its number, or None if it is not known.
    """

    path: str
    process: int | None


class Blocked(Error):
    """Another process keeps bytes of a file locked that are needed for a moment only."""

    path: str


class ReadOnly(Error):
    """The store was opened read-only and the call would change it."""


class NewerFormat(Error):
    """The store was written by a newer release."""

    path: str


class OlderFormat(Error):
    """The store was written in an earlier format, which this release does not read."""

    path: str


class Damaged(Error):
    """A file of the store does not hold what it should."""

    path: str


class Unfinished(Error):
    """An unfinished rebuild has a different target."""


class Stopped(Error):
    """A call was stopped before its end."""


class MissingSources(Error):
    """Documents whose text is needed are gone or have another text now."""

    keys: list[str]


class Poisoned(Error):
    """An earlier access to the store's files failed; the next write opens them again, or open the store again."""


class WriterHeld(Error):
    """The call would wait for a writer that nobody uses: this thread has it, or it lies idle in another one."""


class OtherProcess(Error):
    """The handle was made in another process, of which this one is a fork; open the store again."""


class Moved(Error):
    """The store's folder was moved, replaced or deleted while the store was open; open it again."""

    path: str


class OldDocument(Error):
    """The document is of another store, or was got before the store's contents were renumbered."""

    key: str


class Full(Error):
    """The store is full."""


class Io(Error, OSError):
    """The operating system refused to read or write a file."""

    path: str


class Index(Error):
    """The index file could not be read or written."""

    path: str
