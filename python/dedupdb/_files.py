"""The files that :func:`dedupdb.read` is given by other means than a path."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

Source = str | os.PathLike[str] | tuple[str, str, Any]
"""A path, or the name of a stream, which determines its format, its key, and an object with ``read``."""

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")

_INSTALL = "pip install 'dedupdb[remote]' has what s3:// and http:// need"


class _RemoteFile:
    """A file that is opened when it is read, and closed at its end."""

    def __init__(self, system: Any, path: str, options: dict[str, Any]) -> None:
        self._system, self._path, self._options = system, path, options
        self._file: Any = None
        self._is_ended = False

    def read(self, size: int) -> bytes:
        if self._is_ended:
            return b""
        if self._file is None:
            try:
                self._file = self._system.open(self._path, "rb", **self._options)
            except FileNotFoundError as error:
                # See `_kind`.
                raise error.__cause__ or error from None
        read: bytes = self._file.read(size)
        if not read:
            self._file.close()
            self._is_ended = True
        return read


def sources(paths: Any, of_folders: dict[str, Any]) -> list[Source]:
    """The sources of one path, address or open file, or of many.

    ``of_folders`` are arguments about folders of this machine.
    """
    is_one = isinstance(paths, (str, bytes, os.PathLike)) or hasattr(paths, "read") or not isinstance(paths, Iterable)
    listed = [paths] if is_one else list(paths)
    if not listed:
        raise ValueError("paths: it names no file")
    found = [source for number, path in enumerate(listed, 1) for source in _sources(path, number, of_folders)]
    streams = [source for source in found if isinstance(source, tuple)]
    for number, (name, _, file) in enumerate(streams):
        if any(other is file for *_, other in streams[:number]):
            raise ValueError(f"paths: {name} is given twice, and a stream can be read once")
    return found


def _sources(path: Any, number: int, of_folders: dict[str, Any]) -> Iterable[Source]:
    if hasattr(path, "read"):
        return [_opened(path, number)]
    if isinstance(path, str) and path == "-":
        return [("standard input", "-", sys.stdin.buffer)]
    if isinstance(path, str) and _ADDRESS.match(path):
        return _remote(path, of_folders)
    if not isinstance(path, (str, os.PathLike)):
        needed = "a path, an address or a file that is open for reading bytes"
        raise TypeError(f"paths: {type(path).__name__}, where {needed} is needed")
    return [path]


def _opened(file: Any, number: int) -> Source:
    """An open file, by its own name or by its number."""
    name = getattr(file, "name", None)
    if not isinstance(name, str) or name.startswith("<"):
        name = f"stream-{number}"
    if isinstance(file, io.TextIOBase):
        raise TypeError(f'paths: {name} gives str; open it as bytes, with the mode "rb"')
    return name, name, file


def _remote(address: str, of_folders: dict[str, Any]) -> Iterator[Source]:
    """The files at an address, below it if it is a folder, or that match it if it is a pattern."""
    system, path = _system(address)
    is_web = address.startswith(("http://", "https://"))
    # In the address of a page, a question mark begins the query.
    is_pattern = any(mark in path for mark in ("*" if is_web else "*?["))
    kind = _kind(system, path, address, is_pattern)
    # Not every server answers with parts of a file; this is one stream.
    options = {"block_size": 0} if is_web else {}
    if kind == "file":
        yield address, address, _RemoteFile(system, path, options)
        return
    for name, value in of_folders.items():
        if value and kind == "folder":
            raise ValueError(f"{name}: it is about folders of this machine; name files of {address} by a pattern")
    found = system.glob(path) if kind == "pattern" else system.find(path)
    # An object with such a name stands for a folder.
    found = [each for each in found if not each.endswith("/")]
    if not found:
        raise FileNotFoundError(f"{address}: no file matches, or is there")
    for each in sorted(found):
        if kind == "pattern" and system.isdir(each):
            continue
        name = system.unstrip_protocol(each)
        yield name, name, _RemoteFile(system, each, options)


def _kind(system: Any, path: str, address: str, is_pattern: bool) -> str:
    """Whether it is a ``file``, a ``folder`` or a ``pattern``. A file may have the name of a pattern."""
    try:
        return "folder" if system.info(path)["type"] == "directory" else "file"
    except Exception as error:
        # The file system of HTTP says so of every failure. Its cause has a status, if there was an answer.
        is_other = address.startswith("http") and getattr(error.__cause__, "status", None) not in (404, 410)
        if isinstance(error, FileNotFoundError) and not is_pattern and not is_other:
            raise FileNotFoundError(f"{address}: there is no such file") from None
        # If it cannot be read, reading it says why.
        return "pattern" if is_pattern else "file"


def _system(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise ImportError(f"{address}: reading an address needs fsspec; {_INSTALL}") from None
    try:
        system, path = url_to_fs(address)
    except ImportError as error:
        raise ImportError(f"{address}: {error}; {_INSTALL}") from error
    except ValueError as error:
        raise ValueError(f"{address}: {error}") from error
    return system, path
