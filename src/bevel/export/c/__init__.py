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
from bevel.export.c.predict import (
    write_additive_predict,
    write_member_declarations,
    write_predict,
    write_weighted_predict,
)
from bevel.export.c.rows import write_rows
from bevel.export.c.trees import leaf_predictions, steps, write_walk
from bevel.forest.aggregation import SumOfTrees, WeightedSum
from bevel.forest.fitted_forest import FittedCombination, FittedForest

__all__ = ["write_c"]


def write_c(fitted: FittedForest | FittedCombination, name: str = "model") -> Iterator[str]:
    """Write a fitted estimator as C, in pieces of text.

    Parameters
    ----------
    fitted : FittedForest or FittedCombination
        The forest, or models with weights.
    name : str, default="model"
        Prefix of everything in the file: `model_predict`, `MODEL_N_FEATURES`.
    """
    fitted.task.check_one_output("to_c")
    return _write(read_model(fitted, name))


def _write(model: Model) -> Iterator[str]:
    yield from write_heading(model)
    aggregation = model.fitted.aggregation
    if isinstance(aggregation, WeightedSum):
        for member in model.members:
            yield from write_member_declarations(model, member)
            yield from _write_trees(member)
        yield from write_weighted_predict(model, aggregation)
    else:
        yield from _write_trees(model)
    if model.classes:
        yield from write_class_names(model)
    yield from write_levels(model)
    yield write_ending(model)


def _write_trees(model: Model) -> Iterator[str]:
    """The tables and functions of a single model."""
    leaves = leaf_predictions(model.forest, model.hard)
    walk = steps(model.forest, leaves.of_node)
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
