"""Where encoded blocks are kept: in memory, or in a folder of files.

A folder has one file per block and, written last, a manifest. It is filled under another name and
renamed when it is complete, if it is to be kept, so that a run that was killed leaves no folder
that looks complete. Leftovers of processes that no longer run are removed.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from bevel.training.blocks.block import Block

__all__ = ["BlockFolder", "BlockMemory", "BlockStore"]

MANIFEST = "manifest.json"
_UNFINISHED = re.compile(r"^\.bevel-blocks\.(\d+)\.[0-9a-f]{16}$")


class BlockMemory:
    """Blocks in memory."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self.bytes_written = 0

    def add(self, block: Block) -> None:
        """Keep a block."""
        self._blocks.append(block)

    def complete(self) -> None:
        """Nothing is left to do."""

    def loaders(self) -> list[Callable[[], Block]]:
        """Functions that return the blocks, in their order."""
        return [lambda block=block: block for block in self._blocks]  # type: ignore[misc]

    def close(self) -> None:
        """Forget the blocks."""
        self._blocks = []


class BlockFolder:
    """Blocks in files.

    Parameters
    ----------
    folder : path or None
        Where the folder of blocks is made; None: where temporary files are.
    """

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
        place = Path(tempfile.gettempdir() if folder is None else folder)
        place.mkdir(parents=True, exist_ok=True)
        remove_leftovers(place)
        self._path = place / f".bevel-blocks.{os.getpid()}.{secrets.token_hex(8)}"
        self._path.mkdir()
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
            with path.open("wb") as stream:
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
        """Write the manifest."""
        text = json.dumps({"version": 1, "blocks": self._blocks})
        (self._path / MANIFEST).write_text(text)

    @property
    def path(self) -> Path:
        """Where the files are."""
        return self._path

    def keep(self, name: str) -> None:
        """Give the folder a name under which a later fit finds it; it is not removed then."""
        target = self._path.with_name(name)
        if target.exists():  # written by another process meanwhile, or damaged
            shutil.rmtree(target, ignore_errors=True)
        try:
            self._path.rename(target)
        except OSError:
            return
        self._path, self._kept = target, True

    @classmethod
    def open(cls, path: Path) -> Self | None:
        """A folder that was kept; None if there is none, or not all of it."""
        try:
            manifest = json.loads((path / MANIFEST).read_text())
            complete = manifest["version"] == 1 and all(
                (path / f"block-{index:06d}.bin").stat().st_size == _size(entry)
                for index, entry in enumerate(manifest["blocks"])
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None
        if not complete:
            return None
        found = cls.__new__(cls)
        found._path, found._blocks, found._kept = path, manifest["blocks"], True
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
        if not self._kept:
            shutil.rmtree(self._path, ignore_errors=True)


BlockStore = BlockMemory | BlockFolder


def _size(entry: dict[str, Any]) -> int:
    """Bytes of the file of a block."""
    n_rows, n_features = entry["shape"]
    of_row = 4 * n_features + np.dtype(entry["target"]).itemsize + 8 * bool(entry["weights"])
    return int(n_rows) * int(of_row)


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


def remove_leftovers(place: Path) -> None:
    """Remove unfinished folders of processes that no longer run."""
    for path in place.iterdir():
        match = _UNFINISHED.match(path.name)
        if match and not _is_running(int(match.group(1))):
            shutil.rmtree(path, ignore_errors=True)


def _is_running(process: int) -> bool:
    if os.name == "nt":  # signal 0 is Ctrl-C there, and would be sent
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it belongs to somebody else
        return True
    return True
