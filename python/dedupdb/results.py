"""What calls return. All of them are tuples with names, which pickle and compare."""

from __future__ import annotations

from datetime import date, datetime
from typing import NamedTuple

__all__ = ["Added", "Document", "Match", "Problem", "Report", "Stats", "Verdict"]


class Match(NamedTuple):
    """A stored document that resembles the text that was asked about.

    Attributes:
        jaccard: Exact Jaccard similarity, 0 to 1; None where the store keeps no shingles.
        estimate: Estimate of the similarity from the signatures, 0 to 1.
        error: Standard error of the estimate.
        containment: Share of the text's shingles that the document has, 0 to 1.
        containment_of_match: Share of the document's shingles that the text has, 0 to 1.
        bands: Number of buckets that both share.
        exact_copy: Whether both texts are the same, byte for byte.
    """

    key: str
    jaccard: float | None
    estimate: float
    error: float
    containment: float | None
    containment_of_match: float | None
    bands: int
    exact_copy: bool


class Verdict(NamedTuple):
    """The result of :meth:`Store.insert` for a text.

    Attributes:
        verdict: ``added``, ``updated`` and ``unchanged`` are in the store; ``near_duplicate``, ``exact_copy`` and, with
            ``open(containment=)``, ``contained`` were kept out.
        earlier: The document that it resembles, or that contains it.
    """

    verdict: str
    earlier: Match | None

    @property
    def is_kept_out(self) -> bool:
        """Whether it was not stored because of an earlier document."""
        return self.verdict in ("near_duplicate", "exact_copy", "contained")


class Added(NamedTuple):
    """The result of :meth:`Store.add`, in numbers of documents.

    Attributes:
        added: Documents whose key is new.
        updated: Documents whose key had another text.
        unchanged: Documents that were there already, with this text.
        near_duplicates: Of those added, updated or kept out, the ones like an earlier document.
        exact_copies: Of those added, updated or kept out, the ones with the text of an earlier document.
        kept_out: Documents that were not stored, with ``unique=True``.
        skipped: Rows that could not be stored, with the reason, with ``errors="skip"``.
        contained: Of those added, updated or kept out, the ones that an earlier document contains, with
            ``open(containment=)`` and ``unique=True``.
    """

    added: int
    updated: int
    unchanged: int
    near_duplicates: int
    exact_copies: int
    kept_out: int
    skipped: list[tuple[int, str]]
    contained: int = 0

    @property
    def documents(self) -> int:
        """All documents that were looked at."""
        return self.added + self.updated + self.unchanged + self.kept_out


class Document(NamedTuple):
    """What is stored of a document.

    Attributes:
        size: Bytes of its text, in UTF-8.
        shingles: Number of distinct shingles.
        hash: BLAKE3 hash of the text, 32 bytes.
        added: When its text was added under this key, to the second, in UTC.
        last_seen: Day when it was last offered, also with the same text or with one that was kept out, in UTC.
        modified: When its source changed last, where that is known.
        source: File that it came from, if the command line added it as a record of a file.
    """

    key: str
    size: int
    shingles: int
    hash: bytes
    added: datetime
    last_seen: date
    modified: datetime | None
    source: str | None


class Stats(NamedTuple):
    """Counts and sizes of a store.

    Attributes:
        contents: Distinct texts that documents name.
        removed: Distinct texts that no document names and whose space :meth:`Store.compact` gives back.
        removed_bytes: Bytes that these take, approximately.
        unfingerprinted: Distinct texts without fingerprints in a store that finds passages; they are not searched.
        files: The files of the store, with their bytes.
        commit: Number of the last commit.
        committed: When that was, to the second, in UTC.
        generation: Number of the generation, which :meth:`Store.compact` and :meth:`Store.reindex` raise.
        format: Number of the file format.
    """

    documents: int
    contents: int
    removed: int
    removed_bytes: int
    unfingerprinted: int
    files: dict[str, int]
    commit: int
    committed: datetime
    generation: int
    format: int

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
