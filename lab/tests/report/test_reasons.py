"""Whether a run is faithful to a paper, and facts that explain where it is not."""

import gzip
import json
import re

import numpy as np
import pytest
from lab_support.results import description
from support.command_line import invoke

from bevel.cli.app import app
from bevel_lab.cells import OK, Cell, Result
from bevel_lab.report.published import Pair, Published
from bevel_lab.report.reasons import NONE_KNOWN, find_index, known_reasons
from bevel_lab.running.store import ResultStore

SYSTEMS = ("sporf", "random-forest", "ccf")


def write_set(folder, name, rows, note="", nominal=""):
    text = "\n".join(["a,b,target", *(",".join(row) for row in rows)]) + "\n"
    (folder / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode()))
    index = folder / "index.csv"
    if not index.exists():
        index.write_text("name,n,n_classes,categorical_columns,note\n")
    n_classes = len({row[-1] for row in rows})
    with index.open("a") as stream:
        stream.write(f"{name},{len(rows)},{n_classes},{nominal},{note}\n")


def pair(data="some", system="sporf", ours=0.3, theirs=0.1, n_classes=2):
    return Pair(data, system, ours, 0.01, theirs, 0.01, True, n_classes, "1")


def published(measure="printed-kappa", **more):
    return Published("t.csv", measure, ("sporf",), {}, **more)


def reason_of(pairs, folder, paper=None, shares=None):
    found = known_reasons(pairs, paper or published(), shares or {}, folder)
    return found[pairs[0].data, pairs[0].system]


def test_facts_of_the_data_are_given_and_pairs_that_agree_need_none(tmp_path):
    rows = [["1", "x", "p"], ["", "y", "q"], ["", "x", "p"], ["4", "y", "q"]]
    note = "DIFF: n 4 vs paper 5; odd <rows>; 2 missing values"
    write_set(tmp_path, "some", rows, note, nominal="b")
    paper = published(
        remarks={"some": "printed twice"}, sizes={"some": {"n": 5, "p_num": 1, "c": 2}}
    )
    agreeing = pair(system="ccf", ours=0.1)
    found = known_reasons([pair(), agreeing], paper, {}, tmp_path)
    assert list(found) == [("some", "sporf")]
    assert found["some", "sporf"].split("; ") == [
        "printed twice",
        "2 values missing (25.0%), imputed in the paper by R's randomForest, which sees the labels",
        "4 rows here, 5 in the paper",
        "1 nominal column, perhaps coded otherwise",
        "the index says “odd <rows>”",
    ]
    other = reason_of([pair()], tmp_path, published("error"))
    assert other.startswith("2 values missing (25.0%);")  # of other papers nothing is known


def test_what_nothing_explains_has_no_reason(tmp_path):
    write_set(tmp_path, "some", [["1", "2", "p"], ["3", "4", "q"]])
    assert reason_of([pair()], tmp_path) == NONE_KNOWN
    assert reason_of([pair("absent")], tmp_path) == NONE_KNOWN
    assert reason_of([pair()], None) == NONE_KNOWN


def test_systems_that_differ_alike_point_to_the_rows():
    alike = [pair(system=name) for name in SYSTEMS]
    assert "all 3 systems err more here" in reason_of(alike, None)
    better = [pair(system=name, theirs=0.5) for name in SYSTEMS]
    assert "all 3 systems err less here" in reason_of(better, None)
    mixed = [*alike[:2], pair(system="ccf", theirs=0.5)]
    assert reason_of(mixed, None) == NONE_KNOWN
    assert reason_of(alike[:2], None) == NONE_KNOWN


def test_kappa_that_counted_another_class_is_found_out(tmp_path):
    """The error is (1 − κ) x; with x of another class all systems must agree, not only one."""
    rows = [["1", "2", label] for label in "aaaaaabbbc"]  # shares 0.6, 0.3, 0.1
    write_set(tmp_path, "some", rows)
    right = {name: 0.2 + 0.01 * place for place, name in enumerate(SYSTEMS)}
    printed = {name: value * 0.4 / 0.7 for name, value in right.items()}  # 1 − 0.6 for 1 − 0.3
    pairs = [pair(system=n, ours=right[n], theirs=printed[n], n_classes=3) for n in SYSTEMS]
    text = "all would agree if the printed kappa counted class b (30%)"
    assert text in reason_of(pairs, tmp_path, shares={"some": 0.6})
    one_off = [*pairs[:2], pair(system="ccf", ours=0.4, theirs=printed["ccf"], n_classes=3)]
    assert "would agree" not in reason_of(one_off, tmp_path, shares={"some": 0.6})
    assert "would agree" not in reason_of(pairs, tmp_path, published("error"), {"some": 0.6})
    two = [pair(ours=0.2, theirs=0.2 * 0.8 / 0.2)]  # counted by the larger of two shares
    text = "all would agree if the printed kappa counted class the smaller (20%)"
    assert reason_of(two, None, shares={"some": 0.8}) == text


def test_index_is_looked_for_beside_the_paper(tmp_path):
    paper = tmp_path / "table.csv"
    assert find_index(None, paper) is None
    assert find_index(None, None) is None
    write_set(tmp_path, "some", [["1", "2", "p"], ["3", "4", "q"]])
    assert find_index(None, paper) == tmp_path
    with pytest.raises(FileNotFoundError):
        find_index(tmp_path / "nowhere", paper)


# --- a whole report ------------------------------------------------------------------------------

N_SETS, N_FOLDS = 8, 2
CHANCE = 0.4  # two classes, the larger with 60 % of the rows


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A run and a paper's table of which all is known: SPORF is a bit better than the paper's, RF
    the same but for one set with missing values, CCF worse."""
    folder = tmp_path_factory.mktemp("study")
    rng = np.random.default_rng(0)
    ours = {  # [set, fold], in steps that make standard errors of 0.01
        name: 0.2 + 0.01 * np.arange(N_SETS)[:, None] + 0.014 * _folds(rng) for name in SYSTEMS
    }
    differences = {
        "sporf": -0.002 + 0.006 * (-1.0) ** np.arange(N_SETS),
        "random-forest": np.where(
            np.arange(N_SETS) == 3, 0.15, 0.001 * (-1.0) ** np.arange(N_SETS)
        ),
        "ccf": 0.05 + 0.001 * np.arange(N_SETS),
    }
    write_run(folder / "run", ours)
    lines = ["name,sporf,sporf_sem,rf,rf_sem,ccf,ccf_sem"]
    for n in range(N_SETS):
        cells = [f"set {n}"]
        for name in SYSTEMS:
            theirs = float(ours[name][n].mean() - differences[name][n])
            sem = {0: "0", 1: "12"}.get(n, "1.5")
            cells += [f"{100 * (1 - theirs / (1 - CHANCE)):.6f}", sem]
        lines.append(",".join(cells))
    data = folder / "data"
    data.mkdir()
    (data / "kappa.csv").write_text("\n".join(lines) + "\n")
    write_set(data, "set 3", [["1", "", "p"], ["", "4", "q"], ["2", "3", "p"]])
    return folder, differences


def _folds(rng):
    """Two values with mean 0 and deviation 1 for each set, in any order."""
    values = np.array([-1.0, 1.0]) / np.sqrt(2.0)
    return np.array([rng.permutation(values) for _ in range(N_SETS)])


def write_run(folder, ours):
    store = ResultStore(folder)
    store.begin(description(n_cells=N_SETS * N_FOLDS * len(SYSTEMS), absent={}))
    size = {"n_train": 80, "n_test": 20, "n_features": 4, "n_classes": 2}
    for (n, fold), _ in np.ndenumerate(ours["sporf"]):
        for name in SYSTEMS:
            error = float(ours[name][n, fold])
            metrics = {"error": error, "kappa": 1 - 2 * error, "chance_error": CHANCE}
            cell = Cell("sporf-uci", f"set {n}", name, {}, 0, fold)
            store.append(Result(cell, OK, metrics=metrics, seconds_fit=0.1, **size))


def report(study, *options):
    folder, _ = study
    words = [folder / "run", "--paper", folder / "data" / "kappa.csv", "--force", *options]
    result = invoke(app, ["lab", "report", *map(str, words)])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def facts(study):
    return json.loads(report(study, "--json"))


def test_faithfulness_is_that_of_an_independent_computation(study, facts):
    _, differences = study
    lines = {line["system"]: line for line in facts["paper"]}
    counting = np.arange(N_SETS) >= 2  # sets 0 and 1 have printed standard errors of 0 and 12
    combined = np.hypot(0.014 / np.sqrt(N_FOLDS), 0.015 * (1 - CHANCE))
    for name in SYSTEMS:
        seen = differences[name][counting]
        half = 2.570582 * seen.std(ddof=1) / np.sqrt(6)  # Student's t, 5 degrees of freedom
        line = lines[name]
        assert line["difference"]["mean"] == pytest.approx(seen.mean(), abs=1e-6)
        assert line["difference"]["low"] == pytest.approx(seen.mean() - half, abs=1e-6)
        within = True if seen.mean() + half <= 0.02 else None
        assert line["faithful"] is (False if seen.mean() - half > 0.0 else within)
        assert line["share_within"] == pytest.approx(np.mean(np.abs(seen) <= 2 * combined))
        assert line["n_left_out"] == 2
    assert [lines[name]["faithful"] for name in SYSTEMS] == [True, None, False]
    assert lines["random-forest"]["share_within"] == pytest.approx(5 / 6)


def test_mismatches_have_reasons_and_what_is_left_out_is_listed(facts):
    reasons = {(each["data"], each["system"]): each["reason"] for each in facts["mismatches"]}
    assert "2 values missing (33.3%), imputed in the paper" in reasons["set 3", "random-forest"]
    assert reasons["set 5", "ccf"] == NONE_KNOWN
    assert {(each["data"], each["printed_error"]) for each in facts["left_out"]} == {
        ("set 0", "0"),
        ("set 1", "12"),
    }


def test_page_and_terminal_say_whether_the_run_is_faithful(study):
    printed = report(study)
    assert re.search(r"SPORF is as good as the paper's or better on 6 sets", printed)
    assert re.search(
        r"RF is neither shown to be worse than the paper's nor to be as good on 6 sets: \+2\.5\d",
        " ".join(printed.split()),
    )
    assert "CCF is worse than the paper's on 6 sets" in printed
    assert "83% within 2 SE" in printed
    html = (study[0] / "run" / "report.html").read_text("utf-8")
    assert "as good or better" in html
    assert "values missing (33.3%)" in html
    assert "printed standard error 12: set 1 (SPORF), set 1 (RF), set 1 (CCF)" in html
