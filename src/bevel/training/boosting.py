"""The one call into boosting: dataset, target and options in, trees and losses out."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer

from bevel import _core
from bevel._types import Floats
from bevel.data.dataset import Dataset
from bevel.data.survival import SurvivalTarget
from bevel.errors import shorten, wrong_value
from bevel.forest.aggregation import SumOfTrees
from bevel.forest.flat_forest import FlatForest
from bevel.projections.base import FamilySpec
from bevel.projections.families import ProjectionDraws, TableShape, resolve_families
from bevel.projections.features import Axis, SparseSigns
from bevel.projections.rotations import RandomRotation
from bevel.training.options import FeatureConstraints, check_directions
from bevel.training.progress import Progress
from bevel.training.trainer import native_family

__all__ = [
    "EARLY_STOPPING_ROWS",
    "MIN_ROWS_TO_HOLD_OUT",
    "OF_CLASSES",
    "OF_NUMBERS",
    "OF_RANKINGS",
    "OF_TIMES",
    "REFIT_FACTOR",
    "TRIAL_SHARE",
    "BoostingDefaults",
    "BoostingFit",
    "BoostingOptions",
    "BoostingTarget",
    "UserLoss",
    "ValidationScorer",
    "boost",
    "can_train_in_place",
    "choose_validation_fraction",
    "code_bytes",
    "constant_of_least_loss",
    "is_clearly_better",
    "read_scorer",
    "resolve_directions",
    "tree_size",
]

# Learning rate and number of iterations of boosting where they are left to the library.

# With more rows, the rows that find the number of iterations are not fitted again.
EARLY_STOPPING_ROWS = 10_000
# With fewer rows, the held-out ones are too few to decide.
MIN_ROWS_TO_HOLD_OUT = 100
# Iterations on all rows for each that was best without the held-out fifth of them. The validation
# loss is flat around its minimum, and classes are still separated better beyond it.
REFIT_FACTOR = 1.5
# Beyond EARLY_STOPPING_ROWS, linear leaves must be clearly better in this share of the iterations
# that leaves of one value have: there the fit that chooses is not followed by a longer one.
TRIAL_SHARE = 1 / 3
# Smaller differences, as a share of the loss, are noise on a few held-out rows.
CLEAR_DIFFERENCE = 0.03


@dataclass(frozen=True)
class BoostingDefaults:
    """What boosting chooses for a kind of target where it is left to the library.

    Attributes
    ----------
    scoring : str
        Scorer of `scoring=None`.
    search_rate : float
        Learning rate of the fit that only finds the number of iterations for a refit.
    refit_rate : float
        Learning rate where all rows are fitted again.
    total_step : float
        Learning rate times iterations without early stopping. Classes get fewer: probabilities
        become overconfident long before the predictions of a regression get worse.
    by_class : bool
        Whether rows are held out class by class.
    chooses_directions : bool
        Whether held-out rows choose between features alone and combinations of them. For classes
        they have not led to better choices.
    """

    scoring: str
    search_rate: float
    refit_rate: float
    total_step: float
    by_class: bool
    chooses_directions: bool

    def learning_rate(self, n_rows: int, refits: bool) -> float:
        """The default of `learning_rate`: with many rows each tree may be trusted more."""
        if n_rows > EARLY_STOPPING_ROWS:
            return 0.1
        return self.search_rate if refits else 0.05

    def max_iter(self, learning_rate: float, stops_early: bool, n_outputs: int = 1) -> int:
        """The default of `max_iter`."""
        if stops_early:
            return 1000 if n_outputs == 1 else 600
        at_this_rate = self.total_step / learning_rate
        return round(max(20.0, min(2000.0, at_this_rate)))  # infinite for the smallest rates


OF_CLASSES = BoostingDefaults(
    scoring="accuracy",
    search_rate=0.05,
    refit_rate=0.05,
    total_step=10.0,
    by_class=True,
    chooses_directions=False,
)
OF_NUMBERS = BoostingDefaults(
    scoring="r2",
    search_rate=0.1,
    refit_rate=0.03,
    total_step=50.0,
    by_class=False,
    chooses_directions=True,
)
OF_RANKINGS = BoostingDefaults(
    scoring="r2",
    search_rate=0.1,
    refit_rate=0.05,
    total_step=20.0,
    by_class=False,
    chooses_directions=True,
)
OF_TIMES = BoostingDefaults(
    scoring="r2",
    search_rate=0.05,
    refit_rate=0.05,
    total_step=5.0,
    by_class=True,
    chooses_directions=True,
)


# Leaves of a tree that grows best first, and levels of a symmetric one.
DEFAULT_LEAVES = 15
SYMMETRIC_DEPTH = 4
MAX_SYMMETRIC_DEPTH = 16


def tree_size(
    growth: str, max_leaf_nodes: int | str | None, max_depth: int | None
) -> dict[str, Any]:
    """How trees grow and how far, as fields of `BoostingOptions`."""
    leaves = 0 if max_leaf_nodes is None else max_leaf_nodes
    depth = -1 if max_depth is None else int(max_depth)
    if growth != "symmetric":
        leaves = DEFAULT_LEAVES if leaves == "auto" else int(leaves)
        return {"symmetric": False, "max_leaf_nodes": leaves, "max_depth": depth}
    if depth > MAX_SYMMETRIC_DEPTH:
        required = f'at most {MAX_SYMMETRIC_DEPTH} with growth="symmetric", 65536 leaves'
        remedy = 'Use 4 to 10, or growth="best_first".'
        raise wrong_value("max_depth", required, max_depth, remedy)
    depth = SYMMETRIC_DEPTH if max_depth is None else depth
    if leaves and leaves != "auto":
        depth = min(depth, int(leaves).bit_length() - 1)
    return {"symmetric": True, "max_leaf_nodes": 0, "max_depth": depth}


def choose_validation_fraction(refits: bool) -> float:
    """The default of `validation_fraction`: rows that are fitted again cost nothing."""
    return 0.2 if refits else 0.1


def is_clearly_better(loss: Floats, other: Floats) -> bool:
    """Whether the lowest validation loss of some iterations is clearly below that of others.

    Parameters
    ----------
    loss, other : ndarray
        Validation loss of each iteration; minus the score, where a scorer decides when to stop.
    """
    if not len(loss) or not len(other):
        return False
    lowest, reference = float(loss.min()), float(other.min())
    return reference - lowest > CLEAR_DIFFERENCE * abs(reference)


# A user-defined loss: the arrays that it returns are checked before the core reads them.

# Sums of a million squares of such numbers stay finite.
LARGEST = 1e100
# Newton steps towards the initial constant of boosting.
MAX_STEPS = 50


class UserLoss:
    """Gradients, hessians and losses of all rows, computed by a user-defined function.

    Parameters
    ----------
    function : callable
        ``function(y_true, raw)`` returns ``(gradient, hessian)`` or ``(gradient, hessian, loss)``,
        arrays with an entry per row; with several outputs raw predictions, gradient and hessian
        have a column for each.
    values : ndarray of float64
        Targets of the rows.
    n_outputs : int, default=1
        Number of raw predictions for each row.
    """

    def __init__(self, function: Callable[..., Any], values: Floats, n_outputs: int = 1) -> None:
        self._function = function
        self._values = values
        self._values.flags.writeable = False
        self._n_outputs = n_outputs
        n_rows = len(values)
        self._shape = (n_rows,) if n_outputs == 1 else (n_rows, n_outputs)

    def __call__(self, raw: Floats) -> tuple[Floats, Floats, Floats]:
        """Gradient, hessian and loss, output after output; unknown losses are NaN."""
        by_row = raw if self._n_outputs == 1 else raw.reshape(self._n_outputs, -1).T
        gradient, hessian, loss = self.evaluate(by_row)
        return _by_output(gradient), _by_output(hessian), loss

    def evaluate(self, raw: Floats) -> tuple[Floats, Floats, Floats]:
        """Gradient, hessian and losses in the shapes of the user's function."""
        raw.flags.writeable = False
        given = self._function(self._values, raw)
        if not isinstance(given, tuple) or len(given) not in (2, 3):
            got = f"{len(given)} values" if isinstance(given, tuple) else shorten(given)
            raise ValueError(
                "loss must return a tuple (gradient, hessian) or (gradient, hessian, loss); got "
                f"{got}. Return arrays with an entry per row."
            )
        gradient = self._array("gradient", given[0], self._shape)
        hessian = self._array("hessian", given[1], self._shape)
        self._check_hessian(hessian, raw)
        n_rows = len(self._values)
        if len(given) == 2:
            return gradient, hessian, np.full(n_rows, np.nan)
        return gradient, hessian, self._array("loss", given[2], (n_rows,))

    def start(self) -> Floats:
        """Raw predictions of zero, from which every fit begins."""
        return np.zeros(self._shape)

    def measures(self) -> bool:
        """Whether the function returns losses too, which early stopping needs."""
        return not bool(np.isnan(self.evaluate(self.start())[2]).any())

    def _check_hessian(self, hessian: Floats, raw: Floats) -> None:
        negative = (hessian < 0.0).reshape(len(hessian), -1)
        if negative.any():
            row, output = divmod(int(np.argmax(negative)), negative.shape[1])
            got = hessian.reshape(negative.shape)[row, output]
            prediction = raw.reshape(negative.shape)[row, output]
            raise ValueError(
                f"loss must return hessians of at least 0; got {got:g} in row {row} "
                f"(target {self._values[row]:g}, prediction {prediction:g}). Return an upper bound "
                "of the second derivative, such as its absolute value or 1."
            )
        if not hessian.any():
            raise ValueError(
                "loss must return a hessian above 0 in some row; got zeros only, from which no "
                "step follows. Return ones where the second derivative is zero everywhere."
            )

    def _array(self, name: str, given: object, shape: tuple[int, ...]) -> Floats:
        try:
            array = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"loss must return numbers as {name}; got {shorten(given)}. Return an array with "
                "an entry per row."
            ) from None
        if array.shape != shape:
            entries = "an entry per row" if len(shape) == 1 else "an entry per row and class"
            raise ValueError(
                f"loss must return a {name} of shape {shape}, {entries}; got shape "
                f"{array.shape}. Do not add up or average over rows."
            )
        bad = ~(np.abs(array) <= LARGEST)
        if bad.any():
            place = np.unravel_index(int(np.argmax(bad)), shape)
            row = int(place[0])
            raise ValueError(
                f"loss must return finite numbers as {name}, at most {LARGEST:g} in size; got "
                f"{array[place]:g} in row {row} (target {self._values[row]:g}). Clip predictions "
                "before exponentials, logarithms and divisions."
            )
        return np.ascontiguousarray(array)


def _by_output(array: Floats) -> Floats:
    return array if array.ndim == 1 else np.ascontiguousarray(array.T).ravel()


def constant_of_least_loss(loss: UserLoss, weights: Floats) -> tuple[float, ...]:
    """Initial constants of boosting: Newton steps from zero, while they reduce the loss.

    Parameters
    ----------
    loss : UserLoss
        The loss.
    weights : ndarray of float64
        Weights of the rows; zero for rows that are not trained on.
    """
    start = loss.start()
    best, slope = np.zeros(1 if start.ndim == 1 else start.shape[1]), np.inf
    constant = best
    for _ in range(MAX_STEPS):
        raw = start + (constant[0] if start.ndim == 1 else constant)
        try:
            gradient, hessian, _ = loss.evaluate(raw)
        except ValueError:
            if np.isinf(slope):
                raise  # already at zero, where every fit begins
            break
        total, curvature = np.atleast_1d(weights @ gradient), np.atleast_1d(weights @ hessian)
        size = float(np.abs(total).sum())
        if not size < slope:
            break
        best, slope = constant, size
        if not (curvature > 0.0).all():
            break
        constant = best - total / curvature
        if np.array_equal(constant, best):
            break
    return tuple(best.tolist())


# Scorers of scikit-learn on the validation rows of boosting, called after each iteration.

Scorer = Callable[..., Any]


def read_scorer(scoring: Any, default: str) -> Scorer | None:
    """Scorer of the parameter `scoring`; None if the loss decides.

    Parameters
    ----------
    scoring : str, callable or None
        Scoring as given to the estimator.
    default : str
        Name of the scorer if there is none.
    """
    if isinstance(scoring, str) and scoring == "loss":
        return None
    if scoring is None:
        scoring = default
    try:
        scorer: Scorer = get_scorer(scoring)
    except ValueError:
        required = (
            '"loss", None, a scorer\'s name of sklearn.metrics.get_scorer_names() or a scorer'
        )
        remedy = 'Use for example scoring="roc_auc".'
        raise wrong_value("scoring", required, scoring, remedy) from None
    return scorer


def _takes_weights(scorer: Scorer) -> bool:
    """Whether a scorer has an argument `sample_weight`; assumed if it has no signature."""
    try:
        parameters = inspect.signature(scorer).parameters
    except (TypeError, ValueError):
        return True
    kinds = [each.kind for each in parameters.values()]
    return "sample_weight" in parameters or inspect.Parameter.VAR_KEYWORD in kinds


class _Predictions(BaseEstimator):  # type: ignore[misc]
    """Passed to a scorer as the fitted estimator; holds the predictions of some rows."""

    def __init__(self, rows: Any = None, additive: SumOfTrees | None = None) -> None:
        self.rows = rows
        self.additive = additive
        self.raw: Floats = np.empty((0, 1))

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def _link(self, X: Any) -> SumOfTrees:
        if X is not self.rows:
            raise ValueError(
                "scoring must ask for predictions of all the rows that it is given, and of no "
                f"others; got {shorten(X)}. Use a scorer of scikit-learn, or the loss."
            )
        assert self.additive is not None
        return self.additive


class _ClassPredictions(ClassifierMixin, _Predictions):  # type: ignore[misc]
    classes_: npt.NDArray[Any]

    def predict(self, X: Any) -> npt.NDArray[Any]:
        return np.asarray(self.classes_.take(self._link(X).classes(self.raw)))

    def predict_proba(self, X: Any) -> Floats:
        return self._link(X).probabilities(self.raw)

    def decision_function(self, X: Any) -> Floats:
        self._link(X)
        return self.raw[:, 0] if self.raw.shape[1] == 1 else self.raw


class _ValuePredictions(RegressorMixin, _Predictions):  # type: ignore[misc]
    def predict(self, X: Any) -> Floats:
        return self._link(X).values(self.raw)


class ValidationScorer:
    """Scores the raw predictions of the validation rows during a fit.

    Parameters
    ----------
    scorer : callable
        ``scorer(estimator, X, y)``; with ``sample_weight`` too if it has such an argument.
    rows : object
        Validation rows, as the user has given them.
    truth : ndarray
        Their targets: labels or numbers.
    weights : ndarray or None
        Their weights; None if all are one.
    additive : SumOfTrees
        Baseline and link; only the link is used.
    classes : ndarray or None
        Labels of the classes; None in regression.
    """

    def __init__(
        self,
        scorer: Scorer,
        rows: Any,
        truth: npt.NDArray[Any],
        weights: Floats | None,
        additive: SumOfTrees,
        classes: npt.NDArray[Any] | None,
    ) -> None:
        self._scorer, self._rows, self._truth = scorer, rows, truth
        weighs = weights is not None and _takes_weights(scorer)
        self._given = {"sample_weight": weights} if weighs else {}
        self._model: Any
        if classes is None:
            self._model = _ValuePredictions(rows, additive)
        else:
            self._model = _ClassPredictions(rows, additive)
            self._model.classes_ = classes

    def __call__(self, raw: Floats) -> float:
        """Score of raw predictions, given output after output."""
        self._model.raw = np.ascontiguousarray(raw.reshape(-1, len(self._truth)).T)
        found = self._ask()
        try:
            score = float(found)
        except (TypeError, ValueError):
            score = math.nan
        if not math.isfinite(score):
            raise ValueError(
                f"scoring must return a finite number; got {shorten(found)}. Use another scorer, "
                "or more validation rows if it needs all classes."
            )
        return score

    def _ask(self) -> Any:
        try:
            return self._scorer(self._model, self._rows, self._truth, **self._given)
        except AttributeError as error:
            known = "predict"
            if isinstance(self._model, ClassifierMixin):
                known += ", predict_proba, decision_function and classes_"
            raise ValueError(
                f"scoring must need nothing of the model but {known}; got "
                f"{shorten(self._scorer)}, which needs more ({error}). Use a scorer for "
                "such models, or the loss."
            ) from error


# Size from which a table is large, 64 MB: it is read from the user's memory and scaled again in
# each iteration. Wide tables are copied, since their rows do not stay in the cache.
LARGE_TABLE = 2**24
MAX_VIEWED_COLUMNS = 256
# Columns whose codes are stored side by side.
CODED_TOGETHER = 16


@dataclass(frozen=True)
class BoostingOptions:
    """Boosting options in resolved numbers; field names are the native ones."""

    loss: str
    quantiles: list[float]  # by output; unused for losses without quantiles
    n_outputs: int
    learning_rate: float
    max_iter: int
    shares_trees: bool
    symmetric: bool
    max_leaf_nodes: int  # 0: no limit
    max_depth: int  # -1: no limit
    min_samples_leaf: int
    l2: float
    linear_leaves: bool
    subsample: float
    samples_by_gradient: bool
    max_bins: int
    n_iter_no_change: int  # 0: no early stopping
    tol: float
    first_iter: int = 0
    eval_at: int = 10  # of rankings


@dataclass(frozen=True, eq=False)
class BoostingTarget:
    """Targets of the rows of a dataset.

    Attributes
    ----------
    values : ndarray of float64
        Targets, or classes 0, 1, ....
    weights : ndarray of float64 or None
        Weight of each row; None when all are one.
    validates : ndarray of bool or None
        Rows that no tree is grown on, and that decide when to stop; None when there are none.
    groups : ndarray of uint32 or None, default=None
        The query of each row in rankings, from 0 to below the number of rows.
    survival : SurvivalTarget or None, default=None
        Times, events and entries; `values` are the times.
    """

    values: Floats
    weights: Floats | None
    validates: npt.NDArray[np.bool_] | None
    groups: npt.NDArray[np.uint32] | None = None
    survival: SurvivalTarget | None = None

    @property
    def strata(self) -> npt.NDArray[Any]:
        """What is held out in its shares: classes, or whether the event was seen."""
        return self.values if self.survival is None else self.survival.event

    def rows(self, kept: npt.NDArray[np.integer[Any]]) -> BoostingTarget:
        """Targets of some rows."""
        weights, validates = self.weights, self.validates
        return BoostingTarget(
            self.values[kept],
            None if weights is None else weights[kept],
            None if validates is None else validates[kept],
            None if self.groups is None else self.groups[kept],
            None if self.survival is None else self.survival[kept],
        )

    def training_weights(self) -> Floats:
        """Weights with zeros where rows validate."""
        weights = np.ones(len(self.values)) if self.weights is None else self.weights
        return weights if self.validates is None else np.where(self.validates, 0.0, weights)


@dataclass(frozen=True, eq=False)
class BoostingFit:
    """Result of boosting: trees, baselines, and the mean loss after each iteration."""

    forest: FlatForest
    baseline: tuple[float, ...]
    training_loss: Floats
    validation_loss: Floats
    interrupted: bool


def resolve_directions(
    members: Sequence[ProjectionDraws] | None,
    n_rows: int,
    levels: npt.NDArray[np.int32],
    constraints: FeatureConstraints,
    n_with_terms: int = 0,
    n_idle: int = 0,
) -> list[FamilySpec]:
    """Samplers of an iteration.

    Parameters
    ----------
    members : sequence of ProjectionDraws or None
        From `bevel.projections.families.read_projection`; None for the default.
    n_rows : int
        Number of training rows.
    levels : ndarray of int32
        Levels of each column, 0 for numeric ones.
    constraints : FeatureConstraints
        Constraints on the directions.
    n_with_terms : int, default=0
        Nominal columns whose levels directions may combine.
    n_idle : int, default=0
        Numeric columns that no split uses.
    """
    n_nominal = int(np.count_nonzero(levels))
    shape = TableShape(n_rows, len(levels) - n_nominal - n_idle, n_nominal, n_with_terms)
    if members is None:
        members = [ProjectionDraws(Axis(), "p"), *_combinations(shape)]
    members = [_with_all_axes(member, shape) for member in members]
    families = resolve_families(members, shape, regression=True)
    for member, family in zip(members, families, strict=False):
        if not member.projection.draws_without_rows or family.settings.get("per_node"):
            required = (
                "made of directions that do not depend on the rows of a node: axis, sparse, "
                "combination, rotation, multirotation, Patches or Custom(matrix)"
            )
            got = shorten(member.projection)
            remedy = 'Use for example projection="auto", or an ObliqueForest.'
            raise wrong_value("projection", required, got, remedy)
    check_directions(constraints, members, families, levels)
    return families


def can_train_in_place(
    members: Sequence[ProjectionDraws] | None, n_rows: int, n_features: int, scale: str | None
) -> bool:
    """Whether a fit needs no copy of the table in column order.

    Single features are read once, to code them. Directions are coded in every iteration, from
    columns that are scaled again each time.

    Parameters
    ----------
    members : sequence of ProjectionDraws or None
        Projections as in `resolve_directions`.
    n_rows, n_features : int
        Shape of the table.
    scale : str or None
        One of `bevel.data.scaling.SCALES`.
    """
    projections = [member.projection for member in members or ()]
    if projections and scale is None and all(isinstance(each, Axis) for each in projections):
        return True
    if not _is_large(n_rows, n_features) or n_features > MAX_VIEWED_COLUMNS:
        return False
    is_cheap = scale not in ("rank", "relative_rank")
    return is_cheap and all(each.few_features for each in projections)


def _with_all_axes(member: ProjectionDraws, shape: TableShape) -> ProjectionDraws:
    """Use all features, or all axes of a rotation, where the number is left to the library."""
    projection = member.projection
    if member.n_projections != "auto" or not isinstance(projection, Axis | RandomRotation):
        return member
    most = projection.most_draws(shape.n_numeric) or shape.n_numeric
    return ProjectionDraws(projection, most + shape.n_nominal, member.by_name)


def _combinations(shape: TableShape) -> list[ProjectionDraws]:
    if shape.n_combined < 2:
        return []
    return [ProjectionDraws(SparseSigns(min(3.0, shape.n_combined)), default_combinations(shape))]


def default_combinations(shape: TableShape) -> int:
    """Number of sparse combinations for each iteration: more where they cost little.

    In large tables one byte for each row and combination dominates the memory of a fit, and more
    iterations on fewer combinations are the better use of time.
    """
    # Directions of levels alone say little that sets of levels do not.
    wanted = 5 * shape.n_numeric + shape.n_with_terms
    many = max(1, min(wanted, max(shape.n_combined, 100)))
    if not _is_large(shape.n_rows, shape.n_numeric + shape.n_nominal):
        return many
    few = -(-2 * shape.n_combined // CODED_TOGETHER) * CODED_TOGETHER
    return min(many, few)


def _is_large(n_rows: int, n_features: int) -> bool:
    return n_rows * n_features >= LARGE_TABLE


def code_bytes(families: Sequence[FamilySpec], n_features: int) -> tuple[int, int]:
    """Bytes of a row in one-byte codes: those of its features, and at most those of directions.

    Parameters
    ----------
    families : sequence of FamilySpec
        From `resolve_directions`.
    n_features : int
        Number of columns.
    """
    n_directions = sum(family.n_draws for family in families)
    return _core.code_bytes(n_features), _core.code_bytes(n_directions)


def _rooms(
    dataset: Dataset, families: Sequence[FamilySpec]
) -> tuple[npt.NDArray[np.uint8] | None, npt.NDArray[np.uint8] | None]:
    """Arrays for the codes of features and directions; None: memory."""
    if dataset.scratch is None:
        return None, None
    n_rows, n_features = dataset.shape
    of_features, of_directions = code_bytes(families, n_features)
    return dataset.scratch(n_rows * of_features), dataset.scratch(n_rows * of_directions)


def _report(progress: Progress, scorer: ValidationScorer | None) -> Callable[[int, float], None]:
    """Callback that reports finished iterations with the latest validation loss or score."""

    def report(n_done: int, loss: float) -> None:
        value, name = (loss, "loss") if scorer is None else (-loss, "score")
        progress(n_done, "" if math.isnan(loss) else f"validation {name} {value:.4g}")

    return report


def boost(
    dataset: Dataset,
    target: BoostingTarget,
    families: Sequence[FamilySpec],
    constraints: FeatureConstraints,
    seed: int,
    options: BoostingOptions,
    before: tuple[tuple[float, ...], Floats | None] | None,
    n_threads: int,
    progress: Progress,
    user_loss: UserLoss | None = None,
    scorer: ValidationScorer | None = None,
) -> BoostingFit:
    """Grow the trees of some iterations.

    Parameters
    ----------
    dataset : Dataset
        Training rows, validation rows among them.
    target : BoostingTarget
        Their targets, weights and roles.
    families : sequence of FamilySpec
        From `resolve_directions`.
    constraints : FeatureConstraints
        Constraints on the trees.
    seed : int
        Seed of all random choices; an iteration depends on it and on its own number.
    options : BoostingOptions
        How to grow.
    before : tuple or None
        Baselines of earlier iterations, and the sums (n_rows, n_outputs) that they predict, or
        None if there was no earlier iteration.
    n_threads : int
        Threads to use; does not change the trees.
    progress : Progress
        Progress report of finished iterations.
    user_loss : UserLoss or None, default=None
        The user's own loss; needs a baseline in `before`.
    scorer : ValidationScorer or None, default=None
        Scorer that decides when to stop; None: the loss.
    """
    encoding = dataset.encoding
    trees = _core.Options()
    trees.families = [native_family(family) for family in families]
    trees.monotone = constraints.monotone
    trees.interaction_groups = constraints.groups
    trees.seed = seed
    native = _core.BoostingOptions()
    for name, value in vars(options).items():
        setattr(native, name, value)
    native.user_loss = user_loss
    native.scorer = scorer
    validates, survival = target.validates, target.survival
    baseline, raw = before or (None, None)
    feature_room, direction_room = _rooms(dataset, families)
    data = _core.BoostingData(
        **dataset.native,
        target=target.values,
        weights=target.weights,
        groups=target.groups,
        event=None if survival is None else survival.event.astype(np.uint8),
        entry=None if survival is None else survival.entry,
        roles=None if validates is None else validates.astype(np.uint8),
        baseline=None if baseline is None else np.asarray(baseline, dtype=np.float64),
        raw_before=None if raw is None else np.ascontiguousarray(raw.T).ravel(),
        scaler=dataset.scaler,
        feature_room=feature_room,
        direction_room=direction_room,
    )
    report = _report(progress, scorer) if progress.wanted else None
    result = _core.boost(data, trees, native, n_threads, report)
    if result["interrupted"]:
        progress.stop()
    elif progress.wanted:
        n_done = len(result["training_loss"])
        progress.finish(n_done, "" if n_done == options.max_iter else "stopped early")
    forest = FlatForest(
        n_features=dataset.shape[1],
        n_classes=0,
        levels=encoding.levels,
        medians=encoding.medians,
        **result["forest"],
    )
    return BoostingFit(
        forest,
        tuple(result["baseline"].tolist()),
        result["training_loss"],
        result["validation_loss"],
        bool(result["interrupted"]),
    )
