"""Rotation studies: the right fits, the right seeds, honest folds, and verdicts that follow."""

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from bevel_lab import RotationStudy, plots, rank_rotations, rotation_study
from bevel_lab.report.run_report import read_run, render, summarise
from bevel_lab.running.store import ResultStore
from bevel_lab.studies.layout import rotation_seed
from bevel_lab.studies.report import as_repeats, study_sections
from bevel_lab.studies.result import read_studies

X = np.arange(60.0)[:, None]  # a row knows its own number
Y = np.repeat(["a", "b", "c"], 20)


class Spy(ClassifierMixin, BaseEstimator):
    """Remembers what it was given; errs on the test rows as its seeds say."""

    log: list = []  # noqa: RUF012

    def __init__(self, rotation_state=None, random_state=None, cv=5, rate=0.0, pause=0.0):
        self.rotation_state = rotation_state
        self.random_state = random_state
        self.cv = cv
        self.rate = rate
        self.pause = pause

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        Spy.log.append((self, np.asarray(X)[:, 0].astype(int), y))
        time.sleep(self.pause)
        return self

    def predict(self, X):
        """Right, but for a share that depends on the rotation and a little on the fold."""
        rows = np.asarray(X)[:, 0].astype(int)
        share = self.rate * (self.rotation_state % 7) / 7
        luck = np.random.default_rng([self.random_state, self.rotation_state]).random(len(rows))
        return np.where(luck < 0.2 + share, "wrong", Y[rows % 60])


class Shifted(RegressorMixin, BaseEstimator):
    """A regressor that is off by one for odd rows and by three for even ones."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):  # noqa: ARG002
        return self

    def predict(self, X):
        rows = np.asarray(X)[:, 0]
        return rows + np.where(rows % 2, 1.0, 3.0)


@pytest.fixture(autouse=True)
def empty_log():
    Spy.log = []


def study(**options):
    return rotation_study(Spy(rate=options.pop("rate", 0.0)), X, Y, 3, 4, random_state=1, **options)


def test_every_pair_of_groups_tests_each_row_once_on_a_learner_that_has_not_seen_it():
    result = study(n_folds=4)
    assert result.errors.shape == (3, 4)
    assert len(Spy.log) == 3 * 4 * 4
    for start in range(0, len(Spy.log), 4):
        trained = [set(rows) for _, rows, _ in Spy.log[start : start + 4]]
        held_out = [set(range(60)) - each for each in trained]
        assert sorted(row for each in held_out for row in each) == list(range(60))
        assert {len(each) for each in held_out} == {15}


def test_folds_are_those_of_the_fold_group_and_rotations_those_of_the_rotation_group():
    study(n_folds=2, nested=False)
    fits = np.array(Spy.log, dtype=object).reshape(3, 4, 2, 3)  # fold group, rotation group, fold
    rows = [[[tuple(fits[f, r, k, 1]) for k in range(2)] for r in range(4)] for f in range(3)]
    assert all(each == same[0] for same in rows for each in same)
    assert len({str(each[0]) for each in rows}) == 3
    turned = np.array([[[each[0].rotation_state for each in r] for r in f] for f in fits])
    own = np.array([[[each[0].random_state for each in r] for r in f] for f in fits])
    assert (turned == turned[:1, :, :1]).all()
    assert len(np.unique(turned)) == 4
    assert (own == own[:, :1]).all()
    assert len(np.unique(own)) == 3 * 2


def test_nested_folds_are_the_other_folds_of_the_group():
    study(n_folds=5)
    learner, rows, _ = Spy.log[0]
    held_out = [tuple(rows[test]) for _, test in learner.cv.split()]
    assert len(held_out) == 4
    others = [set(range(60)) - set(each) for _, each, _ in Spy.log[1:5]]
    assert sorted(map(sorted, held_out)) == sorted(map(sorted, others))


def test_errors_are_counted_over_all_rows():
    result = study(n_folds=3, rate=0.5)
    by_hand = np.zeros((3, 4))
    for number, (learner, rows, _) in enumerate(Spy.log):
        test = np.setdiff1d(np.arange(60), rows)
        by_hand[np.unravel_index(number // 3, (3, 4))] += np.sum(
            learner.predict(X[test]) != Y[test]
        )
    np.testing.assert_allclose(result.errors, by_hand / 60)
    assert result.n_rows == 60
    expected = [rotation_seed(1, "X", group) for group in range(4)]
    assert result.rotation_seeds.tolist() == expected
    assert result.best_rotation_seed == expected[result.best_rotation_group]


def test_regression_is_evaluated_by_squared_errors():
    result = rotation_study(Shifted(), X, X[:, 0], 2, 2, random_state=0)
    np.testing.assert_allclose(result.errors, 5.0)
    assert result.measure == "mean squared error"
    assert result.sampling_error == pytest.approx(4.0 / np.sqrt(60))
    assert result.rotations_matter == "no"


def test_planted_rotation_effect_is_found_and_its_absence_too():
    planted = rotation_study(Spy(rate=0.6), X, Y, 8, 10, random_state=0)
    assert planted.rotations_matter == "yes"
    assert planted.rotation_seeds[planted.best_rotation_group] % 7 == min(
        planted.rotation_seeds % 7
    )
    assert planted.verdict.startswith("It matters which rotations are used")
    absent = rotation_study(Spy(rate=0.0), X, Y, 8, 10, random_state=0)
    assert absent.rotations_matter in ("no", "undecided")


def matrix(folds=0.0, rotations=0.0, rest=0.0, shape=(20, 20), **options):
    rng = np.random.default_rng(5)
    errors = 0.2 + folds * rng.normal(size=(shape[0], 1)) + rotations * rng.normal(size=shape[1])
    errors = errors + rest * rng.normal(size=shape)
    options = {"n_rows": 400, "sampling_error": 0.02, **options}
    return RotationStudy(errors, rotation_seeds=np.arange(shape[1]), **options)


@pytest.mark.parametrize(
    ("parts", "matter", "enough"),
    [
        ({"folds": 0.005, "rotations": 0.01, "rest": 0.002}, "yes", True),
        ({"folds": 0.01, "rotations": 0.003, "rest": 0.002}, "a little", True),
        ({"folds": 0.01, "rest": 0.002}, "no", True),
        ({"rest": 0.01, "shape": (3, 3)}, "undecided", True),
        ({"folds": 0.1, "rest": 0.002}, "no", False),
        ({}, "no", True),
        ({"folds": 0.01, "shape": (5, 1)}, "undecided", True),
    ],
)
def test_verdict_follows_from_the_components(parts, matter, enough):
    result = matrix(**parts)
    assert result.rotations_matter == matter
    assert result.is_large_enough is enough
    assert ("large enough" in result.verdict) is enough
    assert result.verdict in repr(result)


def test_gain_over_a_learner_without_rotations_is_paired_by_fold_groups():
    plain = matrix(folds=0.05, rest=0.001)
    better = RotationStudy(plain.errors - 0.01, 400, 0.02, plain.rotation_seeds)
    gain = better.against(plain)
    assert gain.rotations_help == "yes"
    assert gain.difference == pytest.approx(-0.01)
    assert gain.n_better == 20
    assert "other rows" in gain.verdict  # 0.01 is below the sampling error
    assert plain.against(better).rotations_help == "no"
    assert plain.against(plain).rotations_help == "undecided"
    with pytest.raises(ValueError, match="same 400 rows"):
        plain.against(matrix(shape=(4, 4)))


def test_frame_has_the_names_of_the_thesis():
    frame = matrix(rest=0.01, shape=(2, 3)).to_pandas()
    assert list(frame.index) == ["FG-01", "FG-02"]
    assert list(frame.columns) == ["RG-01", "RG-02", "RG-03"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fold_groups": 0}, "fold_groups must be an integer of at least 1"),
        ({"rotation_groups": 2.5}, "rotation_groups must be an integer"),
        ({"n_folds": 1}, "n_folds must be an integer of at least 2"),
        ({"n_folds": 61}, "folds must be between 2 and the number of rows"),
        ({"folder": "x"}, "random_state must be an integer where a folder"),
    ],
)
def test_impossible_studies_are_refused(options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((ValueError, TypeError), match=message):
        rotation_study(Spy(), X, Y, **{"fold_groups": 2, "rotation_groups": 2, **options})
    assert not list(tmp_path.iterdir())


# Folders ------------------------------------------------------------------------------------------


def test_study_in_a_folder_goes_on_where_it_ended_and_may_grow(tmp_path):
    steps = []
    first = study(folder=tmp_path, progress=steps.append)
    assert [step.n_done for step in steps] == list(range(1, 61))
    assert steps[0].seconds_left > steps[-1].seconds_left == pytest.approx(0.0, abs=1e-6)
    np.testing.assert_array_equal(first.errors, study().errors)
    Spy.log = []
    np.testing.assert_array_equal(study(folder=tmp_path).errors, first.errors)
    assert not Spy.log
    larger = rotation_study(Spy(), X, Y, 3, 5, random_state=1, folder=tmp_path)
    assert len(Spy.log) == 3 * 5
    np.testing.assert_array_equal(larger.errors[:, :4], first.errors)


def test_folder_of_another_study_is_refused(tmp_path):
    study(folder=tmp_path)
    for other in ({"rate": 0.1}, {"n_folds": 4}, {"name": "other"}):
        with pytest.raises(ValueError, match="with the settings it was begun with"):
            study(folder=tmp_path, **other)
    with pytest.raises(ValueError, match="rows"):
        rotation_study(Spy(), X + 1.0, Y, 3, 4, random_state=1, folder=tmp_path)


SCRIPT = """
import sys
sys.path.insert(0, {tests!r})
from studies.test_rotation_study import Spy, X, Y
from bevel_lab import rotation_study
rotation_study(Spy(pause=0.05), X, Y, 3, 4, random_state=1, folder={folder!r})
"""


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_killed_study_goes_on_where_it_ended(tmp_path):
    tests = Path(__file__).parents[1]
    code = SCRIPT.format(tests=str(tests), folder=str(tmp_path))
    process = subprocess.Popen([sys.executable, "-c", code])
    results = tmp_path / "results.sqlite"
    limit = time.monotonic() + 120
    while not (results.exists() and len(done_keys(tmp_path)) >= 5):
        assert time.monotonic() < limit
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    n_before = len(done_keys(tmp_path))
    assert 5 <= n_before < 60
    resumed = rotation_study(Spy(pause=0.05), X, Y, 3, 4, random_state=1, folder=tmp_path)
    assert len(Spy.log) == 60 - n_before
    np.testing.assert_array_equal(resumed.errors, study().errors)


def done_keys(folder):
    try:
        return ResultStore(folder, read_only=True).done_keys()
    except Exception:  # the tables are not there yet
        return set()


def test_page_of_a_folder_has_the_verdict_and_the_heat_maps(tmp_path):
    result = study(folder=tmp_path, rate=0.6)
    run = read_run(tmp_path)
    page = render(run, "bevel lab report x")
    assert result.verdict[:60] in page
    assert "Rotations on X" in page
    assert page.count("RG-04") >= 2  # in both heat maps
    (facts,) = summarise(run)["studies"]
    assert facts["rotations_matter"] == result.rotations_matter
    assert len(run.tally.cases) == 1


LABELS = {"stacked-rotation": "S-RRE", "rr-rf": "RR-RF", "random-forest": "RF"}


@pytest.mark.parametrize("reference", [None, "rr-rf"])
def test_page_sets_systems_beside_the_reference_whether_or_not_it_rotates(tmp_path, reference):
    study(folder=tmp_path)
    rows = ResultStore(tmp_path).frame()
    shifts = {"random-forest": 0.0, "rr-rf": 0.1, "stacked-rotation": -0.1}
    rows = [
        {**row, "system": system, "error": row["error"] + shift}
        for row in rows
        for system, shift in shifts.items()
    ]
    (section,) = study_sections(rows, LABELS, reference)
    expected = {
        None: ("S-RRE errs less than RF (-0.1000", "RR-RF errs more than RF (+0.1000"),
        "rr-rf": ("S-RRE errs less than RR-RF (-0.2000", "RF errs less than RR-RF (-0.1000"),
    }[reference]
    places = [section.body.index(words) for words in expected]
    assert places == sorted(places)
    assert "4 of 4 rotation groups of S-RRE err less than" in section.body
    assert section.body.count("errs ") == 2
    assert "without rotations" not in section.body


def test_unfinished_fold_groups_do_not_count(tmp_path):
    study(folder=tmp_path)
    rows = ResultStore(tmp_path).frame()
    (part,) = read_studies(rows[:-1]).values()
    assert part.errors.shape == (2, 4)
    assert read_studies(rows[:3]) == {}
    assert len({(row["repeat"], row["fold"]) for row in as_repeats(rows)}) == 60


# Pictures -----------------------------------------------------------------------------------------


def check_renders(figure):
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=40)
    assert picture.tell() > 1000


@pytest.mark.parametrize("sort", [None, "folds", "rotations"])
def test_heat_map_shows_every_entry_in_its_place(sort):
    result = matrix(rest=0.01, shape=(4, 6))
    axes = plots.rotation_heat_map(result, sort=sort)
    shown = np.asarray(axes.images[0].get_array())
    names = [each.get_text() for each in (*axes.get_yticklabels(), *axes.get_xticklabels())]
    order = [int(each[3:5]) - 1 for each in names]
    np.testing.assert_array_equal(shown, result.errors[np.ix_(order[:4], order[4:])])
    if sort == "folds":
        assert (np.diff(shown.mean(axis=1)) > 0).all()
    if sort == "rotations":
        assert (np.diff(shown.mean(axis=0)) > 0).all()


def test_several_studies_share_one_scale_and_no_entry_is_lost():
    studies = {
        "one": matrix(rest=0.01, shape=(5, 5)),
        "other $": matrix(folds=0.05, shape=(5, 5), n_rows=30),
        "many": matrix(rest=0.02, shape=(30, 30)),
    }
    figure = plots.rotation_studies(studies)[0, 0].figure
    maps = [axes for axes in figure.axes if axes.images]
    histograms = [axes for axes in figure.axes if axes.patches]
    assert len(maps) == len(histograms) == 3
    assert [axes.get_title() for axes in maps] == list(studies)
    assert len({each.images[0].get_clim() for each in maps}) == 1
    for axes, study in zip(histograms, studies.values(), strict=True):
        assert sum(bar.get_height() for bar in axes.patches) == study.errors.size
    check_renders(figure)
    check_renders(plots.rotation_studies(studies["one"], heat_maps=False)[0, 0].figure)
    check_renders(plots.rotation_studies(matrix(shape=(2, 2)))[0, 0].figure)  # all errors alike


def test_wrong_words_of_pictures_are_refused():
    with pytest.raises(ValueError, match="sort must be"):
        plots.rotation_heat_map(matrix(shape=(2, 2)), sort="errors")
    with pytest.raises(ValueError, match="studies must be at least one"):
        plots.rotation_studies({})


def test_planes_are_drawn_from_the_best_rotation_to_the_worst():
    rng = np.random.default_rng(0)
    points = rng.random((50, 2))
    labels = points[:, 0] > points[:, 1]
    ranked = rank_rotations(points, labels, 12, n_trees=3, random_state=0)
    grid = plots.rotated_planes(ranked, points, labels, n_best=3, n_worst=2)
    assert grid.shape == (3, 3)  # an empty row between the ends
    numbers = [axes.texts[0].get_text() for axes in grid.flat if axes.texts]
    assert numbers == [str(each + 1) for each in ranked.number[[0, 1, 2, 10, 11]]]
    drawn = np.asarray(grid[0, 0].collections[0].get_offsets())
    np.testing.assert_allclose(drawn, points @ ranked.rotations[0])
    check_renders(grid[0, 0].figure)
    everything = plots.rotated_planes(ranked, points, labels)
    assert sum(len(axes.texts) for axes in everything.flat) == 12
    with pytest.raises(ValueError, match="of two features"):
        plots.rotated_planes(ranked, np.ones((50, 3)), labels)


def test_coordinate_planes_are_all_pairs_of_axes():
    rng = np.random.default_rng(0)
    problems = {
        f"p = {p}": (rng.random((30, p)), rng.integers(2, size=30), np.eye(p)) for p in (2, 4)
    }
    grid = plots.coordinate_planes(problems)
    names = [axes.texts[0].get_text() for axes in grid.flat if axes.texts]
    assert [line[0].get_ylabel() for line in grid] == list(problems)
    assert names == ["1,2", "1,2", "1,3", "1,4", "2,3", "2,4", "3,4"]
    check_renders(grid[0, 0].figure)
    with pytest.raises(ValueError, match="problems must be at least one"):
        plots.coordinate_planes({})
