"""Tasks: what a fitted model predicts.

A fitted model is trees, an encoding of columns, a task, an aggregation (`bevel.forest.aggregation`)
and its provenance (`bevel.forest.provenance`). The task says what the target is, what a leaf holds,
how means over trees become predictions, and what all of these are called. Whatever depends on the
kind of a model asks its task.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import digamma

from bevel._types import Floats
from bevel.errors import ModelFileError, SeveralOutputsError, join_names, wrong_type, wrong_value

__all__ = [
    "Classification",
    "Isolation",
    "Regression",
    "SeveralOutputs",
    "Survival",
    "Task",
    "average_path_length",
]


class Task:
    """What a fitted model predicts.

    Attributes
    ----------
    name : str
        Name of the kind of task.
    noun : str
        What one number of a prediction is: a probability, a value, a risk or a score.
    """

    name: ClassVar[str]
    noun: ClassVar[str]

    @property
    def classes(self) -> npt.NDArray[Any] | None:
        """Labels of the classes of the target; None if it has none, or several outputs."""
        return None

    def check_one_output(self, caller: str) -> None:
        """Raise SeveralOutputsError if there are several outputs, which `caller` cannot take."""


@dataclass(frozen=True, eq=False)
class Classification(Task):
    """One of several classes.

    Attributes
    ----------
    labels : ndarray
        Labels of the classes, ascending.
    """

    name = "classification"
    noun = "probability"

    labels: npt.NDArray[Any]

    @property
    def classes(self) -> npt.NDArray[Any]:
        """Labels of the classes."""
        return self.labels


@dataclass(frozen=True)
class Regression(Task):
    """A number."""

    name = "regression"
    noun = "value"


@dataclass(frozen=True, eq=False)
class SeveralOutputs(Task):
    """Several targets of the same rows, all of them classes or all of them numbers.

    Attributes
    ----------
    names : tuple of str
        Name of each output.
    labels : tuple of ndarray or None
        Labels of the classes of each output; None in regression.
    """

    name = "several outputs"
    noun = "value"

    names: tuple[str, ...]
    labels: tuple[npt.NDArray[Any], ...] | None

    def __len__(self) -> int:
        return len(self.names)

    @property
    def n_classes(self) -> npt.NDArray[np.int32]:
        """Number of classes of each output, 0 in regression."""
        labels = self.labels or ((),) * len(self.names)
        return np.array([len(each) for each in labels], dtype=np.int32)

    @property
    def bounds(self) -> npt.NDArray[np.int64]:
        """Where the classes of each output begin, and where the last ones end."""
        if self.labels is None:
            return np.arange(len(self.names) + 1)
        return np.concatenate(([0], np.cumsum(self.n_classes, dtype=np.int64)))

    def of(self, k: int) -> Task:
        """The task of one of the outputs."""
        return Regression() if self.labels is None else Classification(self.labels[k])

    def position(self, which: object) -> int:
        """Position of an output given by position or name."""
        if isinstance(which, str):
            if which not in self.names:
                required = f"one of {join_names([repr(name) for name in self.names])}"
                raise wrong_value("output", required, which, "Check the spelling, or its position.")
            return self.names.index(which)
        if isinstance(which, bool) or not isinstance(which, int | np.integer):
            raise wrong_type("output", "a position or a name", which, "See output_names_.")
        if not -len(self) <= which < len(self):
            required = f"from 0 to {len(self) - 1}"
            raise wrong_value("output", required, int(which), "See output_names_.")
        return int(which) % len(self)

    def split(self, columns: Floats) -> list[Floats]:
        """Columns of all classes as one array for each output."""
        return [np.ascontiguousarray(part) for part in np.split(columns, self.bounds[1:-1], axis=1)]

    def check_one_output(self, caller: str) -> None:
        """Raise SeveralOutputsError, as `caller` takes one output only."""
        names = join_names([repr(name) for name in self.names], limit=3)
        raise SeveralOutputsError(
            f"{caller} needs a forest of one target; got a forest of {len(self)} "
            f"outputs ({names}). Ask for one of them: forest.output({self.names[0]!r})."
        )


@dataclass(frozen=True, eq=False)
class Survival(Task):
    """The time to an event, right-censored; leaves have a curve beside their value, the mortality.

    Attributes
    ----------
    event_times : ndarray of float64
        Distinct times at which events were seen in training, ascending. Entries of leaves are
        numbers of these.
    last_time : float
        The largest time in training, of an event or of a censored row; nothing is known beyond.
    n_causes : int
        Kinds of events, which compete. An entry of a leaf has number event time * n_causes + cause.
    """

    name = "survival"
    noun = "risk"

    event_times: Floats
    last_time: float
    n_causes: int = 1

    @property
    def n_times(self) -> int:
        """Number of event times."""
        return len(self.event_times)

    @property
    def n_numbers(self) -> int:
        """Exclusive upper bound on the numbers of the entries of leaves."""
        return self.n_times * self.n_causes


RATIO_DIGITS = 12  # digits to which scores distinguish path lengths


@dataclass(frozen=True)
class Isolation(Task):
    """How unusual a row is: leaves hold path lengths, whose mean becomes a score.

    Attributes
    ----------
    n_samples : int
        Rows that each tree was grown on.
    offset : float
        Scores below it are those of outliers.
    """

    name = "isolation"
    noun = "score"

    n_samples: int
    offset: float

    def scores(self, lengths: Floats) -> Floats:
        """Scores of rows from -1 (isolated at once) to 0; about -0.5 for ordinary ones.

        Raises ModelFileError for negative lengths, which only a mapped file that was not verified
        can have.
        """
        if (lengths < 0.0).any():
            raise ModelFileError(
                f"The path length of a leaf must be zero or more; got {lengths.min():.3g} as the "
                "mean of a row. The file is damaged: copy it again, or save the model again."
            )
        usual = float(average_path_length(np.array(float(self.n_samples))))
        ratios = lengths / usual if usual > 0 else np.ones_like(lengths)
        # Rounded, since means over trees differ in the last digits.
        return np.asarray(-(2.0 ** -np.round(ratios, RATIO_DIGITS)))


def average_path_length(n_rows: Floats) -> Floats:
    """Mean depth at which a random binary tree of `n_rows` rows isolates one of them.

    2 H(n - 1) - 2 (n - 1) / n with harmonic numbers H (Liu, Ting and Zhou 2008), here for weights
    too, which need not be whole.
    """
    n = np.maximum(np.asarray(n_rows, dtype=np.float64), 1.0)
    return np.asarray(2.0 * (digamma(n) + np.euler_gamma) - 2.0 * (n - 1.0) / n)
