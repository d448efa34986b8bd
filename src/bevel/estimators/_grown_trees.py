"""Growth of the trees of estimators, and methods that read fitted trees, for any task."""

from __future__ import annotations

import copy
import os
import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from bevel.data.dataset import Dataset
from bevel.estimators._base import TableEstimator, encode_rows, explained
from bevel.estimators.registry import kind_of
from bevel.export.c import write_c
from bevel.export.onnx import to_onnx
from bevel.files.model import StoredEstimator, save
from bevel.forest.bags import Bags
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.flat_forest import FlatForest, join_forests, take_trees
from bevel.forest.importance import gain_importances
from bevel.forest.predictor import NumberTooLargeError, PackedPredictor, RowPredictor
from bevel.forest.quantiles import take_targets
from bevel.forest.records import FamilyRecord, RotationRecord
from bevel.forest.task import Task
from bevel.projections.families import ProjectionDraws, TableShape
from bevel.text.vocabulary import vocabulary_of
from bevel.training.options import TrainingOptions
from bevel.training.threads import count_threads
from bevel.training.trainer import TrainingTarget

if TYPE_CHECKING:
    import onnx

# Methods of fitted estimators that read their trees, for any task.

# Fewer rows are predicted in less time than it takes to start a thread.
FEW_ROWS = 32
PLAIN_TYPES = (np.dtype(np.float32), np.dtype(np.float64))


class TreeEstimator(TableEstimator):
    """The methods of a fitted estimator that read its trees."""

    n_jobs: int | None
    _fitted: FittedForest
    n_estimators: int
    warm_start: bool

    @abstractmethod
    def _to_store(self) -> StoredEstimator:
        """Contents of a model file of the estimator."""

    @property
    def fitted_forest_(self) -> FittedForest:
        """The fitted forest as files, exports and analysis read it."""
        check_is_fitted(self)
        return self._fitted

    def slim(self) -> Self:
        """Drop the arrays that only training and analysis need; predictions stay the same.

        The gains and weights of the nodes, recorded p-values and kept targets go;
        `feature_importances_` then raises. See `forest_.bytes_per_node`.

        Returns
        -------
        self : object
            The estimator.
        """
        check_is_fitted(self)
        predictor = PackedPredictor(self._fitted.forest.slim())
        self._fitted = replace(self._fitted, predictor=predictor, targets=None)
        return self

    def apply(self, X: Any) -> npt.NDArray[np.int32]:
        """Leaf of each row in each tree.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of int32, shape (n_rows, n_estimators)
            Nodes, counted from the root of their tree.
        """
        rows = encode_rows(self, X)
        return self._fitted.predictor.leaves(rows, count_threads(self.n_jobs))

    def decision_path(self, X: Any) -> tuple[sp.csr_matrix, npt.NDArray[np.int64]]:
        """Nodes that each row passes.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        indicator : csr_matrix of shape (n_rows, n_nodes)
            One where a row passes a node, over the nodes of all trees.
        n_nodes_ptr : ndarray of shape (n_estimators + 1,)
            Tree t owns columns n_nodes_ptr[t] to n_nodes_ptr[t + 1].
        """
        rows = encode_rows(self, X)
        return self._fitted.predictor.paths(rows, count_threads(self.n_jobs))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a file for `bevel.load`, whole or not at all.

        A file holds no functions and no random generators: a generator as `random_state`, a
        `callback` and a function as `oob_score` become their defaults, with a warning; a function
        in `P.Custom` is needed again to grow more trees. Out-of-bag predictions of single rows are
        not saved.

        Parameters
        ----------
        path : str or path
            Path, such as "model.bevel". A crash or a full disk leaves an older file unchanged.
        """
        check_is_fitted(self)
        save(self._to_store(), kind_of(self), path)

    def verify(self) -> Self:
        """Check the whole of a file that was loaded with `bevel.load(path, mmap=True)`.

        Returns
        -------
        self : object
            The estimator, with its forest in memory. Raises ModelFileError if the file is damaged.
        """
        check_is_fitted(self)
        self._fitted = self._fitted.in_memory()
        return self

    def to_c(self, name: str = "model") -> str:
        """The forest as one C99 file without dependencies.

        Parameters
        ----------
        name : str, default="model"
            Prefix of everything in the file, a C identifier.

        Returns
        -------
        str
            C source; its comment describes the interface. The documentation, Topics, has more.
        """
        return "".join(write_c(self.fitted_forest_, name))

    def to_onnx(
        self, *, dtype: str = "float32", target_opset: int = 18, name: str = "bevel"
    ) -> onnx.ModelProto:
        """The forest as an ONNX model, to run without Python; needs `bevel[onnx]`.

        A forest of numeric features takes one input, `X` of shape (n_rows, n_features). A forest
        with nominal columns takes one input of shape (n_rows, 1) per column, under the columns'
        names. A classifier returns `label` and `probabilities`, a regressor `prediction`.
        The documentation, Topics, ONNX, describes the graph and how to serve it.

        Parameters
        ----------
        dtype : {"float32", "float64"}, default="float32"
            Type of numeric inputs, probabilities and predictions. Take float64 where rows have
            more digits than float32 holds and are scaled: `predict` scales them in float64. A
            regression whose predictions float32 cannot hold needs float64, else raises.
        target_opset : int, default=18
            Version of the ONNX operators, 17 or later.
        name : str, default="bevel"
            Name of the model's graph.

        Returns
        -------
        onnx.ModelProto
            Write it with `onnx.save`, or `model.SerializeToString()`.

        Examples
        --------
        >>> import onnxruntime
        >>> from bevel import ObliqueForestClassifier
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> model = ObliqueForestClassifier(10, random_state=0).fit(X, y).to_onnx()
        >>> session = onnxruntime.InferenceSession(model.SerializeToString())
        >>> label, probabilities = session.run(None, {"X": X.astype("float32")})
        >>> probabilities.shape
        (150, 3)
        """
        fitted = self.fitted_forest_
        return to_onnx(fitted, dtype=dtype, target_opset=target_opset, name=name)

    @property
    def forest_(self) -> FlatForest:
        """The trees, as read-only arrays; print `forest_.tree(0)` to read one."""
        fitted = self.fitted_forest_
        return fitted.forest.with_names(vocabulary_of(fitted))

    @property
    def predictor_(self) -> RowPredictor:
        """The forest for servers: no checks, any thread; see `RowPredictor`."""
        self.verify()  # a mapped file must not be walked without checks
        fitted = self.fitted_forest_
        fitted.task.check_one_output("predictor_")
        how = fitted.aggregation
        return RowPredictor(fitted.packed_predictor, fitted.encoding.reading, how.hard, how.power)

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """Gain importance of each feature, summing to one (see `bevel.analysis.importance`)."""
        return gain_importances(self.forest_)

    def _names_of_columns(self) -> tuple[str, ...] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(str(name) for name in names)

    def _predict_with(self, method: str, X: Any, *arguments: Any) -> Any:
        """Call a method of the predictor; rows that need no conversion are passed as they are."""
        try:
            return self._predict(method, X, *arguments)
        except MemoryError as error:
            told = explained(error, "A prediction", self, X)
            if told is error:
                raise
            raise told from error

    def _predict(self, method: str, X: Any, *arguments: Any) -> Any:
        if self._is_plain(X):
            few = len(X) < FEW_ROWS and self.n_jobs != 0
            n_threads = 1 if few else count_threads(self.n_jobs)
            fitted = self._fitted
            predict = getattr(fitted.predictor, method)
            try:
                return predict(X, n_threads, *arguments, fitted.encoding.reading)
            except NumberTooLargeError:
                pass  # the slower conversion raises an error that names the row and column
        rows = encode_rows(self, X)
        predict = getattr(self._fitted.predictor, method)
        return predict(rows, count_threads(self.n_jobs), *arguments)

    def _is_plain(self, X: Any) -> bool:
        """Whether X is an array of floats with the columns of fit; takes microseconds at most."""
        known = self.__dict__
        fitted: FittedForest | None = known.get("_fitted")
        return (
            type(X) is np.ndarray
            and X.dtype in PLAIN_TYPES
            and X.ndim == 2
            and X.shape[0] > 0
            and X.shape[1] == known.get("n_features_in_")
            and X.flags.aligned
            and X.strides[0] % X.itemsize == X.strides[1] % X.itemsize == 0
            and "feature_names_in_" not in known
            and fitted is not None
            and isinstance(fitted.predictor, PackedPredictor)
            and not fitted.encoding.nominal
            and not fitted.encoding.dates
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")

    def _trees_are_kept(self) -> bool:
        return bool(self.warm_start) and hasattr(self, "_fitted")

    def _trees_to_keep(self) -> FittedForest | None:
        """The forest of an earlier fit that this one adds to."""
        if not self._trees_are_kept():
            return None
        n_before = self._fitted.forest.n_trees
        if self.n_estimators < n_before:
            raise ValueError(
                f"n_estimators must be at least the {n_before} trees that exist when "
                f"warm_start=True; got {self.n_estimators}. Raise it, or set warm_start=False."
            )
        if self.n_estimators == n_before:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new trees.",
                UserWarning,
                stacklevel=4,
            )
        return self._fitted


def set_attributes(estimator: Any, task: Task) -> None:
    """Set the fitted attributes that tell the classes of a task."""
    for name, value in task.attributes.items():
        setattr(estimator, name, value)


# Growth of the trees of an estimator, by one projection or by several families.


@dataclass(frozen=True, eq=False)
class PreparedFit:
    """Encoded rows and resolved options of a fit.

    Attributes
    ----------
    dataset : Dataset
        Training rows, encoded.
    target : TrainingTarget
        Targets and weights of the training rows.
    options : TrainingOptions
        Parameters as numbers, resolved for the size of the table.
    bags : Bags or None
        How bags are drawn; None if the trees of an earlier fit have other bags.
    values : mapping
        Parameters by name, checked.
    members : sequence of ProjectionDraws
        The projections; empty with `projection="auto"`.
    """

    dataset: Dataset
    target: TrainingTarget
    options: TrainingOptions
    bags: Bags | None
    values: Mapping[str, Any]
    members: Sequence[ProjectionDraws]


class GrownForest(NamedTuple):
    """Trees of a fit, and the record of how they were grown."""

    forest: FlatForest
    rotations: RotationRecord | None = None
    families: FamilyRecord | None = None

    def after(self, earlier: FlatForest) -> GrownForest:
        """Return the forest of an earlier fit followed by these trees."""
        return self._replace(forest=join_forests(earlier, self.forest))


def shape_of(dataset: Dataset) -> TableShape:
    n_rows, n_features = dataset.X.shape
    n_nominal = int(np.count_nonzero(dataset.encoding.levels))
    return TableShape(n_rows, n_features - n_nominal, n_nominal)


# Smaller versions of a fitted forest, made of some of its trees.

Estimator = TypeVar("Estimator", bound="TreeEstimator")


def keep_trees(estimator: Estimator, trees: npt.NDArray[np.int64]) -> Estimator:
    """New estimator with some of the trees, and without estimates that describe all of them."""
    pruned = copy.copy(estimator)
    pruned.n_estimators = len(trees)
    pruned._fitted = _take(estimator._fitted, trees)
    for name in ("oob_score_", "oob_decision_function_", "oob_prediction_"):
        if hasattr(pruned, name):
            delattr(pruned, name)
    return pruned


def _take(fitted: FittedForest, trees: npt.NDArray[np.int64]) -> FittedForest:
    forest, targets = fitted.forest, fitted.kept_targets
    return replace(
        fitted,
        predictor=PackedPredictor(take_trees(forest, trees)),
        provenance=fitted.provenance.of_some_trees(trees),
        targets=None if targets is None else take_targets(targets, forest, trees),
    )
