"""The definition of a system: a name, a function that makes an estimator, and its tuning grid."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Estimator", "Grid", "System", "Task"]

BASELINE, OURS, PEER = "baseline", "ours", "peer"


class Estimator(Protocol):
    """Methods of an estimator that the lab calls; ``predict_proba`` is optional."""

    def fit(self, X: Any, y: Any) -> Any: ...
    def predict(self, X: Any) -> NDArray[Any]: ...


@dataclass(frozen=True)
class Task:
    """Learning task of a system: the shape of the training rows, the seed, the threads."""

    kind: str  # "classification" or "regression"
    n_train: int
    p: int
    n_classes: int = 0  # 0: regression
    random_state: int = 0
    n_jobs: int = 1
    categorical_features: NDArray[np.bool_] | None = None  # None: all columns are numeric
    has_missing: bool = False

    @property
    def is_regression(self) -> bool:
        return self.kind == "regression"

    @property
    def has_nominal(self) -> bool:
        return self.categorical_features is not None and bool(self.categorical_features.any())

    @property
    def n_numeric(self) -> int:
        nominal = self.categorical_features
        return self.p - (0 if nominal is None else int(nominal.sum()))


@dataclass(frozen=True)
class Grid:
    """What a paper tunes, and how it chooses.

    Attributes
    ----------
    settings : callable
        From a `Task` to the settings tried on it: keyword arguments for the system's `make`.
    by : {"oob", "cv"}
        Lowest out-of-bag error, or lowest error of cross-validation.
    n_folds : int
        Of the cross-validation.
    """

    settings: Callable[[Task], Sequence[Mapping[str, Any]]]
    by: str = "oob"
    n_folds: int = 5


@dataclass(frozen=True)
class System:
    """A system of the comparison.

    Attributes
    ----------
    name : str
        As on the command line: ``rr-rf``.
    label : str
        As in tables and figures: ``RR-RF``.
    kind : {"ours", "baseline", "peer"}
    docs : str
        Which paper or package, at which settings.
    make : callable
        ``make(task, **setting)`` gives an estimator that is not fitted; forests and boosted trees
        take ``n_trees`` among their settings.
    needs : str, default=None
        The package that must be installed, as it is imported.
    tuning : Grid, default=None
        What the paper tunes.
    has_trees : bool
        Whether ``n_trees`` means anything to it.
    tasks : tuple of str
        The kinds of task it does.
    nominal, missing : bool
        Whether it takes nominal columns (``task.categorical_features``) and NaN as they are.
    max_rows : int, default=None
        Larger training sets are skipped: the cost grows too fast.
    """

    name: str
    label: str
    kind: str
    docs: str
    make: Callable[..., Estimator]
    needs: str | None = None
    tuning: Grid | None = None
    has_trees: bool = False
    tasks: tuple[str, ...] = ("classification", "regression")
    nominal: bool = False
    missing: bool = False
    max_rows: int | None = None

    def refuses(self, task: Task) -> str:
        """Why the system does not do a task; empty when it does."""
        if task.kind not in self.tasks:
            return f"{self.label} does no {task.kind}."
        if task.has_nominal and not self.nominal:
            return f"{self.label} takes no nominal columns as they are: use a recipe that encodes."
        if task.has_missing and not self.missing:
            return f"{self.label} takes no missing values: use a recipe that imputes."
        if self.max_rows is not None and task.n_train > self.max_rows:
            return f"{self.label} is run on at most {self.max_rows:,} rows; got {task.n_train:,}."
        return ""
