"""Stores the encoded rows of a table as one block, in memory or in a mapped file.

Boosting reads whole columns in each iteration. A mapped file is paged in by the system on
demand, and its pages are given up when memory is short.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.scanning.store import BlockFolder, private
from bevel.training.blocks.block import Block

__all__ = ["ColumnFolder", "ColumnMemory", "ColumnStore", "Layout", "scratch_bytes"]


class Layout:
    """Shape and types of a table in one block.

    Parameters
    ----------
    n_rows, n_features : int
        Size of the table.
    target : dtype
        Type of the targets.
    weights : bool
        Whether rows have weights.
    """

    def __init__(self, n_rows: int, n_features: int, target: Any, weights: bool) -> None:
        self.shape = (n_rows, n_features)
        self.target = np.dtype(target)
        self.weights = weights


class ColumnMemory:
    """All rows in memory, as one block."""

    def __init__(self, layout: Layout) -> None:
        n_rows = layout.shape[0]
        weights = np.empty(n_rows) if layout.weights else None
        X = np.empty(layout.shape, dtype=np.float32, order="F")
        self._block: Block | None = Block(X, np.empty(n_rows, dtype=layout.target), weights, 0)

    def add(self, block: Block) -> None:
        """Copy rows to their position."""
        assert self._block is not None
        rows = slice(block.first_row, block.first_row + len(block.target))
        self._block.X[rows], self._block.target[rows] = block.X, block.target
        if self._block.weights is not None:
            self._block.weights[rows] = block.weights

    def complete(self) -> None:
        """Do nothing: the rows are complete."""

    def loaders(self) -> list[Callable[[], Block]]:
        """One function, which returns all rows."""
        assert self._block is not None
        return [lambda block=self._block: block]  # type: ignore[misc]

    def close(self) -> None:
        """Release the rows."""
        self._block = None


class ColumnFolder(BlockFolder):
    """All rows as one block in a file, whose columns are mapped.

    Parameters
    ----------
    folder : path or None
        Parent of the folder of the file; None: that of temporary files.
    layout : Layout
        Shape and types of the table.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, layout: Layout) -> None:
        super().__init__(folder)
        self._blocks = [
            {
                "first_row": 0,
                "shape": list(layout.shape),
                "target": layout.target.str,
                "weights": layout.weights,
            }
        ]
        # Unbuffered, since closing a file on a full disk would fail once more.
        self._stream = private(self._file(0)).open("wb", buffering=0)

    def add(self, block: Block) -> None:
        """Write rows to their position in each column."""
        n_rows, n_features = self._blocks[0]["shape"]
        target = n_rows * n_features * 4
        weights = target + n_rows * block.target.itemsize
        places = [4 * n_rows * f + 4 * block.first_row for f in range(n_features)]
        arrays: list[npt.NDArray[Any]] = [block.X[:, f] for f in range(n_features)]
        places.append(target + block.first_row * block.target.itemsize)
        arrays.append(block.target)
        if block.weights is not None:
            places.append(weights + 8 * block.first_row)
            arrays.append(block.weights)
        try:
            for place, array in zip(places, arrays, strict=True):
                self._stream.seek(place)
                left = np.ascontiguousarray(array).data.cast("B")
                while len(left):
                    left = left[self._stream.write(left) :]
        except OSError as error:
            raise self._not_written(error, arrays) from error
        self.bytes_written += sum(array.nbytes for array in arrays)

    def complete(self) -> None:
        """Close the file."""
        self._stream.close()

    def _load(self, index: int, entry: dict[str, Any]) -> Block:
        n_rows, n_features = entry["shape"]
        path = self._file(index)
        X = np.memmap(path, np.float32, "r", shape=(n_features, n_rows)).T
        offset = X.nbytes
        dtype = np.dtype(entry["target"])
        target = np.fromfile(path, dtype, n_rows, offset=offset)
        offset += target.nbytes
        weights = np.fromfile(path, np.float64, n_rows, offset=offset) if entry["weights"] else None
        return Block(X, target, weights, 0)

    def close(self) -> None:
        """Remove the file, unless it is kept."""
        stream = getattr(self, "_stream", None)  # absent for a folder that was kept earlier
        if stream is not None:
            stream.close()
        super().close()


ColumnStore = ColumnMemory | ColumnFolder


def scratch_bytes(folder: str | os.PathLike[str] | None, n_bytes: int) -> npt.NDArray[np.uint8]:
    """Bytes in a mapped file without a name, which the system removes with the process.

    Parameters
    ----------
    folder : path or None
        Folder on the disk to use; None: that of temporary files.
    n_bytes : int
        Number of bytes, at least one.
    """
    place = Path(tempfile.gettempdir() if folder is None else folder)
    with tempfile.TemporaryFile(dir=place) as stream:
        try:
            _reserve(stream, n_bytes)
        except OSError as error:
            raise OSError(
                error.errno,
                f"fit could not write its table of codes ({error.strerror}), which needs "
                f"{n_bytes / 2**20:.0f} MB. Free space, or pass folder= on another disk",
                str(place),
            ) from error
        return np.memmap(stream, np.uint8, "r+", shape=(n_bytes,))


def _reserve(stream: Any, n_bytes: int) -> None:
    """Allocate the disk space of a file: a failing write to a mapped page ends the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(stream.fileno(), 0, n_bytes)
        return
    piece = bytes(2**20)
    for start in range(0, n_bytes, len(piece)):
        stream.write(piece[: n_bytes - start])
    stream.flush()
