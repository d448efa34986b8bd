"""`bevel.projections.Patches`: shapes, sizes and channels."""

from __future__ import annotations

import pytest

from bevel import projections as P


@pytest.mark.parametrize(
    ("patches", "settings"),
    [
        (P.Patches(7), {"axes": ((7, 1, 1, 5),)}),
        (P.Patches((7,), min=2, max=3), {"axes": ((7, 1, 2, 3),)}),
        (P.Patches([3, 4]), {"axes": ((3, 4, 1, 3), (4, 1, 1, 4))}),
        (P.Patches((9, 9), min=7), {"axes": ((9, 9, 7, 7), (9, 1, 7, 7))}),
        (
            P.Patches((2, 3, 4), min=(1, 2, 1), max=(2, 2, 4)),
            {"axes": ((2, 12, 1, 2), (3, 4, 2, 2), (4, 1, 1, 4))},
        ),
        (
            P.Patches((6, 7, 3), channel_axis=-1, max=2),
            {"axes": ((6, 21, 1, 2), (7, 3, 1, 2)), "n_channels": 3},
        ),
        (
            P.Patches((3, 6, 7), channel_axis=0, max=2, channels="one"),
            {
                "axes": ((6, 7, 1, 2), (7, 1, 1, 2)),
                "n_channels": 3,
                "channel_stride": 42,
                "one_channel": True,
            },
        ),
        (
            P.Patches(4, weights="uniform", shuffle=True, wrap=True),
            {"axes": ((4, 1, 1, 4),), "weights": "uniform", "shuffle": True, "wrap": True},
        ),
    ],
)
def test_patches_describe_their_array_to_the_core(patches, settings):
    unset = {
        "n_channels": 1,
        "channel_stride": 1,
        "one_channel": False,
        "weights": "signs",
        "shuffle": False,
        "wrap": False,
        "inside": False,
    }
    assert patches.family(5, 999).settings == {**unset, **settings}


@pytest.mark.parametrize(
    ("patches", "n_nonzeros"),
    [
        (P.Patches(4, max=1), 1),
        (P.Patches(4, min=3, max=3), 2),  # half of the six places hang over: 3 * 4 / 6
        (P.Patches(4, min=3, max=3, wrap=True), 3),
        (P.Patches(4, min=3, max=3, inside=True), 3),
        (P.Patches((4, 3), min=3, max=3, wrap=True), 9),
        (P.Patches((4, 5), min=3, max=3, wrap=True, channel_axis=1), 15),
        (P.Patches((4, 5), min=3, max=3, wrap=True, channel_axis=1, channels="one"), 3),
    ],
)
def test_mean_number_of_entries_counts_what_is_inside(patches, n_nonzeros):
    assert patches.family(5, 999).n_nonzeros == n_nonzeros


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: P.Patches(0), ValueError, r"shape=\) must be a positive integer.*got 0"),
        (lambda: P.Patches((28, "28")), TypeError, r"got \(28, '28'\) of type tuple"),
        (lambda: P.Patches(()), ValueError, r"got \(\). Pass the shape of one row"),
        (lambda: P.Patches("28x28"), TypeError, "got '28x28'"),
        (lambda: P.Patches((4, 5), min=0), ValueError, r"min=\) must be an integer of at least 1"),
        (lambda: P.Patches((4, 5), min=5), ValueError, r"from 1 to the length of its axis \(4\)"),
        (lambda: P.Patches((4, 5), min=3, max=2), ValueError, r"max=\) must be from 3 to .*got 2"),
        (lambda: P.Patches((4, 5), max=(4, 6)), ValueError, r"length of its axis \(5\); got 6"),
        (lambda: P.Patches((4, 5), max=(4,)), ValueError, "one for each of the 2 axes"),
        (lambda: P.Patches((4, 5), max=2.5), TypeError, "of type float"),
        (lambda: P.Patches((4, 5), weights="normal"), ValueError, '"signs", "uniform" or "ones"'),
        (lambda: P.Patches((4, 5), shuffle=1), TypeError, "a bool; got 1"),
        (lambda: P.Patches((4, 5), wrap=None), TypeError, "a bool; got None"),
        (lambda: P.Patches(4, wrap=True, inside=True), ValueError, "False with wrap=True"),
        (lambda: P.Patches((4, 5), channel_axis=2), ValueError, "an axis beside another of shape"),
        (lambda: P.Patches(4, channel_axis=0), ValueError, "an axis beside another of shape 4"),
        (lambda: P.Patches((4, 5), channel_axis="last"), TypeError, "Use -1 for the last axis"),
        (lambda: P.Patches((4, 5), channels="one"), ValueError, '"all" unless channel_axis'),
        (
            lambda: P.Patches((4, 5), channels=3, channel_axis=0),
            ValueError,
            '"all" or "one"; got 3',
        ),
    ],
)
def test_impossible_patches_raise_when_written_down(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_lists_and_tuples_of_sizes_are_the_same():
    assert P.Patches([4, 5], max=[2, 3]) == P.Patches((4, 5), max=(2, 3))
    assert len({P.Patches([4, 5]), P.Patches((4, 5))}) == 1
