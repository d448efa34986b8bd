"""Reading a row in C: scaling in double as Python does, level codes, then float32."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.data.encoding import MAX_READ, MAX_STORED
from bevel.data.scaling import IdentityScaler, LinearScaler, QuantileScaler, RankScaler
from bevel.export.c.literals import code, narrow, remark, table
from bevel.export.c.model import Model

__all__ = ["write_rows"]


def write_rows(model: Model) -> Iterator[str]:
    """Tables and functions that encode the user's row; the last one is model_read."""
    name, encoding = model.name, model.encoding
    has_nominal = bool(encoding.nominal)
    yield code(_LIMIT, name)
    if has_nominal:
        missing = np.zeros(len(encoding.levels), dtype=np.int64)
        for feature, column in encoding.nominal.items():
            missing[feature] = len(column.labels)
        yield remark("Levels of each nominal feature (0: numeric), and the code of missing ones.")
        yield from table(f"{name}_levels", narrow(encoding.n_labels))
        yield from table(f"{name}_missing_level", narrow(missing))
        yield from _write_means(model)
    scaling = list(_write_scaling(model))
    yield from scaling
    stored, terms = f"{MAX_STORED:g}", model.level_terms
    if len(terms):
        yield remark("Levels that stand in directions as 0 or 1: their features, and their codes.")
        yield from table(f"{name}_term_feature", narrow(terms[:, 0]))
        yield from table(f"{name}_term_level", narrow(terms[:, 1]))
    yield code(
        _READ,
        name,
        nominal=code(_MEANS if encoding.means else _NOMINAL, name, most=stored)
        if has_nominal
        else "",
        scale=code(_SCALE, name, most=f"{MAX_READ:g}") if scaling else "",
        most=stored,
        terms=code(_TERMS, name, n=len(terms)) if len(terms) else "",
    )


def _write_means(model: Model) -> Iterator[str]:
    """Tables of the means of the target that stand for the levels of some nominal features."""
    name, means = model.name, model.encoding.means
    if not means:
        return
    start = np.full(len(model.encoding.levels), -1, dtype=np.int64)
    ends = np.cumsum([0] + [len(each.of_all) for each in means.values()])
    start[list(means)] = ends[:-1]
    yield remark("Means of the target by level, then of unseen levels; where those of a feature")
    yield remark("begin, -1 if its levels are read as codes.")
    yield from table(f"{name}_mean", np.concatenate([each.of_all for each in means.values()]))
    yield from table(f"{name}_mean_start", start.astype(np.int32))


def _write_scaling(model: Model) -> Iterator[str]:
    """Tables of the scaler and a function model_scale; empty if values are not scaled."""
    name, scaler = model.name, model.encoding.scaler
    match scaler:
        case IdentityScaler():
            return
        case LinearScaler():
            yield remark("Numeric features are scaled to (value - shift) / span.")
            yield from table(f"{name}_shift", scaler.shift)
            yield from table(f"{name}_span", scaler.span)
            yield code(_LINEAR, name, clip=_CLIP if scaler.clip else "")
        case QuantileScaler():
            yield remark("5 % and 95 % quantiles of numeric features in training.")
            yield from table(f"{name}_low", scaler.low)
            yield from table(f"{name}_high", scaler.high)
            yield code(_QUANTILE, name)
        case RankScaler():
            yield from _write_ranks(name, scaler)
        case _:
            raise TypeError(
                f"to_c must know the scaler of the forest; got {type(scaler).__name__}. Export a "
                "forest that was fitted with one of the documented values of scale."
            )


def _write_ranks(name: str, scaler: RankScaler) -> Iterator[str]:
    halfway = scaler.relative and bool(scaler.complete.all())
    yield remark(
        "Training values of numeric features with their ranks, and one past the last rank."
    )
    yield from table(f"{name}_knot", _never_empty(scaler.knots))
    yield from table(f"{name}_rank", _never_empty(scaler.ranks))
    yield from table(f"{name}_knot_start", narrow(scaler.offset))
    yield from table(f"{name}_ceiling", narrow(scaler.n_present + 1))
    if scaler.relative and not halfway:
        yield remark("Columns whose knots are all their training values.")
        yield from table(f"{name}_complete", scaler.complete.astype(np.uint8))
    share = _HALFWAY if halfway else _BETWEEN
    below, above = ("0.5", "0.5") if scaler.relative else ("0.0", "1.0")
    complete = _COMPLETE if scaler.relative and not halfway else ""
    yield code(
        _RANK,
        name,
        share=code(share, name, below=below, above=above, complete=code(complete, name)),
        relative=" / ceiling" if scaler.relative else "",
    )


def _never_empty(values: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.floating[Any]]:
    """Avoid an empty table, which C does not allow; without numeric columns there are no knots."""
    return values if len(values) else np.zeros(1, dtype=np.float32)


_LIMIT = """
static double model_limit(double value, double most)
{
    return value > most ? most : value < -most ? -most : value;
}
"""

_READ = """
/* Sizes that Python refuses are cut to the largest that it takes. */
static void model_read(const double *features, float *row)
{
    int i;
    for (i = 0; i < MODEL_N_FEATURES; ++i) {
        double value = features[i];
$nominal$scale\
        row[i] = (float)model_limit(value, $most);
    }
$terms\
}
"""

_TERMS = """\
    for (i = 0; i < $n; ++i)
        row[MODEL_N_FEATURES + i] = row[model_term_feature[i]] == (float)model_term_level[i];
"""

_NOMINAL = """\
        if (model_levels[i] > 0) {
            if (value != value) value = model_missing_level[i];
            row[i] = (float)model_limit(value, $most);
            continue;
        }
"""

_MEANS = """\
        if (model_levels[i] > 0) {
            if (value != value) value = model_missing_level[i];
            if (model_mean_start[i] < 0) {
                row[i] = (float)model_limit(value, $most);
                continue;
            }
            value = value >= 0.0 && value < model_levels[i] ? value : model_levels[i];
            value = model_mean[model_mean_start[i] + (int32_t)value];
        }
"""

_SCALE = """\
        value = model_scale(model_limit(value, $most), i);
"""

_LINEAR = """
static double model_scale(double value, int i)
{
    value = (value - model_shift[i]) / model_span[i];
$clip\
    return value;
}
"""

_CLIP = """\
    if (value < 0.0) return 0.0;
    if (value > 1.0) return 1.0;
"""

_QUANTILE = """
/* Natural logarithm of a number >= 1: 2 artanh((m - 1) / (m + 1)) + exponent * log 2. */
static double model_log(double value)
{
    static const double power[9] = {0x1p256, 0x1p128, 0x1p64, 0x1p32, 0x1p16, 0x1p8, 16, 4, 2};
    double mantissa = value, ratio, square, series = 0.0;
    int exponent = 1, odd, i;
    for (i = 0; i < 9; ++i)
        if (mantissa >= power[i]) {
            mantissa /= power[i];
            exponent += 256 >> i;
        }
    mantissa *= 0.5;
    if (mantissa < 0.7071067811865476) {
        mantissa *= 2.0;
        exponent -= 1;
    }
    ratio = (mantissa - 1.0) / (mantissa + 1.0);
    square = ratio * ratio;
    for (odd = 21; odd > 0; odd -= 2) series = series * square + 1.0 / odd;
    return exponent * 0.6931471805599453 + 2.0 * ratio * series;
}

static double model_dampen(double distance)
{
    return 0.01 * model_log(1.0 + model_log(1.0 + distance));
}

static double model_scale(double value, int i)
{
    const double low = model_low[i], high = model_high[i];
    if (value < low) return -model_dampen(low - value);
    if (value > high) return 1.0 + model_dampen(value - high);
    return (value - low) / (high > low ? high - low : 1.0);
}
"""

_RANK = """
static double model_scale(double value, int i)
{
    const uint32_t first = model_knot_start[i], n = model_knot_start[i + 1] - first;
    const double ceiling = model_ceiling[i];
    uint32_t above = 0, last = n; /* knots below the value */
    double low, high, share;
    if (value != value) return value;
    while (above < last) {
        const uint32_t middle = above + (last - above) / 2;
        if (model_knot[first + middle] < value)
            above = middle + 1;
        else
            last = middle;
    }
    high = (above < n ? model_rank[first + above] : ceiling)$relative;
    if (above < n && model_knot[first + above] == value) return high;
    low = (above > 0 ? model_rank[first + above - 1] : 0.0)$relative;
$share\
    return low + share * (high - low);
}
"""

_HALFWAY = """\
    share = 0.5;
"""

_COMPLETE = "model_complete[i] ? 0.5 : "

_BETWEEN = """\
    if (above == n)
        share = $complete$above;
    else if (above == 0)
        share = $complete$below;
    else
        share = $complete(value - model_knot[first + above - 1]) /
                ((double)model_knot[first + above] - model_knot[first + above - 1]);
"""
