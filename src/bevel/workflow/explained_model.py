"""Selects the part of a model to explain, by the given columns."""

from __future__ import annotations

from typing import Any

from bevel.errors import join_names
from bevel.workflow.survival.columns import SurvivalColumns

__all__ = ["of_target", "survival_columns"]


def of_target(model: Any, target: str | None) -> Any:
    """The model of one output, if the target is one of several outputs."""
    fitted = getattr(model, "fitted_forest_", None)
    outputs = None if fitted is None else fitted.outputs
    if outputs is None:
        return model
    if target not in outputs.names:
        names = join_names([repr(name) for name in outputs.names])
        raise ValueError(
            f"`target` must name one of the {len(outputs)} outputs of the model ({names}), which "
            f"is then explained; got {target!r}. Name one of them."
        )
    return model.output(target)


def survival_columns(
    model: Any, target: str | None, time: str | None, event: str | None, entry: str | None
) -> SurvivalColumns | None:
    """The columns of times; raises for columns that the model does not predict."""
    record = model.fitted_forest_.survival
    if record is None:
        if not time is event is entry is None:
            raise ValueError(
                "`time`, `event` and `entry` belong to a survival forest; got a model of classes "
                "or numbers. Name its `target`."
            )
        return None
    if target is not None:
        raise ValueError(
            "`target` belongs to a model of classes or numbers; got a survival forest. Name the "
            "columns `time` and `event`."
        )
    if (time is None) != (event is None) or (time is None and entry is not None):
        raise ValueError(
            "`time` and `event` belong together, and `entry` to both: the time of each row, "
            "whether the event was seen then, and since when the row is seen; got a part of "
            "them. Name both columns, or none."
        )
    if time is None or event is None:
        return None
    return SurvivalColumns(time, event, entry, competing=record.n_causes > 1)
