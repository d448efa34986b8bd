"""Published tables are read as what they are, and compared by error rates."""

from pathlib import Path

import numpy as np
import pytest
from lab_support.results import row, rows_of

from bevel_lab.report.published import Pair, agreements, pairs, read_published
from bevel_lab.report.tally import Tally

SHARED = Path(__file__).parents[3].parent / "shared" / "data"
KAPPA = "name,n,p_cat,C,rf,rf_sem,sporf,sporf_sem\nSet-0,9,0,2,75,4,80,0\nset 1,9,2,3,50,11,60,2\n"


@pytest.fixture
def kappa_file(tmp_path):
    path = tmp_path / "my_kappa.csv"
    path.write_text(KAPPA)
    return path


def two_sets(n_classes=2):
    errors = np.array([[[0.1, 0.2], [0.3, 0.3]], [[0.2, 0.2], [0.2, 0.4]]])
    return Tally(rows_of(errors, systems=("sporf", "random-forest"), n_classes=n_classes))


def test_published_kappa_is_converted_and_paired_by_name_and_alias(kappa_file):
    published = read_published(kappa_file)
    assert published.measure == "printed-kappa"
    found = {
        (p.data, p.system): p for p in pairs(two_sets(), published, {"set 0": 0.8, "set 1": 0.6})
    }
    first = found["set 0", "random-forest"]
    assert (first.ours, first.theirs) == pytest.approx((0.3, 0.25 * 0.8))
    assert first.their_error == pytest.approx(0.8 * np.hypot(0.04, 0.005 / np.sqrt(3)))
    assert found["set 0", "sporf"].our_error == pytest.approx(0.05)
    assert [found[key].counts for key in found] == [True, False, False, True]  # sem 4, 0, 11, 2
    assert pairs(two_sets(), published, {}) == []  # no class shares, no errors
    three = {(p.data, p.system): p for p in pairs(two_sets(3), published, {"set 0": 0.8})}
    assert three["set 0", "random-forest"].theirs == pytest.approx(0.25 * 0.2)


def test_published_groups_are_those_with_and_without_categorical_columns(kappa_file):
    assert read_published(kappa_file).groups == {
        "set0": "numeric",
        "set1": "with categorical columns",
    }


@pytest.mark.parametrize(
    ("text", "measure", "error"),
    [
        ("dataset,LDA,KNN5\nset 0,0.25,0.3\n", "error", 0.25),
        ("id,dataset,group,err_lda,auc1m_lda\n1,set 0,spectral,25,7\n", "error-percent", 0.25),
    ],
)
def test_published_errors_are_shares_or_percent(tmp_path, text, measure, error):
    path = tmp_path / "table.csv"
    path.write_text(text)
    published = read_published(path)
    assert published.measure == measure
    assert not any("auc" in system for system in published.systems)
    (found,) = pairs(Tally([row("set 0", "lda", error=0.2)]), published, {})
    assert found.theirs == pytest.approx(error)
    assert found.agrees is None  # the paper prints no standard error


def test_published_file_without_names_or_systems_says_what_it_needs(tmp_path):
    path = tmp_path / "table.csv"
    for text in ("", "n,C\n1,2\n", "rf,sporf\n1,2\n"):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"a column called name or dataset .* Rename"):
            read_published(path)
    with pytest.raises(ValueError, match="measure must be one of auto"):
        read_published(path, "kappa")


def test_menzes_names_of_sonar_simulations_and_the_tuned_forest_are_known(tmp_path):
    path = tmp_path / "table.csv"
    text = "id,dataset,group,err_rf,err_lda\n1,sonar,numerical,15,20\n2,twonorm,simulated,4,3\n"
    path.write_text(text)
    published = read_published(path)
    ours = {"conn_bench-sonar-mines-rocks": 0.15, "simulated twonorm": 0.04, "hill_valley": 0.3}
    rows = [
        row(data, system, error=error)
        for data, error in ours.items()
        for system in ("random-forest", "rf-cv", "lda")
    ]
    found = {(pair.data, pair.system): pair.theirs for pair in pairs(Tally(rows), published, {})}
    assert found == {
        ("conn_bench-sonar-mines-rocks", "rf-cv"): 0.15,
        ("conn_bench-sonar-mines-rocks", "lda"): 0.20,
        ("simulated twonorm", "rf-cv"): 0.04,
        ("simulated twonorm", "lda"): 0.03,
    }


def test_name_of_ours_that_the_paper_has_too_is_the_papers(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("dataset,lda\nWaveform,0.1\nwave,0.2\nIONO,0.3\n")
    published = read_published(path)
    assert published.name_of("waveform") == "waveform"
    assert published.name_of("ionosphere") == "iono"
    assert published.name_of("wine") == "wine"


def test_agreements_leave_out_what_does_not_count():
    found = [
        Pair("a", "sporf", 0.10, 0.01, 0.20, 0.01, True),
        Pair("b", "sporf", 0.20, 0.01, 0.21, 0.01, True),
        Pair("c", "sporf", 0.90, 0.01, 0.00, 0.00, False),
    ]
    (line,) = agreements(found)
    assert line.difference.mean == pytest.approx(-0.055)
    assert (line.difference.n, line.n_left_out, line.share_within) == (2, 1, 0.5)
    assert line.faithful is None  # the interval of two sets is wide
    assert [pair.agrees for pair in found] == [False, True, None]
    worse = [
        Pair(p.data, "rf", p.theirs + 0.1 + n / 100, 0.01, p.theirs, 0.01, True)
        for n, p in enumerate(found)
    ]
    assert agreements(worse)[0].faithful is False
    assert agreements(found[:1])[0].faithful is None  # one data set says nothing


@pytest.mark.parametrize(
    ("file", "measure", "n_sets"),
    [
        ("uci/paper_kappa.csv", "printed-kappa", 104),
        ("menze_table1.csv", "error-percent", 39),  # "MRS tumor 1" is printed twice
        ("blaser_table2_2.csv", "error", 8),
    ],
)
def test_tables_of_the_papers_can_be_read(file, measure, n_sets):
    if not (SHARED / file).is_file():
        pytest.skip("the papers' tables are not here")
    published = read_published(SHARED / file)
    assert published.measure == measure
    assert len(published.printed) == n_sets
