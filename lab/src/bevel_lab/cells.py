"""The unit of an experiment: one system on one fold of one data set, and what came of it.

An experiment is data × system × setting × repeat × fold. A cell is one point of that product; its
key names it for ever, so that a run can be stopped and taken up again, and its seed depends on the
data and the fold but never on the system, so that all systems learn from the same rows.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

__all__ = ["FAILED", "OK", "SKIPPED", "Cell", "Result", "hash_seed"]

OK, FAILED, SKIPPED = "ok", "failed", "skipped"


def canonical(value: Any) -> str:
    """JSON in one spelling: equal mappings give equal text, whatever the order of their keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@dataclass(frozen=True)
class Cell:
    """One fit of an experiment.

    Attributes
    ----------
    experiment : str
        Name of the protocol.
    data : str
        Name of the data set or simulation.
    system : str
        Name in `bevel_lab.systems.SYSTEMS`; empty where the system must not matter.
    setting : mapping
        What else is varied, as JSON values: ``{"noise_dims": 10}``.
    repeat, fold : int
        From 0; simulations have fold 0 alone.
    experiment_seed : int
        The seed of the whole run.
    """

    experiment: str
    data: str
    system: str
    setting: Mapping[str, Any] = field(default_factory=dict)
    repeat: int = 0
    fold: int = 0
    experiment_seed: int = 0

    @property
    def key(self) -> str:
        """A readable name that no other cell has."""
        numbers = f"{self.experiment_seed}/{self.repeat}/{self.fold}"
        words = (self.experiment, self.data, self.system, canonical(dict(self.setting)), numbers)
        return "|".join(words)

    @property
    def split_seed(self) -> int:
        """Seed of what all folds of a repeat share: the shuffling of rows into folds."""
        return hash_seed(self.experiment_seed, self.data, self.repeat)

    @property
    def seed(self) -> int:
        """Seed of the fold: what is drawn inside it, and the system's own; below 2³¹."""
        return hash_seed(self.experiment_seed, self.data, self.repeat, self.fold)

    @property
    def problem(self) -> "Cell":
        """The cell without its system: all that the training and test rows may depend on."""
        return replace(self, system="")


@dataclass(frozen=True)
class Result:
    """What came of a cell.

    Attributes
    ----------
    cell : Cell
    status : {"ok", "failed", "skipped"}
        Skipped: the system does not do problems of this kind.
    message : str
        Why it failed or was skipped.
    metrics : dict of str to float
        Classification: error, kappa, auc, log_loss, train_error, chance_error (of all rows of the
        problem); regression: mse, rmse, r2, train_mse.
        What cannot be known is NaN. Protocols may add their own.
    seconds_fit, seconds_predict : float
        Wall time; tuning is part of the fit.
    memory_mb : float
        How far the resident memory rose above its level before the fit; NaN where unknown.
    n_train, n_test, n_features, n_classes : int
        Size of the problem after its recipe; no classes in regression.
    n_jobs : int
        Threads that the system was given.
    details : dict
        What else is worth keeping, as JSON values: the settings that tuning chose.
    predictions : str
        File in the run folder with the test predictions; empty unless they were requested.
    """

    cell: Cell
    status: str
    message: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    seconds_fit: float = float("nan")
    seconds_predict: float = float("nan")
    memory_mb: float = float("nan")
    n_train: int = 0
    n_test: int = 0
    n_features: int = 0
    n_classes: int = 0
    n_jobs: int = 1
    details: Mapping[str, Any] = field(default_factory=dict)
    predictions: str = ""


def hash_seed(*parts: object) -> int:
    """31 bits of SHA-256: the same on every machine and in every process, unlike `hash`."""
    digest = hashlib.sha256(canonical([str(part) for part in parts]).encode())
    return int.from_bytes(digest.digest()[:4], "big") >> 1
