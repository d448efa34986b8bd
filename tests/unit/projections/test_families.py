"""`bevel.projections.families`: draws per node for a table."""

from __future__ import annotations

import pytest

from bevel import projections as P
from bevel.projections import NAMED
from bevel.projections.base import FamilySpec
from bevel.projections.families import TableShape, combines_units, read_projection, resolve_families


def resolve(projection, n_projections="auto", numeric=20, nominal=0, **options):
    shape = TableShape(100, numeric, nominal)
    members = read_projection(projection, n_projections)
    return resolve_families(members, shape, **{"regression": False, **options})


def test_sparse_on_twenty_features_draws_the_papers_defaults():
    assert resolve("sparse") == [FamilySpec("signs", 20, 60)]
    assert resolve("sparse", "p**2") == [FamilySpec("signs", 400, 1200)]


@pytest.mark.parametrize("p", [1, 2, 3, 10, 5000])
@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("regression", [False, True])
def test_every_name_with_auto_fits_any_table(name, p, regression):
    if name == "logistic" and regression:
        pytest.skip("it has classes only")
    if name == "cox":
        pytest.skip("it has times only")
    (family,) = resolve(name, numeric=p, regression=regression)
    assert family.n_draws >= 1
    if name in ("axis", "rotation", "principal"):
        assert family.n_draws <= p
    if name == "multirotation":
        assert family.n_draws <= p + 29 * min(p, 1000)


def test_list_evaluates_every_member_with_its_own_number():
    members = [P.Axis(), (P.SparseSigns(3), "p"), ("gaussian", 7)]
    assert resolve(members) == [
        FamilySpec("axis", 4),
        FamilySpec("signs", 20, 60),
        FamilySpec("gaussian", 7, 4),
    ]


@pytest.mark.parametrize(
    ("n_projections", "numeric", "nominal", "directions", "columns"),
    [
        (9, 3, 6, 3, 6),  # all of them
        (3, 3, 6, 1, 2),  # in proportion
        (5, 19, 1, 4, 1),  # at least one nominal
        (1, 3, 6, 1, 1),  # one of each
        (2, 1, 50, 1, 2),  # at least one direction, at 51/52 of two draws nominal
    ],
)
def test_draws_are_divided_between_directions_and_nominal_columns(
    n_projections, numeric, nominal, directions, columns
):
    assert resolve("axis", n_projections, numeric, nominal) == [
        FamilySpec("axis", directions),
        FamilySpec("categorical", columns),
    ]


def test_nominal_draws_of_a_list_are_summed_and_capped():
    families = resolve([P.Axis(), P.Gaussian()], numeric=6, nominal=3)
    assert families[-1] == FamilySpec("categorical", 2)
    families = resolve([P.SparseSigns(2), P.SparseSigns(3)], numeric=6, nominal=3)
    assert families[-1] == FamilySpec("categorical", 3)


def test_table_of_nominal_columns_has_no_directions():
    assert resolve("sparse", numeric=0, nominal=5) == [FamilySpec("categorical", 5)]
    assert resolve("axis", 2, numeric=0, nominal=5) == [FamilySpec("categorical", 2)]


def test_purely_random_draws_one_of_each_kind():
    assert resolve("sparse", nominal=2, single_draw=True) == [
        FamilySpec("signs", 1, 3),
        FamilySpec("categorical", 1),
    ]


@pytest.mark.parametrize(
    ("projection", "n_projections", "numeric", "nominal", "limit"),
    [
        ("axis", 21, 20, 0, 20),
        ("axis", 10, 3, 6, 9),
        ("axis", 6, 0, 5, 5),
        (P.RandomRotation(max_features=4), 21, 20, 0, 20),
        (P.MultiRotation(3, max_features=4), 29, 20, 0, 28),
        (P.PrincipalRotation(), 21, 20, 0, 20),
        (P.PrincipalRotation(per="node"), 21, 20, 0, 20),
    ],
)
def test_more_draws_than_distinct_directions_raises(
    projection, n_projections, numeric, nominal, limit
):
    with pytest.raises(ValueError, match=rf"n_projections must be at most {limit} for .*; got"):
        resolve(projection, n_projections, numeric, nominal)


def test_density_above_p_raises_for_an_object_and_adapts_for_a_name():
    with pytest.raises(ValueError, match=r"density=\) must be at most .* \(2\); got 3"):
        resolve(P.SparseSigns(3), numeric=2)
    assert resolve("sparse", numeric=2) == [FamilySpec("signs", 2, 2)]


@pytest.mark.parametrize(
    ("projection", "n_projections", "error", "message"),
    [
        ("sprse", "auto", ValueError, r'got .sprse.\. Did you mean "sparse"'),
        ("patches", "auto", ValueError, r"got 'patches'\. .*P\.Patches\(shape\), such as"),
        (7, "auto", TypeError, "got 7 of type int"),
        (None, "auto", TypeError, "got None"),
        (P.Axis, "auto", TypeError, r"Add parentheses: P.Axis\(\)"),
        ([], "auto", ValueError, "at least one member"),
        ([P.Axis(), "nope"], "auto", ValueError, "got 'nope'"),
        ([(P.Axis(), 2, 3)], "auto", ValueError, "pairs"),
        ([P.Axis()], 3, ValueError, 'must be "auto" when projection is a list; got 3'),
    ],
)
def test_unreadable_projection_raises(projection, n_projections, error, message):
    with pytest.raises(error, match=message):
        read_projection(projection, n_projections)


def test_zero_draws_raises_and_mentions_auto():
    with pytest.raises(
        ValueError, match=r'n_projections must be "auto", a positive integer.*got 0'
    ):
        resolve("sparse", 0)


def test_single_features_and_pixels_are_no_combination_of_units():
    assert not combines_units(read_projection(["axis", P.Axis()], "auto"))
    assert not combines_units(read_projection([P.Axis(), P.Patches((4, 5))], "auto"))
    assert combines_units(read_projection(["axis", "sparse"], "auto"))


def test_list_may_hold_several_rotations_of_the_tree():
    rotations = [P.RandomRotation(), P.RandomRotation(max_features=4)]
    assert [(f.kind, f.n_draws, f.n_nonzeros) for f in resolve(rotations)] == [
        ("rotation", 4, 20),
        ("rotation", 4, 4),
    ]


def test_patches_draw_p_directions_of_the_mean_size():
    # Sizes 1 to 5 of 28 overlap it in 1, 56/29, 84/30, 112/31 and 140/32 entries: 2.742 on average.
    (family,) = resolve(P.Patches((28, 28)), numeric=784)
    assert (family.kind, family.n_draws, family.n_nonzeros) == ("patches", 784, 8)
    assert family.settings["axes"] == ((28, 28, 1, 5), (28, 1, 1, 5))


@pytest.mark.parametrize(
    ("numeric", "nominal", "message"),
    [
        (20, 1, "needs columns that are all numeric.*got 1 nominal columns. Drop them"),
        (21, 0, "needs as many columns as the array has entries, 20; got 21. Pass the shape"),
        (0, 20, "all numeric"),
    ],
)
def test_patches_on_columns_that_are_no_array_of_that_shape_raises(numeric, nominal, message):
    with pytest.raises(ValueError, match=message):
        resolve(P.Patches((4, 5)), numeric=numeric, nominal=nominal)


@pytest.mark.parametrize("name", ["sparse", "combination", "gaussian", "ridge"])
def test_more_directions_than_a_node_could_hold_raise(name):
    with pytest.raises(ValueError, match=r"n_projections must be so small .* at most 33554432"):
        resolve(name, 2**29, numeric=6)


def test_directions_of_all_members_count_together():
    half = (P.RandomCombination(2), 2**23 + 1)
    assert len(resolve([half])) == 1
    with pytest.raises(ValueError, match="that would be 33554436"):
        resolve([half, half])
