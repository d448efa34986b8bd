"""Predictions from columns of a mapped file: only the nodes that rows pass are ever read."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from bevel import _core
from bevel._types import Float32s, Floats
from bevel.files.columns.column import Column, decode_column
from bevel.files.columns.forest_columns import check_claims, decode_forest, map_forest
from bevel.forest.flat_forest import FlatForest
from bevel.forest.predictor import PackedPredictor, most_probable_classes

__all__ = ["MappedPredictor"]


class MappedPredictor:
    """A forest in a file, ready to predict; immutable, and safe to share between threads.

    Parameters
    ----------
    columns : mapping of str to Column
        Columns as in `bevel.files.columns.forest_columns`; their parts may be in a mapped file.
    n_features, n_classes, levels, medians
        Fields as in `bevel.FlatForest`.
    """

    def __init__(
        self,
        columns: Mapping[str, Column],
        n_features: int,
        n_classes: int,
        levels: npt.NDArray[np.int32],
        medians: Float32s,
    ) -> None:
        self._forest_of = partial(decode_forest, columns, n_features, n_classes, levels, medians)
        self._mapped = map_forest(columns, n_features, n_classes, levels, medians)
        limit = check_claims(columns)
        self._output_classes = decode_column(columns["output_classes"], limit)

    @property
    def _native(self) -> _core.MappedForest:
        """Native predictor on the columns."""
        return self._mapped

    @cached_property
    def forest(self) -> FlatForest:
        """The whole forest, read and checked on first use."""
        return self._forest_of()

    @cached_property
    def _whole(self) -> PackedPredictor:
        return PackedPredictor(self.forest)

    @property
    def packed(self) -> _core.PackedForest:
        """The forest laid out for speed; reads the whole forest."""
        return self._whole.packed

    def probabilities(self, X: Float32s, n_threads: int, hard: bool) -> Floats:
        """Class probabilities of each row, by mean shares or (hard) by votes."""
        return self._native.predict_proba(X, n_threads, hard)

    def classes(self, X: Float32s, n_threads: int, hard: bool) -> npt.NDArray[np.int32]:
        """Most probable class of each row; ties go to the first."""
        probabilities = self.probabilities(X, n_threads, hard)
        if len(self._output_classes):
            return most_probable_classes(probabilities, self._output_classes)
        best: npt.NDArray[np.intp] = probabilities.argmax(axis=1)
        return best.astype(np.int32)

    def values(self, X: Float32s, n_threads: int) -> Floats:
        """Mean over trees of the leaf values of each row."""
        return self._native.predict_value(X, n_threads)

    def leaves(self, X: Float32s, n_threads: int) -> npt.NDArray[np.int32]:
        """Leaf of each row in each tree, counted from the tree's root."""
        return self._native.apply(X, n_threads)

    def paths(self, X: Float32s, n_threads: int) -> tuple[sp.csr_matrix, npt.NDArray[np.int64]]:
        """Nodes that each row passes, as an indicator matrix, and where each tree's nodes begin.

        Reads the whole forest.
        """
        return self._whole.paths(X, n_threads)
