"""Loads an estimator from a file."""

from __future__ import annotations

import mmap as memory_map
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bevel.estimators import (
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    RegularizedRotationClassifier,
    RegularizedRotationRegressor,
)
from bevel.files.faults import damaged, only_file_errors
from bevel.files.layout import PRELUDE
from bevel.files.model import read_model

__all__ = ["ESTIMATORS", "load", "read_contents"]

ESTIMATORS: Mapping[str, type[Any]] = {
    each.__name__: each
    for each in (
        ObliqueForestClassifier,
        ObliqueForestRegressor,
        RegularizedRotationClassifier,
        RegularizedRotationRegressor,
    )
}


def load(
    path: str | os.PathLike[str], mmap: bool = False
) -> ObliqueForestClassifier | ObliqueForestRegressor:
    """Load an estimator that `save` has written.

    Nothing in a file is executed, and what it costs is in proportion to its size, so that files of
    strangers can be loaded; the worst that a hostile file can do is predict nonsense.

    Parameters
    ----------
    path : str or path
        The file. Raises ModelFileError if it is damaged, or of a later version of the format.
    mmap : bool, default=False
        False reads the file into memory and verifies all of it: checksums, bounds, structure. True
        reads the header only, maps the file and predicts from it, so that a forest of any size
        answers its first row at once and several processes share one copy; indices are checked as
        rows go down the trees. Call `verify()` on the estimator to read and verify the rest; what
        needs the whole forest, such as `forest_`, does so too. Do not write into the file
        meanwhile; `save` puts a new one in its place, which is safe.

    Returns
    -------
    ObliqueForestClassifier or ObliqueForestRegressor
        The fitted estimator, or one of a class derived from these, such as
        RegularizedRotationClassifier. Out-of-bag predictions of single rows are not in files.

    Examples
    --------
    >>> import bevel
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = bevel.ObliqueForestClassifier(n_estimators=10, random_state=0).fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     forest.save(f"{folder}/iris.bevel")
    ...     bevel.load(f"{folder}/iris.bevel").predict(X[:1])
    array([0])
    """
    with only_file_errors(os.fspath(path)):
        return read_model(read_contents(Path(path), mmap), ESTIMATORS, mapped=mmap)  # type: ignore[no-any-return]


def read_contents(path: Path, mapped: bool) -> bytes | memoryview:
    """The bytes of a file, or a map of them."""
    with path.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if size < PRELUDE.size:
            raise damaged("The file", f"of {PRELUDE.size} bytes or more", size)
        if mapped:
            # The map stays open as long as a view of it is in use.
            return memoryview(memory_map.mmap(stream.fileno(), 0, access=memory_map.ACCESS_READ))
        return stream.read()
