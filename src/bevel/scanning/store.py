"""Stores encoded blocks, in memory or in a folder of files.

A folder has one file per block. It is filled under a hidden name while a lock beside it is held;
folders whose lock is free are leftovers, which are removed. A folder that is to be kept gets a
manifest with the checksums of its files and is renamed when it is complete. Fits that use a kept
folder share its lock, and a damaged one is replaced when its lock is free.

Folders and files can be read by their owner alone.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import tempfile
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from bevel.data.encoding import COLUMN_LISTS, Encoding, Levels
from bevel.data.scaling import IdentityScaler, LinearScaler, QuantileScaler, RankScaler
from bevel.errors import wrong_type, wrong_value
from bevel.training.blocks import Block, BlockedTable

__all__ = [
    "BlockFolder",
    "BlockMemory",
    "BlockStore",
    "ColumnFolder",
    "ColumnMemory",
    "ColumnStore",
    "EncodedTable",
    "FileLock",
    "Layout",
    "RowBytes",
    "Shares",
    "check_memory",
    "folder_name",
    "load_table",
    "private",
    "read_memory",
    "save_table",
    "scratch_bytes",
    "share_out",
]

# Locks of files, which show whether a folder is still in use.
#
# The operating system tracks the holders of a lock, across containers, and releases it when the
# process ends for any reason. Locks belong to an open file: two threads of one process exclude each
# other too.

_HELD = {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK}
# In a folder that everybody may write to, a name may be another user's link or pipe.
_FLAGS = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class FileLock:
    """A lock that is held until it is released, or the process ends."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor: int | None = descriptor

    @classmethod
    def make(cls, path: Path) -> Self | None:
        """Make a lock in a new file; None if a cleanup by another process was faster.

        On systems without file locks no lock can be taken, and the file alone suffices.
        """
        descriptor = os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            _lock(descriptor, shared=False)
        except OSError as error:
            if error.errno in _HELD:
                os.close(descriptor)
                return None
        if not _is_at(descriptor, path):
            os.close(descriptor)
            return None
        return cls(path, descriptor)

    @classmethod
    def take(cls, path: Path, *, shared: bool = False) -> Self | None:
        """Take a lock in a file, which is made if absent; None if the lock is held elsewhere."""
        try:
            descriptor = os.open(path, _FLAGS | os.O_CREAT, 0o600)
        except OSError:
            return None
        try:
            _lock(descriptor, shared)
        except OSError:
            os.close(descriptor)
            return None
        return cls(path, descriptor)

    def share(self) -> None:
        """Make the lock shared, on systems that have shared locks."""
        assert self._descriptor is not None
        if os.name != "nt":
            _lock(self._descriptor, shared=True)

    def release(self) -> None:
        """Release the lock."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def remove(self) -> None:
        """Remove the file and release the lock.

        In this order, so that no other process takes it in between. Windows does not remove open
        files and needs the other order.
        """
        if os.name == "nt":
            self.release()
        with suppress(OSError):
            self._path.unlink()
        self.release()


def _lock(descriptor: int, shared: bool) -> None:
    """Take the lock of an open file, or raise OSError at once."""
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        import fcntl

        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether a path names the open file."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False


# Memory budget of a fit over blocks, and its division among the parts of the fit.

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
DEFAULT_SHARE = 0.5
MIN_BYTES = 32 * 10**6
MAX_BYTES = 2**60  # more than any machine has
MAX_BLOCK_BYTES = 2**26
_REMEDY = 'Write for example memory="2GB", or memory=2_000_000_000.'
_REQUIRED = "a number of bytes, a text such as '2GB', or None"


def read_memory(memory: Any) -> int:
    """Bytes that `memory=` stands for; None is half of the available memory."""
    if memory is None:
        return max(MIN_BYTES, int(DEFAULT_SHARE * available()))
    if isinstance(memory, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([A-Za-z]*)\s*", memory)
        if match is None or match.group(2).upper() not in UNITS:
            raise wrong_value("memory", _REQUIRED, memory, _REMEDY)
        wanted = float(match.group(1)) * UNITS[match.group(2).upper()]
    elif isinstance(memory, int | float) and not isinstance(memory, bool):
        wanted = memory
    else:
        raise wrong_type("memory", _REQUIRED, memory, _REMEDY)
    if not wanted >= MIN_BYTES:
        raise wrong_value("memory", f"at least {MIN_BYTES:,} bytes", memory, _REMEDY)
    return int(min(wanted, MAX_BYTES))


def available() -> float:
    """Bytes of free memory, within the limit of the process's container."""
    free = float("inf")
    try:
        text = Path("/proc/meminfo").read_text()
        found = re.search(r"MemAvailable:\s+(\d+) kB", text)
        free = float(found.group(1)) * 1024 if found else free
    except OSError:
        try:
            free = float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE") / 2
        except (AttributeError, ValueError, OSError):
            free = 4e9  # not known on this system
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        try:
            limit = Path("/sys/fs/cgroup", name).read_text().strip()
        except OSError:
            continue
        if limit.isdigit():
            free = min(free, float(limit))
    return free


class Shares(NamedTuple):
    """Memory limits of the parts of a fit; they do not change the forest."""

    in_memory: bool  # whether blocks stay in memory
    block_rows: int
    numbers: int  # histogram entries requested at once
    rows: int  # rows gathered at once


def share_out(memory: int, n_rows: int, n_features: int, on_disk: bool) -> Shares:
    """Divide memory among blocks, histograms and gathered rows.

    Parameters
    ----------
    memory : int
        Bytes to divide.
    n_rows, n_features : int
        Size of the table.
    on_disk : bool
        Whether blocks go to files even if they fit in memory.
    """
    row_bytes = 4 * n_features + 16
    in_memory = not on_disk and n_rows * row_bytes <= 0.4 * memory
    block_bytes = min(MAX_BLOCK_BYTES, memory // 24)
    # Rows are held twice while they are joined, and the builder adds about 60 bytes for each.
    gathered = 0.25 * memory / (2 * row_bytes + 60)
    return Shares(
        in_memory,
        max(1024, block_bytes // row_bytes),
        max(1, int(0.15 * memory) // 8),
        max(1024, int(gathered)),
    )


class RowBytes(NamedTuple):
    """Bytes of a row in a fit that reads whole columns, without its encoded values."""

    in_memory: int
    of_columns: int  # in memory or on disk, including the values


def check_memory(memory: int, n_rows: int, needed: RowBytes) -> None:
    """Raise if the state of all rows does not fit in memory.

    Parameters
    ----------
    memory : int
        Bytes that the fit may use.
    n_rows : int
        Rows of the table.
    needed : RowBytes
        Bytes of a row.
    """
    in_memory = n_rows * needed.in_memory
    if in_memory > memory:
        raise MemoryError(
            f"memory must be at least {needed.in_memory} bytes for each of the {n_rows:,} rows, "
            f"{in_memory / 10**6:,.0f} MB: boosting keeps targets, predictions and gradients of "
            f"all rows in memory; got {memory / 10**6:,.0f} MB. Pass scan(..., "
            f'memory="{-(-in_memory // 10**6)}MB") if there is as much, or fit an ObliqueForest.'
        )


MANIFEST = "manifest.json"
MANIFEST_VERSION = 2  # version of the manifest
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
    text = json.dumps({"version": MANIFEST_VERSION, "blocks": blocks, "files": files})
    private(folder / MANIFEST).write_text(f"{zlib.crc32(text.encode())}\n{text}")


def _read_manifest(folder: Path) -> list[dict[str, Any]] | None:
    """Descriptions of the blocks of a folder; None if a file is absent or was changed."""
    try:
        checksum, text = (folder / MANIFEST).read_text().split("\n")
        if int(checksum) != zlib.crc32(text.encode()):
            return None
        manifest = json.loads(text)
        if manifest["version"] != MANIFEST_VERSION:
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


# Metadata kept beside the blocks of a folder, so that a later fit need not read the table again.
#
# Arrays are in `table.npz`, which holds no Python objects, labels as JSON. A folder is used again
# if the files of the table, by name, size and time, and the parameters that decide how rows are
# encoded are the same, and all its files have the checksums that they were written with.

KEPT_VERSION = 1
ARRAYS, LABELS = "table.npz", "table.json"
SCALERS = {
    kind.__name__: kind for kind in (IdentityScaler, LinearScaler, QuantileScaler, RankScaler)
}
NUMBERS = ("n_rows", "n_classes", "whole_weights", "largest_weight", "low", "high")


class EncodedTable(NamedTuple):
    """Metadata of a table in blocks.

    Attributes
    ----------
    table : BlockedTable
        Properties of the table for growth.
    names : tuple of str or None
        Names of the columns.
    classes : ndarray or None
        Labels of the classes; None in regression.
    """

    table: BlockedTable
    names: tuple[str, ...] | None
    classes: npt.NDArray[Any] | None


def folder_name(source: str, *parameters: Any) -> str:
    """Name of the folder for a table and the parameters that affect its encoding."""
    text = repr((KEPT_VERSION, source, *parameters))
    return f"bevel-blocks-{hashlib.sha256(text.encode()).hexdigest()[:24]}"


def save_table(folder: Path, encoded: EncodedTable) -> bool:
    """Write the metadata of a table; False if labels are of types that JSON does not have."""
    table, encoding = encoded.table, encoded.table.encoding
    nominal = {
        str(f): (c.labels.tolist(), c.has_missing, c.is_text, c.n_too_many)
        for f, c in encoding.nominal.items()
    }
    classes = encoded.classes
    listed = classes.tolist() if classes is not None and classes.dtype.kind == "O" else None
    if not all(_is_plain(v) for labels, *_ in nominal.values() for v in labels):
        return False
    if listed is not None and not all(_is_plain(label) for label in listed):
        return False
    arrays: dict[str, Any] = {
        "levels": encoding.levels,
        "medians": encoding.medians,
        "has_nan": table.has_nan,
        "sample": table.sample,
        **{
            name: np.array(sorted(getattr(encoding, name)), dtype=np.int64) for name in COLUMN_LISTS
        },
    }
    for field in fields(encoding.scaler):  # type: ignore[arg-type]
        arrays[f"scaler_{field.name}"] = np.asarray(getattr(encoding.scaler, field.name))
    if classes is not None and listed is None:
        arrays["classes"] = classes
    np.savez(private(folder / ARRAYS), allow_pickle=False, **arrays)
    text = {
        "nominal": nominal,
        "classes": listed,
        "names": encoded.names,
        "scaler": type(encoding.scaler).__name__,
        **{name: getattr(table, name) for name in NUMBERS},
    }
    private(folder / LABELS).write_text(json.dumps(text))
    return True


def load_table(folder: Path) -> EncodedTable:
    """Read the metadata that `save_table` has written."""
    text = json.loads((folder / LABELS).read_text())
    with np.load(folder / ARRAYS, allow_pickle=False) as stored:
        arrays = dict(stored)
    kind = SCALERS[text["scaler"]]
    settings = {field.name: _plain(arrays[f"scaler_{field.name}"]) for field in fields(kind)}
    nominal = {}
    for feature, (labels, *flags) in text["nominal"].items():
        nominal[int(feature)] = Levels(_objects(labels), *flags)
    lists: dict[str, Any] = {
        name: frozenset(arrays.get(name, np.empty(0)).tolist()) for name in COLUMN_LISTS
    }
    encoding = Encoding(
        kind(**settings),
        nominal,
        arrays["levels"],
        arrays["medians"],
        **lists,
    )
    sample = np.asfortranarray(arrays["sample"])
    numbers = {name: text[name] for name in NUMBERS}
    table = BlockedTable(encoding=encoding, has_nan=arrays["has_nan"], sample=sample, **numbers)
    names = None if text["names"] is None else tuple(text["names"])
    listed = text["classes"]
    classes = arrays.get("classes") if listed is None else _objects(listed)
    return EncodedTable(table, names, classes)


def _objects(values: list[Any]) -> npt.NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | bool | int | float)


def _plain(array: npt.NDArray[Any]) -> Any:
    """A zero-dimensional array as a bool, other arrays unchanged."""
    return array.item() if array.ndim == 0 else array


# Stores the encoded rows of a table as one block, in memory or in a mapped file.
#
# Boosting reads whole columns in each iteration. A mapped file is paged in by the system on demand,
# and its pages are given up when memory is short.


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
