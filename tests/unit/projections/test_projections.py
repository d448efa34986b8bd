"""`bevel.projections`: descriptions of where directions come from."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest

from bevel import projections as P
from bevel.projections import NAMED
from bevel.projections.base import FamilySpec

ROTATION = {"flip": False, "per_node": False, "direct": False}
ALL = [*(member() for member in NAMED.values()), P.Patches((4, 5))]


def test_names_are_those_of_the_documentation():
    assert list(NAMED) == [
        "axis",
        "sparse",
        "combination",
        "gaussian",
        "rotation",
        "multirotation",
        "principal",
        "ridge",
        "lda",
        "logistic",
        "pls",
        "cca",
        "cox",
    ]


@pytest.mark.parametrize("projection", ALL, ids=repr)
def test_projection_is_frozen_comparable_and_survives_copies(projection):
    assert pickle.loads(pickle.dumps(projection)) == projection
    assert copy.deepcopy(projection) == projection
    assert len({projection, copy.copy(projection)}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        projection.name = "other"


@pytest.mark.parametrize("projection", ALL, ids=repr)
def test_projection_docstring_names_its_source(projection):
    sources = ("SPORF", "Breiman", "Menze", "Blaser", "Rodriguez", "Tomita", "Jaeger")
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
        (P.RandomRotation(), FamilySpec("rotation", 4, 20, ROTATION)),
        (
            P.RandomRotation(per="node", flip=True, max_features=9),
            FamilySpec("rotation", 4, 9, {**ROTATION, "flip": True, "per_node": True}),
        ),
        (P.MultiRotation(), FamilySpec("multirotation", 4, 20, {"flip": False, "n_rotations": 30})),
        (
            P.MultiRotation(3, flip=True, max_features=9),
            FamilySpec("multirotation", 4, 9, {"flip": True, "n_rotations": 3}),
        ),
        (P.PrincipalRotation(), FamilySpec("principal", 4, 3, {"share": 0.75})),
        (P.PrincipalRotation(7, share=1), FamilySpec("principal", 4, 7, {"share": 1.0})),
        (P.PrincipalRotation(per="node"), FamilySpec("principal", 4, 3, {"per_node": True})),
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
        (P.MultiRotation(), 24, 24),
        (P.MultiRotation(1), 4, 6),
        (P.PrincipalRotation(), 20, 20),
        (P.Patches((4, 5)), 20, 20),
    ],
)
def test_default_draws_follow_the_papers(projection, classification, regression):
    assert projection.default_draws(20, regression=False) == classification
    assert projection.default_draws(20, regression=True) == regression


@pytest.mark.parametrize(
    "projection",
    [P.SparseSigns(3), P.RandomCombination(3), P.Gaussian(3), P.PrincipalRotation()],
    ids=repr,
)
def test_more_features_than_there_are_raises(projection):
    with pytest.raises(ValueError, match=r"at most the number of numeric features \(2\); got 3"):
        projection.family(5, 2)


def test_density_given_by_name_shrinks_to_few_features():
    assert P.SparseSigns().shrunk_to(1) == P.SparseSigns(1)
    assert P.SparseSigns().shrunk_to(2) == P.SparseSigns(1)
    assert P.SparseSigns().shrunk_to(3) == P.SparseSigns(1.5)
    assert P.SparseSigns().shrunk_to(4) == P.SparseSigns()
    assert P.RandomCombination().shrunk_to(1) == P.RandomCombination(1)
    assert P.SparseSigns().shrunk_to(50) == P.SparseSigns()
    assert P.PrincipalRotation().shrunk_to(2) == P.PrincipalRotation(2)


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
        (lambda: P.MultiRotation(0), ValueError, r"n_rotations=\) must be .* whole number of rot"),
        (lambda: P.MultiRotation(flip="no"), TypeError, "a bool; got 'no'"),
        (lambda: P.MultiRotation(max_features=2.5), TypeError, "of type float"),
        (lambda: P.PrincipalRotation(0), ValueError, "at least 1; got 0"),
        (lambda: P.PrincipalRotation(per="leaf"), ValueError, '"tree" or "node"; got \'leaf\''),
        (lambda: P.PrincipalRotation(share=0), ValueError, r"in \(0, 1\] or None; got 0. The pa"),
        (lambda: P.PrincipalRotation(share=1.1), ValueError, "got 1.1"),
        (lambda: P.PrincipalRotation(share=True), TypeError, "got True of type bool"),
        (
            lambda: P.PrincipalRotation(per="node", share=0.75),
            ValueError,
            'None with per="node", which learns from all rows of the node; got 0.75. Leave it out',
        ),
    ],
)
def test_impossible_settings_raise_when_written_down(make, error, message):
    with pytest.raises(error, match=message):
        make()
