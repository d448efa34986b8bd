"""Bias and variance of a learner: what changes when it learns again from other rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier

from bevel._types import Floats, Target
from bevel.analysis.analysed_forest import check_count
from bevel.analysis.printing import PrintedResult, PrintedTable, data_frame
from bevel.data.leaks import without_leak_alarm
from bevel.data.tables import fill_masked, take_rows
from bevel.data.target import read_labels, read_numbers
from bevel.errors import wrong_value
from bevel.training.progress import Progress

__all__ = [
    "BiasAndVariance",
    "ClassEffects",
    "bias_and_variance",
    "check_shares",
    "class_effects",
    "hellinger_distance",
]

# Distance of estimated class probabilities from the true ones.


def hellinger_distance(estimate: npt.ArrayLike, truth: npt.ArrayLike) -> Floats:
    """Hellinger distance between two distributions over the classes, row by row.

    ``sqrt(sum_k (sqrt(p_k) - sqrt(q_k))² / 2)``: from 0 for equal ones to 1 for disjoint ones.

    Parameters
    ----------
    estimate : array-like of shape (n_rows, n_classes)
        Estimated probabilities, such as those of ``predict_proba``.
    truth : array-like of shape (n_rows, n_classes)
        True posterior probabilities of the same rows, classes in the same order.

    Returns
    -------
    ndarray of shape (n_rows,)
        Distances; the papers report their mean.

    References
    ----------
    Tomita's thesis, section 2.3.1 and Figure 2.2.

    Examples
    --------
    >>> hellinger_distance([[0.5, 0.5], [0.0, 1.0]], [[0.5, 0.5], [1.0, 0.0]])
    array([0., 1.])
    """
    one, other = check_shares("estimate", estimate), check_shares("truth", truth)
    if one.shape != other.shape:
        remedy = "Pass the same rows and classes in both."
        raise wrong_value("truth", f"of shape {one.shape}, as estimate", other.shape, remedy)
    # Probabilities may sum to slightly more than one; distances stay within their range.
    squared = ((np.sqrt(one) - np.sqrt(other)) ** 2).sum(axis=1) / 2.0
    return np.asarray(np.sqrt(np.clip(squared, 0.0, 1.0)))


def check_shares(name: str, shares: npt.ArrayLike) -> Floats:
    """Class probabilities, row by row; raises if they are invalid."""
    array = np.asarray(shares, dtype=np.float64)
    if array.ndim != 2:
        remedy = "Pass one column for each class."
        raise wrong_value(name, "of shape (n_rows, n_classes)", array.shape, remedy)
    wrong = np.flatnonzero(~((array >= 0.0).all(axis=1) & (np.abs(array.sum(axis=1) - 1) < 1e-6)))
    if len(wrong):
        required = "rows of probabilities, not negative and summing to one"
        remedy = f"See row index {wrong[0]}."
        raise wrong_value(name, required, array[wrong[0]].tolist(), remedy)
    return array


# Bias, variance and their effects: results, and James's measures of predicted classes.


@dataclass(frozen=True, repr=False)
class ClassEffects(PrintedResult):
    """James's bias and variance of predicted classes (0-1 loss).

    Attributes
    ----------
    bias : float
        Share of rows whose usual prediction is not the Bayes rule's: P(h̄(X) ≠ h*(X)).
    variance : float
        Share of predictions that are not the usual one: 1 − E[P̄(X)].
    systematic_effect, variance_effect : float
        Contributions of bias and variance to the error; negative if they lower it.
    bayes_error : float
        Error of the Bayes rule; 0 where labels are taken as certain.
    """

    bias: float
    variance: float
    systematic_effect: float
    variance_effect: float
    bayes_error: float

    @property
    def error(self) -> float:
        """Mean error: Bayes error + systematic effect + variance effect."""
        return self.bayes_error + self.systematic_effect + self.variance_effect

    def to_pandas(self) -> Any:
        """The measures as one line, to be joined with those of other learners."""
        return data_frame(
            {name: [value] for name, value in {"error": self.error, **vars(self)}.items()}
        )

    def _printed(self) -> PrintedTable:
        return PrintedTable("Bias and variance of predicted classes", (), self.lines)

    @property
    def lines(self) -> list[tuple[str, float]]:
        """Names and values to be shown."""
        return [
            ("error", self.error),
            ("  Bayes error", self.bayes_error),
            ("  systematic effect", self.systematic_effect),
            ("  variance effect", self.variance_effect),
            ("bias", self.bias),
            ("variance", self.variance),
        ]


@dataclass(frozen=True, repr=False)
class BiasAndVariance(PrintedResult):
    """Bias and variance of a learner over training sets.

    Attributes
    ----------
    squared_bias, variance, noise : float
        Parts of the squared error of values, or of class probabilities, summed over the classes.
        Noise is that of the labels; where it is not known it is 0 and part of `squared_bias`.
    classes : ClassEffects or None
        Bias and variance of predicted classes; None in regression.
    n_repeats : int
        Number of training sets.
    n_rows : int
        Number of rows that were evaluated.
    """

    squared_bias: float
    variance: float
    noise: float
    classes: ClassEffects | None
    n_repeats: int
    n_rows: int

    @property
    def squared_error(self) -> float:
        """Mean squared error (of probabilities: Brier score): bias² + variance + noise."""
        return self.squared_bias + self.variance + self.noise

    def to_pandas(self) -> Any:
        """The measures, also of predicted classes, as one line to be joined with others."""
        measures = {
            "squared_error": self.squared_error,
            "squared_bias": self.squared_bias,
            "variance": self.variance,
            "noise": self.noise,
        }
        if self.classes is not None:
            of_classes = {"error": self.classes.error, **vars(self.classes)}
            measures |= {f"class_{name}": value for name, value in of_classes.items()}
        return data_frame({name: [value] for name, value in measures.items()})

    def _printed(self) -> PrintedTable:
        of = self.classes
        lines = [] if of is None else of.lines
        lines += [
            ("squared error" if of is None else "squared error of votes", self.squared_error),
            ("  squared bias", self.squared_bias),
            ("  variance", self.variance),
            ("  noise", self.noise),
        ]
        sets = f"{self.n_repeats} training sets, {self.n_rows} rows evaluated"
        return PrintedTable(f"Bias and variance over {sets}", (), lines)


def class_effects(votes: Floats, posterior: Floats) -> ClassEffects:
    """James's measures from shares of predictions and true probabilities, rows by classes."""
    row = np.arange(len(votes))
    usual, best = votes.argmax(axis=1), posterior.argmax(axis=1)
    of_usual, of_best = posterior[row, usual], posterior[row, best]
    return ClassEffects(
        bias=float(np.mean(of_usual < of_best)),  # either of two equally probable classes is right
        variance=float(1.0 - votes[row, usual].mean()),
        systematic_effect=float(np.mean(of_best - of_usual)),
        variance_effect=float(np.mean(of_usual - (posterior * votes).sum(axis=1))),
        bayes_error=float(np.mean(1.0 - of_best)),
    )


RandomState = int | np.random.Generator | None
DrawTable = Callable[..., tuple[Any, Any]]
HALF = 0.5  # share of the rows, unless n_train is set


def bias_and_variance(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    X_test: Any = None,
    y_test: Any = None,
    truth: npt.ArrayLike | None = None,
    n_train: int | float = HALF,
    n_repeats: int = 100,
    random_state: RandomState = None,
    verbose: bool = False,
) -> BiasAndVariance:
    """Bias and variance of a learner, by fitting clones of it to many training sets.

    Parameters
    ----------
    estimator : classifier or regressor
        Learner whose clones are fitted; it is not changed. Its `random_state`, if it has one, is
        drawn anew for each clone.
    X : callable, or array of shape (n_rows, n_features)
        Source of training sets. A callable draws one, as the simulations of `bevel.datasets` do:
        ``X(random_state=generator)`` returns rows and targets. From an array, `n_train` rows are
        drawn for each set, without replacement; sets then have rows in common, and the variance is
        smaller than that between independent sets.
    y : array-like of shape (n_rows,), default=None
        Targets, if X is an array.
    X_test, y_test : array-like, default=None
        Rows to predict. None: for each training set, the rows of X that are not in it.
    truth : array-like, default=None
        Truth of the evaluated rows: class probabilities, of shape (n_test, n_classes) with classes
        sorted; or expected targets, of shape (n_test,). None takes `y_test` as certain.
    n_train : int or float, default=0.5
        Rows of a training set, or the share of them, if X is an array.
    n_repeats : int, default=100
        Number of training sets.
    random_state : int, Generator or None, default=None
        Seed; None draws a new one each time.
    verbose : bool, default=False
        Whether to show a progress bar.

    Returns
    -------
    BiasAndVariance

    Notes
    -----
    SPORF and the thesis print James's bias as P(h̄(X) = h*(X)) where ≠ is meant. The parts sum
    exactly to the mean error of the repeats; for that the squared bias is not corrected for its
    excess of about the variance divided by `n_repeats`.

    References
    ----------
    James (2003), *Machine Learning* 51:115-135; SPORF, Appendix F; Menze et al. (2011), section 4.

    Examples
    --------
    >>> from functools import partial
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.datasets import sparse_parity
    >>> X_test, y_test = sparse_parity(1000, 10, random_state=0)
    >>> result = bias_and_variance(
    ...     ObliqueForestClassifier(20),
    ...     partial(sparse_parity, 200, 10),
    ...     X_test=X_test,
    ...     y_test=y_test,
    ...     n_repeats=5,
    ...     random_state=0,
    ... )
    >>> effects = result.classes
    >>> effects.bias == effects.systematic_effect  # where the Bayes error is zero
    True
    """
    check_count("n_repeats", n_repeats)
    rng = np.random.default_rng(random_state)
    classify = bool(is_classifier(estimator))
    X = X if callable(X) or hasattr(X, "shape") else np.asarray(X)
    draw = _draws_from(X) if callable(X) else _draws_of_rows(X, y, n_train)
    if X_test is None and (callable(X) or truth is not None):
        raise ValueError(
            "bias_and_variance needs X_test and y_test where X draws training sets, or where truth "
            "is given; got none. Draw rows to evaluate once, and pass them."
        )
    if callable(X) and (y is not None or n_train != HALF):
        raise ValueError(
            "y and n_train are for an array X, of which training sets are drawn; got one of them "
            "beside a function that draws sets of its own. Leave them out."
        )
    if (X_test is None) != (y_test is None):
        raise ValueError(
            "X_test and y_test must be given together; got only one of them. Pass both, or neither "
            "to evaluate the rows that are not drawn."
        )
    evaluation = _Evaluation(
        X if X_test is None else X_test, y if y_test is None else y_test, classify
    )
    progress = Progress(0, n_repeats, verbose, None, label="training sets")
    with progress:
        for repeat in range(n_repeats):
            rows, target, left_out = draw(rng)
            with without_leak_alarm():  # rows of a bootstrap are copies
                fitted = _with_seed(clone(estimator), rng).fit(rows, target)
            evaluation.add(fitted, left_out if X_test is None else None)
            progress(repeat + 1)
    return evaluation.result(truth, n_repeats)


Drawn = tuple[Any, Any, npt.NDArray[np.int64] | None]


def _draws_from(sampler: DrawTable) -> Callable[[np.random.Generator], Drawn]:
    def draw(rng: np.random.Generator) -> Drawn:
        rows, target = sampler(random_state=rng)
        return rows, target, None

    return draw


def _draws_of_rows(X: Any, y: Any, n_train: int | float) -> Callable[[np.random.Generator], Drawn]:
    target = np.asarray(fill_masked(y))
    n_rows = len(target) if target.ndim else 0
    if n_rows != X.shape[0]:
        required = "one target for each row of X, unless X is a function"
        raise wrong_value("y", required, target.shape, f"X has {X.shape[0]} rows.")
    size = round(n_train * n_rows) if isinstance(n_train, float) else n_train
    if not 1 <= size < n_rows:
        required = f"from 1 to {n_rows - 1} rows, or a share of them"
        raise wrong_value("n_train", required, n_train, "Rows must be left to evaluate.")

    def draw(rng: np.random.Generator) -> Drawn:
        order = rng.permutation(n_rows)
        chosen = np.sort(order[:size])
        return take_rows(X, chosen), target[chosen], np.sort(order[size:])

    return draw


def _with_seed(estimator: Any, rng: np.random.Generator) -> Any:
    seed = int(rng.integers(2**31))
    if "random_state" in estimator.get_params(deep=False):
        estimator.set_params(random_state=seed)
    return estimator


class _Evaluation:
    """Running means of predictions of fitted learners for the evaluated rows."""

    def __init__(self, X: Any, y: Any, classify: bool) -> None:
        n_rows = len(y)
        self._rows = X
        self._classes: npt.NDArray[Any] | None = None
        self._target: Target
        if classify:
            self._classes, self._target = read_labels(y, n_rows)
        else:
            self._target = read_numbers(y, n_rows)
        self._n_judged = 1 if self._classes is None else len(self._classes)  # classes of y
        shape = (n_rows, self._n_judged)
        self._counts = np.zeros((n_rows, 1))
        self._mean, self._scatter, self._votes = np.zeros(shape), np.zeros(shape), np.zeros(shape)

    def add(self, fitted: Any, rows: npt.NDArray[np.int64] | None) -> None:
        """Add the predictions of one more learner for some of the rows, or all."""
        here = np.arange(len(self._target)) if rows is None else rows
        X = self._rows if rows is None else take_rows(self._rows, rows)
        predicted, votes = self._predictions(fitted, X)
        self._counts[here] += 1
        before = predicted - self._mean[here]  # Welford: squares of large values would cancel
        self._mean[here] += before / self._counts[here]
        self._scatter[here] += before * (predicted - self._mean[here])
        self._votes[here] += votes

    def _predictions(self, fitted: Any, X: Any) -> tuple[Floats, Floats]:
        """Probabilities and one-hot predicted classes; or values, twice."""
        if self._classes is None:
            values = np.asarray(fitted.predict(X), dtype=np.float64)[:, None]
            return values, values
        predicted = np.asarray(fitted.predict(X))
        self._classes = self._extended(self._classes, getattr(fitted, "classes_", predicted))
        votes = predicted[:, None] == self._classes
        if not hasattr(fitted, "predict_proba"):
            return votes.astype(np.float64), votes.astype(np.float64)
        predicted = np.zeros(votes.shape)
        predicted[:, [_place(self._classes, label) for label in fitted.classes_]] = (
            fitted.predict_proba(X)
        )
        return predicted, votes.astype(np.float64)

    def _extended(self, known: npt.NDArray[Any], labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Classes of the evaluated rows, then those of training rows only, with columns for them.

        A class that no evaluated row has is never right, but may be predicted.
        """
        unseen = np.setdiff1d(labels, known)
        room = ((0, 0), (0, len(unseen)))
        self._mean, self._scatter, self._votes = (
            np.pad(each, room) for each in (self._mean, self._scatter, self._votes)
        )
        return np.concatenate((known, unseen)) if len(unseen) else known

    def result(self, truth: npt.ArrayLike | None, n_repeats: int) -> BiasAndVariance:
        known = self._counts[:, 0] > 0
        expected = self._expected(truth)[known]
        counts = self._counts[known]
        shares = self._votes[known] / counts
        of_rows = expected * (1.0 - expected) if self._classes is not None else 0.0 * expected
        squared_bias = ((self._mean[known] - expected) ** 2).sum(axis=1).mean()
        variance = (self._scatter[known] / counts).sum(axis=1).mean()
        return BiasAndVariance(
            float(squared_bias),
            float(variance),
            float(of_rows.sum(axis=1).mean()),
            None if self._classes is None else class_effects(shares, expected),
            n_repeats,
            int(known.sum()),
        )

    def _expected(self, truth: npt.ArrayLike | None) -> Floats:
        """True probabilities, or expected values as one column."""
        if self._classes is None:
            values = self._target if truth is None else np.asarray(truth, dtype=np.float64)
            expected = np.asarray(values)[:, None] if np.ndim(values) == 1 else np.asarray(values)
        elif truth is None:
            expected = np.eye(self._n_judged)[self._target]
        else:
            expected = check_shares("truth", truth)
        shape = (len(self._target), self._n_judged)
        if expected.shape != shape:
            required = f"of shape {shape}, a row for each evaluated row"
            remedy = "Classes are those of y_test, sorted."
            raise wrong_value("truth", required, expected.shape, remedy)
        strange = self._mean.shape[1] - self._n_judged
        return np.pad(np.asarray(expected, dtype=np.float64), ((0, 0), (0, strange)))


def _place(classes: npt.NDArray[Any], label: object) -> int:
    return int(np.flatnonzero(classes == label)[0])
