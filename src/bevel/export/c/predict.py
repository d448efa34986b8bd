"""Predictions in C: the leaves, added up over the trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.export.c.literals import code, narrow, remark, table
from bevel.export.c.model import Model
from bevel.export.c.trees import LeafPredictions

__all__ = ["NO_ROW", "ROW", "shortest", "write_predict"]


def write_predict(model: Model, leaves: LeafPredictions) -> Iterator[str]:
    """The functions that add up the predictions of the leaves."""
    name = model.name
    words = ROW if model.has_splits else NO_ROW
    values = {word: code(text, name) for word, text in words.items()}
    values["n_trees"] = str(model.forest.n_trees)
    if not model.classes:
        yield remark("Predictions of the leaves.")
        yield from table(f"{name}_answer", shortest(leaves.values))
        yield code(_VALUE, name, **values)
        return
    mixed = leaves.mixed
    if len(mixed.index):
        yield remark("Leaves of several classes: classes times 2, plus 1 for the last; shares.")
        coded = (mixed.index.astype(np.int64) << 1) | mixed.is_last
        yield from table(f"{name}_share_class", narrow(coded))
        yield from table(f"{name}_share", mixed.weight)
    values["add"] = code(_ADD_SHARES if len(mixed.index) else _ADD_VOTE, name)
    yield code(_PROBABILITIES, name, **values)


def shortest(values: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """In float32 where nothing is lost, as with targets that are small whole numbers."""
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    return single if np.array_equal(single, values) else values


ROW = {
    "row": """\
    float row[MODEL_N_FEATURES];
    int tree;
    model_read(features, row);
""",
    "leaf": "model_leaf(row, tree)",
}

NO_ROW = {
    "row": """\
    int tree;
    (void)features;
""",
    "leaf": "-model_root[tree]",
}

_VALUE = """
double model_predict(const double *features)
{
    double sum = 0.0;
$row\
    for (tree = 0; tree < $n_trees; ++tree) sum += model_answer[$leaf];
    return sum / $n_trees.0;
}
"""

_ADD_VOTE = """\
        probabilities[leaf] += 1.0;
"""

_ADD_SHARES = """\
        uint32_t at = (uint32_t)leaf - MODEL_N_CLASSES;
        if (leaf < MODEL_N_CLASSES) {
            probabilities[leaf] += 1.0;
            continue;
        }
        do
            probabilities[model_share_class[at] >> 1] += model_share[at];
        while (!(model_share_class[at++] & 1));
"""

_PROBABILITIES = """
void model_predict_proba(const double *features, double *probabilities)
{
    int i;
$row\
    for (i = 0; i < MODEL_N_CLASSES; ++i) probabilities[i] = 0.0;
    for (tree = 0; tree < $n_trees; ++tree) {
        const int32_t leaf = $leaf;
$add\
    }
    for (i = 0; i < MODEL_N_CLASSES; ++i) probabilities[i] /= $n_trees.0;
}

int model_predict(const double *features)
{
    double probabilities[MODEL_N_CLASSES];
    int best = 0, i;
    model_predict_proba(features, probabilities);
    for (i = 1; i < MODEL_N_CLASSES; ++i)
        if (probabilities[i] > probabilities[best]) best = i;
    return best;
}
"""
