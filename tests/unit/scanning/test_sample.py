import itertools

import numpy as np
import pytest

from bevel.scanning.survey import RowSample, hash_rows


def chosen(size, bounds):
    sample = RowSample(size)
    for first, last in itertools.pairwise(bounds):
        sample.add(first, last - first)
    return sample.rows()


@pytest.mark.parametrize("bounds", [[0, 1000], [0, 1, 2, 500, 1000], list(range(0, 1001, 10))])
def test_sample_has_the_rows_with_the_smallest_hashes_for_any_batches(bounds):
    rows = np.arange(1000)
    expected = np.sort(rows[np.argsort(hash_rows(rows))[:37]])
    np.testing.assert_array_equal(chosen(37, bounds), expected)


def test_sample_of_few_rows_is_all_of_them():
    np.testing.assert_array_equal(chosen(100, [0, 3, 50]), np.arange(50))


def test_sample_is_spread_evenly_over_the_rows():
    # Chi-square of 10 000 of 10^6 rows over 100 equal parts; quantile of 99 degrees of freedom at
    # 1 - 1e-6: 178. Without replacement the statistic is smaller by 1 %.
    counts = np.bincount(chosen(10_000, [0, 10**6]) // 10_000, minlength=100)
    assert ((counts - 100) ** 2 / 100).sum() < 178
