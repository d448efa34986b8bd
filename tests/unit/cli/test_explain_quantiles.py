"""Quantiles in `bevel explain`: whose they are, their coverage, and when there are none."""

import json
import re

import numpy as np
import pytest
from support.command_line import run, write_rows

import bevel
from bevel.analysis import forest_weights
from bevel.data.tables import Columns
from bevel.report import explain as explain_figures
from bevel.report.explain import _quantiles
from bevel.workflow import explaining
from bevel.workflow.explaining import explain


def number_columns(n=120, seed=0):
    """A target with noise, missing values and a nominal column."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(3)
    city = rng.choice(["here", "there"], n).astype(object)
    y = (X[:, 0] - X[:, 1] + (city == "here") + rng.normal(scale=0.5, size=n)).round(2)
    X[::9, 2] = np.nan
    return Columns(("a", "b", "holes", "city"), (*X.T, city)), y


def grow_numbers(**options):
    X, y = number_columns()
    model = bevel.ObliqueForestRegressor(20, random_state=0, n_jobs=1, **options)
    return model.fit(X, y), X, y


FAN = "How large may errors be?"


def quantile_section(found):
    return _quantiles(found.quantiles)  # the other sections take a second to draw


def test_quantiles_of_training_rows_are_out_of_bag_and_their_coverage_is_counted():
    model, X, y = grow_numbers()
    found = explain(model, X, y)
    weights = forest_weights(model, X, y).toarray()  # of the trees that have not seen the row
    ends = np.empty((len(y), 2))
    for row, weight in enumerate(weights):
        order = np.argsort(y, kind="stable")
        reached = np.cumsum(weight[order])
        ends[row] = [y[order][np.flatnonzero(reached >= q - 1e-12)[0]] for q in (0.05, 0.95)]
    inside = [low <= value <= high for value, (low, high) in zip(y, ends, strict=True)]
    band = found.quantiles.bands[0]
    assert band.share == 0.9
    assert band.covered.value == pytest.approx(np.mean(inside))
    assert band.covered.low < np.mean(inside) < band.covered.high
    assert band.width == pytest.approx(np.median(ends[:, 1] - ends[:, 0]))
    body = quantile_section(found)
    assert "<svg" in body
    assert f"{100 * np.mean(inside):.1f} %" in body
    assert "by the trees that have not seen them" in body


def test_quantiles_of_new_rows_need_kept_targets_and_the_page_says_how_to_get_them():
    rows, truth = number_columns(50, seed=1)
    without = explain(grow_numbers()[0], rows, truth)
    body = quantile_section(without)
    assert "<svg" not in body
    assert "bevel fit --model forest --keep-targets" in body
    kept = grow_numbers(keep_targets=True)[0]
    found = explain(kept, rows, truth)
    low, high = kept.predict_interval(rows, 0.5).T
    covered = found.quantiles.bands[1].covered.value
    assert covered == pytest.approx(np.mean((low <= truth) & (truth <= high)))
    assert "have not seen" not in quantile_section(found)
    unknown = explain(kept, rows, None)
    assert [band.covered for band in unknown.quantiles.bands] == [None, None]
    body = quantile_section(unknown)
    assert "<svg" in body
    assert "not known" in body


def test_quantiles_that_cannot_be_had_are_not_drawn(monkeypatch):
    model, X, y = grow_numbers(bootstrap=False, keep_targets=True)
    assert "other rows" in quantile_section(explain(model, X, y))
    X, y = number_columns()
    # In leaves of one row weights change nothing.
    weighted = bevel.ObliqueForestRegressor(20, min_samples_leaf=5, random_state=0, n_jobs=1)
    weighted.fit(X, y, sample_weight=1.0 + np.arange(len(y)) % 3)
    found = explain(weighted, X, y)
    assert found.row_kind == "out-of-bag"
    assert "weights of the training rows" in quantile_section(found)
    weighted.set_params(keep_targets=True).fit(X, y, sample_weight=1.0 + np.arange(len(y)) % 3)
    assert "<svg" in quantile_section(explain(weighted, X, y))
    model, X, y = grow_numbers()
    monkeypatch.setattr(explaining, "MAX_MEMBERS", 20 * len(y) - 1)
    assert "more memory" in quantile_section(explain(model, X, y))
    monkeypatch.setattr(explaining, "MAX_MEMBERS", 20 * len(y))
    assert "<svg" in quantile_section(explain(model, X, y))


def test_chart_of_many_rows_is_of_some_and_says_so_and_all_are_counted(monkeypatch):
    model, X, y = grow_numbers()
    found = explain(model, X, y)
    drawn = []
    monkeypatch.setattr(explain_figures, "MAX_FAN_ROWS", 40)
    monkeypatch.setattr(
        explain_figures.plots, "fan_chart", lambda some, ax: drawn.append(some) or ax
    )
    assert "of the target of 40 of the 120 rows" in quantile_section(found)
    whole, (some,) = found.quantiles.quantiles, drawn
    assert len(some.values) == 40
    assert some.values[0, 2] == whole.values[:, 2].min()
    assert some.values[-1, 2] == whole.values[:, 2].max()
    rows = {(*values, target) for values, target in zip(whole.values, whole.target, strict=True)}
    kept = {(*values, target) for values, target in zip(some.values, some.target, strict=True)}
    assert kept <= rows


def test_regression_from_files_prints_coverage_in_terminal_json_and_page(tmp_path):
    X, y = number_columns()
    cells = [["" if v != v else v for v in column] for column in X.values]
    data = write_rows(tmp_path / "d.csv", [*X.names, "y"], [*cells, y])
    model, report = tmp_path / "m.bevel", tmp_path / "fit.html"
    options = (
        "--target",
        "y",
        "--model",
        "forest",
        "--trees",
        20,
        "--keep-targets",
        "--out",
        model,
    )
    fitted = run("fit", data, *options, "--report", report)
    assert fitted.exit_code == 0, fitted.output
    assert FAN in report.read_text("utf-8")
    assert "--keep-targets" in report.read_text("utf-8")
    new = write_rows(tmp_path / "new.csv", X.names, [column[:30] for column in cells])
    facts = json.loads(run("explain", model, new, "--json").stdout)
    assert [band["covered"] for band in facts["bands"]] == [None, None]
    assert facts["bands_missing"] is None
    known = json.loads(run("explain", model, data, "--target", "y", "--json").stdout)
    covered = known["bands"][0]["covered"]["value"]
    shown = run("explain", model, data, "--target", "y").stdout
    assert re.search(rf"out-of-bag coverage of 90 % +{100 * covered:.1f} %", shown)
