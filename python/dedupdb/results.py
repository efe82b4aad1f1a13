"""What calls return. All of them are tuples with names, which pickle and compare."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

__all__ = ["Added", "Document", "Match", "Problem", "Report", "Stats", "Verdict"]


class Match(NamedTuple):
    """A stored document that is like the text that was asked about."""

    key: str
    jaccard: float | None
    """Exact Jaccard similarity, 0 to 1; None where the store keeps no shingles."""
    estimate: float
    """Estimate of the similarity from the signatures, 0 to 1."""
    error: float
    """Standard error of the estimate."""
    containment: float | None
    """Share of the text's shingles that the document has, 0 to 1."""
    containment_of_match: float | None
    """Share of the document's shingles that the text has, 0 to 1."""
    bands: int
    """Number of buckets that both share."""
    exact_copy: bool
    """Whether both texts are the same, byte for byte."""


class Verdict(NamedTuple):
    """What became of a text that was offered to :meth:`Store.insert`."""

    verdict: str
    """``added``, ``updated`` and ``unchanged`` are in the store; ``near_duplicate`` and ``exact_copy`` were
    kept out."""
    earlier: Match | None
    """The document for whose sake it was kept out."""

    @property
    def is_kept_out(self) -> bool:
        """Whether it is not in the store, for the sake of an earlier document."""
        return self.verdict in ("near_duplicate", "exact_copy")


class Added(NamedTuple):
    """What became of what :meth:`Store.add` was given, in documents."""

    added: int
    """Documents whose key is new."""
    updated: int
    """Documents whose key had another text."""
    unchanged: int
    """Documents that were there already, with this text."""
    near_duplicates: int
    """Of those added, updated or kept out, the ones like an earlier document."""
    exact_copies: int
    """Of those added, updated or kept out, the ones with the text of an earlier document."""
    kept_out: int
    """Documents that were not stored, with ``unique=True``."""
    skipped: list[tuple[int, str]]
    """Rows that could not be stored, with the reason, with ``errors="skip"``."""

    @property
    def documents(self) -> int:
        """All documents that were looked at."""
        return self.added + self.updated + self.unchanged + self.kept_out


class Document(NamedTuple):
    """What is stored of a document."""

    key: str
    size: int
    """Bytes of its text, in UTF-8."""
    shingles: int
    """Number of distinct shingles."""
    hash: bytes
    """BLAKE3 hash of the text, 32 bytes."""
    added: datetime
    """When its text was added under this key, to the second, in UTC."""
    modified: datetime | None
    """When its source changed last, where that is known."""


class Stats(NamedTuple):
    """Counts and sizes of a store."""

    documents: int
    contents: int
    """Distinct texts that documents name."""
    removed: int
    """Distinct texts that no document names and whose space :meth:`Store.compact` gives back."""
    files: dict[str, int]
    """The files of the store, with their bytes."""

    @property
    def bytes(self) -> int:
        """Bytes of all files."""
        return sum(self.files.values())


class Problem(NamedTuple):
    """Something that is wrong with a file of a store."""

    file: str
    what: str


class Report(NamedTuple):
    """What a check found."""

    documents: int
    contents: int
    postings: int
    problems: list[Problem]

    @property
    def is_clean(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems
