"""From a file of rows to a model, its scores, its predictions and its explanation.

>>> from bevel import workflow
>>> result = workflow.fit("iris.csv", "species")  # doctest: +SKIP
>>> workflow.explain(result.model, "iris.csv", target="species")  # doctest: +SKIP
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bevel.tables.options import TableOptions

if TYPE_CHECKING:
    from bevel.workflow import demo_problems as demo_problems
    from bevel.workflow import fitting as fitting
    from bevel.workflow import scores as scores
    from bevel.workflow import targets as targets
    from bevel.workflow import tasks as tasks
    from bevel.workflow.commands import FitResult, TuneResult, explain, fit, predict, tune
else:  # imported at their first use: the help of the command line needs none of them

    def __getattr__(name: str) -> Any:
        if name in ("demo_problems", "fitting", "scores", "targets", "tasks"):
            return import_module(f"bevel.workflow.{name}")
        if name not in __all__:
            raise AttributeError(f"module 'bevel.workflow' has no attribute {name!r}")
        globals()[name] = getattr(import_module("bevel.workflow.commands"), name)
        return globals()[name]


__all__ = ["FitResult", "TableOptions", "TuneResult", "explain", "fit", "predict", "tune"]


def __dir__() -> list[str]:
    return sorted(__all__)
