"""Permutation importance of boosting."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.analysis.accuracy.evaluation_rows import EvaluationRows, read_evaluation_rows
from bevel.analysis.analysed_forest import AnalysedForest
from bevel.analysis.checks import check_count, check_flag
from bevel.analysis.importances.error_increase import WHERE, ErrorImportance
from bevel.analysis.importances.groups import read_groups
from bevel.analysis.importances.strata import (
    DEFAULT_STRATA,
    among,
    draw_order,
    read_strata,
)
from bevel.data.row_weights import read_weights
from bevel.errors import NoOutOfBagError, wrong_value
from bevel.forest.additive import add_trees
from bevel.training.progress import Progress

__all__ = ["permutation_of_boosting"]


def permutation_of_boosting(
    analysed: AnalysedForest,
    X: Any,
    y: Any,
    *,
    out_of_bag: bool = True,
    error_of: str = "forest",
    groups: Any = None,
    conditional: bool = False,
    n_strata: int = DEFAULT_STRATA,
    n_repeats: int = 5,
    sample_weight: Any = None,
    random_state: int | np.random.Generator | None = None,
    verbose: int = 0,
) -> ErrorImportance:
    """Permutation importance of a boosting model on new rows; options as in `permutation`.

    Errors are shares of wrong classes, or mean squared errors of the predictions.
    """
    if check_flag("out_of_bag", out_of_bag):
        raise NoOutOfBagError(
            f"{analysed.caller} of out-of-bag rows needs trees that were grown on bags; got "
            "boosting, whose trees have all seen the training rows. Pass rows that were not in the "
            "fit, and out_of_bag=False."
        )
    if error_of != "forest":
        remedy = "A single tree of boosting predicts nothing."
        raise wrong_value("error_of", '"forest" for boosting', error_of, remedy)
    n_repeats = check_count("n_repeats", n_repeats)
    chosen = read_groups(groups, analysed.names)
    rows = read_evaluation_rows(analysed, X, y, False)
    weights = read_weights(sample_weight, None, None, len(rows.X))
    strata = read_strata(analysed, rows.X, chosen, weights, conditional, n_strata)
    weights = np.ones(len(rows.X)) if weights is None else weights
    rng = np.random.default_rng(random_state)
    before = _losses(analysed, rows, rows.X)
    error = float(np.average(before, weights=weights))
    repeats = np.empty((len(chosen), n_repeats))
    spread = np.empty(len(chosen))
    progress = Progress(0, len(chosen), bool(verbose), None, label="permuting features")
    with progress:
        for number, group in enumerate(chosen):
            rises = np.zeros(len(rows.X))
            for repeat in range(n_repeats):
                changed = rows.X.copy()
                columns = list(group.features)
                within = None if strata is None else strata[number]
                order = draw_order(rng, len(rows.X), within)
                changed[:, columns] = rows.X[order][:, columns]
                rise = _losses(analysed, rows, changed) - before
                repeats[number, repeat] = np.average(rise, weights=weights)
                rises += rise / n_repeats
            spread[number] = _standard_error(rises, weights)
            progress(number + 1)
    what = "mean squared error" if analysed.classes is None else "classification error"
    return ErrorImportance(
        "permutation",
        tuple(group.name for group in chosen),
        repeats.mean(axis=1),
        f"increase of the {what} ({error:.4g}) of the model on {WHERE[rows.row_kind]}"
        f"{among(strata)}; std over {n_repeats} repeats, standard error over rows",
        std=repeats.std(axis=1) if n_repeats > 1 else None,
        standard_error=spread,
        repeats=repeats,
        error=error,
    )


def _losses(analysed: AnalysedForest, rows: EvaluationRows, X: npt.NDArray[np.float32]) -> Floats:
    additive = analysed.fitted.additive
    assert additive is not None
    encoded = np.ascontiguousarray(X)
    raw = add_trees(analysed.predictor, additive, encoded, analysed.n_threads)
    if analysed.classes is not None:
        return np.asarray(additive.classes(raw) != rows.target, dtype=np.float64)
    if additive.link == "sorted":
        raise wrong_value(
            "The model of a permutation importance",
            "one with a single prediction for each row",
            f"{additive.n_outputs} quantiles",
            "Fit a model of one quantile.",
        )
    return np.asarray((additive.values(raw) - rows.target) ** 2)


def _standard_error(rises: Floats, weights: Floats) -> float:
    shares = weights / weights.sum()
    return float(np.sqrt(np.sum((shares * (rises - shares @ rises)) ** 2)))
