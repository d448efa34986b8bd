"""Successive halving: candidates grow and are evaluated round by round."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from bevel._types import Floats
from bevel.tuning.candidates import Parameters, write_parameters
from bevel.tuning.evaluation import Evaluation, Problem, RowLosses
from bevel.tuning.rounds import Round
from bevel.tuning.store import Store

__all__ = ["CandidatePool", "OutOfTimeError", "Outcome", "choose", "run_rounds"]


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
