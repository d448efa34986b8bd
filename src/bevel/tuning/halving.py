"""Successive halving: candidates grow and are evaluated round by round.

The first round tries all candidates with few trees. The better half goes on with twice as many,
until three or fewer are left. Trees are added to those that exist.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from bevel._types import Floats
from bevel.data.row_weights import mean_and_noise, read_weights, weights_of_classes
from bevel.data.target import read_labels, read_numbers
from bevel.errors import join_names
from bevel.estimators import ObliqueForestClassifier
from bevel.estimators._base import encode_rows
from bevel.projections.families import TableShape
from bevel.training.automatic import measure, row_losses
from bevel.tuning.candidates import Parameters, write_parameters

__all__ = [
    "CandidatePool",
    "Evaluation",
    "OutOfTimeError",
    "Outcome",
    "Problem",
    "Round",
    "RowLosses",
    "Store",
    "choose",
    "most_candidates",
    "n_trees_of",
    "plan_rounds",
    "read_problem",
    "run_rounds",
]

FINALISTS = 3  # rounds with this many candidates are not halved again


@dataclass(frozen=True)
class Round:
    """A round of the search.

    Attributes
    ----------
    n_candidates : int
        Number of candidates.
    n_trees : int
        Number of trees of each at its end.
    """

    n_candidates: int
    n_trees: int


def plan_rounds(n_candidates: int, first_trees: int) -> list[Round]:
    """Rounds for a number of candidates, the first of `first_trees` trees each."""
    rounds = [Round(n_candidates, first_trees)]
    while rounds[-1].n_candidates > FINALISTS:
        last = rounds[-1]
        rounds.append(Round((last.n_candidates + 1) // 2, 2 * last.n_trees))
    return rounds


def n_trees_of(rounds: list[Round]) -> int:
    """Number of trees that are grown in all rounds together."""
    before, total = 0, 0
    for each in rounds:
        total += each.n_candidates * (each.n_trees - before)
        before = each.n_trees
    return total


def most_candidates(budget: int, first_trees: int, available: int) -> int:
    """The largest number of candidates whose rounds cost at most `budget` trees; 0 if none."""
    affordable = (
        n
        for n in range(min(available, budget // first_trees), 0, -1)
        if n_trees_of(plan_rounds(n, first_trees)) <= budget
    )
    return next(affordable, 0)


# Evaluates candidates by the loss of their out-of-bag predictions.
#
# The loss is that of `projection="auto"` when it compares families: the Brier score, or the squared
# error. Rows count by their weights.


@dataclass(frozen=True)
class Evaluation:
    """Losses of a candidate in a round.

    Attributes
    ----------
    n_trees : int
        Number of trees of the candidate.
    loss, standard_error : float
        Mean out-of-bag loss, and its standard error.
    error : float
        Share of wrong rows, or mean loss of the criterion.
    difference, difference_error : float
        Loss minus that of the first candidate with as many trees, on the same rows, and the
        standard error of this difference.
    seconds : float
        Time to grow and evaluate it in this round.
    """

    n_trees: int
    loss: float
    standard_error: float
    error: float
    difference: float
    difference_error: float
    seconds: float


@dataclass(frozen=True, eq=False)
class RowLosses:
    """Loss of each row; NaN for rows that are never out of bag or have no weight."""

    values: Floats

    def less(self, other: RowLosses, weights: Floats | None) -> tuple[float, float]:
        """Mean difference from other losses on the rows that both have, and its standard error."""
        each = self.values - other.values
        known = ~np.isnan(each)
        share = np.ones(len(each)) if weights is None else weights
        share = share[known] / share[known].sum()
        mean, noise = mean_and_noise(each[known], share)
        return float(mean), float(noise)


@dataclass(frozen=True, eq=False)
class Problem:
    """Targets and weights for the evaluation of candidates.

    Attributes
    ----------
    truth : ndarray of shape (n_rows,)
        Classes as numbers, or targets.
    n_classes : int
        Number of classes, 0 in regression.
    weights : ndarray or None
        Weights of the rows, including class weights.
    shape : TableShape
        Size of the table.
    fingerprint : str
        Digest of the table, the target and the weights.
    criterion : str
        Criterion of the estimator; in regression it is the loss that candidates are compared by.
    """

    truth: npt.NDArray[Any]
    n_classes: int
    weights: Floats | None
    shape: TableShape
    fingerprint: str
    criterion: str = "squared_error"

    def losses(self, forest: Any) -> tuple[RowLosses, float, float, float]:
        """Loss of each row, their mean, its standard error, and the error of a fitted forest."""
        if self.n_classes:
            predictions = forest.oob_decision_function_
        else:
            predictions = forest.oob_prediction_[:, None]
        known = ~np.isnan(predictions).any(axis=1)
        if self.weights is not None:
            known &= self.weights > 0.0
        if not known.any():
            raise ValueError(
                "Tuning needs rows out of the bags; got none: every row was in all of them. Raise "
                "`first_trees`, or draw smaller bags with max_samples."
            )
        criterion = self.criterion
        rows = (self.truth, self.n_classes, self.weights)
        found = measure([predictions], known, *rows, criterion=criterion)
        values = np.full(len(known), np.nan)
        each = row_losses(predictions[known], self.truth[known], self.n_classes, criterion)
        values[known] = each
        return RowLosses(values), float(found.losses[0]), found.noise, float(found.errors[0])


def read_problem(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Problem:
    """Read and check the training rows as the estimator will.

    Parameters
    ----------
    estimator : ObliqueForestClassifier or ObliqueForestRegressor
        Estimator that defines nominal columns and class weights.
    X, y, sample_weight
        Training rows as in its `fit`.
    """
    # A stump reads the table, and raises the errors of a fit.
    stump = type(estimator)(
        1,
        projection="axis",
        criterion=estimator.criterion,
        max_depth=1,
        categorical_features=estimator.categorical_features,
        n_jobs=estimator.n_jobs,
        random_state=0,
    ).fit(X, y, sample_weight)
    encoding = stump.fitted_forest_.encoding
    rows = encode_rows(stump, X)
    n_rows, n_nominal = len(rows), int(np.count_nonzero(encoding.levels))
    truth: npt.NDArray[Any]
    if isinstance(estimator, ObliqueForestClassifier):
        classes, truth = read_labels(y, n_rows)
        of_classes = weights_of_classes(estimator.class_weight, draws_bags=True)
        weights = read_weights(sample_weight, of_classes, classes[truth], n_rows)
        labels = list(classes)
    else:
        truth, labels = read_numbers(y, n_rows), []
        weights = read_weights(sample_weight, None, None, n_rows)
    levels = [list(each.labels) for each in encoding.nominal.values()]
    described = [rows.shape, encoding.levels.tolist(), levels, labels]
    print_ = _digest(repr(described).encode(), rows, truth, weights)
    shape = TableShape(n_rows, rows.shape[1] - n_nominal, n_nominal)
    return Problem(truth, len(labels), weights, shape, print_, estimator.criterion)


def _digest(text: bytes, *arrays: npt.NDArray[Any] | None) -> str:
    digest = hashlib.sha256(text)
    for array in arrays:
        digest.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


# Results of a search, in a file of JSON lines from which a later run continues.
#
# The first line describes the search; every other line is a candidate with a number of trees, and
# is on the disk before the next one begins. A line that was truncated by a crash is dropped.

FORMAT = "bevel tuning 1"


class Store:
    """Results of earlier runs, and those of this one.

    Parameters
    ----------
    path : path or None
        Path of the file; None stores nothing.
    meaning : mapping of str to str
        Description of everything that the results depend on, except the candidate and its trees. A
        file with another description is refused.
    """

    def __init__(self, path: str | os.PathLike[str] | None, meaning: Mapping[str, str]) -> None:
        self._path = None if path is None else Path(path)
        self._evaluations: dict[tuple[str, int], Evaluation] = {}
        self._sizes: dict[float, int] = {}
        if self._path is None:
            return
        if self._path.exists() and self._path.stat().st_size > 0:
            self._read(self._path, meaning)
        else:
            self._append({"format": FORMAT, **meaning})

    def find(self, candidate: str, n_trees: int) -> Evaluation | None:
        """Evaluation of a candidate with `n_trees` trees, if it is known."""
        return self._evaluations.get((candidate, n_trees))

    def add(self, candidate: str, evaluation: Evaluation) -> None:
        """Store the evaluation of a candidate."""
        self._evaluations[candidate, evaluation.n_trees] = evaluation
        self._append({"candidate": candidate, **asdict(evaluation)})

    def find_size(self, seconds: float) -> int | None:
        """Number of candidates of an earlier run with this time limit."""
        return self._sizes.get(seconds)

    def add_size(self, seconds: float, n_candidates: int) -> None:
        """Store the number of candidates of a run with a time limit, which depends on the speed."""
        self._sizes[seconds] = n_candidates
        self._append({"seconds": seconds, "n_candidates": n_candidates})

    def _append(self, line: Mapping[str, Any]) -> None:
        if self._path is None:
            return
        text = json.dumps(line, ensure_ascii=True, allow_nan=False) + "\n"
        with self._path.open("ab") as stream:
            stream.write(text.encode("ascii"))
            stream.flush()
            os.fsync(stream.fileno())

    def _read(self, path: Path, meaning: Mapping[str, str]) -> None:
        content = path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        first, *others = whole.split(b"\n")[:-1] or [b""]
        _check_meaning(path, first, meaning)
        for number, line in enumerate(others, start=2):
            try:
                self._take(json.loads(line))
            except (ValueError, TypeError, KeyError):
                raise _damaged(path, number) from None
        if len(whole) < len(content):
            with path.open("r+b") as stream:
                stream.truncate(len(whole))

    def _take(self, line: Any) -> None:
        if "n_candidates" in line:
            self._sizes[float(line["seconds"])] = _whole(line["n_candidates"])
            return
        values = {field.name: _finite(line[field.name]) for field in fields(Evaluation)}
        evaluation = Evaluation(**{**values, "n_trees": _whole(line["n_trees"])})  # type: ignore[arg-type]
        self._evaluations[str(line["candidate"]), evaluation.n_trees] = evaluation


def _whole(value: object) -> int:
    if type(value) is not int or value < 1:
        raise ValueError(value)
    return value


def _finite(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError(value)
    return float(value)


def _check_meaning(path: Path, first: bytes, meaning: Mapping[str, str]) -> None:
    try:
        before = json.loads(first)
        is_store = before["format"] == FORMAT
    except (ValueError, TypeError, KeyError):
        is_store = False
    if not is_store:
        raise ValueError(
            f"store must be a file that tuning has written, or a new one; got {path}, which is "
            "something else. Give another name; the file is left as it is."
        )
    differing = [name for name in meaning if before.get(name) != meaning[name]]
    if differing:
        raise ValueError(
            f"store must belong to the same search; {path} was written with other "
            f"{join_names(differing)}. Give another name, or what it was begun with; the file is "
            "left as it is."
        )


def _damaged(path: Path, number: int) -> ValueError:
    return ValueError(
        f"store must hold one result on each line; line {number} of {path} holds none. Remove the "
        "line, which is then computed again, or give another name."
    )


class OutOfTimeError(Exception):
    """The time limit of a search is exceeded."""


@dataclass(frozen=True)
class Outcome:
    """Results of the rounds.

    Attributes
    ----------
    evaluations : list of list of Evaluation
        Evaluations of each candidate, one for each round it took part in.
    n_rounds : int
        Number of finished rounds.
    """

    evaluations: list[list[Evaluation]]
    n_rounds: int


class CandidatePool:
    """The candidates and their forests.

    A candidate always has the same trees: they depend on the seed and on the steps in which they
    are added alone.

    Parameters
    ----------
    estimator : ObliqueForestClassifier or ObliqueForestRegressor
        Estimator with a seed.
    data : tuple
        X, y and sample_weight as in `fit`.
    problem : Problem
        Targets and weights for the evaluation.
    candidates : sequence of dict
        Parameters of each; the others are compared with the first.
    first_trees : int
        Trees of the first round; each further round doubles them.
    store : Store
        Earlier results.
    on_tree : callable
        Called with (done, n_trees): the trees of the current forest so far, and in the end.
    """

    def __init__(
        self,
        estimator: Any,
        data: tuple[Any, Any, Any],
        problem: Problem,
        candidates: Sequence[Parameters],
        first_trees: int,
        store: Store,
        on_tree: Callable[[int, int], object],
    ) -> None:
        self._estimator, self._data, self._problem = estimator, data, problem
        self._candidates, self._first_trees = candidates, first_trees
        self._store, self._on_tree = store, on_tree
        self._forests: dict[int, Any] = {}
        self._reference: tuple[int, RowLosses] | None = None

    def evaluate(self, candidate: int, n_trees: int) -> Evaluation:
        """Evaluate a candidate with `n_trees` trees, from the store or by growing it further."""
        name = write_parameters(self._candidates[candidate])
        known = self._store.find(name, n_trees)
        if known is None:
            # Differences need the losses of the first candidate row by row.
            if candidate > 0 and (self._reference is None or self._reference[0] != n_trees):
                self._measure(0, n_trees)
            known = self._measure(candidate, n_trees)
            self._store.add(name, known)
        return known

    def release(self, candidate: int) -> None:
        """Free the forest of a candidate that is dropped."""
        self._forests.pop(candidate, None)

    def _measure(self, candidate: int, n_trees: int) -> Evaluation:
        start = time.perf_counter()
        forest = self._grow(candidate, n_trees)
        losses, loss, standard_error, error = self._problem.losses(forest)
        if candidate == 0:
            self._reference = (n_trees, losses)
        difference = self._compare(losses, self._problem.weights)
        seconds = time.perf_counter() - start
        return Evaluation(n_trees, loss, standard_error, error, *difference, seconds)

    def _compare(self, losses: RowLosses, weights: Floats | None) -> tuple[float, float]:
        assert self._reference is not None  # evaluated before the others
        return losses.less(self._reference[1], weights)

    def _grow(self, candidate: int, n_trees: int) -> Any:
        forest = self._forests.get(candidate)
        if forest is None:
            forest = clone(self._estimator).set_params(
                **self._candidates[candidate],
                n_estimators=0,
                warm_start=True,
                verbose=0,
                callback=self._on_tree,
            )
        while forest.n_estimators < n_trees:
            size = max(2 * forest.n_estimators, self._first_trees)
            forest.set_params(n_estimators=size, oob_score=size == n_trees)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # warnings on the table were given when it was read
                forest.fit(*self._data)
        self._forests[candidate] = forest
        return forest


def run_rounds(
    pool: CandidatePool, candidates: Sequence[Parameters], rounds: Sequence[Round]
) -> Outcome:
    """Run successive halving.

    The first candidate stays to the end, so that the others can be compared with it at any number
    of trees. The search ends early where `OutOfTimeError` is raised in a growth.
    """
    evaluations: list[list[Evaluation]] = [[] for _ in range(rounds[0].n_candidates)]
    running = list(range(rounds[0].n_candidates))
    for number, this in enumerate(rounds):
        last = number + 1 == len(rounds)
        n_kept = 1 if last else rounds[number + 1].n_candidates
        for candidate in running:
            try:
                evaluations[candidate].append(pool.evaluate(candidate, this.n_trees))
            except OutOfTimeError:
                return Outcome(evaluations, number)
            present = [each for each in running if len(evaluations[each]) > number]
            for behind in set(present) - set(
                _best(present, evaluations, candidates, number, n_kept)
            ):
                pool.release(behind)
        running = _best(running, evaluations, candidates, number, n_kept)
    return Outcome(evaluations, len(rounds))


def choose(outcome: Outcome, candidates: Sequence[Parameters]) -> int:
    """The candidate of least loss in the last finished round; the first if there is none."""
    number = outcome.n_rounds - 1
    if number < 0:
        return 0
    present = [each for each, found in enumerate(outcome.evaluations) if len(found) > number]
    return min(present, key=lambda each: _rank(each, outcome.evaluations, candidates, number))


def _best(
    present: Sequence[int],
    evaluations: Sequence[Sequence[Evaluation]],
    candidates: Sequence[Parameters],
    number: int,
    n_kept: int,
) -> list[int]:
    """The first candidate and the best of the others, `n_kept` together, in their order."""
    others = sorted(
        (each for each in present if each != 0),
        key=lambda each: _rank(each, evaluations, candidates, number),
    )
    return sorted([0, *others[: n_kept - 1]])


def _rank(
    candidate: int,
    evaluations: Sequence[Sequence[Evaluation]],
    candidates: Sequence[Parameters],
    number: int,
) -> tuple[float, int, int]:
    """Sort key: least loss, then the fewest changed parameters, then the earlier candidate."""
    return evaluations[candidate][number].loss, len(candidates[candidate]), candidate
