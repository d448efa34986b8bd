"""Analyses of a fitted estimator by its training rows, with checks of their results."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import numpy as np

from bevel import analysis
from bevel.text.sql import quoted

from .verdicts import WrongAnswerError, check_answers

FEW = 5  # rows that are explained one by one
MAX_TREES = 2000  # of which standard errors take trees x trees numbers


def _effect(name: str, effect: Any) -> None:
    check_answers(name, effect.values)
    str(effect)


def _surface(e: Any, X: Any, _y: Any) -> None:
    _effect("effects", analysis.partial_dependence(e, X, (0, 1), grid_resolution=4))


def _curves(e: Any, X: Any, _y: Any) -> None:
    if e.forest_.n_trees > MAX_TREES:
        return
    effect = analysis.partial_dependence(
        e, X, [0], kind="both", grid_resolution=6, standard_error=True
    )
    _effect("effects", effect)
    check_answers("standard errors", effect.standard_error)
    effect.to_pandas()


def _out_of_bag_curve(e: Any, X: Any, y: Any) -> None:
    _effect("effects", analysis.partial_dependence(e, X, [1], out_of_bag=True, y=y))


def _accumulated(e: Any, X: Any, _y: Any) -> None:
    _effect("accumulated effects", analysis.accumulated_local_effects(e, X, [0]))


def _along(e: Any, X: Any, _y: Any) -> None:
    direction = np.linspace(-1.0, 1.0, e.n_features_in_)
    _effect("effects along", analysis.effect_along(e, X, direction))


def _interactions(e: Any, X: Any, _y: Any) -> None:
    found = analysis.interactions(e, X, max_rows=10, random_state=0)
    check_answers("interactions", found.strength)
    str(found)


def _shapley(e: Any, X: Any, _y: Any) -> None:
    """Values that add up to the predictions."""
    found = analysis.shapley_values(e, X[:FEW], X, max_background=3, random_state=0)
    check_answers("Shapley values", found.values)
    _must_add_up(e, X[:FEW], found)
    str(found)


def _path_shapley(e: Any, X: Any, _y: Any) -> None:
    found = analysis.shapley_values(e, X[:FEW], feature_perturbation="tree_path_dependent")
    check_answers("Shapley values", found.values)
    _must_add_up(e, X[:FEW], found)


def _must_add_up(e: Any, X: Any, found: Any) -> None:
    if hasattr(e, "n_iter_"):
        return  # values of boosting add up to its sums, not to its predictions
    is_classifier = hasattr(e, "classes_")
    predicted = e.predict_proba(X) if is_classifier else e.predict(X)
    total = found.base_values + found.values.sum(axis=1)
    if is_classifier:  # values explain the shares before their calibration
        total = e.fitted_forest_.aggregation.calibrate(np.maximum(total, 0.0))
    size = max(1.0, float(np.abs(found.values).max()), float(np.abs(predicted).max()))
    if np.abs(total - predicted).max() > 1e-4 * size:
        raise WrongAnswerError("answer", "Shapley values do not add up to the prediction")


def _shapley_pairs(e: Any, X: Any, _y: Any) -> None:
    found = analysis.shapley_interactions(e, X[:2], X, max_background=2, random_state=0)
    check_answers("Shapley interactions", found.values)
    str(found)


def _rule_set(e: Any, X: Any, y: Any) -> None:
    found = analysis.rule_set(e, X, y, min_coverage=0.01)
    str(found)
    found.to_pandas()
    _run_sql(found.to_sql("rows"), found.names)


def _surrogate(e: Any, X: Any, y: Any) -> None:
    found = analysis.surrogate_tree(e, X, y, max_depth=2)
    str(found)
    _run_sql(f"SELECT {found.to_sql()} FROM rows", found.names)


def _run_sql(query: str, names: Any) -> None:
    """A database must understand a query, whatever the names and labels are."""
    columns = dict.fromkeys(names)
    if len({name.casefold() for name in columns}) < len(names) or len(names) > 1000:
        return  # no table can have these columns
    text = [query, *columns]
    if any("\0" in each or _has_surrogates(each) for each in text):
        return  # no text of a database
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f"CREATE TABLE rows ({', '.join(map(quoted, names))})")
        database.execute(query)


def _has_surrogates(text: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def _janitza(e: Any, X: Any, y: Any) -> None:
    str(analysis.importance_test(e, X, y, method="janitza", random_state=0))


def _altmann(e: Any, X: Any, y: Any) -> None:
    found = analysis.importance_test(
        e, X, y, method="altmann", kind="gini", n_permutations=2, null="empirical", random_state=0
    )
    check_answers("p-values", found.p_values)
    str(found)


def _of_groups(e: Any, X: Any, y: Any) -> None:
    groups = analysis.correlated_groups(e, X)
    str(analysis.importance(e, "permutation", X, y, n_repeats=1, groups=groups))


def _pushes(e: Any, X: Any, _y: Any) -> None:
    str(analysis.importance(e, effects_on=X))


def _calibration(e: Any, X: Any, y: Any) -> None:
    str(analysis.calibration(e, X, y))


def _errors(e: Any, X: Any, _y: Any) -> None:
    if e.forest_.n_trees <= MAX_TREES:
        str(analysis.predict_standard_error(e, X))


def _neighbours(e: Any, X: Any, y: Any) -> None:
    str(analysis.nearest_rows(e, X, X[:FEW], y, k=2))
    str(analysis.outlier_scores(e, X, y))


def _families(e: Any, _X: Any, _y: Any) -> None:
    if (record := getattr(e, "families_", None)) is None:
        return
    text, page = str(record), record._repr_html_()
    record.to_pandas()
    record.as_dict()
    if "\x1b" in text or "<b>" in page:
        raise WrongAnswerError("answer", "names of families are shown raw")


def _stages(e: Any, X: Any, _y: Any) -> None:
    """The last stage of a boosted forest is its prediction."""
    if not (hasattr(e, "staged_predict") or hasattr(e, "staged_predict_proba")):
        return
    is_classifier = hasattr(e, "classes_")
    stages = e.staged_predict_proba(X) if is_classifier else e.staged_predict(X)
    last = None
    for last in stages:
        check_answers("probabilities" if is_classifier else "values", last)
    predicted = e.predict_proba(X) if is_classifier else e.predict(X)
    if last is not None and not np.allclose(last, predicted, rtol=1e-9, atol=1e-12):
        raise WrongAnswerError("differs", "the last stage is not the prediction")


def _server(e: Any, X: Any, _y: Any) -> None:
    rows = np.ascontiguousarray(X, dtype=np.float32)
    if e.fitted_forest_.encoding.nominal or e.fitted_forest_.encoding.dates:
        return
    check_answers("values", np.asarray(e.predictor_.predict(rows), dtype=float))


ANALYSES: tuple[Callable[[Any, Any, Any], None], ...] = (
    *(_surface, _curves, _out_of_bag_curve, _accumulated, _along, _interactions),
    *(_shapley, _path_shapley, _shapley_pairs, _rule_set, _surrogate, _janitza, _altmann),
    *(_of_groups, _pushes, _calibration, _errors, _neighbours, _families, _stages, _server),
)
CHEAP: tuple[Callable[[Any, Any, Any], None], ...] = (_families, _stages, _server)
