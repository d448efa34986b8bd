"""Stores encoded blocks, in memory or in a folder of files.

A folder has one file per block. It is filled under a hidden name while a lock beside it is held;
folders whose lock is free are leftovers, which are removed. A folder that is to be kept gets a
manifest with the checksums of its files and is renamed when it is complete. Fits that use a kept
folder share its lock, and a damaged one is replaced when its lock is free.

Folders and files can be read by their owner alone.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import tempfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from bevel.scanning.locks import FileLock
from bevel.training.blocks.block import Block

__all__ = ["BlockFolder", "BlockMemory", "BlockStore", "private"]

MANIFEST = "manifest.json"
VERSION = 2  # version of the manifest
_UNFINISHED = re.compile(r"^(\.bevel-blocks\.[0-9a-f]{16})(\.lock)?$")


class BlockMemory:
    """Blocks in memory."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self.bytes_written = 0

    def add(self, block: Block) -> None:
        """Add a block."""
        self._blocks.append(block)

    def complete(self) -> None:
        """Do nothing: the blocks are complete."""

    def loaders(self) -> list[Callable[[], Block]]:
        """Functions that return the blocks, in their order."""
        return [lambda block=block: block for block in self._blocks]  # type: ignore[misc]

    def close(self) -> None:
        """Release the blocks."""
        self._blocks = []


class BlockFolder:
    """Blocks in files.

    Parameters
    ----------
    folder : path or None
        Parent of the folder of blocks; None: that of temporary files.
    """

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
        place = Path(tempfile.gettempdir() if folder is None else folder)
        place.mkdir(parents=True, exist_ok=True)
        remove_leftovers(place)
        self._path, self._lock = _make_folder(place)
        self._blocks: list[dict[str, Any]] = []
        self._kept = False
        self.bytes_written = 0

    def add(self, block: Block) -> None:
        """Write a block to a file of its own."""
        path = self._file(len(self._blocks))
        arrays = [block.X.T, block.target]
        if block.weights is not None:
            arrays.append(block.weights)
        try:
            with private(path).open("wb") as stream:
                for array in arrays:
                    stream.write(np.ascontiguousarray(array).data.cast("B"))
        except OSError as error:
            raise self._not_written(error, arrays) from error
        self.bytes_written += sum(array.nbytes for array in arrays)
        self._blocks.append(
            {
                "first_row": block.first_row,
                "shape": list(block.X.shape),
                "target": block.target.dtype.str,
                "weights": block.weights is not None,
            }
        )

    def _file(self, index: int) -> Path:
        return self._path / f"block-{index:06d}.bin"

    def _not_written(self, error: OSError, arrays: Sequence[npt.NDArray[Any]]) -> OSError:
        return OSError(
            error.errno,
            f"scan could not write encoded rows ({error.strerror}). They need about "
            f"{sum(a.nbytes for a in arrays) / 2**20:.0f} MB for each "
            f"{len(arrays[-1])} rows. Free space, or pass folder= on another disk",
            str(self._path.parent),
        )

    def complete(self) -> None:
        """Do nothing: the files are complete."""

    @property
    def path(self) -> Path:
        """Folder of the files."""
        return self._path

    def keep(self, name: str) -> None:
        """Name the folder so that a later fit finds it; it is then not removed.

        It keeps its hidden name, and is removed, if another fit uses a folder of this name or has
        kept a valid one meanwhile.
        """
        target = self._path.with_name(name)
        lock = FileLock.take(_lock_of(target))
        if lock is None:
            return
        try:
            if target.exists():
                if _read_manifest(target) is not None:
                    lock.release()
                    return
                shutil.rmtree(target, ignore_errors=True)
            _write_manifest(self._path, self._blocks)
            self._path.rename(target)
        except OSError:
            lock.release()
            return
        self._lock.remove()
        lock.share()
        self._path, self._lock, self._kept = target, lock, True

    @classmethod
    def open(cls, path: Path) -> Self | None:
        """Open a kept folder; None if it is absent, damaged or being replaced."""
        lock = FileLock.take(_lock_of(path), shared=True) if path.is_dir() else None
        if lock is None:
            return None
        try:
            blocks = _read_manifest(path)
        except BaseException:
            lock.release()
            raise
        if blocks is None:
            lock.release()
            return None
        found = cls.__new__(cls)
        found._path, found._lock, found._blocks, found._kept = path, lock, blocks, True
        found.bytes_written = 0
        return found

    def loaders(self) -> list[Callable[[], Block]]:
        """Functions that read the blocks, in their order."""
        return [
            lambda index=index, entry=entry: self._load(index, entry)  # type: ignore[misc]
            for index, entry in enumerate(self._blocks)
        ]

    def _load(self, index: int, entry: dict[str, Any]) -> Block:
        n_rows, n_features = entry["shape"]
        path = self._file(index)
        with path.open("rb") as stream:
            X = _read(stream, np.dtype(np.float32), n_rows * n_features, path)
            target = _read(stream, np.dtype(entry["target"]), n_rows, path)
            weights = (
                _read(stream, np.dtype(np.float64), n_rows, path) if entry["weights"] else None
            )
        return Block(X.reshape(n_features, n_rows).T, target, weights, entry["first_row"])

    def close(self) -> None:
        """Remove the files, unless they are kept."""
        if self._kept:
            self._lock.release()
        else:
            shutil.rmtree(self._path, ignore_errors=True)
            self._lock.remove()


BlockStore = BlockMemory | BlockFolder


def private(path: Path) -> Path:
    """Create a file that only its owner can read, and return its path."""
    path.touch(mode=0o600)
    return path


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


def _make_folder(place: Path) -> tuple[Path, FileLock]:
    """Make a hidden folder, and the lock that marks it as in use."""
    while True:
        path = place / f".bevel-blocks.{secrets.token_hex(8)}"
        lock = FileLock.make(_lock_of(path))
        if lock is None:
            continue
        try:
            path.mkdir(mode=0o700)
        except BaseException:
            lock.remove()
            raise
        return path, lock


def remove_leftovers(place: Path) -> None:
    """Remove hidden folders that are not in use."""
    names = {match.group(1) for path in place.iterdir() if (match := _UNFINISHED.match(path.name))}
    for name in names:
        lock = FileLock.take(_lock_of(place / name))
        if lock is not None:
            shutil.rmtree(place / name, ignore_errors=True)
            lock.remove()


def _write_manifest(folder: Path, blocks: Sequence[dict[str, Any]]) -> None:
    """Describe the files of a folder: a line of JSON after a line with its checksum."""
    files = {path.name: _checksum(path) for path in sorted(folder.iterdir())}
    text = json.dumps({"version": VERSION, "blocks": blocks, "files": files})
    private(folder / MANIFEST).write_text(f"{zlib.crc32(text.encode())}\n{text}")


def _read_manifest(folder: Path) -> list[dict[str, Any]] | None:
    """Descriptions of the blocks of a folder; None if a file is absent or was changed."""
    try:
        checksum, text = (folder / MANIFEST).read_text().split("\n")
        if int(checksum) != zlib.crc32(text.encode()):
            return None
        manifest = json.loads(text)
        if manifest["version"] != VERSION:
            return None
        if any(_checksum(folder / name) != kept for name, kept in manifest["files"].items()):
            return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    blocks: list[dict[str, Any]] = manifest["blocks"]
    return blocks


def _checksum(path: Path) -> int:
    value = 0
    with path.open("rb") as stream:
        while piece := stream.read(2**20):
            value = zlib.crc32(piece, value)
    return value


def _read(stream: Any, dtype: np.dtype[Any], n: int, path: Path) -> npt.NDArray[Any]:
    array = np.empty(n, dtype=dtype)
    view = array.data.cast("B")
    while len(view):
        got = stream.readinto(view)
        if not got:
            raise OSError(
                f"The file {str(path)!r} of encoded rows must be left alone during a fit; got one "
                "that was cut short. Fit again."
            )
        view = view[got:]
    return array
