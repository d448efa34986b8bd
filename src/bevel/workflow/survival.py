"""A survival forest from a file of rows with a column of times and one of events."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from bevel.analysis import survival_scores
from bevel.analysis.results import SurvivalScores
from bevel.errors import join_names
from bevel.estimators import ObliqueSurvivalForest
from bevel.workflow.labelled_rows import LabelledRows, read_labelled_rows
from bevel.workflow.tables.options import TableKeywords, TableOptions
from bevel.workflow.tables.source import Source
from bevel.workflow.tables.table_file import open_table

__all__ = ["SurvivalFit", "fit_survival"]

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
    event : ndarray of bool
        Whether the event was seen, by row.
    event_column : str
        Name of the column of the events.
    seconds : float
        That the fit took.
    """

    model: ObliqueSurvivalForest
    scores: SurvivalScores
    rows: LabelledRows
    event: npt.NDArray[np.bool_]
    event_column: str
    seconds: float


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
    seen = _read_events(source, event, rows, options)

    def advance(done: int, total: int) -> None:
        if on_progress is not None:
            on_progress("growing trees", done, total)

    model = ObliqueSurvivalForest(**{"oob_score": True, **(parameters or {})}, callback=advance)
    start = clock.perf_counter()
    model.fit(rows.X, (rows.y, seen), rows.weights)
    seconds = clock.perf_counter() - start
    model.set_params(callback=None)
    scores = survival_scores(model, rows.X, (rows.y, seen), out_of_bag=True)
    return SurvivalFit(model, scores, rows, seen, event, seconds)


def _read_events(
    source: Path | Source, event: str, rows: LabelledRows, options: TableOptions
) -> npt.NDArray[np.bool_]:
    table = open_table(source, options)
    words = table.read([event], {event: "nominal"}).columns.values[0]
    if rows.number is not None:
        words = words[rows.number - 1]
    labels = ["" if word is None else str(word).strip().lower() for word in words]
    labels = [label.removesuffix(".0") for label in labels]
    unknown = sorted({label or "a missing value" for label in labels} - set(SEEN))
    if unknown:
        raise ValueError(
            f"{table.source}: the events in column {event!r} must be 1 and 0, true and false, or "
            f"yes and no; got {join_names(unknown)}. Recode the column, or name another."
        )
    return np.array([SEEN[label] for label in labels], dtype=bool)
