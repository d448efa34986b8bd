"""Everything an estimator from a file is asked, cheap questions first."""

from __future__ import annotations

import pickle
import random
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bevel import ModelFileError, analysis
from bevel.estimators.registry import KINDS
from bevel.files.model import summarise

from .analyses import ANALYSES, CHEAP
from .isolation_cases import scores
from .models import Source
from .survival_cases import curves
from .verdicts import WrongAnswerError, check_answers, check_importances, side_by_side

# What may be said of rows that do not fit a forest; a file that was loaded in whole must not be
# called damaged later.
REFUSALS = (ValueError, TypeError)
QUESTIONS_PER_FILE = 2
SHARE_OF_STUDIES = 0.25
SHARE_OF_ANALYSES = 0.15


def exercise_file(
    estimator: Any, case: Any, path: Path, *, trusted: bool, brief: bool = False
) -> dict[str, bytes]:
    """Ask an estimator from a file; its answers as bytes.

    Parameters
    ----------
    estimator : object
        As loaded.
    case : FileCase
        Its source has training rows; its bytes choose which of the dearer questions are asked.
    path : Path
        The file.
    trusted : bool
        Whether all of the file was verified: then nothing may be called damaged any more.
    brief : bool, default=False
        Predictions only.
    """
    rows, source = rows_for(estimator), case.source
    rng = random.Random(zlib.crc32(case.data))
    answers: dict[str, bytes] = {}
    for name, ask in _PREDICTIONS.items():
        answer = _answer(ask, estimator, rows, trusted)
        _check_predictions(name, answer)
        answers[name] = b"" if answer is None else np.asarray(side_by_side(answer)).tobytes()
    if brief or not trusted:
        return answers
    one = _answer(_PREDICTIONS["leaves"], estimator, rows[:1], trusted)
    if one is not None and one.tobytes() != answers["leaves"][: one.nbytes]:
        raise WrongAnswerError("differs", "leaves of one row are others in a batch")
    estimator = models_of(estimator)[0]
    for question in rng.sample(_QUESTIONS, QUESTIONS_PER_FILE):
        _ask(question, estimator, rows)
    if rng.random() < SHARE_OF_STUDIES:
        summarise(path, KINDS)
        for study in _STUDIES:
            _ask(study, estimator, source)
    if source.X is not None:
        chosen = ANALYSES if rng.random() < SHARE_OF_ANALYSES else CHEAP
        _ask(rng.choice(chosen), estimator, source.X, source.y)
    return answers


def models_of(estimator: Any) -> list[Any]:
    """The models of a forest and boosting together, or a single one."""
    return estimator.estimators_ if hasattr(estimator, "members_") else [estimator]


def rows_for(estimator: Any) -> np.ndarray:
    """Three rows that an estimator can read, whatever its columns are called."""
    n_features = estimator.n_features_in_
    rows = np.array([[0.5], [-2.0], [np.nan]]) * np.ones(n_features)
    encoding = estimator.fitted_forest_.encoding
    nominal = encoding.nominal
    if not nominal and not encoding.dates:
        return rows
    table = rows.astype(object)
    for feature in encoding.dates:
        table[:, feature] = [np.datetime64("2024-05-31"), np.datetime64("1066-10-14"), None]
    for feature, levels in nominal.items():
        labels = levels.labels
        seen = labels[0] if len(labels) else None
        table[:, feature] = [seen, "never seen", None]
    return table


def _answer(ask: Callable[..., Any], estimator: Any, rows: Any, trusted: bool) -> Any:
    """An answer, or None if the rows are refused."""
    try:
        return ask(estimator, rows)
    except ModelFileError:
        if trusted:
            raise
    except REFUSALS:
        encoding = estimator.fitted_forest_.encoding
        if not encoding.nominal and not encoding.dates:
            raise
    return None


def _ask(ask: Callable[..., Any], *arguments: Any) -> None:
    try:
        ask(*arguments)
    except ModelFileError:
        raise
    except REFUSALS:
        return


def _leaves(estimator: Any, rows: Any) -> Any:
    return np.concatenate([each.apply(rows) for each in models_of(estimator)], axis=1)


def _probabilities(estimator: Any, rows: Any) -> Any:
    return estimator.predict_proba(rows) if hasattr(estimator, "classes_") else None


def _values(estimator: Any, rows: Any) -> Any:
    return None if hasattr(estimator, "classes_") else estimator.predict(rows)


def _classes(estimator: Any, rows: Any) -> Any:
    if not hasattr(estimator, "classes_"):
        return None
    predicted = estimator.predict(rows)
    return np.array([pickle.dumps(each) for each in predicted.tolist()])


_PREDICTIONS: dict[str, Callable[..., Any]] = {
    "leaves": _leaves,
    "probabilities": _probabilities,
    "values": _values,
    "classes": _classes,
    "curves": curves,
    "scores": scores,
}


def _check_predictions(name: str, answer: Any) -> None:
    if answer is None or name not in ("probabilities", "values"):
        return
    check_answers(name, answer)


def _tell_trees(estimator: Any, _rows: Any) -> None:
    str(estimator.forest_.tree(0))


_QUESTIONS: tuple[Callable[..., Any], ...] = (
    _tell_trees,
    lambda estimator, _: analysis.importance(estimator, "projection"),
    lambda estimator, _: str(analysis.tree_rules(estimator)),
    lambda estimator, rows: str(analysis.path_rules(estimator, rows[:1])),
    lambda estimator, _: _importances(estimator),
    lambda estimator, _: str(analysis.importance(estimator, "split_frequency")),
    lambda estimator, _: str(analysis.importance(estimator, "anova")),
    lambda estimator, rows: estimator.decision_path(rows),
    lambda estimator, _: getattr(estimator, "rotations_", None),
    lambda estimator, _: estimator.forest_.depth.max(),
    lambda estimator, _: repr(estimator),
    lambda estimator, rows: _quantiles(estimator, rows),
    lambda estimator, rows: _single_outputs(estimator, rows),
)


def _importances(estimator: Any) -> None:
    if not hasattr(estimator, "score_samples"):  # splits of isolation are random
        check_importances(estimator.feature_importances_)


def _quantiles(estimator: Any, rows: Any) -> None:
    if hasattr(estimator, "predict_quantiles"):
        check_answers("quantiles", estimator.predict_quantiles(rows))
        check_answers("widths of intervals", np.diff(estimator.predict_interval(rows)))


def _single_outputs(estimator: Any, rows: Any) -> None:
    """The forest of one of several outputs predicts what all of them together predict."""
    if getattr(estimator, "n_outputs_", 1) == 1:
        return
    check_importances_of_outputs(estimator)
    whole = estimator.predict(rows)
    for k in {0, estimator.n_outputs_ - 1}:
        single = estimator.output(k)
        if single.predict(rows).tolist() != whole[:, k].tolist():
            raise WrongAnswerError("differs", "the forest of one output predicts something else")
        str(single.forest_.tree(0))


def check_importances_of_outputs(estimator: Any) -> None:
    """Raise unless each output has shares of the features."""
    for shares in estimator.output_importances_:
        check_importances(shares)


def _out_of_bag(estimator: Any, source: Source) -> None:
    if source.X is not None:
        analysis.out_of_bag_curve(estimator, source.X, source.y)


def _training_quantiles(estimator: Any, source: Source) -> None:
    if source.X is not None and hasattr(estimator, "predict_quantiles"):
        check_answers(
            "quantiles",
            estimator.predict_quantiles(source.X[:2], X_train=source.X, y_train=source.y),
        )


def _permuted(estimator: Any, source: Source) -> None:
    if source.X is not None:
        found = analysis.importance(estimator, "permutation", source.X, source.y, n_repeats=2)
        check_answers("permutation importances", np.asarray(found.values))
        str(found)


_STUDIES: tuple[Callable[..., Any], ...] = (_out_of_bag, _training_quantiles, _permuted)
