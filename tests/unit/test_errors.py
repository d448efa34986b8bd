"""`bevel.errors`: the voice of the messages."""

from __future__ import annotations

from bevel.errors import join_names, shorten, wrong_type, wrong_value


def test_wrong_value_has_its_four_parts_in_order():
    error = wrong_value("n_jobs", "positive", 0, "Use None.")
    assert isinstance(error, ValueError)
    assert str(error) == "n_jobs must be positive; got 0. Use None."


def test_wrong_type_names_the_type():
    error = wrong_type("n_jobs", "an integer", "two", "Use None.")
    assert isinstance(error, TypeError)
    assert str(error) == "n_jobs must be an integer; got 'two' of type str. Use None."


def test_shorten_cuts_long_values_to_one_line():
    text = shorten(list(range(1000)))
    assert len(text) == 60
    assert text.endswith("...")
    assert "\n" not in shorten("a\nb" * 50)


def test_join_names_shows_a_few_and_counts_the_rest():
    assert join_names(["'a'", "'b'"]) == "'a', 'b'"
    assert join_names([str(i) for i in range(7)]) == "0, 1, 2, 3, 4 and 2 more"
