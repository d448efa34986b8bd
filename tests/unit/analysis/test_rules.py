"""Trees in words: the text alone, read by a person with the user's table, must do what trees do."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from support.rule_text import Reader, leaves_by_text

import bevel
from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel import projections as P
from bevel.analysis import forest_rules, path_rules, single_tree, top_rules, tree_rules

SCALES = [None, "minmax", "minmax_clip", "standard", "quantile", "rank", "relative_rank"]
N_TREES = 3


def numbers(n_rows=150, seed=0):
    """Columns in very unlike units, one far from zero and one that is mostly zero."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 4)) * [1.0, 2000.0, 0.003, 4.0] + [0.0, 500.0, 1.0, 2010.0]
    table = pd.DataFrame(X, columns=["height", "income", "dose", "year"])
    table["gift"] = np.where(random.random(n_rows) < 0.04, random.exponential(300, n_rows), 0.0)
    y = (X[:, 0] + (X[:, 3] - 2010) / 4 + 0.3 * random.normal(size=n_rows) > 0).astype(int)
    return table, np.array(["no", "yes"])[y]


def mixed(n_rows=300):
    """Missing numbers, labels, and missing labels."""
    table, y = numbers(n_rows)
    random = np.random.default_rng(1)
    table.loc[random.random(n_rows) < 0.2, "height"] = np.nan
    colours = np.array(["red", "green", "blue", None], dtype=object)
    table["colour"] = colours[random.integers(4, size=n_rows)]
    target = np.nan_to_num(table["height"].to_numpy()) + (table["colour"] == "red").to_numpy()
    return table, y, target


def grown(table, y, **parameters):
    kind = ObliqueForestRegressor if y.dtype.kind == "f" else ObliqueForestClassifier
    return kind(N_TREES, random_state=0, n_jobs=1, **parameters).fit(table, y)


def agreement(forest, table, **style):
    bounds = (0, 100) if forest.scale == "minmax_clip" else (5, 95)
    leaves, reader = forest.apply(table), Reader(table, bounds)
    frames = [tree_rules(forest, t, **style).to_pandas() for t in range(N_TREES)]
    found = [leaves_by_text(reader, frame) for frame in frames]
    return float(np.mean(np.column_stack(found) == leaves))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("projection", ["sparse", "axis", P.RandomRotation()], ids=str)
def test_exact_rules_read_by_a_person_lead_every_training_row_to_its_leaf(scale, projection):
    table, y = numbers()
    forest = grown(table, y, scale=scale, projection=projection)
    assert agreement(forest, table, digits=None, max_terms=None) >= attainable(scale)


def attainable(scale):
    """Shares of n + 1 are rounded in float32: trees then part sums of them that are truly equal."""
    return 0.99 if scale == "relative_rank" else 1.0


@pytest.mark.parametrize("scale", SCALES)
def test_rules_of_three_digits_lead_nearly_all_rows_to_their_leaf(scale):
    table, y = numbers()
    forest = grown(table, y, scale=scale)
    assert agreement(forest, table) > 0.97


@pytest.mark.parametrize("scale", SCALES)
def test_rules_written_for_some_rows_lead_all_of_them_to_their_leaf(scale):
    table, y = numbers()
    forest = grown(table, y, scale=scale)
    assert agreement(forest, table, X=table, digits=1) >= attainable(scale)


def test_exact_rules_with_missing_values_and_labels_lead_every_row_to_its_leaf():
    table, y, target = mixed()
    for answers in (y, target):
        forest = grown(table, answers, projection="axis")
        text = " ".join(str(tree) for tree in forest.forest_)
        assert " or missing" in text
        assert "colour in {" in text
        assert agreement(forest, table, digits=None) == 1.0


def test_rules_of_columns_without_missing_values_do_not_speak_of_them():
    table, y = numbers()
    text = " ".join(str(tree) for tree in grown(table, y).forest_)
    assert "missing" not in text


def test_missing_values_in_combinations_are_noted_once():
    table, y, _ = mixed()
    forest = grown(table.drop(columns="colour"), y, projection="sparse")
    texts = [str(tree) for tree in forest.forest_ if "[height]" in str(tree)]
    assert texts
    assert all(text.count("counts as its column's median") == 1 for text in texts)


def test_the_largest_term_comes_first_with_weight_one_and_few_digits():
    table, y = numbers()
    frame = forest_rules(grown(table, y, scale="standard")).to_pandas()
    for split in frame.split[frame.split.str.contains(r" [+−] ")]:
        lead, *others = split.split(" ≤ ")[0].split(" ≥ ")[0].replace(" − ", " + ").split(" + ")
        assert "·" not in lead
        for term in others:
            weight = term.split("·")[0].replace(".", "").strip("0") if "·" in term else "1"
            assert len(weight) <= 4


def test_short_thresholds_between_round_values_are_not_rounded_onto_one():
    ages = np.arange(1000, 3000.0)
    table = pd.DataFrame({"age": ages})
    y = np.where(ages < 1234, "young", "old")
    forest = grown(table, y, projection="axis", bootstrap=False)
    assert str(forest.forest_.tree(0)).splitlines()[1].endswith("age ≤ 1233.5: young, 234 rows")


def test_pruned_trees_say_the_shares_and_counts_of_all_rows_below():
    table, y = numbers()
    forest = grown(table, y, bootstrap=False)
    whole = Reader(table)
    for style in ({"max_depth": 2}, {"min_rows": 15}, {"max_depth": 3, "min_rows": 10}):
        rules = tree_rules(forest, 1, X=table, **style)
        assert rules.cut.any()
        frame = rules.to_pandas()
        inside = leaves_by_text(whole, frame)
        for line in frame[frame.split == ""].itertuples():
            rows = inside == line.node
            assert line.rows == np.count_nonzero(rows) >= style.get("min_rows", 1)
            assert line.share_yes == pytest.approx(np.mean(y[rows] == "yes"))
            assert line.depth <= style.get("max_depth", 99)


def test_inner_nodes_of_a_regression_tree_say_the_mean_of_their_rows():
    table, _, target = mixed()
    forest = grown(table, target, projection="axis", bootstrap=False)
    frame = tree_rules(forest, 0, max_depth=2, digits=None).to_pandas()
    inside = leaves_by_text(Reader(table), frame)
    for line in frame[frame.split == ""].itertuples():
        assert line.prediction == pytest.approx(target[inside == line.node].mean())


def test_the_rule_of_a_leaf_draws_conditions_on_one_subject_together():
    table, y = numbers()
    forest = grown(table, y, projection="axis")
    rules = tree_rules(forest, X=table)
    leaves, reader = forest.apply(table)[:, 0], Reader(table)
    for place in np.flatnonzero(rules.left < 0):
        rule = rules.rule(int(place))
        subjects = [condition.subject for condition in rules.path(int(place))]
        assert len(subjects) == len(set(subjects))
        np.testing.assert_array_equal(reader.holds(rule), leaves == rules.node[place])


def test_a_dictionary_of_a_tree_is_json_and_nests_all_its_nodes():
    table, y, _ = mixed()
    forest = grown(table, y, projection="axis")
    rules = tree_rules(forest, max_depth=3)
    root = json.loads(json.dumps(rules.to_dict()))
    below = [root]
    for entry in below:
        below += [entry[side] for side in ("left", "right") if side in entry]
        assert ("rule" in entry) == ("left" in entry) == ("right" in entry)
        assert sum(entry["class_shares"].values()) == pytest.approx(1.0)
    assert sorted(entry["node"] for entry in below) == rules.node.tolist()
    assert len(forest_rules(forest).to_dict()["trees"]) == N_TREES


def test_a_frame_of_a_forest_has_a_line_for_each_node_of_each_tree():
    table, y = numbers()
    forest = grown(table, y)
    frame = forest_rules(forest).to_pandas()
    assert len(frame) == forest.forest_.n_nodes
    np.testing.assert_array_equal(frame.gain, forest.forest_.gain)
    assert forest.forest_.tree(2).to_pandas().equals(frame[frame.tree == 2].reset_index(drop=True))


def test_a_row_fulfils_the_rules_of_its_path_and_ends_in_its_leaf():
    table, y, _ = mixed()
    for projection in ("axis", "sparse"):
        forest = grown(table, y, projection=projection)
        for row in range(20):
            path = path_rules(forest, table[row : row + 1], 1, digits=1)
            assert path.node[-1] == forest.apply(table[row : row + 1])[0, 1]
            assert len(path.conditions) == len(path.values) == len(path.node) - 1
            if projection == "axis":
                assert all(Reader(table).condition(str(c))[row] for c in path.conditions)


def test_a_path_shows_values_on_the_side_of_the_rule_that_they_are_on():
    table, y = numbers()
    forest = grown(table, y)
    for row in range(30):
        path = path_rules(forest, table[row : row + 1])
        for condition, value in zip(path.conditions, path.values, strict=True):
            number = float(value.replace("−", "-").replace(",", ""))
            above = number >= condition.low if condition.low_included else number > condition.low
            below = number <= condition.high if condition.high_included else number < condition.high
            assert above
            assert below


def test_a_path_of_two_rows_is_refused():
    table, y = numbers()
    with pytest.raises(ValueError, match="X must be one row; got '2 rows'"):
        path_rules(grown(table, y), table[:2])


def test_top_rules_cover_what_they_say_and_are_not_copies():
    table, y = numbers(400)
    forest = ObliqueForestClassifier(30, random_state=0, n_jobs=1, scale="standard").fit(table, y)
    found = top_rules(forest, table, y, n=6)
    rows = [Reader(table).holds(rule) for rule in found.rules]
    assert 2 <= len(found) <= 6
    for covered, coverage, label, purity in zip(
        rows, found.coverage, found.prediction, found.purity, strict=True
    ):
        assert coverage == covered.mean() >= 0.02
        assert purity == np.mean(y[covered] == label)
    for one in range(len(rows)):
        for other in range(one):
            shared = np.count_nonzero(rows[one] & rows[other])
            assert shared <= 0.7 * np.count_nonzero(rows[one] | rows[other])
    assert len(found.to_pandas()) == len(found)
    # What is told is at most all there is, and the first tells most (5 % a condition aside).
    assert found.told.max() <= 1.0
    assert found.told[0] >= 0.85 * found.told.max()


def test_top_rules_of_a_regression_say_means_and_deviations():
    table, _, target = mixed()
    forest = grown(table, target, projection="axis")
    found = top_rules(forest, table, target, n=3)
    for rule, prediction, spread in zip(found.rules, found.prediction, found.purity, strict=True):
        rows = Reader(table).holds(rule)
        mean = float(prediction.replace("−", "-").replace(",", ""))
        assert mean == pytest.approx(target[rows].mean(), abs=1e-3 * np.ptp(target))
        assert spread == pytest.approx(target[rows].std())


@pytest.mark.parametrize("is_classifier", [True, False])
def test_top_rules_out_of_bag_are_evaluated_on_rows_that_their_tree_has_not_seen(is_classifier):
    table, y, target = mixed()
    y = y if is_classifier else target
    forest = grown(table, y, projection="axis")
    found = top_rules(forest, table, y, n=3, out_of_bag=True)
    out = forest.fitted_forest_.provenance.bags.rows_out(N_TREES)
    for place, rule in enumerate(found.rules):
        inside = Reader(table).holds(rule)
        assert found.n_rows[place] == inside.sum()
        rows = inside & out[:, found.tree[place]]
        expected = np.mean(y[rows] == found.prediction[place]) if is_classifier else y[rows].mean()
        assert found.out_of_bag[place] == pytest.approx(expected)
        assert found.estimate(place) in str(found)
    assert np.isnan(top_rules(forest, table, y, n=3, out_of_bag=False).out_of_bag).all()


def test_a_tree_without_splits_prints_its_prediction():
    table, _ = numbers(20)
    forest = grown(table, np.full(20, "same"))
    assert str(forest.forest_.tree(0)).splitlines() == [
        f"tree 0 of {N_TREES}: 1 leaf, depth 0, 20 rows",
        "always: same, 20 rows",
    ]
    assert path_rules(forest, table[:1]).conditions == ()
    assert "no rule" in str(top_rules(forest, table, np.full(20, "same")))
    one = ObliqueForestRegressor(1, n_jobs=1).fit([[1.0]], [2.5])
    assert str(one.forest_.tree(0)).endswith("always: 2.5, 1 row")


def test_slim_and_loaded_forests_speak_the_same_rules(tmp_path):
    table, y, _ = mixed()
    forest = grown(table, y, projection="axis")
    rules = forest_rules(forest).to_pandas()
    forest.save(tmp_path / "model.bevel")
    for mmap in (False, True):
        loaded = bevel.load(tmp_path / "model.bevel", mmap=mmap)
        assert str(loaded.forest_.tree(0)) == str(forest.forest_.tree(0))
    slim = bevel.load(tmp_path / "model.bevel").slim()
    text = str(slim.forest_.tree(0))
    assert "rows" not in text
    assert rules.prediction[rules.split == ""].iloc[0] in text
    with pytest.raises(ValueError, match="A pruned tree needs the gains and weights"):
        tree_rules(slim, max_depth=1)


def test_rules_of_bare_arrays_are_refused_and_print_as_a_line(forest):
    tree = forest.tree(0)
    assert str(tree) == "<tree 0 of 2: 5 nodes>"
    with pytest.raises(ValueError, match="Take the tree from forest_ of a fitted estimator"):
        tree.rules()


@pytest.mark.parametrize(
    ("style", "error", "message"),
    [
        ({"max_depth": -1}, ValueError, "max_depth must be an integer of at least 0 or None"),
        ({"digits": 0}, ValueError, "digits must be"),
        ({"max_terms": "all"}, TypeError, "max_terms must be"),
        ({"min_rows": -2}, ValueError, "min_rows must be"),
        ({"tree": N_TREES}, IndexError, "tree index must be from 0 to 2; got 3"),
    ],
)
def test_rules_refuse_what_makes_no_sense(style, error, message):
    table, y = numbers(50)
    with pytest.raises(error, match=message):
        tree_rules(grown(table, y), **style)


def test_rules_of_other_estimators_are_refused():
    with pytest.raises(TypeError, match="The forest of tree_rules must be a fitted forest"):
        tree_rules(object())


def test_many_terms_are_counted_rather_than_written():
    X = np.random.default_rng(0).normal(size=(60, 20))
    forest = grown(X, (X.sum(axis=1) > 0).astype(float), projection=P.RandomRotation(), scale=None)
    root = tree_rules(forest, max_terms=3).to_pandas().split[0]
    assert " + 17 more terms " in root
    assert root.count("x") == 3
    (best,) = top_rules(forest, X, (X.sum(axis=1) > 0).astype(float), n=1, max_terms=2).rules
    assert " + 18 more terms " in best


def test_a_single_tree_predicts_as_the_tree_of_the_forest_does():
    table, y = numbers()
    forest = grown(table, y)
    tree, leaves = single_tree(forest, -1), forest.apply(table)[:, -1]
    shares = [forest.forest_.tree(-1).class_shares(leaf) for leaf in leaves]
    np.testing.assert_allclose(tree.predict_proba(table), shares)
    assert forest.forest_.n_trees == N_TREES


@pytest.mark.parametrize("wrong", [{"n": 0}, {"max_depth": 0}, {"min_coverage": 1.5}])
def test_top_rules_refuse_what_makes_no_sense(wrong):
    table, y = numbers(50)
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be"):
        top_rules(grown(table, y), table, y, **wrong)


@pytest.mark.parametrize("classes", [True, False], ids=["classes", "values"])
def test_top_rules_are_those_of_a_search_over_all_nodes(classes):
    random = np.random.default_rng(4)
    X = random.normal(size=(150, 3))
    value = X[:, 0] + X[:, 1] + 0.5 * random.normal(size=150)
    y = np.digitize(value, [-0.5, 0.5]) if classes else value
    kind = ObliqueForestClassifier if classes else ObliqueForestRegressor
    forest = kind(12, random_state=0, n_jobs=1).fit(X, y)
    Y = np.eye(3)[y] if classes else y[:, None]
    path, first = forest.decision_path(X)
    found = []
    for tree in range(12):
        depths = forest.forest_.tree(tree).depth
        for node in np.flatnonzero((depths > 0) & (depths <= 3)):
            rows = path[:, [first[tree] + node]].toarray()[:, 0] > 0
            if rows.sum() >= 3:
                told = rows.mean() * ((Y[rows].mean(axis=0) - Y.mean(axis=0)) ** 2).sum()
                score = told * 0.95 ** depths[node]
                found.append((-round(score, 12), int(depths[node]), tree, int(node), rows))
    chosen = []
    for rule in sorted(found, key=lambda rule: rule[:4]):
        rows = rule[4]
        if all((rows & o[4]).sum() <= 0.7 * (rows | o[4]).sum() for o in chosen):
            chosen.append(rule)
    result = top_rules(forest, X, y, n=8)
    places = list(zip(result.tree.tolist(), result.node.tolist(), strict=True))
    assert places == [rule[2:4] for rule in chosen[:8]]
    told = [-rule[0] / 0.95 ** rule[1] / Y.var(axis=0).sum() for rule in chosen[:8]]
    np.testing.assert_allclose(result.told, told)
    np.testing.assert_allclose(result.coverage, [rule[4].mean() for rule in chosen[:8]])
