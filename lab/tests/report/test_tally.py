"""From rows of results to arrays, standings and comparisons."""

import numpy as np
import pytest
from lab_support.results import row, rows_of

from bevel_lab import statistics
from bevel_lab.cells import FAILED
from bevel_lab.report.rounds import rounds
from bevel_lab.report.standings import choose_reference, standings
from bevel_lab.report.tally import Tally, contender


def test_tally_puts_each_value_at_its_case_system_and_split():
    errors = np.random.default_rng(0).random((4, 3, 5))
    tally = Tally(rows_of(errors))
    assert [case.data for case in tally.cases] == ["set 0", "set 1", "set 2", "set 3"]
    np.testing.assert_array_equal(tally.scores("error"), errors)
    np.testing.assert_allclose(tally.table("error"), errors.mean(axis=2))
    assert np.isnan(tally.table("auc")).all()


def test_tally_leaves_out_a_system_that_lacks_a_split_of_the_case():
    rows = rows_of(np.full((2, 2, 3), 0.2), systems=("sporf", "ccf"))
    rows[-1]["status"] = FAILED  # set 1, ccf, fold 2
    table = Tally(rows).table("error")
    assert np.isnan(table[1, 1])
    assert table[[0, 0, 1], [0, 1, 0]] == pytest.approx(0.2)


def test_tally_does_not_ask_for_splits_that_no_system_has():
    rows = [row("a", fold=f, error=0.1) for f in range(2)] + [row("b", fold=0, error=0.3)]
    np.testing.assert_allclose(Tally(rows).table("error"), [[0.1], [0.3]])


def test_tally_orders_systems_as_asked_and_variants_beside_their_system():
    rows = [
        row(system="ccf", error=0.1),
        row(system="rr-rf", setting={"scaling": "rank"}, error=0.1),
        row(system="rr-rf", setting={"scaling": None}, error=0.1),
    ]
    tally = Tally(rows, ["rr-rf", "ccf"])
    assert tally.systems == ("rr-rf (rank)", "rr-rf", "ccf")
    assert len(tally.cases) == 1
    assert contender("s-rerf", {"shuffle": True, "trees": 17}) == "s-rerf (17 trees, shuffled)"


def test_tally_names_only_settings_that_vary():
    rows = [row(setting={"n_train": n, "p": 3}, error=0.1) for n in (10, 100)]
    tally = Tally(rows)
    assert tally.setting_names == ("n_train",)
    assert [case.name for case in tally.cases] == [
        "iris (n_train 10, p 3)",
        "iris (n_train 100, p 3)",
    ]


def test_test_share_is_zero_for_simulations_that_draw_their_test_rows():
    (fold,) = Tally([row(error=0.1)]).cases
    (drawn,) = Tally([row(error=0.1, n_test=10_000)]).cases
    assert (fold.test_share, drawn.test_share) == (0.2, 0.0)


def test_standings_equal_the_statistics_of_the_complete_cases():
    errors = np.random.default_rng(3).random((9, 3, 5))
    rows = [each for each in rows_of(errors) if (each["data"], each["system"]) != ("set 4", "ccf")]
    lines = {line.system: line for line in standings(Tally(rows), "random-forest")}
    kept = np.delete(errors, 4, axis=0).mean(axis=2)
    ranks = statistics.mean_ranks(kept)
    for k, system in enumerate(("sporf", "random-forest", "ccf")):
        assert lines[system].n_cases == 8
        assert lines[system].mean == pytest.approx(kept[:, k].mean())
        assert lines[system].kappa == pytest.approx(1 - 2 * kept[:, k].mean())
        assert lines[system].rank == pytest.approx(ranks[k])
    ours = lines["sporf"]
    assert ours.p_value == statistics.wilcoxon(kept[:, 0], kept[:, 1])
    assert ours.p_reference_better == statistics.wilcoxon(kept[:, 1], kept[:, 0], "less")
    assert ours.p_better == statistics.wilcoxon(kept[:, 0], kept[:, 1], "less")
    assert (ours.wins, ours.ties, ours.losses) == statistics.wins_ties_losses(
        kept[:, 0], kept[:, 1]
    )
    assert ours.difference == statistics.paired_interval(kept[:, 0], kept[:, 1])
    assert lines["random-forest"].p_value is None


def test_standings_are_empty_while_no_case_is_finished_by_all():
    rows = [row("a", "sporf", error=0.1), row("b", "ccf", error=0.1)]
    assert standings(Tally(rows), "sporf") == []


def test_reference_is_sporf_then_a_random_forest_then_the_first():
    assert choose_reference(("ccf", "random-forest", "sporf")) == "sporf"
    assert choose_reference(("ccf", "sklearn-rf")) == "sklearn-rf"
    assert choose_reference(("ccf", "lda")) == "ccf"
    assert choose_reference(("ccf", "sporf"), "ccf") == "ccf"


def noisy_rows(n_sets):
    return [
        {**each, "setting": {"noise_dims": dims}}
        for dims in (10, 0)
        for each in rows_of(np.full((n_sets, 2, 2), 0.1 + dims / 100), systems=("sporf", "ccf"))
    ]


def test_rounds_take_settings_one_by_one_where_there_are_enough_data_sets():
    found = rounds(Tally(noisy_rows(7)), None, {})
    assert [each.title for each in found] == ["Noise dimensions: 0", "Noise dimensions: 10"]
    assert [each.standing[0].mean for each in found] == pytest.approx([0.1, 0.2])
    (together,) = rounds(Tally(noisy_rows(3)), None, {})
    assert together.title == ""
    assert together.standing[0].n_cases == 6


def test_rounds_add_the_groups_of_the_paper_after_all_data_sets():
    tally = Tally(rows_of(np.random.default_rng(0).random((14, 2, 2)), systems=("sporf", "ccf")))
    groups = {f"set{n}": "numeric" if n < 8 else "categorical" for n in range(14)}
    found = rounds(tally, "ccf", groups)
    assert [(each.title, each.n_sets) for each in found] == [
        ("", 14),
        ("Data sets: numeric", 8),
        ("Data sets: categorical", 6),
    ]
    assert {each.reference for each in found} == {"ccf"}
