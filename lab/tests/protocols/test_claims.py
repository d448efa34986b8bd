"""Splits keep what they promise, and claims are judged on the pairs they speak of."""

import numpy as np
import pytest

from bevel_lab.protocols.claims import ABOUT, ABOVE, BELOW, NOT_ABOVE, Claim, Side, check_claim
from bevel_lab.protocols.splits import random_part, stratified_folds, training_rows


def test_folds_are_equal_in_size_and_in_each_class():
    y = np.repeat(["a", "b", "c"], [53, 31, 3])
    folds = stratified_folds(y, 5, seed=1)
    assert np.ptp(np.bincount(folds)) <= 1
    for label in "abc":
        assert np.ptp(np.bincount(folds[y == label], minlength=5)) <= 1
    assert (folds != stratified_folds(y, 5, seed=2)).any()


def test_folds_of_numbers_are_not_stratified():
    y = np.arange(20.0)
    in_training = [training_rows(y, 4, fold, seed=0) for fold in range(4)]
    assert np.sum(in_training, axis=0).tolist() == [3] * 20


def test_more_folds_than_rows_are_refused():
    with pytest.raises(ValueError, match="folds must be between 2 and the number of rows"):
        stratified_folds(np.zeros(3), 4, seed=0)


@pytest.mark.parametrize("seed", range(20))
def test_random_part_has_every_level_even_where_draws_would_never_find_them(seed):
    rng = np.random.default_rng(seed)
    columns = []
    for _ in range(6):  # in each, three levels of one row: all of them by chance once in 10^9 draws
        column = rng.integers(0, 3, 60)
        column[rng.choice(60, 3, replace=False)] = [3, 4, 5]
        columns.append(column)
    part = random_part(60, 0.5, columns, seed)
    assert part.sum() == 30
    for column in columns:
        assert set(column[part]) == set(column)


def test_random_part_is_uniform_where_there_is_nothing_to_keep():
    counts = sum(random_part(10, 0.7, (), seed).astype(int) for seed in range(2000))
    # 1400 expected, standard deviation 20.5: six of them either way
    assert counts.min() > 1277
    assert counts.max() < 1523


def row(system, error, repeat=0, data="d", setting=None, status="ok", **more):
    return {
        "system": system,
        "data": data,
        "repeat": repeat,
        "fold": 0,
        "status": status,
        "setting": setting or {},
        "error": error,
        **more,
    }


def rows_of(**errors):
    return [
        row(system, error, repeat)
        for system, each in errors.items()
        for repeat, error in enumerate(each)
    ]


A_BELOW_B = Claim("a errs less", "", Side("a"), Side("b"))


def test_claim_is_decided_by_the_interval_of_paired_differences():
    rows = rows_of(a=[0.1, 0.3, 0.5], b=[0.2, 0.41, 0.6])
    verdict = check_claim(A_BELOW_B, rows)
    assert verdict.holds
    assert verdict.n_pairs == 3
    assert verdict.difference == pytest.approx(-0.31 / 3)
    # t(0.975, 2) = 4.3027, standard deviation of the differences 0.0057735
    half = 4.302653 * 0.0057735 / np.sqrt(3)
    assert verdict.high - verdict.difference == pytest.approx(half, rel=1e-4)
    backwards = Claim("", "", Side("b"), Side("a"))
    assert check_claim(backwards, rows).holds is False


def test_claim_within_the_noise_is_undecided():
    rows = rows_of(a=[0.1, 0.3, 0.2], b=[0.3, 0.1, 0.19])
    for direction in (BELOW, ABOVE, NOT_ABOVE):
        verdict = check_claim(Claim("", "", Side("a"), Side("b"), direction), rows)
        assert (verdict.holds, verdict.word) == (None, "undecided")


def test_claim_to_be_as_good_needs_an_interval_that_ends_near_zero():
    claim = Claim("", "", Side("a"), Side("b"), NOT_ABOVE)
    close = rows_of(a=[0.10, 0.31, 0.20], b=[0.10, 0.305, 0.205])
    assert check_claim(claim, close).word == "holds"
    above = rows_of(a=[0.110, 0.321, 0.210], b=[0.100, 0.310, 0.201])
    assert check_claim(claim, above).word == "fails"


def test_claim_of_equality_needs_the_whole_interval_inside_the_margin():
    rows = rows_of(a=[0.100, 0.201, 0.300], b=[0.101, 0.200, 0.301])
    assert check_claim(Claim("", "", Side("a"), Side("b"), ABOUT, margin=0.01), rows).holds is True
    assert check_claim(Claim("", "", Side("a"), Side("b"), ABOUT, margin=0.001), rows).holds is None


def test_claim_without_two_pairs_is_not_decided():
    assert check_claim(A_BELOW_B, rows_of(a=[0.1], b=[0.2])).word == "not enough results"
    assert check_claim(A_BELOW_B, []).holds is None
    failed = [*rows_of(a=[0.1, 0.2], b=[0.5]), row("b", 0.6, 1, status="failed")]
    assert check_claim(A_BELOW_B, failed).n_pairs == 1


def test_claim_about_a_level_or_a_share_of_the_other_side():
    rows = rows_of(a=[0.10, 0.11, 0.12], b=[0.30, 0.31, 0.32])
    assert check_claim(Claim("", "", Side("a"), level=0.2), rows).holds is True
    assert check_claim(Claim("", "", Side("a"), level=0.05), rows).holds is False
    assert check_claim(Claim("", "", Side("a"), Side("b"), factor=0.5), rows).holds is True
    assert check_claim(Claim("", "", Side("a"), Side("b"), factor=0.2), rows).holds is False


def settings_rows():
    """b gains 0.3 by noise, a gains 0.1; a is at 0.2 and b at 0.1 without."""
    return [
        row(system, start + gain * (noise > 0) + 0.01 * repeat, repeat, setting={"noise": noise})
        for system, start, gain in (("a", 0.2, 0.1), ("b", 0.1, 0.3))
        for noise in (0, 10)
        for repeat in range(3)
    ]


def test_sides_are_taken_in_their_settings():
    rows = settings_rows()
    with_noise = Claim("", "", Side("a", {"noise": 10}), Side("b", {"noise": 10}))
    assert check_claim(with_noise, rows).difference == pytest.approx(-0.1)
    change = Claim("", "", Side("a", {"noise": 10}), Side("a", {"noise": 0}), ABOVE)
    assert check_claim(change, rows).difference == pytest.approx(0.1)
    every = check_claim(A_BELOW_B, rows)
    assert every.n_pairs == 6


def test_change_since_a_setting_is_compared():
    claim = Claim("", "", Side("a", {"noise": 10}), Side("b", {"noise": 10}), since={"noise": 0})
    verdict = check_claim(claim, settings_rows())
    assert (verdict.left, verdict.right) == pytest.approx((0.1, 0.3))


def test_values_of_a_setting_that_is_averaged_are_one_observation():
    claim = Claim("", "", Side("a"), Side("b"), over=("group",))
    rows = [
        row("a", 0.1 * repeat + shift, repeat, setting={"group": group})
        for repeat in range(3)
        for group, shift in enumerate((0.01, 0.03))
    ]
    rows += [row("b", 0.1 * repeat + 0.05, repeat, setting={"group": 0}) for repeat in range(3)]
    verdict = check_claim(claim, rows)
    assert verdict.n_pairs == 3
    assert verdict.difference == pytest.approx(-0.03)
    assert verdict.holds


def test_spread_over_a_setting_is_compared():
    claim = Claim("", "", Side("a"), Side("b"), spread="noise")
    verdict = check_claim(claim, settings_rows())
    assert verdict.n_pairs == 3
    assert (verdict.left, verdict.right) == pytest.approx((0.1 / np.sqrt(2), 0.3 / np.sqrt(2)))


def test_data_sets_are_chosen_and_can_be_the_sample():
    rows = [
        row(system, error, repeat, data)
        for data, errors in {"x": (0.1, 0.2), "y": (0.3, 0.5), "z": (0.9, 0.1)}.items()
        for system, error in zip("ab", errors, strict=True)
        for repeat in range(4)
    ]
    by_set = Claim("", "", Side("a"), Side("b"), by_set=True, without=("z",))
    assert check_claim(by_set, rows).n_pairs == 2
    assert check_claim(by_set, rows).difference == pytest.approx(-0.15)
    only = Claim("", "", Side("a"), Side("b"), ABOVE, data=("z",))
    assert check_claim(only, rows).holds is True


def test_sides_may_have_metrics_of_their_own():
    rows = [
        row(system, 0.5, repeat, setting={}, best=0.1 + 0.01 * repeat, worst=0.3)
        for system in "ab"
        for repeat in range(3)
    ]
    claim = Claim("", "", Side("a", metric="best"), Side("b", metric="worst"))
    assert check_claim(claim, rows).difference == pytest.approx(-0.19)
