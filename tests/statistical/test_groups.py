"""Out-of-bag errors of rows that belong together, against errors on rows of new groups."""

import numpy as np
import pytest
from scipy import stats
from support.false_alarms import FALSE_ALARM_RATE

from bevel import ObliqueBoostingClassifier, ObliqueForestClassifier

N_TABLES, N_GROUPS, N_EACH, N_NEW = 40, 30, 8, 400


def _tables(seed):
    """Repeated measures: each subject has a place among the features, and a label of its own.

    Half of the labels follow the place, the others are drawn: these can only be recognised.
    """
    rng = np.random.default_rng(seed)

    def draw(n_groups, n_each):
        group = np.repeat(np.arange(n_groups), n_each)
        place = rng.normal(size=(n_groups, 4))
        label = np.where(rng.random(n_groups) < 0.5, place[:, 0] > 0, rng.random(n_groups) < 0.5)
        return place[group] + 0.2 * rng.normal(size=(len(group), 4)), label[group], group

    return draw(N_GROUPS, N_EACH), draw(N_NEW, 1)


def _gaps(estimate):
    """For each table, the estimated error minus that on new subjects."""
    found = []
    for seed in range(N_TABLES):
        (X, y, group), (X_new, y_new, _) = _tables(seed)
        error, model = estimate(X, y, group, seed)
        found.append(error - np.mean(model.predict(X_new) != y_new))
    return np.array(found)


def _forest(X, y, group, seed):
    settings = {"projection": "sparse", "oob_score": True, "random_state": seed, "n_jobs": 1}
    forest = ObliqueForestClassifier(100, **settings).fit(X, y, groups=group)
    return 1.0 - forest.oob_score_, forest


def test_out_of_bag_error_of_groups_is_that_of_new_groups():
    """Null: the out-of-bag error by group is, in the mean over tables, within one point of the
    error on new groups. The mean gap of 40 tables is compared with one point by a t-test.
    """
    gaps = _gaps(_forest)
    error = gaps.std(ddof=1) / np.sqrt(len(gaps))
    bound = stats.t.isf(FALSE_ALARM_RATE / 2, len(gaps) - 1)
    assert abs(gaps.mean()) < 0.01 + bound * error


def test_out_of_bag_error_without_groups_is_far_too_low():
    """The same tables tell the two apart: without groups the gap is beyond the bound above."""
    gaps = _gaps(lambda X, y, _, seed: _forest(X, y, None, seed))
    error = gaps.std(ddof=1) / np.sqrt(len(gaps))
    assert gaps.mean() < -0.01 - stats.t.isf(FALSE_ALARM_RATE / 2, len(gaps) - 1) * error


@pytest.mark.parametrize("grouped", [True, False])
def test_families_are_judged_by_group(grouped):
    """The best family's out-of-bag error, within four points: trees of micro-forests are few."""

    def best_family(X, y, group, seed):
        forest = ObliqueForestClassifier(100, random_state=seed, n_jobs=1)
        forest.fit(X, y, groups=group if grouped else None)
        return forest.families_.errors.mean(), forest

    gaps = _gaps(best_family)
    error = gaps.std(ddof=1) / np.sqrt(len(gaps))
    bound = stats.t.isf(FALSE_ALARM_RATE / 2, len(gaps) - 1) * error
    if grouped:
        assert abs(gaps.mean()) < 0.04 + bound
    else:
        assert gaps.mean() < -0.04 - bound


def test_held_out_loss_of_boosting_by_group_is_that_of_new_groups():
    """Null: the log loss of held-out groups, at the iteration with the lowest, is within 0.1 of
    the loss on new groups in the mean over tables; that iteration makes it slightly too low.
    """
    found = []
    for seed in range(N_TABLES):
        (X, y, group), (X_new, y_new, _) = _tables(seed)
        model = ObliqueBoostingClassifier(
            early_stopping=True, refit=False, validation_fraction=0.3, random_state=seed, n_jobs=1
        )
        model.fit(X, y, groups=group)
        p = model.predict_proba(X_new)[np.arange(N_NEW), y_new.astype(int)]
        found.append(-model.validation_score_.max() + np.log(p).mean())
    gaps = np.array(found)
    error = gaps.std(ddof=1) / np.sqrt(len(gaps))
    assert abs(gaps.mean()) < 0.1 + stats.t.isf(FALSE_ALARM_RATE / 2, len(gaps) - 1) * error
