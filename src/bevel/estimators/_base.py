"""What classifier and regressor share: scikit-learn calls turned into ours, no arithmetic."""

from __future__ import annotations

import os
import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bevel.data.dataset import Dataset, encode, encode_dataset, learn_dataset
from bevel.data.scaling import automatic_scale
from bevel.data.tables import Table
from bevel.estimators._reading import ReadsTables
from bevel.estimators._slimming import Slimming
from bevel.export.c import write_c
from bevel.export.onnx import to_onnx
from bevel.files.saving import save
from bevel.forest.flat_forest import FlatForest, join_forests
from bevel.forest.importance import gain_importances
from bevel.forest.out_of_bag import OutOfBag, predict_out_of_bag
from bevel.forest.predictor import NumberTooLargeError, PackedPredictor, RowPredictor
from bevel.parameters.constraints import Parameter
from bevel.parameters.forest_parameters import check_each
from bevel.projections.families import Member, TableShape, combines_units, read_projection
from bevel.text import Vocabulary
from bevel.training.options import (
    TrainingOptions,
    check_combinations,
    draw_seed,
    draws_bags,
    resolve_options,
)
from bevel.training.progress import Progress
from bevel.training.threads import count_threads
from bevel.training.trainer import Target, train

if TYPE_CHECKING:
    import onnx

# Rows that are predicted before another thread would have started.
FEW_ROWS = 32
PLAIN_TYPES = (np.dtype(np.float32), np.dtype(np.float64))


class ObliqueForest(Slimming, ReadsTables, BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]
    """Base of the forests; not used by itself."""

    _parameters: ClassVar[Mapping[str, Parameter]]

    @abstractmethod
    def _read_target(self, y: Any, sample_weight: Any, n_rows: int, draws_bags: bool) -> Target:
        """Check y and the weights; set what the estimator remembers of them."""

    @abstractmethod
    def _remember_out_of_bag(self, estimates: OutOfBag, target: Target) -> None:
        """Set the attributes that hold out-of-bag estimates."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Training rows: NumPy arrays, pandas, polars and pyarrow tables, SciPy sparse matrices
            (made dense, in float32). NaN and None are missing values; infinities raise.
        y : array-like of shape (n_rows,)
            Targets.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, zero or more, the largest from 1e-15 to 1e15; None weighs all rows
            equally. A row of weight zero is as good as absent. Weights below 1e-20 of the largest
            count as that much.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        values = self._settings()
        check_each(values, self._parameters)
        members = read_projection(values["projection"], values["n_projections"])
        values["bootstrap"] = draws_bags(values["bootstrap"], members)
        self._check_combinations(values, members)
        n_threads = count_threads(self.n_jobs)
        n_before = self._trees_to_keep()
        if n_before == 0 and hasattr(self, "_predictor"):
            del self._predictor  # a fit that fails half-way leaves no forest behind
        table = self._read(X, y, reset=n_before == 0)
        target = self._read_target(y, sample_weight, table.n_rows, values["bootstrap"])
        dataset = self._dataset(table, members, n_before)
        seed = self._seed_to_go_on() if n_before else draw_seed(self.random_state)
        options = resolve_options(values, members, _shape(dataset), seed)
        self._check_same_bags(options, table.n_rows, n_before)
        self._grow(dataset, target, options, range(n_before, self.n_estimators), n_threads)
        self._remember_targets(dataset, target, options, n_before, n_threads)
        if self.oob_score:
            hard = values.get("voting") == "hard"
            estimates = predict_out_of_bag(
                self._predictor, dataset, options, n_threads, hard, target.weights
            )
            self._remember_out_of_bag(estimates, target)
        return self

    def apply(self, X: Any) -> npt.NDArray[np.int32]:
        """Leaf of each row in each tree.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of int32, shape (n_rows, n_estimators)
            Nodes, counted from the root of their tree.
        """
        return self._predictor.leaves(self._encode(X), count_threads(self.n_jobs))

    def decision_path(self, X: Any) -> tuple[sp.csr_matrix, npt.NDArray[np.int64]]:
        """Nodes that each row passes.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        indicator : csr_matrix of shape (n_rows, n_nodes)
            One where a row passes a node, over the nodes of all trees.
        n_nodes_ptr : ndarray of shape (n_estimators + 1,)
            Tree t owns columns n_nodes_ptr[t] to n_nodes_ptr[t + 1].
        """
        return self._predictor.paths(self._encode(X), count_threads(self.n_jobs))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a file for `bevel.load`, whole or not at all.

        A file holds no functions and no random generators: a generator as `random_state`, a
        `callback` and a function as `oob_score` become their defaults, with a warning; a function
        in `P.Custom` is needed again to grow more trees. Out-of-bag predictions of single rows are
        not saved.

        Parameters
        ----------
        path : str or path
            Where to, such as "model.bevel". A crash or a full disk leaves an older file as it was.
        """
        check_is_fitted(self)
        save(self, path)

    def verify(self) -> Self:
        """Check all of the file that `bevel.load(path, mmap=True)` has only looked into.

        Returns
        -------
        self : object
            The estimator, with its forest in memory. Raises ModelFileError if the file is damaged.
        """
        forest = self.forest_
        if not isinstance(self._predictor, PackedPredictor):
            self._predictor = PackedPredictor(forest)
        self._kept_targets()
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
            C source; its comment describes the interface. `docs/reference/c_export.md` says more.
        """
        check_is_fitted(self)
        return "".join(write_c(self, name))

    def to_onnx(
        self, *, dtype: str = "float32", target_opset: int = 18, name: str = "bevel"
    ) -> onnx.ModelProto:
        """The forest as an ONNX model, to run where Python is not; needs `bevel[onnx]`.

        A forest of numeric features takes one input, `X` of shape (n_rows, n_features). A forest
        with nominal columns takes one input of shape (n_rows, 1) per column, under the columns'
        names. A classifier answers `label` and `probabilities`, a regressor `prediction`.
        `docs/reference/onnx.md` tells more.

        Parameters
        ----------
        dtype : {"float32", "float64"}, default="float32"
            Type of numeric inputs, probabilities and predictions. Take float64 where rows have
            more digits than float32 holds and are scaled: `predict` scales them in float64.
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
        return to_onnx(self, dtype=dtype, target_opset=target_opset, name=name)

    @property
    def forest_(self) -> FlatForest:
        """The trees, as read-only arrays; print `forest_.tree(0)` to read one."""
        check_is_fitted(self)
        forest: FlatForest = self._predictor.forest
        return forest.in_words(self._vocabulary())

    @property
    def predictor_(self) -> RowPredictor:
        """The forest for servers: no checks, any thread; see `RowPredictor`."""
        self.verify()  # a mapped file is not to be walked without checks
        hard = getattr(self, "voting", None) == "hard"
        return RowPredictor(self._predictor, self._encoding.reading, hard)

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """Gain importance of each feature, summing to one (see `bevel.forest.importance`)."""
        return gain_importances(self.forest_)

    def _feature_names(self) -> tuple[str, ...]:
        """Names of the features; x0, x1, ... if fit saw none."""
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{feature}" for feature in range(self.n_features_in_)]
        return tuple(str(name) for name in names)

    def _vocabulary(self) -> Vocabulary:
        classes = getattr(self, "classes_", ())
        return Vocabulary(self._feature_names(), tuple(map(str, classes)), self._encoding)

    def _settings(self) -> dict[str, Any]:
        """Parameters of a fit by name, those that the user cannot set among them."""
        return dict(self.get_params(deep=False))

    def _check_combinations(self, values: Mapping[str, Any], members: Sequence[Member]) -> None:
        """Raise if parameters contradict each other, whatever the data."""
        check_combinations(values, members)

    def _ask(self, question: str, X: Any, *arguments: Any) -> Any:
        """Put a question to the predictor; rows that need no reading go to it as they are."""
        if self._is_plain(X):
            few = len(X) < FEW_ROWS and self.n_jobs != 0
            n_threads = 1 if few else count_threads(self.n_jobs)
            answer = getattr(self._predictor, question)
            try:
                return answer(X, n_threads, *arguments, self._encoding.reading)
            except NumberTooLargeError:
                pass  # reading it slowly tells where and what to do
        rows = self._encode(X)
        return getattr(self._predictor, question)(rows, count_threads(self.n_jobs), *arguments)

    def _is_plain(self, X: Any) -> bool:
        """Whether X is an array of floats as fit has seen it; costs microseconds at most."""
        known = self.__dict__
        return (
            type(X) is np.ndarray
            and X.dtype in PLAIN_TYPES
            and X.ndim == 2
            and X.shape[0] > 0
            and X.shape[1] == known.get("n_features_in_")
            and X.flags.aligned
            and X.strides[0] % X.itemsize == X.strides[1] % X.itemsize == 0
            and "feature_names_in_" not in known
            and isinstance(known.get("_predictor"), PackedPredictor)
            and not known["_encoding"].nominal
        )

    def _encode(self, X: Any) -> npt.NDArray[np.float32]:
        """Rows to predict, read as the training rows were."""
        check_is_fitted(self)
        table = self._read(X, "no_validation", reset=False)
        return encode(table, self._encoding, n_threads=count_threads(self.n_jobs))

    def _trees_to_keep(self) -> int:
        """Trees of an earlier fit that this one adds to."""
        if not self._trees_are_kept():
            return 0
        n_before = self.forest_.n_trees
        if self.n_estimators < n_before:
            raise ValueError(
                f"n_estimators must be at least the {n_before} trees that exist when "
                f"warm_start=True; got {self.n_estimators}. Raise it, or set warm_start=False."
            )
        if self.n_estimators == n_before:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new trees.",
                UserWarning,
                stacklevel=3,
            )
        return int(n_before)

    def _trees_are_kept(self) -> bool:
        return bool(self.warm_start) and hasattr(self, "_predictor")

    def _dataset(self, table: Table, members: Sequence[Member], n_before: int) -> Dataset:
        n_threads = count_threads(self.n_jobs)
        if n_before:
            return encode_dataset(table, self._encoding, n_threads)
        scale = automatic_scale(combines_units(members)) if self.scale == "auto" else self.scale
        return learn_dataset(table, self.categorical_features, scale, n_threads)

    def _check_same_bags(self, options: TrainingOptions, n_rows: int, n_before: int) -> None:
        """Out-of-bag estimates draw the bags of all trees again, which must then be of one kind."""
        bags = (n_rows, options.bag_size, options.replace)
        alike = n_before == 0 or bags == self._bags
        if self.oob_score and not alike:
            raise ValueError(
                "oob_score with warm_start needs the same number of rows, max_samples and replace "
                f"in every fit; got {bags} after {self._bags} (rows, draws, replace). Keep them, "
                "or set oob_score=False."
            )
        self._bags = bags if alike else None

    def _grow(
        self,
        dataset: Dataset,
        target: Target,
        options: TrainingOptions,
        trees: range,
        n_threads: int,
    ) -> None:
        if len(trees):
            grown = self._train(dataset, target, options, trees, n_threads)
            forest = join_forests(self.forest_, grown) if trees.start else grown
            self._predictor = PackedPredictor(forest)
        self._encoding = dataset.encoding
        self._seed = options.seed

    def _train(
        self,
        dataset: Dataset,
        target: Target,
        options: TrainingOptions,
        trees: range,
        n_threads: int,
    ) -> FlatForest:
        return train(dataset, target, options, trees, n_threads, self._progress(trees))

    def _progress(self, trees: range, label: str = "growing trees") -> Progress:
        """Whom to tell of finished trees."""
        show = bool(self.verbose)
        return Progress(trees.start, trees.stop, show, self.callback, label=label)

    def _remember_targets(
        self,
        dataset: Dataset,
        target: Target,
        options: TrainingOptions,
        n_before: int,
        n_threads: int,
    ) -> None:
        """Keep the training targets of the new leaves, if that was asked for."""

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_predictor")


def _shape(dataset: Dataset) -> TableShape:
    n_rows, n_features = dataset.X.shape
    n_nominal = int(np.count_nonzero(dataset.encoding.levels))
    return TableShape(n_rows, n_features - n_nominal, n_nominal)
