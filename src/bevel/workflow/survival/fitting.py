"""A survival forest from a file of rows with a column of times and one of events."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.analysis import survival_scores
from bevel.analysis.results import SurvivalScores
from bevel.data.survival import SurvivalTarget, read_survival
from bevel.errors import join_names
from bevel.estimators import ObliqueSurvivalForest
from bevel.workflow.labelled_rows import LabelledRows, read_labelled_rows
from bevel.workflow.predicting import Predictions
from bevel.workflow.scores import Estimate
from bevel.workflow.survival.findings import concordance_estimate
from bevel.workflow.tables.options import TableKeywords, TableOptions
from bevel.workflow.tables.source import Source
from bevel.workflow.tables.table_file import TableFile, open_table

__all__ = ["SurvivalFit", "fit_survival", "out_of_bag_risks", "read_survival_columns"]

SEEN = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


@dataclass(frozen=True, eq=False)
class SurvivalFit:
    """A survival forest, and how well it does.

    Attributes
    ----------
    model : ObliqueSurvivalForest
        Fitted.
    scores : SurvivalScores
        Out of bag.
    rows : LabelledRows
        What was read; `y` are the times.
    target : SurvivalTarget
        Times and events.
    event_column : str
        Name of the column of the events.
    seconds : float
        That the fit took.
    """

    model: ObliqueSurvivalForest
    scores: SurvivalScores
    rows: LabelledRows
    target: SurvivalTarget
    event_column: str
    seconds: float

    @property
    def estimates(self) -> dict[str, Estimate]:
        """The out-of-bag concordance with its 95 % interval."""
        return {"concordance": concordance_estimate(self.scores)}

    @property
    def seed(self) -> int | None:
        """With which the forest was grown."""
        seed = self.model.random_state
        return None if seed is None else int(seed)


def fit_survival(
    data: str | Path | Source,
    time: str,
    event: str,
    *,
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
        Columns: the time until the event or until a row was last seen, and which of the two. Events
        are 1 and 0, true and false, or yes and no.
    parameters : dict, default=None
        Parameters of `bevel.ObliqueSurvivalForest`.
    drop, nominal, keep_id, weights, row_id
        As in `bevel.workflow.fit`.
    on_note, on_progress : callable
        As in `bevel.workflow.fit`.
    **table
        How the file is read.
    """
    source = data if isinstance(data, Source) else Path(data)
    options = TableOptions(**table)
    if time == event:
        raise ValueError(f"`time` and `event` must be two columns; got {time!r} for both.")
    rows = read_labelled_rows(
        source,
        time,
        task="regression",
        drop=[*drop, event],
        nominal=nominal,
        keep_id=keep_id,
        weights=weights,
        row_id=row_id,
        options=options,
    )
    for note in rows.notes if on_note else ():
        assert on_note is not None
        on_note(note)
    seen = _read_events(open_table(source, options), event)
    if rows.number is not None:
        seen = seen[rows.number - 1]
    target = read_survival((rows.y, seen), len(rows.y), needs_event=True)

    def advance(done: int, total: int) -> None:
        if on_progress is not None:
            on_progress("growing trees", done, total)

    model = ObliqueSurvivalForest(**{"oob_score": True, **(parameters or {})}, callback=advance)
    start = clock.perf_counter()
    model.fit(rows.X, target, rows.weights)
    seconds = clock.perf_counter() - start
    model.set_params(callback=None)
    scores = survival_scores(model, rows.X, target, out_of_bag=True, sample_weight=rows.weights)
    return SurvivalFit(model, scores, rows, target, event, seconds)


def out_of_bag_risks(found: SurvivalFit) -> Predictions:
    """Out-of-bag risks of the rows, beside their times and events."""
    rows = found.rows
    event = found.target.event.astype(int)
    beside = {**rows.ids, rows.target: found.target.time, found.event_column: event}
    return Predictions(found.model.oob_prediction_, [], None, (), ids=beside)


def read_survival_columns(
    data: Path | Source, time: str, event: str, options: TableOptions
) -> tuple[Floats, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Times and events of all rows of a file, and which rows have a time."""
    table = open_table(data, options)
    table.check_present([time, event])
    read = table.read([time], {time: "numeric"}).columns
    known = ~read.missing(0)
    return read.values[0].astype(np.float64), _read_events(table, event), known


def _read_events(table: TableFile, event: str) -> npt.NDArray[np.bool_]:
    words = table.read([event], {event: "nominal"}).columns.values[0]
    labels = ["" if word is None else str(word).strip().lower() for word in words]
    labels = [label.removesuffix(".0") for label in labels]
    unknown = sorted({label or "a missing value" for label in labels} - set(SEEN))
    if unknown:
        raise ValueError(
            f"{table.source}: the events in column {event!r} must be 1 and 0, true and false, or "
            f"yes and no; got {join_names(unknown)}. Recode the column, or name another."
        )
    return np.array([SEEN[label] for label in labels], dtype=bool)
