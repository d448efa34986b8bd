"""Predictions of boosted trees in C: baselines and leaves added up, and the link."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bevel.export.c.literals import code, remark, table
from bevel.export.c.model import Model
from bevel.export.c.predict import NO_ROW, ROW, shortest
from bevel.export.c.trees import LeafPredictions
from bevel.forest.additive import Additive

__all__ = ["write_additive_predict"]


def write_additive_predict(
    model: Model, additive: Additive, leaves: LeafPredictions
) -> Iterator[str]:
    """The functions that add up the trees of each output and apply the link."""
    name = model.name
    yield remark("What the leaves add, and what the sums start from.")
    yield from table(f"{name}_answer", shortest(leaves.values))
    yield from table(f"{name}_baseline", np.array(additive.baseline))
    words = {word: code(text, name) for word, text in (ROW if model.has_splits else NO_ROW).items()}
    numbers = {"n_outputs": str(additive.n_outputs), "n_trees": str(model.forest.n_trees)}
    yield code(_SUMS, name, **words, **numbers)
    if additive.link in ("exponential", "logistic", "softmax"):
        yield code(_EXPONENTIAL, name)
    yield code(_LINKS[additive.link], name, **numbers)


_SUMS = """
static void model_sums(const double *features, double *sums)
{
    int output = 0;
$row\
    for (tree = 0; tree < $n_outputs; ++tree) sums[tree] = model_baseline[tree];
    for (tree = 0; tree < $n_trees; ++tree) {
        sums[output] += model_answer[$leaf];
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

int model_predict(const double *features)
{
    double sum;
    model_sums(features, &sum);
    return sum > 0.0;
}
""",
    "softmax": _SOFTMAX
    + """
void model_predict_proba(const double *features, double *probabilities)
{
    model_sums(features, probabilities);
    model_softmax(probabilities);
}

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
