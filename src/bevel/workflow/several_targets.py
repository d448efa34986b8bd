"""Fits one forest to several target columns of a file: `bevel fit --target a,b`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.data.tables import Columns
from bevel.errors import NoOutOfBagError
from bevel.tables.options import Source, TableOptions
from bevel.tables.table_file import open_table
from bevel.workflow.fitting import Settings, default_trees, make
from bevel.workflow.predicting import Predictions
from bevel.workflow.rows import LabelledRows, read_labelled_rows
from bevel.workflow.scores import Estimate, classification_scores, regression_scores

__all__ = ["OutputFit", "fit_outputs", "out_of_bag_outputs", "split_targets"]


@dataclass(frozen=True, eq=False)
class OutputFit:
    """A forest of several outputs, fitted to a file of rows.

    Attributes
    ----------
    model : estimator
        The forest.
    scores : dict of str to dict of str to Estimate
        Out-of-bag scores of each output; empty if no row is out of a bag.
    rows : LabelledRows
        Rows of the file, with the first of the targets.
    targets : tuple of str
        Names of the targets.
    settings : Settings
        Settings of the forest.
    seconds : float
        Time to grow the trees.
    y : Columns
        The targets.
    out_of_bag : dict of str to ndarray
        Out-of-bag probabilities or values of each output, NaN for rows in every bag; empty if no
        row is out of a bag.
    """

    model: Any
    scores: dict[str, dict[str, Estimate]]
    rows: LabelledRows
    targets: tuple[str, ...]
    settings: Settings
    seconds: float
    y: Columns
    out_of_bag: dict[str, Floats]

    def rows_of(self, target: str) -> LabelledRows:
        """The rows with one of the targets."""
        place = self.targets.index(target)
        return replace(self.rows, y=self.y.values[place], target=target)


def split_targets(data: Source, target: str, options: TableOptions) -> tuple[str, ...]:
    """Names of the target columns, separated by commas, unless a column has the whole name."""
    if "," not in target or target in open_table(data, options).names:
        return (target,)
    names = tuple(name.strip() for name in target.split(","))
    if "" in names or len(set(names)) < len(names):
        raise ValueError(
            f"`target` must name different columns between commas; got {target!r}. Write for "
            "example a,b."
        )
    return names


def fit_outputs(
    data: Source,
    targets: Sequence[str],
    settings: Settings,
    *,
    task: str = "auto",
    drop: Sequence[str] = (),
    nominal: Sequence[str] = (),
    keep_id: bool = False,
    weights: str | None = None,
    row_id: Sequence[str] = (),
    options: TableOptions,
    on_progress: Callable[[str, int, int], object] = lambda *_: None,
) -> OutputFit:
    """Fit a forest to several target columns and score each out of bag.

    Parameters
    ----------
    data : Source
        The file.
    targets : sequence of str
        Columns to predict, all of them classes or all of them numbers.
    settings : Settings
        Settings of the forest; by default it has as many trees as the estimator.
    task, drop, nominal, keep_id, weights, row_id, options
        Parameters as in `read_labelled_rows`.
    on_progress : callable
        Called with the name of the step, the number of its parts done, and their total.
    """
    parts = [
        read_labelled_rows(
            data,
            target,
            task=task,
            drop=[*drop, *(other for other in targets if other != target)],
            nominal=[name for name in nominal if name == target or name not in targets],
            keep_id=keep_id,
            weights=weights,
            row_id=row_id,
            options=options,
        )
        for target in targets
    ]
    _check_tasks(parts)
    rows, y = _joined(parts)
    settings = replace(settings, n_trees=settings.n_trees or default_trees(rows.task))
    model = make(
        *(rows, settings),
        oob_score=True,
        callback=lambda done, total: on_progress("growing trees", done, total),
    )
    start = time.perf_counter()
    try:
        model.fit(rows.X, y, rows.weights)
    except NoOutOfBagError:
        model.set_params(oob_score=False).fit(rows.X, y, rows.weights)
    seconds = time.perf_counter() - start
    model.set_params(callback=None)
    unseen = _out_of_bag(model, y) if model.oob_score else {}
    scores = _scores(model, y, unseen)
    return OutputFit(model, scores, rows, tuple(targets), settings, seconds, y, unseen)


def out_of_bag_outputs(found: OutputFit) -> Predictions:
    """Out-of-bag predictions of all outputs, beside their targets."""
    if not found.out_of_bag:
        raise ValueError(
            "Out-of-bag predictions need trees that leave rows out; with this projection each is "
            "grown on all rows. Choose another projection, or predict other rows."
        )
    beside = dict(found.rows.ids) | dict(zip(found.targets, found.y.values, strict=True))
    if not hasattr(found.model, "classes_"):
        values = np.column_stack([found.out_of_bag[name] for name in found.targets])
        return Predictions(values, [], None, (), ids=beside, outputs=found.targets)
    predicted, names, shares = [], [], []
    for name, classes in zip(found.targets, found.model.classes_, strict=True):
        own = found.out_of_bag[name]
        known = ~np.isnan(own).any(axis=1)
        best = np.asarray(classes)[np.nan_to_num(own).argmax(axis=1)]
        predicted.append(np.where(known, best.astype(object), ""))
        names += [f"{name}_{label}" for label in classes]
        shares.append(own)
    values = np.column_stack(predicted)
    return Predictions(values, names, np.hstack(shares), (), ids=beside, outputs=found.targets)


def _check_tasks(parts: Sequence[LabelledRows]) -> None:
    tasks = {part.target: part.task for part in parts}
    if len(set(tasks.values())) > 1:
        listed = ", ".join(f"{name!r}: {task}" for name, task in tasks.items())
        raise ValueError(
            f"Several targets must be all classes or all numbers; got {listed}. Fit them in two "
            "models, or pass `task`."
        )


def _joined(parts: Sequence[LabelledRows]) -> tuple[LabelledRows, Columns]:
    """The rows that have all targets, and their targets."""
    numbers = [np.asarray(part.number) for part in parts]
    known = numbers[0]
    for own in numbers[1:]:
        known = np.intersect1d(known, own)
    chosen = [np.isin(own, known) for own in numbers]
    names = tuple(part.target for part in parts)
    y = Columns(names, tuple(part.y[own] for part, own in zip(parts, chosen, strict=True)))
    first, own = parts[0], chosen[0]
    notes = tuple(dict.fromkeys(note for part in parts for note in part.notes))
    rows = LabelledRows(
        first.X.rows(own),
        first.y[own],
        first.task,
        first.target,
        notes,
        known,
        None if first.weights is None else first.weights[own],
        {name: words[own] for name, words in first.ids.items()},
    )
    return rows, y


def _out_of_bag(model: Any, y: Columns) -> dict[str, Floats]:
    if hasattr(model, "classes_"):
        return dict(zip(y.names, model.oob_decision_function_, strict=True))
    return dict(zip(y.names, model.oob_prediction_.T, strict=True))


def _scores(model: Any, y: Columns, unseen: dict[str, Floats]) -> dict[str, dict[str, Estimate]]:
    found = {}
    is_classifier = hasattr(model, "classes_")
    for k, (name, truth) in enumerate(zip(y.names, y.values, strict=True)):
        if name not in unseen:
            continue
        own = unseen[name]
        known = ~np.isnan(own).reshape(len(truth), -1).any(axis=1)
        if not known.any():
            continue
        found[name] = _score(own[known], truth[known], model.classes_[k] if is_classifier else None)
    return found


def _score(
    predictions: npt.NDArray[np.float64], truth: npt.NDArray[Any], classes: Any
) -> dict[str, Estimate]:
    if classes is None:
        return regression_scores(truth.astype(np.float64), predictions)
    return classification_scores(np.searchsorted(classes, truth), predictions)
