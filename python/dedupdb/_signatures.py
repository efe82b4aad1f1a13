"""A matrix of signatures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Signatures:
    """Signatures of texts: a matrix of 32-bit unsigned integers, a row a text, a column a permutation.

    ``numpy.asarray(it)`` takes it without a copy. Without NumPy, rows are memory views.

    >>> signatures = dedupdb.sign(["The night tram runs again.", "the night tram runs again!"], permutations=64)
    >>> signatures.shape, signatures[0] == signatures[1]
    ((2, 64), True)
    """

    def __init__(self, rows: int, permutations: int, data: bytes) -> None:
        self._shape = (rows, permutations)
        self._data = data

    @property
    def shape(self) -> tuple[int, int]:
        """Number of texts and of permutations."""
        return self._shape

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {"version": 3, "shape": self._shape, "typestr": "<u4", "data": self._data}

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy

        matrix = numpy.frombuffer(self._data, dtype="<u4").reshape(self._shape)
        if copy:
            return numpy.array(matrix, dtype=dtype)
        return matrix if dtype is None else matrix.astype(dtype, copy=False)

    def tobytes(self) -> bytes:
        """All rows, little-endian, one after the other."""
        return self._data

    def __len__(self) -> int:
        return self._shape[0]

    def __getitem__(self, row: int) -> memoryview:
        rows, columns = self._shape
        at = row + rows if row < 0 else row
        if not 0 <= at < rows:
            raise IndexError(f"row {row} of {rows}")
        return memoryview(self._data)[at * columns * 4 : (at + 1) * columns * 4].cast("I")

    def __iter__(self) -> Iterator[memoryview]:
        return (self[row] for row in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Signatures):
            return NotImplemented
        return self._shape == other._shape and self._data == other._data

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<dedupdb.Signatures of {self._shape[0]} texts, {self._shape[1]} permutations>"
