"""Parts of dates: right for every date, and appended only where the target varies with them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import bevel
from bevel import DateFeatures, ObliqueForestRegressor
from bevel.data.date_parts import PARTS, helps, part_of, varies, words_of_week
from bevel.data.tables import Columns, array_as_days


def days_of(times: pd.Series) -> np.ndarray:
    return array_as_days(times.to_numpy())


def test_parts_are_those_of_pandas():
    rng = np.random.default_rng(0)
    seconds = rng.integers(-(2**33), 2**33, 500)
    times = pd.Series(np.datetime64("1970-01-01", "s") + seconds)
    days = days_of(times)
    np.testing.assert_array_equal(part_of("day of year", days), times.dt.day_of_year)
    np.testing.assert_array_equal(part_of("day of week", days), times.dt.day_of_week)
    hours = times.dt.hour + times.dt.minute / 60 + times.dt.second / 3600
    np.testing.assert_allclose(part_of("hour", days), hours, atol=1e-9)
    for part in PARTS:
        assert np.isnan(part_of(part, np.array([np.nan]))).all()
    words = words_of_week(np.array([0.0, np.nan, 6.0]))
    assert words.tolist() == ["Monday", None, "Sunday"]


def test_a_part_varies_only_over_more_than_a_cycle():
    days = np.arange(18000.0, 18007.0)
    assert not varies("day of week", days)
    assert varies("day of week", np.append(days, 18008.0))
    assert not varies("hour", np.arange(18000.0, 18100.0))  # no times of day
    assert varies("hour", np.array([18000.25, 18002.5]))
    assert not varies("day of year", np.array([18000.0, 18300.0]))
    assert not varies("hour", np.array([np.nan]))


def frame(n: int = 700, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    seconds = rng.integers(0, 3 * 365 * 86_400, n)
    return pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(seconds, unit="s"),
        }
    )


X = frame()
NOISE = np.random.default_rng(1).normal(size=len(X))
EFFECTS = {
    "day of year": 2 * np.sin(2 * np.pi * X["when"].dt.day_of_year / 365.25),
    "day of week": 2.0 * (X["when"].dt.day_of_week > 4),
    "hour": 2.0 * (X["when"].dt.hour > 12),
}


@pytest.mark.parametrize("part", PARTS)
def test_the_part_that_the_target_varies_with_is_appended_and_no_other(part):
    y = EFFECTS[part] + days_of(X["when"]) / 365 + NOISE
    chosen = DateFeatures().fit(X, y)
    assert chosen.parts_ == {"when": (part,)}
    assert chosen.p_values_["when", part] < 1e-6
    assert chosen.get_feature_names_out().tolist() == ["size", "when", f"{part} of when"]
    classes = np.where(y > y.median(), "high", "low")
    assert DateFeatures().fit(X, classes).parts_ == {"when": (part,)}
    assert DateFeatures().fit(X, np.column_stack([NOISE, y])).parts_ == {"when": (part,)}


def test_noise_and_the_moment_alone_append_nothing():
    for seed in range(10):
        y = np.random.default_rng(seed).normal(size=len(X))
        assert DateFeatures(alpha=1e-4).fit(X, y).parts_ == {"when": ()}
    later = (X["when"] - X["when"].min()).dt.days ** 2 / 1e5 + NOISE
    assert DateFeatures().fit(X, later).parts_ == {"when": ()}


def test_what_does_not_hold_in_other_stretches_of_time_is_not_appended():
    days = np.sort(np.random.default_rng(0).uniform(18000, 19500, 1500))
    week = part_of("day of week", days)
    once = np.where(days < 18300, 5.0 * (week > 4), 0.0) + np.random.default_rng(2).normal(
        size=1500
    )
    p_value, holds = helps("day of week", days, once[:, None])
    assert p_value < 1e-3
    assert not holds
    always = 5.0 * (week > 4) + np.random.default_rng(2).normal(size=1500)
    assert helps("day of week", days, always[:, None])[1]


def test_few_rows_missing_dates_and_constant_targets_append_nothing():
    assert DateFeatures().fit(X[:30], NOISE[:30]).parts_ == {"when": ()}
    assert DateFeatures().fit(X, np.ones(len(X))).parts_ == {"when": ()}
    y = EFFECTS["hour"] + NOISE
    some = X.assign(when=X["when"].where(np.arange(len(X)) % 3 > 0))
    made = DateFeatures().fit(some, y).transform(some)
    assert made["hour of when"].isna().equals(some["when"].isna())


@pytest.mark.parametrize(
    "convert",
    [
        lambda X: X.set_index(np.arange(len(X)) * 3 + 5),
        lambda X: pl.from_pandas(X),
        lambda X: pa.Table.from_pandas(X),
        lambda X: Columns(
            ("size", "when"), (X["size"].to_numpy(), days_of(X["when"])), frozenset({"when"})
        ),
    ],
)
def test_tables_of_all_kinds_keep_their_type(convert):
    table, y = convert(X), EFFECTS["day of week"] + NOISE
    chosen = DateFeatures().fit(table, y)
    made = chosen.transform(table)
    assert type(made) is type(table)
    assert chosen.parts_ == {"when": ("day of week",)}
    read = bevel.data.tables.read_table(made)
    assert read.nominal_by_dtype() == [2]
    assert read.labels(2).tolist() == X["when"].dt.day_name().tolist()
    if isinstance(made, pd.DataFrame):
        assert made.index.equals(table.index)


def test_clocks_are_those_of_the_zone():
    zoned = X.assign(when=X["when"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"))
    y = EFFECTS["hour"] + NOISE
    made = DateFeatures().fit(zoned, y).transform(zoned)
    assert np.floor(made["hour of when"]).tolist() == zoned["when"].dt.hour.tolist()


def test_a_forest_behind_it_predicts_the_days_that_follow():
    y = EFFECTS["hour"] + NOISE
    early = (X["when"] < "2022-06-01").to_numpy()
    forest = ObliqueForestRegressor(50, random_state=0)
    model = make_pipeline(DateFeatures(), clone(forest)).fit(X[early], y[early])
    plain = clone(forest).fit(X[early], y[early])
    assert model.score(X[~early], y[~early]) > 0.3 > plain.score(X[~early], y[~early])


def test_bad_input_is_refused():
    y = EFFECTS["hour"] + NOISE
    with pytest.raises(TypeError, match="must be a data frame"):
        DateFeatures().fit(X[["when"]].to_numpy(), y)
    with pytest.raises(ValueError, match="a target for each of the 700 rows"):
        DateFeatures().fit(X, y[:5])
    with pytest.raises(ValueError, match="no columns of the names of parts"):
        DateFeatures().fit(X.assign(**{"hour of when": 1.0}), y)
    with pytest.raises(ValueError, match="alpha"):
        DateFeatures(alpha=0.0).fit(X, y)


def test_a_target_that_wanders_by_itself_rarely_gets_a_part():
    # By its F test alone, whose errors are taken for independent, nearly every walk gets one.
    days = np.linspace(17000.0, 18500.0, 1500)
    found = [
        helps("day of year", days, np.random.default_rng(seed).normal(size=1500).cumsum()[:, None])
        for seed in range(40)
    ]
    assert sum(p_value < 1e-3 for p_value, _ in found) > 35
    assert sum(holds for _, holds in found) < 15
