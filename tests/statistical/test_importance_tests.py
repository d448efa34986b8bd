"""Tests of importances keep their level where no feature has to do with the target.

Null hypothesis: a p-value is below alpha with a probability of at most alpha. Each repeat is one
table without any signal; the share of small p-values of its features is one draw. The mean of the
draws may exceed alpha by five of its standard errors, a false alarm in three million runs.
"""

import numpy as np
import pytest

from bevel import ObliqueForestClassifier
from bevel.analysis import importance_test

ALPHA = 0.1


def shares(n_repeats, n_rows, n_features, **settings):
    """Share of the features without a signal that have a p-value of at most ALPHA, per table."""
    found = []
    for repeat in range(n_repeats):
        rng = np.random.default_rng(repeat)
        X, y = rng.normal(size=(n_rows, n_features)), rng.integers(0, 2, n_rows)
        forest = ObliqueForestClassifier(20, projection="axis", random_state=repeat, n_jobs=1)
        result = importance_test(
            forest.fit(X, y), X, y, correction=None, random_state=repeat, **settings
        )
        found.append(np.mean(np.asarray(result.p_values) <= ALPHA))
    return np.array(found)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Janitza.s null distribution")
@pytest.mark.parametrize(
    ("n_repeats", "n_rows", "n_features", "settings"),
    [
        (200, 60, 5, {"method": "altmann", "n_permutations": 20}),
        (200, 60, 5, {"method": "altmann", "n_permutations": 20, "null": "empirical"}),
        (100, 80, 60, {"method": "janitza"}),
        (100, 80, 60, {"method": "janitza", "rows": "out_of_bag"}),
    ],
    ids=["altmann", "altmann-empirical", "janitza", "janitza-out-of-bag"],
)
def test_features_without_a_signal_are_found_no_more_often_than_alpha(
    n_repeats, n_rows, n_features, settings
):
    found = shares(n_repeats, n_rows, n_features, **settings)
    error = found.std(ddof=1) / np.sqrt(n_repeats)
    assert found.mean() <= ALPHA + 5.0 * error
    assert found.mean() > 0.02  # a test that finds nothing would pass too
