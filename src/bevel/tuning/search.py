"""`bevel.tune`: a search for better parameters than the defaults, its result, and how it prints."""

from __future__ import annotations

import hashlib
import html
import json
import numbers
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from bevel.analysis.printing import write_table
from bevel.data.leaks import without_leak_alarm
from bevel.errors import NoOutOfBagError, wrong_type, wrong_value
from bevel.estimators import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.extras import import_optional
from bevel.files.values import UnstorableError, encode_value
from bevel.printable import rounded
from bevel.training.progress import Callback, Progress
from bevel.tuning.candidates import MANAGED, Parameters, list_candidates, write_parameters
from bevel.tuning.halving import (
    CandidatePool,
    Evaluation,
    Outcome,
    OutOfTimeError,
    Problem,
    Round,
    Store,
    choose,
    most_candidates,
    n_trees_of,
    plan_rounds,
    read_problem,
    run_rounds,
)

__all__ = [
    "Candidate",
    "TuningResult",
    "make_result",
    "tune",
]

HEAD = ("parameters", "trees", "loss", "std. error", "difference", "std. error", "seconds")


@dataclass(frozen=True)
class Candidate:
    """A set of parameters and its evaluations.

    Attributes
    ----------
    parameters : dict
        Parameters that differ from those of the estimator that was passed.
    rounds : tuple of Evaluation
        Evaluations of the rounds it took part in.
    """

    parameters: Mapping[str, Any]
    rounds: tuple[Evaluation, ...]

    @property
    def last(self) -> Evaluation:
        """Evaluation of the last round it took part in."""
        return self.rounds[-1]

    @property
    def seconds(self) -> float:
        """Time of all its rounds."""
        return sum(each.seconds for each in self.rounds)

    def __str__(self) -> str:
        return write_parameters(self.parameters)


@dataclass(frozen=True, eq=False)
class TuningResult:
    """Result of a search.

    Attributes
    ----------
    best_params_ : dict
        Parameters of the best candidate, for `set_params`; empty if the estimator was best as
        passed.
    best_estimator_ : estimator
        The estimator with these parameters; fitted unless ``refit=False``.
    best_ : Candidate
        The best candidate.
    candidates_ : list of Candidate
        All candidates that were tried, the best first.
    first_ : Candidate
        The estimator as it was passed.
    loss_ : {"Brier score", "mean squared error"}
        Out-of-bag loss that was compared.
    n_rounds_ : int
        Number of finished rounds.
    notes_ : list of str
        Notes on the result.
    seconds_ : float
        Time of the search.
    """

    best_params_: dict[str, Any]
    best_estimator_: Any
    best_: Candidate
    candidates_: list[Candidate]
    first_: Candidate
    loss_: str
    n_rounds_: int
    notes_: list[str]
    seconds_: float

    @property
    def n_trees_(self) -> int:
        """Number of trees that were grown."""
        return sum(each.last.n_trees for each in self.candidates_)

    def to_pandas(self) -> Any:
        """A frame with a row for each candidate and round; `survived` marks those that went on."""
        pandas = import_optional("pandas", needed_by="to_pandas", install="pandas")
        rows = []
        for rank, candidate in enumerate(self.candidates_, start=1):
            for number, evaluation in enumerate(candidate.rounds, start=1):
                survived = number < len(candidate.rounds) or candidate is self.best_
                head = {"rank": rank, "parameters": str(candidate), "round": number}
                rows.append({**head, **vars(evaluation), "survived": survived})
        return pandas.DataFrame(rows)

    def table(self) -> list[tuple[str, ...]]:
        """Cells of a line for each candidate, the best first, in the order of the heading."""
        return [_cells(each, compared=each is not self.first_) for each in self.candidates_]

    def __str__(self) -> str:
        title = f"out-of-bag {self.loss_} of {len(self.candidates_)} candidates, the best first"
        return "\n".join([title, write_table(HEAD, self.table()), *self.notes_])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in HEAD)
        lines = []
        for cells in self.table():
            first, *numbers = map(html.escape, cells)
            texts = "".join(f"<td>{number}</td>" for number in numbers)
            lines.append(f'<tr><td style="text-align:left">{first}</td>{texts}</tr>')
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes_)
        title = f"<p>Out-of-bag {self.loss_}</p>"
        body = "".join(lines)
        return f"{title}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"


def _cells(candidate: Candidate, *, compared: bool) -> tuple[str, ...]:
    last = candidate.last
    difference = (_signed(last.difference), rounded(last.difference_error, 2))
    return (
        str(candidate),
        str(last.n_trees),
        rounded(last.loss, 4),
        rounded(last.standard_error, 2),
        *(difference if compared else ("", "")),
        f"{candidate.seconds:.2f}",
    )


def _signed(value: float) -> str:
    return f"{'+' if value >= 0 else ''}{rounded(value, 4)}"


def make_result(
    estimator: Any,
    listed: Sequence[Parameters],
    outcome: Outcome,
    best: int,
    rounds: Sequence[Round],
    *,
    n_classes: int,
    seconds: float,
) -> TuningResult:
    """Make the result of a search.

    Parameters
    ----------
    estimator : estimator
        Estimator with the best parameters.
    listed : sequence of dict
        All candidates, tried or not.
    outcome : Outcome
        Results of the rounds.
    best : int
        Number of the best candidate.
    rounds : sequence of Round
        Rounds as planned.
    n_classes : int
        Number of classes, 0 in regression.
    seconds : float
        Time of the search.
    """
    made = [
        Candidate(dict(listed[number]), tuple(found))
        for number, found in enumerate(outcome.evaluations)
    ]
    best_ = made[best]
    tried = [each for each in made if each.rounds]
    tried.sort(key=lambda each: (each is not best_, -len(each.rounds), each.last.loss))
    return TuningResult(
        best_params_=dict(listed[best]),
        best_estimator_=estimator,
        best_=best_,
        candidates_=tried,
        first_=made[0],
        loss_="Brier score" if n_classes else "mean squared error",
        n_rounds_=outcome.n_rounds,
        notes_=list(_notes(made, best_, outcome, rounds, len(listed))),
        seconds_=seconds,
    )


def _notes(
    made: Sequence[Candidate],
    best: Candidate,
    outcome: Outcome,
    rounds: Sequence[Round],
    n_listed: int,
) -> list[str]:
    n_tried = sum(len(each.rounds) > 0 for each in made)
    if outcome.n_rounds == 0:
        return [
            "The time was over before the first round was: the estimator stays as it was passed. "
            "Raise `seconds`."
        ]
    notes = [_verdict(made[0], best, outcome.n_rounds)]
    level = outcome.n_rounds - 1
    loss = best.rounds[level].loss
    tied = sum(each.rounds[level].loss == loss for each in made if len(each.rounds) > level)
    if tied > 1:
        notes.append(
            f"{tied} candidates have exactly this loss; the one that changes fewest parameters is "
            "taken."
        )
    if outcome.n_rounds < len(rounds):
        notes.append(
            f"The time was over in round {outcome.n_rounds + 1} of {len(rounds)}; the best is that "
            f"of round {outcome.n_rounds}."
        )
    if n_tried > 1:
        notes.append(
            f"As the least of {n_tried} on the same rows the loss is optimistic; evaluate the "
            "forest on rows that the search has not seen."
        )
    if n_listed > n_tried:
        notes.append(f"A larger budget would try up to {n_listed} candidates.")
    return notes


def _verdict(first: Candidate, best: Candidate, n_rounds: int) -> str:
    if best is first:
        return "Best: the estimator as it was passed."
    last = best.rounds[n_rounds - 1]
    before = first.rounds[n_rounds - 1].loss
    share = f", {-100 * last.difference / before:.1f} %" if before > 0 else ""
    gain = f"{rounded(-last.difference, 4)}{share}"
    error = rounded(last.difference_error, 2)
    return (
        f"Best: {best}. Its loss is lower by {gain} (standard error {error}) "
        "than that of the estimator as it was passed."
    )


DEFAULT_BUDGET = 6000
MIN_FIRST_TREES = 10
MIN_CANDIDATES = 4  # least number of candidates of a search that is limited in time


def tune(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    budget: int | None = None,
    seconds: float | None = None,
    candidates: str | Sequence[Parameters] = "auto",
    first_trees: int = 100,
    sample_weight: Any = None,
    refit: bool = True,
    store: str | os.PathLike[str] | None = None,
    verbose: int = 0,
    callback: Callback | None = None,
) -> TuningResult:
    """Search for better parameters than an estimator has, by its out-of-bag rows.

    Candidates are forests with other parameters, grown on the same bags and compared by the loss
    of their out-of-bag predictions: Brier score, or mean squared error. Successive halving: all
    candidates grow `first_trees` trees, the better half goes on to twice as many, until three or
    fewer are left. The estimator as it was passed is the first candidate and stays to the end. No
    rows are set aside, and no forest is grown again.

    Parameters
    ----------
    estimator : ObliqueForestClassifier or ObliqueForestRegressor
        Parameters that differ from their defaults are unchanged. Of the others, `projection`
        with its settings, `n_projections`, `criterion`, `scale`, `min_samples_leaf` and
        `max_samples` are searched. It is not changed.
    X, y
        Training rows, as in `fit`.
    budget : int, default=None
        Most trees to grow in all rounds together. A larger budget tries more candidates. None is
        6000 trees, or what `candidates` or `seconds` need.
    seconds : float, default=None
        Time after which the search ends, with the results of the last finished round. The number
        of candidates that it allows depends on the speed of the machine.
    candidates : {"auto", "sporf"} or list of dict, default="auto"
        Candidates to try. "auto": families of directions, their settings, and combinations of these
        drawn at random. "sporf": the grid of the SPORF paper over d and λ (section 3.2). A list
        holds parameters for `set_params`; all of it is tried.
    first_trees : int, default=100
        Trees of a candidate in the first round, at least 10.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows, in the forests and in the losses.
    refit : bool, default=True
        Whether to fit `best_estimator_`, with its own `n_estimators`, when the search is done.
    store : path, default=None
        A file that stores the results. A search that was stopped continues from it, as does one
        with a larger budget. A file of other data or parameters raises.
    verbose : int, default=0
        1 shows a progress bar.
    callback : callable, default=None
        Called a few times a second with the number of trees grown and of all trees.

    Returns
    -------
    TuningResult
        All candidates and their losses; `best_params_` and `best_estimator_`.

    Examples
    --------
    >>> import bevel
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = bevel.ObliqueForestClassifier(50, random_state=0)
    >>> found = bevel.tune(forest, X, y, candidates=[{"projection": "lda"}], first_trees=50)
    >>> found.best_params_
    {'projection': 'lda'}
    >>> found.best_estimator_.predict(X[:1])
    array([0])
    """
    _check_arguments(estimator, budget, seconds, first_trees)
    problem = read_problem(estimator, X, y, sample_weight)
    seed = _draw_seed(estimator.random_state, store)
    seeded = clone(estimator).set_params(random_state=seed)
    clock = _Clock(seconds, verbose, callback)
    try:
        listed = list_candidates(estimator, problem.shape, candidates)
        kept = Store(store, _meaning(seeded, problem, first_trees))
        data = (X, y, sample_weight)
        pool = CandidatePool(seeded, data, problem, listed, first_trees, kept, clock.on_tree)
        rounds = _plan(pool, kept, listed, first_trees, budget, clock, candidates)
        outcome = run_rounds(pool, listed, rounds)
    except NoOutOfBagError as error:
        raise NoOutOfBagError(f"Tuning compares out-of-bag predictions. {error}") from None
    best = choose(outcome, listed)
    made = clone(estimator).set_params(**listed[best])
    if refit:
        with without_leak_alarm():  # candidates were fitted to the same table
            made.fit(X, y, sample_weight)
    return make_result(
        made, listed, outcome, best, rounds, n_classes=problem.n_classes, seconds=clock.elapsed
    )


class _Clock:
    """Time and trees of a search: reports progress, and ends it when the time is over.

    Parameters
    ----------
    seconds : float or None
        Time limit.
    verbose, callback
        Parameters as in `tune`.
    """

    def __init__(self, seconds: float | None, verbose: int, callback: Callback | None) -> None:
        self.seconds = seconds
        self.n_total = 0  # trees of all rounds; known when the rounds are planned
        self._verbose, self._callback = verbose, callback
        self._start = time.monotonic()
        self._progress: Progress | None = None
        self._done, self._latest = 0, 0

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._start

    def begin(self, n_total: int) -> None:
        """Start progress reports for `n_total` trees."""
        self.n_total = n_total
        bar = bool(self._verbose)
        self._progress = Progress(0, n_total, bar, self._callback, label="trying parameters")

    def on_tree(self, done: int, n_trees: int) -> None:
        """Callback of growing forests: number of trees so far, and in the end."""
        if self.seconds is not None and self.elapsed > self.seconds:
            raise OutOfTimeError
        # A forest that continues starts with its existing trees; another one with fewer.
        self._done += max(done - self._latest, 0)
        self._latest = 0 if done >= n_trees else done
        if self._progress is not None:
            self._progress(min(self._done, self.n_total))


def _plan(
    pool: CandidatePool,
    store: Store,
    listed: Sequence[Parameters],
    first_trees: int,
    budget: int | None,
    clock: _Clock,
    candidates: str | Sequence[Parameters],
) -> list[Round]:
    """The rounds that the budget or the time allows."""
    available = len(listed)
    everything = n_trees_of(plan_rounds(available, first_trees))
    if budget is None:
        is_free = candidates == "auto" and clock.seconds is None
        budget = DEFAULT_BUDGET if is_free else everything
    if clock.seconds is None:
        n_candidates = most_candidates(budget, first_trees, available)
        if n_candidates < min(2, available) or (candidates != "auto" and budget < everything):
            least = everything if candidates != "auto" else 2 * first_trees
            required = f"at least {least} trees for these candidates, {first_trees} trees each in "
            remedy = "Raise it, lower `first_trees`, or try fewer candidates."
            raise wrong_value("budget", f"{required}the first round", budget, remedy)
    else:
        n_candidates = _affordable(pool, store, first_trees, min(budget, everything), clock)
        n_candidates = min(n_candidates, available)
    rounds = plan_rounds(n_candidates, first_trees)
    clock.begin(n_trees_of(rounds))
    return rounds


def _affordable(
    pool: CandidatePool, store: Store, first_trees: int, budget: int, clock: _Clock
) -> int:
    """Number of candidates that the time allows, by the time that the first one takes."""
    assert clock.seconds is not None
    known = store.find_size(clock.seconds)
    if known is not None:
        return known
    try:
        taken = pool.evaluate(0, first_trees).seconds
    except OutOfTimeError:
        return 1
    n_trees = min(budget, int(clock.seconds / max(taken, 1e-6) * first_trees))
    n_candidates = max(MIN_CANDIDATES, most_candidates(n_trees, first_trees, n_trees))
    store.add_size(clock.seconds, n_candidates)
    return n_candidates


def _check_arguments(estimator: Any, budget: object, seconds: object, first_trees: object) -> None:
    if type(estimator) not in (ObliqueForestClassifier, ObliqueForestRegressor):
        required = "an ObliqueForestClassifier or ObliqueForestRegressor"
        remedy = (
            "Use scikit-learn's searches for other estimators; for boosting see "
            "the page on gradient boosting in the documentation."
        )
        raise wrong_type("estimator", required, estimator, remedy)
    _check_count("budget", budget, 1, "Use None for 6000 trees.", optional=True)
    _check_count("first_trees", first_trees, MIN_FIRST_TREES, "Use 50 to 200.")
    if seconds is None:
        return
    required, remedy = "None or a number above 0", "Use for example seconds=60."
    if isinstance(seconds, bool) or not isinstance(seconds, numbers.Real):
        raise wrong_type("seconds", required, seconds, remedy)
    if not 0.0 < float(seconds) < float("inf"):
        raise wrong_value("seconds", required, seconds, remedy)


def _check_count(
    name: str, value: object, least: int, remedy: str, *, optional: bool = False
) -> None:
    if value is None and optional:
        return
    required = f"{'None or ' if optional else ''}an integer of at least {least}"
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise wrong_type(name, required, value, remedy)
    if value < least:
        raise wrong_value(name, required, value, remedy)


def _draw_seed(random_state: Any, store: object) -> int:
    """One seed for all candidates, so that they have the same bags."""
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    if store is not None:
        required = "an integer with `store`, so that a later run grows the same trees"
        remedy = "Use for example random_state=0."
        raise wrong_value("random_state of the estimator", required, random_state, remedy)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def _meaning(estimator: Any, problem: Problem, first_trees: int) -> dict[str, str]:
    """Description of everything that the results of candidates depend on, for the store."""
    parameters = {
        name: _text(value)
        for name, value in estimator.get_params(deep=False).items()
        if name not in MANAGED or name == "random_state"
    }
    return {
        "data": problem.fingerprint,
        "estimator": type(estimator).__name__,
        "parameters": write_parameters(parameters),
        "first_trees": str(first_trees),
    }


def _text(value: Any) -> str:
    """A value of a parameter as text that does not depend on the process."""
    arrays: dict[str, Any] = {}
    try:
        text = json.dumps(encode_value(value, arrays))
    except UnstorableError:
        return repr(value)
    return text + "".join(hashlib.sha256(each.tobytes()).hexdigest() for each in arrays.values())
