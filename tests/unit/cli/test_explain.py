"""`bevel explain`: its page, its numbers, and how it answers mistakes."""

import json
import re

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from support.command_line import run, write_rows

import bevel
from bevel.analysis import importance, partial_dependence, shapley_values
from bevel.data.tables import Columns
from bevel.estimators._base import encode_rows
from bevel.forest.training_rows import training_rows_of
from bevel.report.explain import explain_sections
from bevel.workflow import explaining
from bevel.workflow.explaining import MAX_CLASSES, explain, find_representative_rows

N_FEATURES = 5  # of mixed_columns


QUESTIONS = (
    "Which features",
    "Which way do they push",
    "Which combinations",
    "How does the forest",
    "Why these predictions",
    "Which directions",
)


def mixed_columns(n=120, seed=0):
    """A slanted boundary, missing values, and a nominal column with dollars in its name."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(3)
    label = np.where(X[:, 0] + X[:, 1] + rng.normal(scale=0.5, size=n) > 0, "yes", "no")
    X[::9, 2] = np.nan
    city = np.where(rng.random(n) < 0.8, np.where(label == "yes", "here", "there"), "else")
    names = ("a", "b", "holes", "noise", "city $x$")
    return Columns(names, (*X.T, city.astype(object))), label


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    """A model that predicts mean shares, and files of its training rows and of new ones."""
    folder = tmp_path_factory.mktemp("explain")
    X, y = mixed_columns()
    model = bevel.ObliqueForestClassifier(20, calibration=None, random_state=0, n_jobs=1).fit(X, y)
    model.save(folder / "model.bevel")
    for name, (rows, label) in {"train": (X, y), "new": mixed_columns(50, seed=1)}.items():
        cells = [["" if v != v else v for v in column] for column in rows.values]
        write_rows(folder / f"{name}.csv", [*rows.names, "label"], [*cells, label])
    return folder, model


def test_page_has_every_section_and_stands_alone(case, tmp_path):
    folder, _ = case
    out = tmp_path / "page.html"
    result = run(
        "explain", folder / "model.bevel", folder / "train.csv", "--target", "label", "--out", out
    )
    assert result.exit_code == 0, result.output
    html = out.read_text("utf-8")
    assert all(question in html for question in QUESTIONS)
    n_effects = html.count("<figcaption>The effect of")  # of the features that matter at all
    has_directions = "<figcaption>The same combinations, feature by feature." in html
    assert 3 <= n_effects <= N_FEATURES
    assert html.count("<svg") == 1 + 2 + n_effects + has_directions + 1 + 3
    assert "this small tree of single features imitates the forest" in html
    assert "short rules describe different groups" in html
    assert html.count(">out of bag<") == 2
    assert html.count(">if<") == 2  # short rules, and the folded ones
    assert "The forest was grown on these rows" in html
    assert "city $x$" in html
    assert "src=" not in html
    assert set(re.findall(r'href="([^#"]*)"', html)) <= {""}
    assert "bevel explain" in html
    assert "out-of-bag error" in result.stdout
    assert "permutation" in result.stdout
    assert "of the forest on out-of-bag rows" in " ".join(result.stdout.split())
    assert "by how much the error of the forest on these rows rises" in html
    assert "b + holes + noise + (city $x$ is here)" in result.stdout
    again = tmp_path / "again.html"
    run(
        "explain", folder / "model.bevel", folder / "train.csv", "--target", "label", "--out", again
    )
    assert again.read_text("utf-8").replace(str(again), str(out)) == html


def test_numbers_are_those_of_the_analyses(case):
    folder, model = case
    asked = ("explain", folder / "model.bevel", folder / "train.csv", "--target", "label", "--json")
    facts = json.loads(run(*asked).stdout)
    X, y = mixed_columns()
    assert facts["rows_are"] == "out-of-bag"
    oob = bevel.ObliqueForestClassifier(20, random_state=0, n_jobs=1, oob_score=True)
    oob.fit(X, y)
    said = oob.classes_[oob.oob_decision_function_.argmax(axis=1)]
    assert facts["scores"]["error"]["value"] == pytest.approx(np.mean(said != y))
    gini = importance(model, "gini")
    np.testing.assert_allclose(
        [facts["importance"]["gini"][name] for name in gini.names], gini.values
    )
    permuted = importance(model, "permutation", X, y, random_state=0)
    assert "of the forest on out-of-bag rows" in permuted.measures
    assert facts["importance_measures"]["permutation"] == permuted.measures
    # The same default and the same seed: what the function returns is what the page shows.
    np.testing.assert_allclose(
        [facts["importance"]["permutation"][name] for name in permuted.names], permuted.values
    )
    directions = importance(model, "projection")
    assert [each["direction"] for each in facts["directions"]] == directions.top(10).words
    several = np.diff(directions.offset) > 1
    assert facts["combined_share"] == pytest.approx(directions.share[several].sum())
    for row in facts["rows"]:
        rows = X.rows(np.array([row["row"] - 1]))
        base, values = np.array(row["base"]), np.array(list(row["shapley"].values()))
        np.testing.assert_allclose(
            base + values.sum(axis=0), model.predict_proba(rows)[0], atol=1e-9
        )
        assert row["true"] == y[row["row"] - 1]


def test_new_rows_are_evaluated_by_all_trees(case):
    folder, model = case
    asked = ("explain", folder / "model.bevel", folder / "new.csv", "--json")
    facts = json.loads(run(*asked, "--target", "label").stdout)
    X, y = mixed_columns(50, seed=1)
    assert facts["rows_are"] == "new"
    assert facts["scores"]["error"]["value"] == pytest.approx(np.mean(model.predict(X) != y))
    assert list(facts["importance"]) == ["gini", "permutation"]
    blind = json.loads(run(*asked, "--row", 7).stdout)
    assert blind["scores"] == {}
    assert list(blind["importance"]) == ["gini", "Shapley"]
    assert [row["why"] for row in blind["rows"]] == ["typical", "doubtful", "asked"]
    assert blind["rows"][-1]["row"] == 7
    assert blind["rows"][0]["true"] is None


def test_rows_keep_their_numbers_when_some_have_no_target(case, tmp_path):
    folder, model = case
    lines = (folder / "new.csv").read_text("utf-8").splitlines()
    first = lines[1].rpartition(",")[0] + ","
    gappy = tmp_path / "gappy.csv"
    gappy.write_text("\n".join([lines[0], first, *lines[2:]]), "utf-8")
    asked = ("explain", folder / "model.bevel", gappy, "--target", "label", "--row", 9, "--json")
    facts = json.loads(run(*asked).stdout)
    assert facts["n_rows"] == 49
    assert "1 rows without a target are left out." in facts["notes"]
    row = facts["rows"][-1]
    X, y = mixed_columns(50, seed=1)
    assert (row["row"], row["true"]) == (9, y[8])
    expected = model.predict_proba(X.rows(np.array([8])))[0]
    np.testing.assert_allclose(list(row["predicted"].values()), expected)
    refused = run(*asked[:-3], "--row", 1)
    assert refused.exit_code == 1
    assert "--row must be" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "lable"], "no column 'lable'"),
        (["--target", "a"], "no feature of the model"),
        (["--row", "51"], "--row must be the number of a row"),
        (["--out", "none/page.html"], "folder none does not exist"),
    ],
)
def test_mistakes_give_an_error_of_one_line(case, arguments, message):
    folder, _ = case
    result = run("explain", folder / "model.bevel", folder / "new.csv", *arguments)
    assert result.exit_code == 1
    assert message in result.stderr.splitlines()[-1]
    assert result.stderr.splitlines()[-1].startswith("Error: ")
    assert result.stdout == ""


def test_classes_unknown_to_the_model_are_refused(case, tmp_path):
    folder, _ = case
    text = (folder / "new.csv").read_text("utf-8").replace(",yes", ",maybe")
    other = tmp_path / "other.csv"
    other.write_text(text, "utf-8")
    result = run("explain", folder / "model.bevel", other, "--target", "label")
    assert result.exit_code == 1
    assert "classes of the model (no, yes); got 'maybe'" in result.stderr


def test_page_is_not_overwritten_without_force(case, tmp_path):
    folder, _ = case
    out = tmp_path / "page.html"
    out.write_text("mine")
    result = run("explain", folder / "model.bevel", folder / "new.csv", "--out", out)
    assert (result.exit_code, out.read_text()) == (1, "mine")
    assert "--force" in result.stderr


def test_regression_without_names_and_with_a_gap_in_the_target(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = bevel.ObliqueForestRegressor(10, random_state=0, n_jobs=1).fit(X, X[:, 0] - X[:, 1])
    model.save(tmp_path / "m.bevel")
    y = [*(X[:, 0] - X[:, 1])[:-1], "NA"]
    data = write_rows(tmp_path / "d.csv", ["p", "q", "r", "y"], [*X.T, y])
    out = tmp_path / "r.html"
    result = run("explain", tmp_path / "m.bevel", data, "--target", "y", "--out", out)
    assert result.exit_code == 0, result.output
    assert "R²" in result.stdout
    html = out.read_text("utf-8")
    assert "predicts a number from 3 features" in html
    assert "trees spread by" in html
    assert "x0 − x1" in html


def test_targets_of_classes_cannot_be_kept(case):
    folder, _ = case
    result = run(
        "fit", folder / "train.csv", "--target", "label", "--model", "forest", "--keep-targets"
    )
    assert result.exit_code == 1
    assert "--keep-targets needs a target of numbers; got 2 classes" in result.stderr


def test_effects_are_those_of_the_features_that_matter():
    X, y = mixed_columns()
    constant = Columns((*X.names, "constant"), (*X.values, np.ones(len(X))))
    model = bevel.ObliqueForestClassifier(20, random_state=0, n_jobs=1).fit(constant, y)
    found = explain(model, constant, y)
    measured = found.importances[-1]
    wanted = [measured.names[place] for place in measured.order if measured.values[place] > 0.0]
    assert [each.names[0] for each in found.effects] == wanted
    assert "constant" not in wanted
    first = partial_dependence(model, constant, wanted[0], grid_resolution=30)
    np.testing.assert_array_equal(found.effects[0].values, first.values)


def test_of_many_classes_the_effects_show_those_that_change_most():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 2))
    y = np.digitize(X[:, 0], [-2.0, -1.2, -0.6, 0.0, 0.6, 1.2, 2.0])
    model = bevel.ObliqueForestClassifier(20, random_state=0, n_jobs=1).fit(X, y)
    found = explain(model, Columns(("x", "z"), tuple(X.T)), y)
    whole = partial_dependence(model, X, 0, grid_resolution=30)
    largest = np.sort(np.argsort(-np.ptp(whole.values, axis=0))[:MAX_CLASSES])
    np.testing.assert_array_equal(found.effects[0].classes, whole.classes[largest])
    np.testing.assert_array_equal(found.effects[0].values, whole.values[:, largest])


def test_slim_model_says_why_sections_are_missing():
    X, y = mixed_columns()
    model = bevel.ObliqueForestClassifier(20, random_state=0, n_jobs=1).fit(X, y).slim()
    found = explain(model, X, y)
    assert [each.kind for each in found.importances] == ["permutation"]
    bodies = {section.heading: section.body for section in explain_sections(found)}
    needing = (
        "Which features matter?",
        "Which combinations matter?",
        "How does the forest decide?",
    )
    assert all("The model is slim" in bodies[heading] for heading in needing)
    assert "imitates the forest" in bodies["How does the forest decide?"]
    assert "<svg" in bodies["Why these predictions?"]


@pytest.mark.parametrize("projection", ["axis", "rotation"])
def test_forests_of_one_tree_and_single_rows(projection):
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = bevel.ObliqueForestClassifier(1, projection=projection, random_state=0, n_jobs=1)
    model.fit(X, X[:, 0] > 0)
    rows = Columns(("x", "y", "z"), tuple(X[:1].T))
    found = explain(model, rows, np.array([bool(X[0, 0] > 0)]))
    html = "".join(section.body for section in explain_sections(found))
    assert ("every split tests a single feature" in html) == (projection == "axis")
    assert len(found.rows) == 1


def test_forest_without_a_split_and_a_constant_target():
    X = Columns(("x",), (np.arange(30.0),))
    model = bevel.ObliqueForestRegressor(5, random_state=0, n_jobs=1).fit(X, np.full(30, 2.0))
    found = explain(model, X, np.full(30, 2.0))
    assert found.scores["mean absolute error"].value == 0.0
    html = "".join(section.body for section in explain_sections(found))
    assert "No tree has a split" in html
    assert "No rule of up to three conditions" in html


def test_many_rows_are_sampled_and_said_to_be(monkeypatch):
    X, y = mixed_columns()
    model = bevel.ObliqueForestClassifier(20, calibration=None, random_state=0, n_jobs=1).fit(X, y)
    monkeypatch.setattr(explaining, "MAX_ROWS", 25)
    monkeypatch.setattr(explaining, "MAX_VISITS", 0)
    found = explain(model, X, y, requested=[111, 112])
    assert 25 <= found.n_used <= 27 < found.n_rows
    assert [row.number for row in found.rows[-2:]] == [111, 112]
    assert found.importances[-1].kind == "Shapley"
    same = explain(model, X, y, requested=[111, 112])
    assert np.array_equal(found.shapley.values, same.shapley.values)
    rows = X.rows(np.array([110, 111]))
    np.testing.assert_allclose(found.shapley.predictions[-2:], model.predict_proba(rows), atol=1e-9)


def test_chosen_rows_are_those_of_a_slow_search():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(140, 3))
    y = np.digitize(X[:, 0] + rng.normal(scale=0.7, size=140), [-0.5, 0.5])
    model = bevel.ObliqueForestClassifier(15, projection="sparse", random_state=0, n_jobs=1)
    model.fit(X[:100], y[:100])
    leaves, said, truth = (
        model.apply(X[100:]).astype(np.int32),
        model.predict_proba(X[100:]),
        y[100:],
    )
    found = {row.why: row for row in find_representative_rows(model.forest_, leaves, said, truth)}
    shared = [sum(int(a[t] == b[t]) for b in leaves for t in range(15)) for a in leaves]
    error = [1.0 - said[row, truth[row]] for row in range(40)]
    good = [row for row in range(40) if error[row] <= np.median(error)]
    assert found["typical"].place == max(good, key=lambda row: shared[row])
    mistakes = [row for row in range(40) if said[row].argmax() != truth[row]]
    assert found["wrong"].place == max(mistakes, key=lambda row: error[row])
    others = set(range(40)) - {found["typical"].place, found["wrong"].place}
    leads = {row: sorted(said[row])[2] - sorted(said[row])[1] for row in others}
    tops = {row: max(said[row]) for row in others}
    assert leads[found["doubtful"].place] == min(leads.values())
    assert min(leads, key=leads.get) != min(tops, key=tops.get)  # doubt is not a low probability


def test_most_explanatory_tree_is_that_of_a_slow_search():
    X, y = mixed_columns(200)
    y = np.where(np.random.default_rng(2).random(200) < 0.2, "no", y)
    model = bevel.ObliqueForestClassifier(12, calibration=None, random_state=0, n_jobs=1)
    model.fit(X, y)
    found = explain(model, X, None)
    said, leaves = model.predict_proba(X), model.apply(X)
    told = []
    for tree in model.forest_:
        groups = {}
        for row, leaf in enumerate(leaves[:, tree.index]):
            node = int(leaf)
            while tree.depth[node] > 3:
                node = int(model.forest_.parent[tree.nodes.start + node]) - tree.nodes.start
            groups.setdefault(node, []).append(row)
        within = sum(((said[rows] - said[rows].mean(0)) ** 2).sum() for rows in groups.values())
        told.append(1.0 - within / ((said - said.mean(0)) ** 2).sum())
    assert found.tree.tree == int(np.argmax(told))
    assert found.tree_explains == pytest.approx(max(told))


def test_shapley_importance_is_the_mean_over_all_rows_if_they_are_few():
    X, y = mixed_columns(12)
    model = bevel.ObliqueForestClassifier(5, random_state=0, n_jobs=1).fit(X, y)
    found = explain(model, X, None)
    exact = shapley_values(model, X, X).importances
    np.testing.assert_allclose(found.importances[-1].values, exact, atol=1e-9)


def test_row_that_no_tree_may_evaluate_is_explained_but_not_scored():
    X, y = mixed_columns(40)
    model = bevel.ObliqueForestClassifier(2, random_state=0, n_jobs=1).fit(X, y)
    in_both = (
        training_rows_of(model.fitted_forest_, encode_rows(model, X), y, "test").out.sum(axis=1)
        == 0
    )
    place = int(np.flatnonzero(in_both)[0])
    found = explain(model, X, y, requested=[place + 1])
    alone = explain(model, X, y)
    assert found.scores["error"] == alone.scores["error"]
    assert found.n_used == 40 - in_both.sum() + 1
    expected = model.predict_proba(X.rows(np.array([place])))[0]
    np.testing.assert_allclose(found.rows[-1].predicted, expected)


@pytest.mark.parametrize("model", ["forest", "boosting"])
def test_pages_call_numeric_classes_by_the_target(model, tmp_path):
    X, y = mixed_columns(120)
    write_rows(tmp_path / "t.csv", [*X.names[:2], "died"], [*X.values[:2], (y == "yes") * 1])
    model_file, page = tmp_path / "m.bevel", tmp_path / "fit.html"
    files = ["--trees", "20", "--out", model_file, "--report", page]
    done = run("fit", tmp_path / "t.csv", "--target", "died", "--model", model, *files)
    assert done.exit_code == 0, done.output
    html = page.read_text("utf-8")
    assert "always predicting died = " in html
    assert "probability that died = 1 rises" in " ".join(html.split())
    assert ("log odds of died = 1" in html) == (model == "boosting")
    assert "probability of 1" not in html
    assert "log odds of 1" not in html
    explained = tmp_path / "explain.html"
    command = ["explain", model_file, tmp_path / "t.csv", "--target", "died", "--out", explained]
    done = run(*command)
    assert done.exit_code == 0, done.output
    words = explained.read_text("utf-8")
    lead = re.findall(r'<p class="lead">(.*?)</p>', words)
    assert len(lead) == 3
    assert lead[0].startswith("The model predicts died (2 classes) with an error of")
    assert "probability that died = 1" in " ".join(done.stdout.split())


def test_probabilities_of_rows_are_calibrated_as_those_of_predict_proba():
    data = load_breast_cancer()
    X = Columns(tuple(map(str, data.feature_names)), tuple(data.data.T))
    model = bevel.ObliqueForestClassifier(100, random_state=0, n_jobs=1)
    model.fit(X.rows(np.arange(500)), data.target[:500])
    assert model.fitted_forest_.aggregation.power != 1.0
    new = X.rows(np.arange(500, 569))
    found = explain(model, new, data.target[500:], requested=[7])
    expected = model.predict_proba(new.rows(np.array([6])))[0]
    np.testing.assert_allclose(found.rows[-1].predicted, expected)
    shown = found.shapley.predictions[-1]
    assert not np.allclose(shown, expected)
    assert "before the calibration" in "".join(str(each) for each in explain_sections(found))
