"""Directions that the user supplies: a function or a matrix."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bevel.errors import shorten, wrong_type, wrong_value
from bevel.projections.base import Count, FamilySpec, Projection, SparseDirections

__all__ = ["Custom", "MissingFunction", "check_sums", "lose_function"]

# Well within float32; what sums of products reach depends on the features.
MAX_WEIGHT = 1e30
MAX_SUM = float(np.finfo(np.float32).max)
# Features in size: what is stored never exceeds it.
MAX_FEATURE = 1e34


@dataclass(frozen=True, eq=False)
class Custom(Projection):
    """SparseDirections from a function of yours, called at every node, or from a fixed matrix.

    Thesis (Tomita 2018), section 3.4: a forest is its distribution of directions, and this is the
    place for new ones. Both see the numeric features only, in their order, as scaled by `scale`;
    nominal columns are split by subsets of their levels as always.

    A function costs a call of Python at every node: some 60 microseconds and what it does itself.
    Python's lock lets one thread compute at a time, whatever `n_jobs`, and may switch within calls.
    Free-threaded Python has no such lock: calls run at the same time, so that a function that
    changes something of its own must guard it.
    The directions are kept in the nodes, so that a forest predicts, and is saved, without the
    function; only growing more trees needs it again. A function that pickle cannot find by name,
    such as a lambda, is not saved; model files (`save`) hold no functions at all.

    Parameters
    ----------
    sampler : callable or matrix
        A function `sampler(rng, X_node, y_node, weight_node)`, called once per node, that returns a
        matrix of shape (p, d), dense or sparse: each column is a direction over the p numeric
        features, zero columns are no candidates. `rng` is a `numpy.random.Generator` of the node's
        own, which makes forests reproducible for any number of threads; `X_node` holds the rows of
        the node, float32 with missing values replaced by medians; `y_node` their targets (classes
        as integers in the order of `classes_`), `weight_node` their weights (how often a row was
        drawn times its sample weight). How many directions there are is up to the function:
        `n_projections` must be "auto".

        Coefficients are below 1e30 in size, and so small that sums of products with the features
        stay within float32 (3.4e38); others raise. Only their ratios matter: directions can be
        scaled to any length.

        Or a matrix of such columns, from which each node draws `n_projections` without replacement;
        "auto" tries them all, and a share of nominal columns besides.

    Examples
    --------
    >>> import numpy as np
    >>> from bevel import ObliqueForestClassifier, projections as P
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> differences = P.Custom(np.eye(13) - np.roll(np.eye(13), 1, axis=1))
    >>> forest = ObliqueForestClassifier(20, projection=[P.Axis(), differences], random_state=0)
    >>> round(forest.fit(X[::2], y[::2]).score(X[1::2], y[1::2]), 2)
    0.96
    """

    name: ClassVar[str] = "custom"
    sampler: Any

    @property
    def draws_without_rows(self) -> bool:  # type: ignore[override]
        return not callable(self.sampler)

    @property
    def can_be_constrained(self) -> bool:  # type: ignore[override]
        return not callable(self.sampler)

    def __post_init__(self) -> None:
        if callable(self.sampler) or isinstance(self.sampler, MissingFunction):
            return
        matrix = self.sampler
        if not _is_matrix(matrix):
            required = "a function or a matrix of shape (n_features, n_directions)"
            raise wrong_type("Custom(sampler=)", required, matrix, "Pass a NumPy or SciPy matrix.")
        n_rows = matrix.shape[0] if matrix.ndim == 2 else 0
        if read_directions(matrix, n_rows, "Custom(sampler=)").n_directions == 0:
            required = "a matrix with a column that is not zero"
            remedy = "Each column is a direction; zero columns are left out."
            raise wrong_value("Custom(sampler=)", required, matrix.shape, remedy)

    def check_survival(self) -> None:
        if callable(self.sampler):
            remedy = "Pass a matrix of directions, or use P.Cox()."
            raise wrong_value("projection", "able to learn times", self, remedy)

    def __reduce__(self) -> tuple[type[Custom], tuple[Any]]:
        return type(self), (_what_pickle_keeps(self.sampler),)

    def __copy__(self) -> Custom:
        return self  # never changes; copies, as scikit-learn's clone makes them, keep the function

    def __deepcopy__(self, memo: dict[int, Any]) -> Custom:
        return self

    @property
    def reads_target(self) -> bool:  # type: ignore[override]
        """A function is shown the target, whatever it does with it."""
        return self._is_function

    @property
    def _is_function(self) -> bool:
        return callable(self.sampler)

    def default_draws(self, n_features: int, regression: bool) -> int:  # noqa: ARG002
        """All columns of the matrix; one call of the function."""
        return 1 if self._is_function else max(1, self._pool(None).n_directions)

    def most_draws(self, n_numeric: int) -> int:
        return 1 if self._is_function else self._pool(n_numeric).n_directions

    @property
    def tries_all(self) -> bool:
        return not self._is_function

    def check_draws(self, n_projections: Count) -> None:
        self._check_not_lost()
        if self._is_function:
            required = '"auto" with a function in Custom, which decides how many it returns'
            raise wrong_value("n_projections", required, n_projections, "Leave it out.")

    def _check_not_lost(self) -> None:
        if isinstance(self.sampler, MissingFunction):
            raise ValueError(
                f"Growing trees needs the function of Custom(sampler=); got {self.sampler.name}, "
                "which was not saved with the estimator. Set projection=P.Custom(function) again."
            )

    def family(self, n_draws: int, n_numeric: int) -> FamilySpec:
        self._check_not_lost()
        if self._is_function:
            source = _Caller(self.sampler, n_numeric)
            return FamilySpec("custom", n_draws, n_numeric, {"source": source})
        return FamilySpec("custom", n_draws, n_numeric, {"pool": self._pool(n_numeric)})

    def _pool(self, n_numeric: int | None) -> SparseDirections:
        if isinstance(self.sampler, MissingFunction):
            return SparseDirections(
                np.zeros(1, np.uint32), np.zeros(0, np.int32), np.zeros(0, np.float32)
            )
        n_rows = self.sampler.shape[0] if n_numeric is None else n_numeric
        return read_directions(self.sampler, n_rows, "Custom(sampler=)")


@dataclass(frozen=True)
class MissingFunction:
    """Stands for a function that could not be saved."""

    name: str


def lose_function(function: Callable[..., Any]) -> MissingFunction:
    """What stands for a function where it cannot be saved."""
    return MissingFunction(getattr(function, "__qualname__", None) or shorten(function))


def _what_pickle_keeps(sampler: Any) -> Any:
    if not callable(sampler):
        return sampler
    try:
        pickle.dumps(sampler)
    except Exception:
        return lose_function(sampler)
    return sampler


@dataclass(frozen=True, eq=False)
class _Caller:
    """Calls the user's function for the core, and reads what it returns."""

    function: Callable[..., Any]
    n_numeric: int

    def __call__(
        self,
        seed: int,
        place: tuple[int, int],
        X: npt.NDArray[np.float32],
        y: npt.NDArray[Any],
        weight: npt.NDArray[np.float64],
    ) -> tuple[npt.NDArray[Any], ...]:
        try:
            matrix = self.function(np.random.default_rng(seed), X, y, weight)
            name = "the result of Custom's function"
            directions = read_directions(matrix, self.n_numeric, name)
            check_sums(directions, X, name)
        except Exception as error:
            tree, depth = place
            raise RuntimeError(
                f"Custom's function failed in tree {tree} at a node of depth {depth} with "
                f"{len(X)} rows: {type(error).__name__}: {error}"
            ) from error
        return directions.arrays


def read_directions(matrix: Any, n_numeric: int, name: str) -> SparseDirections:
    """Read the columns of a matrix as directions; zero columns are left out.

    Parameters
    ----------
    matrix : array or sparse matrix of shape (n_numeric, d)
        As given by the user.
    n_numeric : int
        Rows that it must have.
    name : str
        What it is called in messages.
    """
    required = f"a matrix of {n_numeric} rows (one per numeric feature) of finite numbers"
    remedy = "Each column is a direction over the numeric features."
    if not _is_matrix(matrix):
        raise wrong_type(name, required, matrix, remedy)
    if matrix.ndim != 2 or matrix.shape[0] != n_numeric:
        raise wrong_value(name, required, matrix.shape, remedy)
    if matrix.dtype.kind not in "fiub":
        raise wrong_type(name, required, matrix.dtype, remedy)
    if isinstance(matrix, np.ndarray):
        columns = np.asarray(matrix).T  # np.matrix has ways of its own
        owner, index = np.nonzero(columns)
        weight = columns[owner, index]
    else:
        entries = matrix.tocoo(copy=True)
        entries.sum_duplicates()
        # SciPy sorts by column or by row, depending on the class and on what it takes for sorted.
        order = np.lexsort((entries.row, entries.col))
        owner, index, weight = entries.col[order], entries.row[order], entries.data[order]
    weight = weight.astype(np.float64)
    too_large = ~(np.abs(weight) < MAX_WEIGHT)
    if too_large.any():
        raise wrong_value(name, required, float(weight[too_large][0]), remedy)
    weight = weight.astype(np.float32)
    kept = weight != 0.0
    if not kept.all():
        owner, index, weight = owner[kept], index[kept], weight[kept]
    sizes = np.bincount(owner)
    offset = np.zeros(1 + np.count_nonzero(sizes), np.uint32)
    np.cumsum(sizes[sizes > 0], out=offset[1:])
    return SparseDirections(offset, index.astype(np.int32), weight)


def check_sums(
    directions: SparseDirections,
    X: npt.NDArray[np.float32],
    name: str,
    columns: npt.NDArray[np.integer[Any]] | None = None,
) -> None:
    """Raise if the sum of a direction's products may leave the range of float32 on some row.

    Parameters
    ----------
    directions : SparseDirections
        Over the numeric features.
    X : ndarray of float32
        Features as the trees read them; missing values are left out.
    name : str
        What the directions are called in messages.
    columns : ndarray of int, default=None
        Where the numeric features are in X; None when there are no others.
    """
    if directions.n_directions == 0 or len(X) == 0:
        return
    size = np.abs(directions.weight.astype(np.float64))
    first = directions.offset[:-1]
    if MAX_FEATURE * np.add.reduceat(size, first).max() < MAX_SUM:
        return  # whatever the features are, and without a look at them
    low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    largest = np.nan_to_num(np.fmax(-low, high).astype(np.float64))
    column = directions.index if columns is None else columns[directions.index]
    reach = np.add.reduceat(size * largest[column], first).max()
    if reach > MAX_SUM:
        required = f"directions whose sums of products with X are below {MAX_SUM:.1e} in size"
        remedy = "Divide each direction by its largest coefficient; only their ratios matter."
        raise wrong_value(name, required, float(f"{reach:.2g}"), remedy)


def _is_matrix(value: Any) -> bool:
    import scipy.sparse as sp  # a quarter of the time of importing the projections

    return bool(sp.issparse(value)) or isinstance(value, np.ndarray)
