"""The lab's statistics against independent computations: other packages, plain loops, print."""

from itertools import product

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from bevel_lab import statistics as lab

# Demšar 2006, Table 6: areas under the curve of four variants of C4.5 on fourteen data sets. His
# ranks put the third before the fourth on "voting", 0.975 both in print: hence the digit 0.9751.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


def predictions(n_classes, seed, n_rows=60):
    """Labels and probabilities with many ties, better than chance."""
    rng = np.random.default_rng(seed)
    labels = np.array([f"class {k}" for k in range(n_classes)])
    truth = rng.integers(n_classes, size=n_rows)
    counts = rng.integers(0, 4, (n_rows, n_classes)) + 2 * (np.arange(n_classes) == truth[:, None])
    counts += 1
    shares = counts / counts.sum(axis=1, keepdims=True)
    return labels, labels[truth], shares


@pytest.mark.parametrize(("n_classes", "seed"), list(product([2, 3, 7], range(3))))
def test_scores_equal_those_of_scikit_learn(n_classes, seed):
    labels, truth, shares = predictions(n_classes, seed)
    answer = labels[shares.argmax(axis=1)]
    assert lab.error_rate(truth, answer) == pytest.approx(1 - metrics.accuracy_score(truth, answer))
    assert lab.cohen_kappa(truth, answer) == pytest.approx(
        metrics.cohen_kappa_score(truth, answer), abs=1e-12
    )
    area = (
        metrics.roc_auc_score(truth == labels[1], shares[:, 1])
        if n_classes == 2
        else metrics.roc_auc_score(truth, shares, multi_class="ovr", labels=labels)
    )
    assert lab.roc_auc(truth, shares, labels) == pytest.approx(area, abs=1e-12)
    assert lab.log_loss(truth, shares, labels) == pytest.approx(
        metrics.log_loss(truth, shares, labels=labels), abs=1e-12
    )


def test_scores_that_are_not_defined_are_nan():
    assert np.isnan(lab.cohen_kappa(["a", "a"], ["a", "a"]))
    assert np.isnan(lab.roc_auc(["a", "a"], [[0.1, 0.9], [0.5, 0.5]], ["a", "b"]))
    assert lab.cohen_kappa(["a", "a"], ["b", "b"]) == 0.0


def test_log_loss_of_an_unforeseen_label_is_finite_and_large():
    assert lab.log_loss(["c"], [[0.5, 0.5]], ["a", "b"]) == pytest.approx(36.04, abs=0.01)


def test_roc_auc_leaves_out_classes_that_no_row_has():
    labels, truth, shares = predictions(3, 0)
    kept = truth != labels[2]
    pairs = [
        metrics.roc_auc_score(truth[kept] == label, shares[kept, k])
        for k, label in enumerate(labels[:2])
    ]
    assert lab.roc_auc(truth[kept], shares[kept], labels) == pytest.approx(np.mean(pairs))


def test_chance_error_is_the_share_outside_the_largest_class():
    assert lab.chance_error(list("aabbbbcccc")) == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("name", "printed", "share", "n_classes", "thesis"),
    [  # SPORF Table 1's RF, the set's largest class, and thesis Table 3.2's error of RF
        ("blood", "72", 570 / 748, 2, 0.213),
        ("pima", "64", 500 / 768, 2, 0.232),
        ("yeast", "48", 463 / 1484, 10, 0.377),
        ("ionosphere", "82", 225 / 351, 2, 0.068),
        ("hepatitis", "42", 123 / 155, 2, 0.116),
        ("parkinsons", "75", 147 / 195, 2, 0.062),
    ],
)
def test_printed_kappa_gives_the_error_rates_of_the_thesis(name, printed, share, n_classes, thesis):
    error, _ = lab.error_of_printed_kappa(
        lab.PrintedKappa.read(printed), largest_share=share, n_classes=n_classes, name=name
    )
    assert error == pytest.approx(thesis, abs=0.02)  # they are different runs


def test_printed_kappa_of_two_and_three_classes_divides_by_different_shares():
    kappa = lab.PrintedKappa.read("75", "4")
    two, _ = lab.error_of_printed_kappa(kappa, largest_share=0.8, n_classes=2)
    three, spread = lab.error_of_printed_kappa(kappa, largest_share=0.8, n_classes=3)
    assert (two, three) == pytest.approx((0.2, 0.05))
    assert spread == pytest.approx(0.2 * np.sqrt(0.04**2 + 0.005**2 / 3))
    assert lab.PrintedKappa.read("82.38").half_digit == pytest.approx(0.005)


def test_wilcoxon_equals_the_count_over_all_signs():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=9), rng.normal(0.4, 1.0, size=9)
    difference = a - b
    rank = stats.rankdata(abs(difference))
    observed = rank[difference > 0].sum()
    sums = [rank[np.array(signs) > 0].sum() for signs in product([-1, 1], repeat=9)]
    assert lab.wilcoxon(a, b, "less") == pytest.approx(np.mean(np.array(sums) <= observed))
    assert lab.wilcoxon(a, b, "greater") == pytest.approx(np.mean(np.array(sums) >= observed))
    assert lab.wilcoxon(a, b) == pytest.approx(
        2 * min(lab.wilcoxon(a, b, "less"), lab.wilcoxon(a, b, "greater"))
    )


def test_wilcoxon_drops_equal_pairs_even_those_equal_up_to_rounding():
    a = np.array([0.1 + 0.2, 0.5, 0.4, 0.3, 0.2])
    b = np.array([0.3, 0.4, 0.25, 0.1, 0.15])
    assert lab.wilcoxon(a, b) == lab.wilcoxon(a[1:], b[1:])
    assert lab.wilcoxon(a, a) == 1.0


def test_corrected_t_test_is_the_plain_one_when_no_rows_are_tested():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=5), rng.normal(1.0, 1.0, size=5)
    assert lab.corrected_t_test(a, b, 0.0) == pytest.approx(stats.ttest_rel(a, b).pvalue)
    # with five folds the variance of the mean grows from 1/5 to 1/5 + 1/4
    t = stats.ttest_rel(a, b).statistic / np.sqrt((1 / 5 + 1 / 4) * 5)
    assert lab.corrected_t_test(a, b, 0.2) == pytest.approx(2 * stats.t.sf(abs(t), 4))
    assert lab.corrected_t_test(a, a, 0.2) == 1.0
    assert lab.corrected_t_test(a, a + 1.0, 0.2) == 0.0


def test_mean_ranks_and_critical_difference_are_those_that_demsar_prints():
    np.testing.assert_allclose(lab.mean_ranks(-DEMSAR), [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    assert lab.critical_difference(4, 14) == pytest.approx(1.25, abs=5e-3)
    assert lab.critical_difference(4, 14, alpha=0.1) == pytest.approx(1.12, abs=5e-3)
    # his section 3.2.2: Nemenyi's test at 5 % separates nothing; the first and last are 1.18 apart
    (everything,) = lab.groups_alike(-DEMSAR)
    assert everything.tolist() == [3, 1, 2, 0]


def test_friedman_equals_scipys_and_demsars_f_of_his_chi_squared():
    ours = lab.friedman(-DEMSAR)
    theirs = stats.friedmanchisquare(*DEMSAR.T)
    assert ours.chi_squared == pytest.approx(theirs.statistic)
    assert ours.p_value == pytest.approx(theirs.pvalue)
    assert ours.f == pytest.approx(13 * ours.chi_squared / (14 * 3 - ours.chi_squared))
    assert ours.f_p_value == pytest.approx(stats.f.sf(ours.f, 3, 39))
    assert lab.friedman(np.ones((5, 3))).p_value == 1.0


def test_groups_alike_are_the_maximal_runs_within_the_critical_difference():
    # ranks 1, 2, 3, 4 on every set; 20 sets: the difference is 1.05, so neighbours are alike
    table = np.tile([4.0, 1.0, 3.0, 2.0], (20, 1))
    assert lab.critical_difference(4, 20) == pytest.approx(1.0488, abs=1e-3)
    assert [group.tolist() for group in lab.groups_alike(table)] == [[1, 3], [3, 2], [2, 0]]
    assert lab.groups_alike(np.repeat(table, 10, axis=0)) == []


def test_ranks_average_ties_and_ignore_rounding_noise():
    table = [[0.1 + 0.2, 0.3, 0.1], [0.5, 0.4, 0.3]]
    np.testing.assert_array_equal(lab.ranks(table), [[2.5, 2.5, 1.0], [3.0, 2.0, 1.0]])
    np.testing.assert_allclose(
        lab.rank_shares(table), [[0, 0.25, 0.75], [0, 0.75, 0.25], [1, 0, 0]]
    )


def test_complete_rows_are_those_without_gaps():
    assert lab.complete_rows([[1, 2], [np.nan, 2], [3, np.inf]]).tolist() == [True, False, False]


def test_hyperparameter_ranks_equal_a_plain_loop():
    errors = np.random.default_rng(1).integers(0, 5, (6, 5, 4)) / 10
    by_set = []
    for one_set in errors:
        by_fold = [
            [np.mean(np.flatnonzero(np.sort(fold) == error) + 1) for error in fold]
            for fold in one_set
        ]
        by_set.append(np.mean(by_fold, axis=0))
    np.testing.assert_allclose(lab.hyperparameter_ranks(errors), np.median(by_set, axis=0))


def test_best_or_alike_marks_the_best_and_what_wilcoxon_cannot_distinguish_from_it():
    rng = np.random.default_rng(5)
    best = rng.normal(0.1, 0.01, 100)
    scores = [best + 0.02, best, best + rng.normal(0.0005, 0.01, 100), np.full(100, np.nan)]
    assert lab.best_or_alike(scores).tolist() == [False, True, True, False]
    assert not lab.best_or_alike(np.full((2, 3), np.nan)).any()


def test_best_or_alike_on_five_folds_uses_a_test_that_can_reject():
    best = np.array([0.10, 0.11, 0.09, 0.12, 0.10])
    worse = best + np.array([0.2, 0.21, 0.19, 0.2, 0.22])
    assert lab.best_or_alike([best, worse]).tolist() == [True, True]  # Wilcoxon: p is 0.0625
    assert lab.best_or_alike([best, worse], test_share=0.2).tolist() == [True, False]


def test_within_one_deviation_equals_a_plain_loop_on_blasers_errors():
    iris = [0.0240, 0.0407, 0.0502, 0.0416, 0.0467, 0.0451, 0.0453, 0.0456, 0.0460, 0.0467]
    wine = [0.0161, 0.0206, 0.0180, 0.0433, 0.0250, 0.0176, 0.0165, 0.0172, 0.0150, 0.0222]
    marked = lab.within_one_deviation([iris, wine])
    for row, marks in zip([iris, wine], marked, strict=True):
        mean = sum(row) / len(row)
        deviation = (sum((v - mean) ** 2 for v in row) / (len(row) - 1)) ** 0.5
        assert marks.tolist() == [v <= min(row) + deviation for v in row]
    assert lab.within_one_deviation([[0.0, 0.5, 1.0]]).tolist() == [[True, True, False]]
    assert marked[0].sum() == 1  # "LDA outperformed all variants" (Blaser, section 2.5)


def test_wins_ties_and_losses_count_lower_values_as_wins():
    assert lab.wins_ties_losses([0.1, 0.3, 0.5, 0.1 + 0.2], [0.2, 0.2, 0.6, 0.3]) == (2, 1, 1)


def test_paired_interval_equals_scipys():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=12), rng.normal(size=12)
    theirs = stats.ttest_rel(a, b).confidence_interval(0.95)
    ours = lab.paired_interval(a, b)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))
    assert ours.n == 12
    assert lab.paired_interval([0.1], [0.2]).high == np.inf
    assert lab.Interval(-0.0123, -0.02, 0.001, 5).in_points() == "−1.23 [−2.00, +0.10]"


def test_normalised_relative_error_divides_by_the_chance_error():
    relative = lab.normalised_relative_error([0.1, 0.3, 0.0], [0.2, 0.2, 0.0], [0.5, 0.4, 0.0])
    np.testing.assert_allclose(relative, [-0.2, 0.25, np.nan])


def test_share_within_two_errors_combines_both_standard_errors():
    ours, theirs = np.array([0.10, 0.20, 0.30]), np.array([0.20, 0.20, 0.50])
    share = lab.share_within_two_errors(ours, [0.03, 0, 0.03], theirs, [0.04, 0, 0.04])
    assert share == pytest.approx(2 / 3)
    assert lab.standard_error([1.0, 2.0, 3.0]) == pytest.approx(stats.sem([1.0, 2.0, 3.0]))
