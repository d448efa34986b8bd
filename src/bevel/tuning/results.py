"""The result of a search, and its printed form."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bevel.analysis.printing import write_table
from bevel.extras import import_optional
from bevel.printable import rounded
from bevel.tuning.candidates import Parameters, write_parameters
from bevel.tuning.evaluation import Evaluation
from bevel.tuning.halving import Outcome
from bevel.tuning.rounds import Round

__all__ = ["Candidate", "TuningResult", "make_result"]

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
