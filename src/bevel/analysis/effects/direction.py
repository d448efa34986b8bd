"""Effect of a combination of features: rows moved along a direction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bevel import _core
from bevel._types import Float32s, Floats
from bevel.analysis.analysed_forest import AnalysedForest, explains_sums, read_forest
from bevel.analysis.effects.partial_dependence import (
    EffectColumn,
    EffectRows,
    StandardError,
    check_trees_have_bags,
    encode_column,
    find_feature,
    finish,
    jackknife_error,
    read_effect_column,
    read_effect_rows,
)
from bevel.analysis.effects.result import Effect
from bevel.errors import wrong_type, wrong_value

__all__ = ["effect_along"]


@explains_sums
def effect_along(
    forest: object,
    X: Any,
    direction: Any,
    *,
    steps: Any = None,
    sample_weight: Any = None,
    standard_error: bool = False,
    out_of_bag: bool = False,
    y: Any = None,
    verbose: int = 0,
) -> Effect:
    """Mean prediction of the rows when all of them are moved along a direction.

    Row x becomes x + t d, for each step t; 0 leaves the rows unchanged. Missing values stay
    missing.

    Parameters
    ----------
    forest : ObliqueForestClassifier or ObliqueForestRegressor
        A fitted forest.
    X : array or data frame of shape (n, p)
        Rows to move, such as the training rows.
    direction : mapping of features to numbers, or array-like of shape (p,)
        The direction d in the user's units: ``{"weight": 10, "height": -5}`` adds ten units of
        weight and takes away five of height at step 1. Nominal features cannot be moved.
    steps : array-like, default=None
        Values of t; None: 41 from -1 to 1.
    sample_weight, standard_error, out_of_bag, y, verbose
        Parameters as in `partial_dependence`.

    Returns
    -------
    Effect
        Effect on a `grid` of the steps.

    Examples
    --------
    >>> from bevel import ObliqueForestRegressor
    >>> from bevel.analysis import effect_along
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = ObliqueForestRegressor(100, random_state=0).fit(X, y)
    >>> effect = effect_along(forest, X, {"bmi": 0.05, "bp": 0.05})
    >>> effect.names
    ('0.05 bmi + 0.05 bp',)
    >>> bool(effect.values[-1] > effect.values[0])
    True
    """
    analysed = read_forest(forest, "effect_along")
    amounts = _read_direction(analysed, direction)
    grid = _read_steps(steps)
    with_errors = check_trees_have_bags(analysed, standard_error)
    rows = read_effect_rows(analysed, X, y, sample_weight, out_of_bag, verbose)
    columns = [read_effect_column(analysed, X, feature) for feature in amounts]
    features = np.array(list(amounts), np.int32)

    def variants_of(some: slice) -> _core.RowVariants:
        return _core.RowVariants(features, _moved(analysed, columns, amounts, grid, some))

    values = rows.means(variants_of, len(grid))[0].T
    errors = _errors(rows, variants_of(slice(None)), len(grid)) if with_errors else None
    name = _words(amounts, analysed)
    return finish(
        analysed, "effect along", (name,), (grid,), values, errors, None, (None,), len(rows.X)
    )


def _errors(rows: EffectRows, variants: _core.RowVariants, n_steps: int) -> StandardError:
    by_tree = rows.tree_means(variants, n_steps)[:, 0]
    error, n_below_zero = jackknife_error(rows.analysed, by_tree)
    return StandardError(error.T, n_below_zero)


def _moved(
    analysed: AnalysedForest,
    columns: list[EffectColumn],
    amounts: Mapping[int, float],
    grid: Floats,
    some: slice,
) -> Float32s:
    """Values of some rows at all steps: rows x steps x features."""
    encoded = []
    for column, amount in zip(columns, amounts.values(), strict=True):
        moved = column.values[some, None] + amount * grid[None, :]
        flat = moved.ravel()
        missing = np.isnan(flat)
        codes = np.full(len(flat), np.nan, np.float32)
        codes[~missing] = encode_column(analysed.fitted.encoding, column, flat[~missing])
        encoded.append(codes.reshape(moved.shape))
    return np.ascontiguousarray(np.stack(encoded, axis=-1))


def _read_direction(analysed: AnalysedForest, direction: Any) -> dict[int, float]:
    """Amounts that are not zero, by position of the feature."""
    if isinstance(direction, Mapping):
        named = {
            find_feature(feature, analysed, "direction"): amount
            for feature, amount in direction.items()
        }
    else:
        array = np.asarray(direction)
        if array.shape != (len(analysed.names),):
            required = f"a mapping of features to numbers, or {len(analysed.names)} numbers"
            raise wrong_type("direction", required, direction, 'Write {"x0": 1.0, "x1": -1.0}.')
        named = dict(enumerate(array.tolist()))
    amounts = {}
    for feature, amount in named.items():
        try:
            number = float(amount)
        except (TypeError, ValueError):
            number = np.nan
        if not np.isfinite(number):
            raise wrong_value("direction", "made of finite numbers", amount, "Check the amounts.")
        if number != 0.0:
            amounts[feature] = number
    nominal = [analysed.names[f] for f in amounts if f in analysed.fitted.encoding.nominal]
    if nominal or not amounts:
        got = nominal[0] if nominal else direction
        required = "of numeric features, one of them not zero"
        raise wrong_value("direction", required, got, "Leave nominal features out.")
    return amounts


def _read_steps(steps: Any) -> Floats:
    if steps is None:
        return np.linspace(-1.0, 1.0, 41)
    grid = np.asarray(steps, np.float64)
    if grid.ndim != 1 or len(grid) == 0 or not np.isfinite(grid).all():
        required = "a sequence of finite numbers"
        raise wrong_value("steps", required, steps, "Write for example steps=[-1, 0, 1].")
    return grid


def _words(amounts: Mapping[int, float], analysed: AnalysedForest) -> str:
    """The direction as a sum, in words."""
    text = ""
    for feature, amount in amounts.items():
        sign = (" - " if text else "-") if amount < 0 else (" + " if text else "")
        size = "" if abs(amount) == 1.0 else f"{abs(amount):.3g} "
        text += f"{sign}{size}{analysed.names[feature]}"
    return text
