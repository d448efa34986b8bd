"""Predictions of a flat forest: leaves, paths, classes, probabilities and values.

The packed forest is laid out for speed; it is built on first use and never saved. Rows are either
encoded (`bevel.data.encoding.encode`) or plain arrays of floats with a `Reading` that says how to
scale them; those are read and scaled block by block on their way down the trees.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from bevel import _core
from bevel._types import AnyFloats, Float32s, Floats, Ints32
from bevel.data.encoding import Reading
from bevel.errors import wrong_type, wrong_value
from bevel.forest.calibration import raise_to_least, raise_to_power
from bevel.forest.flat_forest import FlatForest, gather
from bevel.forest.row_blocks import row_blocks

__all__ = [
    "NumberTooLargeError",
    "PackedPredictor",
    "RowPredictor",
    "most_probable_classes",
    "tree_predictions",
]


class NumberTooLargeError(ValueError):
    """A row holds an infinity, or a number so large that sums would overflow."""


class PackedPredictor:
    """A forest ready to predict; immutable, and safe to share between threads.

    Parameters
    ----------
    forest : FlatForest
        The trees.
    """

    def __init__(self, forest: FlatForest) -> None:
        self.forest = forest

    def __getstate__(self) -> dict[str, Any]:
        return {"forest": self.forest}

    @property
    def whole(self) -> PackedPredictor:
        """The predictor of the whole forest in memory: itself."""
        return self

    # Two threads may both build the native forests the first time; either copy is valid.

    @cached_property
    def view(self) -> _core.ForestView:
        """The core's view of the flat forest, one node at a time, for callers that need leaves."""
        forest = self.forest
        return _core.ForestView(
            forest.arrays(), forest.n_features, forest.n_classes, forest.levels, forest.medians
        )

    @cached_property
    def packed(self) -> _core.PackedForest:
        """The forest laid out for speed."""
        return _core.PackedForest(self.view)

    @cached_property
    def as_encoded(self) -> Reading:
        """Reading of rows that are encoded already."""
        return Reading(_core.Scaler.identity(self.forest.n_features), np.inf)

    def probabilities(
        self, X: AnyFloats, n_threads: int, hard: bool, reading: Reading | None = None
    ) -> Floats:
        """Class probabilities of each row, by mean shares or (hard) by votes."""
        out = np.empty((len(X), self.forest.n_classes))
        reading = reading or self.as_encoded
        _check(self.packed.predict_proba(X, *reading, hard, n_threads, out))
        return out

    def classes(
        self, X: AnyFloats, n_threads: int, hard: bool, reading: Reading | None = None
    ) -> Ints32:
        """Most probable class of each row; a row leaves the forest once its class is decided."""
        if len(self.forest.output_classes):
            return self._classes_of_outputs(X, n_threads, hard, reading)
        out = np.empty(len(X), np.int32)
        reading = reading or self.as_encoded
        _check(self.packed.predict_class(X, *reading, hard, n_threads, out))
        return out

    def values(self, X: AnyFloats, n_threads: int, reading: Reading | None = None) -> Floats:
        """Mean over trees of the leaf values of each row."""
        n_outputs = len(self.forest.output_classes)
        out = np.empty((len(X), n_outputs) if n_outputs else len(X))
        reading = reading or self.as_encoded
        _check(self.packed.predict_value(X, *reading, n_threads, out))
        return out

    def means(
        self, X: AnyFloats, n_threads: int, hard: bool, reading: Reading | None = None
    ) -> Floats:
        """Means over trees of each row, with a column for each class, or one for the value."""
        if self.forest.n_classes:
            return self.probabilities(X, n_threads, hard, reading)
        return self.values(X, n_threads, reading).reshape(len(X), -1)

    def _classes_of_outputs(
        self, X: AnyFloats, n_threads: int, hard: bool, reading: Reading | None
    ) -> Ints32:
        n_classes = self.forest.output_classes
        out = np.empty((len(X), len(n_classes)), np.int32)
        for rows in row_blocks(len(X), self.forest.n_classes):
            shares = self.probabilities(X[rows], n_threads, hard, reading)
            out[rows] = most_probable_classes(shares, n_classes)
        return out

    def leaves(self, X: Float32s, n_threads: int) -> npt.NDArray[np.int32]:
        """Leaf of each row in each tree, counted from the tree's root."""
        return self.view.apply(X, n_threads)

    def paths(self, X: Float32s, n_threads: int) -> tuple[sp.csr_matrix, npt.NDArray[np.int64]]:
        """Nodes that each row passes, as an indicator matrix, and where each tree's nodes begin."""
        forest = self.forest
        node = (self.leaves(X, n_threads) + forest.tree_offset[:-1]).ravel()
        length = forest.depth[node].astype(np.int64) + 1
        start = np.cumsum(length) - length
        indices = np.empty(int(length.sum()), dtype=np.int64)
        # From the leaves up; entries of a row come out ascending, tree by tree.
        while len(node):
            indices[start + forest.depth[node]] = node
            node = forest.parent[node]
            inside = node >= 0
            node, start = node[inside], start[inside]
        per_row = length.reshape(len(X), -1).sum(axis=1)
        indptr = np.concatenate(([0], np.cumsum(per_row)))
        shape = (len(X), forest.n_nodes)
        indicator = sp.csr_matrix((np.ones(len(indices), np.int64), indices, indptr), shape=shape)
        return indicator, forest.tree_offset


class RowPredictor:
    """A fitted forest for servers: nothing is checked, arrays go in and come out.

    Immutable, and safe to share between threads; the interpreter is free while trees are walked.
    The first call of a predictor whose estimator has not predicted yet builds the packed forest.

    Parameters
    ----------
    predictor : PackedPredictor
        The forest.
    reading : Reading
        How rows are scaled.
    hard : bool
        Whether trees vote.
    power : float, default=1
        Power that mean class shares are raised to, see `bevel.forest.calibration`.
    least : float, default=0
        The least probability of a class, to which lower ones are then raised.

    Notes
    -----
    Rows are arrays of float32 or float64 in any memory order, of shape (n_rows, n_features), with
    the columns of fit in their order. Missing values are NaN. Infinities are not refused: sums
    with them are compared with thresholds, and go where missing values go if they are no number.
    A nominal column holds level codes: the position of a label among the sorted labels of fit.

    Examples
    --------
    >>> import numpy as np
    >>> from bevel import ObliqueForestClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> predictor = ObliqueForestClassifier(50, random_state=0).fit(X, y).predictor_
    >>> out = np.empty((1, 3))
    >>> predictor.predict_proba(X[:1], out).round(2)
    array([[1., 0., 0.]])
    """

    __slots__ = ("_hard", "_least", "_n_classes", "_n_features", "_packed", "_power", "_reading")

    def __init__(
        self,
        predictor: PackedPredictor,
        reading: Reading,
        hard: bool,
        power: float = 1.0,
        least: float = 0.0,
    ) -> None:
        self._power, self._least = power, least
        self._packed = predictor.packed
        self._n_classes = predictor.forest.n_classes
        self._n_features = predictor.forest.n_features
        self._reading = (reading.scaler, np.inf)
        self._hard = hard

    def predict_proba(self, X: AnyFloats, out: Floats | None = None, n_threads: int = 1) -> Floats:
        """Class probabilities of each row, in the order of `classes_`.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Rows.
        out : ndarray of float64, shape (n_rows, n_classes), C order, default=None
            Array to write the probabilities to; None makes a new array.
        n_threads : int, default=1
            Threads to use. Few rows never start one.
        """
        if self._n_classes == 0:
            raise AttributeError(
                "predict_proba needs the forest of a classifier; got that of a regressor, which "
                "has no classes. Use predict."
            )
        try:
            if out is None:
                out = np.empty((len(X), self._n_classes))
            self._packed.predict_proba(X, *self._reading, self._hard, n_threads, out)
        except (TypeError, ValueError) as error:
            raise self._refused(X, out, "float64") from error
        return raise_to_least(raise_to_power(out, self._power), self._least)

    def predict(
        self, X: AnyFloats, out: npt.NDArray[Any] | None = None, n_threads: int = 1
    ) -> npt.NDArray[Any]:
        """Position in `classes_` of each row's most probable class, or its value in regression.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Rows.
        out : ndarray of shape (n_rows,), default=None
            Array to write the result to, int32 for a classifier, float64 for a regressor; None
            makes a new array.
        n_threads : int, default=1
            Threads to use. Few rows never start one.
        """
        try:
            if self._n_classes == 0:
                out = np.empty(len(X)) if out is None else out
                self._packed.predict_value(X, *self._reading, n_threads, out)
            else:
                out = np.empty(len(X), np.int32) if out is None else out
                self._packed.predict_class(X, *self._reading, self._hard, n_threads, out)
        except (TypeError, ValueError) as error:
            raise self._refused(X, out, "float64" if self._n_classes == 0 else "int32") from error
        return out

    def _refused(self, X: object, out: object, kind: str) -> TypeError | ValueError:
        """Error that explains why the core has refused a call."""
        required = f"an array of float32 or float64 of shape (n_rows, {self._n_features})"
        if not isinstance(X, np.ndarray) or X.dtype not in (np.float32, np.float64):
            remedy = "Convert it with numpy.asarray(X, dtype=float)."
            got = X.dtype if isinstance(X, np.ndarray) else X
            return wrong_type("X", required, got, remedy)
        if X.ndim == 1:
            remedy = "One row is X.reshape(1, -1)."
            return wrong_value("X", required, X.shape, remedy)
        if X.ndim != 2 or X.shape[1] != self._n_features:
            return wrong_value("X", required, X.shape, "Pass the columns of fit in their order.")
        if not X.flags.aligned:
            return wrong_value("X", "an aligned array", "one at an odd address", "Pass X.copy().")
        remedy = "Leave `out` out, or make it with numpy.empty."
        shape = out.shape if isinstance(out, np.ndarray) else type(out).__name__
        return wrong_type(
            "out", f"an array of {kind} with a row for each of {len(X)}", shape, remedy
        )


def most_probable_classes(probabilities: Floats, output_classes: Ints32) -> Ints32:
    """Most probable class of each output, counted within the output; the first of tied ones."""
    parts = np.split(probabilities, np.cumsum(output_classes)[:-1], axis=1)
    return np.column_stack([part.argmax(axis=1) for part in parts]).astype(np.int32)


def _check(is_within: bool) -> None:
    if not is_within:
        raise NumberTooLargeError


def tree_predictions(
    forest: FlatForest, leaves: npt.NDArray[np.int64], hard: bool
) -> npt.NDArray[np.float64]:
    """Prediction of each leaf, with one more axis: one column for each class, or one for the value.

    Parameters
    ----------
    forest : FlatForest
        The trees.
    leaves : ndarray of int64, any shape
        Leaves, counted over the whole forest.
    hard : bool
        Whether trees vote for a class instead of giving its share.
    """
    if forest.n_classes == 0:
        return forest.leaf_value[leaves][..., None]
    shares = np.zeros((leaves.size, forest.n_classes))
    entries, offset = gather(forest.entry_offset, leaves.ravel())
    leaf = np.repeat(np.arange(leaves.size), np.diff(offset))
    shares[leaf, forest.entry_index[entries]] = forest.entry_weight[entries]
    if hard:
        shares = np.eye(forest.n_classes)[shares.argmax(axis=1)]
    return shares.reshape(*leaves.shape, -1)
