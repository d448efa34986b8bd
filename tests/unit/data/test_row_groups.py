"""Groups and times of rows: how they are read, numbered, held out and refused."""

import datetime
import re

import numpy as np
import pandas as pd
import pytest

from bevel.data.level_statistics import N_FOLDS, LevelTarget, folds, learn_means
from bevel.data.row_groups import RowGroups, RowOrder, read_row_order
from bevel.data.tables import read_table


def _order(groups=None, time=None, n_rows=4, table=None):
    table = np.zeros((n_rows, 2)) if table is None else table
    names = list(table.columns) if hasattr(table, "columns") else None
    return read_row_order(groups, time, read_table(table), names)


@pytest.mark.parametrize(
    "groups",
    [
        ["b", "a", "b", "c"],
        np.array([7.5, -1.0, 7.5, 9.0]),
        pd.Series(["b", "a", "b", "c"], dtype="category"),
        pd.to_datetime(["2020-01-02", "2020-01-01", "2020-01-02", "2020-01-03"]),
        np.array([1, "a", 1, (2, 3)], dtype=object),
    ],
)
def test_groups_of_any_type_are_numbered_by_their_first_rows(groups):
    found = _order(groups).groups
    assert found.codes.tolist() == [0, 1, 0, 2]
    assert found.n_groups == 3
    assert found.held_out is None


def test_groups_of_one_row_each_are_none():
    assert _order(["d", "c", "b", "a"]).groups is None


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        (["a", "b", "a"], "groups must have shape (4,), for each row of X the label of its group"),
        ([["a", "b"]] * 4, "got shape (4, 2)"),
        ("city", "got shape ()"),
        (["a", None, "a", "b"], "groups must have no missing values; got 1 (row index 1)"),
        ([1.0, 2.0, np.nan, np.nan], "got 2 (row index 2)"),
        (pd.Series(["a", "b", pd.NA, "a"]), "got 1 (row index 2)"),
        (["a"] * 4, "groups must be two or more; got 'a' in all 4 rows. Pass the group"),
    ],
)
def test_wrong_groups_are_refused(groups, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        _order(groups)


def test_groups_and_time_together_are_refused():
    with pytest.raises(ValueError, match="groups and time must not be given together"):
        _order(["a", "a", "b", "b"], [1, 2, 3, 4])


@pytest.mark.parametrize(
    "time",
    [
        [3, 1, 2, 1],
        pd.to_datetime(["2020-01-03", "2020-01-01", "2020-01-02", "2020-01-01"]),
        pd.to_datetime(["2020-01-03", "2020-01-01", "2020-01-02", "2020-01-01"]).tz_localize("UTC"),
        [datetime.date(2020, 1, day) for day in (3, 1, 2, 1)],
    ],
)
def test_times_of_any_type_keep_their_order(time):
    times = _order(time=time).times
    assert (times - times.min()).tolist() == [2.0, 0.0, 1.0, 0.0]


def test_time_names_a_column():
    days = pd.to_datetime(["2020-01-03", "2020-01-01", "2020-01-02", "2020-01-01"])
    table = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "day": days, "city": list("abab")})
    assert (np.diff(_order(time="day", table=table).times)).tolist() == [-2.0, 1.0, -1.0]
    with pytest.raises(ValueError, match="time must hold numbers, dates or times; got labels in"):
        _order(time="city", table=table)
    with pytest.raises(ValueError, match="got 'date' with columns size, day, city"):
        _order(time="date", table=table)


@pytest.mark.parametrize(
    ("time", "said"),
    [
        ([1, 2, 3], "time must have shape (4,), for each row of X its time; got shape (3,)"),
        ([1, np.nan, 2, 3], "time must have no missing values; got 1 (row index 1)"),
        (pd.to_datetime(["2020-01-01", None, "2020-01-02", None]), "got 2 (row index 1)"),
        ([5, 5, 5, 5], "time must be two times or more; got one in all 4 rows"),
        (["2020", "2021", "2022", "2023"], "time must hold numbers, dates or times; got '2020'"),
        ("day", "got 'day' with a table without names"),
    ],
)
def test_wrong_times_are_refused(time, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        _order(time=time)


@pytest.mark.parametrize("seed", range(20))
def test_latest_rows_are_about_their_share_and_later_than_all_others(seed):
    rng = np.random.default_rng(seed)
    times = rng.integers(0, rng.integers(2, 50), rng.integers(2, 60)).astype(float)
    times[:2] = 0.0, 1.0
    latest = RowOrder(times=times).latest(0.2)
    assert times[latest].min() > times[~latest].max()
    others = [times >= cut for cut in np.unique(times)[1:]]
    best = min(abs(each.mean() - 0.2) for each in others)
    assert abs(latest.mean() - 0.2) == pytest.approx(best)


def test_earlier_rows_are_groups_of_their_own():
    latest = np.array([False, True, False, False, True])
    groups = RowGroups.earlier(latest)
    assert groups.codes.tolist() == [0, 3, 1, 2, 3]
    assert np.array_equal(groups.held_out, latest)


def test_rows_of_a_group_are_in_one_fold_and_the_latest_rows_in_one():
    codes = np.random.default_rng(0).integers(0, 40, 500)
    order = _order(codes, n_rows=500)
    fold = order.folds(None)
    assert len({(c, f) for c, f in zip(codes, fold, strict=True)}) == len(set(codes.tolist()))
    assert set(fold.tolist()) == set(range(N_FOLDS))
    times = np.arange(500.0)[::-1]
    latest = RowOrder(times=times).latest(0.2)
    fold = RowOrder(times=times).folds(latest)
    assert np.array_equal(fold == N_FOLDS - 1, latest)


def test_without_groups_folds_are_those_of_the_row_numbers():
    codes = np.random.default_rng(0).integers(0, 5, 60)
    target = LevelTarget(codes + 0.5, "mean target")
    known = learn_means(codes, 5, target, None)
    same = learn_means(codes, 5, target._replace(folds=folds(np.arange(60)).astype(np.uint8)), None)
    assert np.array_equal(
        known.of_training_rows(codes, np.arange(len(codes))),
        same.of_training_rows(codes, np.arange(len(codes))),
    )


def test_means_of_levels_see_no_target_of_their_own_group():
    """Naive: the mean of a level among rows of other folds does not move with the own group."""
    rng = np.random.default_rng(1)
    group = np.repeat(np.arange(50), 6)
    codes = rng.integers(0, 4, 300)
    values = codes + rng.normal(size=300)
    fold = _order(group, n_rows=300).folds(None)
    changed = values.copy()
    changed[group == 7] += 1.0
    before, after = (
        learn_means(codes, 4, LevelTarget(y, "mean target", 0, fold), None).of_training_rows(
            codes, np.arange(len(codes))
        )
        for y in (values, changed)
    )
    assert np.array_equal(before[group == 7], after[group == 7])
    assert not np.array_equal(
        before[fold != fold[group == 7][0]], after[fold != fold[group == 7][0]]
    )


def test_means_of_grouped_training_rows_refuse_other_rows():
    codes = np.arange(60) % 3
    fold = (np.arange(60) % N_FOLDS).astype(np.uint8)
    means = learn_means(codes, 3, LevelTarget(codes * 1.0, "mean target", 0, fold), None)
    with pytest.raises(ValueError, match="X must be the 60 training rows"):
        means.of_training_rows(codes, np.arange(1, 61))
