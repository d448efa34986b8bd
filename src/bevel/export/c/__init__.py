"""C export: a forest as one C99 file without dependencies that predicts the same bits as Python.

The file has tables and a few short functions. `trees` makes the tables as arrays; `heading`,
`rows`, `walk`, `predict` and `labels` write one part of the file each, in pieces; `literals`
writes C literals.
"""

from __future__ import annotations

from collections.abc import Iterator

from bevel.export.c.heading import write_class_names, write_ending, write_heading, write_levels
from bevel.export.c.literals import narrow, remark, table
from bevel.export.c.model import Model, read_model
from bevel.export.c.predict import write_additive_predict, write_predict
from bevel.export.c.rows import write_rows
from bevel.export.c.trees import leaf_predictions, steps, write_walk
from bevel.forest.aggregation import SumOfTrees
from bevel.forest.fitted_forest import FittedForest

__all__ = ["write_c"]


def write_c(fitted: FittedForest, name: str = "model") -> Iterator[str]:
    """Write a fitted estimator as C, in pieces of text.

    Parameters
    ----------
    fitted : FittedForest
        The forest.
    name : str, default="model"
        Prefix of everything in the file: `model_predict`, `MODEL_N_FEATURES`.
    """
    fitted.task.check_one_output("to_c")
    return _write(read_model(fitted, name))


def _write(model: Model) -> Iterator[str]:
    leaves = leaf_predictions(model.forest, model.hard)
    walk = steps(model.forest, leaves.of_node)
    yield from write_heading(model)
    if model.has_splits:
        yield from write_rows(model)
        yield from write_walk(model, walk)
    else:
        yield remark("Trees without splits: minus their predictions.")
        yield from table(f"{model.name}_root", narrow(walk.root))
    aggregation = model.fitted.aggregation
    if isinstance(aggregation, SumOfTrees):
        yield from write_additive_predict(model, aggregation, leaves)
    else:
        yield from write_predict(model, leaves)
    if model.classes:
        yield from write_class_names(model)
    yield from write_levels(model)
    yield write_ending(model)
