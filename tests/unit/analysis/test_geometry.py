"""`bevel.analysis.geometry`: angles, probabilities in closed form, roots, and what is refused."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from scipy.stats import norm

from bevel import ObliqueForestClassifier, datasets, presets
from bevel import projections as P
from bevel.analysis import geometry, importance


def test_angles_are_between_lines_and_exact_near_zero():
    found = geometry.angles([[2, 0], [-1, 0], [1, 1], [0, -3], [1, 1e-9]], [5, 0])
    assert found == pytest.approx([0, 0, 45, 90, np.degrees(1e-9)], rel=1e-9, abs=1e-20)


def enumerated(p: int, d: int, m: int, v: np.ndarray, angle: float) -> float:
    """Share of all matrices of m signs in p x d cells that have a column close to v."""
    limit = np.cos(np.radians(angle)) - 1e-9
    close = total = 0
    for cells in product((-1, 0, 1), repeat=p * d):
        if np.count_nonzero(cells) != m:
            continue
        A = np.reshape(cells, (p, d))
        length = np.linalg.norm(A, axis=0)
        cosine = np.abs(v @ A) / (np.where(length > 0, length, 1) * np.linalg.norm(v))
        total += 1
        close += bool((cosine >= limit).any())
    assert total == comb(p * d, m) * 2**m
    return close / total


@pytest.mark.parametrize("m", [1, 3, 6])
@pytest.mark.parametrize("v", [[1, 0, 0], [1, -1, 0], [1, 1, 1]])
def test_probability_of_sparse_signs_is_that_of_all_matrices(v, m):
    for angle in (10, 36, 60, 80):
        want = enumerated(3, 2, m, np.array(v), angle)
        got = geometry.probability_within(P.SparseSigns(m / 2), v, angle, n_projections=2)
        assert got == pytest.approx(want, abs=1e-12)


def test_probability_of_a_rotation_in_the_plane_is_the_angle():
    # Two axes at right angles: one of them is within θ of any line with probability 4θ / 180.
    for angle in (1, 20, 45):
        got = geometry.probability_within("rotation", [1, 2], angle, n_projections=2)
        assert got == pytest.approx(4 * angle / 180)


def test_probability_of_axes_counts_the_features_within_the_angle():
    got = geometry.probability_within("axis", [3, 0, 0, 0.1], 5, n_projections=3)
    assert got == pytest.approx(3 / 4)
    assert geometry.probability_within("axis", [1, 1], 40, n_projections=2) == 0
    assert geometry.probability_within("axis", [1, 1], 45, n_projections=2) == 1
    got = geometry.probability_within(P.RandomCombination(1), [1, 0, 0], 5, n_projections=2)
    assert got == pytest.approx(1 - (2 / 3) ** 2)


def test_wider_angles_and_more_draws_are_likelier_and_many_features_are_fast():
    v = np.zeros(400)
    v[:5] = 1
    angles = [geometry.probability_within("sparse", v, angle) for angle in (10, 30, 50, 70)]
    draws = [geometry.probability_within("sparse", v, 50, n_projections=d) for d in (10, 100, 400)]
    assert (np.diff(angles) >= 0).all()
    assert (np.diff(draws) > 0).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("lda", [1, 0], 10), "a sampler that does not look at the data"),
        ((["axis", "sparse"], [1, 0], 10), "projection must be one sampler"),
        (("combination", [1, 0], 10), "one with a closed form.*Use simulate_within"),
        (("rotation", [1, 0], 50), "up to 45 degrees"),
        (("sparse", [1, 0.5, 0], 10), "weights of one size.*Use simulate_within"),
        (("sparse", [0, 0, 0], 10), "direction must be a vector of finite numbers, not all zero"),
        (("sparse", [1, np.nan], 10), "direction must be a vector of finite numbers"),
        (("sparse", [1, 0, 0], 90), "angle must be a number of degrees"),
        (("sparse", [1, 0, 0], "10"), "angle must be a number of degrees"),
    ],
)
def test_what_has_no_closed_form_is_refused(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        geometry.probability_within(*arguments)


def test_simulation_is_the_same_for_the_same_seed():
    first, again, other = (
        geometry.simulate_within("combination", [1, 1, 0], 30, n_repeats=200, random_state=seed)
        for seed in (0, 0, 1)
    )
    assert first == again != other
    with pytest.raises(ValueError, match="n_repeats must be an integer of at least 1"):
        geometry.simulate_within("sparse", [1, 1, 0], 30, n_repeats=0)


def test_bayes_error_of_trunk_is_that_of_the_best_rule_along_its_best_direction():
    mean = 1 / np.sqrt(np.arange(1, 11))
    error = geometry.trunk_bayes_error([mean, -3 * mean, np.eye(10)[0], [1, *[0] * 8, -3.1623]])
    assert error[:2] == pytest.approx(norm.cdf(-np.linalg.norm(mean)))
    assert error[2] == pytest.approx(norm.cdf(-1))
    assert error[3] == pytest.approx(0.5, abs=1e-4)


def test_bayes_error_of_trunk_needs_unscaled_features():
    X, y = datasets.trunk(100, random_state=0)
    scaled = ObliqueForestClassifier(3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="Fit with scale=None"):
        geometry.trunk_bayes_error(importance(scaled, "projection"))
    with pytest.raises(ValueError, match="non-zero length"):
        geometry.trunk_bayes_error([[0.0, 0.0]])


def test_root_directions_are_those_of_the_first_nodes():
    X, y = datasets.parallel_hyperplanes(200, 4, random_state=0)
    forest = presets.sporf(n_estimators=30, random_state=0, n_jobs=1).fit(X, y)
    found = geometry.root_directions(forest, merge_signs=False)
    want = {}
    for tree in forest.forest_:
        direction = np.zeros(4)
        np.add.at(direction, *tree.projection(0))
        gain, count = want.get(tuple(direction), (0, 0))
        want[tuple(direction)] = gain + tree.gain[0], count + 1
    got = zip(map(tuple, found.dense()), found.share, found.count, strict=True)
    whole = sum(gain for gain, _ in want.values())
    for direction, share, count in got:
        assert share == pytest.approx(want[direction][0] / whole)
        assert count == want[direction][1]
    assert len(found) == len(want)
    with pytest.raises(ValueError, match="root_directions needs the gains"):
        geometry.root_directions(forest.slim())
