"""Coverage of conformal intervals and sets on simulated problems.

Null hypothesis: on average over draws of training rows and a new row the target is covered with
probability 0.9. Statistic: mean coverage over 20 draws of n training rows and m new rows. The
coverage of a draw varies by at most 0.09 / n + 0.09 / m, so that the standard error of the mean is
below sqrt((0.09 / n + 0.09 / m) / 20). Limits are 5 standard errors: a false alarm in 3 million
runs. Above, 0.03 is added, because fewer trees than all predict a training row, and for ties of
sets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bevel import (
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    analysis,
)

N_DRAWS, N_TRAINING, N_NEW = 20, 100, 300
SLACK = 5.0 * np.sqrt((0.09 / N_TRAINING + 0.09 / N_NEW) / N_DRAWS)


def _problem(seed: int) -> tuple[Any, Any]:
    """Noise whose spread and shape differ from draw to draw and row to row."""
    rng = np.random.default_rng(seed)
    n = N_TRAINING + N_NEW
    X = rng.normal(size=(n, 4))
    noise = rng.standard_t(3, size=n) if seed % 2 else rng.exponential(size=n)
    return X, np.sin(X[:, 0] + X[:, 1]) + (0.2 + 0.5 * (X[:, 2] > 0)) * noise


def _coverage(model: Any, seed: int, classes: bool = False, **settings: Any) -> float:
    X, y = _problem(seed)
    if classes:
        y = np.digitize(y, [-0.3, 0.5])
    old, new = slice(0, N_TRAINING), slice(N_TRAINING, None)
    result = analysis.conformal(model.fit(X[old], y[old]), X[old], y[old], **settings)
    if classes:
        return float(result.predict_set(X[new])[np.arange(N_NEW), y[new]].mean())
    low, high = result.predict_interval(X[new]).T
    return float(((low <= y[new]) & (y[new] <= high)).mean())


MODELS: dict[str, Any] = {
    "forest": (ObliqueForestRegressor(40, projection="sparse", random_state=0), False),
    "classifier": (ObliqueForestClassifier(40, projection="sparse", random_state=0), True),
    "boosting": (ObliqueBoostingRegressor(max_iter=20, random_state=0), False),
}


@pytest.mark.parametrize("name", MODELS)
def test_nine_tenths_of_new_targets_are_covered(name: str) -> None:
    model, classes = MODELS[name]
    mean = np.mean([_coverage(model, seed, classes) for seed in range(N_DRAWS)])
    assert 0.9 - SLACK < mean < 0.93 + SLACK


def test_nine_tenths_are_covered_in_each_group_of_other_spread() -> None:
    model = ObliqueForestRegressor(40, projection="axis", min_samples_leaf=20, random_state=0)
    inside = np.zeros((2, 2, N_DRAWS))  # with groups or not, group, draw
    for seed in range(N_DRAWS):
        X, y = _problem(seed)
        group = (X[:, 2] > 0).astype(int)
        old, new = slice(0, N_TRAINING), slice(N_TRAINING, None)
        model.fit(X[old, :2], y[old])  # the column of the groups is not known to the model
        for place, by in enumerate((group, None)):
            result = analysis.conformal(
                model, X[old, :2], y[old], by=None if by is None else by[old]
            )
            low, high = result.predict_interval(X[new, :2], by=None if by is None else by[new]).T
            covered = (low <= y[new]) & (y[new] <= high)
            inside[place, :, seed] = [covered[group[new] == each].mean() for each in (0, 1)]
    of_groups, of_all = inside.mean(axis=2)
    slack = 5.0 * np.sqrt((0.09 / 35 + 0.09 / 120) / N_DRAWS)  # at least so many rows in a group
    assert (np.abs(of_groups - 0.9) < slack + 0.03).all()
    assert of_all[0] - of_all[1] > 0.05  # without groups the quiet one takes from the noisy one
