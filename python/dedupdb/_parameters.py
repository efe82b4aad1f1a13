"""The parameters of a store, for type checkers and completion."""

from __future__ import annotations

from typing import Literal, TypedDict


class Parameters(TypedDict, total=False):
    """Those of :func:`dedupdb.open`, which describes each."""

    preset: Literal["fineweb", "nemo", "refinedweb", "text-dedup"] | None
    threshold: float | None
    recall: float | None
    shingling: str | None
    permutations: int | None
    bands: tuple[int, int] | str | None
    slot_bits: int | None
    family: str | None
    seed: int | None
    lowercase: bool | None
    nfkc: bool | None
    fold: Literal["none", "marks"] | None
    shingles: bool | None
    passage: int | None
