"""Results in notebooks: small tables in the notebook's own colours, and data frames."""

from __future__ import annotations

import re
import sys
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from bevel import (
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueSurvivalForest,
    analysis,
)
from bevel.analysis import results
from bevel.analysis.printing import PrintedResult, PrintedTable, data_frame
from bevel.datasets import weibull
from bevel.extras import MissingPackageError

MARKUP = "<b>x & y</b>"


@cache
def fits():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", MARKUP, "c $1$"])
    labels = np.where(X["a"] + X[MARKUP] > 0, "yes", "no")
    classifier = ObliqueForestClassifier(20, random_state=0, n_jobs=1).fit(X, labels)
    values = (X["a"] - X["c $1$"]).to_numpy()
    regressor = ObliqueForestRegressor(20, random_state=0, n_jobs=1).fit(X, values)
    return X, labels, classifier, values, regressor


@cache
def survival():
    X, y = weibull(80, random_state=0)
    return ObliqueSurvivalForest(10, random_state=0, n_jobs=1).fit(X, y), X, y


def made(name):
    """A result of the class, as users get it."""
    forest, X, y = survival()
    found = {
        "RiskGroups": lambda: analysis.risk_groups(forest, X, y),
        "SurvivalBands": lambda: analysis.survival_bands(forest, X[:2]),
        "SurvivalCalibration": lambda: analysis.survival_calibration(forest, X, y, 1.0),
        "SurvivalScores": lambda: analysis.survival_scores(forest, X, y),
    }
    return found[name]() if name in found else made_of_forests(name)


def made_of_forests(name):
    X, labels, forest, values, regressor = fits()
    small = ObliqueForestClassifier(5, random_state=0, n_jobs=1)
    both = analysis.bias_and_variance(small, X.to_numpy(), labels, n_repeats=2, random_state=0)
    return {
        "BiasAndVariance": lambda: both,
        "Calibration": lambda: analysis.calibration(forest, X, labels),
        "ClassEffects": lambda: both.classes,
        "ConformalPredictions": lambda: analysis.conformal(forest, X, labels),
        "Directions": lambda: analysis.importance(forest, "projection"),
        "Effect": lambda: analysis.partial_dependence(forest, X, X.columns[0], grid_resolution=4),
        "ErrorAndCorrelation": lambda: analysis.error_and_correlation(regressor, X, values),
        "ErrorImportance": lambda: analysis.importance(
            forest, "permutation", X, labels, random_state=0
        ),
        "ForwardSelection": lambda: analysis.forward_selection(X, labels, cv=5),
        "GroupSelections": lambda: analysis.group_selections(X, labels, [1, 2, 2], cv=5),
        "ForestRules": lambda: analysis.forest_rules(forest),
        "Importance": lambda: analysis.importance(forest, "gini"),
        "ImportanceTest": lambda: analysis.importance_test(
            small.fit(X, labels), X, labels, n_permutations=3, random_state=0
        ),
        "Interactions": lambda: analysis.interactions(forest, X[:20], list(X.columns[:2])),
        "NearestRows": lambda: analysis.nearest_rows(forest, X, X[:7], labels, k=3),
        "OutOfBagCurve": lambda: analysis.out_of_bag_curve(forest, X, labels),
        "OutlierScores": lambda: analysis.outlier_scores(forest, X, labels),
        "PathRules": lambda: analysis.path_rules(forest, X[:1]),
        "PrincipalCoordinates": lambda: analysis.principal_coordinates(forest, X, labels),
        "Prototypes": lambda: analysis.prototypes(forest, X, labels),
        "Proximity": lambda: analysis.proximity(forest, X, labels),
        "RowQuantiles": lambda: analysis.quantiles(regressor, X, values),
        "RuleSet": lambda: analysis.rule_set(forest, X, labels),
        "ShapleyInteractions": lambda: analysis.shapley_interactions(
            small.fit(X, labels), X[:2], X[:5]
        ),
        "ShapleyValues": lambda: analysis.shapley_values(forest, X[:2], X[:10]),
        "StandardErrors": lambda: analysis.predict_standard_error(forest, X[:5]),
        "StrengthAndCorrelation": lambda: analysis.strength_and_correlation(forest, X, labels),
        "SurrogateTree": lambda: analysis.surrogate_tree(forest, X, labels),
        "TopRules": lambda: analysis.top_rules(forest, X, labels),
        "TreeComplexity": lambda: analysis.tree_complexity(forest, n_rows=60),
        "TreeRules": lambda: analysis.tree_rules(forest, 0),
        "VotingPoints": lambda: analysis.voting_points(
            analysis.forest_weights(regressor, X, values, X[:1])
        ),
    }[name]()


class Balanced(HTMLParser):
    """Whether tags are closed in their order, and the text between them."""

    def __init__(self):
        super().__init__()
        self.open, self.text = [], []

    def handle_starttag(self, tag, attrs):  # noqa: ARG002
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(html):
    page = Balanced()
    page.feed(html)
    page.close()
    assert page.open == []
    return page.text


@pytest.mark.parametrize("name", results.__all__)
def test_results_are_tables_in_notebooks_and_data_frames(name):
    result = made(name)
    assert type(result).__name__ == name
    html = result._repr_html_()
    text = read(html)
    assert text
    # Light and dark: the notebook's own colours.
    assert not re.search(r"#[0-9a-fA-F]{3}|rgb|background:(?!none)|color:(?!inherit)", html)
    assert "<b>" not in html
    assert len(html) < 30_000
    frame = result.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) >= 1


def test_names_with_markup_are_text():
    html = made("Importance")._repr_html_()
    assert MARKUP in read(html)


def test_table_has_the_cells_of_the_text():
    class Small(PrintedResult):
        def _printed(self):
            return PrintedTable("title", ("name", "x"), [("a", 0.123456), ("b", "7")], ("note",))

    assert repr(Small()) == "title\nname       x\na     0.1235\nb          7\nnote"
    assert read(Small()._repr_html_()) == ["title", "name", "x", "a", "0.1235", "b", "7", "note"]


def test_lines_without_header_are_names_and_values():
    table = PrintedTable("title", (), [("all", 1.0), ("  part", 0.5)])
    assert table.text() == "title\n  all     1\n    part  0.5"
    assert "&ensp;&ensp;part" in table.html()


def test_pairs_of_a_proximity_are_those_of_its_matrix():
    result = made("Proximity")
    frame = result.to_pandas()
    matrix = np.zeros((60, 60))
    matrix[frame["row"], frame["other"]] = frame["proximity"]
    np.testing.assert_array_equal(matrix, np.triu(result.matrix, 1))


def test_nearest_rows_in_a_frame_leave_out_those_that_are_missing():
    result = results.NearestRows(
        np.array([[4, 2], [3, -1]]), np.array([[0.5, 0.2], [0.1, 0]]), "oob"
    )
    assert result.to_pandas().to_numpy().tolist() == [
        [0, 1, 4, 0.5],
        [0, 2, 2, 0.2],
        [1, 1, 3, 0.1],
    ]


def test_standard_errors_of_classes_have_a_column_each():
    frame = made("StandardErrors").to_pandas()
    assert list(frame.columns) == [
        ("prediction", 0),
        ("prediction", 1),
        ("standard_error", 0),
        ("standard_error", 1),
    ]
    assert frame["prediction"].sum(axis=1).to_numpy() == pytest.approx(1.0)


def test_frames_without_pandas_name_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingPackageError, match="pandas"):
        data_frame({"a": [1]})


def test_flat_forest_is_shown_as_a_summary():
    _, _, forest, _, regressor = fits()
    text = repr(forest.forest_)
    assert text.startswith("Flat forest of 20 trees, 2 classes\n  features  3\n")
    assert f"{forest.forest_.n_nodes:,}" in text
    assert "array" not in text
    assert "Flat forest of 20 trees, numbers in the leaves" in repr(regressor.forest_)
    assert "Flat forest of 20 trees, 2 classes" in read(forest.forest_._repr_html_())
    assert any("yes" in part for part in read(forest.forest_.tree(0)._repr_html_()))
