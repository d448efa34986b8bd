"""Pictures of survival forests show what was computed."""

from __future__ import annotations

import numpy as np
import pytest

from bevel import ObliqueSurvivalForest, analysis, plots
from bevel.datasets import weibull

matplotlib = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def fitted() -> tuple[ObliqueSurvivalForest, np.ndarray, np.ndarray]:
    X, y = weibull(150, random_state=0)
    return ObliqueSurvivalForest(20, random_state=0).fit(X, y), X, y


def test_curves_have_a_line_and_a_band_for_each_row(fitted: tuple) -> None:
    forest, X, _ = fitted
    bands = analysis.survival_bands(forest, X[:3], times=[0.5, 1.0, 2.0])
    assert ((bands.low <= bands.high) & (bands.low >= 0.0) & (bands.high <= 1.0)).all()
    exact = forest.predict_survival_function(X[:3], [0.5, 1.0, 2.0], return_array=True)
    np.testing.assert_allclose(bands.survival, exact)
    axes = plots.survival_curves(bands, names=["a", "b", "c"])
    assert [line.get_label() for line in axes.lines] == ["a", "b", "c"]
    assert len(axes.collections) == 3
    np.testing.assert_allclose(axes.lines[1].get_ydata()[1:], exact[1])
    matplotlib.close(axes.figure)


def test_groups_of_risk_hold_all_rows_and_part_their_curves(fitted: tuple) -> None:
    forest, X, y = fitted
    groups = analysis.risk_groups(forest, X, y, n_groups=3, out_of_bag=True)
    assert groups.count.sum() == len(X)
    assert groups.n_events.sum() == y["event"].sum()
    assert groups.p_value < 0.01
    assert "high risk" in repr(groups)
    axes = plots.risk_groups(groups)
    assert "log-rank p" in axes.get_title(loc="left")
    assert len(axes.lines) == 7  # observed and predicted of each, and the legend's dashes
    matplotlib.close(axes.figure)


def test_log_rank_test_of_groups_is_that_of_scikit_survival(fitted: tuple) -> None:
    compare = pytest.importorskip("sksurv.compare")
    forest, X, y = fitted
    groups = analysis.risk_groups(forest, X, y, n_groups=4, out_of_bag=True)
    _, expected = compare.compare_survival(y, groups.group)
    assert groups.p_value == pytest.approx(expected, rel=1e-6)


def test_calibration_draws_a_point_for_each_group(fitted: tuple) -> None:
    forest, X, y = fitted
    result = analysis.survival_calibration(forest, X, y, 1.0, n_groups=4, out_of_bag=True)
    axes = plots.survival_calibration(result)
    assert "calibration error" in axes.get_title(loc="left")
    matplotlib.close(axes.figure)
