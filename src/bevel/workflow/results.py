"""Results of fitting and tuning on a file of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bevel._types import Floats
from bevel.analysis.results import OutOfBagCurve
from bevel.tuning.results import TuningResult
from bevel.workflow.fitting import Settings
from bevel.workflow.labelled_rows import LabelledRows
from bevel.workflow.scores import Estimate

__all__ = ["FitResult", "TuneResult"]


@dataclass(frozen=True, eq=False)
class FitResult:
    """A forest fitted to a file of rows.

    Attributes
    ----------
    model : estimator
    scores : dict of str to Estimate
        Scores, each with its 95 % interval.
    scored_by : {"out-of-bag", "cross-validated"}
    rows : LabelledRows
        Rows of the file; ``rows.notes`` has notes on how it was read.
    settings : Settings
        Settings of the forest.
    seconds : float
        Time to grow the trees.
    out_of_bag : ndarray or None
        Probabilities (n_rows, n_classes) or values (n_rows,), NaN for rows in every bag; None if
        the projection leaves no rows out.
    curve : OutOfBagCurve or None
        Out-of-bag loss against the number of trees, with ``curve=True``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from bevel import workflow
    >>> from bevel.datasets import load_iris
    >>> X, y = load_iris(as_frame=True)
    >>> path = Path(tempfile.mkdtemp(), "iris.csv")
    >>> X.assign(species=y).to_csv(path, index=False)
    >>> result = workflow.fit(path, "species", task="classification", n_estimators=20)
    >>> result.model.n_classes_
    3
    """

    model: Any
    scores: dict[str, Estimate]
    scored_by: str
    rows: LabelledRows
    settings: Settings
    seconds: float
    out_of_bag: Floats | None
    curve: OutOfBagCurve | None


@dataclass(frozen=True, eq=False)
class TuneResult:
    """Parameters that were searched on a file of rows.

    Attributes
    ----------
    model : estimator
        Estimator with the best parameters; fitted unless ``refit=False``.
    found : TuningResult
        All candidates, and the best.
    rows : LabelledRows
        Rows of the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from bevel import workflow
    >>> from bevel.datasets import load_iris
    >>> X, y = load_iris(as_frame=True)
    >>> path = Path(tempfile.mkdtemp(), "iris.csv")
    >>> X.assign(species=y).to_csv(path, index=False)
    >>> options = dict(task="classification", budget=200, first_trees=10, n_estimators=20)
    >>> tuned = workflow.tune(path, "species", **options)
    >>> tuned.model.n_estimators
    20
    """

    model: Any
    found: TuningResult
    rows: LabelledRows
