"""The page of a fit: figures of one model everywhere, and words that follow the intervals."""

import html
import re

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from bevel import workflow
from bevel.analysis.results import ErrorImportance
from bevel.report.fit import fit_report, n_steps
from bevel.report.headline import class_words, interval, probability_words, score
from bevel.report.tasks import words_of as words_of_task
from bevel.workflow.advice import AXIS, MODEL, Advice, Line, advise, points
from bevel.workflow.scores import Estimate
from bevel.workflow.tasks import CLASSIFICATION, REGRESSION

COLUMNS = 6


def words_of(page):
    """Text of a page, in one line."""
    text = re.sub(r"<(style|script)>.*?</\1>", "", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", text)))


def fitted_and_page(path, loader, **options):
    """A fit of some columns of a data set, with gaps in one, and its page."""
    frame = loader(as_frame=True).frame
    frame = frame[[*frame.columns[:COLUMNS], "target"]].copy()
    frame.iloc[::17, 1] = np.nan
    frame.to_csv(path, index=False)
    fitted = workflow.fit(
        path, "target", model="forest", n_estimators=60, n_jobs=1, curve=True, **options
    )
    steps = []
    page = fit_report(path.name, fitted, "bevel fit", on_step=lambda done, _: steps.append(done))
    assert steps == sorted(steps)
    assert steps[-1] == n_steps(fitted)
    return fitted, words_of(page)


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "classes.csv"
    return fitted_and_page(path, load_breast_cancer, task="classification")


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "numbers.csv"
    return fitted_and_page(path, load_diabetes, task="regression")


def test_all_errors_of_a_page_are_those_of_the_model(classes):
    fitted, page = classes
    error = fitted.scores["error"]
    written = score("error", error)
    assert error.value == pytest.approx(1.0 - fitted.model.oob_score_)
    assert f"with an error of {written} (95 % interval {interval('error', error)}" in page
    assert f"error {written} {interval('error', error)}" in page  # the table
    assert page.count(f"the out-of-bag error is {written} with this model") == 2
    assert f"this model {written.removesuffix(' %')} " in page
    assert "cross-validated" not in page


def test_all_scores_of_a_regression_are_those_of_the_model(numbers):
    fitted, page = numbers
    r2 = fitted.scores["R²"]
    assert r2.value == pytest.approx(fitted.model.oob_score_)
    assert f"explains {points(r2.value)} % of the variance of target" in page
    assert f"unexplained variance is {points(1.0 - r2.value)} % with this model" in page
    assert f"it is off by {fitted.scores['mean absolute error'].value:.4g} on average" in page


@pytest.mark.parametrize("case", ["classes", "numbers"])
def test_every_number_of_trees_is_that_of_the_model(case, request):
    fitted, page = request.getfixturevalue(case)
    assert "A forest of 60 trees" in page
    assert "60 trees each, with the same rows left out" in page
    record = fitted.model.families_
    assert record.n_trees.sum() == 60
    for name, n in zip(record.names, record.n_trees.tolist(), strict=True):
        assert re.search(rf"\b{name} \S.* % {n} ", page), name


@pytest.mark.parametrize("case", ["classes", "numbers"])
def test_page_has_effects_mistakes_data_sheet_and_use(case, request):
    _, page = request.getfixturevalue(case)
    for heading in ("Which way do they push?", "Mistakes", "Data", "How to use it"):
        assert heading in page
    assert "a missing value counts as the median" in page
    assert 'bevel.load("model.bevel")' in page
    assert "The model was not kept" in page


def test_largest_mistake_is_the_first_of_the_table(numbers):
    fitted, page = numbers
    difference = fitted.rows.y - fitted.out_of_bag
    worst = int(np.argmax(np.abs(difference)))
    row, true = int(fitted.rows.number[worst]), fitted.rows.y[worst]
    assert f"true predicted difference {row} {true:.4g} {fitted.out_of_bag[worst]:.4g}" in page


def test_without_out_of_bag_rows_all_scores_are_cross_validated(tmp_path):
    fitted, page = fitted_and_page(
        tmp_path / "all.csv", load_breast_cancer, task="classification", projection="cca"
    )
    written = score("error", fitted.scores["error"])
    assert fitted.out_of_bag is None
    assert f"with an error of {written}" in page
    assert f"the cross-validated error is {written} with this model" in page
    assert "out-of-bag" not in page.replace("Out-of-bag", "out-of-bag")


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.01, 0.03, "helps"),
        (0.0006, 0.03, "helps"),
        (0.0004, 0.03, "makes no clear difference"),  # it would be printed as "from 0.0"
        (-0.01, 0.03, "makes no clear difference"),
        (-0.03, -0.0004, "makes no clear difference"),
        (-0.03, -0.01, "hurts"),
    ],
)
def test_verdict_follows_the_interval_as_it_is_printed(low, high, verdict):
    gain = Estimate((low + high) / 2.0, low, high)
    advice = Advice([Line(MODEL, 0.05, gain), Line(AXIS, 0.06, None)], CLASSIFICATION, 100)
    assert advice.verdict == verdict
    assert advice.sentence().startswith(f"Going oblique {verdict} on this data")
    assert f"{points(low)} to {points(high)} points" in advice.sentence()
    if verdict == "helps":
        assert points(low) != "0.0"


def test_model_along_the_axes_is_compared_with_an_oblique_forest(classes):
    fitted, _ = classes
    settings = workflow.fitting.Settings(projection="axis", n_trees=20, n_jobs=1)
    grown = workflow.fitting.fit(fitted.rows, settings)
    advice = advise(fitted.rows, settings, grown.model, grown.out_of_bag)
    assert [line.forest for line in advice.lines] == [MODEL, "auto"]
    assert advice.axis.forest == MODEL
    assert advice.oblique.forest == "auto"
    assert "with oblique cuts" in advice.sentence()


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.10, 0.20, "better than always"),
        (0.20, 0.45, "not clearly better than always"),
        (0.45, 0.55, "worse than always"),
    ],
)
def test_words_on_an_error_follow_its_interval(low, high, words):
    y = np.array(["a"] * 6 + ["b"] * 4)
    scores = {"error": Estimate((low + high) / 2.0, low, high), "AUC": Estimate(0.8, 0.7, 0.9)}
    sentence = words_of_task(CLASSIFICATION).quality(scores, "out-of-bag", y, "y")
    assert f", {words} predicting a (40.0 %)" in sentence
    assert ("order the rows" in sentence) == (words != "better than always")


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(0.1, 0.3, "better"), (0.0004, 0.2, "not clearly better"), (-0.3, -0.1, "worse")],
)
def test_words_on_a_regression_follow_its_interval(low, high, words):
    r2 = Estimate((low + high) / 2.0, low, high)
    scores = {"R²": r2, "mean absolute error": Estimate(1.0, 0.9, 1.1)}
    sentence = words_of_task(REGRESSION).quality(scores, "out-of-bag", np.arange(9.0), "y")
    assert f", {words} than always predicting the mean" in sentence


def test_only_features_clear_of_zero_are_named():
    values, errors = np.array([0.01, 0.05, 0.03]), np.array([0.02, 0.01, 0.01])
    importance = ErrorImportance("permutation", ("a", "b", "c"), values, "", standard_error=errors)
    sentence = words_of_task(CLASSIFICATION).features(importance)
    assert "relies most on b and c: shuffling b raises the error by 5.0 points" in sentence
    barely = np.array([0.0199])  # the interval would be printed as "from 0.0"
    doubtful = ErrorImportance("permutation", ("a",), barely, "", standard_error=errors[1:2])
    assert "2.0 points, just above chance" in words_of_task(CLASSIFICATION).features(doubtful)
    nothing = ErrorImportance("permutation", ("a",), values[:1], "", standard_error=errors[:1])
    assert "relies on no single feature" in words_of_task(CLASSIFICATION).features(nothing)


@pytest.mark.parametrize(
    ("label", "target", "words", "probability"),
    [
        ("1", "died", "died = 1", "probability that died = 1"),
        ("-1.5", "died", "died = -1.5", "probability that died = -1.5"),
        ("1", "", "class 1", "probability of class 1"),
        ("yes", "died", "yes", "probability of yes"),
    ],
)
def test_classes_that_are_numbers_are_called_by_the_target(label, target, words, probability):
    assert class_words(label, target) == words
    assert probability_words(label, target) == probability
