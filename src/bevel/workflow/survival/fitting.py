"""Fits a survival forest to a file of rows with columns of times and events."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from bevel.analysis import survival_scores
from bevel.analysis.results import SurvivalScores
from bevel.data.survival import SurvivalTarget
from bevel.estimators import ObliqueSurvivalForest
from bevel.tables.options import TableKeywords, TableOptions
from bevel.tables.source import Source
from bevel.workflow.labelled_rows import LabelledRows, read_labelled_rows
from bevel.workflow.predicting import Predictions
from bevel.workflow.scores import Estimate
from bevel.workflow.survival.columns import SurvivalColumns, read_survival_columns
from bevel.workflow.survival.findings import concordance_estimate

__all__ = ["SurvivalFit", "fit_survival", "out_of_bag_risks"]


@dataclass(frozen=True, eq=False)
class SurvivalFit:
    """A survival forest, and its scores.

    Attributes
    ----------
    model : ObliqueSurvivalForest
        Fitted model.
    scores : SurvivalScores
        Out-of-bag scores.
    rows : LabelledRows
        Rows of the file; `y` are the times.
    target : SurvivalTarget
        Times and events.
    event_column : str
        Name of the column of the events.
    entry_column : str or None
        Name of the column of the entries, if rows enter late.
    seconds : float
        Duration of the fit.
    """

    model: ObliqueSurvivalForest
    scores: SurvivalScores
    rows: LabelledRows
    target: SurvivalTarget
    event_column: str
    entry_column: str | None
    seconds: float

    @property
    def estimates(self) -> dict[str, Estimate]:
        """The out-of-bag concordance with its 95 % interval."""
        return {"concordance": concordance_estimate(self.scores)}

    @property
    def seed(self) -> int | None:
        """Seed of the forest."""
        seed = self.model.random_state
        return None if seed is None else int(seed)


def fit_survival(
    data: str | Path | Source,
    time: str,
    event: str,
    *,
    entry: str | None = None,
    parameters: dict[str, Any] | None = None,
    drop: Sequence[str] = (),
    nominal: Sequence[str] = (),
    keep_id: bool = False,
    weights: str | None = None,
    row_id: Sequence[str] = (),
    on_note: Callable[[str], None] | None = None,
    on_progress: Callable[[str, int, int], None] | None = None,
    **table: Unpack[TableKeywords],
) -> SurvivalFit:
    """Fit a survival forest to a file of rows and score it out of bag.

    Parameters
    ----------
    data : path
        CSV, TSV (both may be gzipped) or Parquet.
    time, event : str
        Columns of the time until the event or until a row was last seen, and of the event. Events
        are 1 and 0, true and false, or yes and no; with ``competing_risks=True`` among the
        parameters the numbers of causes from 1 on, and 0 for none.
    entry : str, default=None
        Column of the times from which rows are seen (left truncation).
    parameters : dict, default=None
        Parameters of `bevel.ObliqueSurvivalForest`.
    drop, nominal, keep_id, weights, row_id
        Parameters as in `bevel.workflow.fit`.
    on_note, on_progress : callable
        Callbacks as in `bevel.workflow.fit`.
    **table
        Format of the file.
    """
    source = data if isinstance(data, Source) else Path(data)
    options = TableOptions(**table)
    if time == event:
        raise ValueError(f"`time` and `event` must be two columns; got {time!r} for both.")
    if entry in (time, event):
        raise ValueError(f"`entry` must be a column of its own; got {entry!r}, as for another.")
    competing = bool((parameters or {}).get("competing_risks", False))
    rows = read_labelled_rows(
        source,
        time,
        task="regression",
        drop=[*drop, event, *([] if entry is None else [entry])],
        nominal=nominal,
        keep_id=keep_id,
        weights=weights,
        row_id=row_id,
        options=options,
    )
    for note in rows.notes if on_note else ():
        assert on_note is not None
        on_note(note)
    columns = read_survival_columns(source, SurvivalColumns(time, event, entry, competing), options)
    chosen = slice(None) if rows.number is None else rows.number - 1
    target = columns.target(chosen, rows.y)

    def advance(done: int, total: int) -> None:
        if on_progress is not None:
            on_progress("growing trees", done, total)

    model = ObliqueSurvivalForest(**{"oob_score": True, **(parameters or {})}, callback=advance)
    start = clock.perf_counter()
    model.fit(rows.X, target, rows.weights)
    seconds = clock.perf_counter() - start
    model.set_params(callback=None)
    scores = survival_scores(model, rows.X, target, out_of_bag=True, sample_weight=rows.weights)
    return SurvivalFit(model, scores, rows, target, event, entry, seconds)


def out_of_bag_risks(found: SurvivalFit) -> Predictions:
    """Out-of-bag risks of the rows, beside their times and events."""
    rows = found.rows
    target = found.target
    event = target.event.astype(int) if target.cause is None else target.cause
    beside = {**rows.ids, rows.target: target.time, found.event_column: event}
    return Predictions(found.model.oob_prediction_, [], None, (), ids=beside)
