"""`forward_selection` and `group_selections`: known answers, and a slow way."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from bevel import plots
from bevel.analysis import forward_selection, group_selections
from bevel.analysis.selection import Candidates, fit_logistic
from bevel.datasets import biomarkers


def small_study(n: int = 40, p: int = 5, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * [1.0, 10.0, 0.1, 1.0, 5.0][:p]
    y = (X[:, 0] + 0.1 * X[:, 1] + 0.7 * rng.normal(size=n) > 0).astype(int)
    return X, y


def slow_judgement(X, y, columns, penalty):
    """Errors of rows left out, squared error and likelihood, by scikit-learn, one fit at a time."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    Z = Z[:, columns]

    def fit(rows):
        model = LogisticRegression(C=1.0 / penalty, tol=1e-10, solver="newton-cholesky")
        return model.fit(Z[rows], y[rows])

    everyone = np.arange(len(y))
    wrong = sum(
        fit(everyone != row).predict(Z[row : row + 1])[0] != y[row] for row in range(len(y))
    )
    share = fit(everyone).predict_proba(Z)
    squared = np.mean((share[:, 1] - y) ** 2)
    return wrong / len(y), squared, np.log(share[everyone, y]).sum()


def test_selection_is_that_of_single_fits() -> None:
    X, y = small_study()
    found = forward_selection(X, y)
    chosen: list[int] = []
    error = min(np.mean(y == 0), np.mean(y == 1))
    assert found.error_without == pytest.approx(error)
    while True:
        judged = {f: slow_judgement(X, y, [*chosen, f], 0.1) for f in range(5) if f not in chosen}
        best = min(judged, key=lambda f: (judged[f][0], -judged[f][2]))
        if not chosen:
            np.testing.assert_allclose(
                found.squared_errors_alone, [judged[f][1] for f in range(5)], rtol=1e-5
            )
            np.testing.assert_array_equal(found.errors_alone, [judged[f][0] for f in range(5)])
        if not judged[best][0] < error:
            break
        step = len(chosen)
        error = judged[best][0]
        chosen.append(best)
        assert found.features[step] == best
        np.testing.assert_allclose(found.errors[step], error)
        np.testing.assert_allclose(found.squared_errors[step], judged[best][1], rtol=1e-5)
        np.testing.assert_allclose(found.log_likelihoods[step], judged[best][2], rtol=1e-5)
    assert found.features.tolist() == chosen
    assert len(chosen) >= 2


def test_ties_go_to_the_greater_likelihood() -> None:
    """Both columns separate the classes; the second by a wider gap."""
    y = np.repeat([0, 1], 10)
    rng = np.random.default_rng(0)
    near, far = y * 4.0 + rng.random(20), y * 12.0 + rng.random(20)
    X = np.column_stack([rng.normal(size=20), near, far])
    found = forward_selection(X, y)
    assert found.errors_alone[1] == found.errors_alone[2] == 0.0
    assert found.features.tolist() == [2]


def test_selection_stops_when_the_error_no_longer_falls() -> None:
    """One column decides: no second one can lower an error of zero."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 8))
    X[:, 3] += np.sign(X[:, 3])
    y = (X[:, 3] > 0).astype(int)
    found = forward_selection(X, y)
    assert found.features.tolist() == [3]
    assert found.errors.tolist() == [0.0]
    assert forward_selection(X, y, n_features=4).features[0] == 3
    assert len(forward_selection(X, y, n_features=4).features) == 4


def test_markers_of_simulated_studies_are_found() -> None:
    """Null: the first two chosen are any of 40 columns, so both markers in one study of 780. Twelve
    fixed studies of 200 rows, whose markers are raised by two standard deviations."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        y = np.arange(200) % 2
        X = rng.normal(size=(200, 40))
        X[:, [7, 21]] += 2.0 * y[:, None]
        found = forward_selection(X, y, cv=10)
        assert set(found.features[:2].tolist()) == {7, 21}
        assert (np.diff([found.error_without, *found.errors]) < 0).all()


def test_noise_gives_few_features_or_none() -> None:
    rng = np.random.default_rng(2)
    X, y = np.ones((20, 3)), rng.permutation(np.arange(20) % 2)
    found = forward_selection(X, y)
    assert found.features.size == 0
    assert "none" in repr(found)
    plots.forward_selection(found)


def test_groups_are_judged_by_themselves() -> None:
    X, y = biomarkers(100, 100, 30, random_state=0)
    proteins = np.arange(30) % 10  # as the simulation has them
    found = group_selections(X, y, [f"protein {k}" for k in proteins], cv=10)
    assert list(found.by_group)[:2] == ["protein 0", "protein 1"]
    for label, each in found.by_group.items():
        assert all(f"protein {proteins[f]}" == label for f in each.features)
        assert np.isnan(each.squared_errors_alone).sum() == 27
    alone = forward_selection(X[:, proteins == 1], y, cv=10)
    of_group = found.by_group["protein 1"]
    np.testing.assert_array_equal(of_group.features, np.flatnonzero(proteins == 1)[alone.features])
    np.testing.assert_allclose(of_group.squared_errors, alone.squared_errors)


def test_perfect_groups_are_named() -> None:
    y = np.repeat([0, 1], 10)
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(20, 2)), y + 0.1 * rng.normal(size=20)])
    found = group_selections(X, y, ["noise", "noise", "signal"])
    assert found.perfect == ["signal"]
    assert "1 of 2 groups" in repr(found)


def test_scale_of_columns_does_not_matter() -> None:
    X, y = small_study(seed=3)
    one, other = forward_selection(X, y), forward_selection(X * [1e3, 1e-3, 1, 7, 1] + 5.0, y)
    np.testing.assert_array_equal(one.features, other.features)
    np.testing.assert_allclose(one.squared_errors, other.squared_errors, rtol=1e-6)


def test_blocks_of_candidates_change_nothing(monkeypatch) -> None:
    X, y = small_study(seed=4)
    whole = forward_selection(X, y, n_features=3)
    module = "bevel.analysis.selection.MAX_NUMBERS"
    monkeypatch.setattr(module, 1)
    blocks = forward_selection(X, y, n_features=3)
    np.testing.assert_array_equal(whole.features, blocks.features)
    np.testing.assert_allclose(whole.squared_errors, blocks.squared_errors, rtol=1e-12)


def test_newton_reaches_the_least_loss_on_far_away_starts() -> None:
    X, y = small_study(seed=5)
    design = np.concatenate([np.ones((40, 1)), X], axis=1)[None]
    weight = np.ones(40)
    near = fit_logistic(design, y, weight, 0.1)
    far = fit_logistic(design, y, weight, 0.1, start=np.full((1, 6), 3.0))
    np.testing.assert_allclose(near, far, atol=1e-6)


def test_data_frames_keep_their_names_and_results_become_tables() -> None:
    X, y = small_study()
    frame = pd.DataFrame(X, columns=list("abcde"))
    found = forward_selection(frame, np.where(y == 1, "ill", "well"))
    assert set(found.chosen_names) <= set("abcde")
    assert found.to_pandas()["feature"].tolist() == list(found.chosen_names)
    assert "of 5 features chosen" in repr(found)
    groups = group_selections(frame, y, [1, 1, 2, 2, 2])
    assert sorted(groups.to_pandas()["group"]) == [1, 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.arange(40) % 3}, r"^y must have two classes; got 3"),
        ({"y": np.arange(40) == 0}, r"^y must have two rows or more of each class"),
        ({"X": np.full((40, 2), np.nan)}, r"^X must hold finite numbers; got missing"),
        ({"X": pd.DataFrame({"a": ["u"] * 40})}, r"^X must hold numbers; got labels in column "),
        ({"penalty": 0}, r"^penalty must be a number above 0; got 0"),
        ({"penalty": float("nan")}, r"^penalty must be a number above 0; got nan"),
        ({"cv": 1}, r"^cv must be an integer of at least 2; got 1"),
        ({"n_features": 9}, r"^n_features must be at most the number of columns \(5\); got 9"),
        ({"n_features": 0}, r"^n_features must be an integer of at least 1; got 0"),
    ],
)
def test_bad_input_is_refused(change, message: str) -> None:
    X, y = small_study()
    with pytest.raises((TypeError, ValueError), match=message):
        forward_selection(**({"X": X, "y": y} | change))


def test_groups_must_cover_the_columns() -> None:
    X, y = small_study()
    with pytest.raises(ValueError, match=r"^groups must be one label for each of the 5 columns"):
        group_selections(X, y, [1, 2])


def test_picture_has_all_features_the_best_and_the_steps() -> None:
    X, y = biomarkers(60, 60, 30, random_state=0)
    found = forward_selection(X, y, cv=10)
    left, middle, right = plots.forward_selection(found, n_best=5)
    assert len(left.lines[0].get_xdata()) == 30
    assert (np.diff(left.lines[0].get_ydata()) >= 0).all()
    assert len(middle.patches) == 5
    np.testing.assert_allclose(right.lines[0].get_xdata(), found.squared_errors)


def test_candidates_divide_by_the_standard_deviation() -> None:
    X, y = small_study()
    candidates = Candidates(X, y, [np.arange(2)], 0.1, tuple("abcde"))
    np.testing.assert_allclose(candidates.X.std(axis=0), 1.0)


def test_noise_is_not_chosen_because_equal_classes_are_hard_to_leave_out() -> None:
    X = np.tile([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]], (5, 1))
    y = np.repeat([0, 1], 10)
    found = forward_selection(X, y)
    assert len(found.features) == 0
    assert found.error_without == 0.5
