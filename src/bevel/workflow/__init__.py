"""From a file of rows to a model, its scores, its predictions and its explanation.

>>> from bevel import workflow
>>> result = workflow.fit("iris.csv", "species")  # doctest: +SKIP
>>> workflow.explain(result.model, "iris.csv", target="species")  # doctest: +SKIP
"""

from bevel.tables.options import TableOptions
from bevel.workflow.commands import FitResult, TuneResult, explain, fit, predict, tune

__all__ = ["FitResult", "TableOptions", "TuneResult", "explain", "fit", "predict", "tune"]
