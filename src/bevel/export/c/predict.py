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
    calibrated = model.power != 1.0
    values["declaration"] = code(_SHARES if calibrated else _PROBABILITIES, name)
    yield code(_MEAN_SHARES, name, **values)
    if calibrated:
        yield from _write_power(model)
    yield code(_CLASS, name, function="shares" if calibrated else "predict_proba")


def _write_power(model: Model) -> Iterator[str]:
    """Function for the probabilities of a calibrated forest; see `share_power.h` of the core."""
    whole, has_root = divmod(int(2.0 * model.power), 2)
    if has_root:
        yield code(_ROOT, model.name)
    start = f"{model.name}_root_of(x)" if has_root else "1.0"
    yield code(_POWER, model.name, start=start, whole=str(whole))


def shortest(values: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """Convert to float32 where it is exact, as for targets that are small whole numbers."""
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

_PROBABILITIES = "void model_predict_proba"
_SHARES = "static void model_shares"

_MEAN_SHARES = """
$declaration(const double *features, double *probabilities)
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
"""

# The largest integer R with R * R <= x * 2^106, bit by bit, then rounded as in IEEE 754.
_ROOT = """
static double model_root_of(double x)
{
    uint64_t number, root = 0, rest = 0;
    double scale = 1.0 / 9007199254740992.0;
    int i;
    if (!(x > 0.0)) return x;
    if (x >= 1.0) return 1.0;
    for (; x < 0.25; x *= 4.0) scale *= 0.5;
    number = (uint64_t)(x * 18014398509481984.0);
    for (i = 52; i >= 0; --i) {
        rest = rest << 2 | (i >= 26 ? number >> 2 * (i - 26) & 3 : 0);
        root <<= 1;
        if (rest > root << 1) {
            rest -= (root << 1) + 1;
            ++root;
        }
    }
    return (double)(root + (rest > root)) * scale;
}
"""

_POWER = """
void model_predict_proba(const double *features, double *probabilities)
{
    double sum = 0.0;
    int i, j;
    model_shares(features, probabilities);
    for (i = 0; i < MODEL_N_CLASSES; ++i) {
        const double x = probabilities[i];
        double power = $start;
        for (j = 0; j < $whole; ++j) power *= x;
        probabilities[i] = power;
        sum += power;
    }
    for (i = 0; i < MODEL_N_CLASSES; ++i) probabilities[i] /= sum;
}
"""

_CLASS = """
int model_predict(const double *features)
{
    double probabilities[MODEL_N_CLASSES];
    int best = 0, i;
    model_$function(features, probabilities);
    for (i = 1; i < MODEL_N_CLASSES; ++i)
        if (probabilities[i] > probabilities[best]) best = i;
    return best;
}
"""
