"""Geometry of patches, by enumeration of all sizes and places.

Statistics and false-alarm rate, one in a million each, are those of `support.false_alarms`. A
sample is one direction; sample sizes are N_TREES roots of N_DRAWS directions.
"""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy import stats
from support.false_alarms import (
    assert_counts_follow,
    assert_distribution,
    assert_mean,
    assert_uniform,
)
from support.forests import Directions, as_matrix, directions_of_root, grow, options, problem

from bevel import projections as P
from bevel.projections.base import round_up
from bevel.training.trainer import native_family

N_TREES, N_DRAWS = 3000, 10

SHAPES = {
    "series": P.Patches(6, min=2, max=3),
    "inside": P.Patches((4, 5), min=(1, 2), max=(4, 4), inside=True),
    "ring": P.Patches(6, min=2, max=4, wrap=True),
    "whole_axis": P.Patches(4, max=4),
    "image": P.Patches((3, 4), min=(1, 2), max=(2, 3)),
    "torus": P.Patches((3, 4), min=(1, 2), max=(3, 3), wrap=True),
    "volume": P.Patches((2, 3, 2), max=2),
    "channels_last": P.Patches((3, 3, 2), max=2, channel_axis=-1),
    "channels_first": P.Patches((2, 3, 3), max=2, channel_axis=0),
    "one_channel": P.Patches((3, 2, 3), max=2, channel_axis=1, channels="one"),
}


def n_columns(patches: P.Patches) -> int:
    return int(np.prod(patches.shape))


def drawn(patches: P.Patches, n_trees: int = N_TREES) -> Directions:
    p = n_columns(patches)
    how = options(native_family(patches.family(N_DRAWS, p)))
    return [
        direction
        for tree in range(n_trees)
        for direction in directions_of_root(how, np.zeros(p, np.int32), tree)
    ]


def intervals(
    length: int, shortest: int, longest: int, wrap: bool, inside: bool
) -> Counter[frozenset[int]]:
    """Entries covered along one axis, with their probability: size first, then place."""
    found: Counter[frozenset[int]] = Counter()
    sizes = range(shortest, longest + 1)
    for size in sizes:
        starts = range(length) if wrap else range(1 - size, length)
        if inside:
            starts = range(length - size + 1)
        for start in starts:
            covered = [start + i for i in range(size)]
            if wrap:
                entries = frozenset(i % length for i in covered)
            else:
                entries = frozenset(i for i in covered if 0 <= i < length)
            found[entries] += 1 / (len(sizes) * len(starts))
    return found


def all_patches(patches: P.Patches) -> dict[frozenset[int], float]:
    """Every patch as a set of columns, with its probability."""
    shape = patches.shape if isinstance(patches.shape, tuple) else (patches.shape,)
    columns = np.arange(np.prod(shape)).reshape(shape)
    if patches.channel_axis is not None:
        columns = np.moveaxis(columns, patches.channel_axis, -1)
    else:
        columns = columns[..., None]
    n_axes, n_channels = columns.ndim - 1, columns.shape[-1]
    least = patches.min if isinstance(patches.min, tuple) else (patches.min,) * n_axes
    most = patches.max if isinstance(patches.max, tuple) else (patches.max,) * n_axes
    along = [
        intervals(*bounds, patches.wrap, patches.inside).items()
        for bounds in zip(columns.shape, least, most, strict=False)
    ]
    channels = [range(n_channels)]
    if patches.channels == "one":
        channels = [range(c, c + 1) for c in range(n_channels)]
    found: Counter[frozenset[int]] = Counter()
    for box in product(*along):
        sets, probabilities = zip(*box, strict=True)
        for chosen in channels:
            entries = columns[np.ix_(*[sorted(s) for s in sets], chosen)]
            found[frozenset(entries.ravel().tolist())] += np.prod(probabilities) / len(channels)
    return found


@pytest.mark.parametrize("name", SHAPES)
def test_patches_come_as_often_as_enumeration_says(name: str) -> None:
    known = all_patches(SHAPES[name])
    counts = Counter(frozenset(index.tolist()) for index, _ in drawn(SHAPES[name]))
    assert set(counts) <= set(known)
    assert_counts_follow(
        np.array([counts[patch] for patch in known]), np.array(list(known.values()))
    )


@pytest.mark.parametrize("name", [name for name in SHAPES if not SHAPES[name].inside])
def test_every_entry_is_covered_with_the_same_probability(name: str) -> None:
    coverage = np.zeros(n_columns(SHAPES[name]))
    for patch, probability in all_patches(SHAPES[name]).items():
        coverage[sorted(patch)] += probability
    np.testing.assert_allclose(coverage, coverage[0])
    covered = as_matrix(drawn(SHAPES[name]), n_columns(SHAPES[name])) != 0
    assert_mean(covered, coverage[0])
    assert SHAPES[name].family(1, 1).n_nonzeros == round_up(coverage.sum())


@pytest.mark.parametrize("name", SHAPES)
def test_directions_have_no_entry_twice(name: str) -> None:
    for index, _ in drawn(SHAPES[name], 200):
        assert len(set(index)) == index.size


def test_signs_are_balanced_and_independent() -> None:
    weights = as_matrix(drawn(P.Patches(4, min=4, max=4, wrap=True)), 4)
    assert set(np.unique(weights)) == {-1.0, 1.0}
    patterns = ((weights > 0) @ [1, 2, 4, 8]).astype(int)
    assert_uniform(np.bincount(patterns, minlength=16))


def test_uniform_weights_are_uniform_and_ones_are_ones() -> None:
    uniform = drawn(P.Patches((3, 3), max=3, weights="uniform"))
    assert_distribution(np.concatenate([w for _, w in uniform]), stats.uniform(-1, 2))
    ones = drawn(P.Patches((3, 3), max=3, weights="ones"), 50)
    assert {float(w) for _, weight in ones for w in weight} == {1.0}


@pytest.mark.parametrize("channel_axis", [None, 2])
def test_shuffled_patches_have_as_many_pixels_anywhere(channel_axis: int | None) -> None:
    shape = (3, 4) if channel_axis is None else (3, 4, 2)
    sizes = {"min": (1, 2), "max": (2, 3), "channel_axis": channel_axis}
    known: Counter[int] = Counter()
    for patch, probability in all_patches(P.Patches(shape, **sizes)).items():
        known[len(patch)] += probability
    directions = drawn(P.Patches(shape, shuffle=True, **sizes))
    counts = Counter(index.size for index, _ in directions)
    assert_counts_follow(np.array([counts[n] for n in known]), np.array(list(known.values())))
    n_channels = 1 if channel_axis is None else 2
    pairs = np.zeros((12, 12), int)
    for index, _ in directions:
        pixels = index.reshape(-1, n_channels) // n_channels
        assert (pixels == pixels[:, :1]).all()
        assert len(set(index)) == index.size
        if len(pixels) > 1:
            a, b = sorted(pixels[:2, 0])
            pairs[a, b] += 1
    assert_uniform(pairs[np.triu_indices(12, 1)])


def striped_images(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Horizontal lines in one class, vertical ones in the other, at random places."""
    y = np.arange(n) % 2
    images = np.zeros((n, 10, 10))
    for image, label in zip(images, y, strict=True):
        image[rng.choice(10, rng.integers(1, 5), replace=False)] = 1.0
        if label:
            image[:] = image.T.copy()
    return images.reshape(n, -1), y


def test_patches_find_lines_that_scattered_pixels_do_not() -> None:
    """Thesis 3.3.8: on lines of random place patches are far ahead of their control."""
    rng = np.random.default_rng(0)
    X, y = striped_images(rng, 60)
    X_test, y_test = striped_images(rng, 400)
    accuracy = {}
    for shuffle in (False, True):
        patches = P.Patches((10, 10), min=1, max=5, weights="ones", shuffle=shuffle)
        how = options(native_family(patches.family(100, 100)), bag_size=60)
        forest = grow(problem(X, y), how, 100)
        accuracy[shuffle] = (forest.predict(X_test).argmax(axis=1) == y_test).mean()
    assert accuracy[False] > accuracy[True] + 0.1
