"""`bevel.tune`: what it accepts, keeps, prints and goes on from."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import bevel
from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel import projections as P
from bevel.projections.families import TableShape
from bevel.tuning.candidates import list_candidates
from bevel.tuning.halving import Round, most_candidates, n_trees_of, plan_rounds

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5))
Y = (X[:, 0] + X[:, 1] + 0.5 * RNG.normal(size=60) > 0).astype(int)
CANDIDATES = [
    *({"projection": "axis", "min_samples_leaf": n} for n in (1, 2, 4)),
    {"projection": "lda"},
]
SMALL = {"candidates": CANDIDATES, "first_trees": 10}


def forest(**parameters):
    return ObliqueForestClassifier(
        8, **{"projection": "sparse", "random_state": 0, "n_jobs": 1, **parameters}
    )


def losses(found) -> dict[str, list[float]]:
    return {str(c): [each.loss for each in c.rounds] for c in found.candidates_}


def test_losses_of_large_targets_are_printed_without_exponents():
    target = 400.0 * X[:, 0] + 90.0 * RNG.normal(size=60)
    found = bevel.tune(ObliqueForestRegressor(8, random_state=0, n_jobs=1), X, target, **SMALL)
    assert found.first_.last.loss > 1000.0
    assert "e+0" not in str(found)
    record = ObliqueForestRegressor(200, random_state=0, n_jobs=1).fit(X, target).families_
    assert record.errors.max() > 1000.0
    assert "e+0" not in str(record)


def test_half_of_the_candidates_goes_on_with_twice_the_trees():
    rounds = plan_rounds(13, 100)
    assert rounds == [Round(13, 100), Round(7, 200), Round(4, 400), Round(2, 800)]
    assert n_trees_of(rounds) == 1300 + 700 + 800 + 800
    assert plan_rounds(1, 100) == [Round(1, 100)]


@pytest.mark.parametrize("budget", [0, 99, 100, 250, 600, 2400, 6000, 20000])
def test_budget_pays_for_the_candidates_and_for_no_more(budget):
    n = most_candidates(budget, 100, 500)
    assert n == 0 or n_trees_of(plan_rounds(n, 100)) <= budget
    assert n_trees_of(plan_rounds(n + 1, 100)) > budget or n == 500


def test_result_does_not_depend_on_threads():
    one = bevel.tune(forest(), X, Y, **SMALL)
    two = bevel.tune(forest(n_jobs=3), X, Y, **SMALL)
    assert losses(one) == losses(two)
    assert one.best_params_ == two.best_params_


def test_estimator_is_left_alone_and_its_parameters_stay():
    passed = forest(min_samples_leaf=2, max_depth=4)
    before = passed.get_params()
    found = bevel.tune(passed, X, Y, budget=120, first_trees=10, refit=False)
    assert passed.get_params() == before
    assert not hasattr(passed, "classes_")
    assert all(
        not {"projection", "min_samples_leaf"} & set(c.parameters) for c in found.candidates_
    )
    assert found.best_estimator_.max_depth == 4
    assert not hasattr(found.best_estimator_, "classes_")
    assert found.best_estimator_.get_params()["oob_score"] is False


def test_best_estimator_is_fitted_with_its_own_number_of_trees():
    found = bevel.tune(forest(), X, Y, **SMALL)
    assert found.best_estimator_.forest_.n_trees == 8
    assert (
        found.best_estimator_.get_params()
        == clone(forest()).set_params(**found.best_params_).get_params()
    )


def test_usual_candidates_fit_the_table_and_the_default_is_the_first():
    for shape in (TableShape(50, 8, 0), TableShape(50, 0, 3), TableShape(50, 1, 2)):
        for kind in (ObliqueForestClassifier, ObliqueForestRegressor):
            listed = list_candidates(kind(), shape, "auto")
            assert listed[0] == {}
            assert len({str(each) for each in listed}) == len(listed) > 3
    wide = list_candidates(ObliqueForestClassifier(), TableShape(50, 2000, 0), "auto")
    assert all(each.get("n_projections") != "p**2" for each in wide)


def test_every_usual_candidate_can_be_grown():
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["city"] = np.where(Y == 1, "x", "y")
    frame.loc[::7, "b"] = np.nan
    for kind, y in ((ObliqueForestClassifier, Y), (ObliqueForestRegressor, X[:, 0])):
        for each in list_candidates(kind(), TableShape(60, 5, 1), "auto")[:40]:
            kind(2, n_jobs=1, random_state=0).set_params(**each).fit(frame, y)


def test_grid_of_sporf_is_the_papers():
    listed = list_candidates(ObliqueForestClassifier(), TableShape(50, 6, 0), "sporf")[1:]
    assert [each["n_projections"] for each in listed[::5]] == [
        *("p**0.25", "p**0.5", "p**0.75", "p", "p**2")
    ]
    assert [each["projection"].density for each in listed[:5]] == [1, 2, 3, 4, 5]


def test_nominal_columns_and_missing_values_are_read_as_by_fit():
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "city": np.where(Y == 1, "x", "y")})
    frame.loc[3, "a"] = np.nan
    found = bevel.tune(forest(projection="auto"), frame, Y, budget=200, first_trees=20)
    assert found.best_.last.error < 0.2
    assert list(found.best_estimator_.feature_names_in_) == ["a", "b", "city"]


def test_ties_go_to_the_fewest_changes_and_the_result_says_so():
    y = (X[:, 0] > 0).astype(int)
    same = [{"min_samples_leaf": 1, "max_depth": 50}, {"max_depth": 49}]
    found = bevel.tune(forest(), X, y, candidates=same, first_trees=10)
    assert found.best_params_ == {}
    assert any("3 candidates have exactly this loss" in note for note in found.notes_)


def test_result_prints_as_table_as_page_and_as_frame():
    found = bevel.tune(forest(), X, Y, **SMALL)
    text = str(found)
    assert "out-of-bag Brier score of 5 candidates" in text
    assert "optimistic" in text
    assert 'projection="lda"' in text
    assert "&quot;lda&quot;" in found._repr_html_()
    frame = found.to_pandas()
    assert len(frame) == sum(len(c.rounds) for c in found.candidates_) == 5 + 3
    assert frame.survived.sum() == 3 + 1


def test_progress_counts_trees_up_to_all_of_them(capsys):
    seen = []
    found = bevel.tune(forest(), X, Y, **SMALL, callback=lambda *each: seen.append(each), verbose=1)
    assert seen[-1] == (found.n_trees_, found.n_trees_)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert "trying parameters" in capsys.readouterr().err


def test_time_that_is_over_at_once_keeps_the_estimator():
    found = bevel.tune(forest(), X, Y, seconds=1e-9, refit=False)
    assert found.best_params_ == {}
    assert "before the first round" in str(found)
    assert found._repr_html_()


def test_time_limit_with_enough_time_tries_all_of_a_list():
    found = bevel.tune(forest(), X, Y, **SMALL, seconds=600)
    assert len(found.candidates_) == 5
    assert losses(found) == losses(bevel.tune(forest(), X, Y, **SMALL))


def test_stopped_search_goes_on_to_the_same_result(tmp_path):
    whole = bevel.tune(forest(), X, Y, **SMALL)
    for n_lines in range(9):
        path = tmp_path / f"{n_lines}.jsonl"
        bevel.tune(forest(), X, Y, **SMALL, store=path, refit=False)
        lines = path.read_bytes().splitlines(keepends=True)
        assert len(lines) == 9
        path.write_bytes(b"".join(lines[: n_lines + 1]) + b'{"candidate": "cut sh')
        again = bevel.tune(forest(), X, Y, **SMALL, store=path, refit=False)
        assert losses(again) == losses(whole)
        assert again.best_params_ == whole.best_params_
        results = [json.loads(line) for line in path.read_text().splitlines()[1:]]
        assert [each["n_trees"] for each in results] == [*([10] * 5), *([20] * 3)]


def test_larger_budget_goes_on_from_the_store_of_a_smaller_one(tmp_path):
    path = tmp_path / "run.jsonl"
    settings = {"first_trees": 10, "refit": False}
    bevel.tune(forest(), X, Y, budget=60, store=path, **settings)
    before = path.read_text()
    more = bevel.tune(forest(), X, Y, budget=120, store=path, **settings)
    assert path.read_text().startswith(before)
    assert losses(more) == losses(bevel.tune(forest(), X, Y, budget=120, **settings))


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"X": X + 1}, "data"),
        ({"y": 1 - Y}, "data"),
        ({"sample_weight": np.arange(60.0)}, "data"),
        ({"estimator": forest(max_depth=3)}, "parameters"),
        ({"estimator": forest(random_state=1)}, "parameters"),
        ({"first_trees": 20}, "first_trees"),
    ],
)
def test_store_of_another_search_is_refused(tmp_path, change, word):
    path = tmp_path / "run.jsonl"
    arguments = {"estimator": forest(), "X": X, "y": Y, **SMALL, "store": path, "refit": False}
    bevel.tune(**arguments)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=f"other {word}"):
        bevel.tune(**{**arguments, **change})
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "{}\n", "no line break"])
def test_file_that_is_no_store_is_refused(tmp_path, text):
    path = tmp_path / "mine.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match="something else"):
        bevel.tune(forest(), X, Y, **SMALL, store=path)
    assert path.read_text() == text


@pytest.mark.parametrize("line", ["[1]", "{}", '{"candidate": "x", "n_trees": -1}', "null", "x"])
def test_damaged_line_is_named(tmp_path, line):
    path = tmp_path / "run.jsonl"
    bevel.tune(forest(), X, Y, **SMALL, store=path, refit=False)
    first = path.read_text().splitlines()[0]
    path.write_text(f"{first}\n{line}\n")
    with pytest.raises(ValueError, match="line 2"):
        bevel.tune(forest(), X, Y, **SMALL, store=path)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"estimator": P.Axis()}, TypeError, "estimator must be"),
        ({"budget": 1.5}, TypeError, "budget must be"),
        ({"budget": 15}, ValueError, "budget must be at least"),
        ({"candidates": "auto", "budget": 15}, ValueError, "budget must be at least 20"),
        ({"seconds": 0}, ValueError, "seconds must be"),
        ({"seconds": "long"}, TypeError, "seconds must be"),
        ({"first_trees": 5}, ValueError, "first_trees must be"),
        ({"candidates": "grid"}, ValueError, "candidates must be"),
        ({"candidates": []}, ValueError, "at least one"),
        ({"candidates": {"projection": "axis"}}, TypeError, "a list of dicts"),
        ({"candidates": [{"depth": 3}]}, ValueError, "'depth'"),
        ({"candidates": [{"n_estimators": 3}]}, ValueError, "'n_estimators'"),
        ({"candidates": [{"max_depth": 0}]}, ValueError, "candidate max_depth=0"),
        ({"candidates": [{"projection": "ridge"}]}, ValueError, "out-of-bag"),
        ({"estimator": forest(bootstrap=False)}, ValueError, "out-of-bag"),
        ({"estimator": forest(random_state=None), "store": "x"}, ValueError, "an integer"),
        ({"y": Y[:-1]}, ValueError, "y must have"),
    ],
)
def test_bad_input_is_refused_before_anything_grows(arguments, error, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=text):
        bevel.tune(**{"estimator": forest(), "X": X, "y": Y, **SMALL, **arguments})
    assert list(tmp_path.iterdir()) == []


STOPPED = """
import sys, numpy as np, bevel
rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 20)); y = (X[:, 0] + X[:, 1] > 0).astype(int)
forest = bevel.ObliqueForestClassifier(random_state=0, n_jobs=1)
print("begin", flush=True)
try:
    bevel.tune(forest, X, y, budget=100_000, first_trees=10, store=sys.argv[1])
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of another kind")
def test_control_c_stops_at_once_and_leaves_a_store_of_whole_lines(tmp_path):
    path = tmp_path / "run.jsonl"
    with subprocess.Popen(
        [sys.executable, "-c", STOPPED, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        try:
            assert process.stdout.readline() == "begin\n"
            while not path.exists() or path.read_text().count("\n") < 3:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=30)
        finally:
            process.kill()
    assert said == "stopped\n"
    lines = path.read_text().splitlines()
    assert all("loss" in json.loads(line) for line in lines[1:])
