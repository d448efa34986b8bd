"""Which part of a model is explained, by the columns that are named."""

from __future__ import annotations

from typing import Any

from bevel.errors import join_names

__all__ = ["check_columns", "of_target"]


def of_target(model: Any, target: str | None) -> Any:
    """The model of one output, if the target is one of several."""
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


def check_columns(model: Any, target: str | None, time: str | None, event: str | None) -> None:
    """Raise if columns are named that the model does not predict."""
    if model.fitted_forest_.survival is None:
        if time is not None or event is not None:
            raise ValueError(
                "`time` and `event` belong to a survival forest; got a model of classes or "
                "numbers. Name its `target`."
            )
        return
    if target is not None:
        raise ValueError(
            "`target` belongs to a model of classes or numbers; got a survival forest. Name the "
            "columns `time` and `event`."
        )
    if (time is None) != (event is None):
        raise ValueError(
            "`time` and `event` belong together: the time of each row, and whether the event was "
            "seen then; got one of them. Name both columns, or none."
        )
