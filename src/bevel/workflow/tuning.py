"""Searches parameters on labelled rows of a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from bevel.errors import wrong_value
from bevel.projections.families import TableShape
from bevel.tuning import TuningResult, tune
from bevel.tuning.candidates import sporf_grid
from bevel.tuning.parameter_file import read_parameter_file
from bevel.workflow.fitting import Settings, make
from bevel.workflow.labelled_rows import LabelledRows

__all__ = ["GRIDS", "tune_rows", "with_parameter_file"]

GRIDS = ("auto", "sporf")


def tune_rows(
    data: LabelledRows, settings: Settings, *, grid: str, all_powers: bool, **options: Any
) -> TuningResult:
    """Search on the rows of a file.

    Parameters
    ----------
    data : LabelledRows
        Rows to learn from.
    settings : Settings
        Settings of the first candidate.
    grid : {"auto", "sporf"}
        Candidates of general use, or SPORF's grid.
    all_powers : bool
        With "sporf", try d = p² too, even if these directions are many.
    **options
        Options of `bevel.tune`.
    """
    if grid not in GRIDS:
        raise wrong_value("grid", '"auto" or "sporf"', grid, "Leave it out for the usual ones.")
    if all_powers and grid != "sporf":
        required, remedy = 'False unless grid="sporf"', "Ask for that grid, or leave it out."
        raise wrong_value("all_powers", required, all_powers, remedy)
    candidates: Any = "auto"
    if grid == "sporf":
        n_rows, n_features = data.X.shape
        n_nominal = len(data.X.nominal)
        shape = TableShape(n_rows, n_features - n_nominal, n_nominal)
        candidates = sporf_grid(shape, all_powers=all_powers)
        if not candidates:
            raise ValueError(
                "SPORF's grid needs at least one numeric column to make directions of; got "
                "nominal columns only. Leave `grid` out."
            )
    return tune(make(data, settings), data.X, data.y, candidates=candidates, **options)


def with_parameter_file(settings: Settings, path: Path, data: LabelledRows) -> Settings:
    """Settings with the parameters of a file in place of the defaults.

    Parameters
    ----------
    settings : Settings
        Settings whose projection must be a default: that of the file would contradict another one.
    path : Path
        File written by `bevel tune --out`.
    data : LabelledRows
        Rows to learn from.
    """
    default = Settings()
    given = (settings.projection, settings.n_projections)
    if given != (default.projection, default.n_projections):
        raise ValueError(
            f"`params` must be the only source of the projection; got `projection` and "
            f"`n_projections` {given} beside it. Leave them out, or edit the file."
        )
    read = read_parameter_file(path, type(make(data, settings)), data.target)
    return replace(
        settings,
        projection=read.pop("projection", "auto"),
        n_projections=read.pop("n_projections", "auto"),
        others={**read, **settings.others},
    )
