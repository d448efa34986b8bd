"""Conditions on one thing drawn together, against trying all values."""

from __future__ import annotations

import itertools

import pytest

from bevel.text.split_text import Condition, conjunction, together

SIDES = [
    Condition("x", **{bound: value, f"{bound}_included": included}, missing=missing)
    for bound in ("low", "high")
    for value in (1.0, 2.0)
    for included in (False, True)
    for missing in (False, True)
]


def fulfils(condition, value):
    if value is None:
        return bool(condition.missing)
    above = value >= condition.low if condition.low_included else value > condition.low
    below = value <= condition.high if condition.high_included else value < condition.high
    return above and below


@pytest.mark.parametrize("length", [2, 3])
def test_conditions_drawn_together_hold_where_each_of_them_holds(length):
    for conditions in itertools.product(SIDES, repeat=length):
        (drawn,) = conjunction(conditions)
        for value in (None, 0.5, 1.0, 1.5, 2.0, 2.5):
            assert fulfils(drawn, value) == all(fulfils(c, value) for c in conditions)


@pytest.mark.parametrize(
    ("conditions", "text"),
    [
        ([], "always"),
        ([Condition("x", high=2.5)], "x ≤ 2.5"),
        ([Condition("x", low=-1.0), Condition("x", high=2.0)], "−1 < x ≤ 2"),
        (
            [
                Condition("x", low=1.0, low_included=True),
                Condition("x", high=2, high_included=False),
            ],
            "1 ≤ x < 2",
        ),
        ([Condition("x", high=2.0, missing=True)], "x ≤ 2 or missing"),
        (
            [Condition("x", high=2.0, missing=True), Condition("y", low=0.0)],
            "(x ≤ 2 or missing) and y > 0",
        ),
        (
            [Condition("c", labels=("a", "b", "d")), Condition("c", labels=("b", "d", "e"))],
            "c in {b, d}",
        ),
        ([Condition("c", labels=tuple("abcdefgh"))], "c in {a, b, c, d, e, f and 2 more}"),
    ],
)
def test_conditions_are_written_as_a_person_would(conditions, text):
    assert together(conjunction(conditions)) == text


def test_combinations_whose_words_are_alike_are_not_drawn_together():
    one = Condition("a + 1 more term", high=2.0, terms=((0, 1.0), (1, 0.5)))
    other = Condition("a + 1 more term", low=1.0, terms=((0, 1.0), (2, 0.5)))
    assert conjunction([one, other]) == (one, other)
    again = Condition("a + 1 more term", low=1.5, terms=((0, 1.0), (1, 0.5)))
    (both,) = conjunction([one, again])
    assert str(both) == "1.5 < a + 1 more term ≤ 2"
    assert both.terms == one.terms
