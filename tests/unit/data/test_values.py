"""Dates are shown as dates and booleans as yes and no, in words, rules, effects and files."""

from __future__ import annotations

import datetime as dt
import re

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from matplotlib.dates import ConciseDateFormatter

import bevel
from bevel import ObliqueForestClassifier, ObliqueForestRegressor, analysis, plots
from bevel.data.tables import Columns, read_table
from bevel.data.values import (
    as_values,
    day_text,
    floored,
    label_words,
    ordered,
    shown_labels,
    term_name,
    truth_words,
    truths_of,
    value_text,
)
from bevel.workflow.rows import read_labelled_rows, read_model_rows

matplotlib.use("agg")
N = 240


def table(seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 80, N).astype(float),
            "day": pd.Timestamp("2020-02-01") + pd.to_timedelta(rng.integers(0, 400, N), unit="D"),
            "seen": pd.Timestamp("2021-03-01")
            + pd.to_timedelta(rng.integers(0, 10**6, N), unit="s"),
            "smoker": rng.random(N) < 0.4,
            "member": pd.array(np.where(rng.random(N) < 0.2, None, rng.random(N) < 0.5), "boolean"),
        }
    )


def target(X: pd.DataFrame) -> np.ndarray:
    late = (X["day"] > "2020-08-01") + 2 * X["smoker"] + X["member"].fillna(value=False)
    return np.asarray(late.astype(float) + (X["age"] > 50) + (X["seen"] > "2021-03-05"))


@pytest.mark.parametrize(
    ("days", "text"),
    [
        (0.0, "1970-01-01"),
        (-0.5, "1969-12-31 12:00"),
        (18262 + 1 / 86_400, "2020-01-01 00:00:01"),
        (18262 + 1e-9, "2020-01-01"),
        (-719_162.0, "0001-01-01"),
        (-719_163.0, "day −719163"),
        (1e12, "day 1e+12"),
        (np.inf, "day inf"),
    ],
)
def test_days_are_written_as_dates_as_far_as_dates_go(days, text):
    assert day_text(days) == text


def test_rounding_a_date_never_passes_it():
    rng = np.random.default_rng(0)
    for days in rng.uniform(-40_000, 40_000, 200):
        for tolerance in (0.0, 1e-4, 0.01, 0.3, 1.0):
            low = floored(days, tolerance, up=False)
            high = floored(days, tolerance, up=True)
            assert days - tolerance <= low <= days <= high <= days + tolerance
    assert floored(18262.5, 1.0, up=False) == 18262.0
    assert floored(18262.5, 0.1, up=False) == 18262.5


def test_values_of_any_type_have_words():
    assert value_text(pd.Timestamp("2020-05-01 10:30")) == "2020-05-01 10:30"
    assert value_text(dt.date(2020, 5, 1)) == "2020-05-01"
    assert value_text(dt.datetime(2020, 5, 1, 10, tzinfo=dt.UTC)) == "2020-05-01 10:00"
    assert [value_text(each) for each in (True, np.False_, None, np.nan)] == [
        "yes",
        "no",
        "missing",
        "missing",
    ]
    assert value_text(np.datetime64("NaT")) == value_text(pd.NaT) == "missing"


def test_numbers_that_are_no_truth_or_date_stay_numbers():
    half = np.array([0.0, 0.5])
    assert as_values("truth", half) is half
    far = np.array([1e9])
    assert as_values("day", far) is far
    assert as_values("truth", np.array([1.0, np.nan, 0.0])).tolist() == ["yes", None, "no"]
    assert ordered(as_values("day", np.array([2.0, np.nan])))[0] == 2 * 86_400


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["False", "True"], ("no", "yes")),
        ([False, True], ("no", "yes")),
        (["true"], ("yes",)),
        (["True", "true"], ("True", "true")),  # different labels never get one word
        (["False", "True", "maybe"], ("False", "True", "maybe")),
        ([], ()),
    ],
)
def test_labels_true_and_false_are_yes_and_no_if_they_stay_apart(labels, words):
    assert label_words(labels) == words


def test_small_words():
    assert [truth_words(*each) for each in ((1, 0), (0, 1), (1, 1), (0, 0))] == [
        "no",
        "yes",
        "no or yes",
        "neither",
    ]
    assert term_name("d", "time") == "days of d"
    assert truths_of(np.array(["a", None], dtype=object)) is None
    assert truths_of(np.array([None], dtype=object)) is None
    np.testing.assert_array_equal(
        truths_of(np.array(["TRUE", None, "False"], dtype=object)), [1.0, np.nan, 0.0]
    )
    column = np.array(["north"], dtype=object)
    assert shown_labels(column, column) is column


@pytest.mark.parametrize(
    "make",
    [
        lambda v: pd.DataFrame({"b": pd.array(v, dtype="boolean")}),
        lambda v: pd.DataFrame({"b": pd.Series(v, dtype=object)}),
        lambda v: pl.DataFrame({"b": v}),
        lambda v: pa.table({"b": v}),
        lambda v: np.array(v, dtype=object)[:, None],
        lambda v: Columns(("b",), (np.array([np.nan if x is None else x for x in v], float),)),
    ],
)
def test_booleans_of_any_library_are_known_and_read_as_one_and_zero(make):
    read = read_table(make([True, False, None]))
    columns = isinstance(read.native, Columns)
    assert read.truths() == ([] if columns else [0])  # Columns say so themselves
    np.testing.assert_array_equal(read.numbers(slice(0, 3), slice(0, 1))[:, 0], [1.0, 0.0, np.nan])


def test_numbers_one_and_zero_are_no_booleans():
    assert read_table(np.array([[0, 1], [1, 0]])).truths() == []
    assert read_table(pd.DataFrame({"a": [0.0, 1.0]})).truths() == []
    assert read_table(np.array([[True], [False]])).truths() == [0]


@pytest.mark.parametrize("scale", [None, "standard", "rank", "quantile"])
def test_written_cuts_of_days_divide_the_rows_as_the_tree_does(scale):
    X = table()[["day"]]
    y = np.asarray((X["day"] > "2020-06-10").astype(float) + (X["day"] > "2020-12-24"))
    forest = ObliqueForestRegressor(
        20, projection="axis", max_depth=2, scale=scale, random_state=0
    ).fit(X, y)
    for number in range(20):
        for rule in analysis.tree_rules(forest, number).to_pandas()["rule"][1:]:
            assert re.search(r"\d{4}-\d\d-\d\d$", rule), rule  # no times of day
    tree = analysis.tree_rules(forest, 0, max_depth=1)
    limit = pd.Timestamp(str(tree.condition(1)).split("≤ ")[1])
    nodes = forest.apply(X)[:, 0]
    right = int(forest.forest_.tree(0).children_right[0])
    np.testing.assert_array_equal(X["day"] <= limit, nodes < right)


@pytest.mark.parametrize("projection", ["axis", "sparse", "lda"])
def test_no_number_stands_for_a_date_or_a_boolean_in_words(projection):
    X = table()
    y = np.where(target(X) > 2, "ill", "well")
    forest = ObliqueForestClassifier(30, projection=projection, max_depth=3, random_state=0)
    forest.fit(X, y)
    texts = [str(analysis.forest_rules(forest)[number]) for number in range(30)]
    texts += [str(analysis.top_rules(forest, X, y)), str(analysis.rule_set(forest, X, y))]
    texts += [str(analysis.surrogate_tree(forest, X, y)), str(analysis.path_rules(forest, X[:1]))]
    for text in texts:
        alone = re.findall(r"(?<!days of )\b(?:day|seen|smoker|member) [≤>≥<] (\S+)", text)
        assert all(re.match(r"\d{4}-\d\d-\d\d\b", each) for each in alone), text
        assert not re.search(r"(smoker|member) [≤>≥<]", text)
        for term in re.findall(r"·[\[(]?(?:days of )?(day|seen)", text):
            assert f"days of {term}" in text
    everything = "\n".join(texts)
    if projection != "axis":
        assert "(smoker is yes)" in everything
        assert "are counted from 1970-01-01" in everything
    else:
        assert "smoker is no" in everything
        assert "member is no or missing" in everything or "member is yes or missing" in everything


def test_rules_of_dates_and_booleans_say_in_sql_what_they_say_in_words():
    X = table()
    forest = ObliqueForestRegressor(20, projection="axis", max_depth=2, random_state=0)
    rules = analysis.rule_set(forest.fit(X, target(X)), X, target(X))
    query = rules.to_sql("t")
    assert '"smoker" = 1' in query
    assert not re.search(r'"(smoker|member)" [<>]', query)
    assert re.search(r"\"day\" (<=|>) '2020-\d\d-\d\d'", query)


def test_effects_have_dates_and_yes_and_no_on_their_grids_and_axes():
    X = table()
    forest = ObliqueForestRegressor(30, random_state=0).fit(X, target(X))
    of_day = analysis.partial_dependence(forest, X, "day")
    assert of_day.grid[0].dtype == "datetime64[s]"
    whole = of_day.grid[0].astype("datetime64[D]")
    np.testing.assert_array_equal(whole, of_day.grid[0])  # a column of whole days
    assert of_day.quantiles[0].dtype.kind == "M"
    assert isinstance(of_day.to_pandas().index, pd.DatetimeIndex)
    assert re.search(r"\n2020-\d\d-\d\d ", str(of_day))
    ax = plots.effect(of_day)
    assert isinstance(ax.xaxis.get_major_formatter(), ConciseDateFormatter)
    given = analysis.partial_dependence(forest, X, "day", values=["2020-03-01", "2021-01-01"])
    assert given.grid[0].astype(str).tolist() == ["2020-03-01T00:00:00", "2021-01-01T00:00:00"]
    for feature in ("smoker", "member"):
        for of in (analysis.partial_dependence, analysis.accumulated_local_effects):
            effect = of(forest, X, feature)
            assert effect.grid[0].tolist() == ["no", "yes"]
            assert effect.quantiles == (None,)
            ticks = plots.effect(effect).get_yticklabels()
            assert [each.get_text() for each in ticks] == ["no", "yes"]
    pair = analysis.partial_dependence(forest, X, ["seen", "smoker"], grid_resolution=5)
    ax = plots.effect(pair)
    assert isinstance(ax.xaxis.get_major_formatter(), ConciseDateFormatter)
    assert re.search(r"seen\s2021-03-\d\d", ax.get_title(loc="left"))


def test_shapley_values_show_dates_and_yes_and_no():
    X = table()
    forest = ObliqueForestRegressor(20, random_state=0).fit(X, target(X))
    values = analysis.shapley_values(forest, X[:30], background=X)
    row = values.data[0].tolist()
    assert row[1] == X["day"][0].to_pydatetime()
    assert row[3] == ("yes" if X["smoker"][0] else "no")
    labels = [tick.get_text() for tick in plots.shapley_waterfall(values, 0).get_yticklabels()]
    assert f"day = {X['day'][0].date()}" in labels
    assert f"smoker = {row[3]}" in labels
    plots.shapley_beeswarm(values)


def test_kinds_of_columns_survive_files_and_damaged_ones_are_refused(tmp_path):
    X = table()
    forest = ObliqueForestRegressor(5, random_state=0).fit(X, target(X))
    encoding = forest.fitted_forest_.encoding
    assert (encoding.dates, encoding.days, encoding.truths) == ({1, 2}, {1}, {3, 4})
    assert [encoding.kind(f) for f in range(5)] == ["number", "day", "time", "truth", "truth"]
    path = tmp_path / "model.bevel"
    forest.save(path)
    again = bevel.load(path).fitted_forest_.encoding
    assert (again.dates, again.days, again.truths) == ({1, 2}, {1}, {3, 4})
    for old, new in ((b'"days":[1]', b'"days":[0]'), (b'"truths":[3,4]', b'"truths":[3,9]')):
        contents = path.read_bytes()
        assert old in contents
        with pytest.raises(bevel.ModelFileError):
            bevel.load(_write(tmp_path / "damaged.bevel", contents.replace(old, new)))


def _write(path, contents):
    path.write_bytes(contents)
    return path


def test_a_scanned_table_has_the_kinds_of_all_its_batches():
    X, names = table(), ["day", "smoker", "code"]
    X["code"] = X["smoker"]
    first, second = X[names][:100].copy(), X[names][100:].copy()
    first["day"] += pd.Timedelta(hours=1)  # a time of day in one batch
    second["code"] = second["code"].astype(float)  # numbers in another
    batches = [(first, target(X)[:100]), (second, target(X)[100:])]
    scanned = bevel.scan(lambda: iter(batches))
    forest = ObliqueForestRegressor(3, projection="sparse", random_state=0).fit(scanned)
    encoding = forest.fitted_forest_.encoding
    assert (encoding.dates, encoding.days, encoding.truths) == ({0}, set(), {1})


def test_true_and_false_in_files_are_booleans_but_the_target_keeps_its_words(tmp_path):
    X = table()[["age", "smoker", "member"]]
    path = tmp_path / "table.csv"
    X.assign(right=X["age"] > 50).to_csv(path, index=False)
    rows = read_labelled_rows(path, "right")
    assert rows.X.truths == {"smoker", "member"}
    assert set(rows.y) == {"True", "False"}
    as_labels = read_labelled_rows(path, "right", nominal=["smoker"])
    assert as_labels.X.truths == {"member"}
    forest = ObliqueForestClassifier(5, random_state=0).fit(X, X["age"] > 50)
    for name in ("table.csv", "table.parquet"):
        if name.endswith("parquet"):
            X.to_parquet(tmp_path / name)
        read = read_model_rows(forest, tmp_path / name).X
        assert read.truths == {"smoker", "member"}
        np.testing.assert_array_equal(forest.predict(read), forest.predict(X))
        like = bevel.read_table(tmp_path / name, like=forest)
        np.testing.assert_array_equal(like["smoker"], X["smoker"].astype(float))
    path.write_text("age,smoker,member\n50,perhaps,True\n", encoding="utf-8")
    with pytest.raises(ValueError, match="'smoker' must hold true and false, as in fit; got 'per"):
        read_model_rows(forest, path)
