"""`bevel.projections`: descriptions of where directions come from."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest

from bevel import projections as P
from bevel.projections import NAMED
from bevel.projections.base import FamilySpec

ALL = [P.Axis(), P.SparseSigns(), P.RandomCombination(), P.Gaussian(), P.RandomRotation()]


def test_names_are_those_of_the_documentation():
    assert list(NAMED) == ["axis", "sparse", "combination", "gaussian", "rotation"]


@pytest.mark.parametrize("projection", ALL, ids=repr)
def test_projection_is_frozen_comparable_and_survives_copies(projection):
    assert pickle.loads(pickle.dumps(projection)) == projection
    assert copy.deepcopy(projection) == projection
    assert len({projection, copy.copy(projection)}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        projection.name = "other"


@pytest.mark.parametrize("projection", ALL, ids=repr)
def test_projection_docstring_names_its_source(projection):
    sources = ("SPORF", "Breiman", "Menze", "Blaser")
    assert any(source in (type(projection).__doc__ or "") for source in sources)


@pytest.mark.parametrize(
    ("projection", "family"),
    [
        (P.Axis(), FamilySpec("axis", 4)),
        (P.SparseSigns(3), FamilySpec("signs", 4, 12)),
        (P.SparseSigns(1.3), FamilySpec("signs", 4, 6)),
        (P.RandomCombination(2), FamilySpec("combination", 4, 2)),
        (P.Gaussian(), FamilySpec("gaussian", 4, 4)),
        (P.Gaussian("p"), FamilySpec("gaussian", 4, 20)),
        (P.RandomRotation(), FamilySpec("rotation", 4, 20)),
        (
            P.RandomRotation(per="node", flip=True, max_features=9),
            FamilySpec("rotation", 4, 9, flip=True, per_node=True),
        ),
    ],
)
def test_family_of_four_draws_among_twenty_features(projection, family):
    assert projection.family(4, 20) == family


@pytest.mark.parametrize(
    ("projection", "classification", "regression"),
    [
        (P.Axis(), 4, 6),
        (P.Gaussian(), 4, 6),
        (P.RandomRotation(), 4, 6),
        (P.SparseSigns(), 20, 20),
        (P.RandomCombination(), 20, 20),
    ],
)
def test_default_draws_follow_the_papers(projection, classification, regression):
    assert projection.default_draws(20, regression=False) == classification
    assert projection.default_draws(20, regression=True) == regression


@pytest.mark.parametrize(
    "projection", [P.SparseSigns(3), P.RandomCombination(3), P.Gaussian(3)], ids=repr
)
def test_more_features_than_there_are_raises(projection):
    with pytest.raises(ValueError, match=r"at most the number of numeric features \(2\); got 3"):
        projection.family(5, 2)


def test_density_given_by_name_shrinks_to_few_features():
    assert P.SparseSigns().shrunk_to(2) == P.SparseSigns(2)
    assert P.RandomCombination().shrunk_to(1) == P.RandomCombination(1)
    assert P.SparseSigns().shrunk_to(50) == P.SparseSigns()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: P.SparseSigns(0), ValueError, r"SparseSigns\(density=\) must be a positive"),
        (lambda: P.SparseSigns(float("nan")), ValueError, "got nan"),
        (lambda: P.SparseSigns("3"), TypeError, "of type str"),
        (lambda: P.RandomCombination(0), ValueError, "an integer of at least 1; got 0"),
        (lambda: P.RandomCombination(1.5), TypeError, "of type float"),
        (lambda: P.Gaussian("square"), ValueError, r"Gaussian\(n_features=\) must be"),
        (lambda: P.RandomRotation(per="forest"), ValueError, '"tree" or "node"; got \'forest\''),
        (lambda: P.RandomRotation(flip=1), TypeError, "a bool; got 1"),
        (lambda: P.RandomRotation(max_features=0), ValueError, "at least 1; got 0"),
    ],
)
def test_impossible_settings_raise_when_written_down(make, error, message):
    with pytest.raises(error, match=message):
        make()
