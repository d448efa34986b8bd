"""Everything a fitted estimator is asked, and what its answers must be like."""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from support.model_files import estimator_of, file_of

import bevel
from bevel import analysis

from .analyses import ANALYSES
from .exercise import check_importances_of_outputs
from .expressions import evaluate
from .isolation_cases import scores
from .survival_cases import curves
from .verdicts import WrongAnswerError, check_answers, check_importances, side_by_side

Rows = tuple[Any, Any, Any]


def exercise_fitted(estimator: Any, spec: dict[str, Any], rows: Rows) -> None:
    """Predict the training rows and new ones in every way; then one of the dearer questions."""
    X, _, weight = rows
    if weight is not None and not np.all(np.asarray(weight, dtype=float)):
        # A fit does not look at rows of weight zero; what they hold may be refused by predictions.
        answers = allow(predictions, estimator, X)
        if answers is None:
            return
    else:
        answers = predictions(estimator, X)
    _check_out_of_bag(estimator)
    compare("one row", answers, predictions(estimator, _first(X)), n_rows=1)
    new = evaluate(spec["new"])
    allow(predictions, estimator, new)
    _check_importances(estimator)
    file = allow(file_of, estimator)
    if file is not None:
        mapped = spec["study"] % 2 == 1
        compare("a loaded file", answers, predictions(estimator_of(file, mapped=mapped), X))
    study = STUDIES[spec["study"] % len(STUDIES)]
    allow(study, estimator, rows, answers)


def exercise_scanned(estimator: Any, spec: dict[str, Any], rows: Rows) -> None:
    """As `exercise_fitted`, without what takes training rows or fits again."""
    X = rows[0]
    answers = allow(predictions, estimator, X)
    allow(predictions, estimator, evaluate(spec["new"]))
    _check_importances(estimator)
    file = allow(file_of, estimator)
    if file is None or answers is None:
        return
    compare("a loaded file", answers, predictions(estimator_of(file), X))
    str(estimator.forest_.tree(0))
    study = STUDIES[spec["study"] % len(STUDIES)]
    if study not in (_with_two_threads, _grown_on):
        allow(study, estimator, rows, answers)


def predictions(estimator: Any, X: Any) -> dict[str, np.ndarray]:
    """Leaves, classes, probabilities and values, checked."""
    answers = {"leaves": estimator.apply(X), "predictions": np.asarray(estimator.predict(X))}
    if hasattr(estimator, "classes_"):
        probabilities = estimator.predict_proba(X)
        check_answers("probabilities", probabilities)
        answers["probabilities"] = side_by_side(probabilities)
    else:
        check_answers("values", answers["predictions"])
    if (found := curves(estimator, X)) is not None:
        answers["curves"] = found
    if (found := scores(estimator, X)) is not None:
        answers["scores"] = found
    return answers


def allow(call: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a call that may refuse what it is given, else None."""
    from .input_cases import is_documented

    try:
        return call(*arguments)
    except WrongAnswerError:
        raise
    except Exception as error:
        if not is_documented(error):
            raise
        return None


def _first(X: Any) -> Any:
    return X[:1] if not hasattr(X, "format") or X.format != "coo" else X.tocsr()[:1]


def compare(
    what: str, one: dict[str, np.ndarray], other: dict[str, np.ndarray], n_rows: int | None = None
) -> None:
    """Raise unless predictions equal others, those of the first rows if these are fewer."""
    for name, answer in one.items():
        expected = answer[:n_rows]
        same = expected.shape == other[name].shape and _same(expected, other[name])
        if not same:
            raise WrongAnswerError("differs", f"{name} with {what} are others")


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    if one.dtype.kind == "O" or other.dtype.kind == "O":
        return one.tolist() == other.tolist()
    return np.array_equal(one, other)


def _check_out_of_bag(estimator: Any) -> None:
    """Rows that were never out of a bag are NaN; the others must be sound."""
    for name in ("oob_decision_function_", "oob_prediction_"):
        found = getattr(estimator, name, None)
        if found is None:
            continue
        kind = "probabilities" if hasattr(estimator, "classes_") else "values"
        for each in found if isinstance(found, list) else [found]:
            judged = ~np.isnan(each).any(axis=1) if each.ndim == 2 else ~np.isnan(each)
            check_answers(kind, each[judged])
            if np.isinf(each).any():
                raise WrongAnswerError("answer", f"{name} is infinite")


def _check_importances(estimator: Any) -> None:
    if hasattr(estimator, "score_samples"):
        return  # splits of isolation are random
    shares = allow(lambda: estimator.feature_importances_)
    if shares is not None:
        check_importances(shares)
    if getattr(estimator, "n_outputs_", 1) > 1:
        check_importances_of_outputs(estimator)


def _with_two_threads(estimator: Any, rows: Rows, answers: dict[str, np.ndarray]) -> None:
    """The same forest for another number of threads, and the same answers."""
    state = estimator.random_state
    if type(state) is not int:
        return
    X, y, weight = rows
    other = clone(estimator).set_params(n_jobs=1 if estimator.n_jobs == 2 else 2, verbose=0)
    compare("another n_jobs", answers, predictions(other.fit(X, y, sample_weight=weight), X))


def _on_disk(estimator: Any, rows: Rows, answers: dict[str, np.ndarray]) -> None:
    path = Path(tempfile.gettempdir()) / f"bevel-hostile-{os.getpid()}-saved.bevel"
    estimator.save(path)
    try:
        for mmap in (False, True):
            compare("a saved file", answers, predictions(bevel.load(path, mmap=mmap), rows[0]))
    finally:
        path.unlink(missing_ok=True)


def _pickled(estimator: Any, rows: Rows, answers: dict[str, np.ndarray]) -> None:
    try:
        copy = pickle.loads(pickle.dumps(estimator))
    except (pickle.PicklingError, AttributeError):
        return  # functions that pickle cannot find by name
    compare("a pickled estimator", answers, predictions(copy, rows[0]))


def _slimmed(estimator: Any, rows: Rows, answers: dict[str, np.ndarray]) -> None:
    compare("a slim forest", answers, predictions(estimator.slim(), rows[0]))


def _grown_on(estimator: Any, rows: Rows, _answers: Any) -> None:
    X, y, weight = rows
    if hasattr(estimator, "n_iter_"):
        estimator.set_params(warm_start=True, max_iter=estimator.n_iter_ + 2)
    else:
        estimator.set_params(warm_start=True, n_estimators=int(estimator.n_estimators) + 2)
    estimator.fit(X, y, sample_weight=weight)
    predictions(estimator, X)


def _one_output(estimator: Any, rows: Rows, answers: dict[str, np.ndarray]) -> None:
    """The forest of one output is asked what all of them cannot be asked together."""
    if getattr(estimator, "n_outputs_", 1) == 1:
        return
    single = estimator.output(-1)
    found = predictions(single, rows[0])
    if not _same(found["predictions"], answers["predictions"][:, -1]):
        raise WrongAnswerError("differs", "the forest of one output predicts something else")
    str(single.forest_.tree(0))
    str(analysis.importance(single, "gini"))
    estimator_of(file_of(single)).predict(rows[0])


def _quantiles(estimator: Any, rows: Rows, _answers: Any) -> None:
    if not hasattr(estimator, "predict_quantiles"):
        return
    X, y, weight = rows
    given = {} if estimator.keep_targets else {"X_train": X, "y_train": y, "sample_weight": weight}
    check_answers("values", estimator.predict_quantiles(X, (0.0, 0.5, 1.0), **given))


def _of_rows(study: Callable[..., Any]) -> Callable[..., Any]:
    return lambda estimator, rows, _: study(estimator, *rows[:2])


STUDIES: tuple[Callable[..., Any], ...] = (
    _with_two_threads,
    _with_two_threads,
    _on_disk,
    _pickled,
    _slimmed,
    _grown_on,
    _quantiles,
    _one_output,
    _one_output,
    lambda estimator, *_: str(estimator.forest_.tree(0)),
    lambda estimator, *_: str(analysis.tree_rules(estimator, -1)),
    lambda estimator, *_: str(analysis.forest_rules(estimator)),
    lambda estimator, rows, _: str(analysis.path_rules(estimator, _first(rows[0]))),
    lambda estimator, *_: str(analysis.importance(estimator, "projection")),
    lambda estimator, *_: str(analysis.importance(estimator, "gini")),
    lambda estimator, *_: str(analysis.importance(estimator, "split_frequency")),
    _of_rows(lambda e, X, y: str(analysis.importance(e, "permutation", X, y, n_repeats=1))),
    _of_rows(lambda e, X, y: str(analysis.importance(e, "negation", X, y))),
    _of_rows(lambda e, X, y: str(analysis.importance(e, "t_test", X, y))),
    _of_rows(lambda e, X, y: str(analysis.out_of_bag_curve(e, X, y))),
    _of_rows(lambda e, X, y: str(analysis.top_rules(e, X, y))),
    _of_rows(lambda e, X, y: analysis.proximity(e, X, y)),
    _of_rows(lambda e, X, y: str(analysis.strength_and_correlation(e, X, y))),
    lambda estimator, *_: str(analysis.tree_complexity(estimator)),
    _of_rows(lambda e, X, _y: e.decision_path(X)),
    _of_rows(lambda e, X, y: hasattr(e, "prune_trees") and e.prune_trees(1, X, y).predict(X)),
    _of_rows(lambda e, X, _y: hasattr(e, "classes_") and e.predict_log_proba(X)),
    _of_rows(lambda e, X, y: hasattr(e, "score") and e.score(X, y)),
    lambda estimator, *_: estimator.to_c(),
    lambda estimator, *_: estimator.forest_.tree(0).to_pandas(),
    lambda estimator, *_: (repr(estimator), repr(estimator.forest_)),
    *(_of_rows(study) for study in ANALYSES),
)
