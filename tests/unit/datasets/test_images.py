"""Bars are white lines of one direction, placed so that no single pixel tells the class.

Each statistical check fails with probability of about 1e-6 if its null holds.
"""

from itertools import combinations

import numpy as np
import pytest
from support.false_alarms import assert_counts_follow, assert_mean, assert_share

from bevel import datasets


@pytest.mark.parametrize(("image_size", "n_lines"), [(20, 5), (28, 7), (2, 1), (6, 5)])
def test_bars_are_whole_white_rows_or_columns_as_many_as_asked(image_size, n_lines):
    X, y = datasets.bars(200, image_size, n_lines, random_state=1)
    assert X.shape == (200, image_size**2)
    assert set(np.unique(X)) == {0.0, 1.0}
    for image, label in zip(X.reshape(-1, image_size, image_size), y, strict=True):
        lines = image if label == 0 else image.T  # horizontal bars are rows of the image
        assert sorted(line.sum() for line in lines) == (
            [0] * (image_size - n_lines) + [image_size] * n_lines
        )


def test_bars_classes_are_equally_likely():
    _, y = datasets.bars(20_000, 3, 1, random_state=2)
    assert_share(y == 1, 0.5)


def test_bars_sets_of_lines_are_equally_likely():
    X, y = datasets.bars(12_000, 5, 2, random_state=3)
    images = X.reshape(-1, 5, 5)
    lines = np.where(y[:, None] == 0, images[:, :, 0], images[:, 0, :])
    codes = lines.astype(int) @ (1 << np.arange(5))
    pairs = [(1 << i) + (1 << j) for i, j in combinations(range(5), 2)]
    assert set(np.unique(codes)) == set(pairs)
    for label in (0, 1):
        counts = [np.count_nonzero(codes[y == label] == pair) for pair in pairs]
        assert_counts_follow(np.array(counts), 1 / 10)


def test_bars_pixels_are_as_often_white_in_both_classes():
    X, y = datasets.bars(8000, 8, 3, random_state=4)
    assert_mean(X[y == 0], 3 / 8)
    assert_mean(X[y == 1], 3 / 8)


@pytest.mark.parametrize("n_lines", [0, 4, -1])
def test_bars_that_cannot_be_distinguished_are_refused(n_lines):
    with pytest.raises(ValueError, match=r"n_lines must be at least 1 and below image_size \(4\)"):
        datasets.bars(10, 4, n_lines)


def test_bars_in_an_image_of_one_pixel_are_refused():
    with pytest.raises(ValueError, match="image_size must be 2 or more; got 1"):
        datasets.bars(10, 1, 1)
