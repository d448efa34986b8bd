"""Comparisons measure what they say, and the demo's ingredients are what its page claims."""

import numpy as np
import pytest

from bevel.report.demo import best_contenders, percent, speed_ratios
from bevel.workflow.demo_problems import (
    Contender,
    ForestSize,
    Measurement,
    compare,
    contenders,
    cross_validated,
    problems,
    simulated,
    slanted_bands,
)


class Constant:
    """A classifier that always answers with the same label."""

    def __init__(self, label):
        self.label = label

    def fit(self, X, y):
        assert len(X) == len(y)

    def predict(self, X):
        return np.full(len(X), self.label)


def test_compare_gives_every_contender_the_same_splits_and_averages_errors():
    y = np.array([0] * 30 + [1] * 10)
    problem = cross_validated("toy", np.zeros((40, 3)), y, n_folds=5)
    field = [
        Contender("zero", lambda _: Constant(0)),
        Contender("one", lambda _: Constant(1)),
    ]
    fits = []
    (measured,) = compare([problem], field, on_fit=lambda *names: fits.append(names))
    assert (measured.n_rows, measured.n_features, measured.n_classes) == (40, 3, 2)
    assert measured.errors == pytest.approx((0.25, 0.75))
    assert len(measured.seconds) == 2
    assert fits == [("toy", "zero"), ("toy", "one")] * 5


def test_simulated_problem_draws_new_rows_for_each_split_and_repeats_by_seed():
    def generate(n_samples, random_state):
        return random_state.random((n_samples, 2)), np.zeros(n_samples)

    problem = simulated("noise", generate, n_train=4, n_test=6, n_repeats=3)
    splits, again = list(problem.splits(1)), list(problem.splits(1))
    assert [split.X_test.shape for split in splits] == [(6, 2)] * 3
    assert not np.array_equal(splits[0].X_train, splits[1].X_train)
    assert not np.array_equal(splits[0].X_train, splits[0].X_test[:4])
    np.testing.assert_array_equal(splits[2].X_test, again[2].X_test)


def test_best_contenders_are_all_that_print_the_lowest_error():
    measured = Measurement("m", 1, 1, 2, errors=(0.0501, 0.0499, 0.06), seconds=(1.0, 0.5, 4.0))
    assert [percent(error) for error in measured.errors] == ["5.0", "5.0", "6.0"]
    assert best_contenders(measured) == [True, True, False]
    assert speed_ratios(measured) == [4.0, 8.0]


def test_slanted_bands_change_class_across_the_lines_that_are_drawn():
    X, y = slanted_bands(2000, random_state=0)
    across = (0.8 * X[:, 0] - X[:, 1]) * 1.5
    np.testing.assert_array_equal(y, np.round(across).astype(int) % 2)


def test_contenders_share_trees_threads_and_seed():
    for contender in contenders(ForestSize(n_trees=17, n_threads=1)):
        settings = contender.make(5).get_params()
        assert (settings["n_estimators"], settings["n_jobs"], settings["random_state"]) == (
            17,
            1,
            5,
        )


def test_problems_have_unique_names_and_quick_is_a_part_of_all():
    names = [problem.name for problem in problems()]
    assert len(set(names)) == len(names)
    assert {problem.name for problem in problems(quick=True)} < set(names)
