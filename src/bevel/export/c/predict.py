"""Predictions in C: the leaves, added up over the trees, and the links of boosted trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.export.c.literals import code, narrow, remark, table
from bevel.export.c.model import Model
from bevel.export.c.trees import LeafPredictions
from bevel.forest.aggregation import SumOfTrees, WeightedSum

__all__ = [
    "NO_ROW",
    "ROW",
    "shortest",
    "write_additive_predict",
    "write_member_declarations",
    "write_predict",
    "write_weighted_predict",
]


def write_predict(model: Model, leaves: LeafPredictions) -> Iterator[str]:
    """The functions that add up the predictions of the leaves."""
    name = model.name
    values = words_of_row(model)
    values["n_trees"] = str(model.forest.n_trees)
    if not model.classes:
        yield remark("Predictions of the leaves.")
        yield from _write_answers(name, leaves)
        values["answer"] = _answer(model, leaves)
        yield code(_VALUE, name, **values)
        return
    mixed = leaves.mixed
    if len(mixed.index):
        yield remark("Leaves of several classes: classes times 2, plus 1 for the last; shares.")
        coded = (mixed.index.astype(np.int64) << 1) | mixed.is_last
        yield from table(f"{name}_share_class", narrow(coded))
        yield from table(f"{name}_share", mixed.weight)
    values["add"] = code(_ADD_SHARES if len(mixed.index) else _ADD_VOTE, name)
    calibrated = model.power != 1.0 or model.least != 0.0
    values["declaration"] = code(_SHARES if calibrated else _PROBABILITIES, name)
    yield code(_MEAN_SHARES, name, **values)
    if calibrated:
        yield from _write_power(model)
    if not model.is_member:
        yield code(_CLASS, name, function="shares" if calibrated else "predict_proba")


def _write_power(model: Model) -> Iterator[str]:
    """Function for the probabilities of a calibrated forest; see `share_power.h` of the core."""
    whole, has_root = divmod(int(2.0 * model.power), 2)
    if has_root:
        yield code(_ROOT, model.name)
    start = f"{model.name}_root_of(x)" if has_root else "1.0"
    yield code(
        *(_POWER, model.name),
        power=code(_RAISE, model.name, start=start, whole=whole) if model.power != 1.0 else "",
        least=code(_LEAST, model.name, least=model.least) if model.least else "",
    )


def shortest(values: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """Convert to float32 where it is exact, as for targets that are small whole numbers."""
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    return single if np.array_equal(single, values) else values


def words_of_row(model: Model) -> dict[str, str]:
    """Declaration of an encoded row, and the leaf that it reaches."""
    words, n_columns = ROW if model.has_splits else NO_ROW, model.forest.n_features
    return {word: code(text, model.name, n_columns=n_columns) for word, text in words.items()}


def _write_answers(name: str, leaves: LeafPredictions) -> Iterator[str]:
    """Values of the leaves, and the terms of their linear models."""
    yield from table(f"{name}_answer", shortest(leaves.values))
    terms = leaves.terms
    if not len(terms.index):
        return
    yield remark("Linear models of leaves: where the terms of each begin, and the end of the last;")
    yield remark("features, coefficients, and the ranges that the features are cut to.")
    yield from table(f"{name}_term_start", narrow(np.append(terms.start, len(terms.index))))
    yield from table(f"{name}_leaf_feature", narrow(terms.index))
    yield from table(f"{name}_slope", terms.weight)
    for side, values in zip(("lowest", "highest"), leaves.ranges, strict=True):
        yield from table(f"{name}_{side}", values)
    yield code(_ANSWER, name)


def _answer(model: Model, leaves: LeafPredictions) -> str:
    """What a tree predicts, as C."""
    text = "model_answer_of(row, $leaf)" if len(leaves.terms.index) else "model_answer[$leaf]"
    return code(text, model.name, leaf=words_of_row(model)["leaf"])


# Products of two floats are exact in double.
_ANSWER = """
static double model_answer_of(const float *row, int32_t leaf)
{
    double value = model_answer[leaf];
    uint32_t at;
    for (at = model_term_start[leaf]; at < model_term_start[leaf + 1]; ++at) {
        float x = model_filled(row, model_leaf_feature[at]);
        x = x < model_lowest[at] ? model_lowest[at] : x > model_highest[at] ? model_highest[at] : x;
        value += (double)model_slope[at] * (double)x;
    }
    return value;
}
"""

ROW = {
    "row": """\
    float row[$n_columns];
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
    for (tree = 0; tree < $n_trees; ++tree) sum += $answer;
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
    int i;
    model_shares(features, probabilities);
$power\
$least\
}
"""

_RAISE = """\
    {
        double sum = 0.0;
        for (i = 0; i < MODEL_N_CLASSES; ++i) {
            const double x = probabilities[i];
            double power = $start;
            int j;
            for (j = 0; j < $whole; ++j) power *= x;
            probabilities[i] = power;
            sum += power;
        }
        for (i = 0; i < MODEL_N_CLASSES; ++i) probabilities[i] /= sum;
    }
"""

_LEAST = """\
    {   /* No class is impossible: all have a part of one tree's vote. */
        double sum = 0.0;
        int low = 0;
        for (i = 0; i < MODEL_N_CLASSES; ++i) low |= probabilities[i] < $least;
        if (!low) return;
        for (i = 0; i < MODEL_N_CLASSES; ++i) {
            if (probabilities[i] < $least) probabilities[i] = $least;
            sum += probabilities[i];
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


def write_additive_predict(
    model: Model, additive: SumOfTrees, leaves: LeafPredictions
) -> Iterator[str]:
    """The functions that add up the trees of each output and apply the link."""
    name = model.name
    yield remark("What the leaves add, and what the sums start from.")
    yield from _write_answers(name, leaves)
    yield from table(f"{name}_baseline", np.array(additive.baseline))
    words = words_of_row(model) | {"answer": _answer(model, leaves)}
    numbers = {"n_outputs": str(additive.n_outputs), "n_trees": str(model.forest.n_trees)}
    yield code(_SUMS, name, **words, **numbers)
    if additive.link in ("exponential", "logistic", "softmax"):
        yield code(_EXPONENTIAL, name)
    yield code(_LINKS[additive.link], name, **numbers)
    if model.classes and not model.is_member:
        yield code(_CLASS_OF_SUMS[additive.link], name)


_SUMS = """
static void model_sums(const double *features, double *sums)
{
    int output = 0;
$row\
    for (tree = 0; tree < $n_outputs; ++tree) sums[tree] = model_baseline[tree];
    for (tree = 0; tree < $n_trees; ++tree) {
        sums[output] += $answer;
        output = output + 1 == $n_outputs ? 0 : output + 1;
    }
}
"""

# The steps of the core's own exponential, so that the bits equal those of Python.
_EXPONENTIAL = """
#include <string.h>

static double model_exp(double x)
{
    static const double inverse_factorial[14] = {
        1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320,
        1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0};
    double scaled, whole, r, series, power;
    int64_t k;
    uint64_t bits;
    int i;
    if (!(x > -708.0)) return 0.0;
    if (x > 709.0) x = 709.0;
    scaled = x * 1.4426950408889634074;
    k = (int64_t)(scaled < 0.0 ? scaled - 0.5 : scaled + 0.5);
    whole = (double)k;
    r = (x - whole * 6.93147180369123816490e-01) - whole * 1.90821492927058770002e-10;
    series = inverse_factorial[13];
    for (i = 12; i >= 0; --i) series = series * r + inverse_factorial[i];
    bits = (uint64_t)(k + 1023) << 52;
    memcpy(&power, &bits, sizeof power);
    return series * power;
}
"""

_IDENTITY = """
double model_predict(const double *features)
{
    double sum;
    model_sums(features, &sum);
    return sum;
}
"""

_EXPONENTIAL_LINK = """
double model_predict(const double *features)
{
    double sum;
    model_sums(features, &sum);
    sum = sum > 230.0 ? 230.0 : sum < -230.0 ? -230.0 : sum; /* means are finite numbers */
    return model_exp(sum);
}
"""

_SORTED = """
void model_predict(const double *features, double *quantiles)
{
    int i, j;
    model_sums(features, quantiles);
    for (i = 1; i < MODEL_N_QUANTILES; ++i) {
        const double moved = quantiles[i];
        for (j = i; j > 0 && quantiles[j - 1] > moved; --j) quantiles[j] = quantiles[j - 1];
        quantiles[j] = moved;
    }
}
"""

_SOFTMAX = """
static void model_softmax(double *values)
{
    double largest = values[0], total = 0.0;
    int i;
    for (i = 1; i < MODEL_N_CLASSES; ++i)
        if (values[i] > largest) largest = values[i];
    for (i = 0; i < MODEL_N_CLASSES; ++i) {
        values[i] = model_exp(values[i] - largest);
        total = i == 0 ? values[i] : total + values[i];
    }
    for (i = 0; i < MODEL_N_CLASSES; ++i) values[i] /= total;
}
"""

_LINKS = {
    "identity": _IDENTITY,
    "exponential": _EXPONENTIAL_LINK,
    "sorted": _SORTED,
    "logistic": _SOFTMAX
    + """
void model_predict_proba(const double *features, double *probabilities)
{
    probabilities[0] = 0.0;
    model_sums(features, probabilities + 1);
    model_softmax(probabilities);
}
""",
    "softmax": _SOFTMAX
    + """
void model_predict_proba(const double *features, double *probabilities)
{
    model_sums(features, probabilities);
    model_softmax(probabilities);
}
""",
}

_CLASS_OF_SUMS = {
    "logistic": """
int model_predict(const double *features)
{
    double sum;
    model_sums(features, &sum);
    return sum > 0.0;
}
""",
    "softmax": """
int model_predict(const double *features)
{
    double sums[MODEL_N_CLASSES];
    int best = 0, i;
    model_sums(features, sums);
    for (i = 1; i < MODEL_N_CLASSES; ++i)
        if (sums[i] > sums[best]) best = i;
    return best;
}
""",
}


# Several models with weights: each has functions of its own name.


def write_member_declarations(model: Model, member: Model) -> Iterator[str]:
    """Lengths of the arrays of one of the models, and its functions."""
    yield remark(f"Model {member.name} of {model.name}.")
    upper = member.name.upper()
    yield f"#define {upper}_N_FEATURES {model.n_features}\n"
    if model.classes:
        yield f"#define {upper}_N_CLASSES {len(model.classes)}\n"
    yield code(_OF_CLASSES if model.classes else _OF_VALUES, member.name)


def write_weighted_predict(model: Model, aggregation: WeightedSum) -> Iterator[str]:
    """The functions that add up the predictions of the models, in their order."""
    name = model.name
    yield remark("Weights of the models.")
    yield from table(f"{name}_weight", np.array(aggregation.weights))
    first, *others = (each.name for each in model.members)
    add = _ADD_PROBABILITIES if model.classes else _ADD_VALUE
    added = "".join(
        code(add, name, member=other, place=place) for place, other in enumerate(others, 1)
    )
    whole = _WEIGHTED_CLASSES if model.classes else _WEIGHTED_VALUE
    part = "    double part[MODEL_N_CLASSES];\n" if others else ""
    yield code(whole, name, member=first, added=added, part=code(part, name))
    if model.classes:
        yield code(_CLASS, name, function="predict_proba")


_OF_VALUES = """
static double model_predict(const double *features);
"""

_OF_CLASSES = """
static void model_predict_proba(const double *features, double *probabilities);
"""

_WEIGHTED_VALUE = """
double model_predict(const double *features)
{
    double sum = model_weight[0] * ${member}_predict(features);
$added\
    return sum;
}
"""

_ADD_VALUE = """\
    sum += model_weight[$place] * ${member}_predict(features);
"""

_WEIGHTED_CLASSES = """
void model_predict_proba(const double *features, double *probabilities)
{
$part\
    int i;
    ${member}_predict_proba(features, probabilities);
    for (i = 0; i < MODEL_N_CLASSES; ++i) probabilities[i] *= model_weight[0];
$added\
}
"""

_ADD_PROBABILITIES = """\
    ${member}_predict_proba(features, part);
    for (i = 0; i < MODEL_N_CLASSES; ++i) probabilities[i] += model_weight[$place] * part[i];
"""
