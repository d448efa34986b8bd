"""Rules of different groups, surrogate trees: what is written is evaluated, in SQL too."""

import math
import re
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from support.nominal_tables import new_rows, nominal_table, plain_forest, plain_leaves

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.analysis import rule_set, surrogate_tree
from bevel.analysis.accuracy.evaluation_rows import EvaluationRows, read_evaluation_rows
from bevel.analysis.analysed_forest import read_forest
from bevel.analysis.rules.conditions import LabelTest, Number, NumberTest
from bevel.analysis.rules.rule_set import RuleOptions, choose_rules
from bevel.text.split_text import Condition
from bevel.text.sql import sql_value

FOREST = {"n_estimators": 20, "random_state": 0, "n_jobs": 1}


def mixed(n=300):
    """Numbers with missing values, a nominal column with missing ones, and names to quote."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({'odd "name"': rng.normal(size=n).round(2), "b c": rng.normal(size=n)})
    frame["SELECT"] = rng.choice(["it's", "x", "y", None], n)
    y = frame['odd "name"'] + frame["b c"] + 2.0 * (frame["SELECT"] == "it's")
    frame.loc[::5, 'odd "name"'] = np.nan
    frame.loc[1::7, "b c"] = np.nan
    return frame, y.to_numpy()


def query(frame, sql):
    """Rows that a database gives."""
    with closing(sqlite3.connect(":memory:")) as database:
        frame.to_sql("my table", database, index=False)
        return database.execute(sql).fetchall()


@pytest.fixture(scope="module", params=["regression", "classification"])
def fitted(request):
    X, y = mixed()
    if request.param == "regression":
        return ObliqueForestRegressor(**FOREST).fit(X, y), X, y
    labels = np.where(y > 1.0, "it's high", "low")
    return ObliqueForestClassifier(**FOREST).fit(X, labels), X, labels


@pytest.mark.parametrize("splits", ["axis", "sparse"])
def test_surrogate_tree_in_sql_predicts_as_in_python(fitted, splits):
    forest, X, _ = fitted
    tree = surrogate_tree(forest, X, splits=splits)
    found = query(X, f'SELECT {tree.to_sql()} FROM "my table"')
    assert [row[0] for row in found] == tree.predict(X).tolist()
    assert len(set(tree.predict(X).tolist())) >= 2


def test_rules_in_sql_match_the_rows_that_they_match_in_python(fitted):
    forest, X, y = fitted
    rules = rule_set(forest, X, y, n=5, min_coverage=0.02)
    assert len(rules) >= 3
    found = np.array(query(X, rules.to_sql("my table")), dtype=bool)
    np.testing.assert_array_equal(found, rules.matches(X))
    assert any("SELECT" in rule.text or "or missing" in rule.text for rule in rules.rules)


def test_figures_of_rules_are_those_of_the_rows_that_match(fitted):
    forest, X, y = fitted
    rules = rule_set(forest, X, y, n=4, out_of_bag=True)
    matches = rules.matches(X)
    for place, rule in enumerate(rules.rules):
        inside = matches[:, place]
        assert rule.n_rows == inside.sum()
        earlier = matches[:, :place].any(axis=1)
        assert rule.new == pytest.approx((inside & ~earlier).mean())
        if rules.is_classifier:
            assert rule.precision == pytest.approx((y[inside] == rule.prediction).mean())
            assert 0.0 <= rule.out_of_bag <= 1.0
        else:
            assert rule.prediction == pytest.approx(y[inside].mean(), rel=1e-3, abs=1e-3)
            assert rule.precision == pytest.approx(y[inside].std())
            assert abs(rule.out_of_bag - rule.prediction) < 1.5
    assert rules.covered == pytest.approx(matches.any(axis=1).mean())


def test_rules_describe_different_groups():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    forest = ObliqueForestRegressor(100, projection="sparse", random_state=0, n_jobs=1)
    rules = rule_set(forest.fit(X, y), X, y, n=6)
    matches = rules.matches(X)
    assert all(rule.new >= 0.04 for rule in rules.rules)
    assert rules.covered > 0.8
    means = [rule.prediction for rule in rules.rules]
    assert min(means) < y.mean() - 20 < y.mean() + 20 < max(means)
    alike = [
        (matches[:, i] & matches[:, j]).sum() / (matches[:, i] | matches[:, j]).sum()
        for i in range(len(rules))
        for j in range(i)
    ]
    assert max(alike) < 0.7


def rare_class(n=2000):
    """A class of 5 % of the rows, most of them in a corner of two columns."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((n, 4)), columns=list("abcd"))
    share = np.where((X["a"] > 0.8) & (X["b"] > 0.6), 0.4, 0.02)
    return X, np.where(rng.random(n) < share, "ill", "well")


@pytest.mark.parametrize("source", ["forest", "imitation"])
def test_rules_of_a_class_are_of_rows_where_it_is_more_frequent(source):
    X, y = rare_class()
    forest = ObliqueForestClassifier(**FOREST, projection="axis", min_samples_leaf=20).fit(X, y)
    found = rule_set(forest, X, y, positive="ill", source=source, min_coverage=0.02)
    assert len(found) >= 1
    base, inside = np.mean(y == "ill"), found.matches(X)
    for place, rule in enumerate(found.rules):
        share = np.mean(y[inside[:, place]] == "ill")
        assert (rule.prediction, rule.precision) == ("ill", pytest.approx(share))
        assert rule.lift == pytest.approx(share / base)
        assert rule.lift > 1.0
    assert {"a", "b"} <= set(re.findall(r"\b[abcd]\b", found.rules[0].text))
    assert f"all rows: ill {100 * base:.0f} %" in str(found)
    assert f"lift {found.rules[0].lift:.2g}" in str(found)
    # Without it all rules are of the class of most rows.
    assert {rule.prediction for rule in rule_set(forest, X, y).rules} == {"well"}


@pytest.mark.parametrize("label", [1, "1", np.int64(1)])
def test_class_of_rules_may_be_written_as_text(label):
    X, y = rare_class()
    forest = ObliqueForestClassifier(**FOREST, projection="axis").fit(X, (y == "ill").astype(int))
    found = rule_set(forest, X, (y == "ill").astype(int), positive=label)
    assert {int(rule.prediction) for rule in found.rules} == {1}


def test_class_of_rules_must_be_one_of_the_fit(fitted):
    forest, X, y = fitted
    remedy = "They are it's high, low." if y.dtype.kind == "U" else "predicts numbers"
    with pytest.raises(
        ValueError, match=r"`positive` must be one of the classes .* got 'high'"
    ) as e:
        rule_set(forest, X, y, positive="high")
    assert remedy in str(e.value)


def test_rules_of_numbers_have_no_lift():
    X, y = mixed()
    found = rule_set(ObliqueForestRegressor(**FOREST).fit(X, y), X, y)
    assert all(math.isnan(rule.lift) for rule in found.rules)
    assert "lift" not in str(found) + found._repr_html_()


@pytest.mark.parametrize("missing", [True, False, None])
def test_condition_that_no_label_satisfies_says_what_does(missing):
    words = "c is missing" if missing else "c in none of its labels"
    assert LabelTest(0, (), bool(missing)).text(["c"]) == words
    assert str(Condition("c", labels=(), missing=missing)) == words


def test_greedy_choice_is_the_best_by_its_own_measure():
    """The first rule against all nodes of a small forest, by brute force."""
    X, y = load_iris(return_X_y=True)
    forest = ObliqueForestClassifier(5, projection="axis", random_state=0, n_jobs=1).fit(X, y)
    first = rule_set(forest, X, y, n=1, max_depth=1, min_coverage=0.0).rules[0]
    leaves, Y = forest.apply(X), np.eye(3)[y]
    scores = []
    for tree in forest.forest_:
        right = int(tree.children_right[0])
        for inside in (leaves[:, tree.index] < right, leaves[:, tree.index] >= right):
            distance = Y[inside].mean(axis=0) - Y.mean(axis=0)
            scores.append((inside.sum() * distance @ distance, tree.index, inside.sum()))
    best = max(scores, key=lambda score: score[0])
    assert first.n_rows == best[2]


def test_surrogate_tree_states_its_fidelity():
    X, y = load_iris(return_X_y=True)
    forest = ObliqueForestClassifier(50, random_state=0, n_jobs=1).fit(X, y)
    tree = surrogate_tree(forest, X, max_depth=2)
    assert tree.fidelity_training == pytest.approx((tree.predict(X) == forest.predict(X)).mean())
    assert 0.85 < tree.fidelity <= 1.0
    assert tree.n_leaves <= 4
    text = str(tree).splitlines()
    assert text[0].startswith(f"surrogate tree: {tree.n_leaves} leaves, imitates the model: ")
    assert sum("% of the rows" in line for line in text) == tree.n_leaves


def test_out_of_bag_predictions_are_imitated_if_targets_are_given():
    X, y = load_diabetes(return_X_y=True)
    forest = ObliqueForestRegressor(30, random_state=0, n_jobs=1, oob_score=True).fit(X, y)
    tree = surrogate_tree(forest, X, y)
    leaf = tree.apply(X)
    known = np.isfinite(forest.oob_prediction_)
    for node in np.unique(leaf):
        inside = (leaf == node) & known
        assert tree.prediction[node] == pytest.approx(forest.oob_prediction_[inside].mean(), 1e-3)


def test_rotated_forest_has_no_short_rules_but_a_surrogate_tree():
    X, y = load_diabetes(return_X_y=True)
    forest = ObliqueForestRegressor(5, projection="rotation", random_state=0, n_jobs=1).fit(X, y)
    rules = rule_set(forest, X, y, source="forest")
    assert str(rules).startswith("no rule is short enough and covers enough rows. No first split")
    assert "surrogate_tree" in str(rules)
    assert rules.matches(X).shape == (len(X), 0)
    assert surrogate_tree(forest, X).n_leaves > 2


@pytest.mark.parametrize("load", [load_breast_cancer, load_diabetes, load_iris, load_wine])
def test_default_forest_has_short_rules_for_most_rows(load):
    X, y = load(return_X_y=True)
    kind = ObliqueForestRegressor if load is load_diabetes else ObliqueForestClassifier
    rules = rule_set(kind(200, random_state=0, n_jobs=1).fit(X, y), X, y)
    assert len(rules) >= 2
    assert rules.covered > 0.8
    assert max(len(rule.tests) for rule in rules.rules) <= 2


def test_forest_of_long_splits_says_how_long_rules_must_be():
    X, y = load_breast_cancer(return_X_y=True)
    forest = ObliqueForestClassifier(20, projection="lda", random_state=0, n_jobs=1).fit(X, y)
    rules = rule_set(forest, X, y, source="forest")
    assert len(rules) == 0
    found = re.search(r"have (\d+) features or more: raise max_terms \(here 3\)", str(rules))
    shortest = int(found[1])
    assert len(rule_set(forest, X, y, max_terms=shortest, source="forest")) > 0
    assert len(rule_set(forest, X, y, max_terms=shortest - 1, source="forest")) == 0
    with pytest.raises(ValueError, match=r"got a set of none\. The first splits of trees have"):
        rules.to_sql("rows")


@pytest.mark.parametrize("projection", ["auto", "lda", "rotation"])
@pytest.mark.parametrize("load", [load_breast_cancer, load_diabetes])
def test_forest_of_long_splits_is_imitated_by_short_rules(load, projection):
    X, y = load(return_X_y=True, as_frame=True)
    kind = ObliqueForestRegressor if load is load_diabetes else ObliqueForestClassifier
    forest = kind(60, projection=projection, random_state=0, n_jobs=1).fit(X, y)
    rules = rule_set(forest, X, y, out_of_bag=True, source="imitation")
    assert len(rules) >= 2
    assert rules.covered > 0.8
    assert max(test.n_terms for rule in rules.rules for test in rule.tests) <= 3
    assert rules.source == "imitation"
    assert "small trees" in str(rules)
    assert all(np.isfinite(rule.out_of_bag) for rule in rules.rules)


def test_own_rules_are_taken_if_most_trees_begin_with_short_splits():
    X, y = load_breast_cancer(return_X_y=True)
    sources = {}
    for projection in ("axis", "lda"):
        forest = ObliqueForestClassifier(20, projection=projection, random_state=0, n_jobs=1)
        rules = rule_set(forest.fit(X, y), X, y)
        sources[projection] = rules.source
        assert ("The model's own splits are long: 0 of 20 trees" in str(rules)) == (
            projection == "lda"
        )
    assert sources == {"axis": "forest", "lda": "imitation"}


def test_fidelity_of_rules_is_that_of_the_first_rule_of_each_row(fitted):
    forest, X, y = fitted
    rules = rule_set(forest, X, y, n=4, out_of_bag=False)
    predicted = forest.predict(X)
    first = []
    for row in rules.matches(X):
        held = np.flatnonzero(row)
        if len(held):
            first.append(rules.rules[held[0]].prediction)
        elif rules.is_classifier:
            first.append(max(set(y.tolist()), key=y.tolist().count))
        else:
            first.append(y.mean())
    if rules.is_classifier:
        assert rules.fidelity == pytest.approx(np.mean(predicted == np.array(first)))
    else:
        error = ((predicted - np.array(first)) ** 2).mean()
        assert rules.fidelity == pytest.approx(1.0 - error / predicted.var())


def test_rules_of_an_imitation_are_evaluated_on_rows_out_of_its_bags():
    """Targets that no feature explains: out of bag they stay at the share of the class."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 6)), rng.integers(0, 2, 400)
    forest = ObliqueForestClassifier(100, projection="rotation", random_state=0).fit(X, y)
    rules = rule_set(forest, X, y, out_of_bag=False)  # the forest knows its rows by heart
    out = [rule.out_of_bag for rule in rules.rules]
    assert rules.source == "imitation"
    assert np.mean(out) < np.mean([rule.precision for rule in rules.rules])


def test_rules_of_nominal_columns_alone_are_imitated():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice(list("abcd"), 200) for name in ("u", "v")})
    y = np.where(frame["u"].isin(["a", "b"]) & (frame["v"] != "c"), "yes", "no")
    forest = ObliqueForestClassifier(20, random_state=0).fit(frame, y)
    rules = rule_set(forest, frame, y, source="imitation")
    assert rules.source == "imitation"
    assert rules.fidelity > 0.9


def test_numbers_get_more_digits_where_rounding_would_move_the_rows_of_a_rule():
    """Most values lie near zero, which two digits of so wide a spread cannot tell apart."""
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(0.0, 4.0, size=(400, 2)))
    y = np.where(X[:, 0] > 0.05, "above", "below")
    forest = ObliqueForestClassifier(10, projection="axis", random_state=0, n_jobs=1).fit(X, y)
    rules = rule_set(forest, X, y, n=2)
    assert len(rules) == 2
    assert all(rule.precision > 0.95 and rule.agreement > 0.95 for rule in rules.rules)


def test_forest_that_predicts_one_class_is_not_imitated():
    X, y = load_iris(return_X_y=True)
    forest = ObliqueForestClassifier(5, projection="lda", random_state=0).fit(X, y)
    rules = rule_set(forest, X[:20], y[:20], source="imitation")
    assert (rules.source, len(rules)) == ("forest", 0)


def test_rules_that_cover_too_little_say_so(fitted):
    forest, X, y = fitted
    assert "Lower min_coverage" in str(rule_set(forest, X, y, min_coverage=1.0))


def test_arguments_out_of_range_are_refused(fitted):
    forest, X, y = fitted
    with pytest.raises(ValueError, match="splits must be 'axis' or 'sparse'; got 'oblique'"):
        surrogate_tree(forest, X, splits="oblique")
    with pytest.raises(ValueError, match="max_depth must be"):
        surrogate_tree(forest, X, max_depth=9)
    with pytest.raises(ValueError, match="overlap must be"):
        rule_set(forest, X, y, overlap=2.0)
    with pytest.raises(ValueError, match="source must be"):
        rule_set(forest, X, y, source="tree")


def test_sql_of_no_rules_and_of_infinite_numbers_is_refused():
    X, y = load_iris(return_X_y=True)
    forest = ObliqueForestClassifier(**FOREST).fit(X, y)
    none = rule_set(forest, X, y, min_coverage=1.0)
    assert len(none) == 0
    with pytest.raises(ValueError, match="to_sql needs at least one rule"):
        none.to_sql("rows")
    for value in (np.inf, np.float32(-np.inf), float("nan")):
        with pytest.raises(ValueError, match="A number in SQL must be finite"):
            sql_value(value)
    assert sql_value(np.float64(0.1)) == "0.1"


def test_out_of_bag_figures_are_of_rows_that_the_tree_was_not_grown_on():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    forest = ObliqueForestRegressor(20, projection="axis", random_state=0).fit(X, y)
    found = rule_set(forest, X, y, n=3, out_of_bag=True)
    out = forest.fitted_forest_.provenance.bags.rows_out(20)
    matches = np.asarray(found.matches(X))
    for number, rule in enumerate(found.rules):
        rows = matches[:, number] & out[:, rule.tree]
        assert rule.out_of_bag == pytest.approx(y[rows].mean())


def test_overlap_decides_whether_rules_describe_the_same_rows():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    forest = ObliqueForestRegressor(50, projection="axis", random_state=0).fit(X, y)
    apart, alike = (
        [rule.text for rule in rule_set(forest, X, y, n=4, overlap=overlap).rules]
        for overlap in (0.01, 1.0)
    )
    assert apart[0] == alike[0]
    assert apart != alike


def test_fidelity_is_that_of_rows_the_surrogate_tree_was_not_grown_on():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 4)), rng.normal(size=150)
    forest = ObliqueForestRegressor(30, random_state=0).fit(X, y)
    tree = surrogate_tree(forest, X, max_depth=6)
    imitated = forest.predict(X)
    own = 1 - ((tree.predict(X) - imitated) ** 2).mean() / imitated.var()
    assert tree.fidelity < own - 0.1


def test_surrogate_tree_has_no_split_whose_sides_say_the_same():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    forest = ObliqueForestClassifier(30, random_state=0).fit(X, y)
    tree = surrogate_tree(forest, X)
    leaves = [node for node, test in enumerate(tree.tests) if test is None]
    for node, test in enumerate(tree.tests):
        if test is not None:
            left, right = node + 1, int(tree.right[node])
            assert {left, right} - set(leaves) or tree.prediction[left] != tree.prediction[right]
    assert sum(tree.share[leaves]) == pytest.approx(1.0)
    agreement = np.mean(tree.predict(X) == forest.predict(X))
    assert agreement == pytest.approx(tree.fidelity_training)
    assert agreement > 0.9
    assert "class 0" in str(tree)


def test_rule_set_is_a_table_in_notebooks():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    forest = ObliqueForestClassifier(20, random_state=0).fit(X, y)
    html = rule_set(forest, X, y)._repr_html_()
    assert html.count("<tr>") >= 2
    assert "class 1" in html
    assert "<pre" not in html


@pytest.mark.parametrize("is_classifier", [True, False])
def test_fidelity_is_that_on_rows_that_the_tree_was_not_made_from(is_classifier):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    y = rng.integers(0, 2, 60) if is_classifier else rng.normal(size=60)  # noise: trees overfit
    kind = ObliqueForestClassifier if is_classifier else ObliqueForestRegressor
    forest = kind(20, projection="axis", bootstrap=False, random_state=0, n_jobs=1).fit(X, y)
    tree = surrogate_tree(forest, X, max_depth=4)
    target = forest.predict(X)
    fold = np.random.default_rng(0).permutation(np.arange(60) % 5)
    found = np.empty_like(target)
    for number in range(5):
        inside, outside = fold != number, fold == number
        found[outside] = surrogate_tree(forest, X[inside], max_depth=4).predict(X[outside])
    if is_classifier:
        expected = np.mean(found == target)
    else:
        expected = 1.0 - ((found - target) ** 2).sum() / ((target - target.mean()) ** 2).sum()
    assert tree.fidelity == pytest.approx(expected)
    assert tree.fidelity < tree.fidelity_training - 0.1


BOUNDS = (-math.inf, -1.0, 0.5, math.inf)
VALUES = [-2.0, -1.0, 0.0, 0.5, 3.0, None]


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("high", BOUNDS)
@pytest.mark.parametrize("low", BOUNDS)
def test_database_takes_the_same_rows_for_finite_and_infinite_bounds(low, high, missing):
    test = NumberTest((Number(0),), (1.0,), (0.0,), low, high, False, True, missing)
    numbers = np.array(VALUES, dtype=float)
    expected = [value for value, holds in zip(VALUES, test.holds([numbers]), strict=True) if holds]
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute('CREATE TABLE rows ("x")')
        database.executemany("INSERT INTO rows VALUES (?)", [(value,) for value in VALUES])
        found = database.execute(f"SELECT x FROM rows WHERE {test.sql(['x'])}").fetchall()
    assert [value for (value,) in found] == expected


@pytest.fixture(scope="module")
def with_means():
    """A forest that reads a column of 150 labels as means of the target."""
    frame, y = nominal_table(1000, n_places=150)
    return ObliqueForestRegressor(60, random_state=0, n_jobs=1).fit(frame, y), frame, y


def test_rules_on_means_of_the_target_cover_the_rows_of_their_nodes(with_means):
    """Training rows are read with the means over the rows of other folds, as in the fit."""
    forest, frame, y = with_means
    found = rule_set(forest, frame, y, source="forest", max_terms=4)
    assert "mean target in place" in str(found)
    leaves = plain_leaves(forest, frame, training=True)
    for rule in found.rules:
        passing = plain_forest(forest).trees
        tree = next(tree for tree in passing if tree.number == rule.tree)
        end = forest.forest_.subtree_end[tree.first + rule.node] - tree.first
        inside = (leaves[:, rule.tree] >= rule.node) & (leaves[:, rule.tree] < end)
        assert rule.agreement > 0.98
        assert abs(inside.sum() - rule.n_rows) <= 0.02 * len(frame)


def test_rules_of_some_of_the_training_rows_read_them_as_in_the_fit(with_means):
    """Folds belong to the places in the fit, not to those among the chosen rows."""
    forest, frame, y = with_means
    analysed = read_forest(forest, "rule_set")
    rows, few = read_evaluation_rows(analysed, frame, y, "auto"), np.arange(100, 1000, 3)
    some = EvaluationRows(
        rows.X[few], rows.target[few], rows.out[few], rows.row_kind, rows.places[few]
    )
    options = RuleOptions(source="forest", max_terms=4)
    found = choose_rules(analysed, frame.iloc[few], some, options)
    assert "mean target in place" in str(found)
    assert all(rule.agreement > 0.98 for rule in found.rules)


@pytest.mark.parametrize("source", ["forest", "imitation"])
def test_rules_on_levels_and_means_take_the_same_new_rows_in_a_database(with_means, source):
    forest, frame, y = with_means
    found = rule_set(forest, frame, y, source=source, max_terms=4)
    assert "mean target in place" in str(found)
    assert all(rule.agreement > 0.98 for rule in found.rules)
    rows = new_rows(frame)
    rows = rows.where(rows.notna(), None).assign(a=rows["a"])
    for place, rule in enumerate(found.rules):
        where = " AND ".join(f"({test.sql(found.names)})" for test in rule.tests)
        taken = query(
            rows.assign(row=range(len(rows))), f'SELECT row FROM "my table" WHERE {where}'
        )
        matches = np.flatnonzero(found.matches(rows)[:, place])
        assert [row for (row,) in taken] == matches.tolist()


def test_surrogate_tree_reads_means_of_the_target_as_the_model_does(with_means):
    forest, frame, _ = with_means
    tree = surrogate_tree(forest, frame, max_depth=4)
    assert "mean target in place" in str(tree)
    assert tree.fidelity > 0.6
    rows = new_rows(frame)
    rows = rows.where(rows.notna(), None).assign(a=rows["a"])
    predicted = [value for (value,) in query(rows, f'SELECT {tree.to_sql()} FROM "my table"')]
    np.testing.assert_allclose(predicted, tree.predict(rows))
